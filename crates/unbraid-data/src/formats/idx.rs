//! The idx format of MNIST: two zero bytes, a type, the number of axes, their lengths (big-endian), and the elements.

use crate::error::{DataError, Result};
use crate::formats::npz::open_file;
use flate2::read::MultiGzDecoder;
use std::io::{BufReader, Read};
use std::path::Path;

/// The type code of unsigned bytes, the only one that images and labels use.
const UNSIGNED_BYTE: u8 = 0x08;

/// An array of bytes.
#[derive(Debug, PartialEq, Eq)]
pub struct ByteArray {
    /// The length of each axis.
    pub shape: Vec<usize>,
    /// The elements, the last axis fastest.
    pub bytes: Vec<u8>,
}

/// Reads an array of `axes` axes from a file, which may be compressed with gzip.
///
/// # Errors
/// If the file is missing, damaged, or something else.
pub fn read(path: &Path, axes: usize) -> Result<ByteArray> {
    let mut file = BufReader::new(open_file(path)?);
    let mut start = [0; 2];
    let compressed = file.read_exact(&mut start).is_ok() && start == [0x1f, 0x8b];
    let file = BufReader::new(open_file(path)?);
    if compressed { parse(path, axes, MultiGzDecoder::new(file)) } else { parse(path, axes, file) }
}

fn parse(path: &Path, axes: usize, mut reader: impl Read) -> Result<ByteArray> {
    let refuse = |subject: &str, found: String, expected: String| {
        Err(DataError::content(path, subject, found, expected))
    };
    let mut start = [0; 4];
    if let Err(error) = reader.read_exact(&mut start) {
        return refuse("header", format!("no 4 bytes ({error})"), "an idx header".to_owned());
    }
    if start[..3] != [0, 0, UNSIGNED_BYTE] {
        return refuse(
            "header",
            format!("bytes {:02x?}", &start[..3]),
            "[00, 00, 08], as idx bytes have".to_owned(),
        );
    }
    if usize::from(start[3]) != axes {
        return refuse("header", format!("{} axes", start[3]), format!("{axes} axes"));
    }
    let mut shape = Vec::with_capacity(axes);
    for _ in 0..axes {
        let mut length = [0; 4];
        if let Err(error) = reader.read_exact(&mut length) {
            return refuse(
                "header",
                format!("an early end ({error})"),
                format!("the lengths of {axes} axes"),
            );
        }
        shape.push(u32::from_be_bytes(length) as usize);
    }
    let Some(total) = shape.iter().try_fold(1_usize, |product, &axis| product.checked_mul(axis)) else {
        return refuse("header", format!("shape {shape:?}"), "a shape that can exist".to_owned());
    };
    // Grows with what arrives: a header can promise anything. One byte more tells a file that is too long.
    let mut bytes = Vec::new();
    if let Err(error) = reader.take(total as u64 + 1).read_to_end(&mut bytes) {
        return refuse(
            "data",
            format!("damage after {} bytes ({error})", bytes.len()),
            format!("{total} bytes"),
        );
    }
    if bytes.len() != total {
        let found = if bytes.len() > total { "more".to_owned() } else { format!("{} bytes", bytes.len()) };
        return refuse("data", found, format!("{total} bytes for shape {shape:?}"));
    }
    Ok(ByteArray { shape, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse_bytes(bytes: &[u8], axes: usize) -> Result<ByteArray> {
        parse(Path::new("test"), axes, bytes)
    }

    #[test]
    fn a_small_array() {
        let array = parse_bytes(&[0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6], 2).unwrap();
        assert_eq!(array, ByteArray { shape: vec![2, 3], bytes: vec![1, 2, 3, 4, 5, 6] });
    }

    #[test]
    fn a_header_that_promises_gigabytes_is_not_believed() {
        let error = parse_bytes(&[0, 0, 8, 1, 255, 255, 255, 255, 1, 2], 1).unwrap_err().to_string();
        assert!(error.contains("found 2 bytes, expected 4294967295 bytes"), "{error}");
        let mut huge = vec![0, 0, 8, 3];
        huge.extend([255; 12]);
        let error = parse_bytes(&huge, 3).unwrap_err().to_string();
        assert!(error.contains("a shape that can exist"), "{error}");
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
