//! Deterministic splits into train and test.

use crate::dataset::{DataSet, ImageShape};
use crate::error::{DataError, Result};
use crate::factors::FactorSpace;
use crate::random::{Lane, Stream};
use crate::request::Request;
use rand::seq::SliceRandom;
use std::fmt;

/// The options for splitting. Data sets with [`SplitBy::Files`] take the first one only.
pub static SPLIT_OPTIONS: &[(&str, &str)] = &[
    ("split", "all, train or test (default all; train where test images have their own files)"),
    ("train_fraction", "fraction of the images, or of the values of `split_by`, in train (default 0.8)"),
    (
        "split_by",
        "factor whose first values go to train and whose last values go to test (default: random images)",
    ),
    ("split_seed", "seed of the random split (default 0)"),
];

/// How a data set is split by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitBy {
    /// At random, by image.
    Image,
    /// By the values of this factor: the first values are train, the last are test.
    Factor(&'static str),
    /// By the files, which are separate for train and test.
    Files,
}

/// The part of a data set that was requested.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    part: Part,
    train_fraction: f64,
    by: Option<String>,
    seed: u64,
    data_set: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    All,
    Train,
    Test,
}

impl Plan {
    /// Reads the split options.
    pub(crate) fn from_request(request: &Request<'_>, default: SplitBy) -> Result<Self> {
        let default_factor = match default {
            SplitBy::Factor(factor) => Some(factor),
            SplitBy::Image | SplitBy::Files => None,
        };
        let wanted =
            request.choice("split", &[("all", Part::All), ("train", Part::Train), ("test", Part::Test)])?;
        let part = match default {
            SplitBy::Files => Part::All,
            SplitBy::Image | SplitBy::Factor(_) => wanted,
        };
        Ok(Self {
            part,
            train_fraction: request.fraction("train_fraction", 0.8)?,
            by: request.text("split_by")?.or(default_factor).map(str::to_owned),
            seed: request.integer("split_seed", 0..=usize::MAX, 0)? as u64,
            data_set: request.name(),
        })
    }

    /// The requested part of `data`.
    pub(crate) fn apply(&self, data: Box<dyn DataSet>) -> Result<Box<dyn DataSet>> {
        let wanted = match self.part {
            Part::All => return Ok(data),
            Part::Train => true,
            Part::Test => false,
        };
        let train = match &self.by {
            None => self.by_image(data.len())?,
            Some(factor) => self.by_factor(data.as_ref(), factor)?,
        };
        let indices = (0..data.len() as u32).filter(|&index| train[index as usize] == wanted).collect();
        Ok(Box::new(Subset { data, indices }))
    }

    /// How many of `total` go to train: rounded, but at least one for train and one for test.
    fn train_count(&self, total: usize, what: &str) -> Result<usize> {
        if total < 2 {
            let subject = format!("split of data set `{}`", self.data_set);
            return Err(DataError::value(subject, format!("{total} {what}"), "at least 2"));
        }
        Ok(((total as f64 * self.train_fraction).round() as usize).clamp(1, total - 1))
    }

    fn by_image(&self, len: usize) -> Result<Vec<bool>> {
        let count = self.train_count(len, "images")?;
        let mut train: Vec<bool> = (0..len).map(|rank| rank < count).collect();
        train.shuffle(&mut Stream::new(self.seed, "split").at(0).generator());
        Ok(train)
    }

    fn by_factor(&self, data: &dyn DataSet, factor: &str) -> Result<Vec<bool>> {
        let space = data.factors();
        let Some((k, space)) = space.and_then(|space| Some((space.position(factor)?, space))) else {
            let names = space.map_or_else(
                || "a data set with factors".to_owned(),
                |space| {
                    let names: Vec<&str> =
                        space.factors().iter().map(|factor| factor.name.as_str()).collect();
                    format!("one of {}", names.join(", "))
                },
            );
            let subject = format!("option `split_by` of data set `{}`", self.data_set);
            return Err(DataError::value(subject, format!("\"{factor}\""), names));
        };
        let count = self.train_count(space.factors()[k].size, "values")?;
        let mut values = vec![0; space.len()];
        let train = (0..data.len()).map(|index| {
            data.factors_of(index, &mut values);
            (values[k] as usize) < count
        });
        let train: Vec<bool> = train.collect();
        if !train.contains(&true) || !train.contains(&false) {
            let subject = format!("split of data set `{}` by `{factor}`", self.data_set);
            return Err(DataError::value(subject, "no images in one part", "images in train and in test"));
        }
        Ok(train)
    }
}

/// A subset of the images of another data set.
struct Subset {
    data: Box<dyn DataSet>,
    indices: Vec<u32>,
}

impl fmt::Debug for Subset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subset").field("data", &self.data).field("len", &self.indices.len()).finish()
    }
}

impl DataSet for Subset {
    fn name(&self) -> &str {
        self.data.name()
    }

    fn len(&self) -> usize {
        self.indices.len()
    }

    fn shape(&self) -> ImageShape {
        self.data.shape()
    }

    fn factors(&self) -> Option<&FactorSpace> {
        self.data.factors()
    }

    fn factors_of(&self, index: usize, values: &mut [u32]) {
        self.data.factors_of(self.indices[index] as usize, values);
    }

    /// A proper subset is never a full grid.
    fn index_of(&self, _values: &[u32]) -> Option<usize> {
        None
    }

    fn write_image(&self, index: usize, noise: Lane, pixels: &mut [f32]) -> Result<()> {
        self.data.write_image(self.indices[index] as usize, noise, pixels)
    }

    fn memory(&self) -> usize {
        self.data.memory() + size_of_val(self.indices.as_slice())
    }

    fn fingerprint(&self) -> Result<String> {
        let bytes: Vec<u8> = self.indices.iter().flat_map(|index| index.to_le_bytes()).collect();
        let recipe = format!("{} {}", self.data.fingerprint()?, sha256(&bytes));
        Ok(sha256(recipe.as_bytes()))
    }

    fn image_name(&self, index: usize) -> Option<&str> {
        self.data.image_name(self.indices[index] as usize)
    }
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    crate::fingerprint::hex(&sha2::Sha256::digest(bytes))
}
