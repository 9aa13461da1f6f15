//! Samplers of codes under interventions on one factor, for the interventional scores.

use crate::error::{MetricsError, Result};
use crate::random::{self, Generator, below};
use crate::views::Labelled;

/// Draws codes under interventions: one factor is held fixed, all others vary.
///
/// A batch consists of rows of codes, `batch * units` numbers in row-major order. Every draw comes from the given generator, so
/// that a sampler has no state and can be called from several threads.
///
/// [`GroupedRows`] implements it for arrays. If there are codes for a full grid of factors, a sampler that draws factor vectors
/// uniformly and looks up their codes is better.
pub trait InterventionSampler: Sync {
    /// The number of units of each code.
    fn unit_count(&self) -> usize;

    /// The number of factors that can be held fixed.
    fn factor_count(&self) -> usize;

    /// Fills `first` and `second` with pairs: the two points of a pair share the value of `factor`, drawn independently for
    /// each pair, and are otherwise independent; of a limited number of points, two different ones.
    fn pairs(&self, factor: usize, generator: &mut Generator, first: &mut [f64], second: &mut [f64]);

    /// Fills `batch` with points that all share one value of `factor`, drawn at random.
    fn held(&self, factor: usize, generator: &mut Generator, batch: &mut [f64]);

    /// Fills `batch` with points drawn at random.
    fn free(&self, generator: &mut Generator, batch: &mut [f64]);

    /// A sampler of the same codes in another order relative to the factors, for chance levels. `None` if this is not possible;
    /// scores that draw from the sampler then have no chance level. Each `round` has an order of its own.
    fn shuffled(&self, seed: u64, round: usize) -> Option<Box<dyn InterventionSampler + '_>> {
        let _ = (seed, round);
        None
    }
}

/// What [`beta_vae_score`](super::beta_vae_score) and [`factor_vae_score`](super::factor_vae_score) compute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accuracies {
    /// The score: accuracy on new points.
    pub value: f64,
    /// Accuracy on the points that the classifier was fitted to.
    pub train: f64,
}

/// Draws from the given codes: an intervention selects the rows that share a value of the factor.
///
/// All other factors vary as they do among those rows: nearly independently if factors were drawn independently. Factors that
/// take a single value are left out.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::random::generator;
/// use unbraid_metrics::scores::{GroupedRows, InterventionSampler};
/// use unbraid_metrics::Labelled;
///
/// let (codes, factors) = (array![[0.0, 5.0], [1.0, 5.0], [2.0, 7.0], [3.0, 7.0]], array![[0], [0], [1], [1]]);
/// let sampler = GroupedRows::new(&Labelled::new(codes.view(), factors.view())?);
/// let mut batch = [0.0; 20];
/// sampler.held(0, &mut generator(0, "example", 0), &mut batch);
/// assert!(batch.chunks(2).all(|code| code[1] == batch[1]));
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
#[derive(Clone, Debug)]
pub struct GroupedRows {
    codes: Vec<f64>,
    units: usize,
    /// For each factor that varies: the class of every row, and the rows of each class.
    factors: Vec<(Vec<u32>, Vec<Vec<usize>>)>,
}

impl GroupedRows {
    /// Groups the rows of the codes by each of their factors.
    pub fn new(data: &Labelled<'_>) -> Self {
        let codes = data.codes();
        let varying = data.classes().iter().filter(|classes| classes.varies());
        let factors = varying.map(|classes| (classes.labels().to_vec(), classes.rows())).collect();
        Self { codes: codes.iter().copied().collect(), units: codes.ncols(), factors }
    }

    fn rows(&self) -> usize {
        self.codes.len() / self.units
    }

    fn copy(&self, row: usize, target: &mut [f64]) {
        target.copy_from_slice(&self.codes[row * self.units..][..self.units]);
    }
}

/// A reference to a sampler is a sampler.
impl<S: InterventionSampler + ?Sized> InterventionSampler for &S {
    fn unit_count(&self) -> usize {
        (**self).unit_count()
    }

    fn factor_count(&self) -> usize {
        (**self).factor_count()
    }

    fn pairs(&self, factor: usize, generator: &mut Generator, first: &mut [f64], second: &mut [f64]) {
        (**self).pairs(factor, generator, first, second);
    }

