//! The KL divergence in three parts: KL = mutual information + total correlation + dimension-wise KL (Chen et al. 2018,
//! eq. 2; Hoffman & Johnson 2016).
//!
//! Each part is a mean over the batch of log-densities at the samples, with those of the aggregate posterior estimated by
//! [`Aggregate`](super::Aggregate). The parts add up to the single-sample estimate of the KL divergence, whatever the
//! estimator.

use super::{ForwardPass, Term};
use crate::config::Estimator;
use burn::tensor::Tensor;

/// `mutual_information`: mean of ln q(z|x) - ln q(z), the index-code mutual information.
#[derive(Clone, Copy, Debug)]
pub struct MutualInformation(pub Estimator);

impl Term for MutualInformation {
    fn name(&self) -> &'static str {
        "mutual_information"
    }

    fn value(&self, forward: &ForwardPass<'_>) -> Tensor<1> {
        let conditional = forward.diagonal().log_density(forward.first_sample()).sum_dim(1);
        (conditional.reshape([forward.batch()]) - forward.aggregate(self.0).joint.clone()).mean()
    }
}

/// `total_correlation`: mean of ln q(z) - sum_j ln q(z_j).
#[derive(Clone, Copy, Debug)]
pub struct TotalCorrelation(pub Estimator);

impl Term for TotalCorrelation {
    fn name(&self) -> &'static str {
        "total_correlation"
    }

    fn value(&self, forward: &ForwardPass<'_>) -> Tensor<1> {
        let aggregate = forward.aggregate(self.0);
        (aggregate.joint.clone() - aggregate.marginals.clone()).mean()
    }
}

/// `dimension_wise_kl`: mean of sum_j ln q(z_j) - ln p(z).
#[derive(Clone, Copy, Debug)]
pub struct DimensionWiseKl(pub Estimator);

impl Term for DimensionWiseKl {
    fn name(&self) -> &'static str {
        "dimension_wise_kl"
    }

    fn value(&self, forward: &ForwardPass<'_>) -> Tensor<1> {
        let prior = forward.prior.log_density(forward.first_sample());
        (forward.aggregate(self.0).marginals.clone() - prior).mean()
    }
}
