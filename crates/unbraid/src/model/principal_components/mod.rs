//! Principal components of a data set, without loading all its images.
//!
//! Subspace iteration (Halko, Martinsson & Tropp 2011, Algorithm 4.4, with Rayleigh-Ritz values): each pass over the
//! images multiplies a block of directions by the covariance matrix, which is never formed. The cost is linear in
//! images, pixels and components; memory holds the directions and one group of images. All sums are in double precision
//! and in an order that does not depend on the number of threads.

mod independent;
mod orthonormal;
mod probabilistic;

pub use independent::{fast_ica, independent_components};
pub use probabilistic::probabilistic_pca;

use crate::error::Result;
use ndarray::{Array1, Array2, ArrayView2, Axis};
use orthonormal::orthonormalize;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use unbraid_data::random::Stream;
use unbraid_data::sampling::Epochs;
use unbraid_data::{DataError, DataSet};
use unbraid_metrics::linear_algebra::symmetric_eigen;

/// Images per task: 4 MB at 64 x 64 pixels.
const CHUNK: usize = 128;

/// Chunks whose products are held at once; a constant, so that the order of summation is fixed.
const GROUP: usize = 16;

/// Additional directions that speed up convergence.
const SPARE: usize = 10;

/// The maximum number of passes. Directions whose variances cannot be told apart by then span a plane in which any axes
/// are equally good.
const MOST_PASSES: usize = 100;

/// What to compute.
#[derive(Clone, Copy, Debug)]
pub struct Fit {
    /// Number of components; fewer are found if there are fewer images or pixels.
    pub components: usize,
    /// Number of images, drawn at random but always the same ones; all if absent or larger than the data set.
    pub images: Option<usize>,
    /// Relative change of the variances between passes at which to stop.
    pub tolerance: f64,
    /// Whether to subtract the mean image first. Without, the directions are the right singular vectors of
    /// the images as they are, and the "variances" their squared singular values divided by the number of
    /// images.
    pub centred: bool,
}

/// The mean and the directions of largest variance.
#[derive(Clone, Debug)]
pub struct PrincipalComponents {
    /// The mean image; zero if it was not subtracted.
    pub mean: Array1<f64>,
    /// Orthonormal directions, one per row, in order of decreasing variance. The sign is fixed so that the component of
    /// largest magnitude is positive.
    pub directions: Array2<f64>,
    /// Variance along each direction, with the number of images in the denominator.
    pub variances: Vec<f64>,
    /// The sum of the variances of all pixels.
    pub total_variance: f64,
}

impl PrincipalComponents {
    /// The first principal components of a data set.
    ///
    /// # Errors
    /// If an image cannot be read.
    pub fn fit(data: &dyn DataSet, fit: Fit) -> Result<Self, DataError> {
        let images = Images::new(data, fit.images);
        let (mean, total_variance) = images.moments(fit.centred)?;
        let pixels = mean.len();
        let components = fit.components.min(pixels);
        let mut basis = random_directions(pixels, (components + SPARE).min(pixels));
        let mut variances = vec![0.0; components];
        for pass in 1..=MOST_PASSES {
            let product = images.covariance_times(&basis, &mean)?;
            let (found, rotation) = symmetric_eigen(&basis.t().dot(&product));
            // Variances far below the largest are rounding error, which does not converge.
            let floor = (found[0] * 1e-9).max(f64::MIN_POSITIVE);
            let changes = found.iter().zip(&variances).map(|(new, old)| (new - old).abs() / new.max(floor));
            let change = changes.fold(0.0, f64::max);
            variances.copy_from_slice(&found[..components]);
            if change <= fit.tolerance || pass == MOST_PASSES || basis.ncols() == pixels {
                basis = basis.dot(&rotation);
                break;
            }
            basis = orthonormalize(&product.dot(&rotation));
        }
        let directions = basis.columns().into_iter().take(components).flat_map(|column| {
            let largest =
                column.iter().copied().fold(0.0_f64, |most, x| if x.abs() > most.abs() { x } else { most });
            column.iter().map(move |value| value * largest.signum()).collect::<Vec<_>>()
        });
        let directions = Array2::from_shape_vec((components, pixels), directions.collect())
            .expect("as many values as directions and pixels");
        let variances = variances.into_iter().map(|variance| variance.max(0.0)).collect();
        Ok(Self { mean, directions, variances, total_variance })
    }
}

