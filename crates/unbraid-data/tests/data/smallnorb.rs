//! smallNORB, on ten images in the exact format. The files were written by `fixtures/make_smallnorb.py` (NumPy, gzip)
//! from the published description of NORB's matrices; the expected pixels are the output of Pillow.

use crate::support::{bytes, factors, fixture, missing, names_and_sizes, open, open_path, refusal};
use flate2::read::GzDecoder;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use tempfile::TempDir;
use unbraid_data::DataSpec;

const TRAINING: &str = "smallnorb-5x46789x9x18x6x2x96x96-training";
const TESTING: &str = "smallnorb-5x01235x9x18x6x2x96x96-testing";

fn inflated(name: &str) -> Vec<u8> {
    let mut content = Vec::new();
    let file = File::open(fixture(&format!("smallnorb/{name}.mat.gz"))).unwrap();
    GzDecoder::new(file).read_to_end(&mut content).unwrap();
    content
}

/// All six files, not compressed.
fn plain() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for part in [TRAINING, TESTING] {
        for kind in ["dat", "cat", "info"] {
            let name = format!("{part}-{kind}");
            fs::write(directory.path().join(format!("{name}.mat")), inflated(&name)).unwrap();
        }
    }
    directory
}

/// Changes one file of a fresh set, which must then be refused with this message after its name.
fn refused_with(name: &str, expected: &str, change: impl FnOnce(&mut Vec<u8>)) {
    let directory = plain();
    let path = directory.path().join(format!("{name}.mat"));
    let mut content = fs::read(&path).unwrap();
    change(&mut content);
    fs::write(&path, content).unwrap();
    assert_eq!(refusal("smallnorb", directory.path()), format!("{name}.mat: {expected}"));
}

#[test]
fn factors_of_both_parts_in_order() {
    let data = open_path("smallnorb", fixture("smallnorb")).unwrap();
    assert_eq!(data.len(), 10);
    assert_eq!(data.shape().to_string(), "64 x 64 x 1");
    let expected = [("category", 5), ("instance", 10), ("elevation", 9), ("azimuth", 18), ("lighting", 6)];
    assert_eq!(names_and_sizes(data.as_ref()), expected);
    assert_eq!(data.factors().unwrap().latent(), [0, 2, 3, 4]);
    assert_eq!(data.factors().unwrap().factors()[0].label(3), "truck");
    // Category i % 5, then the rows of INFO in the script, azimuths halved.
    assert_eq!(factors(data.as_ref(), 1), [1, 6, 8, 17, 5]);
    assert_eq!(factors(data.as_ref(), 5), [0, 4, 4, 10, 4]);
    assert_eq!(factors(data.as_ref(), 6), [1, 0, 5, 12, 5]);
    assert_eq!(factors(data.as_ref(), 9), [4, 5, 8, 16, 2]);
    assert!(!data.is_full_grid());
}

#[test]
fn pixels_are_the_first_camera_shrunk_as_pillow_does() {
    let expected = image::open(fixture("smallnorb/shrunk.png")).unwrap().into_luma8().into_raw();
    let data = open_path("smallnorb", fixture("smallnorb")).unwrap();
    for (i, expected) in expected.chunks_exact(64 * 64).enumerate() {
        assert_eq!(bytes(data.as_ref(), i), expected, "image {i}");
    }
}

#[test]
fn plain_and_compressed_files_are_the_same_data() {
    let directory = plain();
    let (plain, compressed) =
        (open(&DataSpec::at(directory.path())), open(&DataSpec::at(fixture("smallnorb"))));
    let (plain, compressed) = (plain.unwrap(), compressed.unwrap());
    assert_eq!((plain.name(), compressed.name()), ("smallnorb", "smallnorb"));
    for i in 0..10 {
        assert_eq!(bytes(plain.as_ref(), i), bytes(compressed.as_ref(), i));
        assert_eq!(factors(plain.as_ref(), i), factors(compressed.as_ref(), i));
    }
}

/// A second opening finds the shrunk images in the cache; they must be the same.
#[test]
fn cached_images_are_the_same() {
    let directory = plain();
    let first = open_path("smallnorb", directory.path()).unwrap();
    let second = open_path("smallnorb", directory.path()).unwrap();
    assert!((0..10).all(|i| bytes(first.as_ref(), i) == bytes(second.as_ref(), i)));
    assert_eq!(first.fingerprint().unwrap(), second.fingerprint().unwrap());
}

#[test]
fn a_path_that_is_missing_or_a_file_or_an_empty_directory() {
    assert_eq!(refusal("smallnorb", Path::new("/no/such/place")), missing());
    let expected = "path: found a file, expected the directory of the six smallNORB files";
    assert_eq!(refusal("smallnorb", &fixture("smallnorb/shrunk.png")), expected);
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(refusal("smallnorb", empty.path()), no_file(&format!("{TRAINING}-dat")));
}

fn no_file(name: &str) -> String {
    format!("directory: found neither {name}.mat nor {name}.mat.gz, expected one of them")
}

