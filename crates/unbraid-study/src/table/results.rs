//! What the run directories of a study say, as one table.

use super::imported::{self, MOST_COLUMNS};
use super::{Row, Table};
use crate::analysis::quantities::{self, chance_key, scored_key};
use crate::directory::StudyDirectory;
use crate::error::{Error, Result};
use crate::manifest::{Entry, Manifest};
use rayon::prelude::*;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use unbraid::data::DataSpec;
use unbraid::error_chain;
use unbraid::evaluate::Scores;
use unbraid::metrics::{Chance, registry};
use unbraid::run::{Meta, RunPaths, State, Status, last_row, loss_rank, unit_of_loss};

/// A table, and what could not be read for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// All rows.
    pub table: Table,
    /// Files that are damaged, each with its name; their numbers are missing from the table.
    pub warnings: Vec<String>,
}

/// The most settings that a study varies.
const MOST_SETTINGS: usize = 1000;

/// Settings that have a place of their own in a row.
const OWN_PLACES: [&str; 3] = ["method", "data", "seed"];

impl Results {
    /// Of a study: a row for each run of its manifest, then the tables that were imported. A study that has
    /// imported tables needs no runs of its own.
    ///
    /// # Errors
    /// If the study has neither a manifest nor imported tables, or its manifest is damaged.
    pub fn read(study: &StudyDirectory) -> Result<Self> {
        let manifest = match study.read_manifest() {
            Err(Error::NotPlanned { .. }) if imported::exist(study) => Manifest::default(),
            other => other?,
        };
        let mut results = Self::of_runs(study, &manifest);
        let (tables, warnings) = imported::read_all(study);
        for table in tables {
            let columns = results.table.number_keys.len() + table.number_keys.len();
            if columns > MOST_COLUMNS {
                let source = table.rows.first().and_then(|row| row.source.as_deref()).unwrap_or_default();
                results.warnings.push(format!(
                    "{}: left out: found {columns} columns with those before it, expected at most {MOST_COLUMNS}",
                    study.imported_table(source).display()
                ));
                continue;
            }
            results.table.append(table);
        }
        results.warnings.extend(warnings);
        Ok(results)
    }

    /// Of the runs in a manifest alone. A run that has not begun has a row too; what no file says is missing, and a
    /// damaged file is reported.
    pub fn of_runs(study: &StudyDirectory, manifest: &Manifest) -> Self {
        let (records, warnings): (Vec<Record>, Vec<Vec<String>>) =
            manifest.entries.par_iter().map(|entry| Record::read(entry, &study.run(entry))).unzip();
        let mut warnings: Vec<String> = warnings.into_iter().flatten().collect();
        let (table, left_out) = assemble(records);
        if left_out > 0 {
            warnings.push(format!(
                "{}: {left_out} values left out: expected at most {MOST_COLUMNS} different numbers and {MOST_SETTINGS} \
                 different settings",
                study.runs().display()
            ));
        }
        Self { table, warnings }
    }
}

/// A row whose columns still have their names.
struct Record {
    row: Row,
    settings: BTreeMap<String, Value>,
    numbers: Vec<(String, f64)>,
}

/// A run that was asked to stop has not failed: like one whose process is gone, it counts as running.
fn state_of(status: &Status) -> State {
    match status.state {
        State::Interrupted => State::Running,
        State::Queued | State::Running | State::Done | State::Failed => status.state,
    }
}

impl Record {
    /// What the directory of a run says, and what of it is damaged.
    fn read(entry: &Entry, run: &RunPaths) -> (Self, Vec<String>) {
        let mut warnings = Vec::new();
        let status = Status::read(&run.status());
        let text = |key: &str| entry.settings.get(key).and_then(Value::as_str).map(str::to_owned);
        let config = &entry.configuration;
        let mut row = Row {
            number: Some(entry.number),
            hash: Some(entry.hash.clone()),
            state: status.as_ref().map_or(State::Queued, state_of),
            step: status.as_ref().map(|status| status.step),
            seed: Some(config.seed),
            ..Row::named(
                entry.name.clone(),
                text("method").unwrap_or_else(|| config.objective.name().to_owned()),
                text("data").unwrap_or_else(|| short_name(&config.data)),
            )
        };
        let mut numbers = Vec::new();
        // Nothing else is there before a run has begun.
        if let Some(status) = &status {
            row.seconds = Meta::read(&run.meta()).and_then(|meta| meta.seconds());
            let file = run.scores();
            match Scores::read_numbers(&file) {
                Ok(Some(stored)) if stored.about.step == status.step => {
                    for score in stored.report.scores {
                        let levels = score.chance.iter().flat_map(Chance::levels);
                        numbers.extend(levels.map(|(key, level)| (chance_key(key), level.mean)));
                        numbers.extend(score.values.into_numbers());
                    }
                }
                Ok(Some(stored)) if status.state == State::Done => warnings.push(format!(
                    "{}: found the scores of step {}, expected those of step {}",
                    file.display(),
                    stored.about.step,
                    status.step
                )),
                Ok(_) => {}
                Err(error) => warnings.push(error_chain(&error)),
            }
            let file = run.metrics();
            match last_row(&file) {
                Ok(last) => numbers.extend(last.into_iter().flatten().filter(|(key, _)| is_loss(key))),
                Err(error) => {
                    warnings.push(format!("{}: cannot read its last row: {error}", file.display()));
                }
            }
        }
        let settings = entry.settings.iter().filter(|(key, _)| !OWN_PLACES.contains(&key.as_str()));
        let settings = settings.map(|(key, value)| (key.clone(), value.clone())).collect();
        (Self { row, settings, numbers }, warnings)
    }
}

