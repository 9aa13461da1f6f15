//! The objects: solids that stand on the floor at the origin.

use super::vector::{Ray, Vector};

/// Names of the objects, in the order of their class.
pub(super) const NAMES: [&str; 4] = ["cube", "cylinder", "sphere", "capsule"];

/// Where rays that start on a surface may meet it again by rounding.
const NEAREST: f64 = 1e-9;

/// A solid of some size.
#[derive(Clone, Copy, Debug)]
pub(super) enum Solid {
    /// Half the length of an edge.
    Cube(f64),
    /// Radius and height.
    Cylinder(f64, f64),
    /// Radius.
    Sphere(f64),
    /// Radius and height; both ends are half spheres.
    Capsule(f64, f64),
}

impl Solid {
    /// The solid of a class. All are about as large at the same scale.
    pub(super) fn new(class: u32, scale: f64) -> Self {
        match class {
            0 => Self::Cube(0.42 * scale),
            1 => Self::Cylinder(0.44 * scale, 0.92 * scale),
            2 => Self::Sphere(0.5 * scale),
            _ => Self::Capsule(0.36 * scale, 1.04 * scale),
        }
    }

    /// The nearest point where a ray meets the surface from outside: its distance and the normal there.
    pub(super) fn hit(&self, ray: &Ray) -> Option<(f64, Vector)> {
        match *self {
            Self::Cube(half) => cube(ray, half),
            Self::Cylinder(radius, height) => {
                let side = side(ray, radius, 0.0, height);
                let top = disc(ray, radius, height);
                nearer(side, top)
            }
            Self::Sphere(radius) => sphere(ray, radius, radius),
            Self::Capsule(radius, height) => {
                let side = side(ray, radius, radius, height - radius);
                let ends = nearer(sphere(ray, radius, radius), sphere(ray, radius, height - radius));
                nearer(side, ends)
            }
        }
    }
}

fn nearer(left: Option<(f64, Vector)>, right: Option<(f64, Vector)>) -> Option<(f64, Vector)> {
    match (left, right) {
        (Some(left), Some(right)) => Some(if left.0 <= right.0 { left } else { right }),
        (left, right) => left.or(right),
    }
}

/// A sphere around a point of the vertical axis. Inside another solid, a part of its surface is met that
/// cannot be seen; the ends of a capsule meet its side where both have the same normal, so that this does not
/// matter.
fn sphere(ray: &Ray, radius: f64, height: f64) -> Option<(f64, Vector)> {
    let centre = Vector::new(0.0, height, 0.0);
    let from = ray.origin - centre;
    let (a, b) = (ray.direction.dot(ray.direction), from.dot(ray.direction));
    let discriminant = b * b - a * (from.dot(from) - radius * radius);
    if discriminant < 0.0 {
        return None;
    }
    let t = (-b - discriminant.sqrt()) / a;
    (t > NEAREST).then(|| (t, (ray.at(t) - centre) * radius.recip()))
}

/// The side of an upright cylinder between two heights.
fn side(ray: &Ray, radius: f64, low: f64, high: f64) -> Option<(f64, Vector)> {
    let (o, d) = (ray.origin, ray.direction);
    let (a, b) = (d.x * d.x + d.z * d.z, o.x * d.x + o.z * d.z);
    let discriminant = b * b - a * (o.x * o.x + o.z * o.z - radius * radius);
    if a == 0.0 || discriminant < 0.0 {
        return None;
    }
    let t = (-b - discriminant.sqrt()) / a;
    let point = ray.at(t);
    let normal = Vector::new(point.x / radius, 0.0, point.z / radius);
    (t > NEAREST && (low..=high).contains(&point.y)).then_some((t, normal))
}

/// A horizontal disc, seen from above.
fn disc(ray: &Ray, radius: f64, height: f64) -> Option<(f64, Vector)> {
    if ray.direction.y >= 0.0 {
        return None;
    }
    let t = (height - ray.origin.y) / ray.direction.y;
    let point = ray.at(t);
    let inside = point.x * point.x + point.z * point.z <= radius * radius;
    (t > NEAREST && inside).then_some((t, Vector::new(0.0, 1.0, 0.0)))
}