    fn held(&self, factor: usize, generator: &mut Generator, batch: &mut [f64]) {
        (**self).held(factor, generator, batch);
    }

    fn free(&self, generator: &mut Generator, batch: &mut [f64]) {
        (**self).free(generator, batch);
    }

    fn shuffled(&self, seed: u64, round: usize) -> Option<Box<dyn InterventionSampler + '_>> {
        (**self).shuffled(seed, round)
    }
}

impl InterventionSampler for GroupedRows {
    fn unit_count(&self) -> usize {
        self.units
    }

    fn factor_count(&self) -> usize {
        self.factors.len()
    }

    fn pairs(&self, factor: usize, generator: &mut Generator, first: &mut [f64], second: &mut [f64]) {
        let (class_of_row, groups) = &self.factors[factor];
        for (first, second) in first.chunks_exact_mut(self.units).zip(second.chunks_exact_mut(self.units)) {
            let row = below(generator, self.rows());
            let group = &groups[class_of_row[row] as usize];
            self.copy(row, first);
            self.copy(another(row, group, generator), second);
        }
    }

    fn held(&self, factor: usize, generator: &mut Generator, batch: &mut [f64]) {
        let (class_of_row, groups) = &self.factors[factor];
        let group = &groups[class_of_row[below(generator, self.rows())] as usize];
        for target in batch.chunks_exact_mut(self.units) {
            self.copy(group[below(generator, group.len())], target);
        }
    }

    fn free(&self, generator: &mut Generator, batch: &mut [f64]) {
        for target in batch.chunks_exact_mut(self.units) {
            self.copy(below(generator, self.rows()), target);
        }
    }

    fn shuffled(&self, seed: u64, round: usize) -> Option<Box<dyn InterventionSampler + '_>> {
        let order =
            random::choose(&mut random::generator(seed, "chance", round as u64), self.rows(), self.rows());
        let codes =
            order.iter().flat_map(|&row| &self.codes[row * self.units..][..self.units]).copied().collect();
        Some(Box::new(Self { codes, ..self.clone() }))
    }
}

/// A row of a group, in ascending order, other than `row` unless it is the only one. A pair of a row with itself would tell
/// which factor is held fixed in a small group, whatever the codes are.
fn another(row: usize, group: &[usize], generator: &mut Generator) -> usize {
    let Ok(place) = group.binary_search(&row) else { return row };
    let others = group.len() - 1;
    if others == 0 {
        return row;
    }
    let drawn = below(generator, others);
    group[drawn + usize::from(drawn >= place)]
}

/// The largest number of points that a score may draw: more than any needs, and few enough for memory.
pub(super) const MOST_POINTS: usize = 10_000_000;

/// Checks that numbers of points are allowed.
pub(super) fn check_counts(batch_size: usize, train_points: usize, test_points: usize) -> Result<()> {
    for (name, value, least) in
        [("batch_size", batch_size, 1), ("train_points", train_points, 1), ("test_points", test_points, 1)]
    {
        if value < least {
            return Err(MetricsError::parameter(name, value, format!("at least {least}")));
        }
        if value > MOST_POINTS {
            return Err(MetricsError::parameter(name, value, format!("at most {MOST_POINTS}")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    /// Groups of one, two and three rows, whose codes are their numbers.
    #[test]
    fn a_pair_is_two_rows_where_there_are_two() {
        let factors = Array2::from_shape_vec((6, 1), vec![7, 4, 9, 4, 9, 9]).unwrap();
        let codes = Array2::from_shape_fn((6, 1), |(row, _)| row as f64);
        let sampler = GroupedRows::new(&Labelled::new(codes.view(), factors.view()).unwrap());
        let (mut first, mut second) = ([0.0; 600], [0.0; 600]);
        sampler.pairs(0, &mut random::generator(0, "test", 0), &mut first, &mut second);
        let mut seen = [[0; 6]; 6];
        for (first, second) in first.iter().zip(&second) {
            seen[*first as usize][*second as usize] += 1;
        }
        for (row, counts) in seen.iter().enumerate() {
            for (other, count) in counts.iter().enumerate() {
                let expected = factors[[row, 0]] == factors[[other, 0]] && (row != other || row == 0);
                assert_eq!(*count > 0, expected, "{row} and {other}: {count}");
            }
        }
    }
}
