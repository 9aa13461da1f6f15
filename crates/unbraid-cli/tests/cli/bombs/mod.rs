//! Small files that ask for much memory: each is refused with a message, and the process never takes more than a fraction
//! of what was asked for. `cargo test -p unbraid-cli --test cli bombs -- --nocapture` prints the peak memory of each.

use crate::hostile_input::LARGE;
use crate::support::{Bench, TINY, check_last_failure, skip};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use unbraid::data::formats::npy::{ElementType, Header};

/// What a process may take to refuse a bomb: far below what any of them asks for.
const MOST: u64 = 300 << 20;

/// Runs `unbraid` and gives the most memory that it took, in bytes: the high-water mark that the system keeps until the process
/// has ended.
fn measured(bench: &Bench, arguments: &[&str]) -> (Output, u64) {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("unbraid"))
        .args(arguments)
        .current_dir(bench.directory.path())
        // The same limit on every machine.
        .env("UNBRAID_MEMORY_LIMIT", (1 << 30).to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        // A process that has just ended has no memory.
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
        peak = peak.max(kilobytes.unwrap_or(0) << 10);
        std::thread::sleep(Duration::from_micros(500));
    }
    (child.wait_with_output().unwrap(), peak)
}

/// Zeros, which compress a thousandfold.
fn zeros(bytes: u64) -> impl Read {
    io::repeat(0).take(bytes)
}

/// 1.25 GiB of floats, 2.5 once read, in 6 MB.
fn npz(path: &Path) {
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

/// An archive of Cars3D whose first entry has a name of 3 GiB. The header alone promises it: a tar header is 512 bytes,
/// with the size in octal digits, the kind `L`, and the sum of all bytes.
fn tar(path: &Path) {
    let mut header = [0_u8; 512];
    header[..13].copy_from_slice(b"././@LongLink");
    header[124..135].copy_from_slice(format!("{:011o}", 3_u64 << 30).as_bytes());
    header[156] = b'L';
    header[257..265].copy_from_slice(b"ustar  \0");
    header[148..156].copy_from_slice(b"        ");
    let sum: u32 = header.iter().copied().map(u32::from).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    let mut file = File::create(path).unwrap();
    file.write_all(&header).unwrap();
    io::copy(&mut zeros(1 << 20), &mut file).unwrap();
}

/// A JPEG whose frame header claims 13300 x 13300 pixels: in the segment 0xFFC0, height and width follow the length and the
/// precision.
fn jpeg(path: &Path) {
    let fixture =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../unbraid-data/tests/fixtures/odd_images/exif-1.jpg");
    let mut bytes = fs::read(fixture).unwrap();
    let frame = bytes.windows(2).position(|marker| marker == [0xff, 0xc0]).unwrap();
    for place in [frame + 5, frame + 7] {
        bytes[place..place + 2].copy_from_slice(&13_300_u16.to_be_bytes());
    }
    fs::write(path, bytes).unwrap();
}

/// A BMP whose header claims 30000 x 30000 pixels of 24 bits.
fn bmp(path: &Path) {
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
fn mnist(directory: &Path) {
    fs::create_dir(directory).unwrap();
    let mut images = vec![0, 0, 8, 3];
    images.extend([3 << 17, 64_u32, 64].iter().flat_map(|axis| axis.to_be_bytes()));
    // The header of gzip, and a last block that is stored: its length, and the complement of that (RFC 1951, 3.2.4).
    let mut gzip = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 1];
    gzip.extend([images.len() as u16, !(images.len() as u16)].iter().flat_map(|length| length.to_le_bytes()));
    gzip.extend(images);
    fs::write(directory.join("train-images-idx3-ubyte.gz"), gzip).unwrap();
    fs::write(directory.join("train-labels-idx1-ubyte"), [0, 0, 8, 1, 0, 0, 0, 0]).unwrap();
}

/// 600 KB of rows, each with a loss that no other has: as columns, 3 GiB.
fn losses(path: &Path) {
    let row = |row: usize| format!("{{\"step\":{row},\"train/loss{row}\":1}}\n");
    fs::write(path, (0..20_000).map(row).collect::<String>()).unwrap();
}

/// A row of 700 KB whose losses are 50,000 charts.
fn charts(path: &Path) {
    let losses: String = (0..50_000).map(|loss| format!(",\"train/{loss}\":1")).collect();
    fs::write(path, format!("{{\"step\":1{losses}}}\n")).unwrap();
}

/// A state dict of `torch.save` that is 8 MB of the operation that pushes `None`: 320 MB of values.
fn pickle(path: &Path) {
    let mut zip = zip::ZipWriter::new(File::create(path).unwrap());
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    zip.start_file("model/data.pkl", options).unwrap();
    io::copy(&mut io::repeat(b'N').take(8_000_000), &mut zip).unwrap();
    zip.finish().unwrap();
}

/// A field of a protocol buffer that has a length: a message, a text or bytes.
#[cfg(feature = "onnx")]
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let length = u8::try_from(content.len()).unwrap();
    // Seven bits of the length in each byte.
    let length = if length < 0x80 { vec![length] } else { vec![length | 0x80, 1] };
    [&[number << 3 | 2][..], &length, content].concat()
}

