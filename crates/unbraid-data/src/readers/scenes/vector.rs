//! Points and directions in space: x to the right, y up, z towards the viewer.

use std::ops::{Add, Mul, Sub};

/// Three coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Vector {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) z: f64,
}

impl Vector {
    pub(super) const fn new(x: f64, y: f64, z: f64) -> Self {
        Self { x, y, z }
    }

    pub(super) fn dot(self, other: Self) -> f64 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    pub(super) fn cross(self, other: Self) -> Self {
        Self {
            x: self.y * other.z - self.z * other.y,
            y: self.z * other.x - self.x * other.z,
            z: self.x * other.y - self.y * other.x,
        }
    }

    /// The same direction with length 1.
    pub(super) fn unit(self) -> Self {
        self * self.dot(self).sqrt().recip()
    }
}

impl Add for Vector {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::new(self.x + other.x, self.y + other.y, self.z + other.z)
    }
}

impl Sub for Vector {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + other * -1.0
    }
}

impl Mul<f64> for Vector {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        Self::new(self.x * factor, self.y * factor, self.z * factor)
    }
}

/// Points `origin + t direction` with t > 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ray {
    pub(super) origin: Vector,
    pub(super) direction: Vector,
}

impl Ray {
    pub(super) fn at(&self, t: f64) -> Vector {
        self.origin + self.direction * t
    }
}
