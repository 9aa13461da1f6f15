//! Studies of many runs: every one of them has its row, with its numbers.
//!
//! By default 432 runs. `UNBRAID_STUDY_SEEDS=50` makes the 10,800 of the large study of Locatello et al., and
//! `UNBRAID_STUDY_DIRECTORY=DIR` makes and keeps the study there, for looking at it and for measuring:
//! ```text
//! UNBRAID_STUDY_SEEDS=50 UNBRAID_STUDY_DIRECTORY=/tmp/large cargo test --test study_size
//! /usr/bin/time -v unbraid study table /tmp/large -o /tmp/large.parquet
//! ```

use crate::support::Bench;
use crate::support::synthetic_study::{SETTINGS, STEPS, reconstruction, score, score_keys};
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::fs::File;
use std::path::PathBuf;
use unbraid::run::State;
use unbraid_study::Results;
use unbraid_study::analysis::groups::{Part, groups};
use unbraid_study::analysis::variance::variance_shares;

#[test]
fn every_run_of_a_large_study_has_its_numbers() {
    let seeds: u64 = std::env::var("UNBRAID_STUDY_SEEDS").map_or(2, |seeds| seeds.parse().unwrap());
    let bench = Bench::new();
    let path = std::env::var_os("UNBRAID_STUDY_DIRECTORY").map_or_else(|| bench.path("large"), PathBuf::from);
    let (study, manifest) = crate::support::synthetic_study::write(&path, seeds);
    let runs = SETTINGS * seeds as usize;
    assert_eq!(manifest.entries.len(), runs);

    let Results { table, warnings } = Results::read(&study).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!(table.rows.len(), runs);
    let keys = score_keys();
    assert_eq!(table.number_keys[..keys.len()], keys);
    assert_eq!(table.number_keys[keys.len()..], ["train/loss", "train/reconstruction", "train/kl"]);
    for (number, (row, entry)) in table.rows.iter().zip(&manifest.entries).enumerate() {
        assert_eq!((row.number, &row.name), (Some(number), &entry.name));
        assert_eq!((row.state, row.step, row.seconds), (State::Done, Some(STEPS), Some(7230.0)));
        assert!((0..keys.len()).all(|place| row.numbers[place] == score(number, place)), "run {number}");
        assert_eq!(table.number(number, "train/reconstruction"), reconstruction(number));
    }
    let all = table.own_runs();
    assert_eq!(groups(&table, &all, &[Part::Data, Part::Method, Part::Setting]).len(), SETTINGS);
    assert_eq!(variance_shares(&table, &all, "mig").unwrap().settings, SETTINGS);

    let out = bench.path("large.parquet");
    let arguments = ["study", "table", path.to_str().unwrap(), "-o", out.to_str().unwrap()];
    bench.succeed(&arguments, &[&format!("{runs} rows written")]);
    let reader = SerializedFileReader::new(File::open(&out).unwrap()).unwrap();
    assert_eq!(reader.metadata().file_metadata().num_rows(), runs as i64);
}
