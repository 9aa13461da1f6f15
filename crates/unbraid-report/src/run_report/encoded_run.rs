//! What is pictured: a run, some of its data, and what the encoder makes of it.

use super::latents::{Layout, Unit};
use crate::evaluate::measures::ACTIVE;
use crate::failure::Outcome;
use crate::model::Posteriors;
use crate::run::Run;
use burn::tensor::{Tensor, TensorData};
use ndarray::{Array2, Array4, Axis};
use rand_distr::{Distribution, StandardNormal};
use unbraid_data::progress::Progress;
use unbraid_data::random::Stream;
use unbraid_data::{DataSet, FactorSpace, ImageShape, sampling};

/// A run with a sample of its data, encoded.
#[derive(Debug)]
pub struct Subject<'a> {
    run: &'a Run,
    data: &'a dyn DataSet,
    layout: Layout,
    /// Which images.
    images: Vec<usize>,
    posteriors: Posteriors,
    divergences: Vec<(Unit, f64)>,
}

impl<'a> Subject<'a> {
    /// Draws `count` images and encodes them; the same images of the same data for every run, so that runs can be
    /// compared.
    ///
    /// # Errors
    /// If the images are of another size than those of the run, or cannot be read.
    pub fn new(run: &'a Run, data: &'a dyn DataSet, count: usize, progress: &dyn Progress) -> Outcome<Self> {
        let mut images = vec![0; count];
        sampling::uniform(data.len(), &mut Stream::new(0, "report images").at(0).generator(), &mut images);
        let posteriors = run.encode_data(data, &images, noise(), progress)?;
        let layout = Layout::new(&run.config().model.latents);
        let divergences = sorted(layout.units().zip(run.divergences(&posteriors, 0)).collect());
        Ok(Self { run, data, layout, images, posteriors, divergences })
    }

