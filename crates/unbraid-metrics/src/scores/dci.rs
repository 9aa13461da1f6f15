//! Disentanglement, completeness and informativeness.

use crate::classes::Classes;
use crate::codes::Codes;
use crate::error::Result;
use crate::learners::{
    BoostingParameters, ForestParameters, GradientBoosting, GradientBoostingRegression, Lasso,
    LassoParameters, RandomForest, accuracy,
};
use crate::metric::{Description, Metric, Needs, Options};
use crate::numeric::{mean, standardise};
use crate::options::{Choice, Declare};
use crate::report::ScoreValues;
use crate::views::TrainTest;
use ndarray::{Array2, ArrayView1, ArrayView2, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The learner whose feature importances [`dci`] uses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "learner", rename_all = "kebab-case", deny_unknown_fields)]
pub enum DciLearner {
    /// Gradient-boosted trees, as in most published numbers.
    Boosting(BoostingParameters),
    /// A random forest.
    Forest(ForestParameters),
    /// Lasso regression of each factor, as a number, on standardised units: importances are the magnitudes of the weights,
    /// and R^2 (at least 0) takes the place of accuracy.
    Lasso(LassoParameters),
}

impl Default for DciLearner {
    fn default() -> Self {
        Self::Boosting(BoostingParameters::default())
    }
}

impl Choice for DciLearner {
    const WORDS: &'static [&'static str] = &["boosting", "forest", "lasso"];

    fn word(&self) -> &'static str {
        match self {
            Self::Boosting(_) => "boosting",
            Self::Forest(_) => "forest",
            Self::Lasso(_) => "lasso",
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        match word {
            "boosting" => Some(Self::Boosting(BoostingParameters::default())),
            "forest" => Some(Self::Forest(ForestParameters::default())),
            "lasso" => Some(Self::Lasso(LassoParameters::default())),
            _ => None,
        }
    }

    fn declare(&mut self, declare: &mut Declare<'_>) {
        match self {
            Self::Boosting(boosting) => boosting.declare(declare),
            Self::Forest(forest) => forest.declare(declare),
            Self::Lasso(lasso) => lasso.declare(declare),
        }
    }
}

/// Parameters of [`dci`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DciParameters {
    /// The learner and its parameters.
    pub learner: DciLearner,
}

impl DciParameters {
    /// The same parameters with this seed.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        match &mut self.learner {
            DciLearner::Boosting(boosting) => boosting.seed = seed,
            DciLearner::Forest(forest) => forest.seed = seed,
            // Its solution involves no randomness.
            DciLearner::Lasso(_) => {}
        }
        self
    }

    fn declare(&mut self, declare: &mut Declare<'_>) {
        let Self { learner } = self;
        declare.choice("learner", learner, "the learner whose importances of units are read");
    }
}

/// What [`dci`] computes.
#[derive(Clone, Debug)]
pub struct DciValues {
    /// Does each unit encode one factor?
    pub disentanglement: f64,
    /// Is each factor encoded by one unit?
    pub completeness: f64,
    /// Accuracy on the training points, mean over factors.
    pub informativeness_train: f64,
    /// Accuracy on the test points, mean over factors.
    pub informativeness_test: f64,
    /// The accuracy on the test points of always predicting the most common value, mean over factors; 0 for a factor that is
    /// predicted as a number.
    pub majority_test: f64,
    /// Importance of each unit for each factor, \[units, factors\]; columns sum to 1, or to 0 if nothing was learned.
    pub importance: Array2<f64>,
}

