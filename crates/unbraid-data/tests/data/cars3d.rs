//! Cars3D, on two or three cars in the exact format. The files were written by `fixtures/make_cars3d.py`: MATLAB files
//! by SciPy's `savemat` (compressed in the directory, not in the archive), the expected pixels by Pillow.

use crate::support::{
    bytes, damage, factors, fixture, missing, names_and_sizes, open, open_path, refusal, written,
};
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::LazyLock;
use unbraid_data::{DataSet, DataSpec};

/// The cars of the list in the archive, as the script numbers them.
const LISTED: [usize; 3] = [2, 0, 1];

/// The shrunk top left corner of a view: see the script.
fn corner(elevation: usize, azimuth: usize, car: usize) -> [u8; 3] {
    [10 * azimuth + elevation, 40 * car + 3, 255 - azimuth].map(|value| value as u8)
}

fn check_all_views(data: &dyn DataSet, cars: &[usize]) {
    let n = cars.len();
    assert_eq!(data.len(), 4 * 24 * n);
    for elevation in 0..4 {
        for azimuth in 0..24 {
            for (object, &car) in cars.iter().enumerate() {
                let index = elevation * 24 * n + azimuth * n + object;
                let values = [elevation as u32, azimuth as u32, object as u32];
                assert_eq!(factors(data, index), values);
                assert_eq!(data.index_of(&values), Some(index));
                // Pixel (8, 8) depends on source pixels 11 to 22, all in the corner.
                let pixel = &bytes(data, index)[(8 * 64 + 8) * 3..][..3];
                assert_eq!(pixel, corner(elevation, azimuth, car), "image {index}");
            }
        }
    }
}

#[test]
fn a_directory_in_the_order_of_file_names() {
    let data = open_path("cars3d", fixture("cars3d")).unwrap();
    assert_eq!(names_and_sizes(data.as_ref()), [("elevation", 4), ("azimuth", 24), ("object", 2)]);
    assert_eq!(data.factors().unwrap().factors()[2].labels, ["car_002_mesh", "car_010_mesh"]);
    assert_eq!(data.shape().to_string(), "64 x 64 x 3");
    check_all_views(data.as_ref(), &[0, 1]);
}

#[test]
fn an_archive_in_the_order_of_its_list() {
    let data = open_path("cars3d", fixture("cars3d/analogy.tar.gz")).unwrap();
    let labels = ["car_007_mesh", "car_002_mesh", "car_010_mesh"];
    assert_eq!(data.factors().unwrap().factors()[2].labels, labels);
    check_all_views(data.as_ref(), &LISTED);
}

#[test]
fn pixels_are_shrunk_as_pillow_does() {
    let expected = image::open(fixture("cars3d/shrunk.png")).unwrap().into_rgb8().into_raw();
    let data = open_path("cars3d", fixture("cars3d/analogy.tar.gz")).unwrap();
    let views = [(0, 0, 0), (1, 5, 0), (3, 23, 1), (2, 12, 2)];
    for ((elevation, azimuth, car), expected) in views.into_iter().zip(expected.chunks_exact(64 * 64 * 3)) {
        let object = LISTED.iter().position(|&listed| listed == car).unwrap() as u32;
        let index = data.index_of(&[elevation, azimuth, object]).unwrap();
        assert_eq!(
            bytes(data.as_ref(), index),
            expected,
            "elevation {elevation}, azimuth {azimuth}, car {car}"
        );
    }
}

#[test]
fn a_directory_is_recognised_at_every_level() {
    for path in ["cars3d", "cars3d/cars"] {
        assert_eq!(open(&DataSpec::at(fixture(path))).unwrap().name(), "cars3d");
    }
}

fn directory_with(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, content) in files {
        fs::write(directory.path().join(name), content).unwrap();
    }
    directory
}

static CAR: LazyLock<Vec<u8>> = LazyLock::new(|| fs::read(fixture("cars3d/cars/car_002_mesh.mat")).unwrap());

#[test]
fn a_list_decides_which_cars_and_in_which_order() {
    let files: [(&str, &[u8]); 3] = [("b.mat", &CAR), ("a.mat", &CAR), ("list.txt", b"b\r\na.mat\n\n")];
    let data = open_path("cars3d", directory_with(&files).path()).unwrap();
    assert_eq!(data.factors().unwrap().factors()[2].labels, ["b", "a"]);
}

