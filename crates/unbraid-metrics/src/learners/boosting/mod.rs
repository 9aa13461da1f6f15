//! Gradient-boosted trees for classification (Friedman 2001, Greedy function approximation: A gradient boosting machine), like
//! scikit-learn's `GradientBoostingClassifier`.
//!
//! Multinomial deviance with one tree for each class and stage (binomial deviance with a single tree for two classes), exact
//! splits by Friedman's improvement, one Newton step for each leaf, and impurity importances that are summed over all trees
//! before they are normalised. The trees of a stage are grown in parallel and do not depend on the number of threads.

mod columns;
mod regression;
mod split;
mod tree;

pub use regression::GradientBoostingRegression;

use crate::classes::Classes;
use crate::error::{MetricsError, Result};
use crate::interruption;
use crate::numeric::{argmax, exp, vectorised};
use crate::options::Declare;
use columns::{Columns, mix};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Bound;
use tree::{Tree, Workspace};

/// Parameters of [`GradientBoosting`]; the defaults are scikit-learn's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BoostingParameters {
    /// Trees for each class.
    pub stages: usize,
    /// The factor by which the values of each tree are multiplied.
    pub learning_rate: f64,
    /// The maximum depth of a tree; 1 to 12.
    pub max_depth: usize,
    /// Breaks ties between features with the same improvement; nothing else is random.
    pub seed: u64,
}

impl Default for BoostingParameters {
    fn default() -> Self {
        Self { stages: 100, learning_rate: 0.1, max_depth: 3, seed: 0 }
    }
}

impl BoostingParameters {
    pub(crate) fn declare(&mut self, declare: &mut Declare<'_>) {
        let Self { stages, learning_rate, max_depth, seed: _ } = self;
        declare.count("stages", stages, 1..=1_000_000, "trees for each class");
        let rates = (Bound::Excluded(0.0), Bound::Included(1.0));
        declare.number("learning_rate", learning_rate, rates, "share of each tree that is added");
        declare.count("max_depth", max_depth, 1..=12, "splits from the root to a leaf at most");
    }
}

/// A fitted classifier.
#[derive(Clone, Debug)]
pub struct GradientBoosting {
    /// Scores before the first tree: log-probabilities of the classes, or the log-odds of two.
    initial: Vec<f64>,
    /// The trees of each class in the order of stages; two classes share one list.
    trees: Vec<Vec<Tree>>,
    learning_rate: f64,
    importances: Vec<f64>,
    fitted: Vec<u32>,
}

/// One class during training.
struct Booster {
    scores: Vec<f64>,
    gradients: Vec<f64>,
    trees: Vec<Tree>,
    importances: Vec<f64>,
    workspace: Workspace,
}

