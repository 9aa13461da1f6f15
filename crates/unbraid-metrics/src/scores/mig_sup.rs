//! The mutual information gap between factors.

use crate::codes::Codes;
use crate::error::Result;
use crate::information::{BINS, Information};
use crate::metric::{Description, Metric, Options};
use crate::numeric::{mean, top_two};
use crate::options::{Choice, Declare};
use crate::report::ScoreValues;
use crate::views::Labelled;
use serde::{Deserialize, Serialize};

/// What the mutual information is divided by in [`mig_sup`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Normalizer {
    /// The entropy of the binned unit.
    #[default]
    UnitEntropy,
    /// The entropy of the factor, as Li et al. write it.
    FactorEntropy,
}

impl Choice for Normalizer {
    const WORDS: &'static [&'static str] = &["unit-entropy", "factor-entropy"];

    fn word(&self) -> &'static str {
        match self {
            Self::UnitEntropy => "unit-entropy",
            Self::FactorEntropy => "factor-entropy",
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        match word {
            "unit-entropy" => Some(Self::UnitEntropy),
            "factor-entropy" => Some(Self::FactorEntropy),
            _ => None,
        }
    }
}

/// Parameters of [`mig_sup`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MigSupParameters {
    /// Bins of equal width for each unit; 2 to 65536.
    pub bins: usize,
    /// What the mutual information is divided by.
    pub normalizer: Normalizer,
}

impl Default for MigSupParameters {
    fn default() -> Self {
        Self { bins: 20, normalizer: Normalizer::default() }
    }
}

impl MigSupParameters {
    fn declare(&mut self, declare: &mut Declare<'_>) {
        let Self { bins, normalizer } = self;
        declare.count("bins", bins, BINS, "bins of equal width for each unit");
        declare.choice("normalizer", normalizer, "what the mutual information is divided by");
    }
}

/// MIG-sup: does each unit share information with one factor only?
///
/// The gap of [`mig`](super::mig), taken between factors instead of units:
/// ```text
/// MIG-sup = mean over units i of (I(z_i; v_a) - I(z_i; v_b)) / H(z_i)
/// ```
/// where a and b are the factors with the largest and second largest mutual information with unit i (after normalisation).
///
/// * Range: 0 to 1, higher is better. A constant unit scores 0; with a single factor the second largest is 0.
/// * Reference: Li et al. 2020, Progressive learning and disentanglement of hierarchical representations.
/// * See also: [`mig`](super::mig), the gap between units; [`modularity`](super::modularity), which measures the same.
///
/// # Errors
/// If `bins` is out of range.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::Labelled;
/// use unbraid_metrics::scores::{MigSupParameters, mig_sup};
///
/// let codes = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
/// let factors = array![[0, 0], [0, 1], [1, 0], [1, 1]];
/// let score = mig_sup(&Labelled::new(codes.view(), factors.view())?, &MigSupParameters::default())?;
/// assert!((score - 1.0).abs() < 1e-12);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn mig_sup(data: &Labelled<'_>, parameters: &MigSupParameters) -> Result<f64> {
    Ok(mig_sup_of(&Information::new(data, parameters.bins)?, parameters.normalizer))
}

/// [`mig_sup`] from precomputed mutual information.
pub fn mig_sup_of(information: &Information, normalizer: Normalizer) -> f64 {
    let gaps: Vec<f64> = (0..information.matrix.nrows())
        .map(|unit| {
            let (first, second) = top_two(information.varying_factors().map(|factor| {
                let entropy = match normalizer {
                    Normalizer::UnitEntropy => information.unit_entropies[unit],
                    Normalizer::FactorEntropy => information.factor_entropies[factor],
                };
                if entropy > 0.0 { information.matrix[[unit, factor]] / entropy } else { 0.0 }
            }));
            first - second
        })
        .collect();
    mean(&gaps)
}

/// The metric `mig_sup`; see [`mig_sup`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MigSup {
    /// Its parameters.
    pub parameters: MigSupParameters,
}

impl Metric for MigSup {
    fn description(&self) -> Description {
        let meaning =
            "each unit shares mutual information with one factor only (gap between the two best factors)";
        Description::new("mig_sup", meaning).number("mig_sup", "MIG-sup").compares_factors("mig_sup")
    }

    fn declare_options(&mut self, declare: &mut Declare<'_>) {
        self.parameters.declare(declare);
    }

    fn run(&self, codes: &Codes, _options: &Options<'_>) -> Result<ScoreValues> {
        Ok(ScoreValues::new("mig_sup", mig_sup(&codes.labelled()?, &self.parameters)?))
    }
}
