//! Codes with their factors, posteriors and clusters: what metrics are computed from.

use crate::checks::{check_codes, check_factors, check_length, check_log_variances, check_train_test};
use crate::classes::Classes;
use crate::error::{MetricsError, Result};
use crate::factor_classes::{Groups, Treatment, classes_of_numbers};
use crate::metric::{FactorKind, Needs, Requirement};
use crate::random::{self, generator};
use crate::views::{Labelled, LabelledPosteriors, Posteriors, TrainTest, Unlabelled};
use ndarray::{Array2, ArrayView2, Axis};

/// Codes of a training and a test sample, with factors, posteriors and clusters where there are any.
///
/// Only the training codes are required. Metrics that need something else apply where it is present.
///
/// Everything is checked when it is put in, so metrics need not check it again. [`Codes::labelled`],
/// [`Codes::train_test`] and the like give the checked views that score functions take, at no cost.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::{Codes, scores::{HistogramParameters, mig}};
///
/// let codes = Codes::split(
///     array![[0.1], [0.9], [0.2], [0.8], [0.1], [0.9]].view(),
///     array![[0], [1], [0], [1], [0], [1]].view(),
/// )?
/// .with_factor_names(["shape"])?;
/// assert_eq!((codes.codes_train().nrows(), codes.codes_test().nrows()), (4, 2));
/// assert!((mig(&codes.labelled()?, &HistogramParameters::default())?.value - 1.0).abs() < 1e-12);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Codes {
    codes_train: Array2<f64>,
    factors_train: Array2<i64>,
    /// The classes of each factor of the training sample, which most scores need.
    classes_train: Vec<Classes>,
    codes_test: Array2<f64>,
    factors_test: Array2<i64>,
    log_variance_train: Option<Array2<f64>>,
    clusters: Option<(Array2<i64>, Array2<i64>)>,
    factor_names: Vec<String>,
    factor_kinds: Vec<FactorKind>,
    reconstruction_errors: Option<Vec<f64>>,
    divergences: Option<Array2<f64>>,
    /// The factors of training and test points as real numbers, where they are more than class numbers.
    numbers: Option<(Array2<f64>, Array2<f64>)>,
    /// Whether each factor is predicted as a number; see [`crate::factor_classes`]. Empty if none is.
    regressed: Vec<bool>,
    unseen: Option<Box<Codes>>,
}

impl Codes {
    /// Codes \[n, units\] and factors \[n, factors\] of a training and a test sample. Factors without columns, and test
    /// arrays without rows, mean that there are none.
    ///
    /// # Errors
    /// If arrays are too small, do not fit each other or are not finite.
    ///
    /// ```
    /// use ndarray::array;
    /// use unbraid_metrics::Codes;
    ///
    /// let error = Codes::new(
    ///     array![[0.5], [0.7]],
    ///     array![[0], [1]],
    ///     array![[0.5, 0.1], [0.7, 0.2]],
    ///     array![[0], [1]],
    /// )
    /// .unwrap_err();
    /// assert_eq!(error.to_string(), "codes_test: found 2 units, expected 1, as many as units of codes_train");
    /// ```
    pub fn new(
        codes_train: Array2<f64>,
        factors_train: Array2<i64>,
        codes_test: Array2<f64>,
        mut factors_test: Array2<i64>,
    ) -> Result<Self> {
        let rows = codes_train.nrows();
        if factors_train.ncols() > 0 && codes_test.nrows() > 0 {
            check_train_test(
                codes_train.view(),
                factors_train.view(),
                codes_test.view(),
                factors_test.view(),
            )?;
        } else {
            check_codes("codes_train", codes_train.view())?;
            check_length("factors_train", "row", factors_train.nrows(), rows, "rows of codes_train")?;
            if codes_test.nrows() > 0 {
                check_codes("codes_test", codes_test.view())?;
                let units = codes_train.ncols();
                check_length("codes_test", "unit", codes_test.ncols(), units, "units of codes_train")?;
            }
            factors_test = Array2::zeros((codes_test.nrows(), factors_train.ncols()));
        }
        Ok(Self::from_checked(codes_train, factors_train, codes_test, factors_test))
    }

