//! Counter-based random numbers without hidden state: every number is a function of (seed, purpose, position, lane).
//!
//! A run has one seed. Each use of randomness has a [`Stream`] named by its purpose ("training batches", "noise"), so
//! that adding a new use never changes the numbers of another. A stream is read at a [`Position`], usually the training
//! step. A position has independent [`Lane`]s, for instance one per image of a batch, so that threads can draw in any
//! order. Resuming needs no saved generator state: the step number is enough.
//!
//! The generator is ChaCha8. Seed, purpose and position form its key, and the lane is its stream number, so different
//! arguments never share a sequence.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The generator that [`Position`] and [`Lane`] return.
pub type Generator = ChaCha8Rng;

/// The random numbers for one purpose in a run.
///
/// ```
/// use rand::Rng;
/// use unbraid_data::random::Stream;
///
/// let batches = Stream::new(7, "training batches");
/// // A position always gives the same numbers, in whatever order positions are visited.
/// let later: u64 = batches.at(1000).generator().next_u64();
/// let first: u64 = batches.at(0).generator().next_u64();
/// assert_eq!(later, Stream::new(7, "training batches").at(1000).generator().next_u64());
/// assert_ne!(first, later);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    seed: u64,
    purpose: u64,
}

impl Stream {
    /// The stream of `seed` for `purpose`.
    pub const fn new(seed: u64, purpose: &str) -> Self {
        Self { seed, purpose: fnv1a(purpose.as_bytes()) }
    }

    /// The numbers at one position, usually a training step.
    pub const fn at(self, position: u64) -> Position {
        Position { stream: self, counter: position }
    }
}

/// A position in a [`Stream`], made by [`Stream::at`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    stream: Stream,
    counter: u64,
}

impl Position {
    /// A generator at the start of lane 0 of this position.
    pub fn generator(self) -> Generator {
        self.lane(0).generator()
    }

    /// One of the independent sequences at this position.
    pub const fn lane(self, lane: u64) -> Lane {
        Lane { position: self, lane }
    }
}

/// One independent sequence at a [`Position`]. It is cheap to copy and does no work until its generator is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    position: Position,
    lane: u64,
}

impl Lane {
    /// A generator at the start of this lane.
    pub fn generator(self) -> Generator {
        let Position { stream: Stream { seed, purpose }, counter } = self.position;
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&purpose.to_le_bytes());
        key[16..24].copy_from_slice(&counter.to_le_bytes());
        let mut generator = Generator::from_seed(key);
        generator.set_stream(self.lane);
        generator
    }
}

/// The 64-bit FNV-1a hash (Fowler, Noll, Vo): short, `const`, and fixed forever by its definition.
const fn fnv1a(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        i += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    /// Published test vectors of FNV-1a.
    #[test]
    fn fnv1a_matches_its_definition() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn seed_purpose_position_and_lane_each_change_the_numbers() {
        let base = Stream::new(1, "a").at(2).lane(3);
        let others = [
            Stream::new(2, "a").at(2).lane(3),
            Stream::new(1, "b").at(2).lane(3),
            Stream::new(1, "a").at(3).lane(3),
            Stream::new(1, "a").at(2).lane(4),
        ];
        let first = base.generator().next_u64();
        assert_eq!(first, base.generator().next_u64());
        for other in others {
            assert_ne!(first, other.generator().next_u64(), "{other:?}");
        }
    }

    /// The first two numbers from a separate implementation of ChaCha8 (in Python), with the key made as documented: a
    /// seed must give the same bytes forever.
    #[test]
    fn numbers_never_change() {
        let mut generator = Stream::new(7, "training batches").at(1000).lane(3).generator();
        let expected = [0xb35b_36df_8dc4_3413, 0x5a0d_34ba_a1a4_8443];
        assert_eq!([generator.next_u64(), generator.next_u64()], expected);
    }
}
