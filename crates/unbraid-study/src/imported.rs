//! Tables of results from elsewhere, kept in a normal form beside a study's own.
//!
//! `imported/NAME.csv` is what `unbraid study table` would write of the same rows; those that stand for several runs have
//! the number of these in `runs`, their means under the names of the numbers, and beside each `NAME_std` and
//! `NAME_median`.

use super::directory::StudyDirectory;
use super::imported_header::{Meaning, data_name, hyper_parameter_of, meanings, method_name};
use super::results::sort_number_keys;
use super::table::{Row, Spread, Table};
use super::table_files::{self, Format};
use crate::failure::{Failure, Outcome};
use crate::files::Existing;
use crate::run::State;
use csv::{ReaderBuilder, StringRecord, Trim};
use serde_json::Value;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// Reads a table of results, in the form that `unbraid study table` writes or with names of other tools.
///
/// # Errors
/// If it is no CSV, its header names no method or no score, or a field is none of what its column holds. The message names
/// line and column.
pub fn read(path: &Path) -> Outcome<Table> {
    let wrong = |found: &str| Failure::input(format!("{}: {found}", path.display()));
    let mut reader = ReaderBuilder::new()
        .trim(Trim::All)
        .from_path(path)
        .map_err(|error| wrong(&format!("cannot read it: {error}")))?;
    let header = reader.headers().map_err(|error| wrong(&error.to_string()))?;
    let names: Vec<String> = header.iter().map(str::to_owned).collect();
    if names.is_empty() {
        return Err(wrong("found an empty file, expected a line with the names of the columns"));
    }
    let meanings = meanings(&names).map_err(|found| wrong(&format!("line 1: {found}")))?;
    let records: Vec<StringRecord> =
        reader.records().collect::<Result<_, _>>().map_err(|error| wrong(&error.to_string()))?;
    if records.is_empty() {
        return Err(wrong("found no rows under the header, expected at least one"));
    }
    Sheet { meanings: settle(meanings, &records), names, records }.table().map_err(|found| wrong(&found))
}

/// Adds a table to a study under a name; gives the file.
///
/// # Errors
/// If the name cannot be that of a file, a table of this name exists and is to be kept, or it cannot be written.
pub fn keep(study: &StudyDirectory, name: &str, table: &Table, existing: Existing) -> Outcome<PathBuf> {
    if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\']) {
        return Err(Failure::input(format!(
            "`{name}` cannot be the name of a table\nhint: --name gives it another one"
        )));
    }
    let directory = study.imported();
    std::fs::create_dir_all(&directory)
        .map_err(|error| Failure::run(format!("{}: cannot create it: {error}", directory.display())))?;
    let path = directory.join(format!("{name}.csv"));
    table_files::write(table, &path, Format::Csv, existing)?;
    Ok(path)
}

/// The imported tables of a study, in the order of their names, which their rows have as their source; and what is wrong
/// with those that cannot be read.
pub fn read_all(study: &StudyDirectory) -> (Vec<Table>, Vec<String>) {
    // Without the directory nothing was imported.
    let entries = std::fs::read_dir(study.imported()).into_iter().flatten().flatten();
    let is_table = |path: &PathBuf| {
        path.extension().is_some_and(|ending| ending == "csv")
            && !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_table).collect();
    paths.sort();
    let (mut tables, mut warnings) = (Vec::new(), Vec::new());
    for path in paths {
        match read(&path) {
            Ok(mut table) => {
                let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                table.rows.iter_mut().for_each(|row| row.source = Some(name.clone()));
                tables.push(table);
            }
            Err(failure) => warnings.push(failure.to_string()),
        }
    }
    (tables, warnings)
}

/// Decides what unknown columns are by what is in them: numbers, or settings.
fn settle(meanings: Vec<Meaning>, records: &[StringRecord]) -> Vec<Meaning> {
    let is_number = |column: usize| {
        let mut fields = records.iter().map(|record| &record[column]).filter(|field| !is_missing(field));
        fields.all(|field| field.parse::<f64>().is_ok())
    };
    let settled = meanings.into_iter().enumerate().map(|(column, meaning)| match meaning {
        Meaning::Unknown(name) if is_number(column) => Meaning::Number(name),
        Meaning::Unknown(name) => Meaning::Setting(name),
        known => known,
    });
    settled.collect()
}

fn is_missing(field: &str) -> bool {
    matches!(field.to_ascii_lowercase().as_str(), "" | "nan" | "na" | "null" | "none" | "inf" | "-inf")
}

/// A file whose columns are understood.
struct Sheet {
    names: Vec<String>,
    meanings: Vec<Meaning>,
    records: Vec<StringRecord>,
}

