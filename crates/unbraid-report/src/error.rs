//! Everything that can go wrong in this crate, in one enum.

use crate::numbers::thousands;
use std::io;
use std::path::PathBuf;
use unbraid::data::DataError;
use unbraid::{BoxedError, ErrorKind};

/// Result of everything in this crate that can fail.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

/// An error of figures and pages. The cause is in [`source`](std::error::Error::source) only;
/// [`unbraid::error_chain`] prints both.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The library could not read a run or its data, or could not write a file.
    #[error(transparent)]
    Library(#[from] unbraid::Error),
    /// A study could not be read.
    #[error(transparent)]
    Study(#[from] unbraid_study::Error),

    /// The name of an output does not say what kind of file it is.
    #[error("{}: expected {expected}", path.display())]
    FileName {
        /// The output.
        path: PathBuf,
        /// The names that are allowed.
        expected: &'static str,
    },
    /// A file is where a directory of images should be written.
    #[error(
        "{}: found a file, expected a directory to write images into, or a name that ends in .png or .npz",
        path.display()
    )]
    NotADirectory {
        /// The file.
        path: PathBuf,
    },
    /// A directory of images already holds files.
    #[error("{}: the directory is not empty", path.display())]
    DirectoryNotEmpty {
        /// The directory.
        path: PathBuf,
    },
    /// A directory could not be created in a run.
    #[error("{}: cannot create the directory", path.display())]
    CreateDirectory {
        /// The directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// There are more images than a sheet can show.
    #[error(
        "{}: found {} images, expected at most {} on a sheet",
        path.display(), thousands(*found), thousands(*limit)
    )]
    TooManyImages {
        /// The sheet.
        path: PathBuf,
        /// How many images there are.
        found: usize,
        /// How many fit.
        limit: usize,
    },
    /// Data of two values has no images to draw.
    #[error("the data has no images")]
    NoImages,

    /// A row of a log is not a JSON object.
    #[error("{}, line {line}: expected a JSON object", path.display())]
    LogRow {
        /// The log.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What the parser found.
        source: serde_json::Error,
    },
    /// A row of a log has no step.
    #[error("{}, line {line}: found no `step`, expected one in every row", path.display())]
    LogStep {
        /// The log.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
    },
    /// The rows of a log have losses of their own each.
    #[error(
        "{}: found {losses} different losses in {rows} rows, expected about the same in every row",
        path.display()
    )]
    LogLosses {
        /// The log.
        path: PathBuf,
        /// How many rows there are.
        rows: usize,
        /// How many losses.
        losses: usize,
    },
    /// A log has more losses than charts can be drawn of.
    #[error("{}: found {losses} different losses, expected at most {most}", path.display())]
    ManyLosses {
        /// The log.
        path: PathBuf,
        /// How many losses there are.
        losses: usize,
        /// How many there may be.
        most: usize,
    },

    /// A picture could not be encoded as PNG.
    #[error("cannot encode a picture")]
    Png(#[source] BoxedError),
    /// An animation could not be encoded as GIF.
    #[error("cannot encode the animation")]
    Gif(#[source] BoxedError),
    /// An animation has no frames, or frames of several sizes.
    #[error("cannot encode the animation: expected frames of one size")]
    FrameSizes,
    /// The frames of an animation are larger than a GIF can be.
    #[error("cannot encode the animation: found {width} x {height} pixels, expected at most 65535")]
    FrameTooLarge {
        /// Columns.
        width: u32,
        /// Rows.
        height: u32,
    },
}

impl Error {
    /// Whose problem it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Library(error) => error.kind(),
            Self::Study(error) => error.kind(),
            Self::FileName { .. }
            | Self::NotADirectory { .. }
            | Self::DirectoryNotEmpty { .. }
            | Self::TooManyImages { .. }
            | Self::NoImages
            | Self::LogRow { .. }
            | Self::LogStep { .. }
            | Self::LogLosses { .. }
            | Self::ManyLosses { .. } => ErrorKind::Input,
            Self::CreateDirectory { source, .. } => ErrorKind::of_write(source),
            Self::Png(_) | Self::Gif(_) | Self::FrameSizes | Self::FrameTooLarge { .. } => ErrorKind::Failure,
        }
    }
}

impl From<DataError> for Error {
    fn from(error: DataError) -> Self {
        Self::Library(error.into())
    }
}
