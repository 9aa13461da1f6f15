#![doc = include_str!("../README.md")]

mod chart;
mod colour;
mod comparison;
mod embedding;
mod error;
mod figure;
mod font;
mod html;
mod hub;
mod labels;
mod live;
mod numbers;
mod picture;
mod run_report;
mod study;
#[cfg(test)]
mod testing;

// Pages.
pub use comparison::{ComparedNumber, Comparison};
pub use html::check_page;
pub use hub::write_hub_directory;
pub use run_report::feature_figures::write_table_charts;
pub use run_report::{HtmlReport, write_run_report, write_run_report_with};
pub use study::page::{study_page, write_study_report};

// Codes for viewers of embeddings.
pub use embedding::{write_codes_parquet, write_projector};

// Pictures of images, as PNG and GIF.
pub use picture::animation::Animation;
pub use picture::contact_sheet::{SheetOptions, draw_data_set};
pub use picture::gallery::{Gallery, ImageRow};
pub use picture::image_output::ImageOutput;
pub use picture::mean_image::draw_mean_image;
pub use picture::picture_file::{FeatureTraversal, PictureFile};
pub use picture::prior::draw_priors;

// Drawing by hand.
pub use colour::{Colour, FAINT_INK, INK};
pub use picture::canvas::{Align, Canvas};

pub use error::{Error, Result};
pub use numbers::thousands;