    /// As [`Codes::new`], for factors that may be real numbers: an angle, an age, a weight.
    ///
    /// A factor of whole numbers is as in [`Codes::new`]. The values of any other factor are its classes in ascending order
    /// where a score needs classes, and themselves where a score needs numbers. (A [`Registry`](crate::Registry) puts values
    /// that hardly ever repeat into twenty classes of equal size.)
    ///
    /// # Errors
    /// As [`Codes::new`]; if a factor is not finite.
    ///
    /// ```
    /// use ndarray::array;
    /// use unbraid_metrics::Codes;
    ///
    /// let (codes, factors) = (array![[0.0], [1.0], [2.0]], array![[3.0, 0.5], [7.0, -1.5], [7.0, 0.5]]);
    /// let codes = Codes::from_numbers(codes.clone(), factors.clone(), codes, factors)?;
    /// assert_eq!(codes.factors_train(), array![[3, 1], [7, 0], [7, 1]]);
    /// assert_eq!(codes.labelled()?.numbers(), array![[3.0, 0.5], [7.0, -1.5], [7.0, 0.5]]);
    /// # Ok::<(), unbraid_metrics::MetricsError>(())
    /// ```
    pub fn from_numbers(
        codes_train: Array2<f64>,
        factors_train: Array2<f64>,
        codes_test: Array2<f64>,
        factors_test: Array2<f64>,
    ) -> Result<Self> {
        for (array, factors) in [("factors_train", &factors_train), ("factors_test", &factors_test)] {
            check_finite(array, factors.view())?;
        }
        check_length(
            "factors_test",
            "factor",
            factors_test.ncols(),
            factors_train.ncols(),
            "factors of factors_train",
        )?;
        let (train, test) = classes_of_numbers(&factors_train, &factors_test);
        let mut codes = Self::new(codes_train, train, codes_test, test)?;
        codes.numbers = Some((factors_train, factors_test));
        Ok(codes)
    }

    /// Adds what the values of the factors stand for where that is a number, \[n, factors\] and \[m, factors\]: ages, weights.
    /// Scores that treat a factor as a number then use these instead of class numbers.
    ///
    /// # Errors
    /// If the arrays have other shapes than the factors, or a number is not finite.
    pub fn with_factor_numbers(mut self, train: Array2<f64>, test: Array2<f64>) -> Result<Self> {
        for (array, numbers, factors, others) in [
            (
                "factor_values_train",
                &train,
                &self.factors_train,
                ["rows of factors_train", "factors of factors_train"],
            ),
            (
                "factor_values_test",
                &test,
                &self.factors_test,
                ["rows of factors_test", "factors of factors_test"],
            ),
        ] {
            check_length(array, "row", numbers.nrows(), factors.nrows(), others[0])?;
            check_length(array, "factor", numbers.ncols(), factors.ncols(), others[1])?;
            check_finite(array, numbers.view())?;
        }
        self.numbers = Some((train, test));
        Ok(self)
    }

    /// The test points with their factors, as training and as test points: for [`Codes::with_unseen`].
    ///
    /// # Errors
    /// If there are none.
    pub fn test_points(&self) -> Result<Self> {
        self.require(self.has_test_points(), Requirement::TestPoints)?;
        let (codes, factors) = (&self.codes_test, &self.factors_test);
        let mut points = Self::new(codes.clone(), factors.clone(), codes.clone(), factors.clone())?;
        points.numbers = self.numbers.as_ref().map(|(_, test)| (test.clone(), test.clone()));
        Ok(points)
    }

    /// One sample, split in order: the first two thirds (rounded up) are for training, the rest is for testing.
    ///
    /// # Errors
    /// If the arrays are too small, do not fit each other or are not finite.
    pub fn split(codes: ArrayView2<'_, f64>, factors: ArrayView2<'_, i64>) -> Result<Self> {
        check_codes("codes", codes)?;
        check_factors("factors", factors, codes.nrows(), "rows of codes")?;
        let (codes_train, codes_test) = codes.split_at(Axis(0), (codes.nrows() * 2).div_ceil(3));
        let (factors_train, factors_test) = factors.split_at(Axis(0), codes_train.nrows());
        if codes_test.nrows() == 1 {
            return Err(MetricsError::TooFew { array: "codes_test", what: "row", found: 1, least: 2 });
        }
        Ok(Self::from_checked(
            codes_train.to_owned(),
            factors_train.to_owned(),
            codes_test.to_owned(),
            factors_test.to_owned(),
        ))
    }

