//! Ellipse and heart: star-shaped outlines given by their radius at each angle.
//!
//! A pixel is inside if the distance of its centre (u, v), in the coordinates of the shape, is below the radius at its
//! angle: hypot(u, v) < r(atan2(v, |u|)). Both shapes are symmetric in u. The radii were measured on
//! published images at 720 angles, with linear interpolation in between.
//!
//! The angle is expensive, and most pixels are far from the outline. So the plane is divided into sectors by
//! the "diamond angle" v / (|u| + |v|), which increases with the angle and needs one division. Each sector
//! has a smallest and a largest radius, and only pixels between the two need the exact angle. The result is
//! the same.

use super::{Pose, SIDE};
use std::f64::consts::FRAC_PI_2;
use std::sync::LazyLock;

/// Columns: angle, radius of the ellipse, radius of the heart, at the midpoints of 720 equal steps from -pi/2 to pi/2.
const PROFILES: &str = include_str!("profiles.csv");
const SECTORS: usize = 1024;

pub(super) static ELLIPSE: LazyLock<Outline> = LazyLock::new(|| Outline::new(column(1)));
pub(super) static HEART: LazyLock<Outline> = LazyLock::new(|| Outline::new(column(2)));

fn column(column: usize) -> Vec<f64> {
    let number = |line: &str| line.split(',').nth(column).and_then(|field| field.parse().ok());
    // The file is part of the source, and a test checks every number.
    PROFILES.lines().skip(1).map(|line| number(line).unwrap_or(f64::NAN)).collect()
}

/// A closed curve around the origin, symmetric in u.
#[derive(Debug)]
pub(super) struct Outline {
    radii: Vec<f64>,
    largest: f64,
    /// Squares of the smallest and of the largest radius of each sector, with a margin for rounding.
    sectors: Vec<(f64, f64)>,
}

impl Outline {
    fn new(radii: Vec<f64>) -> Self {
        let mut outline = Self { radii, largest: 0.0, sectors: Vec::new() };
        let angle_at = |sector: usize| {
            let diamond = 2.0 * sector as f64 / SECTORS as f64 - 1.0;
            diamond.atan2(1.0 - diamond.abs())
        };
        outline.sectors = (0..SECTORS)
            .map(|sector| {
                let (low, high) = outline.range(angle_at(sector), angle_at(sector + 1));
                (low * low * (1.0 - 1e-9), high * high * (1.0 + 1e-9))
            })
            .collect();
        outline.largest = outline.sectors.iter().fold(0.0, |largest, sector| sector.1.sqrt().max(largest));
        outline
    }

    fn step(&self) -> f64 {
        2.0 * FRAC_PI_2 / self.radii.len() as f64
    }

    /// The radius at an angle in \[-pi/2, pi/2\]: linear between the tabulated angles and beyond the outermost ones.
    fn radius(&self, angle: f64) -> f64 {
        let position = (angle + FRAC_PI_2) / self.step() - 0.5;
        let left = position.floor().clamp(0.0, (self.radii.len() - 2) as f64);
        let (low, high) = (self.radii[left as usize], self.radii[left as usize + 1]);
        low + (position - left) * (high - low)
    }

    /// The smallest and the largest radius between two angles: at an end or at a tabulated angle.
    fn range(&self, from: f64, to: f64) -> (f64, f64) {
        let ends = [self.radius(from), self.radius(to)];
        let tabulated = self.radii.iter().enumerate().filter_map(|(i, &radius)| {
            let angle = (i as f64 + 0.5) * self.step() - FRAC_PI_2;
            (from..=to).contains(&angle).then_some(radius)
        });
        tabulated.chain(ends).fold((f64::MAX, 0.0), |(low, high), radius| (radius.min(low), radius.max(high)))
    }

    /// Whether a point in the coordinates of the shape is inside.
    fn contains(&self, u: f64, v: f64) -> bool {
        let u = u.abs();
        let square = u * u + v * v;
        let diamond = v / (u + v.abs());
        // The angle of the centre is NaN, which becomes sector 0; the centre is inside any sector.
        let sector = ((diamond + 1.0) * (SECTORS as f64 / 2.0)) as usize;
        let (surely, possibly) = self.sectors[sector.min(SECTORS - 1)];
        square < surely || square < possibly && u.hypot(v) < self.radius(v.atan2(u))
    }

    /// Sets the pixels of the shape to 1.
    pub(super) fn fill(&self, pose: &Pose, pixels: &mut [f32]) {
        let reach = self.largest * pose.scale;
        let range = |centre: f64| {
            let low = (centre - reach - 0.5).ceil().max(0.0) as usize;
            let high = (centre + reach - 0.5).floor().min(SIDE as f64 - 1.0) as usize;
            low..=high
        };
        for row in range(pose.centre.1) {
            let y = row as f64 + 0.5 - pose.centre.1;
            for column in range(pose.centre.0) {
                let x = column as f64 + 0.5 - pose.centre.0;
                let u = (x * pose.cosine - y * pose.sine) / pose.scale;
                let v = (x * pose.sine + y * pose.cosine) / pose.scale;
                if self.contains(u, v) {
                    pixels[row * SIDE + column] = 1.0;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_table_is_complete() {
        for outline in [&*ELLIPSE, &*HEART] {
            assert_eq!(outline.radii.len(), 720);
            assert!(outline.radii.iter().all(|radius| (4.0..20.0).contains(radius)));
        }
        // The first angle of the table is the midpoint of the first step.
        let first: f64 = PROFILES.lines().nth(1).unwrap().split(',').next().unwrap().parse().unwrap();
        assert!((first - (0.5 * ELLIPSE.step() - FRAC_PI_2)).abs() < 1e-6);
    }

    /// The half axes that were measured for the ellipse are 12.764 and 7.216 pixels.
    #[test]
    fn the_ellipse_has_its_axes() {
        assert!((ELLIPSE.radius(0.0) - 12.764).abs() < 0.05);
        assert!((ELLIPSE.radius(FRAC_PI_2) - 7.216).abs() < 0.05);
    }

    proptest! {
        #[test]
        fn sectors_do_not_change_the_result(u in -15.0..15.0_f64, v in -15.0..15.0_f64) {
            for outline in [&*ELLIPSE, &*HEART] {
                let exact = u.hypot(v) < outline.radius(v.atan2(u.abs()));
                prop_assert_eq!(outline.contains(u, v), exact);
            }
        }
    }
}
