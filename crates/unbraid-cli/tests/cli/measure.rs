//! `unbraid measure`: identities between the numbers, and the same from what other functions compute.

use crate::support::Bench;
use ndarray::Axis;
use serde_json::Value;
use unbraid::Run;
use unbraid::data::progress::Silent;
use unbraid::inference::input;

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} in {value}"))
}

#[test]
fn measures_agree_with_each_other_and_with_the_codes() {
    let bench = Bench::new();
    // Enough to tell images apart.
    let able = [
        "model.architecture={ name = \"mlp\", encoder = [64], decoder = [64] }",
        "training.steps=300",
        "training.batch_size=32",
        "optimizer.learning_rate=3e-3",
        "objective.beta=0.1",
    ];
    bench.train("run", &able.map(|set| ["--set", set]).concat()).assert().success();
    let command = ["measure", "run", "--quiet", "--likelihood-images", "192", "--samples", "30"];
    let measure = |more: &[&str]| {
        let output = bench.unbraid(&command).args(more).output().unwrap();
        crate::support::check(&output, &[]);
        String::from_utf8(output.stdout).unwrap()
    };
    let json: Value = serde_json::from_str(&measure(&["--format", "json"])).unwrap();
    let get = |key: &str| number(&json, key);
    assert_eq!((get("images"), get("likelihood_images"), get("samples")), (192.0, 192.0, 30.0));
    assert!((get("elbo") + get("rate") + get("distortion")).abs() < 1e-9);
    assert!(get("log_likelihood") >= get("elbo"));
    // All images are there: both estimates are the same number.
    for name in ["mutual_information", "total_correlation"] {
        let (lower, upper) = (get(&format!("{name}_lower")), get(&format!("{name}_upper")));
        assert!((lower - upper).abs() < 1e-9, "{name}: {lower} {upper}");
    }
    let information = get("mutual_information_lower");
    assert!(information > 0.0 && information <= 192_f64.ln() + 1e-9);

    let run = Run::open(bench.path("run")).unwrap();
    let data = input::open_own(&run, &Silent).unwrap();
    let images = input::read(data.as_ref(), &(0..data.len()).collect::<Vec<_>>()).unwrap();
    let posteriors = run.encode(&images).unwrap();
    let closed: f64 = posteriors
        .mean
        .iter()
        .zip(&posteriors.log_variance)
        .map(|(mean, log)| {
            let (mean, log) = (f64::from(*mean), f64::from(*log));
            0.5 * (mean * mean + log.exp() - log - 1.0)
        })
        .sum::<f64>()
        / 192.0;
    // One sample of three units has ln q - ln p with a deviation of a few nats; 192 x 30 of them: 0.05.
    assert!((get("rate") - closed).abs() < 0.3, "{} {closed}", get("rate"));
    let by_unit: f64 = json["kl_unit"].as_array().unwrap().iter().map(|kl| kl.as_f64().unwrap()).sum();
    assert!((by_unit - closed).abs() < 1e-4 * closed.max(1.0), "{by_unit} {closed}");
    // I(x; z) is the part of the rate that is not lost to a q(z) that differs from the prior.
    assert!(information < closed + 0.3, "{information} {closed}");
    let difference = &images - &run.reconstruct(&images).unwrap();
    let squared =
        difference.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>() / difference.len() as f64;
    assert!((get("mean_squared_error") - squared).abs() < 1e-6 * squared);
    let variances = posteriors.mean.mapv(f64::from).var_axis(Axis(0), 0.0);
    let active = variances.iter().filter(|variance| **variance > 0.01).count();
    assert_eq!(get("active_units"), active as f64);

    // The same on one thread, and in every format.
    let again: Value = serde_json::from_str(&measure(&["--format", "json", "--threads", "1"])).unwrap();
    assert_eq!(again, json);
    let (csv, table) = (measure(&["--format", "csv"]), measure(&[]));
    assert!(csv.contains(&format!("elbo,{}", get("elbo"))), "{csv}");
    assert!(table.contains(&format!("{:.4}  nats: -(rate", get("elbo"))), "{table}");
    assert!(table.contains(&format!("{active} of 3")));
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    // Fewer images: an interval.
    let some: Value = serde_json::from_str(&measure(&["--format", "json", "--images", "50"])).unwrap();
    assert!(number(&some, "mutual_information_lower") < number(&some, "mutual_information_upper"));
}
