//! Inference with a trained network on any number of images: in batches, on all threads, in bounded memory.
//!
//! All batches have the same size, the last one padded with black images. A matrix product may round differently for
//! another number of rows; with equal batches, the result for an image depends on that image alone, not on its
//! neighbours, its position or the number of threads.

use super::upload::upload;
use super::{Categorical, DiagonalGaussian, Network, Pass};
use crate::error::Result;
use burn::tensor::{Tensor, TensorData};
use ndarray::{Array2, Array4, ArrayRef, Axis, Ix2};
use std::sync::{Mutex, PoisonError};
use unbraid_data::ImageShape;
use unbraid_data::progress::Progress;

/// Images per batch, if memory allows. With 16 to 128 images per batch, the time per image is the same within a tenth;
/// smaller batches spend more on reordering the weights (docs/performance.md).
const IMAGES: usize = 64;

/// Limit of the floats in the largest layer of one batch: 16 MB, so that large images do not exhaust memory.
const LARGEST_LAYER: usize = 4 << 20;

/// q(z, c|x) of some images, one row per image. Means and variances of the continuous units are those of
/// [`ContinuousPosterior::moments`](super::ContinuousPosterior::moments): in closed form for Gaussian
/// posteriors, else of 64 draws.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Posteriors {
    /// Means, `[images, units]`.
    pub mean: Array2<f32>,
    /// Logarithms of the variances, `[images, units]`.
    pub log_variance: Array2<f32>,
    /// The most likely class of each categorical unit, `[images, categorical units]`.
    pub categories: Array2<i64>,
    /// The probabilities of all classes of all categorical units, unit by unit, `[images, classes]`.
    pub probabilities: Array2<f32>,
}

impl Posteriors {
    /// The variance of each continuous unit's mean over the images, with their number in the denominator. A
    /// unit is active if it exceeds [`ACTIVE`](crate::evaluate::ACTIVE).
    pub fn mean_variances(&self) -> Vec<f64> {
        self.mean.mapv(f64::from).var_axis(Axis(0), 0.0).into_iter().collect()
    }
}

/// A network used for inference only.
#[derive(Clone, Debug)]
pub struct Inference {
    network: Network,
    images: usize,
}

impl Inference {
    /// From a network on a device without automatic differentiation.
    pub fn new(network: Network) -> Self {
        let largest = network.blueprint().largest_layer().max(1);
        let images = (LARGEST_LAYER / largest).clamp(1, IMAGES);
        Self { network, images }
    }

    /// The network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The posteriors of `count` images; `write` writes the pixels of a given image. It is called from all threads, so
    /// that images are loaded in parallel with inference.
    ///
    /// # Errors
    /// The first error of `write`.
    pub fn encode<E: Send>(
        &self,
        count: usize,
        write: impl Fn(usize, &mut [f32]) -> Result<(), E> + Sync,
        progress: &dyn Progress,
    ) -> Result<Posteriors, E> {
        let blueprint = self.network.blueprint();
        let (units, shape) = (blueprint.layout.continuous(), blueprint.image_shape);
        let mut posteriors = Posteriors {
            mean: Array2::zeros((count, units)),
            log_variance: Array2::zeros((count, units)),
            categories: Array2::zeros((count, blueprint.layout.categorical().len())),
            probabilities: Array2::zeros((count, blueprint.layout.classes())),
        };
        let batches = rows_of(&mut posteriors.mean, self.images)
            .into_iter()
            .zip(rows_of(&mut posteriors.log_variance, self.images))
            .zip(rows_of(&mut posteriors.categories, self.images))
            .zip(rows_of(&mut posteriors.probabilities, self.images))
            .enumerate();
        share_out(batches, |(batch, (((mean, log_variance), categories), probabilities))| {
            let present = self.images.min(count - batch * self.images);
            let mut pixels = vec![0.0; self.images * shape.values()];
            for (place, image) in pixels.chunks_exact_mut(shape.values()).take(present).enumerate() {
                write(batch * self.images + place, image)?;
            }
            let dimensions = [self.images, shape.height, shape.width, shape.channels];
            let images = upload(pixels, dimensions, self.network.device());
            let posterior = self.network.encode(images, &mut Pass::Inference);
            let DiagonalGaussian { mean: means, log_variance: logarithms } = posterior.continuous.moments();
            copy(means, mean);
            copy(logarithms, log_variance);
            let classes: Vec<Vec<usize>> =
                posterior.categorical.iter().map(Categorical::most_likely_classes).collect();
            for (image, row) in categories.chunks_exact_mut(classes.len().max(1)).enumerate() {
                row.iter_mut().zip(&classes).for_each(|(place, unit)| *place = unit[image] as i64);
            }
            if !posterior.categorical.is_empty() {
                let units = posterior.categorical.iter().map(Categorical::probabilities).collect();
                copy(Tensor::cat(units, 1), probabilities);
            }
            progress.advance(present as u64);
            Ok(())
        })?;
        Ok(posteriors)
    }

