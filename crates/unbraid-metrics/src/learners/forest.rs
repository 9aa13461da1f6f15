//! Random forests for classification (Breiman 2001), like scikit-learn's `RandomForestClassifier`.

use crate::classes::Classes;
use crate::error::{MetricsError, Result};
use crate::interruption;
use crate::numeric::{argmax, columns};
use crate::options::Declare;
use crate::random::{self, Generator, below};
use ndarray::ArrayView2;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Parameters of [`RandomForest`]; the defaults are scikit-learn's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ForestParameters {
    /// The number of trees.
    pub trees: usize,
    /// The maximum depth of a tree; `None` grows trees until leaves are pure.
    pub max_depth: Option<usize>,
    /// The number of features that each split chooses from; `None` is the square root of their number.
    pub features_per_split: Option<usize>,
    /// Seeds the choice of rows for each tree and of features for each split.
    pub seed: u64,
}

impl Default for ForestParameters {
    fn default() -> Self {
        Self { trees: 100, max_depth: None, features_per_split: None, seed: 0 }
    }
}

impl ForestParameters {
    pub(crate) fn declare(&mut self, declare: &mut Declare<'_>) {
        let Self { trees, max_depth, features_per_split, seed: _ } = self;
        declare.count("trees", trees, 1..=1_000_000, "number of trees");
        declare.optional_count("max_depth", max_depth, 1.., "splits from the root to a leaf at most");
        declare.optional_count(
            "features_per_split",
            features_per_split,
            1..,
            "features that each split chooses from (none: the square root of all)",
        );
    }
}

/// A fitted forest.
#[derive(Clone, Debug)]
pub struct RandomForest {
    trees: Vec<Vec<Node>>,
    importances: Vec<f64>,
    classes: usize,
}

/// A node: a split whose children are at `left` and `left + 1`, or a leaf with the class frequencies.
#[derive(Clone, Debug)]
enum Node {
    Split { feature: usize, threshold: f64, left: usize },
    Leaf(Vec<f64>),
}

impl RandomForest {
    /// Grows trees on rows drawn with replacement. Each split is the best by Gini impurity among randomly chosen features.
    /// Predictions average the class frequencies of the leaves; importances average the normalised impurity decrease of the
    /// trees.
    ///
    /// # Errors
    /// If there are no rows, the number of labels differs, or the number of trees is 0.
    ///
    /// ```
    /// use ndarray::array;
    /// use unbraid_metrics::Classes;
    /// use unbraid_metrics::learners::{ForestParameters, RandomForest};
    ///
    /// let features = array![[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]];
    /// let classes = Classes::new(array![0, 0, 0, 1, 1, 1].view());
    /// let forest = RandomForest::fit(features.view(), &classes, &ForestParameters::default())?;
    /// assert_eq!(forest.predict(features.view()), classes.labels());
    /// # Ok::<(), unbraid_metrics::MetricsError>(())
    /// ```
    pub fn fit(
        features: ArrayView2<'_, f64>,
        classes: &Classes,
        parameters: &ForestParameters,
    ) -> Result<Self> {
        super::check_fit(features, classes)?;
        if parameters.trees == 0 {
            return Err(MetricsError::parameter("trees", 0, "at least 1"));
        }
        let width = features.ncols();
        let tried = parameters.features_per_split.unwrap_or((width as f64).sqrt() as usize).clamp(1, width);
        let columns: Vec<Vec<f64>> = columns(features);
        let grown: Vec<(Vec<Node>, Vec<f64>)> = (0..parameters.trees)
            .into_par_iter()
            .map(|tree| {
                interruption::check();
                let mut generator = random::generator(parameters.seed, "forest", tree as u64);
                let rows: Vec<u32> =
                    (0..features.nrows()).map(|_| below(&mut generator, features.nrows()) as u32).collect();
                let max_depth = parameters.max_depth.unwrap_or(usize::MAX);
                Growth::new(&columns, classes, tried, max_depth, generator).grow(rows)
            })
            .collect();
        let mut importances = vec![0.0; width];
        for (_, importance) in &grown {
            let total: f64 = importance.iter().sum();
            if total > 0.0 {
                for (sum, value) in importances.iter_mut().zip(importance) {
                    *sum += value / total;
                }
            }
        }
        let total: f64 = importances.iter().sum();
        if total > 0.0 {
            importances.iter_mut().for_each(|importance| *importance /= total);
        }
        let trees = grown.into_iter().map(|(nodes, _)| nodes).collect();
        Ok(Self { trees, importances, classes: classes.count() })
    }

    /// The share of each feature in the total decrease of impurity: non-negative, with sum 1, or all 0 if there is no split.
    pub fn importances(&self) -> &[f64] {
        &self.importances
    }

    /// The class of each row.
    pub fn predict(&self, features: ArrayView2<'_, f64>) -> Vec<u32> {
        (0..features.nrows())
            .into_par_iter()
            .map(|row| {
                let mut shares = vec![0.0; self.classes];
                for nodes in &self.trees {
                    let mut place = 0;
                    let leaf = loop {
                        match &nodes[place] {
                            Node::Split { feature, threshold, left } => {
                                place = left + usize::from(features[[row, *feature]] > *threshold);
                            }
                            Node::Leaf(leaf) => break leaf,
                        }
                    };
                    for (sum, share) in shares.iter_mut().zip(leaf) {
                        *sum += share;
                    }
                }
                argmax(&shares) as u32
            })
            .collect()
    }
}

