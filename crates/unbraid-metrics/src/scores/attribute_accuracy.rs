//! Attribute accuracy by the difference of means.

use crate::classes::Classes;
use crate::codes::Codes;
use crate::error::Result;
use crate::metric::{Description, Metric, Needs, Options};
use crate::numeric::mean;
use crate::report::ScoreValues;
use crate::views::TrainTest;
use rayon::prelude::*;

/// What [`attribute_accuracy`] computes.
#[derive(Clone, Debug)]
pub struct AttributeAccuracyValues {
    /// The accuracy on the test points, mean over the factors that vary.
    pub value: f64,
    /// The mean accuracy of the attributes of each factor; 0 for a factor that does not vary.
    pub per_factor: Vec<f64>,
    /// The accuracy of always giving the more common answer, mean over the factors that vary.
    pub majority: f64,
    /// The same for each factor; 0 for a factor that does not vary.
    pub majority_per_factor: Vec<f64>,
}

/// Attribute accuracy: how accurate is a classifier along the difference between the means of two classes?
///
/// ```text
/// w = mean of z where the attribute holds - mean of z where it does not
/// b = argmin over b of sum over training points of max(0, 1 - y (w z + b)),   y = +1 or -1
/// accuracy = share of test points with sign(w z + b) = y
/// ```
/// The bias is found exactly: the hinge loss is piecewise linear in b. A factor of two values is one attribute, as in
/// CelebA; a factor of more values has one attribute for each value, that value against all others, and their accuracies are
/// averaged. The score is the mean over the factors that vary.
///
/// * Range: 0 to 1, higher is better. It is not balanced: always giving the more common answer reaches that answer's share.
///   A value that only the test points have counts as an error for each attribute.
/// * Reference: Kumar et al. 2018, Variational inference of disentangled latent concepts, table 2.
/// * See also: [`explicitness`](super::explicitness), with a fitted linear classifier; [`downstream`](super::downstream).
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::TrainTest;
/// use unbraid_metrics::scores::attribute_accuracy;
///
/// let (codes, factors) = (array![[0.0, 1.0], [0.0, 2.0], [3.0, 1.0], [3.0, 2.0]], array![[0], [0], [1], [1]]);
/// let data = TrainTest::new(codes.view(), factors.view(), codes.view(), factors.view())?;
/// assert_eq!(attribute_accuracy(&data).value, 1.0);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn attribute_accuracy(data: &TrainTest<'_>) -> AttributeAccuracyValues {
    let factors = data.train().classes();
    let per_factor: Vec<[f64; 2]> = factors
        .par_iter()
        .enumerate()
        .map(|(factor, classes)| {
            let truth = classes.labels_of(data.factors_test().column(factor));
            // The two values of a factor make a single attribute.
            let first = usize::from(classes.count() == 2);
            if !classes.varies() {
                return [0.0; 2];
            }
            let of = |accuracy: &dyn Fn(u32) -> f64| {
                mean(&(first..classes.count()).map(|class| accuracy(class as u32)).collect::<Vec<_>>())
            };
            [
                of(&|class| accuracy_of(data, classes, class, &truth)),
                of(&|class| majority_of(classes, class, &truth)),
            ]
        })
        .collect();
    let mean_of = |which: usize| {
        let varying = per_factor.iter().zip(factors).filter(|(_, classes)| classes.varies());
        mean(&varying.map(|(values, _)| values[which]).collect::<Vec<_>>())
    };
    AttributeAccuracyValues {
        value: mean_of(0),
        majority: mean_of(1),
        per_factor: per_factor.iter().map(|values| values[0]).collect(),
        majority_per_factor: per_factor.iter().map(|values| values[1]).collect(),
    }
}

/// The accuracy of always predicting that a value holds, or that it does not, whichever is true of more training points.
fn majority_of(classes: &Classes, class: u32, truth: &[Option<u32>]) -> f64 {
    let members = classes.labels().iter().filter(|&&label| label == class).count();
    let holds = 2 * members > classes.labels().len();
    let hits = truth.iter().flatten().filter(|truth| (**truth == class) == holds).count();
    hits as f64 / truth.len() as f64
}

