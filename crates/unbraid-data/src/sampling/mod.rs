//! Seeded sampling of batches; the result does not depend on the number of threads.
//!
//! * [`uniform`]: indices drawn with replacement.
//! * [`distinct`]: indices drawn without replacement.
//! * [`Epochs`]: every image once per epoch, in a new order each time.
//! * [`Interventions`]: batches in which one factor is fixed, for the BetaVAE and FactorVAE scores.

mod epochs;
mod interventions;

pub use epochs::Epochs;
pub use interventions::Interventions;

use rand::seq::index;
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

/// `count` different numbers below `dataset_len`, drawn uniformly, in random order; all of them if there are no more.
pub fn distinct(dataset_len: usize, generator: &mut impl Rng, count: usize) -> Vec<usize> {
    index::sample(generator, dataset_len, count.min(dataset_len)).into_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    #[test]
    fn every_image_of_a_small_set_is_drawn_once() {
        let mut generator = Stream::new(0, "test").at(0).generator();
        for dataset_len in [0, 1, 30, 100] {
            let mut drawn = distinct(dataset_len, &mut generator, 100);
            assert!(dataset_len < 100 || !drawn.is_sorted(), "in random order");
            drawn.sort_unstable();
            assert_eq!(drawn, (0..dataset_len).collect::<Vec<_>>());
        }
    }

    #[test]
    fn none_of_a_large_set_is_drawn_twice() {
        let mut generator = Stream::new(0, "test").at(0).generator();
        for dataset_len in [101, 1000, 1_000_000] {
            let mut drawn = distinct(dataset_len, &mut generator, 100);
            assert!(!drawn.is_sorted(), "in random order");
            drawn.sort_unstable();
            drawn.dedup();
            assert!(drawn.len() == 100 && drawn.iter().all(|&index| index < dataset_len));
        }
    }
}
