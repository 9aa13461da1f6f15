//! Multinomial logistic regression, like scikit-learn's `LogisticRegression` with its default solver.

use super::lbfgs::{Stop, minimise};
use crate::classes::Classes;
use crate::error::{MetricsError, Result};
use crate::numeric::{argmax, exp, vectorised};
use crate::options::{Declare, POSITIVE};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Parameters of [`LogisticRegression`]; the defaults are scikit-learn's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogisticParameters {
    /// The inverse of the strength of the penalty.
    pub c: f64,
    /// Stops when no entry of the gradient of the mean loss exceeds this magnitude.
    pub tolerance: f64,
    /// The maximum number of iterations of L-BFGS.
    pub max_iterations: usize,
}

impl Default for LogisticParameters {
    fn default() -> Self {
        Self { c: 1.0, tolerance: 1e-4, max_iterations: 100 }
    }
}

impl LogisticParameters {
    pub(crate) fn declare(&mut self, declare: &mut Declare<'_>) {
        let Self { c, tolerance, max_iterations } = self;
        declare.number("c", c, POSITIVE, "inverse strength of the penalty");
        declare.number("tolerance", tolerance, POSITIVE, "largest entry of the gradient at which to stop");
        declare.count("max_iterations", max_iterations, 1.., "iterations of L-BFGS at most");
    }
}

/// A fitted classifier.
#[derive(Clone, Debug)]
pub struct LogisticRegression {
    /// Weights of each class and, in the last column, its intercept: \[classes, features + 1\]. Two classes have one row.
    weights: Array2<f64>,
    classes: usize,
}

/// Rows that are processed at a time: few enough for their scores to stay in the cache.
const CHUNK: usize = 128;

impl LogisticRegression {
    /// Minimises
    /// ```text
    /// mean over rows of -ln p(class | row) + |W|^2 / (2 C n)
    /// ```
    /// over weights W and unpenalised intercepts, with p the softmax of the scores (for two classes the logistic function
    /// of a single score). With a single class, the classifier always predicts that class.
    ///
    /// # Errors
    /// If there are no rows, the number of labels differs, or a parameter is out of range.
    ///
    /// ```
    /// use ndarray::array;
    /// use unbraid_metrics::Classes;
    /// use unbraid_metrics::learners::{LogisticParameters, LogisticRegression};
    ///
    /// let features = array![[-2.0], [-1.0], [1.0], [2.0]];
    /// let classes = Classes::new(array![0, 0, 1, 1].view());
    /// let model = LogisticRegression::fit(features.view(), &classes, &LogisticParameters::default())?;
    /// assert_eq!(model.predict(features.view()), [0, 0, 1, 1]);
    /// # Ok::<(), unbraid_metrics::MetricsError>(())
    /// ```
    pub fn fit(
        features: ArrayView2<'_, f64>,
        classes: &Classes,
        parameters: &LogisticParameters,
    ) -> Result<Self> {
        Self::fit_from(features, classes, parameters, None)
    }

    /// As [`LogisticRegression::fit`], starting from the weights of another fit of the same shape.
    pub(super) fn fit_from(
        features: ArrayView2<'_, f64>,
        classes: &Classes,
        parameters: &LogisticParameters,
        start: Option<&Self>,
    ) -> Result<Self> {
        super::check_fit(features, classes)?;
        if !(parameters.c > 0.0 && parameters.c.is_finite()) {
            return Err(MetricsError::parameter("c", parameters.c, "a positive number"));
        }
        if !(parameters.tolerance > 0.0 && parameters.tolerance.is_finite()) {
            return Err(MetricsError::parameter("tolerance", parameters.tolerance, "a positive number"));
        }
        let count = classes.count();
        let rows = if count == 2 { 1 } else { count };
        let shape = (rows, features.ncols() + 1);
        if count == 1 {
            return Ok(Self { weights: Array2::zeros(shape), classes: 1 });
        }
        let problem = Problem::new(features, classes, rows, parameters.c);
        let start = start
            .filter(|other| other.weights.dim() == shape)
            .map_or_else(|| vec![0.0; shape.0 * shape.1], |other| other.weights.iter().copied().collect());
        let stop = Stop {
            iterations: parameters.max_iterations,
            gradient: parameters.tolerance,
            decrease: 64.0 * f64::EPSILON,
        };
        let found = minimise(start, stop, |point, gradient| problem.evaluate(point, gradient));
        let weights = Array2::from_shape_fn(shape, |(class, feature)| found[class * shape.1 + feature]);
        Ok(Self { weights, classes: count })
    }

