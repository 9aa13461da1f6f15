//! Seeded sampling of batches; the result does not depend on the number of threads.
//!
//! * [`uniform`]: indices drawn with replacement.
//! * [`Epochs`]: every image once per epoch, in a new order each time.
//! * [`Interventions`]: batches in which one factor is fixed, for the BetaVAE and FactorVAE scores.

mod epochs;
mod interventions;

pub use epochs::Epochs;
pub use interventions::Interventions;

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
