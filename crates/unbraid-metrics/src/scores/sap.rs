//! Separated attribute predictability.

use super::sap_groups::correlated_groups;
use super::sap_threshold::balanced_threshold_accuracy;
use crate::classes::Classes;
use crate::codes::Codes;
use crate::error::{MetricsError, Result};
use crate::learners::{LinearSvm, SvmParameters, accuracy};
use crate::metric::{Description, Metric, Needs, Options};
use crate::numeric::{is_constant, mean, top_two};
use crate::options::{Choice, Declare};
use crate::report::ScoreValues;
use crate::views::TrainTest;
use ndarray::{Array2, ArrayView2, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// How the accuracy of predicting a factor from a unit is computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "predictor", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SapPredictor {
    /// Test accuracy of a linear support vector machine, as in most published numbers.
    Svm(SvmParameters),
    /// Balanced accuracy of the best thresholds, fitted to the test points themselves, as Kumar et al. define it.
    Threshold,
}

impl Default for SapPredictor {
    fn default() -> Self {
        Self::Svm(SvmParameters::default())
    }
}

impl Choice for SapPredictor {
    const WORDS: &'static [&'static str] = &["svm", "threshold"];

    fn word(&self) -> &'static str {
        match self {
            Self::Svm(_) => "svm",
            Self::Threshold => "threshold",
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        match word {
            "svm" => Some(Self::default()),
            "threshold" => Some(Self::Threshold),
            _ => None,
        }
    }

    fn declare(&mut self, declare: &mut Declare<'_>) {
        match self {
            Self::Svm(svm) => svm.declare(declare),
            Self::Threshold => {}
        }
    }
}

/// The help text of the option `group_above`.
pub(super) const GROUPING: &str = "units whose correlation exceeds this magnitude count as one";

/// Parameters of [`sap`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SapParameters {
    /// How the accuracy of a unit is computed.
    pub predictor: SapPredictor,
    /// Units whose correlation exceeds this magnitude count as one (Kumar et al., end of section 3).
    pub group_above: Option<f64>,
}

impl SapParameters {
    /// The same parameters with this seed.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        match &mut self.predictor {
            SapPredictor::Svm(svm) => svm.seed = seed,
            // Thresholds involve no randomness.
            SapPredictor::Threshold => {}
        }
        self
    }

    fn declare(&mut self, declare: &mut Declare<'_>) {
        let Self { predictor, group_above } = self;
        declare.choice("predictor", predictor, "linear SVM, or best thresholds on the test points (Kumar)");
        declare.optional_number("group_above", group_above, 0.0..=1.0, GROUPING);
    }
}

/// What [`sap`], [`sap_continuous`](super::sap_continuous) and [`sap_kumar`](super::sap_kumar) compute.
#[derive(Clone, Debug)]
pub struct SapValues {
    /// The score.
    pub value: f64,
    /// The gap between the two best units of each factor; 0 for a factor that does not vary.
    pub per_factor: Vec<f64>,
    /// How well each unit predicts each factor, \[units, factors\]; with grouping, \[groups, factors\].
    pub matrix: Array2<f64>,
    /// The units of each row of the matrix.
    pub groups: Vec<Vec<usize>>,
}

/// SAP, separated attribute predictability: is each factor predictable from one unit only?
///
/// ```text
/// SAP = mean over factors k of (S_ak - S_bk)
/// ```
/// where S_ik is the accuracy of predicting factor k from unit i alone, and a and b are the best and second best unit. By
/// default S is the test accuracy of a one-vs-rest linear support vector machine with C = 0.01 and balanced classes. It is
/// solved exactly, whereas the result of liblinear depends on the random order of the points.
///
/// * Range: 0 to 1, higher is better. With a single unit the second best is 0. Factors with one value are left out.
/// * With grouping, S is that of all units of a group together (with thresholds: that of its best unit).
/// * Reference: Kumar et al. 2018, Variational inference of disentangled latent concepts; with support vector machines
///   as in Locatello et al. 2019, Challenging common assumptions in the unsupervised learning of disentangled representations.
/// * See also: [`sap_continuous`](super::sap_continuous), for factors that are numbers; [`mig`](super::mig), the same gap
///   in mutual information.
///
/// # Errors
/// If a parameter is out of range.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::TrainTest;
/// use unbraid_metrics::scores::{SapParameters, SapPredictor, sap};
///
/// let codes = array![[-1.0, 0.2], [-1.0, 0.1], [1.0, 0.2], [1.0, 0.1]];
/// let factors = array![[0], [0], [1], [1]];
/// let data = TrainTest::new(codes.view(), factors.view(), codes.view(), factors.view())?;
/// let parameters = SapParameters { predictor: SapPredictor::Threshold, ..Default::default() };
/// assert_eq!(sap(&data, &parameters)?.value, 0.5);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn sap(data: &TrainTest<'_>, parameters: &SapParameters) -> Result<SapValues> {
    let classes = data.train().classes();
    let groups = groups_of(data.codes_train(), parameters.group_above)?;
    let matrix = match &parameters.predictor {
        SapPredictor::Svm(svm) => svm_matrix(data, classes, &groups, svm)?,
        SapPredictor::Threshold => threshold_matrix(data, &groups),
    };
    let varies: Vec<bool> = classes.iter().map(Classes::varies).collect();
    Ok(SapValues::new(matrix, groups, &varies))
}

