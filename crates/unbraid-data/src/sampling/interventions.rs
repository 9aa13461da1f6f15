//! Interventions: images that share the value of one factor while the other factors vary.
//!
//! On a full grid the other factors are drawn independently and uniformly, and the image is found by arithmetic.
//! Otherwise images are grouped by value: a value is drawn in proportion to its frequency, and an image uniformly from
//! those that have it. On a full grid the two distributions are the same. Factors that are not latent vary with the
//! image in both cases.

use crate::dataset::DataSet;
use crate::error::{DataError, Result};
use crate::factors::FactorSpace;
use rand::{Rng, RngExt};

/// Draws images under interventions on the factors of a data set.
///
/// ```
/// use unbraid_data::progress::Silent;
/// use unbraid_data::random::Stream;
/// use unbraid_data::sampling::Interventions;
/// use unbraid_data::{DataSpec, open};
///
/// let data = open(&DataSpec::named("shapes"), &Silent)?;
/// let interventions = Interventions::new(data.as_ref())?;
/// let mut indices = [0; 64];
/// interventions.fixed(1, &mut Stream::new(0, "scores").at(0).generator(), &mut indices);
/// let scale = |index| {
///     let mut values = [0; 5];
///     data.factors_of(index, &mut values);
///     values[1]
/// };
/// assert!(indices.iter().all(|&index| scale(index) == scale(indices[0])));
/// # Ok::<(), unbraid_data::DataError>(())
/// ```
#[derive(Debug)]
pub struct Interventions<'a> {
    data: &'a dyn DataSet,
    latent: Vec<usize>,
    lookup: Lookup,
}

#[derive(Debug)]
enum Lookup {
    /// The number of values of every factor.
    Grid { sizes: Vec<u32> },
    /// For every factor, the images grouped by value.
    Rows { groups: Vec<Groups> },
}

/// The images of a data set, sorted by the value of one factor.
#[derive(Debug)]
struct Groups {
    /// All images; those with value `v` are at `starts[v]..starts[v + 1]`.
    indices: Vec<u32>,
    starts: Vec<u32>,
}

impl Groups {
    /// A counting sort.
    fn new(values: impl Iterator<Item = u32> + Clone, size: usize) -> Self {
        let mut starts = vec![0_u32; size + 1];
        for value in values.clone() {
            starts[value as usize + 1] += 1;
        }
        for value in 0..size {
            starts[value + 1] += starts[value];
        }
        let mut next = starts.clone();
        let mut indices = vec![0; starts[size] as usize];
        for (index, value) in values.enumerate() {
            indices[next[value as usize] as usize] = index as u32;
            next[value as usize] += 1;
        }
        Self { indices, starts }
    }

    fn of(&self, value: u32) -> &[u32] {
        &self.indices[self.starts[value as usize] as usize..self.starts[value as usize + 1] as usize]
    }
}

/// An image of a group, in ascending order, other than `index` unless it is the only one. A pair of an image
/// with itself would tell which factor is held fixed in a small group, whatever the codes are.
fn another(index: usize, group: &[u32], generator: &mut impl Rng) -> usize {
    let Ok(place) = group.binary_search(&(index as u32)) else { return index };
    let others = group.len() - 1;
    if others == 0 {
        return index;
    }
    let drawn = generator.random_range(0..others);
    group[drawn + usize::from(drawn >= place)] as usize
}

impl<'a> Interventions<'a> {
    /// Prepares interventions on `data`. Without a full grid this takes four bytes per image and factor.
    ///
    /// # Errors
    /// If the data set has no latent factor.
    pub fn new(data: &'a dyn DataSet) -> Result<Self> {
        let space = data.factors().filter(|space| !space.latent().is_empty()).ok_or_else(|| {
            let subject = format!("data set `{}`", data.name());
            DataError::value(subject, "no latent factors", "at least one to intervene on")
        })?;
        let lookup = if data.is_full_grid() {
            Lookup::Grid { sizes: space.factors().iter().map(|factor| factor.size as u32).collect() }
        } else {
            let mut row = vec![0; space.len()];
            let mut columns = vec![Vec::with_capacity(data.len()); space.len()];
            for index in 0..data.len() {
                data.factors_of(index, &mut row);
                columns.iter_mut().zip(&row).for_each(|(column, &value)| column.push(value));
            }
            let groups = columns.iter().zip(space.factors());
            let groups = groups.map(|(column, factor)| Groups::new(column.iter().copied(), factor.size));
            Lookup::Rows { groups: groups.collect() }
        };
        Ok(Self { data, latent: space.latent(), lookup })
    }

    /// The positions of the latent factors, which are those to intervene on.
    pub fn latent(&self) -> &[usize] {
        &self.latent
    }

