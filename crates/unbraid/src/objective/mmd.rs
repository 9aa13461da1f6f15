//! The maximum mean discrepancy between aggregate posterior and prior (Gretton et al. 2012; thesis eq. 2.6).

use super::sum::sum;
use super::{ForwardPass, Needs, Term};
use crate::config::{Kernel, MmdConfig};
use burn::tensor::Tensor;

/// `mmd`: the unbiased estimate of MMD(q(z), p(z))^2 from the B samples of the batch and as many of the prior,
/// `1/(B(B-1)) sum_{i != j} (k(z_i, z_j) + k(p_i, p_j)) - 2/B^2 sum_ij k(z_i, p_j)` (Gretton et al. 2012, eq. 3).
///
/// The kernel is a sum over scales s, with C = 2 D s for D units (Tolstikhin et al. 2018, section 4):
///
/// * `imq`: C / (C + |a - b|^2)
/// * `rbf`: exp(-|a - b|^2 / C)
///
/// With `per_unit`, it is the sum of the discrepancies of the single units, with D = 1, as in the code of Mathieu et
/// al. 2019.
#[derive(Clone, Debug)]
pub struct Mmd {
    config: MmdConfig,
}

impl Mmd {
    /// From a configuration.
    pub fn new(config: &MmdConfig) -> Self {
        Self { config: config.clone() }
    }

    /// The sum over all pairs of rows of `a` and `b`, and over the units if they are compared separately.
    fn sum(&self, a: &Tensor<2>, b: &Tensor<2>) -> Tensor<1> {
        let ([rows, units], [columns, _]) = (a.dims(), b.dims());
        // Differences first: |a|^2 + |b|^2 - 2ab would lose precision for close points far from the origin.
        let difference = a.clone().reshape([rows, 1, units]) - b.clone().reshape([1, columns, units]);
        let squares = difference.clone() * difference;
        let (distance, dimensions) =
            if self.config.per_unit { (squares, 1.0) } else { (squares.sum_dim(2), units as f64) };
        let mut total: Option<Tensor<3>> = None;
        for scale in &self.config.scales {
            let c = 2.0 * dimensions * scale;
            let values = match self.config.kernel {
                Kernel::Imq => (distance.clone() + c).recip() * c,
                Kernel::Rbf => (distance.clone() / -c).exp(),
            };
            total = Some(match total {
                None => values,
                Some(total) => total + values,
            });
        }
        sum(total.unwrap_or(distance))
    }

    /// k(a, a), summed over units if they are compared separately: one for each scale.
    fn at_no_distance(&self, units: usize) -> f64 {
        let scales = self.config.scales.len() as f64;
        if self.config.per_unit { scales * units as f64 } else { scales }
    }
}

impl Term for Mmd {
    fn name(&self) -> &'static str {
        "mmd"
    }

    fn needs(&self) -> Needs {
        Needs { prior_sample: true, ..Needs::default() }
    }

    fn value(&self, forward: &ForwardPass<'_>) -> Tensor<1> {
        let (posterior, prior) = (forward.first_sample(), forward.prior_sample());
        let [batch, units] = posterior.dims();
        let count = batch as f64;
        let diagonal = count * self.at_no_distance(units);
        let within = (self.sum(&posterior, &posterior) + self.sum(&prior, &prior) - 2.0 * diagonal)
            / (count * (count - 1.0));
        within - self.sum(&posterior, &prior) * (2.0 / (count * count))
    }
}
