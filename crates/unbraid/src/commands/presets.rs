//! `unbraid presets`: the set-ups of the papers.

use crate::config::{ConfigError, PRESETS, Preset, Source};
use crate::failure::Outcome;
use crate::files::print;
use clap::{Args, Subcommand};
use std::fmt::Write;

/// Which presets.
#[derive(Args, Debug)]
pub struct PresetsArgs {
    #[command(subcommand)]
    command: Option<PresetsCommand>,
}

#[derive(Debug, Subcommand)]
enum PresetsCommand {
    /// Print the TOML of a preset
    Show {
        /// Its name
        #[arg(value_name = "NAME")]
        name: String,
    },
}

/// Lists the presets or shows one.
///
/// # Errors
/// If there is no preset of that name.
pub fn run(args: &PresetsArgs) -> Outcome {
    match &args.command {
        Some(PresetsCommand::Show { name }) => print(find(name)?.toml),
        None => print(&list()),
    }
}

fn find(name: &str) -> Result<&'static Preset, ConfigError> {
    // The error with its suggestion is the one that training would give.
    let unknown = || Source { preset: Some(name.to_owned()), ..Source::default() }.resolve();
    match Preset::named(name) {
        Some(preset) => Ok(preset),
        None => Err(unknown().err().unwrap_or(ConfigError::UnknownPreset {
            name: name.to_owned(),
            hint: "`unbraid presets` lists them".to_owned(),
        })),
    }
}

fn list() -> String {
    let width = PRESETS.iter().map(|preset| preset.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for preset in PRESETS {
        let _ = writeln!(text, "{:width$}  {}", preset.name, preset.origin);
    }
    text
}
