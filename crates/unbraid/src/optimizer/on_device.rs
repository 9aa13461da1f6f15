//! Adam on a device other than the CPU: by burn's operations, so that no step waits for a gradient to come back.

use super::Moments;
use burn::tensor::{Device, Tensor, TensorData};
use unbraid_kernels::AdamStep;

/// The moments of one parameter, as a row of values.
#[derive(Clone, Debug)]
pub(super) struct DeviceMoments {
    first: Tensor<1>,
    second: Tensor<1>,
    /// For AMSGrad only.
    largest: Option<Tensor<1>>,
}

impl DeviceMoments {
    pub(super) fn new(moments: &Moments, device: &Device) -> Self {
        let tensor =
            |values: &[f32]| Tensor::from_data(TensorData::new(values.to_vec(), [values.len()]), device);
        let Moments { first, second, largest } = moments;
        Self { first: tensor(first), second: tensor(second), largest: largest.as_deref().map(tensor) }
    }

    /// Replaces them with those of a checkpoint.
    pub(super) fn set(&mut self, moments: &Moments) {
        *self = Self::new(moments, &self.first.device());
    }

    /// A copy in main memory.
    pub(super) fn on_host(&self) -> Moments {
        let values = |tensor: &Tensor<1>| {
            tensor.clone().into_data().try_into_vec().expect("moments are in single precision")
        };
        Moments {
            first: values(&self.first),
            second: values(&self.second),
            largest: self.largest.as_ref().map(values),
        }
    }

    /// The values after a step: the formula of [`unbraid_kernels::adam_step`], in the same order of operations.
    pub(super) fn update(&mut self, settings: &AdamStep, values: Tensor<1>, slope: &Tensor<1>) -> Tensor<1> {
        let AdamStep { learning_rate, beta1, beta2, epsilon, step } = *settings;
        let correction = |beta: f64| 1.0 - beta.powf(step as f64);
        let square = slope.clone() * slope.clone();
        self.first = self.first.clone() * beta1 + slope.clone() * (1.0 - beta1);
        self.second = self.second.clone() * beta2 + square * (1.0 - beta2);
        let second = match &mut self.largest {
            None => self.second.clone(),
            Some(largest) => {
                *largest = largest.clone().max_pair(self.second.clone());
                largest.clone()
            }
        };
        let scale = second.sqrt() / correction(beta2).sqrt() + epsilon;
        values - self.first.clone() / scale * (learning_rate / correction(beta1))
    }
}

/// As the function of the same name for the CPU, with a factor that stays on the device.
pub(super) fn clip(slopes: &mut [Option<Tensor<1>>], limit: f64) {
    let squares = slopes.iter().flatten().map(|slope| {
        // A sum of all values would be added up in any order.
        let values = slope.dims()[0];
        (slope.clone() * slope.clone()).reshape([1, values]).sum_dim(1).reshape([1])
    });
    let Some(total) = squares.reduce(|total: Tensor<1>, next| total + next) else { return };
    let factor = ((total.sqrt() + 1e-6).recip() * limit).clamp_max(1.0);
    for slope in slopes.iter_mut().flatten() {
        *slope = slope.clone() * factor.clone();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unbraid_kernels::adam_step;

    fn floats(tensor: &Tensor<1>) -> Vec<f32> {
        tensor.clone().into_data().try_into_vec().unwrap()
    }

    /// The CPU can do what other devices do: against the kernel for slices, which is tested against PyTorch's numbers.
    #[test]
    fn a_step_is_that_of_the_kernel() {
        let device = Device::flex();
        for amsgrad in [false, true] {
            let zeros = vec![0.0_f32; 3];
            let start = Moments {
                first: zeros.clone(),
                second: zeros.clone(),
                largest: amsgrad.then(|| zeros.clone()),
            };
            let mut moments = DeviceMoments::new(&start, &device);
            let mut expected = start;
            let (mut values, mut tensor) =
                (vec![1.0, -2.0, 0.5], Tensor::<1>::from_floats([1.0, -2.0, 0.5], &device));
            for step in 1..=3 {
                let slope = [0.3 / step as f32, -4.0, 1e-4];
                let settings =
                    AdamStep { learning_rate: 0.01, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, step };
                tensor = moments.update(&settings, tensor, &Tensor::from_floats(slope, &device));
                let Moments { first, second, largest } = &mut expected;
                adam_step(&settings, &mut values, &slope, first, second, largest.as_deref_mut());
            }
            // A few roundings in single precision.
            let close = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-6 * b.abs());
            let found = moments.on_host();
            assert!(close(&floats(&tensor), &values), "{tensor} {values:?}");
            assert!(close(&found.first, &expected.first) && close(&found.second, &expected.second));
            assert_eq!(found.largest.is_some(), amsgrad);
        }
    }

    #[test]
    fn a_long_gradient_is_shortened_and_a_short_one_left_alone() {
        let device = Device::flex();
        let slopes = || {
            vec![
                Some(Tensor::<1>::from_floats([3.0], &device)),
                None,
                Some(Tensor::from_floats([0.0, 4.0], &device)),
            ]
        };
        let clipped = |limit| {
            let mut slopes = slopes();
            clip(&mut slopes, limit);
            slopes.iter().flatten().flat_map(floats).collect::<Vec<f32>>()
        };
        let short = clipped(1.0);
        assert!((short[0] - 0.6).abs() < 1e-6 && (short[2] - 0.8).abs() < 1e-6, "{short:?}");
        assert_eq!(clipped(6.0), [3.0, 0.0, 4.0]);
    }
}
