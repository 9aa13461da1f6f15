//! The entropy of the posterior, raised (Mathieu et al. 2019, section 4).

use super::{ForwardPass, Needs, Term};
use crate::model::Marginals;
use burn::tensor::Tensor;
use std::f64::consts::PI;

/// `negative_entropy`: mean over the batch of -H\[q(z|x)\]. With the weight beta - 1 beside the loss of a VAE it is the
/// maximum-entropy form of the beta-VAE (Mathieu et al. 2019, eq. 5).
///
/// For a Gaussian, H = 1/2 ln |S| + D/2 (1 + ln 2 pi); eq. 5 leaves out the constant. For other densities it is estimated by
/// ln q(z|x) at the samples.
#[derive(Clone, Copy, Debug)]
pub struct NegativeEntropy;

impl Term for NegativeEntropy {
    fn name(&self) -> &'static str {
        "negative_entropy"
    }

    fn needs(&self) -> Needs {
        Needs { divergence: true, ..Needs::default() }
    }

    fn value(&self, forward: &ForwardPass<'_>) -> Tensor<1> {
        let Some(Marginals { units, total_correlation }) = forward.posterior.marginals() else {
            return forward.log_density().expect("a term that needs a density says so").mean();
        };
        // The entropies of the units add up to more than the whole by what they have in common.
        let of_units = ((units.log_variance + 1.0 + (2.0 * PI).ln()) * -0.5).sum_dim(1).mean();
        match total_correlation {
            None => of_units,
            Some(correlation) => of_units + correlation.mean(),
        }
    }
}
