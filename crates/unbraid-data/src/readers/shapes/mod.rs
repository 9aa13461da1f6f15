//! `shapes`: the images of dSprites, rendered on demand without any file.
//!
//! The grid, the order and nearly all pixels are those of the published file: squares are bit-exact, and ellipses and
//! hearts differ by one or two pixels in about 3 % of the images. Reduced grids keep every n-th value. On
//! request there is a fourth shape, a triangle, to show models what they have never seen (Mushom 2020, Fig.
//! 5.18).

mod outline;
mod polygon;

use super::{decorated, dsprites};
use crate::dataset::{DataSet, ImageShape};
use crate::error::{DataError, Result};
use crate::factors::FactorSpace;
use crate::fingerprint::Fingerprint;
use crate::random::Lane;
use crate::request::Request;
use outline::{ELLIPSE, HEART};
use std::f64::consts::TAU;

/// Height and width of the images, in pixels.
pub(crate) const SIDE: usize = 64;

/// Position, scale and rotation of a shape, in pixels; y points down.
#[derive(Clone, Copy, Debug)]
struct Pose {
    centre: (f64, f64),
    scale: f64,
    sine: f64,
    cosine: f64,
}

/// The grid to render.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    /// The number of scales, a divisor of 6.
    pub(crate) scales: usize,
    /// The number of orientations, a divisor of 40.
    pub(crate) orientations: usize,
    /// The number of positions along each axis, a divisor of 32.
    pub(crate) positions: usize,
    /// Whether triangles follow the hearts.
    pub(crate) triangle: bool,
}

/// The class of the triangle.
const TRIANGLE: u32 = 3;

impl Default for Grid {
    fn default() -> Self {
        Self { scales: 6, orientations: 40, positions: 32, triangle: false }
    }
}

impl Grid {
    /// The number of values of shape, scale, orientation, x and y.
    fn sizes(self) -> [usize; 5] {
        [3 + usize::from(self.triangle), self.scales, self.orientations, self.positions, self.positions]
    }

    /// The classes in the full grid for classes in this grid.
    fn full_classes(self, classes: [u32; 5]) -> [u32; 5] {
        let sizes = self.sizes();
        // The shapes are the same in every grid.
        let stride = |k: usize| if k == 0 { 1 } else { dsprites::SIZES[k] / sizes[k] };
        std::array::from_fn(|k| classes[k] * stride(k) as u32)
    }
}

/// The built-in data set.
#[derive(Debug)]
pub(crate) struct Shapes {
    grid: Grid,
    /// All five factors.
    all: FactorSpace,
    /// The factors with more than one value, which are the factors of the data set.
    varying: FactorSpace,
}

impl Shapes {
    /// The images of a grid.
    ///
    /// # Errors
    /// If a number of values is not a divisor of that of the full grid.
    pub(crate) fn new(grid: Grid) -> Result<Self> {
        let names = ["scales", "orientations", "positions"];
        let counts = [grid.scales, grid.orientations, grid.positions];
        for (name, (count, full)) in names.into_iter().zip(counts.into_iter().zip([6, 40, 32])) {
            if count == 0 || full % count != 0 {
                let subject = format!("option `{name}` of data set `shapes`");
                return Err(DataError::value(subject, count, format!("a divisor of {full}")));
            }
        }
        let factors = dsprites::factors(grid.sizes());
        let varying = factors.iter().filter(|factor| factor.size > 1).cloned().collect();
        Ok(Self { grid, all: FactorSpace::new(factors), varying: FactorSpace::new(varying) })
    }

    /// The dSprites classes (shape, scale, orientation, x, y) of image `index`.
    pub(crate) fn original_classes(&self, index: usize) -> [u32; 5] {
        let mut classes = [0; 5];
        self.all.values_of(index, &mut classes);
        self.grid.full_classes(classes)
    }
}

/// Renders the image with these classes (shape, scale, orientation, x, y) of the full grid.
fn render(classes: [u32; 5], pixels: &mut [f32]) {
    let [shape, scale, orientation, x, y] = classes;
    // The values of the published file: evenly spaced, both ends included, so that the last angle repeats the first.
    let angle = f64::from(orientation) * (TAU / 39.0);
    let position = |class: u32| 16.0 + 32.0 * (f64::from(class) / 31.0);
    let pose = Pose {
        centre: (position(x), position(y)),
        scale: 0.5 + 0.1 * f64::from(scale),
        sine: angle.sin(),
        cosine: angle.cos(),
    };
    pixels.fill(0.0);
    match shape {
        0 => polygon::square(&pose, pixels),
        1 => ELLIPSE.fill(&pose, pixels),
        TRIANGLE => polygon::triangle(&pose, pixels),
        _ => HEART.fill(&pose, pixels),
    }
}

impl DataSet for Shapes {
    fn name(&self) -> &str {
        "shapes"
    }

    fn len(&self) -> usize {
        self.grid.sizes().iter().product()
    }

    fn shape(&self) -> ImageShape {
        ImageShape::new(SIDE, SIDE, 1)
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

    fn is_binary(&self) -> bool {
        true
    }

    fn write_image(&self, index: usize, _noise: Lane, pixels: &mut [f32]) -> Result<()> {
        assert!(index < self.len(), "image {index} of {}", self.len());
        assert_eq!(pixels.len(), SIDE * SIDE, "`pixels` holds one image");
        render(self.original_classes(index), pixels);
        Ok(())
    }

    fn memory(&self) -> usize {
        0
    }

    fn fingerprint(&self) -> Result<String> {
        let Grid { scales, orientations, positions, triangle } = self.grid;
        let more = if triangle { " triangle" } else { "" };
        let recipe =
            format!("shapes 1 scales={scales} orientations={orientations} positions={positions}{more}");
        Fingerprint::Recipe(recipe).compute()
    }
}

pub(crate) fn open(request: &Request<'_>) -> Result<Box<dyn DataSet>> {
    let full = Grid::default();
    let grid = Grid {
        scales: request.integer("scales", 1..=full.scales, full.scales)?,
        orientations: request.integer("orientations", 1..=full.orientations, full.orientations)?,
        positions: request.integer("positions", 1..=full.positions, full.positions)?,
        triangle: request.boolean("triangle", full.triangle)?,
    };
    decorated::decorate(Box::new(Shapes::new(grid)?), request)
}
