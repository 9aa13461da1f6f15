//! Light: a soft lamp above the viewer, and what comes from all sides.

use super::solid::Solid;
use super::vector::{Ray, Vector};

/// Where the lamp is, as seen from the object.
const LAMP: Vector = Vector::new(1.0, 1.5, 1.0);
/// Its radius: the larger, the softer its shadows.
const LAMP_RADIUS: f64 = 0.45;
/// The share of light that comes from all sides; the rest is the lamp's.
const AMBIENT: f64 = 0.55;
/// Rays to the lamp, and to all sides, from a point of the floor.
const RAYS: usize = 48;
/// The angle between one ray and the next around the axis, which never repeats.
const GOLDEN_ANGLE: f64 = 2.399_963_229_728_653;

/// The light that a surface with this normal gets of which this share is not blocked, from 0 to 1.
fn received(normal: Vector, ambient: f64, lamp: f64) -> f64 {
    // Light from above is stronger than that from below.
    let sides = 0.82 + 0.18 * normal.y;
    (AMBIENT * sides * ambient + (1.0 - AMBIENT) * normal.dot(LAMP.unit()).max(0.0) * lamp).clamp(0.0, 1.0)
}

/// Light in corners: less within a short distance of another surface.
pub(super) fn corner(distance: f64) -> f64 {
    let near = distance / 0.25;
    1.0 - 0.3 / (1.0 + near + near * near)
}

/// Light on a wall.
pub(super) fn on_wall(normal: Vector, ambient: f64) -> f64 {
    received(normal, ambient, 1.0)
}

/// Light on an object at this height, and its highlight, seen from a direction.
pub(super) fn on_object(normal: Vector, height: f64, towards_viewer: Vector) -> (f64, f64) {
    let light = received(normal, corner(height), 1.0);
    let half = (LAMP.unit() + towards_viewer).unit();
    (light, 0.55 * normal.dot(half).max(0.0).powi(60))
}

/// The light on the floor around an object, in a square grid. It does not depend on the camera.
#[derive(Debug)]
pub(super) struct FloorLight {
    values: Vec<f64>,
}

/// Points of the grid along each axis.
const POINTS: usize = 64;
/// Half the side of the grid.
const REACH: f64 = 2.0;

impl FloorLight {
    pub(super) fn around(solid: &Solid) -> Self {
        let at = |step: usize| -REACH + 2.0 * REACH * step as f64 / (POINTS - 1) as f64;
        let values = (0..POINTS * POINTS)
            .map(|place| floor_light(solid, Vector::new(at(place % POINTS), 0.0, at(place / POINTS))))
            .collect();
        Self { values }
    }

    /// Between four points of the grid; beyond it, as at its edge.
    pub(super) fn at(&self, x: f64, z: f64) -> f64 {
        let place = |value: f64| {
            let place =
                ((value + REACH) / (2.0 * REACH) * (POINTS - 1) as f64).clamp(0.0, (POINTS - 1) as f64);
            let first = (place as usize).min(POINTS - 2);
            (first, place - first as f64)
        };
        let ((column, right), (row, below)) = (place(x), place(z));
        let value = |row: usize, column: usize| self.values[row * POINTS + column];
        let blend = |row: usize| (1.0 - right) * value(row, column) + right * value(row, column + 1);
        (1.0 - below) * blend(row) + below * blend(row + 1)
    }
}

fn floor_light(solid: &Solid, point: Vector) -> f64 {
    let up = Vector::new(0.0, 1.0, 0.0);
    let share = |blocked: fn(usize) -> Vector| {
        let free = |&ray: &usize| {
            let target = blocked(ray);
            solid.hit(&Ray { origin: point + up * 1e-6, direction: target }).is_none()
        };
        (0..RAYS).filter(free).count() as f64 / RAYS as f64
    };
    received(up, share(to_the_side), share(to_the_lamp))
}

/// Directions from the upper half of space, the more of them the higher, as a level surface sees it.
fn to_the_side(ray: usize) -> Vector {
    let (radius, angle) = spiral(ray);
    Vector::new(radius * angle.cos(), (1.0 - radius * radius).sqrt(), radius * angle.sin())
}

/// Directions to points of the lamp, which is far away.
fn to_the_lamp(ray: usize) -> Vector {
    let (radius, angle) = spiral(ray);
    let (across, towards) = (Vector::new(1.0, 0.0, 0.0), LAMP.cross(Vector::new(1.0, 0.0, 0.0)).unit());
    LAMP + across * (LAMP_RADIUS * radius * angle.cos()) + towards * (LAMP_RADIUS * radius * angle.sin())
}

/// Points spread evenly over the unit disc, in polar coordinates (Vogel 1979).
fn spiral(ray: usize) -> (f64, f64) {
    (((ray as f64 + 0.5) / RAYS as f64).sqrt(), ray as f64 * GOLDEN_ANGLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Far from a small object nothing is blocked; below it, everything is.
    #[test]
    fn shadows_are_where_the_object_is_in_the_way() {
        let light = FloorLight::around(&Solid::Cylinder(0.4, 0.8));
        let free = received(Vector::new(0.0, 1.0, 0.0), 1.0, 1.0);
        let far = light.at(1.9, 1.9);
        assert!(far > 0.93 * free && far <= free, "{far} {free}");
        // Behind the object, as the lamp sees it, and in front of it at the same distance.
        let (behind, before) = (light.at(-0.43, -0.43), light.at(0.43, 0.43));
        assert!(behind < before - 0.25, "{behind} {before}");
    }

    /// The spiral's points have the mean squared radius of the disc, 1/2, and their centre in its centre.
    #[test]
    fn rays_are_spread_evenly() {
        let points: Vec<(f64, f64)> = (0..RAYS).map(spiral).collect();
        let square = points.iter().map(|(radius, _)| radius * radius).sum::<f64>() / RAYS as f64;
        assert!((square - 0.5).abs() < 1e-12);
        let x = points.iter().map(|(radius, angle)| radius * angle.cos()).sum::<f64>() / RAYS as f64;
        let y = points.iter().map(|(radius, angle)| radius * angle.sin()).sum::<f64>() / RAYS as f64;
        assert!(x.hypot(y) < 0.05, "{x} {y}");
    }
}
