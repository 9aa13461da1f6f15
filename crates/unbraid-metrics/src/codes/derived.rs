//! Variants of the same points: with shuffled factors, resampled, with other classes or fewer factors.

use super::Codes;
use crate::classes::Classes;
use crate::factor_classes::{Groups, Treatment};
use crate::random::{self, generator};
use ndarray::{Array2, Axis};

impl Codes {
    /// The same codes with the rows of their factors shuffled, all factors of a row together: what a score then finds is
    /// chance. Each `round` has an order of its own.
    pub(crate) fn shuffled(&self, seed: u64, round: usize) -> Self {
        let order = |purpose, rows| random::choose(&mut generator(seed, purpose, round as u64), rows, rows);
        let (train, test) =
            (order("chance", self.codes_train.nrows()), order("chance test", self.codes_test.nrows()));
        let factors_train = self.factors_train.select(Axis(0), &train);
        Self {
            classes_train: Classes::of_factors(factors_train.view()),
            factors_train,
            factors_test: self.factors_test.select(Axis(0), &test),
            numbers: self.numbers.as_ref().map(|numbers| select_both(numbers, &train, &test)),
            unseen: self.unseen.as_ref().map(|unseen| Box::new(unseen.shuffled(seed, round))),
            ..self.clone()
        }
    }

    /// A bootstrap resample: as many training and test points, drawn with replacement. Each `round` is a draw of its own.
    pub(crate) fn resampled(&self, seed: u64, round: usize) -> Self {
        let draw = |purpose, rows| {
            let mut generator = generator(seed, purpose, round as u64);
            (0..rows).map(|_| random::below(&mut generator, rows)).collect::<Vec<usize>>()
        };
        let train = draw("bootstrap", self.codes_train.nrows());
        let test = draw("bootstrap test", self.codes_test.nrows());
        let optional =
            |array: &Option<Array2<f64>>| array.as_ref().map(|array| array.select(Axis(0), &train));
        let errors = self.reconstruction_errors.as_ref();
        let factors_train = self.factors_train.select(Axis(0), &train);
        Self {
            codes_train: self.codes_train.select(Axis(0), &train),
            classes_train: Classes::of_factors(factors_train.view()),
            factors_train,
            codes_test: self.codes_test.select(Axis(0), &test),
            factors_test: self.factors_test.select(Axis(0), &test),
            log_variance_train: optional(&self.log_variance_train),
            clusters: self.clusters.as_ref().map(|clusters| select_both(clusters, &train, &test)),
            factor_names: self.factor_names.clone(),
            factor_kinds: self.factor_kinds.clone(),
            reconstruction_errors: errors.map(|errors| train.iter().map(|&row| errors[row]).collect()),
            divergences: optional(&self.divergences),
            numbers: self.numbers.as_ref().map(|numbers| select_both(numbers, &train, &test)),
            regressed: self.regressed.clone(),
            unseen: self.unseen.as_ref().map(|unseen| Box::new(unseen.resampled(seed, round))),
        }
    }

    /// The same points with each factor kept, left out, or with groups of neighbouring values as its classes. The numbers that
    /// factors stand for do not change.
    pub(crate) fn with_classes(&self, treatments: &[Treatment]) -> Self {
        let kept: Vec<usize> =
            (0..treatments.len()).filter(|&factor| treatments[factor] != Treatment::LeftOut).collect();
        let numbers = self.numbers.clone().unwrap_or_else(|| {
            let numbers = |factors: &Array2<i64>| factors.mapv(|value| value as f64);
            (numbers(&self.factors_train), numbers(&self.factors_test))
        });
        let numbers = (numbers.0.select(Axis(1), &kept), numbers.1.select(Axis(1), &kept));
        let mut factors_train = self.factors_train.select(Axis(1), &kept);
        let mut factors_test = self.factors_test.select(Axis(1), &kept);
        for (column, &factor) in kept.iter().enumerate() {
            if treatments[factor] == Treatment::Grouped {
                let groups = Groups::new(numbers.0.column(column));
                factors_train.column_mut(column).assign(&groups.of(numbers.0.column(column)));
                factors_test.column_mut(column).assign(&groups.of(numbers.1.column(column)));
            }
        }
        Self {
            classes_train: Classes::of_factors(factors_train.view()),
            factors_train,
            factors_test,
            factor_names: chosen(&self.factor_names, &kept),
            factor_kinds: chosen(&self.factor_kinds, &kept),
            numbers: Some(numbers),
            regressed: kept.iter().map(|&factor| treatments[factor] == Treatment::Grouped).collect(),
            unseen: self.unseen.as_ref().map(|unseen| Box::new(unseen.with_classes(treatments))),
            ..self.clone()
        }
    }

    /// The same points with some of their factors.
    pub(crate) fn only_factors(&self, factors: &[usize]) -> Self {
        let select = |array: &Array2<i64>| array.select(Axis(1), factors);
        let numbers = self.numbers.as_ref();
        Self {
            factors_train: select(&self.factors_train),
            factors_test: select(&self.factors_test),
            classes_train: chosen(&self.classes_train, factors),
            factor_names: chosen(&self.factor_names, factors),
            factor_kinds: chosen(&self.factor_kinds, factors),
            numbers: numbers.map(|(a, b)| (a.select(Axis(1), factors), b.select(Axis(1), factors))),
            regressed: chosen(&self.regressed, factors),
            unseen: None,
            ..self.clone()
        }
    }
}

/// The entries of the chosen factors; none if the list is empty, which means that they are not known.
fn chosen<T: Clone>(list: &[T], factors: &[usize]) -> Vec<T> {
    factors.iter().filter_map(|&factor| list.get(factor).cloned()).collect()
}

/// Rows of the training and of the test points.
fn select_both<T: Clone>(
    pair: &(Array2<T>, Array2<T>),
    train: &[usize],
    test: &[usize],
) -> (Array2<T>, Array2<T>) {
    (pair.0.select(Axis(0), train), pair.1.select(Axis(0), test))
}