    /// The run.
    pub fn run(&self) -> &'a Run {
        self.run
    }

    /// The data.
    pub fn data(&self) -> &'a dyn DataSet {
        self.data
    }

    /// Which columns of a row of latent values belong to which unit.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// How many images were encoded.
    pub fn count(&self) -> usize {
        self.images.len()
    }

    /// All units with KL(q(z_i|x) || p(z_i)), mean over the images, in nats; the largest first.
    pub fn by_divergence(&self) -> &[(Unit, f64)] {
        &self.divergences
    }

    /// The continuous units, those with the largest divergence first.
    pub fn continuous_by_divergence(&self) -> impl Iterator<Item = usize> {
        self.divergences.iter().filter_map(|(unit, _)| match unit {
            Unit::Continuous(unit) => Some(*unit),
            Unit::Categorical(_) => None,
        })
    }

    /// The first images, `[count, height, width, channels]`.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn pictures(&self, count: usize) -> Outcome<Array4<f32>> {
        let ImageShape { height, width, channels } = self.data.shape();
        let images = &self.images[..count.min(self.images.len())];
        let mut pictures = Array4::zeros((images.len(), height, width, channels));
        let each = self.data.shape().values();
        for (&image, pixels) in
            images.iter().zip(pictures.as_slice_mut().into_iter().flat_map(|all| all.chunks_exact_mut(each)))
        {
            self.data.write_image(image, noise().at(0).lane(image as u64), pixels)?;
        }
        Ok(pictures)
    }

    /// What stands for the first images: rows of latent values that can be decoded.
    pub fn codes(&self, count: usize) -> Array2<f32> {
        let first = (..count.min(self.images.len())).into();
        self.run.latents_of(&self.posteriors).slice_axis(Axis(0), first).to_owned()
    }

    /// The means of q(z_i|x), one for each image.
    pub fn means(&self, unit: usize) -> Vec<f64> {
        self.posteriors.mean.column(unit).iter().map(|&mean| f64::from(mean)).collect()
    }

    /// The standard deviations of q(z_i|x), one for each image.
    pub fn deviations(&self, unit: usize) -> Vec<f64> {
        self.posteriors.log_variance.column(unit).iter().map(|&log| (0.5 * f64::from(log)).exp()).collect()
    }

    /// Samples of the aggregate posterior q(z_i): one of each image's posterior.
    pub fn aggregate(&self, unit: usize) -> Vec<f64> {
        let mut generator = Stream::new(0, "report aggregate posterior").at(unit as u64).generator();
        let pairs = self.means(unit).into_iter().zip(self.deviations(unit));
        pairs
            .map(|(mean, deviation)| {
                let noise: f64 = StandardNormal.sample(&mut generator);
                mean + deviation * noise
            })
            .collect()
    }

    /// Means and log-variances `[images, units]`.
    pub fn posteriors(&self) -> &Posteriors {
        &self.posteriors
    }

    /// Whether the mean of a unit varies over the data.
    pub fn is_active(&self, unit: usize) -> bool {
        let means = self.means(unit);
        let count = means.len().max(1) as f64;
        let mean = means.iter().sum::<f64>() / count;
        means.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count > ACTIVE
    }

    /// The values of a factor, one for each image.
    pub fn factor(&self, position: usize) -> Vec<f64> {
        let mut row = vec![0; self.data.factors().map_or(0, FactorSpace::len)];
        let value = |&image: &usize| {
            self.data.factors_of(image, &mut row);
            f64::from(row[position])
        };
        self.images.iter().map(value).collect()
    }

    /// Where traversals of a continuous unit begin and end: quantiles of its prior.
    pub fn range(&self, unit: usize) -> (f64, f64) {
        self.run.range_of(unit)
    }

    /// The prior's density of a continuous unit at some values.
    pub fn prior_densities(&self, unit: usize, values: &[f64]) -> Vec<f64> {
        let units = self.layout.continuous();
        let rows = values.iter().flat_map(|&value| std::iter::repeat_n(value as f32, units)).collect();
        let densities = exponentials(self.run.prior().log_density_of_units(self.tensor(rows, units)));
        densities.chunks_exact(units).map(|row| row[unit]).collect()
    }

    /// The prior's density of two continuous units at some points.
    pub fn prior_densities_of_plane(&self, points: &[[f64; 2]]) -> Vec<f64> {
        let rows = points.iter().flatten().map(|&value| value as f32).collect();
        exponentials(self.run.prior().log_density(self.tensor(rows, 2)))
    }

    fn tensor(&self, values: Vec<f32>, columns: usize) -> Tensor<2> {
        let rows = values.len() / columns;
        Tensor::from_data(TensorData::new(values, [rows, columns]), self.run.network().device())
    }

    /// The prior's middle as a row of latent values: continuous units at their median, categorical ones in class 0.
    pub fn middle(&self) -> Array2<f32> {
        self.run.middle()
    }
}

/// Noise of stochastic data sets: always the same for an image.
fn noise() -> Stream {
    Stream::new(0, "report noise")
}

fn exponentials<const D: usize>(logarithms: Tensor<D>) -> Vec<f64> {
    let values: Vec<f32> =
        logarithms.into_data().try_into_vec().expect("all tensors are in single precision");
    values.into_iter().map(|value| f64::from(value).exp()).collect()
}

/// The largest first; equal ones stay in order.
fn sorted(mut units: Vec<(Unit, f64)>) -> Vec<(Unit, f64)> {
    units.sort_by(|a, b| b.1.total_cmp(&a.1));
    units
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_with_the_largest_divergence_come_first() {
        let units = [(0, 0.1), (1, 2.0), (2, 0.1), (3, 1.5)];
        let order = sorted(units.map(|(unit, kl)| (Unit::Continuous(unit), kl)).to_vec());
        let order: Vec<Unit> = order.into_iter().map(|(unit, _)| unit).collect();
        assert_eq!(order, [1, 3, 0, 2].map(Unit::Continuous));
    }
}
