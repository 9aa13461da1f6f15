//! Coloured, noisy and scream variants of black and white images (Locatello et al., 2019).
//!
//! Every access draws new noise from the stream of the caller; the noise is not a factor.
//! * colour: white becomes a random colour, each channel uniform in \[0.5, 1\].
//! * noisy: every channel of a black pixel is uniform in \[0, 1\]; white stays white.
//! * scream: the background is a random patch of a painting, averaged with a random colour; the shape is its inverse.

use crate::data_option::DataOption;
use crate::dataset::{DataSet, ImageShape};
use crate::error::{DataError, Result};
use crate::factors::FactorSpace;
use crate::fingerprint::hash_file;
use crate::random::Lane;
use crate::request::Request;
use image::imageops::FilterType;
use rand::RngExt;
use std::path::{Path, PathBuf};

/// How the black and white image is changed.
#[derive(Debug)]
pub(crate) enum Variant {
    /// White becomes a random colour.
    Colour,
    /// The background becomes noise.
    Noisy,
    /// The background becomes a patch of a picture.
    Scream(Picture),
}

/// The variants by name, before the picture of `scream` is read.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Plain,
    Colour,
    Noisy,
    Scream,
}

const KINDS: [(&str, Kind); 4] =
    [("plain", Kind::Plain), ("colour", Kind::Colour), ("noisy", Kind::Noisy), ("scream", Kind::Scream)];

/// An RGB picture from which backgrounds are cut.
#[derive(Debug)]
pub(crate) struct Picture {
    path: PathBuf,
    width: usize,
    height: usize,
    rgb: Vec<u8>,
}

/// The painting is first shrunk to fit this width and height, as published.
const SCREAM_SIZE: (u32, u32) = (350, 274);

impl Picture {
    /// Reads an image file and shrinks it to fit 350 x 274, keeping its aspect ratio.
    ///
    /// # Errors
    /// If the file is not an image, or is smaller than `patch`.
    pub(crate) fn read(path: &Path, patch: ImageShape) -> Result<Self> {
        let picture = super::folder::decode(path)?.into_rgb8();
        let (width, height) = picture.dimensions();
        let shrink = (f64::from(SCREAM_SIZE.0) / f64::from(width))
            .min(f64::from(SCREAM_SIZE.1) / f64::from(height))
            .min(1.0);
        let shrunk = |length: u32| ((f64::from(length) * shrink).round() as u32).max(1);
        let picture =
            image::imageops::resize(&picture, shrunk(width), shrunk(height), FilterType::CatmullRom);
        let (width, height) = (picture.width() as usize, picture.height() as usize);
        if width < patch.width || height < patch.height {
            let expected =
                format!("at least {} x {} after shrinking to 350 x 274", patch.width, patch.height);
            return Err(DataError::content(path, "picture", format!("{width} x {height} pixels"), expected));
        }
        Ok(Self { path: path.to_owned(), width, height, rgb: picture.into_raw() })
    }
}

/// Three-channel images made from the one-channel images of another data set.
#[derive(Debug)]
pub(crate) struct Decorated {
    name: String,
    data: Box<dyn DataSet>,
    variant: Variant,
}

/// The options of data sets that can be decorated.
pub(crate) const VARIANT: DataOption = DataOption::new(
    "variant",
    "plain, colour, noisy or scream",
    "plain",
    "colours and background of the images",
);
pub(crate) const PICTURE: DataOption =
    DataOption::new("picture", "an image file", "none", "the backgrounds of the scream variant");

