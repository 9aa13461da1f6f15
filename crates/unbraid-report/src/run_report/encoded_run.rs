//! A run with a sample of its data, encoded: what figures are drawn from.

use crate::error::Result;
use crate::numbers::thousands;
use ndarray::{Array2, Array4, ArrayView2, Axis};
use rand_distr::{Distribution, StandardNormal};
use unbraid::Run;
use unbraid::data::progress::Progress;
use unbraid::data::random::Stream;
use unbraid::data::{DataSet, FactorSpace, ImageShape, sampling};
use unbraid::evaluate::ACTIVE;
use unbraid::model::{Layout, Posteriors, Unit};

/// A run with a sample of its data, encoded.
#[derive(Debug)]
pub(crate) struct EncodedRun<'a> {
    run: &'a Run,
    data: &'a dyn DataSet,
    /// Which images of the data.
    indices: Vec<usize>,
    posteriors: Posteriors,
    divergences: Vec<(Unit, f64)>,
    /// The variance of each continuous unit's mean.
    mean_variances: Vec<f64>,
}

impl<'a> EncodedRun<'a> {
    /// Draws at most `count` images and encodes them; the same images of the same data for every run, so that
    /// runs can be compared.
    ///
    /// # Errors
    /// If the images are of another size than those of the run, or cannot be read.
    pub(crate) fn new(
        run: &'a Run,
        data: &'a dyn DataSet,
        count: usize,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let mut generator = Stream::new(0, "report images").at(0).generator();
        let indices = sampling::distinct(data.len(), &mut generator, count);
        let posteriors = run.encode_data(data, &indices, noise(), progress)?;
        let divergences = sorted(run.layout().units().zip(run.divergences(&posteriors, 0)).collect());
        let mean_variances = posteriors.mean_variances();
        Ok(Self { run, data, indices, posteriors, divergences, mean_variances })
    }

    /// The run.
    pub(crate) fn run(&self) -> &'a Run {
        self.run
    }

    /// The data.
    pub(crate) fn data(&self) -> &'a dyn DataSet {
        self.data
    }

    /// Which columns of a row of latent values belong to which unit.
    pub(crate) fn layout(&self) -> &'a Layout {
        self.run.layout()
    }

    /// How many images were encoded.
    pub(crate) fn count(&self) -> usize {
        self.indices.len()
    }

    /// How many images were encoded, at most `most`, in words: "10,000 images", or "1,797 rows" of a table.
    pub(crate) fn counted(&self, most: usize) -> String {
        let points = if self.run.features().is_some() { "rows" } else { "images" };
        format!("{} {points}", thousands(self.count().min(most)))
    }

    /// All units with their KL divergence KL(q(z_i|x) || p(z_i)), mean over the images, in nats; the largest first.
    pub(crate) fn by_divergence(&self) -> &[(Unit, f64)] {
        &self.divergences
    }

    /// The continuous units, those with the largest divergence first.
    pub(crate) fn continuous_by_divergence(&self) -> impl Iterator<Item = usize> {
        self.divergences.iter().filter_map(|(unit, _)| match unit {
            Unit::Continuous(unit) => Some(*unit),
            Unit::Categorical(_) => None,
        })
    }

    /// Where the first images are in the data.
    pub(crate) fn indices(&self, count: usize) -> &[usize] {
        &self.indices[..count.min(self.indices.len())]
    }

    /// The first images, `[count, height, width, channels]`.
    ///
    /// # Errors
    /// If one cannot be read.
    pub(crate) fn images(&self, count: usize) -> Result<Array4<f32>> {
        let places: Vec<usize> = (0..count.min(self.indices.len())).collect();
        self.images_at(&places)
    }

    /// The images at these places among those that were encoded, `[places, height, width, channels]`.
    ///
    /// # Errors
    /// If one cannot be read.
    pub(crate) fn images_at(&self, places: &[usize]) -> Result<Array4<f32>> {
        let ImageShape { height, width, channels } = self.data.shape();
        let mut images = Array4::zeros((places.len(), height, width, channels));
        let each = self.data.shape().values();
        let indices = places.iter().map(|&place| self.indices[place]);
        for (index, pixels) in
            indices.zip(images.as_slice_mut().into_iter().flat_map(|all| all.chunks_exact_mut(each)))
        {
            self.data.write_image(index, noise().at(0).lane(index as u64), pixels)?;
        }
        Ok(images)
    }

    /// The first rows of a table, `[count, columns]`, in its own units.
    ///
    /// # Errors
    /// If one cannot be read.
    pub(crate) fn rows(&self, count: usize) -> Result<Array2<f64>> {
        let indices = self.indices(count);
        let mut rows = Array2::zeros((indices.len(), self.data.shape().values()));
        for (&index, mut row) in indices.iter().zip(rows.rows_mut()) {
            let values = row.as_slice_mut().expect("rows of a new matrix are contiguous");
            self.data.write_row(index, noise().at(0).lane(index as u64), values)?;
        }
        Ok(rows)
    }

    /// The mean of the first images as one image, and how many these are; read in parts, since thousands of
    /// large images need not fit in memory at once.
    ///
    /// # Errors
    /// If one cannot be read.
    pub(crate) fn mean_image(&self, count: usize) -> Result<(Array4<f32>, usize)> {
        let ImageShape { height, width, channels } = self.data.shape();
        let indices = self.indices(count);
        let mut sums = vec![0.0_f64; self.data.shape().values()];
        let mut pixels = vec![0.0; sums.len()];
        for &index in indices {
            self.data.write_image(index, noise().at(0).lane(index as u64), &mut pixels)?;
            sums.iter_mut().zip(&pixels).for_each(|(sum, &pixel)| *sum += f64::from(pixel));
        }
        let count = indices.len().max(1) as f64;
        let mean = Array4::from_shape_fn((1, height, width, channels), |(_, row, column, channel)| {
            (sums[(row * width + column) * channels + channel] / count) as f32
        });
        Ok((mean, indices.len()))
    }

    /// The codes of the first images: rows of latent values that can be decoded.
    pub(crate) fn codes(&self, count: usize) -> Array2<f32> {
        let first = (..count.min(self.indices.len())).into();
        self.run.latents_of(&self.posteriors).slice_axis(Axis(0), first).to_owned()
    }

    /// The means of q(z_i|x), one for each image.
    pub(crate) fn means(&self, unit: usize) -> Vec<f64> {
        self.posteriors.mean.column(unit).iter().map(|&mean| f64::from(mean)).collect()
    }

    /// The standard deviations of q(z_i|x), one for each image.
    pub(crate) fn deviations(&self, unit: usize) -> Vec<f64> {
        self.posteriors.log_variance.column(unit).iter().map(|&log| (0.5 * f64::from(log)).exp()).collect()
    }

    /// Samples of the aggregate posterior q(z_i): one of each image's posterior.
    pub(crate) fn aggregate(&self, unit: usize) -> Vec<f64> {
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
    pub(crate) fn posteriors(&self) -> &Posteriors {
        &self.posteriors
    }

    /// Whether the mean of a unit varies over the data.
    pub(crate) fn is_active(&self, unit: usize) -> bool {
        self.mean_variances[unit] > ACTIVE
    }

    /// The values of a factor, one for each image.
    pub(crate) fn factor(&self, position: usize) -> Vec<f64> {
        let mut row = vec![0; self.data.factors().map_or(0, FactorSpace::len)];
        let value = |&index: &usize| {
            self.data.factors_of(index, &mut row);
            f64::from(row[position])
        };
        self.indices.iter().map(value).collect()
    }

    /// The prior's density of two continuous units at some points.
    pub(crate) fn prior_densities_of_plane(&self, points: &[[f64; 2]]) -> Vec<f64> {
        self.run.joint_prior_densities(&ArrayView2::from(points))
    }
}

