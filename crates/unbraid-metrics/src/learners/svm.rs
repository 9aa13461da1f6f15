//! Linear support vector machines, one-vs-rest, by the dual coordinate descent of liblinear.

use crate::classes::Classes;
use crate::error::{MetricsError, Result};
use crate::interruption;
use crate::numeric::argmax;
use crate::options::{Choice, Declare, POSITIVE};
use crate::random::{self, below};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Parameters of [`LinearSvm`]; apart from C, the defaults are those of scikit-learn's `LinearSVC`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SvmParameters {
    /// The weight of the loss against the penalty.
    pub c: f64,
    /// The loss of a row.
    pub loss: SvmLoss,
    /// Whether C is multiplied by n / (classes * rows of the class) for the rows of a class.
    pub balanced: bool,
    /// Stops when the range of the projected gradient is at most this.
    pub tolerance: f64,
    /// The maximum number of passes over the rows.
    pub max_iterations: usize,
    /// Seeds the order in which rows are visited.
    pub seed: u64,
}

impl Default for SvmParameters {
    fn default() -> Self {
        let loss = SvmLoss::SquaredHinge;
        Self { c: 0.01, loss, balanced: true, tolerance: 1e-4, max_iterations: 1000, seed: 0 }
    }
}

/// The loss of a row inside the margin or on its wrong side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SvmLoss {
    /// max(0, 1 - y (w x + b))^2.
    #[default]
    SquaredHinge,
    /// max(0, 1 - y (w x + b)).
    Hinge,
}

impl Choice for SvmLoss {
    const WORDS: &'static [&'static str] = &["squared-hinge", "hinge"];

    fn word(&self) -> &'static str {
        match self {
            Self::SquaredHinge => "squared-hinge",
            Self::Hinge => "hinge",
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        match word {
            "squared-hinge" => Some(Self::SquaredHinge),
            "hinge" => Some(Self::Hinge),
            _ => None,
        }
    }
}

/// A fitted classifier: one linear score for each class, or a single one for two classes.
#[derive(Clone, Debug)]
pub struct LinearSvm {
    /// \[classes, features + 1\], the intercept last; two classes have one row, positive for the second.
    weights: Array2<f64>,
    classes: usize,
}

impl LinearSvm {
    /// Minimises, for each class against the rest (two classes: the second against the first),
    /// ```text
    /// 1/2 (|w|^2 + b^2) + sum over rows of C_i max(0, 1 - y_i (w x_i + b))^2
    /// ```
    /// or the same without the square ([`SvmLoss::Hinge`]).
    /// The intercept is penalised like a weight, as in liblinear. If balanced, C is multiplied by the weight of a class for its
    /// own rows only, and rows of the rest keep C (with two classes, each has its own weight).
    ///
    /// # Errors
    /// If there are no rows, the number of labels differs, or a parameter is out of range.
    ///
    /// ```
    /// use ndarray::array;
    /// use unbraid_metrics::Classes;
    /// use unbraid_metrics::learners::{LinearSvm, SvmParameters};
    ///
    /// let features = array![[-2.0], [-1.0], [1.0], [2.0]];
    /// let classes = Classes::new(array![0, 0, 1, 1].view());
    /// let model = LinearSvm::fit(features.view(), &classes, &SvmParameters { c: 1.0, ..Default::default() })?;
    /// assert_eq!(model.predict(features.view()), [0, 0, 1, 1]);
    /// # Ok::<(), unbraid_metrics::MetricsError>(())
    /// ```
    pub fn fit(features: ArrayView2<'_, f64>, classes: &Classes, parameters: &SvmParameters) -> Result<Self> {
        super::check_fit(features, classes)?;
        parameters.check()?;
        let problems = one_against_rest(classes, parameters);
        let width = features.ncols();
        let rows: Vec<f64> = features.iter().copied().collect();
        let solved: Vec<Vec<f64>> = problems
            .par_iter()
            .map(|problem| solve(&rows, width, classes.labels(), problem, parameters))
            .collect();
        Ok(Self::from_weights(&solved, width + 1, classes.count()))
    }

    pub(super) fn from_weights(solved: &[Vec<f64>], columns: usize, classes: usize) -> Self {
        let weights = Array2::from_shape_fn((solved.len(), columns), |(class, column)| solved[class][column]);
        Self { weights, classes }
    }

    /// Weights of each class and, in the last column, its intercept: \[classes, features + 1\]. Two classes share one row,
    /// positive for the second.
    pub fn weights(&self) -> ArrayView2<'_, f64> {
        self.weights.view()
    }

    /// The class of each row.
    pub fn predict(&self, features: ArrayView2<'_, f64>) -> Vec<u32> {
        let mut scores = vec![0.0; self.weights.nrows()];
        features
            .rows()
            .into_iter()
            .map(|row| {
                for (score, weights) in scores.iter_mut().zip(self.weights.rows()) {
                    let product: f64 = row.iter().zip(weights).map(|(x, w)| x * w).sum();
                    *score = product + weights[row.len()];
                }
                match self.classes {
                    1 => 0,
                    2 => u32::from(scores[0] > 0.0),
                    _ => argmax(&scores) as u32,
                }
            })
            .collect()
    }
}

