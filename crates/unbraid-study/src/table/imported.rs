//! Tables of results from elsewhere, kept in a normal form beside a study's own.
//!
//! `imported/NAME.csv` is what [`Table::write_csv`] writes of the same rows; those that summarise several runs have
//! the number of these in `runs`, their means under the names of the numbers, and beside each `NAME_std` and
//! `NAME_median`.

use super::files::TableFormat;
use super::header::{MODEL_NUMBER, Meaning, data_name, hyper_parameter_of, meanings, method_name};
use super::import_error::ImportError;
use super::results::sort_number_keys;
use super::{Row, Spread, Table};
use crate::directory::StudyDirectory;
use crate::error::{Error, Result};
use csv::{ReaderBuilder, StringRecord, Trim};
use serde_json::Value;
use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use unbraid::data::files::{LONGEST_TABLE, open_limited};
use unbraid::data::memory;
use unbraid::error_chain;
use unbraid::files::Existing;
use unbraid::run::State;

/// The most columns of numbers that a table has: a hundred times as many as there are scores and losses.
/// Every row has a place for each of them.
pub(super) const MOST_COLUMNS: usize = 10_000;

/// Bytes of memory that a row takes at most, as it was read and as it is understood...
const ROW: u64 = 1000;
/// ...and each of its fields, beside the text.
const FIELD: u64 = 100;

/// Reads a table of results, as [`Table::write_csv`] writes it or with the column names of other tools.
///
/// # Errors
/// If it is not CSV, its header names no method or no score, or a field does not fit its column. The message names line
/// and column.
pub fn read(path: &Path) -> Result<Table> {
    let file = open_limited(path, LONGEST_TABLE).map_err(unbraid::Error::io(path, "read it"))?;
    Sheet::read(file)
        .and_then(|sheet| sheet.table())
        .map_err(|source| Error::Import { path: path.to_owned(), source })
}

/// Reads several tables as one, in their order. Where a name appears in two of them, each row has that of its
/// file before its own, with the directories if files of the same name are among them.
///
/// # Errors
/// As [`read`].
pub fn read_together(paths: &[PathBuf]) -> Result<Table> {
    let mut tables = paths.iter().map(|path| read(path)).collect::<Result<Vec<Table>>>()?;
    let mut seen = HashSet::new();
    let repeated = tables.iter().flat_map(|table| &table.rows).any(|row| !seen.insert(row.name.clone()));
    let stems: HashSet<_> = paths.iter().map(|path| path.file_stem()).collect();
    let mut together = Table::default();
    for (table, path) in tables.iter_mut().zip(paths) {
        if repeated {
            let file = if stems.len() == paths.len() { path.file_stem() } else { Some(path.as_os_str()) };
            let file = file.unwrap_or_default().to_string_lossy();
            table.rows.iter_mut().for_each(|row| row.name = format!("{file} {}", row.name));
        }
        together.append(std::mem::take(table));
    }
    let mut order = together.number_keys.clone();
    sort_number_keys(&mut order);
    together.order_numbers(&order);
    Ok(together)
}

/// Whether a study has imported tables.
pub(crate) fn exist(study: &StudyDirectory) -> bool {
    !paths(study).is_empty()
}

/// Adds a table to a study under a name; gives the file.
///
/// # Errors
/// If the name cannot be that of a file, a table of this name exists and is to be kept, `imported/` is a
/// symbolic link, or it cannot be written.
pub fn keep(study: &StudyDirectory, name: &str, table: &Table, existing: Existing) -> Result<PathBuf> {
    if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\']) {
        return Err(Error::TableName { name: name.to_owned() });
    }
    study.check_links()?;
    let directory = study.imported();
    fs::create_dir_all(&directory).map_err(Error::io(&directory, "create it"))?;
    let path = study.imported_table(name);
    table.write(&path, TableFormat::Csv, existing)?;
    Ok(path)
}

/// The imported tables of a study, in the order of their names, which their rows have as their source; and
/// what is wrong with those that cannot be read.
pub(crate) fn read_all(study: &StudyDirectory) -> (Vec<Table>, Vec<String>) {
    let (mut tables, mut warnings) = (Vec::new(), Vec::new());
    for path in paths(study) {
        match read(&path) {
            Ok(mut table) => {
                let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                table.rows.iter_mut().for_each(|row| row.source = Some(name.clone()));
                tables.push(table);
            }
            Err(error) => warnings.push(error_chain(&error)),
        }
    }
    (tables, warnings)
}

