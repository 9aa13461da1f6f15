//! File names that are no Unicode, bytes that old systems wrote, such as Latin-1; names that are commands of
//! a terminal; and names that are formulas.

use crate::support::{Bench, check, train_on_rows};
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

/// Names of runs, of folders and of columns that would colour or clear the screen: they are written out
/// wherever they are shown.
#[test]
fn names_are_no_commands_for_a_terminal() {
    let bench = Bench::new();
    let (run, other) = ("\u{1b}[31mrun", "\u{1b}[2Jother");
    for (run, seed) in [(run, "seed=1"), (other, "seed=2")] {
        bench.train(run, &["--set", seed]).assert().success();
        bench.succeed(&["evaluate", run, "--metrics", "mig", "--no-chance"], &[]);
    }
    bench.succeed(&["sample", run, "-n", "3", "-o", "\u{1b}[31mphotos"], &[]);
    let rows: String =
        (0..20).map(|row| format!("{row},{}\n", ["\u{1b}[31mred", "green"][row % 2])).collect();
    fs::write(bench.path("\u{1b}[31mrows.csv"), format!("\u{1b}[31mx,kind\n{rows}")).unwrap();
    for arguments in [
        &["compare", run, other, "--format", "table"][..],
        &["compare", run, other, "--format", "csv"],
        &["best", run, other, "--format", "table"],
        &["report", run],
        &["name", run, "0=\u{1b}[31msize"],
        &["sample", run, "-n", "2", "-o", "\u{1b}[31ma.png"],
        &["encode", run, "--data", "folder(path=\u{1b}[31mphotos, channels=1)", "-o", "\u{1b}[31mcodes.csv"],
        &["data", "info", "table(path=\u{1b}[31mrows.csv, columns=\u{1b}[31mx, factors=kind)"],
        &["report", "\u{1b}[31mgone"],
        &["data", "info", "\u{1b}[31mgone"],
        &["study", "status", "\u{1b}[31mgone"],
    ] {
        let output = bench.unbraid(arguments).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("\\u{1b}[31m") && !text.contains('\u{1b}'), "{arguments:?}: {text:?}");
    }
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

/// So do the names of columns and of runs, in every other table.
#[test]
fn names_of_columns_and_runs_are_no_formulas_for_a_spreadsheet() {
    let bench = Bench::new();
    train_on_rows(&bench, "rows");
    bench.succeed(&["encode", "rows", "--quiet", "-o", "codes.csv"], &[]);
    let header = |arguments: &[&str]| {
        bench.succeed(&[arguments, &["--quiet", "--overwrite", "-o", "table.csv"]].concat(), &[]);
        fs::read_to_string(bench.path("table.csv")).unwrap().lines().next().unwrap().to_owned()
    };
    let first_cells = |arguments: &[&str]| -> Vec<String> {
        let table = bench.expect_output(arguments);
        table.lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned()).collect()
    };
    for command in [&["sample", "rows", "-n", "2"][..], &["decode", "rows", "codes.csv"]] {
        assert_eq!(header(command), "=1+2,@b,c");
        assert_eq!(header(&[command, &["--spreadsheet"]].concat()), "'=1+2,'@b,c");
    }
    let edit = ["edit", "rows", "--quiet", "--index", "0", "--set", "0=1"];
    assert_eq!(first_cells(&edit), ["=1+2", "@b", "c"]);
    assert_eq!(first_cells(&[&edit[..], &["--spreadsheet"]].concat()), ["'=1+2", "'@b", "c"]);

    for (run, seed) in [("=run", "seed=1"), ("other", "seed=2")] {
        bench.train(run, &["--set", seed]).assert().success();
        bench.succeed(&["evaluate", run, "--quiet", "--metrics", "mig", "--no-chance"], &[]);
    }
    let compare = ["compare", "=run", "other"];
    let names = |more: &[&str]| -> Vec<String> {
        let mut names = first_cells(&[&compare[..], more].concat());
        names.dedup();
        names
    };
    assert_eq!(names(&[]), ["=run", "other"]);
    assert_eq!(names(&["--spreadsheet"]), ["'=run", "other"]);
    let best = bench.expect_output(&["best", "=run", "other", "--by", "mig", "--spreadsheet"]);
    assert!(best.contains(",'=run,") && best.contains(",other,"), "{best}");
    for (arguments, found, expected) in [
        (&["sample", "rows", "-o", "a.npz"][..], "a.npz", "a name that ends in .csv"),
        (
            &["edit", "rows", "--index", "0", "--set", "0=1", "-o", "a.png"],
            "a.png",
            "a name that ends in .csv",
        ),
        (&["compare", "=run", "--format", "json"], "--format json", "--format csv"),
        (&["best", "=run", "--format", "table"], "--format table", "--format csv"),
    ] {
        let message = format!("error: --spreadsheet: found {found}, expected {expected}");
        bench.refuse(&[arguments, &["--spreadsheet"]].concat(), &message);
    }
}
