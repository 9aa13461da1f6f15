//! Operations on a trained model other than encoding and decoding, as methods of [`Run`].

use super::assignment::{Assignment, assign};
use super::input;
use crate::error::{Error, Result};
use crate::model::steps;
use crate::run::Run;
use ndarray::{Array2, Array4, ArrayRef, Ix1, Ix4};
use std::path::Path;
use unbraid_data::memory::{self, TooLarge};
use unbraid_data::{Picture, Treatment};

impl Run {
    /// Reads an image file as one image `[1, height, width, channels]` of the run's size: cropped around its
    /// centre to the run's aspect ratio, or as the options of its data say, then resized.
    ///
    /// # Errors
    /// If the file cannot be read, is not an image or is too small.
    pub fn read_image(&self, path: impl AsRef<Path>) -> Result<Array4<f32>> {
        input::read(input::open_images(self, &[path.as_ref().to_owned()])?.as_ref(), &[0])
    }

    /// The latent values of images as the decoder takes them, `[images, width]`: see [`Run::latents_of`].
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
    /// If the images do not have the size of the run's, or a unit or class does not exist.
    pub fn edit(&self, images: &ArrayRef<f32, Ix4>, assignments: &[Assignment]) -> Result<Array4<f32>> {
        let mut codes = self.codes_of(images)?;
        assign(self, &mut codes, assignments)?;
        self.decode(&codes)
    }

    /// An image file at its own resolution with some units changed: the difference between the edited image
    /// and the plain reconstruction, enlarged, is added to the original. Details that the model has never
    /// seen stay.
    ///
    /// # Errors
    /// As [`Run::edit`], and if the file cannot be read or is not an image, or the run was trained on
    /// silhouettes: their changes mean nothing in a picture.
    pub fn edit_picture(&self, path: impl AsRef<Path>, assignments: &[Assignment]) -> Result<Picture> {
        let treatment = Treatment::of(&self.config().data)?;
        if treatment.mask {
            let found = "a run on silhouettes (data.mask = true)";
            return Err(Error::argument("run", found, "one on the pictures themselves"));
        }
        let image = self.read_image(&path)?;
        let change = self.edit(&image, assignments)? - self.reconstruct(&image)?;
        let mut picture = Picture::read(path.as_ref())?;
        let change: Vec<f32> = change.into_iter().collect();
        picture.add_to_centre(self.image_shape(), treatment, &change);
        Ok(picture)
    }

    /// Decodes an interpolation between two rows of latent values, both ends included: linear for continuous units;
    /// categorical units, which have no values in between, change in the middle.
    ///
    /// # Errors
    /// If the rows have the wrong number of columns, or there are fewer than two steps.
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

    /// Latent values drawn from the prior, with some categorical units fixed: pairs of unit and class.
    ///
    /// # Errors
    /// If a unit or class does not exist, or the values do not fit into memory.
    pub fn draw_latents_in(
        &self,
        count: usize,
        seed: u64,
        classes: &[(usize, usize)],
    ) -> Result<Array2<f32>> {
        // The sample of the prior, and the array that it is copied into.
        let needed = (count as u64).saturating_mul(8 * self.layout().width() as u64);
        memory::check(needed).map_err(|TooLarge { needed, limit }| Error::TooLarge {
            subject: format!("{count} samples from the prior"),
            needed,
            limit,
        })?;
        let mut latents = self.draw_latents(count, seed);
        let held: Vec<Assignment> =
            classes.iter().map(|&(unit, class)| Assignment::Class { unit, class }).collect();
        assign(self, &mut latents, &held)?;
        Ok(latents)
    }

    /// Checks that the run was trained on images, for what is made of pictures; `hint` says what to do with a
    /// table instead.
    ///
    /// # Errors
    /// [`Error::NoPictures`].
    pub fn check_pictures(&self, hint: &'static str) -> Result {
        match self.features() {
            None => Ok(()),
            Some(_) => Err(Error::NoPictures { run: self.path().to_owned(), hint }),
        }
    }

    pub(super) fn check_row(&self, row: &ArrayRef<f32, Ix1>) -> Result {
        let (found, expected) = (row.len(), self.layout().width());
        if found == expected {
            return Ok(());
        }
        Err(Error::LatentColumns { found, expected, run: self.path().to_owned() })
    }
}
