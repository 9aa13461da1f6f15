//! `unbraid name`: names for latent units.

use crate::error::Outcome;
use crate::format::print;
use clap::Args;
use std::fmt::Write;
use std::path::PathBuf;
use unbraid::Run;

/// Arguments of `unbraid name`.
#[derive(Args, Debug)]
#[command(after_help = "\
Example: unbraid name runs/chairs 3=azimuth category.0=style

Names are kept in units.toml of the run. They are shown in figures, tables and
pages (`unbraid report` draws them again), and stand for units in --unit and
--set. `3=` takes a name away. Without names, those that units have are
printed. The page of a run exports names as units.toml: put it there.")]
pub(crate) struct NameArgs {
    /// A run directory
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// New names, as in `3=azimuth`; `3=` removes it
    #[arg(value_name = "UNIT=NAME", value_parser = pair)]
    names: Vec<(String, String)>,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let form = || format!("found `{text}`, expected UNIT=NAME, as in 3=azimuth");
    let (unit, name) = text.split_once('=').ok_or_else(form)?;
    Ok((unit.to_owned(), name.to_owned()))
}

/// Names as asked, and prints all names.
///
/// # Errors
/// If the run, a unit or a name is wrong, or the file cannot be written.
pub(crate) fn run(args: &NameArgs) -> Outcome {
    let mut run = Run::open(&args.run)?;
    if !args.names.is_empty() {
        run.rename_units(args.names.iter().map(|(unit, name)| (unit.as_str(), name.as_str())))?;
    }
    let mut text = String::new();
    for (unit, name) in run.names().iter() {
        let _ = writeln!(text, "{unit}={name}");
    }
    print(&text)
}
