//! Randomness without hidden state: every number is a function of (seed, purpose, position, lane).
//!
//! A run has one seed. Each use of randomness has a [`Stream`] named by its purpose ("training batches", "noise"), so
//! that a new use never shifts the numbers of another. A stream is read at a [`Moment`], its position: usually the
//! training step. A moment has independent [`Lane`]s, one per image of a batch for instance, so that threads can draw in
//! any order. Nothing needs to be saved to resume: the step number is enough.
//!
//! The generator is ChaCha8: seed, purpose and position are its 256-bit key, the lane is its stream number. Different
//! arguments hence never share a sequence.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The generator that moments and lanes hand out.
pub type Generator = ChaCha8Rng;

/// All random numbers for one purpose of a run.
///
/// ```
/// use rand::Rng;
/// use unbraid_data::random::Stream;
///
/// let batches = Stream::new(7, "training batches");
/// // The same place gives the same number, however often and in whatever order it is visited.
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
    pub const fn at(self, position: u64) -> Moment {
        Moment { stream: self, position }
    }
}

/// Temporary alias.
pub type Position = Moment;

/// One position of a [`Stream`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    stream: Stream,
    position: u64,
}

impl Moment {
    /// The generator of this moment (that of lane 0).
    pub fn generator(self) -> Generator {
        self.lane(0).generator()
    }

    /// One of the independent sequences of this moment.
    pub const fn lane(self, lane: u64) -> Lane {
        Lane { moment: self, lane }
    }
}

/// One independent sequence of a [`Moment`]; cheap to copy, and costs nothing until a generator is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    moment: Moment,
    lane: u64,
}

impl Lane {
    /// A generator at the start of this lane.
    pub fn generator(self) -> Generator {
        let Moment { stream: Stream { seed, purpose }, position } = self.moment;
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&purpose.to_le_bytes());
        key[16..24].copy_from_slice(&position.to_le_bytes());
        let mut generator = Generator::from_seed(key);
        generator.set_stream(self.lane);
        generator
    }
}

/// The 64-bit FNV-1a hash (Fowler, Noll, Vo): short, `const`, and fixed for ever by its definition.
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
}
