//! Images that are held out from training, and what depends on the loss on them.

use super::TrainingConfig;
use super::check::at_least_one;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Which images are held out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, try_from = "Given")]
pub enum ValidationConfig {
    /// A fraction of the data, chosen at random but the same for every seed, so that runs can be compared.
    Fraction(f64),
    /// The test split of data that is trained on its training split.
    Split(HeldOutSplit),
}

/// What a configuration may say.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a fraction such as 0.1, or the word `test`")]
enum Given {
    Fraction(f64),
    Word(String),
}

impl TryFrom<Given> for ValidationConfig {
    type Error = String;

    fn try_from(given: Given) -> Result<Self, String> {
        match given {
            Given::Fraction(fraction) => Ok(Self::Fraction(fraction)),
            Given::Word(word) if word == "test" => Ok(Self::Split(HeldOutSplit::Test)),
            Given::Word(word) => {
                Err(format!("found \"{word}\", expected a fraction such as 0.1, or the word `test`"))
            }
        }
    }
}

/// The split that is held out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HeldOutSplit {
    /// The test split.
    Test,
}

/// When to end training before its last step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EarlyStop {
    /// After this many validations in a row without a new best.
    pub patience: u64,
}

impl TrainingConfig {
    /// How many of `images` images are held out: rounded, but at least one, and at least one is left.
    pub fn held_out(&self, images: usize) -> usize {
        match self.validation {
            Some(ValidationConfig::Fraction(fraction)) if images > 1 => {
                ((images as f64 * fraction).round() as usize).clamp(1, images - 1)
            }
            Some(ValidationConfig::Fraction(_) | ValidationConfig::Split(HeldOutSplit::Test)) | None => 0,
        }
    }

    /// Steps between validations.
    pub fn validate_every_or_default(&self) -> u64 {
        self.validate_every.unwrap_or_else(|| self.log_every.saturating_mul(5))
    }

    pub(super) fn check_validation(&self) -> Result {
        let (key, expected) = ("training.validation", "a number between 0 and 1, or the word `test`");
        match self.validation {
            Some(ValidationConfig::Fraction(fraction)) if !(fraction > 0.0 && fraction < 1.0) => {
                return Err(Error::value(key, fraction, expected));
            }
            Some(ValidationConfig::Fraction(_) | ValidationConfig::Split(HeldOutSplit::Test)) => {}
            None => return self.check_without_validation(),
        }
        if let Some(stop) = self.early_stop {
            at_least_one("training.early_stop.patience", stop.patience)?;
        }
        let every = self.validate_every_or_default();
        if every == 0 || !every.is_multiple_of(self.log_every) {
            let expected = format!("a multiple of training.log_every, which is {}", self.log_every);
            return Err(Error::value("training.validate_every", every, expected));
        }
        Ok(())
    }

    fn check_without_validation(&self) -> Result {
        let expected = "nothing, unless training.validation says which images are held out";
        if let Some(stop) = self.early_stop {
            let found = format!("{{ patience = {} }}", stop.patience);
            return Err(Error::value("training.early_stop", found, expected));
        }
        if self.keep_best {
            return Err(Error::value("training.keep_best", "true", expected));
        }
        self.validate_every
            .map_or(Ok(()), |every| Err(Error::value("training.validate_every", every, expected)))
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Source;

    fn set(assignments: &[&str]) -> crate::Result<crate::config::Config> {
        assignments.iter().fold(Source::preset("default"), |source, text| source.set(*text)).resolve()
    }

    #[test]
    fn wrong_values_are_refused_by_their_keys() {
        let unless = "expected nothing, unless training.validation says which images are held out";
        for (assignments, message) in [
            (
                &["training.validation=1"][..],
                "training.validation: found 1, expected a number between 0 and 1, or the word `test`"
                    .to_owned(),
            ),
            (
                &["training.validation=train"],
                "training.validation: found \"train\", expected a fraction such as 0.1, or the word `test`"
                    .to_owned(),
            ),
            (&["training.keep_best=true"], format!("training.keep_best: found true, {unless}")),
            (
                &["training.early_stop={ patience = 3 }"],
                format!("training.early_stop: found {{ patience = 3 }}, {unless}"),
            ),
            (&["training.validate_every=100"], format!("training.validate_every: found 100, {unless}")),
            (
                &["training.validation=0.1", "training.validate_every=150"],
                "training.validate_every: found 150, expected a multiple of training.log_every, which is 100"
                    .to_owned(),
            ),
            (
                &["training.validation=0.1", "training.early_stop.patience=0"],
                "training.early_stop.patience: found 0, expected at least 1".to_owned(),
            ),
        ] {
            let error = set(assignments).unwrap_err().to_string();
            assert_eq!(error, format!("configuration: {message}"), "{assignments:?}");
        }
    }

    #[test]
    fn some_images_are_held_out_and_some_are_left() {
        let training = |text: &str| set(&[text]).unwrap().training;
        let tenth = training("training.validation=0.1");
        assert_eq!([2, 3, 100, 3786].map(|images| tenth.held_out(images)), [1, 1, 10, 379]);
        assert_eq!(training("training.validation=0.99").held_out(3), 2);
        assert_eq!(training("training.validation=test").held_out(100), 0);
        assert_eq!((tenth.validate_every, training("seed=1").validate_every), (Some(500), None));
        let epochs = set(&["training.validation=0.1", "training.epochs=2"]).unwrap().training;
        assert_eq!(epochs.total_steps(1000), 2 * 900 / 64);
    }

    #[test]
    fn what_is_measured_on_the_way_changes_no_step() {
        let (held_out, stopping) = (
            set(&["training.validation=0.1"]).unwrap(),
            set(&[
                "training.validation=0.1",
                "training.early_stop={ patience = 3 }",
                "training.keep_best=true",
            ])
            .unwrap(),
        );
        assert_eq!(held_out.fingerprint_of_steps(), stopping.fingerprint_of_steps());
        assert_ne!(held_out.fingerprint(), stopping.fingerprint());
        assert_ne!(held_out.fingerprint_of_steps(), set(&[]).unwrap().fingerprint_of_steps(), "other images");
    }
}
