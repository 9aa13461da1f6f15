//! Checkpoints: the weights for anybody, and beside them what a resumed run needs.
//!
//! `last.safetensors` holds the weights and says after which step; `optimizer-<step>.safetensors` holds the rest. The
//! second is written first, under the name of its step, so that whenever the process dies, the `last.safetensors` that is
//! there has its other half.

use super::directory::RunDirectory;
use crate::failure::{Failure, Outcome};
use crate::files::{self, Existing};
use crate::model::{ModelError, StateTensor, Values, read_state, write_state};
use crate::train::Trainer;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What the weights' file says of itself.
#[derive(Debug, Serialize, Deserialize)]
struct WeightsNote {
    step: u64,
    /// Fingerprint of the configuration.
    configuration: String,
    /// Height, width and channels of the images.
    images: [usize; 3],
}

/// How long the growing files were when a checkpoint was written. Rows rather than bytes, since the length of a row
/// depends on how fast the run was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Rows of `metrics.jsonl`.
    pub rows: u64,
    /// Bytes of the TensorBoard file.
    pub events: u64,
}

/// A checkpoint that was read.
#[derive(Debug)]
pub struct Checkpoint {
    /// Steps done.
    pub step: u64,
    /// The model's state dict.
    pub weights: Vec<StateTensor>,
    /// The trainer's own state.
    pub state: Vec<StateTensor>,
    /// Where the growing files were.
    pub position: Position,
}

fn name(kind: &str, step: u64) -> String {
    format!("{kind}-{step:07}.safetensors")
}

/// Writes a checkpoint; with `snapshot` also under the name of its step, of which the newest `keep` stay.
///
/// # Errors
/// If a weight is not finite or the files cannot be written; the last checkpoint is then still whole.
pub fn save(
    run: &RunDirectory,
    trainer: &Trainer<'_>,
    fingerprint: &str,
    position: Position,
    snapshot: Option<usize>,
) -> Outcome {
    let step = trainer.steps_done();
    let weights = trainer.weights();
    if let Some(tensor) = weights.iter().find(|tensor| has_strayed(&tensor.values)) {
        return Err(Failure::run(format!(
            "step {step}: the weights `{}` are not finite\nhint: the checkpoint before it is {}",
            tensor.name,
            last_good(run)
        )));
    }
    let shape = trainer.network().blueprint().images;
    let images = [shape.height, shape.width, shape.channels];
    let note = WeightsNote { step, configuration: fingerprint.to_owned(), images };
    let weights = write_state(&weights, &json(&note)?).map_err(|error| Failure::run(error.to_string()))?;
    let state =
        write_state(&trainer.state(), &json(&position)?).map_err(|error| Failure::run(error.to_string()))?;

    let directory = run.checkpoints();
    let write = |name: &str, bytes: &[u8]| {
        files::write(&directory.join(name), Existing::Replace, |file| file.write_all(bytes))
    };
    write(&name("optimizer", step), &state)?;
    if snapshot.is_some_and(|keep| keep > 0) {
        write(&name("step", step), &weights)?;
    }
    write("last.safetensors", &weights)?;
    tidy(run, step, snapshot.unwrap_or(usize::MAX));
    Ok(())
}

/// Removes what the last checkpoint, that of `step`, has made superfluous: what belongs to other weights, and all but the
/// newest `keep` snapshots. A process that dies between writing and tidying leaves that to the one that goes on.
pub(super) fn tidy(run: &RunDirectory, step: u64, keep: usize) {
    let directory = run.checkpoints();
    let of_others = steps_of(&directory, "optimizer").into_iter().filter(|other| *other != step);
    remove(&directory, "optimizer", of_others);
    let snapshots = steps_of(&directory, "step");
    let too_many = snapshots.len().saturating_sub(keep);
    remove(&directory, "step", snapshots.into_iter().take(too_many));
}

fn has_strayed(values: &Values) -> bool {
    values.as_floats().iter().any(|value| !value.is_finite())
}

fn json(note: &impl Serialize) -> Outcome<String> {
    serde_json::to_string(note).map_err(|error| Failure::run(error.to_string()))
}

/// A file that cannot be removed does no harm.
fn remove(directory: &Path, kind: &str, steps: impl Iterator<Item = u64>) {
    for step in steps {
        let _ = fs::remove_file(directory.join(name(kind, step)));
    }
}

