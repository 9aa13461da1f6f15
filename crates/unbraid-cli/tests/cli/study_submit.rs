//! `unbraid study submit` with programs of our own in place of Slurm's: what they are asked, and what they
//! can do wrong.
#![cfg(unix)]

#[cfg(target_os = "linux")]
use crate::support::Disk;
use crate::support::{TINY, check, check_last_failure};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};
use unbraid::config::Source;
use unbraid::run::{State, Status};
use unbraid_study::{Entry, Manifest};

/// What [`Bench::sbatch`] says when it refuses a job.
const REFUSED: &str =
    "sbatch refused the job (exit status: 1): sbatch: error: invalid partition specified: nowhere";

/// A study of six runs below a directory with an awkward name, and a `bin/` that is all of the PATH.
struct Bench {
    directory: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let bench =
            Self { directory: tempfile::Builder::new().prefix("it's a \"test\" 100% ").tempdir().unwrap() };
        fs::create_dir_all(bench.path("study")).unwrap();
        fs::create_dir_all(bench.path("bin")).unwrap();
        fs::write(bench.path("study/study.toml"), "").unwrap();
        let entry = |number: usize| {
            let seed = u64::try_from(number).unwrap();
            let mut configuration = Source::parse(TINY, "tiny").unwrap();
            configuration.seed = seed;
            configuration.training.steps = Some(3);
            let settings = BTreeMap::from([("seed".to_owned(), seed.into())]);
            Entry {
                number,
                name: format!("run {number}"),
                hash: configuration.fingerprint(),
                settings,
                configuration,
                paths: BTreeMap::new(),
            }
        };
        let manifest = Manifest { entries: (0..6).map(entry).collect() };
        manifest.write(&bench.path("study/manifest.jsonl")).unwrap();
        // Arrays of at most four.
        bench.program("scontrol", "echo 'MaxArraySize            = 4'");
        bench.program("squeue", "exit 1");
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Puts a script of that name into the PATH. It has only what the shell itself can do.
    fn program(&self, name: &str, text: &str) {
        let path = self.path("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// An sbatch that writes down its arguments, a word in each line, and gives numbers from 1; from `refused` on it
    /// refuses.
    fn sbatch(&self, refused: usize) {
        let text = format!(
            r#"bin=${{0%/*}}
if [ "$1" = --version ]; then exit 0; fi
number=1
while [ -e "$bin/../$number" ]; do number=$((number + 1)); done
if [ $number -ge {refused} ]; then echo 'sbatch: error: invalid partition specified: nowhere' >&2; exit 1; fi
printf '%s\n' "$@" > "$bin/../$number"
echo "a word of the site"
echo "$number;test""#
        );
        self.program("sbatch", &text);
    }

    fn submit(&self, more: &[&str]) -> Output {
        let study = self.path("study");
        let mut command = Command::new(env!("CARGO_BIN_EXE_unbraid"));
        command.args(["study", "submit"]).arg(study).args(more).env("PATH", self.path("bin"));
        command.current_dir(self.directory.path()).output().unwrap()
    }

    #[track_caller]
    fn check_failure(&self, output: &Output, code: i32, message: &str) {
        check_last_failure(output, self.directory.path(), code, message);
    }

    /// The words that sbatch got for a job.
    fn words(&self, job: usize) -> Vec<String> {
        fs::read_to_string(self.path(&job.to_string())).unwrap().lines().map(str::to_owned).collect()
    }

    /// Files in `slurm/`, but for the lock.
    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("study/slurm")).into_iter().flatten();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name != ".lock").collect();
        names.sort();
        names
    }

    fn settle(&self, number: usize, state: State) {
        let run = self.path(&format!("study/runs/run {number}"));
        fs::create_dir_all(&run).unwrap();
        let manifest = Manifest::read(&self.path("study/manifest.jsonl")).unwrap();
        fs::write(run.join("config.toml"), manifest.entries[number].configuration.to_toml()).unwrap();
        Status::now(state, 3, 3).with_error("the disk is full").write(&run.join("status.json")).unwrap();
    }
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn six_runs_are_two_arrays_of_three() {
    let bench = Bench::new();
    bench.sbatch(9);
    let output = bench.submit(&["--array-limit", "3"]);
    check(&output, &["6 runs in 6 tasks", "job 1: tasks 0 to 2", "job 2: tasks 3 to 5"]);
    assert_eq!(text(&output), "1\n2\n");
    let files = bench.files();
    let [jobs, script, tasks] = files.as_slice() else { panic!("{files:?}") };
    let name = script.strip_suffix(".sh").unwrap();
    let script = bench.path("study/slurm").join(script).display().to_string();
    let words = |indices: &str, offset: &str| {
        let options =
            ["--parsable".to_owned(), format!("--array={indices}"), format!("--job-name={name}.{offset}")];
        [&options[..], &[script.clone(), offset.to_owned()]].concat()
    };
    assert_eq!(bench.words(1), words("0-2%2", "0"));
    assert_eq!(bench.words(2), words("0-2%1", "3"));
    let tasks = fs::read_to_string(bench.path("study/slurm").join(tasks)).unwrap();
    let lines: String = (0..6).map(|number| format!("[\"run {number}\"]\n")).collect();
    assert_eq!(tasks, lines);
    let jobs = fs::read_to_string(bench.path("study/slurm").join(jobs)).unwrap();
    assert_eq!(jobs.lines().next().unwrap(), r#"{"first_task":0,"job":"1","tasks":3}"#);
    assert_eq!(jobs.lines().count(), 2);
}

/// Without room for the tasks, for the script, and for the number of a job: nothing is submitted that has no
/// files, no file is left that nothing needs, and a job that was accepted is named.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_reported_and_leaves_nothing() {
    let bench = Bench::new();
    bench.sbatch(9);
    let Some(_disk) = Disk::mount(bench.path("study/slurm"), "64k") else { return };
    let filler = bench.path("study/slurm/.filler");
    // The lock itself takes no room.
    let failure = |room: usize, file: &str, ending: &str| {
        fs::write(&filler, vec![0_u8; (64 << 10) - room]).unwrap();
        let output = bench.submit(&[]);
        fs::remove_file(&filler).unwrap();
        assert_eq!(output.status.code(), Some(1));
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let line = text.lines().find(|line| line.starts_with("error: ")).unwrap_or_else(|| panic!("{text}"));
        assert!(line.contains(file) && line.ends_with(ending), "{line}");
        line.to_owned()
    };
    let no_room = ": No space left on device (os error 28)";
    // A page is 4 KiB.
    for (room, file) in [(0, ".tasks"), (4 << 10, ".sh")] {
        let line = failure(room, file, no_room);
        assert!(line.starts_with("error: cannot write "), "{line}");
        assert_eq!(bench.files(), [""; 0], "{room}");
        assert!(!bench.path("1").exists(), "sbatch was asked");
    }
    let line = failure(8 << 10, ".jobs", no_room);
    assert!(line.contains("job 1"), "{line}");
    // That job has its files.
    assert_eq!(bench.files().len(), 3);
    assert!(bench.path("1").exists() && !bench.path("2").exists());
}