impl GradientBoosting {
    /// Fits trees that predict `classes` from `features` \[n, features\].
    ///
    /// With a single class, the classifier has no trees and always predicts that class.
    ///
    /// # Errors
    /// If there are no rows or more than 16.7 million, the number of labels differs, or a parameter is out of range.
    ///
    /// ```
    /// use ndarray::array;
    /// use unbraid_metrics::Classes;
    /// use unbraid_metrics::learners::{BoostingParameters, GradientBoosting};
    ///
    /// let features = array![[0.0, 3.0], [1.0, 3.0], [2.0, 3.0], [3.0, 3.0]];
    /// let classes = Classes::new(array![0, 0, 1, 1].view());
    /// let model = GradientBoosting::fit(features.view(), &classes, &BoostingParameters::default())?;
    /// assert_eq!(model.predict(array![[0.4, 0.0], [2.6, 0.0]].view()), [0, 1]);
    /// assert_eq!(model.importances(), [1.0, 0.0]);
    /// # Ok::<(), unbraid_metrics::MetricsError>(())
    /// ```
    pub fn fit(
        features: ArrayView2<'_, f64>,
        classes: &Classes,
        parameters: &BoostingParameters,
    ) -> Result<Self> {
        check(features, classes, parameters)?;
        let rows = features.nrows();
        let counts = classes.sizes();
        let log_share = |class: usize| (f64::from(counts[class]) / rows as f64).ln();
        let initial: Vec<f64> = match classes.count() {
            1 => vec![0.0],
            2 => vec![log_share(1) - log_share(0)],
            several => (0..several).map(log_share).collect(),
        };
        let mut boosters: Vec<Booster> = initial
            .iter()
            .map(|&score| Booster {
                scores: vec![score; rows],
                gradients: vec![0.0; rows],
                trees: Vec::with_capacity(parameters.stages),
                importances: vec![0.0; features.ncols()],
                workspace: Workspace::default(),
            })
            .collect();
        if classes.count() > 1 {
            let columns = Columns::new(features);
            // A class is identified by its first row, so that relabelling classes does not change how ties are broken.
            let first_rows: Vec<u64> = classes.rows().iter().map(|rows| rows[0] as u64).collect();
            for stage in 0..parameters.stages {
                interruption::check();
                let normalisers = log_normalisers(&boosters);
                boosters.par_iter_mut().enumerate().for_each(|(class, booster)| {
                    let tie_seed = mix(mix(parameters.seed ^ (stage as u64) << 32) ^ first_rows[class]);
                    booster.advance(class, classes, &normalisers, &columns, parameters, tie_seed);
                });
            }
        }
        let mut importances = vec![0.0; features.ncols()];
        for booster in &boosters {
            for (sum, importance) in importances.iter_mut().zip(&booster.importances) {
                *sum += importance;
            }
        }
        let total: f64 = importances.iter().sum();
        if total > 0.0 {
            importances.iter_mut().for_each(|importance| *importance /= total);
        }
        let scores: Vec<&[f64]> = boosters.iter().map(|booster| booster.scores.as_slice()).collect();
        let fitted = decide(&scores, classes.count());
        let trees = boosters.into_iter().map(|booster| booster.trees).collect();
        Ok(Self { initial, trees, learning_rate: parameters.learning_rate, importances, fitted })
    }

    /// The share of each feature in the total improvement: non-negative, with sum 1, or all 0 if there is no split.
    pub fn importances(&self) -> &[f64] {
        &self.importances
    }

    /// The predicted class of each training row, which is known from fitting.
    pub fn fitted_classes(&self) -> &[u32] {
        &self.fitted
    }

    /// The scores of each row before the softmax (or the logistic function): \[n, classes\], or \[n, 1\] for two classes.
    pub fn decision(&self, features: ArrayView2<'_, f64>) -> Array2<f64> {
        let scores = self.scores(features);
        Array2::from_shape_fn((features.nrows(), scores.len()), |(row, class)| scores[class][row])
    }

    /// The class of each row.
    pub fn predict(&self, features: ArrayView2<'_, f64>) -> Vec<u32> {
        let scores = self.scores(features);
        let scores: Vec<&[f64]> = scores.iter().map(Vec::as_slice).collect();
        let has_trees = self.trees.iter().any(|trees| !trees.is_empty());
        let classes = if scores.len() == 1 { 1 + usize::from(has_trees) } else { scores.len() };
        decide(&scores, classes)
    }

    fn scores(&self, features: ArrayView2<'_, f64>) -> Vec<Vec<f64>> {
        let width = features.ncols();
        let features: Vec<f64> = features.iter().copied().collect();
        self.trees
            .par_iter()
            .zip(&self.initial)
            .map(|(trees, &initial)| {
                let mut scores = vec![initial; features.len() / width.max(1)];
                for tree in trees {
                    for (score, row) in scores.iter_mut().zip(features.chunks_exact(width)) {
                        *score += self.learning_rate * tree.predict(row);
                    }
                }
                scores
            })
            .collect()
    }
}

