//! Information in the aggregate posterior q(z) = 1/N sum_n q(z|x_n): mutual information and total correlation.
//!
//! From M of the N images and one sample z_i of the posterior of each,
//!
//! * I(x; z) = E[ln q(z|x) - ln q(z)], the index-code mutual information (Hoffman & Johnson 2016), and
//! * TC = E[ln q(z) - sum_j ln q(z_j)], the total correlation (Watanabe 1960; Chen et al. 2018, eq. 2),
//!
//! with ln q(z_i) = ln sum_m w_im q(z_i|x_m) estimated in two ways, and ln q(z_ij) of each unit alone likewise:
//!
//! * w_im = 1/M. Since q(z_i|x_i) is among the M, q(z_i) is overestimated on average; for the mutual information this
//!   gives a lower bound, which never exceeds ln M (Poole et al. 2019, on bounds with a known conditional).
//! * w_ii = 1/N and w_im = (1 - 1/N) / (M - 1) otherwise: an unbiased estimate of q(z_i) itself (the stratified
//!   sampling of Chen et al. 2018, appendix C.2, with equal weights for all other images). By Jensen's inequality its
//!   logarithm is underestimated, which gives an upper bound of the mutual information.
//!
//! For the total correlation neither is a bound, since the errors of ln q(z) and of ln q(z_j) have opposite signs: the
//! two numbers are given in ascending order. For M = N they are equal, and exact up to the N samples; their difference
//! shows whether M is large enough. In nats. Categorical units are treated alike, with probabilities as densities.

use crate::model::{Layout, Posteriors};
use ndarray::{ArrayView1, Axis};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use std::f64::consts::PI;
use unbraid_data::random::{Position, Stream};

/// Two estimates of one quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bracket {
    /// The smaller one.
    pub lower: f64,
    /// The larger one.
    pub upper: f64,
}

/// Estimates from some posteriors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AggregatePosterior {
    /// I(x; z), bounded from below and from above.
    pub mutual_information: Bracket,
    /// TC of q(z) from the two density estimates; not bounds.
    pub total_correlation: Bracket,
}

impl AggregatePosterior {
    /// From the posteriors of at least two distinct images out of `dataset_len`. The work grows with the square of
    /// their number. The result depends on the seed, but not on the number of threads.
    ///
    /// # Panics
    /// If there are fewer than two, or more than `dataset_len`.
    pub fn estimate(posteriors: &Posteriors, layout: &Layout, dataset_len: usize, seed: u64) -> Self {
        let count = posteriors.mean.nrows();
        assert!(count >= 2 && count <= dataset_len, "{count} of {dataset_len} images");
        let table = Table::new(posteriors, layout);
        let position = Stream::new(seed, "aggregate posterior").at(0);
        let points: Vec<[f64; 4]> = (0..count)
            .into_par_iter()
            .map_init(
                || vec![vec![0.0; count]; table.units() + 1],
                |rows, place| table.at(place, dataset_len, position, rows),
            )
            .collect();
        // Summed in order, so that the number of threads does not matter.
        let mean = |which: usize| points.iter().map(|point| point[which]).sum::<f64>() / count as f64;
        let (equal, stratified) = (mean(2), mean(3));
        Self {
            mutual_information: Bracket { lower: mean(0), upper: mean(1) },
            total_correlation: Bracket { lower: equal.min(stratified), upper: equal.max(stratified) },
        }
    }
}

/// All posteriors, unit by unit, in double precision.
struct Table {
    /// Mean and log-variance of every image, for each continuous unit.
    continuous: Vec<(Vec<f64>, Vec<f64>)>,
    /// ln of the probability of each class, image by image, for each categorical unit.
    categorical: Vec<(usize, Vec<f64>)>,
}

impl Table {
    fn new(posteriors: &Posteriors, layout: &Layout) -> Self {
        let doubles = |column: ArrayView1<'_, f32>| column.iter().map(|&value| f64::from(value)).collect();
        let means = posteriors.mean.columns().into_iter().zip(posteriors.log_variance.columns());
        let categorical = layout.categorical().iter().enumerate().map(|(unit, &classes)| {
            let columns = layout.probability_columns(unit);
            let own = posteriors.probabilities.slice_axis(Axis(1), columns.into());
            (classes, own.iter().map(|&share| f64::from(share).ln()).collect())
        });
        Self {
            continuous: means.map(|(mean, log)| (doubles(mean), doubles(log))).collect(),
            categorical: categorical.collect(),
        }
    }

