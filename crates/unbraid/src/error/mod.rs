//! Everything that can go wrong in this crate, in one enum.
//!
//! A message names the file or key, what was found and what was expected. The cause is in [`source`](std::error::Error)
//! only, so that a caller who prints the chain prints nothing twice.

mod constructors;
mod kind;
mod wording;

pub use kind::{AfterTraining, ErrorKind};
pub use wording::error_chain;

use crate::model::Unit;
use crate::run::Signal;
use std::io;
use std::path::PathBuf;
use unbraid_data::memory::Bytes;
use unbraid_data::{DataError, ImageShape, one_line};
use unbraid_metrics::MetricsError;
use wording::{hint, kept_checkpoints, names_of, units_of};

/// Result of everything in this crate that can fail.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

/// A cause of any type, for errors from code that the caller supplies.
pub type BoxedError = Box<dyn std::error::Error + Send + Sync>;

/// An error of the library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A data set cannot be opened or read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// An environment variable that chooses kernels has a wrong value.
    #[error(transparent)]
    Environment(#[from] unbraid_kernels::EnvironmentError),
    /// A metric is unknown.
    #[error(transparent)]
    Metric(#[from] MetricsError),
    /// Codes cannot be scored.
    #[error("{}", path.display())]
    Scoring {
        /// The run or the codes file.
        path: PathBuf,
        /// What is wrong with the codes.
        source: MetricsError,
    },

    /// A configuration is not TOML.
    #[error("{origin}: {message}")]
    ConfigSyntax {
        /// The file.
        origin: String,
        /// What the parser says, with line and column.
        message: String,
    },
    /// An assignment of a key is not `key=value`.
    #[error("assignment `{found}`: expected key=value, such as objective.beta=6")]
    Assignment {
        /// What was given.
        found: String,
    },
    /// No preset has this name.
    #[error("unknown preset `{}`{}", one_line(name), hint(suggestion.as_deref()))]
    UnknownPreset {
        /// What was asked for.
        name: String,
        /// The nearest name.
        suggestion: Option<String>,
    },
    /// A key of a configuration is unknown, or its value has the wrong type.
    #[error("configuration: {message}")]
    ConfigShape {
        /// The key and what is wrong with it.
        message: String,
    },
    /// A value of a configuration is out of range.
    #[error("configuration: {}: found {}, expected {expected}", one_line(key), one_line(found))]
    ConfigValue {
        /// The key, such as `objective.beta`.
        key: String,
        /// Its value.
        found: String,
        /// The values that are allowed.
        expected: String,
    },
    /// An argument of a function is out of range.
    #[error("{argument}: found {}, expected {expected}", one_line(found))]
    Argument {
        /// Its name.
        argument: &'static str,
        /// Its value.
        found: String,
        /// The values that are allowed.
        expected: String,
    },

    /// The architecture does not fit the size of the images.
    #[error("model.architecture `{architecture}`: found images of {height} x {width}, expected {expected}")]
    ImageSize {
        /// The architecture.
        architecture: &'static str,
        /// Rows of the images.
        height: usize,
        /// Columns of the images.
        width: usize,
        /// The sizes that fit.
        expected: String,
    },
    /// A request would take more memory than it may.
    #[error("{subject}: found a need of at least {}, expected at most {}", Bytes(*needed), Bytes(*limit))]
    TooLarge {
        /// What was asked for.
        subject: String,
        /// Bytes that it needs.
        needed: u64,
        /// Bytes that it may take.
        limit: u64,
    },
    /// The prior asks for more principal components than the data has.
    #[error(
        "model.prior.variances: found data that varies in only {found} directions, expected at least {units}, \
         the number that the prior takes variances from"
    )]
    TooFewComponents {
        /// Directions in which the data varies.
        found: usize,
        /// Directions that are needed.
        units: usize,
    },
    /// A weights file is not a safetensors file, or is damaged.
    #[error("{}: not a complete safetensors file: {reason}", path.display())]
    DamagedWeights {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A model from elsewhere cannot be imported.
    #[error("{}: found {found}, expected {expected}", path.display())]
    Import {
        /// The file or directory.
        path: PathBuf,
        /// What is wrong with it.
        found: String,
        /// What can be imported.
        expected: String,
    },
    /// A run has weights but no state of an optimiser, since it was not trained here.
    #[error("{}: found imported weights without the optimiser's state, expected those of a training", path.display())]
    NoOptimizerState {
        /// The run.
        path: PathBuf,
    },
    /// A part of a run has no form in another program.
    #[error("{}: found {what}, expected one that can be exported: {reason}", run.display())]
    NotExportable {
        /// The run.
        run: PathBuf,
        /// What cannot be exported.
        what: String,
        /// Why.
        reason: String,
    },
    /// Saved tensors do not match those of this model.
    #[error("weights of another model: {}: found {found}, expected {expected}", one_line(tensor))]
    TensorMismatch {
        /// The tensor.
        tensor: String,
        /// What was saved.
        found: String,
        /// What the model has.
        expected: String,
    },

    /// The weights that a run is to start from are not those of its configuration.
    #[error("{}: found weights with the hash {found}, expected {expected}, those of training.init", path.display())]
    WeightsChanged {
        /// The file.
        path: PathBuf,
        /// Its hash.
        found: String,
        /// The hash in the configuration.
        expected: String,
    },

    /// A directory is not a run.
    #[error("{}: not a run: {found}", path.display())]
    NotARun {
        /// The directory.
        path: PathBuf,
        /// What was found instead.
        found: &'static str,
    },
    /// A run is being used by another process.
    #[error("{}: the run is in use by {user}", path.display())]
    InUse {
        /// The run.
        path: PathBuf,
        /// Who uses it.
        user: String,
    },
    /// There is no run to resume.
    #[error("{}: nothing to resume: there is no run here", path.display())]
    NothingToResume {
        /// The directory.
        path: PathBuf,
    },
    /// A new run was to be started where one exists.
    #[error("{}: there is a run here already ({description})", path.display())]
    RunExists {
        /// The directory.
        path: PathBuf,
        /// How far the existing run is.
        description: String,
    },
    /// A directory contains files that do not belong to a run.
    #[error("{}: found files that do not belong to a run, expected an empty directory or a run", path.display())]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
    /// A directory of a run is elsewhere.
    #[error("{}: found a symbolic link, expected a directory of the run itself", path.display())]
    LinkedDirectory {
        /// The link.
        path: PathBuf,
    },
    /// A run was to be resumed with a different configuration.
    #[error("{}: the configuration of the run differs from the given one: {}", path.display(), one_line(&differences.join("; ")))]
    ConfigDiffers {
        /// The run.
        path: PathBuf,
        /// The keys that differ, with both values.
        differences: Vec<String>,
    },
    /// The data has changed since the run was trained.
    #[error("{}: the data has changed since the run was trained: found SHA-256 {found}, expected {expected}", path.display())]
    DataChanged {
        /// The run.
        path: PathBuf,
        /// The hash of the data.
        found: String,
        /// The hash that the run recorded.
        expected: String,
    },
    /// A test split was requested of a run that was not trained on the training split.
    #[error(
        "{}: found a run that was not trained on the training split of its data, expected one with data.split=train",
        path.display()
    )]
    NoTestSplit {
        /// The run.
        path: PathBuf,
    },
    /// A run has no such checkpoint.
    #[error("{}: no such checkpoint; {}", path.display(), kept_checkpoints(*step, kept, stopped.as_deref()))]
    NoCheckpoint {
        /// The file that was looked for.
        path: PathBuf,
        /// The step that was asked for; `None` for the last checkpoint.
        step: Option<u64>,
        /// The steps whose checkpoints were kept.
        kept: Vec<u64>,
        /// Why training has stopped, if it has and the run says so.
        stopped: Option<String>,
    },
    /// A checkpoint was written by another program.
    #[error(
        "{}: found a safetensors file of another program, expected a checkpoint written by unbraid",
        path.display()
    )]
    ForeignCheckpoint {
        /// The file.
        path: PathBuf,
    },
    /// A checkpoint does not match the configuration next to it.
    #[error("{}: found a checkpoint of another configuration, expected that of the run's config.toml", path.display())]
    CheckpointOfOtherConfig {
        /// The file.
        path: PathBuf,
    },
    /// A checkpoint cannot be loaded into the model.
    #[error("{}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Box<Error>,
    },
    /// A run cannot be resumed from its checkpoint.
    #[error("cannot resume")]
    Resume(#[source] Box<Error>),
    /// A log is shorter than its checkpoint recorded.
    #[error("{}: found {found} bytes, expected at least {expected}, as its checkpoint recorded", path.display())]
    LogTooShort {
        /// The file.
        path: PathBuf,
        /// Its length.
        found: u64,
        /// What the checkpoint recorded.
        expected: String,
    },

    /// A loss is no longer finite.
    #[error("step {step}: the term `{term}` is {value}; training cannot continue")]
    LossNotFinite {
        /// The step at which it was computed.
        step: u64,
        /// The name of the loss.
        term: String,
        /// NaN or an infinity.
        value: f64,
        /// The last checkpoint and its step, if there is one.
        checkpoint: Option<(PathBuf, u64)>,
    },
    /// A weight is no longer finite.
    #[error("step {step}: the weights `{tensor}` are not finite")]
    WeightsNotFinite {
        /// The step after which it was found.
        step: u64,
        /// The first such tensor.
        tensor: String,
        /// The last checkpoint and its step, if there is one.
        checkpoint: Option<(PathBuf, u64)>,
    },
    /// Training was asked to stop. Everything is saved.
    #[error("interrupted by {} after step {step}; a checkpoint is written", signal.name())]
    Interrupted {
        /// The run.
        path: PathBuf,
        /// Steps done.
        step: u64,
        /// The signal that asked for it.
        signal: Signal,
    },
    /// A stop was requested in the last step: the run is trained, but not scored.
    #[error("interrupted by {} after the last step; the run is trained and saved", signal.name())]
    InterruptedAfterTraining {
        /// The run.
        path: PathBuf,
        /// The signal that asked for it.
        signal: Signal,
    },
    /// A run is trained and saved, but its evaluation or report failed.
    #[error("the run is trained and saved, but its {stage} failed")]
    AfterTraining {
        /// The run.
        path: PathBuf,
        /// What failed.
        stage: AfterTraining,
        /// Why.
        source: BoxedError,
    },

    /// Images do not have the size that the run was trained on.
    #[error("{subject}: found images of {found}, expected {expected} (height x width x channels), those of {}", run.display())]
    ImageShape {
        /// Where the images come from.
        subject: String,
        /// Their size.
        found: ImageShape,
        /// The size that the run takes.
        expected: ImageShape,
        /// The run.
        run: PathBuf,
    },
    /// A table does not have the columns that the run was trained on.
    #[error("{subject}: found {found}, expected the {expected} columns that {} was trained on", run.display())]
    Columns {
        /// Where the table comes from.
        subject: String,
        /// What is different.
        found: String,
        /// The number of columns that the run takes.
        expected: usize,
        /// The run.
        run: PathBuf,
    },
    /// A run was trained on a table, and what was asked for is made of pictures.
    #[error("{}: found a run on a table, which has no pictures, expected one on images\nhint: {hint}", run.display())]
    NoPictures {
        /// The run.
        run: PathBuf,
        /// What to do instead.
        hint: &'static str,
    },
    /// A run was trained on data that cannot be stored in an image file.
    #[error("{}: was trained on data of {shape}, which no image file can hold", run.display())]
    NotImages {
        /// The run.
        run: PathBuf,
        /// The shape of its data.
        shape: ImageShape,
    },
    /// Latent values have the wrong number of columns.
    #[error("latent values: found {found} columns, expected {expected}, one for each unit of {}", run.display())]
    LatentColumns {
        /// Columns found.
        found: usize,
        /// Columns of the run.
        expected: usize,
        /// The run.
        run: PathBuf,
    },
    /// A run has no such latent unit.
    #[error("unit {unit}: no such unit; {}", units_of(*unit, *count, run))]
    NoSuchUnit {
        /// The unit.
        unit: Unit,
        /// How many units of its kind the run has.
        count: usize,
        /// The run.
        run: PathBuf,
    },
    /// A word is neither the number nor the name of a unit.
    #[error(
        "unit `{text}`: no such unit; expected its number, as in 3, or category.0 for a categorical unit, or its name{}",
        names_of(names, run)
    )]
    UnknownUnit {
        /// The word.
        text: String,
        /// The names that units of the run have.
        names: Vec<String>,
        /// The run.
        run: PathBuf,
    },
    /// A categorical unit has no such class.
    #[error("class {class} of {}: no such class; it has {classes}, 0 to {}", Unit::Categorical(*unit), classes - 1)]
    NoSuchClass {
        /// The categorical unit.
        unit: usize,
        /// The class.
        class: usize,
        /// How many classes it has.
        classes: usize,
    },

    /// A file exists and must not be replaced.
    #[error("{}: the file exists", path.display())]
    FileExists {
        /// The file.
        path: PathBuf,
    },
    /// The path of an output file is a directory.
    #[error("{}: found a directory, expected a file to write", path.display())]
    IsDirectory {
        /// The directory.
        path: PathBuf,
    },
    /// The directory of an output file does not exist.
    #[error("{}: its directory does not exist", path.display())]
    NoDirectory {
        /// The file.
        path: PathBuf,
    },
    /// An output file exists that unbraid did not write.
    #[error("{}: found a file that unbraid did not write, expected none or an earlier {expected}", path.display())]
    ForeignFile {
        /// The file.
        path: PathBuf,
        /// The kind of file that may be replaced.
        expected: &'static str,
    },
    /// A file does not have the expected content.
    #[error("{}: expected {expected}", path.display())]
    Malformed {
        /// The file, with the line if it is known.
        path: PathBuf,
        /// The expected content.
        expected: &'static str,
        /// What the parser found.
        source: BoxedError,
    },
    /// The operating system refused to read, create or remove a file or directory.
    #[error("{}: cannot {action}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What was attempted, as a verb phrase.
        action: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// A file could not be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}
