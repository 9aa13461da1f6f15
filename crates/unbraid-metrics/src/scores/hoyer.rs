//! Hoyer's sparsity.

use crate::codes::Codes;
use crate::error::Result;
use crate::metric::{Description, Direction, Metric, Needs, Options};
use crate::numeric::is_constant;
use crate::options::Declare;
use crate::report::ScoreValues;
use crate::views::Unlabelled;
use serde::{Deserialize, Serialize};

/// Parameters of [`hoyer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HoyerParameters {
    /// Whether each unit is divided by its standard deviation first.
    pub normalize: bool,
}

impl Default for HoyerParameters {
    fn default() -> Self {
        Self { normalize: true }
    }
}

/// Hoyer's sparsity of the codes: does each point use few of the units?
///
/// ```text
/// Hoyer = (sqrt d - mean over points of |z|_1 / |z|_2) / (sqrt d - 1)
/// ```
/// for d units, after each unit has been divided by its standard deviation over the points, so that scale does not matter. A
/// constant unit then counts as 0; a point that is 0 in all units counts as fully sparse. Mathieu et al. print the formula
/// without that division, but their public code has it; `normalize: false` omits it.
///
/// * Range: 0 (all units equally strong) to 1 (one unit at a time); which is better depends on the application. A single
///   unit scores 0.
/// * Reference: Mathieu et al. 2019, Disentangling disentanglement in variational autoencoders, section 6 and appendix B;
///   Hoyer 2004, Non-negative matrix factorization with sparseness constraints; Hurley and Rickard 2009, Comparing measures of
///   sparsity.
/// * See also: [`kl_per_unit`](super::kl_per_unit), which shows inactive units.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::{Unlabelled, scores::{HoyerParameters, hoyer}};
///
/// let one_at_a_time = array![[1.0, 0.0], [-1.0, 0.0], [0.0, 5.0], [0.0, -5.0]];
/// let sparsity = hoyer(&Unlabelled::new(one_at_a_time.view())?, &HoyerParameters::default());
/// assert!((sparsity - 1.0).abs() < 1e-12);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn hoyer(data: &Unlabelled<'_>, parameters: &HoyerParameters) -> f64 {
    let codes = data.codes();
    let units = codes.ncols();
    if units == 1 {
        return 0.0;
    }
    let inverse_deviations: Vec<f64> = codes
        .columns()
        .into_iter()
        .map(|column| {
            if !parameters.normalize {
                return 1.0;
            }
            if is_constant(column.iter().copied()) {
                return 0.0;
            }
            let mean = column.sum() / column.len() as f64;
            let squares: f64 = column.iter().map(|value| (value - mean) * (value - mean)).sum();
            let deviation = (squares / (column.len() - 1) as f64).sqrt();
            if deviation > 0.0 { deviation.recip().min(f64::MAX) } else { 0.0 }
        })
        .collect();
    let ratios: f64 = codes
        .rows()
        .into_iter()
        .map(|row| {
            let (mut absolute, mut squares) = (0.0, 0.0);
            for (value, inverse) in row.iter().zip(&inverse_deviations) {
                let scaled = value * inverse;
                absolute += scaled.abs();
                squares += scaled * scaled;
            }
            if squares > 0.0 && squares.is_finite() { absolute / squares.sqrt() } else { 1.0 }
        })
        .sum();
    let root = (units as f64).sqrt();
    ((root - ratios / codes.nrows() as f64) / (root - 1.0)).clamp(0.0, 1.0)
}

/// The metric `hoyer`; see [`hoyer`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hoyer {
    /// Its parameters.
    pub parameters: HoyerParameters,
}

impl Metric for Hoyer {
    fn description(&self) -> Description {
        Description::new("hoyer", "sparsity: each point uses few of the units")
            .number("hoyer", "sparsity (Hoyer)")
            .direction(Direction::Neither)
            .needs(Needs::CODES)
    }

    fn declare_options(&mut self, declare: &mut Declare<'_>) {
        let HoyerParameters { normalize } = &mut self.parameters;
        declare.flag("normalize", normalize, "whether units are divided by their standard deviation first");
    }

    fn run(&self, codes: &Codes, _options: &Options<'_>) -> Result<ScoreValues> {
        Ok(ScoreValues::new("hoyer", hoyer(&codes.train(), &self.parameters)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn equally_strong_units_are_dense() {
        let codes = array![[1.0, 30.0], [-1.0, 30.0], [1.0, -30.0], [-1.0, -30.0]];
        assert!(hoyer(&Unlabelled::new(codes.view()).unwrap(), &HoyerParameters::default()) < 1e-12);
    }

    /// As Mathieu et al. print it: every row is (1, 30) up to signs, so that |z|_1/|z|_2 = 31/sqrt(901).
    #[test]
    fn without_the_division_scale_counts() {
        let codes = array![[1.0, 30.0], [-1.0, 30.0], [1.0, -30.0], [-1.0, -30.0]];
        let printed = HoyerParameters { normalize: false };
        let expected = (2_f64.sqrt() - 31.0 / 901_f64.sqrt()) / (2_f64.sqrt() - 1.0);
        let found = hoyer(&Unlabelled::new(codes.view()).unwrap(), &printed);
        assert!((found - expected).abs() < 1e-14);
    }

    /// Both units have the deviation sqrt(2): rows (3, 1)/sqrt(2) and (1, 3)/sqrt(2) have |z|_1/|z|_2 = 4/sqrt(10).
    #[test]
    fn two_points_by_hand() {
        let expected = (2_f64.sqrt() - 4.0 / 10_f64.sqrt()) / (2_f64.sqrt() - 1.0);
        let codes = array![[3.0, 1.0], [1.0, 3.0]];
        let found = hoyer(&Unlabelled::new(codes.view()).unwrap(), &HoyerParameters::default());
        assert!((found - expected).abs() < 1e-14);
    }
}
