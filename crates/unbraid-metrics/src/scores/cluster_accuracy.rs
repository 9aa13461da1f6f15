//! Cluster accuracy of a categorical unit.

use crate::checks::check_length;
use crate::classes::Classes;
use crate::codes::Codes;
use crate::error::{MetricsError, Result};
use crate::matching::best_matching;
use crate::metric::{Description, Metric, Needs, Options, Requirement};
use crate::numeric::argmax;
use crate::options::{Choice, Declare};
use crate::report::ScoreValues;
use ndarray::{Array2, ArrayView1};
use serde::{Deserialize, Serialize};

/// How labels are assigned to clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Matching {
    /// Each cluster is assigned the most common label of its points.
    #[default]
    Majority,
    /// Clusters and labels are matched one to one, so that as many points as possible are correct.
    OneToOne,
}

impl Choice for Matching {
    const WORDS: &'static [&'static str] = &["majority", "one-to-one"];

    fn word(&self) -> &'static str {
        match self {
            Self::Majority => "majority",
            Self::OneToOne => "one-to-one",
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        match word {
            "majority" => Some(Self::Majority),
            "one-to-one" => Some(Self::OneToOne),
            _ => None,
        }
    }
}

/// Parameters of [`cluster_accuracy`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClusterAccuracyParameters {
    /// How labels are assigned to clusters.
    pub matching: Matching,
}

impl ClusterAccuracyParameters {
    fn declare(&mut self, declare: &mut Declare<'_>) {
        let Self { matching } = self;
        declare.choice("matching", matching, "how labels are assigned to clusters");
    }
}

/// Cluster accuracy: how often does the label assigned to a point's cluster equal the label of the point?
///
/// Labels are assigned to clusters on the training points and tested on the test points. A cluster without training points, or
/// one that one-to-one matching leaves unmatched, is always wrong.
///
/// * Shapes: clusters and labels \[n\] of training and test points; clusters are the most likely category of each point.
/// * Range: 0 to 1, higher is better. On the training points, majority matching reaches at least the share of the most common
///   label.
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

/// [`cluster_accuracy`] of clusters and labels whose lengths have been checked.
fn accuracy_of(
    train: (ArrayView1<'_, i64>, ArrayView1<'_, i64>),
    test: (ArrayView1<'_, i64>, ArrayView1<'_, i64>),
    matching: Matching,
) -> f64 {
    let (clusters, labels) = (Classes::new(train.0), Classes::new(train.1));
    let mut counts = vec![vec![0.0_f64; labels.count()]; clusters.count()];
    for (&cluster, &label) in clusters.labels().iter().zip(labels.labels()) {
        counts[cluster as usize][label as usize] += 1.0;
    }
    let label_of_cluster = match matching {
        Matching::Majority => {
            counts.iter().map(|counts| (!counts.is_empty()).then(|| argmax(counts))).collect()
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

/// The metric `cluster_accuracy`; see [`cluster_accuracy`]. Of several units and factors, it takes the pair whose accuracy on
/// the training points exceeds the share of the factor's most common value by most.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClusterAccuracy {
    /// Its parameters.
    pub parameters: ClusterAccuracyParameters,
}

impl Metric for ClusterAccuracy {
    fn description(&self) -> Description {
        let meaning =
            "the clusters of a categorical unit agree with a factor (the pair furthest above the majority)";
        Description::new("cluster_accuracy", meaning)
            .number("cluster_accuracy", "cluster accuracy")
            .detail("cluster_accuracy_matrix")
            .needs(Needs { clusters: true, ..Needs::TEST_POINTS })
    }

    fn declare_options(&mut self, declare: &mut Declare<'_>) {
        self.parameters.declare(declare);
    }

    fn run(&self, codes: &Codes, _options: &Options<'_>) -> Result<ScoreValues> {
        let data = codes.train_test()?;
        let (train, test) =
            codes.clusters().ok_or(MetricsError::Missing { missing: Requirement::Clusters })?;
        let (factors_train, factors_test) = (data.factors_train(), data.factors_test());
        let (classes, matching) = (data.train().classes(), self.parameters.matching);
        let matrix = Array2::from_shape_fn((train.ncols(), classes.len()), |(unit, factor)| {
            let fitted = (train.column(unit), factors_train.column(factor));
            accuracy_of(fitted, (test.column(unit), factors_test.column(factor)), matching)
        });
        let majority = |factor: usize, values: ArrayView1<'_, i64>| {
            let classes: &Classes = &classes[factor];
            classes.majority_accuracy(&classes.labels_of(values))
        };
        // By accuracy alone, the rarest attribute would be the best, whatever the clusters are.
        let gain = |&(unit, factor): &(usize, usize)| {
            let fitted = (train.column(unit), factors_train.column(factor));
            accuracy_of(fitted, fitted, matching) - majority(factor, fitted.1)
        };
        let varying = (0..classes.len()).filter(|&factor| classes[factor].varies());
        let pairs = varying.flat_map(|factor| (0..train.ncols()).map(move |unit| (unit, factor)));
        let best = pairs.max_by(|left, right| gain(left).total_cmp(&gain(right)));
        let (unit, factor) = best.ok_or(MetricsError::Missing { missing: Requirement::Clusters })?;
        Ok(ScoreValues::new("cluster_accuracy", matrix[[unit, factor]])
            .with_majority("cluster_accuracy", majority(factor, factors_test.column(factor)))
            .with_matrix("cluster_accuracy_matrix", matrix))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn one_to_one_gives_each_label_once() {
        let (clusters, labels) = (array![0, 0, 1, 1, 1], array![5, 5, 5, 5, 6]);
        let pair = (clusters.view(), labels.view());
        let majority = ClusterAccuracyParameters { matching: Matching::Majority };
        assert!((cluster_accuracy(pair, pair, &majority).unwrap() - 0.8).abs() < 1e-12);
        let one_to_one = ClusterAccuracyParameters { matching: Matching::OneToOne };
        assert!((cluster_accuracy(pair, pair, &one_to_one).unwrap() - 0.6).abs() < 1e-12);
    }

    /// Clusters that are one of three digits in nine of ten points, and an attribute that one point in ten has: always saying
    /// that it has not is right as often, and means nothing.
    #[test]
    fn a_rare_attribute_is_not_the_best_factor() {
        let factors = Array2::from_shape_fn((300, 2), |(row, factor)| match factor {
            0 => row as i64 % 3,
            _ => i64::from(row.is_multiple_of(11)),
        });
        let wrong = |row: usize| usize::from(row.is_multiple_of(7));
        let clusters = Array2::from_shape_fn((300, 1), |(row, _)| ((row + wrong(row)) % 3) as i64);
        let codes = Array2::from_shape_fn((300, 1), |(row, _)| row as f64);
        let codes = Codes::new(codes.clone(), factors.clone(), codes, factors)
            .and_then(|codes| codes.with_clusters(clusters.clone(), clusters))
            .unwrap();
        let values = ClusterAccuracy::default().run(&codes, &Options::default()).unwrap();
        // 43 of the rows below 300 are multiples of 7.
        let expected = 1.0 - 43.0 / 300.0;
        assert!((values.get("cluster_accuracy").unwrap() - expected).abs() < 1e-12);
        assert!((values.majority("cluster_accuracy").unwrap() - 1.0 / 3.0).abs() < 1e-12);
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
