//! The likelihood p(x|z) of pixels given the decoder's output.

use super::parameter::{NamedParameter, Parameter};
use super::posterior::bounded;
use crate::config::{Learned, LikelihoodConfig, Output, Scale};
use burn::tensor::activation::sigmoid;
use burn::tensor::{Device, Tensor};
use std::f64::consts::{LN_2, PI};

/// The distribution of the pixels, independent of each other given the decoder's output.
#[derive(Clone, Debug)]
pub struct Likelihood {
    family: Family,
    output: Output,
    /// ln of the scale; `None` for Bernoulli variables, which do not have one.
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
    /// In the second half of the decoder's output channels.
    Decoded,
}

impl Likelihood {
    /// From a configuration.
    pub fn new(config: &LikelihoodConfig, device: &Device) -> Self {
        let log_scale = |scale: &Scale| match scale {
            Scale::Fixed(scale) => LogScale::Fixed(scale.ln()),
            Scale::Learned(Learned::Decoded) => LogScale::Decoded,
            // Any initial scale will do: it adapts within a few hundred steps.
            Scale::Learned(Learned::Learned) => LogScale::Learned(Box::new(Parameter::new(
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
    ///
    /// s and b are one number, or one for each pixel and channel if the decoder outputs them.
    pub fn negative_log_likelihood(&self, outputs: Tensor<4>, images: Tensor<4>) -> Tensor<1> {
        let Some(log_scale) = &self.log_scale else {
            return unbraid_kernels::bernoulli_loss(outputs, images);
        };
        let [batch, height, width, channels] = images.dims();
        let pixels = height * width * channels;
        let decoded = outputs.clone();
        let difference = (images - self.mean(outputs)).reshape([batch, pixels]);
        let (deviation, power, constant) = match self.family {
            Family::Laplace => (difference.abs(), 1.0, LN_2),
            // The Bernoulli likelihood, which has no scale, returned above.
            Family::Gaussian | Family::Bernoulli => {
                (difference.clone() * difference * 0.5, 2.0, 0.5 * (2.0 * PI).ln())
            }
        };
        let sum = |values: Tensor<2>| values.sum_dim(1).reshape([batch]);
        match log_scale {
            LogScale::Fixed(log_scale) => {
                sum(deviation) * (-power * log_scale).exp() + pixels as f64 * (log_scale + constant)
            }
            LogScale::Learned(parameter) => {
                let log_scale = bounded(parameter.tensor());
                sum(deviation) * (log_scale.clone() * -power).exp() + (log_scale + constant) * pixels as f64
            }
            LogScale::Decoded => {
                let log_scale = bounded(decoded.narrow(3, channels, channels).reshape([batch, pixels]));
                sum(deviation * (log_scale.clone() * -power).exp() + log_scale + constant)
            }
        }
    }

    /// The expected image.
    pub fn mean(&self, outputs: Tensor<4>) -> Tensor<4> {
        let outputs = match self.log_scale {
            Some(LogScale::Decoded) => {
                let channels = outputs.dims()[3] / 2;
                outputs.narrow(3, 0, channels)
            }
            Some(LogScale::Fixed(_) | LogScale::Learned(_)) | None => outputs,
        };
        match self.output {
            Output::Sigmoid => sigmoid(outputs),
            Output::Linear => outputs,
        }
    }

    pub(super) fn parameter(&self) -> Option<&dyn NamedParameter> {
        match &self.log_scale {
            Some(LogScale::Learned(parameter)) => Some(parameter.as_ref()),
            Some(LogScale::Fixed(_) | LogScale::Decoded) | None => None,
        }
    }

    pub(super) fn parameter_mut(&mut self) -> Option<&mut dyn NamedParameter> {
        match &mut self.log_scale {
            Some(LogScale::Learned(parameter)) => Some(parameter.as_mut()),
            Some(LogScale::Fixed(_) | LogScale::Decoded) | None => None,
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

    /// A decoder that puts out a scale for each value: outputs (m, ln s) of one pixel are two channels. By hand for x =
    /// (0, 2), m = (1, 2), s = (1/2, 4): Gaussian 1 / (2/4) + ln(1/2) + ln 4 + ln(2 pi), Laplace 1 / (1/2) +
    /// ln 1 + ln 8.
    #[test]
    fn a_decoded_scale_belongs_to_its_value() {
        let device = Device::flex();
        let tensor = |values: &[f32], channels| {
            Tensor::from_data(TensorData::new(values.to_vec(), [1, 1, 2, channels]), &device)
        };
        let (scale, output) = (Scale::Learned(Learned::Decoded), Output::Linear);
        let outputs = tensor(&[1.0, 0.5_f32.ln(), 2.0, 4.0_f32.ln()], 2);
        for (config, by_hand) in [
            (LikelihoodConfig::Gaussian { scale, output }, 2.0 + 2.0_f64.ln() + (2.0 * PI).ln()),
            (LikelihoodConfig::Laplace { scale, output }, 2.0 + 8.0_f64.ln()),
        ] {
            assert!(config.has_decoded_scale());
            let likelihood = Likelihood::new(&config, &device);
            let loss = likelihood.negative_log_likelihood(outputs.clone(), tensor(&[0.0, 2.0], 1));
            let loss = loss.into_data().try_to_vec::<f32>().unwrap()[0];
            assert!((f64::from(loss) - by_hand).abs() < 1e-5, "{loss} {by_hand}");
            let mean = likelihood.mean(outputs.clone());
            assert_eq!(mean.into_data().try_to_vec::<f32>().unwrap(), [1.0, 2.0]);
        }
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
