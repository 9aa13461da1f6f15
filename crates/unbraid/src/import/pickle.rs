//! The part of Python's pickle format that state dicts are made of, read without running anything.
//!
//! A pickle is a program for a stack machine, which may name any function of Python and have it called. This
//! interpreter knows the few that [`Global`](value::Global) lists and builds what they would return; any
//! other name ends it. Values live in one list and refer to each other by number, so that no nesting, however
//! deep, is followed by recursion.

mod calls;
mod code;
mod machine;
mod value;

use super::element::Element;
use super::refusal::Refusal;
use machine::Machine;
use std::collections::HashMap;

pub(super) use value::{Id, TensorView, Value};

fn damaged() -> Refusal {
    Refusal::new("a damaged pickle", "a file that torch.save wrote")
}

fn unknown(what: String) -> Refusal {
    Refusal::new(what, "a state dict of tensors: torch.save(model.state_dict(), ...)")
}

/// A pickle that was read.
#[derive(Debug)]
pub(super) struct Pickle {
    values: Vec<Value>,
    root: Id,
}

impl Pickle {
    /// Reads a pickle at the beginning of `bytes`; the second result is its length.
    pub(super) fn read(bytes: &[u8]) -> Result<(Self, usize), Refusal> {
        let mut machine = Machine::new(bytes);
        let root = machine.run()?;
        let length = machine.place();
        Ok((Self { values: machine.values, root }, length))
    }

    /// What it describes.
    pub(super) fn root(&self) -> Id {
        self.root
    }

    pub(super) fn value(&self, id: Id) -> &Value {
        &self.values[id]
    }

    pub(super) fn text(&self, id: Id) -> Option<&str> {
        match self.value(id) {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number types of all storages, by name.
    pub(super) fn elements(&self) -> HashMap<&str, Element> {
        let storages = self.values.iter().filter_map(|value| match value {
            Value::Storage(storage) => Some((storage.key.as_str(), storage.element)),
            _ => None,
        });
        storages.collect()
    }

    /// The value of a key of a dictionary.
    pub(super) fn get(&self, dict: Id, key: &str) -> Option<Id> {
        let Value::Dict(pairs) = self.value(dict) else { return None };
        pairs.iter().find(|(name, _)| self.text(*name) == Some(key)).map(|(_, value)| *value)
    }
}

#[cfg(test)]
mod tests;
