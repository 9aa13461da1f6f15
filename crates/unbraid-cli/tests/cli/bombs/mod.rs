//! Small files that ask for much memory: each is refused with a message, and the process never takes more
//! than a fraction of what was asked for. `cargo test --workspace --test cli -- bombs --nocapture` prints the
//! peak memory of each. Without `--workspace`, the command has no ONNX, and that bomb is left out.

mod makers;

use crate::hostile_input::{LARGE, with_note};
use crate::support::{Bench, check_last_failure, skip};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output};

/// What a process may take to refuse a bomb: far below what any of them asks for.
const MOST: u64 = 300 << 20;

/// GNU time, which is told by the system how much memory a process had at most. (What `/proc` says is gone
/// once it has ended.)
const TIME: &str = "/usr/bin/time";

/// Runs `unbraid` and gives the most memory that it took, in bytes, where that can be measured.
fn measured(bench: &Bench, arguments: &[&str]) -> (Output, Option<u64>) {
    let program = assert_cmd::cargo::cargo_bin("unbraid");
    let (note, is_there) = (bench.path("peak"), Path::new(TIME).exists());
    let mut command = if is_there {
        let mut time = Command::new(TIME);
        time.args(["--format", "%M", "--output"]).arg(&note).arg(program);
        time
    } else {
        Command::new(program)
    };
    // The same limit on every machine, and nothing in the cache of whoever runs the test.
    let output = command
        .args(arguments)
        .current_dir(bench.directory.path())
        .env("UNBRAID_MEMORY_LIMIT", (1 << 30).to_string())
        .env("UNBRAID_CACHE", bench.path("cache"))
        .output()
        .unwrap();
    // The last line, below one about the exit code.
    let kilobytes = |text: String| text.lines().last().and_then(|line| line.parse::<u64>().ok());
    let peak = is_there.then(|| {
        let kilobytes = fs::read_to_string(note).ok().and_then(kilobytes).filter(|&peak| peak > 0);
        kilobytes.unwrap_or_else(|| panic!("{TIME} measured nothing of {arguments:?}")) << 10
    });
    (output, peak)
}

#[test]
fn bombs_are_refused_in_little_memory() {
    let bench = Bench::new();
    for run in ["run", "named", "logged", "drawn", "endless", "heavy", "noted"] {
        bench.train(run, &[]).assert().success();
    }
    bench.train("twenty", &["--set", "model.latents.continuous=20"]).assert().success();
    makers::npz(&bench.path("codes.npz"));
    for folder in ["gnu", "pax", "many", "jpeg", "bmp", "matlab"] {
        fs::create_dir(bench.path(folder)).unwrap();
    }
    makers::tar(&bench.path("gnu/nips2015-analogy-data.tar"), b'L');
    makers::tar(&bench.path("pax/nips2015-analogy-data.tar"), b'x');
    makers::tar_gz(&bench.path("gnu/nips2015-analogy-data.tar.gz"), b'L');
    makers::tar_gz(&bench.path("pax/nips2015-analogy-data.tar.gz"), b'x');
    makers::cars(&bench.path("many/nips2015-analogy-data.tar"));
    makers::mat5(&bench.path("matlab/a.mat"));
    makers::jpeg(&bench.path("jpeg/a.jpg"));
    makers::bmp(&bench.path("bmp/a.bmp"));
    for name in
        ["long.toml", "long.csv", "long.json", "long.png", "named/units.toml", "endless/metrics.jsonl"]
    {
        makers::sparse(&bench.path(name));
    }
    makers::mnist(&bench.path("mnist"));
    makers::hdf5(&bench.path("promise.h5"));
    makers::parquet(&bench.path("rows.parquet"));
    makers::losses(&bench.path("logged/metrics.jsonl"));
    makers::charts(&bench.path("drawn/metrics.jsonl"));
    makers::pickle(&bench.path("model.pt"));
    makers::copies(&bench.path("copies.pt"));
    #[cfg(feature = "onnx")]
    makers::onnx(&bench.path("encoder.onnx"));
    with_note(&bench.path("noted/checkpoints/last.safetensors"), "[64,64,1]", "[1000000,1000000,1]");
    let long_key = makers::key(&bench.path("key.toml"));
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
    let long_name =
        |file: &str| format!("{file}: archive: found a name of 3.0 GiB, expected names of at most 64.0 KiB");
    let wide = "model.architecture={ name = \"burgess\", channels = 60000, hidden = 16 }";
    for (arguments, message) in [
        (
            &["evaluate", "--codes", "codes.npz"][..],
            format!("codes.npz: array `codes`: found 2.5 GiB in memory, expected at most 1.0 GiB{LARGE}"),
        ),
        (&["data", "info", "gnu/nips2015-analogy-data.tar"], long_name("gnu/nips2015-analogy-data.tar")),
        (&["data", "info", "gnu/nips2015-analogy-data.tar.gz"], long_name("gnu/nips2015-analogy-data.tar.gz")),
        (&["data", "info", "pax/nips2015-analogy-data.tar"], long_name("pax/nips2015-analogy-data.tar")),
        (&["data", "info", "pax/nips2015-analogy-data.tar.gz"], long_name("pax/nips2015-analogy-data.tar.gz")),
        (
            // Twice 96 images of 64 x 64 x 3 of each.
            &["data", "info", "many/nips2015-analogy-data.tar"],
            format!(
                "many/nips2015-analogy-data.tar: 1000 cars: found 2.2 GiB in memory, expected at most 1.0 GiB{LARGE}"
            ),
        ),
        (
            &["data", "info", "cars3d(path=matlab)"],
            "matlab/a.mat: array `im`: found shape [128, 128, 3, 24, 2147483647], expected shape [128, 128, 3, 24, 4]"
                .to_owned(),
        ),
        (
            &["data", "info", "shapes3d(path=promise.h5)"],
            "promise.h5: array `images`: found shape [480000, 64, 64, 3], expected an array that fits a file of 1672 bytes"
                .to_owned(),
        ),
        (
            // Sixteen bytes for each of 96 * 2^20 rows.
            &["data", "info", "rows.parquet"],
            format!("rows.parquet: table: found 1.5 GiB in memory, expected at most 1.0 GiB{LARGE}"),
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
        (
            // Twice 20 floats for each.
            &["sample", "twenty", "-n", "10000000", "-o", "a.npz"],
            format!(
                "10000000 samples from the prior: found a need of at least 1.5 GiB, expected at most 1.0 GiB{LARGE}"
            ),
        ),
        (
            &["sample", "noted", "-o", "a.png"],
            "noted/checkpoints/last.safetensors: weights of another model: the images of its metadata: found 1000000 x \
             1000000 x 1, expected at most 4294967296 values"
                .to_owned(),
        ),
        (&["report", "endless"], too_long("endless/metrics.jsonl", "read it", "16.0 MiB")),
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
        (
            &["import", "copies.pt", "--mapping", "mapping.toml", "-o", "imported"],
            "copies.pt: found a damaged pickle, expected a file that torch.save wrote".to_owned(),
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
        check_last_failure(&output, bench.directory.path(), 2, &format!("error: {message}"));
        match peak {
            Some(peak) => {
                eprintln!("peak memory {:>6.1} MiB: unbraid {}", peak as f64 / f64::from(1 << 20), arguments.join(" "));
                assert!(peak < MOST, "{arguments:?}: {peak}");
            }
            None => skip("GNU time is not there, which measures the memory of a process"),
        }
    }
}
