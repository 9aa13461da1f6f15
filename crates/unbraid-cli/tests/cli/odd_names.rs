//! File names that are no Unicode, bytes that old systems wrote, such as Latin-1; and names that are formulas.

use crate::support::{Bench, check};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// "café" and "sortie" with é in Latin-1.
const RUN: &[u8] = b"caf\xe9";

fn named(bench: &Bench, name: &[u8]) -> PathBuf {
    bench.directory.path().join(OsStr::from_bytes(name))
}

#[test]
fn a_run_and_what_is_made_of_it_may_have_any_name() {
    let bench = Bench::new();
    let run = |arguments: &[&[u8]]| {
        let output = bench.unbraid(&[]).args(arguments.iter().map(|word| OsStr::from_bytes(word))).output();
        check(&output.unwrap(), &[]);
    };
    run(&[b"train", b"--quiet", b"--config", b"tiny.toml", b"--out", RUN]);
    run(&[b"train", b"--quiet", b"--extend", b"80", b"--out", RUN]);
    run(&[b"evaluate", RUN, b"--metrics", b"mig"]);
    run(&[b"report", RUN]);
    run(&[b"sample", RUN, b"-n", b"3", b"-o", b"im\xe9ges"]);
    run(&[b"encode", RUN, b"--image", b"im\xe9ges/0000.png", b"-o", b"cod\xe9s.csv"]);
    run(&[b"decode", RUN, b"cod\xe9s.csv", b"-o", b"d\xe9cod\xe9.png"]);
    run(&[b"reconstruct", RUN, b"--image", b"im\xe9ges/0000.png", b"-o", b"deux\xe9.png"]);
    run(&[b"compare", RUN, RUN, b"-o", b"compar\xe9.html"]);
    run(&[b"name", RUN, b"0=size"]);
    for file in [&b"caf\xe9/report.html"[..], b"d\xe9cod\xe9.png", b"deux\xe9.png", b"compar\xe9.html"] {
        assert!(named(&bench, file).is_file());
    }
}

/// The second of three images, which has such a name, is read, and is called by its bytes.
#[test]
fn images_may_have_any_name() {
    let bench = Bench::new();
    bench.train("run", &[]).assert().success();
    bench.succeed(&["sample", "run", "-n", "3", "-o", "photos"], &[]);
    fs::create_dir(named(&bench, b"photos/\xe9t\xe9")).unwrap();
    fs::rename(bench.path("photos/0001.png"), named(&bench, b"photos/0001\xff.png")).unwrap();
    fs::rename(bench.path("photos/0002.png"), named(&bench, b"photos/\xe9t\xe9/2.png")).unwrap();
    let output =
        bench.unbraid(&["encode", "run", "--data", "folder(path=photos, channels=1)"]).output().unwrap();
    check(&output, &[]);
    let table = String::from_utf8(output.stdout).unwrap();
    let names: Vec<&str> = table.lines().skip(1).map(|line| line.split(',').nth(1).unwrap()).collect();
    assert_eq!(names, ["0000.png", "0001\\xFF.png", "\\xE9t\\xE9/2.png"], "{table}");
}

/// A folder of images from a stranger becomes a table, which is opened in a spreadsheet.
#[test]
fn file_names_are_no_formulas_for_a_spreadsheet() {
    let bench = Bench::new();
    bench.train("run", &[]).assert().success();
    bench.succeed(&["sample", "run", "-n", "3", "-o", "photos"], &[]);
    fs::rename(bench.path("photos/0001.png"), bench.path("photos/=1+2.png")).unwrap();
    fs::rename(bench.path("photos/0002.png"), bench.path("photos/@a.png")).unwrap();
    let encode = ["encode", "run", "--data", "folder(path=photos, channels=1)"];
    let names = |more: &[&str]| -> Vec<String> {
        let table = bench.expect_output(&[&encode, more].concat());
        table.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().to_owned()).collect()
    };
    assert_eq!(names(&[]), ["0000.png", "=1+2.png", "@a.png"]);
    assert_eq!(names(&["--spreadsheet"]), ["0000.png", "'=1+2.png", "'@a.png"]);
    bench.refuse(
        &[&encode[..], &["--spreadsheet", "-o", "a.npz"]].concat(),
        "error: --spreadsheet: found a.npz, expected a name that ends in .csv",
    );
}
