//! The part of Python's pickle format that state dicts are made of, read without running anything.
//!
//! A pickle is a program for a stack machine, which may name any function of Python and have it called. This interpreter
//! knows the few that [`Global`] lists and builds what they would return; any other name ends it. Values live in one list and
//! refer to each other by number, so that no nesting, however deep, is followed by recursion.

use super::element::Element;
use super::refusal::{Refusal, quoted};
use std::collections::HashMap;

/// The number of a value in its pickle.
pub(super) type Id = usize;

/// The longest pickle: that of a state dict has some hundred bytes for each tensor.
const LONGEST: usize = 8 << 20;

/// The most values, remembered ones twice: a byte of a pickle may make one of forty. A tensor of a state dict takes about
/// twenty.
const MOST_VALUES: usize = 1 << 21;

/// The most that calls may copy and make, in items of lists and bytes of names: those of a state dict are copied at most twice.
const MOST_COPIES: usize = 1 << 22;

/// What a storage or a tensor counts beside its name, so that there are at most 260,000: a few bytes of a pickle make one.
const PRICE: usize = 16;

/// More axes than any tensor here has.
const MOST_AXES: usize = 16;

/// More arguments than any of the known functions takes.
const MOST_ARGUMENTS: usize = 8;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    None,
    Boolean(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    /// Bytes, which nothing here reads.
    Bytes,
    Tuple(Vec<Id>),
    List(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    Global(Global),
    Storage(Box<Storage>),
    Tensor(Box<TensorView>),
}

/// What a pickle may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Global {
    OrderedDict,
    /// `torch._utils._rebuild_tensor`, and `_rebuild_tensor_v2` with two more arguments.
    RebuildTensor,
    /// `torch._utils._rebuild_parameter`, whose first argument is the tensor.
    RebuildParameter,
    /// `torch.Size`, a tuple.
    Size,
    /// A class of storages, such as `torch.FloatStorage`.
    Storage(Element),
}

/// A run of numbers that tensors are views of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Storage {
    /// Its name in the file.
    pub(super) key: String,
    pub(super) element: Element,
    /// How many numbers it has.
    pub(super) length: usize,
    /// Where a view of a storage begins.
    offset: usize,
}

/// A tensor: which numbers of a storage it has. All of them are within it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TensorView {
    pub(super) storage: Storage,
    pub(super) offset: usize,
    pub(super) shape: Vec<usize>,
    pub(super) strides: Vec<usize>,
}

impl Global {
    fn find(module: &str, name: &str) -> Option<Self> {
        match (module, name) {
            ("collections", "OrderedDict") => Some(Self::OrderedDict),
            ("torch._utils", "_rebuild_tensor" | "_rebuild_tensor_v2") => Some(Self::RebuildTensor),
            ("torch._utils", "_rebuild_parameter") => Some(Self::RebuildParameter),
            ("torch", "Size") => Some(Self::Size),
            ("torch" | "torch.cuda", name) => {
                Element::of_torch(name.strip_suffix("Storage")?).map(Self::Storage)
            }
            _ => None,
        }
    }
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
        let mut machine = Machine {
            bytes: &bytes[..bytes.len().min(LONGEST)],
            place: 0,
            values: Vec::new(),
            stack: Vec::new(),
            marks: Vec::new(),
            memo: HashMap::new(),
            copies: MOST_COPIES,
        };
        let root = machine.run()?;
        Ok((Self { values: machine.values, root }, machine.place))
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

struct Machine<'a> {
    bytes: &'a [u8],
    place: usize,
    values: Vec<Value>,
    stack: Vec<Id>,
    /// The heights of the stack at which marks were set.
    marks: Vec<usize>,
    memo: HashMap<u64, Id>,
    /// How much more may be copied: a list of many, or a long name, may be named again and again.
    copies: usize,
}

fn damaged() -> Refusal {
    Refusal::new("a damaged pickle", "a file that torch.save wrote")
}

fn unknown(what: String) -> Refusal {
    Refusal::new(what, "a state dict of tensors: torch.save(model.state_dict(), ...)")
}

