//! Writing NumPy's `.npz` as a stream, array by array.

use super::npy::{ElementType, Header};
use std::io::{self, Seek, SeekFrom, Write};
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Writes an archive. The same arrays always give the same bytes, as no time stamp is stored.
pub struct NpzWriter<W: Write + Seek> {
    zip: ZipWriter<UntilFailure<W>>,
}

impl<W: Write + Seek> NpzWriter<W> {
    /// Starts an archive.
    pub fn new(writer: W) -> Self {
        Self { zip: ZipWriter::new(UntilFailure { out: writer, place: 0, end: 0, failed: false }) }
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
        let UntilFailure { out, failed, .. } = self.zip.finish().map_err(io_error)?;
        if failed { Err(io::Error::other("an earlier write failed")) } else { Ok(out) }
    }
}

/// Passes on what is written until that fails once, which is reported; from then on it pretends to write. An
/// archive that is dropped without its end tries to write that, and would complain on standard error beside
/// our own message.
struct UntilFailure<W> {
    out: W,
    /// Where the next byte goes, and where the last one ended: an archive asks for both, and panics if it is
    /// told nonsense.
    place: u64,
    end: u64,
    failed: bool,
}

impl<W> UntilFailure<W> {
    fn pass<T>(&mut self, pretended: T, act: impl FnOnce(&mut W) -> io::Result<T>) -> io::Result<T> {
        if self.failed {
            return Ok(pretended);
        }
        let done = act(&mut self.out);
        self.failed = done.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::Interrupted);
        done
    }
}

impl<W: Write> Write for UntilFailure<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.pass(bytes.len(), |out| out.write(bytes))?;
        self.place += written as u64;
        self.end = self.end.max(self.place);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass((), Write::flush)
    }
}

impl<W: Seek> Seek for UntilFailure<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let pretended = match to {
            SeekFrom::Start(place) => place,
            SeekFrom::Current(distance) => self.place.saturating_add_signed(distance),
            SeekFrom::End(distance) => self.end.saturating_add_signed(distance),
        };
        self.place = self.pass(pretended, |out| out.seek(to))?;
        Ok(self.place)
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// Of limited size, like a disk.
    struct Disk(Cursor<Vec<u8>>, usize);

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0.get_ref().len() + bytes.len() > self.1 {
                return Err(io::Error::other("the disk is full"));
            }
            self.0.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Seek for Disk {
        fn seek(&mut self, place: SeekFrom) -> io::Result<u64> {
            self.0.seek(place)
        }
    }

    /// An array of 100,000 different numbers, on disks on which its beginning, its middle and its end do not fit.
    #[test]
    fn a_full_disk_is_reported_wherever_it_happens() {
        let write = |size: usize| {
            let mut archive = NpzWriter::new(Disk(Cursor::default(), size));
            let numbers =
                (0..100_000_u64).map(|number| f64::from_bits(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
            archive.floats("numbers", &[100_000], numbers)?;
            archive.finish().map(|disk| disk.0.into_inner().len())
        };
        let whole = write(usize::MAX).unwrap();
        for size in [0, 10, whole / 2, whole - 1] {
            assert_eq!(write(size).unwrap_err().to_string(), "the disk is full", "{size} of {whole}");
        }
        assert_eq!(write(whole).unwrap(), whole);
    }
}
