//! What can be added to codes: posteriors, clusters, names and kinds of factors, reconstruction errors, unseen points. Each is
//! checked against the codes when it is added.

use super::Codes;
use crate::checks::{check_finite, check_length, check_log_variances};
use crate::error::{MetricsError, Result};
use crate::metric::FactorKind;
use ndarray::Array2;

impl Codes {
    /// Adds the numbers that the values of the factors stand for, such as ages or weights, \[n, factors\] and \[m, factors\].
    /// Scores that treat a factor as a number then use these instead of its class labels.
    ///
    /// # Errors
    /// If the shapes differ from those of the factors, or a number is not finite.
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

    /// Adds the logarithms of the posterior variances of the training codes, \[n, units\]; the codes are then means.
    ///
    /// # Errors
    /// If the shape differs from that of the training codes, or a number is NaN or its magnitude exceeds 250.
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
    /// If the arrays have no columns, or their numbers of rows differ from those of the codes.
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

    /// Adds how well a model reconstructs each training point: the squared error, averaged over pixels and channels.
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

    /// Adds the KL divergence of each unit's posterior from its prior for each training point, \[n, units\], in nats. Without
    /// it, the prior is assumed to be standard normal.
    ///
    /// # Errors
    /// If the shape differs from that of the training codes, or a number is not finite.
    pub fn with_divergences(mut self, divergences: Array2<f64>) -> Result<Self> {
        let array = "divergence_train";
        let (rows, units) = self.codes_train.dim();
        check_length(array, "row", divergences.nrows(), rows, "rows of codes_train")?;
        check_length(array, "unit", divergences.ncols(), units, "units of codes_train")?;
        check_finite(array, divergences.view())?;
        self.divergences = Some(divergences);
        Ok(self)
    }

    /// Adds points that the model was not trained on, as the training codes of `unseen`. Scores that do not distinguish
    /// training from test points are then computed on them. (The others are tested on the test points, which should be
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
            "log_variance_train: found 3 rows, expected 2, the number of rows of codes_train"
        );
        assert_eq!(
            message(codes().with_clusters(array![[0], [1]], array![[0]])),
            "clusters_test: found 1 row, expected 2, the number of rows of codes_test"
        );
        assert_eq!(
            message(codes().with_clusters(array![[0, 0], [1, 1]], array![[0], [1]])),
            "clusters_test: found 1 unit, expected 2, the number of units of clusters_train"
        );
        assert_eq!(
            message(codes().with_factor_names(["shape", "scale"])),
            "factor_names: found 2 names, expected 1, the number of factors"
        );
    }
}
