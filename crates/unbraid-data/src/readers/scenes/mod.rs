//! `scenes`: a room with one object in it, rendered on demand without any file.
//!
//! The grid is that of 3D Shapes (Burgess and Kim 2018): hues of floor, wall and object, scale, shape and
//! orientation, in that order, the last one fastest. Geometry, light and colours are our own; the pixels do
//! not claim to be the published ones.
//!
//! With Lambert's law a pixel is linear in the colours. So each of the 480 geometries is ray-cast once, to
//! the amounts of light that floor, both walls and object send to each pixel, and an image is their sum in
//! these colours. The walls have one hue, and are lit in two colours.

mod camera;
mod light;
mod palette;
mod room;
mod solid;
mod vector;

use crate::dataset::{DataSet, ImageShape};
use crate::error::{DataError, Result};
use crate::factors::{Factor, FactorKind, FactorSpace};
use crate::fingerprint::Fingerprint;
use crate::random::Lane;
use crate::request::Request;
use camera::Camera;
use light::FloorLight;
use palette::{Part, WALL_LIGHT};
use rayon::prelude::*;
use room::Pixel;
use solid::Solid;

/// Scales of the objects, from the smallest to the largest.
const SCALES: (f64, f64) = (0.66, 1.36);
/// Degrees by which the camera is turned.
const ORIENTATIONS: (f64, f64) = (-36.0, 36.0);
/// Heights and widths of the images that can be had.
const SIDES: [usize; 3] = [32, 64, 128];

/// The grid to render.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    /// Hues of the floor, of the walls, and of the object.
    pub(crate) hues: usize,
    /// Scales of the object.
    pub(crate) scales: usize,
    /// The first shape, by its class.
    pub(crate) first_shape: usize,
    /// So many shapes from the first on.
    pub(crate) shapes: usize,
    /// Orientations of the camera.
    pub(crate) orientations: usize,
    /// Whether hues go all around the circle.
    pub(crate) circular: bool,
    /// Height and width of the images.
    pub(crate) side: usize,
}

impl Default for Grid {
    fn default() -> Self {
        let (first_shape, shapes) = (0, solid::NAMES.len());
        Self { hues: 10, scales: 8, first_shape, shapes, orientations: 15, circular: false, side: 64 }
    }
}

impl Grid {
    fn factors(self) -> Vec<Factor> {
        let hue_kind = if self.circular { FactorKind::Angle } else { FactorKind::Ordered };
        let hue = |name: &str| Factor::new(name, self.hues).of_kind(hue_kind);
        vec![
            hue("floor_hue"),
            hue("wall_hue"),
            hue("object_hue"),
            Factor::new("scale", self.scales),
            Factor::labelled("shape", solid::NAMES.into_iter().skip(self.first_shape).take(self.shapes)),
            Factor::new("orientation", self.orientations),
        ]
    }
}

/// Red, green and blue divided by the largest light, and 0.
type Colour = [f32; 4];

/// The built-in data set.
#[derive(Debug)]
pub(crate) struct Scenes {
    grid: Grid,
    /// All six factors.
    all: FactorSpace,
    /// The factors with more than one value, which are the factors of the data set.
    varying: FactorSpace,
    /// The pixels of all geometries: scales, shapes, orientations.
    pixels: Vec<Pixel>,
    /// The colours of the hues, for each surface.
    colours: [Vec<Colour>; 4],
}

/// Place `value` of `count`, evenly spaced from one end to the other; a single one is in the middle.
fn spaced((low, high): (f64, f64), value: usize, count: usize) -> f64 {
    if count == 1 { 0.5 * (low + high) } else { low + (high - low) * value as f64 / (count - 1) as f64 }
}