    /// The expected images of latent values `[images, width]`, as `[images, height, width, channels]`.
    ///
    /// # Panics
    /// If the number of columns is not that of the continuous units plus the classes of the categorical units.
    pub fn decode(&self, latents: &ArrayRef<f32, Ix2>) -> Array4<f32> {
        let (units, shape) = (self.network.blueprint().layout.width(), self.network.blueprint().image_shape);
        assert_eq!(latents.ncols(), units, "one column for each continuous unit and each class");
        let ImageShape { height, width, channels } = shape;
        let mut images = Array4::zeros((latents.nrows(), height, width, channels));
        let pixels =
            images.as_slice_mut().into_iter().flat_map(|all| all.chunks_mut(self.images * shape.values()));
        let done = share_out(pixels.enumerate(), |(batch, pixels)| {
            let present = pixels.len() / shape.values();
            let mut values = Vec::with_capacity(self.images * units);
            values.extend((0..present).flat_map(|place| latents.row(batch * self.images + place)));
            values.resize(self.images * units, 0.0);
            let values =
                Tensor::from_data(TensorData::new(values, [self.images, units]), self.network.device());
            let outputs = self.network.decode(values, &mut Pass::Inference);
            copy(self.network.likelihood().mean(outputs), pixels);
            Ok::<(), std::convert::Infallible>(())
        });
        match done {
            Ok(()) => images,
            Err(never) => match never {},
        }
    }
}

/// Splits a matrix into chunks of rows; gives as many empty chunks if it has no columns.
pub(crate) fn rows_of<T>(matrix: &mut Array2<T>, rows: usize) -> Vec<&mut [T]> {
    let (count, columns) = matrix.dim();
    if columns == 0 {
        return (0..count.div_ceil(rows)).map(|_| Default::default()).collect();
    }
    // A new matrix is contiguous.
    matrix.as_slice_mut().into_iter().flat_map(|all| all.chunks_mut(rows * columns)).collect()
}

/// Copies the first values of a tensor.
fn copy<const D: usize>(tensor: Tensor<D>, target: &mut [f32]) {
    let values: Vec<f32> = tensor.into_data().try_into_vec().expect("all tensors are in single precision");
    target.copy_from_slice(&values[..target.len()]);
}

/// Runs all jobs on the thread pool. Each thread takes the next job when it is done with the last, so that there are
/// never more jobs in memory than threads. After an error no new job starts.
pub(crate) fn share_out<J, E: Send>(
    jobs: impl Iterator<Item = J> + Send,
    work: impl Fn(J) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let jobs = Mutex::new(jobs.enumerate().fuse());
    let failed: Mutex<Option<(usize, E)>> = Mutex::new(None);
    rayon::broadcast(|_| {
        loop {
            let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((number, job)) = job else { return };
            if let Err(error) = work(job) {
                let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                // Report the error of the first failing job, so that the number of threads does not matter.
                if failed.as_ref().is_none_or(|(first, _)| number < *first) {
                    *failed = Some((number, error));
                }
            }
            if failed.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
                return;
            }
        }
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    /// By hand: the means 1, 2 and 6 have the mean 3 and the variance (4 + 1 + 9) / 3; a constant has none.
    #[test]
    fn variances_of_the_means() {
        let posteriors = Posteriors {
            mean: array![[1.0, 0.5], [2.0, 0.5], [6.0, 0.5]],
            log_variance: Array2::zeros((3, 2)),
            categories: Array2::zeros((3, 0)),
            probabilities: Array2::zeros((3, 0)),
        };
        let variances = posteriors.mean_variances();
        assert!((variances[0] - 14.0 / 3.0).abs() < 1e-12 && variances[1] == 0.0, "{variances:?}");
    }
}
