//! What shells, `man` and people are told of the command.

use crate::support::Bench;
use std::fs;
use std::process::{Command, Stdio};

#[test]
fn completions_name_every_command() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = bench.expect_output(&["completions", shell]);
        for word in ["import", "export", "evaluate", "traverse"] {
            assert!(script.contains(word), "{shell} {word}");
        }
    }
    // The shell itself reads its script, and completes a verb with it.
    let script = bench.expect_output(&["completions", "bash"]);
    fs::write(bench.path("completions.bash"), script).unwrap();
    let ask = "source completions.bash; COMP_WORDS=(unbraid expo); COMP_CWORD=1; _unbraid unbraid expo unbraid; echo ${COMPREPLY[@]}";
    let output = Command::new("bash")
        .args(["--norc", "-c", ask])
        .current_dir(bench.directory.path())
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "export");
    bench.refuse(
        &["completions", "tcsh"],
        "error: invalid value 'tcsh' for '<SHELL>'\n  [possible values: bash, zsh, fish]\n\n  tip: a similar value exists: 'zsh'\n\nFor more information, try '--help'.",
    );
}

#[test]
fn every_command_has_a_manual_page() {
    let bench = Bench::new();
    let main = bench.expect_output(&["man"]);
    assert!(main.contains(".TH unbraid 1") && main.contains("unbraid\\-train(1)"), "{main}");
    bench.succeed(&["man", "-o", "man1"], &["pages to man1"]);
    for page in ["unbraid.1", "unbraid-train.1", "unbraid-study-run.1", "unbraid-import.1"] {
        assert!(bench.path("man1").join(page).is_file(), "{page}");
    }
    let train = fs::read_to_string(bench.path("man1/unbraid-train.1")).unwrap();
    assert!(train.contains("\\-\\-init") && train.contains("Start from these weights"));
    bench.refuse(
        &["man", "-o", "man1"],
        "error: man1/unbraid.1: the file exists\nhint: --overwrite replaces it",
    );
}

#[test]
fn the_version_says_what_a_report_needs() {
    let bench = Bench::new();
    let version = concat!("unbraid ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(bench.expect_output(&["--version"]), version);
    assert_eq!(bench.expect_output(&["-V"]), version);
    let verbose = bench.expect_output(&["--version", "--verbose"]);
    assert!(verbose.starts_with(version));
    for word in ["target: ", "features: onnx, parquet, cpu", "profile: ", "\ncpu      "] {
        assert!(verbose.contains(word), "{word}: {verbose}");
    }
    let output = bench.unbraid(&["--verbose"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let output = bench.unbraid(&["--allow-large"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("expected a command"));
}

#[test]
fn devices_are_listed_and_missing_ones_refused_with_the_feature() {
    let bench = Bench::new();
    let devices = bench.expect_output(&["devices"]);
    assert_eq!(devices.lines().count(), 5);
    assert!(devices.starts_with("cpu ") && devices.contains(" threads, "));
    if devices.contains("vulkan   not in this build: cargo build --release --features vulkan") {
        bench.refuse(
            &["train", "--config", "tiny.toml", "--device", "vulkan:1"],
            "error: --device: found `vulkan:1`, expected `cpu`, since this build lacks `--features vulkan`",
        );
    }
    bench.refuse(
        &["train", "--config", "tiny.toml", "--device", "tpu"],
        "error: --device: found `tpu`, expected `cpu`, `cuda`, `wgpu`, `vulkan` or `metal`, or one of several cards, as in \
         `cuda:1`",
    );
}
