//! The batch script: what one task of a job array does.

use super::amounts::WARNING_SECONDS;
use crate::error::{Error, Result};
use crate::quote::shell;

/// What is asked of the cluster for each task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// The partition; the cluster's default if none.
    pub partition: Option<String>,
    /// The longest time that a task may run; the partition's default if none.
    pub time: Option<String>,
    /// The memory of a task.
    pub memory: String,
    /// Further options of sbatch, as they are written after `#SBATCH`.
    pub options: Vec<String>,
}

/// Everything that the script names; paths are absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Script {
    /// The name of the submission.
    pub(super) name: String,
    /// What each task gets.
    pub(super) resources: Resources,
    /// Where the tasks run: paths in configurations may be relative to it.
    pub(super) working_directory: String,
    /// The program `unbraid`.
    pub(super) program: String,
    /// The directory of the study.
    pub(super) study: String,
    /// Where the output of the tasks goes.
    pub(super) output_directory: String,
    /// The list of tasks.
    pub(super) tasks: String,
    /// Whether failed runs are tried again.
    pub(super) retry_failed: bool,
}

/// A task that was requeued this often without finishing its runs is left to a person.
const MOST_RESTARTS: u32 = 100;

impl Script {
    /// The text.
    ///
    /// # Errors
    /// If Slurm cannot write to the output directory because of its name.
    pub(super) fn text(&self) -> Result<String> {
        let Self { name, .. } = self;
        let directives = self.directives()?;
        let (directory, program) = (shell(&self.working_directory), shell(&self.program));
        let (study, tasks) = (shell(&self.study), shell(&self.tasks));
        let retry = if self.retry_failed { " --retry-failed" } else { "" };
        Ok(format!(
            r#"#!/bin/bash
# {name}: written by `unbraid study submit`.
# Each task trains the runs that its line of {name}.tasks names, and skips those that are done.
{directives}
# A long list of tasks is cut into several arrays; the argument is the place of this array's first task in the list.
task=$((SLURM_ARRAY_TASK_ID + ${{1:-0}}))
# Not SLURM_JOB_ID, which for the last task of an array means the whole array.
this="${{SLURM_ARRAY_JOB_ID}}_${{SLURM_ARRAY_TASK_ID}}"

# Slurm's warning before the time is over (USR1) and TERM both ask for a checkpoint and an orderly end. Both are passed on
# as USR1: Slurm may send TERM to every process of the task, and two of them would mean "at once".
stopping=
stop() {{
  stopping=1
  if [ -n "$!" ]; then kill -s USR1 "$!"; fi
}}
trap stop USR1 TERM

cd {directory} || exit 1
{program} study run {study} --task-list {tasks} --task "$task" --jobs 1{retry} &
# A signal may have come before there was anybody to pass it on to.
if [ -n "$stopping" ]; then stop; fi
# A signal ends `wait` early. It is repeated until the run has gone, so that its exit code is the last one.
until wait "$!"; code=$?; ! kill -0 "$!" 2>/dev/null; do :; done

# Codes above 128 mean that a signal ended the run, and that there is more to do.
if [ -n "$stopping" ] && [ "$code" -gt 128 ]; then
  if [ "${{SLURM_RESTART_COUNT:-0}}" -ge {MOST_RESTARTS} ]; then
    echo "task $task: restarted {MOST_RESTARTS} times; unbraid study submit submits it again"
    exit "$code"
  fi
  # A task that is being cancelled must not come back, and one that is preempted comes back by itself.
  case "$(squeue --noheader --jobs="$this" --format=%T)" in
    RUNNING | SIGNALING) scontrol requeue "$this" || echo "task $task: not requeued; unbraid study submit submits it again" ;;
  esac
fi
exit "$code"
"#
        ))
    }

    fn directives(&self) -> Result<String> {
        let directory = &self.output_directory;
        // Slurm takes a backslash anywhere in the path to mean that %A and %a are to be left as they are.
        if directory.contains('\\') {
            return Err(Error::Backslash { directory: directory.clone() });
        }
        let output = format!("{}/%A_%a.out", directory.replace('%', "%%"));
        let Resources { partition, time, memory, options } = &self.resources;
        let mut lines = vec!["--cpus-per-task=1".to_owned(), format!("--mem={memory}")];
        lines.extend(time.as_ref().map(|time| format!("--time={time}")));
        lines.extend(partition.as_ref().map(|partition| format!("--partition={}", shell(partition))));
        lines.push(format!("--signal=B:USR1@{WARNING_SECONDS}"));
        lines.push("--requeue".to_owned());
        lines.push("--open-mode=append".to_owned());
        lines.push(format!("--output={}", shell(&output)));
        lines.extend(options.iter().cloned());
        Ok(lines.iter().map(|line| format!("#SBATCH {line}\n")).collect())
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::process::{Command, Output};

    fn script(directory: &str) -> Script {
        Script {
            name: "small".to_owned(),
            resources: Resources { memory: "4G".to_owned(), ..Resources::default() },
            working_directory: directory.to_owned(),
            program: format!("{directory}/unbraid"),
            study: format!("{directory}/study"),
            output_directory: format!("{directory}/study/slurm"),
            tasks: format!("{directory}/study/slurm/small.tasks"),
            retry_failed: false,
        }
    }

    #[test]
    fn the_lines_for_slurm() {
        let plain = script("/home/ada").text().unwrap();
        let directives: Vec<&str> = plain.lines().filter_map(|line| line.strip_prefix("#SBATCH ")).collect();
        assert_eq!(
            directives,
            [
                "--cpus-per-task=1",
                "--mem=4G",
                "--signal=B:USR1@120",
                "--requeue",
                "--open-mode=append",
                "--output=/home/ada/study/slurm/%A_%a.out",
            ]
        );
        let mut full = script("/home/ada l's/100%");
        full.resources = Resources {
            partition: Some("long".to_owned()),
            time: Some("1-0".to_owned()),
            memory: "500M".to_owned(),
            options: vec!["--account=x".to_owned()],
        };
        let full = full.text().unwrap();
        for line in [
            "#SBATCH --mem=500M",
            "#SBATCH --time=1-0",
            "#SBATCH --partition=long",
            "#SBATCH --account=x",
            r#"#SBATCH --output='/home/ada l'"'"'s/100%%/study/slurm/%A_%a.out'"#,
        ] {
            assert!(full.lines().any(|found| found == line), "{line} in\n{full}");
        }
        // sbatch reads no directive after the first command.
        let last = full.rfind("#SBATCH").unwrap();
        assert!(full[..last].lines().all(|line| line.starts_with('#')), "{full}");
        assert_eq!(
            script("/a\\b").text().unwrap_err().to_string(),
            "/a\\b/study/slurm: Slurm writes no output below a directory with a backslash in its name"
        );
    }

    /// Runs the script in bash, with programs of its own instead of unbraid, squeue and scontrol.
    fn run(directory: &Path, unbraid: &str, state: &str, environment: &[(&str, &str)]) -> (Output, String) {
        let program = |name: &str, text: &str| {
            let path = directory.join(name);
            fs::write(&path, format!("#!/bin/bash\n{text}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        };
        let _ = fs::remove_file(directory.join("requeued"));
        fs::create_dir_all(directory.join("bin")).unwrap();
        program("unbraid", unbraid);
        program("bin/squeue", &format!("echo {state}"));
        program("bin/scontrol", r#"echo "$@" >> "${0%/*}/../requeued""#);
        let path = directory.join("small.sh");
        fs::write(&path, script(directory.to_str().unwrap()).text().unwrap()).unwrap();
        let mut search = directory.join("bin").into_os_string();
        search.push(":");
        search.push(std::env::var_os("PATH").unwrap());
        let output = Command::new("bash")
            .arg(&path)
            .arg("1000")
            .env("PATH", search)
            .env("SLURM_ARRAY_JOB_ID", "77")
            .env("SLURM_ARRAY_TASK_ID", "5")
            .envs(environment.iter().copied())
            .output()
            .unwrap();
        let requeued = fs::read_to_string(directory.join("requeued")).unwrap_or_default();
        (output, requeued)
    }

    /// Tells its parent, the script, to end; then waits for what the script passes on, at most a minute.
    const WARNED: &str =
        r#"trap 'echo warned; exit 143' USR1; kill -s SIGNAL $PPID; for i in {1..1200}; do sleep 0.05; done"#;

    #[test]
    fn the_runs_of_a_task_are_asked_for_and_their_exit_code_is_the_tasks() {
        let directory = tempfile::Builder::new().prefix("it's a \"test\" $x ").tempdir().unwrap();
        let path = directory.path().to_str().unwrap();
        let (output, requeued) =
            run(directory.path(), r#"printf '%s\n' "$PWD" "$@"; exit 1"#, "RUNNING", &[]);
        let expected = format!(
            "{path}\nstudy\nrun\n{path}/study\n--task-list\n{path}/study/slurm/small.tasks\n--task\n1005\n--jobs\n1\n"
        );
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
        assert_eq!((output.status.code(), requeued.as_str()), (Some(1), ""));
    }

    #[test]
    fn a_warned_task_saves_itself_and_is_requeued() {
        let directory = tempfile::tempdir().unwrap();
        for signal in ["USR1", "TERM"] {
            let unbraid = WARNED.replace("SIGNAL", signal);
            let (output, requeued) = run(directory.path(), &unbraid, "RUNNING", &[]);
            assert_eq!(String::from_utf8(output.stdout).unwrap(), "warned\n");
            assert_eq!((output.status.code(), requeued.as_str()), (Some(143), "requeue 77_5\n"));
        }
    }

    #[test]
    fn a_task_that_is_cancelled_or_finished_or_came_back_too_often_is_not_requeued() {
        let directory = tempfile::tempdir().unwrap();
        let unbraid = WARNED.replace("SIGNAL", "TERM");
        let (output, requeued) = run(directory.path(), &unbraid, "COMPLETING", &[]);
        assert_eq!((output.status.code(), requeued.as_str()), (Some(143), ""));
        let finished = unbraid.replace("exit 143", "exit 0");
        let (output, requeued) = run(directory.path(), &finished, "RUNNING", &[]);
        assert_eq!((output.status.code(), requeued.as_str()), (Some(0), ""));
        let (output, requeued) =
            run(directory.path(), &unbraid, "RUNNING", &[("SLURM_RESTART_COUNT", "100")]);
        assert_eq!(
            String::from_utf8(output.stdout).unwrap(),
            "warned\ntask 1005: restarted 100 times; unbraid study submit submits it again\n"
        );
        assert_eq!((output.status.code(), requeued.as_str()), (Some(143), ""));
    }
}
