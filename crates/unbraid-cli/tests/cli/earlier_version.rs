//! Run and study directories that an earlier version wrote, before the library was split into crates: every
//! command still works on them, and codes are the ones that the earlier version computed.

use crate::support::Bench;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// As the earlier version left them; `README.md` there has the commands.
const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/earlier");

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn bench() -> Bench {
    let bench = Bench::new();
    copy(Path::new(FIXTURE), bench.directory.path());
    bench
}

fn numbers(csv: &str) -> Vec<Vec<f64>> {
    csv.lines().skip(1).map(|line| line.split(',').filter_map(|cell| cell.parse().ok()).collect()).collect()
}

/// Convolutions add in another order since then: single precision, sums of some hundred terms, and a dozen
/// layers leave five digits.
#[test]
fn codes_are_those_that_the_earlier_version_computed() {
    let bench = bench();
    bench.succeed(&["encode", "run", "-o", "now.csv"], &[]);
    let [then, now] = ["codes.csv", "now.csv"].map(|name| fs::read_to_string(bench.path(name)).unwrap());
    assert_eq!(then.lines().next(), now.lines().next());
    let (then, now) = (numbers(&then), numbers(&now));
    assert_eq!(then.len(), now.len());
    for (row, (then, now)) in then.iter().zip(&now).enumerate() {
        assert_eq!(then.len(), now.len(), "row {row}");
        for (then, now) in then.iter().zip(now) {
            assert!((then - now).abs() <= 1e-5 * then.abs().max(1.0), "row {row}: {then} {now}");
        }
    }
}

#[test]
fn every_command_opens_the_run() {
    let bench = bench();
    let before: Value = serde_json::from_slice(&fs::read(bench.path("run/scores.json")).unwrap()).unwrap();
    assert!(before.is_object());
    bench.succeed(&["compare", "run", "run", "--format", "csv"], &[]);
    bench.succeed(&["evaluate", "run", "--metrics", "mig,sap"], &[]);
    bench.succeed(&["evaluate", "run", "--metrics", "mig", "--recompute"], &[]);
    bench.succeed(&["measure", "run", "--images", "32"], &[]);
    bench.succeed(&["traverse", "run", "-o", "traversal.png"], &[]);
    bench.succeed(&["sample", "run", "-o", "samples.png"], &[]);
    bench.succeed(&["name", "run", "1=size"], &[]);
    bench.succeed(&["report", "run"], &[]);
    assert!(fs::read_to_string(bench.path("run/report.html")).unwrap().contains("size"));
    // It is done; there is nothing to resume, and it can go on.
    bench.succeed(&["train", "--quiet", "--out", "run", "--resume"], &[]);
    bench.succeed(&["train", "--quiet", "--out", "run", "--extend", "50"], &[]);
    assert_eq!(unbraid::Run::open(bench.path("run")).unwrap().step(), 50);
}

/// Stopped by a signal, as the earlier version noted it.
#[test]
fn an_interrupted_run_is_resumed() {
    let bench = bench();
    bench.succeed(&["train", "--quiet", "--out", "stopped", "--resume"], &[]);
    let status: Value =
        serde_json::from_slice(&fs::read(bench.path("stopped/status.json")).unwrap()).unwrap();
    assert_eq!(status["state"], "done");
}

#[test]
fn every_command_opens_the_study() {
    let bench = bench();
    bench.succeed(&["study", "status", "study"], &[]);
    bench.succeed(&["study", "table", "study", "-o", "table.csv"], &[]);
    let table = fs::read_to_string(bench.path("table.csv")).unwrap();
    assert_eq!(table.lines().count(), 3, "{table}");
    bench.succeed(&["study", "report", "study"], &[]);
    bench.succeed(&["study", "run", "study"], &[]);
}
