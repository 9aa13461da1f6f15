//! Interventions on a data set, answered with codes.

use unbraid_data::DataSet;
use unbraid_data::sampling::{Interventions, uniform};
use unbraid_metrics::random::Generator;
use unbraid_metrics::scores::InterventionSampler;

/// Whatever has codes by image.
pub trait Lookup: Sync {
    /// The number of units of a code.
    fn units(&self) -> usize;

    /// Writes the codes of `images` one after the other.
    fn look_up(&self, images: &[usize], codes: &mut [f64]);
}

/// Draws images under interventions on the factors of a data set, and looks their codes up.
///
/// On a full grid the other factors are independent and uniform, as the definitions of the scores have it; from other data
/// images that share the value of the held factor are drawn.
#[derive(Debug)]
pub struct DataSampler<'a, L> {
    interventions: Interventions<'a>,
    /// Positions of the latent factors that vary.
    factors: Vec<usize>,
    images: usize,
    codes: &'a L,
}

impl<'a, L: Lookup> DataSampler<'a, L> {
    /// Over all images of `data`, whose codes must all be known; `None` if no latent factor varies.
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