/// The metric `sap`; see [`sap`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sap {
    /// Its parameters.
    pub parameters: SapParameters,
}

impl Metric for Sap {
    fn description(&self) -> Description {
        Description::new("sap", "each factor is predictable from one unit only (gap in accuracy)")
            .number("sap", "SAP")
            .detail("sap_matrix")
            .needs(Needs::TEST_POINTS)
    }

    fn declare_options(&mut self, declare: &mut Declare<'_>) {
        self.parameters.declare(declare);
    }

    fn run(&self, codes: &Codes, options: &Options<'_>) -> Result<ScoreValues> {
        let found = sap(&codes.train_test()?, &self.parameters.clone().with_seed(options.seed))?;
        Ok(ScoreValues::new("sap", found.value).with_matrix("sap_matrix", found.matrix))
    }
}

impl SapValues {
    /// The gap between the two best rows of each column, and the mean over the factors that vary.
    pub(super) fn new(matrix: Array2<f64>, groups: Vec<Vec<usize>>, varies: &[bool]) -> Self {
        let per_factor: Vec<f64> = matrix
            .columns()
            .into_iter()
            .zip(varies)
            .map(|(column, &varies)| {
                let (first, second) = top_two(column.iter().copied());
                if varies { first - second } else { 0.0 }
            })
            .collect();
        let gaps: Vec<f64> =
            per_factor.iter().zip(varies).filter(|(_, varies)| **varies).map(|(gap, _)| *gap).collect();
        Self { value: mean(&gaps), per_factor, matrix, groups }
    }
}

/// The groups of units that are scored together: each unit alone, or those that are correlated.
pub(super) fn groups_of(codes: ArrayView2<'_, f64>, above: Option<f64>) -> Result<Vec<Vec<usize>>> {
    match above {
        None => Ok((0..codes.ncols()).map(|unit| vec![unit]).collect()),
        Some(above) if (0.0..=1.0).contains(&above) => Ok(correlated_groups(codes, above)),
        Some(above) => Err(MetricsError::parameter("group_above", above, "0 to 1")),
    }
}

fn svm_matrix(
    data: &TrainTest<'_>,
    classes: &[Classes],
    groups: &[Vec<usize>],
    parameters: &SvmParameters,
) -> Result<Array2<f64>> {
    let truth: Vec<Vec<Option<u32>>> = classes
        .iter()
        .zip(data.factors_test().columns())
        .map(|(classes, column)| classes.labels_of(column))
        .collect();
    let rows: Vec<Vec<f64>> = groups
        .par_iter()
        .map(|group| {
            let test = data.codes_test().select(Axis(1), group);
            let train = data.codes_train().select(Axis(1), group);
            classes
                .iter()
                .zip(&truth)
                .map(|(classes, truth)| {
                    let model = if group.len() == 1 {
                        LinearSvm::fit_single(train.column(0), classes, parameters)?
                    } else {
                        LinearSvm::fit(train.view(), classes, parameters)?
                    };
                    Ok(accuracy(&model.predict(test.view()), truth))
                })
                .collect()
        })
        .collect::<Result<_>>()?;
    Ok(Array2::from_shape_fn((groups.len(), classes.len()), |(group, factor)| rows[group][factor]))
}

fn threshold_matrix(data: &TrainTest<'_>, groups: &[Vec<usize>]) -> Array2<f64> {
    let classes = Classes::of_factors(data.factors_test());
    let units: Vec<Vec<f64>> = (0..data.codes_test().ncols())
        .into_par_iter()
        .map(|unit| {
            let values = data.codes_test().column(unit).to_vec();
            let dead = is_constant(values.iter().copied());
            let score = |classes| if dead { 0.0 } else { balanced_threshold_accuracy(&values, classes) };
            classes.iter().map(score).collect()
        })
        .collect();
    Array2::from_shape_fn((groups.len(), classes.len()), |(group, factor)| {
        groups[group].iter().map(|&unit| units[unit][factor]).fold(0.0, f64::max)
    })
}
