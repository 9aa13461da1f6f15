//! Studies made from a table: plausible numbers of six methods, and a directory that holds the rows of any table.
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use unbraid::config::Source;
use unbraid::run::State;
use unbraid_study::{Entry, Manifest, Row, Table};

/// Methods with the key of their hyper-parameter.
const METHODS: [(&str, &str); 6] = [
    ("beta-vae", "objective.beta"),
    ("annealed-vae", "objective.capacity"),
    ("factor-vae", "objective.gamma"),
    ("beta-tcvae", "objective.beta"),
    ("dip-vae-i", "objective.lambda_od"),
    ("dip-vae-ii", "objective.lambda_od"),
];

const SETTINGS: [&str; 4] =
    ["objective.beta", "objective.capacity", "objective.gamma", "objective.lambda_od"];

const NUMBERS: [&str; 17] = [
    "beta_vae_score",
    "factor_vae_score",
    "mig",
    "sap",
    "dci_disentanglement",
    "dci_completeness",
    "modularity",
    "explicitness",
    "downstream_accuracy",
    "downstream_accuracy_10",
    "downstream_accuracy_100",
    "downstream_accuracy_1000",
    "downstream_sample_efficiency",
    "gaussian_total_correlation",
    "mutual_info_score",
    "train/reconstruction",
    "train/kl",
];

/// A study of six methods with `values` hyper-parameters and `seeds` seeds each on every data set.
pub(crate) fn table(data: &[&str], values: usize, seeds: u64) -> Table {
    let mut rows = Vec::new();
    for (place, data) in data.iter().enumerate() {
        for (quality, (method, key)) in METHODS.iter().enumerate() {
            for step in 0..values {
                for seed in 0..seeds {
                    let value = (1_u64 << step) as f64;
                    let settings = SETTINGS.map(|known| (known == *key).then(|| json!(value)));
                    let noise = |lane: u64| uniform(rows.len() as u64 * 64 + lane) - 0.5;
                    let numbers =
                        numbers(place as f64, [2.0, 1.0, 3.0, 4.0, 0.0, 0.5][quality], value, noise);
                    rows.push(Row {
                        number: Some(rows.len()),
                        seed: Some(seed),
                        settings: settings.to_vec(),
                        numbers,
                        ..Row::named(format!("{method}-{value}-seed={seed}-{place}"), *method, *data)
                    });
                }
            }
        }
    }
    Table {
        setting_keys: SETTINGS.map(str::to_owned).to_vec(),
        number_keys: NUMBERS.map(str::to_owned).to_vec(),
        rows,
    }
}

fn numbers(data: f64, quality: f64, value: f64, noise: impl Fn(u64) -> f64) -> Vec<f64> {
    let strength = value.log2();
    let skill = 0.1 + 0.05 * quality + 0.03 * strength - 0.006 * strength.powi(2) + 0.16 * noise(0);
    let score =
        |scale: f64, base: f64, lane: u64| (base + scale * skill + 0.05 * noise(lane)).clamp(0.0, 1.0);
    let few = score(0.3, 0.2, 9);
    let most = score(0.5, 0.5, 10);
    vec![
        score(0.4, 0.6, 1),
        score(0.7, 0.5, 2),
        score(1.0, 0.0, 3),
        score(0.2, 0.02, 4),
        score(1.2, 0.05, 5),
        score(1.1, 0.08, 6),
        score(0.1, 0.8, 7),
        score(0.1, 0.7, 8),
        most,
        score(0.1, 0.15, 11),
        few,
        most,
        few / most,
        4.0 - 6.0 * skill + 2.0 * noise(12),
        0.2 - 0.2 * skill + 0.05 * noise(13),
        20.0 + 300.0 * data + (6.0 + quality) * value + 4.0 * noise(14),
        28.0 / (1.0 + 0.3 * value) + noise(15),
    ]
}

/// A number in [0, 1) that depends on nothing but the seed: the finaliser of SplitMix64.
fn uniform(seed: u64) -> f64 {
    let mut z = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Writes the rows of a table as a study with run directories: a manifest, and for each run its state, its
/// scores and its last losses.
pub(crate) fn write_directory(path: &Path, table: &Table) {
    fs::create_dir_all(path.join("runs")).unwrap();
    fs::write(path.join("study.toml"), "").unwrap();
    let entries = table.rows.iter().enumerate().map(|(number, row)| entry(number, row, table)).collect();
    Manifest { entries }.write(&path.join("manifest.jsonl")).unwrap();
    for row in table.rows.iter().filter(|row| row.state != State::Queued) {
        write_run(&path.join("runs").join(&row.name), row, table);
    }
}

fn entry(number: usize, row: &Row, table: &Table) -> Entry {
    let seed = format!("seed={}", row.seed.unwrap());
    let source = Source { assignments: vec![seed], ..Source::default() };
    let configuration = source.resolve().unwrap();
    let known = table.setting_keys.iter().zip(&row.settings);
    let mut settings: BTreeMap<String, Value> =
        known.filter_map(|(key, value)| Some((key.clone(), value.clone()?))).collect();
    settings.insert("method".to_owned(), json!(row.method));
    settings.insert("data".to_owned(), json!(row.data));
    settings.insert("seed".to_owned(), json!(row.seed));
    let (hash, paths) = (configuration.fingerprint(), BTreeMap::new());
    Entry { number, name: row.name.clone(), hash, settings, configuration, paths }
}

fn write_run(path: &Path, row: &Row, table: &Table) {
    fs::create_dir_all(path).unwrap();
    let status =
        json!({ "state": row.state, "step": 100, "steps": 100, "heartbeat": 0.0, "pid": 1, "error": null });
    fs::write(path.join("status.json"), status.to_string()).unwrap();
    let known = || table.number_keys.iter().zip(&row.numbers).filter(|(_, value)| value.is_finite());
    let losses: BTreeMap<&str, f64> = known()
        .filter(|(key, _)| key.starts_with("train/"))
        .map(|(key, value)| (key.as_str(), *value))
        .collect();
    fs::write(path.join("metrics.jsonl"), format!("{}\n", json!(losses))).unwrap();
    let mut scores: BTreeMap<&str, Value> = BTreeMap::new();
    for (key, value) in known().filter(|(key, _)| !key.starts_with("train/")) {
        let metric = unbraid::metrics::registry::find_by_key(key).unwrap();
        let entry =
            scores.entry(metric.name.as_str()).or_insert_with(|| json!({ "value": value, "parts": {} }));
        entry["parts"][key] = json!(value);
    }
    let about = json!({ "unbraid": "0", "step": 100, "representation": "mean", "seed": 0, "train_points": 10,
        "test_points": 5, "images_encoded": 15, "encoding_seconds": 0.1, "data_sha256": "00" });
    fs::write(path.join("scores.json"), json!({ "evaluation": about, "scores": scores }).to_string())
        .unwrap();
}