/// Noise of stochastic data sets: always the same for an image.
fn noise() -> Stream {
    Stream::new(0, "report noise")
}

/// The largest first; equal ones stay in order.
fn sorted(mut units: Vec<(Unit, f64)>) -> Vec<(Unit, f64)> {
    units.sort_by(|a, b| b.1.total_cmp(&a.1));
    units
}

#[cfg(test)]
mod tests {
    use super::*;
    use unbraid::data::progress::Silent;

    #[test]
    fn units_with_the_largest_divergence_come_first() {
        let units = [(0, 0.1), (1, 2.0), (2, 0.1), (3, 1.5)];
        let order = sorted(units.map(|(unit, kl)| (Unit::Continuous(unit), kl)).to_vec());
        let order: Vec<Unit> = order.into_iter().map(|(unit, _)| unit).collect();
        assert_eq!(order, [1, 3, 0, 2].map(Unit::Continuous));
    }
    /// The density of the standard normal distribution is exp(-z^2 / 2) / sqrt(2 pi) for each unit, and the
    /// product of these for both.
    #[test]
    fn densities_are_those_of_the_prior() {
        use std::f64::consts::PI;
        let directory = tempfile::tempdir().unwrap();
        let run = crate::testing::tiny_run(&directory, "run", &["evaluation.after_training=false"]);
        let density = |z: f64| (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
        let close = |found: &[f64], expected: &[f64]| {
            found.len() == expected.len()
                && found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6)
        };
        let values = [-2.0, 0.0, 1.5];
        for unit in 0..2 {
            assert!(close(&run.prior_densities(unit, &values), &values.map(density)));
        }
        let data = run.open_data(&Silent).unwrap().data;
        let encoded = EncodedRun::new(&run, data.as_ref(), 3, &Silent).unwrap();
        let points = [[0.0, 0.0], [1.0, -2.0]];
        let expected = points.map(|[a, b]| density(a) * density(b));
        assert!(close(&encoded.prior_densities_of_plane(&points), &expected));
        assert_eq!((encoded.images(9).unwrap().dim().0, encoded.codes(2).dim()), (3, (2, 5)));
        let images = encoded.images(2).unwrap();
        let (mean, count) = encoded.mean_image(2).unwrap();
        assert_eq!(count, 2);
        for (place, found) in mean.indexed_iter() {
            let (_, row, column, channel) = place;
            let both = images[[0, row, column, channel]] + images[[1, row, column, channel]];
            assert_eq!(*found, both / 2.0);
        }
    }
}
