//! Adam on a list of parameters, with its state in plain vectors on the CPU, and on the device elsewhere. It
//! depends only on the model's parameters, so that a term of an objective can have an optimiser of its own.

mod on_device;

use crate::config::OptimizerConfig;
use crate::error::Result;
use crate::model::{NamedParameter, StateTensor, matched};
use burn::tensor::Gradients;
use on_device::DeviceMoments;
use rayon::prelude::*;
use std::borrow::Cow;
use unbraid_kernels::{AdamParameters, AdamStep, RowFunction, adam_step};

/// Values updated by one task: a multiple of every vector width, so that splitting the work does not change
/// the result, and few enough that the layers of a small network have several tasks.
const CHUNK: usize = 1 << 13;

/// The optimiser.
#[derive(Debug)]
pub(crate) struct Adam {
    config: OptimizerConfig,
    moments: Place,
    steps: u64,
}

/// Where the moments are, in the order of the parameters.
#[derive(Debug)]
enum Place {
    Host(Vec<Moments>),
    Device(Vec<DeviceMoments>),
}

#[derive(Clone, Debug)]
struct Moments {
    first: Vec<f32>,
    second: Vec<f32>,
    /// For AMSGrad only.
    largest: Option<Vec<f32>>,
}

impl Adam {
    /// An optimiser before its first step.
    pub(crate) fn new(config: &OptimizerConfig, parameters: &[&dyn NamedParameter]) -> Self {
        let zeros = |parameter: &&dyn NamedParameter| {
            let zeros = vec![0.0; parameter.shape().iter().product()];
            let largest = config.amsgrad.then(|| zeros.clone());
            Moments { first: zeros.clone(), second: zeros, largest }
        };
        let moments: Vec<Moments> = parameters.iter().map(zeros).collect();
        let device = parameters.iter().find_map(|parameter| parameter.accelerator());
        let moments = match &device {
            None => Place::Host(moments),
            Some(device) => {
                Place::Device(moments.iter().map(|moments| DeviceMoments::new(moments, device)).collect())
            }
        };
        Self { config: config.clone(), moments, steps: 0 }
    }

    /// The settings of the next step.
    fn next(&mut self) -> AdamStep {
        self.steps += 1;
        let OptimizerConfig { learning_rate, beta1, beta2, epsilon, .. } = self.config;
        AdamStep { learning_rate, beta1, beta2, epsilon, step: self.steps }
    }

    /// Updates every parameter that has a gradient: Kingma & Ba 2015, Algorithm 1, in PyTorch's form.
    pub(crate) fn step(&mut self, parameters: Vec<&mut dyn NamedParameter>, gradients: &mut Gradients) {
        let settings = self.next();
        match &mut self.moments {
            Place::Host(moments) => {
                let mut slopes: Vec<_> =
                    parameters.iter().map(|parameter| parameter.take_gradient(gradients)).collect();
                if let Some(limit) = self.config.gradient_clip {
                    clip(&mut slopes, limit);
                }
                for ((parameter, slope), moments) in parameters.into_iter().zip(slopes).zip(moments) {
                    if let Some(slope) = slope {
                        parameter.update(&mut |values| moments.update(&settings, values, &slope));
                    }
                }
            }
            Place::Device(moments) => {
                let mut slopes: Vec<_> =
                    parameters.iter().map(|parameter| parameter.take_gradient_on_device(gradients)).collect();
                if let Some(limit) = self.config.gradient_clip {
                    on_device::clip(&mut slopes, limit);
                }
                for ((parameter, slope), moments) in parameters.into_iter().zip(slopes).zip(moments) {
                    if let Some(slope) = slope {
                        parameter.update_on_device(&mut |values| moments.update(&settings, values, &slope));
                    }
                }
            }
        }
    }

    /// Updates the weights and biases of fully connected layers, alternately in the list, on the sum of
    /// functions of the numbers of rows, of which `factors` are the derivatives. Gradients and updates are
    /// computed in one pass.
    ///
    /// # Panics
    /// If gradients are to be clipped, since no norm is known before the first update, or if the parameters
    /// are not on the CPU.
    pub(crate) fn step_layers(
        &mut self,
        parameters: Vec<&mut dyn NamedParameter>,
        function: &RowFunction,
        factors: &[f32],
    ) {
        assert!(self.config.gradient_clip.is_none(), "gradients are not known as a whole");
        let settings = self.next();
        let Place::Host(all) = &mut self.moments else { panic!("a row function is on the CPU") };
        let mut slope = Vec::new();
        for (place, (parameter, moments)) in parameters.into_iter().zip(all).enumerate() {
            parameter.update(&mut |values| {
                if place % 2 == 0 {
                    let Moments { first, second, largest } = &mut *moments;
                    let parameters =
                        AdamParameters { values, moments: [first, second], largest: largest.as_deref_mut() };
                    slope = function.step(place / 2, factors, &settings, parameters);
                } else {
                    moments.update(&settings, values, &slope);
                }
            });
        }
    }

