//! MNIST and FashionMNIST: the real files, resizing compared with Pillow, and damaged files.

use crate::shared_data::shared;
use crate::support::{damage, factors, fixture, image, open_path, open_spec, refusal, test_name};
use std::fs;
use std::path::Path;
use unbraid_data::registry::recognise;

#[test]
fn the_complete_files() {
    for (name, directory) in [("mnist", "data/mnist"), ("fashion-mnist", "data/fashion_mnist")] {
        let Some([path]) = shared(test_name!(), [directory]) else { return };
        assert_eq!(recognise(&path).unwrap().name, name);
        let train = open_path(name, &path).unwrap();
        let test = open_spec(&format!("{name}(path={}, split=test)", path.display())).unwrap();
        assert_eq!((train.len(), test.len()), (60_000, 10_000));
        assert_eq!((train.shape().height, train.shape().width), (32, 32));
        let factor = &train.factors().unwrap().factors()[0];
        assert_eq!(factor.size, 10);
    }
}

/// The first ten labels of both files as their authors publish them.
#[test]
fn the_first_labels() {
    for (name, directory, expected) in [
        ("mnist", "data/mnist", [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]),
        ("fashion-mnist", "data/fashion_mnist", [9, 0, 0, 3, 0, 2, 7, 2, 5, 5]),
    ] {
        let Some([path]) = shared(test_name!(), [directory]) else { return };
        let data = open_path(name, &path).unwrap();
        let found: Vec<u32> = (0..10).map(|i| factors(data.as_ref(), i)[0]).collect();
        assert_eq!(found, expected);
    }
}

/// The fixture was written by Python's gzip and struct modules; the resized images by Pillow (`make_arrays.py`).
#[test]
fn resizing_agrees_with_pillow() {
    let data = open_path("mnist", fixture("mnist")).unwrap();
    let expected = fs::read(fixture("mnist/pillow_bilinear_32x32.bin")).unwrap();
    for (index, expected) in expected.chunks(32 * 32).enumerate() {
        for (found, &expected) in image(data.as_ref(), index).iter().zip(expected) {
            // Pillow rounds after each of its two passes, we round once: at most one grey level.
            assert!((found * 255.0 - f32::from(expected)).abs() <= 1.01, "{found} {expected}");
        }
    }
    assert_eq!((factors(data.as_ref(), 0), factors(data.as_ref(), 1)), (vec![0], vec![7]));
}

#[test]
fn padding_keeps_the_pixels() {
    let path = fixture("mnist");
    let plain = open_spec(&format!("mnist(path={}, fit=none)", path.display())).unwrap();
    let padded = open_spec(&format!("mnist(path={}, fit=pad)", path.display())).unwrap();
    assert_eq!((plain.shape().height, padded.shape().height), (28, 32));
    let (plain, padded) = (image(plain.as_ref(), 1), image(padded.as_ref(), 1));
    for row in 0..32 {
        for column in 0..32 {
            let inside = (2..30).contains(&row) && (2..30).contains(&column);
            let expected = if inside { plain[(row - 2) * 28 + column - 2] } else { 0.0 };
            assert_eq!(padded[row * 32 + column], expected);
        }
    }
}

/// A directory of small files.
fn directory_with(images: &[u8], labels: &[u8]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("train-images-idx3-ubyte"), images).unwrap();
    fs::write(directory.path().join("train-labels-idx1-ubyte"), labels).unwrap();
    directory
}

const IMAGES: [u8; 24] = [0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2, 1, 2, 3, 4, 5, 6, 7, 8];
const LABELS: [u8; 10] = [0, 0, 8, 1, 0, 0, 0, 2, 3, 9];

fn refused(images: &[u8], labels: &[u8]) -> String {
    let directory = directory_with(images, labels);
    refusal("mnist", directory.path())
}

#[test]
fn small_files_themselves_are_fine() {
    let directory = directory_with(&IMAGES, &LABELS);
    assert_eq!(open_path("mnist", directory.path()).unwrap().len(), 2);
}

#[test]
fn bad_files_are_refused() {
    let changed = |position: usize, value: u8| {
        let mut images = IMAGES;
        images[position] = value;
        images
    };
    let mut four_gigabytes = IMAGES;
    four_gigabytes[4..16].copy_from_slice(&[0, 0, 255, 255, 0, 0, 1, 0, 0, 0, 1, 0]);
    let cases: [(&[u8], &str); 7] = [
        (&[], "file: found 0 bytes, expected data"),
        (
            b"garbage garbage garbage",
            "header: found bytes [67, 61, 72], expected [00, 00, 08] (an idx array of bytes)",
        ),
        (&IMAGES[..10], "header: found an early end, expected the lengths of 3 axes"),
        (&IMAGES[..20], "data: found 4 bytes, expected 8 bytes for shape [2, 2, 2]"),
        (&changed(3, 2), "header: found 2 axes, expected 3 axes"),
        (
            &changed(2, 0x0d),
            "header: found bytes [00, 00, 0d], expected [00, 00, 08] (an idx array of bytes)",
        ),
        (&four_gigabytes, "data: found 8 bytes, expected 4294901760 bytes for shape [65535, 256, 256]"),
    ];
    for (images, expected) in cases {
        assert_eq!(refused(images, &LABELS), format!("train-images-idx3-ubyte: {expected}"));
    }
    let cases: [(&[u8], &str); 3] = [
        (&LABELS[..9], "data: found 1 bytes, expected 2 bytes for shape [2]"),
        (&[0, 0, 8, 1, 0, 0, 0, 3, 3, 9, 1], "data: found 3 labels, expected 2, one per image"),
        (&[0, 0, 8, 1, 0, 0, 0, 2, 3, 11], "data: found label 11, expected labels from 0 to 9"),
    ];
    for (labels, expected) in cases {
        assert_eq!(refused(&IMAGES, labels), format!("train-labels-idx1-ubyte: {expected}"));
    }
    let gzip_header = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 1, 2];
    let expected = "train-images-idx3-ubyte: header: found an early end, expected an idx header";
    assert_eq!(refused(&[&gzip_header[..], &[3, 4]].concat(), &LABELS), expected);
    // A block of type 3, which deflate does not have.
    let directory = directory_with(&[&gzip_header[..], &[0xff; 9]].concat(), &LABELS);
    let expected = "train-images-idx3-ubyte: header: found damaged data, expected an idx header";
    assert_eq!(damage("mnist", directory.path()), expected);
}

#[test]
fn missing_files_are_named() {
    let empty = tempfile::tempdir().unwrap();
    for (path, found) in [(empty.path(), "file"), (Path::new("no/such/place"), "directory")] {
        let expected = "train-images-idx3-ubyte, with or without .gz";
        assert_eq!(refusal("mnist", path), format!("directory: found no such {found}, expected {expected}"));
    }
}