#[test]
fn one_file_of_six_is_missing() {
    let directory = plain();
    fs::remove_file(directory.path().join(format!("{TESTING}-info.mat"))).unwrap();
    assert_eq!(refusal("smallnorb", directory.path()), no_file(&format!("{TESTING}-info")));
}

#[test]
fn an_empty_file() {
    refused_with(&format!("{TRAINING}-cat"), "file: found 0 bytes, expected data", Vec::clear);
}

#[test]
fn truncated_files() {
    // Six images of two cameras; six categories; six rows of four integers.
    for (kind, bytes) in [("dat", 6 * 2 * 96 * 96), ("cat", 6 * 4), ("info", 6 * 4 * 4)] {
        let name = format!("{TRAINING}-{kind}");
        let found = format!("an early end within bytes 0 to {bytes}");
        let expected = format!("matrix: found {found}, expected {bytes} bytes of elements");
        refused_with(&name, &expected, |content| content.truncate(content.len() - 1));
        let expected = "header: found an early end, expected a whole NORB header";
        refused_with(&name, expected, |content| content.truncate(10));
    }
}

#[test]
fn a_truncated_compressed_file() {
    let directory = plain();
    let name = format!("{TRAINING}-dat.mat");
    let content = fs::read(fixture(&format!("smallnorb/{name}.gz"))).unwrap();
    fs::remove_file(directory.path().join(&name)).unwrap();
    let path = directory.path().join(format!("{name}.gz"));
    fs::write(&path, &content[..content.len() / 2]).unwrap();
    let expected = "matrix: found an early end within bytes 0 to 110592, expected 110592 bytes of elements";
    assert_eq!(refusal("smallnorb", directory.path()), format!("{name}.gz: {expected}"));
}

#[test]
fn garbage_and_a_wrong_magic_number() {
    let expected = "header: found the magic number 0x62726167, expected 0x1e3d4c55 (bytes), 0x1e3d4c54 (integers), \
                    0x1e3d4c51 or 0x1e3d4c53 (floats)";
    refused_with(&format!("{TRAINING}-dat"), expected, |content| *content = b"garbage, all of it".to_vec());
    let expected = "matrix: found 32-bit integers, expected unsigned bytes";
    refused_with(&format!("{TRAINING}-dat"), expected, |content| content[0] = 0x54);
    let expected = "matrix: found unsigned bytes, expected 32-bit integers";
    refused_with(&format!("{TRAINING}-info"), expected, |content| content[0] = 0x55);
}

#[test]
fn wrong_dimensions() {
    let expected = "matrix: found shape [6, 2, 96, 95], expected shape [n, 2, 96, 96]";
    refused_with(&format!("{TRAINING}-dat"), expected, |content| content[20] = 95);
    let expected = "matrix: found shape [6, 5], expected shape [n, 4]";
    refused_with(&format!("{TRAINING}-info"), expected, |content| content[12] = 5);
    let expected = "matrix: found shape [6, 1], expected shape [n]";
    refused_with(&format!("{TRAINING}-cat"), expected, |content| content[4] = 2);
}

#[test]
fn counts_that_disagree() {
    let expected = "matrix: found 5 rows, expected 4, one per image of the same part";
    refused_with(&format!("{TESTING}-cat"), expected, |content| {
        content[8] = 5;
        content.extend([0; 4]);
    });
}

/// Memory grows with the bytes that arrive: 2^31 - 1 images of 18 KB would be 39 TB.
#[test]
fn a_header_that_promises_terabytes() {
    let huge = |content: &mut Vec<u8>| content[8..12].copy_from_slice(&i32::MAX.to_le_bytes());
    let expected = "matrix: found 2147483647 rows, expected 6, one per image of the same part";
    refused_with(&format!("{TRAINING}-cat"), expected, huge);
    let directory = plain();
    for kind in ["dat", "cat", "info"] {
        let path = directory.path().join(format!("{TRAINING}-{kind}.mat"));
        let mut content = fs::read(&path).unwrap();
        huge(&mut content);
        fs::write(&path, content).unwrap();
    }
    let expected =
        "matrix: found an early end within bytes 0 to 65536, expected 8589934588 bytes of elements";
    assert_eq!(refusal("smallnorb", directory.path()), format!("{TRAINING}-cat.mat: {expected}"));
}

#[test]
fn factors_outside_the_grid() {
    // The header has 20 bytes; rows of four integers follow.
    let cases: [(&str, &str, usize, &[u8]); 6] = [
        ("cat", "category 5 for image 2, expected a class from 0 to 4", 28, &[5]),
        ("info", "instance 10 for image 0, expected a class from 0 to 9", 20, &[10]),
        ("info", "elevation -1 for image 0, expected a class from 0 to 8", 24, &[0xff; 4]),
        ("info", "azimuth 7 for image 1, expected an even number from 0 to 34", 44, &[7]),
        ("info", "azimuth 36 for image 1, expected an even number from 0 to 34", 44, &[36]),
        ("info", "lighting 6 for image 3, expected a class from 0 to 5", 80, &[6]),
    ];
    for (kind, expected, at, value) in cases {
        refused_with(&format!("{TESTING}-{kind}"), &format!("matrix: found {expected}"), |content| {
            content[at..at + value.len()].copy_from_slice(value);
        });
    }
}
