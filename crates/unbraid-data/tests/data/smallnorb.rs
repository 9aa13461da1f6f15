//! smallNORB, on ten images in the exact format. The files were written by `fixtures/make_smallnorb.py` (NumPy, gzip)
//! from the published description of NORB's matrices; the expected pixels are the output of Pillow.

use crate::support::{bytes, factors, fixture, names_and_sizes, open, open_path, refused, refused_for};
use flate2::read::GzDecoder;
use proptest::prelude::*;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use unbraid_data::DataSpec;
use unbraid_data::formats::norb::Matrix;

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

/// Changes one file of a fresh set; gives the directory and the file.
fn changed(name: &str, change: impl FnOnce(&mut Vec<u8>)) -> (TempDir, PathBuf) {
    let directory = plain();
    let path = directory.path().join(format!("{name}.mat"));
    let mut content = fs::read(&path).unwrap();
    change(&mut content);
    fs::write(&path, content).unwrap();
    (directory, path)
}

fn refused_with(name: &str, parts: &[&str], change: impl FnOnce(&mut Vec<u8>)) {
    let (directory, path) = changed(name, change);
    refused_for("smallnorb", directory.path(), &path, parts);
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
    refused("smallnorb", Path::new("/no/such/place"), &["cannot open"]);
    refused("smallnorb", &fixture("smallnorb/shrunk.png"), &["found a file", "six files"]);
    let empty = tempfile::tempdir().unwrap();
    refused("smallnorb", empty.path(), &["training-dat.mat.gz", "one of them"]);
}

#[test]
fn one_file_of_six_is_missing() {
    let directory = plain();
    fs::remove_file(directory.path().join(format!("{TESTING}-info.mat"))).unwrap();
    refused("smallnorb", directory.path(), &["testing-info.mat"]);
}

#[test]
fn an_empty_file() {
    refused_with(&format!("{TRAINING}-cat"), &["0 bytes"], Vec::clear);
}

#[test]
fn truncated_files() {
    for kind in ["dat", "cat", "info"] {
        refused_with(&format!("{TRAINING}-{kind}"), &["an early end"], |content| {
            content.truncate(content.len() - 1);
        });
        refused_with(&format!("{TRAINING}-{kind}"), &["an early end", "a whole NORB header"], |content| {
            content.truncate(10);
        });
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
    refused_for("smallnorb", directory.path(), &path, &["expected 110592 bytes"]);
}

#[test]
fn garbage_and_a_wrong_magic_number() {
    refused_with(&format!("{TRAINING}-dat"), &["magic number 0x62726167"], |content| {
        *content = b"garbage, all of it".to_vec();
    });
    refused_with(&format!("{TRAINING}-dat"), &["32-bit integers", "unsigned bytes"], |content| {
        content[0] = 0x54;
    });
    refused_with(&format!("{TRAINING}-info"), &["unsigned bytes", "32-bit integers"], |content| {
        content[0] = 0x55;
    });
}

#[test]
fn wrong_dimensions() {
    refused_with(&format!("{TRAINING}-dat"), &["[6, 2, 96, 95]", "[n, 2, 96, 96]"], |content| {
        content[20] = 95;
    });
    refused_with(&format!("{TRAINING}-info"), &["[6, 5]", "[n, 4]"], |content| content[12] = 5);
    refused_with(&format!("{TRAINING}-cat"), &["[6, 1]", "[n]"], |content| content[4] = 2);
}

#[test]
fn counts_that_disagree() {
    refused_with(&format!("{TESTING}-cat"), &["5 rows", "4, one for each image"], |content| {
        content[8] = 5;
        content.extend([0; 4]);
    });
}

/// Memory grows with the bytes that arrive: 2^31 - 1 images of 18 KB would be 39 TB.
#[test]
fn a_header_that_promises_terabytes() {
    let huge = |content: &mut Vec<u8>| content[8..12].copy_from_slice(&i32::MAX.to_le_bytes());
    refused_with(&format!("{TRAINING}-cat"), &["2147483647 rows"], huge);
    let directory = plain();
    for kind in ["dat", "cat", "info"] {
        let path = directory.path().join(format!("{TRAINING}-{kind}.mat"));
        let mut content = fs::read(&path).unwrap();
        huge(&mut content);
        fs::write(&path, content).unwrap();
    }
    refused("smallnorb", directory.path(), &["an early end", "8589934588 bytes"]);
}

#[test]
fn factors_outside_the_grid() {
    let info = format!("{TESTING}-info");
    // The header has 20 bytes; rows of four integers follow.
    refused_with(&format!("{TESTING}-cat"), &["category 5 for image 2", "0 to 4"], |content| content[28] = 5);
    refused_with(&info, &["instance 10 for image 0", "0 to 9"], |content| content[20] = 10);
    refused_with(&info, &["elevation -1 for image 0", "0 to 8"], |content| content[24..28].fill(0xff));
    refused_with(&info, &["azimuth 7 for image 1", "an even number"], |content| content[44] = 7);
    refused_with(&info, &["azimuth 36 for image 1", "0 to 34"], |content| content[44] = 36);
    refused_with(&info, &["lighting 6 for image 3", "0 to 5"], |content| content[80] = 6);
}

proptest! {
    #[test]
    fn mutated_files_never_panic(at in 0_usize..97, byte: u8, length in 0_usize..117) {
        let mut content = inflated(&format!("{TRAINING}-info"));
        content[at] = byte;
        content.truncate(length);
        let matrix = Matrix::read(Path::new("x.mat"), Box::new(std::io::Cursor::new(content)));
        if let Ok(matrix) = matrix {
            let _ = matrix.stream(1 << 16, |_| Ok(()));
        }
    }
}
