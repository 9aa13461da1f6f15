//! Codes under interventions on a data set.

use rand::seq::SliceRandom;
use unbraid_data::DataSet;
use unbraid_data::random::Stream;
use unbraid_data::sampling::{Interventions, uniform};
use unbraid_metrics::random::Generator;
use unbraid_metrics::scores::InterventionSampler;

/// Codes that can be looked up by image.
pub trait Lookup: Sync {
    /// The number of units of a code.
    fn units(&self) -> usize;

    /// Writes the codes of `images` one after the other.
    fn look_up(&self, images: &[usize], codes: &mut [f64]);
}

/// Draws images under interventions on the factors of a data set, and looks up their codes.
///
/// On a full grid the other factors are independent and uniform, as the definitions of the scores require; from other
/// data, images that share the value of the fixed factor are drawn.
#[derive(Debug)]
pub struct DataSampler<'a, L> {
    interventions: Interventions<'a>,
    /// Positions of the latent factors that vary.
    factors: Vec<usize>,
    images: usize,
    codes: &'a L,
}

impl<'a, L: Lookup> DataSampler<'a, L> {
    /// Over all images of `data`, which must all have been encoded; `None` if no latent factor varies.
    pub fn new(data: &'a dyn DataSet, codes: &'a L) -> Option<Self> {
        let factors = varying_factors(data);
        if factors.is_empty() {
            return None;
        }
        let interventions = Interventions::new(data).ok()?;
        Some(Self { interventions, factors, images: data.len(), codes })
    }
}

impl<L: Lookup> InterventionSampler for DataSampler<'_, L> {
    fn unit_count(&self) -> usize {
        self.codes.units()
    }

    fn factor_count(&self) -> usize {
        self.factors.len()
    }

    fn pairs(&self, factor: usize, generator: &mut Generator, first: &mut [f64], second: &mut [f64]) {
        let count = first.len() / self.unit_count();
        let (mut left, mut right) = (vec![0; count], vec![0; count]);
        self.interventions.pairs(self.factors[factor], generator, &mut left, &mut right);
        self.codes.look_up(&left, first);
        self.codes.look_up(&right, second);
    }

    fn held(&self, factor: usize, generator: &mut Generator, batch: &mut [f64]) {
        let mut images = vec![0; batch.len() / self.unit_count()];
        self.interventions.fixed(self.factors[factor], generator, &mut images);
        self.codes.look_up(&images, batch);
    }

    fn free(&self, generator: &mut Generator, batch: &mut [f64]) {
        let mut images = vec![0; batch.len() / self.unit_count()];
        uniform(self.images, generator, &mut images);
        self.codes.look_up(&images, batch);
    }

    fn shuffled(&self, seed: u64, round: usize) -> Option<Box<dyn InterventionSampler + '_>> {
        let mut order: Vec<usize> = (0..self.images).collect();
        order.shuffle(&mut Stream::new(seed, "chance").at(round as u64).generator());
        Some(Box::new(ShuffledSampler { sampler: self, order }))
    }
}

/// Draws the images that a sampler draws, and looks up the code of another image for each.
struct ShuffledSampler<'a, L> {
    sampler: &'a DataSampler<'a, L>,
    order: Vec<usize>,
}

impl<L: Lookup> ShuffledSampler<'_, L> {
    fn look_up(&self, images: &mut [usize], codes: &mut [f64]) {
        images.iter_mut().for_each(|image| *image = self.order[*image]);
        self.sampler.codes.look_up(images, codes);
    }
}

impl<L: Lookup> InterventionSampler for ShuffledSampler<'_, L> {
    fn unit_count(&self) -> usize {
        self.sampler.unit_count()
    }

    fn factor_count(&self) -> usize {
        self.sampler.factor_count()
    }

    fn pairs(&self, factor: usize, generator: &mut Generator, first: &mut [f64], second: &mut [f64]) {
        let count = first.len() / self.unit_count();
        let (mut left, mut right) = (vec![0; count], vec![0; count]);
        let DataSampler { interventions, factors, .. } = self.sampler;
        interventions.pairs(factors[factor], generator, &mut left, &mut right);
        self.look_up(&mut left, first);
        self.look_up(&mut right, second);
    }

    fn held(&self, factor: usize, generator: &mut Generator, batch: &mut [f64]) {
        let mut images = vec![0; batch.len() / self.unit_count()];
        let DataSampler { interventions, factors, .. } = self.sampler;
        interventions.fixed(factors[factor], generator, &mut images);
        self.look_up(&mut images, batch);
    }

    fn free(&self, generator: &mut Generator, batch: &mut [f64]) {
        // Images drawn uniformly are as good in any order.
        self.sampler.free(generator, batch);
    }
}

/// Positions of the latent factors that take more than one value among the images.
pub(super) fn varying_factors(data: &dyn DataSet) -> Vec<usize> {
    let Some(space) = data.factors() else { return Vec::new() };
    let mut waiting = space.latent();
    if data.is_full_grid() {
        waiting.retain(|&factor| space.factors()[factor].size > 1);
        return waiting;
    }
    let (mut first, mut row) = (vec![0; space.len()], vec![0; space.len()]);
    let mut varying = Vec::new();
    for image in 0..data.len() {
        data.factors_of(image, &mut row);
        if image == 0 {
            first.copy_from_slice(&row);
        }
        waiting.retain(|&factor| {
            let same = row[factor] == first[factor];
            if !same {
                varying.push(factor);
            }
            same
        });
        if waiting.is_empty() {
            break;
        }
    }
    varying.sort_unstable();
    varying
}

#[cfg(test)]
mod tests {
    use super::*;
    use unbraid_data::progress::Silent;

    /// Factors are shape, scale, orientation, x and y; the third data set has squares only.
    #[test]
    fn factors_with_one_value_are_not_intervened_on() {
        let grid = "shapes(scales=2, orientations=2, positions=4";
        for (spec, expected) in [
            (format!("{grid})"), &[0, 1, 2, 3, 4][..]),
            (format!("{grid}, split=test)"), &[0, 1, 2, 3, 4]),
            (format!("{grid}, split=train, split_by=shape, train_fraction=0.3)"), &[1, 2, 3, 4]),
            ("pinwheel(clusters=1)".to_owned(), &[]),
        ] {
            let data = unbraid_data::open(&spec.parse().unwrap(), &Silent).unwrap();
            assert_eq!(varying_factors(data.as_ref()), expected, "{spec}");
        }
    }
}