#[test]
fn what_is_done_failed_or_queued_is_left_out() {
    let bench = Bench::new();
    bench.sbatch(9);
    bench.settle(1, State::Done);
    bench.settle(2, State::Failed);
    let output = bench.submit(&["--only", "0..3,4"]);
    check(&output, &["2 runs in 2 tasks; left out: 1 done, 1 failed", "hint: --retry-failed"]);
    // The second of these tasks is still in the queue.
    let name = bench.files()[0].strip_suffix(".jobs").unwrap().to_owned();
    bench.program("squeue", &format!("echo 'PENDING 1_1 {name}.0'"));
    let output = bench.submit(&["--retry-failed", "--runs-per-task", "3"]);
    check(&output, &["4 runs in 2 tasks; left out: 1 done, 1 queued"]);
    let is_new = |file: &String| file.ends_with(".tasks") && !file.starts_with(&name);
    let tasks = bench.files().into_iter().find(is_new).unwrap();
    let tasks = fs::read_to_string(bench.path("study/slurm").join(tasks)).unwrap();
    assert_eq!(tasks, "[\"run 0\",\"run 2\",\"run 3\"]\n[\"run 5\"]\n");
    for number in 0..6 {
        bench.settle(number, State::Done);
    }
    let output = bench.submit(&[]);
    check(&output, &["nothing to submit; left out: 6 done"]);
    assert_eq!(text(&output), "");
}

#[test]
fn a_refusal_is_told_and_leaves_nothing_behind_that_no_job_needs() {
    let bench = Bench::new();
    bench.sbatch(1);
    let output = bench.submit(&["--partition", "nowhere"]);
    let refused = format!("error: {REFUSED}");
    bench.check_failure(&output, 1, &refused);
    // Nobody can tell whether the job was taken in spite of it.
    assert_eq!(bench.files().len(), 2);
    for file in bench.files() {
        fs::remove_file(bench.path("study/slurm").join(file)).unwrap();
    }
    bench.program("squeue", "echo 'RUNNING 7 bash'");
    bench.check_failure(&bench.submit(&["--partition", "nowhere"]), 1, &refused);
    assert_eq!(bench.files(), Vec::<String>::new());
}

