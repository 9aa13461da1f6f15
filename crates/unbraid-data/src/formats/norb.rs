//! NORB's binary matrix format, plain or gzip-compressed.
//!
//! Little-endian: a magic number for the element type, the number of axes, their lengths, and the elements; the last
//! index varies fastest. At least three lengths are stored; with fewer axes the last ones have no meaning.

use super::gzip::{self, unreadable};
use crate::error::{DataError, Result};
use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The published matrices have at most four.
const MAX_AXES: usize = 8;

/// The element type of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    /// Unsigned bytes.
    Byte,
    /// Signed integers of 32 bits.
    Integer,
    /// Floats of 32 bits.
    Single,
    /// Floats of 64 bits.
    Double,
}

impl Element {
    fn from_magic(magic: u32) -> Option<Self> {
        match magic {
            0x1E3D_4C55 => Some(Self::Byte),
            0x1E3D_4C54 => Some(Self::Integer),
            0x1E3D_4C51 => Some(Self::Single),
            0x1E3D_4C53 => Some(Self::Double),
            _ => None,
        }
    }

    /// Bytes of one element.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Byte => 1,
            Self::Integer | Self::Single => 4,
            Self::Double => 8,
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Byte => "unsigned bytes",
            Self::Integer => "32-bit integers",
            Self::Single => "32-bit floats",
            Self::Double => "64-bit floats",
        })
    }
}

/// An open matrix: its header has been read, its elements have not.
pub(crate) struct Matrix {
    path: PathBuf,
    element: Element,
    shape: Vec<usize>,
    bytes: usize,
    elements: Box<dyn Read + Send>,
}

impl fmt::Debug for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Matrix")
            .field("path", &self.path)
            .field("element", &self.element)
            .field("shape", &self.shape)
            .finish_non_exhaustive()
    }
}

