//! `metrics.jsonl` has the KL divergence of every latent unit, and they add up.

use crate::support::{Bench, metrics};
use serde_json::Value;

#[test]
fn runs_report_the_divergence_of_every_unit() {
    let bench = Bench::new();
    for (out, latents, keys) in [
        (
            "joint",
            "{ continuous = 2, categorical = [3, 2] }",
            &["kl_unit/0", "kl_unit/1", "kl_categorical/0", "kl_categorical/1"][..],
        ),
        ("classes", "{ continuous = 0, categorical = [4] }", &["kl_categorical/0"]),
    ] {
        let latents = format!("model.latents={latents}");
        bench.train(out, &["--set", &latents, "--set", "training.steps=10"]).assert().success();
        for line in metrics(&bench.path(out)) {
            let row: Value = serde_json::from_str(&format!("{line}}}")).unwrap();
            let units: f64 = keys.iter().map(|key| row[format!("train/{key}")].as_f64().unwrap()).sum();
            let kl = row["train/kl"].as_f64().unwrap();
            assert!((units - kl).abs() < 1e-5 * kl.max(1.0), "{row}");
            let found =
                row.as_object().unwrap().keys().filter(|key| {
                    key.starts_with("train/kl_unit/") || key.starts_with("train/kl_categorical/")
                });
            assert_eq!(found.count(), keys.len(), "{row}");
        }
    }
}
