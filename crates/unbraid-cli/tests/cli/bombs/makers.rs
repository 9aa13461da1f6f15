//! The files of the bombs.

use crate::support::TINY;
use parquet::basic::{Repetition, Type as PhysicalType};
use parquet::data_type::Int32Type;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use unbraid::data::formats::npy::{ElementType, Header};

/// Zeros, which compress a thousandfold.
fn zeros(bytes: u64) -> impl Read {
    io::repeat(0).take(bytes)
}

/// 1.25 GiB of floats, 2.5 once read, in 6 MB.
pub(super) fn npz(path: &Path) {
    let shape = vec![1 << 25, 10];
    let bytes = (shape[0] * shape[1] * 4) as u64;
    let mut zip = zip::ZipWriter::new(File::create(path).unwrap());
    let options = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated)
        .compression_level(Some(1))
        .large_file(true);
    zip.start_file("codes.npy", options).unwrap();
    let element = ElementType::little('f', 4);
    Header { element, fortran_order: false, shape }.write(&mut zip).unwrap();
    io::copy(&mut zeros(bytes), &mut zip).unwrap();
    zip.finish().unwrap();
}

/// The header of an entry of a tar archive: 512 bytes, with the size in octal digits, the kind, and the sum
/// of all bytes.
fn tar_header(name: &str, kind: u8, size: u64) -> [u8; 512] {
    let mut header = [0_u8; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[124..135].copy_from_slice(format!("{size:011o}").as_bytes());
    header[156] = kind;
    header[257..265].copy_from_slice(b"ustar  \0");
    header[148..156].copy_from_slice(b"        ");
    let sum: u32 = header.iter().copied().map(u32::from).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    header
}

/// An archive of Cars3D whose first entry has a name of 3 GiB, as GNU's tar (`L`) or POSIX (`x`) has it. The
/// header alone promises it.
pub(super) fn tar(path: &Path, kind: u8) {
    let mut file = File::create(path).unwrap();
    file.write_all(&tar_header("././@LongLink", kind, 3 << 30)).unwrap();
    io::copy(&mut zeros(1 << 20), &mut file).unwrap();
}

/// The same in gzip.
pub(super) fn tar_gz(path: &Path, kind: u8) {
    fs::write(path, gzip(&tar_header("././@LongLink", kind, 3 << 30))).unwrap();
}

/// An archive with the names of a thousand cars, of which there are 183.
pub(super) fn cars(path: &Path) {
    let entries = (0..1000).map(|car| tar_header(&format!("cars/{car:04}.mat"), b'0', 0));
    // Two empty entries are the end.
    let bytes: Vec<u8> = entries.chain([[0; 512]; 2]).flatten().collect();
    fs::write(path, bytes).unwrap();
}

/// A file of gzip whose only block is stored: its length, and the complement of that (RFC 1951, 3.2.4). The
/// sum at the end is left out: nobody gets there.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap();
    let mut gzip = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 1];
    gzip.extend([length, !length].iter().flat_map(|length| length.to_le_bytes()));
    gzip.extend(bytes);
    gzip
}

/// A MATLAB file of a car that has been seen from two billion elevations.
pub(super) fn mat5(path: &Path) {
    let element = |kind: u32, length: u32, data: &[u8]| {
        let mut bytes = [kind.to_le_bytes(), length.to_le_bytes()].concat();
        bytes.extend(data);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    };
    let shape: Vec<u8> =
        [128, 128, 3, 24, i32::MAX].iter().flat_map(|axis: &i32| axis.to_le_bytes()).collect();
    // Class 9: unsigned bytes.
    let parts =
        [element(6, 8, &[9]), element(5, 20, &shape), element(1, 2, b"im"), element(2, u32::MAX, &[])];
    let mut file = vec![b' '; 124];
    file.extend([0, 1, b'I', b'M']);
    file.extend(element(14, u32::MAX, &parts.concat()));
    fs::write(path, file).unwrap();
}

/// A file of Shapes3D that promises all of its images, in less than 2 KB.
pub(super) fn hdf5(path: &Path) {
    fs::copy(data_fixture("shapes3d/bad_promise.h5"), path).unwrap();
}

/// 96 * 2^20 rows of one zero: as a table, 1.5 GiB.
pub(super) fn parquet(path: &Path) {
    let column = Type::primitive_type_builder("x", PhysicalType::INT32).with_repetition(Repetition::REQUIRED);
    let columns = vec![Arc::new(column.build().unwrap())];
    let schema = Arc::new(Type::group_type_builder("schema").with_fields(columns).build().unwrap());
    let mut writer = SerializedFileWriter::new(File::create(path).unwrap(), schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    for _ in 0..96 {
        column.typed::<Int32Type>().write_batch(&vec![0; 1 << 20], None, None).unwrap();
    }
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
}

fn data_fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../unbraid-data/tests/fixtures").join(name)
}

/// A JPEG whose frame header claims 13300 x 13300 pixels: in the segment 0xFFC0, height and width follow the
/// length and the precision.
pub(super) fn jpeg(path: &Path) {
    let mut bytes = fs::read(data_fixture("odd_images/exif-1.jpg")).unwrap();
    let frame = bytes.windows(2).position(|marker| marker == [0xff, 0xc0]).unwrap();
    for place in [frame + 5, frame + 7] {
        bytes[place..place + 2].copy_from_slice(&13_300_u16.to_be_bytes());
    }
    fs::write(path, bytes).unwrap();
}

