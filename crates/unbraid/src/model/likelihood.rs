//! The likelihood p(x|z): what the decoder's output says about pixels.

use super::parameter::{NamedParameter, Parameter};
use super::posterior::bounded;
use crate::config::{LikelihoodConfig, Output, Scale};
use burn::tensor::activation::sigmoid;
use burn::tensor::{Device, Tensor};
use std::f64::consts::{LN_2, PI};

/// The distribution of the pixels, independent of each other given the decoder's output.
#[derive(Clone, Debug)]
pub struct Likelihood {
    family: Family,
    output: Output,
    /// ln of the scale; `None` for Bernoulli variables, which have none.
    log_scale: Option<LogScale>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Bernoulli,
    Gaussian,
    Laplace,
}

#[derive(Clone, Debug)]
enum LogScale {
    Fixed(f64),
    Learned(Box<Parameter<1>>),
}

impl Likelihood {
    /// The likelihood of a configuration.
    pub fn new(config: &LikelihoodConfig, device: &Device) -> Self {
        let log_scale = |scale: &Scale| match scale {
            Scale::Fixed(scale) => LogScale::Fixed(scale.ln()),
            // A scale of one, as good a start as any: it adapts within some hundred steps.
            Scale::Learned(_) => LogScale::Learned(Box::new(Parameter::new(
                "likelihood.log_scale".into(),
                vec![0.0],
                [1],
                device,
            ))),
        };
        match config {
            LikelihoodConfig::Bernoulli {} => {
                Self { family: Family::Bernoulli, output: Output::Sigmoid, log_scale: None }
            }
            LikelihoodConfig::Gaussian { scale, output } => {
                Self { family: Family::Gaussian, output: *output, log_scale: Some(log_scale(scale)) }
            }
            LikelihoodConfig::Laplace { scale, output } => {
                Self { family: Family::Laplace, output: *output, log_scale: Some(log_scale(scale)) }
            }
        }
    }

    /// -ln p(x|z) in nats for each image of the batch, summed over pixels and channels, constants included.
    ///
    /// * Bernoulli with logits l: sum softplus(l) - x l
    /// * Gaussian with mean m and standard deviation s: sum (x - m)^2 / (2 s^2) + ln s + ln(2 pi) / 2
    /// * Laplace with mean m and scale b: sum |x - m| / b + ln(2 b)
    pub fn negative_log_likelihood(&self, outputs: Tensor<4>, images: Tensor<4>) -> Tensor<1> {
        let Some(log_scale) = &self.log_scale else {
            return unbraid_kernels::bernoulli_loss(outputs, images);
        };
        let [batch, height, width, channels] = outputs.dims();
        let pixels = height * width * channels;
        let difference = (images - self.mean(outputs)).reshape([batch, pixels]);
        let (deviation, power, constant) = match self.family {
            Family::Laplace => (difference.abs(), 1.0, LN_2),
            // A Bernoulli likelihood has no scale, and has returned above.
            Family::Gaussian | Family::Bernoulli => {
                (difference.clone() * difference * 0.5, 2.0, 0.5 * (2.0 * PI).ln())
            }
        };
        let deviation = deviation.sum_dim(1).reshape([batch]);
        match log_scale {
            LogScale::Fixed(log_scale) => {
                deviation * (-power * log_scale).exp() + pixels as f64 * (log_scale + constant)
            }
            LogScale::Learned(parameter) => {
                let log_scale = bounded(parameter.tensor());
                deviation * (log_scale.clone() * -power).exp() + (log_scale + constant) * pixels as f64
            }
        }
    }

    /// The expected image.
    pub fn mean(&self, outputs: Tensor<4>) -> Tensor<4> {
        match self.output {
            Output::Sigmoid => sigmoid(outputs),
            Output::Linear => outputs,
        }
    }

    pub(super) fn parameter(&self) -> Option<&dyn NamedParameter> {
        match &self.log_scale {
            Some(LogScale::Learned(parameter)) => Some(parameter.as_ref()),
            Some(LogScale::Fixed(_)) | None => None,
        }
    }

    pub(super) fn parameter_mut(&mut self) -> Option<&mut dyn NamedParameter> {
        match &mut self.log_scale {
            Some(LogScale::Learned(parameter)) => Some(parameter.as_mut()),
            Some(LogScale::Fixed(_)) | None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::TensorData;

    fn loss(config: &LikelihoodConfig, outputs: &[f32], images: &[f32]) -> f32 {
        let device = Device::flex();
        let tensor = |values: &[f32]| {
            Tensor::from_data(TensorData::new(values.to_vec(), [1, 1, values.len(), 1]), &device)
        };
        let loss = Likelihood::new(config, &device).negative_log_likelihood(tensor(outputs), tensor(images));
        loss.into_data().try_to_vec::<f32>().unwrap()[0]
    }

    /// -ln N(x; m, s) and -ln Laplace(x; m, b), written out.
    #[test]
    fn densities_match_hand_computations() {
        let (scale, output) = (Scale::Fixed(0.5), Output::Linear);
        let gaussian = loss(&LikelihoodConfig::Gaussian { scale, output }, &[1.0, 0.0], &[0.0, 0.0]);
        let by_hand = 1.0 / (2.0 * 0.25) + 2.0 * (0.5_f64.ln() + 0.5 * (2.0 * PI).ln());
        assert!((f64::from(gaussian) - by_hand).abs() < 1e-5, "{gaussian} {by_hand}");
        let laplace = loss(&LikelihoodConfig::Laplace { scale, output }, &[1.0, 0.0], &[0.0, 0.0]);
        // ln(2 b) = ln 1 = 0, so that only |x - m| / b = 2 is left.
        assert!((laplace - 2.0).abs() < 1e-6, "{laplace}");
        // A fair coin for each of three pixels: 3 ln 2.
        let bernoulli = loss(&LikelihoodConfig::Bernoulli {}, &[0.0; 3], &[0.0, 1.0, 0.3]);
        assert!((f64::from(bernoulli) - 3.0 * LN_2).abs() < 1e-6);
    }

    #[test]
    fn a_learned_scale_starts_at_one() {
        let (scale, output) = (Scale::Learned(crate::config::Learned::Learned), Output::Sigmoid);
        let learned = loss(&LikelihoodConfig::Gaussian { scale, output }, &[0.7, -3.0], &[0.1, 0.9]);
        let scale = Scale::Fixed(1.0);
        let fixed = loss(&LikelihoodConfig::Gaussian { scale, output }, &[0.7, -3.0], &[0.1, 0.9]);
        assert!((learned - fixed).abs() < 1e-6);
    }
}
