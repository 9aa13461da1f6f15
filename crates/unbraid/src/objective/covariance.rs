//! The covariance of the aggregate posterior, drawn towards the identity (DIP-VAE: Kumar et al. 2018).

use super::sum::sum;
use super::{ForwardPass, Term};
use crate::config::CovarianceOf;
use crate::error::Result;
use crate::model::{DiagonalGaussian, StateTensor, matched};
use burn::tensor::{Tensor, TensorData};

/// The entries that are penalised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entries {
    /// sum over i != j of C_ij^2
    OffDiagonal,
    /// sum over i of (C_ii - 1)^2
    Diagonal,
}

/// `covariance_off_diagonal` and `covariance_diagonal`: the two sums of Kumar et al. 2018, eq. 6 and 7, for a
/// covariance normalised by the number of images.
#[derive(Clone, Debug)]
pub struct Covariance {
    of: CovarianceOf,
    entries: Entries,
    running: Option<Running>,
}

/// Running moments of the posterior means and variances (footnote 4 of the paper).
///
/// Each step's estimate is `(1 - w) * before + w * batch` with `w = (1 - decay) / (1 - decay^(t + 1))` after t steps,
/// an exponential average without a bias towards its start. Only the batch's part has a gradient.
#[derive(Clone, Debug)]
struct Running {
    decay: f64,
    units: usize,
    /// Means, second moments and variances, in this order.
    moments: Vec<f32>,
}

/// E\[mu\] `[1, units]`, E\[mu mu^T\] `[units, units]` and E\[sigma^2\] `[1, units]`.
struct Moments {
    mean: Tensor<2>,
    second: Tensor<2>,
    variance: Tensor<2>,
}

impl Covariance {
    /// From each batch by itself or, with `decay` above zero, from a running average over batches.
    pub fn new(of: CovarianceOf, entries: Entries, decay: f64, units: usize) -> Self {
        let moments = vec![0.0; units * (units + 2)];
        let running = (decay > 0.0).then_some(Running { decay, units, moments });
        Self { of, entries, running }
    }

    /// The covariance, `[units, units]`.
    fn estimate(&self, forward: &ForwardPass<'_>) -> Tensor<2> {
        let posterior = forward.posterior.moments();
        let (means, variance) = match &self.running {
            None => (covariance_of_means(&posterior), mean_variance(&posterior)),
            Some(running) => {
                let moments = running.with(&posterior, forward.step);
                let squares = moments.mean.clone().transpose().matmul(moments.mean);
                (moments.second - squares, moments.variance)
            }
        };
        match self.of {
            CovarianceOf::Means => means,
            CovarianceOf::Samples => means + diagonal(variance),
        }
    }
}

/// Cov_q(z)\[z\] of the mixture q(z) of a batch's posteriors, Cov\[mu\] + diag(E\[sigma^2\]).
pub(super) fn batch_covariance(posterior: &DiagonalGaussian) -> Tensor<2> {
    covariance_of_means(posterior) + diagonal(mean_variance(posterior))
}

/// Cov\[mu\]; the means are centred first, which keeps precision if they are large.
fn covariance_of_means(posterior: &DiagonalGaussian) -> Tensor<2> {
    let batch = posterior.mean.dims()[0];
    let centred = posterior.mean.clone() - posterior.mean.clone().mean_dim(0);
    centred.clone().transpose().matmul(centred) / batch as f64
}

/// E\[sigma^2\], `[1, units]`.
fn mean_variance(posterior: &DiagonalGaussian) -> Tensor<2> {
    posterior.log_variance.clone().exp().mean_dim(0)
}

fn diagonal(row: Tensor<2>) -> Tensor<2> {
    Tensor::eye(row.dims()[1], &row.device()) * row
}

impl Term for Covariance {
    fn name(&self) -> &'static str {
        match self.entries {
            Entries::OffDiagonal => "covariance_off_diagonal",
            Entries::Diagonal => "covariance_diagonal",
        }
    }

    fn value(&self, forward: &ForwardPass<'_>) -> Tensor<1> {
        let covariance = self.estimate(forward);
        let identity = Tensor::<2>::eye(covariance.dims()[0], &covariance.device());
        let excess = match self.entries {
            Entries::OffDiagonal => covariance * (identity.neg() + 1.0),
            Entries::Diagonal => (covariance - 1.0) * identity,
        };
        sum(excess.clone() * excess)
    }

    fn update(&mut self, forward: &ForwardPass<'_>) -> Vec<Tensor<1>> {
        if let Some(running) = &mut self.running {
            running.absorb(&forward.posterior.moments(), forward.step);
        }
        Vec::new()
    }

    fn state(&self) -> Vec<StateTensor> {
        let running = self.running.iter();
        running
            .map(|running| {
                StateTensor::floats("moments", vec![running.moments.len()], running.moments.clone())
            })
            .collect()
    }

    fn set_state(&mut self, state: Vec<StateTensor>) -> Result {
        let values = matched(&self.state(), state)?;
        if let (Some(running), Some(values)) = (&mut self.running, values.first()) {
            running.moments.copy_from_slice(values.as_floats());
        }
        Ok(())
    }
}

impl Running {
    /// The running moments updated with those of a batch.
    fn with(&self, posterior: &DiagonalGaussian, step: u64) -> Moments {
        let units = self.units;
        let before = Tensor::<2>::from_data(
            TensorData::new(self.moments.clone(), [units + 2, units]),
            &posterior.mean.device(),
        );
        let past = i32::try_from(step).unwrap_or(i32::MAX).saturating_add(1);
        let share = (1.0 - self.decay) / (1.0 - self.decay.powi(past));
        let blend = |start: usize, rows: usize, new: Tensor<2>| {
            before.clone().narrow(0, start, rows) * (1.0 - share) + new * share
        };
        let means = posterior.mean.clone();
        let second = means.clone().transpose().matmul(means.clone()) / means.dims()[0] as f64;
        Moments {
            mean: blend(0, 1, means.mean_dim(0)),
            second: blend(1, units, second),
            variance: blend(units + 1, 1, mean_variance(posterior)),
        }
    }

    fn absorb(&mut self, posterior: &DiagonalGaussian, step: u64) {
        let Moments { mean, second, variance } = self.with(posterior, step);
        let moments = Tensor::cat(vec![mean, second, variance], 0).inner().into_data();
        self.moments = moments.try_into_vec().expect("moments are in single precision");
    }
}