impl Scenes {
    /// Renders the geometries of a grid.
    pub(crate) fn new(grid: Grid) -> Self {
        let solids: Vec<(Solid, FloorLight)> = (0..grid.scales * grid.shapes)
            .into_par_iter()
            .map(|place| {
                let scale = spaced(SCALES, place / grid.shapes, grid.scales);
                let solid = Solid::new((grid.first_shape + place % grid.shapes) as u32, scale);
                (solid, FloorLight::around(&solid))
            })
            .collect();
        let pixels = (0..solids.len() * grid.orientations)
            .into_par_iter()
            .flat_map_iter(|place| {
                let (solid, floor) = &solids[place / grid.orientations];
                let degrees = spaced(ORIENTATIONS, place % grid.orientations, grid.orientations);
                room::render(&Camera::turned(degrees), solid, floor, grid.side)
            })
            .collect();
        let surface = |part: Part, light: [f64; 3]| -> Vec<Colour> {
            let lit = |place: usize| {
                let colour = palette::colour(part, place, grid.hues, grid.circular);
                let [red, green, blue]: [f32; 3] =
                    std::array::from_fn(|channel| (colour[channel] * light[channel] / 255.0) as f32);
                [red, green, blue, 0.0]
            };
            (0..grid.hues).map(lit).collect()
        };
        let white = [1.0; 3];
        let [left, right] = WALL_LIGHT.map(|light| surface(Part::Walls, light));
        let colours = [surface(Part::Floor, white), left, right, surface(Part::Object, white)];
        let factors = grid.factors();
        let varying = factors.iter().filter(|factor| factor.size > 1).cloned().collect();
        Self { grid, all: FactorSpace::new(factors), varying: FactorSpace::new(varying), pixels, colours }
    }

    fn render(&self, index: usize, image: &mut [f32]) {
        let mut values = [0; 6];
        self.all.values_of(index, &mut values);
        let [floor, wall, object, scale, shape, orientation] = values.map(|value| value as usize);
        let geometry = (scale * self.grid.shapes + shape) * self.grid.orientations + orientation;
        let count = self.grid.side * self.grid.side;
        let pixels = &self.pixels[geometry * count..][..count];
        let [floors, left_walls, right_walls, objects] = &self.colours;
        let (floor, left, right) = (floors[floor], left_walls[wall], right_walls[wall]);
        let object = objects[object];
        let colour_of = |pixel: &Pixel| -> [f32; 4] {
            let [of_floor, of_left, of_right, of_object, highlight] = pixel.map(f32::from);
            std::array::from_fn(|channel| {
                of_floor * floor[channel]
                    + of_left * left[channel]
                    + of_right * right[channel]
                    + of_object * object[channel]
                    + highlight * (1.0 / 255.0)
            })
        };
        // Four values are computed and written at once, the last of which the next pixel replaces: vectors
        // have four lanes.
        let (last, first) = pixels.split_last().expect("an image has pixels");
        for (place, pixel) in first.iter().enumerate() {
            image[3 * place..3 * place + 4].copy_from_slice(&colour_of(pixel));
        }
        image[3 * (count - 1)..].copy_from_slice(&colour_of(last)[..3]);
    }
}

impl DataSet for Scenes {
    fn name(&self) -> &str {
        "scenes"
    }

    fn len(&self) -> usize {
        let Grid { hues, scales, shapes, orientations, .. } = self.grid;
        hues.pow(3) * scales * shapes * orientations
    }

    fn shape(&self) -> ImageShape {
        ImageShape::new(self.grid.side, self.grid.side, 3)
    }

    fn factors(&self) -> Option<&FactorSpace> {
        Some(&self.varying)
    }

    fn factors_of(&self, index: usize, values: &mut [u32]) {
        self.varying.values_of(index, values);
    }

    fn index_of(&self, values: &[u32]) -> Option<usize> {
        self.varying.index_of(values)
    }

    fn write_image(&self, index: usize, _noise: Lane, pixels: &mut [f32]) -> Result<()> {
        assert!(index < self.len(), "image {index} of {}", self.len());
        assert_eq!(pixels.len(), self.shape().values(), "`pixels` holds one image");
        self.render(index, pixels);
        Ok(())
    }

    fn memory(&self) -> usize {
        std::mem::size_of_val(self.pixels.as_slice())
    }

    fn fingerprint(&self) -> Result<String> {
        let Grid { hues, scales, first_shape, shapes, orientations, circular, side } = self.grid;
        let recipe = format!(
            "scenes 2 hues={hues} scales={scales} shapes={first_shape}+{shapes} orientations={orientations} circular={circular} \
             size={side}"
        );
        Fingerprint::Recipe(recipe).compute()
    }
}

pub(crate) fn open(request: &Request<'_>) -> Result<Box<dyn DataSet>> {
    let full = Grid::default();
    let (first_shape, shapes) = open_shapes(request)?;
    let grid = Grid {
        hues: request.integer("hues", 1..=full.hues, full.hues)?,
        scales: request.integer("scales", 1..=full.scales, full.scales)?,
        first_shape,
        shapes,
        orientations: request.integer("orientations", 1..=full.orientations, full.orientations)?,
        circular: request.boolean("circular", full.circular)?,
        side: request.integer("size", 1..=SIDES[2], full.side)?,
    };
    if !SIDES.contains(&grid.side) {
        return Err(DataError::value("option `size` of data set `scenes`", grid.side, "32, 64 or 128"));
    }
    if grid.factors().iter().all(|factor| factor.size == 1) {
        return Err(DataError::value("data set `scenes`", "a single image", "a factor with several values"));
    }
    Ok(Box::new(Scenes::new(grid)))
}

