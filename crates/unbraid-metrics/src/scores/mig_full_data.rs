//! The mutual information gap from posteriors, without bins.

use super::mig::MigValues;
use crate::classes::Classes;
use crate::codes::Codes;
use crate::error::{MetricsError, Result};
use crate::interruption;
use crate::metric::{Description, Metric, Needs, Options};
use crate::numeric::{entropy_of_counts, exp2, vectorised};
use crate::options::Declare;
use crate::random;
use crate::report::ScoreValues;
use crate::views::LabelledPosteriors;
use ndarray::{Array2, ArrayView1};
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::f64::consts::LOG2_E;
use std::ops::Range;

/// Parameters of [`mig_full_data`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MigFullDataParameters {
    /// The number of points to draw one posterior sample for each; all points if there are fewer.
    pub samples: usize,
    /// Seeds the choice of points and the samples.
    pub seed: u64,
}

impl Default for MigFullDataParameters {
    fn default() -> Self {
        Self { samples: 10_000, seed: 0 }
    }
}

impl MigFullDataParameters {
    /// The same parameters with this seed.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    fn declare(&mut self, declare: &mut Declare<'_>) {
        let Self { samples, seed: _ } = self;
        declare.count("samples", samples, 1.., "points whose posteriors are sampled");
    }
}

/// MIG without bins, from entropies of the aggregate posterior q(z) = mean over all points of q(z | x).
///
/// ```text
/// H(z_i)       = - mean over samples z ~ q(z | x_s) of ln (1/N) sum_n q(z_i | x_n)
/// H(z_i | v_k) = - mean over the same samples of ln (1/N_v) sum over n with v_k(n) = v_k(s) of q(z_i | x_n)
/// I(z_i; v_k)  = max(0, H(z_i) - H(z_i | v_k))
/// MIG          = mean over factors k of (largest - second largest of I(.; v_k)) / H(v_k)
/// ```
/// One sample is drawn for each of `samples` points and used for all factors, so that densities are computed once. (Chen et
/// al. draw new samples for every value of every factor, and exclude the shape of dSprites.)
///
/// * The N points should be the whole data set or a sample of it: the aggregate posterior is that of these points.
/// * Range: 0 to 1, higher is better. The cost is N * samples * units exponentials.
/// * Reference: Chen et al. 2018, Isolating sources of disentanglement in variational autoencoders, section 4.1 and
///   appendix C.
/// * See also: [`mig`](super::mig) and [`rmig`](super::rmig), the binned estimates.
///
/// # Errors
/// If `samples` is 0.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::{LabelledPosteriors, scores::{MigFullDataParameters, mig_full_data}};
///
/// // Unit 0 separates the two values, unit 1 equals the prior for every point.
/// let means = array![[-9.0, 0.0], [-9.0, 0.0], [9.0, 0.0], [9.0, 0.0]];
/// let log_variances = array![[-2.0, 0.0], [-2.0, 0.0], [-2.0, 0.0], [-2.0, 0.0]];
/// let factors = array![[0], [0], [1], [1]];
/// let data = LabelledPosteriors::new(means.view(), log_variances.view(), factors.view())?;
/// let score = mig_full_data(&data, &MigFullDataParameters::default())?;
/// assert!((score.value - 1.0).abs() < 1e-9);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn mig_full_data(data: &LabelledPosteriors<'_>, parameters: &MigFullDataParameters) -> Result<MigValues> {
    if parameters.samples == 0 {
        return Err(MetricsError::parameter("samples", 0, "at least 1"));
    }
    let (means, log_variances, classes) = (data.means(), data.log_variances(), data.labelled().classes());
    let samples = parameters.samples.min(means.nrows());
    let mut generator = random::generator(parameters.seed, "mig rows", 0);
    let rows = random::choose(&mut generator, means.nrows(), samples);
    let points = Points::new(classes);
    let units: Vec<Vec<f64>> = (0..means.ncols())
        .into_par_iter()
        .map(|unit| Posterior::new(means.column(unit), log_variances.column(unit), &points))
        .map(|posterior| posterior.information(&rows, &points, parameters.seed))
        .collect();
    let matrix = Array2::from_shape_fn((means.ncols(), classes.len()), |(unit, factor)| units[unit][factor]);
    let entropies: Vec<f64> = classes.iter().map(|classes| entropy_of_counts(&classes.sizes())).collect();
    Ok(MigValues::new(matrix, &entropies))
}

