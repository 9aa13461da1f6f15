//! The square: a polygon, rasterised with the rules of graphics hardware.

use super::{Pose, SIDE};

/// Half the side of the square at scale 1, in pixels.
const HALF_SIDE: f64 = 9.6;
/// Corners are snapped to this fraction of a pixel, after which all arithmetic is exact.
const SUBPIXELS: f64 = 256.0;

/// Sets the pixels of the square to 1.
pub(super) fn fill(pose: &Pose, pixels: &mut [f32]) {
    let half = HALF_SIDE * pose.scale;
    // In this order, with y down, the inside is where all edge functions are positive.
    let corners = [(-half, -half), (half, -half), (half, half), (-half, half)].map(|(x, y)| {
        let turned = (x * pose.cosine + y * pose.sine, y * pose.cosine - x * pose.sine);
        let snap = |value: f64| (value * SUBPIXELS).round() as i64;
        (snap(turned.0 + pose.centre.0), snap(turned.1 + pose.centre.1))
    });
    let pixel = SUBPIXELS as i64;
    let range = |coordinates: [i64; 4]| {
        let low = coordinates.iter().min().copied().unwrap_or(0).div_euclid(pixel).max(0);
        let high = coordinates.iter().max().copied().unwrap_or(0).div_euclid(pixel).min(SIDE as i64 - 1);
        low..=high
    };
    for row in range(corners.map(|corner| corner.1)) {
        for column in range(corners.map(|corner| corner.0)) {
            let point = (column * pixel + pixel / 2, row * pixel + pixel / 2);
            let inside = (0..4).all(|i| covers(corners[i], corners[(i + 1) % 4], point));
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
