//! What to try next on the command line. Errors of the library know nothing of it.

use std::error::Error as StdError;
use unbraid::data::{DataError, memory};
use unbraid::{AfterTraining, Error};

/// The hint for an error, if there is one.
pub(crate) fn hint(error: &(dyn StdError + 'static)) -> Option<String> {
    if let Some(error) = error.downcast_ref::<Error>() {
        return of_library(error);
    }
    if let Some(error) = error.downcast_ref() {
        return of_data(error);
    }
    if let Some(error) = error.downcast_ref::<unbraid_study::Error>() {
        return of_study(error);
    }
    error.downcast_ref::<unbraid_report::Error>().and_then(of_report)
}

fn of_data(error: &DataError) -> Option<String> {
    let hint = match error {
        DataError::TooLarge { limit, .. } => allow_large(*limit),
        DataError::NoPath { data_set, .. } => format!(
            "say where it is: `unbraid train PATH`, `--set data.path=PATH`, `--data PATH` for a run, or \
             `\"{data_set}(path=PATH)\"` wherever a data set is named"
        ),
        // Errors without a hint; the list of the crate's errors is open.
        _ => return None,
    };
    Some(hint)
}

/// How to lift a limit: that on memory, which can be set, or a fixed one, as that on the size of a picture.
fn allow_large(limit: u64) -> String {
    let origin = if limit == memory::limit() {
        ", which is UNBRAID_MEMORY_LIMIT in bytes, or three quarters of the machine's memory"
    } else {
        ""
    };
    format!("--allow-large lifts the limit{origin}")
}

fn of_library(error: &Error) -> Option<String> {
    let hint = match error {
        Error::FileExists { .. } => "--overwrite replaces it".to_owned(),
        Error::UnknownUnit { names, run, .. } if names.is_empty() => {
            format!("unbraid name {} 3=azimuth gives unit 3 a name", run.display())
        }
        Error::TooLarge { limit, .. } => allow_large(*limit),
        Error::Data(error) => return of_data(error),
        Error::LinkedDirectory { .. } => {
            "to keep it on another disk, move the whole run there and link to that".to_owned()
        }
        Error::ForeignFile { .. } => "move it out of the way".to_owned(),
        Error::NoOptimizerState { path } => {
            format!("unbraid train --init {} starts a new run from them", path.display())
        }
        Error::Resume(source) => return of_library(source),
        Error::UnknownPreset { suggestion: None, .. } => "`unbraid presets` lists them".to_owned(),
        Error::NothingToResume { .. } => "without --resume or --extend, a new run starts".to_owned(),
        Error::RunExists { .. } => {
            "--resume continues it, --extend trains it longer, --overwrite starts again".to_owned()
        }
        Error::ConfigDiffers { path, differences } => match longer(differences) {
            Some(length) => {
                format!("unbraid train --out {} --extend {length} trains it longer", path.display())
            }
            None => "without --preset, --config and --set, --resume takes the run's own".to_owned(),
        },
        Error::LossNotFinite { checkpoint, .. } | Error::WeightsNotFinite { checkpoint, .. } => format!(
            "a smaller optimizer.learning_rate or optimizer.gradient_clip may help; {}",
            last_checkpoint(checkpoint.as_ref())
        ),
        Error::Interrupted { path, .. } => {
            format!("unbraid train --resume --out {} continues", path.display())
        }
        Error::InterruptedAfterTraining { path, .. } => {
            format!("unbraid train --resume --out {} does the rest", path.display())
        }
        Error::AfterTraining { path, stage, .. } => {
            let command = match stage {
                AfterTraining::Evaluation => "evaluate",
                AfterTraining::Report => "report",
            };
            format!("unbraid {command} {} tries again", path.display())
        }
        // Errors without a hint; the list of the library's errors is open.
        _ => return None,
    };
    Some(hint)
}

/// What `--extend` takes, if a configuration differs from that of its run in a greater length only.
fn longer(differences: &[String]) -> Option<String> {
    let [difference] = differences else { return None };
    let (key, values) = difference.split_once(": ")?;
    let (planned, wanted) = values.split_once(" and ")?;
    let (planned, wanted): (u64, u64) = (planned.parse().ok()?, wanted.parse().ok()?);
    match key {
        _ if wanted <= planned => None,
        "training.steps" => Some(wanted.to_string()),
        "training.epochs" => Some(format!("{wanted}epochs")),
        _ => None,
    }
}

fn last_checkpoint(checkpoint: Option<&(std::path::PathBuf, u64)>) -> String {
    checkpoint.map_or_else(
        || "no checkpoint was written before".to_owned(),
        |(path, step)| format!("the last checkpoint is {} of step {step}", path.display()),
    )
}

fn of_study(error: &unbraid_study::Error) -> Option<String> {
    use unbraid_study::Error;
    let hint = match error {
        Error::Library(error) => return of_library(error),
        Error::NotAStudy { .. } => "`unbraid study new` creates one".to_owned(),
        Error::StudyExists { .. } => {
            "edit its study.toml and run `unbraid study plan` again, or choose another directory".to_owned()
        }
        Error::LinkedDirectory { .. } => {
            "to keep it on another disk, move the whole study there and link to that".to_owned()
        }
        Error::NotPlanned { path } => format!("unbraid study plan {} writes it", path.display()),
        Error::UnknownPreset { suggestion: None, .. } => "`unbraid study presets` lists them".to_owned(),
        Error::VariedKey { .. } => "leave out that --set, then change its list in study.toml".to_owned(),
        Error::DamagedManifest { .. } => {
            "`unbraid study plan` rewrites the manifest and keeps finished runs".to_owned()
        }
        Error::ForeignRuns { .. } => {
            "plan another study in another directory; --force plans it here and leaves those runs alone"
                .to_owned()
        }
        Error::TableName { .. } => "--name sets another one".to_owned(),
        Error::ArrayLimit { .. } => "--runs-per-task puts more runs into fewer tasks".to_owned(),
        Error::NoSbatch => {
            "--engine print gives command lines for any other scheduler; unbraid study run trains here"
                .to_owned()
        }
        Error::PartlySubmitted { .. } => {
            "the same command later submits the rest, and skips what is queued".to_owned()
        }
        // Errors without a hint; the list of the crate's errors is open.
        _ => return None,
    };
    Some(hint)
}

fn of_report(error: &unbraid_report::Error) -> Option<String> {
    use unbraid_report::Error;
    let hint = match error {
        Error::Library(error) => return of_library(error),
        Error::Study(error) => return of_study(error),
        Error::DirectoryNotEmpty { .. } => "--overwrite writes into it anyway",
        Error::TooManyImages { .. } => "a name that ends in .npz, or a directory, takes any number",
        // Errors without a hint; the list of the crate's errors is open.
        _ => return None,
    };
    Some(hint.to_owned())
}
