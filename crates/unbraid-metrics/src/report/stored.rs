//! Reading a score, with or without its lists and matrices.

use super::{Bootstrap, Chance, Level, Score, ScoreValues};
use crate::registry;
use ndarray::Array2;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use std::marker::PhantomData;

impl<'de> Deserialize<'de> for Score {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Named {
            name: String,
            #[serde(flatten)]
            entry: Entry<StoredDetails>,
        }
        let Named { name, entry } = Named::deserialize(deserializer)?;
        Ok(entry.into_score(name))
    }
}

/// A score as it is stored, without its name.
#[derive(Deserialize)]
#[serde(bound = "T: IntoDetails<'de>")]
pub(super) struct Entry<T> {
    // NaN is written as null.
    parts: InOrder<Option<f64>>,
    #[serde(default)]
    details: T,
    #[serde(default)]
    parameters: serde_json::Value,
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    seconds: Option<f64>,
    shuffles: Option<usize>,
    #[serde(default)]
    chance: Known<f64>,
    #[serde(default)]
    chance_deviation: Known<f64>,
    resamples: Option<usize>,
    #[serde(default)]
    interval: Known<[f64; 2]>,
    #[serde(default)]
    majority: Known<f64>,
    #[serde(default)]
    undefined: Known<String>,
}

/// The entries of an object; no entries for anything else that another program may have written.
#[derive(Deserialize)]
#[serde(untagged, bound = "T: Deserialize<'de>")]
enum Known<T> {
    Entries(InOrder<T>),
    Other(IgnoredAny),
}

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self::Entries(InOrder::default())
    }
}

impl<T> Known<T> {
    fn into_entries(self) -> Vec<(String, T)> {
        match self {
            Self::Entries(InOrder(entries)) => entries,
            Self::Other(IgnoredAny) => Vec::new(),
        }
    }
}

impl<T> Entry<T> {
    pub(super) fn into_score<'de>(self, name: String) -> Score
    where
        T: IntoDetails<'de>,
    {
        let InOrder(parts) = self.parts;
        let mut numbers: Vec<(String, f64)> =
            parts.into_iter().map(|(key, value)| (key, value.unwrap_or(f64::NAN))).collect();
        if let Some(metric) = registry::shared().get(&name) {
            numbers.sort_by_key(|(key, _)| metric.position(key).unwrap_or(usize::MAX));
        }
        let (lists, matrices) = self.details.into_details();
        let deviations = self.chance_deviation.into_entries();
        let shuffles = self.shuffles.unwrap_or(0);
        let level = |(key, mean): (String, f64)| {
            // A spread of fewer than two shuffles is none.
            let deviation = super::lookup(&deviations, &key).copied().filter(|_| shuffles > 1);
            (key, Level { mean, deviation, shuffles })
        };
        let levels: Vec<(String, Level)> = self.chance.into_entries().into_iter().map(level).collect();
        let chance = self.shuffles.map(|shuffles| Chance::from_levels(shuffles, levels));
        let intervals = self.interval.into_entries();
        let bootstrap = self.resamples.map(|resamples| Bootstrap::from_intervals(resamples, intervals));
        Score {
            name,
            values: ScoreValues {
                numbers,
                lists,
                matrices,
                majorities: self.majority.into_entries(),
                undefined: self.undefined.into_entries(),
            },
            parameters: self.parameters,
            seed: self.seed,
            seconds: self.seconds.unwrap_or(f64::NAN),
            chance,
            bootstrap,
        }
    }
}

/// The entries of an object in the order in which they stand there.
pub(super) struct InOrder<T>(pub(super) Vec<(String, T)>);

impl<T> Default for InOrder<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for InOrder<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = InOrder<T>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(InOrder(entries))
            }
        }

        deserializer.deserialize_map(Entries(PhantomData))
    }
}

type Lists = Vec<(String, Vec<f64>)>;
type Matrices = Vec<(String, Array2<f64>)>;

/// What is made of the `details` of a score: everything, or nothing.
pub(super) trait IntoDetails<'de>: Deserialize<'de> + Default {
    fn into_details(self) -> (Lists, Matrices);
}

impl IntoDetails<'_> for IgnoredAny {
    fn into_details(self) -> (Lists, Matrices) {
        (Vec::new(), Vec::new())
    }
}

#[derive(Default, Deserialize)]
#[serde(transparent)]
pub(super) struct StoredDetails(InOrder<StoredDetail>);

#[derive(Deserialize)]
#[serde(untagged)]
enum StoredDetail {
    List(Vec<Option<f64>>),
    Rows(Vec<Vec<Option<f64>>>),
    /// A kind that a newer version writes.
    Other(IgnoredAny),
}

impl IntoDetails<'_> for StoredDetails {
    fn into_details(self) -> (Lists, Matrices) {
        let numbers = |list: Vec<Option<f64>>| -> Vec<f64> {
            list.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect()
        };
        let (mut lists, mut matrices) = (Vec::new(), Vec::new());
        let InOrder(details) = self.0;
        for (key, detail) in details {
            match detail {
                StoredDetail::List(list) => lists.push((key, numbers(list))),
                StoredDetail::Rows(rows) => {
                    let shape = (rows.len(), rows.first().map_or(0, Vec::len));
                    let fits = rows.iter().all(|row| row.len() == shape.1);
                    let values = numbers(rows.concat());
                    // Rows of different lengths are not a matrix, and are skipped like unknown kinds.
                    if let (true, Ok(matrix)) = (fits, Array2::from_shape_vec(shape, values)) {
                        matrices.push((key, matrix));
                    }
                }
                StoredDetail::Other(IgnoredAny) => {}
            }
        }
        (lists, matrices)
    }
}