/// The metric `mig_full_data`; see [`mig_full_data`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MigFullData {
    /// Its parameters.
    pub parameters: MigFullDataParameters,
}

impl Metric for MigFullData {
    fn description(&self) -> Description {
        Description::new("mig_full_data", "as mig, from entropies of the aggregate posterior instead of bins")
            .number("mig_full_data", "MIG, all data")
            .detail("mutual_information_full_data")
            .needs(Needs::LABELLED_POSTERIORS)
            .shuffles(1)
    }

    fn declare_options(&mut self, declare: &mut Declare<'_>) {
        self.parameters.declare(declare);
    }

    fn run(&self, codes: &Codes, options: &Options<'_>) -> Result<ScoreValues> {
        let parameters = self.parameters.clone().with_seed(options.seed);
        let found = mig_full_data(&codes.labelled_posteriors()?, &parameters)?;
        Ok(ScoreValues::new("mig_full_data", found.value)
            .with_matrix("mutual_information_full_data", found.mutual_information))
    }
}

/// The points, in an order in which those with equal factors are adjacent.
struct Points<'a> {
    classes: &'a [Classes],
    /// Rows in that order.
    order: Vec<u32>,
    /// The place of each row in it.
    place: Vec<u32>,
    /// The places of the points of each factor and class.
    groups: Vec<Vec<Group>>,
}

/// Places of the points that share a value: as runs if they are long, otherwise one by one.
enum Group {
    Runs(Vec<Range<u32>>),
    Places(Vec<u32>),
}

impl<'a> Points<'a> {
    fn new(classes: &'a [Classes]) -> Self {
        // Factors with few values have the largest groups, which become runs if points are sorted by them first.
        let mut coarsest: Vec<&Classes> = classes.iter().collect();
        coarsest.sort_by_key(|classes| classes.count());
        let mut order: Vec<u32> =
            (0..classes.first().map_or(0, |classes| classes.labels().len() as u32)).collect();
        order.sort_by(|&a, &b| {
            let class = |row: u32| coarsest.iter().map(move |classes| classes.labels()[row as usize]);
            class(a).cmp(class(b))
        });
        let mut place = vec![0; order.len()];
        for (at, &row) in order.iter().enumerate() {
            place[row as usize] = at as u32;
        }
        let groups = classes
            .iter()
            .map(|classes| {
                let mut places = vec![Vec::new(); classes.count()];
                for (at, &row) in order.iter().enumerate() {
                    places[classes.labels()[row as usize] as usize].push(at as u32);
                }
                places.into_iter().map(Group::new).collect()
            })
            .collect();
        Self { classes, order, place, groups }
    }
}

impl Group {
    fn new(places: Vec<u32>) -> Self {
        // Runs that are shorter on average cost more than single points.
        const SHORTEST: usize = 16;
        let mut runs: Vec<Range<u32>> = Vec::new();
        for &place in &places {
            match runs.last_mut() {
                Some(run) if run.end == place => run.end += 1,
                _ => runs.push(place..place + 1),
            }
        }
        if runs.len() * SHORTEST <= places.len() { Self::Runs(runs) } else { Self::Places(places) }
    }

    fn mean(&self, densities: &[f64]) -> f64 {
        match self {
            Self::Runs(runs) => {
                let run = |run: &Range<u32>| &densities[run.start as usize..run.end as usize];
                let sum: f64 = runs.iter().map(|range| sum_of_lanes(run(range), |&density| density)).sum();
                sum / runs.iter().map(|run| f64::from(run.end - run.start)).sum::<f64>()
            }
            Self::Places(places) => {
                sum_of_lanes(places, |&place| densities[place as usize]) / places.len() as f64
            }
        }
    }
}