/// The images of a fit, read again in every pass.
struct Images<'a> {
    data: &'a dyn DataSet,
    indices: Vec<usize>,
    noise: Stream,
}

impl<'a> Images<'a> {
    fn new(data: &'a dyn DataSet, most: Option<usize>) -> Self {
        let count = most.map_or(data.len(), |most| most.min(data.len()));
        let mut indices: Vec<usize> = (0..count).collect();
        if count < data.len() {
            // Independent of the run's seed: the same prior for every seed.
            Epochs::new(data.len(), Stream::new(0, "principal components")).batch(0, &mut indices);
            indices.sort_unstable();
        }
        Self { data, indices, noise: Stream::new(0, "pixel noise of principal components") }
    }

    /// Mean image, or zero if images are not to be centred, and the mean squared distance from it.
    fn moments(&self, centred: bool) -> Result<(Array1<f64>, f64), DataError> {
        let count = self.indices.len() as f64;
        let mut mean = Array1::<f64>::zeros(self.data.shape().values());
        if centred {
            self.sum(|chunk| chunk.sum_axis(Axis(0)), |part| mean += &part)?;
            mean /= count;
        }
        let mut total = 0.0;
        self.sum(
            |chunk| chunk.outer_iter().map(|image| squared_distance(image.iter(), &mean)).sum::<f64>(),
            |part| total += part,
        )?;
        Ok((mean, total / count))
    }

    /// The covariance matrix times a block of columns.
    fn covariance_times(&self, block: &Array2<f64>, mean: &Array1<f64>) -> Result<Array2<f64>, DataError> {
        let mut product = Array2::<f64>::zeros(block.raw_dim());
        let times = |chunk: ArrayView2<'_, f64>| {
            let centred = &chunk - mean;
            centred.t().dot(&centred.dot(block))
        };
        self.sum(times, |part| product += &part)?;
        Ok(product / self.indices.len() as f64)
    }

    /// Maps every chunk of images in parallel and passes the results on in order.
    fn sum<T: Send>(
        &self,
        part: impl Fn(ArrayView2<'_, f64>) -> T + Sync,
        mut add: impl FnMut(T),
    ) -> Result<(), DataError> {
        let chunks: Vec<(usize, &[usize])> = self.indices.chunks(CHUNK).enumerate().collect();
        for group in chunks.chunks(GROUP) {
            let parts: Result<Vec<T>, DataError> = group
                .par_iter()
                .map(|(place, indices)| Ok(part(self.read(*place, indices)?.view())))
                .collect();
            parts?.into_iter().for_each(&mut add);
        }
        Ok(())
    }

    fn read(&self, place: usize, indices: &[usize]) -> Result<Array2<f64>, DataError> {
        let pixels = self.data.shape().values();
        let mut values = vec![0.0_f32; indices.len() * pixels];
        self.data.write_batch(indices, self.noise.at(place as u64), &mut values)?;
        let values = values.into_iter().map(f64::from).collect();
        Ok(Array2::from_shape_vec((indices.len(), pixels), values)
            .expect("as many values as images and pixels"))
    }
}

fn squared_distance<'a>(image: impl Iterator<Item = &'a f64>, mean: &Array1<f64>) -> f64 {
    image.zip(mean).map(|(value, mean)| (value - mean).powi(2)).sum()
}

fn random_directions(pixels: usize, count: usize) -> Array2<f64> {
    let mut generator = Stream::new(0, "first directions of principal components").at(0).generator();
    orthonormalize(&Array2::from_shape_simple_fn((pixels, count), || StandardNormal.sample(&mut generator)))
}
