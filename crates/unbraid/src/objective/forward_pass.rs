//! The results of a forward pass through the network, from which terms compute their values.

use super::Aggregate;
use crate::config::Estimator;
use crate::model::{Categorical, DiagonalGaussian};
use crate::prior::{Divergence, Prior};
use burn::tensor::Tensor;
use std::cell::OnceCell;

/// All that a [`Term`](super::Term) can see of a step.
#[derive(Clone, Debug)]
pub struct ForwardPass<'a> {
    /// Steps done before this one.
    pub step: u64,
    /// N, the number of images of the data set.
    pub dataset_len: usize,
    /// p(z).
    pub prior: &'a Prior,
    /// q(z|x) of each image of the batch: the continuous units.
    pub posterior: DiagonalGaussian,
    /// q(c|x) of each categorical unit.
    pub categorical: Vec<Categorical>,
    /// What was decoded of the continuous units, `[samples * batch, units]`: usually one sample of each posterior. Of
    /// several, the first of every image come first, then the second of every image, and so on.
    pub sample: Tensor<2>,
    /// -ln p(x|z) of each row of `sample`.
    pub reconstruction: Tensor<1>,
    /// KL(q(z|x) || p(z)) of each image and unit.
    pub divergence: Divergence,
    /// As many samples of the prior as there are images in the batch, `[batch, units]`; for terms that need them.
    pub prior_sample: Option<Tensor<2>>,
    /// Samples of the posteriors of a second, independent batch, without gradient; for terms that need them.
    pub second_sample: Option<Tensor<2>>,
    /// Estimated once, for several terms.
    aggregate: OnceCell<(Estimator, Aggregate)>,
}

impl<'a> ForwardPass<'a> {
    /// Of one step on a data set of `dataset_len` images, without what only some terms need.
    pub fn new(
        (step, dataset_len): (u64, usize),
        prior: &'a Prior,
        posterior: DiagonalGaussian,
        sample: Tensor<2>,
        reconstruction: Tensor<1>,
    ) -> Self {
        let batch = posterior.mean.dims()[0];
        let divergence = if sample.dims()[1] == 0 {
            let device = sample.device();
            Divergence { images: Tensor::zeros([batch], &device), units: sample.clone() }
        } else {
            // Where there is no closed form, it is estimated from the first sample of each image.
            prior.divergence(&posterior, &sample.clone().narrow(0, 0, batch))
        };
        Self {
            step,
            dataset_len,
            prior,
            posterior,
            categorical: Vec::new(),
            sample,
            reconstruction,
            divergence,
            prior_sample: None,
            second_sample: None,
            aggregate: OnceCell::new(),
        }
    }

    /// KL(q(c|x) || uniform) of each categorical unit, mean over the batch.
    pub fn kl_of_categorical_units(&self) -> Vec<Tensor<1>> {
        self.categorical.iter().map(|unit| unit.divergence_from_uniform().mean()).collect()
    }

    /// KL of each unit, mean over the batch; continuous units first.
    pub fn kl_of_units(&self) -> Tensor<1> {
        let mut units = self.kl_of_categorical_units();
        if self.sample.dims()[1] > 0 {
            units.insert(0, self.divergence.units.clone().mean_dim(0).squeeze_dim(0));
        }
        Tensor::cat(units, 0)
    }

    /// Number of images in the batch.
    pub fn batch(&self) -> usize {
        self.posterior.mean.dims()[0]
    }

    /// The densities of the aggregate posterior at the samples.
    ///
    /// # Panics
    /// If two terms ask for different estimators.
    pub fn aggregate(&self, estimator: Estimator) -> &Aggregate {
        let (first, aggregate) =
            self.aggregate.get_or_init(|| (estimator, Aggregate::estimate(self, estimator)));
        assert_eq!(*first, estimator, "an objective has one estimator");
        aggregate
    }

    /// The samples of the prior.
    ///
    /// # Panics
    /// If no term said that it needs them.
    pub fn prior_sample(&self) -> Tensor<2> {
        self.prior_sample.clone().expect("a term that needs samples of the prior says so")
    }

    /// The samples of the second batch.
    ///
    /// # Panics
    /// If no term said that it needs them.
    pub fn second_sample(&self) -> Tensor<2> {
        self.second_sample.clone().expect("a term that needs a second batch says so")
    }
}