    fn units(&self) -> usize {
        self.continuous.len() + self.categorical.len()
    }

    /// Lower and upper bound of the mutual information, and the total correlation with the first and the second
    /// weights, at a sample of the posterior of image `place`. `rows` is a buffer for ln q(z_j|x_m) of each unit j and,
    /// last, of all units together.
    fn at(&self, place: usize, images: usize, position: Position, rows: &mut [Vec<f64>]) -> [f64; 4] {
        let mut generator = position.lane(place as u64).generator();
        let Some((joint, rows)) = rows.split_last_mut() else { return [0.0; 4] };
        joint.fill(0.0);
        let (continuous, categorical) = rows.split_at_mut(self.continuous.len());
        for ((means, logs), row) in self.continuous.iter().zip(continuous) {
            let noise: f64 = StandardNormal.sample(&mut generator);
            let z = means[place] + (0.5 * logs[place]).exp() * noise;
            for (density, (mean, log)) in row.iter_mut().zip(means.iter().zip(logs)) {
                let deviation = z - mean;
                *density = -0.5 * (deviation * deviation * (-log).exp() + log + (2.0 * PI).ln());
            }
        }
        for ((classes, logs), row) in self.categorical.iter().zip(categorical) {
            let class = class_of(&logs[place * classes..][..*classes], generator.random());
            for (density, logs) in row.iter_mut().zip(logs.chunks_exact(*classes)) {
                *density = logs[class];
            }
        }
        for row in rows.iter() {
            joint.iter_mut().zip(row).for_each(|(sum, density)| *sum += density);
        }
        let conditional = joint[place];
        let (equal, stratified) = log_densities(joint, place, images);
        let mut marginals = [0.0; 2];
        for row in rows.iter() {
            let (equal, stratified) = log_densities(row, place, images);
            marginals[0] += equal;
            marginals[1] += stratified;
        }
        [conditional - equal, conditional - stratified, equal - marginals[0], stratified - marginals[1]]
    }
}

/// The class that a uniform number in \[0, 1\) selects.
pub(super) fn class_of(log_probabilities: &[f64], mut left: f64) -> usize {
    let chosen = log_probabilities.iter().position(|log| {
        left -= log.exp();
        left < 0.0
    });
    // Rounding may leave the sum of all probabilities below the number drawn; a class of probability zero is never
    // chosen.
    let possible = || log_probabilities.iter().rposition(|log| *log > f64::NEG_INFINITY);
    chosen.or_else(possible).unwrap_or(0)
}

