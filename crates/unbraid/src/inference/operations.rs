//! What can be done with a trained model beside encoding and decoding, as functions of [`Run`].

use super::assignment::{Assignment, assign};
use super::input;
use crate::error::{Error, Result};
use crate::model::{Unit, steps};
use crate::run::Run;
use ndarray::{Array2, Array4, ArrayRef, Ix1, Ix4};
use std::path::Path;

impl Run {
    /// Reads a PNG or JPEG file as one image `[1, height, width, channels]` of the run's size: the largest centred
    /// rectangle of the right aspect, resized.
    ///
    /// # Errors
    /// If the file cannot be read or is no image.
    pub fn read_image(&self, path: impl AsRef<Path>) -> Result<Array4<f32>> {
        input::read(input::open_images(self, &[path.as_ref().to_owned()])?.as_ref(), &[0])
    }

    /// What stands for images in front of the decoder, `[images, width]`: see [`Run::latents_of`].
    ///
    /// # Errors
    /// As [`Run::encode`].
    pub fn codes_of(&self, images: &ArrayRef<f32, Ix4>) -> Result<Array2<f32>> {
        Ok(self.latents_of(&self.encode(images)?))
    }

    /// Images with some units changed: each is encoded, the units are set, and the result is decoded (Dupont 2018,
    /// section 4.2).
    ///
    /// # Errors
    /// If the images are of another size than those of the run, or there is no such unit or class.
    pub fn edit(&self, images: &ArrayRef<f32, Ix4>, assignments: &[Assignment]) -> Result<Array4<f32>> {
        let mut codes = self.codes_of(images)?;
        assign(self, &mut codes, assignments)?;
        self.decode(&codes)
    }

    /// The images of a row of latent values in which one continuous unit takes these values, one after the other.
    ///
    /// # Errors
    /// If there is no such unit, or the row is not one of the run.
    pub fn traverse(&self, row: &ArrayRef<f32, Ix1>, unit: usize, values: &[f64]) -> Result<Array4<f32>> {
        self.check_unit(Unit::Continuous(unit))?;
        self.check_row(row)?;
        self.decode(&self.layout().traversal(row, unit, values))
    }

    /// The images of a row of latent values in which one categorical unit is in each of its classes.
    ///
    /// # Errors
    /// If there is no such unit, or the row is not one of the run.
    pub fn traverse_classes(&self, row: &ArrayRef<f32, Ix1>, unit: usize) -> Result<Array4<f32>> {
        self.check_unit(Unit::Categorical(unit))?;
        self.check_row(row)?;
        self.decode(&self.layout().class_traversal(row, unit))
    }

    /// The images on the way from one row of latent values to another, both ends included: continuous units go straight,
    /// in equal steps; categorical ones, for which there is nothing in between, change in the middle.
    ///
    /// # Errors
    /// If the rows are not of the run, or there are fewer than two steps.
    pub fn interpolate(
        &self,
        first: &ArrayRef<f32, Ix1>,
        last: &ArrayRef<f32, Ix1>,
        count: usize,
    ) -> Result<Array4<f32>> {
        self.check_row(first)?;
        self.check_row(last)?;
        if count < 2 {
            return Err(Error::argument("steps", count, "at least 2"));
        }
        let way = steps((0.0, 1.0), count);
        self.decode(&Array2::from_shape_fn((count, first.len()), |(step, column)| {
            let (from, to) = (f64::from(first[column]), f64::from(last[column]));
            let share = way[step];
            if column < self.units() {
                (from + share * (to - from)) as f32
            } else if share < 0.5 {
                first[column]
            } else {
                last[column]
            }
        }))
    }

    /// Latent values drawn from the prior with categorical units held in a class: pairs of unit and class.
    ///
    /// # Errors
    /// If there is no such unit or class.
    pub fn draw_latents_in(
        &self,
        count: usize,
        seed: u64,
        classes: &[(usize, usize)],
    ) -> Result<Array2<f32>> {
        let mut latents = self.draw_latents(count, seed);
        let held: Vec<Assignment> =
            classes.iter().map(|&(unit, class)| Assignment::Class { unit, class }).collect();
        assign(self, &mut latents, &held)?;
        Ok(latents)
    }

    fn check_row(&self, row: &ArrayRef<f32, Ix1>) -> Result {
        let (found, expected) = (row.len(), self.layout().width());
        if found == expected {
            return Ok(());
        }
        Err(Error::LatentColumns { found, expected, run: self.path().to_owned() })
    }
}
