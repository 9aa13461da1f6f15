//! MATLAB's `.mat` files of level 5 (what MATLAB 5 to 7 and SciPy write): one numeric array, by name.
//!
//! A header of 128 bytes ends with a version and a byte order mark. Elements follow, each a tag (type, length) and data
//! padded to 8 bytes; data of at most 4 bytes is in the same 8-byte word as its tag. A variable is an element that
//! contains four others (flags, dimensions, name, values), or a zlib stream of such an element. MATLAB stores values in
//! the smallest type that fits, whatever the class of the array.
//!
//! Files are read as streams. The length in a tag is not trusted, and the caller can check the shape before the values
//! are read.

use super::gzip::unreadable;
use crate::error::{DataError, Result};
use flate2::read::ZlibDecoder;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Why a part of a file could not be parsed.
#[derive(Debug)]
enum Fault {
    /// The bytes could not be read or inflated.
    Read(io::Error),
    /// They were read, but are not valid; in words that fit after "found".
    Invalid(String),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;
/// Names and lists of dimensions written by MATLAB are shorter than this.
const MAX_SMALL: u64 = 1024;
/// The classes of numeric arrays: double, single, and integers of 8 to 64 bits.
const NUMERIC: std::ops::RangeInclusive<u8> = 6..=15;

/// Whether these are the first bytes of a level 5 file.
pub(crate) fn is_header(bytes: &[u8]) -> bool {
    bytes.get(..128).is_some_and(|header| ByteOrder::of(header).is_ok())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    /// From the 128 bytes of a file's header.
    fn of(header: &[u8]) -> Result<Self, Fault> {
        let (order, version) = match &header[126..128] {
            b"IM" => (Self::Little, u16::from_le_bytes([header[124], header[125]])),
            b"MI" => (Self::Big, u16::from_be_bytes([header[124], header[125]])),
            other => return Err(invalid(format!("the byte order mark {other:?}"))),
        };
        match version {
            0x0100 => Ok(order),
            0x0200 => Err(invalid("a file of MATLAB 7.3 (save it with -v7)")),
            other => Err(invalid(format!("version {other:#06x}"))),
        }
    }

    fn word(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }
}

/// The tag at the start of an element.
#[derive(Clone, Copy, Debug)]
struct Tag {
    kind: u32,
    bytes: u64,
    /// Data that is in the tag itself.
    small: Option<[u8; 4]>,
}

impl Tag {
    /// Reads a tag; `None` at the end of the stream.
    fn read(reader: &mut impl Read, order: ByteOrder) -> Result<Option<Self>, Fault> {
        let mut start = [0; 1];
        if reader.read(&mut start)? == 0 {
            return Ok(None);
        }
        let mut rest = [0; 7];
        reader.read_exact(&mut rest)?;
        let [b, c, d, data @ ..] = rest;
        let first = order.word([start[0], b, c, d]);
        let (length, kind) = (first >> 16, first & 0xffff);
        if length == 0 {
            return Ok(Some(Self { kind, bytes: u64::from(order.word(data)), small: None }));
        }
        if length > 4 {
            return Err(invalid(format!("a small element of {length} bytes")));
        }
        Ok(Some(Self { kind, bytes: u64::from(length), small: Some(data) }))
    }

    fn expect(reader: &mut impl Read, order: ByteOrder) -> Result<Self, Fault> {
        Self::read(reader, order)?.ok_or_else(|| Fault::Read(io::ErrorKind::UnexpectedEof.into()))
    }

    /// The data of a short element; its padding is skipped.
    fn data(self, reader: &mut impl Read, what: &str) -> Result<Vec<u8>, Fault> {
        if let Some(data) = self.small {
            return Ok(data[..self.bytes as usize].to_vec());
        }
        if self.bytes > MAX_SMALL {
            return Err(invalid(format!("{what} of {} bytes", self.bytes)));
        }
        let mut data = vec![0; self.bytes.next_multiple_of(8) as usize];
        reader.read_exact(&mut data)?;
        data.truncate(self.bytes as usize);
        Ok(data)
    }
}

/// How the values of an array are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Storage {
    Signed(usize),
    Unsigned(usize),
    Single,
    Double,
}

impl Storage {
    fn from_kind(kind: u32) -> Option<Self> {
        Some(match kind {
            1 => Self::Signed(1),
            2 => Self::Unsigned(1),
            3 => Self::Signed(2),
            4 => Self::Unsigned(2),
            5 => Self::Signed(4),
            6 => Self::Unsigned(4),
            7 => Self::Single,
            9 => Self::Double,
            12 => Self::Signed(8),
            13 => Self::Unsigned(8),
            _ => return None,
        })
    }

