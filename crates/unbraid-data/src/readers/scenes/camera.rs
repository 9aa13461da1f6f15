//! The camera, which moves around the object on an arc.

use super::vector::{Ray, Vector};

/// How far the camera is from what it looks at.
const DISTANCE: f64 = 2.6;
/// How high it looks down from, in radians: 20 degrees.
const ELEVATION: f64 = 20.0 * DEGREE;
/// What it looks at: the middle of an object of medium size.
const TARGET: Vector = Vector::new(0.0, 0.42, 0.0);
/// Half the angle of view from the lower to the upper edge.
const HALF_VIEW: f64 = 21.0 * DEGREE;
const DEGREE: f64 = std::f64::consts::PI / 180.0;

/// A pinhole camera.
#[derive(Clone, Copy, Debug)]
pub(super) struct Camera {
    pub(super) position: Vector,
    forward: Vector,
    right: Vector,
    up: Vector,
}

impl Camera {
    /// Turned by some degrees to the right of the diagonal of the room.
    pub(super) fn turned(degrees: f64) -> Self {
        let azimuth = (45.0 + degrees) * DEGREE;
        let back =
            Vector::new(ELEVATION.cos() * azimuth.sin(), ELEVATION.sin(), ELEVATION.cos() * azimuth.cos());
        let right = Vector::new(azimuth.cos(), 0.0, -azimuth.sin());
        Self { position: TARGET + back * DISTANCE, forward: back * -1.0, right, up: back.cross(right) }
    }

    /// The ray through a point of the image: both coordinates go from 0 to 1, to the right and down.
    pub(super) fn ray(&self, across: f64, down: f64) -> Ray {
        let reach = HALF_VIEW.tan();
        let (x, y) = ((2.0 * across - 1.0) * reach, (1.0 - 2.0 * down) * reach);
        Ray { origin: self.position, direction: (self.forward + self.right * x + self.up * y).unit() }
    }

    /// Where a point in front of the camera is seen.
    #[cfg(test)]
    pub(super) fn project(&self, point: Vector) -> (f64, f64) {
        let (from, reach) = (point - self.position, HALF_VIEW.tan());
        let depth = from.dot(self.forward) * reach;
        (0.5 + 0.5 * from.dot(self.right) / depth, 0.5 - 0.5 * from.dot(self.up) / depth)
    }

    /// The share of the image that a sphere covers: its outline is an ellipse with half axes sin a cos a /
    /// (cos^2 t - sin^2 a) and sin a / sqrt(cos^2 t - sin^2 a), where t is the angle between its centre and
    /// the optical axis, and sin a its radius over its distance.
    #[cfg(test)]
    pub(super) fn share_of_sphere(&self, centre: Vector, radius: f64) -> f64 {
        let from = centre - self.position;
        let distance = from.dot(from).sqrt();
        let (sine, cosine) = (radius / distance, from.dot(self.forward) / distance);
        let rest = cosine * cosine - sine * sine;
        let axes = sine * (1.0 - sine * sine).sqrt() / rest * (sine / rest.sqrt());
        std::f64::consts::PI * axes / (2.0 * HALF_VIEW.tan()).powi(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The camera looks down by 20 degrees, and its image is 2 tan 21 degrees high at distance 1. What is
    /// level with it is seen tan 20 degrees above the middle, all across the image and from everywhere.
    #[test]
    fn the_horizon_is_a_level_row() {
        let (elevation, half_view) = (20_f64.to_radians(), 21_f64.to_radians());
        let row = 0.5 - 0.5 * elevation.tan() / half_view.tan();
        for degrees in [-36.0, 0.0, 36.0] {
            let camera = Camera::turned(degrees);
            for across in [0.0, 0.3, 1.0] {
                let height = |down: f64| camera.ray(across, down).direction.y;
                assert!(height(row).abs() < 1e-12, "{degrees} {across}: {}", height(row));
                assert!(height(row - 0.01) > 0.0 && height(row + 0.01) < 0.0, "{degrees} {across}");
            }
        }
    }

    /// In the middle column, the angles add up: the lower edge of the image looks down by 41 degrees, and so
    /// meets the floor at the camera's height over tan 41 degrees.
    #[test]
    fn the_floor_is_as_far_as_the_angle_says() {
        let camera = Camera::turned(12.0);
        let height = 0.42 + 2.6 * 20_f64.to_radians().sin();
        for (down, degrees) in [(0.5, 20_f64), (1.0, 41.0)] {
            let ray = camera.ray(0.5, down);
            let point = ray.at(ray.origin.y / -ray.direction.y);
            let away = (point.x - ray.origin.x).hypot(point.z - ray.origin.z);
            assert!((away - height / degrees.to_radians().tan()).abs() < 1e-12, "{down}: {away}");
        }
    }

    #[test]
    fn rays_lead_to_what_is_seen_there() {
        for degrees in [-30.0, 0.0, 17.0] {
            let camera = Camera::turned(degrees);
            let point = Vector::new(0.3, 0.2, -0.4);
            let (across, down) = camera.project(point);
            let way = (point - camera.position).unit();
            let ray = camera.ray(across, down).direction;
            assert!((way - ray).dot(way - ray) < 1e-24, "{ray:?} {way:?}");
            let (across, down) = camera.project(TARGET);
            assert!((across - 0.5).abs() < 1e-12 && (down - 0.5).abs() < 1e-12);
        }
        // From the right, a point in front of the centre is seen further left.
        let front = Vector::new(0.3, 0.42, 0.3);
        assert!(Camera::turned(20.0).project(front).0 < Camera::turned(-20.0).project(front).0);
    }
}
