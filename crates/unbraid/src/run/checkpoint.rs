//! Checkpoints: the weights, in a file that anyone can read, and the state that a resumed run needs.
//!
//! `last.safetensors` holds the weights and the number of their step; `optimizer-<step>.safetensors` holds the rest.
//! The second file is written first, under the name of its step, so that `last.safetensors` always has its counterpart,
//! even if the process dies in between. `best.safetensors` holds weights only.

use super::meta::Meta;
use super::paths::RunPaths;
use super::status::{State, Status};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::files::{self, Existing};
use crate::model::{StateTensor, Values, read_state, write_state};
use crate::train::Trainer;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use unbraid_data::ImageShape;

/// The metadata of the weights file.
#[derive(Debug, Serialize, Deserialize)]
struct WeightsNote {
    step: u64,
    /// Fingerprint of the configuration without its length, so that a longer run has the same; earlier
    /// versions wrote that of the whole configuration.
    configuration: String,
    /// Height, width and channels of the images.
    images: [usize; 3],
}

/// The length of the growing files when a checkpoint was written. For the metrics in rows rather than bytes, since the
/// length of a row depends on the speed of the run.
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
    /// The length of the growing files.
    pub(super) position: LogPosition,
}

/// The newest weights.
const LAST: &str = "last.safetensors";
/// Those with the lowest loss on held-out images.
const BEST: &str = "best.safetensors";

fn name(kind: &str, step: u64) -> String {
    format!("{kind}-{step:07}.safetensors")
}

/// Writes a checkpoint; with `snapshot` also under the name of its step, of which the newest `keep` are kept.
///
/// # Errors
/// If a weight is not finite or the files cannot be written; the last checkpoint is then still complete.
pub(super) fn save(
    paths: &RunPaths,
    trainer: &Trainer<'_>,
    config: &Config,
    position: LogPosition,
    snapshot: Option<usize>,
) -> Result {
    let step = trainer.steps_done();
    let weights = weights_file(paths, trainer, config)?;
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

/// Writes the weights with the lowest loss so far on held-out images.
///
/// # Errors
/// As [`save`].
pub(super) fn save_best(paths: &RunPaths, trainer: &Trainer<'_>, config: &Config) -> Result {
    let weights = weights_file(paths, trainer, config)?;
    files::write(&paths.checkpoints().join(BEST), Existing::Replace, |file| file.write_all(&weights))
}

/// Writes weights that were not trained here as those of a step.
///
/// # Errors
/// If the file cannot be written.
pub(super) fn save_imported(
    paths: &RunPaths,
    state: &[StateTensor],
    config: &Config,
    step: u64,
    shape: ImageShape,
) -> Result {
    let images = [shape.height, shape.width, shape.channels];
    let note = WeightsNote { step, configuration: config.fingerprint_of_steps(), images };
    let bytes = write_state(state, &json(&note))?;
    files::write(&paths.checkpoints().join(LAST), Existing::Replace, |file| file.write_all(&bytes))
}

/// The weights as the content of a file.
fn weights_file(paths: &RunPaths, trainer: &Trainer<'_>, config: &Config) -> Result<Vec<u8>> {
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
    let note = WeightsNote { step, configuration: config.fingerprint_of_steps(), images };
    write_state(&weights, &json(&note))
}

/// Removes what the last checkpoint, that of `step`, has superseded: files that belong to other weights, and all but
/// the newest `keep` snapshots. If a process dies before this, the process that resumes the run does it.
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

/// The steps for which there is a file of a kind, in ascending order.
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
    step_in(&path).map(|step| (path, step))
}

/// The step of the weights in a file, if it has any.
fn step_in(path: &Path) -> Option<u64> {
    let (_, note) = read_state(path).ok()?;
    let note: WeightsNote = serde_json::from_str(&note?).ok()?;
    Some(note.step)
}

/// Reads the last checkpoint; `None` if there is none yet.
///
/// # Errors
/// If it is damaged, was not written by unbraid, or belongs to another configuration.
pub(super) fn load(paths: &RunPaths, config: &Config) -> Result<Option<Checkpoint>> {
    let path = paths.checkpoints().join(LAST);
    if !path.exists() {
        return Ok(None);
    }
    let weights = read_weights(&path, config).map_err(refused)?;
    let path = paths.checkpoints().join(name("optimizer", weights.step));
    if !path.exists() && Meta::read(&paths.meta()).is_some_and(|meta| meta.imported.is_some()) {
        return Err(refused(Error::NoOptimizerState { path: paths.root().to_owned() }));
    }
    let (state, position) = read_state(&path).map_err(refused)?;
    let position = parse_note(&path, position.as_deref())?;
    Ok(Some(Checkpoint { step: weights.step, weights: weights.state, state, position }))
}

