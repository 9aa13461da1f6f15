//! Submitting a list of tasks with sbatch: the files that stay in the study directory, and the commands.
//!
//! ```text
//! slurm/NAME.sh       the batch script                      slurm/NAME.tasks   the runs of each task
//! slurm/NAME.jobs     what sbatch answered, for people      slurm/JOB_TASK.out what a task printed
//! ```
//!
//! A job is called `NAME.OFFSET`, so that squeue alone tells to which line of which file a task belongs, even if this
//! process was killed before it could write down the number of the job.

use super::arrays::JobArray;
use super::queue;
use super::script::{Resources, Script};
use crate::directory::StudyDirectory;
use crate::error::{Error, Result};
use crate::quote::{absolute, shell};
use crate::runner::{Message, StudyObserver};
use crate::tasks::{self, Tasks};
use serde_json::json;
use std::fs::{self, File, TryLockError};
use std::hash::{BuildHasher, RandomState};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use unbraid::data::files::{append_own, open_own};
use unbraid::files::{self, Existing};

/// Slurm's program that takes jobs.
const SBATCH: &str = "sbatch";

/// Environment variables that would override what the script says.
const OVERRIDES: [&str; 9] = [
    "SBATCH_MEM_PER_CPU",
    "SBATCH_MEM_PER_GPU",
    "SBATCH_MEM_PER_NODE",
    "SBATCH_NO_REQUEUE",
    "SBATCH_OPEN_MODE",
    "SBATCH_OUTPUT",
    "SBATCH_REQUEUE",
    "SBATCH_SIGNAL",
    "SBATCH_WAIT",
];

/// Tasks that are to be submitted.
#[derive(Debug)]
pub struct Submission {
    name: String,
    study: StudyDirectory,
    script: String,
    resources: Resources,
    tasks: Tasks,
}

impl Submission {
    /// Prepares a submission and writes nothing. The script runs the command `unbraid`, which is at `program`, in the
    /// current directory.
    ///
    /// # Errors
    /// If a path cannot be written into a script.
    pub fn new(
        study: &StudyDirectory,
        tasks: Tasks,
        resources: Resources,
        program: &Path,
        retry_failed: bool,
    ) -> Result<Self> {
        let place = absolute(study.path())?;
        let name = unique_name(&place);
        let here = std::env::current_dir().map_err(Error::WorkingDirectory)?;
        let script = Script {
            tasks: absolute(&study.slurm_tasks(&name))?,
            name: name.clone(),
            resources: resources.clone(),
            working_directory: absolute(&here)?,
            program: absolute(program)?,
            study: place,
            output_directory: absolute(&study.slurm())?,
            retry_failed,
        };
        Ok(Self { name, study: study.clone(), script: script.text()?, resources, tasks })
    }

    /// The text of the script.
    pub fn script(&self) -> &str {
        &self.script
    }

    /// The tasks.
    pub fn tasks(&self) -> &[Vec<String>] {
        &self.tasks
    }

    /// What to type to submit one array by hand.
    ///
    /// # Errors
    /// If the path of the script cannot be written into a command.
    pub fn command_line(&self, array: &JobArray) -> Result<String> {
        let words: Vec<String> = self.arguments(array)?.iter().map(|word| shell(word)).collect();
        Ok(format!("sbatch {}", words.join(" ")))
    }

    fn arguments(&self, array: &JobArray) -> Result<[String; 5]> {
        Ok([
            "--parsable".to_owned(),
            format!("--array={}", array.indices()),
            format!("--job-name={}.{}", self.name, array.offset),
            absolute(&self.study.slurm_script(&self.name))?,
            array.offset.to_string(),
        ])
    }

    /// The submission that a job of this name belongs to, and the place of its array in the list of tasks; none for the
    /// jobs of others.
    pub(super) fn of_job(name: &str) -> Option<(&str, usize)> {
        let (submission, offset) = name.rsplit_once('.')?;
        // Anybody may name the jobs that squeue lists, and a name becomes a path.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let is_ours =
            !submission.is_empty() && !submission.starts_with('.') && submission.chars().all(is_plain);
        Some((submission, offset.parse().ok()?)).filter(|_| is_ours)
    }

    /// Writes the files and submits all arrays in order; the observer hears of each, with the number of its job.
    ///
    /// # Errors
    /// If there is no sbatch, a file cannot be written, or sbatch refuses an array. Where some were submitted
    /// before it, that is [`Error::PartlySubmitted`].
    pub fn submit(&self, arrays: &[JobArray], observer: &mut dyn StudyObserver) -> Result {
        find_sbatch()?;
        let (tasks, script) = (self.study.slurm_tasks(&self.name), self.study.slurm_script(&self.name));
        tasks::write(&tasks, &self.tasks)?;
        let written = files::write(&script, Existing::Keep, |file| file.write_all(self.script.as_bytes()));
        if let Err(error) = written {
            // Nothing needs them yet.
            let _ = fs::remove_file(tasks);
            return Err(error.into());
        }
        for (submitted, array) in arrays.iter().enumerate() {
            match self.submit_one(array, observer) {
                Ok(job) => {
                    self.record(&job, array)?;
                    observer.array_submitted(&job, array);
                }
                Err(error) if submitted == 0 => {
                    // An answer may be lost, and a job that was accepted needs its files.
                    if queue::has_none_of(&self.name) {
                        let _ = fs::remove_file(script);
                        let _ = fs::remove_file(tasks);
                    }
                    return Err(error);
                }
                Err(error) => {
                    let (arrays, source) = (arrays.len(), Box::new(error));
                    return Err(Error::PartlySubmitted { submitted, arrays, source });
                }
            }
        }
        Ok(())
    }

