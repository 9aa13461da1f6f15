//! A run opened for use: its configuration, and network and prior with the weights of one of its checkpoints.

use super::checkpoint::{self, Weights};
use super::directory::read_config;
use super::features;
use super::names::UnitNames;
use super::paths::RunPaths;
use crate::config::{Config, Latent};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::model::{
    Blueprint, DiagonalGaussian, Inference, Layout, Network, Posteriors, StateTensor, Unit, check_shapes,
};
use crate::prior::{Prior, PriorFamily};
use burn::tensor::{Tensor, TensorData};
use ndarray::{Array2, Array4, ArrayRef, ArrayView2, ArrayViewMut3, Axis, Ix2, Ix4};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use std::path::Path;
use unbraid_data::progress::{Progress, Silent};
use unbraid_data::random::Stream;
use unbraid_data::{DataSet, Features, ImageShape, Standardised};

/// A trained model, which maps images to latent units and back.
///
/// Work is done on the threads of the current rayon pool, in batches of a size that does not depend on the number of
/// images; each result depends only on its own image or latent values. The directory is only read, so that a run can be
/// opened while it is still training.
///
/// A run that was trained on a [table](Run::features) takes and gives vectors in the units of the table, as images of
/// one row: standardising is internal to it.
///
/// ```no_run
/// use ndarray::Array4;
/// use unbraid::Run;
///
/// let run = Run::open("runs/shapes-beta-vae-seed0")?;
/// let images = Array4::zeros((2, 64, 64, 1)); // values from 0 to 1
/// let posteriors = run.encode(&images)?;
/// println!("{} {}", posteriors.mean, posteriors.log_variance);
/// let reconstructions = run.decode(&run.latents_of(&posteriors))?;
/// assert_eq!(reconstructions.dim(), images.dim());
/// # Ok::<(), unbraid::Error>(())
/// ```
///
/// A clone shares the weights.
#[derive(Clone, Debug)]
pub struct Run {
    paths: RunPaths,
    config: Config,
    step: u64,
    inference: Inference,
    prior: Prior,
    names: UnitNames,
    features: Option<Features>,
}

/// More values than any image has.
const LARGEST_IMAGE: usize = 1 << 32;

/// How to open a run.
#[derive(Debug, Default)]
pub struct OpenOptions {
    /// The step of the checkpoint; the last one if `None`, or the best one of a run that keeps it.
    pub step: Option<u64>,
    /// The device to compute on.
    pub device: Device,
    /// The prior of a run that was trained with the caller's own.
    pub prior: Option<Box<dyn PriorFamily>>,
}

