//! Which values of which factor the classes of a categorical unit stand for.

use super::encoded_run::EncodedRun;
use unbraid::data::Factor;
use unbraid::metrics::information::mutual_information;

/// With more labels than this, a table of classes by labels is hard to read.
const MOST_LABELS: usize = 24;
/// Classes of equal size that stand for the values of a number, as in the scores.
const GROUPS: usize = 20;

/// The factor that shares most with a categorical unit, and how often its values occur in each class.
#[derive(Debug)]
pub(super) struct ClassLabels<'a> {
    /// The factor.
    pub(super) factor: &'a Factor,
    /// Images of each class and value.
    pub(super) counts: Vec<Vec<usize>>,
}

impl<'a> ClassLabels<'a> {
    /// Of a categorical unit; `None` if no factor has few enough values to be read.
    pub(super) fn of(encoded: &EncodedRun<'a>, unit: usize) -> Option<Self> {
        let space = encoded.data().factors()?;
        let classes = encoded.posteriors().categories.column(unit).to_vec();
        let fits = |factor: &usize| (2..=MOST_LABELS).contains(&space.factors()[*factor].size);
        let values = space.latent().into_iter().filter(fits).map(|factor| (factor, encoded.factor(factor)));
        let (_, factor, values) = values
            .map(|(factor, values)| (class_information(&classes, &values), factor, values))
            .max_by(|a, b| a.0.total_cmp(&b.0))?;
        let factor = &space.factors()[factor];
        let mut counts = vec![vec![0; factor.size]; encoded.layout().categorical()[unit]];
        for (class, value) in classes.iter().zip(&values) {
            counts[*class as usize][*value as usize] += 1;
        }
        Some(Self { factor, counts })
    }

    /// The most common value of a class and its share; `None` if no image has the class.
    pub(super) fn most_common(&self, class: usize) -> Option<(String, f64)> {
        let counts = &self.counts[class];
        let images: usize = counts.iter().sum();
        let value = (0..counts.len()).rev().max_by_key(|&value| counts[value])?;
        (images > 0).then(|| (self.factor.label(value as u32), counts[value] as f64 / images as f64))
    }
}

/// The mutual information of classes and values, in nats, from counts. Numbers that hardly ever repeat are
/// cut into twenty classes of equal size.
pub(super) fn class_information(classes: &[i64], values: &[f64]) -> f64 {
    let (classes, class_count) = numbered(&classes.iter().map(|class| *class as f64).collect::<Vec<f64>>());
    let (mut values, mut value_count) = numbered(values);
    if value_count > GROUPS && values.len() < 2 * value_count {
        let mut sorted = values.clone();
        sorted.sort_unstable();
        let group = |value: &u32| sorted.partition_point(|other| other < value) * GROUPS / sorted.len();
        values = values.iter().map(|value| group(value) as u32).collect();
        value_count = GROUPS;
    }
    mutual_information(&classes, class_count, &values, value_count)
}

/// The values as numbers from 0 in ascending order, and how many there are.
fn numbered(values: &[f64]) -> (Vec<u32>, usize) {
    let mut distinct = values.to_vec();
    distinct.sort_unstable_by(f64::total_cmp);
    distinct.dedup();
    let number = |value: &f64| distinct.partition_point(|other| other < value) as u32;
    (values.iter().map(number).collect(), distinct.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of four images, two classes that are two values share ln 2; classes that ignore the value share nothing.
    #[test]
    fn information_by_hand() {
        let values = [5.0, 5.0, 9.0, 9.0];
        assert!((class_information(&[3, 3, 0, 0], &values) - 2_f64.ln()).abs() < 1e-12);
        assert!(class_information(&[0, 1, 0, 1], &values).abs() < 1e-12);
        // A hundred different numbers: ten classes of ten neighbours each know ln 10 of their twenty groups of five.
        let numbers: Vec<f64> = (0..100).map(|place| f64::from(place) + 0.5).collect();
        let classes: Vec<i64> = (0..100).map(|place| place / 10).collect();
        assert!((class_information(&classes, &numbers) - 10_f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn the_most_common_value_has_its_label() {
        let factor = Factor::labelled("shape", ["square", "heart"]);
        let labels = ClassLabels { factor: &factor, counts: vec![vec![1, 3], vec![0, 0], vec![2, 2]] };
        assert_eq!(labels.most_common(0), Some(("heart".to_owned(), 0.75)));
        assert_eq!(labels.most_common(1), None);
        assert_eq!(labels.most_common(2), Some(("square".to_owned(), 0.5)), "the first of equals");
    }
}