/// ln sum_m w_m exp(density_m) with equal weights, and with the weight 1/N for `own` and equal weights for the others.
fn log_densities(densities: &[f64], own: usize, images: usize) -> (f64, f64) {
    let largest = densities.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = densities.iter().map(|density| (density - largest).exp()).sum();
    let own = (densities[own] - largest).exp();
    let (count, share) = (densities.len() as f64, 1.0 / images as f64);
    let stratified = own * share + (sum - own).max(0.0) * (1.0 - share) / (count - 1.0);
    (largest + (sum / count).ln(), largest + stratified.ln())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    /// Densities 1, 2 and 6 of three out of ten images: the mean is 3, and for the second image 2/10 + 9/10 (1 + 6)/2.
    #[test]
    fn weights_are_those_of_the_formulas() {
        let logs = [1.0_f64, 2.0, 6.0].map(f64::ln);
        let (equal, stratified) = log_densities(&logs, 1, 10);
        assert!((equal.exp() - 3.0).abs() < 1e-12, "{equal}");
        assert!((stratified.exp() - (0.2 + 0.9 * 3.5)).abs() < 1e-12, "{stratified}");
        let (equal, stratified) = log_densities(&logs, 0, 3);
        assert!((equal - stratified).abs() < 1e-12, "all images: both are the same");
    }

    #[test]
    fn classes_follow_their_probabilities() {
        let logs = [0.25_f64, 0.75, 0.0].map(f64::ln);
        assert_eq!([0.0, 0.2, 0.3, 0.999].map(|number| class_of(&logs, number)), [0, 0, 1, 1]);
        assert_eq!(class_of(&logs, 1.0), 1, "never a class without probability");
    }

    /// Two units of variance one: means with correlation `correlation`, posteriors of standard deviation `noise`.
    fn gaussian(images: usize, correlation: f64, noise: f64) -> Posteriors {
        let mut generator = Stream::new(4, "means").at(0).generator();
        let mut draw = || -> f64 { StandardNormal.sample(&mut generator) };
        let scale = (1.0 - noise * noise).sqrt();
        let (common, own) = (correlation.sqrt(), (1.0 - correlation).sqrt());
        let mut mean = Array2::zeros((images, 2));
        for mut row in mean.rows_mut() {
            let shared = common * draw();
            row.iter_mut().for_each(|value| *value = (scale * (shared + own * draw())) as f32);
        }
        let log_variance = Array2::from_elem((images, 2), (2.0 * noise.ln()) as f32);
        let (categories, probabilities) = (Array2::zeros((images, 0)), Array2::zeros((images, 0)));
        Posteriors { mean, log_variance, categories, probabilities }
    }

    /// q(z) is a Gaussian with unit variances and correlation r = correlation (1 - noise^2), so that I(x; z) = H(z) -
    /// H(z|x) = 1/2 ln(1 - r^2) - 2 ln(noise) and TC = -1/2 ln(1 - r^2). Both estimates are means over 3000 samples of
    /// log-ratios with a standard deviation of about one: an error of 0.02, plus the bias of few images.
    #[test]
    fn gaussians_have_the_information_of_the_closed_form() {
        for (correlation, noise) in [(0.6_f64, 0.5_f64), (0.9, 0.3), (0.0, 0.7)] {
            let r = correlation * (1.0 - noise * noise);
            let total_correlation = -0.5 * (1.0 - r * r).ln();
            let information = -total_correlation - 2.0 * noise.ln();
            let found = AggregatePosterior::estimate(
                &gaussian(3000, correlation, noise),
                &Layout::with_units(2, &[]),
                1_000_000,
                0,
            );
            let AggregatePosterior { mutual_information, total_correlation: found } = found;
            assert!(mutual_information.lower < mutual_information.upper, "{mutual_information:?}");
            for (found, expected) in [
                (mutual_information.lower, information),
                (mutual_information.upper, information),
                (found.lower, total_correlation),
                (found.upper, total_correlation),
            ] {
                assert!((found - expected).abs() < 0.07, "{correlation} {noise}: {found} {expected}");
            }
        }
    }

    fn categorical(rows: &[&[f32]]) -> Posteriors {
        let (images, width) = (rows.len(), rows[0].len());
        let probabilities = Array2::from_shape_fn((images, width), |(row, column)| rows[row][column]);
        let empty = || Array2::zeros((images, 0));
        Posteriors {
            mean: empty(),
            log_variance: empty(),
            categories: Array2::zeros((images, 2)),
            probabilities,
        }
    }

    /// Two units that both identify one of three images: each carries ln 3, and so do both together, so that they share
    /// ln 3.
    #[test]
    fn classes_that_are_certain_share_all_they_know() {
        let posteriors = categorical(&[
            &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0],
            &[0.0, 1.0, 0.0, 1.0, 0.0, 0.0],
            &[0.0, 0.0, 1.0, 0.0, 0.0, 1.0],
        ]);
        let found = AggregatePosterior::estimate(&posteriors, &Layout::with_units(0, &[3, 3]), 3, 9);
        for value in [found.mutual_information, found.total_correlation] {
            assert!((value.lower - 3_f64.ln()).abs() < 1e-12, "{found:?}");
            assert!((value.upper - 3_f64.ln()).abs() < 1e-12, "{found:?}");
        }
    }

    /// One unit of two classes that is right nine times out of ten, and a constant one: I = ln 2 - H(0.1).
    #[test]
    fn classes_that_err_know_less() {
        let rows: Vec<&[f32]> =
            (0..4000).map(|i| if i % 2 == 0 { &[0.9, 0.1, 1.0][..] } else { &[0.1, 0.9, 1.0][..] }).collect();
        let found =
            AggregatePosterior::estimate(&categorical(&rows), &Layout::with_units(0, &[2, 1]), 4000, 1);
        let entropy = -(0.1_f64 * 0.1_f64.ln() + 0.9 * 0.9_f64.ln());
        // A sample is right or wrong, ln(1.8) or ln(0.2): a standard deviation of 0.66 over the square root of 4000.
        let expected = 2_f64.ln() - entropy;
        assert!((found.mutual_information.lower - expected).abs() < 0.05, "{found:?} {expected}");
        assert!(found.total_correlation.upper.abs() < 1e-9, "{found:?}");
    }
}