/// The first shape, and how many there are from it on.
fn open_shapes(request: &Request<'_>) -> Result<(usize, usize)> {
    let all = solid::NAMES.len();
    let count = request.optional_integer("shapes", 1..=all)?;
    let mut choices = vec![("all", None)];
    choices.extend(solid::NAMES.iter().enumerate().map(|(class, name)| (*name, Some(class))));
    match (request.choice("shape", &choices)?, count) {
        (None, count) => Ok((0, count.unwrap_or(all))),
        (Some(class), None) => Ok((class, 1)),
        (Some(class), Some(_)) => Err(DataError::value(
            "data set `scenes`",
            format!("the options `shapes` and `shape` = {}", solid::NAMES[class]),
            "one of them",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    fn image(data: &Scenes, values: &[u32]) -> Vec<f32> {
        let mut pixels = vec![0.0; data.shape().values()];
        let noise = Stream::new(0, "test").at(0).lane(0);
        data.write_image(data.index_of(values).unwrap(), noise, &mut pixels).unwrap();
        pixels
    }

    fn small() -> Scenes {
        Scenes::new(Grid { hues: 3, scales: 2, shapes: 4, orientations: 3, side: 32, ..Grid::default() })
    }

    /// The floor's colour enters only where the floor is seen, and in proportion: hue 0 is orange, (1, 0.53,
    /// 0.27), and the last one is blue, (0.19, 0.70, 0.97).
    #[test]
    fn pixels_are_linear_in_the_colours() {
        let data = small();
        let (orange, blue) = (image(&data, &[0, 1, 1, 1, 2, 1]), image(&data, &[2, 1, 1, 1, 2, 1]));
        let mut seen = 0;
        for (orange, blue) in orange.chunks_exact(3).zip(blue.chunks_exact(3)) {
            // Light of the floor by the first channel, in which the two colours differ most.
            let light = (orange[0] - blue[0]) / (1.0 - 0.19);
            seen += usize::from(light > 0.1);
            assert!((0.0..=1.0).contains(&light));
            for (channel, difference) in [(1, 0.53 - 0.70), (2, 0.27 - 0.97)] {
                assert!((orange[channel] - blue[channel] - light * difference).abs() < 1e-5);
            }
        }
        assert!((200..800).contains(&seen), "{seen} of 1024 pixels show the floor");
    }

    /// Floor hue, wall hue, object hue, scale, shape, orientation; the last one is fastest.
    #[test]
    fn factors_are_those_of_3d_shapes_in_their_order() {
        let full = Grid::default().factors();
        let sizes: Vec<(&str, usize)> =
            full.iter().map(|factor| (factor.name.as_str(), factor.size)).collect();
        let expected = [
            ("floor_hue", 10),
            ("wall_hue", 10),
            ("object_hue", 10),
            ("scale", 8),
            ("shape", 4),
            ("orientation", 15),
        ];
        assert_eq!(sizes, expected);
        let data = small();
        assert_eq!(data.len(), 27 * 2 * 4 * 3);
        assert_eq!(data.index_of(&[0, 0, 0, 0, 0, 1]), Some(1));
        assert_eq!(data.index_of(&[1, 0, 0, 0, 0, 0]), Some(9 * 24));
    }

    #[test]
    fn every_factor_changes_the_image_and_all_values_are_valid() {
        let data = small();
        let base = [1, 1, 1, 0, 0, 1];
        let first = image(&data, &base);
        for k in 0..6 {
            let mut values = base;
            values[k] = if k == 3 { 1 } else { 2 };
            let other = image(&data, &values);
            assert!(other.iter().all(|value| (0.0..=1.0).contains(value)), "{k}");
            let changed = first.iter().zip(&other).filter(|(left, right)| left != right).count();
            assert!(changed > 100, "factor {k} changes {changed} values");
        }
    }

    /// The same whatever thread renders a geometry.
    #[test]
    fn images_are_the_same_every_time() {
        assert_eq!(small().pixels, small().pixels);
    }
}