/// An ONNX encoder of less than 300 bytes whose code is the sum of 2^20 x 2^20 zeros. No number in it is larger than 2^10: it
/// is multiplied with itself.
#[cfg(feature = "onnx")]
fn onnx(path: &Path) {
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
fn key(path: &Path) -> String {
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

fn sparse(path: &Path) {
    File::create(path).unwrap().set_len(1 << 40).unwrap();
}

#[test]
fn bombs_are_refused_in_little_memory() {
    let bench = Bench::new();
    for run in ["run", "named", "logged", "drawn", "heavy"] {
        bench.train(run, &[]).assert().success();
    }
    npz(&bench.path("codes.npz"));
    tar(&bench.path("nips2015-analogy-data.tar"));
    for folder in ["jpeg", "bmp"] {
        fs::create_dir(bench.path(folder)).unwrap();
    }
    jpeg(&bench.path("jpeg/a.jpg"));
    bmp(&bench.path("bmp/a.bmp"));
    for name in ["long.toml", "long.csv", "long.json", "long.png", "named/units.toml"] {
        sparse(&bench.path(name));
    }
    mnist(&bench.path("mnist"));
    losses(&bench.path("logged/metrics.jsonl"));
    charts(&bench.path("drawn/metrics.jsonl"));
    pickle(&bench.path("model.pt"));
    #[cfg(feature = "onnx")]
    onnx(&bench.path("encoder.onnx"));
    let long_key = key(&bench.path("key.toml"));
    fs::write(bench.path("mapping.toml"), "").unwrap();
    // 400 MB that take no room on disk.
    let weights = File::options().write(true).open(bench.path("heavy/checkpoints/last.safetensors"));
    weights.unwrap().set_len(400_000_000).unwrap();
    // A row of four bytes is a thousand in memory.
    fs::write(bench.path("short.csv"), format!("method,mig\n{}", "a,1\n".repeat(1_000_000))).unwrap();
    fs::create_dir(bench.path("study")).unwrap();
    fs::write(bench.path("study/study.toml"), "").unwrap();
    let too_long = |file: &str, attempt: &str, most: &str| {
        format!("{file}: cannot {attempt}: found a file of 1024.0 GiB, expected at most {most}")
    };
    let wide = "model.architecture={ name = \"burgess\", channels = 60000, hidden = 16 }";
    for (arguments, message) in [
        (
            &["evaluate", "--codes", "codes.npz"][..],
            format!("codes.npz: array `codes`: found 2.5 GiB in memory, expected at most 1.0 GiB{LARGE}"),
        ),
        (
            &["data", "info", "nips2015-analogy-data.tar"],
            "nips2015-analogy-data.tar: archive: found a name of 3.0 GiB, expected names of at most 64.0 KiB".to_owned(),
        ),
        (
            &["data", "info", "jpeg"],
            "jpeg/a.jpg: image of 13300 x 13300 pixels: found 506.1 MiB in memory, expected at most 256.0 MiB\n\
             hint: --allow-large lifts the limit"
                .to_owned(),
        ),
        (
            &["data", "info", "bmp"],
            "bmp/a.bmp: image of 30000 x 30000 pixels: found 2.5 GiB in memory, expected at most 256.0 MiB\n\
             hint: --allow-large lifts the limit"
                .to_owned(),
        ),
        (
            &["reconstruct", "run", "--image", "long.png", "-o", "a.png"],
            too_long("long.png", "open", "256.0 MiB"),
        ),
        (&["train", "--config", "long.toml"], too_long("long.toml", "read the configuration", "64.0 MiB")),
        // A sixteenth and a thirty-second of the limit: what a byte of a table becomes.
        (&["decode", "run", "long.csv", "-o", "a.png"], too_long("long.csv", "read it", "64.0 MiB")),
        (&["decode", "run", "long.json", "-o", "a.png"], too_long("long.json", "read it", "32.0 MiB")),
        (&["study", "import", "study", "long.csv"], too_long("long.csv", "read it", "1.0 GiB")),
        (&["sample", "named", "-o", "a.png"], too_long("named/units.toml", "read it", "64.0 MiB")),
        (
            // The arithmetic is in `hostile_input.rs`.
            &["train", "--config", "tiny.toml", "--out", "wide", "--set", wide],
            format!(
                "training with batches of 8 images of 64 x 64 x 1 (height x width x channels): found a need of at least \
                 5160.1 GiB, expected at most 1.0 GiB{LARGE}"
            ),
        ),
        (
            &["sample", "run", "-n", "18446744073709551615", "-o", "a.npz"],
            "invalid value '18446744073709551615' for '--count <N>': 18446744073709551615 is not in 1..=10000000\n\n\
             For more information, try '--help'."
                .to_owned(),
        ),
        (&["data", "info", "mnist/"], format!(
                "mnist/train-images-idx3-ubyte.gz: data: found 1.5 GiB in memory, expected at most 1.0 GiB{LARGE}"
            )),
        (&["report", "logged"], "logged/metrics.jsonl: found 20000 different losses in 20000 rows, expected about the same in every row".to_owned()),
        (&["train", "--config", "key.toml", "--out", "keyed"], long_key),
        (&["report", "drawn"], "drawn/metrics.jsonl: found 50000 different losses, expected at most 10000".to_owned()),
        (
            &["import", "model.pt", "--mapping", "mapping.toml", "-o", "imported"],
            "model.pt: found a pickle of more than 2097152 values, expected that of a state dict, with about twenty for each \
             tensor"
                .to_owned(),
        ),
        #[cfg(feature = "onnx")]
        (
            &["evaluate", "--encoder", "encoder.onnx", "--data", "shapes(scales=2, orientations=2, positions=4)"],
            "encoder.onnx: found a graph that cannot be computed (ConstantOfShape of constants would take 8.796e12 bytes, and \
             67108864 are allowed), expected one that tract computes"
                .to_owned(),
        ),
        (&["sample", "heavy", "-o", "a.png"], "heavy/checkpoints/last.safetensors: not a complete safetensors file: incomplete metadata, file not fully covered".to_owned()),
        (&["study", "import", "study", "short.csv"], "short.csv: found rows that need more than 1.0 GiB in memory, expected fewer".to_owned()),
    ] {
        let (output, peak) = measured(&bench, arguments);
        eprintln!("peak memory {:>6.1} MiB: unbraid {}", peak as f64 / f64::from(1 << 20), arguments.join(" "));
        check_last_failure(&output, bench.directory.path(), 2, &format!("error: {message}"));
        assert!(peak < MOST, "{arguments:?}: {peak}");
        if peak == 0 {
            skip("a process ended before its memory could be read");
        }
    }
}
