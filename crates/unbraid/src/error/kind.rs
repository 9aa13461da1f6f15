//! What can be done about an error.

use super::Error;
use std::io;

/// What kind of error it is, and so what can be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request or its input is wrong. Trying again gives the same error.
    Input,
    /// Something failed at run time: a full disk, a diverging loss.
    Failure,
    /// The work was asked to stop; everything done so far is saved.
    Interrupted,
}

impl ErrorKind {
    /// The kind of an error of the system while something is written: a place that may not be written to is a wrong
    /// request, unlike a disk that is full.
    pub fn of_write(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::PermissionDenied
            | io::ErrorKind::ReadOnlyFilesystem
            | io::ErrorKind::InvalidFilename => Self::Input,
            _ => Self::Failure,
        }
    }
}

/// What follows training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterTraining {
    /// Scoring its representation.
    Evaluation,
    /// Drawing its report.
    Report,
}

impl std::fmt::Display for AfterTraining {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Evaluation => "evaluation",
            Self::Report => "report",
        })
    }
}

impl Error {
    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Interrupted { .. } | Self::InterruptedAfterTraining { .. } => ErrorKind::Interrupted,
            Self::LossNotFinite { .. } | Self::WeightsNotFinite { .. } | Self::AfterTraining { .. } => {
                ErrorKind::Failure
            }
            Self::Write { source, .. } => ErrorKind::of_write(source),
            Self::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull => ErrorKind::Failure,
            Self::Checkpoint { source, .. } | Self::Resume(source) => source.kind(),
            Self::Data(_)
            | Self::Environment(_)
            | Self::Metric(_)
            | Self::Scoring { .. }
            | Self::ConfigSyntax { .. }
            | Self::Assignment { .. }
            | Self::UnknownPreset { .. }
            | Self::ConfigShape { .. }
            | Self::ConfigValue { .. }
            | Self::Argument { .. }
            | Self::ImageSize { .. }
            | Self::TooLarge { .. }
            | Self::TooFewComponents { .. }
            | Self::DamagedWeights { .. }
            | Self::Import { .. }
            | Self::NotExportable { .. }
            | Self::NoOptimizerState { .. }
            | Self::TensorMismatch { .. }
            | Self::WeightsChanged { .. }
            | Self::NotARun { .. }
            | Self::InUse { .. }
            | Self::NothingToResume { .. }
            | Self::RunExists { .. }
            | Self::NotEmpty { .. }
            | Self::LinkedDirectory { .. }
            | Self::ConfigDiffers { .. }
            | Self::DataChanged { .. }
            | Self::NoTestSplit { .. }
            | Self::NoCheckpoint { .. }
            | Self::ForeignCheckpoint { .. }
            | Self::CheckpointOfOtherConfig { .. }
            | Self::LogTooShort { .. }
            | Self::ImageShape { .. }
            | Self::NotImages { .. }
            | Self::Columns { .. }
            | Self::NoPictures { .. }
            | Self::LatentColumns { .. }
            | Self::NoSuchUnit { .. }
            | Self::UnknownUnit { .. }
            | Self::NoSuchClass { .. }
            | Self::FileExists { .. }
            | Self::IsDirectory { .. }
            | Self::NoDirectory { .. }
            | Self::ForeignFile { .. }
            | Self::Malformed { .. }
            | Self::Io { .. } => ErrorKind::Input,
        }
    }
}