/// DCI, disentanglement, completeness and informativeness: do units and factors correspond one to one, judged by the feature
/// importances of a learner that predicts factors from units?
///
/// With R_ik the importance of unit i for factor k, D the number of units and K the number of factors:
/// ```text
/// D_i = 1 - H_K(R_i. / sum_k R_ik)     disentanglement = sum_i D_i (sum_k R_ik / sum R)
/// C_k = 1 - H_D(R_.k / sum_i R_ik)     completeness    = sum_k C_k (sum_i R_ik / sum R)
/// ```
/// H_K is the entropy with logarithms to base K. Informativeness is the accuracy (not the error) of the predictions.
///
/// * Range: 0 to 1, higher is better. With a single factor disentanglement is 1, and with a single unit completeness is 1,
///   unless nothing was learned: then both are 0.
/// * A factor of numbers that hardly ever repeat ([`Labelled::is_number`](crate::Labelled::is_number)) is predicted as a
///   number, by boosted trees with squared error (also in place of a forest) or by the lasso. R^2, at least 0, then takes the
///   place of accuracy.
/// * Factors with one value are left out, also of K; their column of importances is 0. A value that only the test points have
///   counts as an error.
/// * Reference: Eastwood and Williams 2018, A framework for the quantitative evaluation of disentangled representations; with
///   boosted trees as in Locatello et al. 2019.
/// * See also: [`modularity`](super::modularity) and [`mig_sup`](super::mig_sup) for disentanglement,
///   [`mig`](super::mig) and [`sap`](super::sap) for completeness, and [`downstream`](super::downstream) for
///   informativeness.
///
/// # Errors
/// If a parameter of the learner is out of range.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::TrainTest;
/// use unbraid_metrics::scores::{DciParameters, dci};
///
/// let codes = array![[0.0, 0.1], [0.1, 1.0], [1.0, 0.0], [1.1, 1.1]];
/// let factors = array![[0, 0], [0, 1], [1, 0], [1, 1]];
/// let data = TrainTest::new(codes.view(), factors.view(), codes.view(), factors.view())?;
/// let score = dci(&data, &DciParameters::default())?;
/// assert!(score.disentanglement > 0.99 && score.completeness > 0.99);
/// assert_eq!(score.informativeness_test, 1.0);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn dci(data: &TrainTest<'_>, parameters: &DciParameters) -> Result<DciValues> {
    let classes = data.train().classes();
    let fits: Vec<Option<FactorFit>> = classes
        .par_iter()
        .enumerate()
        .map(|(factor, classes)| {
            if !classes.varies() {
                return Ok(None);
            }
            match &parameters.learner {
                DciLearner::Lasso(lasso) => FactorFit::lasso(data, factor, lasso),
                DciLearner::Boosting(boosting) if data.train().is_number(factor) => {
                    FactorFit::regression(data, factor, boosting)
                }
                DciLearner::Forest(forest) if data.train().is_number(factor) => {
                    let boosting = BoostingParameters { seed: forest.seed, ..BoostingParameters::default() };
                    FactorFit::regression(data, factor, &boosting)
                }
                DciLearner::Boosting(boosting) => FactorFit::boosting(data, factor, classes, boosting),
                DciLearner::Forest(forest) => FactorFit::forest(data, factor, classes, forest),
            }
            .map(Some)
        })
        .collect::<Result<_>>()?;
    let importance = Array2::from_shape_fn((data.codes_train().ncols(), fits.len()), |(unit, factor)| {
        fits[factor].as_ref().map_or(0.0, |fit| fit.importances[unit])
    });
    // A factor that does not vary would count in K as one that no unit is important for.
    let varying: Vec<usize> = (0..fits.len()).filter(|&factor| fits[factor].is_some()).collect();
    let fits: Vec<FactorFit> = fits.into_iter().flatten().collect();
    Ok(DciValues {
        disentanglement: disentanglement_of(importance.select(Axis(1), &varying).view()),
        completeness: completeness_of(importance.view()),
        informativeness_train: mean(&fits.iter().map(|fit| fit.accuracy_train).collect::<Vec<_>>()),
        informativeness_test: mean(&fits.iter().map(|fit| fit.accuracy_test).collect::<Vec<_>>()),
        majority_test: mean(&fits.iter().map(|fit| fit.majority_test).collect::<Vec<_>>()),
        importance,
    })
}

