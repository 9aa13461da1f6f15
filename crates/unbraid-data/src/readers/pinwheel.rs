//! Pinwheel: points in the plane on curved arms, one cluster per arm (Johnson et al., 2016; Mathieu et al., 2019).
//!
//! A point is drawn from a Gaussian with mean (1, 0) and a larger variance along the first axis, then rotated by the
//! angle of its arm plus rate e^x, so that arms bend with the distance. The "images" are 1 x 2 x 1, and their
//! values are coordinates, which are not limited to \[0, 1\].

use crate::data_option::DataOption;
use crate::dataset::{DataSet, ImageShape};
use crate::error::Result;
use crate::factors::{Factor, FactorKind, FactorSpace};
use crate::fingerprint::Fingerprint;
use crate::random::Stream;
use crate::request::Request;
use crate::storage::Pixels;
use crate::stored::StoredImages;
use crate::table::FactorTable;
use rand_distr::{Distribution, StandardNormal};
use std::f64::consts::TAU;
use std::fmt::Write as _;

/// The form of an arm.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Arm {
    /// Standard deviations along and across it, before bending.
    radial: f64,
    tangential: f64,
    /// How much it bends with the distance.
    rate: f64,
}

/// That of the authors' code. Mathieu et al. 2019, appendix B, print the two deviations the other way round,
/// which gives four heaps in place of the spirals that they draw and name.
const ARM: Arm = Arm { radial: 0.3, tangential: 0.1, rate: 0.25 };

pub(crate) const OPTIONS: &[DataOption] = &[
    DataOption::new("clusters", "1 to 1000", "4", "number of arms"),
    DataOption::new("points", "1 to 1000000", "100", "number of points per arm"),
    DataOption::new("radial", "a number between 0 and 1", "0.3", "standard deviation along an arm"),
    DataOption::new("tangential", "a number between 0 and 1", "0.1", "standard deviation across an arm"),
    DataOption::new("rate", "a number between 0 and 1", "0.25", "how much an arm bends with the distance"),
    DataOption::new("seed", "a whole number", "0", "seed of the random points"),
];

pub(crate) fn open(request: &Request<'_>) -> Result<Box<dyn DataSet>> {
    let clusters = request.integer("clusters", 1..=1000, 4)?;
    let points = request.integer("points", 1..=1_000_000, 100)?;
    let seed = request.integer("seed", 0..=usize::MAX, 0)? as u64;
    let test = request.choice("split", &[("train", false), ("test", true)])?;
    let arm = Arm {
        radial: request.fraction("radial", ARM.radial)?,
        tangential: request.fraction("tangential", ARM.tangential)?,
        rate: request.fraction("rate", ARM.rate)?,
    };
    let mut recipe = format!("pinwheel 1 clusters={clusters} points={points} seed={seed} test={test}");
    if arm != ARM {
        let Arm { radial, tangential, rate } = arm;
        let _ = write!(recipe, " radial={radial} tangential={tangential} rate={rate}");
    }
    let values = generate(arm, clusters, points, seed, test);
    let space = FactorSpace::new(vec![Factor::new("cluster", clusters).of_kind(FactorKind::Categorical)]);
    let rows = (0..clusters as u32).flat_map(|cluster| std::iter::repeat_n(cluster, points)).collect();
    let table = Some(FactorTable::from_rows(space, rows)?);
    let pixels = Pixels::Floats { values_per_image: 2, values };
    let shape = ImageShape::new(1, 2, 1);
    Ok(Box::new(StoredImages::new("pinwheel", shape, pixels, table, Fingerprint::Recipe(recipe))))
}

/// All points, arm by arm; train and test are independent draws.
fn generate(arm: Arm, clusters: usize, points: usize, seed: u64, test: bool) -> Vec<f32> {
    let position = Stream::new(seed, "pinwheel").at(u64::from(test));
    let mut values = Vec::with_capacity(2 * clusters * points);
    for cluster in 0..clusters {
        let mut generator = position.lane(cluster as u64).generator();
        for _ in 0..points {
            let mut normal = || -> f64 { StandardNormal.sample(&mut generator) };
            let (x, y) = (1.0 + arm.radial * normal(), arm.tangential * normal());
            let angle = TAU * cluster as f64 / clusters as f64 + arm.rate * x.exp();
            let (sine, cosine) = angle.sin_cos();
            values.extend([(x * cosine - y * sine) as f32, (x * sine + y * cosine) as f32]);
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rotation preserves distances, so they must have the moments of hypot(1 + r a, t b): its square has
    /// mean 1 + r^2 + t^2 and variance 4 r^2 + 2 (r^4 + t^4), which tells the two deviations apart: 0.3764
    /// with 0.3 along the arm, and 0.0564 with 0.3 across it.
    #[test]
    fn distances_have_the_moments_of_the_gaussian() {
        let printed = Arm { radial: 0.1, tangential: 0.3, ..ARM };
        for (arm, expected) in [(ARM, 0.3764), (printed, 0.0564)] {
            let points = generate(arm, 4, 10_000, 1, false);
            let squares: Vec<f64> =
                points.chunks(2).map(|p| f64::from(p[0]).powi(2) + f64::from(p[1]).powi(2)).collect();
            let mean = squares.iter().sum::<f64>() / squares.len() as f64;
            let variance = squares.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / squares.len() as f64;
            // 40,000 points: standard error of the mean 0.003, of the variance about 0.005.
            assert!((mean - 1.1).abs() < 0.012, "{mean}");
            assert!((variance - expected).abs() < 0.02, "{variance}");
        }
    }

    /// Undoing the rotation must give points around (1, 0) for each cluster.
    #[test]
    fn every_arm_unbends() {
        let points = generate(ARM, 4, 2000, 2, true);
        for (i, point) in points.chunks(2).enumerate() {
            let (x, y) = (f64::from(point[0]), f64::from(point[1]));
            let radius = x.hypot(y);
            // Across the arm the spread is small, so the radius is nearly the first coordinate.
            let angle = y.atan2(x) - ARM.rate * radius.exp() - TAU * (i / 2000) as f64 / 4.0;
            let turned = (angle + TAU / 2.0).rem_euclid(TAU) - TAU / 2.0;
            assert!(radius < 0.45 || turned.abs() < 1.0, "point {i} is {turned} off its arm");
        }
    }

    #[test]
    fn train_and_test_differ_and_repeat() {
        let points = |test: bool| generate(ARM, 3, 5, 7, test);
        assert_eq!(points(false), points(false));
        assert_ne!(points(false), points(true));
    }
}
