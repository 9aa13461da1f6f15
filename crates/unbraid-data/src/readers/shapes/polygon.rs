//! The square and the triangle: polygons, rasterised with the rules of graphics hardware.

use super::{Pose, SIDE};

/// Half the side of the square at scale 1, in pixels.
const HALF_SIDE: f64 = 9.6;
/// From the centre of the triangle to its corners at scale 1, in pixels.
const TRIANGLE_RADIUS: f64 = 16.0;
/// Corners are snapped to this fraction of a pixel, after which all arithmetic is exact.
const SUBPIXELS: f64 = 256.0;

/// Sets the pixels of the square to 1.
pub(super) fn square(pose: &Pose, pixels: &mut [f32]) {
    let half = HALF_SIDE * pose.scale;
    fill(pose, [(-half, -half), (half, -half), (half, half), (-half, half)], pixels);
}

/// Sets the pixels of an equilateral triangle to 1, whose corners are as far from its centre as the border of
/// the image is from the outermost positions. dSprites has none: no model has seen it.
pub(super) fn triangle(pose: &Pose, pixels: &mut [f32]) {
    let radius = TRIANGLE_RADIUS * pose.scale;
    let (across, down) = (radius * 0.75_f64.sqrt(), radius / 2.0);
    fill(pose, [(0.0, -radius), (across, down), (-across, down)], pixels);
}

/// Sets the pixels of a convex polygon to 1. With y down, its corners go around so that the inside is where
/// all edge functions are positive.
fn fill<const CORNERS: usize>(pose: &Pose, corners: [(f64, f64); CORNERS], pixels: &mut [f32]) {
    let corners = corners.map(|(x, y)| {
        let turned = (x * pose.cosine + y * pose.sine, y * pose.cosine - x * pose.sine);
        let snap = |value: f64| (value * SUBPIXELS).round() as i64;
        (snap(turned.0 + pose.centre.0), snap(turned.1 + pose.centre.1))
    });
    let pixel = SUBPIXELS as i64;
    let range = |coordinates: [i64; CORNERS]| {
        let low = coordinates.iter().min().copied().unwrap_or(0).div_euclid(pixel).max(0);
        let high = coordinates.iter().max().copied().unwrap_or(0).div_euclid(pixel).min(SIDE as i64 - 1);
        low..=high
    };
    for row in range(corners.map(|corner| corner.1)) {
        for column in range(corners.map(|corner| corner.0)) {
            let point = (column * pixel + pixel / 2, row * pixel + pixel / 2);
            let inside = (0..CORNERS).all(|i| covers(corners[i], corners[(i + 1) % CORNERS], point));
            if inside {
                pixels[row as usize * SIDE + column as usize] = 1.0;
            }
        }
    }
}

/// Whether a point is on the inner side of an edge. A point exactly on an edge belongs to only one of the two polygons
/// that can share the edge: the one for which the edge goes up, or is horizontal and goes left.
fn covers(from: (i64, i64), to: (i64, i64), point: (i64, i64)) -> bool {
    let edge = (to.0 - from.0, to.1 - from.1);
    let side = edge.0 * (point.1 - from.1) - edge.1 * (point.0 - from.0);
    side > 0 || side == 0 && (edge.1 < 0 || edge.1 == 0 && edge.0 < 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An equilateral triangle with corners at distance r from its centre has the area 3 sqrt(3) r^2 / 4:
    /// 332.6 at scale 1 and 83.1 at scale 1/2. A pixel counts if its middle is inside, which over many poses
    /// is right on average; in a single pose, a side of 27.7 pixels along a row may be half a pixel off,
    /// which is 14 pixels.
    #[test]
    fn a_triangle_has_its_area_and_stays_in_the_image() {
        for scale in [1.0, 0.5] {
            let mut areas = Vec::new();
            for turn in 0..40 {
                let angle = f64::from(turn) * std::f64::consts::TAU / 40.0;
                let pose = Pose { centre: (16.3, 40.7), scale, sine: angle.sin(), cosine: angle.cos() };
                let mut pixels = vec![0.0; SIDE * SIDE];
                triangle(&pose, &mut pixels);
                areas.push(f64::from(pixels.iter().sum::<f32>()));
            }
            let expected = 3.0 * 3.0_f64.sqrt() / 4.0 * (TRIANGLE_RADIUS * scale).powi(2);
            let mean = areas.iter().sum::<f64>() / 40.0;
            assert!((mean - expected).abs() < 0.01 * expected, "{mean} {expected}");
            assert!(areas.iter().all(|area| (area - expected).abs() < 14.0), "{areas:?}");
        }
    }
}
