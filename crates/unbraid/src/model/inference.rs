//! A trained network at work on any number of images: in batches, on all threads, within bounded memory.
//!
//! Every pass through the network has the same number of images, the last one filled up with black ones. A matrix product
//! may round differently for another number of rows; with equal passes the result for an image depends on that image
//! alone, not on its neighbours, its place, or how many threads there are.

use super::{Blueprint, Categorical, Network, Pass};
use burn::tensor::{Tensor, TensorData};
use ndarray::{Array2, Array4, ArrayRef, Axis, Ix2, concatenate};
use std::sync::{Mutex, PoisonError};
use unbraid_data::ImageShape;
use unbraid_data::progress::Progress;

/// Images of one pass, where memory allows. Passes of 16 to 128 images take the same time for each image within a tenth;
/// smaller ones pay for reordering the weights (docs/performance.md).
const IMAGES: usize = 64;

/// Floats of the largest layer that one pass may have: 16 MB, so that large images do not multiply.
const LARGEST_LAYER: usize = 4 << 20;

/// q(z|x) of some images, one row for each.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Posteriors {
    /// Means, `[images, units]`.
    pub mean: Array2<f32>,
    /// Logarithms of the variances, `[images, units]`.
    pub log_variance: Array2<f32>,
    /// Class probabilities of each categorical unit, `[images, classes]`.
    pub probabilities: Vec<Array2<f32>>,
}

impl Posteriors {
    /// The most likely class of each categorical unit, `[images, categorical units]`; of equals, the first.
    pub fn classes(&self) -> Array2<usize> {
        Array2::from_shape_fn((self.mean.nrows(), self.probabilities.len()), |(image, unit)| {
            let row = self.probabilities[unit].row(image);
            (1..row.len()).fold(0, |best, class| if row[class] > row[best] { class } else { best })
        })
    }

    /// What stands for each image: the means, then each categorical unit with a one for its most likely class and zeros
    /// for the others, `[images, width]` as a decoder takes it.
    pub fn mode(&self) -> Array2<f32> {
        let classes = self.classes();
        let one_hot = self.probabilities.iter().zip(classes.columns()).map(|(probabilities, classes)| {
            Array2::from_shape_fn(probabilities.dim(), |(image, class)| {
                f32::from(u8::from(class == classes[image]))
            })
        });
        let parts: Vec<Array2<f32>> = [self.mean.clone()].into_iter().chain(one_hot).collect();
        let views: Vec<_> = parts.iter().map(|part| part.view()).collect();
        concatenate(Axis(1), &views).expect("a row for each image")
    }
}

/// A network that only computes.
#[derive(Debug)]
pub struct Inference {
    network: Network,
    images: usize,
}

impl Inference {
    /// Of a network on a device without automatic differentiation.
    pub fn new(network: Network) -> Self {
        let largest = network.blueprint().largest_layer().max(1);
        let images = (LARGEST_LAYER / largest).clamp(1, IMAGES);
        Self { network, images }
    }

    /// The network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The posteriors of `count` images; `write` writes the pixels of the one it is asked for. It is called from all
    /// threads, so that making images goes on beside the arithmetic.
    ///
    /// # Errors
    /// The first that `write` gives.
    pub fn encode<E: Send>(
        &self,
        count: usize,
        write: impl Fn(usize, &mut [f32]) -> Result<(), E> + Sync,
        progress: &dyn Progress,
    ) -> Result<Posteriors, E> {
        let Blueprint { images: shape, units, categorical, .. } = self.network.blueprint();
        let mut posteriors = Posteriors {
            mean: Array2::zeros((count, *units)),
            log_variance: Array2::zeros((count, *units)),
            probabilities: categorical.iter().map(|&classes| Array2::zeros((count, classes))).collect(),
        };
        let Posteriors { mean, log_variance, probabilities } = &mut posteriors;
        let arrays = [mean, log_variance].into_iter().chain(probabilities);
        let batches =
            side_by_side(arrays.filter(|array| array.ncols() > 0).map(|array| rows_of(array, self.images)));
        share_out(batches.enumerate(), |(batch, targets)| {
            let first = batch * self.images;
            let present = self.images.min(count - first);
            let mut pixels = vec![0.0; self.images * shape.values()];
            for (place, image) in pixels.chunks_exact_mut(shape.values()).take(present).enumerate() {
                write(first + place, image)?;
            }
            let dimensions = [self.images, shape.height, shape.width, shape.channels];
            let images = Tensor::from_data(TensorData::new(pixels, dimensions), self.network.device());
            let posterior = self.network.encode(images, &mut Pass::Inference);
            let continuous = [posterior.continuous.mean, posterior.continuous.log_variance];
            let categorical = posterior.categorical.iter().map(Categorical::probabilities);
            let found = continuous.into_iter().chain(categorical).filter(|tensor| tensor.dims()[1] > 0);
            found.zip(targets).for_each(|(tensor, target)| copy(tensor, target));
            progress.advance(present as u64);
            Ok(())
        })?;
        Ok(posteriors)
    }

    /// The expected images of latent values `[images, width]`, as `[images, height, width, channels]`.
    ///
    /// # Panics
    /// If there are not as many columns as the decoder takes values.
    pub fn decode(&self, latents: &ArrayRef<f32, Ix2>) -> Array4<f32> {
        let (latent_width, shape) =
            (self.network.blueprint().latent_width(), self.network.blueprint().images);
        assert_eq!(latents.ncols(), latent_width, "one column for each value that the decoder takes");
        let ImageShape { height, width, channels } = shape;
        let mut images = Array4::zeros((latents.nrows(), height, width, channels));
        let pixels =
            images.as_slice_mut().into_iter().flat_map(|all| all.chunks_mut(self.images * shape.values()));
        let done = share_out(pixels.enumerate(), |(batch, pixels)| {
            let present = pixels.len() / shape.values();
            let mut values = Vec::with_capacity(self.images * latent_width);
            values.extend((0..present).flat_map(|place| latents.row(batch * self.images + place)));
            values.resize(self.images * latent_width, 0.0);
            let values = Tensor::from_data(
                TensorData::new(values, [self.images, latent_width]),
                self.network.device(),
            );
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

/// The next of each of several sequences, until one of them ends.
fn side_by_side<T, I: Iterator<Item = T>>(
    sequences: impl Iterator<Item = I>,
) -> impl Iterator<Item = Vec<T>> {
    let mut sequences: Vec<I> = sequences.collect();
    std::iter::from_fn(move || sequences.iter_mut().map(Iterator::next).collect())
}

/// The rows of a matrix, some at a time.
fn rows_of(matrix: &mut Array2<f32>, rows: usize) -> impl Iterator<Item = &mut [f32]> + Send {
    let values = rows * matrix.ncols();
    // A fresh matrix lies in order.
    matrix.as_slice_mut().into_iter().flat_map(move |all| all.chunks_mut(values))
}

/// The first values of a tensor.
fn copy<const D: usize>(tensor: Tensor<D>, target: &mut [f32]) {
    let values: Vec<f32> = tensor.into_data().try_into_vec().expect("all tensors are in single precision");
    target.copy_from_slice(&values[..target.len()]);
}

/// Does all jobs; each thread of the pool takes the next one when it is done with its last, so that there are never more
/// in memory than threads. After an error no further job begins.
fn share_out<J, E: Send>(
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
                // Whatever the threads: the error of the first job that fails is the one to report.
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