impl Matrix {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// If the file is missing or its header is damaged.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let (elements, expansion) = gzip::open_limited(path)?;
        let matrix = Self::read(path, elements)?;
        expansion.check(path, matrix.bytes as u64)?;
        Ok(matrix)
    }

    /// Reads a header from uncompressed bytes; `path` is for error messages.
    ///
    /// # Errors
    /// If the header is damaged.
    pub(crate) fn read(path: &Path, mut elements: Box<dyn Read + Send>) -> Result<Self> {
        let refuse = |found: String, expected: &str| DataError::content(path, "header", found, expected);
        let mut word = || {
            let mut bytes = [0; 4];
            match elements.read_exact(&mut bytes) {
                Ok(()) => Ok(u32::from_le_bytes(bytes)),
                Err(error) => Err(unreadable(error, "", |found| refuse(found, "a whole NORB header"))),
            }
        };
        let magic = word()?;
        let element = Element::from_magic(magic).ok_or_else(|| {
            let expected = "0x1e3d4c55 (bytes), 0x1e3d4c54 (integers), 0x1e3d4c51 or 0x1e3d4c53 (floats)";
            refuse(format!("the magic number {magic:#010x}"), expected)
        })?;
        let axes = word()? as usize;
        if !(1..=MAX_AXES).contains(&axes) {
            return Err(refuse(format!("{} axes", axes as u32 as i32), "1 to 8"));
        }
        let mut shape = Vec::with_capacity(MAX_AXES);
        for _ in 0..axes.max(3) {
            shape.push(word()?);
        }
        shape.truncate(axes);
        let lengths: Option<Vec<usize>> = shape
            .iter()
            .map(|&axis| usize::try_from(axis as i32).ok().filter(|&length| length > 0))
            .collect();
        let sized = lengths.and_then(|shape| {
            let count = |bytes: usize, &axis: &usize| bytes.checked_mul(axis);
            let bytes = shape.iter().try_fold(element.bytes(), count)?;
            Some((shape, bytes))
        });
        let Some((shape, bytes)) = sized else {
            let signed: Vec<i32> = shape.iter().map(|&axis| axis as i32).collect();
            return Err(refuse(
                format!("shape {signed:?}"),
                "positive lengths whose product does not overflow",
            ));
        };
        Ok(Self { path: path.to_owned(), element, shape, bytes, elements })
    }

    /// The length of each axis.
    pub(crate) fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// An error about this matrix.
    pub(crate) fn refuse(&self, found: impl Into<String>, expected: impl Into<String>) -> DataError {
        DataError::content(&self.path, "matrix", found, expected)
    }

    /// Checks the element type and the lengths of all axes after the first.
    ///
    /// # Errors
    /// If they differ.
    pub(crate) fn expect(&self, element: Element, inner: &[usize]) -> Result<()> {
        if self.element != element {
            return Err(self.refuse(self.element.to_string(), element.to_string()));
        }
        if self.shape[1..] != *inner {
            let expected: String = inner.iter().map(|length| format!(", {length}")).collect();
            return Err(self.refuse(format!("shape {:?}", self.shape), format!("shape [n{expected}]")));
        }
        Ok(())
    }

    /// Streams the raw elements in order, in pieces of at most `piece_bytes`, and checks that the file ends there.
    ///
    /// # Errors
    /// If the file ends early or late, is damaged, or `take` refuses a piece.
    pub(crate) fn stream(
        mut self,
        piece_bytes: usize,
        mut take: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut piece = vec![0; piece_bytes.min(self.bytes)];
        let mut done = 0;
        while done < self.bytes {
            let wanted = (self.bytes - done).min(piece.len());
            let part = &mut piece[..wanted];
            if let Err(error) = self.elements.read_exact(part) {
                let expected = format!("{} bytes of elements", self.bytes);
                let place = format!(" within bytes {done} to {}", done + wanted);
                return Err(unreadable(error, &place, |found| self.refuse(found, expected)));
            }
            take(part)?;
            done += wanted;
        }
        // Reading to the end makes gzip verify its checksum.
        match io::copy(&mut self.elements.by_ref().take(1), &mut io::sink()) {
            Ok(0) => Ok(()),
            Ok(_) => Err(self.refuse("more bytes than its shape needs", format!("{} bytes", self.bytes))),
            Err(error) => Err(self.refuse("damaged data", "intact data").caused_by(error)),
        }
    }

    /// All elements of a matrix of integers.
    ///
    /// # Errors
    /// As [`Matrix::stream`].
    ///
    /// # Panics
    /// If the elements are not integers; see [`Matrix::expect`].
    pub(crate) fn integers(self) -> Result<Vec<i32>> {
        assert_eq!(self.element, Element::Integer, "elements are checked before they are read");
        DataError::check_memory(&self.path, "matrix", self.bytes as u64)?;
        let mut integers = Vec::new();
        self.stream(1 << 16, |piece| {
            integers.extend(piece.as_chunks::<4>().0.iter().map(|&bytes| i32::from_le_bytes(bytes)));
            Ok(())
        })?;
        Ok(integers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::chain;
    use proptest::prelude::*;

    fn parse(bytes: &[u8]) -> Result<Vec<u8>> {
        let matrix = Matrix::read(Path::new("x.mat"), Box::new(io::Cursor::new(bytes.to_vec())))?;
        let mut elements = Vec::new();
        matrix.stream(64, |piece| {
            elements.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(elements)
    }

    fn bytes(words: &[u32], elements: &[u8]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).chain(elements.iter().copied()).collect()
    }

    /// Two axes, so the third stored length has no meaning.
    #[test]
    fn a_matrix_of_bytes() {
        let file = bytes(&[0x1E3D_4C55, 2, 2, 3, 77], &[1, 2, 3, 4, 5, 6]);
        assert_eq!(parse(&file).unwrap(), [1, 2, 3, 4, 5, 6]);
        let error = parse(&file[..file.len() - 1]).unwrap_err();
        let expected = "x.mat: matrix: found an early end within bytes 0 to 6, expected 6 bytes of elements";
        assert_eq!(chain(&error), expected);
        let error = parse(&[file.as_slice(), b"!"].concat()).unwrap_err();
        assert_eq!(chain(&error), "x.mat: matrix: found more bytes than its shape needs, expected 6 bytes");
    }

    #[test]
    fn invalid_headers() {
        let cases: [(&[u32], &str); 6] = [
            (
                &[0x1E3D_4C56, 1, 1, 1, 1],
                "found the magic number 0x1e3d4c56, expected 0x1e3d4c55 (bytes), 0x1e3d4c54 (integers), \
                 0x1e3d4c51 or 0x1e3d4c53 (floats)",
            ),
            (&[0x1E3D_4C55, 0, 1, 1, 1], "found 0 axes, expected 1 to 8"),
            (&[0x1E3D_4C55, u32::MAX, 1, 1, 1], "found -1 axes, expected 1 to 8"),
            (
                &[0x1E3D_4C55, 3, 1, u32::MAX, 1],
                "found shape [1, -1, 1], expected positive lengths whose product does not overflow",
            ),
            (
                &[0x1E3D_4C53, 3, 0x7fff_ffff, 0x7fff_ffff, 4],
                "found shape [2147483647, 2147483647, 4], expected positive lengths whose product does not overflow",
            ),
            (&[0x1E3D_4C54, 1, 1], "found an early end, expected a whole NORB header"),
        ];
        for (words, expected) in cases {
            let error = parse(&bytes(words, &[])).unwrap_err();
            assert_eq!(chain(&error), format!("x.mat: header: {expected}"));
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
            let _ = parse(&bytes);
        }

        #[test]
        fn arbitrary_headers_never_panic(words in prop::collection::vec(any::<u32>(), 0..12), rest: Vec<u8>) {
            let _ = parse(&bytes(&[&[0x1E3D_4C55], words.as_slice()].concat(), &rest));
            let _ = parse(&bytes(&[&[0x1E3D_4C54, 2], words.as_slice()].concat(), &rest));
        }

        /// A file of 20 bytes of header and 96 bytes of elements with one byte changed, cut short.
        #[test]
        fn mutated_files_never_panic(at in 0_usize..97, byte: u8, length in 0_usize..117) {
            let path = "tests/fixtures/smallnorb/smallnorb-5x46789x9x18x6x2x96x96-training-info.mat.gz";
            let mut file = gzip::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
            let mut content = Vec::new();
            file.read_to_end(&mut content).unwrap();
            content[at] = byte;
            content.truncate(length);
            let _ = parse(&content);
        }
    }
}
