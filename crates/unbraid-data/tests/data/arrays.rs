//! Generic archives: every layout and type, written by NumPy (`fixtures/make_arrays.py`), and invalid ones.

use crate::support::{Array, factors, fixture, image, open_path, refusal, write_npz};
use unbraid_data::registry::recognise;

/// The formula by which the script made the pixels.
fn pixel(i: usize, y: usize, x: usize, channel: usize) -> u8 {
    ((40 * i + 11 * y + 7 * x + 3 * channel) % 256) as u8
}

/// Compares all images of a fixture with the formula.
fn check(file: &str, channels: usize, value: impl Fn(u8) -> f32) {
    let data = open_path("npz", fixture(file)).unwrap();
    let shape = data.shape();
    assert_eq!((data.len(), shape.height, shape.width, shape.channels), (6, 4, 5, channels), "{file}");
    for i in 0..6 {
        for (position, found) in image(data.as_ref(), i).into_iter().enumerate() {
            let (y, x, channel) = (position / (5 * channels), position / channels % 5, position % channels);
            assert_eq!(found, value(pixel(i, y, x, channel)), "{file}: image {i} at {y} {x} {channel}");
        }
    }
}

#[test]
fn every_layout_and_type() {
    let byte = |byte: u8| f32::from(byte) / 255.0;
    check("arrays/nhwc_u8.npz", 3, byte);
    check("arrays/nchw_u8_stored.npz", 3, byte);
    check("arrays/nhw_f32.npz", 1, |value| (f64::from(value) / 255.0) as f32);
    check("arrays/nchw_f16_big_endian.npz", 1, |value| f32::from(value / 64) / 4.0);
    check("arrays/nhw_bool.npz", 1, |value| f32::from(value % 2));
    check("arrays/nhw_black_and_white.npz", 1, |value| f32::from(value % 2));
}

#[test]
fn factors_and_their_names() {
    let path = fixture("arrays/nhwc_u8.npz");
    assert_eq!(recognise(&path).unwrap().name, "npz");
    let data = open_path("npz", &path).unwrap();
    let names: Vec<_> = data.factors().unwrap().factors().iter().map(|f| (f.name.clone(), f.size)).collect();
    assert_eq!(names, [("size".to_owned(), 2), ("Färbung".to_owned(), 3)]);
    assert!(data.is_full_grid());
    assert_eq!(factors(data.as_ref(), 4), [1, 1]);
    // Whole floats are classes too; names are optional.
    let data = open_path("npz", fixture("arrays/nhw_f32.npz")).unwrap();
    assert_eq!(data.factors().unwrap().factors()[1].name, "factor 1");
    assert_eq!(factors(data.as_ref(), 5), [1, 2]);
}

#[test]
fn black_and_white_is_packed() {
    let data = open_path("npz", fixture("arrays/nhw_bool.npz")).unwrap();
    assert_eq!(data.memory(), 6 * 3, "20 pixels take 3 bytes");
}

fn refused(arrays: &[Array]) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bad.npz");
    write_npz(&path, arrays);
    refusal("npz", &path)
}

fn images(shape: &[usize]) -> Array {
    Array::bytes("images", shape, vec![7; shape.iter().product()])
}

#[test]
fn wrong_arrays_are_refused() {
    let cases = [
        (
            vec![Array::integers("factors", &[1, 1], &[0])],
            "archive: found only factors, expected an array `images`",
        ),
        (
            vec![images(&[2, 4])],
            "array `images`: found shape [2, 4], expected (n, height, width), or 1 or 3 channels in the last or the second axis",
        ),
        (
            vec![images(&[2, 4, 4, 2])],
            "array `images`: found shape [2, 4, 4, 2], expected (n, height, width), or 1 or 3 channels in the last or the second axis",
        ),
        (
            vec![images(&[0, 4, 4])],
            "array `images`: found shape [0, 4, 4], expected at least one image of at least one pixel",
        ),
        (
            vec![Array::integers("images", &[1, 1, 1], &[0])],
            "array `images`: found int64, expected uint8, bool or floats",
        ),
        (
            vec![Array::floats("images", &[1, 1, 2], &[0.5, 255.0])],
            "array `images`: found a value of 255, expected values in [0, 1]; divide by the maximum",
        ),
        (
            vec![Array::floats("images", &[1, 1, 1], &[f64::NAN])],
            "array `images`: found a value of NaN, expected values in [0, 1]; divide by the maximum",
        ),
        (
            vec![images(&[2, 1, 1]), Array::integers("factors", &[3, 1], &[0; 3])],
            "array `factors`: found 3 rows, expected 2, one per image",
        ),
        (
            vec![images(&[2, 1, 1]), Array::integers("factors", &[2], &[0; 2])],
            "array `factors`: found shape [2], expected 2 axes",
        ),
        (
            vec![images(&[1, 1, 1]), Array::integers("factors", &[1, 1], &[-3])],
            "array `factors`: found class -3 of `factor 0` for image 0, expected classes from 0 to 999999",
        ),
        (
            vec![images(&[1, 1, 1]), Array::integers("factors", &[1, 1], &[9_999_999])],
            "array `factors`: found class 9999999 of `factor 0` for image 0, expected classes from 0 to 999999",
        ),
        (
            vec![images(&[1, 1, 1]), Array::floats("factors", &[1, 1], &[0.5])],
            "array `factors`: found 0.5, expected whole numbers that fit 64 bits",
        ),
        (
            vec![
                images(&[1, 1, 1]),
                Array::integers("factors", &[1, 1], &[0]),
                Array::integers("factor_names", &[2], &[0, 0]),
            ],
            "array `factor_names`: found shape [2], expected shape [1]",
        ),
    ];
    for (arrays, expected) in cases {
        assert_eq!(refused(&arrays), expected);
    }
}
