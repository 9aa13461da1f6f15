//! `unbraid evaluate RUN`: what it writes, that looking codes up changes nothing, and wrong requests.

use crate::support::Bench;
use ndarray::Array4;
use serde_json::Value;
use std::fs;
use std::path::Path;
use unbraid::Run;
use unbraid::data::formats::npz_writer::NpzWriter;
use unbraid::data::progress::Silent;
use unbraid::data::random::Stream;
use unbraid::data::{DataSet, open};
use unbraid::evaluate::{DataSampler, Encoded, Lookup, Representation, codes_file};
use unbraid::metrics::scores::{BetaVaeParameters, FactorVaeParameters, beta_vae_score, factor_vae_score};

/// Small enough for seconds, with every kind of score but the slowest.
const FEW: [&str; 4] = ["--samples", "300", "--metrics", "beta_vae_score,factor_vae_score,mig,sap,kl,hoyer"];

fn evaluated(bench: &Bench, run: &str, more: &[&str]) -> Value {
    let output = bench.unbraid(&["evaluate", run, "--format", "json"]).args(more).output().unwrap();
    crate::support::check(&output, &[]);
    serde_json::from_slice(&output.stdout).unwrap()
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Scores that are only printed again leave the page as new as it was.
#[test]
fn a_page_is_called_old_only_if_scores_are_newer() {
    let bench = Bench::new();
    bench.train("run", &[]).assert().success();
    let notes = |metrics: &str| {
        let command = ["evaluate", "run", "--samples", "300", "--metrics", metrics];
        crate::support::check(&bench.unbraid(&command).output().unwrap(), &[])
    };
    let old = "older than these scores";
    assert!(!notes("mig").contains(old), "there is no page yet");
    fs::write(bench.path("run/report.html"), "").unwrap();
    let again = notes("mig");
    assert!(again.contains("0 computed") && !again.contains(old), "{again}");
    let more = notes("mig,hoyer");
    assert!(more.contains("1 computed") && more.contains(old), "{more}");
}

#[test]
fn scores_and_codes_are_written_beside_the_run() {
    let bench = Bench::new();
    bench.train("run", &["--set", "evaluation.metrics=[\"mig\", \"dci\"]"]).assert().success();
    // The configuration says which metrics.
    let printed = evaluated(&bench, "run", &["--samples", "300"]);
    assert!(printed["mig"].is_number() && printed["dci_completeness"].is_number());
    assert!(printed.get("sap").is_none());

    let command = ["evaluate", "run", "--samples", "300", "--metrics", "mig,hoyer,kl", "--recompute"];
    let output = bench.unbraid(&command).output();
    let message =
        crate::support::check(&output.unwrap(), &["replacing the earlier scores (step 60, seed 0, mean)"]);
    assert!(message.contains("images encoded in"), "{message}");
    let scores = json(&bench.path("run/scores.json"));
    let about = &scores["evaluation"];
    assert_eq!((&about["step"], &about["seed"]), (&60.into(), &0.into()));
    // There are 192 images, fewer than twenty for each point: training and test points share none.
    assert_eq!((&about["train_points"], &about["test_points"]), (&128.into(), &64.into()));
    assert_eq!((&about["train_images"], &about["test_images"]), (&128.into(), &64.into()));
    assert_eq!(about["data_sha256"], json(&bench.path("run/meta.json"))["data_sha256"]);
    assert_eq!(about["images_encoded"], 192);
    let mig = &scores["scores"]["mig"];
    assert_eq!((&mig["value"], &mig["parts"]["mig"]), (&printed["mig"], &printed["mig"]));
    assert_eq!(mig["parameters"]["bins"], 20);
    assert!(mig["seconds"].is_number() && mig["details"]["mutual_information"].is_array());
    assert_eq!(scores["scores"].as_object().unwrap().len(), 3);

    // The codes are those of the images with these factors, and give the same scores as any other codes file.
    let codes = codes_file::read(&bench.path("run/codes.npz")).unwrap();
    assert_eq!(codes.factor_names(), ["shape", "scale", "orientation", "x", "y"]);
    let run = Run::open(bench.path("run")).unwrap();
    let data = open(&run.config().data, &Silent).unwrap();
    let image = |row: usize| {
        let factors: Vec<u32> = codes.factors_train().row(row).iter().map(|&value| value as u32).collect();
        data.index_of(&factors).unwrap()
    };
    let images: Vec<usize> = (0..128).map(image).collect();
    let posteriors = run.encode_data(data.as_ref(), &images, Stream::new(9, "unused"), &Silent).unwrap();
    assert_eq!(posteriors.mean.mapv(f64::from), codes.codes_train());
    assert_eq!(posteriors.log_variance.mapv(f64::from), codes.log_variance_train().unwrap());
    let file = bench.path("run/codes.npz");
    let output = bench.unbraid(&["evaluate", "--codes", file.to_str().unwrap(), "--format", "json"]).output();
    let again: Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    for key in ["mig", "hoyer", "kl"] {
        assert_eq!(again[key], scores["scores"][key]["value"], "{key}");
    }
}

#[test]
fn threads_change_nothing_and_seeds_do() {
    let bench = Bench::new();
    bench.train("run", &["--set", "training.steps=2"]).assert().success();
    let on = |more: &[&str]| evaluated(&bench, "run", &[&FEW[..], more].concat());
    let one = on(&["--threads", "1"]);
    let codes = fs::read(bench.path("run/codes.npz")).unwrap();
    assert_eq!(on(&["--threads", "3", "--recompute"]), one);
    assert_eq!(fs::read(bench.path("run/codes.npz")).unwrap(), codes);
    assert_ne!(on(&["--seed", "1"])["mig"], one["mig"]);
}

/// Encodes whenever it is asked, as if there were no table.
struct OnDemand<'a> {
    run: &'a Run,
    data: &'a dyn DataSet,
    settings: (Representation, u64),
}

