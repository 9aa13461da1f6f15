//! Conversion: written data is read back unchanged, and dSprites has the layout of the published file.

use crate::shared_data::shared;
use crate::support::{chain, factors, fixture, image, open_path, open_spec, test_name};
use std::fs::File;
use std::io::{self, Cursor, Seek, SeekFrom, Write};
use std::path::Path;
use unbraid_data::convert::{PixelType, write_npz};
use unbraid_data::formats::npz::Npz;
use unbraid_data::progress::Silent;
use unbraid_data::registry::recognise;
use unbraid_data::storage::{BitImages, ByteImages, Pixels};
use unbraid_data::{
    DataError, DataSet, Factor, FactorKind, FactorSpace, FactorTable, Fingerprint, ImageShape, StoredImages,
};

fn convert(data: &dyn DataSet, pixels: PixelType, path: &Path) {
    write_npz(data, pixels, 0, File::create(path).unwrap(), &Silent).unwrap();
}

fn assert_same(left: &dyn DataSet, right: &dyn DataSet) {
    assert_eq!((left.len(), left.shape()), (right.len(), right.shape()));
    for index in (0..left.len()).step_by((left.len() / 500).max(1)) {
        assert_eq!(image(left, index), image(right, index), "image {index}");
        assert_eq!(factors(left, index), factors(right, index), "factors of image {index}");
    }
}

#[test]
fn a_reduced_grid_comes_back() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("shapes.npz");
    let shapes = open_spec("shapes(orientations=5, positions=8)").unwrap();
    convert(shapes.as_ref(), PixelType::Bytes, &path);
    assert_eq!(recognise(&path).unwrap().name, "dsprites");
    let back = open_path("dsprites", &path).unwrap();
    assert!(back.is_full_grid());
    assert_same(shapes.as_ref(), back.as_ref());
}

#[test]
fn other_data_comes_back() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("digits.npz");
    let digits = open_path("mnist", fixture("mnist")).unwrap();
    convert(digits.as_ref(), PixelType::Bytes, &path);
    assert_eq!(recognise(&path).unwrap().name, "npz");
    let back = open_path("npz", &path).unwrap();
    assert_same(digits.as_ref(), back.as_ref());
    assert_eq!(back.factors().unwrap().factors()[0].name, "digit");
}

/// The layout follows from what a data set is, not from its name.
#[test]
fn only_binary_images_of_the_right_size_and_factors_are_written_like_dsprites() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("own.npz");
    let written = |side: usize, pixels: Pixels, factors: Vec<Factor>| {
        let rows = [0, 1].into_iter().flat_map(|class| vec![class; factors.len()]).collect();
        let table = FactorTable::from_rows(FactorSpace::new(factors), rows).unwrap();
        let recipe = Fingerprint::Recipe("own".to_owned());
        let own = StoredImages::new("shapes", ImageShape::new(side, side, 1), pixels, Some(table), recipe);
        convert(&own, PixelType::Bytes, &path);
        let name = recognise(&path).unwrap().name;
        assert_same(&own, open_path(name, &path).unwrap().as_ref());
        name
    };
    // Two values of each factor of dSprites.
    let factors = || {
        vec![
            Factor::labelled("shape", ["square", "ellipse"]),
            Factor::new("scale", 2),
            Factor::new("orientation", 2).of_kind(FactorKind::Angle),
            Factor::new("x", 2),
            Factor::new("y", 2),
        ]
    };
    let with = |position: usize, factor: Factor| {
        let mut factors = factors();
        factors[position] = factor;
        factors
    };
    let grey = |side: usize| Pixels::Bytes(ByteImages::in_memory(side * side, vec![51; 2 * side * side]));
    let binary = |side: usize| {
        let mut images = BitImages::new(side * side);
        images.push(&vec![0; side * side]).unwrap();
        images.push(&vec![1; side * side]).unwrap();
        Pixels::Bits(images)
    };
    assert_eq!(written(64, binary(64), factors()), "dsprites");
    assert_eq!(written(64, grey(64), factors()), "npz");
    assert_eq!(written(8, binary(8), factors()), "npz");
    assert_eq!(written(64, binary(64), vec![Factor::new("scale", 2)]), "npz");
    assert_eq!(written(64, binary(64), with(1, Factor::new("colour", 2))), "npz");
    // The file says neither kinds nor labels.
    assert_eq!(written(64, binary(64), with(1, Factor::new("scale", 2).of_kind(FactorKind::Angle))), "npz");
    assert_eq!(written(64, binary(64), with(0, Factor::labelled("shape", ["cat", "dog"]))), "npz");
    // Its classes may be the first of those that dSprites has, but no others.
    assert_eq!(written(64, binary(64), with(1, Factor::new("scale", 7))), "npz");
}

#[test]
fn points_need_floats() {
    let pinwheel = open_spec("pinwheel").unwrap();
    let error =
        write_npz(pinwheel.as_ref(), PixelType::Bytes, 0, Cursor::new(Vec::new()), &Silent).unwrap_err();
    let coordinates = (0..pinwheel.len()).flat_map(|index| image(pinwheel.as_ref(), index));
    let outside = coordinates.into_iter().find(|value| !(0.0..=1.0).contains(value)).unwrap();
    let expected = format!(
        "pixels of data set `pinwheel`: found {outside}, expected values in [0, 1] for byte pixels; write floats instead"
    );
    assert_eq!(chain(&error), expected);
    write_npz(pinwheel.as_ref(), PixelType::Floats, 0, Cursor::new(Vec::new()), &Silent).unwrap();
}

/// A disk that is full.
#[derive(Debug)]
struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::Error::other("no space"))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Full {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Ok(0)
    }
}

#[test]
fn a_writer_that_fails_is_an_error_of_its_own() {
    let error =
        write_npz(open_spec("pinwheel").unwrap().as_ref(), PixelType::Floats, 0, Full, &Silent).unwrap_err();
    assert!(matches!(error, DataError::Write { .. }));
    assert_eq!(chain(&error), "cannot write the converted data set: no space");
}

/// The arrays of the complete file, byte for byte (images apart, which are compared elsewhere).
#[test]
fn classes_and_values_are_those_of_the_published_file() {
    let Some([original]) = shared(test_name!(), ["data/dsprites/dsprites_reconstructed.npz"]) else { return };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("shapes.npz");
    convert(open_spec("shapes").unwrap().as_ref(), PixelType::Bytes, &path);
    let (mut left, mut right) = (Npz::open(&original).unwrap(), Npz::open(&path).unwrap());
    assert_eq!(left.array("imgs").unwrap().header(), right.array("imgs").unwrap().header());
    for array in ["latents_classes", "latents_values"] {
        assert_eq!(left.array(array).unwrap().header(), right.array(array).unwrap().header());
        let expected = left.array(array).unwrap().floats().unwrap();
        let found = right.array(array).unwrap().floats().unwrap();
        let furthest = expected.iter().zip(&found).map(|(l, r)| (l - r).abs()).fold(0.0, f64::max);
        // NumPy's linspace adds and multiplies in another order: the last bit may differ.
        assert!(furthest < 1e-15 * 8.0, "{array}: {furthest}");
    }
}
