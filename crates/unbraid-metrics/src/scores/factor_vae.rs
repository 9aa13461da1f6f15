//! The FactorVAE score, also known as Z-min-variance.

use super::interventions::{Accuracies, InterventionSampler, MOST_POINTS, check_counts};
use crate::codes::Codes;
use crate::error::{MetricsError, Result};
use crate::metric::{Description, Metric, Options};
use crate::options::Declare;
use crate::random::{self, below};
use crate::report::ScoreValues;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Parameters of [`factor_vae_score`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FactorVaeParameters {
    /// Points for each vote, which share the value of a factor.
    pub batch_size: usize,
    /// Votes that the classifier is fitted to.
    pub train_points: usize,
    /// Votes that it is tested on.
    pub test_points: usize,
    /// Points that the global variance of each unit is estimated from.
    pub variance_points: usize,
    /// Units whose standard deviation is below this do not vote.
    pub prune_below: f64,
    /// Seeds all random draws.
    pub seed: u64,
}

impl Default for FactorVaeParameters {
    fn default() -> Self {
        Self {
            batch_size: 64,
            train_points: 10_000,
            test_points: 5_000,
            variance_points: 10_000,
            prune_below: 0.05,
            seed: 0,
        }
    }
}

impl FactorVaeParameters {
    /// The same parameters with this seed.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    fn declare(&mut self, declare: &mut Declare<'_>) {
        let Self { batch_size, train_points, test_points, variance_points, prune_below, seed: _ } = self;
        declare.count(
            "batch_size",
            batch_size,
            2..=MOST_POINTS,
            "points of a vote, which share the value of a factor",
        );
        declare.count(
            "train_points",
            train_points,
            1..=MOST_POINTS,
            "votes that decide what each unit stands for",
        );
        declare.count("test_points", test_points, 1..=MOST_POINTS, "votes that are judged");
        declare.count(
            "variance_points",
            variance_points,
            2..=MOST_POINTS,
            "points that global variances are computed from",
        );
        declare.number("prune", prune_below, 0.0.., "units with a smaller standard deviation do not vote");
    }
}

/// FactorVAE score (also Z-min-variance): does the unit with the smallest variance identify the factor that was fixed?
///
/// ```text
/// vote:   a random factor k; points that share one value of k; d = argmin over units of Var(z_d) / global Var(z_d)
/// score:  accuracy, on new votes, of predicting for each d the factor that it received most training votes for
/// ```
/// Variances have n - 1 in the denominator. Units whose global standard deviation is below the threshold, or 0, do not
/// vote; if none is left, the score is 0.
///
/// * Range: 0 to 1, higher is better; chance is 1 / factors. With a single factor and an active unit it is 1.
/// * Reference: Kim and Mnih 2018, Disentangling by factorising; numbers of votes as in Locatello et al. 2019.
/// * See also: [`beta_vae_score`](super::beta_vae_score), its predecessor; [`irs`](super::irs).
///
/// # Errors
/// If a parameter is out of range; variances need at least two points.
///
/// ```
/// use ndarray::Array2;
/// use unbraid_metrics::Labelled;
/// use unbraid_metrics::scores::{FactorVaeParameters, GroupedRows, factor_vae_score};
///
/// let factors = Array2::from_shape_fn((100, 2), |(row, factor)| (if factor == 0 { row / 10 } else { row % 10 }) as i64);
/// let codes = factors.mapv(|value| value as f64);
/// let sampler = GroupedRows::new(&Labelled::new(codes.view(), factors.view())?);
/// let parameters = FactorVaeParameters { train_points: 200, test_points: 100, ..Default::default() };
/// assert_eq!(factor_vae_score(&sampler, &parameters)?.value, 1.0);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn factor_vae_score(
    sampler: &dyn InterventionSampler,
    parameters: &FactorVaeParameters,
) -> Result<Accuracies> {
    check_counts(parameters.batch_size, parameters.train_points, parameters.test_points)?;
    for (name, value) in
        [("batch_size", parameters.batch_size), ("variance_points", parameters.variance_points)]
    {
        if value < 2 {
            return Err(MetricsError::parameter(name, value, "at least 2"));
        }
        if value > MOST_POINTS {
            return Err(MetricsError::parameter(name, value, format!("at most {MOST_POINTS}")));
        }
    }
    if !(parameters.prune_below >= 0.0 && parameters.prune_below.is_finite()) {
        return Err(MetricsError::parameter("prune_below", parameters.prune_below, "0 or a positive number"));
    }
    let units = sampler.unit_count();
    let mut points = vec![0.0; parameters.variance_points * units];
    sampler.free(&mut random::generator(parameters.seed, "factor-vae variance", 0), &mut points);
    let global = variances(&points, units);
    let active: Vec<usize> = (0..units)
        .filter(|&unit| global[unit] > 0.0 && global[unit].sqrt() >= parameters.prune_below)
        .collect();
    if active.is_empty() || sampler.factor_count() == 0 {
        return Ok(Accuracies { value: 0.0, train: 0.0 });
    }
    let votes = |purpose, count| {
        let mut table = vec![vec![0_u32; sampler.factor_count()]; active.len()];
        for (factor, index) in cast(sampler, parameters, &global, &active, purpose, count) {
            table[index][factor] += 1;
        }
        table
    };
    let train = votes("factor-vae train", parameters.train_points);
    let test = votes("factor-vae test", parameters.test_points);
    // The factor of each unit: the one with most votes, the first of equals.
    let meaning: Vec<usize> = train
        .iter()
        .map(|counts| (0..counts.len()).rev().max_by_key(|&factor| counts[factor]).unwrap_or(0))
        .collect();
    let share = |table: &[Vec<u32>], total: usize| {
        let hits: u32 = table.iter().zip(&meaning).map(|(counts, &factor)| counts[factor]).sum();
        f64::from(hits) / total as f64
    };
    Ok(Accuracies {
        value: share(&test, parameters.test_points),
        train: share(&train, parameters.train_points),
    })
}

