//! A file by hand, files by SciPy, and damaged ones.

use super::*;
use crate::error::chain;
use proptest::prelude::*;
use std::fs;

fn parse(bytes: &[u8]) -> Result<(Vec<usize>, Vec<u8>)> {
    let array = Array::find(Path::new("x.mat"), Box::new(bytes), "im")?;
    Ok((array.header.shape.clone(), array.bytes()?))
}

/// A big-endian file by hand, from the format's description: `im` = [7 8] in class double, stored as small bytes.
fn big_endian() -> Vec<u8> {
    let mut file = vec![b' '; 124];
    file.extend([0x01, 0x00, b'M', b'I']);
    let words: [u32; 12] = [14, 48, 6, 8, 6, 0, 5, 8, 1, 2, 0x0002_0001, u32::from_be_bytes(*b"im\0\0")];
    file.extend(words.iter().flat_map(|word| word.to_be_bytes()));
    file.extend([0, 2, 0, 2, 7, 8, 0, 0]);
    file
}

#[test]
fn big_endian_and_small_elements() {
    assert_eq!(parse(&big_endian()).unwrap(), (vec![1, 2], vec![7, 8]));
}

#[test]
fn values_of_every_storage_type() {
    let little = ByteOrder::Little;
    assert_eq!(Storage::Signed(1).byte(&[0xff], little), Err("-1".to_owned()));
    assert_eq!(Storage::Signed(2).byte(&[200, 0], little), Ok(200));
    assert_eq!(Storage::Unsigned(2).byte(&[1, 0], ByteOrder::Big), Err("256".to_owned()));
    assert_eq!(Storage::Unsigned(8).byte(&[9, 0, 0, 0, 0, 0, 0, 0], little), Ok(9));
    assert_eq!(Storage::Single.byte(&255_f32.to_be_bytes(), ByteOrder::Big), Ok(255));
    assert_eq!(Storage::Double.byte(&0.5_f64.to_le_bytes(), little), Err("0.5".to_owned()));
    assert_eq!(Storage::Double.byte(&f64::NAN.to_le_bytes(), little), Err("NaN".to_owned()));
    assert_eq!(Storage::Double.byte(&256_f64.to_le_bytes(), little), Err("256".to_owned()));
}

#[test]
fn invalid_files() {
    let mut wrong_mark = big_endian();
    wrong_mark[126] = b'?';
    let mut matlab_7_3 = big_endian();
    matlab_7_3[124] = 2;
    let mut other_name = big_endian();
    other_name[172] = b'j';
    let mut cell = big_endian();
    cell[147] = 1;
    let mut huge = big_endian();
    huge[160..168].fill(0x7f);
    let mut complex = big_endian();
    complex[146] = 8;
    let level_5 = "a whole MATLAB file of level 5";
    let cases = [
        (wrong_mark, format!("file: found the byte order mark [63, 73], expected {level_5}")),
        (matlab_7_3, format!("file: found a file of MATLAB 7.3 (save it with -v7), expected {level_5}")),
        (other_name, "variables: found only jm, expected an array `im`".to_owned()),
        (cell, "array `im`: found values of class 1, expected an array of real numbers".to_owned()),
        (
            huge,
            "array `im`: found 2 bytes of 1-byte values, expected one value for each element of shape \
             [2139062143, 2139062143]"
                .to_owned(),
        ),
        (
            complex,
            "array `im`: found complex values of class 6, expected an array of real numbers".to_owned(),
        ),
        (big_endian()[..170].to_vec(), format!("file: found an early end, expected {level_5}")),
        (Vec::new(), format!("file: found an early end, expected {level_5}")),
    ];
    for (file, expected) in cases {
        assert_eq!(chain(&parse(&file).unwrap_err()), format!("x.mat: {expected}"));
    }
}

/// A file of `tests/fixtures/make_cars3d.py`.
fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/cars3d/small_{name}.mat"))
}

fn parse_fixture(name: &str) -> Result<(Vec<usize>, Vec<u8>)> {
    let path = fixture(name);
    let array = Array::find(&path, Box::new(fs::File::open(&path).unwrap()), "im")?;
    Ok((array.header.shape.clone(), array.bytes()?))
}

/// SciPy's `arange(24).reshape(4, 3, 2)`, in MATLAB's order: the first index is the fastest.
#[test]
fn arrays_by_scipy_of_every_storage_type() {
    let expected: Vec<u8> = (0..24).map(|at| (at % 4) * 6 + (at / 4 % 3) * 2 + at / 12).collect();
    for name in ["bytes", "compressed", "doubles", "shorts"] {
        assert_eq!(parse_fixture(name).unwrap(), (vec![4, 3, 2], expected.clone()), "{name}");
    }
}

#[test]
fn arrays_that_hold_no_bytes() {
    let cases = [
        ("fractions", "found 0.5, expected whole numbers from 0 to 255"),
        ("text", "found values of class 4, expected an array of real numbers"),
        ("complex", "found complex values of class 6, expected an array of real numbers"),
    ];
    for (name, expected) in cases {
        let error = parse_fixture(name).unwrap_err();
        let path = fixture(name);
        assert_eq!(chain(&error), format!("{}: array `im`: {expected}", path.display()));
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
        let _ = parse(&bytes);
        let _ = parse(&[&big_endian()[..128], bytes.as_slice()].concat());
    }

    #[test]
    fn mutated_files_never_panic(changes in prop::collection::vec((128_usize..192, any::<u8>()), 1..6)) {
        let mut file = big_endian();
        for (at, byte) in changes {
            let last = file.len() - 1;
            file[at.min(last)] = byte;
        }
        let _ = parse(&file);
    }

    #[test]
    fn mutated_scipy_files_never_panic(
        compressed: bool,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        length in any::<prop::sample::Index>(),
    ) {
        let mut content = fs::read(fixture(if compressed { "compressed" } else { "shorts" })).unwrap();
        for (at, byte) in changes {
            let at = 120 + at.index(content.len() - 120);
            content[at] = byte;
        }
        content.truncate(length.index(2 * content.len()).max(128));
        if let Ok(array) = Array::find(Path::new("x.mat"), Box::new(content.as_slice()), "im")
            && array.expect_shape(&[4, 3, 2]).is_ok()
        {
            let _ = array.bytes();
        }
    }
}
