//! The results of a forward pass through the network, from which terms compute their values.

use super::Aggregate;
use crate::config::Estimator;
use crate::model::{Categorical, ContinuousPosterior, DiagonalGaussian, Draw};
use crate::prior::{Divergence, Prior};
use burn::tensor::Tensor;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// Everything of a step that a [`Term`](super::Term) can see.
#[derive(Clone, Debug)]
pub struct ForwardPass<'a> {
    /// Steps done before this one.
    pub step: u64,
    /// N, the number of images in the data set.
    pub dataset_len: usize,
    /// p(z).
    pub prior: &'a Prior,
    /// q(z|x) of each image of the batch, for the continuous units.
    pub posterior: Arc<dyn ContinuousPosterior>,
    /// q(c|x) of each categorical unit.
    pub categorical: Vec<Categorical>,
    /// The decoded values of the continuous units, `[samples * batch, units]`: usually one sample of each posterior. If
    /// there are several, the first samples of all images come first, then the second ones, and so on.
    pub sample: Tensor<2>,
    /// ln q(z|x) as far as it was computed with the sample, `[samples * batch, units]`.
    log_density: Option<Tensor<2>>,
    /// -ln p(x|z) of each row of `sample`.
    pub reconstruction: Tensor<1>,
    /// KL(q(z|x) || p(z)) for each image and unit; `None` if the posterior has no density.
    pub divergence: Option<Divergence>,
    /// As many samples of the prior as there are images in the batch, `[batch, units]`; for terms that need them.
    pub prior_sample: Option<Tensor<2>>,
    /// Samples of the posteriors of a second, independent batch, without gradient; for terms that need them.
    pub second_sample: Option<Tensor<2>>,
    /// The images of the batch as rows, `[batch, pixels]`; for terms that need them.
    pub images: Option<Tensor<2>>,
    /// Estimated once with each estimator and shared by several terms.
    aggregates: RefCell<Vec<(Estimator, Rc<Aggregate>)>>,
    /// The reference of adaptive contrast and the step whose random numbers it has.
    contrast_reference: RefCell<Option<(u64, DiagonalGaussian)>>,
}

impl<'a> ForwardPass<'a> {
    /// For one step on a data set of `dataset_len` images with diagonal posteriors, without the optional inputs of some
    /// terms.
    pub fn new(
        place: (u64, usize),
        prior: &'a Prior,
        posterior: DiagonalGaussian,
        sample: Tensor<2>,
        reconstruction: Tensor<1>,
    ) -> Self {
        let draw = Draw { value: sample, log_density: None };
        Self::with_posterior(place, prior, Arc::new(posterior), draw, reconstruction)
    }

    /// The same for posteriors of any kind, which `draw` is a sample of.
    pub fn with_posterior(
        (step, dataset_len): (u64, usize),
        prior: &'a Prior,
        posterior: Arc<dyn ContinuousPosterior>,
        draw: Draw,
        reconstruction: Tensor<1>,
    ) -> Self {
        let Draw { value: sample, log_density } = draw;
        let mut forward = Self {
            step,
            dataset_len,
            prior,
            posterior,
            categorical: Vec::new(),
            sample,
            log_density,
            reconstruction,
            divergence: None,
            prior_sample: None,
            second_sample: None,
            images: None,
            aggregates: RefCell::new(Vec::new()),
            contrast_reference: RefCell::new(None),
        };
        // Without a closed form, it is estimated from the first sample of each image.
        forward.divergence = forward.divergence_at(1);
        forward
    }

    /// KL(q(z|x) || p(z)); if there is no closed form, from the first `samples` samples of each image.
    fn divergence_at(&self, samples: usize) -> Option<Divergence> {
        let batch = self.batch();
        if self.sample.dims()[1] == 0 {
            let images = Tensor::zeros([batch], &self.sample.device());
            return Some(Divergence { images, units: self.sample.clone() });
        }
        let first = |rows: &Tensor<2>| rows.clone().narrow(0, 0, samples * batch);
        let draw = Draw { value: first(&self.sample), log_density: self.log_density.as_ref().map(first) };
        if samples == 1 {
            return self.prior.divergence_of(self.posterior.as_ref(), &draw);
        }
        let Divergence { images, units } =
            self.prior.divergence_of(self.posterior.repeated(samples).as_ref(), &draw)?;
        let width = units.dims()[1];
        Some(Divergence {
            images: images.reshape([samples, batch]).mean_dim(0).reshape([batch]),
            units: units.reshape([samples, batch, width]).mean_dim(0).reshape([batch, width]),
        })
    }

