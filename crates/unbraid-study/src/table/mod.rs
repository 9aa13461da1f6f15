//! The results of a study as one table: a row for each run, a column for each setting and each number.
//!
//! Keys are stored once, not in every row: ten thousand runs with a hundred columns are a few megabytes.

mod columns;
mod files;
mod header;
mod import_error;
pub mod imported;
mod results;

pub use files::TableFormat;
pub use import_error::ImportError;
pub use results::Results;

use serde_json::Value;
use std::collections::HashMap;
use unbraid::run::State;

/// All runs, their settings and their numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Dotted keys of the settings that distinguish runs, without `method`, `data` and `seed`, which have places of
    /// their own.
    pub setting_keys: Vec<String>,
    /// Names of the numbers: scores by their keys in the registry of metrics, their chance levels (`chance/mig`), and
    /// the last losses of training as in `metrics.jsonl` (`train/reconstruction`, `train/kl`, ...).
    pub number_keys: Vec<String>,
    /// The runs, in the order of the manifest; those from elsewhere after them.
    pub rows: Vec<Row>,
}

/// One run, or the published summary of several.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its number in the manifest; none if it comes from elsewhere.
    pub number: Option<usize>,
    /// Its name, unique within its source.
    pub name: String,
    /// SHA-256 of everything that determines its training, where that is known.
    pub hash: Option<String>,
    /// The imported table that it comes from; none for the study's own runs.
    pub source: Option<String>,
    /// How far it is.
    pub state: State,
    /// Training steps done.
    pub step: Option<u64>,
    /// Seconds from the beginning of training to its end, for a run that was trained without a break.
    pub seconds: Option<f64>,
    /// The method.
    pub method: String,
    /// The data set.
    pub data: String,
    /// The seed, where it is known.
    pub seed: Option<u64>,
    /// A value, or none, for each of [`Table::setting_keys`].
    pub settings: Vec<Option<Value>>,
    /// A number for each of [`Table::number_keys`]; NaN where there is none.
    pub numbers: Vec<f64>,
    /// If the row summarises several runs, whose means are its numbers: how many, and how far apart.
    pub spread: Option<Spread>,
}

/// What a row that summarises several runs says beside their means.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// How many runs.
    pub runs: usize,
    /// The standard deviation of each number over them; NaN where it is not known.
    pub deviations: Vec<f64>,
    /// The median of each number over them; NaN where it is not known.
    pub medians: Vec<f64>,
}

impl Row {
    /// A finished run of which nothing but this is known yet.
    pub fn named(name: impl Into<String>, method: impl Into<String>, data: impl Into<String>) -> Self {
        Self {
            number: None,
            name: name.into(),
            hash: None,
            source: None,
            state: State::Done,
            step: None,
            seconds: None,
            method: method.into(),
            data: data.into(),
            seed: None,
            settings: Vec::new(),
            numbers: Vec::new(),
            spread: None,
        }
    }

    /// Whether its numbers are those of one finished run.
    pub fn is_finished_run(&self) -> bool {
        self.state == State::Done && self.spread.is_none()
    }
}

impl Table {
    /// The place of a number's column.
    pub fn number_column(&self, key: &str) -> Option<usize> {
        self.number_keys.iter().position(|known| known == key)
    }

    /// The place of a setting's column.
    pub fn setting_column(&self, key: &str) -> Option<usize> {
        self.setting_keys.iter().position(|known| known == key)
    }

    /// One number of one row; NaN if there is no such number.
    pub fn number(&self, row: usize, key: &str) -> f64 {
        self.number_column(key).map_or(f64::NAN, |column| self.rows[row].numbers[column])
    }

    /// The study's own finished runs: what most analyses look at.
    pub fn own_runs(&self) -> Vec<usize> {
        self.select(|row| row.source.is_none() && row.is_finished_run())
    }

    /// Whether rows come from elsewhere only.
    pub fn is_imported_only(&self) -> bool {
        !self.rows.is_empty() && self.rows.iter().all(|row| row.source.is_some())
    }

    /// The runs that figures show: the study's own finished ones or, where all rows come from elsewhere, the
    /// single runs among these.
    pub fn shown_runs(&self) -> Vec<usize> {
        let imported = self.is_imported_only();
        self.select(|row| (imported || row.source.is_none()) && row.is_finished_run())
    }

    /// The places of the rows of which `wanted` is true.
    pub fn select(&self, wanted: impl Fn(&Row) -> bool) -> Vec<usize> {
        (0..self.rows.len()).filter(|&row| wanted(&self.rows[row])).collect()
    }

    /// The imported tables, in order.
    pub fn sources(&self) -> Vec<&str> {
        let mut sources: Vec<&str> = Vec::new();
        for source in self.rows.iter().filter_map(|row| row.source.as_deref()) {
            if !sources.contains(&source) {
                sources.push(source);
            }
        }
        sources
    }

