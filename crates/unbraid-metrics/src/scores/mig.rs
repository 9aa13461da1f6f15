//! The mutual information gap.

use crate::codes::Codes;
use crate::error::Result;
use crate::information::{BINS, Information, NEIGHBOURS};
use crate::metric::{Description, Metric, Options};
use crate::numeric::{mean, top_two};
use crate::options::Declare;
use crate::report::ScoreValues;
use crate::views::Labelled;
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// Parameters of [`mig`] and of the other scores that are computed from histograms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HistogramParameters {
    /// Bins of equal width for each unit, between its smallest and largest value; 2 to 65536.
    pub bins: usize,
}

impl Default for HistogramParameters {
    fn default() -> Self {
        Self { bins: 20 }
    }
}

impl HistogramParameters {
    pub(super) fn declare(&mut self, declare: &mut Declare<'_>) {
        let Self { bins } = self;
        declare.count("bins", bins, BINS, "bins of equal width for each unit");
    }
}

/// What [`mig`], [`rmig`](super::rmig) and [`mig_full_data`](super::mig_full_data) compute.
#[derive(Clone, Debug)]
pub struct MigValues {
    /// The score.
    pub value: f64,
    /// The gap of each factor, divided by its entropy; 0 for a factor that does not vary.
    pub per_factor: Vec<f64>,
    /// I(unit; factor) in nats, \[units, factors\].
    pub mutual_information: Array2<f64>,
}

/// MIG, the mutual information gap: does each factor share information with one unit only?
///
/// ```text
/// MIG = mean over factors k of (I(z_a; v_k) - I(z_b; v_k)) / H(v_k)
/// ```
/// where a and b are the units with the largest and second largest mutual information with factor k.
///
/// * Range: 0 to 1, higher is better. With a single unit the second largest is 0. Factors with one value are left out.
/// * Estimator: plug-in mutual information of binned units. With few points per bin it is biased upwards, for all units alike.
/// * Reference: Chen et al. 2018, Isolating sources of disentanglement in variational autoencoders, section 4.1; binned as in
///   Locatello et al. 2019, Challenging common assumptions in the unsupervised learning of disentangled representations.
/// * See also: [`mig_full_data`](super::mig_full_data) and [`rmig`](super::rmig), which use posteriors instead of bins;
///   [`mig_sup`](super::mig_sup), the gap between factors; [`jemmig`](super::jemmig), [`aam`](super::aam) and
///   [`dcimig`](super::dcimig), other functions of the same mutual information; [`sap`](super::sap), the same gap in
///   accuracy.
///
/// # Errors
/// If `bins` is out of range.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::Labelled;
/// use unbraid_metrics::scores::{HistogramParameters, mig};
///
/// let codes = array![[0.0, 0.3], [0.0, 0.3], [1.0, 0.3], [1.0, 0.3]];
/// let factors = array![[0], [0], [1], [1]];
/// let score = mig(&Labelled::new(codes.view(), factors.view())?, &HistogramParameters::default())?;
/// assert!((score.value - 1.0).abs() < 1e-12);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn mig(data: &Labelled<'_>, parameters: &HistogramParameters) -> Result<MigValues> {
    Ok(mig_of(&Information::new(data, parameters.bins)?))
}

/// [`mig`] from precomputed mutual information.
pub fn mig_of(information: &Information) -> MigValues {
    MigValues::new(information.matrix.clone(), &information.factor_entropies)
}

impl MigValues {
    /// The gap between the best and the second best unit of each factor, divided by the factor's entropy, and the mean
    /// over the factors that vary; those that do not have the gap 0.
    pub(super) fn new(mutual_information: Array2<f64>, factor_entropies: &[f64]) -> Self {
        let columns = mutual_information.columns().into_iter().zip(factor_entropies);
        let per_factor: Vec<f64> = columns
            .map(|(column, &entropy)| {
                let (first, second) = top_two(column.iter().copied());
                if entropy > 0.0 { (first - second) / entropy } else { 0.0 }
            })
            .collect();
        let varying: Vec<f64> = per_factor
            .iter()
            .zip(factor_entropies)
            .filter(|(_, entropy)| **entropy > 0.0)
            .map(|(gap, _)| *gap)
            .collect();
        Self { value: mean(&varying), per_factor, mutual_information }
    }
}

/// The metric `mig`; see [`mig`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mig {
    /// Its parameters.
    pub parameters: HistogramParameters,
    /// The number of nearest neighbours to estimate mutual information from ([`Information::by_neighbours`]); bins if `None`.
    pub neighbours: Option<usize>,
}

impl Metric for Mig {
    fn description(&self) -> Description {
        let meaning = "each factor shares mutual information with one unit only (gap between the two best units, binned)";
        Description::new("mig", meaning).number("mig", "MIG").detail("mutual_information")
    }

    fn declare_options(&mut self, declare: &mut Declare<'_>) {
        self.parameters.declare(declare);
        declare.optional_count("neighbours", &mut self.neighbours, 1.., NEIGHBOURS);
    }

    fn run(&self, codes: &Codes, _options: &Options<'_>) -> Result<ScoreValues> {
        let information = Information::by(&codes.labelled()?, self.parameters.bins, self.neighbours)?;
        let found = mig_of(&information);
        Ok(ScoreValues::new("mig", found.value)
            .with_list("mig_per_factor", found.per_factor)
            .with_list("factor_entropy", information.factor_entropies)
            .with_matrix("mutual_information", found.mutual_information))
    }
}
