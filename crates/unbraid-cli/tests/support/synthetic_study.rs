//! A study whose runs were never trained: directories of the size and shape of real ones, with numbers from a formula.
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use unbraid::config::Source;
use unbraid::metrics::{Description, registry};
use unbraid::run::{Meta, State, Status};
use unbraid_study::{Entry, Manifest, StudyDirectory};

/// Each method of the large study of Locatello et al. with its hyper-parameter and six values.
const METHODS: [(&str, &str, [f64; 6]); 6] = [
    ("beta-vae", "objective.beta", [1.0, 2.0, 4.0, 6.0, 8.0, 16.0]),
    ("annealed-vae", "objective.capacity", [5.0, 10.0, 25.0, 50.0, 75.0, 100.0]),
    ("factor-vae", "objective.gamma", [10.0, 20.0, 30.0, 40.0, 50.0, 100.0]),
    ("dip-vae-i", "objective.lambda_od", [1.0, 2.0, 5.0, 10.0, 20.0, 50.0]),
    ("dip-vae-ii", "objective.lambda_od", [1.0, 2.0, 5.0, 10.0, 20.0, 50.0]),
    ("beta-tcvae", "objective.beta", [1.0, 2.0, 4.0, 6.0, 8.0, 10.0]),
];

/// Six data sets: with these, 216 settings.
const POSITIONS: [u64; 6] = [4, 6, 8, 12, 16, 32];

/// Runs of one seed.
pub(crate) const SETTINGS: usize = METHODS.len() * 6 * POSITIONS.len();

/// Training steps that every run claims to have done.
pub(crate) const STEPS: u64 = 300_000;

/// The number of a run with the key at a place in [`score_keys`].
pub(crate) fn score(run: usize, place: usize) -> f64 {
    ((run * 31 + place * 7) % 1000) as f64 / 1000.0
}

/// The keys of all scores, in the order of the registry.
pub(crate) fn score_keys() -> Vec<&'static str> {
    registry::metrics().flat_map(Description::keys).collect()
}

/// The last reconstruction loss of a run.
pub(crate) fn reconstruction(run: usize) -> f64 {
    20.0 + (run % 97) as f64
}

/// The planned runs: six methods with six hyper-parameters on six data sets, and so many seeds of each.
pub(crate) fn manifest(seeds: u64) -> Manifest {
    let mut entries = Vec::new();
    for (method, key, values) in METHODS {
        for positions in POSITIONS {
            for value in values {
                let data = format!("shapes(positions={positions})");
                let mut assignments = vec![
                    format!("data={data}"),
                    format!("objective.name={method}"),
                    format!("{key}={value}"),
                    format!("training.steps={STEPS}"),
                ];
                match method {
                    "annealed-vae" => assignments.push("objective.gamma=1000".to_owned()),
                    "dip-vae-i" | "dip-vae-ii" => assignments.push(format!("objective.lambda_d={value}")),
                    _ => {}
                }
                let base = Source { assignments, ..Source::default() }.resolve().unwrap();
                for seed in 0..seeds {
                    let mut configuration = base.clone();
                    configuration.seed = seed;
                    let hash = configuration.fingerprint();
                    let settings = BTreeMap::from([
                        ("method".to_owned(), json!(method)),
                        ("data".to_owned(), json!(data)),
                        ("seed".to_owned(), json!(seed)),
                        (key.to_owned(), json!(value)),
                    ]);
                    let name = format!("{method}-{value}-positions={positions}-seed={seed}-{}", &hash[..8]);
                    let (number, paths) = (entries.len(), BTreeMap::new());
                    entries.push(Entry { number, name, hash, settings, configuration, paths });
                }
            }
        }
    }
    Manifest { entries }
}

/// Makes the study in a directory, all runs finished.
pub(crate) fn write(path: &Path, seeds: u64) -> (StudyDirectory, Manifest) {
    fs::create_dir_all(path).unwrap();
    fs::write(path.join("study.toml"), "base = \"default\"\n").unwrap();
    let study = StudyDirectory::open(path).unwrap();
    let manifest = manifest(seeds);
    manifest.write(&study.manifest()).unwrap();
    for entry in &manifest.entries {
        write_run(&study, entry, State::Done);
    }
    (study, manifest)
}

/// The directory of one run; of one that is not done it has no scores.
pub(crate) fn write_run(study: &StudyDirectory, entry: &Entry, state: State) {
    let run = study.run(entry).root().to_owned();
    fs::create_dir_all(&run).unwrap();
    // Not synced to disk one by one, as real ones are: there may be forty thousand.
    let save = |name: &str, value: &Value| fs::write(run.join(name), format!("{value:#}\n")).unwrap();
    let status = Status::now(state, if state == State::Done { STEPS } else { STEPS / 2 }, STEPS);
    save("status.json", &serde_json::to_value(status).unwrap());
    let mut meta = Meta::new(entry.configuration.seed);
    meta.started = "2026-11-14T22:00:00Z".to_owned();
    meta.finished = (state == State::Done).then(|| "2026-11-15T00:00:30Z".to_owned());
    save("meta.json", &serde_json::to_value(meta).unwrap());
    if state == State::Done {
        save("scores.json", &scores(entry.number));
    }
    let rows: String = (1..=20).map(|row| loss_row(entry.number, row)).collect();
    fs::write(run.join("metrics.jsonl"), rows).unwrap();
}

fn loss_row(run: usize, row: u64) -> String {
    let reconstruction = reconstruction(run) + (20 - row) as f64;
    let units: String = (0..10).map(|unit| format!(",\"train/kl_unit/{unit}\":0.123456789")).collect();
    format!(
        "{{\"step\":{},\"train/loss\":{},\"train/reconstruction\":{reconstruction},\"train/kl\":15.5{units},\
         \"images_per_second\":1000.0}}\n",
        row * STEPS / 20,
        reconstruction + 15.5
    )
}

/// As an evaluation writes it, matrices of ten units and five factors included.
fn scores(run: usize) -> Value {
    let matrix = vec![vec![0.123_456_789_012_345_67; 5]; 10];
    let mut place = 0;
    let mut scores = Map::new();
    for metric in registry::metrics() {
        let mut parts = Map::new();
        for key in metric.keys() {
            parts.insert(key.to_owned(), json!(score(run, place)));
            place += 1;
        }
        let details: Map<String, Value> =
            metric.details.iter().map(|key| (key.clone(), json!(matrix))).collect();
        let entry = json!({
            "value": parts[&metric.numbers[0].key],
            "parts": parts,
            "details": details,
            "parameters": { "bins": 20 },
            "seed": 0,
            "seconds": 0.01,
        });
        scores.insert(metric.name.clone(), entry);
    }
    json!({
        "evaluation": {
            "unbraid": "0.1.0", "step": STEPS, "representation": "mean", "seed": 0, "train_points": 10_000,
            "test_points": 5_000, "images_encoded": 15_000, "encoding_seconds": 1.5, "data_sha256": "00",
        },
        "scores": scores,
    })
}
