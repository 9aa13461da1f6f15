//! The distribution of the continuous latent units, `model.prior`.

use super::check::positive;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// The prior by name; `prior` has one file for each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum PriorConfig {
    /// N(0, 1) for every unit.
    StandardNormal {},
    /// N(0, v_i) for unit i (Mathieu et al. 2019, section 6.1 and appendix B).
    Anisotropic {
        /// The variances, or where they come from.
        variances: Variances,
        /// Whether they are trained with the weights; their sum is constant.
        #[serde(default)]
        learned: bool,
        /// The mean of the variances if they are not given as numbers; 1 by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scale: Option<f64>,
    },
    /// Independent Student-t distributions (Mathieu et al. 2019, section 6.1).
    StudentT {
        /// The degrees of freedom nu, at most 1e12; the limit of large nu is the normal distribution.
        degrees_of_freedom: f64,
    },
    /// A mixture of Gaussians with a shared variance (Mathieu et al. 2019, eq. 9).
    Mixture {
        /// The means of the components, each with one number per unit.
        positions: Vec<Vec<f64>>,
        /// The variance of every component along every unit.
        variance: f64,
        /// The weights of the components; equal if empty.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        weights: Vec<f64>,
    },
    /// Units that are off or on: gamma N(0, sigma0^2) + (1 - gamma) N(0, scale^2), independently (Mathieu et al. 2019,
    /// section 6.3 and appendix B).
    Sparse {
        /// Probability of being off.
        gamma: f64,
        /// Standard deviation of a unit that is off.
        #[serde(default = "sigma0")]
        sigma0: f64,
        /// Standard deviation of a unit that is on.
        #[serde(default = "one")]
        scale: f64,
    },
}

const fn sigma0() -> f64 {
    0.05
}

const fn one() -> f64 {
    1.0
}

/// The variances of an anisotropic prior.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a list of numbers, or one of the words `equal`, `principal-components` and \
                 `uncentred-singular-values`"
)]
pub enum Variances {
    /// Given values, one for each unit.
    Given(Vec<f64>),
    /// Derived by a rule.
    Rule(VarianceRule),
}

/// How variances are derived that are not given as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VarianceRule {
    /// All equal; only useful as the initial value of learned ones.
    Equal,
    /// Proportional to the variances of the data along its first principal components.
    PrincipalComponents,
    /// As Mathieu et al.'s public code takes them: proportional to the squares of the smallest of the twenty largest
    /// singular values of data that is not centred, in ascending order. With ten units, these are the twentieth to the
    /// eleventh.
    UncentredSingularValues,
}

impl VarianceRule {
    /// Singular values of which the smallest are used.
    pub(crate) const SINGULAR_VALUES: usize = 20;
}

impl PriorConfig {
    /// Its name in configurations.
    pub fn name(&self) -> &'static str {
        match self {
            Self::StandardNormal {} => "standard-normal",
            Self::Anisotropic { .. } => "anisotropic",
            Self::StudentT { .. } => "student-t",
            Self::Mixture { .. } => "mixture",
            Self::Sparse { .. } => "sparse",
        }
    }

    /// Whether its divergence from a Gaussian posterior has a closed form.
    pub(crate) fn has_closed_form(&self) -> bool {
        match self {
            Self::StandardNormal {} | Self::Anisotropic { .. } => true,
            Self::StudentT { .. } | Self::Mixture { .. } | Self::Sparse { .. } => false,
        }
    }

    /// Whether it has parameters that are trained with the weights.
    pub(crate) fn is_learned(&self) -> bool {
        match self {
            Self::Anisotropic { learned, .. } => *learned,
            Self::StandardNormal {} | Self::StudentT { .. } | Self::Mixture { .. } | Self::Sparse { .. } => {
                false
            }
        }
    }

    /// Refuses impossible values for this number of units.
    pub(crate) fn check(&self, units: usize) -> Result {
        if units == 0 && *self != (Self::StandardNormal {}) {
            let expected = "standard-normal, since there are no continuous units";
            return Err(Error::value("model.prior", self.name(), expected));
        }
        match self {
            Self::StandardNormal {} => Ok(()),
            Self::Anisotropic { variances, scale, .. } => check_variances(variances, *scale, units),
            Self::StudentT { degrees_of_freedom } => check_degrees_of_freedom(*degrees_of_freedom),
            Self::Mixture { positions, variance, weights } => {
                check_positions(positions, units)?;
                positive("model.prior.variance", *variance)?;
                check_weights(weights, positions.len())
            }
            Self::Sparse { gamma, sigma0, scale } => {
                if !(0.0..=1.0).contains(gamma) {
                    return Err(Error::value("model.prior.gamma", gamma, "a number from 0 to 1"));
                }
                positive("model.prior.sigma0", *sigma0)?;
                positive("model.prior.scale", *scale)
            }
        }
    }
}

