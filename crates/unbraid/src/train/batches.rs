//! The images of each step.

use crate::config::TrainingConfig;
use unbraid_data::random::Stream;
use unbraid_data::sampling::{Epochs, uniform};

/// The batches of a run: with replacement if its length is given in steps, without if in epochs.
#[derive(Debug)]
pub struct Batches {
    order: Order,
    indices: Vec<usize>,
}

#[derive(Debug)]
enum Order {
    WithReplacement { stream: Stream, images: usize },
    Epochs(Epochs),
}

impl Batches {
    /// Batches from a data set of `images` images.
    pub fn new(config: &TrainingConfig, images: usize, seed: u64) -> Self {
        let stream = Stream::new(seed, "training batches");
        let order = match config.epochs {
            Some(_) => Order::Epochs(Epochs::new(images, stream)),
            None => Order::WithReplacement { stream, images },
        };
        Self { order, indices: vec![0; config.batch_size] }
    }

    /// The images of a step; the first step is 0.
    pub fn at(&mut self, step: u64) -> &[usize] {
        match &mut self.order {
            Order::Epochs(epochs) => epochs.batch(step, &mut self.indices),
            Order::WithReplacement { stream, images } => {
                uniform(*images, &mut stream.at(step).generator(), &mut self.indices);
            }
        }
        &self.indices
    }
}
