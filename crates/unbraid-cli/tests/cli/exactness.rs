//! The same seed gives the same bytes: twice, on any number of threads, and whether or not the run was interrupted.

#[cfg(target_os = "linux")]
use crate::support::Disk;
use crate::support::{Bench, assert_same, check_failure, checkpoints, metrics, skip};
use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use unbraid::Device;
use unbraid::config::Source;
use unbraid::data::progress::Silent;
use unbraid::model::{read_state, write_state};
use unbraid::run::{State, Status};
use unbraid::train::Trainer;

#[test]
fn a_run_can_be_repeated_on_any_number_of_threads_and_from_its_own_configuration() {
    let bench = Bench::new();
    bench.train("one", &["--threads", "1"]).assert().success();
    bench.train("two", &["--threads", "2"]).assert().success();
    bench.train("three", &["--threads", "3"]).assert().success();
    bench.succeed(&["train", "--quiet", "--config", "one/config.toml", "--out", "again"], &[]);
    for other in ["two", "three", "again"] {
        assert_same(&bench.path("one"), &bench.path(other));
    }
    // 60 steps: rows at 7, 14, ..., 56 and the last; checkpoints at 20, 40 and 60.
    assert_eq!(metrics(&bench.path("one")).len(), 9);
    let names: Vec<_> = checkpoints(&bench.path("one")).into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        [
            "last.safetensors",
            "optimizer-0000060.safetensors",
            "step-0000020.safetensors",
            "step-0000040.safetensors",
            "step-0000060.safetensors"
        ]
    );
    bench.train("seed", &["--set", "seed=6"]).assert().success();
    assert_ne!(metrics(&bench.path("one")), metrics(&bench.path("seed")));
}

#[test]
fn every_kind_of_network_gives_the_same_bits_on_one_and_two_threads() {
    let bench = Bench::new();
    for (place, sets) in [
        &["model.architecture=conv", "optimizer.amsgrad=true"][..],
        &["model.architecture=dcgan", "model.likelihood={ name = \"laplace\", scale = 0.1 }"],
        &["model.architecture=dlib", "model.likelihood={ name = \"gaussian\", scale = \"learned\" }"],
        &["model.architecture=dupont-64", "model.latents={ continuous = 2, categorical = [3, 2] }"],
        &["model.architecture={ name = \"mlp\", encoder = [300], decoder = [300], decoder_activation = \"tanh\" }"],
    ]
    .iter()
    .enumerate()
    {
        let runs = ["1", "2"].map(|threads| {
            let out = format!("{place}-{threads}");
            let mut more = vec!["--threads", threads, "--set", "training.steps=5", "--set", "training.batch_size=48"];
            sets.iter().for_each(|set| more.extend(["--set", set]));
            bench.train(&out, &more).assert().success();
            bench.path(&out)
        });
        assert_same(&runs[0], &runs[1]);
    }
}

/// Starts a long run and waits until it has logged `rows` rows.
fn start(bench: &Bench, out: &str, rows: usize, more: &[&str]) -> Child {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("unbraid"))
        .current_dir(bench.directory.path())
        .args(["train", "--config", "tiny.toml", "--quiet", "--out", out])
        .args(more)
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let log = bench.path(out).join("metrics.jsonl");
    let deadline = Instant::now() + Duration::from_secs(60);
    while fs::read_to_string(&log).map_or(0, |text| text.lines().count()) < rows {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before it could be interrupted");
        assert!(Instant::now() < deadline, "no {rows} rows within a minute");
        std::thread::sleep(Duration::from_millis(2));
    }
    child
}

/// Long enough to be interrupted.
pub(crate) const LONG: [&str; 2] = ["--set", "training.steps=1000"];

pub(crate) fn resume(bench: &Bench, out: &str) {
    bench.succeed(&["train", "--quiet", "--resume", "--out", out], &[]);
}

#[test]
fn a_killed_run_ends_with_the_same_bytes_as_one_that_was_not() {
    let bench = Bench::new();
    bench.train("whole", &LONG).assert().success();
    // Wherever the processes happen to be: before the first checkpoint, and twice later on.
    for (out, kills) in [("early", &[1][..]), ("twice", &[8, 25])] {
        for (place, rows) in kills.iter().enumerate() {
            let resuming: &[&str] = if place == 0 { &[] } else { &["--resume"] };
            let mut child = start(&bench, out, *rows, &[&LONG, resuming].concat());
            child.kill().unwrap();
            child.wait().unwrap();
        }
        resume(&bench, out);
        assert_same(&bench.path("whole"), &bench.path(out));
    }
}

