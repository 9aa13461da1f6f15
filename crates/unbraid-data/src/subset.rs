//! Some images of a data set as a data set of their own.

use crate::dataset::{DataSet, ImageShape};
use crate::error::Result;
use crate::factors::FactorSpace;
use crate::fingerprint::hex;
use crate::random::{Lane, Stream};
use rand::seq::SliceRandom;
use sha2::{Digest, Sha256};
use std::fmt;
use std::ops::Deref;

/// Some images of another data set, which is owned (`Box<dyn DataSet>`) or borrowed (`&dyn DataSet`).
///
/// ```
/// use unbraid_data::progress::Silent;
/// use unbraid_data::{DataSet, Subset, open};
///
/// let data = open(&"shapes(scales=1, orientations=1, positions=4)".parse()?, &Silent)?;
/// let (train, held_out) = Subset::split(data.as_ref(), 8, 0);
/// assert_eq!((data.len(), train.len(), held_out.len()), (48, 40, 8));
/// # Ok::<(), unbraid_data::DataError>(())
/// ```
pub struct Subset<D> {
    data: D,
    indices: Vec<u32>,
}

impl<D: Deref<Target: DataSet>> Subset<D> {
    /// The images at `indices`, in this order.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn new(data: D, indices: Vec<u32>) -> Self {
        assert!(indices.iter().all(|&index| (index as usize) < data.len()), "images of the data set");
        Self { data, indices }
    }
}

impl<'a> Subset<&'a dyn DataSet> {
    /// Two parts: `held_out` images that are chosen at random, and the others.
    ///
    /// # Panics
    /// If there are not as many images, or more than 32 bits can count.
    pub fn split(data: &'a dyn DataSet, held_out: usize, seed: u64) -> (Self, Self) {
        let len = u32::try_from(data.len()).expect("images are counted in 32 bits");
        assert!(held_out <= data.len(), "{held_out} of {len} images");
        let mut is_held_out: Vec<bool> = (0..data.len()).map(|rank| rank < held_out).collect();
        is_held_out.shuffle(&mut Stream::new(seed, "held out").at(0).generator());
        let (others, held_out) = (0..len).partition(|&index| !is_held_out[index as usize]);
        (Self::new(data, others), Self::new(data, held_out))
    }
}

impl<D: Deref<Target: DataSet>> fmt::Debug for Subset<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subset").field("data", &&*self.data).field("len", &self.indices.len()).finish()
    }
}

impl<D: Deref<Target: DataSet> + Send + Sync> DataSet for Subset<D> {
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

    fn is_binary(&self) -> bool {
        self.data.is_binary()
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

    fn columns(&self) -> Option<&[String]> {
        self.data.columns()
    }

    fn write_row(&self, index: usize, noise: Lane, values: &mut [f64]) -> Result<()> {
        self.data.write_row(self.indices[index] as usize, noise, values)
    }
}

fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open;
    use crate::progress::Silent;

    #[test]
    fn both_parts_together_are_the_whole() {
        let data = open(&"shapes(scales=1, orientations=1, positions=4)".parse().unwrap(), &Silent).unwrap();
        let (train, held_out) = Subset::split(data.as_ref(), 5, 0);
        let mut all: Vec<u32> = train.indices.iter().chain(&held_out.indices).copied().collect();
        all.sort_unstable();
        assert_eq!(all, (0..48).collect::<Vec<_>>());
        assert_eq!(held_out.len(), 5);
        assert!(held_out.indices.is_sorted() && held_out.indices != [43, 44, 45, 46, 47]);
        assert_eq!(Subset::split(data.as_ref(), 5, 0).1.indices, held_out.indices);
        assert_ne!(Subset::split(data.as_ref(), 5, 1).1.indices, held_out.indices);
        assert!(train.index_of(&[0, 0, 0, 0, 0]).is_none());
    }
}
