//! The same support vector machine on a single feature, solved exactly.
//!
//! With one feature, the rows that have a loss lie on one side of a point: positive rows on one side of where the score is 1,
//! negative rows on the other side of where it is -1. Once the feature is sorted, a binary search and running sums of 1, x and
//! x^2 give the objective and its derivatives for any weights. Newton's method then finds the weight and the intercept at the
//! unique minimum in a few steps, whose number hardly depends on the number of rows.

use super::svm::{LinearSvm, OneAgainstRest, SvmLoss, SvmParameters, one_against_rest};
use crate::classes::Classes;
use crate::error::Result;
use ndarray::{ArrayView1, Axis};

impl LinearSvm {
    /// Finds the minimum that [`LinearSvm::fit`] approaches, to rounding error, for a single feature. (The hinge loss without
    /// the square has kinks, at which Newton's method would get stuck; it is fitted by [`LinearSvm::fit`].)
    ///
    /// # Errors
    /// As [`LinearSvm::fit`].
    pub fn fit_single(
        feature: ArrayView1<'_, f64>,
        classes: &Classes,
        parameters: &SvmParameters,
    ) -> Result<Self> {
        super::check_fit(feature.insert_axis(Axis(1)), classes)?;
        parameters.check()?;
        match parameters.loss {
            SvmLoss::SquaredHinge => {}
            SvmLoss::Hinge => return Self::fit(feature.insert_axis(Axis(1)), classes, parameters),
        }
        let mut order: Vec<usize> = (0..feature.len()).collect();
        order.sort_by(|&a, &b| feature[a].total_cmp(&feature[b]));
        let all = RunningSums::new(order.iter().map(|&row| feature[row]));
        let mut of_class: Vec<Vec<f64>> = vec![Vec::new(); classes.count()];
        for &row in &order {
            of_class[classes.labels()[row] as usize].push(feature[row]);
        }
        let solved: Vec<Vec<f64>> = one_against_rest(classes, parameters)
            .iter()
            .map(|problem| {
                let positive = RunningSums::new(of_class[problem.class as usize].iter().copied());
                Single { all: &all, positive: &positive, problem }.solve().to_vec()
            })
            .collect();
        Ok(Self::from_weights(&solved, 2, classes.count()))
    }
}

/// The number of some rows, and the sums of their features and squared features.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: f64,
    x: f64,
    xx: f64,
}

impl Sums {
    fn minus(self, other: Self) -> Self {
        Self { count: self.count - other.count, x: self.x - other.x, xx: self.xx - other.xx }
    }

    /// The sum over these rows of `(w x + b - target)^2`.
    fn squares(self, [w, b]: [f64; 2], target: f64) -> f64 {
        let b = b - target;
        (w * w * self.xx + 2.0 * w * b * self.x + b * b * self.count).max(0.0)
    }
}

/// Sums over the first rows of a sorted feature.
struct RunningSums {
    values: Vec<f64>,
    sums: Vec<Sums>,
}

impl RunningSums {
    fn new(values: impl Iterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.collect();
        let mut sum = Sums::default();
        let mut sums = vec![sum];
        for &x in &values {
            sum = Sums { count: sum.count + 1.0, x: sum.x + x, xx: sum.xx + x * x };
            sums.push(sum);
        }
        Self { values, sums }
    }

    /// Over the rows with `w x + b < limit`.
    fn below(&self, [w, b]: [f64; 2], limit: f64) -> Sums {
        let total = self.sums[self.values.len()];
        if w >= 0.0 {
            self.sums[self.values.partition_point(|x| w * x + b < limit)]
        } else {
            total.minus(self.sums[self.values.partition_point(|x| w * x + b >= limit)])
        }
    }

    /// Over the rows with `w x + b > limit`.
    fn above(&self, [w, b]: [f64; 2], limit: f64) -> Sums {
        self.below([-w, -b], -limit)
    }
}

struct Single<'a> {
    all: &'a RunningSums,
    positive: &'a RunningSums,
    problem: &'a OneAgainstRest,
}

impl Single<'_> {
    /// The rows that have a loss: positive ones, then negative ones.
    fn inside(&self, weights: [f64; 2]) -> (Sums, Sums) {
        let negative = self.all.above(weights, -1.0).minus(self.positive.above(weights, -1.0));
        (self.positive.below(weights, 1.0), negative)
    }

    fn objective(&self, weights: [f64; 2]) -> f64 {
        let (positive, negative) = self.inside(weights);
        0.5 * (weights[0] * weights[0] + weights[1] * weights[1])
            + self.problem.c_positive * positive.squares(weights, 1.0)
            + self.problem.c_negative * negative.squares(weights, -1.0)
    }

    /// Newton's method: each step goes to the minimum of the quadratic that the objective is near the current weights, and is
    /// halved until the objective decreases.
    fn solve(&self) -> [f64; 2] {
        const STEPS: usize = 200;
        let mut weights = [0.0; 2];
        let mut value = self.objective(weights);
        for _ in 0..STEPS {
            let (positive, negative) = self.inside(weights);
            let (cp, cn) = (2.0 * self.problem.c_positive, 2.0 * self.problem.c_negative);
            let xx = 1.0 + cp * positive.xx + cn * negative.xx;
            let x1 = cp * positive.x + cn * negative.x;
            let one = 1.0 + cp * positive.count + cn * negative.count;
            let (right_x, right_one) =
                (cp * positive.x - cn * negative.x, cp * positive.count - cn * negative.count);
            // At least 1 up to rounding, since the penalty adds 1 to each diagonal entry.
            let determinant = xx * one - x1 * x1;
            let target = [
                (right_x * one - right_one * x1) / determinant,
                (right_one * xx - right_x * x1) / determinant,
            ];
            if !target.iter().all(|weight| weight.is_finite()) {
                break;
            }
            let mut share = 1.0;
            let moved = loop {
                let trial = [0, 1].map(|i| weights[i] + share * (target[i] - weights[i]));
                let trial_value = self.objective(trial);
                if trial_value < value {
                    break Some((trial, trial_value));
                }
                share *= 0.5;
                if share < 1e-9 {
                    break None;
                }
            };
            let Some((trial, trial_value)) = moved else { break };
            (weights, value) = (trial, trial_value);
        }
        weights
    }
}
