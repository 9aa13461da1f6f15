//! How much each unit of a run carries.

use crate::error::Result;
use crate::evaluate::ACTIVE;
use crate::inference::input;
use crate::model::Unit;
use crate::run::Run;
use unbraid_data::DataSet;
use unbraid_data::progress::Progress;
use unbraid_data::random::Stream;
use unbraid_data::sampling;

/// What a unit carries over some images.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnitActivity {
    /// The unit.
    pub unit: Unit,
    /// KL(q(z_i|x) || p(z_i)), mean over the images, in nats.
    pub divergence: f64,
    /// Whether the posterior mean varies by more than [`ACTIVE`] over the images; for a categorical unit, whether its
    /// divergence is above that.
    pub is_active: bool,
}

impl Run {
    /// What each unit carries over at most `count` images drawn at random from `data`, the unit with the
    /// largest divergence first.
    ///
    /// # Errors
    /// If the images are of another size than those of the run, or cannot be read.
    pub fn unit_activity(
        &self,
        data: &dyn DataSet,
        count: usize,
        progress: &dyn Progress,
    ) -> Result<Vec<UnitActivity>> {
        let mut generator = Stream::new(0, "unit activity").at(0).generator();
        let indices = sampling::distinct(data.len(), &mut generator, count);
        let posteriors = self.encode_data(data, &indices, input::noise(), progress)?;
        let variances = posteriors.mean_variances();
        let mut units: Vec<UnitActivity> = self
            .layout()
            .units()
            .zip(self.divergences(&posteriors, 0))
            .map(|(unit, divergence)| UnitActivity {
                unit,
                divergence,
                is_active: match unit {
                    Unit::Continuous(unit) => variances[unit] > ACTIVE,
                    Unit::Categorical(_) => divergence > ACTIVE,
                },
            })
            .collect();
        units.sort_by(|a, b| b.divergence.total_cmp(&a.divergence));
        Ok(units)
    }
}
