//! `unbraid presets`: the set-ups of the papers.

use crate::error::Outcome;
use crate::format::print;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::fmt::Write;
use std::io::IsTerminal;
use unbraid::config::{PRESETS, Preset};

/// Which presets.
#[derive(Args, Debug)]
pub(crate) struct PresetsArgs {
    #[command(subcommand)]
    command: Option<PresetsCommand>,
    /// Print JSON
    #[arg(long)]
    json: bool,
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
pub(crate) fn run(args: &PresetsArgs) -> Outcome {
    match &args.command {
        Some(PresetsCommand::Show { name }) => print(Preset::find(name)?.toml),
        None if args.json => print(&as_json()),
        None if std::io::stdout().is_terminal() => print(&as_text()),
        None => print(&as_lines()),
    }
}

/// For people: under the name of each paper, a line of at most 80 columns for each preset.
fn as_text() -> String {
    let width = PRESETS.iter().map(|preset| preset.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    let mut paper = "";
    for preset in PRESETS {
        if preset.paper != paper {
            paper = preset.paper;
            let gap = if text.is_empty() { "" } else { "\n" };
            let _ = writeln!(text, "{gap}{paper}");
        }
        let _ = writeln!(text, "  {:width$}  {}", preset.name, preset.place);
    }
    text
}

/// For other programs: name, paper and place with tabs between.
fn as_lines() -> String {
    PRESETS.iter().map(|preset| format!("{}\t{}\t{}\n", preset.name, preset.paper, preset.place)).collect()
}

fn as_json() -> String {
    let presets = PRESETS
        .iter()
        .map(|preset| json!({ "name": preset.name, "paper": preset.paper, "place": preset.place }));
    format!("{:#}\n", Value::Array(presets.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_fits_eighty_columns() {
        let text = as_text();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(PRESETS.iter().all(|preset| text.contains(preset.name) && text.contains(preset.paper)));
    }
}