impl Run {
    /// Opens a run directory on the CPU with the weights of its last checkpoint, finished or not; with
    /// `training.keep_best` those with the lowest loss on held-out images.
    ///
    /// # Errors
    /// If there is no run or no checkpoint yet, or the weights do not match the configured model.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, OpenOptions::default())
    }

    /// Opens a run directory at an earlier checkpoint, on a device other than the CPU, or with a prior that is not part
    /// of its configuration.
    ///
    /// # Errors
    /// As [`Run::open`]; if there is no checkpoint of the step, the message lists those that were kept.
    pub fn open_with(path: impl AsRef<Path>, options: OpenOptions) -> Result<Self> {
        let paths = RunPaths::new(path.as_ref());
        if !paths.config().is_file() {
            let found = match paths.root() {
                root if root.is_dir() => "no config.toml in it",
                root if root.exists() => "it is a file",
                _ => "no such directory",
            };
            return Err(Error::NotARun { path: paths.root().to_owned(), found });
        }
        let config = read_config(&paths)?;
        let OpenOptions { step, device, prior } = options;
        let device = device.tensor_device();
        let file = checkpoint::find_weights(&paths, step, config.training.keep_best)?;
        let Weights { step, images: [height, width, channels], state } =
            checkpoint::read_weights(&file, &config)?;
        let shape = ImageShape::new(height, width, channels);
        let foreign = |error| Error::Checkpoint { path: file.clone(), source: Box::new(error) };
        check_weights(&config, shape, &state).map_err(foreign)?;
        let units = config.model.latents.continuous;
        let mut prior = match prior {
            Some(family) => Prior::from_family(family, units, &device),
            None => Prior::new(&config.model.prior, units, None, &device).map_err(foreign)?,
        };
        let state = prior.set_state(state).map_err(foreign)?;
        let mut network = Network::new(&config.model, shape, config.seed, &device).map_err(foreign)?;
        network.set_state(state).map_err(foreign)?;
        let names = UnitNames::read(&paths.units(), &network.blueprint().layout)?;
        let features = features::read(&paths)?;
        if let Some(features) = features.as_ref().filter(|features| features.len() != shape.values()) {
            return Err(foreign(Error::TensorMismatch {
                tensor: "features.json".to_owned(),
                found: format!("{} columns", features.len()),
                expected: format!("{}, as many as the weights have", shape.values()),
            }));
        }
        Ok(Self { paths, config, step, inference: Inference::new(network), prior, names, features })
    }

    /// The run directory.
    pub fn path(&self) -> &Path {
        self.paths.root()
    }

    /// Where its files are.
    pub fn paths(&self) -> &RunPaths {
        &self.paths
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Training steps of the weights.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// The size of its images.
    pub fn image_shape(&self) -> ImageShape {
        self.inference.network().blueprint().image_shape
    }

    /// The number of continuous latent units.
    pub fn units(&self) -> usize {
        self.layout().continuous()
    }

    /// Whether the objective decodes means, so that the posterior has no width: the encoder's log-variances
    /// were not trained.
    pub(crate) fn decodes_means(&self) -> bool {
        self.config().objective.latent() == Latent::Mean
    }

    /// The number of classes of each categorical latent unit.
    pub fn categorical_units(&self) -> &[usize] {
        self.layout().categorical()
    }

    /// The names given to its latent units.
    pub fn names(&self) -> &UnitNames {
        &self.names
    }

    pub(super) fn set_names(&mut self, names: UnitNames) {
        self.names = names;
    }

    /// The columns of the table that it was trained on, and how they are standardised; `None` for images.
    pub fn features(&self) -> Option<&Features> {
        self.features.as_ref()
    }

    /// A data set as the network sees it.
    pub(crate) fn standardised<'a>(&'a self, data: &'a dyn DataSet) -> Standardised<'a> {
        Standardised::new(data, self.features())
    }

    /// The network itself.
    pub fn network(&self) -> &Network {
        self.inference.network()
    }

    /// The distribution of its continuous latent units.
    pub fn prior(&self) -> &Prior {
        &self.prior
    }

    /// q(z|x) of images `[images, height, width, channels]` with values from 0 to 1.
    ///
    /// # Errors
    /// If the images do not have the size of the run's.
    pub fn encode(&self, images: &ArrayRef<f32, Ix4>) -> Result<Posteriors> {
        let (count, height, width, channels) = images.dim();
        self.check_image_shape("images", ImageShape::new(height, width, channels))?;
        let copy = |image: usize, pixels: &mut [f32]| {
            ArrayViewMut3::from_shape((height, width, channels), pixels)
                .expect("the network asks for pixels of one image")
                .assign(&images.index_axis(Axis(0), image));
            if let Some(features) = &self.features {
                in_doubles(pixels, |values| features.standardise(values));
            }
            Ok(())
        };
        self.inference.encode(count, copy, &Silent)
    }

    /// q(z|x) of some images of a data set, in the order of `indices`. If the data set adds noise, that of image `i`
    /// comes from lane `i` of `noise`.
    ///
    /// # Errors
    /// If the images do not have the size of the run's, or cannot be read.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn encode_data(
        &self,
        data: &dyn DataSet,
        indices: &[usize],
        noise: Stream,
        progress: &dyn Progress,
    ) -> Result<Posteriors> {
        self.check_data(data)?;
        let data = self.standardised(data);
        progress.start("encoding", indices.len() as u64);
        let position = noise.at(0);
        let posteriors = self.inference.encode(
            indices.len(),
            |place, pixels| data.write_image(indices[place], position.lane(indices[place] as u64), pixels),
            progress,
        );
        progress.finish();
        Ok(posteriors?)
    }

    /// The latent values of posteriors as the decoder takes them: the means of the continuous units, then the most
    /// likely class of each categorical unit as a one-hot row.
    pub fn latents_of(&self, posteriors: &Posteriors) -> Array2<f32> {
        let Posteriors { mean, categories, .. } = posteriors;
        let mut latents = Array2::zeros((mean.nrows(), self.layout().width()));
        latents.slice_axis_mut(Axis(1), self.layout().continuous_columns().into()).assign(mean);
        for (mut row, classes) in latents.rows_mut().into_iter().zip(categories.rows()) {
            for (unit, &class) in classes.iter().enumerate() {
                row[self.layout().class_column(unit, class as usize)] = 1.0;
            }
        }
        latents
    }

    /// The expected images of latent values `[images, width]`, as `[images, height, width, channels]`. A row has one
    /// value for each continuous unit, followed by one for each class of each categorical unit.
    ///
    /// # Errors
    /// If the number of columns is wrong.
    pub fn decode(&self, latents: &ArrayRef<f32, Ix2>) -> Result<Array4<f32>> {
        self.check_latents(latents)?;
        let mut images = self.inference.decode(latents);
        if let (Some(features), Some(pixels)) = (&self.features, images.as_slice_mut()) {
            in_doubles(pixels, |values| features.restore(values));
        }
        Ok(images)
    }

    /// As [`Run::decode`], with a row of values for each image and in double precision: the values of a table
    /// may be large compared with their spread.
    ///
    /// # Errors
    /// As [`Run::decode`].
    pub fn decode_rows(&self, latents: &ArrayRef<f32, Ix2>) -> Result<Array2<f64>> {
        let mut rows = self.decode_standardised(latents)?.mapv(f64::from);
        if let (Some(features), Some(values)) = (&self.features, rows.as_slice_mut()) {
            features.restore(values);
        }
        Ok(rows)
    }

    /// As [`Run::decode`], with a row of values for each image as the network gives them: in standard
    /// deviations from the mean, if they are those of a table.
    ///
    /// # Errors
    /// As [`Run::decode`].
    pub fn decode_standardised(&self, latents: &ArrayRef<f32, Ix2>) -> Result<Array2<f32>> {
        let (rows, values) = (latents.nrows(), self.image_shape().values());
        self.check_latents(latents)?;
        let images = self.inference.decode(latents);
        Ok(images
            .into_shape_with_order((rows, values))
            .expect("an image has as many values as its shape says"))
    }

    fn check_latents(&self, latents: &ArrayRef<f32, Ix2>) -> Result {
        let (found, expected) = (latents.ncols(), self.layout().width());
        if found == expected {
            return Ok(());
        }
        Err(Error::LatentColumns { found, expected, run: self.path().to_owned() })
    }

    /// Reconstructions of images: each is encoded, and the [latent values](Run::latents_of) of its posterior
    /// are decoded.
    ///
    /// # Errors
    /// As [`Run::encode`].
    pub fn reconstruct(&self, images: &ArrayRef<f32, Ix4>) -> Result<Array4<f32>> {
        self.decode(&self.latents_of(&self.encode(images)?))
    }

    /// KL(q(z_i|x) || p(z_i)) of each unit in nats, mean over the images: continuous units first, then the categorical
    /// ones. In closed form if there is one; otherwise estimated from one sample of each posterior, drawn with `seed`.
    /// A posterior that is not Gaussian is treated as a Gaussian with the same moments.
    pub fn divergences(&self, posteriors: &Posteriors, seed: u64) -> Vec<f64> {
        let (images, units) = posteriors.mean.dim();
        let mut divergences = vec![0.0; units];
        for row in divergence_of_images(&self.prior, &posteriors.mean, &posteriors.log_variance, seed).rows()
        {
            divergences.iter_mut().zip(row).for_each(|(sum, value)| *sum += f64::from(*value));
        }
        divergences.iter_mut().for_each(|sum| *sum /= images.max(1) as f64);
        for (unit, &classes) in self.categorical_units().iter().enumerate() {
            let own =
                posteriors.probabilities.slice_axis(Axis(1), self.layout().probability_columns(unit).into());
            // ln d + sum_k alpha_k ln alpha_k, where 0 ln 0 is 0.
            let negative_entropy = |&share: &f32| match f64::from(share) {
                share if share > 0.0 => share * share.ln(),
                _ => 0.0,
            };
            let sum: f64 = own.iter().map(negative_entropy).sum();
            divergences.push((classes as f64).ln() + sum / images.max(1) as f64);
        }
        divergences
    }

    /// Latent values drawn from the prior, `[count, width]`; row `i` depends on the seed and `i` only. The classes of a
    /// categorical unit are equally likely.
    pub fn draw_latents(&self, count: usize, seed: u64) -> Array2<f32> {
        let units = self.units();
        let mut latents = Array2::zeros((count, self.layout().width()));
        if units > 0 {
            // A prior draws its samples row by row, so that a longer sample begins with a shorter one.
            let sample = self.prior.sample(Stream::new(seed, "samples from the prior").at(0), count);
            let values = floats(sample);
            let sample = ArrayView2::from_shape((count, units), &values).expect("one value for each unit");
            latents.slice_axis_mut(Axis(1), self.layout().continuous_columns().into()).assign(&sample);
        }
        let classes_of_rows = Stream::new(seed, "classes from the prior").at(0);
        for (row, mut values) in latents.rows_mut().into_iter().enumerate() {
            let mut generator = classes_of_rows.lane(row as u64).generator();
            for (unit, &classes) in self.categorical_units().iter().enumerate() {
                values[self.layout().class_column(unit, generator.random_range(0..classes))] = 1.0;
            }
        }
        latents
    }

    /// The expected images of [`Run::draw_latents`].
    ///
    /// # Errors
    /// Never for a run that could be opened.
    pub fn sample(&self, count: usize, seed: u64) -> Result<Array4<f32>> {
        self.decode(&self.draw_latents(count, seed))
    }

    /// Which columns of latent values belong to which unit.
    pub fn layout(&self) -> &Layout {
        &self.network().blueprint().layout
    }

    /// Checks that the run has this unit.
    ///
    /// # Errors
    /// [`Error::NoSuchUnit`].
    pub(crate) fn check_unit(&self, unit: Unit) -> Result {
        let (number, count) = match unit {
            Unit::Continuous(number) => (number, self.units()),
            Unit::Categorical(number) => (number, self.categorical_units().len()),
        };
        if number < count {
            return Ok(());
        }
        Err(Error::NoSuchUnit { unit, count, run: self.path().to_owned() })
    }

    /// Checks that the run has this categorical unit and the unit this class.
    ///
    /// # Errors
    /// [`Error::NoSuchUnit`] and [`Error::NoSuchClass`].
    pub(crate) fn check_class(&self, unit: usize, class: usize) -> Result {
        self.check_unit(Unit::Categorical(unit))?;
        let classes = self.categorical_units()[unit];
        if class < classes { Ok(()) } else { Err(Error::NoSuchClass { unit, class, classes }) }
    }

    /// Checks that a data set has images of the run's size, or the columns of its table.
    ///
    /// # Errors
    /// [`Error::ImageShape`] and [`Error::Columns`].
    pub(crate) fn check_data(&self, data: &dyn DataSet) -> Result {
        if let (Some(features), Some(columns)) = (&self.features, data.columns())
            && !features.names().eq(columns.iter().map(String::as_str))
        {
            let missing = features.names().find(|name| !columns.iter().any(|column| column == name));
            return Err(Error::Columns {
                subject: data.name().to_owned(),
                found: match missing {
                    Some(name) => format!("no column `{name}`"),
                    None => format!("{} columns in another order", columns.len()),
                },
                expected: features.len(),
                run: self.path().to_owned(),
            });
        }
        self.check_image_shape(data.name(), data.shape())
    }

    /// Checks that images of this shape fit the run; `subject` says where they come from.
    ///
    /// # Errors
    /// [`Error::ImageShape`].
    pub(crate) fn check_image_shape(&self, subject: &str, found: ImageShape) -> Result {
        let expected = self.image_shape();
        if found == expected {
            return Ok(());
        }
        Err(Error::ImageShape { subject: subject.to_owned(), found, expected, run: self.path().to_owned() })
    }
}

