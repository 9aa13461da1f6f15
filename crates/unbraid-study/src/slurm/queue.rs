//! Which runs wait or run in a cluster's queue, as squeue tells.
//!
//! The truth about a run is its directory. squeue only distinguishes runs that are still to come from others, so that
//! no run is submitted twice, and nothing depends on it: where it is missing or fails, no run is known to be queued.

use super::submission::Submission;
use crate::directory::StudyDirectory;
use crate::tasks;
use std::collections::BTreeMap;
use std::process::{Command, Stdio};

/// The state of a run that was submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum QueueState {
    /// Its task waits.
    Pending,
    /// Its task has begun; other runs of the task may come first.
    Running,
}

/// Every run of the study that squeue knows to wait or run, by name. Empty if nothing is known. Asks squeue only if
/// something was ever submitted.
pub fn queued(study: &StudyDirectory) -> BTreeMap<String, QueueState> {
    if !study.was_submitted() {
        return BTreeMap::new();
    }
    list().map(|list| in_list(study, &list)).unwrap_or_default()
}

/// Whether squeue knows that no task of a submission waits or runs.
pub(super) fn has_none_of(submission: &str) -> bool {
    list().is_some_and(|list| !list.lines().filter_map(parse).any(|line| line.submission == submission))
}

/// A line for each task of all users; none where squeue is missing or fails.
fn list() -> Option<String> {
    // The state comes first: it has no blanks, and a name that is not ours may have any.
    let squeue = Command::new("squeue")
        .args(["--noheader", "--array", "--format=%T %i %j"])
        .stdin(Stdio::null())
        .output()
        .ok()?;
    squeue.status.success().then(|| String::from_utf8_lossy(&squeue.stdout).into_owned())
}

/// The same from what squeue printed.
fn in_list(study: &StudyDirectory, list: &str) -> BTreeMap<String, QueueState> {
    let mut files: BTreeMap<&str, tasks::Tasks> = BTreeMap::new();
    let mut found: BTreeMap<String, QueueState> = BTreeMap::new();
    for Line { submission, task, state } in list.lines().filter_map(parse) {
        // A submission without a file is another study's.
        let file = files
            .entry(submission)
            .or_insert_with(|| tasks::read(&study.slurm_tasks(submission)).unwrap_or_default());
        for name in file.get(task).into_iter().flatten() {
            let known = found.entry(name.clone()).or_insert(state);
            *known = state.max(*known);
        }
    }
    found
}

/// A line of squeue about a task of some submission.
#[derive(Debug, PartialEq, Eq)]
struct Line<'a> {
    submission: &'a str,
    task: usize,
    state: QueueState,
}

/// `RUNNING 1234_5 SUBMISSION.OFFSET`; none for any other line.
fn parse(line: &str) -> Option<Line<'_>> {
    let (state, rest) = line.trim().split_once(' ')?;
    let (job, name) = rest.trim_start().split_once(' ')?;
    let state = match state {
        "BOOT_FAIL" | "CANCELLED" | "COMPLETED" | "DEADLINE" | "FAILED" | "NODE_FAIL" | "OUT_OF_MEMORY"
        | "PREEMPTED" | "REVOKED" | "TIMEOUT" => return None,
        // A task that is requeued is completing too, before it waits again.
        "COMPLETING" | "RESIZING" | "RUNNING" | "SIGNALING" | "STAGE_OUT" | "STOPPED" | "SUSPENDED" => {
            QueueState::Running
        }
        _ => QueueState::Pending,
    };
    let index: usize = job.split_once('_')?.1.parse().ok()?;
    let (submission, offset) = Submission::of_job(name.trim_start())?;
    Some(Line { submission, task: offset.checked_add(index)?, state })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn lines_of_squeue_are_read() {
        let line = |task, state| Some(Line { submission: "small-20261116-110740-3f2a", task, state });
        let name = "small-20261116-110740-3f2a.1000";
        assert_eq!(parse(&format!("PENDING 12_7 {name}")), line(1007, QueueState::Pending));
        assert_eq!(parse(&format!("RUNNING 12_0 {name}")), line(1000, QueueState::Running));
        assert_eq!(parse(&format!("COMPLETING 12_0 {name}")), line(1000, QueueState::Running));
        assert_eq!(parse(&format!("REQUEUE_HOLD 12_0 {name}")), line(1000, QueueState::Pending));
        for other in [
            String::new(),
            format!("CANCELLED 12_0 {name}"),
            "RUNNING 12 interactive".to_owned(),
            "RUNNING 12_1 a job of mine.7x".to_owned(),
            "RUNNING 12_[3-9] small.0".to_owned(),
            format!("RUNNING 12_{} small.{}", usize::MAX, usize::MAX),
            "squeue: error".to_owned(),
        ] {
            assert_eq!(parse(&other), None, "{other}");
        }
    }

    fn study(path: &Path) -> StudyDirectory {
        let study = StudyDirectory::create(path, "").unwrap();
        std::fs::create_dir_all(study.slurm()).unwrap();
        study
    }

    #[test]
    fn runs_are_found_through_the_file_of_their_submission() {
        let directory = tempfile::tempdir().unwrap();
        let study = study(directory.path());
        let task = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let tasks = [task(&["a", "b"]), task(&["c"]), task(&["d"])];
        super::tasks::write(&study.slurm_tasks("one"), &tasks).unwrap();
        super::tasks::write(&study.slurm_tasks("two"), &[task(&["d"])]).unwrap();
        let list = "PENDING 1_0 one.0\nPENDING 1_2 one.0\nRUNNING 2_0 two.0\nRUNNING 3_0 another-study.0\nPENDING 4_0 one.9\n";
        let expected = [("a", QueueState::Pending), ("b", QueueState::Pending), ("d", QueueState::Running)];
        let expected = expected.map(|(name, state)| (name.to_owned(), state));
        assert_eq!(in_list(&study, list), BTreeMap::from(expected));
    }

    #[test]
    fn nothing_is_known_of_a_study_that_was_never_submitted() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(queued(&study(directory.path())), BTreeMap::new());
    }
}