/// The weights of a checkpoint, with their metadata.
#[derive(Debug)]
pub(super) struct Weights {
    pub(super) step: u64,
    /// Height, width and channels of the images.
    pub(super) images: [usize; 3],
    /// The model's state dict.
    pub(super) state: Vec<StateTensor>,
}

/// The file of the weights of a step; without a step, that of the best weights if they are kept, else that of the last
/// ones.
pub(super) fn find_weights(paths: &RunPaths, step: Option<u64>, keep_best: bool) -> Result<PathBuf> {
    let directory = paths.checkpoints();
    let newest = if keep_best && directory.join(BEST).is_file() { BEST } else { LAST };
    let file = step.map_or_else(|| newest.to_owned(), |step| name("step", step));
    let path = directory.join(file);
    if path.is_file() {
        return Ok(path);
    }
    let mut kept = steps_of(&directory, "step");
    if step.is_some() {
        // Those of two more steps have names of their own.
        for other in [BEST, LAST].map(|file| directory.join(file)) {
            if step_in(&other) == step {
                return Ok(other);
            }
        }
        kept.extend(step_in(&directory.join(BEST)));
        kept.sort_unstable();
        kept.dedup();
    }
    Err(Error::NoCheckpoint { path, step, kept, stopped: why_stopped(paths) })
}

/// Why training has stopped, if `status.json` says so.
fn why_stopped(paths: &RunPaths) -> Option<String> {
    let Status { state, error, .. } = Status::read(&paths.status())?;
    let why = error?.lines().next()?.to_owned();
    match state {
        State::Failed => Some(format!("training failed: {why}")),
        State::Interrupted => Some(why),
        State::Queued | State::Running | State::Done => None,
    }
}

/// Reads the weights of a checkpoint.
///
/// # Errors
/// If the file is damaged, was not written by unbraid, or belongs to another configuration.
pub(super) fn read_weights(path: &Path, config: &Config) -> Result<Weights> {
    let (state, note) = read_state(path)?;
    let note: WeightsNote = parse_note(path, note.as_deref())?;
    if ![config.fingerprint_of_steps(), config.fingerprint()].contains(&note.configuration) {
        return Err(Error::CheckpointOfOtherConfig { path: path.to_owned() });
    }
    Ok(Weights { step: note.step, images: note.images, state })
}

/// Rewrites the metadata of the weights of a run that is to be extended, so that they belong to it whatever its length.
/// Those of this version do so already. Every file is replaced as a whole and belongs to both configurations, so that
/// the process may die at any point.
///
/// # Errors
/// If a file is damaged, belongs to another configuration, or cannot be written.
pub(super) fn forget_length(paths: &RunPaths, config: &Config) -> Result {
    let directory = paths.checkpoints();
    let kept = steps_of(&directory, "step").into_iter().map(|step| name("step", step));
    for file in kept.chain([LAST, BEST].map(str::to_owned)) {
        let path = directory.join(file);
        if !path.exists() {
            continue;
        }
        let (state, note) = read_state(&path)?;
        let mut note: WeightsNote = parse_note(&path, note.as_deref())?;
        let label = config.fingerprint_of_steps();
        if note.configuration == label {
            continue;
        }
        if note.configuration != config.fingerprint() {
            return Err(Error::CheckpointOfOtherConfig { path });
        }
        note.configuration = label;
        let bytes = write_state(&state, &json(&note))?;
        files::write(&path, Existing::Replace, |file| file.write_all(&bytes))?;
    }
    Ok(())
}

fn parse_note<'a, T: Deserialize<'a>>(path: &Path, note: Option<&'a str>) -> Result<T> {
    note.and_then(|note| serde_json::from_str(note).ok())
        .ok_or_else(|| Error::ForeignCheckpoint { path: path.to_owned() })
}

fn refused(error: Error) -> Error {
    Error::Resume(Box::new(error))
}
