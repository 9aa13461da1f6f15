//! The KL divergence of the posterior from the prior, estimated by a discriminator that sees the image.

use super::adversary::Adversary;
use super::{ForwardPass, Needs, Setting, Term};
use crate::config::AdversarialKlConfig;
use crate::error::Result;
use crate::model::{ContinuousPosterior, ContrastNetwork, DiagonalGaussian, Marginals, StateTensor};
use burn::tensor::activation::softplus;
use burn::tensor::{Device, Tensor, TensorData};
use rand_distr::{Distribution, StandardNormal};
use unbraid_data::random::{Generator, Stream};

/// `adversarial_kl`: KL(q(z|x) || p(z)) = E_q\[T(x, z)\] for the best T, which tells pairs of an image and a sample of its
/// posterior from pairs of an image and a sample of the prior (Mescheder et al. 2017, eq. 3.3 and proposition 1; Mushom 2020,
/// section 3.4):
///
/// max_T E_q\[ln sigmoid(T(x, z))\] + E_p\[ln(1 - sigmoid(T(x, z)))\]
///
/// The posterior needs no density. The gradient for the encoder flows through z only, since that of T itself vanishes in
/// expectation (proposition 2).
///
/// With adaptive contrast (section 3.3), T compares q(z|x) with a Gaussian r(z|x) of the same mean and variances, in which
/// it is easier to see a difference: KL = E_q\[T(x, (z - mu) / sigma)\] + E_q\[ln r(z|x) - ln p(z)\], where T tells
/// normalised samples from standard normal ones. mu and sigma are exact for Gaussian posteriors, else computed from some
/// samples; they get no gradient, since E_q\[ln r\] is stationary at the moments of q.
#[derive(Debug)]
pub struct AdversarialKl {
    adversary: Adversary<ContrastNetwork>,
    config: AdversarialKlConfig,
    moments: Stream,
    reference: Stream,
}

impl AdversarialKl {
    /// The term before the first step.
    pub fn new(config: &AdversarialKlConfig, setting: &Setting) -> Self {
        let sizes = (setting.pixels, setting.units);
        let draws = (setting.initializer, setting.seed);
        let network = ContrastNetwork::new(&config.discriminator, sizes, draws, &setting.device);
        Self {
            adversary: Adversary::of_network(network, &config.discriminator.over_features()),
            config: config.clone(),
            moments: Stream::new(setting.seed, "adaptive contrast"),
            reference: Stream::new(setting.seed, "reference of adaptive contrast"),
        }
    }

    /// r(z|x) of each image, without gradient, computed once for value and update; `None` without adaptive contrast.
    fn reference(&self, forward: &ForwardPass<'_>) -> Option<DiagonalGaussian> {
        let compute = || self.moments_of(forward.posterior.detached().as_ref(), forward.step);
        self.config.adaptive_contrast.then(|| forward.contrast_reference(compute))
    }

    /// Means and variances of a posterior: in closed form, or of some samples.
    fn moments_of(&self, posterior: &dyn ContinuousPosterior, step: u64) -> DiagonalGaussian {
        if let Some(Marginals { units, .. }) = posterior.marginals() {
            return units;
        }
        let ([batch, units], samples) = (posterior.dims(), self.config.discriminator.samples);
        let shape = [samples * batch, posterior.noise_width()];
        let noise = normal(&mut self.moments.at(step).generator(), shape, &posterior.device());
        let draws = posterior.repeated(samples).draw(noise).value.reshape([samples, batch, units]);
        let mean = draws.clone().mean_dim(0);
        let centred = draws - mean.clone();
        let variance = (centred.clone() * centred).sum_dim(0) / (samples as f64 - 1.0);
        // A posterior that has collapsed to a point is not divided by zero.
        DiagonalGaussian::new(mean.reshape([batch, units]), (variance.reshape([batch, units]) + 1e-8).log())
    }
}

/// (z - mu) / sigma.
fn normalized(z: Tensor<2>, reference: &DiagonalGaussian) -> Tensor<2> {
    (z - reference.mean.clone()) * (reference.log_variance.clone() * -0.5).exp()
}

fn normal(generator: &mut Generator, shape: [usize; 2], device: &Device) -> Tensor<2> {
    let values: Vec<f32> = (0..shape[0] * shape[1]).map(|_| StandardNormal.sample(generator)).collect();
    Tensor::from_data(TensorData::new(values, shape), device)
}

impl Term for AdversarialKl {
    fn name(&self) -> &'static str {
        "adversarial_kl"
    }

    fn needs(&self) -> Needs {
        Needs { images: true, prior_sample: !self.config.adaptive_contrast, ..Needs::default() }
    }

    fn estimates_kl(&self) -> bool {
        true
    }

    fn value(&self, forward: &ForwardPass<'_>) -> Tensor<1> {
        let samples = forward.samples();
        let (images, z) = (forward.images().repeat_dim(0, samples), forward.sample.clone());
        let network = self.adversary.network();
        let Some(reference) = self.reference(forward) else {
            return network.frozen_contrast(images, z).mean();
        };
        let reference = reference.repeated(samples);
        let of_reference = reference.log_density(z.clone()).sum_dim(1).mean();
        let of_prior = forward.prior.log_density(z.clone()).mean();
        network.frozen_contrast(images, normalized(z, &reference)).mean() + of_reference - of_prior
    }

    fn auxiliary_losses(&self) -> &'static [&'static str] {
        &["discriminator_loss"]
    }

    /// Some Adam steps on the cross-entropy -(1/2 mean ln sigmoid(T) + 1/2 mean ln(1 - sigmoid(T))), ln 2 for an uninformed
    /// discriminator. Returns that before the first.
    fn update(&mut self, forward: &ForwardPass<'_>) -> Vec<Tensor<1>> {
        let (images, z) = (forward.images(), forward.first_sample().detach());
        let reference = self.reference(forward);
        let first = match &reference {
            None => z,
            Some(reference) => normalized(z, reference),
        };
        let mut before = None;
        for update in 0..self.config.discriminator.updates {
            let second = match &reference {
                None => forward.prior_sample().detach(),
                Some(_) => {
                    let lane = self.reference.at(forward.step).lane(update as u64);
                    normal(&mut lane.generator(), first.dims(), &first.device())
                }
            };
            let loss = self.adversary.minimize(|network| {
                let contrast = |z: Tensor<2>| network.contrast(images.clone(), z);
                // -ln sigmoid(T) = softplus(-T), -ln(1 - sigmoid(T)) = softplus(T)
                let of_posterior = softplus(contrast(first.clone()).neg(), 1.0).mean();
                (of_posterior + softplus(contrast(second), 1.0).mean()) * 0.5
            });
            before.get_or_insert(loss);
        }
        before.into_iter().collect()
    }

    fn state(&self) -> Vec<StateTensor> {
        self.adversary.state()
    }

    fn set_state(&mut self, state: Vec<StateTensor>) -> Result {
        self.adversary.set_state(state)
    }
}