/// A cube by its three slabs: the ray is inside from the last entry to the first exit.
fn cube(ray: &Ray, half: f64) -> Option<(f64, Vector)> {
    let (o, d) = (ray.origin, ray.direction);
    let axes = [
        (o.x, d.x, Vector::new(1.0, 0.0, 0.0)),
        (o.y - half, d.y, Vector::new(0.0, 1.0, 0.0)),
        (o.z, d.z, Vector::new(0.0, 0.0, 1.0)),
    ];
    let (mut entry, mut exit) = ((f64::NEG_INFINITY, axes[0].2), f64::INFINITY);
    for (origin, direction, axis) in axes {
        if direction == 0.0 {
            if origin.abs() > half {
                return None;
            }
            continue;
        }
        let towards = direction.signum();
        let first = (-half * towards - origin) / direction;
        let last = (half * towards - origin) / direction;
        if first > entry.0 {
            entry = (first, axis * -towards);
        }
        exit = exit.min(last);
    }
    (entry.0 > NEAREST && entry.0 <= exit).then_some(entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rays down through a grid of points find the height above each; the sum over the grid is the volume.
    fn volume(solid: Solid) -> f64 {
        let (count, reach) = (600, 0.6);
        let cell = 2.0 * reach / f64::from(count);
        let at = |step: u32| -reach + (f64::from(step) + 0.5) * cell;
        let mut volume = 0.0;
        for i in 0..count {
            for k in 0..count {
                let ray = |height: f64, down: f64| Ray {
                    origin: Vector::new(at(i), height, at(k)),
                    direction: Vector::new(0.0, down, 0.0),
                };
                if let Some((t, _)) = solid.hit(&ray(5.0, -1.0)) {
                    let top = 5.0 - t;
                    // A flat bottom on the floor has no disc of its own: no ray comes from below the floor.
                    let bottom = solid.hit(&ray(-5.0, 1.0)).map_or(0.0, |(t, _)| t - 5.0);
                    volume += (top - bottom) * cell * cell;
                }
            }
        }
        volume
    }

    /// A grid of 360,000 rays finds volumes to a part in a thousand.
    #[test]
    fn solids_have_their_volumes() {
        use std::f64::consts::PI;
        for (solid, expected) in [
            (Solid::Cube(0.42), 0.84_f64.powi(3)),
            (Solid::Cylinder(0.44, 0.92), PI * 0.44 * 0.44 * 0.92),
            (Solid::Sphere(0.5), 4.0 / 3.0 * PI * 0.125),
            (Solid::Capsule(0.36, 1.04), PI * 0.36 * 0.36 * (1.04 - 0.72 + 4.0 / 3.0 * 0.36)),
        ] {
            let found = volume(solid);
            assert!((found - expected).abs() < 2e-3 * expected, "{solid:?}: {found}, {expected}");
        }
    }

    /// Normals have length 1, and point against the ray.
    #[test]
    fn normals_are_unit_vectors_towards_the_viewer() {
        for class in 0..4 {
            let solid = Solid::new(class, 1.0);
            let mut hits = 0;
            for step in 0..200 {
                let angle = f64::from(step) * 0.7;
                let origin = Vector::new(3.0 * angle.cos(), 0.1 + 0.02 * f64::from(step), 3.0 * angle.sin());
                let aim = Vector::new(0.2 * angle.sin(), 0.5, 0.1);
                let ray = Ray { origin, direction: (aim - origin).unit() };
                if let Some((_, normal)) = solid.hit(&ray) {
                    hits += 1;
                    assert!((normal.dot(normal) - 1.0).abs() < 1e-12, "{solid:?} {normal:?}");
                    assert!(normal.dot(ray.direction) < 0.0, "{solid:?} {normal:?}");
                }
            }
            assert!(hits > 100, "{solid:?}: {hits}");
        }
    }
}
