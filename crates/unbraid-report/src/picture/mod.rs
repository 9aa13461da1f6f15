//! Pictures of pixels: images in rows, moving pictures, and data sets at a glance.
//!
//! * [`canvas`] is what everything is drawn on; [`density`] and [`scatter`] draw the plane.
//! * [`gallery`] has rows of images with labels, [`tiles`] the same without, for pages; [`animation`] is for GIF files.
//! * [`contact_sheet`] shows a data set, [`mean_image`] the mean of its images, [`prior`] the densities of priors.
//! * [`picture_file`] and [`image_output`] choose the kind of file by the name of the output.

pub(crate) mod animation;
pub(crate) mod canvas;
pub(crate) mod contact_sheet;
pub(crate) mod density;
pub(crate) mod gallery;
pub(crate) mod image_output;
pub(crate) mod mean_image;
pub(crate) mod picture_file;
pub(crate) mod prior;
mod scatter;
mod tiles;
