//! `unbraid data` as a user meets it: output, files, exit codes.
use crate::support::{Bench, check_failure, shared, skip};
use assert_cmd::Command;
use std::path::Path;

fn unbraid(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("unbraid").unwrap();
    command.args(arguments);
    command
}

/// Standard output of a command that must succeed.
fn stdout(arguments: &[&str]) -> String {
    let output = unbraid(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn help_and_list_fit_80_columns() {
    for arguments in [&["--help"][..], &["data", "--help"], &["data", "list"], &["data", "info", "shapes"]] {
        for line in stdout(arguments).lines() {
            assert!(line.chars().count() <= 80, "{arguments:?}: {line}");
        }
    }
}

#[test]
fn list_names_every_data_set() {
    let list = stdout(&["data", "list"]);
    let json: serde_json::Value = serde_json::from_str(&stdout(&["data", "list", "--json"])).unwrap();
    for entry in json.as_array().unwrap() {
        let name = entry["name"].as_str().unwrap();
        assert!(list.contains(&format!("\n{name} ")) || list.starts_with(name), "{name}");
    }
}

#[test]
fn info_describes_shapes() {
    let json: serde_json::Value =
        serde_json::from_str(&stdout(&["data", "info", "shapes", "--json"])).unwrap();
    assert_eq!((json["images"].as_u64(), json["full_grid"].as_bool()), (Some(737_280), Some(true)));
    let factors: Vec<_> =
        json["factors"].as_array().unwrap().iter().map(|f| f["size"].as_u64().unwrap()).collect();
    assert_eq!(factors, [3, 6, 40, 32, 32]);
    let kinds: Vec<_> =
        json["factors"].as_array().unwrap().iter().map(|f| f["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["categorical", "ordered", "angle", "ordered", "ordered"]);
    let text = stdout(&["data", "info", "shapes"]);
    assert!(text.contains("\n  orientation          40 values  angle\n"), "{text}");
    assert_eq!(json["sha256"].as_str().unwrap().len(), 64);
}

/// The complete dSprites has 3 GB of pixels; reading it must take far less memory.
#[cfg(target_os = "linux")]
#[test]
fn the_complete_dsprites_needs_little_memory() {
    let Some(file) = shared("data/dsprites/dsprites_reconstructed.npz") else { return };
    let json = stdout(&["data", "info", file.to_str().unwrap(), "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["images"].as_u64(), Some(737_280));
    let peak = json["peak_memory_bytes"].as_u64().unwrap();
    assert!(peak < 700_000_000, "{peak} bytes");
}

#[test]
fn show_draws_a_sheet_and_overwrites_only_on_request() {
    let directory = tempfile::tempdir().unwrap();
    let sheet = directory.path().join("sheet.png");
    let path = sheet.to_str().unwrap();
    assert!(stdout(&["data", "show", "shapes", "-o", path]).is_empty(), "messages go to standard error");
    let picture = image::open(&sheet).unwrap();
    assert!(picture.width() > 600 && picture.height() > 400);
    let before = std::fs::read(&sheet).unwrap();
    let refused = unbraid(&["data", "show", "pinwheel", "-o", path]).output().unwrap();
    let message = "error: DIR/sheet.png: the file exists\nhint: --overwrite replaces it";
    check_failure(&refused, directory.path(), 2, message);
    assert_eq!(std::fs::read(&sheet).unwrap(), before);
    stdout(&["data", "show", "pinwheel", "-o", path, "--overwrite"]);
    assert_ne!(std::fs::read(&sheet).unwrap(), before);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "nothing else is left behind");
}

/// In the middle there is a shape in many images, in the corners in none.
#[test]
fn the_mean_of_all_images_is_bright_in_the_middle() {
    let bench = Bench::new();
    bench.succeed(
        &["data", "show", "shapes(orientations=2, positions=8)", "--mean", "-o", "mean.png"],
        &["wrote"],
    );
    let picture = image::open(bench.path("mean.png")).unwrap().to_luma8();
    // 16 pixels of margin and 40 of title above an image of 256 x 256.
    assert_eq!(picture.height(), 16 + 40 + 256 + 16);
    let at = |across: u32, down: u32| picture.get_pixel(16 + across, 56 + down).0[0];
    assert_eq!([at(1, 1), at(254, 1), at(1, 254), at(254, 254)], [0; 4]);
    assert!(at(128, 128) > 128, "{}", at(128, 128));
    bench.refuse(
        &["data", "show", "pinwheel", "--mean", "-o", "points.png"],
        "error: --mean: found the points of pinwheel, expected images",
    );
    assert!(!bench.path("points.png").exists());
}

#[test]
fn convert_writes_what_info_reads() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("shapes.npz");
    let path = file.to_str().unwrap();
    stdout(&["data", "convert", "shapes(orientations=2, positions=4)", "-o", path]);
    let json: serde_json::Value = serde_json::from_str(&stdout(&["data", "info", path, "--json"])).unwrap();
    assert_eq!((json["name"].as_str(), json["images"].as_u64()), (Some("dsprites"), Some(3 * 6 * 2 * 4 * 4)));
    let refused =
        unbraid(&["data", "convert", "pinwheel", "-o"]).arg(directory.path().join("p.npz")).output();
    // The first number of the first pair outside of [0, 1].
    let message = "error: pixels of data set `pinwheel`: found 1.1707444, expected values in [0, 1] for byte pixels; \
                   write floats instead";
    check_failure(&refused.unwrap(), directory.path(), 2, message);
    assert_eq!(
        std::fs::read_dir(directory.path()).unwrap().count(),
        1,
        "no half-written file is left behind"
    );
}

#[test]
fn mistakes_get_one_clear_message() {
    let bench = Bench::new();
    bench.refuse(
        &["dta"],
        "error: unrecognized subcommand 'dta'\n\n  tip: a similar subcommand exists: 'data'\n\n\
         Usage: unbraid [OPTIONS] [COMMAND]\n\nFor more information, try '--help'.",
    );
    let info = |data: &str, message: &str| bench.refuse(&["data", "info", data], message);
    info("shapse", "error: unknown data set `shapse`\nhint: did you mean `shapes`?");
    info(
        "shapes(orientation=4)",
        "error: data set `shapes` has no option `orientation`\nhint: did you mean `orientations`?",
    );
    info("no/such/file.npz", "error: no/such/file.npz: cannot open: No such file or directory (os error 2)");
    info(
        "mnist",
        "error: path of data set `mnist`: found none, expected the directory of its four idx files, gzip-compressed or \
         not\n\
         hint: say where it is: `unbraid train PATH`, `--set data.path=PATH`, `--data PATH` for a run, or \
         `\"mnist(path=PATH)\"` wherever a data set is named",
    );
    let show = |more: &[&str], message: &str| {
        bench.refuse(&[&["data", "show", "shapes", "-o"], more].concat(), message);
    };
    show(&["sheet.gif"], "error: sheet.gif: expected a name that ends in .png, or in .svg for a table");
    show(&["no/such/place/sheet.png"], "error: no/such/place/sheet.png: its directory does not exist");
    show(
        &["x.png", "--columns", "0"],
        "error: invalid value '0' for '--columns <COLUMNS>': 0 is not in 1..=100\n\nFor more information, try '--help'.",
    );
    assert!(!bench.path("x.png").exists());
}

/// `unbraid data list | head -1`: the reader goes away, and nobody complains.
#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_error() {
    use std::process::Stdio;
    let program = assert_cmd::cargo::cargo_bin("unbraid");
    let mut child = std::process::Command::new(program)
        .args(["data", "list", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{:?}", output.status);
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A full disk: exit code 1, the reason, and nothing left behind.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported() {
    if !Path::new("/dev/full").exists() {
        skip("there is no /dev/full here");
        return;
    }
    let program = assert_cmd::cargo::cargo_bin("unbraid");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = std::process::Command::new(program)
        .args(["data", "list"])
        .stdout(full)
        .stderr(std::process::Stdio::piped())
        .output()
        .unwrap();
    let message = "error: cannot write to standard output: No space left on device (os error 28)";
    check_failure(&output, Path::new("/dev"), 1, message);
}