impl Sheet {
    fn table(&self) -> Result<Table, String> {
        let mut number_keys: Vec<String> = Vec::new();
        let mut setting_keys: BTreeSet<String> = BTreeSet::new();
        for meaning in &self.meanings {
            match meaning {
                Meaning::Number(key) => number_keys.push(key.clone()),
                Meaning::Setting(key) => drop(setting_keys.insert(key.clone())),
                _ => {}
            }
        }
        if let Some(method) = self.column(&Meaning::Own("method"))
            && self.column(&Meaning::HyperParameter).is_some()
        {
            let methods = self.records.iter().map(|record| method_name(&record[method]));
            setting_keys.extend(methods.map(|method| hyper_parameter_of(&method).to_owned()));
        }
        sort_number_keys(&mut number_keys);
        let mut table =
            Table { setting_keys: setting_keys.into_iter().collect(), number_keys, rows: Vec::new() };
        let mut taken = HashSet::new();
        for record in &self.records {
            let row = self.row(record, &table)?;
            if !taken.insert(row.name.clone()) {
                return Err(format!("line {}: the name `{}` stands there twice", line(record), row.name));
            }
            table.rows.push(row);
        }
        Ok(table)
    }

    fn row(&self, record: &StringRecord, table: &Table) -> Result<Row, String> {
        let own = |name| {
            self.column(&Meaning::Own(name)).map(|column| &record[column]).filter(|text| !text.is_empty())
        };
        let Some(method) = own("method").map(method_name) else {
            return Err(format!("line {}: found no method, expected one in every row", line(record)));
        };
        let data = own("data").map_or_else(|| "unknown".to_owned(), data_name);
        let name = own("name").map_or_else(|| format!("line {}", line(record)), str::to_owned);
        let mut row = Row {
            hash: own("hash").map(str::to_owned),
            step: self.whole(record, "step")?,
            seconds: self.own_number(record, "seconds")?,
            seed: self.whole(record, "seed")?,
            settings: vec![None; table.setting_keys.len()],
            numbers: vec![f64::NAN; table.number_keys.len()],
            ..Row::named(name, method, data)
        };
        if let Some(word) = own("state") {
            row.state = State::from_word(word)
                .ok_or_else(|| self.wrong(record, "state", "queued, running, done or failed"))?;
        }
        let runs = self.whole(record, "runs")?;
        if runs == Some(0) {
            return Err(self.wrong(record, "runs", "at least 1"));
        }
        let mut spread = Spread {
            runs: runs.unwrap_or(1) as usize,
            deviations: row.numbers.clone(),
            medians: row.numbers.clone(),
        };
        for (column, meaning) in self.meanings.iter().enumerate() {
            let (into, key) = match meaning {
                Meaning::Number(key) => (&mut row.numbers, key),
                Meaning::Deviation(key) => (&mut spread.deviations, key),
                Meaning::Median(key) => (&mut spread.medians, key),
                Meaning::Setting(key) => {
                    row.settings[place(&table.setting_keys, key)] = setting(&record[column]);
                    continue;
                }
                Meaning::HyperParameter => {
                    let key = hyper_parameter_of(&row.method);
                    row.settings[place(&table.setting_keys, key)] = setting(&record[column]);
                    continue;
                }
                Meaning::Own(_) | Meaning::Unknown(_) => continue,
            };
            let Some(place) = table.number_keys.iter().position(|known| known == key) else { continue };
            into[place] = self.number(record, column)?.unwrap_or(f64::NAN);
        }
        row.spread = runs.is_some().then_some(spread);
        Ok(row)
    }

    fn column(&self, meaning: &Meaning) -> Option<usize> {
        self.meanings.iter().position(|known| known == meaning)
    }

    fn number(&self, record: &StringRecord, column: usize) -> Result<Option<f64>, String> {
        let field = &record[column];
        if is_missing(field) {
            return Ok(None);
        }
        let number = field.parse::<f64>().ok().filter(|number| number.is_finite());
        number.map(Some).ok_or_else(|| self.wrong_at(record, column, "a number"))
    }

    fn own_number(&self, record: &StringRecord, name: &'static str) -> Result<Option<f64>, String> {
        self.column(&Meaning::Own(name)).map_or(Ok(None), |column| self.number(record, column))
    }

    fn whole(&self, record: &StringRecord, name: &'static str) -> Result<Option<u64>, String> {
        let Some(column) = self.column(&Meaning::Own(name)) else { return Ok(None) };
        let field = &record[column];
        if is_missing(field) {
            return Ok(None);
        }
        field.parse().map(Some).map_err(|_| self.wrong_at(record, column, "a whole number"))
    }

    fn wrong(&self, record: &StringRecord, name: &'static str, expected: &str) -> String {
        let column = self.column(&Meaning::Own(name)).unwrap_or_default();
        self.wrong_at(record, column, expected)
    }

    fn wrong_at(&self, record: &StringRecord, column: usize, expected: &str) -> String {
        let (line, name, found) = (line(record), &self.names[column], &record[column]);
        format!("line {line}, column `{name}`: found `{found}`, expected {expected}")
    }
}

fn line(record: &StringRecord) -> u64 {
    record.position().map_or(0, csv::Position::line)
}

/// Every key of a row is among those of its table.
fn place(keys: &[String], key: &str) -> usize {
    keys.iter().position(|known| known == key).unwrap_or_default()
}

/// A number, a flag, a list or a table, as they are written; everything else is a word.
fn setting(field: &str) -> Option<Value> {
    if field.is_empty() {
        return None;
    }
    let parsed = serde_json::from_str::<Value>(field).ok().filter(|value| !value.is_string());
    parsed.or_else(|| Some(Value::from(field))).filter(|value| !value.is_null())
}
