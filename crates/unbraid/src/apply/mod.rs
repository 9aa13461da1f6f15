//! What a person does with a trained model: look at what it makes of images, change one unit at a time, and take the codes
//! elsewhere. Depends on runs, data and pictures.
//!
//! The functions of [`Run`](crate::Run) that do it stand in [`operations`]; beside them is how images come in
//! ([`input`], [`corruption`]), how units are named and set ([`unit`](mod@unit), [`assignment`]), and how codes and images leave
//! ([`codes_table`], [`codes_input`], [`images_output`], [`strip`]).
//!
//! ```no_run
//! use unbraid::Run;
//! use unbraid::apply::assignment::Assignment;
//!
//! let run = Run::open("runs/photos")?;
//! let image = run.read_image("photo.jpg")?; // any size: cropped and resized to the run's
//! let edited = run.edit(&image, &[Assignment::Value { unit: 3, value: 1.5 }])?;
//! let range = run.traverse(&run.codes_of(&image)?.row(0), 3, &[-2.0, 0.0, 2.0])?;
//! assert_eq!((edited.dim().0, range.dim().0), (1, 3));
//! # Ok::<(), unbraid::failure::Failure>(())
//! ```

pub mod assignment;
pub mod codes_input;
pub mod codes_table;
pub mod corruption;
pub mod images_output;
pub mod input;
pub mod operations;
mod scratch;
pub mod strip;
pub mod unit;
