//! A trained run for tests, made in a second.

use crate::run_report::HtmlReport;
use std::path::PathBuf;
use tempfile::TempDir;
use unbraid::Run;
use unbraid::config::Source;
use unbraid::data::progress::Silent;
use unbraid::run::Session;

/// A small network on few images, which is scored by MIG and reported.
const TINY: &str = r#"
seed = 5
[data]
name = "shapes"
scales = 2
orientations = 2
positions = 4
[model]
architecture = { name = "burgess", channels = 8, hidden = 16 }
latents = { continuous = 2, categorical = [3] }
[objective]
name = "beta-vae"
beta = 2
[training]
batch_size = 8
steps = 4
log_every = 2
[evaluation]
after_training = true
report = true
metrics = ["mig"]
"#;

/// Trains the run with some keys changed, and reports it.
pub(crate) fn tiny_run(directory: &TempDir, name: &str, changes: &[&str]) -> Run {
    let file: PathBuf = directory.path().join(format!("{name}.toml"));
    std::fs::write(&file, TINY).unwrap();
    let source = changes.iter().fold(Source::file(file), |source, change| source.set(*change));
    let session = Session::new(source.resolve().unwrap()).out(directory.path().join(name));
    session.report(&HtmlReport).execute(&Silent).unwrap()
}
