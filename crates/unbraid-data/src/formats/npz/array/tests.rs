use super::*;
use crate::formats::npy::ElementType;
use crate::formats::npz::Npz;
use std::fs::File;

/// Four megabytes that claim to be a thousand times as much.
#[test]
fn an_array_that_becomes_far_more_than_it_is_is_refused_before_it_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bomb.npz");
    let mut zip = zip::ZipWriter::new(File::create(&path).unwrap());
    let options = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated)
        .large_file(true);
    zip.start_file("codes.npy", options).unwrap();
    let header =
        Header { element: ElementType::little('f', 4), fortran_order: false, shape: vec![200 << 20, 1] };
    header.write(&mut zip).unwrap();
    io::Write::write_all(&mut zip, &[0; 4096]).unwrap();
    zip.finish().unwrap();
    let mut npz = Npz::open(&path).unwrap();
    let array = npz.array("codes").unwrap();
    let compressed = array.place.compressed.unwrap();
    assert!(compressed < 1000, "{compressed}");
    let expected = format!(
        "{}: array `codes` of {compressed} bytes compressed: found 1.6 GiB in memory, expected at most 1.0 GiB",
        path.display()
    );
    assert_eq!(array.floats().unwrap_err().to_string(), expected);
    // Integers, bytes and text are no other way round it.
    let found = npz.array("codes").unwrap().integers().unwrap_err().to_string();
    assert_eq!(found, expected);
}

/// An archive of compressed arrays that consist of their headers.
fn promises(path: &Path, arrays: &[(&str, ElementType, &[usize])]) {
    let mut zip = zip::ZipWriter::new(File::create(path).unwrap());
    let options = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated)
        .large_file(true);
    for &(name, element, shape) in arrays {
        zip.start_file(format!("{name}.npy"), options).unwrap();
        Header { element, fortran_order: false, shape: shape.to_vec() }.write(&mut zip).unwrap();
    }
    zip.finish().unwrap();
}

/// A string of one byte is 24 more in memory, and so much again where its text is.
#[test]
fn short_strings_are_counted_by_what_they_become() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("names.npz");
    promises(&path, &[("names", ElementType::little('S', 1), &[1 << 25])]);
    let mut npz = Npz::open(&path).unwrap();
    let error = npz.array("names").unwrap().strings().unwrap_err().to_string();
    assert!(error.ends_with("found 1.6 GiB in memory, expected at most 1.0 GiB"), "{error}");
    // As bytes they are as many as there are, and end early.
    let error = npz.array("names").unwrap().bytes().unwrap_err().to_string();
    assert!(error.ends_with("expected 33554432 bytes"), "{error}");
}

/// What the central directory of a zip archive says of an entry is as good as its word.
#[test]
fn a_claimed_compressed_size_is_at_most_that_of_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("claim.npz");
    promises(&path, &[("codes", ElementType::little('f', 8), &[1 << 28])]);
    let mut bytes = std::fs::read(&path).unwrap();
    // In the central directory, `PK\x01\x02`, the compressed size is at byte 20.
    let entry = bytes.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    bytes[entry + 20..entry + 24].copy_from_slice(&0x7fff_ffff_u32.to_le_bytes());
    std::fs::write(&path, &bytes).unwrap();
    let mut npz = Npz::open(&path).unwrap();
    let array = npz.array("codes").unwrap();
    assert_eq!(array.place.compressed, Some(bytes.len() as u64));
    assert!(matches!(array.floats(), Err(DataError::TooLarge { limit: memory::LARGEST_EXPANSION, .. })));
}

#[test]
fn arrays_that_fit_one_by_one_must_fit_together() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("several.npz");
    let element = ElementType::little('u', 1);
    promises(&path, &[("a", element, &[1 << 20]), ("b", element, &[1 << 20])]);
    let mut npz = Npz::open(&path).unwrap();
    let ask = |npz: &mut Npz, name: &str| {
        let array = npz.array(name).unwrap();
        // Twice, as readers of other types do.
        array.check_memory(8).and_then(|()| array.check_memory(4)).map_err(|error| error.to_string())
    };
    assert_eq!(ask(&mut npz, "a"), Ok(()));
    assert_eq!(npz.taken.get(), 8 << 20);
    npz.taken.set(memory::limit() - (8 << 20));
    assert_eq!(ask(&mut npz, "a"), Ok(()));
    let error = ask(&mut npz, "b").unwrap_err();
    assert!(error.contains("array `b` with those before it: found "), "{error}");
}
