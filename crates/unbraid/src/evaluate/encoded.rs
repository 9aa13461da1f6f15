//! Codes of the images that an evaluation needs, each computed once.

use super::code_source::CodeSource;
use super::sampler::Lookup;
use crate::error::{Error, Result};
use crate::run::Run;
use ndarray::{Array2, ArrayView1};
use rand_distr::{Distribution, StandardNormal};
use serde::Serialize;
use unbraid_data::DataSet;
use unbraid_data::progress::Progress;
use unbraid_data::random::Stream;

/// What is taken as the code of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Representation {
    /// The mean of the posterior, as in most publications.
    #[default]
    Mean,
    /// One sample of the posterior.
    Sample,
}

impl Representation {
    /// Its name in files and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Sample => "sample",
        }
    }
}

/// Codes by image, of all images of a data set or of some.
#[derive(Debug)]
pub struct Encoded {
    /// The images of the rows, in ascending order; `None` if row `i` is image `i`.
    images: Option<Vec<usize>>,
    codes: Array2<f32>,
    log_variance: Array2<f32>,
    categories: Array2<i64>,
}

impl Encoded {
    /// Encodes these images, which must be in ascending order, or all images.
    ///
    /// A code depends on the image, the seed and the representation only: each image has random streams of its own for
    /// noise in the image and for the sample of the posterior. It holds the continuous units; for a model without any,
    /// the most likely class of each categorical unit as a number.
    ///
    /// # Errors
    /// If the images do not have the size of the run's, or cannot be read.
    pub fn new(
        run: &Run,
        data: &dyn DataSet,
        images: Option<Vec<usize>>,
        settings: (Representation, u64),
        progress: &dyn Progress,
    ) -> Result<Self> {
        Self::by(run, data, images, settings, progress)
    }

    /// As [`Encoded::new`], by any source of codes.
    pub(super) fn by(
        source: &dyn CodeSource,
        data: &dyn DataSet,
        images: Option<Vec<usize>>,
        (representation, seed): (Representation, u64),
        progress: &dyn Progress,
    ) -> Result<Self> {
        if let (Representation::Sample, Some(reason)) = (representation, source.sample_obstacle()) {
            return Err(Error::argument("representation", "sample", format!("mean, since {reason}")));
        }
        let noise = Stream::new(seed, "evaluation images");
        let every: Vec<usize>;
        let wanted = match &images {
            Some(images) => images,
            None => {
                every = (0..data.len()).collect();
                &every
            }
        };
        let posteriors = source.encode(data, wanted, noise, progress)?;
        let (mut codes, log_variance, categories) =
            (posteriors.mean, posteriors.log_variance, posteriors.categories);
        if representation == Representation::Sample {
            let noise = Stream::new(seed, "evaluation samples").at(0);
            let rows = codes.rows_mut().into_iter().zip(log_variance.rows());
            for (&image, (mut code, log_variance)) in wanted.iter().zip(rows) {
                let mut generator = noise.lane(image as u64).generator();
                for (value, log_variance) in code.iter_mut().zip(log_variance) {
                    let noise: f32 = StandardNormal.sample(&mut generator);
                    *value += (0.5 * log_variance).exp() * noise;
                }
            }
        }
        if codes.ncols() == 0 {
            codes = categories.mapv(|class| class as f32);
        }
        Ok(Self { images, codes, log_variance, categories })
    }

    /// Number of images encoded.
    pub fn len(&self) -> usize {
        self.codes.nrows()
    }

    /// Whether no image was encoded.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The codes of these images, `[images, units]`.
    pub fn codes_of(&self, images: &[usize]) -> Array2<f32> {
        select(&self.codes, images, |image| self.row(image))
    }

    /// The logarithms of their posterior variances.
    pub fn log_variances_of(&self, images: &[usize]) -> Array2<f32> {
        select(&self.log_variance, images, |image| self.row(image))
    }

    /// The most likely class of each categorical unit.
    pub fn categories_of(&self, images: &[usize]) -> Array2<i64> {
        select(&self.categories, images, |image| self.row(image))
    }

    fn row(&self, image: usize) -> usize {
        match &self.images {
            None => image,
            Some(images) => {
                images.binary_search(&image).expect("only images that were encoded are looked up")
            }
        }
    }
}

fn select<T: Copy>(matrix: &Array2<T>, images: &[usize], row: impl Fn(usize) -> usize) -> Array2<T> {
    let rows: Vec<ArrayView1<'_, T>> = images.iter().map(|&image| matrix.row(row(image))).collect();
    Array2::from_shape_fn((images.len(), matrix.ncols()), |(place, unit)| rows[place][unit])
}

impl Lookup for Encoded {
    fn units(&self) -> usize {
        self.codes.ncols()
    }

    fn look_up(&self, images: &[usize], codes: &mut [f64]) {
        for (&image, code) in images.iter().zip(codes.chunks_exact_mut(self.units())) {
            for (value, &single) in code.iter_mut().zip(self.codes.row(self.row(image))) {
                *value = f64::from(single);
            }
        }
    }
}
