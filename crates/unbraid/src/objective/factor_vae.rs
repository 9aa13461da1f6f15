//! Total correlation estimated by a discriminator.

use super::adversary::Adversary;
use super::{ForwardPass, Needs, Setting, Term};
use crate::config::{DiscriminatorBatch, DiscriminatorConfig};
use crate::error::Result;
use crate::model::StateTensor;
use burn::tensor::{Int, Tensor, TensorData};
use rand::seq::SliceRandom;
use unbraid_data::random::{Position, Stream};

/// `total_correlation`: KL(q(z) || prod_j q(z_j)) by the density-ratio trick (Kim & Mnih 2018, eq. 3; Mushom 2020, section
/// 4.3):
///
/// TC = E_q(z)\[ln q(z) / prod_j q(z_j)\] ~ mean over the batch of logit_0(z) - logit_1(z)
///
/// of a discriminator whose first class is samples of q(z) and whose second class is samples of the product of its
/// marginals. The latter are obtained by permuting each unit across the batch independently of the others (Algorithm
/// 1). The discriminator minimises -(1/2 mean ln P(0 | z) + 1/2 mean ln P(1 | z_perm)) with its own Adam.
///
/// The permuted batch is a second one, so that no row of it shares a value with z (Algorithm 2), or, as in
/// disentanglement_lib, z itself. Unlike in Algorithm 2, the second batch is encoded before the network is updated.
/// disentanglement_lib clips probabilities to \[1e-6, 1 - 1e-6\]; with a log-softmax of logits this is not needed.
#[derive(Debug)]
pub struct DiscriminatedTotalCorrelation {
    adversary: Adversary,
    batch: DiscriminatorBatch,
    permutations: Stream,
}

impl DiscriminatedTotalCorrelation {
    /// The term before the first step.
    pub fn new(config: &DiscriminatorConfig, batch: DiscriminatorBatch, setting: &Setting) -> Self {
        let permutations = Stream::new(setting.seed, "permutations of units");
        Self { adversary: Adversary::new(config, setting), batch, permutations }
    }

    /// The samples of the second class, without gradient; `None` without a second batch, which the value does not need.
    fn permuted(&self, forward: &ForwardPass<'_>) -> Option<Tensor<2>> {
        let rows = match self.batch {
            DiscriminatorBatch::Second => forward.second_sample.clone()?,
            DiscriminatorBatch::Same => forward.first_sample().detach(),
        };
        Some(permuted(rows, self.permutations.at(forward.step)))
    }
}

impl Term for DiscriminatedTotalCorrelation {
    fn name(&self) -> &'static str {
        "total_correlation"
    }

    fn needs(&self) -> Needs {
        Needs { second_batch: self.batch == DiscriminatorBatch::Second, ..Needs::default() }
    }

    fn value(&self, forward: &ForwardPass<'_>) -> Tensor<1> {
        self.adversary.differences(forward.first_sample(), self.permuted(forward)).0.mean()
    }

    fn auxiliary_losses(&self) -> &'static [&'static str] {
        &["discriminator_loss"]
    }

    fn update(&mut self, forward: &ForwardPass<'_>) -> Vec<Tensor<1>> {
        let permuted = self.permuted(forward).expect("a term that needs a second batch says so");
        vec![self.adversary.update(forward.first_sample(), permuted)]
    }

    fn state(&self) -> Vec<StateTensor> {
        self.adversary.state()
    }

    fn set_state(&mut self, state: Vec<StateTensor>) -> Result {
        self.adversary.set_state(state)
    }
}

/// Permutes every column of `[rows, units]` independently: Kim & Mnih 2018, Algorithm 1.
fn permuted(rows: Tensor<2>, position: Position) -> Tensor<2> {
    let [count, units] = rows.dims();
    let mut sources = vec![0_i64; count * units];
    let mut order: Vec<i64> = (0..count as i64).collect();
    for unit in 0..units {
        order.shuffle(&mut position.lane(unit as u64).generator());
        for (row, source) in order.iter().enumerate() {
            sources[row * units + unit] = *source;
        }
    }
    let sources = Tensor::<2, Int>::from_data(TensorData::new(sources, [count, units]), &rows.device());
    rows.gather(0, sources)
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;

    #[test]
    fn each_unit_keeps_its_values_in_an_order_of_its_own() {
        let device = Device::flex();
        let values: Vec<f32> = (0..300).map(|value| value as f32).collect();
        let rows = Tensor::<2>::from_data(TensorData::new(values, [100, 3]), &device);
        let draw = |step| -> Vec<f32> {
            let position = Stream::new(4, "test").at(step);
            permuted(rows.clone(), position).into_data().try_into_vec().unwrap()
        };
        let result = draw(0);
        let mut orders = Vec::new();
        for unit in 0..3 {
            // Value 3 r + u belongs to row r of unit u.
            let order: Vec<usize> =
                (0..100).map(|row| (result[3 * row + unit] as usize - unit) / 3).collect();
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..100).collect::<Vec<_>>());
            orders.push(order);
        }
        assert!(orders[0] != orders[1] && orders[1] != orders[2] && orders[0] != orders[2]);
        assert_eq!(draw(0), result);
        assert_ne!(draw(1), result);
    }
}
