//! Seconds for each score on the golden codes (10,000 train, 5,000 test, 10 units, dSprites factors), and for its level by
//! chance; beside scikit-learn on request, and the growth of the histogram scores with the number of points.
//!
//! ```text
//! cargo bench -p unbraid-metrics --bench scores -- [--json] [--model VAE|btcvae] [--metrics dci,sap] [--python PYTHON]
//! ```
//! `--python` runs `$UNBRAID_SHARED/bench/sklearn_scores.py` with that interpreter (it needs numpy and scikit-learn, and
//! about six minutes) and prints how many times longer it takes.

#[path = "../tests/common/mod.rs"]
#[allow(dead_code, clippy::unwrap_used, reason = "the tests use the rest, and fail by panicking")]
mod common;

use ndarray::Array2;
use rand::RngExt;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Instant;
use unbraid_metrics::scores::{
    HistogramParameters, gaussian_total_correlation, mig, modularity, mutual_info_score,
};
use unbraid_metrics::{Codes, Labelled, Options, Unlabelled, random, registry};

/// What scikit-learn's script calls the learner of a metric.
const LEARNERS: [(&str, &str); 3] =
    [("dci", "dci_gbt"), ("sap", "sap_svm"), ("explicitness", "explicitness_logistic")];

struct Arguments {
    json: bool,
    model: String,
    metrics: Vec<String>,
    python: Option<String>,
}