#[test]
fn a_list_that_does_not_fit_the_files() {
    for list in ["a\nb\n", "a\na\n"] {
        let directory = directory_with(&[("a.mat", &CAR), ("list.txt", list.as_bytes())]);
        let expected = format!(
            "cars: found {}.mat missing or listed twice, expected one file for each line of list.txt",
            &list[2..3]
        );
        assert_eq!(refusal("cars3d", directory.path()), expected);
    }
    let directory = directory_with(&[("a.mat", &CAR), ("list.txt", b"\n")]);
    let expected = "list.txt: found no names, expected one line per car";
    assert_eq!(refusal("cars3d", directory.path()), expected);
}

#[test]
fn a_path_that_is_missing_or_without_cars() {
    assert_eq!(refusal("cars3d", Path::new("/no/such/place")), missing());
    let expected =
        "directory: found no .mat file, expected car files (.mat) in it, in cars/ or in data/cars/";
    assert_eq!(refusal("cars3d", &fixture("smallnorb")), expected);
    let (_directory, path) = written("x.tar.gz", b"");
    assert_eq!(refusal("cars3d", &path), "file: found 0 bytes, expected data");
}

#[test]
fn damaged_archives() {
    let content = fs::read(fixture("cars3d/analogy.tar.gz")).unwrap();
    let (_directory, path) = written("x.tar.gz", &content[..content.len() / 2]);
    let expected = "archive: found an early end, expected a whole tar archive, gzip-compressed or not";
    assert_eq!(refusal("cars3d", &path), expected);
    let (_directory, path) = written("x.tar.gz", &b"garbage ".repeat(200));
    let expected = "archive: found damaged data, expected a whole tar archive, gzip-compressed or not";
    assert_eq!(damage("cars3d", &path), expected);
    let mut file = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    file.write_all(&[0; 1024]).unwrap();
    let (_directory, path) = written("x.tar.gz", &file.finish().unwrap());
    assert_eq!(refusal("cars3d", &path), "archive: found no cars/*.mat, expected one .mat file per car");
}

/// A name that does not fit the header of an entry has an entry of its own, whose length is anybody's word: a
/// gigabyte of zeros compresses to a megabyte.
#[test]
fn a_name_in_an_archive_is_not_read_into_memory_whatever_its_length() {
    for kind in [tar::EntryType::GNULongName, tar::EntryType::XHeader] {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_path("long").unwrap();
        header.set_size(1 << 20);
        header.set_cksum();
        let mut archive = tar::Builder::new(Vec::new());
        archive.append(&header, std::io::repeat(b'a').take(1 << 20)).unwrap();
        let (_directory, path) = written("nips2015-analogy-data.tar", &archive.into_inner().unwrap());
        let expected = "archive: found a name of 1.0 MiB, expected names of at most 64.0 KiB";
        assert_eq!(refusal("cars3d", &path), expected);
    }
}

/// As `tar` itself writes a path of more than 100 characters.
#[test]
fn long_names_are_read() {
    let files = ["car_002_mesh.mat", "car_010_mesh.mat"];
    let read = |name: &str| fs::read(fixture("cars3d/cars").join(name)).unwrap();
    let mut archive = tar::Builder::new(Vec::new());
    for name in files {
        let content = read(name);
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_cksum();
        let path = format!("{}/cars/{name}", "directory".repeat(12));
        archive.append_data(&mut header, path, content.as_slice()).unwrap();
    }
    let (_directory, path) = written("nips2015-analogy-data.tar", &archive.into_inner().unwrap());
    check_all_views(open_path("cars3d", path).unwrap().as_ref(), &[0, 1]);
}

#[test]
fn damaged_cars() {
    let mut flipped = CAR.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0x55;
    let small = fs::read(fixture("cars3d/small_bytes.mat")).unwrap();
    let cases: [(&[u8], &str); 6] = [
        (&[], "file: found 0 bytes, expected data"),
        (&CAR[..100], "file: found an early end, expected a whole MATLAB file of level 5"),
        (
            &CAR[..CAR.len() / 2],
            "array `im`: found an early end with 2490368 bytes to go, expected 4718592 bytes of values",
        ),
        (&[b'x'; 500], "file: found the byte order mark [120, 120], expected a whole MATLAB file of level 5"),
        (&flipped, "array `im`: found more data after the values, expected the end of the array"),
        (&small, "array `im`: found shape [4, 3, 2], expected shape [128, 128, 3, 24, 4]"),
    ];
    for (content, expected) in cases {
        let directory = directory_with(&[("car.mat", content)]);
        assert_eq!(refusal("cars3d", directory.path()), format!("car.mat: {expected}"));
    }
}
