//! Which tensor of a file becomes which of ours, and how.

use super::refusal::quoted;
use super::state_file::{Described, StateFile};
use crate::error::{Error, Result};
use crate::model::{StateTensor, Values};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// The tensors of a file by our names. A name that is not there is the same in both.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub(super) struct Mapping {
    places: BTreeMap<String, Place>,
}

/// Where a tensor comes from: a name, or a table with the name and what to do with it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "expected the name of a tensor, or { name = \"...\", rows = [0, 10] }")]
enum Place {
    Same(String),
    Changed(Change),
}

/// What is done with a tensor, in this order.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Change {
    name: String,
    /// The order of its axes, as NumPy's `transpose` takes it.
    #[serde(default)]
    permute: Option<Vec<usize>>,
    /// Its shape, with as many values.
    #[serde(default)]
    shape: Option<Vec<usize>>,
    /// The first row of those that are taken, and the first that is not.
    #[serde(default)]
    rows: Option<[usize; 2]>,
    /// How often each value is repeated: the bias of a transposed convolution of a single pixel, as that of a fully
    /// connected layer.
    #[serde(default)]
    repeat: Option<usize>,
}

impl Change {
    fn none(name: &str) -> Self {
        Self { name: name.to_owned(), permute: None, shape: None, rows: None, repeat: None }
    }

    /// The shape that it gives; `None` if it cannot be done.
    fn shape_of(&self, shape: &[usize]) -> Option<Vec<usize>> {
        let mut shape = shape.to_vec();
        if let Some(order) = &self.permute {
            let sorted: BTreeSet<usize> = order.iter().copied().collect();
            if !sorted.into_iter().eq(0..shape.len()) || order.len() != shape.len() {
                return None;
            }
            shape = order.iter().map(|&axis| shape[axis]).collect();
        }
        let count = |shape: &[usize]| shape.iter().try_fold(1_usize, |count, &size| count.checked_mul(size));
        if let Some(new) = &self.shape {
            if count(new).is_none() || count(new) != count(&shape) {
                return None;
            }
            shape.clone_from(new);
        }
        if let Some([start, end]) = self.rows {
            let rows = shape.first_mut().filter(|rows| start < end && end <= **rows)?;
            *rows = end - start;
        }
        if let Some(times) = self.repeat {
            let last = shape.last_mut()?;
            *last = last.checked_mul(times)?;
        }
        Some(shape)
    }

    /// Applies it to a tensor for which [`Change::shape_of`] gives a shape.
    fn apply(&self, tensor: StateTensor) -> StateTensor {
        let Some(shape) = self.shape_of(&tensor.shape) else { return tensor };
        let values = match tensor.values {
            Values::Floats(values) => Values::Floats(self.rearranged(&tensor.shape, values)),
            Values::Doubles(values) => Values::Doubles(self.rearranged(&tensor.shape, values)),
            Values::Integers(values) => Values::Integers(self.rearranged(&tensor.shape, values)),
        };
        StateTensor { name: tensor.name, shape, values }
    }

    fn rearranged<T: Copy>(&self, shape: &[usize], mut values: Vec<T>) -> Vec<T> {
        if let Some(order) = &self.permute {
            values = permuted(shape, order, &values);
        }
        if let Some([start, end]) = self.rows {
            let rows = match (&self.shape, &self.permute) {
                (Some(shape), _) => shape.first().copied(),
                (None, Some(order)) => order.first().map(|&axis| shape[axis]),
                (None, None) => shape.first().copied(),
            };
            let width = values.len() / rows.unwrap_or(1).max(1);
            values = values[start * width..end * width].to_vec();
        }
        if let Some(times) = self.repeat {
            values = values.iter().flat_map(|&value| std::iter::repeat_n(value, times)).collect();
        }
        values
    }
}

fn permuted<T: Copy>(shape: &[usize], order: &[usize], values: &[T]) -> Vec<T> {
    let stride = |axis: usize| shape[axis + 1..].iter().product::<usize>();
    let axes: Vec<(usize, usize)> = order.iter().map(|&axis| (shape[axis], stride(axis))).collect();
    let place = |mut number: usize| {
        let mut place = 0;
        for &(size, stride) in axes.iter().rev() {
            place += number % size * stride;
            number /= size;
        }
        place
    };
    (0..values.len()).map(|number| values[place(number)]).collect()
}

impl Mapping {
    /// Adds a layer: its weight and its bias.
    pub(super) fn layer(&mut self, ours: &str, theirs: &str) {
        for part in ["weight", "bias"] {
            self.places.insert(format!("{ours}.{part}"), Place::Same(format!("{theirs}.{part}")));
        }
    }

