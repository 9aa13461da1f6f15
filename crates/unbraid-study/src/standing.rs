//! Where each run of a study stands, from its directory and the claims.

use super::claim::{Claims, Found};
use super::directory::StudyDirectory;
use super::manifest::{Entry, Manifest};
use crate::config::{Config, Source};
use crate::run::{State, Status};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Trained, and scored if its configuration wants it.
    Done,
    /// Somebody is at work on it.
    Running,
    /// It ended badly, and is left alone until somebody asks for it again.
    Failed,
    /// Begun, and nobody is at work on it: it will go on where it was.
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

/// Where a run stands.
#[derive(Clone, Debug)]
pub struct Standing {
    /// How far it is.
    pub stage: Stage,
    /// What its directory says, if it says something.
    pub status: Option<Status>,
    /// Who is at work on it.
    pub claim: Option<Found>,
}

impl Standing {
    /// Where a run stands by its directory alone.
    pub fn of(study: &StudyDirectory, entry: &Entry) -> Self {
        let path = study.run(entry);
        let status = Status::read(&path.join("status.json"));
        let stage = match &status {
            None => Stage::Pending,
            Some(status) if status.was_interrupted() => Stage::Interrupted,
            Some(status) => match status.state {
                State::Failed => Stage::Failed,
                State::Done if is_complete(&path, &entry.configuration) => Stage::Done,
                State::Done | State::Running | State::Queued => Stage::Interrupted,
            },
        };
        Self { stage, status, claim: None }
    }

    /// Steps done and steps in all.
    pub fn steps(&self) -> (u64, u64) {
        self.status.as_ref().map_or((0, 0), |status| (status.step, status.steps))
    }

    /// Why it failed.
    pub fn error(&self) -> Option<&str> {
        self.status.as_ref().and_then(|status| status.error.as_deref())
    }
}

/// Whether a run that is trained has all that its configuration asks for. Of its scores and report only their existence
/// is asked, and of what they are its `config.toml`, which changes after them.
fn is_complete(path: &Path, wanted: &Config) -> bool {
    let evaluation = &wanted.evaluation;
    let has_scores = !evaluation.after_training || path.join("scores.json").is_file();
    let has_report = !evaluation.report || path.join("report.html").is_file();
    has_scores && has_report && is_of(path, wanted)
}

/// Whether the run in a directory was trained, and to be scored, as wanted.
fn is_of(path: &Path, wanted: &Config) -> bool {
    let Ok(text) = std::fs::read_to_string(path.join("config.toml")) else { return false };
    // Almost always; reading it takes longer.
    if text == wanted.to_toml() {
        return true;
    }
    Source::parse(&text, "config.toml").is_ok_and(|found| {
        let same_metrics = found.evaluation.metrics == wanted.evaluation.metrics;
        found.fingerprint() == wanted.fingerprint() && (same_metrics || !wanted.evaluation.after_training)
    })
}

/// Where all runs of a study stand, in the order of the manifest. `queued` are the names of those that wait in the queue
/// of a cluster.
pub fn overview(study: &StudyDirectory, manifest: &Manifest, queued: &BTreeSet<String>) -> Vec<Standing> {
    let claims = Claims::of(study).all();
    let entries = manifest.entries.par_iter();
    entries
        .map(|entry| {
            let mut standing = Standing::of(study, entry);
            standing.claim = claims.get(&entry.name).filter(|claim| !claim.is_stale).cloned();
            standing.stage = match standing.stage {
                Stage::Done => Stage::Done,
                _ if standing.claim.is_some() => Stage::Running,
                Stage::Pending | Stage::Interrupted if queued.contains(&entry.name) => Stage::Queued,
                stage => stage,
            };
            standing
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::fs;

    struct Bench {
        directory: tempfile::TempDir,
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
            let entry = Entry { number: 0, name, hash, settings: BTreeMap::new(), configuration };
            fs::create_dir_all(study.run(&entry)).unwrap();
            Self { directory, study, entry }
        }

        fn write(&self, file: &str, text: &str) {
            fs::write(self.study.run(&self.entry).join(file), text).unwrap();
        }

        fn status(&self, status: &Status) {
            status.write(&self.study.run(&self.entry).join("status.json")).unwrap();
        }

        fn stage(&self) -> Stage {
            Standing::of(&self.study, &self.entry).stage
        }

        fn overview(&self, queued: &[&str]) -> Stage {
            let manifest = Manifest { entries: vec![self.entry.clone()] };
            let queued = queued.iter().map(|name| (*name).to_owned()).collect();
            overview(&self.study, &manifest, &queued)[0].stage
        }
    }

    #[test]
    fn a_run_is_done_when_it_is_trained_and_scored_as_wanted() {
        let mut bench = Bench::new();
        assert_eq!(bench.stage(), Stage::Pending);
        bench.status(&Status::now(State::Running, 3, 9));
        assert_eq!(bench.stage(), Stage::Interrupted);
        bench.status(&Status::now(State::Done, 9, 9));
        bench.write("config.toml", &bench.entry.configuration.to_toml());
        assert_eq!(bench.stage(), Stage::Interrupted, "there are no scores yet");
        bench.write("scores.json", "{}");
        assert_eq!(bench.stage(), Stage::Done);
        // Another way to write the same.
        bench.write("config.toml", &format!("# a word\n{}", bench.entry.configuration.to_toml()));
        assert_eq!(bench.stage(), Stage::Done);
        bench.entry.configuration.evaluation.metrics = vec!["mig".to_owned()];
        assert_eq!(bench.stage(), Stage::Interrupted, "other scores are wanted");
        bench.entry.configuration.evaluation.after_training = false;
        assert_eq!(bench.stage(), Stage::Done);
        bench.entry.configuration.evaluation.report = true;
        assert_eq!(bench.stage(), Stage::Interrupted);
        bench.write("report.html", "");
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
        assert_eq!(Standing::of(&bench.study, &bench.entry).error(), Some("the disk is full"));
    }

    #[test]
    fn claims_and_queues_add_what_directories_do_not_know() {
        let bench = Bench::new();
        assert_eq!(bench.overview(&["run"]), Stage::Queued);
        assert_eq!(bench.overview(&["other"]), Stage::Pending);
        fs::create_dir(bench.directory.path().join("claims")).unwrap();
        let claim = bench.directory.path().join("claims/run");
        fs::write(&claim, "half").unwrap();
        assert_eq!(bench.overview(&["run"]), Stage::Running);
        let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(1000);
        fs::File::options().write(true).open(&claim).unwrap().set_modified(long_ago).unwrap();
        assert_eq!(bench.overview(&[]), Stage::Pending);
    }
}
