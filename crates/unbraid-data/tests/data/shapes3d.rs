//! Shapes3D, on six images in every layout in the wild. The files were written by `fixtures/make_shapes3d.py` (h5py):
//! contiguous, chunked and compressed, shuffled, growing, each as the oldest and the newest version of the format.

use crate::support::{
    bytes, damage, factors, fixture, missing, names_and_sizes, open, open_path, pattern, refusal, refused,
    written,
};
use std::fs;
use std::path::Path;
use unbraid_data::{DataError, DataSpec};

const LAYOUTS: [&str; 5] = ["contiguous", "image_chunks", "automatic_chunks", "odd_chunks", "growing"];

#[test]
fn every_layout_gives_the_same_images_and_factors() {
    for version in ["earliest", "latest"] {
        for layout in LAYOUTS {
            let path = fixture(&format!("shapes3d/{version}_{layout}.h5"));
            let data = open(&DataSpec::at(&path)).unwrap();
            assert_eq!((data.name(), data.len()), ("shapes3d", 6));
            assert_eq!(data.shape().to_string(), "64 x 64 x 3");
            let sizes = [2, 1, 1, 1, 1, 3];
            let names = ["floor hue", "wall hue", "object hue", "scale", "shape", "orientation"];
            assert_eq!(names_and_sizes(data.as_ref()), names.into_iter().zip(sizes).collect::<Vec<_>>());
            assert_eq!(data.factors().unwrap().factors()[5].labels, ["-30.00", "0.00", "30.00"]);
            for i in 0..6 {
                assert_eq!(bytes(data.as_ref(), i), pattern(i), "image {i} of {}", path.display());
                let values = [i as u32 / 3, 0, 0, 0, 0, i as u32 % 3];
                assert_eq!(factors(data.as_ref(), i), values);
                assert_eq!(data.index_of(&values), Some(i));
            }
        }
    }
}

#[test]
fn parts_that_were_never_written_are_zero() {
    for version in ["earliest", "latest"] {
        let data = open_path("shapes3d", fixture(&format!("shapes3d/{version}_sparse.h5"))).unwrap();
        for i in 0..6 {
            let expected = if (2..4).contains(&i) { vec![0; 64 * 64 * 3] } else { pattern(i) };
            assert_eq!(bytes(data.as_ref(), i), expected, "image {i}, {version}");
        }
    }
}

#[test]
fn a_path_that_is_missing_or_a_directory() {
    assert_eq!(refusal("shapes3d", Path::new("/no/such/file.h5")), missing());
    assert_eq!(refusal("shapes3d", &fixture("shapes3d")), "path: found a directory, expected a file");
}

#[test]
fn empty_garbage_and_truncated_files() {
    let (_directory, path) = written("x.h5", b"");
    assert_eq!(refusal("shapes3d", &path), "file: found 0 bytes, expected data");
    for content in [&b"garbage ".repeat(100)[..], b"\x89HDF\r\n\x1a\n", b"\x89HDF\r\n\x1a\n\x02\x08\x08"] {
        let (_directory, path) = written("x.h5", content);
        let expected = "file: found damaged or unknown data, expected an HDF5 file";
        assert_eq!(damage("shapes3d", &path), expected);
    }
    for layout in LAYOUTS {
        let content = fs::read(fixture(&format!("shapes3d/earliest_{layout}.h5"))).unwrap();
        for length in [content.len() / 2, content.len() * 9 / 10] {
            let (_directory, path) = written("x.h5", &content[..length]);
            // What is missing depends on the layout, and so does the message.
            assert!(matches!(refused("shapes3d", &path), DataError::Content { .. }), "{layout}, {length}");
        }
    }
}

/// Fletcher's checksum and zlib's see every changed byte of a chunk.
#[test]
fn a_flipped_byte_in_a_chunk() {
    let mut content = fs::read(fixture("shapes3d/earliest_odd_chunks.h5")).unwrap();
    // The labels are at the end of the file, the descriptions at its start.
    let middle = content.len() / 2;
    content[middle] ^= 0x55;
    let (_directory, path) = written("x.h5", &content);
    let expected = "array `images`: found damaged data in rows 0 to 4, expected readable elements";
    assert_eq!(damage("shapes3d", &path), expected);
}

#[test]
fn arrays_that_do_not_fit() {
    let other = "elements that are neither uint8 nor float64";
    let cases = [
        ("type", format!("array `images`: found {other}, expected uint8")),
        ("label_type", format!("array `labels`: found {other}, expected float64")),
        ("shape", "array `images`: found shape [6, 64, 64, 1], expected shape [n, 64, 64, 3]".into()),
        ("count", "array `labels`: found 5 rows, expected 6, one per image".into()),
        ("nan", "array `labels`: found scale NaN for image 4, expected a finite number".into()),
        (
            "grid",
            "array `labels`: found more than 4 values of shape, the last 4 for image 4, expected at most 4"
                .into(),
        ),
    ];
    for (name, expected) in cases {
        assert_eq!(refusal("shapes3d", &fixture(&format!("shapes3d/bad_{name}.h5"))), expected);
    }
    let expected = "array `labels`: found a missing or damaged array, expected a readable array";
    assert_eq!(damage("shapes3d", &fixture("shapes3d/bad_no_labels.h5")), expected);
}

/// No chunk was ever written, so every pixel would be a fill value: 5.9 GB out of 1.6 KB.
#[test]
fn a_description_that_promises_gigabytes() {
    let expected =
        "array `images`: found shape [480000, 64, 64, 3], expected an array that fits a file of 1672 bytes";
    assert_eq!(refusal("shapes3d", &fixture("shapes3d/bad_promise.h5")), expected);
}
