//! Factors of variation, and the grid of their combinations.

use std::fmt;

/// How the values of a factor relate to each other. Scores that predict a factor treat the kinds differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FactorKind {
    /// Classes without an order, such as shapes.
    Categorical,
    /// Numbers: neighbouring values are alike, the first and the last are not.
    Ordered,
    /// Numbers on a circle: the last value is next to the first, as in an orientation over a full turn.
    Angle,
}

impl FactorKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Categorical, Self::Ordered, Self::Angle];

    /// The name in files and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Categorical => "categorical",
            Self::Ordered => "ordered",
            Self::Angle => "angle",
        }
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The kind of a factor of which only the number of values is known: class numbers usually come from a grid of
    /// numbers, but two values have no order that matters.
    pub(crate) const fn guess(size: usize) -> Self {
        if size > 2 { Self::Ordered } else { Self::Categorical }
    }
}

impl fmt::Display for FactorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A factor of variation: a name and a number of values, which are numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factor {
    /// The name, such as "scale".
    pub name: String,
    /// The number of values.
    pub size: usize,
    /// The meaning of each value ("square", "ellipse", "heart"); empty if the values are plain numbers.
    pub labels: Vec<String>,
    /// Whether a representation should capture the factor. Metrics ignore the others, such as the instance in
    /// smallNORB.
    pub latent: bool,
    /// How its values relate to each other.
    pub kind: FactorKind,
}

impl Factor {
    /// A latent factor whose values are plain numbers, in order.
    pub fn new(name: impl Into<String>, size: usize) -> Self {
        Self { name: name.into(), size, labels: Vec::new(), latent: true, kind: FactorKind::Ordered }
    }

    /// A latent factor with one label per value, and without an order.
    pub fn labelled<L: Into<String>>(name: impl Into<String>, labels: impl IntoIterator<Item = L>) -> Self {
        let labels: Vec<String> = labels.into_iter().map(Into::into).collect();
        Self { name: name.into(), size: labels.len(), labels, latent: true, kind: FactorKind::Categorical }
    }

    /// The same factor, not latent.
    #[must_use]
    pub fn nuisance(self) -> Self {
        Self { latent: false, ..self }
    }

    /// The same factor, of another kind.
    #[must_use]
    pub fn of_kind(self, kind: FactorKind) -> Self {
        Self { kind, ..self }
    }

    /// The number that each value stands for, if the factor is not categorical and all labels are finite numbers: the
    /// weights or ages of an attribute table.
    pub fn numbers(&self) -> Option<Vec<f64>> {
        if self.labels.is_empty() || self.kind == FactorKind::Categorical {
            return None;
        }
        let number = |label: &String| label.trim().parse().ok().filter(|number: &f64| number.is_finite());
        self.labels.iter().map(number).collect()
    }

    /// The label of a value, or the value itself if there are no labels.
    pub fn label(&self, value: u32) -> String {
        self.labels.get(value as usize).cloned().unwrap_or_else(|| value.to_string())
    }
}

/// The factors of a data set, in order.
///
/// Their combinations form a grid. Grid points are numbered with the **last** factor varying fastest, as in dSprites.
///
/// ```
/// use unbraid_data::{Factor, FactorSpace};
///
/// let space = FactorSpace::new(vec![Factor::new("shape", 3), Factor::new("x", 4)]);
/// assert_eq!(space.grid_len(), Some(12));
/// assert_eq!(space.index_of(&[2, 1]), Some(9));
/// let mut values = [0; 2];
/// space.values_of(9, &mut values);
/// assert_eq!(values, [2, 1]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FactorSpace {
    factors: Vec<Factor>,
}

impl FactorSpace {
    /// The space of these factors.
    pub fn new(factors: Vec<Factor>) -> Self {
        Self { factors }
    }

    /// The factors in order.
    pub fn factors(&self) -> &[Factor] {
        &self.factors
    }

