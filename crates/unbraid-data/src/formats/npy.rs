//! The header of NumPy's `.npy`: the element type and the shape of an array.
//!
//! A file starts with `\x93NUMPY`, a version, the length of the header, and the header: a Python dictionary such as
//! `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`, padded with spaces and terminated by a newline.

use std::fmt;
use std::io::{self, Read, Write};

/// NumPy itself refuses to read headers longer than 10,000 characters.
const MAX_HEADER: usize = 65_536;
const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The element type of an array: NumPy's kind letter, the bytes of one element, and the byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementType {
    /// `b`ool, `i`nteger, `u`nsigned, `f`loat, `U`nicode, byte `S`tring, `O`bject, ...
    pub kind: char,
    /// Bytes of one element (for `U`, four times its characters).
    pub bytes: usize,
    /// Whether elements are big-endian.
    pub big_endian: bool,
}

impl ElementType {
    /// A little-endian type, such as `little('f', 4)` for 32-bit floats.
    pub const fn little(kind: char, bytes: usize) -> Self {
        Self { kind, bytes, big_endian: false }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut characters = text.chars();
        let order = characters.next()?;
        let kind = characters.next()?;
        let digits = characters.as_str();
        let big_endian = match order {
            '>' => true,
            '<' | '|' | '=' => false,
            _ => return None,
        };
        let count: usize = if digits.is_empty() && kind == 'O' { 8 } else { digits.parse().ok()? };
        let bytes = if kind == 'U' { count.checked_mul(4)? } else { count };
        kind.is_ascii_alphabetic().then_some(Self { kind, bytes, big_endian })
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            'b' => write!(f, "bool"),
            'i' => write!(f, "int{}", self.bytes * 8),
            'u' => write!(f, "uint{}", self.bytes * 8),
            'f' => write!(f, "float{}", self.bytes * 8),
            'O' => write!(f, "object"),
            'U' => write!(f, "unicode of {} characters", self.bytes / 4),
            'S' => write!(f, "byte string of length {}", self.bytes),
            kind => write!(f, "type `{kind}{}`", self.bytes),
        }
    }
}

/// The content of a `.npy` header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The element type.
    pub element: ElementType,
    /// Whether the first index varies fastest.
    pub fortran_order: bool,
    /// The length of each axis.
    pub shape: Vec<usize>,
}

impl Header {
    /// The number of elements, or `None` if it overflows.
    pub fn len(&self) -> Option<usize> {
        self.shape.iter().try_fold(1_usize, |product, &axis| product.checked_mul(axis))
    }

    /// Whether the array has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// Bytes of the whole array, or `None` if the number overflows.
    pub fn bytes(&self) -> Option<usize> {
        self.len()?.checked_mul(self.element.bytes)
    }

    /// Reads a header and leaves the reader at the first element.
    ///
    /// # Errors
    /// `InvalidData` with a reason if the bytes are not a `.npy` header, `UnexpectedEof` if they end early.
    pub fn read(reader: &mut impl Read) -> io::Result<Self> {
        let mut start = [0; 8];
        reader.read_exact(&mut start)?;
        if &start[..6] != MAGIC {
            return Err(invalid("it does not start with \\x93NUMPY"));
        }
        let length = match start[6] {
            1 => {
                let mut bytes = [0; 2];
                reader.read_exact(&mut bytes)?;
                usize::from(u16::from_le_bytes(bytes))
            }
            2 | 3 => {
                let mut bytes = [0; 4];
                reader.read_exact(&mut bytes)?;
                u32::from_le_bytes(bytes) as usize
            }
            version => return Err(invalid(format!("format version {version} is unknown"))),
        };
        if length > MAX_HEADER {
            return Err(invalid(format!("its header claims to be {length} bytes long")));
        }
        let mut text = vec![0; length];
        reader.read_exact(&mut text)?;
        let text = std::str::from_utf8(&text).map_err(|_| invalid("its header is not text"))?;
        Self::parse(text).ok_or_else(|| invalid(format!("its header cannot be parsed: {}", text.trim_end())))
    }

    /// Parses the dictionary. Keys may be in any order; unknown keys are refused.
    fn parse(text: &str) -> Option<Self> {
        let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim_start();
        let (mut element, mut fortran_order, mut shape) = (None, None, None);
        while !rest.is_empty() {
            let (key, after) = quoted(rest)?;
            let value = after.trim_start().strip_prefix(':')?.trim_start();
            rest = match key {
                "descr" => {
                    let (name, after) = quoted(value)?;
                    element = Some(ElementType::parse(name)?);
                    after
                }
                "fortran_order" => match value.strip_prefix("False") {
                    Some(after) => {
                        fortran_order = Some(false);
                        after
                    }
                    None => {
                        fortran_order = Some(true);
                        value.strip_prefix("True")?
                    }
                },
                "shape" => {
                    let (inside, after) = value.strip_prefix('(')?.split_once(')')?;
                    shape = Some(axes(inside)?);
                    after
                }
                _ => return None,
            };
            rest = rest.trim_start();
            rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
        }
        Some(Self { element: element?, fortran_order: fortran_order?, shape: shape? })
    }

