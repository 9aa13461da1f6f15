//! A discriminator of two kinds of latent vectors, trained alongside the network.

use super::Setting;
use crate::config::DiscriminatorConfig;
use crate::error::Result;
use crate::model::{Discriminator, StateTensor, Trained, Values, matched};
use crate::optimizer::Adam;
use burn::tensor::Tensor;
use burn::tensor::activation::log_softmax;

/// A network that works against the encoder, by default a discriminator of latent vectors, and its optimiser.
#[derive(Debug)]
pub struct Adversary<N = Discriminator> {
    network: N,
    optimizer: Adam,
    steps: u64,
}

/// The name in a checkpoint of the number of steps, which bias correction needs.
const STEPS: &str = "steps";

impl Adversary {
    /// An adversary before its first step.
    pub fn new(config: &DiscriminatorConfig, setting: &Setting) -> Self {
        let draws = (setting.initializer, setting.seed);
        let discriminator = Discriminator::new(config, setting.units, draws, &setting.device);
        Self::of_network(discriminator, config)
    }

    /// ln P(class | row) of both classes, `[rows, 2]`, with gradients for the rows only.
    pub fn log_probabilities(&self, rows: Tensor<2>) -> Tensor<2> {
        log_softmax(self.network.frozen_logits(rows), 1)
    }

    /// The first logit minus the second of each row, with gradients for the rows only.
    pub fn frozen_difference(&self, rows: Tensor<2>) -> Tensor<1> {
        self.network.frozen_difference(rows)
    }

    /// Mean over the rows of the first logit minus the second: for an optimal discriminator the mean of ln p_0(row) /
    /// p_1(row), which is KL(p_0 || p_1) if the rows are drawn from p_0. With gradients for the rows only.
    pub fn log_density_ratio(&self, rows: Tensor<2>) -> Tensor<1> {
        let logits = self.network.frozen_logits(rows);
        (logits.clone().narrow(1, 0, 1) - logits.narrow(1, 1, 1)).mean()
    }

    /// One Adam step on the cross-entropy -(1/2 mean ln P(0 | first) + 1/2 mean ln P(1 | second)), for the same number
    /// of rows of both classes. Returns the cross-entropy before the step, which is ln 2 for an uninformed
    /// discriminator. The rows get no gradient.
    pub fn update(&mut self, first: Tensor<2>, second: Tensor<2>) -> Tensor<1> {
        let count = first.dims()[0];
        debug_assert_eq!(second.dims()[0], count);
        // A single pass for both needs one set of matrix products instead of two.
        let rows = Tensor::cat(vec![first.detach(), second.detach()], 0);
        self.minimize(|discriminator| {
            let log_probabilities = log_softmax(discriminator.logits(rows), 1);
            let of_first = log_probabilities.clone().slice([0..count, 0..1]).mean();
            let of_second = log_probabilities.slice([count..2 * count, 1..2]).mean();
            (of_first + of_second) * -0.5
        })
    }
}

impl<N: Trained> Adversary<N> {
    /// Any network, trained with the Adam of `config`.
    pub fn of_network(network: N, config: &DiscriminatorConfig) -> Self {
        let optimizer = Adam::new(&config.optimizer(), &network.parameters());
        Self { network, optimizer, steps: 0 }
    }

    /// The network.
    pub fn network(&self) -> &N {
        &self.network
    }

    /// One Adam step on a loss of the network. Returns the loss before the step.
    pub fn minimize(&mut self, loss: impl FnOnce(&N) -> Tensor<1>) -> Tensor<1> {
        let loss = loss(&self.network);
        let mut gradients = loss.backward();
        self.optimizer.step(self.network.parameters_mut(), &mut gradients);
        self.steps += 1;
        loss.detach()
    }

    /// Weights, moments and the number of steps, for a checkpoint.
    pub fn state(&self) -> Vec<StateTensor> {
        let parameters = self.network.parameters();
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

    /// Restores it from a checkpoint.
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
        self.optimizer.set_state(&self.network.parameters(), moments)?;
        self.optimizer.set_steps_done(self.steps);
        for (parameter, new) in self.network.parameters_mut().into_iter().zip(&weights) {
            parameter.update(&mut |old| old.copy_from_slice(new.as_floats()));
        }
        Ok(())
    }
}
