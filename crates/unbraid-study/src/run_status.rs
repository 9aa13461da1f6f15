//! How far each run of a study is, from its directory and the leases.

use crate::directory::StudyDirectory;
use crate::lease::{LeaseStatus, Leases};
use crate::manifest::{Entry, Manifest, read_config};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;
use unbraid::data::files::{LONGEST_TEXT, read_text};
use unbraid::run::{RunPaths, State, Status};

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Trained, and scored if its configuration wants it.
    Done,
    /// In progress.
    Running,
    /// Stopped by an error; not tried again until somebody asks for it.
    Failed,
    /// Begun, but not in progress: it will be resumed.
    Interrupted,
    /// It waits in the queue of a cluster.
    Queued,
    /// Not begun.
    Pending,
}

impl Stage {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 6] =
        [Self::Done, Self::Running, Self::Failed, Self::Interrupted, Self::Queued, Self::Pending];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Running => "running",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::Queued => "queued",
            Self::Pending => "pending",
        }
    }
}

/// How far a run is, and who works on it.
#[derive(Clone, Debug)]
pub struct RunStatus {
    /// How far it is.
    pub stage: Stage,
    /// What its `status.json` says, if there is one.
    pub recorded: Option<Status>,
    /// The lease of the process that works on it.
    pub lease: Option<LeaseStatus>,
}

impl RunStatus {
    /// The status of a run by its directory alone.
    pub fn read(study: &StudyDirectory, entry: &Entry) -> Self {
        let run = study.run(entry);
        let recorded = Status::read(&run.status());
        let stage = match recorded.as_ref().map(|status| status.state) {
            None => Stage::Pending,
            Some(State::Failed) => Stage::Failed,
            Some(State::Done) if is_complete(&run, entry, study.path()) => Stage::Done,
            Some(State::Done | State::Running | State::Queued | State::Interrupted) => Stage::Interrupted,
        };
        Self { stage, recorded, lease: None }
    }

    /// The status of every run of a study, in the order of the manifest, by their directories and leases.
    /// `queued` are the names of those that wait in the queue of a cluster.
    pub fn of_study(study: &StudyDirectory, manifest: &Manifest, queued: &BTreeSet<String>) -> Vec<Self> {
        let leases = Leases::of(study).all();
        let of_entry = |entry: &Entry| {
            let mut status = Self::read(study, entry);
            status.lease = leases.get(&entry.name).filter(|lease| !lease.is_stale).cloned();
            status.stage = match status.stage {
                Stage::Done => Stage::Done,
                Stage::Running | Stage::Failed | Stage::Interrupted | Stage::Queued | Stage::Pending
                    if status.lease.is_some() =>
                {
                    Stage::Running
                }
                Stage::Pending | Stage::Interrupted if queued.contains(&entry.name) => Stage::Queued,
                Stage::Running | Stage::Failed | Stage::Interrupted | Stage::Queued | Stage::Pending => {
                    status.stage
                }
            };
            status
        };
        manifest.entries.par_iter().map(of_entry).collect()
    }

    /// Steps done and steps in all.
    pub fn steps(&self) -> (u64, u64) {
        self.recorded.as_ref().map_or((0, 0), |status| (status.step, status.steps))
    }

    /// Why it failed or was interrupted.
    pub fn error(&self) -> Option<&str> {
        self.recorded.as_ref().and_then(|status| status.error.as_deref())
    }
}

/// Whether a trained run has everything that its configuration asks for. Scores and report only need to exist; that
/// they are the requested ones follows from `config.toml`, which is written after them.
fn is_complete(run: &RunPaths, entry: &Entry, place: &Path) -> bool {
    let evaluation = &entry.configuration.evaluation;
    let has_scores = !evaluation.after_training || run.scores().is_file();
    let has_report = !evaluation.report || run.report().is_file();
    has_scores && has_report && is_of(run, entry, place)
}

