//! `unbraid study presets`: the comparisons of the papers.

use super::new::ScaleArgs;
use crate::error::Outcome;
use crate::format::{TextFormat, print};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::fmt::Write;
use unbraid_study::presets::{PresetScale, STUDIES, text};

/// Which studies.
#[derive(Args, Debug)]
pub(crate) struct PresetsArgs {
    #[command(subcommand)]
    command: Option<PresetsCommand>,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: TextFormat,
}

#[derive(Debug, Subcommand)]
enum PresetsCommand {
    /// Print the study.toml of a preset
    Show {
        /// Its name
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        scale: ScaleArgs,
    },
}

/// Lists the studies or shows one.
///
/// # Errors
/// If there is no study of that name.
pub(crate) fn run(args: &PresetsArgs) -> Outcome {
    match (&args.command, args.format) {
        (Some(PresetsCommand::Show { name, scale }), _) => print(text(name, scale.scale())?),
        (None, TextFormat::Text) => print(&as_text()?),
        (None, TextFormat::Json) => print(&as_json()?),
    }
}

/// A line of at most 80 columns for each, under the name of its paper.
fn as_text() -> Outcome<String> {
    let width = 2 + STUDIES.iter().map(|study| study.name.len()).max().unwrap_or(0);
    let mut text = format!("{:width$}  {:>6}  {:>5}\n", "runs", "full", "small");
    let mut paper = "";
    for study in STUDIES {
        if study.paper != paper {
            paper = study.paper;
            let _ = writeln!(text, "{paper}");
        }
        let (full, small) = (study.runs(PresetScale::Full)?, study.runs(PresetScale::Small)?);
        let name = format!("  {}", study.name);
        let _ = writeln!(text, "{name:width$}  {full:>6}  {small:>5}  {}", study.place);
    }
    Ok(text)
}

fn as_json() -> Outcome<String> {
    let studies = STUDIES.iter().map(|study| {
        Ok(json!({
            "name": study.name,
            "paper": study.paper,
            "place": study.place,
            "runs": study.runs(PresetScale::Full)?,
            "runs_small": study.runs(PresetScale::Small)?,
        }))
    });
    Ok(format!("{:#}\n", Value::Array(studies.collect::<Outcome<Vec<Value>>>()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_fits_eighty_columns() {
        let text = as_text().unwrap();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(STUDIES.iter().all(|study| text.contains(study.place) && text.contains(study.paper)));
        assert!(text.contains("10800     36"), "{text}");
    }
}
