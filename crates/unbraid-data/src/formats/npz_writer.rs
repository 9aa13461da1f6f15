//! Writing NumPy's `.npz` as a stream, array by array.

use super::npy::{ElementType, Header};
use std::io::{self, Seek, Write};
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Writes an archive. The same arrays always give the same bytes, as no time stamp is stored.
pub struct NpzWriter<W: Write + Seek> {
    zip: ZipWriter<W>,
}

impl<W: Write + Seek> NpzWriter<W> {
    /// Starts an archive.
    pub fn new(writer: W) -> Self {
        Self { zip: ZipWriter::new(writer) }
    }

    /// Starts an array, whose elements are then written to the returned writer, in C order and little-endian.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn array(
        &mut self,
        name: &str,
        element: ElementType,
        shape: &[usize],
    ) -> io::Result<&mut (impl Write + use<W>)> {
        let header = Header { element, fortran_order: false, shape: shape.to_vec() };
        let large = header.bytes().is_none_or(|bytes| bytes as u64 > u64::from(u32::MAX) / 2);
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            // Level 1 is several times faster than level 6, and simple images become about as small.
            .compression_level(Some(1))
            .large_file(large);
        self.zip.start_file(format!("{name}.npy"), options).map_err(io_error)?;
        header.write(&mut self.zip)?;
        Ok(&mut self.zip)
    }

    /// Writes an array of 64-bit integers.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn integers(
        &mut self,
        name: &str,
        shape: &[usize],
        values: impl Iterator<Item = i64>,
    ) -> io::Result<()> {
        let out = self.array(name, ElementType::little('i', 8), shape)?;
        write_all(out, values.map(i64::to_le_bytes))
    }

    /// Writes an array of 64-bit floats.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn floats(
        &mut self,
        name: &str,
        shape: &[usize],
        values: impl Iterator<Item = f64>,
    ) -> io::Result<()> {
        let out = self.array(name, ElementType::little('f', 8), shape)?;
        write_all(out, values.map(f64::to_le_bytes))
    }

    /// Writes a list of texts, as NumPy's fixed-width unicode.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn strings(&mut self, name: &str, texts: &[String]) -> io::Result<()> {
        let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
        let out = self.array(name, ElementType::little('U', 4 * width), &[texts.len()])?;
        let padded =
            texts.iter().flat_map(|text| text.chars().map(u32::from).chain(std::iter::repeat(0)).take(width));
        write_all(out, padded.map(u32::to_le_bytes))
    }

    /// Completes the archive.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn finish(self) -> io::Result<W> {
        self.zip.finish().map_err(io_error)
    }
}

/// The error of the writer itself; `io::Error::from` would wrap it once more and print it twice.
fn io_error(error: ZipError) -> io::Error {
    match error {
        ZipError::Io(error) => error,
        other => io::Error::other(other),
    }
}

fn write_all<const N: usize>(out: &mut impl Write, values: impl Iterator<Item = [u8; N]>) -> io::Result<()> {
    let mut buffer = Vec::with_capacity(1 << 16);
    for value in values {
        buffer.extend_from_slice(&value);
        if buffer.len() >= 1 << 16 {
            out.write_all(&buffer)?;
            buffer.clear();
        }
    }
    out.write_all(&buffer)
}