#[test]
fn what_was_submitted_before_a_refusal_is_not_submitted_again() {
    let bench = Bench::new();
    bench.sbatch(2);
    let message = format!(
        "error: only 1 of 2 arrays submitted: {REFUSED}\n\
         hint: the same command later submits the rest, and skips what is queued"
    );
    bench.check_failure(&bench.submit(&[]), 1, &message);
    let files = bench.files();
    assert_eq!(files.len(), 3, "{files:?}");
    let name = files[0].strip_suffix(".jobs").unwrap();
    let lines: String = (0..3).map(|task| format!("echo 'PENDING 1_{task} {name}.0'\n")).collect();
    bench.program("squeue", &lines);
    bench.sbatch(9);
    check(&bench.submit(&[]), &["3 runs in 3 tasks; left out: 3 queued", "job 2: tasks 0 to 2"]);
}

#[test]
fn without_slurm_the_way_out_is_named() {
    let bench = Bench::new();
    fs::remove_file(bench.path("bin/scontrol")).unwrap();
    fs::remove_file(bench.path("bin/squeue")).unwrap();
    let message = "error: found no sbatch in PATH, which submits jobs to Slurm\n\
                   hint: --engine print gives command lines for any other scheduler; unbraid study run trains here";
    bench.check_failure(&bench.submit(&[]), 2, message);
    assert_eq!(bench.files(), Vec::<String>::new());
}

#[test]
fn a_dry_run_prints_and_writes_nothing() {
    let bench = Bench::new();
    let output = bench.submit(&["--dry-run", "--time", "1-0", "--sbatch-option=--account=x"]);
    check(&output, &["6 runs in 6 tasks"]);
    let printed = text(&output);
    assert!(printed.starts_with("#!/bin/bash\n"), "{printed}");
    assert!(
        printed.contains("\n#SBATCH --time=1-0\n") && printed.contains("\n#SBATCH --account=x\n"),
        "{printed}"
    );
    let commands: Vec<&str> = printed.lines().filter(|line| line.starts_with("sbatch --parsable")).collect();
    assert_eq!(commands.len(), 2, "{printed}");
    assert!(commands[1].contains("--array=0-2 ") && commands[1].ends_with(".sh' 3"), "{}", commands[1]);
    assert!(!bench.path("study/slurm").exists());
}

#[test]
fn limits_of_the_cluster_are_kept() {
    let bench = Bench::new();
    bench.sbatch(9);
    bench.program("scontrol", "echo 'MaxArraySize = 0'");
    bench.check_failure(
        &bench.submit(&[]),
        2,
        "error: MaxArraySize: found 0, which disables job arrays on this cluster\n\
         hint: --engine print gives single command lines",
    );
    bench.program("scontrol", "echo 'MaxJobCount = 5'");
    bench.check_failure(
        &bench.submit(&[]),
        2,
        "error: found 6 tasks, expected at most 5, the MaxJobCount of this cluster\n\
         hint: --runs-per-task puts more runs into fewer tasks; --only submits some of them",
    );
    bench.program("scontrol", "echo 'MaxArraySize = 2'");
    bench.check_failure(
        &bench.submit(&["--array-limit", "2"]),
        2,
        "error: --array-limit: limit of simultaneous tasks: found 2, expected at least 3, since 6 tasks need 3 arrays of \
         at most 2 tasks, and each array runs at least one at a time\n\
         hint: --runs-per-task puts more runs into fewer tasks",
    );
    assert_eq!(bench.files(), Vec::<String>::new());
}

