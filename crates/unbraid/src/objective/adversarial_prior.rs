//! The divergence of the aggregate posterior from the prior, estimated by a discriminator.

use super::adversary::{Adversary, cross_entropy, log_probabilities};
use super::{ForwardPass, Needs, Setting, Term};
use crate::config::{DiscriminatorConfig, GeneratorLoss};
use crate::error::Result;
use crate::model::StateTensor;
use burn::tensor::Tensor;

/// `adversarial`: what the encoder minimises against a discriminator D(z) = P(z comes from the prior) that is trained to
/// tell samples of p(z) from those of q(z) (Makhzani et al. 2015, section 2; Tolstikhin et al. 2018, Algorithm 1; Mushom
/// 2020, section 4.3). The discriminator maximises mean ln D(z_p) + mean ln(1 - D(z_q)) with an Adam of its own.
///
/// * non-saturating: -mean ln D(z_q), as both papers train it. Its gradient is strong where D is confident.
/// * minimax: mean ln(1 - D(z_q)). With an optimal D, and together with the discriminator's own E_p\[ln D\], which does
///   not depend on the encoder, it is 2 JS(q(z), p(z)) - ln 4, the form printed in the thesis.
#[derive(Debug)]
pub struct AdversarialPrior {
    adversary: Adversary,
    loss: GeneratorLoss,
}

impl AdversarialPrior {
    /// The term before the first step.
    pub fn new(config: &DiscriminatorConfig, loss: GeneratorLoss, setting: &Setting) -> Self {
        Self { adversary: Adversary::new(config, setting), loss }
    }
}

impl Term for AdversarialPrior {
    fn name(&self) -> &'static str {
        "adversarial"
    }

    fn needs(&self) -> Needs {
        Needs { prior_sample: true, ..Needs::default() }
    }

    fn value(&self, forward: &ForwardPass<'_>) -> Tensor<1> {
        let (differences, _) =
            self.adversary.differences(forward.first_sample(), forward.prior_sample.clone());
        let log_probabilities = log_probabilities(differences);
        match self.loss {
            GeneratorLoss::NonSaturating => -log_probabilities.narrow(1, 0, 1).mean(),
            GeneratorLoss::Minimax => log_probabilities.narrow(1, 1, 1).mean(),
        }
    }

    fn auxiliary_losses(&self) -> &'static [&'static str] {
        &["discriminator_loss"]
    }

    fn update(&mut self, forward: &ForwardPass<'_>) -> Vec<Tensor<1>> {
        let (posterior, prior) = (forward.first_sample(), forward.prior_sample());
        vec![self.adversary.update_on(posterior, prior, |posterior, prior| cross_entropy(prior, posterior))]
    }

    fn state(&self) -> Vec<StateTensor> {
        self.adversary.state()
    }

    fn set_state(&mut self, state: Vec<StateTensor>) -> Result {
        self.adversary.set_state(state)
    }
}
