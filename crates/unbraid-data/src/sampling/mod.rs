//! Seeded sampling of batches; the result does not depend on the number of threads.
//!
//! * [`uniform`]: indices drawn with replacement.
//! * [`at_most`]: the same, but every image once if there are no more.
//! * [`Epochs`]: every image once per epoch, in a new order each time.
//! * [`Interventions`]: batches in which one factor is fixed, for the BetaVAE and FactorVAE scores.

mod epochs;
mod interventions;

pub use epochs::Epochs;
pub use interventions::Interventions;

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

/// Fills `indices` with numbers below `dataset_len`, drawn uniformly and with replacement.
///
/// ```
/// use unbraid_data::random::Stream;
/// use unbraid_data::sampling::uniform;
///
/// let mut batch = [0; 64];
/// uniform(737_280, &mut Stream::new(0, "training batches").at(17).generator(), &mut batch);
/// assert!(batch.iter().all(|&index| index < 737_280));
/// ```
///
/// # Panics
/// If `dataset_len` is 0 and `indices` is not empty.
pub fn uniform(dataset_len: usize, generator: &mut impl Rng, indices: &mut [usize]) {
    for index in indices {
        *index = generator.random_range(0..dataset_len);
    }
}

/// `count` numbers below `dataset_len`, drawn as by [`uniform`]; if there are no more than `count`, each once, in random order.
///
/// Statistics of a small data set are then those of all its images, and none is encoded twice.
pub fn at_most(count: usize, dataset_len: usize, generator: &mut impl Rng) -> Vec<usize> {
    if dataset_len <= count {
        let mut indices: Vec<usize> = (0..dataset_len).collect();
        indices.shuffle(generator);
        return indices;
    }
    let mut indices = vec![0; count];
    uniform(dataset_len, generator, &mut indices);
    indices
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    #[test]
    fn every_image_of_a_small_set_is_drawn_once() {
        let mut generator = Stream::new(0, "test").at(0).generator();
        for dataset_len in [0, 1, 7, 100] {
            let mut drawn = at_most(100, dataset_len, &mut generator);
            assert!(dataset_len < 100 || !drawn.is_sorted(), "in random order");
            drawn.sort_unstable();
            assert_eq!(drawn, (0..dataset_len).collect::<Vec<_>>());
        }
        let drawn = at_most(100, 101, &mut generator);
        assert!(drawn.len() == 100 && drawn.iter().all(|&index| index < 101));
    }
}
