//! One table of all metrics, and a way to run any of them by name.
//!
//! ```
//! use ndarray::Array2;
//! use unbraid_metrics::{Codes, registry};
//!
//! let factors = Array2::from_shape_fn((60, 2), |(row, factor)| [row / 10, row % 3][factor] as i64);
//! let codes = Codes::split(factors.mapv(|value| value as f64).view(), factors.view())?;
//! let report = registry::run(&["mig", "modularity"], &codes, &registry::Options::default())?;
//! assert!(report.get("mig").is_some_and(|value| value > 0.5));
//! let json = serde_json::to_value(&report).unwrap();
//! assert!(json["modularity"].is_number() && json["details"]["mutual_information"].is_array());
//! # Ok::<(), unbraid_metrics::MetricsError>(())
//! ```

mod parameters;
mod report;
mod table;

pub use parameters::{Parameters, SapContinuousParameters};
pub use report::{Outcome, Report, Score};

use crate::codes::Codes;
use crate::error::{MetricsError, Result};
use crate::scores::{GroupedRows, InterventionSampler};
use std::time::Instant;

/// Which way a metric points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Higher is better.
    Higher,
    /// Lower is better.
    Lower,
    /// It describes, and does not judge.
    Neither,
}

impl std::fmt::Display for Direction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Higher => "higher is better",
            Self::Lower => "lower is better",
            Self::Neither => "neither",
        })
    }
}

/// What a metric needs beyond training codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Factors of the training points.
    pub factors: bool,
    /// Test points with factors.
    pub test: bool,
    /// Logarithms of the posterior variances.
    pub log_variances: bool,
    /// The most likely categories of categorical units.
    pub clusters: bool,
}

impl Needs {
    /// The first requirement that these codes do not meet.
    pub fn missing_from(self, codes: &Codes) -> Option<Requirement> {
        [
            (self.factors && !codes.has_factors(), Requirement::Factors),
            (self.test && !codes.has_test_points(), Requirement::TestPoints),
            (self.log_variances && codes.log_variance_train().is_none(), Requirement::LogVariances),
            (self.clusters && codes.clusters().is_none(), Requirement::Clusters),
        ]
        .into_iter()
        .find_map(|(missing, requirement)| missing.then_some(requirement))
    }
}

/// Something that codes can have beyond training codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// Factors of the training points.
    Factors,
    /// Test points with factors.
    TestPoints,
    /// Log-variances of the posteriors.
    LogVariances,
    /// Clusters: the most likely category of each categorical unit.
    Clusters,
}

impl std::fmt::Display for Requirement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Factors => "factors",
            Self::TestPoints => "test points with factors",
            Self::LogVariances => "log-variances of the posteriors",
            Self::Clusters => "categories of a categorical unit",
        })
    }
}

/// An entry of the registry.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// The name it is asked for by.
    pub name: &'static str,
    /// The keys of its numbers in a report, the main one first. (Downstream accuracies also have one per number of
    /// labels.)
    pub keys: &'static [&'static str],
    /// The keys of its matrices under `details`.
    pub details: &'static [&'static str],
    /// What a good value says, in one line.
    pub meaning: &'static str,
    /// Which way it points.
    pub direction: Direction,
    /// The smallest and largest possible value.
    pub range: (f64, f64),
    /// What it needs.
    pub needs: Needs,
    /// Whether factor values are taken as numbers, so that renaming them changes the score.
    pub factor_values_are_numbers: bool,
    /// Whether it draws codes under interventions, so that it gains from a sampler over the whole data set.
    pub interventional: bool,
    /// Whether it is run when no metrics are named; off for those that take long and say little new.
    pub by_default: bool,
    parameters: fn(&Parameters) -> serde_json::Value,
    run: fn(&Input<'_>) -> Result<Outcome>,
}

impl Metric {
    /// Its part of `parameters`.
    pub fn parameters_in(&self, parameters: &Parameters) -> serde_json::Value {
        (self.parameters)(parameters)
    }
}

/// How to run metrics.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Draws everything that is random.
    pub seed: u64,
    /// Parameters that differ from the defaults.
    pub parameters: Option<&'a Parameters>,
    /// Draws for the interventional scores; without one they group the rows of the training codes.
    pub sampler: Option<&'a dyn InterventionSampler>,
}

