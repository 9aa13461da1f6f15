//! Losses that the device has not been asked for yet.

use burn::tensor::Tensor;

/// Steps after which losses are read in any case, so that the host does not run ahead with ever more images in the queue.
const MOST: usize = 100;

/// The losses of some steps, on the device. To read them would wait for everything that the device still has to do, so they are
/// read when a row is due, all at once.
#[derive(Debug, Default)]
pub(super) struct WaitingLosses {
    /// For each step, all of its losses in one tensor.
    steps: Vec<Tensor<1>>,
    /// How many of them are numbers of the whole batch; those of single units follow. The same for all steps.
    scalars: usize,
    /// The newest loss that was read.
    latest: Option<f64>,
}

impl WaitingLosses {
    /// The losses of one more step, of which the first `scalars` are numbers of the whole batch.
    pub(super) fn push(&mut self, losses: Tensor<1>, scalars: usize) {
        self.steps.push(losses);
        self.scalars = scalars;
    }

    /// Whether they should be read even though no row is due: there are many, or nobody has seen a loss yet.
    pub(super) fn is_due(&self) -> bool {
        self.latest.is_none() || self.steps.len() >= MOST
    }

    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The losses of each waiting step, the oldest first, and how many of them are numbers of the whole batch; none wait afterwards.
    pub(super) fn read(&mut self) -> Vec<(Vec<f64>, usize)> {
        let mut steps = std::mem::take(&mut self.steps);
        let count = steps.len();
        let all = match count {
            0 => return Vec::new(),
            1 => steps.remove(0),
            _ => Tensor::cat(steps, 0),
        };
        let values: Vec<f32> = all.into_data().try_into_vec().expect("losses are in single precision");
        let of_step = |step: &[f32]| (step.iter().copied().map(f64::from).collect(), self.scalars);
        values.chunks(values.len() / count).map(of_step).collect()
    }

    pub(super) fn set_latest(&mut self, loss: f64) {
        self.latest = Some(loss);
    }

    /// The newest loss that was read; NaN before the first.
    pub(super) fn latest(&self) -> f64 {
        self.latest.unwrap_or(f64::NAN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;

    #[test]
    fn losses_come_back_in_the_order_of_the_steps() {
        let mut waiting = WaitingLosses::default();
        assert!(waiting.is_due() && waiting.read().is_empty());
        let device = Device::flex();
        for step in 0..3_u8 {
            let step = f32::from(step);
            waiting.push(Tensor::from_floats([step, step + 0.5], &device), 1);
        }
        waiting.set_latest(7.0);
        assert!(!waiting.is_due());
        let expected = [[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]].map(|step| (step.to_vec(), 1));
        assert_eq!(waiting.read(), expected);
        assert!(waiting.is_empty());
        assert_eq!(waiting.latest(), 7.0);
    }
}
