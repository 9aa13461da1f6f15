//! Traversals: latent values of which a single unit changes.

use crate::error::Result;
use crate::model::{Unit, steps};
use crate::run::Run;
use ndarray::{Array2, ArrayRef, Ix1};

/// Copies of a row of latent values in which a single unit changes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Traversal {
    /// The unit.
    pub unit: Unit,
    /// Its name, or its number.
    pub label: String,
    /// The values of a continuous unit, or the numbers of the classes of a categorical one.
    pub values: Vec<f64>,
    /// A row of latent values for each of them, as the decoder takes it.
    pub latents: Array2<f32>,
}

impl Run {
    /// A row of latent values with one unit changed: a continuous unit takes `count` values over a range, by
    /// default that of [`Run::range_of`], and a categorical one all of its classes.
    ///
    /// # Errors
    /// If the unit does not exist, or the row has the wrong number of columns.
    pub fn traversal(
        &self,
        row: &ArrayRef<f32, Ix1>,
        unit: Unit,
        range: Option<(f64, f64)>,
        count: usize,
    ) -> Result<Traversal> {
        self.check_unit(unit)?;
        self.check_row(row)?;
        let (values, latents) = match unit {
            Unit::Continuous(unit) => {
                let values = steps(range.unwrap_or_else(|| self.range_of(unit)), count);
                let latents = self.layout().traversal(row, unit, &values);
                (values, latents)
            }
            Unit::Categorical(unit) => {
                let latents = self.layout().class_traversal(row, unit);
                ((0..latents.nrows()).map(|class| class as f64).collect(), latents)
            }
        };
        Ok(Traversal { unit, label: self.unit_label(unit), values, latents })
    }
}

impl Traversal {
    /// What the values are, for the axis of a chart.
    pub fn axis(&self) -> &'static str {
        match self.unit {
            Unit::Continuous(_) => "value of the unit",
            Unit::Categorical(_) => "class",
        }
    }
}
