//! MPI3D, on six images in the exact format. The files were written by `fixtures/make_mpi3d.py`: NumPy's `savez` and
//! `savez_compressed`; those that promise more than they hold by Python's `zipfile` around a header of NumPy's.

use crate::support::{bytes, factors, fixture, names_and_sizes, open, open_path, pattern, refused, written};
use std::fs;
use std::path::Path;
use unbraid_data::{DataSpec, registry};

const GRID: &str = "1x2x1x1x1x1x3";

fn spec(file: &str) -> DataSpec {
    DataSpec::named("mpi3d").with_path(fixture(&format!("mpi3d/{file}.npz")))
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
    let name =
        |file: &str| registry::recognise(&fixture(&format!("mpi3d/{file}.npz"))).map(|entry| entry.name);
    assert_eq!(name("promise_stored").unwrap(), "mpi3d");
    assert_eq!(name("promise_deflated").unwrap(), "mpi3d");
    for file in ["stored", "deflated", "generic", "bad_axes", "bad_type", "bad_name"] {
        assert_ne!(name(file).ok(), Some("mpi3d"), "{file}");
    }
}

#[test]
fn sizes_that_make_no_sense() {
    for sizes in ["1x2x3", "1x2x1x1x1x1x0", "axb", "1x2x1x1x1x1x3x1", "9999999999999x9999999999x1x1x1x1x1"] {
        let message = open(&spec("stored").with("sizes", sizes)).unwrap_err().to_string();
        assert!(message.contains("option `sizes`") && message.contains("seven numbers"), "{message}");
    }
    let message = open(&spec("stored").with("sizes", "1x2x1x1x1x1x4")).unwrap_err().to_string();
    assert!(message.contains("[6, 64, 64, 3]") && message.contains("[8, 64, 64, 3]"), "{message}");
}

#[test]
fn arrays_that_do_not_fit() {
    let cases: [(&str, &[&str]); 6] = [
        ("stored", &["6 images", "1036800", "460800", "`sizes`"]),
        ("bad_type", &["float32", "uint8"]),
        ("bad_axes", &["shape [64, 64, 3]", "4 axes"]),
        ("bad_size", &["6 images"]),
        ("bad_order", &["Fortran order", "C order"]),
        ("bad_name", &["only the arrays pictures", "an array `images`"]),
    ];
    for (file, parts) in cases {
        refused("mpi3d", &fixture(&format!("mpi3d/{file}.npz")), parts);
    }
    let message = open(&spec("bad_size").with("sizes", GRID)).unwrap_err().to_string();
    assert!(message.contains("[6, 32, 64, 3]") && message.contains("[6, 64, 64, 3]"), "{message}");
}

#[test]
fn headers_that_promise_gigabytes() {
    refused("mpi3d", &fixture("mpi3d/promise_stored.npz"), &["bytes", "at least 12740"]);
    refused(
        "mpi3d",
        &fixture("mpi3d/promise_deflated.npz"),
        &["array `images`", "an end after", "5662310400"],
    );
}

#[test]
fn missing_empty_garbage_and_truncated_files() {
    refused("mpi3d", Path::new("/no/such/file.npz"), &["cannot open"]);
    refused("mpi3d", &fixture("mpi3d"), &["a directory", "a file"]);
    let (_directory, path) = written("x.npz", b"");
    refused("mpi3d", &path, &["0 bytes"]);
    let (_directory, path) = written("x.npz", &b"garbage ".repeat(20));
    refused("mpi3d", &path, &["a whole .npz (zip) archive"]);
    for file in ["stored", "deflated"] {
        let content = fs::read(fixture(&format!("mpi3d/{file}.npz"))).unwrap();
        let (_directory, path) = written("x.npz", &content[..content.len() / 2]);
        refused("mpi3d", &path, &["a whole .npz (zip) archive"]);
    }
}

#[test]
fn a_split_leaves_the_grid() {
    let train = open(&spec("stored").with("sizes", GRID).with("split", "train").with("train_fraction", 0.5));
    assert_eq!(train.unwrap().len(), 3);
    assert!(open_path("mpi3d", fixture("mpi3d/stored.npz")).is_err());
}
