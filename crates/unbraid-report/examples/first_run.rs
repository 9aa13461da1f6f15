//! Trains, scores and reports a run, in a dozen lines.
//!
//! `cargo run --release -p unbraid-report --example first_run -- runs/first`

use std::path::{Path, PathBuf};
use unbraid::config::Source;
use unbraid::data::progress::Silent;
use unbraid::{Result, Run, Session};
use unbraid_report::HtmlReport;

fn main() -> Result {
    let out = std::env::args().nth(1).map_or_else(|| PathBuf::from("runs/first"), PathBuf::from);
    let run = first_run(&out, Source::preset("default").set("training.steps=2000"))?;
    if let Some(scores) = run.scores()? {
        println!("MIG {:.3}", scores.get("mig").unwrap_or(f64::NAN));
    }
    println!("{}", run.paths().report().display());
    Ok(())
}

/// All of it; the tests call it, too.
pub(crate) fn first_run(out: &Path, source: Source) -> Result<Run> {
    Session::new(source.resolve()?).out(out).report(&HtmlReport).execute(&Silent)
}
