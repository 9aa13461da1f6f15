//! Studies from strangers: what is in them chooses no file elsewhere, neither to write nor to remove.
#![cfg(unix)]

use crate::support::study::Bench;
use crate::support::{check, check_failure, check_last_failure};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, SystemTime};

const SHORT: &str = "training={ batch_size = 8, steps = 2, log_every = 2, checkpoint_every = 2 }";

/// All files of a directory with their content.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    entries.map(|path| (name(&path), fs::read(&path).unwrap())).collect()
}

/// A directory with a file that has not changed for an hour: as a lease it would be stale, and removed.
fn precious(path: &Path) {
    fs::create_dir(path).unwrap();
    fs::write(path.join("thesis.tex"), "precious").unwrap();
    let file = fs::File::options().write(true).open(path.join("thesis.tex")).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
}

fn refusal(path: &str) -> String {
    format!(
        "error: DIR/study/{path}: found a symbolic link, expected a directory of the study itself\nhint: to keep it on \
         another disk, move the whole study there and link to that"
    )
}

#[test]
fn linked_directories_are_neither_written_nor_swept() {
    let bench = Bench::new(1, &[SHORT]);
    let directory = bench.bench.directory.path().to_owned();
    let elsewhere = directory.join("elsewhere");
    precious(&elsewhere);
    let before = files(&elsewhere);
    fs::write(directory.join("published.csv"), "method,beta,seed,mig\nbeta-vae,1,0,0.5\n").unwrap();
    for name in ["claims", "imported", "logs", "runs", "slurm"] {
        let link = bench.study.path().join(name);
        symlink(&elsewhere, &link).unwrap();
        bench.fail(&[], 2, &refusal(name));
        let imported = bench.command("import", &["published.csv"]).output().unwrap();
        check_failure(&imported, &directory, 2, &refusal(name));
        let submitted = bench.command("submit", &[]).output().unwrap();
        check_last_failure(&submitted, &directory, 2, &refusal(name));
        // Reading is harmless, and leaves no trace either.
        check(&bench.command("status", &[]).output().unwrap(), &[]);
        check(&bench.command("table", &[]).output().unwrap(), &[]);
        assert_eq!(files(&elsewhere), before, "{name}");
        fs::remove_file(link).unwrap();
    }
    // One run alone, in the place of which somebody else's directory is offered.
    let name = bench.manifest.entries[0].name.clone();
    fs::create_dir(bench.study.runs()).unwrap();
    symlink(&elsewhere, bench.run(0)).unwrap();
    bench.fail(&[], 2, &refusal(&format!("runs/{name}")));
    assert_eq!(files(&elsewhere), before);
    // One that is done is read, wherever it is.
    fs::remove_file(bench.run(0)).unwrap();
    bench.succeed(&[], &["1/1 done"]);
    fs::rename(bench.run(0), directory.join("archived")).unwrap();
    symlink(directory.join("archived"), bench.run(0)).unwrap();
    bench.succeed(&[], &[]);
}

/// Who names a link to a whole study means what it points to.
#[test]
fn a_link_to_a_whole_study_is_followed() {
    let bench = Bench::new(1, &[SHORT]);
    let link = bench.bench.path("linked");
    symlink(bench.study.path(), &link).unwrap();
    check(&bench.bench.unbraid(&["study", "run", "linked"]).output().unwrap(), &["1/1 done"]);
    assert!(bench.run(0).join("scores.json").is_file());
}