    /// As [`Codes::split`], for factors that may be real numbers; see [`Codes::from_numbers`].
    ///
    /// # Errors
    /// As [`Codes::split`]; if a factor is not finite.
    pub fn split_numbers(codes: ArrayView2<'_, f64>, factors: ArrayView2<'_, f64>) -> Result<Self> {
        check_finite("factors", factors)?;
        let none = Array2::zeros((0, factors.ncols()));
        let mut split = Self::split(codes, classes_of_numbers(&factors.to_owned(), &none).0.view())?;
        let (train, test) = factors.split_at(Axis(0), split.codes_train.nrows());
        split.numbers = Some((train.to_owned(), test.to_owned()));
        Ok(split)
    }

    /// Codes \[n, units\] without factors: only metrics that need none apply.
    ///
    /// # Errors
    /// If the codes are too small or not finite.
    pub fn unlabelled(codes: Array2<f64>) -> Result<Self> {
        check_codes("codes_train", codes.view())?;
        let (rows, units) = codes.dim();
        Ok(Self::from_checked(
            codes,
            Array2::zeros((rows, 0)),
            Array2::zeros((0, units)),
            Array2::zeros((0, 0)),
        ))
    }

    fn from_checked(
        codes_train: Array2<f64>,
        factors_train: Array2<i64>,
        codes_test: Array2<f64>,
        factors_test: Array2<i64>,
    ) -> Self {
        Self {
            classes_train: Classes::of_factors(factors_train.view()),
            codes_train,
            factors_train,
            codes_test,
            factors_test,
            log_variance_train: None,
            clusters: None,
            factor_names: Vec::new(),
            factor_kinds: Vec::new(),
            reconstruction_errors: None,
            divergences: None,
            numbers: None,
            regressed: Vec::new(),
            unseen: None,
        }
    }

    /// Adds the logarithms of the posterior variances of the training codes, \[n, units\]; the codes are then means.
    ///
    /// # Errors
    /// If the array has another shape than the training codes, or a number is NaN or beyond 250.
    pub fn with_log_variances(mut self, log_variance_train: Array2<f64>) -> Result<Self> {
        check_log_variances(
            "log_variance_train",
            log_variance_train.view(),
            self.codes_train.view(),
            ["rows of codes_train", "units of codes_train"],
        )?;
        self.log_variance_train = Some(log_variance_train);
        Ok(self)
    }

    /// Adds the most likely category of each categorical unit for each training and each test point, \[n, categorical
    /// units\] and \[m, categorical units\].
    ///
    /// # Errors
    /// If the arrays have no column, or other numbers of rows than the codes.
    pub fn with_clusters(mut self, train: Array2<i64>, test: Array2<i64>) -> Result<Self> {
        for (array, clusters, codes, other) in [
            ("clusters_train", &train, &self.codes_train, "rows of codes_train"),
            ("clusters_test", &test, &self.codes_test, "rows of codes_test"),
        ] {
            check_length(array, "row", clusters.nrows(), codes.nrows(), other)?;
            if clusters.ncols() == 0 {
                return Err(MetricsError::TooFew { array, what: "unit", found: 0, least: 1 });
            }
        }
        check_length("clusters_test", "unit", test.ncols(), train.ncols(), "units of clusters_train")?;
        self.clusters = Some((train, test));
        Ok(self)
    }