impl Lookup for OnDemand<'_> {
    fn units(&self) -> usize {
        self.run.units()
    }

    fn look_up(&self, images: &[usize], codes: &mut [f64]) {
        let mut wanted = images.to_vec();
        wanted.sort_unstable();
        wanted.dedup();
        let encoded = Encoded::new(self.run, self.data, Some(wanted), self.settings, &Silent).unwrap();
        let found = encoded.codes_of(images);
        codes.iter_mut().zip(&found).for_each(|(code, &found)| *code = f64::from(found));
    }
}

#[test]
fn interventional_scores_are_the_same_with_and_without_the_table() {
    let bench = Bench::new();
    for (out, option, representation) in [
        ("means", "data.scales=2", Representation::Mean),
        ("samples", "data.scales=2", Representation::Sample),
        // A part of a grid, drawn from by groups, and images with noise of their own.
        ("part", "data.split=train", Representation::Mean),
        ("noisy", "data.variant=noisy", Representation::Mean),
    ] {
        bench.train(out, &["--set", option, "--set", "training.steps=2"]).assert().success();
        let run = Run::open(bench.path(out)).unwrap();
        let data = open(&run.config().data, &Silent).unwrap();
        assert_eq!(data.is_full_grid(), out != "part");
        let settings = (representation, 4);
        let encoded = Encoded::new(&run, data.as_ref(), None, settings, &Silent).unwrap();
        let on_demand = OnDemand { run: &run, data: data.as_ref(), settings };
        let looked_up = DataSampler::new(data.as_ref(), &encoded).unwrap();
        let computed = DataSampler::new(data.as_ref(), &on_demand).unwrap();
        let beta =
            BetaVaeParameters { batch_size: 8, train_points: 40, test_points: 20, ..Default::default() };
        let factor = FactorVaeParameters {
            batch_size: 8,
            train_points: 40,
            test_points: 20,
            variance_points: 100,
            prune_below: 0.0,
            ..Default::default()
        };
        assert_eq!(beta_vae_score(&looked_up, &beta).unwrap(), beta_vae_score(&computed, &beta).unwrap());
        assert_eq!(
            factor_vae_score(&looked_up, &factor).unwrap(),
            factor_vae_score(&computed, &factor).unwrap()
        );
        let images = [5, 150, 5, 0];
        let mut codes = vec![0.0; 4 * run.units()];
        on_demand.look_up(&images, &mut codes);
        assert_eq!(encoded.codes_of(&images).mapv(f64::from).as_slice().unwrap(), codes);
    }
}

