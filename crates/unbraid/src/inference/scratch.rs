//! Temporary files for the arrays of an archive. An archive takes one array after another, but all of them grow
//! together, chunk by chunk. They are buffered on disk next to the archive, so that memory does not grow with them.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use unbraid_data::files::create_temporary;
use unbraid_data::formats::npy::ElementType;
use unbraid_data::formats::npz_writer::NpzWriter;

/// An array that grows by rows.
#[derive(Debug)]
pub(super) struct GrowingArray {
    name: String,
    element: ElementType,
    columns: usize,
    path: PathBuf,
    file: BufWriter<File>,
}

impl GrowingArray {
    /// An array without rows, in a temporary file next to `archive`.
    pub(super) fn new(archive: &Path, name: &str, element: ElementType, columns: usize) -> io::Result<Self> {
        let (path, file) = create_temporary(archive)?;
        Ok(Self { name: name.to_owned(), element, columns, path, file: BufWriter::new(file) })
    }

    /// Appends the values of more rows, little-endian.
    pub(super) fn extend<const N: usize>(&mut self, values: impl Iterator<Item = [u8; N]>) -> io::Result<()> {
        debug_assert_eq!(N, self.element.bytes, "the bytes of one element");
        for value in values {
            self.file.write_all(&value)?;
        }
        Ok(())
    }

    /// Copies the array, which has this many rows, into the archive.
    pub(super) fn finish<W: Write + Seek>(mut self, rows: usize, npz: &mut NpzWriter<W>) -> io::Result<()> {
        self.file.flush()?;
        let out = npz.array(&self.name, self.element, &[rows, self.columns])?;
        let file = self.file.get_mut();
        file.seek(SeekFrom::Start(0))?;
        let copied = io::copy(file, out)?;
        debug_assert_eq!(copied, (rows * self.columns * self.element.bytes) as u64, "whole rows");
        Ok(())
    }
}

impl Drop for GrowingArray {
    fn drop(&mut self) {
        // A file that cannot be removed does no harm, and its name says that it is temporary.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unbraid_data::formats::npz::Npz;

    #[test]
    fn arrays_that_grow_together_arrive_one_after_the_other() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.npz");
        let floats = |array: &mut GrowingArray, values: &[f32]| {
            array.extend(values.iter().map(|value| value.to_le_bytes())).unwrap();
        };
        let mut one = GrowingArray::new(&path, "one", ElementType::little('f', 4), 2).unwrap();
        let mut two = GrowingArray::new(&path, "two", ElementType::little('i', 8), 1).unwrap();
        for piece in 0..3_i64 {
            floats(&mut one, &[piece as f32, 0.5]);
            two.extend([(10 * piece).to_le_bytes()].into_iter()).unwrap();
        }
        let mut npz = NpzWriter::new(File::create(&path).unwrap());
        one.finish(3, &mut npz).unwrap();
        two.finish(3, &mut npz).unwrap();
        npz.finish().unwrap();
        let mut npz = Npz::open(&path).unwrap();
        assert_eq!(npz.array("one").unwrap().floats().unwrap(), [0.0, 0.5, 1.0, 0.5, 2.0, 0.5]);
        assert_eq!(npz.array("two").unwrap().integers().unwrap(), [0, 10, 20]);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "only the archive is left");
    }
}