    fn bytes(self) -> usize {
        match self {
            Self::Signed(bytes) | Self::Unsigned(bytes) => bytes,
            Self::Single => 4,
            Self::Double => 8,
        }
    }

    /// A value as a byte, or as text if it is not a byte.
    fn byte(self, value: &[u8], order: ByteOrder) -> Result<u8, String> {
        let mut bytes = [0; 8];
        bytes[..value.len()].copy_from_slice(value);
        if order == ByteOrder::Big {
            bytes[..value.len()].reverse();
        }
        let raw = u64::from_le_bytes(bytes);
        let float = match self {
            Self::Unsigned(_) => return u8::try_from(raw).map_err(|_| raw.to_string()),
            Self::Signed(size) => {
                let unused = 64 - 8 * size as u32;
                let signed = (raw << unused) as i64 >> unused;
                return u8::try_from(signed).map_err(|_| signed.to_string());
            }
            Self::Single => f64::from(f32::from_bits(raw as u32)),
            Self::Double => f64::from_bits(raw),
        };
        let byte = float as u8;
        if f64::from(byte) == float { Ok(byte) } else { Err(float.to_string()) }
    }
}

/// The header of a variable.
#[derive(Clone, Debug)]
struct Header {
    class: u8,
    complex: bool,
    shape: Vec<usize>,
    name: String,
}

impl Header {
    fn read(reader: &mut impl Read, order: ByteOrder) -> Result<Self, Fault> {
        let flags = Tag::expect(reader, order)?.data(reader, "flags")?;
        let dimensions = Tag::expect(reader, order)?.data(reader, "dimensions")?;
        let name = Tag::expect(reader, order)?.data(reader, "a name")?;
        let Some(&flags) = flags.first_chunk::<4>() else {
            return Err(invalid(format!("flags of {} bytes", flags.len())));
        };
        let flags = order.word(flags);
        let axes = dimensions.as_chunks::<4>().0.iter().map(|&axis| order.word(axis) as i32);
        let shape: Option<Vec<usize>> = axes.clone().map(|axis| usize::try_from(axis).ok()).collect();
        let shape = shape.ok_or_else(|| invalid(format!("the dimensions {:?}", axes.collect::<Vec<_>>())))?;
        let name = String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned();
        Ok(Self { class: flags as u8, complex: flags & 0x800 != 0, shape, name })
    }
}

/// A numeric array whose values have not been read yet.
pub(crate) struct Array<'a> {
    path: PathBuf,
    header: Header,
    order: ByteOrder,
    values: Box<dyn Read + 'a>,
}

impl std::fmt::Debug for Array<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Array")
            .field("path", &self.path)
            .field("header", &self.header)
            .finish_non_exhaustive()
    }
}

impl<'a> Array<'a> {
    /// Finds a variable in the bytes of a file; `path` is for error messages.
    ///
    /// # Errors
    /// If there is no such variable, it is not an array of real numbers, or the file is damaged.
    pub(crate) fn find(path: &Path, mut file: Box<dyn Read + 'a>, name: &str) -> Result<Self> {
        let damaged = |fault: Fault| {
            let refuse = |found| DataError::content(path, "file", found, "a whole MATLAB file of level 5");
            match fault {
                Fault::Read(error) => unreadable(error, "", refuse),
                Fault::Invalid(found) => refuse(found),
            }
        };
        let mut header = [0; 128];
        file.read_exact(&mut header).map_err(|error| damaged(error.into()))?;
        let order = ByteOrder::of(&header).map_err(damaged)?;
        let mut others = Vec::new();
        while let Some(tag) = Tag::read(&mut file, order).map_err(damaged)? {
            let mut element = file.take(tag.bytes);
            if tag.kind == MATRIX {
                let header = Header::read(&mut element, order).map_err(damaged)?;
                if header.name == name {
                    return Self { path: path.to_owned(), header, order, values: Box::new(element) }
                        .checked();
                }
                others.push(header.name);
            } else if tag.kind == COMPRESSED {
                let mut inflated = ZlibDecoder::new(element);
                let inner = Tag::expect(&mut inflated, order).map_err(damaged)?;
                if inner.kind == MATRIX {
                    let header = Header::read(&mut inflated, order).map_err(damaged)?;
                    if header.name == name {
                        let values = Box::new(inflated);
                        return Self { path: path.to_owned(), header, order, values }.checked();
                    }
                    others.push(header.name);
                }
                element = inflated.into_inner();
            }
            let left = element.limit();
            let skipped = io::copy(&mut element, &mut io::sink()).map_err(|error| damaged(error.into()))?;
            if skipped < left {
                return Err(damaged(Fault::Read(io::ErrorKind::UnexpectedEof.into())));
            }
            file = element.into_inner();
            others.truncate(16);
        }
        let found = if others.is_empty() { "none".to_owned() } else { format!("only {}", others.join(", ")) };
        Err(DataError::content(path, "variables", found, format!("an array `{name}`")))
    }