impl Booster {
    /// Grows the tree of one stage and adds it to the scores.
    fn advance(
        &mut self,
        class: usize,
        classes: &Classes,
        normalisers: &[f64],
        columns: &Columns,
        parameters: &BoostingParameters,
        tie_seed: u64,
    ) {
        // With two classes, the only tree is that of class 1.
        let target = if classes.count() == 2 { 1 } else { class } as u32;
        let rows = self.scores.iter().zip(normalisers).zip(classes.labels());
        let gradients = &mut self.gradients;
        vectorised(
            #[inline(always)]
            || {
                for (gradient, ((score, normaliser), &label)) in gradients.iter_mut().zip(rows) {
                    *gradient = f64::from(u8::from(label == target)) - exp(score - normaliser);
                }
            },
        );
        let count = classes.count() as f64;
        let correction = if classes.count() == 2 { 1.0 } else { (count - 1.0) / count };
        let tree = tree::grow(
            columns,
            &self.gradients,
            parameters.max_depth,
            tie_seed,
            &mut self.workspace,
            &mut self.importances,
            |gradient: f64| gradient.abs() * (1.0 - gradient.abs()),
            |gradient, curvature| {
                if curvature.abs() < 1e-150 { 0.0 } else { correction * gradient / curvature }
            },
        );
        tree.add_to(&mut self.scores, &self.workspace.node_of_row, parameters.learning_rate);
        self.trees.push(tree);
    }
}

/// The log-sum-exp of the scores of each row, from which a probability takes a single exponential.
fn log_normalisers(boosters: &[Booster]) -> Vec<f64> {
    const CHUNK: usize = 512;
    let rows = boosters[0].scores.len();
    let mut normalisers = vec![0.0; rows];
    normalisers.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, normalisers)| {
        let start = chunk * CHUNK;
        let end = start + normalisers.len();
        let scores = || boosters.iter().map(|booster| &booster.scores[start..end]);
        vectorised(
            #[inline(always)]
            || {
                // With two classes, the other one has the score 0.
                let mut largest = [if boosters.len() == 1 { 0.0 } else { f64::NEG_INFINITY }; CHUNK];
                for scores in scores() {
                    for (largest, &score) in largest.iter_mut().zip(scores) {
                        *largest = if score > *largest { score } else { *largest };
                    }
                }
                let mut sums = [0.0; CHUNK];
                for scores in scores() {
                    for ((sum, &score), &largest) in sums.iter_mut().zip(scores).zip(&largest) {
                        *sum += exp(score - largest);
                    }
                }
                for ((normaliser, &sum), &largest) in normalisers.iter_mut().zip(&sums).zip(&largest) {
                    let sum: f64 = if boosters.len() == 1 { sum + exp(-largest) } else { sum };
                    *normaliser = largest + sum.ln();
                }
            },
        );
    });
    normalisers
}

/// The class with the largest score; with two classes, the sign of the only score.
fn decide(scores: &[&[f64]], classes: usize) -> Vec<u32> {
    let rows = scores.first().map_or(0, |scores| scores.len());
    match classes {
        1 => vec![0; rows],
        2 => scores[0].iter().map(|&score| u32::from(score >= 0.0)).collect(),
        _ => {
            let mut of_row = vec![0.0; classes];
            (0..rows)
                .map(|row| {
                    for (score, scores) in of_row.iter_mut().zip(scores) {
                        *score = scores[row];
                    }
                    argmax(&of_row) as u32
                })
                .collect()
        }
    }
}

fn check(features: ArrayView2<'_, f64>, classes: &Classes, parameters: &BoostingParameters) -> Result<()> {
    super::check_fit(features, classes)?;
    check_parameters(features, parameters)
}

fn check_parameters(features: ArrayView2<'_, f64>, parameters: &BoostingParameters) -> Result<()> {
    if features.nrows() >= split::LARGEST_ROWS {
        let (found, most) = (features.nrows(), split::LARGEST_ROWS - 1);
        return Err(MetricsError::TooMany { array: "features", what: "row", found, most });
    }
    if parameters.stages == 0 || parameters.stages > 1_000_000 {
        return Err(MetricsError::parameter("stages", parameters.stages, "1 to 1000000"));
    }
    if !(parameters.learning_rate > 0.0 && parameters.learning_rate <= 1.0) {
        return Err(MetricsError::parameter("learning_rate", parameters.learning_rate, "above 0, at most 1"));
    }
    if !(1..=12).contains(&parameters.max_depth) {
        return Err(MetricsError::parameter("max_depth", parameters.max_depth, "1 to 12"));
    }
    Ok(())
}
