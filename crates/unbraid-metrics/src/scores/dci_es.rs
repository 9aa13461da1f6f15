//! Explicitness and size, which extend DCI to DCI-ES.

use crate::codes::Codes;
use crate::error::{MetricsError, Result};
use crate::learners::{BoostingParameters, GradientBoosting, accuracy};
use crate::metric::{Description, Metric, Needs, Options};
use crate::numeric::mean;
use crate::options::Declare;
use crate::report::ScoreValues;
use crate::views::TrainTest;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Parameters of [`dci_es`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DciEsParameters {
    /// The capacities of the learner: maximum depths of its trees.
    pub depths: Vec<usize>,
    /// Boosted trees for each class, with a learning rate of 0.5.
    pub stages: usize,
    /// Breaks ties between features with the same improvement; nothing else is random.
    pub seed: u64,
}

impl Default for DciEsParameters {
    fn default() -> Self {
        Self { depths: vec![1, 2, 3, 4, 6, 8, 10, 12], stages: 10, seed: 0 }
    }
}

/// What [`dci_es`] computes.
#[derive(Clone, Debug)]
pub struct DciEsValues {
    /// Explicitness, mean over the factors that vary.
    pub explicitness: f64,
    /// Size: the number of factors that vary divided by the number of units.
    pub size: f64,
    /// The explicitness of each factor; 0 for one that does not vary.
    pub per_factor: Vec<f64>,
}

/// DCI-ES: how little capacity does a learner need to predict factors from codes, and how small is the code?
///
/// For each factor, let l(c) be the smallest test error of boosted trees of depth c or less, c_1 the smallest depth, l* the
/// smallest error, c* the smallest depth that reaches it, and l_b the error of always predicting the most common value. With
/// K factors and D units:
/// ```text
/// E = 1 - integral from c_1 to c* of (l(c) - l*) dc / (1/2 (c* - c_1) (l_b - l*))
/// S = K / D
/// ```
/// E is 1 if the smallest capacity does as well as any, 0 if the error falls linearly from l_b to l*, and negative if it falls
/// later than that. The integral is computed by the trapezoidal rule.
///
/// * Range: E is at most 1, higher is better; 0 if nothing is learned at all, and at least -1 unless small trees do worse than
///   always predicting the most common value. S above 1 means fewer units than factors.
/// * Reference: Eastwood et al. 2023, DCI-ES: An extended disentanglement framework with connections to identifiability,
///   section 4. Their learners are random forests, multilayer perceptrons and random Fourier features; ours are the trees of
///   [`dci`](super::dci).
/// * See also: [`dci`](super::dci); [`explicitness`](super::explicitness), which uses a linear classifier only.
///
/// # Errors
/// If there are no depths, or a parameter is out of range.
///
/// ```
/// use ndarray::Array2;
/// use unbraid_metrics::TrainTest;
/// use unbraid_metrics::scores::{DciEsParameters, dci_es};
///
/// let factors = Array2::from_shape_fn((40, 1), |(row, _)| (row % 2) as i64);
/// let codes = factors.mapv(|value| value as f64);
/// let data = TrainTest::new(codes.view(), factors.view(), codes.view(), factors.view())?;
/// let found = dci_es(&data, &DciEsParameters::default())?;
/// assert_eq!((found.explicitness, found.size), (1.0, 1.0));
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn dci_es(data: &TrainTest<'_>, parameters: &DciEsParameters) -> Result<DciEsValues> {
    let mut depths = parameters.depths.clone();
    depths.sort_unstable();
    depths.dedup();
    if depths.first().is_none_or(|&depth| depth == 0) {
        let found = format!("{:?}", parameters.depths);
        return Err(MetricsError::parameter("depths", found, "at least one number, all positive"));
    }
    let classes = data.train().classes();
    let per_factor: Vec<f64> = classes
        .par_iter()
        .enumerate()
        .map(|(factor, classes)| {
            if !classes.varies() {
                return Ok(0.0);
            }
            let truth = classes.labels_of(data.factors_test().column(factor));
            let curve: Vec<(f64, f64)> = depths
                .iter()
                .map(|&depth| {
                    let boosting = BoostingParameters {
                        stages: parameters.stages,
                        learning_rate: 0.5,
                        max_depth: depth,
                        seed: parameters.seed,
                    };
                    let model = GradientBoosting::fit(data.codes_train(), classes, &boosting)?;
                    Ok((depth as f64, 1.0 - accuracy(&model.predict(data.codes_test()), &truth)))
                })
                .collect::<Result<_>>()?;
            Ok(explicitness_of(&curve, 1.0 - classes.majority_accuracy(&truth)))
        })
        .collect::<Result<_>>()?;
    let varying = per_factor.iter().zip(classes).filter(|(_, classes)| classes.varies());
    let varying: Vec<f64> = varying.map(|(value, _)| *value).collect();
    Ok(DciEsValues {
        explicitness: mean(&varying),
        size: varying.len() as f64 / data.codes_train().ncols() as f64,
        per_factor,
    })
}

/// Explicitness from a curve of (capacity, loss), capacities increasing, and the loss of guessing.
fn explicitness_of(curve: &[(f64, f64)], baseline: f64) -> f64 {
    let mut smallest = f64::INFINITY;
    let falling: Vec<(f64, f64)> = curve
        .iter()
        .map(|&(capacity, loss)| {
            smallest = smallest.min(loss);
            (capacity, smallest)
        })
        .collect();
    if smallest >= baseline {
        return 0.0;
    }
    let best = falling.iter().position(|(_, loss)| *loss == smallest).unwrap_or(0);
    let (first, last) = (falling[0].0, falling[best].0);
    if best == 0 {
        return 1.0;
    }
    let above = |place: usize| falling[place].1 - smallest;
    let area: f64 = (0..best)
        .map(|place| (falling[place + 1].0 - falling[place].0) * (above(place) + above(place + 1)) / 2.0)
        .sum();
    1.0 - area / (0.5 * (last - first) * (baseline - smallest))
}

/// The metric `dci_es`; see [`dci_es`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DciEs {
    /// Its parameters.
    pub parameters: DciEsParameters,
}