/// A BMP whose header claims 30000 x 30000 pixels of 24 bits.
pub(super) fn bmp(path: &Path) {
    let mut bytes = b"BM".to_vec();
    bytes.extend([0; 8]);
    bytes.extend(54_u32.to_le_bytes());
    bytes.extend(40_u32.to_le_bytes());
    bytes.extend(30_000_u32.to_le_bytes().repeat(2));
    bytes.extend([1, 0, 24, 0]);
    bytes.extend([0; 24]);
    fs::write(path, bytes).unwrap();
}

/// MNIST whose images are 1.5 GiB by their header, in less than 100 bytes.
pub(super) fn mnist(directory: &Path) {
    fs::create_dir(directory).unwrap();
    let mut images = vec![0, 0, 8, 3];
    images.extend([3 << 17, 64_u32, 64].iter().flat_map(|axis| axis.to_be_bytes()));
    fs::write(directory.join("train-images-idx3-ubyte.gz"), gzip(&images)).unwrap();
    fs::write(directory.join("train-labels-idx1-ubyte"), [0, 0, 8, 1, 0, 0, 0, 0]).unwrap();
}

/// 600 KB of rows, each with a loss that no other has: as columns, 3 GiB.
pub(super) fn losses(path: &Path) {
    let row = |row: usize| format!("{{\"step\":{row},\"train/loss{row}\":1}}\n");
    fs::write(path, (0..20_000).map(row).collect::<String>()).unwrap();
}

/// A row of 700 KB whose losses are 50,000 charts.
pub(super) fn charts(path: &Path) {
    let losses: String = (0..50_000).map(|loss| format!(",\"train/{loss}\":1")).collect();
    fs::write(path, format!("{{\"step\":1{losses}}}\n")).unwrap();
}

/// What `torch.save` writes, with nothing in it but a pickle.
fn torch_file(path: &Path, mut pickle: impl Read) {
    let mut zip = zip::ZipWriter::new(File::create(path).unwrap());
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    zip.start_file("model/data.pkl", options).unwrap();
    io::copy(&mut pickle, &mut zip).unwrap();
    zip.finish().unwrap();
}

/// A state dict that is 8 MB of the operation that pushes `None`: 320 MB of values.
pub(super) fn pickle(path: &Path) {
    torch_file(path, io::repeat(b'N').take(8_000_000));
}

/// A storage with a name of a kilobyte that is asked for a million times: 1 GB of names in 4 MB.
pub(super) fn copies(path: &Path) {
    let mut pickle = b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x00\x04\x00\x00".to_vec();
    pickle.extend([b'0'; 1024]);
    pickle.extend_from_slice(b"X\x03\x00\x00\x00cpuK\x08tq\x00");
    pickle.extend(b"h\x00Q0".repeat(1_000_000));
    pickle.push(b'.');
    torch_file(path, &pickle[..]);
}

/// A field of a protocol buffer that has a length: a message, a text or bytes.
#[cfg(feature = "onnx")]
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let length = u8::try_from(content.len()).unwrap();
    // Seven bits of the length in each byte.
    let length = if length < 0x80 { vec![length] } else { vec![length | 0x80, 1] };
    [&[number << 3 | 2][..], &length, content].concat()
}

/// An ONNX encoder of less than 300 bytes whose code is the sum of 2^20 x 2^20 zeros. No number in it is
/// larger than 2^10: it is multiplied with itself.
#[cfg(feature = "onnx")]
pub(super) fn onnx(path: &Path) {
    let node = |operator: &str, inputs: &[&str], output: &str| {
        let inputs: Vec<u8> = inputs.iter().flat_map(|name| field(1, name.as_bytes())).collect();
        field(1, &[inputs, field(2, output.as_bytes()), field(4, operator.as_bytes())].concat())
    };
    let nodes = [
        node("Mul", &["a", "a"], "b"),
        node("ConstantOfShape", &["b"], "zeros"),
        node("ReduceSum", &["zeros"], "sum"),
        node("Flatten", &["x"], "row"),
        node("Add", &["row", "sum"], "code"),
    ];
    // One axis of two values, of type 7, whole numbers of 64 bits.
    let (axes, number) = ([0x08, 2, 0x10, 7], (1_i64 << 10).to_le_bytes());
    let constant = [&axes[..], &field(8, b"a"), &field(9, &[number, number].concat())].concat();
    // Floats, of which only the name is said.
    let value = |name: &str| [field(1, name.as_bytes()), field(2, &field(1, &[0x08, 1]))].concat();
    let lists = [field(5, &constant), field(11, &value("x")), field(12, &value("code"))];
    let graph = [nodes.concat(), lists.concat()].concat();
    // Version 7 of the format, 13 of the operators.
    let model = [&[0x08, 7][..], &field(7, &graph), &field(8, &[0x10, 13])].concat();
    fs::write(path, model).unwrap();
}

/// A key of 4 MB: compared with one of ours letter by letter, hundreds of megabytes.
pub(super) fn key(path: &Path) -> String {
    let key = "a".repeat(4_000_000);
    fs::write(path, format!("{key} = 1\n{TINY}")).unwrap();
    let message = format!(
        "configuration: unknown key `{key}`\nhint: expected one of seed, data, model, objective, optimizer, training, \
         evaluation"
    );
    // Of a long message, 3000 characters are shown of its beginning, and 500 of its end.
    let (beginning, end) = (&message[..3000], &message[message.len() - 500..]);
    format!("{beginning} [{} characters left out] {end}", message.len() - 3500)
}

pub(super) fn sparse(path: &Path) {
    File::create(path).unwrap().set_len(1 << 40).unwrap();
}
