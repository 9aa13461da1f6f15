//! A trained model in use: encode, decode and edit images, traverse latent units (dimensions), and exchange codes with
//! other programs. Depends on runs and data.
//!
//! Most of it are methods of [`Run`](crate::Run). Beside them is how images come in ([`input`], [`Corruption`]), how
//! units are set ([`Assignment`]), and how codes leave and come back ([`codes_table`], [`codes_input`]).
//!
//! ```no_run
//! use unbraid::Run;
//! use unbraid::inference::Assignment;
//!
//! let run = Run::open("runs/photos")?;
//! let image = run.read_image("photo.jpg")?; // any size: cropped and resized to the run's
//! let edited = run.edit(&image, &[Assignment::Value { unit: 3, value: 1.5 }])?;
//! let range = run.traverse(&run.codes_of(&image)?.row(0), 3, &[-2.0, 0.0, 2.0])?;
//! assert_eq!((edited.dim().0, range.dim().0), (1, 3));
//! # Ok::<(), unbraid::Error>(())
//! ```

mod assignment;
pub mod codes_input;
pub mod codes_table;
mod corruption;
pub mod input;
mod operations;
mod scratch;

pub use assignment::{Assignment, assign};
pub use corruption::Corruption;