    /// Writes the header like NumPy: version 1, padded so that the elements start at a multiple of 64 bytes.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn write(&self, writer: &mut impl Write) -> io::Result<()> {
        let ElementType { kind, bytes, big_endian } = self.element;
        let order = if bytes == 1 {
            '|'
        } else if big_endian {
            '>'
        } else {
            '<'
        };
        let count = if kind == 'U' { bytes / 4 } else { bytes };
        let fortran_order = if self.fortran_order { "True" } else { "False" };
        let shape = match self.shape.as_slice() {
            [single] => format!("({single},)"),
            axes => format!("({})", axes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
        };
        let mut text = format!(
            "{{'descr': '{order}{kind}{count}', 'fortran_order': {fortran_order}, 'shape': {shape}, }}"
        );
        let before_text = MAGIC.len() + 4;
        let padded = (before_text + text.len() + 1).next_multiple_of(64) - before_text - 1;
        text.push_str(&" ".repeat(padded - text.len()));
        text.push('\n');
        let length = u16::try_from(text.len()).map_err(|_| invalid("the array has too many axes"))?;
        writer.write_all(MAGIC)?;
        writer.write_all(&[1, 0])?;
        writer.write_all(&length.to_le_bytes())?;
        writer.write_all(text.as_bytes())
    }
}

/// A quoted string without escapes, and what follows it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|&c| c == '\'' || c == '"')?;
    text[1..].split_once(quote)
}

fn axes(inside: &str) -> Option<Vec<usize>> {
    let inside = inside.trim();
    let inside = inside.strip_suffix(',').unwrap_or(inside);
    if inside.is_empty() {
        return Some(Vec::new());
    }
    // Python 2 wrote long integers with a trailing L.
    inside.split(',').map(|axis| axis.trim().trim_end_matches('L').parse().ok()).collect()
}

fn invalid(reason: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn header(kind: char, bytes: usize, shape: &[usize]) -> Header {
        Header { element: ElementType::little(kind, bytes), fortran_order: false, shape: shape.to_vec() }
    }

    /// The first bytes of dSprites' own `imgs` array.
    #[test]
    fn reads_what_numpy_wrote() {
        let mut bytes =
            b"\x93NUMPY\x01\x00F\x00{'descr': '|u1', 'fortran_order': False, 'shape': (737280, 64, 64), }"
                .to_vec();
        bytes.resize(79, b' ');
        bytes.push(b'\n');
        assert_eq!(Header::read(&mut &bytes[..]).unwrap(), header('u', 1, &[737_280, 64, 64]));
    }

    /// `numpy.save` of `numpy.zeros((2, 3))` and of a scalar, byte for byte.
    #[test]
    fn writes_what_numpy_writes() {
        for (shape, text) in [(vec![2, 3], "(2, 3)"), (vec![5], "(5,)"), (vec![], "()")] {
            let mut expected = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {text}, }}");
            while (10 + expected.len() + 1) % 64 != 0 {
                expected.push(' ');
            }
            expected.push('\n');
            let mut written = Vec::new();
            header('f', 8, &shape).write(&mut written).unwrap();
            assert_eq!(&written[..10], b"\x93NUMPY\x01\x00\x76\x00");
            assert_eq!(std::str::from_utf8(&written[10..]).unwrap(), expected);
        }
    }

    #[test]
    fn a_header_that_claims_gigabytes_is_refused_before_any_allocation() {
        let error = Header::read(&mut &b"\x93NUMPY\x02\x00\xff\xff\xff\xff{"[..]).unwrap_err();
        assert_eq!(error.to_string(), "its header claims to be 4294967295 bytes long");
    }

    #[test]
    fn a_shape_whose_product_overflows_has_no_length() {
        let shape = vec![usize::MAX, 2];
        assert_eq!(header('u', 1, &shape).len(), None);
        assert_eq!(header('f', 8, &[usize::MAX / 4]).bytes(), None);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Header::read(&mut &bytes[..]);
        }

        #[test]
        fn arbitrary_dictionaries_never_panic(text in "[{}'a-z:,()0-9 |<>L\\-\u{e9}]{0,80}") {
            let _ = Header::parse(&text);
        }

        #[test]
        fn what_is_written_is_read_back(
            kind in prop::sample::select(vec!['u', 'i', 'f']),
            shape in proptest::collection::vec(0_usize..1000, 0..5),
        ) {
            let header = header(kind, 4, &shape);
            let mut bytes = Vec::new();
            header.write(&mut bytes).unwrap();
            prop_assert_eq!(bytes.len() % 64, 0);
            prop_assert_eq!(Header::read(&mut &bytes[..]).unwrap(), header);
        }
    }
}