/// The metric `factor_vae_score`; see [`factor_vae_score`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FactorVaeScore {
    /// Its parameters.
    pub parameters: FactorVaeParameters,
}

impl Metric for FactorVaeScore {
    fn description(&self) -> Description {
        Description::new(
            "factor_vae_score",
            "the unit with the smallest variance identifies the factor that was fixed",
        )
        .number("factor_vae_score", "FactorVAE score")
        .alias("z_min_variance")
        .interventional()
        .compares_factors("factor_vae_score")
    }

    fn declare_options(&mut self, declare: &mut Declare<'_>) {
        self.parameters.declare(declare);
    }

    fn run(&self, codes: &Codes, options: &Options<'_>) -> Result<ScoreValues> {
        let parameters = self.parameters.clone().with_seed(options.seed);
        let found = factor_vae_score(options.sampler_for(codes)?.as_ref(), &parameters)?;
        Ok(ScoreValues::new("factor_vae_score", found.value)
            .with_list("factor_vae_train_accuracy", vec![found.train]))
    }
}

/// Votes as (fixed factor, position of the least varying unit among the active ones). Each has its own random generator.
fn cast(
    sampler: &dyn InterventionSampler,
    parameters: &FactorVaeParameters,
    global: &[f64],
    active: &[usize],
    purpose: &str,
    count: usize,
) -> Vec<(usize, usize)> {
    let units = sampler.unit_count();
    (0..count)
        .into_par_iter()
        .map_init(
            || vec![0.0; parameters.batch_size * units],
            |batch, vote| {
                let mut generator = random::generator(parameters.seed, purpose, vote as u64);
                let factor = below(&mut generator, sampler.factor_count());
                sampler.held(factor, &mut generator, batch);
                let local = variances(batch, units);
                let ratio = |index: usize| local[active[index]] / global[active[index]];
                let least = (1..active.len())
                    .fold(0, |least, index| if ratio(index) < ratio(least) { index } else { least });
                (factor, least)
            },
        )
        .collect()
}

/// The variance of each unit over the rows of a batch.
fn variances(batch: &[f64], units: usize) -> Vec<f64> {
    let rows = (batch.len() / units) as f64;
    let mut means = vec![0.0; units];
    for row in batch.chunks_exact(units) {
        for (mean, value) in means.iter_mut().zip(row) {
            *mean += value / rows;
        }
    }
    let mut squares = vec![0.0; units];
    for row in batch.chunks_exact(units) {
        for ((square, mean), value) in squares.iter_mut().zip(&means).zip(row) {
            *square += (value - mean) * (value - mean);
        }
    }
    // A constant may differ from its rounded mean, and would then seem to vary.
    let constant = |unit: usize| batch.chunks_exact(units).all(|row| row[unit] == batch[unit]);
    (0..units).map(|unit| if constant(unit) { 0.0 } else { squares[unit] / (rows - 1.0) }).collect()
}
