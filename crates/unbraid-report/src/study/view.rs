//! What a study's page is about: its table, which rows are drawn, and what belongs to what colour.

use crate::study::Table;
use crate::study::analysis::groups::{Group, Part, groups};
use crate::study::analysis::quantities::{self, Kind, RECONSTRUCTION};
use crate::study::analysis::statistics::Mean;
use unbraid_metrics::registry::Direction;

/// The scores that papers show first, in their order.
const FIRST: [&str; 5] = ["beta_vae_score", "factor_vae_score", "mig", "sap", "dci_disentanglement"];
/// Where some of these are missing, others take their places up to this number.
const HEADLINES: usize = 5;

/// A table and what is worth knowing of it before drawing.
#[derive(Debug)]
pub struct Subject<'a> {
    /// All rows and numbers, the derived ones too.
    pub table: &'a Table,
    /// The study's own finished runs.
    pub rows: Vec<usize>,
    /// Data sets of these, in order of appearance.
    pub data: Vec<String>,
    /// Methods of the study, then those that only others have; a method keeps its colour in every figure.
    methods: Vec<String>,
    /// What others found, one for each of their sources, data sets, methods and settings.
    published: Vec<Group>,
}

/// A mean that others found.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// Where it comes from.
    pub source: String,
    /// Of which hyper-parameters, such as `beta=4`.
    pub setting: String,
    /// The mean, and its deviation where they say so.
    pub mean: Mean,
}

impl<'a> Subject<'a> {
    /// Of a table that has its derived numbers.
    pub fn new(table: &'a Table) -> Self {
        let rows = table.own_runs();
        let mut data: Vec<String> = Vec::new();
        for &row in &rows {
            push_new(&mut data, &table.rows[row].data);
        }
        let mut methods = Vec::new();
        let (own, others): (Vec<_>, Vec<_>) = table.rows.iter().partition(|row| row.source.is_none());
        for row in own.into_iter().chain(others) {
            push_new(&mut methods, &row.method);
        }
        let imported = table.select(|row| row.source.is_some());
        let published = groups(table, &imported, &[Part::Source, Part::Data, Part::Method, Part::Setting]);
        Self { table, rows, data, methods, published }
    }

    /// The place of a method among the colours.
    pub fn colour(&self, method: &str) -> usize {
        self.methods.iter().position(|known| known == method).unwrap_or(0)
    }

    /// The finished runs on one data set.
    pub fn rows_on(&self, data: &str) -> Vec<usize> {
        self.rows.iter().copied().filter(|&row| self.table.rows[row].data == data).collect()
    }

    /// The methods of these rows, in order of appearance.
    pub fn methods_of(&self, rows: &[usize]) -> Vec<&'a str> {
        let mut methods: Vec<&str> = Vec::new();
        for &row in rows {
            let method = self.table.rows[row].method.as_str();
            if !methods.contains(&method) {
                methods.push(method);
            }
        }
        methods
    }

    /// Scores that judge, of which some run has a value; the well-known ones first, those for each number of labels left
    /// out.
    pub fn scores(&self) -> Vec<String> {
        let mut keys = quantities::keys_of(self.table, &self.rows, Kind::Score);
        keys.retain(|key| {
            quantities::direction(key) != Direction::Neither
                && quantities::metric(key).is_some_and(|metric| metric.keys.contains(&key.as_str()))
        });
        let rank = |key: &String| FIRST.iter().position(|first| first == key).unwrap_or(FIRST.len());
        keys.sort_by_key(rank);
        keys
    }

    /// The few scores that figures show where showing all would be too much: those of the papers as far as they are there,
    /// or else the first ones.
    pub fn headlines(&self) -> Vec<String> {
        let mut scores = self.scores();
        let known = scores.iter().filter(|key| FIRST.contains(&key.as_str())).count();
        scores.truncate(if known >= 3 { known } else { HEADLINES });
        scores
    }

    /// Whether some finished run has this number.
    pub fn has(&self, key: &str) -> bool {
        self.column(key).is_some_and(|column| {
            self.rows.iter().any(|&row| self.table.rows[row].numbers[column].is_finite())
        })
    }

    /// The headlines, and the reconstruction loss if it is there.
    pub fn headlines_and_reconstruction(&self) -> Vec<String> {
        let mut keys = self.headlines();
        keys.extend(self.has(RECONSTRUCTION).then(|| RECONSTRUCTION.to_owned()));
        keys
    }

    /// The values of a number in these rows, NaN where there is none.
    pub fn values(&self, rows: &[usize], key: &str) -> Vec<f64> {
        let Some(column) = self.column(key) else { return Vec::new() };
        rows.iter().map(|&row| self.table.rows[row].numbers[column]).collect()
    }

    /// What others found for a method on a data set.
    pub fn published(&self, data: &str, method: &str, key: &str) -> Vec<Published> {
        let Some(column) = self.column(key) else { return Vec::new() };
        let same = |group: &&Group| group.labels[1] == data && group.labels[2] == method;
        let entry = |group: &Group| {
            let mean = Mean::of_rows(self.table, &group.rows, column)?;
            Some(Published { source: group.labels[0].clone(), setting: group.labels[3].clone(), mean })
        };
        self.published.iter().filter(same).filter_map(entry).collect()
    }

    /// The data sets that others have and this study too.
    pub fn shared_data(&self) -> Vec<&str> {
        let known = |data: &&String| self.published.iter().any(|group| group.labels[1] == **data);
        self.data.iter().filter(known).map(String::as_str).collect()
    }

    fn column(&self, key: &str) -> Option<usize> {
        self.table.number_column(key)
    }
}

fn push_new(known: &mut Vec<String>, word: &str) {
    if !known.iter().any(|other| other == word) {
        known.push(word.to_owned());
    }
}