/// The accuracy for one value against the rest.
fn accuracy_of(data: &TrainTest<'_>, classes: &Classes, class: u32, truth: &[Option<u32>]) -> f64 {
    let units = data.codes_train().ncols();
    let mut sums = [vec![0.0; units], vec![0.0; units]];
    let mut counts = [0.0; 2];
    for (row, &label) in data.codes_train().rows().into_iter().zip(classes.labels()) {
        let side = usize::from(label == class);
        counts[side] += 1.0;
        for (sum, value) in sums[side].iter_mut().zip(row) {
            *sum += value;
        }
    }
    let direction: Vec<f64> =
        (0..units).map(|unit| sums[1][unit] / counts[1] - sums[0][unit] / counts[0]).collect();
    let project =
        |row: ndarray::ArrayView1<'_, f64>| row.iter().zip(&direction).map(|(z, w)| z * w).sum::<f64>();
    let projections: Vec<f64> = data.codes_train().rows().into_iter().map(project).collect();
    let positive: Vec<bool> = classes.labels().iter().map(|&label| label == class).collect();
    let bias = hinge_bias(&projections, &positive);
    let hits = data
        .codes_test()
        .rows()
        .into_iter()
        .zip(truth)
        .filter(|(row, truth)| truth.is_some_and(|truth| (project(*row) + bias > 0.0) == (truth == class)))
        .count();
    hits as f64 / truth.len() as f64
}

/// The bias that minimises the summed hinge loss; the middle of the interval if there are several.
///
/// As b grows from minus infinity the slope of the loss starts at minus the number of positive points. It rises by 1 at
/// each kink: where a positive point reaches the margin, b = 1 - s, and where a negative one enters it, b = -1 - s. The
/// minimum lies where the slope passes 0, at the kink of that rank.
fn hinge_bias(projections: &[f64], positive: &[bool]) -> f64 {
    let mut kinks: Vec<f64> = projections
        .iter()
        .zip(positive)
        .map(|(s, &positive)| if positive { 1.0 - s } else { -1.0 - s })
        .collect();
    kinks.sort_unstable_by(f64::total_cmp);
    let rank = positive.iter().filter(|&&positive| positive).count();
    match (rank.checked_sub(1).and_then(|last| kinks.get(last)), kinks.get(rank)) {
        (Some(below), Some(above)) => below / 2.0 + above / 2.0,
        (Some(only), None) | (None, Some(only)) => *only,
        (None, None) => 0.0,
    }
}

/// The metric `attribute_accuracy`; see [`attribute_accuracy`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AttributeAccuracy;

impl Metric for AttributeAccuracy {
    fn description(&self) -> Description {
        let meaning = "factor values are classified along the difference of two class means";
        Description::new("attribute_accuracy", meaning)
            .number("attribute_accuracy", "attribute accuracy")
            .needs(Needs::TEST_POINTS)
    }

    fn run(&self, codes: &Codes, _options: &Options<'_>) -> Result<ScoreValues> {
        let data = codes.train_test()?;
        let found = attribute_accuracy(&data);
        let mut values = ScoreValues::new("attribute_accuracy", found.value)
            .with_majority("attribute_accuracy", found.majority);
        let named = codes.factor_names().iter().zip(data.train().classes()).enumerate();
        for (factor, (name, classes)) in named {
            if classes.varies() {
                let key = format!("attribute_accuracy/{name}");
                values = values
                    .with_number(&key, found.per_factor[factor])
                    .with_majority(key, found.majority_per_factor[factor]);
            }
        }
        Ok(values.with_list("attribute_accuracy_per_factor", found.per_factor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bias_minimises_the_hinge_loss() {
        let projections = [0.3, -1.2, 2.5, 0.9, -0.4, 1.7];
        let positive = [false, false, true, true, false, true];
        let loss = |b: f64| -> f64 {
            let margin = |(s, &p): (&f64, &bool)| if p { s + b } else { -(s + b) };
            projections.iter().zip(&positive).map(margin).map(|margin| (1.0 - margin).max(0.0)).sum()
        };
        let bias = hinge_bias(&projections, &positive);
        for step in -300..300 {
            assert!(loss(bias) <= loss(f64::from(step) * 0.01) + 1e-12);
        }
    }

    /// The codes of the test points are those of the first value, but their own value is a third one.
    #[test]
    fn an_unseen_value_is_an_error() {
        use ndarray::array;
        let (codes, factors) = (array![[0.0], [0.1], [1.0], [1.1]], array![[0], [0], [1], [1]]);
        let test = (array![[0.0], [0.1]], array![[7], [0]]);
        let data = TrainTest::new(codes.view(), factors.view(), test.0.view(), test.1.view()).unwrap();
        let found = attribute_accuracy(&data);
        assert_eq!((found.value, found.majority), (0.5, 0.5));
    }

    /// Points at -2 and 2: every bias from -1 to 1 has no loss, and the middle is taken.
    #[test]
    fn the_middle_of_a_flat_minimum() {
        assert_eq!(hinge_bias(&[-2.0, 2.0], &[false, true]), 0.0);
    }
}