/// The metric `dci`; see [`dci`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dci {
    /// Its parameters.
    pub parameters: DciParameters,
}

impl Metric for Dci {
    fn description(&self) -> Description {
        let meaning =
            "each unit encodes one factor, each factor is encoded by one unit, factors are predictable";
        Description::new("dci", meaning)
            .number("dci_disentanglement", "DCI disentanglement")
            .number("dci_completeness", "DCI completeness")
            .number("dci_informativeness_train", "DCI informativeness, train")
            .number("dci_informativeness_test", "DCI informativeness, test")
            .detail("dci_importance")
            .needs(Needs::TEST_POINTS)
            .compares_factors("dci_disentanglement")
            .compares_units("dci_completeness")
            .shuffles(1)
    }

    fn declare_options(&mut self, declare: &mut Declare<'_>) {
        self.parameters.declare(declare);
    }

    fn run(&self, codes: &Codes, options: &Options<'_>) -> Result<ScoreValues> {
        let found = dci(&codes.train_test()?, &self.parameters.clone().with_seed(options.seed))?;
        Ok(ScoreValues::new("dci_disentanglement", found.disentanglement)
            .with_number("dci_completeness", found.completeness)
            .with_number("dci_informativeness_train", found.informativeness_train)
            .with_number("dci_informativeness_test", found.informativeness_test)
            .with_majority("dci_informativeness_test", found.majority_test)
            .with_matrix("dci_importance", found.importance))
    }
}

/// The results of one learner for one factor.
struct FactorFit {
    importances: Vec<f64>,
    accuracy_train: f64,
    accuracy_test: f64,
    majority_test: f64,
}

impl FactorFit {
    fn boosting(
        data: &TrainTest<'_>,
        factor: usize,
        classes: &Classes,
        parameters: &BoostingParameters,
    ) -> Result<Self> {
        let model = GradientBoosting::fit(data.codes_train(), classes, parameters)?;
        let predicted = model.predict(data.codes_test());
        Ok(Self::of_classes(data, factor, classes, model.importances(), model.fitted_classes(), &predicted))
    }

    fn forest(
        data: &TrainTest<'_>,
        factor: usize,
        classes: &Classes,
        parameters: &ForestParameters,
    ) -> Result<Self> {
        let model = RandomForest::fit(data.codes_train(), classes, parameters)?;
        let (fitted, predicted) = (model.predict(data.codes_train()), model.predict(data.codes_test()));
        Ok(Self::of_classes(data, factor, classes, model.importances(), &fitted, &predicted))
    }

    fn of_classes(
        data: &TrainTest<'_>,
        factor: usize,
        classes: &Classes,
        importances: &[f64],
        fitted: &[u32],
        predicted: &[u32],
    ) -> Self {
        let hits = fitted.iter().zip(classes.labels()).filter(|(a, b)| a == b).count();
        let truth = classes.labels_of(data.factors_test().column(factor));
        Self {
            importances: importances.to_vec(),
            accuracy_train: hits as f64 / fitted.len() as f64,
            accuracy_test: accuracy(predicted, &truth),
            majority_test: classes.majority_accuracy(&truth),
        }
    }

    fn regression(data: &TrainTest<'_>, factor: usize, parameters: &BoostingParameters) -> Result<Self> {
        let (train, test) = (data.train().numbers(), data.numbers_test());
        let (train, test) = (train.column(factor), test.column(factor));
        let model = GradientBoostingRegression::fit(data.codes_train(), train, parameters)?;
        Ok(Self {
            importances: model.importances().to_vec(),
            accuracy_train: explained(model.fitted(), train),
            accuracy_test: explained(&model.predict(data.codes_test()), test),
            majority_test: 0.0,
        })
    }

