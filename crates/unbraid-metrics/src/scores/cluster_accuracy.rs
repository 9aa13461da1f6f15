//! Cluster accuracy of a categorical unit.

use crate::checks::check_length;
use crate::classes::Classes;
use crate::codes::Codes;
use crate::error::{MetricsError, Result};
use crate::metric::{Description, Metric, Needs, Options, Requirement, json};
use crate::report::ScoreValues;
use ndarray::{Array2, ArrayView1};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How labels are assigned to clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Matching {
    /// Each cluster stands for the label that most of its points have.
    #[default]
    Majority,
    /// Each cluster stands for a label of its own, so that as many points as possible are right.
    OneToOne,
}

/// Parameters of [`cluster_accuracy`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClusterAccuracyParameters {
    /// How labels are assigned to clusters.
    pub matching: Matching,
}

/// Cluster accuracy: how often does the label of a point's cluster, its most likely category, equal its own label?
///
/// Labels are assigned to clusters on the training points and tested on the test points. A cluster that no training point
/// fell into (or that one-to-one matching leaves over) is never right.
///
/// * Shapes: clusters and labels \[n\] of training and test points; clusters are the most likely category of each point.
/// * Range: 0 to 1, higher is better; with majority, at least the share of the most common label on the training points.
/// * Reference: Dupont 2018, Learning disentangled joint continuous and discrete representations, section 4.2.
/// * See also: [`downstream`](super::downstream), which predicts factors from continuous units.
///
/// # Errors
/// If clusters and labels differ in length, or there are none.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::scores::{ClusterAccuracyParameters, cluster_accuracy};
///
/// let (clusters, labels) = (array![2, 2, 2, 0, 0, 0], array![7, 7, 7, 4, 4, 7]);
/// let accuracy = cluster_accuracy(
///     (clusters.view(), labels.view()),
///     (clusters.view(), labels.view()),
///     &ClusterAccuracyParameters::default(),
/// )?;
/// assert!((accuracy - 5.0 / 6.0).abs() < 1e-12);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn cluster_accuracy(
    train: (ArrayView1<'_, i64>, ArrayView1<'_, i64>),
    test: (ArrayView1<'_, i64>, ArrayView1<'_, i64>),
    parameters: &ClusterAccuracyParameters,
) -> Result<f64> {
    for (array, (clusters, labels)) in [("clusters_train", train), ("clusters_test", test)] {
        check_length(array, "point", clusters.len(), labels.len(), "labels")?;
        if clusters.is_empty() {
            return Err(MetricsError::TooFew { array, what: "point", found: 0, least: 1 });
        }
    }
    Ok(accuracy_of(train, test, parameters.matching))
}

/// [`cluster_accuracy`] of clusters and labels that are known to fit each other.
fn accuracy_of(
    train: (ArrayView1<'_, i64>, ArrayView1<'_, i64>),
    test: (ArrayView1<'_, i64>, ArrayView1<'_, i64>),
    matching: Matching,
) -> f64 {
    let (clusters, labels) = (Classes::new(train.0), Classes::new(train.1));
    let mut counts = vec![vec![0_i64; labels.count()]; clusters.count()];
    for (&cluster, &label) in clusters.labels().iter().zip(labels.labels()) {
        counts[cluster as usize][label as usize] += 1;
    }
    let label_of_cluster = match matching {
        Matching::Majority => {
            counts.iter().map(|counts| (0..counts.len()).rev().max_by_key(|&label| counts[label])).collect()
        }
        Matching::OneToOne => best_matching(&counts),
    };
    let hits = clusters
        .labels_of(test.0)
        .into_iter()
        .zip(labels.labels_of(test.1))
        .filter(|(cluster, label)| {
            let given = cluster.and_then(|cluster| label_of_cluster[cluster as usize]);
            given.is_some() && given == label.map(|label| label as usize)
        })
        .count();
    hits as f64 / test.0.len() as f64
}

/// The metric `cluster_accuracy`; see [`cluster_accuracy`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClusterAccuracy {
    /// Its parameters.
    pub parameters: ClusterAccuracyParameters,
}

impl Metric for ClusterAccuracy {
    fn description(&self) -> Description {
        let meaning = "the clusters of a categorical unit agree with a factor (best pair of unit and factor)";
        Description::new("cluster_accuracy", meaning)
            .number("cluster_accuracy", "cluster accuracy")
            .detail("cluster_accuracy_matrix")
            .needs(Needs { clusters: true, ..Needs::TEST_POINTS })
    }

    fn parameters(&self, _seed: u64) -> Value {
        json(&self.parameters)
    }

