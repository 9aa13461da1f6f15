//! A process that is killed at any system call that changes files: the next one ends with the same bytes.
//! strace injects the signal at the nth call of a name; where it is missing or may not trace, the tests skip.

use crate::support::{Bench, assert_same, skip};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// The calls by which a run directory changes.
const CALLS: &str =
    "openat,write,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,ftruncate,fsync,fdatasync";

/// How many kills a benchmark wants of each kind.
const KILLS: &str = "UNBRAID_KILLS";

/// Fewer steps than `TINY`, with two checkpoints and rows between them.
const SHORT: [&str; 8] = [
    "--set",
    "training.steps=6",
    "--set",
    "training.checkpoint_every=3",
    "--set",
    "training.log_every=2",
    "--threads",
    "1",
];

/// `unbraid train` of so few steps, and more arguments.
fn train(bench: &Bench, out: &str, more: &[&str]) -> assert_cmd::Command {
    let mut command = bench.train(out, &SHORT);
    command.args(more);
    command
}

/// Whether strace is installed and may trace.
pub(crate) fn can_trace() -> bool {
    let tried = Command::new("strace").args(["-qq", "-e", "trace=none", "true"]).output();
    tried.is_ok_and(|output| output.status.success())
}

/// A system call: its name, and how many of that name there were in its thread, itself included. So strace counts.
type Call = (String, usize);

/// `unbraid train` under strace, killed at a call; `None` lets it end.
fn traced(bench: &Bench, out: &str, more: &[&str], kill_at: Option<&Call>) -> Output {
    let trace = bench.path("trace");
    let mut command = Command::new("strace");
    command.current_dir(bench.directory.path()).args(["-f", "-qq", "-o"]).arg(&trace);
    command.args(["-e", &format!("trace={CALLS}")]);
    if let Some((name, number)) = kill_at {
        command.args(["-e", &format!("inject={name}:signal=SIGKILL:when={number}")]);
    }
    command.arg(assert_cmd::cargo::cargo_bin("unbraid"));
    command.args(["train", "--config", "tiny.toml", "--quiet", "--out", out]).args(SHORT).args(more);
    command.output().unwrap()
}

/// All calls of a whole training in the thread that works on the run, from the first on its directory; `None`
/// where strace does not work.
///
/// No other thread opens, renames or removes a file of the run, which is checked, so that its calls are all
/// by which the run changes. strace counts the calls of each thread for itself: where another one, which
/// starts up or computes, comes to the number first, the process is killed there instead, which is a kill all
/// the same.
fn calls(bench: &Bench, more: &[&str], out: &str) -> Option<Vec<Call>> {
    if !can_trace() {
        let is_benchmark = std::env::var_os(KILLS).is_some();
        assert!(!is_benchmark, "{KILLS} asks for kills, and strace is not installed or may not trace");
        skip("strace is not installed or may not trace");
        return None;
    }
    assert!(traced(bench, out, more, None).status.success());
    let trace = fs::read_to_string(bench.path("trace")).unwrap();
    // `17 openat(AT_FDCWD, "run/.lock", ...`, and `17 <... openat resumed>` for the end of one that took long.
    let lines: Vec<(&str, &str)> = trace.lines().filter_map(|line| line.split_once(' ')).collect();
    let on_run = |text: &str| text.contains(&format!("\"{out}/"));
    let (thread, _) = *lines.iter().find(|(_, text)| on_run(text)).unwrap();
    let elsewhere = lines.iter().find(|(of, text)| *of != thread && on_run(text));
    assert_eq!(elsewhere, None, "calls of another thread than {thread}");
    let mut counts = BTreeMap::new();
    let mut calls: Vec<Call> = Vec::new();
    for (_, text) in lines.into_iter().filter(|(of, _)| *of == thread) {
        let text = text.trim_start();
        let Some((name, _)) = text.split_once('(').filter(|_| !text.starts_with(['<', '+', '-'])) else {
            continue;
        };
        let count = counts.entry(name.to_owned()).or_insert(0);
        *count += 1;
        if on_run(text) || !calls.is_empty() {
            calls.push((name.to_owned(), *count));
        }
    }
    Some(calls)
}

/// Kills at calls until there were enough: few as a test, as many as asked for as a benchmark (`cargo xtask
/// bench kills`). A training has a hundred calls; more kills are of trainings with other seeds. `prepare`
/// makes the whole run of a seed and gives its calls, `kill` kills at one of them and checks what follows.
fn kill_often(
    prepare: impl Fn(&str) -> Option<Vec<Call>>,
    kill: impl Fn(&str, usize, &Call),
) -> Option<usize> {
    let wanted = std::env::var(KILLS).ok().and_then(|text| text.parse().ok()).unwrap_or(12);
    let mut done = 0;
    for seed in (7..).map(|seed| format!("seed={seed}")) {
        let calls = prepare(&seed)?;
        let count = calls.len().min(wanted - done);
        // Evenly spread, where not all of them are wanted.
        for place in 0..count {
            kill(&seed, done + place, &calls[place * calls.len() / count]);
        }
        done += count;
        if done >= wanted {
            break;
        }
    }
    Some(done)
}

