//! Batch normalisation over the pixels of a batch (Ioffe & Szegedy 2015), as PyTorch's `BatchNorm2d`.

use super::parameter::Parameter;
use super::weights::{StateTensor, Values};
use burn::tensor::{Device, Tensor, TensorData};

/// What batch normalisation adds to the variance.
pub const BATCH_NORM_EPSILON: f64 = 1e-5;

/// Weight of the newest batch in the running statistics.
const MOMENTUM: f32 = 0.1;

/// Normalises each channel to mean zero and variance one, then scales and shifts it.
#[derive(Clone, Debug)]
pub(super) struct BatchNorm {
    name: String,
    pub(super) weight: Parameter<1>,
    pub(super) bias: Parameter<1>,
    running: Running,
}

/// The running statistics, which inference uses instead of those of a batch.
#[derive(Clone, Debug)]
struct Running {
    mean: Vec<f32>,
    variance: Vec<f32>,
    batches: i64,
}

/// Mean and unbiased variance of each channel of one batch.
#[derive(Clone, Debug)]
pub struct BatchStatistics {
    mean: Vec<f32>,
    variance: Vec<f32>,
}

impl BatchNorm {
    pub(super) fn new(name: &str, channels: usize, device: &Device) -> Self {
        let parameter = |part: &str, value| {
            Parameter::new(format!("{name}.{part}"), vec![value; channels], [channels], device)
        };
        Self {
            name: name.to_owned(),
            weight: parameter("weight", 1.0),
            bias: parameter("bias", 0.0),
            running: Running { mean: vec![0.0; channels], variance: vec![1.0; channels], batches: 0 },
        }
    }

    /// Normalises with the statistics of the batch, and returns them.
    pub(super) fn train(&self, images: Tensor<4>) -> (Tensor<4>, BatchStatistics) {
        let shape = images.dims();
        let [batch, height, width, channels] = shape;
        let rows = batch * height * width;
        let flat = images.reshape([rows, channels]);
        let mean = flat.clone().mean_dim(0);
        let centred = flat - mean.clone();
        let variance = (centred.clone() * centred.clone()).mean_dim(0);
        let values = |tensor: Tensor<2>| -> Vec<f32> {
            tensor.inner().into_data().try_into_vec().expect("single precision")
        };
        let unbiased = rows as f64 / (rows.max(2) - 1) as f64;
        let statistics =
            BatchStatistics { mean: values(mean), variance: values(variance.clone().inner() * unbiased) };
        (self.scaled(centred / (variance + BATCH_NORM_EPSILON).sqrt()).reshape(shape), statistics)
    }

    /// Normalises with the running statistics.
    pub(super) fn infer(&self, images: Tensor<4>) -> Tensor<4> {
        let shape = images.dims();
        let [batch, height, width, channels] = shape;
        let device = images.device();
        let row =
            |values: &[f32]| Tensor::<2>::from_data(TensorData::new(values.to_vec(), [1, channels]), &device);
        let flat = images.reshape([batch * height * width, channels]);
        let normal =
            (flat - row(&self.running.mean)) / (row(&self.running.variance) + BATCH_NORM_EPSILON).sqrt();
        self.scaled(normal).reshape(shape)
    }

    fn scaled(&self, normal: Tensor<2>) -> Tensor<2> {
        normal * self.weight.tensor().unsqueeze() + self.bias.tensor().unsqueeze()
    }

    /// Updates the running statistics with those of one batch.
    pub(super) fn absorb(&mut self, statistics: &BatchStatistics) {
        let blend = |running: &mut [f32], new: &[f32]| {
            for (running, new) in running.iter_mut().zip(new) {
                *running = (1.0 - MOMENTUM) * *running + MOMENTUM * new;
            }
        };
        blend(&mut self.running.mean, &statistics.mean);
        blend(&mut self.running.variance, &statistics.variance);
        self.running.batches += 1;
    }

    /// The buffers of a state dict.
    pub(super) fn buffers(&self) -> [StateTensor; 3] {
        let Running { mean, variance, batches } = &self.running;
        let vector = |part: &str, values: &[f32]| {
            StateTensor::floats(format!("{}.{part}", self.name), vec![values.len()], values.to_vec())
        };
        [
            vector("running_mean", mean),
            vector("running_var", variance),
            StateTensor {
                name: format!("{}.num_batches_tracked", self.name),
                shape: Vec::new(),
                values: Values::Integers(vec![*batches]),
            },
        ]
    }

    /// Restores the result of [`BatchNorm::buffers`], in the same order.
    pub(super) fn set_buffers(&mut self, buffers: [Values; 3]) {
        if let [Values::Floats(mean), Values::Floats(variance), Values::Integers(batches)] = buffers {
            let batches = batches.first().copied().unwrap_or(0);
            self.running = Running { mean, variance, batches };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One channel with the values 1 and 3: mean 2, variance 1, unbiased variance 2.
    #[test]
    fn two_pixels_match_a_hand_computation() {
        let device = Device::flex();
        let mut norm = BatchNorm::new("n", 1, &device);
        let images = Tensor::<4>::from_floats([[[[1.0], [3.0]]]], &device);
        let (normal, statistics) = norm.train(images.clone());
        let normal: Vec<f32> = normal.into_data().try_into_vec().unwrap();
        assert!((normal[0] + 1.0).abs() < 1e-5 && (normal[1] - 1.0).abs() < 1e-5);
        norm.absorb(&statistics);
        let [mean, variance, batches] = norm.buffers();
        assert_eq!(mean.values, Values::Floats(vec![0.1 * 2.0]));
        assert_eq!(variance.values, Values::Floats(vec![0.9 + 0.1 * 2.0]));
        assert_eq!(batches.values, Values::Integers(vec![1]));
        // (3 - 0.2) / sqrt(1.1 + 1e-5)
        let inferred: Vec<f32> = norm.infer(images).into_data().try_into_vec().unwrap();
        assert!((inferred[1] - 2.8 / 1.1_f32.sqrt()).abs() < 1e-4);
    }
}
