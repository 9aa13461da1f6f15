//! InfoM, InfoC and InfoE.

use crate::codes::Codes;
use crate::error::Result;
use crate::information::{BINS, Information, NEIGHBOURS};
use crate::learners::{LogisticParameters, LogisticRegression};
use crate::metric::{Description, Metric, Needs, Options};
use crate::numeric::{mean, standardise};
use crate::options::Declare;
use crate::report::ScoreValues;
use crate::views::TrainTest;
use ndarray::{Array2, ArrayView1, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Parameters of [`infomec`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InfomecParameters {
    /// The number of nearest neighbours to estimate mutual information from ([`Information::by_neighbours`]); bins if `None`.
    pub neighbours: Option<usize>,
    /// Bins of equal width for each unit, without `neighbours`; 2 to 65536.
    pub bins: usize,
    /// The classifier of InfoE.
    pub logistic: LogisticParameters,
}

impl Default for InfomecParameters {
    fn default() -> Self {
        Self { neighbours: Some(10), bins: 20, logistic: LogisticParameters::default() }
    }
}

/// What [`infomec`] computes.
#[derive(Clone, Debug)]
pub struct InfomecValues {
    /// InfoM, modularity. NaN with a single factor.
    pub modularity: f64,
    /// InfoC, compactness. NaN with a single active unit.
    pub compactness: f64,
    /// InfoE, explicitness.
    pub explicitness: f64,
    /// I(z_i; v_k) / H(v_k), \[units, factors\].
    pub normalised_information: Array2<f64>,
    /// The active units, whose range exceeds a twentieth of the largest range; only they count for InfoM and InfoC.
    pub active: Vec<usize>,
}

/// Active units have more than this share of the largest range.
const ACTIVE: f64 = 1.0 / 20.0;

/// InfoM, InfoC and InfoE: are units modular, factors compact, and is the information explicit?
///
/// With N_ik = I(z_i; v_k) / H(v_k), for the D active units and the K factors that vary:
/// ```text
/// InfoM = (1/D sum_i max_k N_ik / sum_k N_ik - 1/K) / (1 - 1/K)
/// InfoC = (1/K sum_k max_i N_ik / sum_i N_ik - 1/D) / (1 - 1/D)
/// InfoE = 1/K sum_k (H(v_k) - H(v_k | z)) / H(v_k)
/// ```
/// The entropies of InfoE are predictive ones (Xu et al. 2020, A theory of usable information under computational
/// constraints): H(v_k | z) is the mean of -ln p(v_k | z) over the test points for a logistic regression fitted to the
/// training points, and H(v_k) the same for the class frequencies of the training points.
///
/// * Range: InfoM and InfoC 0 to 1; InfoE at most 1, and below 0 if the regression predicts worse than the class frequencies.
///   Higher is better.
/// * A unit (or factor) without any mutual information counts as 0 in InfoM (or InfoC). A value that the training points lack
///   is left out of InfoE.
/// * Reference: Hsu et al. 2023, Disentanglement via latent quantization, section 5. Mutual information is estimated from
///   ten nearest neighbours, as in the authors' code. They compute InfoE on the points that the regression was fitted to,
///   without a penalty and with balanced class weights.
/// * See also: [`modularity`](super::modularity), [`mig`](super::mig), [`explicitness`](super::explicitness).
///
/// # Errors
/// If a parameter is out of range.
///
/// ```
/// use ndarray::Array2;
/// use unbraid_metrics::TrainTest;
/// use unbraid_metrics::scores::{InfomecParameters, infomec};
///
/// let factors = Array2::from_shape_fn((400, 2), |(row, factor)| [row % 2, row / 2 % 2][factor] as i64);
/// let codes = factors.mapv(|value| value as f64);
/// let data = TrainTest::new(codes.view(), factors.view(), codes.view(), factors.view())?;
/// let parameters = InfomecParameters { neighbours: None, ..Default::default() };
/// let found = infomec(&data, &parameters)?;
/// assert!(found.modularity > 0.99 && found.compactness > 0.99 && found.explicitness > 0.9);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn infomec(data: &TrainTest<'_>, parameters: &InfomecParameters) -> Result<InfomecValues> {
    let information = Information::by(data.train(), parameters.bins, parameters.neighbours)?;
    let varying: Vec<usize> = information.varying_factors().collect();
    let mut normalised = information.matrix.clone();
    for (mut column, &entropy) in normalised.columns_mut().into_iter().zip(&information.factor_entropies) {
        column.mapv_inplace(|value| if entropy > 0.0 { value / entropy } else { 0.0 });
    }
    let ranges: Vec<f64> = data.codes_train().columns().into_iter().map(range).collect();
    let widest = ranges.iter().copied().fold(0.0, f64::max);
    let active: Vec<usize> = (0..ranges.len()).filter(|&unit| ranges[unit] > ACTIVE * widest).collect();
    let pruned = normalised.select(Axis(0), &active).select(Axis(1), &varying);
    Ok(InfomecValues {
        modularity: dominance(pruned.rows().into_iter().collect(), varying.len()),
        compactness: dominance(pruned.columns().into_iter().collect(), active.len()),
        explicitness: explicitness(data, &varying, &parameters.logistic)?,
        normalised_information: normalised,
        active,
    })
}

fn range(column: ArrayView1<'_, f64>) -> f64 {
    let (low, high) =
        column.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &z| (low.min(z), high.max(z)));
    high - low
}