/// Whether a process that is started here stops on SIGHUP: the lowest bit of the mask of ignored signals is not set.
#[cfg(unix)]
fn heeds_hang_ups() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.is_some_and(|mask| mask.trim().ends_with(['0', '2', '4', '6', '8', 'a', 'c', 'e']))
}

#[cfg(unix)]
#[test]
fn signals_write_a_checkpoint_and_say_how_to_go_on() {
    let bench = Bench::new();
    bench.train("whole", &LONG).assert().success();
    for (signal, named, code, out) in [
        ("TERM", "TERM", 143, "terminated"),
        ("INT", "INT", 130, "interrupted"),
        ("HUP", "TERM", 143, "hung-up"),
    ] {
        if signal == "HUP" && !heeds_hang_ups() {
            skip("SIGHUP is ignored here, as under nohup, or the system does not tell");
            continue;
        }
        let child = start(&bench, out, 2, &LONG);
        let sent =
            Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let output = child.wait_with_output().unwrap();
        let status = Status::read(&bench.path(out).join("status.json")).unwrap();
        let step = status.step;
        let message = format!(
            "error: interrupted by SIG{named} after step {step}; a checkpoint is written\n\
             hint: unbraid train --resume --out {out} continues"
        );
        check_failure(&output, bench.directory.path(), code, &message);
        let error = format!("interrupted by SIG{named} after step {step}");
        assert_eq!((status.state, status.error), (State::Interrupted, Some(error)));
        resume(&bench, out);
        assert_same(&bench.path("whole"), &bench.path(out));
    }
}

/// Steps of half a second and more, so that the second signal finds the process still busy with the step in which the
/// first one came. That fails if the step ends just between the two, which can hardly happen three times in a row.
#[cfg(unix)]
#[test]
fn a_second_interrupt_ends_at_once() {
    let bench = Bench::new();
    let slow = [
        "--set",
        "data=shapes(positions=16)",
        "--set",
        "model.architecture=conv",
        "--set",
        "training={ steps = 100, batch_size = 1000, log_every = 1 }",
    ];
    let at_once = (0..3).any(|attempt| {
        let child = start(&bench, &format!("attempt-{attempt}"), 1, &slow);
        for _ in 0..2 {
            Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
            std::thread::sleep(Duration::from_millis(20));
        }
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130));
        !String::from_utf8_lossy(&output.stderr).contains("checkpoint")
    });
    assert!(at_once, "every attempt ended with a checkpoint, as after a single interrupt");
}

/// All objectives, with schedules and with what their terms keep from step to step.
const OBJECTIVES: [&str; 27] = [
    "{ name = \"autoencoder\" }",
    "{ name = \"vae\" }",
    "{ name = \"beta-vae\", beta = { from = 0.0, to = 4.0, start = 2, end = 8 } }",
    "{ name = \"annealed-vae\", gamma = 10, capacity = { from = 0, to = 5, end = 10 } }",
    "{ name = \"beta-tcvae\", beta = 6 }",
    "{ name = \"beta-tcvae\", beta = { from = 1, to = 6, end = 20 }, estimator = \"mws\", kl = \"analytic\" }",
    "{ name = \"dip-vae-i\", lambda_od = 5, lambda_d = 50, running_decay = 0.9 }",
    "{ name = \"dip-vae-ii\", lambda_od = 5, lambda_d = 5, lambda_3 = 200 }",
    "{ name = \"decomposition\", alpha = 10, beta = 1 }",
    "{ name = \"decomposition\", alpha = 10, beta = 1, divergence = \"inclusive-kl\" }",
    "{ name = \"decomposition\", alpha = 10, beta = 1, divergence = \"moments\" }",
    "{ name = \"info-vae\", alpha = 0.5, lambda = 10, mmd = { kernel = \"rbf\", per_unit = true } }",
    "{ name = \"wae-mmd\", lambda = 10 }",
    "{ name = \"factor-vae\", gamma = 10, discriminator = { width = 20 } }",
    "{ name = \"factor-vae\", gamma = 10, discriminator_batch = \"same\", discriminator = { width = 20 } }",
    "{ name = \"joint-vae\", gamma_continuous = 10, capacity_continuous = { from = 0, to = 5, end = 9 }, \
     gamma_categorical = 10, capacity_categorical = 1 }",
    "{ name = \"wae-gan\", lambda = 10, discriminator = { width = 20 } }",
    "{ name = \"aae\", discriminator = { width = 20 } }",
    "{ name = \"iwae\", samples = 3 }",
    "{ name = \"max-entropy\", beta = 3, samples = 2 }",
    "{ name = \"aae\", kl = 1, generator_loss = \"minimax\", discriminator = { width = 20 } }",
    "{ name = \"decomposition\", alpha = 1, beta = 1, divergence = \"exclusive-kl\" }",
    "{ name = \"decomposition\", alpha = 1, beta = 1, divergence = \"sliced-wasserstein\" }",
    "{ name = \"decomposition\", alpha = 0.1, beta = 1, divergence = { name = \"f-divergence\", divergence = \
     \"jensen-shannon\", discriminator = { width = 20 } } }",
    "{ name = \"decomposition\", alpha = 0.1, beta = 1, divergence = { name = \"random-mixture\", divergence = \"kl\" } }",
    "{ name = \"avb\", discriminator = { width = 20, features = 8, updates = 2 } }",
    "{ name = \"composed\", terms = [{ name = \"kl\", weight = { from = 0, to = 2, end = 6 } }, { name = \"mmd\", weight = \
     10 }, { name = \"discriminated-total-correlation\", weight = 5, discriminator = { width = 20 } }, { name = \
     \"adversarial\", discriminator = { width = 12 } }], samples = 2 }",
];