    /// The data sets, in order of appearance.
    pub fn data_sets(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !names.contains(&row.data.as_str()) {
                names.push(&row.data);
            }
        }
        names
    }

    /// Adds a column, or replaces the one of this name, with one value for each row.
    ///
    /// # Panics
    /// If there are more or fewer values than rows.
    pub fn set_numbers(&mut self, key: &str, values: &[f64]) {
        assert_eq!(values.len(), self.rows.len(), "one value for each row");
        let column = self.number_column(key).unwrap_or_else(|| {
            self.number_keys.push(key.to_owned());
            self.fill_up();
            self.number_keys.len() - 1
        });
        for (row, value) in self.rows.iter_mut().zip(values) {
            row.numbers[column] = *value;
        }
    }

    /// Puts the columns of numbers into this order, which has the same keys.
    fn order_numbers(&mut self, order: &[String]) {
        let places: Vec<usize> = order.iter().filter_map(|key| self.number_column(key)).collect();
        let ordered = |values: &[f64]| places.iter().map(|&place| values[place]).collect::<Vec<f64>>();
        for row in &mut self.rows {
            row.numbers = ordered(&row.numbers);
            if let Some(spread) = &mut row.spread {
                spread.deviations = ordered(&spread.deviations);
                spread.medians = ordered(&spread.medians);
            }
        }
        self.number_keys = order.to_vec();
    }

    /// Adds the rows of another table, whose columns go under those of the same names.
    pub fn append(&mut self, other: Self) {
        let settings = places(&mut self.setting_keys, &other.setting_keys);
        let numbers = places(&mut self.number_keys, &other.number_keys);
        self.fill_up();
        let (setting_count, number_count) = (self.setting_keys.len(), self.number_keys.len());
        let spread_out = |values: &[f64]| {
            let mut all = vec![f64::NAN; number_count];
            values.iter().zip(&numbers).for_each(|(value, &place)| all[place] = *value);
            all
        };
        for mut row in other.rows {
            let mut all = vec![None; setting_count];
            row.settings.into_iter().zip(&settings).for_each(|(value, &place)| all[place] = value);
            row.settings = all;
            row.numbers = spread_out(&row.numbers);
            if let Some(spread) = &mut row.spread {
                spread.deviations = spread_out(&spread.deviations);
                spread.medians = spread_out(&spread.medians);
            }
            self.rows.push(row);
        }
    }

    /// Makes every row as long as the keys are.
    fn fill_up(&mut self) {
        let count = self.number_keys.len();
        for row in &mut self.rows {
            row.settings.resize(self.setting_keys.len(), None);
            row.numbers.resize(count, f64::NAN);
            if let Some(spread) = &mut row.spread {
                spread.deviations.resize(count, f64::NAN);
                spread.medians.resize(count, f64::NAN);
            }
        }
    }
}

/// The place of each of `others` among `keys`, to which those that are missing are added.
fn places(keys: &mut Vec<String>, others: &[String]) -> Vec<usize> {
    let mut known: HashMap<String, usize> =
        keys.iter().enumerate().map(|(place, key)| (key.clone(), place)).collect();
    let place = |key: &String| {
        *known.entry(key.clone()).or_insert_with(|| {
            keys.push(key.clone());
            keys.len() - 1
        })
    };
    others.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use unbraid::files::CellText;

    fn table(setting: &str, number: &str, value: f64) -> Table {
        let row = Row {
            settings: vec![Some(Value::from(value))],
            numbers: vec![value],
            ..Row::named(format!("run of {number}"), "vae", "shapes")
        };
        Table { setting_keys: vec![setting.into()], number_keys: vec![number.into()], rows: vec![row] }
    }

    #[test]
    fn text_is_no_formula_for_a_spreadsheet_and_numbers_stay_numbers() {
        let mut table = table("objective.beta", "mig", -1.5);
        table.rows[0].name = "=HYPERLINK(1)".to_owned();
        table.rows[0].method = "@vae".to_owned();
        let text = |cells| {
            let mut bytes = Vec::new();
            table.write_csv(&mut bytes, cells).unwrap();
            String::from_utf8(bytes).unwrap()
        };
        let plain = text(CellText::Plain);
        let quoted = text(CellText::ForSpreadsheets);
        assert!(plain.contains(",=HYPERLINK(1),") && plain.contains(",@vae,"), "{plain}");
        assert_eq!(quoted, plain.replace(",=HYPERLINK(1),", ",'=HYPERLINK(1),").replace(",@vae,", ",'@vae,"),);
        assert!(quoted.contains(",-1.5"), "{quoted}");
    }

    #[test]
    fn tables_are_joined_by_the_names_of_their_columns() {
        let mut joined = table("objective.beta", "mig", 1.0);
        let mut other = table("objective.gamma", "sap", 2.0);
        other.set_numbers("mig", &[3.0]);
        other.rows[0].source = Some("published".into());
        other.rows[0].spread =
            Some(Spread { runs: 5, deviations: vec![0.5, 0.25], medians: vec![1.5, f64::NAN] });
        joined.append(other);
        assert_eq!(joined.setting_keys, ["objective.beta", "objective.gamma"]);
        assert_eq!(joined.number_keys, ["mig", "sap"]);
        assert_eq!(joined.rows[0].settings, [Some(Value::from(1.0)), None]);
        assert_eq!(joined.rows[1].settings, [None, Some(Value::from(2.0))]);
        assert!(joined.number(0, "sap").is_nan() && joined.number(0, "dci").is_nan());
        assert_eq!(joined.rows[1].numbers, [3.0, 2.0]);
        let spread = joined.rows[1].spread.as_ref().unwrap();
        assert_eq!(spread.deviations, [0.25, 0.5]);
        assert!(spread.medians[0].is_nan() && spread.medians[1] == 1.5);
        assert_eq!((joined.own_runs(), joined.sources()), (vec![0], vec!["published"]));
        assert_eq!(joined.data_sets(), ["shapes"]);
    }
}