    fn lasso(data: &TrainTest<'_>, factor: usize, parameters: &LassoParameters) -> Result<Self> {
        let (codes_train, codes_test) = standardise(data.codes_train(), data.codes_test());
        let (train, test) = (data.train().numbers(), data.numbers_test());
        let (train, test) = (train.column(factor).to_owned(), test.column(factor).to_owned());
        // Standardised, so that one penalty suits all factors.
        let (mean, deviation) = (train.sum() / train.len() as f64, train.var(0.0).sqrt());
        let (train, test) = ((train - mean) / deviation, (test - mean) / deviation);
        let model = Lasso::fit(codes_train.view(), train.view(), parameters)?;
        let magnitudes: Vec<f64> = model.weights.iter().map(|weight| weight.abs()).collect();
        let total: f64 = magnitudes.iter().sum();
        Ok(Self {
            importances: magnitudes
                .iter()
                .map(|weight| if total > 0.0 { weight / total } else { 0.0 })
                .collect(),
            accuracy_train: explained(&model.predict(codes_train.view()), train.view()),
            accuracy_test: explained(&model.predict(codes_test.view()), test.view()),
            majority_test: 0.0,
        })
    }
}

/// R^2, the share of the variance of numbers that predictions explain; at least 0.
fn explained(predicted: &[f64], target: ArrayView1<'_, f64>) -> f64 {
    let errors: f64 = predicted.iter().zip(target).map(|(found, value)| (found - value).powi(2)).sum();
    let variance = target.var(0.0) * target.len() as f64;
    if variance > 0.0 { (1.0 - errors / variance).max(0.0) } else { 0.0 }
}

/// Disentanglement of a matrix of importances, \[units, factors\].
pub fn disentanglement_of(importance: ArrayView2<'_, f64>) -> f64 {
    weighted_concentration(importance)
}

/// Completeness of a matrix of importances, \[units, factors\].
pub fn completeness_of(importance: ArrayView2<'_, f64>) -> f64 {
    weighted_concentration(importance.t())
}

/// The mean over rows of 1 - normalised entropy, weighted by their sums.
fn weighted_concentration(matrix: ArrayView2<'_, f64>) -> f64 {
    let total: f64 = matrix.sum();
    if total <= 0.0 {
        return 0.0;
    }
    matrix.rows().into_iter().map(|row| concentration(row) * row.sum() / total).sum::<f64>().clamp(0.0, 1.0)
}

/// 1 - H(row) / ln(length): 1 if a single entry has all the mass, 0 if all entries are equal.
pub(super) fn concentration(row: ArrayView1<'_, f64>) -> f64 {
    // disentanglement_lib adds this before normalising, so that a row of zeros is uniform.
    const FLOOR: f64 = 1e-11;
    if row.len() < 2 {
        return 1.0;
    }
    let total = row.sum() + FLOOR * row.len() as f64;
    let entropy: f64 = row
        .iter()
        .map(|value| {
            let share = (value + FLOOR) / total;
            -share * share.ln()
        })
        .sum();
    1.0 - entropy / (row.len() as f64).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{array, concatenate};

    /// The cases of the reference implementation's tests.
    #[test]
    fn known_matrices() {
        let close =
            |found: f64, expected: f64| assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        let eye = Array2::<f64>::eye(5);
        close(disentanglement_of(eye.view()), 1.0);
        close(completeness_of(eye.view()), 1.0);
        let one_dead = array![[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]];
        close(disentanglement_of(one_dead.view()), 1.0);
        close(completeness_of(one_dead.view()), 1.0);
        assert_eq!(disentanglement_of(Array2::zeros((3, 2)).view()), 0.0);
        assert_eq!(completeness_of(Array2::zeros((3, 2)).view()), 0.0);
        let redundant = concatenate![Axis(0), eye, eye];
        close(completeness_of(redundant.view()), 1.0 - 2_f64.ln() / 10_f64.ln());
        let entangled = concatenate![Axis(1), eye, eye];
        close(disentanglement_of(entangled.view()), 1.0 - 2_f64.ln() / 10_f64.ln());
    }
}