    /// Estimates the divergence from all samples instead of the first ones (Kingma & Welling 2014, eq. 6), if there is no
    /// closed form.
    pub fn average_divergence(&mut self) {
        let samples = self.samples();
        if samples > 1 && self.posterior.marginals().is_none_or(|_| !self.prior.has_closed_form()) {
            self.divergence = self.divergence_at(samples);
        }
    }

    /// Number of samples of each posterior.
    pub fn samples(&self) -> usize {
        self.sample.dims()[0] / self.batch().max(1)
    }

    /// The first sample of each posterior, `[batch, units]`: what terms of the aggregate posterior see.
    pub fn first_sample(&self) -> Tensor<2> {
        if self.samples() == 1 { self.sample.clone() } else { self.sample.clone().narrow(0, 0, self.batch()) }
    }

    /// ln q(z|x) of each row of the sample; `None` if the posterior has no density.
    pub fn log_density(&self) -> Option<Tensor<1>> {
        let [rows, _] = self.sample.dims();
        let draw = Draw { value: self.sample.clone(), log_density: self.log_density.clone() };
        let samples = self.samples();
        let units = if samples == 1 {
            self.posterior.log_density(&draw)
        } else {
            self.posterior.repeated(samples).log_density(&draw)
        };
        Some(units?.sum_dim(1).reshape([rows]))
    }

    /// The posterior, for terms that are defined for independent Gaussians only.
    ///
    /// # Panics
    /// If it is of another kind, which a checked configuration rules out.
    pub fn diagonal(&self) -> &DiagonalGaussian {
        self.posterior.as_diagonal().expect("a term that needs a diagonal posterior says so")
    }

    /// KL(q(c|x) || uniform) of each categorical unit, mean over the batch.
    pub fn kl_of_categorical_units(&self) -> Vec<Tensor<1>> {
        self.categorical.iter().map(|unit| unit.divergence_from_uniform().mean()).collect()
    }

    /// KL of each unit, mean over the batch; continuous units first. `None` if the posterior has no density. For a flow,
    /// whose units have no density of their own, it is the share of each in ln q(z|x) - ln p(z), which add up to the whole.
    pub fn kl_of_units(&self) -> Option<Tensor<1>> {
        let mut units = self.kl_of_categorical_units();
        let divergence = self.divergence.as_ref()?;
        if self.sample.dims()[1] > 0 {
            units.insert(0, divergence.units.clone().mean_dim(0).squeeze_dim(0));
        }
        Some(Tensor::cat(units, 0))
    }

    /// KL(q(z|x) || p(z)) of each image, `[batch]`.
    ///
    /// # Panics
    /// If the posterior has no density, which a checked configuration rules out.
    pub fn divergence_of_images(&self) -> Tensor<1> {
        self.divergence.as_ref().expect("a term that needs a density says so").images.clone()
    }

    /// Number of images in the batch.
    pub fn batch(&self) -> usize {
        self.posterior.dims()[0]
    }

    /// The densities of the aggregate posterior at the first samples.
    pub fn aggregate(&self, estimator: Estimator) -> Rc<Aggregate> {
        let known = self.aggregates.borrow().iter().find(|(known, _)| *known == estimator).cloned();
        if let Some((_, aggregate)) = known {
            return aggregate;
        }
        let aggregate = Rc::new(Aggregate::estimate(self, estimator));
        self.aggregates.borrow_mut().push((estimator, Rc::clone(&aggregate)));
        aggregate
    }

    /// The reference of adaptive contrast, which is computed once for a step.
    pub(super) fn contrast_reference(&self, compute: impl FnOnce() -> DiagonalGaussian) -> DiagonalGaussian {
        let mut known = self.contrast_reference.borrow_mut();
        if let Some((step, reference)) = &*known
            && *step == self.step
        {
            return reference.clone();
        }
        let reference = compute();
        *known = Some((self.step, reference.clone()));
        reference
    }

    /// The images.
    ///
    /// # Panics
    /// If no term declared that it needs them.
    pub fn images(&self) -> Tensor<2> {
        self.images.clone().expect("a term that needs the images says so")
    }

    /// The samples of the prior.
    ///
    /// # Panics
    /// If no term declared that it needs them.
    pub fn prior_sample(&self) -> Tensor<2> {
        self.prior_sample.clone().expect("a term that needs samples of the prior says so")
    }

    /// The samples of the second batch.
    ///
    /// # Panics
    /// If no term declared that it needs them.
    pub fn second_sample(&self) -> Tensor<2> {
        self.second_sample.clone().expect("a term that needs a second batch says so")
    }
}
