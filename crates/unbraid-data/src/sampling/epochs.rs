//! Epochs: every image once, in an order that depends on the seed and the number of the epoch.

use crate::random::Stream;
use rand::seq::SliceRandom;

/// Batches without replacement. A batch may span two epochs, so all batches have the same size and every epoch contains
/// each image exactly once. Batches can be computed in any order; consecutive ones are fast.
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
///     batch.iter().for_each(|&index| seen[index] += 1);
/// }
/// assert_eq!(seen, [2; 5]); // five batches of two are two epochs of five images
/// ```
#[derive(Clone, Debug)]
pub struct Epochs {
    dataset_len: usize,
    stream: Stream,
    epoch: Option<u64>,
    order: Vec<u32>,
}

impl Epochs {
    /// Epochs of a data set with `dataset_len` images.
    ///
    /// # Panics
    /// If `dataset_len` is 0 or does not fit 32 bits.
    pub fn new(dataset_len: usize, stream: Stream) -> Self {
        assert!(dataset_len > 0 && u32::try_from(dataset_len).is_ok(), "an epoch of {dataset_len} images");
        Self { dataset_len, stream, epoch: None, order: Vec::new() }
    }

    /// Fills `indices` with batch number `step`, where all batches have the length of `indices`.
    pub fn batch(&mut self, step: u64, indices: &mut [usize]) {
        let first = step * indices.len() as u64;
        for (position, index) in (first..).zip(indices) {
            let dataset_len = self.dataset_len as u64;
            let (epoch, place) = (position / dataset_len, (position % dataset_len) as usize);
            self.shuffle(epoch);
            *index = self.order[place] as usize;
        }
    }

    fn shuffle(&mut self, epoch: u64) {
        if self.epoch == Some(epoch) {
            return;
        }
        self.order.clear();
        self.order.extend(0..self.dataset_len as u32);
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
    fn a_batch_does_not_depend_on_earlier_calls() {
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
