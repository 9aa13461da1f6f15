//! A data set of your own: discs of several sizes and positions, rendered on demand.
//!
//! Every function that takes a `&dyn DataSet` accepts it: sampling, conversion, training, evaluation.

use unbraid_data::random::{Lane, Stream};
use unbraid_data::sampling::Interventions;
use unbraid_data::{DataSet, Factor, FactorSpace, Fingerprint, ImageShape, Result};

const SIDE: usize = 16;

/// Grey images of a white disc with two factors: its radius and its horizontal position.
#[derive(Debug)]
struct Discs {
    factors: FactorSpace,
}

impl Discs {
    fn new() -> Self {
        let radius = Factor::labelled("radius", ["small", "medium", "large"]);
        Self { factors: FactorSpace::new(vec![radius, Factor::new("x", 8)]) }
    }
}

impl DataSet for Discs {
    fn name(&self) -> &str {
        "discs"
    }

    fn len(&self) -> usize {
        3 * 8
    }

    fn shape(&self) -> ImageShape {
        ImageShape::new(SIDE, SIDE, 1)
    }

    fn factors(&self) -> Option<&FactorSpace> {
        Some(&self.factors)
    }

    fn factors_of(&self, index: usize, values: &mut [u32]) {
        self.factors.values_of(index, values);
    }

    fn index_of(&self, values: &[u32]) -> Option<usize> {
        self.factors.index_of(values)
    }

    fn write_image(&self, index: usize, _noise: Lane, pixels: &mut [f32]) -> Result<()> {
        let mut values = [0; 2];
        self.factors_of(index, &mut values);
        let [radius, x] = values.map(|value| value as f32);
        for (i, pixel) in pixels.iter_mut().enumerate() {
            let (row, column) = ((i / SIDE) as f32, (i % SIDE) as f32);
            *pixel = f32::from((row - 8.0).hypot(column - 4.0 - x) <= radius + 1.0);
        }
        Ok(())
    }

    fn memory(&self) -> usize {
        0
    }

    fn fingerprint(&self) -> Result<String> {
        Fingerprint::Recipe("discs 1".to_owned()).compute()
    }
}

/// Renders some images and holds one factor fixed.
pub(crate) fn run() -> Result<()> {
    let data = Discs::new();
    let stream = Stream::new(0, "example");

    // White pixels within 1, 2 and 3 of the centre: 5, 13 and 29.
    let indices: Vec<usize> = (0..3).filter_map(|radius| data.index_of(&[radius, 5])).collect();
    let mut pixels = vec![0.0; indices.len() * data.shape().values()];
    data.write_batch(&indices, stream.at(0), &mut pixels)?;
    let white = pixels.chunks(data.shape().values()).map(|image| image.iter().sum());
    assert_eq!(white.collect::<Vec<f32>>(), [5.0, 13.0, 29.0]);

    let mut batch = [0; 32];
    Interventions::new(&data)?.fixed(0, &mut stream.at(1).generator(), &mut batch);
    let radius = |index| {
        let mut values = [0; 2];
        data.factors_of(index, &mut values);
        values[0]
    };
    assert!(batch.iter().all(|&index| radius(index) == radius(batch[0])));
    let label = data.factors.factors()[0].label(radius(batch[0]));
    println!(
        "{} images of {}; drew a batch of {} with radius {label}",
        data.len(),
        data.shape(),
        batch.len()
    );
    Ok(())
}

#[allow(dead_code, reason = "the tests include this file and call `run`")]
fn main() -> Result<()> {
    run()
}
