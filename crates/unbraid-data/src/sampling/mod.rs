//! Which images come next: seeded, and the same whatever the number of threads.
//!
//! * [`uniform`]: images drawn with replacement, as training usually does.
//! * [`Epochs`]: every image once, in a new order each time.
//! * [`Interventions`]: batches in which one factor is held fixed, as the BetaVAE and FactorVAE scores ask for.

mod epochs;
mod interventions;

pub use epochs::Epochs;
pub use interventions::Interventions;

use rand::{Rng, RngExt};

/// Fills `indices` with images drawn uniformly, with replacement, from `len`.
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
/// If `len` is 0 and `indices` is not empty.
pub fn uniform(len: usize, generator: &mut impl Rng, indices: &mut [usize]) {
    for index in indices {
        *index = generator.random_range(0..len);
    }
}