/// Whether the run in a directory was trained, and to be scored, as wanted.
fn is_of(run: &RunPaths, entry: &Entry, place: &Path) -> bool {
    let wanted = &entry.configuration;
    // Almost always; parsing it takes longer.
    if read_text(&run.config(), LONGEST_TEXT).is_ok_and(|text| text == wanted.to_toml()) {
        return true;
    }
    read_config(run).is_some_and(|found| {
        let same_scores = found.evaluation.same_scores(&wanted.evaluation);
        (same_scores || !wanted.evaluation.after_training) && entry.is_run(run, &found, place)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::fs;
    use unbraid::config::Source;

    struct Bench {
        _directory: tempfile::TempDir,
        study: StudyDirectory,
        entry: Entry,
    }

    impl Bench {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            fs::write(directory.path().join("study.toml"), "").unwrap();
            let study = StudyDirectory::open(directory.path()).unwrap();
            let assignments = vec!["evaluation.report=false".to_owned()];
            let configuration = Source { assignments, ..Source::default() }.resolve().unwrap();
            let hash = configuration.fingerprint();
            let name = "run".to_owned();
            let (settings, paths) = (BTreeMap::new(), BTreeMap::new());
            let entry = Entry { number: 0, name, hash, settings, configuration, paths };
            fs::create_dir_all(study.run(&entry).root()).unwrap();
            Self { _directory: directory, study, entry }
        }

        fn run(&self) -> RunPaths {
            self.study.run(&self.entry)
        }

        fn status(&self, status: &Status) {
            status.write(&self.run().status()).unwrap();
        }

        fn stage(&self) -> Stage {
            RunStatus::read(&self.study, &self.entry).stage
        }

        fn stage_in_study(&self, queued: &[&str]) -> Stage {
            let manifest = Manifest { entries: vec![self.entry.clone()] };
            let queued = queued.iter().map(|name| (*name).to_owned()).collect();
            RunStatus::of_study(&self.study, &manifest, &queued)[0].stage
        }
    }

    #[test]
    fn a_run_is_done_when_it_is_trained_and_scored_as_wanted() {
        let mut bench = Bench::new();
        assert_eq!(bench.stage(), Stage::Pending);
        bench.status(&Status::now(State::Running, 3, 9));
        assert_eq!(bench.stage(), Stage::Interrupted);
        bench.status(&Status::now(State::Done, 9, 9));
        fs::write(bench.run().config(), bench.entry.configuration.to_toml()).unwrap();
        assert_eq!(bench.stage(), Stage::Interrupted, "there are no scores yet");
        fs::write(bench.run().scores(), "{}").unwrap();
        assert_eq!(bench.stage(), Stage::Done);
        // Another way to write the same.
        fs::write(bench.run().config(), format!("# a word\n{}", bench.entry.configuration.to_toml()))
            .unwrap();
        assert_eq!(bench.stage(), Stage::Done);
        bench.entry.configuration.evaluation.metrics = vec!["mig".to_owned()];
        assert_eq!(bench.stage(), Stage::Interrupted, "other scores are wanted");
        bench.entry.configuration.evaluation.after_training = false;
        assert_eq!(bench.stage(), Stage::Done);
        bench.entry.configuration.evaluation.report = true;
        assert_eq!(bench.stage(), Stage::Interrupted);
        fs::write(bench.run().report(), "").unwrap();
        assert_eq!(bench.stage(), Stage::Done);
        bench.entry.configuration.seed += 1;
        assert_eq!(bench.stage(), Stage::Interrupted, "that is another run");
    }

    #[test]
    fn failed_and_interrupted_are_told_apart() {
        let bench = Bench::new();
        bench.status(&Status::now(State::Failed, 3, 9).with_error("interrupted by SIGTERM after step 3"));
        assert_eq!(bench.stage(), Stage::Interrupted);
        bench.status(&Status::now(State::Failed, 3, 9).with_error("the disk is full"));
        assert_eq!(bench.stage(), Stage::Failed);
        assert_eq!(RunStatus::read(&bench.study, &bench.entry).error(), Some("the disk is full"));
    }

    #[test]
    fn leases_and_queues_add_what_directories_do_not_know() {
        let bench = Bench::new();
        assert_eq!(bench.stage_in_study(&["run"]), Stage::Queued);
        assert_eq!(bench.stage_in_study(&["other"]), Stage::Pending);
        fs::create_dir(bench.study.leases()).unwrap();
        let lease = bench.study.leases().join("run");
        fs::write(&lease, "half").unwrap();
        assert_eq!(bench.stage_in_study(&["run"]), Stage::Running);
        let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(1000);
        fs::File::options().write(true).open(&lease).unwrap().set_modified(long_ago).unwrap();
        assert_eq!(bench.stage_in_study(&[]), Stage::Pending);
    }
}
