//! `unbraid study new`: a study.toml to begin with.

use crate::error::Outcome;
use crate::format::print;
use clap::{Args, ValueEnum};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use unbraid::data::registry;
use unbraid::data::{DataSpec, OptionValue};
use unbraid_study::presets::{self, PresetScale};
use unbraid_study::{Plan, StudyDirectory};

/// Which study, and where.
#[derive(Args, Debug)]
pub(crate) struct NewArgs {
    /// A study of `unbraid study presets`, `empty`, or `imported` for tables from elsewhere
    #[arg(value_name = "PRESET")]
    preset: String,
    /// The directory of the new study
    #[arg(value_name = "DIRECTORY")]
    directory: PathBuf,
    #[command(flatten)]
    scale: ScaleArgs,
    /// Set a key for all runs, as in `training.steps=5000`, or `seeds=5`; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

/// How much of a study.
#[derive(Args, Debug)]
pub(crate) struct ScaleArgs {
    /// Full as published, or small enough for an afternoon on two cores
    #[arg(long, value_enum, default_value = "full")]
    scale: ScaleWord,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ScaleWord {
    Full,
    Small,
}

impl ScaleArgs {
    /// The scale that was asked for.
    pub(super) fn scale(&self) -> PresetScale {
        match self.scale {
            ScaleWord::Full => PresetScale::Full,
            ScaleWord::Small => PresetScale::Small,
        }
    }
}

/// Writes the study.toml, and says what to do next.
///
/// # Errors
/// If there is no such study, a key cannot be set, or there is a study in the directory already.
pub(crate) fn run(args: &NewArgs) -> Outcome {
    let text = presets::text(&args.preset, args.scale.scale())?;
    let (text, runs) = presets::with_assignments(text, &args.set)?;
    let directory = &args.directory;
    let study = StudyDirectory::create(directory, &text)?;
    let file = study.definition();
    let mut said = format!("{:12} {}\n{:12} {}\n", "study", file.display(), "runs", runs);
    // Read again from its place, which is where its paths start.
    let plan = Plan::of(&study)?;
    let data = plan.manifest.entries.iter().map(|entry| &entry.configuration.data);
    for (path, expected) in data.flat_map(missing).collect::<BTreeMap<_, _>>() {
        let _ = writeln!(said, "{:12} {}: missing; expected {expected}", "data", path.display());
    }
    let next = if plan.manifest.entries.is_empty() { "import" } else { "plan" };
    let file = if plan.manifest.entries.is_empty() { " FILE.csv" } else { "" };
    let _ = writeln!(said, "{:12} unbraid study {next} {}{file}", "next", study.path().display());
    print(&said)
}

/// The files of a data set that are not there, each with what it must be.
fn missing(data: &DataSpec) -> impl Iterator<Item = (PathBuf, &'static str)> {
    let entry = data.name.as_deref().and_then(|name| registry::entry(name).ok());
    let own =
        data.path.clone().map(|path| (path, entry.and_then(|entry| entry.path).unwrap_or("a data set")));
    let picture = match data.options.get("picture") {
        Some(OptionValue::Text(path)) => Some((PathBuf::from(path), "an image file for the backgrounds")),
        _ => None,
    };
    own.into_iter().chain(picture).filter(|(path, _)| !path.exists())
}