    pub(crate) fn set_kind(&mut self, position: usize, kind: FactorKind) {
        self.factors[position].kind = kind;
    }

    /// The number of factors.
    pub fn len(&self) -> usize {
        self.factors.len()
    }

    /// Whether there are no factors.
    pub fn is_empty(&self) -> bool {
        self.factors.is_empty()
    }

    /// The positions of the latent factors.
    pub fn latent(&self) -> Vec<usize> {
        (0..self.len()).filter(|&k| self.factors[k].latent).collect()
    }

    /// The position of the factor with this name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.factors.iter().position(|factor| factor.name == name)
    }

    /// The number of combinations, or `None` if it does not fit a `usize`.
    pub fn grid_len(&self) -> Option<usize> {
        self.factors.iter().try_fold(1_usize, |len, factor| len.checked_mul(factor.size))
    }

    /// The difference between the grid indices of two consecutive values of factor `k`.
    pub fn stride(&self, k: usize) -> usize {
        self.factors[k + 1..].iter().map(|factor| factor.size).product()
    }

    /// The grid index of a combination; `None` if its length is wrong or a value is out of range.
    pub fn index_of(&self, values: &[u32]) -> Option<usize> {
        if values.len() != self.len() {
            return None;
        }
        self.factors.iter().zip(values).try_fold(0_usize, |index, (factor, &value)| {
            ((value as usize) < factor.size).then(|| index * factor.size + value as usize)
        })
    }

    /// Writes the combination at a grid index to `values`.
    ///
    /// # Panics
    /// If the length of `values` is not the number of factors.
    pub fn values_of(&self, mut index: usize, values: &mut [u32]) {
        assert_eq!(values.len(), self.len(), "one value for each factor");
        for (factor, value) in self.factors.iter().zip(values).rev() {
            *value = (index % factor.size) as u32;
            index /= factor.size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bases of dSprites' grid as its authors publish them: 245760, 40960, 1024, 32, 1.
    #[test]
    fn dsprites_bases() {
        let sizes = [3, 6, 40, 32, 32];
        let space = FactorSpace::new(sizes.iter().map(|&size| Factor::new("f", size)).collect());
        let bases: Vec<usize> = (0..5).map(|k| space.stride(k)).collect();
        assert_eq!(bases, [245_760, 40_960, 1024, 32, 1]);
        assert_eq!(space.grid_len(), Some(737_280));
    }

    #[test]
    fn every_grid_point_round_trips() {
        let space = FactorSpace::new(vec![Factor::new("a", 2), Factor::new("b", 3), Factor::new("c", 5)]);
        let mut values = [0; 3];
        for index in 0..30 {
            space.values_of(index, &mut values);
            assert_eq!(space.index_of(&values), Some(index));
        }
    }

    #[test]
    fn values_outside_the_grid_have_no_index() {
        let space = FactorSpace::new(vec![Factor::new("a", 2), Factor::new("b", 3)]);
        assert_eq!(space.index_of(&[0, 3]), None);
        assert_eq!(space.index_of(&[2, 0]), None);
        assert_eq!(space.index_of(&[0]), None);
    }

    #[test]
    fn labels_of_ordered_factors_may_be_numbers() {
        let weights = Factor::labelled("weight", ["-1.5", "2", "7e1"]);
        assert_eq!(weights.numbers(), None, "categories have no order");
        assert_eq!(weights.clone().of_kind(FactorKind::Ordered).numbers(), Some(vec![-1.5, 2.0, 70.0]));
        assert_eq!(Factor::labelled("size", ["1", "big"]).of_kind(FactorKind::Ordered).numbers(), None);
        assert_eq!(Factor::new("x", 3).numbers(), None);
    }

    #[test]
    fn a_grid_too_large_to_count_is_reported() {
        let space = FactorSpace::new(vec![Factor::new("a", usize::MAX), Factor::new("b", 2)]);
        assert_eq!(space.grid_len(), None);
    }
}