/// The mean over lines of their largest entry divided by their sum, rescaled so that 1/length becomes 0 and 1 stays 1.
fn dominance(lines: Vec<ArrayView1<'_, f64>>, length: usize) -> f64 {
    let least = 1.0 / length as f64;
    let shares: Vec<f64> = lines
        .iter()
        .map(|line| {
            let sum = line.sum();
            if sum > 0.0 { line.iter().copied().fold(0.0, f64::max) / sum } else { least }
        })
        .collect();
    match (shares.is_empty(), length) {
        // No unit is active: none of them is modular.
        (true, _) => 0.0,
        (false, 0 | 1) => f64::NAN,
        (false, _) => (mean(&shares) - least) / (1.0 - least),
    }
}

/// InfoE of the factors that vary.
fn explicitness(data: &TrainTest<'_>, varying: &[usize], logistic: &LogisticParameters) -> Result<f64> {
    let (train, test) = standardise(data.codes_train(), data.codes_test());
    let parts: Vec<f64> = varying
        .par_iter()
        .map(|&factor| {
            let classes = &data.train().classes()[factor];
            let model = LogisticRegression::fit(train.view(), classes, logistic)?;
            let probabilities = model.probabilities(test.view());
            let (sizes, count) = (classes.sizes(), classes.labels().len() as f64);
            let (mut surprise, mut prior, mut known) = (0.0, 0.0, 0.0);
            let truth = classes.labels_of(data.factors_test().column(factor));
            for (row, class) in truth.iter().enumerate() {
                let Some(class) = *class else { continue };
                // Bounded away from 0, so that a single row cannot make the sum infinite.
                surprise -= probabilities[[row, class as usize]].max(f64::EPSILON).ln();
                prior -= (f64::from(sizes[class as usize]) / count).ln();
                known += 1.0;
            }
            Ok(if known > 0.0 && prior > 0.0 { (prior - surprise) / prior } else { 0.0 })
        })
        .collect::<Result<_>>()?;
    Ok(mean(&parts))
}

/// The metric `infomec`; see [`infomec`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Infomec {
    /// Its parameters.
    pub parameters: InfomecParameters,
}

impl Metric for Infomec {
    fn description(&self) -> Description {
        let meaning =
            "units share information with one factor (M), factors with one unit (C), and it is linear (E)";
        Description::new("infomec", meaning)
            .number("infom", "InfoM")
            .number("infoc", "InfoC")
            .number("infoe", "InfoE")
            .detail("normalised_information")
            .range(f64::NEG_INFINITY, 1.0)
            .needs(Needs::TEST_POINTS)
            .compares_factors("infom")
            .compares_units("infoc")
            .on_request_only()
            .shuffles(1)
    }

    fn declare_options(&mut self, declare: &mut Declare<'_>) {
        let InfomecParameters { neighbours, bins, logistic } = &mut self.parameters;
        declare.optional_count("neighbours", neighbours, 1.., NEIGHBOURS);
        declare.count("bins", bins, BINS, "bins of equal width for each unit, without neighbours");
        logistic.declare(declare);
    }

    fn run(&self, codes: &Codes, _options: &Options<'_>) -> Result<ScoreValues> {
        let found = infomec(&codes.train_test()?, &self.parameters)?;
        let values = ScoreValues::new("infom", found.modularity)
            .with_number("infoc", found.compactness)
            .with_number("infoe", found.explicitness)
            .with_matrix("normalised_information", found.normalised_information);
        if found.active.len() < 2 && codes.unit_count() > 1 {
            return Ok(values.with_undefined(
                "infoc",
                "compares units, and only one has more than a twentieth of its range",
            ));
        }
        Ok(values)
    }
}
