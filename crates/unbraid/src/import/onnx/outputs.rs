//! Which outputs of an encoder are what, by what the file says and by their names.

use super::metadata::Metadata;
use crate::import::refusal::{Refusal, listed, quoted};

/// The outputs that are used, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outputs {
    /// The codes; `None` for an encoder of categorical units alone.
    pub(super) code: Option<String>,
    /// The logarithms of the variances that belong to them.
    pub(super) log_variance: Option<String>,
    /// The probabilities of the classes of each categorical unit.
    pub(super) probabilities: Vec<String>,
}

impl Outputs {
    /// Chooses among the outputs of a file: the one that is asked for, else the mean of a mean and a
    /// log-variance, else the first.
    ///
    /// # Errors
    /// If there is no such output.
    pub(super) fn choose(names: &[&str], wanted: Option<&str>, metadata: &Metadata) -> Result<Self, Refusal> {
        let has = |name: &str| names.contains(&name);
        let probabilities: Vec<String> = (0..metadata.categorical_units)
            .map(|unit| format!("probabilities_{unit}"))
            .filter(|name| has(name))
            .collect();
        let is_categorical = |name: &&str| probabilities.iter().any(|own| own == name);
        let code = match wanted {
            Some(name) if !has(name) => {
                let found = format!("the outputs {}", listed(names.iter().copied()));
                return Err(Refusal::new(found, format!("one named `{}`", quoted(name))));
            }
            Some(name) => Some(name),
            None => {
                let mean = names.iter().find(|name| variance_of(name, names).is_some());
                mean.or_else(|| names.iter().find(|name| !is_categorical(name))).copied()
            }
        };
        if code.is_none() && probabilities.is_empty() {
            return Err(Refusal::new("a graph without outputs", "an encoder"));
        }
        let log_variance = code.and_then(|code| variance_of(code, names)).map(str::to_owned);
        Ok(Self { code: code.map(str::to_owned), log_variance, probabilities })
    }

    /// All of them: the code, its variance, the classes.
    pub(super) fn names(&self) -> Vec<&str> {
        self.code.iter().chain(&self.log_variance).chain(&self.probabilities).map(String::as_str).collect()
    }
}

/// What programs call the mean of a posterior, and the logarithm of its variance.
const MEANS: [&str; 5] = ["mean", "means", "mu", "mus", "loc"];
const LOG_VARIANCES: [&str; 5] = ["logvariance", "logvariances", "logvar", "logvars", "logsigma2"];

/// The output that is the log-variance to this mean: `z_log_var` to `z_mean`, `logvar` to `mu`.
fn variance_of<'a>(mean: &str, names: &[&'a str]) -> Option<&'a str> {
    let stem = |name: &str, words: &[&str]| {
        let letters: String = name.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
        // The longest word that fits, so that `means` is not a stem.
        let word = words.iter().filter(|word| letters.ends_with(**word)).max_by_key(|word| word.len())?;
        Some(letters[..letters.len() - word.len()].to_owned())
    };
    let own = stem(mean, &MEANS)?;
    names.iter().copied().find(|name| stem(name, &LOG_VARIANCES).as_ref() == Some(&own))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(names: &[&str], wanted: Option<&str>, categorical_units: usize) -> (String, String, usize) {
        let metadata = Metadata { categorical_units, ..Metadata::default() };
        let outputs = Outputs::choose(names, wanted, &metadata).unwrap();
        let text = |name: Option<String>| name.unwrap_or_else(|| "-".to_owned());
        (text(outputs.code), text(outputs.log_variance), outputs.probabilities.len())
    }

    #[test]
    fn names_say_which_output_is_what() {
        let expected = |code: &str, variance: &str, units| (code.to_owned(), variance.to_owned(), units);
        assert_eq!(chosen(&["12", "13"], None, 0), expected("12", "-", 0));
        assert_eq!(chosen(&["mean", "log_variance"], None, 0), expected("mean", "log_variance", 0));
        assert_eq!(chosen(&["recon", "z_mean", "z_log_var"], None, 0), expected("z_mean", "z_log_var", 0));
        assert_eq!(chosen(&["mu", "logvar"], Some("logvar"), 0), expected("logvar", "-", 0));
        assert_eq!(chosen(&["z", "mu", "logvar"], Some("mu"), 0), expected("mu", "logvar", 0));
        // Of another posterior.
        assert_eq!(chosen(&["a_mu", "b_logvar"], None, 0), expected("a_mu", "-", 0));
        // Only the metadata say that an output is a distribution of classes.
        assert_eq!(chosen(&["probabilities_0"], None, 0), expected("probabilities_0", "-", 0));
        assert_eq!(chosen(&["probabilities_0"], None, 1), expected("-", "-", 1));
    }

    #[test]
    fn a_missing_output_is_named_with_those_that_are_there() {
        let refusal = Outputs::choose(&["mu", "logvar"], Some("mean"), &Metadata::default()).unwrap_err();
        assert_eq!(refusal, Refusal::new("the outputs `mu`, `logvar`", "one named `mean`"));
        let refusal = Outputs::choose(&[], None, &Metadata::default()).unwrap_err();
        assert_eq!(refusal, Refusal::new("a graph without outputs", "an encoder"));
    }
}
