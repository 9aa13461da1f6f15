//! What a study varies: lists of values, each alone or several side by side, and all their combinations.

use super::error::DefinitionError;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::{Table, Value};

/// Keys that change together. A list of `[grid]` has one key, a group of `[[zip]]` any number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    /// Their dotted names.
    pub(crate) keys: Vec<String>,
    /// A list of values for each key, all of the same length.
    lists: Vec<Vec<Value>>,
}

/// One combination of values, by their keys, in the order of the axes.
pub(super) type Combination<'a> = Vec<(&'a str, &'a Value)>;

impl Axis {
    /// The axes of a `[grid]`, in the alphabetical order of their keys.
    ///
    /// # Errors
    /// If a value is no list, or an empty one.
    pub(super) fn of_grid(table: &Table) -> Result<Vec<Self>, DefinitionError> {
        let lists = lists(table)?;
        Ok(lists.into_iter().map(|(key, list)| Self { keys: vec![key], lists: vec![list] }).collect())
    }

    /// The axis of a group of `[[zip]]`.
    ///
    /// # Errors
    /// If there is nothing in it, a value is no list or an empty one, or the lists have different lengths.
    pub(super) fn of_zip(table: &Table) -> Result<Self, DefinitionError> {
        let (keys, lists): (Vec<String>, Vec<Vec<Value>>) = lists(table)?.into_iter().unzip();
        let Some(first) = lists.first() else {
            return Err(DefinitionError::EmptyZip);
        };
        match keys.iter().zip(&lists).find(|(_, list)| list.len() != first.len()) {
            Some((key, list)) => Err(DefinitionError::UnequalLists {
                first: keys[0].clone(),
                first_len: first.len(),
                other: key.clone(),
                other_len: list.len(),
            }),
            None => Ok(Self { keys, lists }),
        }
    }

    /// How many steps it has.
    fn len(&self) -> usize {
        self.lists.first().map_or(0, Vec::len)
    }

    /// The values at one of its steps.
    fn at(&self, index: usize) -> impl Iterator<Item = (&str, &Value)> {
        self.keys.iter().zip(&self.lists).map(move |(key, list)| (key.as_str(), &list[index]))
    }
}

/// Values by their dotted keys: `"objective.beta"` in quotes and `objective.beta` without are the same.
pub(super) fn flattened(table: &Table) -> BTreeMap<String, &Value> {
    fn walk<'a>(prefix: &str, table: &'a Table, into: &mut BTreeMap<String, &'a Value>) {
        for (key, value) in table {
            let path = format!("{prefix}{key}");
            match value {
                Value::Table(inner) => walk(&format!("{path}."), inner, into),
                value => drop(into.insert(path, value)),
            }
        }
    }
    let mut values = BTreeMap::new();
    walk("", table, &mut values);
    values
}

fn lists(table: &Table) -> Result<BTreeMap<String, Vec<Value>>, DefinitionError> {
    flattened(table)
        .into_iter()
        .map(|(key, value)| match Vec::deserialize(value.clone()) {
            Ok(list) if list.is_empty() => Err(DefinitionError::EmptyList { key }),
            Ok(list) => Ok((key, list)),
            Err(_) => Err(DefinitionError::NotAList { key, found: value.to_string() }),
        })
        .collect()
}

/// How many combinations there are; `None` if the number overflows.
pub(super) fn count(axes: &[Axis]) -> Option<usize> {
    axes.iter().try_fold(1_usize, |product, axis| product.checked_mul(axis.len()))
}

/// Every combination; the last axis changes fastest. Without axes there is one, which is empty.
pub(super) fn combinations(axes: &[Axis]) -> impl Iterator<Item = Combination<'_>> {
    (0..count(axes).unwrap_or(0)).map(move |number| {
        let mut rest = number;
        let mut places: Vec<usize> = Vec::with_capacity(axes.len());
        for axis in axes.iter().rev() {
            places.push(rest % axis.len());
            rest /= axis.len();
        }
        axes.iter().zip(places.into_iter().rev()).flat_map(|(axis, place)| axis.at(place)).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Table {
        text.parse().unwrap()
    }

    fn shown(axes: &[Axis]) -> Vec<String> {
        combinations(axes)
            .map(|values| {
                values.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
            })
            .collect()
    }

    #[test]
    fn zip_groups_change_slowest_and_grid_keys_follow_the_alphabet() {
        let mut axes = vec![Axis::of_zip(&table("z = [1, 2]\ny = [\"a\", \"b\"]")).unwrap()];
        axes.extend(Axis::of_grid(&table("m.c = [7, 5]\n\"m.b\" = [0.5, 1]")).unwrap());
        assert_eq!(
            shown(&axes),
            [
                "y=\"a\" z=1 m.b=0.5 m.c=7",
                "y=\"a\" z=1 m.b=0.5 m.c=5",
                "y=\"a\" z=1 m.b=1 m.c=7",
                "y=\"a\" z=1 m.b=1 m.c=5",
                "y=\"b\" z=2 m.b=0.5 m.c=7",
                "y=\"b\" z=2 m.b=0.5 m.c=5",
                "y=\"b\" z=2 m.b=1 m.c=7",
                "y=\"b\" z=2 m.b=1 m.c=5",
            ]
        );
    }

    #[test]
    fn nothing_to_vary_is_one_combination() {
        assert_eq!(shown(&[]), [""]);
    }

    #[test]
    fn values_may_be_lists_and_tables_themselves() {
        let axes = Axis::of_grid(&table("a = [[], [10]]\nb = [{ from = 0, to = 1, end = 5 }]")).unwrap();
        assert_eq!(
            shown(&axes),
            ["a=[] b={ end = 5, from = 0, to = 1 }", "a=[10] b={ end = 5, from = 0, to = 1 }"]
        );
    }

    #[test]
    fn what_is_no_list_is_refused_by_its_key() {
        for (text, expected) in [
            ("a.b = 4", "a.b: found 4, expected a list of values, such as [4]"),
            ("a.b = []", "a.b: found an empty list, expected values"),
            ("\"a\\nb\" = []", "a\\nb: found an empty list, expected values"),
        ] {
            assert_eq!(Axis::of_grid(&table(text)).unwrap_err().to_string(), expected);
        }
        let message = |text: &str| Axis::of_zip(&table(text)).unwrap_err().to_string();
        assert_eq!(
            message("a = [1, 2]\nb = [1, 2]\nc = [1]"),
            "found 2 values of a and 1 of c, expected lists of equal length"
        );
        assert_eq!(message(""), "found nothing, expected lists of equal length");
    }

    #[test]
    fn more_than_can_be_counted_is_noticed() {
        let list: Vec<Value> = (0..65536).map(Value::from).collect();
        let axis = Axis { keys: vec!["a".to_owned()], lists: vec![list] };
        assert_eq!(count(&vec![axis.clone(); 3]), Some(1 << 48));
        assert_eq!(count(&vec![axis; 5]), None);
    }
}