    fn submit_one(&self, array: &JobArray, observer: &mut dyn StudyObserver) -> Result<String> {
        let mut command = Command::new(SBATCH);
        command.args(self.arguments(array)?).stdin(Stdio::null());
        let given = |option: bool, name: &'static str| option.then_some(name);
        let asked = [
            given(self.resources.time.is_some(), "SBATCH_TIMELIMIT"),
            given(self.resources.partition.is_some(), "SBATCH_PARTITION"),
        ];
        for name in OVERRIDES.into_iter().chain(asked.into_iter().flatten()) {
            command.env_remove(name);
        }
        let output = command.output().map_err(Error::start(Path::new(SBATCH)))?;
        let message = String::from_utf8_lossy(&output.stderr);
        let message = message.trim();
        if !output.status.success() {
            return Err(Error::JobRefused { status: output.status, message: message.to_owned() });
        }
        // Such as that a budget is nearly used up.
        if !message.is_empty() {
            observer.message(&Message::Sbatch(message));
        }
        // `1234` or `1234;cluster`. A site's own messages may come before it.
        let answer = String::from_utf8_lossy(&output.stdout);
        let number = |line: &str| line.split(';').next().unwrap_or_default().trim().to_owned();
        let is_number = |text: &String| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // The job is submitted, whatever it is called.
        Ok(answer.lines().rev().map(number).find(is_number).unwrap_or_else(|| answer.trim().to_owned()))
    }

    fn record(&self, job: &str, array: &JobArray) -> Result {
        let path = self.study.slurm_jobs(&self.name);
        let line = json!({ "job": job, "first_task": array.offset, "tasks": array.tasks });
        let written = append_own(&path);
        written.and_then(|mut file| writeln!(file, "{line}")).map_err(|source| Error::JobNotRecorded {
            job: job.to_owned(),
            path,
            source,
        })
    }
}

/// Keeps others from submitting the same study at the same time, until it is dropped.
///
/// # Errors
/// If another process is submitting it, or `slurm/` is a symbolic link or cannot be created.
pub fn lock(study: &StudyDirectory) -> Result<File> {
    study.check_links()?;
    let (directory, path) = (study.slurm(), study.slurm_lock());
    fs::create_dir_all(&directory).map_err(Error::io(&directory, "create it"))?;
    let file = open_own(&path).map_err(Error::io(&path, "create it"))?;
    match file.try_lock() {
        // Some network file systems have no locks. Tasks that were submitted twice find their runs done.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::BeingSubmitted { path: study.path().to_owned() }),
    }
}

fn find_sbatch() -> Result {
    let tried = Command::new(SBATCH).arg("--version").stdin(Stdio::null()).output();
    match tried {
        Err(error) if error.kind() == ErrorKind::NotFound => Err(Error::NoSbatch),
        Err(error) => Err(Error::start(Path::new(SBATCH))(error)),
        // One that cannot tell its version will say what is wrong when it is asked to submit.
        Ok(_) => Ok(()),
    }
}

/// The name of the study's directory, the time, and four random digits: two studies of one name may be submitted in
/// the same second.
fn unique_name(study: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = Path::new(study)
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .chars()
        .map(plain)
        .take(40)
        .collect();
    let name = name.trim_matches('-');
    let name = if name.is_empty() { "study" } else { name };
    let time: String =
        unbraid::run::timestamp().replace('T', "-").replace(|c: char| !"0123456789-".contains(c), "");
    let time = time.replacen('-', "", 2);
    let chance = RandomState::new().hash_one(std::process::id()) & 0xffff;
    format!("{name}-{time}-{chance:04x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_and_when() {
        let name = unique_name("/home/ada/my study (2)");
        let mut parts = name.rsplit('-');
        assert_eq!(parts.next().unwrap().len(), 4, "{name}");
        assert_eq!(parts.next().unwrap().len(), 6, "{name}");
        assert!(parts.next().unwrap().starts_with("20"), "{name}");
        assert!(name.starts_with("my-study--2-20"), "{name}");
        assert!(unique_name("/").starts_with("study-20"));
        assert_eq!(Submission::of_job(&format!("{name}.1000")), Some((name.as_str(), 1000)));
    }

    #[test]
    fn jobs_of_others_are_told_apart() {
        for other in ["bash", "a.b", "../../etc/x.0", ".hidden.0", ".0", "a b.0", "x.-1"] {
            assert_eq!(Submission::of_job(other), None, "{other}");
        }
    }

    #[test]
    fn a_study_is_submitted_by_one_at_a_time() {
        let directory = tempfile::tempdir().unwrap();
        let study = StudyDirectory::create(directory.path(), "").unwrap();
        let first = lock(&study).unwrap();
        assert_eq!(
            lock(&study).unwrap_err().to_string(),
            format!("{}: the study is being submitted by another process", directory.path().display())
        );
        drop(first);
        lock(&study).unwrap();
    }
}
