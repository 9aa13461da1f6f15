//! The prior in numbers: its medians, the range of traversals, and its density.

use super::trained::{Run, floats};
use burn::tensor::{Tensor, TensorData};
use ndarray::{Array2, ArrayRef, Ix2};

/// The tail probability that a traversal leaves out on either side: that of a standard normal distribution below -3, so
/// that its traversals go from -3 to 3.
const TAIL: f64 = 0.001_349_898_031_630_094_6;

impl Run {
    /// The centre of the prior as a row of latent values: continuous units at their median, categorical ones in class
    /// 0.
    pub fn middle(&self) -> Array2<f32> {
        let mut row = Array2::zeros((1, self.layout().width()));
        for unit in 0..self.units() {
            row[[0, unit]] = self.prior().quantile(unit, 0.5) as f32;
        }
        for unit in 0..self.categorical_units().len() {
            row[[0, self.layout().class_column(unit, 0)]] = 1.0;
        }
        row
    }

    /// The default range of a traversal of a continuous unit: quantiles of its prior, -3 and 3 for a standard normal
    /// one.
    ///
    /// # Panics
    /// If the unit does not exist.
    pub fn range_of(&self, unit: usize) -> (f64, f64) {
        (self.prior().quantile(unit, TAIL), self.prior().quantile(unit, 1.0 - TAIL))
    }

    /// p(z_i) of a continuous unit at some values: the density of its marginal under the prior.
    ///
    /// # Panics
    /// If the unit does not exist.
    pub fn prior_densities(&self, unit: usize, values: &[f64]) -> Vec<f64> {
        let units = self.units();
        assert!(unit < units, "unit {unit} of {units}");
        let rows = Array2::from_shape_fn((values.len(), units), |(row, _)| values[row]);
        let densities = exponentials(self.prior().log_density_of_units(self.tensor(&rows)));
        densities.chunks_exact(units).map(|row| row[unit]).collect()
    }

    /// p(z) of all continuous units together, at each row of `[points, units]`.
    ///
    /// # Panics
    /// If there is not one column for each continuous unit.
    pub fn joint_prior_densities(&self, points: &ArrayRef<f64, Ix2>) -> Vec<f64> {
        assert_eq!(points.ncols(), self.units(), "one column for each continuous unit");
        exponentials(self.prior().log_density(self.tensor(points)))
    }

    fn tensor(&self, rows: &ArrayRef<f64, Ix2>) -> Tensor<2> {
        let values: Vec<f32> = rows.iter().map(|&value| value as f32).collect();
        Tensor::from_data(TensorData::new(values, [rows.nrows(), rows.ncols()]), self.network().device())
    }
}

fn exponentials<const D: usize>(logarithms: Tensor<D>) -> Vec<f64> {
    floats(logarithms).into_iter().map(|value| f64::from(value).exp()).collect()
}
