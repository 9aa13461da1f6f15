//! Use of a trained model: encode, decode and edit images, traverse latent units (dimensions), and exchange codes with
//! other programs. Depends on runs and data.
//!
//! Most operations are methods of [`Run`](crate::Run). This module adds image input ([`input`], [`Corruption`]),
//! assignments to units ([`Assignment`]), and tables of codes ([`codes_table`], [`codes_input`]).
//!
//! ```no_run
//! use unbraid::Run;
//! use unbraid::inference::Assignment;
//! use unbraid::model::Unit;
//!
//! let run = Run::open("runs/photos")?;
//! let image = run.read_image("photo.jpg")?; // any size: cropped and resized to the run's
//! let edited = run.edit(&image, &[Assignment::Value { unit: 3, value: 1.5 }])?;
//! let traversal = run.traversal(&run.codes_of(&image)?.row(0), Unit::Continuous(3), Some((-2.0, 2.0)), 5)?;
//! let images = run.decode(&traversal.latents)?;
//! assert_eq!((edited.dim().0, images.dim().0), (1, 5));
//! # Ok::<(), unbraid::Error>(())
//! ```

mod activity;
mod assignment;
pub mod codes_input;
pub mod codes_table;
mod corruption;
pub mod input;
mod operations;
mod scratch;
mod traversal;

pub use activity::UnitActivity;
pub use assignment::{Assignment, NamedAssignment, assign};
pub use corruption::Corruption;
pub use traversal::Traversal;
