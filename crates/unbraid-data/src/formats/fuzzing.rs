//! The parsers on bytes, for the targets in `fuzz/`; compiled for them only. What they return is of no
//! interest: they must not panic, hang, or take more memory than [`crate::memory::limit`].

use super::npz::{ArrayReader, Npz};
use super::{hdf5, idx, mat5, norb};
use crate::picture::Picture;
use std::io::Cursor;
use std::path::Path;
use std::{env, fs, process};

/// Calls `act` with a file of these bytes and a name of this ending, for parsers that need one.
pub fn on_file(bytes: &[u8], ending: &str, act: impl FnOnce(&Path)) {
    let path = env::temp_dir().join(format!("unbraid-fuzz-{}.{ending}", process::id()));
    fs::write(&path, bytes).expect("the directory of temporary files can be written");
    act(&path);
    let _ = fs::remove_file(&path);
}

/// `.npz` and `.npy`: every array in every way.
pub fn npz(bytes: &[u8]) {
    on_file(bytes, "bin", |path| {
        if bytes.starts_with(b"\x93NUMPY") {
            drop(ArrayReader::of_file(path).and_then(|array| array.bytes()));
            drop(ArrayReader::of_file(path).and_then(|array| array.integers()));
            drop(ArrayReader::of_file(path).and_then(|array| array.floats()));
            drop(ArrayReader::of_file(path).and_then(|array| array.strings()));
            return;
        }
        let Ok(mut npz) = Npz::open(path) else { return };
        for name in npz.names().into_iter().take(10) {
            drop(npz.array(&name).and_then(|array| array.bytes()));
            drop(npz.array(&name).and_then(|array| array.integers()));
            drop(npz.array(&name).and_then(|array| array.floats()));
            drop(npz.array(&name).and_then(|array| array.strings()));
        }
    });
}

/// idx, as MNIST has it.
pub fn idx(bytes: &[u8]) {
    for axes in [1, 3] {
        drop(idx::parse(Path::new("fuzz"), axes, bytes, |_| Ok(())));
    }
}

/// NORB's matrices.
pub fn norb(bytes: &[u8]) {
    let matrix = norb::Matrix::read(Path::new("fuzz"), Box::new(Cursor::new(bytes.to_vec())));
    drop(matrix.and_then(|matrix| matrix.stream(1 << 16, |_| Ok(()))));
}

/// MATLAB files of level 5.
pub fn mat5(bytes: &[u8]) {
    let array = mat5::Array::find(Path::new("fuzz"), Box::new(bytes), "im");
    drop(array.and_then(mat5::Array::bytes));
}

/// HDF5, with the names and shapes of Shapes3D.
pub fn hdf5(bytes: &[u8]) {
    on_file(bytes, "bin", |path| {
        let Ok(file) = hdf5::File::open(path) else { return };
        drop(file.array("images").and_then(|images| {
            images.expect(hdf5::Element::Byte, &[64, 64, 3])?;
            images.stream(|_| Ok(()))
        }));
        drop(file.array("labels").and_then(|labels| {
            labels.expect(hdf5::Element::Double, &[6])?;
            labels.floats()
        }));
    });
}

/// Pictures: PNG, JPEG, WebP, BMP, TIFF or GIF, by their first bytes.
pub fn picture(bytes: &[u8]) {
    on_file(bytes, "bin", |path| drop(Picture::read(path)));
}
