//! A table as a network sees it.

use crate::dataset::{DataSet, ImageShape};
use crate::error::Result;
use crate::factors::FactorSpace;
use crate::features::Features;
use crate::random::Lane;

/// A data set with standardised columns, or as it is if there is nothing to standardise it by: images stay images.
#[derive(Clone, Copy, Debug)]
pub struct Standardised<'a> {
    data: &'a dyn DataSet,
    features: Option<&'a Features>,
}

impl<'a> Standardised<'a> {
    /// `data` with its columns standardised as `features` says.
    ///
    /// # Panics
    /// If there are not as many features as values of a row.
    pub fn new(data: &'a dyn DataSet, features: Option<&'a Features>) -> Self {
        if let Some(features) = features {
            assert_eq!(features.len(), data.shape().values(), "a feature for each value of a row");
        }
        Self { data, features }
    }
}

impl DataSet for Standardised<'_> {
    fn name(&self) -> &str {
        self.data.name()
    }

    fn len(&self) -> usize {
        self.data.len()
    }

    fn shape(&self) -> ImageShape {
        self.data.shape()
    }

    fn factors(&self) -> Option<&FactorSpace> {
        self.data.factors()
    }

    fn factors_of(&self, index: usize, values: &mut [u32]) {
        self.data.factors_of(index, values);
    }

    fn index_of(&self, values: &[u32]) -> Option<usize> {
        self.data.index_of(values)
    }

    fn is_full_grid(&self) -> bool {
        self.data.is_full_grid()
    }

    fn is_binary(&self) -> bool {
        self.features.is_none() && self.data.is_binary()
    }

    fn write_image(&self, index: usize, noise: Lane, pixels: &mut [f32]) -> Result<()> {
        let Some(features) = self.features else { return self.data.write_image(index, noise, pixels) };
        let mut values = vec![0.0; pixels.len()];
        self.data.write_row(index, noise, &mut values)?;
        features.standardise(&mut values);
        pixels.iter_mut().zip(values).for_each(|(pixel, value)| *pixel = value as f32);
        Ok(())
    }

    fn memory(&self) -> usize {
        self.data.memory()
    }

    fn fingerprint(&self) -> Result<String> {
        self.data.fingerprint()
    }

    fn image_name(&self, index: usize) -> Option<&str> {
        self.data.image_name(index)
    }

    fn columns(&self) -> Option<&[String]> {
        self.data.columns()
    }
}
