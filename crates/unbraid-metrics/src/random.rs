//! Seeded generators: every number is a function of (seed, purpose, position), so that work can be split over any number
//! of threads and still draw the same numbers.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The generator that scores and samplers draw from.
pub type Generator = ChaCha8Rng;

/// The generator of `seed` for `purpose` at `position` (the number of a vote, a tree, a fold).
///
/// Seed, a 64-bit hash of the purpose, and position fill the key of ChaCha8, so that different seeds and positions never
/// share a sequence, and different purposes only if their hashes collide.
pub fn generator(seed: u64, purpose: &str, position: u64) -> Generator {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&fnv1a(purpose.as_bytes()).to_le_bytes());
    key[16..24].copy_from_slice(&position.to_le_bytes());
    Generator::from_seed(key)
}

/// The 64-bit FNV-1a hash (Fowler, Noll, Vo), which will never change.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// A uniform index below `count`, which must not be 0.
pub(crate) fn below(generator: &mut Generator, count: usize) -> usize {
    use rand::RngExt;
    generator.random_range(0..count)
}

/// The first `take` entries of a random permutation of `0..count`.
pub(crate) fn choose(generator: &mut Generator, count: usize, take: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for i in 0..take.min(count) {
        let j = i + below(generator, count - i);
        order.swap(i, j);
    }
    order.truncate(take);
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    #[test]
    fn seed_purpose_and_position_each_change_the_numbers() {
        let first = generator(1, "a", 2).next_u64();
        assert_eq!(first, generator(1, "a", 2).next_u64());
        for mut other in [generator(2, "a", 2), generator(1, "b", 2), generator(1, "a", 3)] {
            assert_ne!(first, other.next_u64());
        }
    }

    #[test]
    fn chosen_rows_are_distinct() {
        let mut chosen = choose(&mut generator(0, "test", 0), 100, 60);
        chosen.sort_unstable();
        chosen.dedup();
        assert_eq!(chosen.len(), 60);
    }
}