/// Beyond this many degrees of freedom, Student's t is the normal distribution to twelve digits, of which single precision
/// has seven.
const MOST_DEGREES_OF_FREEDOM: f64 = 1e12;

fn check_degrees_of_freedom(degrees_of_freedom: f64) -> Result {
    const KEY: &str = "model.prior.degrees_of_freedom";
    positive(KEY, degrees_of_freedom)?;
    if degrees_of_freedom <= MOST_DEGREES_OF_FREEDOM {
        return Ok(());
    }
    let expected = format!("at most {MOST_DEGREES_OF_FREEDOM:e}; standard-normal is the limit");
    Err(Error::value(KEY, format!("{degrees_of_freedom:e}"), expected))
}

fn check_variances(variances: &Variances, scale: Option<f64>, units: usize) -> Result {
    match (variances, scale) {
        (Variances::Given(_), Some(scale)) => {
            Err(Error::value("model.prior.scale", scale, "none, since variances are given as numbers"))
        }
        (Variances::Given(numbers), None) => {
            if numbers.len() != units {
                return Err(Error::value(
                    "model.prior.variances",
                    format!("a list of length {}", numbers.len()),
                    format!("{units}, one for each unit of model.latents.continuous"),
                ));
            }
            numbers.iter().try_for_each(|variance| positive("model.prior.variances", *variance))
        }
        (Variances::Rule(VarianceRule::UncentredSingularValues), _)
            if units > VarianceRule::SINGULAR_VALUES =>
        {
            Err(Error::value(
                "model.prior.variances",
                format!("uncentred-singular-values for {units} units"),
                format!("at most {} units, the number of singular values", VarianceRule::SINGULAR_VALUES),
            ))
        }
        (Variances::Rule(_), scale) => scale.map_or(Ok(()), |scale| positive("model.prior.scale", scale)),
    }
}

fn check_positions(positions: &[Vec<f64>], units: usize) -> Result {
    const KEY: &str = "model.prior.positions";
    if positions.is_empty() {
        return Err(Error::value(KEY, "[]", "one position or more"));
    }
    for (place, position) in positions.iter().enumerate() {
        if position.len() != units {
            return Err(Error::value(
                format!("{KEY}[{place}]"),
                format!("a list of length {}", position.len()),
                format!("{units}, one for each unit of model.latents.continuous"),
            ));
        }
        if let Some(number) = position.iter().find(|number| !number.is_finite()) {
            return Err(Error::value(format!("{KEY}[{place}]"), number, "finite numbers"));
        }
    }
    Ok(())
}