    /// Our names that it has.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.places.keys().map(String::as_str)
    }

    fn change(&self, ours: &str) -> Change {
        match self.places.get(ours) {
            None => Change::none(ours),
            Some(Place::Same(name)) => Change::none(name),
            Some(Place::Changed(change)) => change.clone(),
        }
    }

    /// Checks that a tensor of this name and shape comes out.
    ///
    /// # Errors
    /// [`Error::TensorMismatch`] with the name that it has in the file.
    pub(super) fn check(&self, file: &StateFile, ours: &str, shape: &[usize], is_float: bool) -> Result {
        let change = self.change(ours);
        let tensor = if change.name == ours {
            quoted(ours)
        } else {
            format!("{} (here {ours})", quoted(&change.name))
        };
        let expected = format!("{} {shape:?}", if is_float { "floats" } else { "integers" });
        let found = match file.get(&change.name) {
            None => "nothing".to_owned(),
            Some(Described { shape: found, element }) => {
                let changed = change.shape_of(found);
                if changed.as_deref() == Some(shape) && element.is_float() == is_float {
                    return Ok(());
                }
                let kind = if element.is_float() { "floats" } else { "integers" };
                match changed {
                    Some(changed) if changed == *found => format!("{kind} {found:?}"),
                    Some(changed) => format!("{kind} {found:?}, made {changed:?}"),
                    None => format!("{kind} {found:?}, which the mapping cannot be applied to"),
                }
            }
        };
        Err(Error::TensorMismatch { tensor, found, expected })
    }

    /// Our state dict from the file; `expected` has names and shapes.
    ///
    /// # Errors
    /// If a tensor is missing or has another shape, or the file has one that is neither used nor among `ignored`.
    pub(super) fn apply(
        &self,
        file: &StateFile,
        expected: &[StateTensor],
        ignored: &[String],
    ) -> Result<Vec<StateTensor>> {
        let mut used = BTreeSet::new();
        let mut state = Vec::new();
        for wanted in expected {
            let change = self.change(&wanted.name);
            // A counter of batches, which PyTorch has had since 0.4.1 and nothing depends on.
            if matches!(wanted.values, Values::Integers(_)) && file.get(&change.name).is_none() {
                state.push(wanted.clone());
                continue;
            }
            let is_float = !matches!(wanted.values, Values::Integers(_));
            self.check(file, &wanted.name, &wanted.shape, is_float)?;
            let tensor = file.tensor(&change.name)?.map(|tensor| change.apply(tensor));
            used.insert(change.name);
            state.extend(tensor.map(|tensor| StateTensor { name: wanted.name.clone(), ..tensor }));
        }
        let ours: BTreeSet<&str> = expected.iter().map(|tensor| tensor.name.as_str()).collect();
        if let Some(name) = self.names().find(|name| !ours.contains(name)) {
            let expected = format!("one of {}", super::refusal::listed(ours));
            return Err(Error::Argument {
                argument: "tensors",
                found: format!("`{}`", quoted(name)),
                expected,
            });
        }
        let left_over = |name: &&str| !used.contains(*name) && !ignored.iter().any(|ignored| ignored == name);
        match file.names().find(left_over) {
            None => Ok(state),
            Some(name) => Err(Error::TensorMismatch {
                tensor: quoted(name),
                found: file.get(name).map_or_else(String::new, |tensor| format!("{:?}", tensor.shape)),
                expected: "nothing".to_owned(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(text: &str) -> Change {
        match toml::from_str::<Mapping>(&format!("x = {text}")).unwrap().places.remove("x").unwrap() {
            Place::Same(name) => Change::none(&name),
            Place::Changed(change) => change,
        }
    }

    /// By hand on the numbers 0 to 5 in two rows of three.
    #[test]
    fn tensors_are_changed_as_the_mapping_says() {
        for (text, shape, values) in [
            (r#""a""#, vec![2, 3], vec![0, 1, 2, 3, 4, 5]),
            (r#"{ name = "a", permute = [1, 0] }"#, vec![3, 2], vec![0, 3, 1, 4, 2, 5]),
            (r#"{ name = "a", shape = [3, 2] }"#, vec![3, 2], vec![0, 1, 2, 3, 4, 5]),
            (r#"{ name = "a", rows = [1, 2] }"#, vec![1, 3], vec![3, 4, 5]),
            (r#"{ name = "a", permute = [1, 0], rows = [1, 3] }"#, vec![2, 2], vec![1, 4, 2, 5]),
            (r#"{ name = "a", permute = [1, 0], shape = [6], rows = [0, 2] }"#, vec![2], vec![0, 3]),
            (r#"{ name = "a", repeat = 2 }"#, vec![2, 6], vec![0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]),
        ] {
            let numbers = Values::Integers((0..6).collect());
            let tensor = StateTensor { name: "a".to_owned(), shape: vec![2, 3], values: numbers };
            let changed = change(text).apply(tensor);
            assert_eq!((changed.shape, changed.values), (shape, Values::Integers(values)), "{text}");
        }
        for text in [
            r#"{ name = "a", permute = [0, 0] }"#,
            r#"{ name = "a", permute = [0] }"#,
            r#"{ name = "a", shape = [4] }"#,
            r#"{ name = "a", rows = [1, 3] }"#,
            r#"{ name = "a", rows = [1, 1] }"#,
            r#"{ name = "a", repeat = 9223372036854775807 }"#,
        ] {
            assert_eq!(change(text).shape_of(&[2, 3]), None, "{text}");
        }
    }
}