    /// Weights of each class and, in the last column, its intercept: \[classes, features + 1\]. Two classes share one row,
    /// that of the second.
    pub fn weights(&self) -> ArrayView2<'_, f64> {
        self.weights.view()
    }

    /// The probability of each class for each row, \[n, classes\].
    pub fn probabilities(&self, features: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut probabilities = Array2::zeros((features.nrows(), self.classes));
        for (row, mut target) in features.rows().into_iter().zip(probabilities.rows_mut()) {
            let score = |class: usize| {
                let weights = self.weights.row(class);
                let product: f64 = row.iter().zip(weights).map(|(x, w)| x * w).sum();
                product + weights[row.len()]
            };
            // Subtracting the largest score keeps exponentials from overflowing; `exp` itself clamps its argument.
            match self.classes {
                1 => target[0] = 1.0,
                2 => {
                    let other = exp(-score(0));
                    target[1] = 1.0 / (1.0 + other);
                    target[0] = other / (1.0 + other);
                }
                classes => {
                    let scores: Vec<f64> = (0..classes).map(score).collect();
                    let largest = scores[argmax(&scores)];
                    let mut sum = 0.0;
                    for (target, score) in target.iter_mut().zip(scores) {
                        *target = exp(score - largest);
                        sum += *target;
                    }
                    target.mapv_inplace(|value| value / sum);
                }
            }
        }
        probabilities
    }

    /// The class of each row.
    pub fn predict(&self, features: ArrayView2<'_, f64>) -> Vec<u32> {
        let probabilities = self.probabilities(features);
        probabilities.rows().into_iter().map(|row| argmax(&row.to_vec()) as u32).collect()
    }
}

/// The training data in chunks of rows, transposed, so that the inner loops run along rows.
struct Problem {
    /// For each chunk, every feature (and a column of ones) for its [`CHUNK`] rows, padded with zeros.
    chunks: Vec<Vec<f64>>,
    labels: Vec<u32>,
    features: usize,
    classes: usize,
    /// 1 / (C n).
    penalty: f64,
}

impl Problem {
    fn new(features: ArrayView2<'_, f64>, classes: &Classes, score_rows: usize, c: f64) -> Self {
        let rows = features.nrows();
        let width = features.ncols();
        let chunks = (0..rows.div_ceil(CHUNK))
            .map(|chunk| {
                let mut values = vec![0.0; (width + 1) * CHUNK];
                for offset in 0..CHUNK.min(rows - chunk * CHUNK) {
                    for feature in 0..width {
                        values[feature * CHUNK + offset] = features[[chunk * CHUNK + offset, feature]];
                    }
                    values[width * CHUNK + offset] = 1.0;
                }
                values
            })
            .collect();
        let penalty = 1.0 / (c * rows as f64);
        Self { chunks, labels: classes.labels().to_vec(), features: width + 1, classes: score_rows, penalty }
    }

    /// The objective and its gradient. Chunks are processed in parallel and added in order.
    fn evaluate(&self, weights: &[f64], gradient: &mut [f64]) -> f64 {
        // Several chunks share one gradient, so that adding gradients stays cheap.
        const TOGETHER: usize = 8;
        let parts: Vec<(f64, Vec<f64>)> = self
            .chunks
            .par_chunks(TOGETHER)
            .enumerate()
            .map(|(part, chunks)| {
                let mut gradient = vec![0.0; weights.len()];
                let mut scores = vec![0.0; self.classes * CHUNK];
                let mut loss = 0.0;
                for (offset, chunk) in chunks.iter().enumerate() {
                    let start = (part * TOGETHER + offset) * CHUNK;
                    let labels = &self.labels[start..self.labels.len().min(start + CHUNK)];
                    loss += vectorised(
                        #[inline(always)]
                        || self.add_chunk(chunk, labels, weights, &mut scores, &mut gradient),
                    );
                }
                (loss, gradient)
            })
            .collect();
        gradient.fill(0.0);
        let mut loss = 0.0;
        for (part_loss, part) in &parts {
            loss += part_loss;
            for (sum, entry) in gradient.iter_mut().zip(part) {
                *sum += entry;
            }
        }
        let scale = 1.0 / self.labels.len() as f64;
        let mut squares = 0.0;
        for (row, weights) in
            gradient.chunks_exact_mut(self.features).zip(weights.chunks_exact(self.features))
        {
            for (feature, (entry, &weight)) in row.iter_mut().zip(weights).enumerate() {
                *entry *= scale;
                if feature + 1 < self.features {
                    *entry += self.penalty * weight;
                    squares += weight * weight;
                }
            }
        }
        loss * scale + 0.5 * self.penalty * squares
    }