    fn checked(self) -> Result<Self> {
        if !NUMERIC.contains(&self.header.class) || self.header.complex {
            let complex = if self.header.complex { "complex " } else { "" };
            return Err(self.refuse(
                format!("{complex}values of class {}", self.header.class),
                "an array of real numbers",
            ));
        }
        Ok(self)
    }

    /// An error about this array.
    pub(crate) fn refuse(&self, found: impl Into<String>, expected: impl Into<String>) -> DataError {
        DataError::content(&self.path, format!("array `{}`", self.header.name), found, expected)
    }

    /// Checks the exact shape.
    ///
    /// # Errors
    /// If the shape differs.
    pub(crate) fn expect_shape(&self, shape: &[usize]) -> Result<()> {
        if self.header.shape == shape {
            return Ok(());
        }
        Err(self.refuse(format!("shape {:?}", self.header.shape), format!("shape {shape:?}")))
    }

    /// All values, which must be whole numbers from 0 to 255 but may be stored as any type.
    ///
    /// # Errors
    /// If a value is anything else, or the file is damaged.
    pub(crate) fn bytes(mut self) -> Result<Vec<u8>> {
        let tag = match Tag::expect(&mut self.values, self.order) {
            Ok(tag) => tag,
            Err(Fault::Read(error)) => {
                return Err(unreadable(error, "", |found| self.refuse(found, "values")));
            }
            Err(Fault::Invalid(found)) => return Err(self.refuse(found, "values")),
        };
        let Some(storage) = Storage::from_kind(tag.kind) else {
            return Err(self.refuse(format!("values of type {}", tag.kind), "integers or floats"));
        };
        let count = self.header.shape.iter().try_fold(1_u64, |count, &axis| count.checked_mul(axis as u64));
        let expected = count.and_then(|count| count.checked_mul(storage.bytes() as u64));
        if expected != Some(tag.bytes) {
            let expected = format!("one value for each element of shape {:?}", self.header.shape);
            let found = format!("{} bytes of {}-byte values", tag.bytes, storage.bytes());
            return Err(self.refuse(found, expected));
        }
        let mut bytes = Vec::new();
        if let Some(data) = tag.small {
            self.convert(&data[..tag.bytes as usize], storage, &mut bytes)?;
        } else {
            let mut piece = vec![0; 1 << 16];
            let mut left = tag.bytes;
            while left > 0 {
                let part = piece.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                if let Err(error) = self.values.read_exact(&mut piece[..part]) {
                    let expected = format!("{} bytes of values", tag.bytes);
                    let place = format!(" with {left} bytes to go");
                    return Err(unreadable(error, &place, |found| self.refuse(found, expected)));
                }
                self.convert(&piece[..part], storage, &mut bytes)?;
                left -= part as u64;
            }
        }
        // Reading to the end, past the padding, makes zlib verify its checksum.
        match io::copy(&mut self.values.by_ref().take(9), &mut io::sink()) {
            Ok(0..=8) => Ok(bytes),
            Ok(_) => Err(self.refuse("more data after the values", "the end of the array")),
            Err(error) => Err(self.refuse("damaged data", "intact data").caused_by(error)),
        }
    }

    fn convert(&self, values: &[u8], storage: Storage, bytes: &mut Vec<u8>) -> Result<()> {
        if storage == Storage::Unsigned(1) {
            bytes.extend_from_slice(values);
            return Ok(());
        }
        for value in values.chunks_exact(storage.bytes()) {
            let byte = storage.byte(value, self.order);
            bytes.push(byte.map_err(|found| self.refuse(found, "whole numbers from 0 to 255"))?);
        }
        Ok(())
    }
}

fn invalid(found: impl Into<String>) -> Fault {
    Fault::Invalid(found.into())
}

#[cfg(test)]
mod tests;
