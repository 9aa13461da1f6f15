//! Losses averaged between two rows of the log, in full precision.

use crate::config::{ModelConfig, PosteriorNeed};
use crate::error::Result;
use crate::model::{StateTensor, Values};
use crate::objective::Objective;

/// The mean of every loss over the steps since the last row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The last of these steps.
    pub step: u64,
    /// The number of these steps.
    pub steps: u64,
    /// Each loss by its key, such as `train/kl`.
    pub values: Vec<(String, f64)>,
}

impl Row {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<f64> {
        self.values.iter().find(|(name, _)| name == key).map(|(_, value)| *value)
    }
}

/// Sums of the row in progress.
#[derive(Clone, Debug)]
pub struct Means {
    keys: Vec<String>,
    sums: Vec<f64>,
    steps: u64,
}

/// Names of the sums in a checkpoint.
const SUMS: &str = "means.sums";
const STEPS: &str = "means.steps";

impl Means {
    /// Empty sums. The keys are the loss, the reconstruction, the KL divergence, each term, the auxiliary losses of
    /// terms, each scheduled weight or capacity, and the KL divergence of each unit, continuous ones first. If the
    /// posterior has no density, there is no divergence of single units, and one of all units only if a term estimates
    /// it.
    pub fn new(objective: &Objective, model: &ModelConfig) -> Self {
        let ModelConfig { latents, posterior, .. } = model;
        let has_density = posterior.provides() >= PosteriorNeed::Density;
        let mut names: Vec<String> = ["loss", "reconstruction"].map(str::to_owned).into();
        names.extend((has_density || objective.estimates_kl()).then(|| "kl".to_owned()));
        names.extend(objective.term_names().filter(|name| *name != "kl").map(str::to_owned));
        names.extend(objective.auxiliary_loss_names());
        names.extend(objective.schedules(0).map(|(key, _)| format!("schedule/{key}")));
        let units = if has_density { latents.continuous } else { 0 };
        names.extend((0..units).map(|unit| format!("kl_unit/{unit}")));
        names.extend((0..latents.categorical.len()).map(|unit| format!("kl_categorical/{unit}")));
        let keys: Vec<String> = names.into_iter().map(|name| format!("train/{name}")).collect();
        Self { sums: vec![0.0; keys.len()], keys, steps: 0 }
    }

    /// Adds the numbers of one step, in the order of the keys.
    ///
    /// # Errors
    /// The first value that is not finite, by name; a part before the sum that it spoils. Nothing is added then.
    pub fn add(&mut self, values: &[f64]) -> Result<(), (String, f64)> {
        debug_assert_eq!(values.len(), self.keys.len(), "one number for each key");
        let named = || self.keys.iter().zip(values);
        if let Some((key, value)) =
            named().skip(1).chain(named().take(1)).find(|(_, value)| !value.is_finite())
        {
            let name = key.strip_prefix("train/").unwrap_or(key);
            return Err((name.to_owned(), *value));
        }
        for (sum, value) in self.sums.iter_mut().zip(values) {
            *sum += value;
        }
        self.steps += 1;
        Ok(())
    }

    /// The means so far, of the steps up to `step`; then starts the next row.
    pub fn take(&mut self, step: u64) -> Row {
        let row = self.row(step);
        self.steps = 0;
        self.sums.fill(0.0);
        row
    }

    /// The same without starting a new row; `None` right after one.
    pub fn in_progress(&self, step: u64) -> Option<Row> {
        (self.steps > 0).then(|| self.row(step))
    }

    fn row(&self, step: u64) -> Row {
        let mean = |sum: &f64| sum / self.steps.max(1) as f64;
        let values = self.keys.iter().cloned().zip(self.sums.iter().map(mean)).collect();
        Row { step, steps: self.steps, values }
    }

    /// The state for a checkpoint.
    pub fn state(&self) -> [StateTensor; 2] {
        [
            StateTensor {
                name: SUMS.to_owned(),
                shape: vec![self.sums.len()],
                values: Values::Doubles(self.sums.clone()),
            },
            StateTensor {
                name: STEPS.to_owned(),
                shape: Vec::new(),
                values: Values::Integers(vec![i64::try_from(self.steps).unwrap_or(i64::MAX)]),
            },
        ]
    }

    /// Restores the state from a checkpoint, in any order.
    ///
    /// # Errors
    /// If there are other tensors, or the number of losses differs.
    pub fn set_state(&mut self, state: Vec<StateTensor>) -> Result {
        let [sums, steps] = crate::model::matched(&self.state(), state)?
            .try_into()
            .unwrap_or([Values::Doubles(Vec::new()), Values::Integers(Vec::new())]);
        if let (Values::Doubles(sums), Values::Integers(steps)) = (sums, steps) {
            self.sums = sums;
            self.steps = steps.first().map_or(0, |steps| steps.unsigned_abs());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Initializer, LatentsConfig, ObjectiveConfig, Samples};
    use crate::objective::Setting;
    use burn::tensor::Device;

    fn means() -> Means {
        let setting = Setting {
            seed: 0,
            units: 2,
            pixels: 4,
            initializer: Initializer::Pytorch,
            device: Device::flex().autodiff(),
        };
        let latents = LatentsConfig { continuous: 2, ..LatentsConfig::default() };
        let model = ModelConfig { latents, ..ModelConfig::default() };
        let objective = ObjectiveConfig::BetaVae { beta: 2.0.into(), samples: Samples::default() };
        Means::new(&Objective::new(&objective, &setting), &model)
    }

    #[test]
    fn a_row_is_the_mean_of_its_steps_and_the_next_starts_afresh() {
        let mut means = means();
        means.add(&[7.0, 5.0, 1.0, 0.25, 0.75]).unwrap();
        means.add(&[9.0, 5.0, 2.0, 1.25, 0.75]).unwrap();
        let row = means.take(10);
        assert_eq!((row.step, row.steps), (10, 2));
        assert_eq!(row.get("train/loss"), Some(8.0));
        assert_eq!(row.get("train/kl"), Some(1.5));
        assert_eq!(row.get("train/kl_unit/0"), Some(0.75));
        assert_eq!(means.take(11).steps, 0);
    }

    #[test]
    fn the_part_that_is_not_finite_is_named_before_the_total() {
        let (term, value) = means().add(&[f64::NAN, 3.0, f64::INFINITY, 1.0, 1.0]).unwrap_err();
        assert_eq!((term.as_str(), value), ("kl", f64::INFINITY));
        assert_eq!(means().add(&[f64::INFINITY, 1.0, 1.0, 1.0, 1.0]).unwrap_err().0, "loss");
    }

    #[test]
    fn the_row_in_progress_survives_a_checkpoint() {
        let mut before = means();
        before.add(&[0.1, 0.2, 0.3, 0.4, 0.5]).unwrap();
        let mut after = means();
        after.set_state(before.state().into()).unwrap();
        assert_eq!(after.take(1), before.take(1));
    }
}
