//! The functions that a pickle may have called, and what they return.

use super::machine::Machine;
use super::value::{Global, Id, MOST_AXES, Storage, TensorView, Value};
use super::{damaged, unknown};
use crate::import::refusal::{Refusal, quoted};

/// What a storage or a tensor counts beside its name, so that there are at most 260,000: a few bytes of a
/// pickle make one.
const PRICE: usize = 16;

/// More arguments than any of the known functions takes.
const MOST_ARGUMENTS: usize = 8;

impl Machine<'_> {
    pub(super) fn global(&mut self, module: &str, name: &str) -> Result<(), Refusal> {
        let global = Global::find(module, name).ok_or_else(|| {
            unknown(format!("a pickle that asks for `{}`", quoted(&format!("{module}.{name}"))))
        })?;
        self.push(Value::Global(global));
        Ok(())
    }

    fn items(&self, id: Id) -> Option<&[Id]> {
        match &self.values[id] {
            Value::Tuple(items) | Value::List(items) => Some(items),
            _ => None,
        }
    }

    fn size(&self, id: Id) -> Option<usize> {
        match self.values[id] {
            Value::Integer(number) => usize::try_from(number).ok(),
            _ => None,
        }
    }

    /// The sizes of axes.
    fn sizes(&self, id: Id) -> Option<Vec<usize>> {
        let items = self.items(id).filter(|items| items.len() <= MOST_AXES)?;
        items.iter().map(|item| self.size(*item)).collect()
    }

    pub(super) fn call(&mut self, function: Id, arguments: Id) -> Result<(), Refusal> {
        let Value::Global(function) = self.values[function] else {
            return Err(unknown("a call of something that is no function".to_owned()));
        };
        let Value::Tuple(arguments) = &self.values[arguments] else { return Err(damaged()) };
        let arguments: Vec<Id> = arguments.iter().take(MOST_ARGUMENTS).copied().collect();
        if let [first, ..] = arguments[..] {
            self.pay(match &self.values[first] {
                Value::Tuple(items) | Value::List(items) => items.len(),
                Value::Storage(storage) => PRICE + storage.key.len(),
                Value::Tensor(tensor) => PRICE + tensor.storage.key.len(),
                Value::None
                | Value::Boolean(_)
                | Value::Integer(_)
                | Value::Float(_)
                | Value::Text(_)
                | Value::Bytes
                | Value::Dict(_)
                | Value::Global(_) => 0,
            })?;
        }
        let value = match (function, arguments.as_slice()) {
            (Global::OrderedDict, []) => Value::Dict(Vec::new()),
            // Python 2 wrote a list of pairs.
            (Global::OrderedDict, [pairs]) => {
                let pair = |id: &Id| match self.items(*id) {
                    Some([key, value]) => Some((*key, *value)),
                    _ => None,
                };
                let pairs = self.items(*pairs).and_then(|pairs| pairs.iter().map(pair).collect());
                Value::Dict(pairs.ok_or_else(damaged)?)
            }
            (Global::RebuildTensor, [storage, offset, shape, strides, ..]) => {
                let Value::Storage(storage) = &self.values[*storage] else { return Err(damaged()) };
                let parts = (self.size(*offset), self.sizes(*shape), self.sizes(*strides));
                let (Some(offset), Some(shape), Some(strides)) = parts else { return Err(damaged()) };
                Value::Tensor(Box::new(TensorView::new(storage, offset, shape, strides)?))
            }
            (Global::RebuildParameter, [tensor, ..]) => match &self.values[*tensor] {
                tensor @ Value::Tensor(_) => tensor.clone(),
                _ => return Err(damaged()),
            },
            (Global::Size, [sizes]) => match self.items(*sizes) {
                Some(sizes) => Value::Tuple(sizes.to_vec()),
                None => return Err(damaged()),
            },
            (
                Global::OrderedDict
                | Global::RebuildTensor
                | Global::RebuildParameter
                | Global::Size
                | Global::Storage(_),
                _,
            ) => return Err(damaged()),
        };
        self.push(value);
        Ok(())
    }

    /// `("storage", class, key, location, length)`, and in old files what part of another storage it is.
    pub(super) fn storage(&mut self, id: Id) -> Result<(), Refusal> {
        let items = self.items(id).ok_or_else(damaged)?;
        let (&[_, class, key, _, length], view) =
            items.split_at_checked(5).ok_or_else(damaged).and_then(|(first, rest)| {
                Ok((<&[Id; 5]>::try_from(first).map_err(|_| damaged())?, rest.first()))
            })?;
        let Value::Global(Global::Storage(element)) = self.values[class] else { return Err(damaged()) };
        let length = self.size(length).ok_or_else(damaged)?;
        let offset = match view.map(|view| (&self.values[*view], self.items(*view))) {
            None | Some((Value::None, _)) => 0,
            Some((_, Some([_, offset, _]))) => self.size(*offset).ok_or_else(damaged)?,
            Some(_) => return Err(damaged()),
        };
        let Value::Text(key) = &self.values[key] else { return Err(damaged()) };
        let key = key.clone();
        self.pay(PRICE + key.len())?;
        let storage = Storage { key, element, length, offset };
        self.push(Value::Storage(Box::new(storage)));
        Ok(())
    }
}