/// A tree under construction.
struct Growth<'a> {
    columns: &'a [Vec<f64>],
    classes: &'a Classes,
    tried: usize,
    max_depth: usize,
    generator: Generator,
    nodes: Vec<Node>,
    importances: Vec<f64>,
}

/// A split of the rows of a node.
struct Best {
    /// Sum over both sides of (sum of squared class counts) / rows: the larger, the purer.
    purity: f64,
    feature: usize,
    threshold: f64,
}

impl<'a> Growth<'a> {
    fn new(
        columns: &'a [Vec<f64>],
        classes: &'a Classes,
        tried: usize,
        max_depth: usize,
        generator: Generator,
    ) -> Self {
        let importances = vec![0.0; columns.len()];
        Self { columns, classes, tried, max_depth, generator, nodes: Vec::new(), importances }
    }

    fn grow(mut self, rows: Vec<u32>) -> (Vec<Node>, Vec<f64>) {
        self.nodes.push(Node::Leaf(Vec::new()));
        let mut pending = vec![(0, 0, rows)];
        while let Some((place, depth, rows)) = pending.pop() {
            let counts = self.counts(&rows);
            let pure = counts.iter().filter(|&&count| count > 0.0).count() < 2;
            let best = if pure || depth >= self.max_depth { None } else { self.best_split(&rows, &counts) };
            let Some(best) = best else {
                let total = rows.len() as f64;
                self.nodes[place] = Node::Leaf(counts.iter().map(|count| count / total).collect());
                continue;
            };
            self.importances[best.feature] += best.purity - squares(&counts) / rows.len() as f64;
            let left = self.nodes.len();
            self.nodes.extend([Node::Leaf(Vec::new()), Node::Leaf(Vec::new())]);
            self.nodes[place] = Node::Split { feature: best.feature, threshold: best.threshold, left };
            let column = &self.columns[best.feature];
            let (lower, upper): (Vec<u32>, Vec<u32>) =
                rows.into_iter().partition(|&row| column[row as usize] <= best.threshold);
            pending.push((left + 1, depth + 1, upper));
            pending.push((left, depth + 1, lower));
        }
        (self.nodes, self.importances)
    }

    fn counts(&self, rows: &[u32]) -> Vec<f64> {
        let mut counts = vec![0.0; self.classes.count()];
        for &row in rows {
            counts[self.classes.labels()[row as usize] as usize] += 1.0;
        }
        counts
    }

    /// The best split among the features that are tried. Constant features do not count as tried.
    fn best_split(&mut self, rows: &[u32], counts: &[f64]) -> Option<Best> {
        let mut features: Vec<usize> = (0..self.columns.len()).collect();
        let (mut best, mut tried): (Option<Best>, usize) = (None, 0);
        for i in 0..features.len() {
            if tried == self.tried {
                break;
            }
            let j = i + below(&mut self.generator, features.len() - i);
            features.swap(i, j);
            if let Some(found) = self.best_of_feature(features[i], rows, counts) {
                tried += 1;
                if best.as_ref().is_none_or(|best| found.purity > best.purity) {
                    best = Some(found);
                }
            }
        }
        best
    }

    /// The best split of one feature, or `None` if it is constant in the node.
    fn best_of_feature(&self, feature: usize, rows: &[u32], counts: &[f64]) -> Option<Best> {
        let column = &self.columns[feature];
        let mut sorted: Vec<(f64, u32)> =
            rows.iter().map(|&row| (column[row as usize], self.classes.labels()[row as usize])).collect();
        sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let (mut left, mut right) = (vec![0.0; counts.len()], counts.to_vec());
        // Squared counts change by 2c + 1 when a row arrives and by 1 - 2c when it leaves.
        let (mut left_squares, mut right_squares) = (0.0, squares(counts));
        let mut best: Option<Best> = None;
        for (place, pair) in sorted.windows(2).enumerate() {
            let class = pair[0].1 as usize;
            left_squares += 2.0 * left[class] + 1.0;
            right_squares += 1.0 - 2.0 * right[class];
            left[class] += 1.0;
            right[class] -= 1.0;
            if pair[1].0 <= pair[0].0 + 1e-7 {
                continue;
            }
            let lefts = (place + 1) as f64;
            let purity = left_squares / lefts + right_squares / (rows.len() as f64 - lefts);
            if best.as_ref().is_none_or(|best| purity > best.purity) {
                let middle = pair[0].0 / 2.0 + pair[1].0 / 2.0;
                let threshold = if middle < pair[1].0 { middle } else { pair[0].0 };
                best = Some(Best { purity, feature, threshold });
            }
        }
        best
    }
}

fn squares(counts: &[f64]) -> f64 {
    counts.iter().map(|count| count * count).sum()
}