/// One unit's posteriors for all points, in the order of [`Points`]. Logarithms are to base 2, for which exponentials are
/// cheaper.
struct Posterior {
    means: Vec<f64>,
    /// sqrt(log2(e) / 2) / sigma: the square of a distance times this is minus the exponent of the normal density.
    inverse_deviations: Vec<f64>,
    /// - log2 sigma; the constant of the normal density cancels in every difference of entropies.
    log_scales: Vec<f64>,
}

impl Posterior {
    fn new(means: ArrayView1<'_, f64>, log_variances: ArrayView1<'_, f64>, points: &Points<'_>) -> Self {
        let ordered = |value: &dyn Fn(usize) -> f64| -> Vec<f64> {
            points.order.iter().map(|&row| value(row as usize)).collect()
        };
        Self {
            means: ordered(&|row| means[row]),
            inverse_deviations: ordered(&|row| (0.5 * LOG2_E).sqrt() * (-0.5 * log_variances[row]).exp()),
            log_scales: ordered(&|row| -0.5 * LOG2_E * log_variances[row]),
        }
    }

    /// The mutual information with every factor.
    fn information(&self, rows: &[usize], points: &Points<'_>, seed: u64) -> Vec<f64> {
        // Samples are processed in parallel, and their log-ratios added in order.
        let parts: Vec<Vec<f64>> = rows
            .par_iter()
            .map_init(
                || vec![0.0; self.means.len()],
                |densities, &row| {
                    interruption::check();
                    // The same noise for every unit: the order of units does not matter, and sampling error shifts all
                    // of them alike, which largely cancels in the gap between two.
                    let mut generator = random::generator(seed, "mig samples", row as u64);
                    let noise: f64 = StandardNormal.sample(&mut generator);
                    let own = points.place[row] as usize;
                    let distance = (0.5 * LOG2_E).sqrt() * noise;
                    let sample = self.means[own] + distance / self.inverse_deviations[own];
                    // Densities are relative to that of the sample's own posterior, so that their sum cannot underflow.
                    let unit = self.log_scales[own] - distance * distance;
                    let total = self.densities(sample, unit, densities) / densities.len() as f64;
                    let groups = points.classes.iter().zip(&points.groups);
                    groups
                        .map(|(classes, groups)| {
                            let group = &groups[classes.labels()[row] as usize];
                            group.mean(densities).ln() - total.ln()
                        })
                        .collect()
                },
            )
            .collect();
        (0..points.classes.len())
            .map(|factor| (parts.iter().map(|part| part[factor]).sum::<f64>() / rows.len() as f64).max(0.0))
            .collect()
    }

    /// Writes q(sample | x_n) / 2^unit for all points n, and returns the sum.
    fn densities(&self, sample: f64, unit: f64, densities: &mut [f64]) -> f64 {
        vectorised(
            #[inline(always)]
            || {
                let points = self.means.iter().zip(&self.inverse_deviations).zip(&self.log_scales);
                for (density, ((mean, inverse_deviation), log_scale)) in densities.iter_mut().zip(points) {
                    let distance = (sample - mean) * inverse_deviation;
                    *density = exp2(log_scale - unit - distance * distance);
                }
                sum_of_lanes(densities, |&density| density)
            },
        )
    }
}

/// The sum by eight running sums, so that an addition need not wait for the one before.
#[inline(always)]
fn sum_of_lanes<T>(entries: &[T], value: impl Fn(&T) -> f64) -> f64 {
    let mut lanes = [0.0; 8];
    let chunks = entries.chunks_exact(8);
    let rest: f64 = chunks.remainder().iter().map(&value).sum();
    for chunk in chunks {
        for (lane, entry) in lanes.iter_mut().zip(chunk) {
            *lane += value(entry);
        }
    }
    lanes.iter().sum::<f64>() + rest
}