    /// Adds a name for each factor.
    ///
    /// # Errors
    /// If there are not as many names as factors.
    pub fn with_factor_names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Result<Self> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        if !names.is_empty() {
            check_length("factor_names", "name", names.len(), self.factor_count(), "factors")?;
        }
        self.factor_names = names;
        Ok(self)
    }

    /// Adds the kind of each factor.
    ///
    /// # Errors
    /// If there are not as many kinds as factors.
    pub fn with_factor_kinds(mut self, kinds: impl IntoIterator<Item = FactorKind>) -> Result<Self> {
        let kinds: Vec<FactorKind> = kinds.into_iter().collect();
        check_length("factor_kinds", "kind", kinds.len(), self.factor_count(), "factors")?;
        self.factor_kinds = kinds;
        Ok(self)
    }

    /// Adds how well a model reconstructs each training point: the squared error of a pixel, mean over pixels and
    /// channels.
    ///
    /// # Errors
    /// If there are not as many as training codes, or one is negative or not finite.
    pub fn with_reconstruction_errors(mut self, errors: Vec<f64>) -> Result<Self> {
        let (array, rows) = ("reconstruction_error_train", self.codes_train.nrows());
        check_length(array, "row", errors.len(), rows, "rows of codes_train")?;
        if let Some((row, &value)) =
            errors.iter().enumerate().find(|(_, error)| !(**error >= 0.0 && error.is_finite()))
        {
            let expected = "finite numbers, 0 or more";
            return Err(MetricsError::Entry { array, row, column: 0, value, expected });
        }
        self.reconstruction_errors = Some(errors);
        Ok(self)
    }

    /// Adds the divergence of each unit's posterior from its prior for each training point, \[n, units\], in nats. Without
    /// it the prior is taken to be standard normal.
    ///
    /// # Errors
    /// If the array has another shape than the training codes, or a number is not finite.
    pub fn with_divergences(mut self, divergences: Array2<f64>) -> Result<Self> {
        let array = "divergence_train";
        let (rows, units) = self.codes_train.dim();
        check_length(array, "row", divergences.nrows(), rows, "rows of codes_train")?;
        check_length(array, "unit", divergences.ncols(), units, "units of codes_train")?;
        if let Some(((row, column), &value)) =
            divergences.indexed_iter().find(|(_, value)| !value.is_finite())
        {
            return Err(MetricsError::Entry { array, row, column, value, expected: "finite numbers" });
        }
        self.divergences = Some(divergences);
        Ok(self)
    }

    /// Adds points that the model was not trained on, as the training codes of `unseen`. Scores without a split into
    /// training and test points are then computed on them. (The others are tested on the test points, which should be
    /// unseen as well.)
    ///
    /// # Errors
    /// If `unseen` has other numbers of units or factors.
    pub fn with_unseen(mut self, mut unseen: Self) -> Result<Self> {
        let (units, factors) = (self.unit_count(), self.factor_count());
        check_length("unseen codes", "unit", unseen.unit_count(), units, "units of codes_train")?;
        check_length("unseen codes", "factor", unseen.factor_count(), factors, "factors of factors_train")?;
        unseen.factor_names.clone_from(&self.factor_names);
        unseen.factor_kinds.clone_from(&self.factor_kinds);
        self.unseen = Some(Box::new(unseen));
        Ok(self)
    }

    /// What they have beyond training codes.
    pub fn available(&self) -> Needs {
        Needs {
            factors: self.has_factors(),
            test_points: self.has_test_points(),
            log_variances: self.log_variance_train.is_some(),
            clusters: self.clusters.is_some(),
            factor_kinds: !self.factor_kinds.is_empty(),
            reconstructions: self.reconstruction_errors.is_some(),
        }
    }

    /// What a metric with these needs sees: points that the model was not trained on, if there are any and the metric does
    /// not part points into training and test points by itself.
    pub(crate) fn seen_with(&self, needs: Needs) -> &Self {
        self.unseen.as_deref().filter(|_| !needs.test_points).unwrap_or(self)
    }

    /// Codes \[n, units\] that most scores are computed from and learners are fitted to.
    pub fn codes_train(&self) -> ArrayView2<'_, f64> {
        self.codes_train.view()
    }

    /// Factors \[n, factors\] of the training codes; no columns if there are none.
    pub fn factors_train(&self) -> ArrayView2<'_, i64> {
        self.factors_train.view()
    }

    /// Codes \[m, units\] that learners are tested on; no rows if there are none.
    pub fn codes_test(&self) -> ArrayView2<'_, f64> {
        self.codes_test.view()
    }

    /// Factors \[m, factors\] of the test codes.
    pub fn factors_test(&self) -> ArrayView2<'_, i64> {
        self.factors_test.view()
    }

    /// Logarithms of the posterior variances of the training codes, \[n, units\].
    pub fn log_variance_train(&self) -> Option<ArrayView2<'_, f64>> {
        self.log_variance_train.as_ref().map(|array| array.view())
    }

    /// The most likely category of each categorical unit for training and test points, \[n, categorical units\] and
    /// \[m, categorical units\].
    pub fn clusters(&self) -> Option<(ArrayView2<'_, i64>, ArrayView2<'_, i64>)> {
        self.clusters.as_ref().map(|(train, test)| (train.view(), test.view()))
    }

    /// A name for each factor; empty if they have none.
    pub fn factor_names(&self) -> &[String] {
        &self.factor_names
    }

    /// The kind of each factor; empty if they are not known.
    pub fn factor_kinds(&self) -> &[FactorKind] {
        &self.factor_kinds
    }

    /// The squared error of a pixel of each training point.
    pub fn reconstruction_errors(&self) -> Option<&[f64]> {
        self.reconstruction_errors.as_deref()
    }

    /// The divergence of each unit's posterior from its prior for each training point, \[n, units\].
    pub fn divergences(&self) -> Option<ArrayView2<'_, f64>> {
        self.divergences.as_ref().map(|array| array.view())
    }

    /// The number of units.
    pub fn unit_count(&self) -> usize {
        self.codes_train.ncols()
    }

    /// The number of factors.
    pub fn factor_count(&self) -> usize {
        self.factors_train.ncols()
    }

    /// Whether the points have factors.
    pub fn has_factors(&self) -> bool {
        self.factor_count() > 0
    }

    /// Whether there are test points with factors.
    pub fn has_test_points(&self) -> bool {
        self.has_factors() && self.codes_test.nrows() > 0
    }

    /// The training codes alone.
    pub fn train(&self) -> Unlabelled<'_> {
        Unlabelled::from_checked(self.codes_train())
    }

    /// The training codes with their factors.
    ///
    /// # Errors
    /// If there are no factors, or none of them varies.
    pub fn labelled(&self) -> Result<Labelled<'_>> {
        self.require(self.has_factors(), Requirement::Factors)?;
        let numbers = self.numbers.as_ref().map(|(train, _)| train.view());
        Labelled::from_checked(
            self.codes_train(),
            self.factors_train(),
            &self.classes_train,
            numbers,
            &self.regressed,
        )
    }

    /// Training and test codes with their factors.
    ///
    /// # Errors
    /// If there are no factors or no test points, or no factor varies in the training sample.
    pub fn train_test(&self) -> Result<TrainTest<'_>> {
        let train = self.labelled()?;
        self.require(self.has_test_points(), Requirement::TestPoints)?;
        let numbers = self.numbers.as_ref().map(|(_, test)| test.view());
        Ok(TrainTest::from_checked(train, self.codes_test(), self.factors_test(), numbers))
    }

    /// The posteriors of the training points.
    ///
    /// # Errors
    /// If there are no log-variances.
    pub fn posteriors(&self) -> Result<Posteriors<'_>> {
        Ok(Posteriors::from_checked(self.codes_train(), self.log_variances()?))
    }

    /// The posteriors of the training points with their factors.
    ///
    /// # Errors
    /// If there are no log-variances or no factors, or no factor varies.
    pub fn labelled_posteriors(&self) -> Result<LabelledPosteriors<'_>> {
        Ok(LabelledPosteriors::from_checked(self.labelled()?, self.log_variances()?))
    }

    /// The same codes with the rows of their factors in another order, all factors of a row together: what is left of a
    /// score is chance. Another `round` is another order.
    pub(crate) fn shuffled(&self, seed: u64, round: usize) -> Self {
        let order = |purpose, rows| random::choose(&mut generator(seed, purpose, round as u64), rows, rows);
        let (train, test) =
            (order("chance", self.codes_train.nrows()), order("chance test", self.codes_test.nrows()));
        let factors_train = self.factors_train.select(Axis(0), &train);
        Self {
            classes_train: Classes::of_factors(factors_train.view()),
            factors_train,
            factors_test: self.factors_test.select(Axis(0), &test),
            numbers: self.numbers.as_ref().map(|numbers| select_both(numbers, &train, &test)),
            unseen: self.unseen.as_ref().map(|unseen| Box::new(unseen.shuffled(seed, round))),
            ..self.clone()
        }
    }

    /// As many training points and as many test points, drawn from them with replacement. Another `round` draws anew.
    pub(crate) fn resampled(&self, seed: u64, round: usize) -> Self {
        let draw = |purpose, rows| {
            let mut generator = generator(seed, purpose, round as u64);
            (0..rows).map(|_| random::below(&mut generator, rows)).collect::<Vec<usize>>()
        };
        let train = draw("bootstrap", self.codes_train.nrows());
        let test = draw("bootstrap test", self.codes_test.nrows());
        let optional =
            |array: &Option<Array2<f64>>| array.as_ref().map(|array| array.select(Axis(0), &train));
        let errors = self.reconstruction_errors.as_ref();
        let factors_train = self.factors_train.select(Axis(0), &train);
        Self {
            codes_train: self.codes_train.select(Axis(0), &train),
            classes_train: Classes::of_factors(factors_train.view()),
            factors_train,
            codes_test: self.codes_test.select(Axis(0), &test),
            factors_test: self.factors_test.select(Axis(0), &test),
            log_variance_train: optional(&self.log_variance_train),
            clusters: self.clusters.as_ref().map(|clusters| select_both(clusters, &train, &test)),
            factor_names: self.factor_names.clone(),
            factor_kinds: self.factor_kinds.clone(),
            reconstruction_errors: errors.map(|errors| train.iter().map(|&row| errors[row]).collect()),
            divergences: optional(&self.divergences),
            numbers: self.numbers.as_ref().map(|numbers| select_both(numbers, &train, &test)),
            regressed: self.regressed.clone(),
            unseen: self.unseen.as_ref().map(|unseen| Box::new(unseen.resampled(seed, round))),
        }
    }

    /// The same points with other classes for their factors: columns `kept`, and the classes of training and test points
    /// that each of them gets if they are not those it has. The numbers stay.
    pub(crate) fn with_classes(&self, treatments: &[Treatment]) -> Self {
        let kept: Vec<usize> =
            (0..treatments.len()).filter(|&factor| treatments[factor] != Treatment::LeftOut).collect();
        let numbers = self.numbers.clone().unwrap_or_else(|| {
            let numbers = |factors: &Array2<i64>| factors.mapv(|value| value as f64);
            (numbers(&self.factors_train), numbers(&self.factors_test))
        });
        let numbers = (numbers.0.select(Axis(1), &kept), numbers.1.select(Axis(1), &kept));
        let mut factors_train = self.factors_train.select(Axis(1), &kept);
        let mut factors_test = self.factors_test.select(Axis(1), &kept);
        for (column, &factor) in kept.iter().enumerate() {
            if treatments[factor] == Treatment::Grouped {
                let groups = Groups::new(numbers.0.column(column));
                factors_train.column_mut(column).assign(&groups.of(numbers.0.column(column)));
                factors_test.column_mut(column).assign(&groups.of(numbers.1.column(column)));
            }
        }
        let names = kept.iter().filter_map(|&factor| self.factor_names.get(factor).cloned());
        let kinds = kept.iter().filter_map(|&factor| self.factor_kinds.get(factor).copied());
        Self {
            classes_train: Classes::of_factors(factors_train.view()),
            factors_train,
            factors_test,
            factor_names: names.collect(),
            factor_kinds: kinds.collect(),
            numbers: Some(numbers),
            regressed: kept.iter().map(|&factor| treatments[factor] == Treatment::Grouped).collect(),
            unseen: self.unseen.as_ref().map(|unseen| Box::new(unseen.with_classes(treatments))),
            ..self.clone()
        }
    }

    /// The same points with some of their factors.
    pub(crate) fn only_factors(&self, factors: &[usize]) -> Self {
        let select = |array: &Array2<i64>| array.select(Axis(1), factors);
        let numbers = self.numbers.as_ref();
        Self {
            factors_train: select(&self.factors_train),
            factors_test: select(&self.factors_test),
            classes_train: factors.iter().map(|&factor| self.classes_train[factor].clone()).collect(),
            factor_names: factors
                .iter()
                .filter_map(|&factor| self.factor_names.get(factor).cloned())
                .collect(),
            factor_kinds: factors
                .iter()
                .filter_map(|&factor| self.factor_kinds.get(factor).copied())
                .collect(),
            numbers: numbers.map(|(a, b)| (a.select(Axis(1), factors), b.select(Axis(1), factors))),
            regressed: factors.iter().filter_map(|&factor| self.regressed.get(factor).copied()).collect(),
            unseen: None,
            ..self.clone()
        }
    }

    /// The classes of each factor of the training points.
    pub(crate) fn classes_train(&self) -> &[Classes] {
        &self.classes_train
    }

    fn log_variances(&self) -> Result<ArrayView2<'_, f64>> {
        self.log_variance_train().ok_or(MetricsError::Missing { missing: Requirement::LogVariances })
    }

    fn require(&self, present: bool, missing: Requirement) -> Result<()> {
        if present { Ok(()) } else { Err(MetricsError::Missing { missing }) }
    }
}

