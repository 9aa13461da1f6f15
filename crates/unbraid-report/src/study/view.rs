//! The table of a study, prepared for its page: which rows are drawn, which scores come first, which colour a
//! method has.

use unbraid::metrics::Direction;
use unbraid_study::analysis::data_sets::published_name;
use unbraid_study::analysis::groups::{Group, Part, groups};
use unbraid_study::analysis::quantities::{self, Kind, RECONSTRUCTION};
use unbraid_study::analysis::statistics::Mean;
use unbraid_study::{Row, Table};

/// The scores that papers show first, in their order.
const FIRST: [&str; 5] = ["beta_vae_score", "factor_vae_score", "mig", "sap", "dci_disentanglement"];
/// Where some of these are missing, others take their places up to this number.
const HEADLINES: usize = 5;

/// The order of methods in Hartmann's figures.
const METHODS: [&str; 6] =
    ["beta-vae", "annealed-vae", "factor-vae", "beta-tcvae", "dip-vae-i", "dip-vae-ii"];

/// A table, prepared for drawing.
#[derive(Debug)]
pub(crate) struct StudyView<'a> {
    /// All rows and numbers, including derived ones.
    pub(crate) table: &'a Table,
    /// The study's own finished runs, or the imported ones if it has none of its own.
    pub(crate) rows: Vec<usize>,
    /// Data sets of these, in order of appearance.
    pub(crate) data: Vec<String>,
    /// Methods of the study, then those of published results only; a method keeps its colour in every figure.
    methods: Vec<String>,
    /// Published results, grouped by source, data set, method and setting.
    published: Vec<Group>,
}

/// A published mean.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Published {
    /// Its source.
    pub(crate) source: String,
    /// On which data set, by its published name.
    pub(crate) data: String,
    /// Of which hyper-parameters, such as `beta=4`.
    pub(crate) setting: String,
    /// The mean, and its standard deviation where that was published.
    pub(crate) mean: Mean,
}

impl<'a> StudyView<'a> {
    /// Of a table that has its derived numbers.
    pub(crate) fn new(table: &'a Table) -> Self {
        let mut rows = table.shown_runs();
        let mut data: Vec<String> = Vec::new();
        for &row in &rows {
            push_new(&mut data, &table.rows[row].data);
        }
        let is_imported = table.is_imported_only();
        if is_imported {
            // Tables from elsewhere have an order of their own; a study's own is that of its definition.
            let rank =
                |method: &str| METHODS.iter().position(|known| *known == method).unwrap_or(METHODS.len());
            rows.sort_by_key(|&row| rank(&table.rows[row].method));
        }
        let mut methods = Vec::new();
        let (own, others): (Vec<_>, Vec<_>) = table.rows.iter().partition(|row| row.source.is_none());
        let shown = rows.iter().map(|&row| &table.rows[row]);
        for row in own.into_iter().chain(shown).chain(others) {
            push_new(&mut methods, &row.method);
        }
        let imported = table.select(|row| row.source.is_some() && (!is_imported || row.spread.is_some()));
        let published = groups(table, &imported, &[Part::Source, Part::Data, Part::Method, Part::Setting]);
        Self { table, rows, data, methods, published }
    }

    /// The number of the colour of a method.
    pub(crate) fn colour(&self, method: &str) -> usize {
        self.methods.iter().position(|known| known == method).unwrap_or(0)
    }

    /// The finished runs on one data set.
    pub(crate) fn rows_on(&self, data: &str) -> Vec<usize> {
        self.rows.iter().copied().filter(|&row| self.table.rows[row].data == data).collect()
    }

    /// The methods of these rows, in order of appearance.
    pub(crate) fn methods_of(&self, rows: &[usize]) -> Vec<&'a str> {
        let mut methods: Vec<&str> = Vec::new();
        for &row in rows {
            let method = self.table.rows[row].method.as_str();
            if !methods.contains(&method) {
                methods.push(method);
            }
        }
        methods
    }

    /// Scores with a direction that some run has; the well-known ones first, those for each number of labels left out.
    pub(crate) fn scores(&self) -> Vec<String> {
        let mut keys = quantities::keys_of(self.table, &self.rows, Kind::Score);
        keys.retain(|key| {
            quantities::direction(key) != Direction::Neither
                && quantities::metric(key).is_some_and(|metric| metric.position(key).is_some())
        });
        let rank = |key: &String| FIRST.iter().position(|first| first == key).unwrap_or(FIRST.len());
        keys.sort_by_key(rank);
        keys
    }

    /// The few scores that figures show where all would be too many: those of the papers if at least three of
    /// them are there, or else the first ones.
    pub(crate) fn headlines(&self) -> Vec<String> {
        let mut scores = self.scores();
        let known = scores.iter().filter(|key| FIRST.contains(&key.as_str())).count();
        scores.truncate(if known >= 3 { known } else { HEADLINES });
        scores
    }

    /// Whether some finished run has this number.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.column(key).is_some_and(|column| {
            self.rows.iter().any(|&row| self.table.rows[row].numbers[column].is_finite())
        })
    }

    /// The headlines, and the reconstruction loss if it is there.
    pub(crate) fn headlines_and_reconstruction(&self) -> Vec<String> {
        let mut keys = self.headlines();
        keys.extend(self.has(RECONSTRUCTION).then(|| RECONSTRUCTION.to_owned()));
        keys
    }

    /// The values of a number in these rows, NaN where there is none.
    pub(crate) fn values(&self, rows: &[usize], key: &str) -> Vec<f64> {
        let Some(column) = self.column(key) else { return Vec::new() };
        rows.iter().map(|&row| self.table.rows[row].numbers[column]).collect()
    }

    /// The chance level of a score, mean over those of these rows that have one.
    pub(crate) fn chance(&self, rows: &[usize], key: &str) -> Option<f64> {
        Mean::of(&self.values(rows, &quantities::chance_key(key))).map(|mean| mean.mean)
    }

    /// The rows that are counted: the study's own or, if it has none, the single runs of imported tables.
    pub(crate) fn counted(&self) -> impl Iterator<Item = &'a Row> {
        let (table, is_imported) = (self.table, self.table.is_imported_only());
        table
            .rows
            .iter()
            .filter(move |row| if is_imported { row.spread.is_none() } else { row.source.is_none() })
    }

    /// Published means of a method on a data set, whatever both call it.
    pub(crate) fn published(&self, data: &str, method: &str, key: &str) -> Vec<Published> {
        let Some(column) = self.column(key) else { return Vec::new() };
        let data = published_name(data);
        let same = |group: &&Group| group.labels[2] == method && published_name(&group.labels[1]) == data;
        let entry = |group: &Group| {
            let mean = Mean::of_rows(self.table, &group.rows, column)?;
            let [source, data, _, setting] = group.labels.as_slice() else { return None };
            Some(Published { source: source.clone(), data: data.clone(), setting: setting.clone(), mean })
        };
        self.published.iter().filter(same).filter_map(entry).collect()
    }

    /// The data sets of this study that have published results too.
    pub(crate) fn shared_data(&self) -> Vec<&str> {
        let published: Vec<String> =
            self.published.iter().map(|group| published_name(&group.labels[1])).collect();
        let known = |data: &&String| published.contains(&published_name(data));
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