/// The files of the imported tables, in the order of their names.
fn paths(study: &StudyDirectory) -> Vec<PathBuf> {
    // Without the directory nothing was imported.
    let entries = fs::read_dir(study.imported()).into_iter().flatten().flatten();
    let is_table = |path: &PathBuf| {
        path.extension().is_some_and(|ending| ending == "csv")
            && !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_table).collect();
    paths.sort();
    paths
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
        Meaning::Own(_)
        | Meaning::HyperParameter
        | Meaning::Setting(_)
        | Meaning::MethodSetting { .. }
        | Meaning::Ratio { .. }
        | Meaning::Number(_)
        | Meaning::Deviation(_)
        | Meaning::Median(_)
        | Meaning::Ignored => meaning,
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
    fn read(file: fs::File) -> Result<Self, ImportError> {
        let mut reader = ReaderBuilder::new().trim(Trim::All).from_reader(file);
        let names: Vec<String> = reader.headers()?.iter().map(str::to_owned).collect();
        if names.is_empty() {
            return Err(ImportError::Empty);
        }
        if names.len() > MOST_COLUMNS {
            return Err(ImportError::TooManyColumns { found: names.len(), most: MOST_COLUMNS });
        }
        let meanings = meanings(&names)?;
        let mut records = Vec::new();
        let mut needed = 0;
        for record in reader.records() {
            let record = without_quotes(record?);
            needed += ROW + FIELD * record.len() as u64 + 4 * record.as_slice().len() as u64;
            memory::check(needed).map_err(ImportError::TooLarge)?;
            records.push(record);
        }
        if records.is_empty() {
            return Err(ImportError::NoRows);
        }
        Ok(Self { meanings: settle(meanings, &records), names, records })
    }

    fn table(&self) -> Result<Table, ImportError> {
        let mut number_keys: Vec<String> = Vec::new();
        let mut setting_keys: BTreeSet<String> = BTreeSet::new();
        for meaning in &self.meanings {
            match meaning {
                Meaning::Number(key) => number_keys.push(key.clone()),
                Meaning::Setting(key) => drop(setting_keys.insert(key.clone())),
                Meaning::MethodSetting { key, .. } | Meaning::Ratio { key, .. } => {
                    setting_keys.insert((*key).to_owned());
                }
                Meaning::Own(_)
                | Meaning::HyperParameter
                | Meaning::Deviation(_)
                | Meaning::Median(_)
                | Meaning::Unknown(_)
                | Meaning::Ignored => {}
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
                return Err(ImportError::RepeatedName { line: line(record), name: row.name });
            }
            table.rows.push(row);
        }
        Ok(table)
    }

    fn row(&self, record: &StringRecord, table: &Table) -> Result<Row, ImportError> {
        let own = |name| {
            self.column(&Meaning::Own(name)).map(|column| &record[column]).filter(|text| !text.is_empty())
        };
        let Some(method) = own("method").map(method_name) else {
            return Err(ImportError::NoMethod { line: line(record) });
        };
        let data = own("data").map_or_else(|| "unknown".to_owned(), data_name);
        let name = match (own("name"), self.column(&Meaning::Own("name"))) {
            (Some(number), Some(column)) if self.names[column].trim() == MODEL_NUMBER => {
                format!("model {number}")
            }
            (Some(name), _) => name.to_owned(),
            (None, _) => format!("line {}", line(record)),
        };
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
                .ok_or_else(|| self.wrong(record, "state", "queued, running, done, interrupted or failed"))?;
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
                Meaning::MethodSetting { key, .. } => {
                    // The same key of another method is empty in this row.
                    if let Some(value) = setting(&record[column]) {
                        row.settings[place(&table.setting_keys, key)] = Some(value);
                    }
                    continue;
                }
                Meaning::Own(_) | Meaning::Ratio { .. } | Meaning::Unknown(_) | Meaning::Ignored => continue,
            };
            let Some(place) = table.number_keys.iter().position(|known| known == key) else { continue };
            into[place] = self.number(record, column)?.unwrap_or(f64::NAN);
        }
        for (column, meaning) in self.meanings.iter().enumerate() {
            let Meaning::Ratio { key, of } = meaning else { continue };
            let base = table.setting_keys.iter().position(|known| known == of);
            let base = base.and_then(|place| row.settings[place].as_ref()).and_then(Value::as_f64);
            if let (Some(ratio), Some(base)) = (self.number(record, column)?, base) {
                row.settings[place(&table.setting_keys, key)] = Some(Value::from(ratio * base));
            }
        }
        row.spread = runs.is_some().then_some(spread);
        Ok(row)
    }

    fn column(&self, meaning: &Meaning) -> Option<usize> {
        self.meanings.iter().position(|known| known == meaning)
    }

    fn number(&self, record: &StringRecord, column: usize) -> Result<Option<f64>, ImportError> {
        let field = &record[column];
        if is_missing(field) {
            return Ok(None);
        }
        let number = field.parse::<f64>().ok().filter(|number| number.is_finite());
        number.map(Some).ok_or_else(|| self.wrong_at(record, column, "a number"))
    }

    fn own_number(&self, record: &StringRecord, name: &'static str) -> Result<Option<f64>, ImportError> {
        self.column(&Meaning::Own(name)).map_or(Ok(None), |column| self.number(record, column))
    }

    fn whole(&self, record: &StringRecord, name: &'static str) -> Result<Option<u64>, ImportError> {
        let Some(column) = self.column(&Meaning::Own(name)) else { return Ok(None) };
        let field = &record[column];
        if is_missing(field) {
            return Ok(None);
        }
        field.parse().map(Some).map_err(|_| self.wrong_at(record, column, "a whole number"))
    }

    fn wrong(&self, record: &StringRecord, name: &'static str, expected: &'static str) -> ImportError {
        let column = self.column(&Meaning::Own(name)).unwrap_or_default();
        self.wrong_at(record, column, expected)
    }

    fn wrong_at(&self, record: &StringRecord, column: usize, expected: &'static str) -> ImportError {
        ImportError::Field {
            line: line(record),
            column: self.names[column].clone(),
            found: record[column].to_owned(),
            expected,
        }
    }
}

/// Words that are quoted within their fields, as `'cars3d'`, without their quotes.
fn without_quotes(record: StringRecord) -> StringRecord {
    let inner =
        |field: &str| field.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).map(str::to_owned);
    if record.iter().all(|field| inner(field).is_none()) {
        return record;
    }
    let mut plain: StringRecord =
        record.iter().map(|field| inner(field).unwrap_or_else(|| field.to_owned())).collect();
    plain.set_position(record.position().cloned());
    plain
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
