//! A run opened to be used: its configuration and a network with the weights of one of its checkpoints.

use super::checkpoint::{self, Weights};
use super::directory::read_config;
use crate::config::Config;
use crate::failure::{Failure, Outcome};
use crate::model::{Blueprint, Inference, Network, Posteriors};
use crate::prior::Prior;
use burn::tensor::Device;
use ndarray::{Array2, Array4, ArrayRef, ArrayViewMut3, Axis, Ix2, Ix4};
use rand::RngExt;
use std::path::{Path, PathBuf};
use unbraid_data::progress::{Progress, Silent};
use unbraid_data::random::Stream;
use unbraid_data::{DataSet, ImageShape};

/// A trained model: what maps images to latent units and back.
///
/// Work is done on the threads of the current rayon pool, in batches of a size that does not depend on how many images
/// there are; a result depends on nothing but its own image or latent values. The directory is only read, so that a run
/// which is still training can be opened too.
///
/// ```no_run
/// use ndarray::Array4;
/// use unbraid::Run;
///
/// let run = Run::open("runs/shapes-beta-vae-seed0")?;
/// let images = Array4::zeros((2, 64, 64, 1)); // values from 0 to 1
/// let posteriors = run.encode(&images)?;
/// println!("{} {}", posteriors.mean, posteriors.log_variance);
/// let reconstructions = run.decode(&posteriors.mode())?;
/// assert_eq!(reconstructions.dim(), images.dim());
/// # Ok::<(), unbraid::failure::Failure>(())
/// ```
#[derive(Debug)]
pub struct Run {
    path: PathBuf,
    config: Config,
    step: u64,
    prior: Prior,
    inference: Inference,
}

impl Run {
    /// Opens a run directory with the weights of its last checkpoint, finished or not.
    ///
    /// # Errors
    /// If there is no run, or no checkpoint yet, or its weights are not those of the configured model.
    pub fn open(path: impl AsRef<Path>) -> Outcome<Self> {
        Self::open_on(path, None, &Device::flex())
    }

    /// Opens it with the weights that were kept after this step, `checkpoints/step-*.safetensors`.
    ///
    /// # Errors
    /// As [`Run::open`]; if no checkpoint of this step was kept, the message lists those that were.
    pub fn open_at_step(path: impl AsRef<Path>, step: u64) -> Outcome<Self> {
        Self::open_on(path, Some(step), &Device::flex())
    }

    /// Opens it to compute on any device, with the weights of a step or the last ones.
    ///
    /// # Errors
    /// As [`Run::open_at_step`].
    pub fn open_on(path: impl AsRef<Path>, step: Option<u64>, device: &Device) -> Outcome<Self> {
        let path = path.as_ref();
        if !path.join("config.toml").is_file() {
            let found = if path.is_dir() { "no config.toml in it" } else { "no such directory" };
            return Err(Failure::input(format!("{}: not a run: {found}", path.display())));
        }
        let config = read_config(&path.join("config.toml"))?;
        let file = checkpoint::find_weights(&path.join("checkpoints"), step)?;
        let Weights { step, images: [height, width, channels], state } =
            checkpoint::read_weights(&file, &config.fingerprint())?;
        let shape = ImageShape::new(height, width, channels);
        let foreign = |error| Failure::Input(anyhow::Error::from(error).context(file.display().to_string()));
        let mut network = Network::new(&config.model, shape, config.seed, device).map_err(foreign)?;
        let units = config.model.latents.continuous;
        let mut prior = Prior::new(&config.model.prior, units, None, device).map_err(foreign)?;
        let state = prior.set_state(state).map_err(foreign)?;
        network.set_state(state).map_err(foreign)?;
        Ok(Self { path: path.to_owned(), config, step, prior, inference: Inference::new(network) })
    }

    /// The run directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Steps of training that the weights have seen.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// The size of its images.
    pub fn image_shape(&self) -> ImageShape {
        self.inference.network().blueprint().images
    }

    /// The number of continuous latent units.
    pub fn units(&self) -> usize {
        self.inference.network().blueprint().units
    }

    /// The number of latent values that make an image: one for each continuous unit and each class of the categorical
    /// ones.
    pub fn latent_width(&self) -> usize {
        self.inference.network().blueprint().latent_width()
    }

    /// The distribution of the continuous units.
    pub fn prior(&self) -> &Prior {
        &self.prior
    }

