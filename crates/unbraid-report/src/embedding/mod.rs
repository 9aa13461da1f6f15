//! Codes for viewers of embeddings: a Parquet table with thumbnails and coordinates, and the files of
//! TensorBoard's projector.

mod parquet;
mod plane;
mod projector;
mod thumbnail;

pub use self::parquet::write_codes_parquet;
pub use projector::write_projector;