impl<'a> Machine<'a> {
    fn run(&mut self) -> Result<Id, Refusal> {
        loop {
            if self.values.len() + self.memo.len() > MOST_VALUES {
                return Err(Refusal::new(
                    format!("a pickle of more than {MOST_VALUES} values"),
                    "that of a state dict, with about twenty for each tensor",
                ));
            }
            let operation = self.byte()?;
            match operation {
                // The protocol, and how the rest is cut into frames.
                0x80 => {
                    self.take(1)?;
                }
                0x95 => {
                    self.take(8)?;
                }
                b'.' => return self.pop(),
                b'(' => self.marks.push(self.stack.len()),
                b'0' => {
                    self.pop()?;
                }
                b'1' => {
                    self.pop_mark()?;
                }
                b'2' => {
                    let top = self.top()?;
                    self.stack.push(top);
                }
                b'N' => self.push(Value::None),
                0x88 => self.push(Value::Boolean(true)),
                0x89 => self.push(Value::Boolean(false)),
                b'J' => {
                    let word = self.array::<4>()?;
                    self.push(Value::Integer(i32::from_le_bytes(word).into()));
                }
                b'K' => {
                    let number = self.byte()?;
                    self.push(Value::Integer(number.into()));
                }
                b'M' => {
                    let word = self.array::<2>()?;
                    self.push(Value::Integer(u16::from_le_bytes(word).into()));
                }
                0x8a => {
                    let length = self.byte()?;
                    self.long(length.into())?;
                }
                0x8b => {
                    let length = self.length::<4>()?;
                    self.long(length)?;
                }
                b'I' | b'L' => self.decimal()?,
                b'F' => {
                    let number = self.line()?.trim().parse().map_err(|_| damaged())?;
                    self.push(Value::Float(number));
                }
                b'G' => {
                    let word = self.array::<8>()?;
                    self.push(Value::Float(f64::from_be_bytes(word)));
                }
                b'U' | 0x8c => {
                    let length = self.byte()?;
                    self.string(length.into())?;
                }
                b'T' | b'X' => {
                    let length = self.length::<4>()?;
                    self.string(length)?;
                }
                0x8d => {
                    let length = self.length::<8>()?;
                    self.string(length)?;
                }
                b'V' => {
                    let text = self.line()?.to_owned();
                    self.push(Value::Text(text));
                }
                b'S' => {
                    let line = self.line()?.trim();
                    let inner = line.get(1..line.len().saturating_sub(1)).ok_or_else(damaged)?.to_owned();
                    self.push(Value::Text(inner));
                }
                b'C' => {
                    let length = self.byte()?;
                    self.skipped_bytes(length.into())?;
                }
                b'B' => {
                    let length = self.length::<4>()?;
                    self.skipped_bytes(length)?;
                }
                0x8e => {
                    let length = self.length::<8>()?;
                    self.skipped_bytes(length)?;
                }
                b')' => self.push(Value::Tuple(Vec::new())),
                b']' => self.push(Value::List(Vec::new())),
                b'}' => self.push(Value::Dict(Vec::new())),
                b't' => {
                    let items = self.pop_mark()?;
                    self.push(Value::Tuple(items));
                }
                0x85..=0x87 => {
                    let count = usize::from(operation - 0x84);
                    let start = self.stack.len().checked_sub(count).ok_or_else(damaged)?;
                    let items = self.stack.split_off(start);
                    self.push(Value::Tuple(items));
                }
                b'l' => {
                    let items = self.pop_mark()?;
                    self.push(Value::List(items));
                }
                b'd' => {
                    let items = self.pop_mark()?;
                    self.push(Value::Dict(Vec::new()));
                    self.set_items(&items)?;
                }
                b'a' => {
                    let item = self.pop()?;
                    self.append(&[item])?;
                }
                b'e' => {
                    let items = self.pop_mark()?;
                    self.append(&items)?;
                }
                b's' => {
                    let (value, key) = (self.pop()?, self.pop()?);
                    self.set_items(&[key, value])?;
                }
                b'u' => {
                    let items = self.pop_mark()?;
                    self.set_items(&items)?;
                }
                b'q' => {
                    let number = self.byte()?;
                    self.remember(number.into())?;
                }
                b'r' => {
                    let number = self.length::<4>()?;
                    self.remember(number as u64)?;
                }
                b'p' => {
                    let number = self.line()?.trim().parse().map_err(|_| damaged())?;
                    self.remember(number)?;
                }
                0x94 => self.remember(self.memo.len() as u64)?,
                b'h' => {
                    let number = self.byte()?;
                    self.recall(number.into())?;
                }
                b'j' => {
                    let number = self.length::<4>()?;
                    self.recall(number as u64)?;
                }
                b'g' => {
                    let number = self.line()?.trim().parse().map_err(|_| damaged())?;
                    self.recall(number)?;
                }
                b'c' => {
                    let module = self.line()?.to_owned();
                    let name = self.line()?.to_owned();
                    self.global(&module, &name)?;
                }
                0x93 => {
                    let (name, module) = (self.pop()?, self.pop()?);
                    let (Value::Text(module), Value::Text(name)) = (&self.values[module], &self.values[name])
                    else {
                        return Err(damaged());
                    };
                    let (module, name) = (module.clone(), name.clone());
                    self.global(&module, &name)?;
                }
                b'R' | 0x81 => {
                    let (arguments, function) = (self.pop()?, self.pop()?);
                    self.call(function, arguments)?;
                }
                // The state of an OrderedDict is PyTorch's `_metadata`: versions of layers.
                b'b' => {
                    self.pop()?;
                    let object = self.top()?;
                    if !matches!(self.values[object], Value::Dict(_)) {
                        return Err(unknown("an object with a state of its own".to_owned()));
                    }
                }
                b'Q' => {
                    let id = self.pop()?;
                    self.storage(id)?;
                }
                other => {
                    let what = format!("operation 0x{other:02x} at byte {} of its pickle", self.place - 1);
                    return Err(unknown(what));
                }
            }
        }
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Refusal> {
        let end = self.place.checked_add(count).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or_else(|| self.ends())?;
        let start = std::mem::replace(&mut self.place, end);
        Ok(&self.bytes[start..end])
    }

    /// The error of a pickle that goes on after the end of what may be read.
    fn ends(&self) -> Refusal {
        if self.bytes.len() < LONGEST {
            return Refusal::new("a file that ends within its pickle", "a whole file");
        }
        Refusal::new(
            format!("a pickle of more than {} MiB", LONGEST >> 20),
            "that of a state dict, with some hundred bytes for each tensor",
        )
    }

    fn byte(&mut self) -> Result<u8, Refusal> {
        Ok(self.take(1)?[0])
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Refusal> {
        self.take(N)?.try_into().map_err(|_| damaged())
    }

    /// A length of `N` bytes. One that does not fit into memory cannot be within the file either.
    fn length<const N: usize>(&mut self) -> Result<usize, Refusal> {
        let mut word = [0; 8];
        word[..N].copy_from_slice(self.take(N)?);
        usize::try_from(u64::from_le_bytes(word)).map_err(|_| damaged())
    }

    fn line(&mut self) -> Result<&'a str, Refusal> {
        let rest = &self.bytes[self.place..];
        let length = rest.iter().position(|&byte| byte == b'\n').ok_or_else(|| self.ends())?;
        self.place += length + 1;
        std::str::from_utf8(&rest[..length]).map_err(|_| damaged())
    }

    fn push(&mut self, value: Value) {
        self.stack.push(self.values.len());
        self.values.push(value);
    }

    /// What is below a mark is not there to be taken.
    fn pop(&mut self) -> Result<Id, Refusal> {
        let floor = self.marks.last().copied().unwrap_or(0);
        if self.stack.len() <= floor {
            return Err(damaged());
        }
        self.stack.pop().ok_or_else(damaged)
    }

    fn top(&self) -> Result<Id, Refusal> {
        self.stack.last().copied().ok_or_else(damaged)
    }

    /// Everything since the last mark.
    fn pop_mark(&mut self) -> Result<Vec<Id>, Refusal> {
        let mark = self.marks.pop().ok_or_else(damaged)?;
        if mark > self.stack.len() {
            return Err(damaged());
        }
        Ok(self.stack.split_off(mark))
    }

    fn string(&mut self, length: usize) -> Result<(), Refusal> {
        let text = std::str::from_utf8(self.take(length)?).map_err(|_| damaged())?.to_owned();
        self.push(Value::Text(text));
        Ok(())
    }

    fn skipped_bytes(&mut self, length: usize) -> Result<(), Refusal> {
        self.take(length)?;
        self.push(Value::Bytes);
        Ok(())
    }

    /// A number in two's complement of any length.
    fn long(&mut self, length: usize) -> Result<(), Refusal> {
        let bytes = self.take(length)?;
        if length > 8 {
            return Err(unknown(format!("a number of {length} bytes")));
        }
        let fill = if bytes.last().is_some_and(|last| last & 0x80 != 0) { 0xff } else { 0 };
        let mut word = [fill; 8];
        word[..length].copy_from_slice(bytes);
        self.push(Value::Integer(i64::from_le_bytes(word)));
        Ok(())
    }

    /// A number in digits; `00` and `01` are booleans, and Python 2 put an L behind long ones.
    fn decimal(&mut self) -> Result<(), Refusal> {
        let value = match self.line()?.trim().trim_end_matches('L') {
            "00" => Value::Boolean(false),
            "01" => Value::Boolean(true),
            digits => Value::Integer(digits.parse().map_err(|_| damaged())?),
        };
        self.push(value);
        Ok(())
    }

    fn append(&mut self, items: &[Id]) -> Result<(), Refusal> {
        let list = self.top()?;
        let Value::List(list) = &mut self.values[list] else { return Err(damaged()) };
        list.extend_from_slice(items);
        Ok(())
    }

    fn set_items(&mut self, items: &[Id]) -> Result<(), Refusal> {
        let dict = self.top()?;
        let Value::Dict(dict) = &mut self.values[dict] else { return Err(damaged()) };
        let (pairs, rest) = items.as_chunks::<2>();
        if !rest.is_empty() {
            return Err(damaged());
        }
        dict.extend(pairs.iter().map(|&[key, value]| (key, value)));
        Ok(())
    }

    fn remember(&mut self, number: u64) -> Result<(), Refusal> {
        let top = self.top()?;
        self.memo.insert(number, top);
        Ok(())
    }

    fn recall(&mut self, number: u64) -> Result<(), Refusal> {
        let id = self.memo.get(&number).copied().ok_or_else(damaged)?;
        self.stack.push(id);
        Ok(())
    }

    fn global(&mut self, module: &str, name: &str) -> Result<(), Refusal> {
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

    /// Counts what is about to be copied.
    fn pay(&mut self, price: usize) -> Result<(), Refusal> {
        self.copies = self.copies.checked_sub(price).ok_or_else(damaged)?;
        Ok(())
    }

    fn call(&mut self, function: Id, arguments: Id) -> Result<(), Refusal> {
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
    fn storage(&mut self, id: Id) -> Result<(), Refusal> {
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

impl TensorView {
    fn new(
        storage: &Storage,
        offset: usize,
        shape: Vec<usize>,
        strides: Vec<usize>,
    ) -> Result<Self, Refusal> {
        if shape.len() != strides.len() || shape.len() > MOST_AXES {
            return Err(damaged());
        }
        let offset = offset.checked_add(storage.offset).ok_or_else(damaged)?;
        // The last number that it has, if it has any.
        let last = shape.iter().zip(&strides).try_fold(offset, |last, (&size, &stride)| {
            size.saturating_sub(1).checked_mul(stride).and_then(|way| last.checked_add(way))
        });
        let count = shape.iter().try_fold(1_usize, |count, &size| count.checked_mul(size));
        match (count, last) {
            (Some(0), _) => {}
            (Some(_), Some(last)) if last < storage.length => {}
            _ => {
                return Err(Refusal::new(
                    format!("a tensor of {shape:?} in a storage of {} numbers", storage.length),
                    "tensors within their storages",
                ));
            }
        }
        Ok(Self { storage: storage.clone(), offset, shape, strides })
    }
}

#[cfg(test)]
mod tests;
