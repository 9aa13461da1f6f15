//! A run as a directory that can be uploaded to a model hub: model card, weights, configuration, ONNX files,
//! page and pictures.

mod card;

use crate::error::{Error, Result};
use crate::run_report::write_run_report;
use card::{ModelCard, model_card};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use unbraid::Run;
use unbraid::data::files::{longest_table, read_limited};
use unbraid::data::progress::Progress;
use unbraid::export::{onnx, weights};
use unbraid::files::{self, Existing};

/// Pictures of a report that a card shows, with what they show.
const PICTURES: [(&str, &str); 5] = [
    ("traversals-image.png", "Each row: one latent unit (dimension), moved over its range, all others held"),
    ("reconstructions.png", "Images and their reconstructions"),
    ("samples.png", "Samples from the prior"),
    ("traversals.svg", "What each latent unit (dimension) does to the columns, moved over its range"),
    ("reconstructed-features.svg", "Columns and their reconstructions"),
];

/// Writes the directory, which is created if it does not exist. A run without a report is given one first,
/// for which its data is opened. Returns the files in the order in which they were written.
///
/// # Errors
/// If a file exists and is to be kept, the data of a run without a report cannot be opened, a file of the run
/// is a symbolic link, or a file cannot be written.
pub fn write_hub_directory(
    run: &Run,
    directory: &Path,
    licence: Option<&str>,
    existing: Existing,
    progress: &dyn Progress,
) -> Result<Vec<PathBuf>> {
    fs::create_dir_all(directory)
        .map_err(|source| Error::CreateDirectory { path: directory.to_owned(), source })?;
    if !run.paths().report().is_file() {
        let data = run.open_data(progress)?.data;
        write_run_report(run, data.as_ref(), progress)?;
    }
    let mut written = weights::write(run, directory, existing)?;
    let obstacle = onnx::obstacle(&run.config().model.posterior);
    if obstacle.is_none() {
        written.extend(onnx::write(run, directory, existing)?);
    }
    let mut copy = |from: PathBuf, name: &str| -> Result<bool> {
        if !is_there(&from).map_err(unbraid::Error::io(&from, "copy it"))? {
            return Ok(false);
        }
        let to = directory.join(name);
        let bytes = read_limited(&from, longest_table(1)).map_err(unbraid::Error::io(&from, "copy it"))?;
        files::write(&to, existing, |file| file.write_all(&bytes))?;
        written.push(to);
        Ok(true)
    };
    copy(run.paths().report(), "report.html")?;
    copy(run.paths().scores(), "scores.json")?;
    let mut pictures = Vec::new();
    let figures = run.paths().figures();
    is_there(&figures).map_err(unbraid::Error::io(&figures, "copy pictures of it"))?;
    for (name, caption) in PICTURES {
        if copy(figures.join(name), name)? {
            pictures.push((name, caption));
        }
    }
    let scores = run.scores()?;
    let card =
        ModelCard { run, licence, scores: scores.as_ref(), pictures: &pictures, without_onnx: obstacle };
    let readme = directory.join("README.md");
    files::write(&readme, existing, |file| file.write_all(model_card(&card).as_bytes()))?;
    written.push(readme);
    Ok(written)
}

/// Whether a file of the run is there. A link in a run of a stranger may lead to any file of ours, and what
/// is written here is meant to be published.
fn is_there(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => {
            let message = "found a symbolic link, expected a file of the run itself";
            Err(io::Error::new(io::ErrorKind::InvalidInput, message))
        }
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
