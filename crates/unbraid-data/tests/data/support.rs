//! Helpers that the tests share: opening data with an empty cache, pixels and factors to compare, and small files.

use std::error::Error;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use unbraid_data::formats::npy::{ElementType, Header};
use unbraid_data::progress::Silent;
use unbraid_data::random::{Lane, Stream};
use unbraid_data::{DataError, DataSet, DataSpec, FactorSpace, Result};

/// The name of the enclosing test, with its module.
macro_rules! test_name {
    () => {{
        fn inner() {}
        std::any::type_name_of_val(&inner).trim_end_matches("::inner")
    }};
}
pub(crate) use test_name;

pub(crate) fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(path)
}

/// A file with this content, in a directory that lives as long as the first value.
pub(crate) fn written(name: &str, content: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    fs::write(&path, content).unwrap();
    (directory, path)
}

/// Opens a data set. The cache is empty when the tests start, so that images are really decoded.
pub(crate) fn open(spec: &DataSpec) -> Result<Box<dyn DataSet>> {
    static CACHE: LazyLock<()> = LazyLock::new(|| {
        let program = std::env::current_exe().unwrap();
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(program.file_name().unwrap());
        if directory.exists() {
            fs::remove_dir_all(&directory).unwrap();
        }
        unbraid_data::cache::set_directory(directory);
    });
    LazyLock::force(&CACHE);
    unbraid_data::open(spec, &Silent)
}

pub(crate) fn open_spec(spec: &str) -> Result<Box<dyn DataSet>> {
    open(&spec.parse()?)
}

pub(crate) fn open_path(name: &str, path: impl Into<PathBuf>) -> Result<Box<dyn DataSet>> {
    open(&DataSpec::named(name).with_path(path))
}

/// The error of opening `path`, which must fail.
pub(crate) fn refused(name: &str, path: &Path) -> DataError {
    match open_path(name, path) {
        Ok(_) => panic!("{} is not refused", path.display()),
        Err(error) => error,
    }
}

/// The error of opening `path` and its causes, without the path at the start of the message.
pub(crate) fn refusal(name: &str, path: &Path) -> String {
    after_path(&chain(&refused(name, path)), path)
}

/// The same without the causes, which must come from the decoder of another crate.
pub(crate) fn damage(name: &str, path: &Path) -> String {
    let error = refused(name, path);
    assert!(error.source().is_some(), "no cause: {error}");
    after_path(&error.to_string(), path)
}

/// An error and its causes on one line, as anyhow's `{:#}` prints them.
pub(crate) fn chain(error: &dyn Error) -> String {
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// A message that starts with `path`, or with a file below it, without `path`.
pub(crate) fn after_path(message: &str, path: &Path) -> String {
    match message.strip_prefix(&*path.to_string_lossy()) {
        Some(rest) => rest.trim_start_matches(['/', '\\', ':', ' ']).to_owned(),
        None => panic!("no {} at the start of: {message}", path.display()),
    }
}

/// The chain after the path of a file that does not exist.
pub(crate) fn missing() -> String {
    format!("cannot open: {}", std::io::Error::from_raw_os_error(2))
}

fn noise() -> Lane {
    Stream::new(0, "test").at(0).lane(0)
}

pub(crate) fn image(data: &dyn DataSet, index: usize) -> Vec<f32> {
    let mut pixels = vec![f32::NAN; data.shape().values()];
    data.write_image(index, noise(), &mut pixels).unwrap();
    pixels
}

/// The pixels of one image as the bytes that they were stored as.
pub(crate) fn bytes(data: &dyn DataSet, index: usize) -> Vec<u8> {
    image(data, index).iter().map(|pixel| (pixel * 255.0).round() as u8).collect()
}

/// Image `i` of the Shapes3D and MPI3D fixtures.
pub(crate) fn pattern(i: usize) -> Vec<u8> {
    let pixel = |at: usize| (3 * i + 5 * (at / 192) + 7 * (at / 3 % 64) + 11 * (at % 3)) % 256;
    (0..64 * 64 * 3).map(|at| pixel(at) as u8).collect()
}

pub(crate) fn factors(data: &dyn DataSet, index: usize) -> Vec<u32> {
    let mut values = vec![0; data.factors().map_or(0, FactorSpace::len)];
    data.factors_of(index, &mut values);
    values
}

/// Names and sizes of all factors.
pub(crate) fn names_and_sizes(data: &dyn DataSet) -> Vec<(&str, usize)> {
    data.factors().unwrap().factors().iter().map(|factor| (factor.name.as_str(), factor.size)).collect()
}

/// One array of an archive that a test makes.
pub(crate) struct Array {
    pub(crate) name: &'static str,
    pub(crate) kind: char,
    pub(crate) bytes_per_element: usize,
    pub(crate) shape: Vec<usize>,
    pub(crate) data: Vec<u8>,
}

impl Array {
    pub(crate) fn bytes(name: &'static str, shape: &[usize], data: Vec<u8>) -> Self {
        Self { name, kind: 'u', bytes_per_element: 1, shape: shape.to_vec(), data }
    }

    pub(crate) fn integers(name: &'static str, shape: &[usize], values: &[i64]) -> Self {
        let data = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Self { name, kind: 'i', bytes_per_element: 8, shape: shape.to_vec(), data }
    }

    pub(crate) fn floats(name: &'static str, shape: &[usize], values: &[f64]) -> Self {
        let data = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Self { name, kind: 'f', bytes_per_element: 8, shape: shape.to_vec(), data }
    }
}

/// Writes an archive, valid as a zip whatever its arrays claim.
pub(crate) fn write_npz(path: &Path, arrays: &[Array]) {
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