/// Applies the variant of a request, which is part of the name (`colour-dsprites`) or an option.
pub(crate) fn decorate(data: Box<dyn DataSet>, request: &Request<'_>) -> Result<Box<dyn DataSet>> {
    let prefix = request.name().split_once('-').map(|(prefix, _)| prefix);
    let kind = match KINDS.iter().find(|(word, _)| Some(*word) == prefix) {
        Some(&(_, kind)) => kind,
        None => request.choice("variant", &KINDS)?,
    };
    let variant = match kind {
        Kind::Plain => return Ok(data),
        Kind::Colour => Variant::Colour,
        Kind::Noisy => Variant::Noisy,
        Kind::Scream => {
            let path = request.text("picture")?.ok_or_else(|| {
                let subject = format!("option `picture` of data set `{}`", request.name());
                DataError::value(subject, "none", "an image file for the backgrounds")
            })?;
            Variant::Scream(Picture::read(Path::new(path), data.shape())?)
        }
    };
    Ok(Box::new(Decorated::new(data, variant)))
}

impl Decorated {
    /// Decorates a data set of one channel.
    ///
    /// # Panics
    /// If the data set has more than one channel.
    pub(crate) fn new(data: Box<dyn DataSet>, variant: Variant) -> Self {
        assert_eq!(data.shape().channels, 1, "only grey images can be decorated");
        let prefix = match variant {
            Variant::Colour => "colour",
            Variant::Noisy => "noisy",
            Variant::Scream(_) => "scream",
        };
        Self { name: format!("{prefix}-{}", data.name()), data, variant }
    }
}

impl DataSet for Decorated {
    fn name(&self) -> &str {
        &self.name
    }

    fn len(&self) -> usize {
        self.data.len()
    }

    fn shape(&self) -> ImageShape {
        ImageShape { channels: 3, ..self.data.shape() }
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

    fn write_image(&self, index: usize, noise: Lane, pixels: &mut [f32]) -> Result<()> {
        let grey = self.data.shape();
        assert_eq!(pixels.len(), 3 * grey.values(), "`pixels` holds one image");
        self.data.write_image(index, noise, &mut pixels[..grey.values()])?;
        let mut generator = noise.generator();
        match &self.variant {
            Variant::Colour => {
                let colour: [f32; 3] = std::array::from_fn(|_| 0.5 + 0.5 * generator.random::<f32>());
                spread(pixels, |_, white| colour.map(|channel| white * channel));
            }
            Variant::Noisy => spread(pixels, |_, white| {
                std::array::from_fn(|_| (white + generator.random::<f32>()).min(1.0))
            }),
            Variant::Scream(picture) => {
                let left = generator.random_range(0..=picture.width - grey.width);
                let top = generator.random_range(0..=picture.height - grey.height);
                let shift: [f32; 3] = std::array::from_fn(|_| generator.random());
                spread(pixels, |pixel, white| {
                    let (row, column) = (top + pixel / grey.width, left + pixel % grey.width);
                    let patch = &picture.rgb[(row * picture.width + column) * 3..][..3];
                    std::array::from_fn(|channel| {
                        let background = 0.5 * (f32::from(patch[channel]) / 255.0 + shift[channel]);
                        white * (1.0 - background) + (1.0 - white) * background
                    })
                });
            }
        }
        Ok(())
    }

    fn memory(&self) -> usize {
        let picture = match &self.variant {
            Variant::Scream(picture) => picture.rgb.len(),
            Variant::Colour | Variant::Noisy => 0,
        };
        self.data.memory() + picture
    }

    fn fingerprint(&self) -> Result<String> {
        let picture = match &self.variant {
            Variant::Scream(picture) => hash_file(&picture.path)?,
            Variant::Colour | Variant::Noisy => String::new(),
        };
        let recipe = format!("{} {} {picture}", self.name, self.data.fingerprint()?);
        crate::fingerprint::Fingerprint::Recipe(recipe).compute()
    }
}

/// Turns the grey image in the first third of `pixels` into an RGB image, from the last pixel to the first, so that no
/// pixel is overwritten before it is read.
fn spread(pixels: &mut [f32], mut rgb_of: impl FnMut(usize, f32) -> [f32; 3]) {
    for pixel in (0..pixels.len() / 3).rev() {
        let rgb = rgb_of(pixel, pixels[pixel]);
        pixels[3 * pixel..][..3].copy_from_slice(&rgb);
    }
}
