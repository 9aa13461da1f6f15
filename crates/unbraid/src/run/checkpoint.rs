//! Checkpoints: the weights for anybody, and beside them what a resumed run needs.
//!
//! `last.safetensors` holds the weights and says after which step; `optimizer-<step>.safetensors` holds the rest. The
//! second is written first, under the name of its step, so that whenever the process dies, the `last.safetensors` that is
//! there has its other half.

use super::paths::RunPaths;
use crate::error::{Error, Result};
use crate::files::{self, Existing};
use crate::model::{StateTensor, Values, read_state, write_state};
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
pub(super) struct LogPosition {
    /// Rows of `metrics.jsonl`.
    pub(super) rows: u64,
    /// Bytes of the TensorBoard file.
    pub(super) events: u64,
}

/// A checkpoint that was read.
#[derive(Debug)]
pub(super) struct Checkpoint {
    /// Steps done.
    pub(super) step: u64,
    /// The model's state dict.
    pub(super) weights: Vec<StateTensor>,
    /// The trainer's own state.
    pub(super) state: Vec<StateTensor>,
    /// Where the growing files were.
    pub(super) position: LogPosition,
}

/// The newest weights.
const LAST: &str = "last.safetensors";

fn name(kind: &str, step: u64) -> String {
    format!("{kind}-{step:07}.safetensors")
}

/// Writes a checkpoint; with `snapshot` also under the name of its step, of which the newest `keep` stay.
///
/// # Errors
/// If a weight is not finite or the files cannot be written; the last checkpoint is then still whole.
pub(super) fn save(
    paths: &RunPaths,
    trainer: &Trainer<'_>,
    fingerprint: &str,
    position: LogPosition,
    snapshot: Option<usize>,
) -> Result {
    let step = trainer.steps_done();
    let weights = trainer.weights();
    if let Some(tensor) = weights.iter().find(|tensor| has_strayed(&tensor.values)) {
        return Err(Error::WeightsNotFinite {
            step,
            tensor: tensor.name.clone(),
            checkpoint: last_good(paths),
        });
    }
    let shape = trainer.network().blueprint().image_shape;
    let images = [shape.height, shape.width, shape.channels];
    let note = WeightsNote { step, configuration: fingerprint.to_owned(), images };
    let weights = write_state(&weights, &json(&note))?;
    let state = write_state(&trainer.state(), &json(&position))?;

    let directory = paths.checkpoints();
    let write = |name: &str, bytes: &[u8]| {
        files::write(&directory.join(name), Existing::Replace, |file| file.write_all(bytes))
    };
    write(&name("optimizer", step), &state)?;
    if snapshot.is_some_and(|keep| keep > 0) {
        write(&name("step", step), &weights)?;
    }
    write(LAST, &weights)?;
    tidy(paths, step, snapshot.unwrap_or(usize::MAX));
    Ok(())
}

/// Removes what the last checkpoint, that of `step`, has made superfluous: what belongs to other weights, and all but the
/// newest `keep` snapshots. A process that dies between writing and tidying leaves that to the one that goes on.
pub(super) fn tidy(paths: &RunPaths, step: u64, keep: usize) {
    let directory = paths.checkpoints();
    let of_others = steps_of(&directory, "optimizer").into_iter().filter(|other| *other != step);
    remove(&directory, "optimizer", of_others);
    let snapshots = steps_of(&directory, "step");
    let too_many = snapshots.len().saturating_sub(keep);
    remove(&directory, "step", snapshots.into_iter().take(too_many));
}

fn has_strayed(values: &Values) -> bool {
    values.as_floats().iter().any(|value| !value.is_finite())
}

fn json(note: &impl Serialize) -> String {
    serde_json::to_string(note).expect("numbers and strings have a JSON form")
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

/// The last checkpoint and its step, for a message.
pub(super) fn last_good(paths: &RunPaths) -> Option<(PathBuf, u64)> {
    let path = paths.checkpoints().join(LAST);
    let (_, note) = read_state(&path).ok()?;
    let note: WeightsNote = serde_json::from_str(&note?).ok()?;
    Some((path, note.step))
}

/// Reads the last checkpoint; `None` if there is none yet.
///
/// # Errors
/// If it is damaged, was not written by unbraid, or belongs to another configuration.
pub(super) fn load(paths: &RunPaths, fingerprint: &str) -> Result<Option<Checkpoint>> {
    let path = paths.checkpoints().join(LAST);
    if !path.exists() {
        return Ok(None);
    }
    let weights = read_weights(&path, fingerprint).map_err(refused)?;
    let path = paths.checkpoints().join(name("optimizer", weights.step));
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
pub(super) fn find_weights(directory: &Path, step: Option<u64>) -> Result<PathBuf> {
    let file = step.map_or_else(|| LAST.to_owned(), |step| name("step", step));
    let path = directory.join(file);
    if path.is_file() {
        return Ok(path);
    }
    Err(Error::NoCheckpoint { path, step, kept: steps_of(directory, "step") })
}

/// Reads the weights of a checkpoint.
///
/// # Errors
/// If the file is damaged, was not written by unbraid, or belongs to another configuration.
pub(super) fn read_weights(path: &Path, fingerprint: &str) -> Result<Weights> {
    let (state, note) = read_state(path)?;
    let note: WeightsNote = parse_note(path, note.as_deref())?;
    if note.configuration != fingerprint {
        return Err(Error::CheckpointOfOtherConfig { path: path.to_owned() });
    }
    Ok(Weights { step: note.step, images: note.images, state })
}

fn parse_note<'a, T: Deserialize<'a>>(path: &Path, note: Option<&'a str>) -> Result<T> {
    note.and_then(|note| serde_json::from_str(note).ok())
        .ok_or_else(|| Error::ForeignCheckpoint { path: path.to_owned() })
}

fn refused(error: Error) -> Error {
    Error::Resume(Box::new(error))
}
