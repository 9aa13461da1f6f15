//! Trainers whose steps can be timed in any order.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::time::Duration;
use unbraid::config::{Config, Source};
use unbraid::data::Fingerprint;
use unbraid::data::StoredImages;
use unbraid::data::random::Stream;
use unbraid::data::storage::{BitImages, Pixels};
use unbraid::data::{DataSet, ImageShape};
use unbraid::train::{Trainer, cost};

/// How long a round takes at least.
const ROUND: Duration = Duration::from_millis(800);

/// Random images: one pixel in ten is white. As many as a batch may ever need.
pub(crate) fn random_images(shape: ImageShape) -> StoredImages {
    use rand::RngExt;
    let mut generator = Stream::new(0, "images").at(0).generator();
    let mut images = BitImages::new(shape.values());
    for _ in 0..1024 {
        let pixels: Vec<u8> =
            (0..shape.values()).map(|_| u8::from(generator.random_range(0..10) == 0)).collect();
        images.push(&pixels).expect("zeros and ones");
    }
    let recipe = Fingerprint::Recipe(format!("random bits, {shape}"));
    StoredImages::new("random", shape, Pixels::Bits(images), None, recipe)
}

/// The plain beta-VAE on the built-in images, as `unbraid bench` measures it, with some keys set.
pub(crate) fn configuration(assignments: &[&str]) -> Result<Config, String> {
    let assignments = assignments.iter().map(|&text| text.to_owned()).collect();
    Source { preset: Some("shapes/beta-vae".to_owned()), assignments, ..Source::default() }
        .resolve()
        .map_err(|error| error.to_string())
}

/// A trainer and the threads it runs on.
pub(crate) struct Steps<'a> {
    trainer: Trainer<'a>,
    pool: ThreadPool,
    batch: usize,
    /// Seconds of a step in the best round so far.
    pub(crate) best: f64,
}

impl<'a> Steps<'a> {
    pub(crate) fn new(config: &Config, data: &'a dyn DataSet, threads: usize) -> Result<Self, String> {
        let pool =
            ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| error.to_string())?;
        let mut trainer =
            Trainer::new(config, data, &unbraid::Device::cpu()).map_err(|error| error.to_string())?;
        pool.install(|| cost::warm_up(&mut trainer, cost::WARM_UP)).map_err(|error| error.to_string())?;
        Ok(Self { trainer, pool, batch: config.training.batch_size, best: f64::INFINITY })
    }

    /// One more round.
    pub(crate) fn round(&mut self) -> Result<(), String> {
        let Self { trainer, pool, .. } = self;
        let seconds =
            pool.install(|| cost::seconds_per_step(trainer, ROUND)).map_err(|error| error.to_string())?;
        self.best = self.best.min(seconds);
        Ok(())
    }

    /// Milliseconds of a step in the best round.
    pub(crate) fn milliseconds(&self) -> f64 {
        1e3 * self.best
    }

    /// Share of a peak in GFLOP/s that the convolutions and matrix products of a step reach.
    pub(crate) fn share_of(&self, peak: f64) -> f64 {
        let operations = self.trainer.network().blueprint().training_operations() as f64 * self.batch as f64;
        operations / self.best / 1e9 / peak
    }
}