/// Losses of single units are too many for a table, and rates are no results.
fn is_loss(key: &str) -> bool {
    key.strip_prefix("train/").is_some_and(|loss| unit_of_loss(loss).is_none())
}

/// The data set without the place of its files.
fn short_name(data: &DataSpec) -> String {
    match (&data.name, &data.path) {
        (Some(_), Some(_)) => DataSpec { path: None, ..data.clone() }.to_string(),
        (None, Some(path)) => path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
        _ => data.to_string(),
    }
}

/// Gives every name a column: settings in alphabetical order, scores in that of the registry, then losses.
/// Every row has a place in every column, so there are only so many of them; the second result is how many
/// numbers were left out.
fn assemble(records: Vec<Record>) -> (Table, usize) {
    let settings: BTreeSet<String> =
        records.iter().flat_map(|record| record.settings.keys().cloned()).collect();
    let mut numbers: Vec<String> = Vec::new();
    let mut known: BTreeSet<&str> = BTreeSet::new();
    for (key, _) in records.iter().flat_map(|record| &record.numbers) {
        if numbers.len() < MOST_COLUMNS && known.insert(key) {
            numbers.push(key.clone());
        }
    }
    sort_number_keys(&mut numbers);
    let mut table = Table {
        setting_keys: settings.into_iter().take(MOST_SETTINGS).collect(),
        number_keys: numbers,
        rows: Vec::new(),
    };
    let places: HashMap<String, usize> =
        table.number_keys.iter().enumerate().map(|(place, key)| (key.clone(), place)).collect();
    let mut left_out = 0;
    for Record { mut row, mut settings, numbers } in records {
        row.settings = table.setting_keys.iter().map(|key| settings.remove(key)).collect();
        left_out += settings.len();
        row.numbers = vec![f64::NAN; places.len()];
        for (key, value) in numbers {
            match places.get(&key) {
                Some(&place) => row.numbers[place] = value,
                None => left_out += 1,
            }
        }
        table.rows.push(row);
    }
    (table, left_out)
}

/// Scores in the order of the registry, each before its chance level, then losses, the total first, then what
/// is unknown here.
pub(super) fn sort_number_keys(keys: &mut [String]) {
    let place = |key: &str| {
        let metric = quantities::metric(key)?;
        let metrics = registry::metrics().position(|other| other.name == metric.name)?;
        let own = metric.position(key).unwrap_or(metric.numbers.len());
        Some((metrics, own))
    };
    // Numbers of labels are part of some keys.
    let labels = |key: &str| key.rsplit('_').next().and_then(|labels| labels.parse::<usize>().ok());
    keys.sort_by_cached_key(|key| {
        match (place(scored_key(key).unwrap_or(key)), key.strip_prefix("train/")) {
            (Some(place), _) => {
                (0, place, labels(key), (usize::from(scored_key(key).is_some()), 0, String::new()))
            }
            (None, Some(loss)) => (1, (0, 0), None, loss_rank(loss)),
            (None, None) => (2, (0, 0), None, (0, 0, key.clone())),
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table has a place for every number in every row: were each run to bring numbers of its own, a few
    /// megabytes would become as many gigabytes.
    #[test]
    fn there_are_only_so_many_columns() {
        let record = |run: usize, numbers: usize| Record {
            row: Row::named(format!("run {run}"), "vae", "shapes"),
            settings: (0..600).map(|key| (format!("{run}.{key}"), Value::from(key))).collect(),
            numbers: (0..numbers).map(|key| (format!("{run}/{key}"), key as f64)).collect(),
        };
        let (table, left_out) = assemble(vec![record(0, MOST_COLUMNS - 1), record(1, 3)]);
        assert_eq!((table.number_keys.len(), table.setting_keys.len()), (MOST_COLUMNS, MOST_SETTINGS));
        // Two numbers of the second run, and the settings beyond the thousandth.
        assert_eq!(left_out, 2 + 200);
        assert_eq!(table.number(1, "1/0"), 0.0);
        assert!(table.number_column("1/1").is_none());
    }
}
