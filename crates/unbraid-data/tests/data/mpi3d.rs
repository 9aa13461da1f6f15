//! MPI3D, on six images in the exact format. The files were written by `fixtures/make_mpi3d.py`: NumPy's `savez` and
//! `savez_compressed`, and for headers that claim more than the file holds, Python's `zipfile`.

use crate::support::{
    after_path, bytes, chain, damage, factors, fixture, missing, names_and_sizes, open, pattern, refusal,
    written,
};
use std::fs;
use std::path::{Path, PathBuf};
use unbraid_data::{DataSpec, registry};

const GRID: &str = "1x2x1x1x1x1x3";

fn file(name: &str) -> PathBuf {
    fixture(&format!("mpi3d/{name}.npz"))
}

fn spec(name: &str) -> DataSpec {
    DataSpec::named("mpi3d").with_path(file(name))
}

#[test]
fn stored_and_deflated_arrays_give_the_same_images() {
    for file in ["stored", "deflated"] {
        let data = open(&spec(file).with("sizes", GRID)).unwrap();
        assert_eq!(data.shape().to_string(), "64 x 64 x 3");
        let names = [
            "object colour",
            "object shape",
            "object size",
            "camera height",
            "background colour",
            "horizontal axis",
            "vertical axis",
        ];
        let expected: Vec<(&str, usize)> = names.into_iter().zip([1, 2, 1, 1, 1, 1, 3]).collect();
        assert_eq!(names_and_sizes(data.as_ref()), expected);
        for i in 0..6 {
            assert_eq!(bytes(data.as_ref(), i), pattern(i), "image {i}, {file}");
            assert_eq!(factors(data.as_ref(), i), [0, i as u32 / 3, 0, 0, 0, 0, i as u32 % 3]);
        }
    }
}

/// 12.7 GB would not fit memory.
#[test]
fn a_stored_array_stays_in_its_file() {
    assert_eq!(open(&spec("stored").with("sizes", GRID)).unwrap().memory(), 0);
    assert!(open(&spec("deflated").with("sizes", GRID)).unwrap().memory() >= 6 * 64 * 64 * 3);
}

#[test]
fn only_the_published_numbers_of_images_are_recognised() {
    let name = |name: &str| registry::recognise(&file(name)).map(|entry| entry.name);
    assert_eq!(name("promise_stored").unwrap(), "mpi3d");
    assert_eq!(name("promise_deflated").unwrap(), "mpi3d");
    for file in ["stored", "deflated", "generic", "bad_axes", "bad_type", "bad_name"] {
        assert_ne!(name(file).ok(), Some("mpi3d"), "{file}");
    }
}

#[test]
fn invalid_sizes() {
    for sizes in ["1x2x3", "1x2x1x1x1x1x0", "axb", "1x2x1x1x1x1x3x1", "9999999999999x9999999999x1x1x1x1x1"] {
        let error = open(&spec("stored").with("sizes", sizes)).unwrap_err();
        let expected = "seven numbers of at least 1, such as 4x4x2x3x3x40x40";
        let subject = "option `sizes` of data set `mpi3d`";
        assert_eq!(chain(&error), format!("{subject}: found \"{sizes}\", expected {expected}"));
    }
    let error = open(&spec("stored").with("sizes", "1x2x1x1x1x1x4")).unwrap_err();
    assert_eq!(
        after_path(&chain(&error), &file("stored")),
        "array `images`: found shape [6, 64, 64, 3], expected shape [8, 64, 64, 3]"
    );
}

#[test]
fn arrays_that_do_not_fit() {
    let count = "found 6 images, expected 1036800, or 460800 (complex); set `sizes` for other grids";
    let cases = [
        ("stored", count),
        ("bad_type", "found float32, expected uint8"),
        ("bad_axes", "found shape [64, 64, 3], expected 4 axes"),
        ("bad_size", count),
        ("bad_order", "found Fortran order, expected C order; save it with numpy.ascontiguousarray"),
    ];
    for (name, expected) in cases {
        assert_eq!(refusal("mpi3d", &file(name)), format!("array `images`: {expected}"));
    }
    let expected = "archive: found only pictures, expected an array `images`";
    assert_eq!(refusal("mpi3d", &file("bad_name")), expected);
    let error = open(&spec("bad_size").with("sizes", GRID)).unwrap_err();
    assert_eq!(
        after_path(&chain(&error), &file("bad_size")),
        "array `images`: found shape [6, 32, 64, 3], expected shape [6, 64, 64, 3]"
    );
}

#[test]
fn headers_that_promise_gigabytes() {
    let bytes = fs::metadata(file("promise_stored")).unwrap().len();
    // A zip header of 30 bytes, the name `images.npy`, and a NumPy header of 128 bytes come before the pixels.
    let least = 30 + 10 + 128 + 1_036_800 * 64 * 64 * 3_u64;
    let expected = format!("file: found {bytes} bytes, expected at least {least} bytes");
    assert_eq!(refusal("mpi3d", &file("promise_stored")), expected);
    let expected = "array `images`: found an early end before byte 1048576, expected 5662310400 bytes";
    assert_eq!(refusal("mpi3d", &file("promise_deflated")), expected);
}

#[test]
fn missing_empty_garbage_and_truncated_files() {
    assert_eq!(refusal("mpi3d", Path::new("/no/such/file.npz")), missing());
    assert_eq!(refusal("mpi3d", &fixture("mpi3d")), "path: found a directory, expected a file");
    let (_directory, path) = written("x.npz", b"");
    assert_eq!(refusal("mpi3d", &path), "file: found 0 bytes, expected data");
    let no_archive = "file: found damaged or unknown data, expected a whole .npz (zip) archive";
    let (_directory, path) = written("x.npz", &b"garbage ".repeat(20));
    assert_eq!(damage("mpi3d", &path), no_archive);
    for name in ["stored", "deflated"] {
        let content = fs::read(file(name)).unwrap();
        let (_directory, path) = written("x.npz", &content[..content.len() / 2]);
        assert_eq!(damage("mpi3d", &path), no_archive);
    }
}

#[test]
fn a_split_leaves_the_grid() {
    let train = open(&spec("stored").with("sizes", GRID).with("split", "train").with("train_fraction", 0.5));
    assert_eq!(train.unwrap().len(), 3);
}
