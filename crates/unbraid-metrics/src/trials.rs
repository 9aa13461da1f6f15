//! A metric computed on the given codes, on shuffled factors (chance) and on resampled points (intervals).

use crate::codes::Codes;
use crate::error::Result;
use crate::metric::{Description, Metric, Options};
use crate::report::{Bootstrap, Chance, NEGLIGIBLE, ScoreValues};

/// How often factors are shuffled where a score is cheap, or may be at chance.
pub(crate) const SHUFFLES: usize = 5;

/// The codes, and the shuffled copies made so far, which all metrics share. (Resamples are drawn again for each metric: a
/// thousand of them would not fit into memory.)
pub(crate) struct Trials<'a> {
    codes: &'a Codes,
    options: Options<'a>,
    shuffled: Vec<Codes>,
}

impl<'a> Trials<'a> {
    pub(crate) fn new(codes: &'a Codes, options: Options<'a>) -> Self {
        Self { codes, options, shuffled: Vec::new() }
    }

    /// The numbers of a metric, with those that are meaningless for these codes marked as undefined.
    pub(crate) fn values(&self, metric: &dyn Metric, description: &Description) -> Result<ScoreValues> {
        let codes = self.codes.seen_with(description.needs);
        let values = if self.is_undefined(description) {
            ScoreValues::default()
        } else {
            metric.run(codes, &self.options)?
        };
        Ok(marked(values, codes, description))
    }

    /// The chance levels of a metric's numbers; `None` if they are not requested, the metric does not depend on factors, or
    /// its sampler of the whole data set cannot be shuffled. A metric that takes seconds is shuffled once, and more often only
    /// where one of its values may be chance. Calls `tick` before each shuffle.
    pub(crate) fn chance(
        &mut self,
        metric: &dyn Metric,
        description: &Description,
        values: &ScoreValues,
        tick: &mut dyn FnMut(),
    ) -> Result<Option<Chance>> {
        let options = self.options;
        if !options.chance || !description.needs.factors || self.is_undefined(description) {
            return Ok(None);
        }
        let doubtful = self.doubtful_difference();
        let mut rounds: Vec<Vec<(String, f64)>> = Vec::new();
        for round in 0..description.shuffles.max(SHUFFLES) {
            let is_open = |(key, value): &(String, f64)| {
                let away = Chance::of_shuffles(&rounds).get(key).map(|level| (value - level.mean).abs());
                away.is_some_and(|away| NEGLIGIBLE < away && away < doubtful)
            };
            // Decided once: the interval from two shuffles would be so wide that clear scores lie in it.
            if round == description.shuffles && !values.numbers().iter().any(is_open) {
                break;
            }
            tick();
            let sampler = match options.sampler.filter(|_| description.interventional) {
                None => None,
                Some(sampler) => match sampler.shuffled(options.seed, round) {
                    Some(shuffled) => Some(shuffled),
                    None => return Ok(None),
                },
            };
            while self.shuffled.len() <= round {
                self.shuffled.push(self.codes.shuffled(options.seed, self.shuffled.len()));
            }
            let options = Options { sampler: sampler.as_deref(), ..options };
            let codes = self.shuffled[round].seen_with(description.needs);
            rounds.push(marked(metric.run(codes, &options)?, codes, description).into_numbers());
        }
        Ok(Some(Chance::of_shuffles(&rounds)))
    }

    /// A difference from one shuffle that may be chance. A score that is a mean over n points of numbers between 0 and 1 has
    /// a standard deviation of at most sqrt(1/4n), a difference of two sqrt(1/2n); three of them are doubtful.
    fn doubtful_difference(&self) -> f64 {
        let points = match self.codes.codes_test().nrows() {
            0 => self.codes.codes_train().nrows(),
            points => points,
        };
        3.0 * (0.5 / points.max(1) as f64).sqrt()
    }

    /// The intervals of a metric's numbers; `None` if they are not requested. Metrics that draw from a sampler of the whole
    /// data set draw again, with another seed, instead of having their points resampled. Calls `tick` before each resample.
    pub(crate) fn bootstrap(
        &self,
        metric: &dyn Metric,
        description: &Description,
        tick: &mut dyn FnMut(),
    ) -> Result<Option<Bootstrap>> {
        let options = self.options;
        if options.resamples == 0 || self.is_undefined(description) {
            return Ok(None);
        }
        let mut rounds = Vec::new();
        for round in 0..options.resamples {
            tick();
            let values = if description.interventional && options.sampler.is_some() {
                let seed = options.seed.wrapping_add(1 + round as u64);
                let codes = self.codes.seen_with(description.needs);
                marked(metric.run(codes, &Options { seed, ..options })?, codes, description)
            } else {
                let resampled = self.codes.resampled(options.seed, round);
                let codes = resampled.seen_with(description.needs);
                if description.needs.factors && codes.labelled().is_err() {
                    // Every point of the resample has the same factors.
                    continue;
                }
                marked(metric.run(codes, &options)?, codes, description)
            };
            rounds.push(values.into_numbers());
        }
        Ok(Some(Bootstrap::of_resamples(&rounds)))
    }

    fn is_undefined(&self, description: &Description) -> bool {
        let undefined = undefined(self.codes.seen_with(description.needs), description);
        description.keys().all(|key| undefined.iter().any(|(other, _)| other == key))
    }
}

/// The same numbers, with those that are meaningless for these codes marked as undefined.
fn marked(values: ScoreValues, codes: &Codes, description: &Description) -> ScoreValues {
    undefined(codes, description)
        .into_iter()
        .fold(values, |values, (key, why)| values.with_undefined(key, why))
}

/// The keys of the numbers that are meaningless for these codes, and why.
fn undefined(codes: &Codes, description: &Description) -> Vec<(String, String)> {
    if !description.needs.factors {
        return Vec::new();
    }
    if !codes.has_factors() {
        let why = "every factor has nearly as many values as there are points";
        return description.keys().map(|key| (key.to_owned(), why.to_owned())).collect();
    }
    let mut found = Vec::new();
    let varying = codes.classes_train().iter().filter(|classes| classes.varies()).count();
    if varying == 0 && codes.is_scorable_part() {
        let why = "no factor varies but those that have nearly as many values as there are points";
        return description.keys().map(|key| (key.to_owned(), why.to_owned())).collect();
    }
    if varying == 1 {
        let why = "compares factors, and only one varies";
        found.extend(description.compares_factors.iter().map(|key| (key.clone(), why.to_owned())));
    }
    if codes.unit_count() == 1 {
        let why = "compares units, and there is only one";
        found.extend(description.compares_units.iter().map(|key| (key.clone(), why.to_owned())));
    }
    found
}