impl SvmParameters {
    pub(crate) fn declare(&mut self, declare: &mut Declare<'_>) {
        let Self { c, loss, balanced, tolerance, max_iterations, seed: _ } = self;
        declare.number("c", c, POSITIVE, "weight of the loss against the penalty");
        declare.choice("loss", loss, "the loss of a point");
        declare.flag("balanced", balanced, "whether rare classes weigh as much as common ones");
        declare.number("tolerance", tolerance, POSITIVE, "range of the projected gradient at which to stop");
        declare.count("max_iterations", max_iterations, 1.., "passes over the points at most");
    }

    pub(super) fn check(&self) -> Result<()> {
        for (name, value) in [("c", self.c), ("tolerance", self.tolerance)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(MetricsError::parameter(name, value, "a positive number"));
            }
        }
        Ok(())
    }
}

/// The binary problem of one class against the rest.
#[derive(Clone, Copy, Debug)]
pub(super) struct OneAgainstRest {
    /// The class whose rows count as positive.
    pub class: u32,
    /// C of the positive rows.
    pub c_positive: f64,
    /// C of the others.
    pub c_negative: f64,
}

/// The binary problems of a classification.
pub(super) fn one_against_rest(classes: &Classes, parameters: &SvmParameters) -> Vec<OneAgainstRest> {
    let counts = classes.sizes();
    let weight = |class: usize| {
        if parameters.balanced {
            classes.labels().len() as f64 / (classes.count() as f64 * f64::from(counts[class]))
        } else {
            1.0
        }
    };
    let c = parameters.c;
    match classes.count() {
        1 => Vec::new(),
        2 => vec![OneAgainstRest { class: 1, c_positive: c * weight(1), c_negative: c * weight(0) }],
        count => (0..count)
            .map(|class| OneAgainstRest { class: class as u32, c_positive: c * weight(class), c_negative: c })
            .collect(),
    }
}

/// Dual coordinate descent with shrinking (Hsieh et al. 2008, A dual coordinate descent method for large-scale linear SVM,
/// algorithm 3): each step minimises over one multiplier, rows are visited in random order, and rows whose multiplier stays at
/// a bound are left out until the others have converged. The squared hinge loss adds a ridge to the diagonal; the hinge loss
/// bounds each multiplier by C (ibid., eq. 4).
fn solve(
    features: &[f64],
    width: usize,
    labels: &[u32],
    problem: &OneAgainstRest,
    parameters: &SvmParameters,
) -> Vec<f64> {
    let sign = |row: usize| if labels[row] == problem.class { 1.0 } else { -1.0 };
    let c_of =
        |row: usize| if labels[row] == problem.class { problem.c_positive } else { problem.c_negative };
    let (ridge, upper): (&dyn Fn(usize) -> f64, &dyn Fn(usize) -> f64) = match parameters.loss {
        SvmLoss::SquaredHinge => (&|row| 0.5 / c_of(row), &|_| f64::INFINITY),
        SvmLoss::Hinge => (&|_| 0.0, &c_of),
    };
    let row_of = |row: usize| &features[row * width..][..width];
    let mut generator = random::generator(parameters.seed, "svm", u64::from(problem.class));
    let mut weights = vec![0.0; width + 1];
    let mut multipliers = vec![0.0_f64; labels.len()];
    let curvatures: Vec<f64> = (0..labels.len())
        .map(|row| row_of(row).iter().map(|x| x * x).sum::<f64>() + 1.0 + ridge(row))
        .collect();
    let mut active: Vec<usize> = (0..labels.len()).collect();
    let (mut shrink_above, mut shrink_below) = (f64::INFINITY, f64::NEG_INFINITY);
    for _ in 0..parameters.max_iterations {
        interruption::check();
        let (mut largest, mut smallest) = (f64::NEG_INFINITY, f64::INFINITY);
        for i in (1..active.len()).rev() {
            active.swap(i, below(&mut generator, i + 1));
        }
        let mut kept = 0;
        for i in 0..active.len() {
            let row = active[i];
            let values = row_of(row);
            let score = values.iter().zip(&weights).map(|(x, w)| x * w).sum::<f64>() + weights[width];
            let gradient = sign(row) * score - 1.0 + ridge(row) * multipliers[row];
            let mut projected = gradient;
            if multipliers[row] == 0.0 {
                if gradient > shrink_above {
                    continue;
                }
                projected = gradient.min(0.0);
            } else if multipliers[row] == upper(row) {
                if gradient < shrink_below {
                    continue;
                }
                projected = gradient.max(0.0);
            }
            active[kept] = row;
            kept += 1;
            largest = largest.max(projected);
            smallest = smallest.min(projected);
            if projected.abs() > 1e-12 {
                let old = multipliers[row];
                multipliers[row] = (old - gradient / curvatures[row]).clamp(0.0, upper(row));
                let step = (multipliers[row] - old) * sign(row);
                for (weight, value) in weights.iter_mut().zip(values) {
                    *weight += step * value;
                }
                weights[width] += step;
            }
        }
        let everything = kept == labels.len();
        active.truncate(kept);
        if largest - smallest <= parameters.tolerance {
            if everything {
                break;
            }
            active = (0..labels.len()).collect();
            (shrink_above, shrink_below) = (f64::INFINITY, f64::NEG_INFINITY);
            continue;
        }
        shrink_above = if largest > 0.0 { largest } else { f64::INFINITY };
        shrink_below = if smallest < 0.0 { smallest } else { f64::NEG_INFINITY };
    }
    weights
}