    /// The network itself.
    pub fn network(&self) -> &Network {
        self.inference.network()
    }

    /// q(z|x) of images `[images, height, width, channels]` with values from 0 to 1.
    ///
    /// # Errors
    /// If the images are of another size than those of the run.
    pub fn encode(&self, images: &ArrayRef<f32, Ix4>) -> Outcome<Posteriors> {
        let (count, height, width, channels) = images.dim();
        self.check_shape("images", ImageShape::new(height, width, channels))?;
        let copy = |image: usize, pixels: &mut [f32]| {
            ArrayViewMut3::from_shape((height, width, channels), pixels)
                .map(|mut pixels| pixels.assign(&images.index_axis(Axis(0), image)))
                .map_err(Failure::run)
        };
        self.inference.encode(count, copy, &Silent)
    }

    /// q(z|x) of some images of a data set, in the order of `indices`. Where images are made with noise, image `i` has
    /// always that of lane `i` of `noise`.
    ///
    /// # Errors
    /// If the images are of another size than those of the run, or cannot be read.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn encode_data(
        &self,
        data: &dyn DataSet,
        indices: &[usize],
        noise: Stream,
        progress: &dyn Progress,
    ) -> Outcome<Posteriors> {
        self.check_shape(data.name(), data.shape())?;
        progress.start("encoding", indices.len() as u64);
        let moment = noise.at(0);
        let posteriors = self.inference.encode(
            indices.len(),
            |place, pixels| data.write_image(indices[place], moment.lane(indices[place] as u64), pixels),
            progress,
        );
        progress.finish();
        Ok(posteriors?)
    }

    /// The expected images of latent values, as `[images, height, width, channels]`. A row has the continuous units and then
    /// the classes of each categorical one, of which one is 1: what [`Posteriors::mode`] gives.
    ///
    /// # Errors
    /// If there are not [`Run::latent_width`] columns.
    pub fn decode(&self, latents: &ArrayRef<f32, Ix2>) -> Outcome<Array4<f32>> {
        if latents.ncols() != self.latent_width() {
            return Err(Failure::input(format!(
                "latent values: found {} columns, expected {}, as many as {} decodes",
                latents.ncols(),
                self.latent_width(),
                self.path.display()
            )));
        }
        Ok(self.inference.decode(latents))
    }

    /// What the model makes of images: each encoded, and the mode of its posterior decoded.
    ///
    /// # Errors
    /// As [`Run::encode`].
    pub fn reconstruct(&self, images: &ArrayRef<f32, Ix4>) -> Outcome<Array4<f32>> {
        self.decode(&self.encode(images)?.mode())
    }

    /// Latent values drawn from the prior, `[count, latent width]`; those of a seed are always the same. Classes of
    /// categorical units are equally likely.
    pub fn draw_latents(&self, count: usize, seed: u64) -> Array2<f32> {
        let Blueprint { units, categorical, .. } = self.network().blueprint();
        let mut latents = Array2::zeros((count, self.latent_width()));
        if *units > 0 && count > 0 {
            let drawn = self.prior.sample(Stream::new(seed, "samples from the prior").at(0), count);
            let drawn: Vec<f32> = drawn.into_data().try_into_vec().expect("samples are in single precision");
            for (mut row, drawn) in latents.rows_mut().into_iter().zip(drawn.chunks_exact(*units)) {
                row.iter_mut().zip(drawn).for_each(|(value, &drawn)| *value = drawn);
            }
        }
        let classes = Stream::new(seed, "classes from the prior").at(0);
        for (number, mut row) in latents.rows_mut().into_iter().enumerate() {
            let mut generator = classes.lane(number as u64).generator();
            let mut start = *units;
            for &classes in categorical {
                row[start + generator.random_range(0..classes)] = 1.0;
                start += classes;
            }
        }
        latents
    }

    /// The expected images of [`Run::draw_latents`].
    ///
    /// # Errors
    /// Never for a run that could be opened.
    pub fn sample(&self, count: usize, seed: u64) -> Outcome<Array4<f32>> {
        self.decode(&self.draw_latents(count, seed))
    }

    fn check_shape(&self, what: &str, found: ImageShape) -> Outcome {
        let expected = self.image_shape();
        if found == expected {
            return Ok(());
        }
        Err(Failure::input(format!(
            "{what}: found images of {found}, expected {expected}, those of {}",
            self.path.display()
        )))
    }
}