    /// Adds the loss and the gradient of one chunk of rows.
    #[inline(always)]
    fn add_chunk(
        &self,
        chunk: &[f64],
        labels: &[u32],
        weights: &[f64],
        scores: &mut [f64],
        gradient: &mut [f64],
    ) -> f64 {
        for (scores, weights) in scores.chunks_exact_mut(CHUNK).zip(weights.chunks_exact(self.features)) {
            scores.fill(0.0);
            for (values, &weight) in chunk.chunks_exact(CHUNK).zip(weights) {
                for (score, value) in scores.iter_mut().zip(values) {
                    *score += weight * value;
                }
            }
        }
        let loss =
            if self.classes == 1 { logistic_step(scores, labels) } else { softmax_step(scores, labels) };
        for (residuals, gradient) in scores.chunks_exact(CHUNK).zip(gradient.chunks_exact_mut(self.features))
        {
            for (values, entry) in chunk.chunks_exact(CHUNK).zip(gradient) {
                // Eight running sums, so that the loop can be vectorised.
                let mut sums = [0.0; 8];
                for (values, residuals) in values.chunks_exact(8).zip(residuals.chunks_exact(8)) {
                    for lane in 0..8 {
                        sums[lane] += values[lane] * residuals[lane];
                    }
                }
                *entry += sums.iter().sum::<f64>();
            }
        }
        loss
    }
}

/// Replaces the scores of a chunk by p - y, and returns its loss. Rows beyond the labels are padding, whose features are 0.
#[inline(always)]
fn softmax_step(scores: &mut [f64], labels: &[u32]) -> f64 {
    let mut largest = [f64::NEG_INFINITY; CHUNK];
    for scores in scores.chunks_exact(CHUNK) {
        for (largest, &score) in largest.iter_mut().zip(scores) {
            *largest = if score > *largest { score } else { *largest };
        }
    }
    let mut loss = 0.0;
    for (row, &label) in labels.iter().enumerate() {
        loss += largest[row] - scores[label as usize * CHUNK + row];
    }
    let mut sums = [0.0; CHUNK];
    for scores in scores.chunks_exact_mut(CHUNK) {
        for ((score, sum), &largest) in scores.iter_mut().zip(&mut sums).zip(&largest) {
            *score = exp(*score - largest);
            *sum += *score;
        }
    }
    let inverse = sums.map(|sum: f64| 1.0 / sum);
    for scores in scores.chunks_exact_mut(CHUNK) {
        for (score, inverse) in scores.iter_mut().zip(&inverse) {
            *score *= inverse;
        }
    }
    for (row, &label) in labels.iter().enumerate() {
        loss += sums[row].ln();
        scores[label as usize * CHUNK + row] -= 1.0;
    }
    loss
}

/// The same for two classes and a single score.
#[inline(always)]
fn logistic_step(scores: &mut [f64], labels: &[u32]) -> f64 {
    let mut loss = 0.0;
    for (score, &label) in scores.iter_mut().zip(labels) {
        let signed = if label == 1 { *score } else { -*score };
        // ln(1 + exp(-s)) without overflow on either side.
        loss += exp(-signed.abs()).ln_1p() + (-signed).max(0.0);
        *score = 1.0 / (1.0 + exp(-*score)) - f64::from(label);
    }
    loss
}
