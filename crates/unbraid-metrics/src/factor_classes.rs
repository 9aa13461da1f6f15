//! Which factors are scored as classes, and how the others are treated.
//!
//! A factor with more than twenty values and, on average, fewer than two points for each is not treated as classes: a learner
//! could only memorise it, and an intervention on it would leave a single image. If it is a number (ordered, an angle, or of
//! unknown kind), its values are grouped into twenty classes of equal size for scores that need classes; scores that can
//! predict numbers use the numbers. Categorical factors of this sort are left out.

use crate::codes::Codes;
use crate::metric::FactorKind;
use ndarray::{Array1, Array2, ArrayView1};
use std::borrow::Cow;

/// The number of classes that numbers are grouped into; factors with at most as many values are always classes.
const GROUPS: usize = 20;

/// How a factor is treated by scores that need classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Treatment {
    /// Its values are classes.
    AsIs,
    /// Its values are numbers: they are grouped into classes of equal size.
    Grouped,
    /// It is categorical, and its values hardly ever repeat.
    LeftOut,
}

/// Codes whose factors can be scored, and a note on each factor that was grouped or left out.
pub(crate) fn scorable(codes: &Codes) -> (Cow<'_, Codes>, Vec<String>) {
    let points = codes.codes_train().nrows();
    let treatments: Vec<Treatment> = codes
        .classes_train()
        .iter()
        .enumerate()
        .map(|(factor, classes)| {
            if classes.count() <= GROUPS || 2 * classes.count() <= points {
                return Treatment::AsIs;
            }
            match codes.factor_kinds().get(factor) {
                Some(FactorKind::Categorical) => Treatment::LeftOut,
                Some(FactorKind::Ordered | FactorKind::Angle) | None => Treatment::Grouped,
            }
        })
        .collect();
    if treatments.iter().all(|treatment| *treatment == Treatment::AsIs) {
        return (Cow::Borrowed(codes), Vec::new());
    }
    let notes = treatments.iter().enumerate().filter_map(|(factor, treatment)| {
        let name = codes.factor_names().get(factor).cloned().unwrap_or_else(|| factor.to_string());
        let count = codes.classes_train()[factor].count();
        let what = match treatment {
            Treatment::AsIs => return None,
            Treatment::Grouped => {
                "a number; where a score needs classes, twenty of equal size stand for them"
            }
            Treatment::LeftOut => "left out, since names that hardly ever repeat are no classes",
        };
        Some(format!("factor `{name}` takes {count} values on {points} points: {what}"))
    });
    (Cow::Owned(codes.with_classes(&treatments)), notes.collect())
}

/// A note on each factor of which many test points have a value that no training point has: what a learner says of those is
/// always wrong. This is what becomes of rows in the order of a grid when the first are taken to train and the last to test.
pub(crate) fn unseen_values(codes: &Codes) -> Vec<String> {
    /// The share of test points that rare values may have.
    const FEW: f64 = 0.05;
    let values = codes.factors_test();
    let points = values.nrows();
    let factors = codes.classes_train().iter().enumerate();
    factors
        .filter_map(|(factor, classes)| {
            let unseen = classes.labels_of(values.column(factor)).iter().filter(|class| class.is_none()).count();
            let name = || codes.factor_names().get(factor).cloned().unwrap_or_else(|| factor.to_string());
            (unseen as f64 > FEW * points as f64).then(|| {
                format!(
                    "factor `{}`: {unseen} of {points} test points have a value that no training point has; if the rows are in \
                     order, shuffle them first",
                    name()
                )
            })
        })
        .collect()
}

/// Classes of equal size for the values of a number.
#[derive(Debug)]
pub(crate) struct Groups {
    /// The smallest value of each class but the first.
    edges: Vec<f64>,
}

impl Groups {
    /// Twenty classes that divide these values as evenly as possible; equal values share a class.
    pub(crate) fn new(values: ArrayView1<'_, f64>) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let mut edges: Vec<f64> = (1..GROUPS).map(|group| sorted[group * sorted.len() / GROUPS]).collect();
        edges.dedup();
        Self { edges }
    }

    /// The class of each value.
    pub(crate) fn of(&self, values: ArrayView1<'_, f64>) -> Array1<i64> {
        values.mapv(|value| self.edges.partition_point(|edge| *edge <= value) as i64)
    }
}

/// Class labels of factors that may be real numbers: a factor of whole numbers keeps its values, the distinct values of any
/// other factor are numbered in ascending order.
pub(crate) fn classes_of_numbers(train: &Array2<f64>, test: &Array2<f64>) -> (Array2<i64>, Array2<i64>) {
    let (mut train_classes, mut test_classes) = (Array2::zeros(train.dim()), Array2::zeros(test.dim()));
    for factor in 0..train.ncols() {
        let all = || train.column(factor).into_iter().chain(test.column(factor)).copied();
        let mut values: Vec<f64> = all().collect();
        values.sort_unstable_by(f64::total_cmp);
        // Minus zero is zero.
        values.dedup();
        // Beyond 2^53 neighbouring whole numbers share one floating-point number.
        let whole = all().all(|value| value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0);
        let class = |value: f64| {
            if whole { value as i64 } else { values.partition_point(|other| *other < value) as i64 }
        };
        train_classes.column_mut(factor).assign(&train.column(factor).mapv(class));
        test_classes.column_mut(factor).assign(&test.column(factor).mapv(class));
    }
    (train_classes, test_classes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array1, array};

    #[test]
    fn groups_have_equal_sizes() {
        let values = Array1::from_shape_fn(200, |i| ((i * 77) % 200) as f64 + 0.5);
        let classes = Groups::new(values.view()).of(values.view());
        for group in 0..20 {
            assert_eq!(classes.iter().filter(|class| **class == group).count(), 10, "{group}");
        }
        assert_eq!(Groups::new(values.view()).of(array![-9.0, 0.5, 10.5, 999.0].view()), array![0, 0, 1, 19]);
        assert_eq!(Groups::new(array![3.0, 3.0].view()).of(array![1.0, 3.0].view()), array![0, 1]);
    }

    #[test]
    fn numbers_that_are_not_whole_are_numbered() {
        let (train, test) = classes_of_numbers(&array![[2.0, 0.5], [9.0, -0.5]], &array![[4.0, 0.0]]);
        assert_eq!((train, test), (array![[2, 2], [9, 0]], array![[4, 1]]));
    }
}
