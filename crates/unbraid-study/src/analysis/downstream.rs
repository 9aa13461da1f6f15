//! Downstream performance: accuracy of prediction from few and from many labels.

use super::groups::{Part, groups};
use super::statistics::Mean;
use crate::Table;

/// Accuracy from few labels, in the ratio that is sample efficiency.
const FEW: usize = 100;

/// The learner behind the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learner {
    /// Gradient-boosted trees: `downstream_accuracy...`
    Boosting,
    /// Logistic regression: `downstream_logistic_accuracy...`
    Logistic,
}

impl Learner {
    fn stem(self) -> &'static str {
        match self {
            Self::Boosting => "downstream",
            Self::Logistic => "downstream_logistic",
        }
    }
}

/// The downstream accuracy of one method.
#[derive(Clone, Debug, PartialEq)]
pub struct DownstreamAccuracy {
    /// The method.
    pub method: String,
    /// Number of labels, and the mean accuracy over all runs of the method.
    pub accuracies: Vec<(usize, Mean)>,
    /// The sample efficiency, [`sample_efficiencies`], over the same runs.
    pub efficiency: Option<Mean>,
}

/// The accuracy of each method from each number of labels, and its sample efficiency (thesis, Fig. 5.19;
/// Locatello et al. 2019, section 5.5). Empty if no run was scored with the metric, which is not among the
/// default ones.
pub fn downstream_accuracies(table: &Table, rows: &[usize], learner: Learner) -> Vec<DownstreamAccuracy> {
    let columns = label_columns(table, learner);
    let efficiencies = sample_efficiencies(table, learner);
    let of_group = |rows: &[usize]| {
        let accuracies: Vec<(usize, Mean)> = columns
            .iter()
            .filter_map(|&(labels, column)| Some((labels, Mean::of_rows(table, rows, column)?)))
            .collect();
        let own: Vec<f64> = rows.iter().map(|&row| efficiencies[row]).collect();
        (!accuracies.is_empty()).then(|| (accuracies, Mean::of(&own)))
    };
    let found = groups(table, rows, &[Part::Method]).into_iter();
    found
        .filter_map(|group| {
            let (accuracies, efficiency) = of_group(&group.rows)?;
            Some(DownstreamAccuracy {
                method: table.rows[group.rows[0]].method.clone(),
                accuracies,
                efficiency,
            })
        })
        .collect()
}

/// The sample efficiency of every row of the table: accuracy from 100 labels divided by accuracy from 10,000, as the
/// metric gives it; where a run was scored on fewer points, divided by accuracy from the most labels that any
/// run of the table has, so that all ratios mean the same. NaN where there is none.
pub fn sample_efficiencies(table: &Table, learner: Learner) -> Vec<f64> {
    let columns = label_columns(table, learner);
    let known = |column: usize| table.rows.iter().any(|row| row.numbers[column].is_finite());
    let few = columns.iter().find(|(labels, _)| *labels == FEW);
    let most = columns.iter().rev().find(|(labels, column)| *labels > FEW && known(*column));
    match (few, most) {
        (Some((_, few)), Some((_, most))) => {
            let ratio = |row: &crate::Row| row.numbers[*few] / row.numbers[*most];
            table
                .rows
                .iter()
                .map(ratio)
                .map(|ratio| if ratio.is_finite() { ratio } else { f64::NAN })
                .collect()
        }
        _ => {
            let given = format!("{}_sample_efficiency", learner.stem());
            let column = table.number_column(&given);
            table.rows.iter().map(|row| column.map_or(f64::NAN, |column| row.numbers[column])).collect()
        }
    }
}

/// Numbers of labels, ascending, and their columns.
fn label_columns(table: &Table, learner: Learner) -> Vec<(usize, usize)> {
    let prefix = format!("{}_accuracy_", learner.stem());
    let labels = |key: &String| key.strip_prefix(&prefix)?.parse().ok();
    let keys = table.number_keys.iter().enumerate();
    let mut columns: Vec<(usize, usize)> =
        keys.filter_map(|(column, key)| Some((labels(key)?, column))).collect();
    columns.sort_unstable();
    columns
}

#[cfg(test)]
mod tests {
    use super::super::testing::{all, table};
    use super::*;

    #[test]
    fn accuracies_by_labels_and_their_ratio() {
        let keys = [
            "downstream_accuracy",
            "downstream_sample_efficiency",
            "downstream_accuracy_1000",
            "downstream_accuracy_100",
            "downstream_logistic_accuracy_100",
        ];
        let table = table(
            &[],
            &keys,
            vec![
                ("vae", "shapes", vec![], 0, vec![0.8, f64::NAN, 0.8, 0.4, 0.1]),
                ("vae", "shapes", vec![], 1, vec![0.6, f64::NAN, 0.6, 0.45, 0.2]),
                ("pca", "shapes", vec![], 0, vec![f64::NAN; 5]),
            ],
        );
        let found = downstream_accuracies(&table, &all(&table), Learner::Boosting);
        assert_eq!(found.len(), 1, "nothing is known of the other method");
        let labels: Vec<usize> = found[0].accuracies.iter().map(|(labels, _)| *labels).collect();
        assert_eq!(labels, [100, 1000]);
        let means = found[0].accuracies.iter().map(|(_, mean)| mean.mean);
        assert!(means.zip([0.425, 0.7]).all(|(mean, expected)| (mean - expected).abs() < 1e-15));
        assert!((found[0].efficiency.unwrap().mean - (0.5 + 0.75) / 2.0).abs() < 1e-15);
        let logistic = downstream_accuracies(&table, &all(&table), Learner::Logistic);
        assert_eq!((logistic[0].accuracies.len(), logistic[0].efficiency), (1, None));
    }

    #[test]
    fn a_ratio_without_its_parts_is_taken_as_given() {
        let numbers = vec![0.7];
        let table =
            table(&[], &["downstream_sample_efficiency"], vec![("vae", "shapes", vec![], 0, numbers)]);
        assert_eq!(sample_efficiencies(&table, Learner::Boosting), [0.7]);
        assert!(sample_efficiencies(&table, Learner::Logistic)[0].is_nan());
    }
}