    /// The number of steps that bias correction counts.
    pub(crate) fn set_steps_done(&mut self, steps: u64) {
        self.steps = steps;
    }

    /// The moments by parameter: `adam.first.<name>`, `adam.second.<name>` and, for AMSGrad, `adam.largest.<name>`.
    pub(crate) fn state(&self, parameters: &[&dyn NamedParameter]) -> Vec<StateTensor> {
        let all: Cow<'_, [Moments]> = match &self.moments {
            Place::Host(moments) => Cow::Borrowed(moments),
            Place::Device(moments) => moments.iter().map(DeviceMoments::on_host).collect(),
        };
        let mut state = Vec::new();
        for (parameter, moments) in parameters.iter().zip(all.iter()) {
            let tensor = |part: &str, values: &[f32]| {
                StateTensor::floats(
                    format!("adam.{part}.{}", parameter.name()),
                    parameter.shape(),
                    values.to_vec(),
                )
            };
            state.push(tensor("first", &moments.first));
            state.push(tensor("second", &moments.second));
            state.extend(moments.largest.as_ref().map(|largest| tensor("largest", largest)));
        }
        state
    }

    /// Restores its own part of a saved state and returns the rest.
    ///
    /// # Errors
    /// If it belongs to another model or another kind of Adam.
    pub(crate) fn set_state(
        &mut self,
        parameters: &[&dyn NamedParameter],
        state: Vec<StateTensor>,
    ) -> Result<Vec<StateTensor>> {
        let (ours, rest) = state.into_iter().partition(|tensor| tensor.name.starts_with("adam."));
        let mut values = matched(&self.state(parameters), ours)?.into_iter();
        let mut next = || values.next().map(|values| values.as_floats().to_vec()).unwrap_or_default();
        let has_largest = self.config.amsgrad;
        let mut next = || Moments { first: next(), second: next(), largest: has_largest.then(&mut next) };
        match &mut self.moments {
            Place::Host(moments) => moments.iter_mut().for_each(|moments| *moments = next()),
            Place::Device(moments) => moments.iter_mut().for_each(|moments| moments.set(&next())),
        }
        Ok(rest)
    }
}

impl Moments {
    fn update(&mut self, settings: &AdamStep, values: &mut [f32], slope: &[f32]) {
        let chunks = values
            .par_chunks_mut(CHUNK)
            .zip(slope.par_chunks(CHUNK))
            .zip(self.first.par_chunks_mut(CHUNK))
            .zip(self.second.par_chunks_mut(CHUNK));
        match &mut self.largest {
            None => chunks.for_each(|(((values, slope), first), second)| {
                adam_step(settings, values, slope, first, second, None);
            }),
            Some(largest) => chunks.zip(largest.par_chunks_mut(CHUNK)).for_each(
                |((((values, slope), first), second), largest)| {
                    adam_step(settings, values, slope, first, second, Some(largest));
                },
            ),
        }
    }
}

/// Scales the whole gradient down to the norm `limit` if it is longer (Pascanu et al. 2013), like PyTorch's
/// `clip_grad_norm_`.
fn clip(slopes: &mut [Option<Vec<f32>>], limit: f64) {
    let values = || slopes.iter().flatten().flatten();
    let norm = values().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
    let factor = limit / (norm + 1e-6);
    if factor < 1.0 {
        for value in slopes.iter_mut().flatten().flatten() {
            *value = (f64::from(*value) * factor) as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_gradient_is_shortened_and_a_short_one_left_alone() {
        let mut slopes = vec![Some(vec![3.0]), None, Some(vec![0.0, 4.0])];
        clip(&mut slopes, 1.0);
        let values: Vec<f32> = slopes.iter().flatten().flatten().copied().collect();
        assert!((values[0] - 0.6).abs() < 1e-6 && (values[2] - 0.8).abs() < 1e-6, "{values:?}");
        let before = vec![Some(vec![0.3, 0.4])];
        let mut after = before.clone();
        clip(&mut after, 1.0);
        assert_eq!(after, before);
    }
}
