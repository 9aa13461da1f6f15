//! Deterministic splits into train and test.

use crate::data_option::DataOption;
use crate::dataset::DataSet;
use crate::error::{DataError, Result};
use crate::random::Stream;
use crate::request::Request;
use crate::subset::Subset;
use rand::seq::SliceRandom;
use std::path::PathBuf;

mod partition;

pub(crate) use partition::FILE as PARTITION_FILE;

/// The options for splitting. Data sets with [`SplitBy::Files`] take the first one only.
pub static SPLIT_OPTIONS: &[DataOption] = &[
    DataOption::new(
        "split",
        "all, train or test; validation where split_by is official",
        "all; train where test images have their own files",
        "the part of the data that is used",
    ),
    DataOption::new(
        "train_fraction",
        "a number between 0 and 1",
        "0.8",
        "fraction of the images, or of the values of `split_by`, in train",
    ),
    DataOption::new(
        "split_by",
        "a factor, or official for celeba",
        "random images; model for chairs",
        "factor whose first values go to train and whose last values go to test; official: as CelebA's \
         list_eval_partition.txt says",
    ),
    DataOption::new("split_seed", "a whole number", "0", "seed of the random split"),
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
    by: By,
    seed: u64,
    data_set: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    All,
    Train,
    Validation,
    Test,
}

#[derive(Clone, Debug)]
enum By {
    /// At random.
    Image,
    /// By the values of this factor.
    Factor(String),
    /// By a file that came with the images.
    Partition(PathBuf),
}

/// The word that asks for CelebA's own partition.
const OFFICIAL: &str = "official";

impl Plan {
    /// Reads the split options.
    pub(crate) fn from_request(request: &Request<'_>, default: SplitBy) -> Result<Self> {
        let default_factor = match default {
            SplitBy::Factor(factor) => Some(factor),
            SplitBy::Image | SplitBy::Files => None,
        };
        let words = [
            ("all", Part::All),
            ("train", Part::Train),
            ("test", Part::Test),
            ("validation", Part::Validation),
        ];
        // Only a partition of three parts has one for validation.
        let official = request.has_option("partition") && request.text("split_by")? == Some(OFFICIAL);
        if !official && request.has_option("partition") && request.text("partition")?.is_some() {
            let subject = format!("option `partition` of data set `{}`", request.name());
            return Err(DataError::value(subject, "a file", "nothing, unless `split_by` is `official`"));
        }
        let wanted = request.choice("split", if official { &words } else { &words[..3] })?;
        let part = match default {
            SplitBy::Files => Part::All,
            SplitBy::Image | SplitBy::Factor(_) => wanted,
        };
        Ok(Self {
            part,
            train_fraction: request.fraction("train_fraction", 0.8)?,
            by: match request.text("split_by")?.or(default_factor) {
                None => By::Image,
                Some(OFFICIAL) if official => By::Partition(partition::find(request)?),
                Some(factor) => By::Factor(factor.to_owned()),
            },
            seed: request.integer("split_seed", 0..=usize::MAX, 0)? as u64,
            data_set: request.name(),
        })
    }

    /// The requested part of `data`.
    pub(crate) fn apply(&self, data: Box<dyn DataSet>) -> Result<Box<dyn DataSet>> {
        if self.part == Part::All {
            return Ok(data);
        }
        let in_train = |train: bool| if train { Part::Train } else { Part::Test };
        let parts: Vec<Part> = match &self.by {
            By::Image => self.by_image(data.len())?.into_iter().map(in_train).collect(),
            By::Factor(factor) => self.by_factor(data.as_ref(), factor)?.into_iter().map(in_train).collect(),
            By::Partition(file) => partition::read(file, data.as_ref())?,
        };
        let indices: Vec<u32> =
            (0..data.len() as u32).filter(|&index| parts[index as usize] == self.part).collect();
        if indices.is_empty() {
            let subject = format!("split of data set `{}`", self.data_set);
            return Err(DataError::value(subject, "no images in this part", "at least one"));
        }
        Ok(Box::new(Subset::new(data, indices)))
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