/// Posteriors other than the diagonal one, with an objective for each.
const POSTERIORS: &[(&str, &str)] = &[
    ("full-covariance", "{ name = \"beta-vae\", beta = 2, samples = 2 }"),
    ("{ name = \"iaf\", hidden = [8], context = 4 }", "{ name = \"iwae\", samples = 2 }"),
    (
        "{ name = \"implicit\", noise = 4, hidden = [8] }",
        "{ name = \"avb\", adaptive_contrast = true, discriminator = { width = 20, features = 8, samples = 4 } }",
    ),
    (
        "{ name = \"implicit\", noise = 4, hidden = [8] }",
        "{ name = \"wae-gan\", lambda = 10, encoder = \"gaussian\", discriminator = { width = 20 } }",
    ),
];

#[test]
fn every_objective_is_resumed_exactly_on_any_number_of_threads() {
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let (one, two) = (pool(1), pool(2));
    let bench = Bench::new();
    let diagonal = OBJECTIVES.iter().map(|objective| ("diagonal", *objective));
    for (place, (posterior, objective)) in diagonal.chain(POSTERIORS.iter().copied()).enumerate() {
        let mut assignments = vec![format!("objective={objective}"), format!("model.posterior={posterior}")];
        if objective.contains("joint-vae") {
            assignments.push("model.latents.categorical=[3]".to_owned());
        }
        let file = Some(bench.path("tiny.toml"));
        let config = Source { file, assignments, ..Source::default() }.resolve().unwrap();
        let data = unbraid::data::open(&config.data, &Silent).unwrap();
        let fresh = || Trainer::new(&config, data.as_ref(), &Device::cpu()).unwrap();
        let advance = |trainer: &mut Trainer<'_>, steps: usize| {
            for _ in 0..steps {
                trainer.advance().unwrap();
            }
        };
        let mut whole = fresh();
        one.install(|| advance(&mut whole, 9));

        let mut before = fresh();
        two.install(|| advance(&mut before, 4));
        // Through the bytes of the files, as a resumed run gets them.
        let saved = [before.weights(), before.state()].map(|state| {
            let file = tempfile::NamedTempFile::new().unwrap();
            fs::write(file.path(), write_state(&state, "").unwrap()).unwrap();
            read_state(file.path()).unwrap().0
        });
        let [weights, state] = saved;
        let mut after = fresh();
        after.restore(4, weights, state).unwrap();
        two.install(|| advance(&mut after, 5));
        let bytes = |trainer: &Trainer<'_>| {
            [trainer.weights(), trainer.state()].map(|state| write_state(&state, "").unwrap())
        };
        assert!(bytes(&whole) == bytes(&after), "{place}: {objective}");
    }
}

#[test]
fn epochs_are_resumed_exactly_too() {
    let bench = Bench::new();
    // 3 shapes x 2 scales x 2 orientations x 4 x 4 positions = 192 images; 8 epochs of 24 batches.
    let epochs = ["--set", "training.epochs=8"];
    bench.train("whole", &epochs).assert().success();
    let text = fs::read_to_string(bench.path("whole/status.json")).unwrap();
    assert!(text.contains("\"step\": 192"), "{text}");
    let mut child = start(&bench, "killed", 5, &epochs);
    child.kill().unwrap();
    child.wait().unwrap();
    resume(&bench, "killed");
    assert_same(&bench.path("whole"), &bench.path("killed"));
}

