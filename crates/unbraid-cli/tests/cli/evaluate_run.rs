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
    crate::support::check(&output, 0, &[]);
    serde_json::from_slice(&output.stdout).unwrap()
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn scores_and_codes_are_written_beside_the_run() {
    let bench = Bench::new();
    bench.train("run", &["--set", "evaluation.metrics=[\"mig\", \"dci\"]"]).assert().success();
    // The configuration says which metrics.
    let printed = evaluated(&bench, "run", &["--samples", "300"]);
    assert!(printed["mig"].is_number() && printed["dci_completeness"].is_number());
    assert!(printed.get("sap").is_none());

    let output =
        bench.unbraid(&["evaluate", "run", "--samples", "300", "--metrics", "mig,hoyer,kl"]).output();
    let message =
        crate::support::check(&output.unwrap(), 0, &["replacing the earlier scores (step 60, seed 0, mean)"]);
    assert!(message.contains("images encoded in"), "{message}");
    let scores = json(&bench.path("run/scores.json"));
    let about = &scores["evaluation"];
    assert_eq!((&about["step"], &about["seed"]), (&60.into(), &0.into()));
    assert_eq!((&about["train_points"], &about["test_points"]), (&300.into(), &150.into()));
    assert_eq!(about["data_sha256"], json(&bench.path("run/meta.json"))["data_sha256"]);
    // 300 and 150 draws from 192 images leave about a tenth of them out.
    assert!(about["images_encoded"].as_u64().unwrap() < 192, "{about}");
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
    let images: Vec<usize> = (0..300).map(image).collect();
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
    assert_eq!(on(&["--threads", "3"]), one);
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
    let named = ["evaluate", "run", "--representation", "sample", "--metrics", "kl"];
    bench.expect(&named, 2, &["`kl` needs log-variances"]);
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
            bench.expect(&["evaluate", name, "--metrics", "mig"], 2, &[name, "`mig` needs factors"]);
        }
    }
}

#[test]
fn wrong_requests_are_refused_and_change_nothing() {
    let bench = Bench::new();
    bench.train("run", &["--set", "training.steps=2"]).assert().success();
    bench.expect(&["evaluate"], 2, &["RUN"]);
    bench.expect(&["evaluate", "run", "--codes", "x.npz"], 2, &["cannot be used with"]);
    bench.expect(&["evaluate", "--codes", "x.npz", "--samples", "9"], 2, &["cannot be used with"]);
    bench.expect(&["evaluate", "none"], 2, &["none: not a run"]);
    bench.expect(&["evaluate", "run", "--metrics", "mgi"], 2, &["did you mean `mig`?"]);
    bench.expect(&["evaluate", "run", "--samples", "3"], 2, &["--samples: found 3, expected at least 4"]);
    bench.expect(&["evaluate", "run", "--step", "1"], 2, &["no such checkpoint"]);
    bench.expect(
        &["evaluate", "run", "--metrics", "cluster_accuracy"],
        2,
        &["categories of a categorical unit"],
    );
    assert!(!bench.path("run/scores.json").exists() && !bench.path("run/codes.npz").exists());

    for (file, content) in [("scores.json", "{\"mine\": 1}"), ("codes.npz", "not ours")] {
        let path = bench.path("run").join(file);
        fs::write(&path, content).unwrap();
        bench.expect(&["evaluate", "run", "--metrics", "mig"], 2, &[file, "did not write"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
        fs::remove_file(&path).unwrap();
    }
    // Somebody else's codes under the same name are not ours either.
    let mut npz = NpzWriter::new(fs::File::create(bench.path("run/codes.npz")).unwrap());
    npz.floats("codes", &[2, 1], [0.0, 1.0].into_iter()).unwrap();
    npz.finish().unwrap();
    bench.expect(&["evaluate", "run", "--metrics", "mig"], 2, &["codes.npz", "did not write"]);
    fs::remove_file(bench.path("run/codes.npz")).unwrap();

    let meta = fs::read_to_string(bench.path("run/meta.json")).unwrap();
    let hash = json(&bench.path("run/meta.json"))["data_sha256"].as_str().unwrap().to_owned();
    fs::write(bench.path("run/meta.json"), meta.replace(&hash, &"0".repeat(64))).unwrap();
    bench.expect(&["evaluate", "run", "--metrics", "mig"], 2, &["the data has changed", &hash]);
    fs::write(bench.path("run/meta.json"), meta).unwrap();

    // A run that starts again takes its scores with it.
    bench.expect(&["evaluate", "run", "--samples", "100", "--metrics", "mig"], 0, &[]);
    bench.train("run", &["--set", "training.steps=2", "--overwrite"]).assert().success();
    assert!(!bench.path("run/scores.json").exists() && !bench.path("run/codes.npz").exists());
}
