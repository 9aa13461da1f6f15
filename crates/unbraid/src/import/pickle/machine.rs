//! The stack machine: the operations of a pickle.

use super::code::Code;
use super::value::{Id, Value};
use super::{damaged, unknown};
use crate::import::refusal::Refusal;
use std::collections::HashMap;

/// The most values, remembered ones twice: a byte of a pickle may make one of forty. A tensor of a state dict
/// takes about twenty.
const MOST_VALUES: usize = 1 << 21;

/// The most that calls may copy and make, in items of lists and bytes of names: those of a state dict are
/// copied at most twice.
const MOST_COPIES: usize = 1 << 22;

/// The state of the stack machine.
pub(super) struct Machine<'a> {
    code: Code<'a>,
    pub(super) values: Vec<Value>,
    stack: Vec<Id>,
    /// The heights of the stack at which marks were set.
    marks: Vec<usize>,
    memo: HashMap<u64, Id>,
    /// How much more may be copied: a list of many, or a long name, may be named again and again.
    copies: usize,
}

impl<'a> Machine<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            code: Code::new(bytes),
            values: Vec::new(),
            stack: Vec::new(),
            marks: Vec::new(),
            memo: HashMap::new(),
            copies: MOST_COPIES,
        }
    }

    /// How many bytes have been read.
    pub(super) fn place(&self) -> usize {
        self.code.place()
    }

    /// Runs the program to its end; the result is what it describes.
    pub(super) fn run(&mut self) -> Result<Id, Refusal> {
        loop {
            if self.values.len() + self.memo.len() > MOST_VALUES {
                return Err(Refusal::new(
                    format!("a pickle of more than {MOST_VALUES} values"),
                    "that of a state dict, with about twenty for each tensor",
                ));
            }
            let operation = self.code.byte()?;
            match operation {
                // The protocol, and how the rest is cut into frames.
                0x80 => {
                    self.code.take(1)?;
                }
                0x95 => {
                    self.code.take(8)?;
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
                    let word = self.code.array::<4>()?;
                    self.push(Value::Integer(i32::from_le_bytes(word).into()));
                }
                b'K' => {
                    let number = self.code.byte()?;
                    self.push(Value::Integer(number.into()));
                }
                b'M' => {
                    let word = self.code.array::<2>()?;
                    self.push(Value::Integer(u16::from_le_bytes(word).into()));
                }
                0x8a => {
                    let length = self.code.byte()?;
                    self.long(length.into())?;
                }
                0x8b => {
                    let length = self.code.length::<4>()?;
                    self.long(length)?;
                }
                b'I' | b'L' => self.decimal()?,
                b'F' => {
                    let number = self.code.line()?.trim().parse().map_err(|_| damaged())?;
                    self.push(Value::Float(number));
                }
                b'G' => {
                    let word = self.code.array::<8>()?;
                    self.push(Value::Float(f64::from_be_bytes(word)));
                }
                b'U' | 0x8c => {
                    let length = self.code.byte()?;
                    self.string(length.into())?;
                }
                b'T' | b'X' => {
                    let length = self.code.length::<4>()?;
                    self.string(length)?;
                }
                0x8d => {
                    let length = self.code.length::<8>()?;
                    self.string(length)?;
                }
                b'V' => {
                    let text = self.code.line()?.to_owned();
                    self.push(Value::Text(text));
                }
                b'S' => {
                    let line = self.code.line()?.trim();
                    let inner = line.get(1..line.len().saturating_sub(1)).ok_or_else(damaged)?.to_owned();
                    self.push(Value::Text(inner));
                }
                b'C' => {
                    let length = self.code.byte()?;
                    self.skipped_bytes(length.into())?;
                }
                b'B' => {
                    let length = self.code.length::<4>()?;
                    self.skipped_bytes(length)?;
                }
                0x8e => {
                    let length = self.code.length::<8>()?;
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
                    let number = self.code.byte()?;
                    self.remember(number.into())?;
                }
                b'r' => {
                    let number = self.code.length::<4>()?;
                    self.remember(number as u64)?;
                }
                b'p' => {
                    let number = self.code.line()?.trim().parse().map_err(|_| damaged())?;
                    self.remember(number)?;
                }
                0x94 => self.remember(self.memo.len() as u64)?,
                b'h' => {
                    let number = self.code.byte()?;
                    self.recall(number.into())?;
                }
                b'j' => {
                    let number = self.code.length::<4>()?;
                    self.recall(number as u64)?;
                }
                b'g' => {
                    let number = self.code.line()?.trim().parse().map_err(|_| damaged())?;
                    self.recall(number)?;
                }
                b'c' => {
                    let module = self.code.line()?.to_owned();
                    let name = self.code.line()?.to_owned();
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
                    let what =
                        format!("operation 0x{other:02x} at byte {} of its pickle", self.code.place() - 1);
                    return Err(unknown(what));
                }
            }
        }
    }

    /// Counts what is about to be copied.
    pub(super) fn pay(&mut self, price: usize) -> Result<(), Refusal> {
        self.copies = self.copies.checked_sub(price).ok_or_else(damaged)?;
        Ok(())
    }

    pub(super) fn push(&mut self, value: Value) {
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
        let text = std::str::from_utf8(self.code.take(length)?).map_err(|_| damaged())?.to_owned();
        self.push(Value::Text(text));
        Ok(())
    }

    fn skipped_bytes(&mut self, length: usize) -> Result<(), Refusal> {
        self.code.take(length)?;
        self.push(Value::Bytes);
        Ok(())
    }

    /// A number in two's complement of any length.
    fn long(&mut self, length: usize) -> Result<(), Refusal> {
        let bytes = self.code.take(length)?;
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
        let value = match self.code.line()?.trim().trim_end_matches('L') {
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
}
