//! What a camera sees of a room with one object: how much light of which surface reaches each pixel.

use super::camera::Camera;
use super::light::{self, FloorLight};
use super::solid::Solid;
use super::vector::{Ray, Vector};

/// How far both walls are from the object.
const WALLS: f64 = 1.8;
/// Rays of a pixel along each axis.
const RAYS: usize = 4;

/// The light of floor, left wall, right wall and object in one pixel, and the white light of the highlight,
/// from 0 to 255. With Lambert's law, a pixel is the sum of the colours of these surfaces weighted by the
/// first four, and of the last.
pub(super) type Pixel = [u8; 5];

/// What a ray meets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Surface {
    Floor,
    LeftWall,
    RightWall,
    Object,
}

/// Where it meets it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) surface: Surface,
    light: f64,
    highlight: f64,
}

/// What a ray sees.
pub(super) fn look(ray: &Ray, solid: &Solid, floor: &FloorLight) -> Seen {
    if let Some((t, normal)) = solid.hit(ray) {
        let (light, highlight) = light::on_object(normal, ray.at(t).y, ray.direction * -1.0);
        return Seen { surface: Surface::Object, light, highlight };
    }
    let distance = |origin: f64, direction: f64, plane: f64| {
        let t = (plane - origin) / direction;
        if direction < 0.0 { t } else { f64::INFINITY }
    };
    let (o, d) = (ray.origin, ray.direction);
    let down = distance(o.y, d.y, 0.0);
    let (left, back) = (distance(o.x, d.x, -WALLS), distance(o.z, d.z, -WALLS));
    if down < left && down < back {
        let point = ray.at(down);
        let corners = light::corner(point.x + WALLS) * light::corner(point.z + WALLS);
        return Seen { surface: Surface::Floor, light: floor.at(point.x, point.z) * corners, highlight: 0.0 };
    }
    let (surface, t, normal) = if left < back {
        (Surface::LeftWall, left, Vector::new(1.0, 0.0, 0.0))
    } else {
        (Surface::RightWall, back, Vector::new(0.0, 0.0, 1.0))
    };
    let point = ray.at(t);
    let other = if surface == Surface::LeftWall { point.z } else { point.x } + WALLS;
    let light = light::on_wall(normal, light::corner(point.y) * light::corner(other));
    Seen { surface, light, highlight: 0.0 }
}

/// The pixels of a square image, row by row.
pub(super) fn render(camera: &Camera, solid: &Solid, floor: &FloorLight, side: usize) -> Vec<Pixel> {
    let at = |pixel: usize, ray: usize| (pixel as f64 + (ray as f64 + 0.5) / RAYS as f64) / side as f64;
    let pixel = |place: usize| {
        let mut sums = [0.0; 5];
        for ray in 0..RAYS * RAYS {
            let ray = camera.ray(at(place % side, ray % RAYS), at(place / side, ray / RAYS));
            let Seen { surface, light, highlight } = look(&ray, solid, floor);
            // The highlight takes the place of the surface's own light, so that no sum exceeds 1.
            sums[surface as usize] += light * (1.0 - highlight);
            sums[4] += highlight;
        }
        sums.map(|sum| (sum / (RAYS * RAYS) as f64 * 255.0).round() as u8)
    };
    (0..side * side).map(pixel).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counted with 512 x 512 rays; an outline of 1,000 rays is right to a few rays. The largest sphere of
    /// all is cut off by the edge of the picture.
    #[test]
    fn a_sphere_covers_what_its_outline_encloses() {
        for (scale, degrees) in [(0.66, -36.0), (1.3, 10.0)] {
            let (camera, solid) = (Camera::turned(degrees), Solid::new(2, scale));
            let floor = FloorLight::around(&solid);
            let count = 512;
            let at = |step: usize| (step as f64 + 0.5) / count as f64;
            let rays = (0..count * count).map(|place| camera.ray(at(place % count), at(place / count)));
            let hits = rays.filter(|ray| look(ray, &solid, &floor).surface == Surface::Object).count();
            let found = hits as f64 / (count * count) as f64;
            let radius = 0.5 * scale;
            let expected = camera.share_of_sphere(Vector::new(0.0, radius, 0.0), radius);
            assert!((found - expected).abs() < 1e-3 * expected, "{found} {expected}");
        }
    }

    /// Around the corner of the room there are floor below, and a wall on each side.
    #[test]
    fn the_corner_is_where_it_is_projected() {
        // Small enough not to hide the corner.
        let solid = Solid::Sphere(0.05);
        let floor = FloorLight::around(&solid);
        for degrees in [-36.0, 0.0, 36.0] {
            let camera = Camera::turned(degrees);
            let (across, down) = camera.project(Vector::new(-WALLS, 0.0, -WALLS));
            let seen =
                |right: f64, below: f64| look(&camera.ray(across + right, down + below), &solid, &floor);
            assert_eq!(seen(0.0, 0.01).surface, Surface::Floor);
            let (left, right) = (seen(-0.01, -0.02), seen(0.01, -0.02));
            assert_eq!((left.surface, right.surface), (Surface::LeftWall, Surface::RightWall));
        }
    }

    /// A point of the edge between floor and wall, away from the corner.
    #[test]
    fn the_floor_ends_at_the_walls() {
        let solid = Solid::new(2, 0.75);
        let floor = FloorLight::around(&solid);
        let camera = Camera::turned(0.0);
        let (across, down) = camera.project(Vector::new(-WALLS, 0.0, -0.6));
        let seen = |below: f64| look(&camera.ray(across, down + below), &solid, &floor).surface;
        assert_eq!((seen(-1e-3), seen(1e-3)), (Surface::LeftWall, Surface::Floor));
    }
}
