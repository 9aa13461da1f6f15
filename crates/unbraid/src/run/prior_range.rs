//! Where traversals begin: the middle of the prior, and how far each unit goes.

use super::Run;
use ndarray::Array2;

/// The share of the prior on either side that a traversal leaves out: that of a standard normal prior below -3, so that its
/// traversals go from -3 to 3.
const TAIL: f64 = 0.001_349_898_031_630_094_6;

impl Run {
    /// The middle of the prior as a row of latent values: continuous units at their median, categorical ones in class 0.
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

    /// Where a traversal of a continuous unit begins and ends if nothing else is asked for: quantiles of its prior, which
    /// for a standard normal one are -3 and 3.
    ///
    /// # Panics
    /// If there is no such unit.
    pub fn range_of(&self, unit: usize) -> (f64, f64) {
        (self.prior().quantile(unit, TAIL), self.prior().quantile(unit, 1.0 - TAIL))
    }
}
