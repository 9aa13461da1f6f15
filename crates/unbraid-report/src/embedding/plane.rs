//! The plane in which codes spread most: their first two principal components.

use crate::error::Result;
use ndarray::{Array2, ArrayRef, Axis, Ix1, Ix2};
use unbraid::Run;
use unbraid::data::DataSet;
use unbraid::data::progress::Silent;
use unbraid::inference::input;
use unbraid::metrics::linear_algebra::symmetric_eigen;

/// How many images determine the plane, evenly spaced among all.
const IMAGES: usize = 10_000;

/// A mean and two directions.
#[derive(Debug)]
pub(super) struct Plane {
    mean: Vec<f64>,
    axes: [Vec<f64>; 2],
}

impl Plane {
    /// Of the means of the posteriors of a data set.
    pub(super) fn of(run: &Run, data: &dyn DataSet) -> Result<Self> {
        let count = data.len().min(IMAGES);
        let indices: Vec<usize> = (0..count).map(|place| place * data.len() / count).collect();
        let posteriors = run.encode_data(data, &indices, input::noise(), &Silent)?;
        Ok(Self::through(&posteriors.mean))
    }

    /// Of points, one in a row. Each direction points to where its largest part is positive.
    fn through(points: &ArrayRef<f32, Ix2>) -> Self {
        let (count, units) = points.dim();
        let points = points.mapv(f64::from);
        let mean = points.mean_axis(Axis(0)).map_or_else(|| vec![0.0; units], |mean| mean.to_vec());
        let mut centred: Array2<f64> = points;
        for mut row in centred.rows_mut() {
            row.iter_mut().zip(&mean).for_each(|(value, mean)| *value -= mean);
        }
        let covariance = centred.t().dot(&centred) / count.max(1) as f64;
        let (_, vectors) = symmetric_eigen(&covariance);
        let axis = |place: usize| {
            if place >= units {
                return vec![0.0; units];
            }
            let column = vectors.column(place);
            let largest = column
                .iter()
                .copied()
                .fold(0.0_f64, |largest, value| if value.abs() > largest.abs() { value } else { largest });
            column.iter().map(|value| value * if largest < 0.0 { -1.0 } else { 1.0 }).collect()
        };
        Self { mean, axes: [axis(0), axis(1)] }
    }

    /// The coordinates of a code.
    pub(super) fn coordinates(&self, code: &ArrayRef<f32, Ix1>) -> [f32; 2] {
        [0, 1].map(|place| {
            let parts = code.iter().zip(&self.mean).zip(&self.axes[place]);
            parts.map(|((value, mean), part)| (f64::from(*value) - mean) * part).sum::<f64>() as f32
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    /// Points on two lines: along (3, 4) they spread twice as far as along (4, -3), whose largest part is its first.
    #[test]
    fn coordinates_are_along_the_principal_components() {
        let points = array![[6.0, 8.0], [-6.0, -8.0], [4.0, -3.0], [-4.0, 3.0]];
        let plane = Plane::through(&points);
        for (point, expected) in [(0, [10.0, 0.0]), (1, [-10.0, 0.0]), (2, [0.0, 5.0]), (3, [0.0, -5.0])] {
            let found = plane.coordinates(&points.row(point));
            assert!(
                found
                    .iter()
                    .zip(expected)
                    .all(|(found, expected): (&f32, f32)| (found - expected).abs() < 1e-5)
            );
        }
        // With a single unit there is no second direction.
        let line = array![[1.0], [3.0]];
        let plane = Plane::through(&line);
        assert_eq!(plane.coordinates(&line.row(1)), [1.0, 0.0]);
    }
}