    /// Fills `indices` with images that share one value of factor `k`, which is taken from a random image.
    pub fn fixed(&self, k: usize, generator: &mut impl Rng, indices: &mut [usize]) {
        let value = self.value(k, generator.random_range(0..self.data.len()));
        for index in indices {
            *index = self.draw(k, value, generator);
        }
    }

    /// Fills `first` with random images and `second` with images that have, pair by pair, the same value of
    /// factor `k`: of a list of images another one, unless there is only one; on a full grid all other
    /// factors are drawn anew.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn pairs(&self, k: usize, generator: &mut impl Rng, first: &mut [usize], second: &mut [usize]) {
        assert_eq!(first.len(), second.len(), "pairs");
        for (left, right) in first.iter_mut().zip(second) {
            *left = generator.random_range(0..self.data.len());
            let value = self.value(k, *left);
            *right = match &self.lookup {
                Lookup::Grid { .. } => self.draw(k, value, generator),
                Lookup::Rows { groups } => another(*left, groups[k].of(value), generator),
            };
        }
    }

    /// Fills each row of `values` with the latent factors of a random image. On a full grid they are independent and
    /// uniform.
    ///
    /// # Panics
    /// If the length of `values` is not a multiple of the number of latent factors.
    pub fn factors(&self, generator: &mut impl Rng, values: &mut [u32]) {
        assert_eq!(values.len() % self.latent.len(), 0, "whole rows of latent factors");
        let mut all = vec![0; self.data.factors().map_or(0, FactorSpace::len)];
        for row in values.chunks_exact_mut(self.latent.len()) {
            self.data.factors_of(generator.random_range(0..self.data.len()), &mut all);
            row.iter_mut().zip(&self.latent).for_each(|(value, &k)| *value = all[k]);
        }
    }

    /// A random image with these latent factors; the other factors are drawn uniformly. `None` if a value is out of
    /// range, or if the data set is not a full grid.
    pub fn image_with(&self, latent: &[u32], generator: &mut impl Rng) -> Option<usize> {
        let sizes = match &self.lookup {
            Lookup::Grid { sizes } => sizes,
            Lookup::Rows { .. } => return None,
        };
        let mut all: Vec<u32> = sizes.iter().map(|&size| generator.random_range(0..size)).collect();
        self.latent.iter().zip(latent).for_each(|(&k, &value)| all[k] = value);
        self.data.index_of(&all)
    }

    fn value(&self, k: usize, index: usize) -> u32 {
        self.with_row(|row| {
            self.data.factors_of(index, row);
            row[k]
        })
    }

    /// A random image whose factor `k` has this value.
    fn draw(&self, k: usize, value: u32, generator: &mut impl Rng) -> usize {
        match &self.lookup {
            Lookup::Grid { sizes } => self.with_row(|row| {
                for (position, (slot, &size)) in row.iter_mut().zip(sizes).enumerate() {
                    *slot = if position == k { value } else { generator.random_range(0..size) };
                }
                self.data.index_of(row).unwrap_or_else(|| unreachable!("a full grid has every combination"))
            }),
            Lookup::Rows { groups } => {
                let group = groups[k].of(value);
                group[generator.random_range(0..group.len())] as usize
            }
        }
    }

    /// Calls `act` with a buffer for the values of all factors, on the stack unless there are very many.
    fn with_row<T>(&self, act: impl FnOnce(&mut [u32]) -> T) -> T {
        const USUAL: usize = 64;
        let count = self.data.factors().map_or(0, FactorSpace::len);
        if count <= USUAL { act(&mut [0; USUAL][..count]) } else { act(&mut vec![0; count]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::ImageShape;
    use crate::factors::Factor;
    use crate::fingerprint::Fingerprint;
    use crate::random::Stream;
    use crate::storage::{ByteImages, Pixels};
    use crate::stored::StoredImages;
    use crate::table::FactorTable;

    /// 3 x 4 x 2 combinations, each once and in order; a repeated row makes it no longer a grid. The last factor is not
    /// latent.
    fn data(repeat_a_row: bool) -> StoredImages {
        let factors = vec![Factor::new("a", 3), Factor::new("b", 4), Factor::new("instance", 2).nuisance()];
        let space = FactorSpace::new(factors);
        let mut rows: Vec<u32> = (0..24).flat_map(|i| [i / 8, i / 2 % 4, i % 2]).collect();
        if repeat_a_row {
            rows.extend([2, 3, 1]);
        }
        let pixels = Pixels::Bytes(ByteImages::in_memory(1, vec![0; rows.len() / 3]));
        let table = FactorTable::from_rows(space, rows).unwrap();
        let shape = ImageShape::new(1, 1, 1);
        StoredImages::new("test", shape, pixels, Some(table), Fingerprint::Recipe("test".into()))
    }

    fn factors_of(data: &dyn DataSet, index: usize) -> [u32; 3] {
        let mut values = [0; 3];
        data.factors_of(index, &mut values);
        values
    }

    #[test]
    fn a_fixed_factor_is_fixed_and_the_others_vary() {
        for repeated in [false, true] {
            let data = data(repeated);
            assert_eq!(data.is_full_grid(), !repeated);
            let interventions = Interventions::new(&data).unwrap();
            assert_eq!(interventions.latent(), [0, 1]);
            let mut generator = Stream::new(1, "test").at(0).generator();
            let mut batch = [0; 200];
            for k in 0..2 {
                interventions.fixed(k, &mut generator, &mut batch);
                let rows: Vec<[u32; 3]> = batch.iter().map(|&index| factors_of(&data, index)).collect();
                assert!(rows.iter().all(|row| row[k] == rows[0][k]));
                for other in (0..3).filter(|&other| other != k) {
                    assert!(
                        rows.iter().any(|row| row[other] != rows[0][other]),
                        "factor {other} should vary"
                    );
                }
            }
        }
    }

    #[test]
    fn pairs_share_one_factor_which_varies_over_the_pairs() {
        for repeated in [false, true] {
            let data = data(repeated);
            let interventions = Interventions::new(&data).unwrap();
            let mut generator = Stream::new(2, "test").at(0).generator();
            let (mut first, mut second) = ([0; 300], [0; 300]);
            interventions.pairs(1, &mut generator, &mut first, &mut second);
            let rows = first.iter().zip(&second).map(|(&l, &r)| (factors_of(&data, l), factors_of(&data, r)));
            let mut agree = 0.0;
            let mut values = std::collections::BTreeSet::new();
            for (left, right) in rows {
                assert_eq!(left[1], right[1]);
                values.insert(left[1]);
                agree += f64::from(u8::from(left[0] == right[0]));
            }
            assert_eq!(values.len(), 4);
            assert!(repeated || first.iter().zip(&second).any(|(left, right)| left == right));
            assert!(!repeated || first.iter().zip(&second).all(|(left, right)| left != right));
            // The other factor agrees by chance: once in three on the grid; with one of the other five images
            // of a group of six, or in the group of seven, which 7 of 25 images are in, two times in six for
            // three of them and one in six for four. Of 300 pairs 100 and 63, with standard deviations of 8.2
            // and 7.1.
            let (expected, deviation) = if repeated { (63.2, 7.1) } else { (100.0, 8.2) };
            assert!((agree - expected).abs() < 4.0 * deviation, "{agree}");
        }
    }

    /// Both ways of drawing have the same distribution on a full grid: every combination with the fixed value equally
    /// often. 6000 draws over 8 combinations: 750 each, standard deviation 26.
    #[test]
    fn grouped_rows_and_the_grid_have_the_same_distribution() {
        let grid = data(false);
        let mut by_rows = Interventions::new(&grid).unwrap();
        let column = |k: usize| (0..24).map(move |i| [i / 8, i / 2 % 4, i % 2][k]).collect::<Vec<u32>>();
        let sizes = [3, 4, 2];
        let groups = (0..3).map(|k| Groups::new(column(k).into_iter(), sizes[k]));
        by_rows.lookup = Lookup::Rows { groups: groups.collect() };
        for interventions in [&Interventions::new(&grid).unwrap(), &by_rows] {
            let mut generator = Stream::new(3, "test").at(0).generator();
            let mut counts = [0; 24];
            for _ in 0..6000 {
                counts[interventions.draw(0, 1, &mut generator)] += 1;
            }
            assert!(counts[..8].iter().chain(&counts[16..]).all(|&count| count == 0));
            assert!(counts[8..16].iter().all(|count| (620..880).contains(count)), "{counts:?}");
        }
    }

    #[test]
    fn factors_that_are_not_latent_vary() {
        let data = data(false);
        let interventions = Interventions::new(&data).unwrap();
        let mut generator = Stream::new(4, "test").at(0).generator();
        let mut instances = std::collections::BTreeSet::new();
        for _ in 0..50 {
            let row = factors_of(&data, interventions.image_with(&[2, 1], &mut generator).unwrap());
            assert_eq!(row[..2], [2, 1]);
            instances.insert(row[2]);
        }
        assert_eq!(instances.len(), 2);
        assert_eq!(interventions.image_with(&[3, 0], &mut generator), None);
        let mut drawn = [9; 40];
        interventions.factors(&mut generator, &mut drawn);
        assert!(drawn.chunks(2).all(|row| row[0] < 3 && row[1] < 4));
    }
}