fn main() -> ExitCode {
    match arguments().and_then(|arguments| bench(&arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn arguments() -> Result<Arguments, String> {
    let mut parsed = Arguments { json: false, model: "btcvae".to_owned(), metrics: Vec::new(), python: None };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--json" => parsed.json = true,
            "--model" => parsed.model = value()?,
            "--metrics" => parsed.metrics = value()?.split(',').map(str::to_owned).collect(),
            "--python" => parsed.python = Some(value()?),
            // Cargo hands this to every benchmark.
            "--bench" => {}
            other => return Err(format!("unknown argument {other}")),
        }
    }
    Ok(parsed)
}

fn bench(arguments: &Arguments) -> Result<(), String> {
    let golden = common::load(&arguments.model);
    let codes = Codes::new(golden.codes_train, golden.factors_train, golden.codes_test, golden.factors_test)
        .and_then(|codes| codes.with_log_variances(golden.log_variance_train))
        .map_err(|error| error.to_string())?;
    let names: Vec<String> = if arguments.metrics.is_empty() {
        registry::applicable(&codes).iter().map(|metric| metric.name.clone()).collect()
    } else {
        arguments.metrics.clone()
    };
    let mut seconds: Vec<(String, f64)> = Vec::new();
    for name in &names {
        seconds.push((name.clone(), time_metric(name, &codes)?));
    }
    let sklearn =
        arguments.python.as_deref().map(|python| run_sklearn(python, &arguments.model)).transpose()?;
    if sklearn.is_some() {
        // Minutes have passed on a machine that may be shared: both sides of the ratio should have seen quiet times.
        for (name, best) in &mut seconds {
            *best = best.min(time_metric(name, &codes)?);
        }
    }
    let total: f64 = seconds.iter().map(|(_, seconds)| seconds).sum();
    let ratio = |name: &str, ours: f64| {
        let learner = LEARNERS.iter().find(|(metric, _)| *metric == name)?.1;
        let theirs = sklearn.as_ref()?[learner].as_f64()?;
        Some((theirs, theirs / ours))
    };
    let mut chance: Vec<f64> = Vec::new();
    for name in &names {
        chance.push(time_chance(name, &codes)?);
    }
    let total_chance: f64 = chance.iter().sum();
    let growth = growth();
    let threads = rayon::current_num_threads();
    if arguments.json {
        let scores: serde_json::Map<String, Value> = seconds
            .iter()
            .zip(&chance)
            .map(|((name, ours), chance)| {
                let mut entry = json!({ "seconds": ours, "chance_seconds": chance });
                if let Some((theirs, ratio)) = ratio(name, *ours) {
                    entry["scikit_learn_seconds"] = theirs.into();
                    entry["ratio"] = ratio.into();
                }
                (name.clone(), entry)
            })
            .collect();
        let growth: Vec<Value> =
            growth.iter().map(|(points, times)| json!({ "points": points, "seconds": times })).collect();
        println!(
            "{}",
            json!({ "model": arguments.model, "threads": threads, "scores": scores, "total_seconds": total,
                "total_chance_seconds": total_chance, "total_seconds_with_chance": total + total_chance,
                "histogram_growth": growth })
        );
        return Ok(());
    }
    println!("{} codes, {threads} threads\n", arguments.model);
    println!("{:<34} {:>9} {:>9} {:>13} {:>7}", "metric", "seconds", "chance", "scikit-learn", "ratio");
    for ((name, ours), chance) in seconds.iter().zip(&chance) {
        let beside = ratio(name, *ours)
            .map_or_else(String::new, |(theirs, ratio)| format!(" {theirs:>13.2} {ratio:>6.0}x"));
        println!("{name:<34} {ours:>9.4} {chance:>9.4}{beside}");
    }
    println!("{:<34} {total:>9.4} {total_chance:>9.4}", "all together");
    println!("{:<34} {:>9.4}\n", "with chance levels", total + total_chance);
    println!(
        "{:>9} {:>9} {:>11} {:>18} {:>9}   seconds, 10 units, 5 factors",
        "points", "mig", "modularity", "mutual_info_score", "gaussian"
    );
    for (points, times) in growth {
        println!("{points:>9} {:>9.4} {:>11.4} {:>18.4} {:>9.4}", times[0], times[1], times[2], times[3]);
    }
    Ok(())
}

/// The best of three runs, or of five if they are quick.
fn time_metric(name: &str, codes: &Codes) -> Result<f64, String> {
    let mut best = f64::INFINITY;
    let mut spent = 0.0;
    for run in 1..=5 {
        let report = registry::run(&[name], codes, &Options::default()).map_err(|error| error.to_string())?;
        let seconds = report.scores[0].seconds;
        best = best.min(seconds);
        spent += seconds;
        if run >= 3 && spent > 2.0 {
            break;
        }
    }
    Ok(best)
}

/// What the chance level takes beyond the score itself, once: learners take longest where there is nothing to learn, so
/// that it is no multiple of the score's.
fn time_chance(name: &str, codes: &Codes) -> Result<f64, String> {
    let options = Options { chance: true, ..Options::default() };
    let started = Instant::now();
    let report = registry::run(&[name], codes, &options).map_err(|error| error.to_string())?;
    Ok((started.elapsed().as_secs_f64() - report.scores[0].seconds).max(0.0))
}

fn run_sklearn(python: &str, model: &str) -> Result<Value, String> {
    let beside_the_workspace = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");
    let shared =
        std::env::var_os("UNBRAID_SHARED").map_or_else(|| PathBuf::from(beside_the_workspace), PathBuf::from);
    let output = Command::new(python)
        .arg(shared.join("bench/sklearn_scores.py"))
        .arg(common::golden_file(&format!("{model}.npz")))
        .output()
        .map_err(|error| format!("cannot run {python}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{python} failed:\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default();
    serde_json::from_str(last).map_err(|error| format!("{python} printed no JSON object: {error}"))
}

/// Seconds of the scores that are linear in points, for 1,000 to 1,000,000 points.
fn growth() -> Vec<(usize, [f64; 4])> {
    let sizes = [3, 6, 40, 32, 32];
    [1_000, 10_000, 100_000, 1_000_000]
        .into_iter()
        .map(|points| {
            let mut generator = random::generator(0, "growth", 0);
            let factors = Array2::from_shape_fn((points, sizes.len()), |(_, factor)| {
                generator.random_range(0..sizes[factor])
            });
            let codes = Array2::from_shape_fn((points, 10), |(row, unit)| {
                factors[[row, unit % sizes.len()]] as f64 + generator.random_range(-1.0..1.0)
            });
            let parameters = HistogramParameters::default();
            let time = |work: &dyn Fn() -> f64| {
                (0..3)
                    .map(|_| {
                        let started = Instant::now();
                        std::hint::black_box(work());
                        started.elapsed().as_secs_f64()
                    })
                    .fold(f64::INFINITY, f64::min)
            };
            let labelled = || Labelled::new(codes.view(), factors.view());
            let unlabelled = || Unlabelled::new(codes.view());
            let times = [
                time(&|| {
                    labelled().and_then(|data| mig(&data, &parameters)).map_or(0.0, |found| found.value)
                }),
                time(&|| labelled().and_then(|data| modularity(&data, &parameters)).unwrap_or(0.0)),
                time(&|| unlabelled().and_then(|data| mutual_info_score(&data, &parameters)).unwrap_or(0.0)),
                time(&|| unlabelled().map_or(0.0, |data| gaussian_total_correlation(&data))),
            ];
            (points, times)
        })
        .collect()
}
