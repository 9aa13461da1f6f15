//! No command reaches the network, whatever it is given; SECURITY.md promises it. strace lists the calls.

use crate::kill_everywhere::can_trace;
use crate::support::{Bench, skip};
use std::fs;
use std::process::Command;

#[test]
fn no_command_opens_a_connection() {
    if !can_trace() {
        skip("strace is not installed or may not trace");
        return;
    }
    let bench = Bench::new();
    let address = "http://127.0.0.1:9/images.npz";
    for (arguments, code) in [
        (vec!["train", "--config", "tiny.toml", "--out", "run", "--threads", "1"], 0),
        (vec!["report", "run"], 0),
        (vec!["encode", "run", "-o", "codes.npz"], 0),
        (vec!["train", address, "--out", "other"], 2),
        (vec!["data", "info", address], 2),
        (vec!["import", address, "-o", "other"], 2),
    ] {
        let trace = bench.path("trace");
        let mut command = Command::new("strace");
        command.current_dir(bench.directory.path()).args(["-f", "-qq", "-e", "trace=%network", "-o"]);
        command.arg(&trace).arg(assert_cmd::cargo::cargo_bin("unbraid")).args(&arguments);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
        assert_eq!(fs::read_to_string(trace).unwrap(), "", "{arguments:?}");
    }
}