/// z = mu + sigma * noise: over many images the noise has mean 0 and variance 1, whatever the network.
#[test]
fn samples_spread_as_the_posteriors_say() {
    let bench = Bench::new();
    bench.train("run", &["--set", "training.steps=2", "--set", "data.orientations=40"]).assert().success();
    let run = Run::open(bench.path("run")).unwrap();
    let data = open(&run.config().data, &Silent).unwrap();
    let all: Vec<usize> = (0..data.len()).collect();
    let encode =
        |representation| Encoded::new(&run, data.as_ref(), None, (representation, 0), &Silent).unwrap();
    let (means, samples) = (encode(Representation::Mean), encode(Representation::Sample));
    let deviations = means.log_variances_of(&all).mapv(|log_variance| (0.5 * f64::from(log_variance)).exp());
    let noise = (samples.codes_of(&all) - means.codes_of(&all)).mapv(f64::from) / deviations;
    // 11,520 standard normal values: deviations of 0.0093 and 0.0132 for mean and variance; five of each.
    assert_eq!(noise.len(), 3840 * 3);
    assert!(noise.mean().unwrap().abs() < 0.047 && (noise.var(0.0) - 1.0).abs() < 0.066);

    let printed =
        evaluated(&bench, "run", &["--samples", "300", "--representation", "sample", "--metrics", "mig"]);
    assert!(printed["mig"].is_number());
    assert_eq!(json(&bench.path("run/scores.json"))["evaluation"]["representation"], "sample");
    bench.refuse(
        &["evaluate", "run", "--representation", "sample", "--metrics", "kl", "--quiet"],
        "error: run: metric `kl` needs log-variances of the posteriors, which the codes do not have",
    );
}

/// Images as the data set `npz`, with or without factors.
fn write_images(path: &Path, factors: Option<fn(i64) -> i64>) {
    let images = Array4::from_shape_fn((90, 16, 16, 1), |(image, row, column, _)| {
        f64::from(u8::from((image + row * column) % 7 < 3))
    });
    let mut npz = NpzWriter::new(fs::File::create(path).unwrap());
    npz.floats("images", &[90, 16, 16, 1], images.into_iter()).unwrap();
    if let Some(factor) = factors {
        npz.integers("factors", &[90, 1], (0..90).map(factor)).unwrap();
    }
    npz.finish().unwrap();
}

#[test]
fn data_gets_the_scores_that_apply_to_it() {
    let bench = Bench::new();
    let unsupervised = [
        "gaussian_total_correlation",
        "gaussian_wasserstein_correlation",
        "mutual_info_score",
        "hoyer",
        "kl",
    ];
    for (name, factors, supervised) in [
        ("none", None, false),
        ("constant", Some((|_| 0) as fn(i64) -> i64), false),
        ("labels", Some((|image| image % 3) as fn(i64) -> i64), true),
    ] {
        let file = bench.path(&format!("{name}.npz"));
        write_images(&file, factors);
        let data = format!("data={{ name = \"npz\", path = \"{}\" }}", file.display());
        let mlp = "model.architecture={ name = \"mlp\", encoder = [8], decoder = [8] }";
        bench.train(name, &["--set", &data, "--set", mlp, "--set", "training.steps=2"]).assert().success();
        let printed = evaluated(&bench, name, &[]);
        let scores = json(&bench.path(&format!("{name}/scores.json")));
        let names: Vec<&String> = scores["scores"].as_object().unwrap().keys().collect();
        assert_eq!(names.iter().any(|name| *name == "mig"), supervised, "{name}: {names:?}");
        assert!(unsupervised.iter().all(|metric| names.iter().any(|name| name == metric)), "{names:?}");
        assert_eq!(printed["mig"].is_number(), supervised);
        // Images are distinct: two thirds of the 90, and the rest for learners to be judged on.
        let codes = codes_file::read(&bench.path(&format!("{name}/codes.npz"))).unwrap();
        let tests = if supervised { 30 } else { 0 };
        assert_eq!((codes.codes_train().nrows(), codes.codes_test().nrows()), (60, tests), "{name}");
        if !supervised {
            bench.refuse(
                &["evaluate", name, "--metrics", "mig"],
                &format!("error: {name}: metric `mig` needs factors, which the codes do not have"),
            );
        }
    }
}

