//! Files from strangers: links, pipes, sizes that no machine has, and names that are commands. Each is refused with one
//! message, soon, in little memory, and nothing elsewhere is touched.

#[cfg(target_os = "linux")]
use crate::support::Disk;
use crate::support::{Bench, TINY, check_last_failure};
use std::fs;
#[cfg(unix)]
use std::os::unix::fs::symlink;
use std::path::Path;
use unbraid::data::formats::npy::{ElementType, Header};
use unbraid::model::{read_state, write_state};

/// The hint below messages about the limit on memory.
pub(crate) const LARGE: &str = "\nhint: --allow-large lifts the limit, which is UNBRAID_MEMORY_LIMIT in bytes, or three \
                                quarters of the machine's memory";

#[cfg(unix)]
fn named_pipe(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[cfg(unix)]
#[test]
fn links_in_a_run_directory_are_not_followed() {
    let bench = Bench::new();
    bench.train("run", &[]).assert().success();
    fs::write(bench.path("secret"), "precious").unwrap();
    let link = |name: &str| {
        let _ = fs::remove_file(bench.path("run").join(name));
        symlink(bench.path("secret"), bench.path("run").join(name)).unwrap();
    };
    link(".lock");
    for start in ["--resume", "--overwrite"] {
        bench.refuse(
            &["train", "--quiet", "--config", "tiny.toml", "--out", "run", start],
            "error: run/.lock: cannot create it: found a symbolic link, expected a regular file",
        );
    }
    fs::remove_file(bench.path("run/.lock")).unwrap();
    link("metrics.jsonl");
    bench.fail(
        &["train", "--quiet", "--extend", "80", "--out", "run"],
        1,
        "error: cannot write run/metrics.jsonl: found a symbolic link, expected a regular file",
    );
    assert_eq!(fs::read_to_string(bench.path("secret")).unwrap(), "precious");

    fs::rename(bench.path("run/checkpoints"), bench.path("elsewhere")).unwrap();
    symlink(bench.path("elsewhere"), bench.path("run/checkpoints")).unwrap();
    bench.refuse(
        &["train", "--quiet", "--resume", "--out", "run"],
        "error: run/checkpoints: found a symbolic link, expected a directory of the run itself\nhint: to keep it on another \
         disk, move the whole run there and link to that",
    );
    // Reading is harmless.
    bench.succeed(&["sample", "run", "-n", "2", "-o", "a.png"], &[]);
}

/// What is meant to be published has no file of ours in it that a stranger chose.
#[cfg(unix)]
#[test]
fn links_in_a_run_directory_are_not_published() {
    let bench = Bench::new();
    bench.train("run", &[]).assert().success();
    fs::write(bench.path("secret"), "precious").unwrap();
    symlink(bench.path("secret"), bench.path("run/report.html")).unwrap();
    bench.refuse(
        &["export", "run", "--quiet", "--format", "hub", "-o", "card"],
        "error: run/report.html: cannot copy it: found a symbolic link, expected a file of the run itself",
    );
    assert!(!bench.path("card/report.html").exists());
}

/// What a report left that was killed, and what one may still be writing.
#[test]
fn partial_figures_are_swept() {
    let bench = Bench::new();
    bench.train("run", &[]).assert().success();
    fs::create_dir(bench.path("run/figures")).unwrap();
    let (old, new) = (
        bench.path("run/figures/.samples.png.0123456789abcdef.partial"),
        bench.path("run/figures/.losses.svg.0123456789abcdef.partial"),
    );
    for path in [&old, &new] {
        fs::write(path, "half").unwrap();
    }
    let hour_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    fs::File::options().write(true).open(&old).unwrap().set_modified(hour_ago).unwrap();
    bench.succeed(&["report", "run"], &[]);
    assert!(!old.exists() && new.exists());
}

/// A run on a scratch disk: who names the link means what it points to.
#[cfg(unix)]
#[test]
fn a_link_to_a_whole_run_is_followed() {
    let bench = Bench::new();
    fs::create_dir(bench.path("scratch")).unwrap();
    symlink(bench.path("scratch"), bench.path("run")).unwrap();
    bench.train("run", &[]).assert().success();
    bench.succeed(&["train", "--quiet", "--extend", "80", "--out", "run"], &[]);
    assert!(bench.path("scratch/checkpoints/last.safetensors").is_file() && bench.path("run").is_symlink());
}

#[cfg(unix)]
#[test]
fn what_never_ends_is_not_read() {
    let bench = Bench::new();
    named_pipe(&bench.path("abandoned.toml"));
    named_pipe(&bench.path("pipe.npz"));
    symlink("/dev/zero", bench.path("zero.toml")).unwrap();
    symlink("/dev/zero", bench.path("zero.npz")).unwrap();
    for (name, found) in [("pipe", "a named pipe"), ("zero", "a character device")] {
        let regular = format!("found {found}, expected a regular file");
        let data = format!("{name}.npz");
        bench.refuse(&["data", "info", &data], &format!("error: {data}: cannot open: {regular}"));
        bench.refuse(&["evaluate", "--codes", &data], &format!("error: {data}: cannot open: {regular}"));
    }
    let read = "cannot read the configuration";
    bench.refuse(
        &["train", "--config", "zero.toml"],
        &format!("error: zero.toml: {read}: found a character device, expected a regular file"),
    );
    bench.refuse(
        &["train", "--config", "abandoned.toml"],
        &format!(
            "error: abandoned.toml: {read}: found a named pipe that nobody writes to, expected a file or a pipe with text"
        ),
    );
    let sparse = fs::File::create(bench.path("long.toml")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    bench.refuse(
        &["train", "--config", "long.toml"],
        "error: long.toml: cannot read the configuration: found a file of 1024.0 GiB, expected at most 64.0 MiB",
    );
}

/// Files that others read beside the images or the weights.
#[cfg(unix)]
#[test]
fn what_never_ends_is_not_read_in_folders_and_runs() {
    let bench = Bench::new();
    bench.train("run", &[]).assert().success();
    bench.succeed(&["sample", "run", "-n", "4", "-o", "photos"], &[]);
    let regular = "found a named pipe, expected a regular file";
    for name in ["codes.csv", "codes.json", "table.csv", "photos/endless.png"] {
        named_pipe(&bench.path(name));
    }
    for codes in ["codes.csv", "codes.json"] {
        bench.refuse(
            &["decode", "run", codes, "-o", "a.png"],
            &format!("error: {codes}: cannot read it: {regular}"),
        );
    }
    bench.refuse(
        &["data", "info", "folder(path=photos, attributes=table.csv)"],
        &format!("error: table.csv: cannot read: {regular}"),
    );
    bench.refuse(
        &["data", "info", "folder(path=photos)"],
        &format!("error: photos/endless.png: cannot open: {regular}"),
    );
    symlink("/dev/zero", bench.path("photos/endless.jpg")).unwrap();
    let skipping =
        bench.unbraid(&["data", "info", "folder(path=photos, skip_broken=true)"]).output().unwrap();
    crate::support::check(&skipping, &["skipped 2 broken images: endless.jpg, endless.png"]);
    named_pipe(&bench.path("run/units.toml"));
    bench.refuse(
        &["sample", "run", "-o", "a.png"],
        &format!("error: run/units.toml: cannot read it: {regular}"),
    );
}

/// `--config <(command)`: whoever writes that command line chose what is read.
#[cfg(unix)]
#[test]
fn a_configuration_may_come_through_a_pipe() {
    let bench = Bench::new();
    let script = "\"$0\" train --quiet --config <(cat tiny.toml) --out piped && \
                  cat tiny.toml | \"$0\" train --quiet --config /dev/stdin --out read";
    let output = std::process::Command::new("bash")
        .args(["-c", script])
        .arg(assert_cmd::cargo::cargo_bin("unbraid"))
        .current_dir(bench.directory.path())
        .output();
    let Ok(output) = output else { return crate::support::skip("there is no bash here") };
    crate::support::check(&output, &[]);
    bench.train("run", &[]).assert().success();
    for out in ["piped", "read"] {
        crate::support::assert_same(&bench.path("run"), &bench.path(out));
    }
}

/// The limit is set, so that the message is the same on every machine.
#[test]
fn networks_that_no_machine_holds_are_refused_with_their_size_and_the_limit() {
    let bench = Bench::new();
    let train = |limit: &str, sets: &[&str]| {
        let mut command = bench.train("run", &[]);
        for set in sets {
            command.args(["--set", set]);
        }
        command.env("UNBRAID_MEMORY_LIMIT", limit).output().unwrap()
    };
    // Convolutions 16*c + 3*16*c^2 and FC 16*c*16 + 16*16 each way, 2*3*16 + 3*16 for the latent units: 345,632,640,656
    // weights of 16 bytes. Images of 64, 32, 16, 8 and 4 pixels each way and layers of 16, 16, 16, 16 and
    // 16*c values, 3*3 latent values: 164,168,265 activations of 8 bytes in each of 8 images.
    let output =
        train("1073741824", &["model.architecture={ name = \"burgess\", channels = 60000, hidden = 16 }"]);
    let message = format!(
        "error: training with batches of 8 images of 64 x 64 x 1 (height x width x channels): found a need of at least 5160.1 \
         GiB, expected at most 1.0 GiB{LARGE}"
    );
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!((text.as_str(), output.status.code()), (format!("{message}\n").as_str(), Some(2)));
    assert!(!bench.path("run").exists());
    // What fits is trained, and what does not fit is if that is wanted.
    assert!(train("1073741824", &[]).status.success());
    let mut command = bench.train("again", &["--allow-large"]);
    assert!(command.env("UNBRAID_MEMORY_LIMIT", "1000").output().unwrap().status.success());
}

/// Writes the weights of a run again with other metadata.
pub(crate) fn with_note(path: &Path, from: &str, to: &str) {
    let (state, note) = read_state(path).unwrap();
    let note = note.unwrap();
    assert!(note.contains(from), "{note}");
    fs::write(path, write_state(&state, &note.replace(from, to)).unwrap()).unwrap();
}

#[test]
fn metadata_of_a_checkpoint_is_compared_with_its_tensors_first() {
    let bench = Bench::new();
    bench.train("run", &[]).assert().success();
    let path = bench.path("run/checkpoints/last.safetensors");
    let commands: [&[&str]; 5] = [
        &["report", "run"],
        &["encode", "run", "-o", "a.npz"],
        &["evaluate", "run"],
        &["compare", "run", "run"],
        &["sample", "run", "-o", "a.png"],
    ];
    with_note(&path, "[64,64,1]", "[1000000,1000000,1]");
    for arguments in commands {
        bench.refuse(
            arguments,
            "error: run/checkpoints/last.safetensors: weights of another model: the images of its metadata: found 1000000 x \
             1000000 x 1, expected at most 4294967296 values",
        );
    }
    let resumed = bench.unbraid(&["train", "--quiet", "--resume", "--out", "run"]).output().unwrap();
    check_last_failure(
        &resumed,
        bench.directory.path(),
        2,
        "error: run/checkpoints/last.safetensors: weights of another model: the images of its metadata: found 1000000 x \
         1000000 x 1, expected at most 4294967296 values",
    );
    // 4 halvings: 2048 x 2048 pixels of 8 channels.
    with_note(&path, "[1000000,1000000,1]", "[32768,32768,1]");
    for arguments in commands {
        bench.refuse(
            arguments,
            "error: run/checkpoints/last.safetensors: weights of another model: encoder.lin1.weight: found F32 [16, 128], \
             expected F32 [16, 33554432]",
        );
    }
}

/// A zip archive with one array that is nearly nothing but its header.
fn bomb(path: &Path, name: &str, element: ElementType, shape: &[usize]) {
    let mut zip = zip::ZipWriter::new(fs::File::create(path).unwrap());
    let options =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    zip.start_file(format!("{name}.npy"), options).unwrap();
    Header { element, fortran_order: false, shape: shape.to_vec() }.write(&mut zip).unwrap();
    zip.finish().unwrap();
}

#[test]
fn codes_that_claim_more_than_memory_are_refused() {
    let bench = Bench::new();
    bomb(&bench.path("codes.npz"), "codes", ElementType::little('f', 4), &[1 << 31, 10]);
    let output = bench
        .unbraid(&["evaluate", "--codes", "codes.npz"])
        .env("UNBRAID_MEMORY_LIMIT", "8589934592")
        .output()
        .unwrap();
    let message = format!(
        "error: codes.npz: array `codes`: found 160.0 GiB in memory, expected at most 8.0 GiB{LARGE}\n"
    );
    assert_eq!(String::from_utf8(output.stderr).unwrap(), message);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn names_are_no_commands_for_the_terminal() {
    let bench = Bench::new();
    bomb(&bench.path("a.npz"), "x\u{1b}[2J\nhint: rm -rf", ElementType::little('f', 4), &[1, 1]);
    bench.refuse(
        &["evaluate", "--codes", "a.npz"],
        "error: a.npz: archive: found only the arrays x\\u{1b}[2J\\nhint: rm -rf, expected `codes_train`, `factors_train`, \
         `codes_test`, `factors_test`; or `codes` and `factors`",
    );
    fs::write(bench.path("odd.toml"), format!("\"be\\nhint: rm -rf\" = 1\n{TINY}")).unwrap();
    bench.refuse(
        &["train", "--config", "odd.toml", "--out", "odd"],
        "error: configuration: unknown key `be\\nhint: rm -rf`\nhint: expected one of seed, data, model, objective, optimizer, \
         training, evaluation",
    );
    let output = bench.unbraid(&["evaluate", "--codes", "\u{1b}[31mno.npz"]).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text, "error: \\u{1b}[31mno.npz: cannot open: No such file or directory (os error 2)\n");
}

#[test]
fn the_cache_is_described_and_emptied() {
    let bench = Bench::new();
    fs::create_dir(bench.path("cache")).unwrap();
    for name in ["a.pixels", ".b.pixels.0123.partial"] {
        fs::write(bench.path("cache").join(name), [0; 1024]).unwrap();
    }
    fs::write(bench.path("cache/mine.txt"), "x").unwrap();
    let cache = |arguments: &[&str]| {
        let mut command = bench.unbraid(arguments);
        command.env("UNBRAID_CACHE", "cache").env("UNBRAID_CACHE_LIMIT", "1048576");
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    assert_eq!(cache(&["cache", "info"]), "cache: 2 files, 2.0 KiB of at most 1.0 MiB\n");
    assert_eq!(cache(&["cache", "clean"]), "cache: removed 2 files, 2.0 KiB\n");
    assert_eq!(cache(&["cache", "info"]), "cache: 0 files, 0 bytes of at most 1.0 MiB\n");
    assert!(bench.path("cache/mine.txt").exists());
}

#[test]
fn a_report_survives_the_largest_numbers() {
    let bench = Bench::new();
    bench.train("run", &[]).assert().success();
    let path = bench.path("run/metrics.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let rows: Vec<&str> = text.lines().collect();
    let mut changed = String::new();
    for (place, row) in rows.iter().enumerate() {
        let mut row: serde_json::Value = serde_json::from_str(row).unwrap();
        row["step"] = if place % 2 == 0 { serde_json::json!(1_u64 << 60) } else { serde_json::json!(1e308) };
        row["train/loss"] = serde_json::json!(if place % 2 == 0 { 1e308 } else { -1e308 });
        row["train/kl"] = serde_json::json!(f64::MAX);
        changed.push_str(&format!("{row}\n"));
    }
    fs::write(&path, changed).unwrap();
    with_note(
        &bench.path("run/checkpoints/last.safetensors"),
        "\"step\":60,",
        "\"step\":1152921504606846976,",
    );
    bench.succeed(&["report", "run", "--model-limit", "1e308"], &[]);
    let page = fs::read_to_string(bench.path("run/report.html")).unwrap();
    assert!(page.contains("after 1,152,921,504,606,846,976 steps"));
    // Neither steps nor losses are written with hundreds of digits.
    assert!(!page.contains(&"0".repeat(100)));
}

/// Noticed before the images are encoded, not when the result is there.
#[cfg(target_os = "linux")]
#[test]
fn a_run_that_cannot_be_written_is_noticed_first() {
    let bench = Bench::new();
    let Some(disk) = Disk::mount(bench.path("disk"), "50m") else { return };
    bench.train("disk/run", &[]).assert().success();
    disk.remount("ro");
    let refused = |arguments: &[&str], file: &str| {
        let message = format!("error: cannot write disk/run/{file}: Read-only file system (os error 30)");
        bench.refuse(arguments, &message);
    };
    refused(&["evaluate", "disk/run"], "scores.json");
    refused(&["report", "disk/run"], "report.html");
    refused(&["name", "disk/run", "1=size"], "units.toml");
    disk.remount("rw");
}

/// Nothing is written where there is nothing to compute, so scores of somebody else's run can be read.
#[cfg(target_os = "linux")]
#[test]
fn scores_that_are_there_are_shown_of_a_run_that_cannot_be_written() {
    let bench = Bench::new();
    let Some(disk) = Disk::mount(bench.path("disk"), "50m") else { return };
    bench.train("disk/run", &["--set", "training.steps=2"]).assert().success();
    let evaluate = |metrics| ["evaluate", "disk/run", "--quiet", "--samples", "100", "--metrics", metrics];
    let scores = bench.expect_output(&evaluate("mig,hoyer"));
    disk.remount("ro");
    assert_eq!(bench.expect_output(&evaluate("mig,hoyer")), scores);
    bench.refuse(
        &evaluate("mig,modularity"),
        "error: cannot write disk/run/scores.json: Read-only file system (os error 30)",
    );
    disk.remount("rw");
}
