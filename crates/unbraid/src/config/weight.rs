//! The weight of a term as a function of the step.

use super::Schedule;

/// `constant + sum_i factor_i * schedule_i(step)`: weights as in the papers, such as `beta - 1`.
#[derive(Clone, Debug)]
pub struct Weight {
    constant: f64,
    parts: Vec<(f64, Schedule)>,
}

impl Weight {
    /// A constant weight.
    pub fn constant(constant: f64) -> Self {
        Self { constant, parts: Vec::new() }
    }

    /// Adds a constant.
    #[must_use]
    pub fn plus(mut self, constant: f64) -> Self {
        self.constant += constant;
        self
    }

    /// Adds `factor` times a schedule.
    #[must_use]
    pub fn plus_times(mut self, factor: f64, schedule: Schedule) -> Self {
        self.parts.push((factor, schedule));
        self
    }

    /// Its value after `step` steps.
    pub fn at(&self, step: u64) -> f64 {
        self.constant + self.parts.iter().map(|(factor, schedule)| factor * schedule.at(step)).sum::<f64>()
    }
}

impl From<Schedule> for Weight {
    fn from(schedule: Schedule) -> Self {
        Self::constant(0.0).plus_times(1.0, schedule)
    }
}

impl From<f64> for Weight {
    fn from(constant: f64) -> Self {
        Self::constant(constant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Ramp;

    #[test]
    fn weights_add_up() {
        let line = Schedule::Linear(Ramp { from: 0.0, to: 10.0, start: 0, end: 10 });
        let weight = Weight::from(line).plus_times(-2.0, 1.5.into()).plus(4.0);
        assert_eq!(weight.at(5), 5.0 - 3.0 + 4.0);
    }
}
