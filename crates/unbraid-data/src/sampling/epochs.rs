//! Epochs: all images once, in an order that the seed and the number of the epoch decide.

use crate::random::Stream;
use rand::seq::SliceRandom;

/// Batches without replacement. The batches run on over the end of an epoch, so all have the same size and each epoch
/// still shows every image exactly once. Any batch can be asked for, in any order; consecutive ones are quick.
///
/// ```
/// use unbraid_data::random::Stream;
/// use unbraid_data::sampling::Epochs;
///
/// let mut epochs = Epochs::new(5, Stream::new(0, "training batches"));
/// let mut seen = [0; 5];
/// let mut batch = [0; 2];
/// for step in 0..5 {
///     epochs.batch(step, &mut batch);
///     batch.iter().for_each(|&image| seen[image] += 1);
/// }
/// assert_eq!(seen, [2; 5]); // five batches of two images are two epochs of five
/// ```
#[derive(Clone, Debug)]
pub struct Epochs {
    len: usize,
    stream: Stream,
    epoch: Option<u64>,
    order: Vec<u32>,
}

impl Epochs {
    /// Epochs over `len` images.
    ///
    /// # Panics
    /// If `len` is 0 or does not fit 32 bits.
    pub fn new(len: usize, stream: Stream) -> Self {
        assert!(len > 0 && u32::try_from(len).is_ok(), "an epoch of {len} images");
        Self { len, stream, epoch: None, order: Vec::new() }
    }

    /// Fills `indices` with batch number `step` of that size.
    pub fn batch(&mut self, step: u64, indices: &mut [usize]) {
        let first = step * indices.len() as u64;
        for (position, index) in (first..).zip(indices) {
            let (epoch, place) = (position / self.len as u64, (position % self.len as u64) as usize);
            self.shuffle(epoch);
            *index = self.order[place] as usize;
        }
    }

    fn shuffle(&mut self, epoch: u64) {
        if self.epoch == Some(epoch) {
            return;
        }
        self.order.clear();
        self.order.extend(0..self.len as u32);
        self.order.shuffle(&mut self.stream.at(epoch).generator());
        self.epoch = Some(epoch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_epoch_has_each_image_once_in_a_new_order() {
        let mut epochs = Epochs::new(100, Stream::new(3, "test"));
        let mut orders = Vec::new();
        for epoch in 0..3 {
            let mut order = vec![0; 100];
            epochs.batch(epoch, &mut order);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..100).collect::<Vec<_>>());
            orders.push(order);
        }
        assert!(orders[0] != orders[1] && orders[1] != orders[2]);
    }

    #[test]
    fn a_batch_is_the_same_whenever_it_is_asked_for() {
        let (mut forward, mut jump) =
            (Epochs::new(10, Stream::new(0, "a")), Epochs::new(10, Stream::new(0, "a")));
        let (mut expected, mut found) = ([0; 3], [0; 3]);
        for step in 0..40 {
            forward.batch(step, &mut expected);
        }
        jump.batch(39, &mut found);
        assert_eq!(found, expected);
    }
}