#[test]
fn priors_that_learn_are_resumed_exactly_too() {
    let bench = Bench::new();
    let prior =
        "model.prior={ name = \"anisotropic\", variances = \"principal-components\", learned = true }";
    let learned = [&LONG[..], &["--set", prior]].concat();
    bench.train("whole", &learned).assert().success();
    let mut child = start(&bench, "killed", 9, &learned);
    child.kill().unwrap();
    child.wait().unwrap();
    resume(&bench, "killed");
    assert_same(&bench.path("whole"), &bench.path("killed"));

    // The prior's own tensor is among the weights, has moved, and keeps the sum of the variances at one for each unit.
    let read = |name: &str| {
        let (state, _) = read_state(&bench.path("whole/checkpoints").join(name)).unwrap();
        let tensor = state.into_iter().find(|tensor| tensor.name == "prior.log_variance").unwrap();
        let exponentials: Vec<f64> =
            tensor.values.as_floats().iter().map(|value| f64::from(*value).exp()).collect();
        let sum: f64 = exponentials.iter().sum();
        exponentials.into_iter().map(|value| 3.0 * value / sum).collect::<Vec<_>>()
    };
    let (early, late) = (read("step-0000960.safetensors"), read("last.safetensors"));
    assert_ne!(early, late);
    assert!(late.iter().all(|variance| *variance > 0.0), "{late:?}");
}

#[test]
fn a_prior_from_data_without_so_many_components_is_refused() {
    let bench = Bench::new();
    let prior = "model.prior={ name = \"anisotropic\", variances = \"principal-components\" }";
    let output = bench
        .unbraid(&[
            "train",
            "--quiet",
            "--out",
            "run",
            "--set",
            "data=pinwheel",
            "--set",
            "training.batch_size=8",
            "--set",
            "model.latents.continuous=10",
        ])
        .args([
            "--set",
            "model.architecture={ name = \"mlp\", encoder = [4], decoder = [4] }",
            "--set",
            prior,
        ])
        .output()
        .unwrap();
    let message = "error: model.prior.variances: found data that varies in only 2 directions, expected at least 10, the \
                   number that the prior takes variances from";
    check_failure(&output, bench.directory.path(), 2, message);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_last_checkpoint_whole() {
    let bench = Bench::new();
    // Large enough for some checkpoints of this network, not for all of them and their logs.
    let Some(disk) = Disk::mount(bench.path("disk"), "400k") else { return };
    let keep = ["--set", "training.keep_checkpoints=100", "--set", "training.checkpoint_every=3"];
    let output = bench.train("disk/run", &[&LONG[..], &keep].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    // Any of its files may be the one that does not fit.
    let message = String::from_utf8(output.stderr).unwrap();
    let file = message.strip_prefix("error: cannot write disk/run/");
    let file = file.and_then(|rest| rest.strip_suffix(": No space left on device (os error 28)\n"));
    assert!(file.is_some_and(|file| bench.path("disk/run").join(file).exists()), "{message}");
    let names: Vec<_> = checkpoints(&bench.path("disk/run")).into_iter().map(|(name, _)| name).collect();
    assert!(names.contains(&"last.safetensors".to_owned()), "{names:?}");
    assert!(names.iter().all(|name| !name.contains("partial")), "{names:?}");
    // With more room, the run goes on from there to the same end.
    disk.remount("size=200m");
    resume(&bench, "disk/run");
    bench.train("whole", &[&LONG[..], &keep].concat()).assert().success();
    assert_same(&bench.path("whole"), &bench.path("disk/run"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_read_only_disk_is_reported_and_nothing_is_lost() {
    let bench = Bench::new();
    let Some(disk) = Disk::mount(bench.path("disk"), "50m") else { return };
    let mut child = start(&bench, "disk/run", 4, &LONG);
    child.kill().unwrap();
    child.wait().unwrap();
    let before = checkpoints(&bench.path("disk/run"));
    disk.remount("ro");
    bench.refuse(
        &["train", "--quiet", "--resume", "--out", "disk/run"],
        "error: disk/run/.lock: cannot create it: Read-only file system (os error 30)",
    );
    assert!(checkpoints(&bench.path("disk/run")) == before);
    disk.remount("rw");
    resume(&bench, "disk/run");
    bench.train("whole", &LONG).assert().success();
    assert_same(&bench.path("whole"), &bench.path("disk/run"));
}