#[test]
fn wrong_options_are_refused_before_anything_is_done() {
    let bench = Bench::new();
    bench.sbatch(9);
    let cases: [(&[&str], &str); 9] = [
        (
            &["--time", "2h"],
            "--time: found `2h`, expected minutes, hours:minutes:seconds or days-hours:minutes:seconds",
        ),
        (
            &["--time", "3"],
            "--time: found `3`, expected at least 5 minutes: runs are warned 2 minutes before the end, to save themselves",
        ),
        (
            &["--mem", "4GB"],
            "--mem: found `4GB`, expected a whole number of megabytes, or one with K, M, G or T, as in `4G`",
        ),
        (&["--partition", "a b"], "--partition: found `a b`, expected a name without spaces"),
        (
            &["--runs-per-task", "0"],
            "invalid value '0' for '--runs-per-task <K>': number would be zero for non-zero type\n\n\
             For more information, try '--help'.",
        ),
        (
            &["--array-limit", "0"],
            "invalid value '0' for '--array-limit <N>': number would be zero for non-zero type\n\n\
             For more information, try '--help'.",
        ),
        (&["--only", "0..7"], "--only: the study has no run 6; expected 0 to 5"),
        (
            &["--sbatch-option", "--array=3"],
            "--sbatch-option: found `--array=3`, expected an option other than those that unbraid sets",
        ),
        (&["--engine", "print", "--mem", "1G"], "--mem: found --engine print, expected --engine slurm"),
    ];
    for (arguments, message) in cases {
        bench.check_failure(&bench.submit(arguments), 2, &format!("error: {message}"));
    }
    assert_eq!(bench.files(), Vec::<String>::new());
    fs::remove_file(bench.path("study/manifest.jsonl")).unwrap();
    let message =
        "error: DIR/study: the study has no manifest.jsonl yet\nhint: unbraid study plan DIR/study writes it";
    bench.check_failure(&bench.submit(&[]), 2, message);
}

/// A line for each run, which any shell can run anywhere.
#[test]
fn printed_commands_train_their_runs() {
    let bench = Bench::new();
    bench.settle(0, State::Done);
    let output = bench.submit(&["--engine", "print", "--only", "0..3"]);
    check(&output, &[]);
    let printed = text(&output);
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), 2, "{printed}");
    assert!(lines[0].ends_with("--name 'run 1' --jobs 1"), "{printed}");
    let both = text(&bench.submit(&[
        "--engine",
        "print",
        "--only",
        "0..3",
        "--runs-per-task",
        "2",
        "--retry-failed",
    ]));
    assert!(both.ends_with("--name 'run 1' --name 'run 2' --jobs 1 --retry-failed\n"), "{both}");
    let done = Command::new("sh").args(["-c", lines[1]]).current_dir("/").output().unwrap();
    check(&done, &[]);
    let status = |number: usize| Status::read(&bench.path(&format!("study/runs/run {number}/status.json")));
    assert_eq!(status(2).map(|status| (status.state, status.step)), Some((State::Done, 3)));
    assert_eq!(status(1), None);
}

/// The rest of a name that has a line break would be a command of its own.
#[test]
fn a_printed_line_is_not_split_by_a_name() {
    let bench = Bench::new();
    let path = bench.path("study/manifest.jsonl");
    let mut entries = Manifest::read(&path).unwrap().entries;
    entries[1].name = "run 1\ntouch stolen #".to_owned();
    Manifest { entries }.write(&path).unwrap();
    let output = bench.submit(&["--engine", "print"]);
    let message = "error: DIR/study/manifest.jsonl, line 2: `run 1\\ntouch stolen #` cannot be the name of a run\n\
                   hint: `unbraid study plan` rewrites the manifest and keeps finished runs";
    bench.check_failure(&output, 2, message);
    assert_eq!(text(&output), "");
}

/// What a task in the queue was submitted for is what it trains, whatever has become of the study.
#[test]
fn a_task_finds_its_runs_by_name() {
    let bench = Bench::new();
    fs::write(bench.path("list"), "[\"run 0\"]\n[\"gone\",\"run 5\"]\n").unwrap();
    let study = bench.path("study");
    // Run 5 is now number 1.
    let mut entries = Manifest::read(&study.join("manifest.jsonl")).unwrap().entries;
    entries.swap(1, 5);
    for (number, entry) in entries.iter_mut().enumerate() {
        entry.number = number;
    }
    Manifest { entries }.write(&study.join("manifest.jsonl")).unwrap();
    let run = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_unbraid"));
        command.args(["study", "run"]).arg(&study).args(["--jobs", "1"]).args(more);
        command.current_dir(bench.directory.path()).output().unwrap()
    };
    check(&run(&["--task-list", "list", "--task", "1"]), &["no longer part of the study: gone"]);
    assert!(study.join("runs/run 5/checkpoints/last.safetensors").exists());
    assert!(!study.join("runs/run 1").exists());
    for (more, message) in [
        (&["--task-list", "list", "--task", "2"][..], "list: no task 2; found 2 tasks, numbered from 0"),
        (
            &["--task-list", "list"],
            "the following required arguments were not provided:\n  --task <N>\n\n\
             Usage: unbraid study run --task-list <FILE> --task <N> --jobs <N> <STUDY>\n\n\
             For more information, try '--help'.",
        ),
        (&["--name", "run 6"], "--name: the study has no run `run 6`"),
    ] {
        bench.check_failure(&run(more), 2, &format!("error: {message}"));
    }
}
