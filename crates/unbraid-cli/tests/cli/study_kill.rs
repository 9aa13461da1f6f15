//! A study that is killed, interrupted and run twice at the same time ends with the same bytes as one that
//! was left alone.
#![cfg(target_os = "linux")]

use crate::support::sameness::assert_same_studies;
use crate::support::study::{Bench, children, is_alive, signal, wait_until};
use crate::support::{check, check_last_failure, metrics};
use std::fs;
use std::time::Duration;
use unbraid::run::{State, Status};

const RUNS: usize = 6;

/// Rows and checkpoints do not coincide, and there is a checkpoint now and then.
const LENGTH: &str = "training={ batch_size = 8, steps = 90, log_every = 7, checkpoint_every = 20 }";

/// Rows of a run: 7, 14, ..., 84 and the last.
const ROWS: usize = 13;

fn undisturbed() -> Bench {
    let bench = Bench::new(RUNS, &[LENGTH]);
    bench.succeed(&["--jobs", "2"], &[]);
    assert_eq!(bench.rows(), RUNS * ROWS);
    assert!((0..RUNS).all(|number| bench.run(number).join("scores.json").exists()));
    bench
}

/// Numbers that are the same in every run of the test (Steele et al. 2014, `SplitMix64`).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % end as u64).unwrap()
    }
}

/// Ten studies, each killed three times in three ways, at moments that are drawn: after some row of some run,
/// and up to a fifth of a second later, so that starting up, evaluating and giving back are hit too.
#[test]
fn killed_at_any_moment_a_study_ends_the_same() {
    let whole = undisturbed();
    let mut numbers = Numbers(7);
    for round in 0..10 {
        let bench = Bench::new(RUNS, &[LENGTH]);
        let mut killed = 0;
        for kind in 0..3 {
            let mut study = bench.start(&["--jobs", "2", "--retry-failed"]);
            let rows = bench.rows() + numbers.below(RUNS * ROWS / 3);
            wait_until("there are some rows", || bench.rows() >= rows || study.try_wait().unwrap().is_some());
            std::thread::sleep(Duration::from_millis(numbers.below(200) as u64));
            let workers = children(study.id());
            match (kind + round) % 3 {
                0 => study.kill().unwrap(),
                1 => signal("KILL", &format!("-{}", study.id())),
                _ => {
                    if !workers.is_empty() {
                        signal("KILL", &workers[numbers.below(workers.len())].to_string());
                    }
                }
            }
            killed += usize::from(!workers.is_empty());
            study.wait_with_output().unwrap();
        }
        eprintln!("round {round}: {killed} of 3 kills came while runs were at work");
        bench.succeed(&["--jobs", "2", "--retry-failed"], &[]);
        assert_same_studies(&whole, &bench);
    }
}

#[test]
fn the_processes_of_a_killed_study_end_by_themselves_and_its_leases_are_taken_over() {
    let bench = Bench::new(2, &["training.steps=100000"]);
    let mut study = bench.start(&["--jobs", "2"]);
    wait_until("both runs are at work", || {
        (0..2).all(|number| !bench.text(number, "metrics.jsonl").is_empty())
    });
    let workers = children(study.id());
    assert_eq!((workers.len(), bench.leases().len()), (2, 2));
    let status = bench.status();
    assert_eq!(status["counts"]["running"], 2);
    let running = &status["running"][1];
    assert_eq!((&running["number"], &running["pid"]), (&1.into(), &study.id().into()));
    assert!(running["steps"] == 100_000 && running["heartbeat_age_seconds"].as_f64().unwrap() < 120.0);

    study.kill().unwrap();
    study.wait().unwrap();
    wait_until("its processes have ended", || !workers.iter().any(|pid| is_alive(*pid)));
    let status = Status::read(&bench.run(0).join("status.json")).unwrap();
    assert_eq!(status.error.unwrap(), format!("interrupted by SIGTERM after step {}", status.step));
    assert_eq!(bench.status()["counts"]["interrupted"], 2);

    // Leases whose runs have ended, one way or the other, are released by the next process.
    let status = bench.run(0).join("status.json");
    let failed = bench.text(0, "status.json").replace("\"interrupted\"", "\"failed\"");
    fs::write(&status, failed.replace("interrupted by", "stumbled over")).unwrap();
    assert_eq!(bench.leases().len(), 2);
    let step = Status::read(&bench.run(0).join("status.json")).unwrap().step;
    let failed = bench.failed_run(0, &format!("stumbled over SIGTERM after step {step}"));
    let message = format!("error: 1 of 1 runs failed\n{failed}hint: --retry-failed tries them again");
    bench.fail(&["--id", "0"], 1, &message);
    assert_eq!(bench.leases(), [""; 0]);
}