fn check_weights(weights: &[f64], components: usize) -> Result {
    const KEY: &str = "model.prior.weights";
    if weights.is_empty() {
        return Ok(());
    }
    if weights.len() != components {
        return Err(Error::value(
            KEY,
            format!("a list of length {}", weights.len()),
            format!("{components}, one for each position, or none for equal weights"),
        ));
    }
    weights.iter().try_for_each(|weight| positive(KEY, *weight))?;
    let sum: f64 = weights.iter().sum();
    // Weights such as 1/3 cannot be written exactly.
    if (sum - 1.0).abs() > 1e-4 {
        return Err(Error::value(KEY, format!("a sum of {sum}"), "weights that sum to 1"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Source};

    fn with(prior: &str) -> Result<Config> {
        let assignments = vec!["model.latents.continuous=2".to_owned(), format!("model.prior={prior}")];
        Source { assignments, ..Source::default() }.resolve()
    }

    #[test]
    fn every_prior_can_be_written_and_read_again() {
        for prior in [
            "standard-normal",
            "{ name = \"anisotropic\", variances = [2, 0.5] }",
            "{ name = \"anisotropic\", variances = \"equal\", learned = true }",
            "{ name = \"anisotropic\", variances = \"principal-components\", scale = 2.0 }",
            "{ name = \"student-t\", degrees_of_freedom = 9 }",
            "{ name = \"mixture\", positions = [[0, 0], [1, 0]], variance = 0.03 }",
            "{ name = \"mixture\", positions = [[0, 0], [1, 0]], variance = 0.03, weights = [0.25, 0.75] }",
            "{ name = \"sparse\", gamma = 0.8 }",
        ] {
            let config = with(prior).unwrap_or_else(|error| panic!("{prior}: {error}"));
            assert_eq!(Source::parse(&config.to_toml(), "text").unwrap(), config, "{}", config.to_toml());
            assert!(prior.contains(config.model.prior.name()));
        }
    }

    #[test]
    fn a_prior_needs_units() {
        let sparse = PriorConfig::Sparse { gamma: 0.5, sigma0: 0.05, scale: 1.0 };
        assert_eq!(
            sparse.check(0).unwrap_err().to_string(),
            "configuration: model.prior: found sparse, expected standard-normal, since there are no continuous units"
        );
        assert!((PriorConfig::StandardNormal {}).check(0).is_ok());
    }

    #[test]
    fn numbers_that_cannot_be_right_are_refused_by_their_key() {
        for (prior, message) in [
            (
                "{ name = \"anisotropic\", variances = [1] }",
                "model.prior.variances: found a list of length 1, expected 2, one for each unit of model.latents.continuous",
            ),
            (
                "{ name = \"anisotropic\", variances = [1, 0] }",
                "model.prior.variances: found 0, expected a finite number above 0",
            ),
            (
                "{ name = \"anisotropic\", variances = [1, 1], scale = 2 }",
                "model.prior.scale: found 2, expected none, since variances are given as numbers",
            ),
            (
                "{ name = \"anisotropic\", variances = \"equal\", scale = 0 }",
                "model.prior.scale: found 0, expected a finite number above 0",
            ),
            (
                "{ name = \"anisotropic\", variances = \"pca\" }",
                "model.prior.variances: found \"pca\", expected a list of numbers, or one of the words `equal`, \
                 `principal-components` and `uncentred-singular-values`",
            ),
            (
                "{ name = \"student-t\", degrees_of_freedom = 0 }",
                "model.prior.degrees_of_freedom: found 0, expected a finite number above 0",
            ),
            (
                "{ name = \"student-t\", degrees_of_freedom = 1e300 }",
                "model.prior.degrees_of_freedom: found 1e300, expected at most 1e12; standard-normal is the limit",
            ),
            (
                "{ name = \"mixture\", positions = [], variance = 1 }",
                "model.prior.positions: found [], expected one position or more",
            ),
            (
                "{ name = \"mixture\", positions = [[0, 0], [1]], variance = 1 }",
                "model.prior.positions[1]: found a list of length 1, expected 2, one for each unit of model.latents.continuous",
            ),
            (
                "{ name = \"mixture\", positions = [[0, nan]], variance = 1 }",
                "model.prior.positions[0]: found NaN, expected finite numbers",
            ),
            (
                "{ name = \"mixture\", positions = [[0, 0]], variance = -1 }",
                "model.prior.variance: found -1, expected a finite number above 0",
            ),
            (
                "{ name = \"mixture\", positions = [[0, 0]], variance = 1, weights = [1, 1] }",
                "model.prior.weights: found a list of length 2, expected 1, one for each position, or none for equal weights",
            ),
            (
                "{ name = \"mixture\", positions = [[0, 0]], variance = 1, weights = [0.9] }",
                "model.prior.weights: found a sum of 0.9, expected weights that sum to 1",
            ),
            (
                "{ name = \"sparse\", gamma = 1.5 }",
                "model.prior.gamma: found 1.5, expected a number from 0 to 1",
            ),
            (
                "{ name = \"sparse\", gamma = 0.5, sigma0 = 0 }",
                "model.prior.sigma0: found 0, expected a finite number above 0",
            ),
            (
                "{ name = \"sparse\", gamma = 0.5, scale = inf }",
                "model.prior.scale: found inf, expected a finite number above 0",
            ),
            (
                "{ name = \"sparse\", gama = 0.5 }",
                "model.prior: unknown key `gama`\nhint: did you mean `gamma`?",
            ),
        ] {
            let error = with(prior).expect_err(prior).to_string();
            assert_eq!(error, format!("configuration: {message}"), "{prior}");
        }
    }
}
