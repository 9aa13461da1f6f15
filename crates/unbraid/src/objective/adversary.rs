//! A discriminator that learns to tell two kinds of latent vectors apart while the network trains.

use super::Setting;
use crate::config::DiscriminatorConfig;
use crate::error::Result;
use crate::model::{Discriminator, StateTensor, Values, matched};
use crate::optimizer::Adam;
use burn::tensor::Tensor;
use burn::tensor::activation::log_softmax;

/// A discriminator and its optimiser.
#[derive(Debug)]
pub struct Adversary {
    discriminator: Discriminator,
    optimizer: Adam,
    steps: u64,
}

/// The number of steps in a checkpoint, which bias correction counts.
const STEPS: &str = "steps";

impl Adversary {
    /// An adversary before its first step.
    pub fn new(config: &DiscriminatorConfig, setting: &Setting) -> Self {
        let draws = (setting.initializer, setting.seed);
        let discriminator = Discriminator::new(config, setting.units, draws, &setting.device);
        let optimizer = Adam::new(&config.optimizer(), &discriminator.parameters());
        Self { discriminator, optimizer, steps: 0 }
    }

    /// ln P(class | row) of both classes, `[rows, 2]`, with gradients for the rows only.
    pub fn log_probabilities(&self, rows: Tensor<2>) -> Tensor<2> {
        log_softmax(self.discriminator.frozen_logits(rows), 1)
    }

    /// Mean over the rows of the first logit less the second: for an optimal discriminator the mean of ln p_0(row) /
    /// p_1(row), that is KL(p_0 || p_1) if the rows are drawn from p_0. With gradients for the rows only.
    pub fn log_density_ratio(&self, rows: Tensor<2>) -> Tensor<1> {
        let logits = self.discriminator.frozen_logits(rows);
        (logits.clone().narrow(1, 0, 1) - logits.narrow(1, 1, 1)).mean()
    }

    /// One step of its Adam on the cross-entropy -(1/2 mean ln P(0 | first) + 1/2 mean ln P(1 | second)), for as many rows
    /// of the first class as of the second; gives the cross-entropy before it, ln 2 if it knows nothing. The rows get no
    /// gradient.
    pub fn update(&mut self, first: Tensor<2>, second: Tensor<2>) -> Tensor<1> {
        let count = first.dims()[0];
        debug_assert_eq!(second.dims()[0], count);
        // One pass for both is one set of matrix products instead of two.
        let rows = Tensor::cat(vec![first.detach(), second.detach()], 0);
        let log_probabilities = log_softmax(self.discriminator.logits(rows), 1);
        let of_first = log_probabilities.clone().slice([0..count, 0..1]).mean();
        let of_second = log_probabilities.slice([count..2 * count, 1..2]).mean();
        let loss = (of_first + of_second) * -0.5;
        let mut gradients = loss.backward();
        self.optimizer.step(self.discriminator.parameters_mut(), &mut gradients);
        self.steps += 1;
        loss.detach()
    }

    /// Weights, moments and the number of steps, for a checkpoint.
    pub fn state(&self) -> Vec<StateTensor> {
        let parameters = self.discriminator.parameters();
        let mut state: Vec<StateTensor> = parameters
            .iter()
            .map(|parameter| StateTensor::floats(parameter.name(), parameter.shape(), parameter.values()))
            .collect();
        state.extend(self.optimizer.state(&parameters));
        state.push(StateTensor {
            name: STEPS.to_owned(),
            shape: Vec::new(),
            values: Values::Integers(vec![i64::try_from(self.steps).unwrap_or(i64::MAX)]),
        });
        state
    }

    /// From a checkpoint.
    ///
    /// # Errors
    /// If it was saved by another adversary; this one is then unchanged.
    pub fn set_state(&mut self, state: Vec<StateTensor>) -> Result {
        let expected = self.state();
        let values = matched(&expected, state)?;
        let (mut moments, mut weights) = (Vec::new(), Vec::new());
        for (tensor, values) in expected.into_iter().zip(values) {
            match values {
                Values::Integers(steps) => self.steps = steps.first().map_or(0, |steps| steps.unsigned_abs()),
                values if tensor.name.starts_with("adam.") => moments.push(StateTensor { values, ..tensor }),
                values => weights.push(values),
            }
        }
        self.optimizer.set_state(&self.discriminator.parameters(), moments)?;
        self.optimizer.set_steps_done(self.steps);
        for (parameter, new) in self.discriminator.parameters_mut().into_iter().zip(&weights) {
            parameter.update(&mut |old| old.copy_from_slice(new.as_floats()));
        }
        Ok(())
    }
}