/// Its training is done by then, and stays so.
#[test]
fn a_run_whose_process_is_killed_while_it_is_scored_says_so() {
    let scored = |resamples: usize| {
        format!(
            "evaluation={{ metrics = [\"mig\"], after_training = true, report = false, bootstrap = {resamples} }}"
        )
    };
    // Resamples for minutes.
    let mut bench = Bench::new(1, &["training.steps=20", &scored(unbraid::config::MOST_RESAMPLES)]);
    let status = |bench: &Bench| Status::read(&bench.run(0).join("status.json")).unwrap();
    let study = bench.start(&[]);
    wait_until("it is trained", || {
        Status::read(&bench.run(0).join("status.json")).is_some_and(|status| status.state == State::Done)
    });
    let workers = children(study.id());
    let [worker] = workers[..] else { panic!("{workers:?}") };
    signal("KILL", &worker.to_string());
    let killed = "its process was killed (signal 9)\nhint: it may have run out of memory";
    let failed = bench.failed_run(0, "its process was killed (signal 9)");
    let message = format!("error: 1 of 1 runs failed\n{failed}hint: --retry-failed tries them again");
    check_last_failure(&study.wait_with_output().unwrap(), bench.bench.directory.path(), 1, &message);
    let recorded = status(&bench);
    assert_eq!((recorded.state, recorded.step, recorded.error.as_deref()), (State::Failed, 20, Some(killed)));
    assert!(!bench.run(0).join("scores.json").exists());
    assert_eq!((&bench.status()["counts"]["failed"], bench.leases().len()), (&1.into(), 0));

    // With fewer resamples, it is scored without being trained again.
    let weights = |bench: &Bench| fs::read(bench.run(0).join("checkpoints/last.safetensors")).unwrap();
    let (rows, trained) = (metrics(&bench.run(0)), weights(&bench));
    bench.replan(|config| config.evaluation.bootstrap = 0);
    bench.succeed(&["--retry-failed"], &["1/1 done"]);
    assert_eq!((status(&bench).state, metrics(&bench.run(0))), (State::Done, rows));
    assert!(weights(&bench) == trained);
    assert!(bench.run(0).join("scores.json").exists());
}

#[test]
fn two_at_once_share_the_runs() {
    let whole = undisturbed();
    let bench = Bench::new(RUNS, &[LENGTH]);
    let both = [(); 2].map(|()| bench.start(&["--jobs", "1"]));
    let mut finished = 0;
    for study in both {
        let output = study.wait_with_output().unwrap();
        check(&output, &[]);
        let summary = String::from_utf8(output.stdout).unwrap();
        assert!(summary.contains(&format!("done            {RUNS}\n")), "{summary}");
        let here = summary.lines().find_map(|line| line.strip_prefix("finished now")).unwrap_or("0");
        finished += here.trim().parse::<usize>().unwrap();
    }
    assert_eq!(finished, RUNS);
    for number in 0..RUNS {
        // Begun once, and never again.
        assert_eq!(bench.text(number, "run.log").matches("training from step").count(), 1);
    }
    assert_same_studies(&whole, &bench);
}

#[test]
fn signals_save_what_is_at_work_and_the_same_command_goes_on() {
    let long = "training={ batch_size = 8, steps = 400, log_every = 7, checkpoint_every = 150 }";
    let whole = Bench::new(2, &[long]);
    whole.succeed(&[], &[]);
    for (name, code) in [("INT", 130), ("TERM", 143), ("USR1", 143)] {
        let bench = Bench::new(2, &[long]);
        let study = bench.start(&["--jobs", "2"]);
        wait_until("both runs are at work", || (0..2).all(|n| !bench.text(n, "metrics.jsonl").is_empty()));
        // To all of its processes, as a terminal and a scheduler do.
        signal(name, &format!("-{}", study.id()));
        let output = study.wait_with_output().unwrap();
        let done = &bench.status()["counts"]["done"];
        let signal = if name == "USR1" { "TERM" } else { name };
        let message = format!(
            "error: interrupted by SIG{signal}; {done} of 2 runs are done, and those in progress are saved\n\
             hint: the same command resumes"
        );
        check_last_failure(&output, bench.bench.directory.path(), code, &message);
        let statuses = (0..2).filter_map(|number| Status::read(&bench.run(number).join("status.json")));
        let interrupted: Vec<Status> = statuses.filter(|status| status.state == State::Interrupted).collect();
        assert!(!interrupted.is_empty(), "no run was at work any more");
        for Status { error, step, .. } in interrupted {
            // A run hears of it by the signal and from the study, whose word is as good as a SIGTERM.
            let errors = [signal, "TERM"].map(|name| format!("interrupted by SIG{name} after step {step}"));
            assert!(errors.contains(&error.clone().unwrap()), "{error:?}");
        }
        assert!(bench.rows() < whole.rows());
        assert_eq!(bench.leases(), [""; 0]);
        bench.succeed(&[], &[]);
        assert_same_studies(&whole, &bench);
    }
}

#[test]
fn a_second_signal_ends_at_once() {
    // Long steps, so that nobody is done with one when the second signal comes; and if so, nothing is wrong.
    let slow = "training={ batch_size = 1000, steps = 100, log_every = 1 }";
    let bench = Bench::new(1, &[slow, "data.positions=16", "model.architecture=conv"]);
    let mut study = bench.start(&[]);
    wait_until("the run is at work", || {
        assert!(study.try_wait().unwrap().is_none(), "{}", bench.text(0, "status.json"));
        bench.text(0, "status.json").contains("running")
    });
    let workers = children(study.id());
    // Signals that come between two looks count as one.
    wait_until("the study has ended", || {
        signal("TERM", &study.id().to_string());
        std::thread::sleep(Duration::from_millis(100));
        study.try_wait().unwrap().is_some()
    });
    assert_eq!(study.wait().unwrap().code(), Some(143));
    assert!(!workers.iter().any(|pid| is_alive(*pid)));
    assert_eq!((bench.leases(), bench.status()["counts"]["interrupted"].as_u64()), (Vec::new(), Some(1)));
}
