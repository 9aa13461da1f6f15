//! The idx format of MNIST: two zero bytes, a type, the number of axes, their lengths (big-endian), and the elements.

use crate::error::{DataError, Result};
use crate::formats::gzip::{self, unreadable};
use std::io::Read;
use std::path::Path;

/// The type code of unsigned bytes, which MNIST uses for images and labels.
const UNSIGNED_BYTE: u8 = 0x08;

/// An array of bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ByteArray {
    /// The length of each axis.
    pub(crate) shape: Vec<usize>,
    /// The elements; the last index varies fastest.
    pub(crate) bytes: Vec<u8>,
}

/// Reads an array of `axes` axes from a file, which may be compressed with gzip.
///
/// # Errors
/// If the file is missing or damaged, or not such an array.
pub(crate) fn read(path: &Path, axes: usize) -> Result<ByteArray> {
    let (reader, expansion) = gzip::open_limited(path)?;
    parse(path, axes, reader, |promised| expansion.check(path, promised))
}

/// The same from a reader; `check` gets the number of bytes that the header promises.
pub(super) fn parse(
    path: &Path,
    axes: usize,
    mut reader: impl Read,
    check: impl FnOnce(u64) -> Result<()>,
) -> Result<ByteArray> {
    let header = |found: String, expected: &str| DataError::content(path, "header", found, expected);
    let mut start = [0; 4];
    reader
        .read_exact(&mut start)
        .map_err(|error| unreadable(error, "", |found| header(found, "an idx header")))?;
    if start[..3] != [0, 0, UNSIGNED_BYTE] {
        return Err(header(format!("bytes {:02x?}", &start[..3]), "[00, 00, 08] (an idx array of bytes)"));
    }
    if usize::from(start[3]) != axes {
        return Err(header(format!("{} axes", start[3]), &format!("{axes} axes")));
    }
    let mut shape = Vec::with_capacity(axes);
    for _ in 0..axes {
        let mut length = [0; 4];
        reader.read_exact(&mut length).map_err(|error| {
            unreadable(error, "", |found| header(found, &format!("the lengths of {axes} axes")))
        })?;
        shape.push(u32::from_be_bytes(length) as usize);
    }
    let Some(total) = shape.iter().try_fold(1_usize, |product, &axis| product.checked_mul(axis)) else {
        return Err(header(format!("shape {shape:?}"), "a shape whose size does not overflow"));
    };
    DataError::check_memory(path, "data", total as u64)?;
    check(total as u64)?;
    // The vector grows with the data, as the header may be wrong. One more byte shows that a file is too long.
    let mut bytes = Vec::new();
    let read = reader.take(total as u64 + 1).read_to_end(&mut bytes);
    let data =
        |found: String| DataError::content(path, "data", found, format!("{total} bytes for shape {shape:?}"));
    read.map_err(|error| unreadable(error, &format!(" after {} bytes", bytes.len()), data))?;
    if bytes.len() > total {
        return Err(data(format!("more than {total} bytes")));
    }
    if bytes.len() < total {
        return Err(data(format!("{} bytes", bytes.len())));
    }
    Ok(ByteArray { shape, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::chain;
    use proptest::prelude::*;

    fn parse_bytes(bytes: &[u8], axes: usize) -> Result<ByteArray> {
        parse(Path::new("test"), axes, bytes, |_| Ok(()))
    }

    #[test]
    fn a_small_array() {
        let array = parse_bytes(&[0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6], 2).unwrap();
        assert_eq!(array, ByteArray { shape: vec![2, 3], bytes: vec![1, 2, 3, 4, 5, 6] });
    }

    #[test]
    fn a_header_that_claims_gigabytes_is_not_trusted() {
        let error = parse_bytes(&[0, 0, 8, 1, 255, 255, 255, 255, 1, 2], 1).unwrap_err();
        let expected = "test: data: found 2 bytes, expected 4294967295 bytes for shape [4294967295]";
        assert_eq!(chain(&error), expected);
        let mut huge = vec![0, 0, 8, 3];
        huge.extend([255; 12]);
        let shape = "[4294967295, 4294967295, 4294967295]";
        let expected =
            format!("test: header: found shape {shape}, expected a shape whose size does not overflow");
        assert_eq!(chain(&parse_bytes(&huge, 3).unwrap_err()), expected);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64), axes in 1_usize..4) {
            let _ = parse_bytes(&bytes, axes);
            let mut header = vec![0, 0, UNSIGNED_BYTE, axes as u8];
            header.extend(&bytes);
            let _ = parse_bytes(&header, axes);
        }
    }
}