    fn run(&self, codes: &Codes, _options: &Options<'_>) -> Result<ScoreValues> {
        let data = codes.train_test()?;
        let (train, test) =
            codes.clusters().ok_or(MetricsError::Missing { missing: Requirement::Clusters })?;
        let classes = data.train().classes();
        let matrix = Array2::from_shape_fn((train.ncols(), classes.len()), |(unit, factor)| {
            accuracy_of(
                (train.column(unit), data.factors_train().column(factor)),
                (test.column(unit), data.factors_test().column(factor)),
                self.parameters.matching,
            )
        });
        // A factor with one value is recognised by any unit.
        let varying = matrix.indexed_iter().filter(|((_, factor), _)| classes[*factor].varies());
        let best = varying.map(|(_, accuracy)| *accuracy).fold(0.0, f64::max);
        Ok(ScoreValues::new("cluster_accuracy", best).with_matrix("cluster_accuracy_matrix", matrix))
    }
}

/// The column of each row, no column twice, for the largest sum: the Hungarian method with potentials, on the matrix
/// padded to a square with zeros. Rows that get a padded column get `None`.
fn best_matching(gains: &[Vec<i64>]) -> Vec<Option<usize>> {
    let columns = gains.first().map_or(0, Vec::len);
    let size = gains.len().max(columns);
    let cost =
        |row: usize, column: usize| -gains.get(row).and_then(|row| row.get(column)).copied().unwrap_or(0);
    // Place 0 of rows and columns is a sentinel: the row that is looking for a column starts there.
    let (mut row_potential, mut column_potential) = (vec![0_i64; size + 1], vec![0_i64; size + 1]);
    let mut row_of_column = vec![0_usize; size + 1];
    for row in 1..=size {
        row_of_column[0] = row;
        let mut column = 0;
        let (mut slack, mut came_from) = (vec![i64::MAX; size + 1], vec![0; size + 1]);
        let mut visited = vec![false; size + 1];
        while row_of_column[column] != 0 {
            visited[column] = true;
            let current = row_of_column[column];
            let (mut step, mut next) = (i64::MAX, 0);
            for other in 1..=size {
                if visited[other] {
                    continue;
                }
                let reduced = cost(current - 1, other - 1) - row_potential[current] - column_potential[other];
                if reduced < slack[other] {
                    (slack[other], came_from[other]) = (reduced, column);
                }
                if slack[other] < step {
                    (step, next) = (slack[other], other);
                }
            }
            for other in 0..=size {
                if visited[other] {
                    row_potential[row_of_column[other]] += step;
                    column_potential[other] -= step;
                } else if slack[other] != i64::MAX {
                    slack[other] -= step;
                }
            }
            column = next;
        }
        while column != 0 {
            row_of_column[column] = row_of_column[came_from[column]];
            column = came_from[column];
        }
    }
    let mut matched = vec![None; gains.len()];
    for (column, &row) in row_of_column[1..].iter().take(columns).enumerate() {
        if let Some(target) = matched.get_mut(row - 1) {
            *target = Some(column);
        }
    }
    matched
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    /// Taking the largest entry of each row would use column 0 twice; 8 + 7 + 5 is the best without.
    #[test]
    fn matching_by_hand() {
        let gains = vec![vec![9, 8, 1], vec![7, 2, 1], vec![3, 4, 5]];
        assert_eq!(best_matching(&gains), [Some(1), Some(0), Some(2)]);
        assert_eq!(best_matching(&[vec![1], vec![5]]), [None, Some(0)]);
        assert_eq!(best_matching(&[vec![1, 5]]), [Some(1)]);
    }

    #[test]
    fn one_to_one_gives_each_label_once() {
        let (clusters, labels) = (array![0, 0, 1, 1, 1], array![5, 5, 5, 5, 6]);
        let pair = (clusters.view(), labels.view());
        let majority = ClusterAccuracyParameters { matching: Matching::Majority };
        assert!((cluster_accuracy(pair, pair, &majority).unwrap() - 0.8).abs() < 1e-12);
        let one_to_one = ClusterAccuracyParameters { matching: Matching::OneToOne };
        assert!((cluster_accuracy(pair, pair, &one_to_one).unwrap() - 0.6).abs() < 1e-12);
    }

    #[test]
    fn an_unknown_cluster_is_never_right() {
        let train = (array![0, 1], array![3, 4]);
        let test = (array![0, 2], array![3, 9]);
        let found = cluster_accuracy(
            (train.0.view(), train.1.view()),
            (test.0.view(), test.1.view()),
            &ClusterAccuracyParameters::default(),
        );
        assert_eq!(found.unwrap(), 0.5);
    }
}