/// Compares what the metadata of a checkpoint and the configuration say with the tensors that are there, before a
/// network of that size is allocated.
fn check_weights(config: &Config, shape: ImageShape, state: &[StateTensor]) -> Result {
    let sizes = [shape.height, shape.width, shape.channels];
    let values = sizes.iter().try_fold(1_usize, |values, size| values.checked_mul(*size));
    if values.is_none_or(|values| values > LARGEST_IMAGE) {
        return Err(Error::TensorMismatch {
            tensor: "the images of its metadata".to_owned(),
            found: format!("{} x {} x {}", shape.height, shape.width, shape.channels),
            expected: format!("at most {LARGEST_IMAGE} values"),
        });
    }
    check_shapes(&Blueprint::new(&config.model, shape)?.weights(), state)
}

/// Changes single values in double precision.
fn in_doubles(values: &mut [f32], change: impl FnOnce(&mut [f64])) {
    let mut doubles: Vec<f64> = values.iter().map(|&value| f64::from(value)).collect();
    change(&mut doubles);
    values.iter_mut().zip(doubles).for_each(|(value, double)| *value = double as f32);
}

/// KL(q(z_i|x) || p(z_i)) of each image and continuous unit in nats, from means and log-variances `[images,
/// units]` of the posteriors; as [`Run::divergences`], without the mean.
pub(crate) fn divergence_of_images(
    prior: &Prior,
    means: &Array2<f32>,
    log_variances: &Array2<f32>,
    seed: u64,
) -> Array2<f32> {
    let (images, units) = means.dim();
    if images == 0 || units == 0 {
        return Array2::zeros((images, units));
    }
    let device = prior.device();
    let tensor = |values: Vec<f32>| Tensor::from_data(TensorData::new(values, [images, units]), device);
    let copied = |array: &Array2<f32>| tensor(array.iter().copied().collect());
    let mut generator = Stream::new(seed, "samples of posteriors").at(0).generator();
    let noise = (0..images * units).map(|_| StandardNormal.sample(&mut generator)).collect();
    let posterior = DiagonalGaussian::new(copied(means), copied(log_variances));
    let sample = posterior.sample(tensor(noise));
    let each = floats(prior.divergence(&posterior, &sample).units);
    Array2::from_shape_vec((images, units), each).expect("one value for each image and unit")
}

/// The values of a tensor.
pub(super) fn floats<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_into_vec().expect("all tensors are in single precision")
}