fn copy_directory(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let copy = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_directory(&entry.path(), &copy),
            false => drop(fs::copy(entry.path(), copy).unwrap()),
        }
    }
}

fn no_leftovers(run: &Path) {
    for directory in [run.to_owned(), run.join("checkpoints")] {
        for entry in fs::read_dir(directory).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(!name.ends_with(".partial") && name != ".removing", "{name}");
        }
    }
}

#[test]
fn a_training_that_is_killed_at_any_call_is_resumed_to_the_same_bytes() {
    let bench = Bench::new();
    let prepare = |seed: &str| {
        let _ = fs::remove_dir_all(bench.path("whole"));
        calls(&bench, &["--set", seed], "whole")
    };
    let killed = kill_often(prepare, |seed, _, call| {
        let _ = fs::remove_dir_all(bench.path("run"));
        assert!(!traced(&bench, "run", &["--set", seed], Some(call)).status.success(), "{call:?}");
        let output = train(&bench, "run", &["--set", seed, "--resume", "auto"]).output().unwrap();
        assert!(output.status.success(), "{call:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert_same(&bench.path("whole"), &bench.path("run"));
        no_leftovers(&bench.path("run"));
    });
    if let Some(killed) = killed {
        eprintln!("{killed} trainings killed, each resumed to the same bytes");
    }
}

/// A file that was renamed is still there after a power failure if its directory is on disk as well.
#[test]
fn every_rename_is_followed_by_a_flush_of_its_directory() {
    let bench = Bench::new();
    if calls(&bench, &[], "whole").is_none() {
        return;
    }
    let trace = fs::read_to_string(bench.path("trace")).unwrap();
    let mut threads: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (thread, call) in trace.lines().filter_map(|line| line.split_once(' ')) {
        // The ends of calls that took long have no arguments.
        if !call.trim_start().starts_with('<') {
            threads.entry(thread).or_default().push(call.trim_start());
        }
    }
    let mut renames = 0;
    for calls in threads.values() {
        for (place, call) in calls.iter().enumerate() {
            // rename("whole/.a.0123.partial", "whole/a"), or renameat and renameat2 with directories between them.
            let Some(to) = call.strip_prefix("rename").and_then(|call| call.split('"').nth(3)) else {
                continue;
            };
            let directory = Path::new(to).parent().unwrap().display().to_string();
            let opened = format!("openat(AT_FDCWD, \"{directory}\", O_RDONLY");
            assert!(calls.get(place + 1).is_some_and(|next| next.starts_with(&opened)), "{call}");
            assert!(calls.get(place + 2).is_some_and(|next| next.starts_with("fsync(")), "{call}");
            renames += 1;
        }
    }
    // Two checkpoints have three files each: weights, the same under their step, and the optimiser's.
    assert!(renames >= 6, "{renames}");
}

#[test]
fn an_overwrite_that_is_killed_at_any_call_leaves_what_both_ways_on_accept() {
    let bench = Bench::new();
    train(&bench, "earlier", &["--set", "seed=6"]).assert().success();
    let prepare = |seed: &str| {
        let _ = fs::remove_dir_all(bench.path("whole"));
        copy_directory(&bench.path("earlier"), &bench.path("whole"));
        calls(&bench, &["--set", seed, "--overwrite"], "whole")
    };
    let killed = kill_often(prepare, |seed, number, call| {
        let _ = fs::remove_dir_all(bench.path("run"));
        copy_directory(&bench.path("earlier"), &bench.path("run"));
        let overwrite = traced(&bench, "run", &["--set", seed, "--overwrite"], Some(call));
        assert!(!overwrite.status.success(), "{call:?}");
        // Until the first file is removed, the earlier run is there, with its own configuration.
        let is_earlier = unbraid::run::RunPaths::new(bench.path("run")).exists()
            && fs::read_to_string(bench.path("run/config.toml")).is_ok_and(|text| text.contains("seed = 6"));
        let way = if is_earlier || number % 2 == 0 { &["--overwrite"][..] } else { &["--resume", "auto"] };
        let output = train(&bench, "run", &[&["--set", seed], way].concat()).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{call:?}, {way:?}: {message}");
        assert_same(&bench.path("whole"), &bench.path("run"));
        no_leftovers(&bench.path("run"));
    });
    if let Some(killed) = killed {
        eprintln!("{killed} overwritings killed, each repeated or resumed to the same bytes");
    }
}
