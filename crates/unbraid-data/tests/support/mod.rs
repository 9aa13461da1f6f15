//! What the tests share: where real data is, and small archives made on the spot.
#![allow(dead_code)] // Each test file uses some of it.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use unbraid_data::formats::npy::{ElementType, Header};
use unbraid_data::progress::Silent;
use unbraid_data::random::{Lane, Stream};
use unbraid_data::{DataSet, DataSpec, open};

/// A file or directory of the larger shared data, or `None` with a clear word that the test skips.
pub fn shared(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("UNBRAID_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let file = root.join(path);
    if file.exists() {
        return Some(file);
    }
    eprintln!("SKIPPED: {} is not there; set UNBRAID_SHARED to the directory of shared data", file.display());
    None
}

pub fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(path)
}

pub fn noise() -> Lane {
    Stream::new(0, "test").at(0).lane(0)
}

pub fn open_spec(spec: &str) -> unbraid_data::Result<Box<dyn DataSet>> {
    open(&spec.parse::<DataSpec>()?, &Silent)
}

pub fn open_path(name: &str, path: &Path) -> unbraid_data::Result<Box<dyn DataSet>> {
    open(&DataSpec::named(name).with_path(path), &Silent)
}

/// The error of opening, in words.
pub fn refusal(name: &str, path: &Path) -> String {
    let error = open_path(name, path).expect_err("should be refused").to_string();
    assert!(error.contains(&path.display().to_string()), "the message should name the path: {error}");
    error
}

pub fn image(data: &dyn DataSet, index: usize) -> Vec<f32> {
    let mut pixels = vec![f32::NAN; data.shape().values()];
    data.write_image(index, noise(), &mut pixels).unwrap();
    pixels
}

pub fn factors(data: &dyn DataSet, index: usize) -> Vec<u32> {
    let mut values = vec![0; data.factors().map_or(0, |space| space.len())];
    data.factors_of(index, &mut values);
    values
}

/// One array of an archive that a test makes.
pub struct Array {
    pub name: &'static str,
    pub kind: char,
    pub bytes_per_element: usize,
    pub shape: Vec<usize>,
    pub data: Vec<u8>,
}

impl Array {
    pub fn bytes(name: &'static str, shape: &[usize], data: Vec<u8>) -> Self {
        Self { name, kind: 'u', bytes_per_element: 1, shape: shape.to_vec(), data }
    }

    pub fn integers(name: &'static str, shape: &[usize], values: &[i64]) -> Self {
        let data = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Self { name, kind: 'i', bytes_per_element: 8, shape: shape.to_vec(), data }
    }

    pub fn floats(name: &'static str, shape: &[usize], values: &[f64]) -> Self {
        let data = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Self { name, kind: 'f', bytes_per_element: 8, shape: shape.to_vec(), data }
    }
}

/// Writes an archive, valid as a zip whatever its arrays claim.
pub fn write_npz(path: &Path, arrays: &[Array]) {
    let mut zip = zip::ZipWriter::new(File::create(path).unwrap());
    for array in arrays {
        let options = zip::write::SimpleFileOptions::default();
        zip.start_file(format!("{}.npy", array.name), options).unwrap();
        let element = ElementType::little(array.kind, array.bytes_per_element);
        let header = Header { element, fortran_order: false, shape: array.shape.clone() };
        header.write(&mut zip).unwrap();
        zip.write_all(&array.data).unwrap();
    }
    zip.finish().unwrap();
}