/// What a metric is computed from.
struct Input<'a> {
    codes: &'a Codes,
    parameters: Parameters,
    sampler: Option<&'a dyn InterventionSampler>,
}

impl<'a> Input<'a> {
    fn sampler(&self) -> Result<Box<dyn InterventionSampler + 'a>> {
        match self.sampler {
            Some(sampler) => Ok(Box::new(sampler)),
            None => Ok(Box::new(GroupedRows::new(&self.codes.labelled()?))),
        }
    }
}

fn unmet(metric: &str, missing: Requirement) -> MetricsError {
    MetricsError::Unmet { metric: metric.to_owned(), missing }
}

/// All metrics, in the order in which they are shown.
pub fn metrics() -> &'static [Metric] {
    &table::METRICS
}

/// The metric with this name; the key of one of its numbers will do, and hyphens for underscores.
///
/// # Errors
/// [`MetricsError::UnknownMetric`] with the nearest name.
///
/// ```
/// use unbraid_metrics::registry;
///
/// assert_eq!(registry::find("dci_completeness")?.name, "dci");
/// let error = registry::find("modularitty").unwrap_err();
/// assert_eq!(error.to_string(), "unknown metric `modularitty`\nhint: did you mean `modularity`?");
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn find(name: &str) -> Result<&'static Metric> {
    let wanted = name.trim().to_lowercase().replace('-', "_");
    let answers = |metric: &Metric| metric.name == wanted || metric.keys.contains(&wanted.as_str());
    let found = metrics()
        .iter()
        .find(|metric| answers(metric))
        .or_else(|| metrics().iter().find(|metric| metric.name.strip_suffix("_score") == Some(&wanted)));
    found.ok_or_else(|| {
        let nearest = metrics()
            .iter()
            .map(|metric| (strsim::normalized_damerau_levenshtein(&wanted, metric.name), metric.name))
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .filter(|(similarity, _)| *similarity >= 0.5);
        MetricsError::UnknownMetric {
            name: name.to_owned(),
            nearest: nearest.map(|(_, nearest)| nearest.to_owned()),
            known: metrics().iter().map(|metric| metric.name.to_owned()).collect(),
        }
    })
}

/// The metrics that are run when none are named: all that these codes have what it takes for.
pub fn applicable(codes: &Codes) -> Vec<&'static Metric> {
    metrics()
        .iter()
        .filter(|metric| metric.by_default && metric.needs.missing_from(codes).is_none())
        .collect()
}

/// Runs metrics by name; without names, all that apply.
///
/// # Errors
/// If a name is unknown, a metric that was named needs something that the codes lack, or a score fails.
pub fn run<N: AsRef<str>>(names: &[N], codes: &Codes, options: &Options<'_>) -> Result<Report> {
    run_with_progress(names, codes, options, |_, _, _| ())
}

/// As [`run`], telling before each metric which one it is, its position and how many there are.
///
/// # Errors
/// As [`run`].
pub fn run_with_progress<N: AsRef<str>>(
    names: &[N],
    codes: &Codes,
    options: &Options<'_>,
    mut progress: impl FnMut(&Metric, usize, usize),
) -> Result<Report> {
    let mut chosen: Vec<&'static Metric> = Vec::new();
    for name in names {
        let metric = find(name.as_ref())?;
        // Two keys of one metric are one request.
        if !chosen.iter().any(|other| other.name == metric.name) {
            chosen.push(metric);
        }
    }
    if names.is_empty() {
        chosen = applicable(codes);
    }
    for metric in &chosen {
        if let Some(missing) = metric.needs.missing_from(codes) {
            return Err(unmet(metric.name, missing));
        }
    }
    let parameters = options.parameters.cloned().unwrap_or_default().with_seed(options.seed);
    let input = Input { codes, parameters, sampler: options.sampler };
    let mut report = Report::default();
    for (position, metric) in chosen.iter().enumerate() {
        progress(metric, position, chosen.len());
        let started = Instant::now();
        let outcome = (metric.run)(&input)?;
        report.scores.push(Score {
            name: metric.name,
            outcome,
            parameters: metric.parameters_in(&input.parameters),
            seed: options.seed,
            seconds: started.elapsed().as_secs_f64(),
        });
    }
    Ok(report)
}
