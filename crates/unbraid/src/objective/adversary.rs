//! A discriminator of two kinds of latent vectors, trained alongside the network.

use super::Setting;
use crate::config::DiscriminatorConfig;
use crate::device::is_cpu;
use crate::error::Result;
use crate::model::{Discriminator, StateTensor, Trained, Values, matched};
use crate::optimizer::Adam;
use burn::tensor::activation::log_softmax;
use burn::tensor::{Tensor, TensorData};
use std::sync::{Mutex, MutexGuard, PoisonError};
use unbraid_kernels::RowFunction;

/// A network that works against the encoder, by default a discriminator of latent vectors, and its optimiser.
#[derive(Debug)]
pub struct Adversary<N = Discriminator> {
    network: N,
    optimizer: Adam,
    steps: u64,
    /// What the network last computed, if its weights have not changed since.
    known: Mutex<Option<Known>>,
}

/// The outputs for some rows, and everything that gradients of functions of them need.
#[derive(Debug)]
struct Known {
    rows: Vec<f32>,
    function: RowFunction,
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

    /// The first logit minus the second of each row, with gradients for the rows only: for an optimal discriminator
    /// ln p_0(row) / p_1(row), whose mean is KL(p_0 || p_1) if the rows are drawn from p_0.
    ///
    /// `others` are rows that [`Adversary::update_on`] will be called with as well; on the CPU, a single pass serves the
    /// values and the gradients of both calls. Their differences are the second result.
    pub fn differences(&self, rows: Tensor<2>, others: Option<Tensor<2>>) -> (Tensor<1>, Option<Tensor<1>>) {
        let count = rows.dims()[0];
        let all = match others {
            None => rows,
            Some(others) => Tensor::cat(vec![rows, others], 0),
        };
        let differences = self.of_known(&all).unwrap_or_else(|| self.network.frozen_difference(all));
        let others = differences.dims()[0] - count;
        let second = (others > 0).then(|| differences.clone().narrow(0, count, others));
        (differences.narrow(0, 0, count), second)
    }

    /// The differences by a pass that is remembered; `None` on a device other than the CPU.
    fn of_known(&self, rows: &Tensor<2>) -> Option<Tensor<1>> {
        let known = self.pass(rows)?;
        let (dimensions, device) = (rows.dims(), rows.device());
        let values = TensorData::new(known.function.values().to_vec(), [dimensions[0]]);
        let gradient = TensorData::new(known.function.gradient().to_vec(), dimensions);
        *self.lock() = Some(known);
        // A number that is zero and has the gradient of the difference.
        let linear = rows.clone() * Tensor::from_data(gradient, &device);
        let linear = linear.sum_dim(1).reshape([dimensions[0]]);
        Some(Tensor::from_data(values, &device) + (linear.clone() - linear.detach()))
    }

    /// The pass for these rows: the one that is remembered, if it was for the same.
    fn pass(&self, rows: &Tensor<2>) -> Option<Known> {
        if !is_cpu(&rows.device()) {
            return None;
        }
        let known = self.lock().take();
        let rows = rows.clone().detach();
        let values: Vec<f32> = rows.clone().into_data().try_into_vec().ok()?;
        match known.filter(|known| known.rows == values) {
            Some(known) => Some(known),
            None => Some(Known { function: self.network.row_function(rows)?, rows: values }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One Adam step on a loss of the differences of `rows` and of `others`, which get no gradient. Returns the loss before
    /// the step.
    pub fn update_on(
        &mut self,
        rows: Tensor<2>,
        others: Tensor<2>,
        loss: impl FnOnce(Tensor<1>, Tensor<1>) -> Tensor<1>,
    ) -> Tensor<1> {
        let (count, other_count) = (rows.dims()[0], others.dims()[0]);
        let all = Tensor::cat(vec![rows.detach(), others.detach()], 0);
        let split = |differences: Tensor<1>| {
            (differences.clone().narrow(0, 0, count), differences.narrow(0, count, other_count))
        };
        let Some(Known { function, .. }) = self.pass(&all) else {
            return self.minimize(|discriminator| {
                let (of_rows, of_others) = split(discriminator.difference(all));
                loss(of_rows, of_others)
            });
        };
        let values = TensorData::new(function.values().to_vec(), [count + other_count]);
        let differences = Tensor::<1>::from_data(values, &all.device()).require_grad();
        let (of_rows, of_others) = split(differences.clone());
        let loss = loss(of_rows, of_others);
        let factors: Option<Vec<f32>> = differences
            .grad(&loss.backward())
            .map(|factors| factors.into_data().try_into_vec().expect("gradients are in single precision"));
        // A loss that does not depend on the network leaves it as it is.
        let factors = factors.unwrap_or_else(|| vec![0.0; count + other_count]);
        self.optimizer.step_layers(self.network.parameters_mut(), &function, &factors);
        self.steps += 1;
        loss.detach()
    }

    /// One Adam step on the cross-entropy -(1/2 mean ln P(0 | first) + 1/2 mean ln P(1 | second)). Returns the cross-entropy
    /// before the step, which is ln 2 for an uninformed discriminator. The rows get no gradient.
    pub fn update(&mut self, first: Tensor<2>, second: Tensor<2>) -> Tensor<1> {
        self.update_on(first, second, cross_entropy)
    }
}

/// ln P(class | row) of both classes, `[rows, 2]`, from the differences of the logits.
pub(super) fn log_probabilities(differences: Tensor<1>) -> Tensor<2> {
    let first = differences.unsqueeze_dim(1);
    log_softmax(Tensor::cat(vec![first.clone(), first.zeros_like()], 1), 1)
}

/// -(1/2 mean ln P(0 | first) + 1/2 mean ln P(1 | second)) from the differences of the logits.
pub(super) fn cross_entropy(first: Tensor<1>, second: Tensor<1>) -> Tensor<1> {
    let of_first = log_probabilities(first).narrow(1, 0, 1).mean();
    let of_second = log_probabilities(second).narrow(1, 1, 1).mean();
    (of_first + of_second) * -0.5
}

impl<N: Trained> Adversary<N> {
    /// Any network, trained with the Adam of `config`.
    pub fn of_network(network: N, config: &DiscriminatorConfig) -> Self {
        let optimizer = Adam::new(&config.optimizer(), &network.parameters());
        Self { network, optimizer, steps: 0, known: Mutex::new(None) }
    }

    /// The network.
    pub fn network(&self) -> &N {
        &self.network
    }

    /// One Adam step on a loss of the network. Returns the loss before the step.
    pub fn minimize(&mut self, loss: impl FnOnce(&N) -> Tensor<1>) -> Tensor<1> {
        self.forget();
        let loss = loss(&self.network);
        let mut gradients = loss.backward();
        self.optimizer.step(self.network.parameters_mut(), &mut gradients);
        self.steps += 1;
        loss.detach()
    }

    /// Its weights are about to change.
    fn forget(&mut self) {
        *self.known.get_mut().unwrap_or_else(PoisonError::into_inner) = None;
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
        self.forget();
        for (parameter, new) in self.network.parameters_mut().into_iter().zip(&weights) {
            parameter.update(&mut |old| old.copy_from_slice(new.as_floats()));
        }
        Ok(())
    }
}