/// The steps of which there is a file of a kind, in order.
fn steps_of(directory: &Path, kind: &str) -> Vec<u64> {
    let prefix = format!("{kind}-");
    let step = |path: PathBuf| {
        let rest = path.file_name()?.to_str()?.strip_prefix(&prefix)?.strip_suffix(".safetensors")?;
        rest.parse::<u64>().ok()
    };
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut steps: Vec<u64> = entries.filter_map(|entry| step(entry.path())).collect();
    steps.sort_unstable();
    steps
}

/// Names the last checkpoint in a message.
pub(super) fn last_good(run: &RunDirectory) -> String {
    let path = run.checkpoints().join("last.safetensors");
    match read_state(&path).ok().and_then(|(_, note)| serde_json::from_str::<WeightsNote>(&note?).ok()) {
        Some(note) => format!("{} of step {}", path.display(), note.step),
        None => "none".to_owned(),
    }
}

/// Reads the last checkpoint; `None` if there is none yet.
///
/// # Errors
/// If it is damaged, was not written by unbraid, or belongs to another configuration.
pub fn load(run: &RunDirectory, fingerprint: &str) -> Outcome<Option<Checkpoint>> {
    let path = run.checkpoints().join("last.safetensors");
    if !path.exists() {
        return Ok(None);
    }
    let weights = read_weights(&path, fingerprint).map_err(|failure| match failure {
        Failure::Input(error) => Failure::Input(error.context("cannot resume")),
        other => other,
    })?;
    let path = run.checkpoints().join(name("optimizer", weights.step));
    let (state, position) = read_state(&path).map_err(refused)?;
    let position = parse_note(&path, position.as_deref())?;
    Ok(Some(Checkpoint { step: weights.step, weights: weights.state, state, position }))
}

/// The weights of a checkpoint, and what they say of themselves.
#[derive(Debug)]
pub(super) struct Weights {
    pub(super) step: u64,
    /// Height, width and channels of the images.
    pub(super) images: [usize; 3],
    /// The model's state dict.
    pub(super) state: Vec<StateTensor>,
}

/// The file of the last checkpoint, or of one that was kept.
pub(super) fn find_weights(directory: &Path, step: Option<u64>) -> Outcome<PathBuf> {
    let file = step.map_or_else(|| "last.safetensors".to_owned(), |step| name("step", step));
    let path = directory.join(file);
    if path.is_file() {
        return Ok(path);
    }
    let hint = match (step, steps_of(directory, "step").as_slice()) {
        (None, _) => {
            "the run has not come to its first checkpoint yet (training.checkpoint_every)".to_owned()
        }
        (Some(_), []) => "none was kept; without a step, the last one is taken".to_owned(),
        (Some(_), kept) => {
            let kept: Vec<String> = kept.iter().map(u64::to_string).collect();
            format!("there are those of steps {}", kept.join(", "))
        }
    };
    Err(Failure::input(format!("{}: no such checkpoint\nhint: {hint}", path.display())))
}

/// Reads the weights of a checkpoint.
///
/// # Errors
/// If the file is damaged, was not written by unbraid, or belongs to another configuration.
pub(super) fn read_weights(path: &Path, fingerprint: &str) -> Outcome<Weights> {
    let (state, note) = read_state(path)?;
    let note: WeightsNote = parse_note(path, note.as_deref())?;
    if note.configuration != fingerprint {
        return Err(Failure::input(format!(
            "{}: the checkpoint belongs to another configuration than the run's config.toml",
            path.display()
        )));
    }
    Ok(Weights { step: note.step, images: note.images, state })
}

fn parse_note<'a, T: Deserialize<'a>>(path: &Path, note: Option<&'a str>) -> Outcome<T> {
    note.and_then(|note| serde_json::from_str(note).ok()).ok_or_else(|| {
        Failure::input(format!(
            "{}: found a safetensors file of another program, expected a checkpoint of unbraid",
            path.display()
        ))
    })
}

/// Whatever is wrong with a checkpoint that somebody asked to go on from is wrong input.
fn refused(error: ModelError) -> Failure {
    Failure::Input(anyhow::Error::from(error).context("cannot resume"))
}