#[test]
fn wrong_requests_are_refused_and_change_nothing() {
    let bench = Bench::new();
    bench.train("run", &["--set", "training.steps=2"]).assert().success();
    let refused = |more: &[&str], message: &str| bench.refuse(&[&["evaluate"], more].concat(), message);
    refused(&[], "error: expected a run directory, --codes FILE.npz or --encoder FILE.onnx");
    // The data is for an encoder only, whatever else is scored.
    for (option, value) in [("--data", "nonsense"), ("--encoder-output", "mean"), ("--encoder-range", "0,1")]
    {
        let message = format!("error: {option}: found no --encoder, expected --encoder FILE.onnx with it");
        for scored in [&[][..], &["run"], &["--codes", "x.npz"]] {
            refused(&[scored, &[option, value]].concat(), &message);
        }
    }
    for names in ["", ",", " , "] {
        let message = "error: --metrics: found no name, expected some of those that `unbraid metrics` lists";
        refused(&["run", "--metrics", names], message);
    }
    for (option, value) in [("--seed", "-1"), ("--bootstrap", "-5"), ("--samples", "-3"), ("--step", "1.5")] {
        let message = format!("error: {option}: found {value}, expected a whole number, 0 or more");
        refused(&["run", option, value], &message);
    }
    refused(
        &["run", "--codes", "x.npz"],
        "error: the argument '[RUN]' cannot be used with '--codes <FILE.npz>'\n\n\
         Usage: unbraid evaluate <RUN>\n\nFor more information, try '--help'.",
    );
    refused(
        &["--codes", "x.npz", "--samples", "9"],
        "error: the argument '--codes <FILE.npz>' cannot be used with '--samples <N>'\n\n\
         Usage: unbraid evaluate --codes <FILE.npz> [RUN]\n\nFor more information, try '--help'.",
    );
    refused(&["none"], "error: none: not a run: no such directory");
    refused(&["run", "--metrics", "mgi"], "error: unknown metric `mgi`\nhint: did you mean `mig`?");
    for samples in ["3", "18446744073709551615"] {
        let message = format!("error: --samples: found {samples}, expected 4 to 100000000");
        refused(&["run", "--samples", samples], &message);
    }
    refused(
        &["run", "--bootstrap", "18446744073709551615"],
        "error: --bootstrap: found 18446744073709551615, expected at most 100000",
    );
    refused(
        &["run", "--step", "1"],
        "error: run/checkpoints/step-0000001.safetensors: no such checkpoint; the run kept only the last one",
    );
    refused(
        &["run", "--metrics", "cluster_accuracy"],
        "error: run: metric `cluster_accuracy` needs categories of a categorical unit, which the codes do not have",
    );
    assert!(!bench.path("run/scores.json").exists() && !bench.path("run/codes.npz").exists());

    let foreign = |file: &str| {
        let message = format!(
            "error: run/{file}: found a file that unbraid did not write, expected none or an earlier evaluation\n\
             hint: move it out of the way"
        );
        bench.refuse(&["evaluate", "run", "--metrics", "mig"], &message);
    };
    for (file, content) in [("scores.json", "{\"mine\": 1}"), ("codes.npz", "not ours")] {
        let path = bench.path("run").join(file);
        fs::write(&path, content).unwrap();
        foreign(file);
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
        fs::remove_file(&path).unwrap();
    }
    // Somebody else's codes under the same name are not ours either.
    let mut npz = NpzWriter::new(fs::File::create(bench.path("run/codes.npz")).unwrap());
    npz.floats("codes", &[2, 1], [0.0, 1.0].into_iter()).unwrap();
    npz.finish().unwrap();
    foreign("codes.npz");
    fs::remove_file(bench.path("run/codes.npz")).unwrap();

    let meta = fs::read_to_string(bench.path("run/meta.json")).unwrap();
    let hash = json(&bench.path("run/meta.json"))["data_sha256"].as_str().unwrap().to_owned();
    fs::write(bench.path("run/meta.json"), meta.replace(&hash, &"0".repeat(64))).unwrap();
    let zeros = "0".repeat(64);
    bench.refuse(
        &["evaluate", "run", "--metrics", "mig"],
        &format!(
            "error: run: the data has changed since the run was trained: found SHA-256 {hash}, expected {zeros}"
        ),
    );
    fs::write(bench.path("run/meta.json"), meta).unwrap();

    // A run that starts again takes its scores with it. There is no metric after the last comma.
    bench.succeed(&["evaluate", "run", "--samples", "100", "--metrics", "mig,"], &[]);
    bench.train("run", &["--set", "training.steps=2", "--overwrite"]).assert().success();
    assert!(!bench.path("run/scores.json").exists() && !bench.path("run/codes.npz").exists());
}