impl Metric for DciEs {
    fn description(&self) -> Description {
        let meaning = "learners of little capacity predict factors as well as large ones; factors per unit";
        Description::new("dci_es", meaning)
            .number("dci_explicitness", "DCI explicitness")
            .number("dci_size", "DCI size")
            .range(f64::NEG_INFINITY, f64::INFINITY)
            .needs(Needs::TEST_POINTS)
            .on_request_only()
            .shuffles(1)
    }

    fn declare_options(&mut self, declare: &mut Declare<'_>) {
        let DciEsParameters { depths, stages, seed: _ } = &mut self.parameters;
        declare.counts("depths", depths, 1..=12, "depths of trees, the capacities of the learner");
        declare.count("stages", stages, 1..=1_000_000, "trees for each class");
    }

    fn run(&self, codes: &Codes, options: &Options<'_>) -> Result<ScoreValues> {
        let parameters = DciEsParameters { seed: options.seed, ..self.parameters.clone() };
        let found = dci_es(&codes.train_test()?, &parameters)?;
        Ok(ScoreValues::new("dci_explicitness", found.explicitness)
            .with_number("dci_size", found.size)
            .with_list("dci_explicitness_per_factor", found.per_factor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_by_hand() {
        // At once: 1. Never: 0. A straight line from the loss of guessing: 0.
        assert_eq!(explicitness_of(&[(1.0, 0.2), (2.0, 0.2), (9.0, 0.3)], 0.8), 1.0);
        assert_eq!(explicitness_of(&[(1.0, 0.8), (2.0, 0.9)], 0.8), 0.0);
        assert!(explicitness_of(&[(1.0, 0.8), (3.0, 0.5), (5.0, 0.2)], 0.8).abs() < 1e-12);
        // Late: (1, 0.8), (2, 0.8), (4, 0.2): the area is 0.6 + 0.6, of a triangle of 1/2 * 3 * 0.6.
        let late = explicitness_of(&[(1.0, 0.8), (2.0, 0.85), (4.0, 0.2)], 0.8);
        assert!((late - (1.0 - 1.2 / 0.9)).abs() < 1e-12, "{late}");
    }
}
