//! Pictures and pages. This room sees data, trained models and results; it never trains or scores anything itself.

pub mod animation;
pub mod canvas;
pub mod gallery;
pub mod html;
pub mod latents;
pub mod scatter;
pub mod sheet;
pub mod tiles;