fn select_both<T: Clone>(
    pair: &(Array2<T>, Array2<T>),
    train: &[usize],
    test: &[usize],
) -> (Array2<T>, Array2<T>) {
    (pair.0.select(Axis(0), train), pair.1.select(Axis(0), test))
}

fn check_finite(array: &'static str, factors: ArrayView2<'_, f64>) -> Result<()> {
    match factors.indexed_iter().find(|(_, value)| !value.is_finite()) {
        Some(((row, column), &value)) => {
            Err(MetricsError::Entry { array, row, column, value, expected: "finite numbers" })
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn message<T: std::fmt::Debug>(result: Result<T>) -> String {
        result.unwrap_err().to_string()
    }

    fn codes() -> Codes {
        let (codes, factors) = (array![[0.0, 1.0], [1.0, 0.0]], array![[0], [1]]);
        Codes::new(codes.clone(), factors.clone(), codes, factors).unwrap()
    }

    #[test]
    fn what_is_added_is_checked_against_the_codes() {
        assert_eq!(
            message(codes().with_log_variances(Array2::zeros((3, 2)))),
            "log_variance_train: found 3 rows, expected 2, as many as rows of codes_train"
        );
        assert_eq!(
            message(codes().with_clusters(array![[0], [1]], array![[0]])),
            "clusters_test: found 1 row, expected 2, as many as rows of codes_test"
        );
        assert_eq!(
            message(codes().with_clusters(array![[0, 0], [1, 1]], array![[0], [1]])),
            "clusters_test: found 1 unit, expected 2, as many as units of clusters_train"
        );
        assert_eq!(
            message(codes().with_factor_names(["shape", "scale"])),
            "factor_names: found 2 names, expected 1, as many as factors"
        );
    }

    #[test]
    fn what_is_missing_is_named() {
        let bare = Codes::unlabelled(array![[0.0], [1.0]]).unwrap();
        assert_eq!(message(bare.labelled()), "the codes have no factors");
        assert_eq!(message(bare.posteriors()), "the codes have no log-variances of the posteriors");
        let (codes, factors) = (array![[0.0], [1.0]], array![[0], [1]]);
        let no_test = Codes::new(codes, factors, Array2::zeros((0, 1)), Array2::zeros((0, 1))).unwrap();
        assert_eq!(message(no_test.train_test()), "the codes have no test points with factors");
    }

    #[test]
    fn a_sample_too_small_to_split_is_refused() {
        let (codes, factors) = (array![[0.0], [1.0], [2.0]], array![[0], [1], [0]]);
        assert_eq!(
            message(Codes::split(codes.view(), factors.view())),
            "codes_test: found 1 row, expected at least 2"
        );
    }
}
