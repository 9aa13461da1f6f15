//! Every command that writes on a disk without room: exit code 1, the file named, and every other file as it was.

use crate::support::{Bench, Disk, TINY, assert_same, check, check_last_failure, skip, train_on_rows};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

const IMAGE: &str = "photos/0000.png";
const SHAPES: &str = "shapes(scales=2, orientations=2, positions=4)";

/// What writes files, and the first of them below `disk/`, or a directory in which any may be the first.
const WRITING: &[(&[&str], &str)] = &[
    (&["evaluate", "disk/run", "--metrics", "mig"], "run/codes.npz"),
    (&["report", "disk/run"], "run/figures/"),
    (&["compare", "disk/run", "disk/run", "-o", "disk/compare.html"], "compare.html"),
    (&["encode", "disk/run", "--image", IMAGE, "-o", "disk/codes.csv"], "codes.csv"),
    (&["encode", "disk/run", "--image", IMAGE, "-o", "disk/codes.npz"], "codes.npz"),
    (&["encode", "disk/run", "--image", IMAGE, "-o", "disk/codes.parquet"], "codes.parquet"),
    (&["encode", "disk/run", "--image", IMAGE, "--projector", "disk/projector"], "projector/"),
    (&["export", "disk/run", "--format", "onnx", "-o", "disk/onnx"], "onnx/"),
    (&["export", "disk/run", "--format", "safetensors", "-o", "disk/weights"], "weights/"),
    // The page comes first, which one of the runs does not have.
    (&["export", "disk/run", "--format", "hub", "-o", "disk/hub"], "run/figures/"),
    (&["export", "disk/reported", "--format", "hub", "-o", "disk/hub"], "hub/"),
    (&["import", "torch_mlp.pt", "--mapping", "torch_mlp.toml", "-o", "disk/imported"], "imported/"),
    (&["decode", "disk/run", "codes.csv", "-o", "disk/decoded.png"], "decoded.png"),
    (&["decode", "disk/run", "codes.csv", "-o", "disk/decoded"], "decoded/"),
    (&["sample", "disk/run", "-o", "disk/samples.npz"], "samples.npz"),
    (&["sample", "disk/run", "-o", "disk/samples.png"], "samples.png"),
    (&["sample", "disk/run", "-o", "disk/samples"], "samples/"),
    (&["sample", "rows", "-o", "disk/samples.csv"], "samples.csv"),
    (&["edit", "rows", "--index", "0", "--set", "0=1", "-o", "disk/edited.csv"], "edited.csv"),
    (&["reconstruct", "disk/run", "--image", IMAGE, "-o", "disk/both.png"], "both.png"),
    (&["traverse", "disk/run", "-o", "disk/units.png"], "units.png"),
    (&["traverse", "disk/run", "--unit", "1", "-o", "disk/unit.gif"], "unit.gif"),
    (&["infer", "disk/run", "--unit", "0", "-o", "disk/unit.png"], "unit.png"),
    (&["name", "disk/run", "0=size"], "run/units.toml"),
    (&["edit", "disk/run", "--image", IMAGE, "--set", "0=1", "-o", "disk/edited.png"], "edited.png"),
    (&["interpolate", "disk/run", IMAGE, "photos/0001.png", "-o", "disk/way.gif"], "way.gif"),
    (&["prior", "show", "--prior", "standard-normal", "-o", "disk/prior.png"], "prior.png"),
    (&["data", "show", SHAPES, "-o", "disk/data.png"], "data.png"),
    (&["data", "show", SHAPES, "--mean", "-o", "disk/mean.png"], "mean.png"),
    (&["data", "convert", SHAPES, "-o", "disk/data.npz"], "data.npz"),
    (&["train", "--quiet", "--config", "tiny.toml", "--out", "disk/other"], "other/"),
    (&["train", "--quiet", "--extend", "80", "--out", "disk/run"], "run/"),
    (&["study", "new", "empty", "disk/empty"], "empty/study.toml"),
    (&["study", "plan", "disk/study", "--no-timing"], "study/manifest.jsonl"),
    (&["study", "table", "disk/study", "-o", "disk/table.csv"], "table.csv"),
    (&["study", "table", "disk/study", "-o", "disk/table.json"], "table.json"),
    (&["study", "table", "disk/study", "-o", "disk/table.parquet"], "table.parquet"),
    (&["study", "import", "disk/study", "published.csv"], "study/imported/published.csv"),
    (&["study", "report", "disk/study"], "study/report.html"),
    (&["study", "report", "disk/study", "-o", "disk/page.html"], "page.html"),
    (&["man", "-o", "disk/man"], "man/unbraid.1"),
];

/// What writes to standard output.
const PRINTING: &[&[&str]] = &[
    &["encode", "run", "--image", "photos/0000.png"],
    &["compare", "run", "run"],
    &["measure", "run", "--images", "8", "--likelihood-images", "1", "--samples", "2"],
    &["metrics"],
    &["data", "info", SHAPES],
    &["presets"],
    &["presets", "show", "default"],
    &["bench", "--config", "tiny.toml"],
    &["objectives"],
    &["train", "--config", "tiny.toml", "--print-config"],
    &["study", "presets"],
    &["study", "presets", "show", "burgess"],
    &["study", "plan", "study", "--no-timing"],
    &["study", "status", "study"],
    &["study", "table", "study"],
    &["study", "submit", "study", "--engine", "print"],
    &["best", "run", "other"],
    &["evaluate", "--codes", "codes.npz", "--metrics", "mig", "--no-chance"],
    &["data", "list"],
    &["config", "reference"],
    &["devices"],
    &["completions", "bash"],
    &["man"],
    &["cache", "info"],
    &["cache", "clean"],
];

/// What has a test of its own: `a_study_goes_on_after_a_full_disk`.
const ELSEWHERE: &[&[&str]] = &[&["study", "run"]];

/// All files below a directory, by their paths; the lock of a run, which stays and is empty, aside.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if !path.ends_with(".lock") {
            found.insert(path.display().to_string(), fs::read(&path).unwrap());
        }
    }
    found
}

/// Takes all the room that is left.
fn fill(path: &Path) {
    let mut filler = File::create(path).unwrap();
    for piece in [1 << 16, 1 << 12, 1] {
        while filler.write_all(&vec![0; piece]).is_ok() {}
    }
}

/// A study of one tiny run, which is done.
fn make_study(bench: &Bench) {
    let study = bench.path("disk/study");
    fs::create_dir(&study).unwrap();
    fs::write(bench.path("disk/base.toml"), TINY).unwrap();
    fs::write(study.join("study.toml"), "config = \"../base.toml\"\nseeds = [0]\n").unwrap();
    bench.succeed(&["study", "plan", "disk/study", "--no-timing"], &[]);
    bench.succeed(&["study", "run", "disk/study"], &[]);
}

/// What the commands of [`WRITING`] need, on a disk and beside it.
fn prepare(bench: &Bench) {
    bench.train("disk/run", &[]).assert().success();
    bench.succeed(&["sample", "disk/run", "-n", "2", "-o", "photos"], &[]);
    bench.succeed(&["encode", "disk/run", "--image", "photos/0000.png", "-o", "codes.csv"], &[]);
    fs::write(bench.path("published.csv"), "method,beta,seed,mig\nbeta-vae,1,0,0.5\n").unwrap();
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for file in ["crates/unbraid/tests/fixtures/torch_mlp.pt", "fuzz/seeds/import/torch_mlp.toml"] {
        let file = repository.join(file);
        fs::copy(&file, bench.path(file.file_name().unwrap().to_str().unwrap())).unwrap();
    }
    train_on_rows(bench, "rows");
    bench.train("disk/reported", &[]).assert().success();
    bench.succeed(&["report", "disk/reported", "--quiet"], &[]);
    make_study(bench);
}

#[test]
fn every_command_that_writes_reports_a_full_disk() {
    let bench = Bench::new();
    let Some(_disk) = Disk::mount(bench.path("disk"), "20m") else { return };
    prepare(&bench);
    fill(&bench.path("disk/filler"));
    let before = files(&bench.path("disk"));
    for &(arguments, file) in WRITING {
        let output = bench.unbraid(arguments).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        // Where a directory has a file for each image, figure or part, any of them may be the first.
        let start = format!("error: cannot write disk/{file}");
        let named = text.rfind(&start).map_or("", |place| &text[place + start.len()..]);
        let any = named.split(": No space left").next().filter(|_| file.ends_with('/')).unwrap_or("");
        let message = format!("{start}{any}: No space left on device (os error 28)");
        check_last_failure(&output, bench.directory.path(), 1, &message);
        let after = files(&bench.path("disk"));
        let changed = after.iter().find(|(path, bytes)| before.get(*path) != Some(bytes));
        assert_eq!(changed.map(|(path, _)| path), None, "{arguments:?}");
        assert!(before.keys().all(|path| after.contains_key(path)), "{arguments:?}");
    }
}

/// Somebody else's run, or one on a medium that cannot be written.
#[test]
fn every_command_that_writes_reports_a_read_only_disk() {
    let bench = Bench::new();
    let Some(disk) = Disk::mount(bench.path("disk"), "20m") else { return };
    prepare(&bench);
    disk.remount("ro");
    for (arguments, _) in WRITING {
        let output = bench.unbraid(arguments).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        let error = text.find("error: ").map_or("", |start| &text[start..]);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(error.contains("disk/"), "{arguments:?}: {text}");
        assert!(error.ends_with(": Read-only file system (os error 30)\n"), "{arguments:?}: {text}");
    }
    disk.remount("rw");
}

/// `study run` without room for a lease, and with room for a part of the runs. What is left is resumed once
/// there is room, to the same bytes as elsewhere. (`study_submit.rs` has that of `study submit`.)
#[test]
fn a_study_goes_on_after_a_full_disk() {
    let bench = Bench::new();
    let Some(_disk) = Disk::mount(bench.path("disk"), "4m") else { return };
    for directory in ["disk", "elsewhere"] {
        let study = bench.path(directory).join("study");
        fs::create_dir_all(&study).unwrap();
        fs::write(bench.path(directory).join("base.toml"), TINY).unwrap();
        fs::write(study.join("study.toml"), "config = \"../base.toml\"\nseeds = [0, 1]\n").unwrap();
        bench.succeed(&["study", "plan", study.to_str().unwrap(), "--no-timing"], &[]);
    }
    bench.succeed(&["study", "run", "elsewhere/study"], &[]);
    let expected = weights(&bench.path("elsewhere/study"));
    let names: Vec<&String> = expected.keys().collect();

    let filler = bench.path("disk/filler");
    fill(&filler);
    let before = files(&bench.path("disk"));
    let output = bench.unbraid(&["study", "run", "disk/study", "--jobs", "1"]).output().unwrap();
    let lease = format!("error: disk/study/claims/{}: cannot write the lease", names[0]);
    let message = format!("{lease}: No space left on device (os error 28)");
    check_last_failure(&output, bench.directory.path(), 1, &message);
    assert_eq!(files(&bench.path("disk")), before);

    // Enough for configurations and logs, not for checkpoints.
    let size = fs::metadata(&filler).unwrap().len();
    File::options().write(true).open(&filler).unwrap().set_len(size - (1 << 16)).unwrap();
    let output = bench.unbraid(&["study", "run", "disk/study", "--jobs", "1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains(" of 2 runs failed"), "{text}");
    assert!(text.contains("No space left on device (os error 28)"), "{text}");

    fs::remove_file(filler).unwrap();
    bench.succeed(&["study", "run", "disk/study", "--retry-failed"], &[]);
    assert_eq!(weights(&bench.path("disk/study")), expected);
    let is_left = |path: &String| path.contains(".partial");
    assert!(!files(&bench.path("disk")).keys().any(is_left));
}

/// The final weights of the runs of a study, by their names.
fn weights(study: &Path) -> BTreeMap<String, Vec<u8>> {
    let runs = fs::read_dir(study.join("runs")).unwrap().map(|entry| entry.unwrap().path());
    let name = |run: &Path| run.file_name().unwrap().to_str().unwrap().to_owned();
    runs.map(|run| (name(&run), fs::read(run.join("checkpoints/last.safetensors")).unwrap())).collect()
}

/// What goes to standard output.
#[test]
fn every_command_that_prints_reports_a_full_disk() {
    if !Path::new("/dev/full").exists() {
        return skip("there is no /dev/full here");
    }
    let bench = Bench::new();
    for run in ["run", "other"] {
        bench.train(run, &[]).assert().success();
        bench.succeed(&["evaluate", run, "--metrics", "mig"], &[]);
    }
    bench.succeed(&["sample", "run", "-n", "2", "-o", "photos"], &[]);
    fs::copy(bench.path("run/codes.npz"), bench.path("codes.npz")).unwrap();
    fs::create_dir(bench.path("study")).unwrap();
    fs::write(bench.path("study/study.toml"), "config = \"../tiny.toml\"\nseeds = [0]\n").unwrap();
    bench.succeed(&["study", "plan", "study", "--no-timing"], &[]);
    for arguments in PRINTING {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("unbraid"));
        let output = command
            .args(*arguments)
            .current_dir(bench.directory.path())
            .env("UNBRAID_CACHE", bench.path("cache"))
            .stdout(full)
            .output()
            .unwrap();
        let message = "error: cannot write to standard output: No space left on device (os error 28)";
        check_last_failure(&output, bench.directory.path(), 1, message);
    }
}

/// Every command has a manual page; each is in one of the lists above, or has a test of its own.
#[test]
fn no_command_is_forgotten() {
    let bench = Bench::new();
    bench.succeed(&["man", "-o", "man"], &[]);
    let tested: Vec<&[&str]> = WRITING
        .iter()
        .map(|(arguments, _)| *arguments)
        .chain(PRINTING.iter().chain(ELSEWHERE).copied())
        .collect();
    let mut commands = 0;
    for page in fs::read_dir(bench.path("man")).unwrap() {
        // unbraid-study-run.1, and unbraid.1 for all of them.
        let page = page.unwrap().file_name().into_string().unwrap();
        let words: Vec<&str> = page.trim_end_matches(".1").split('-').skip(1).collect();
        assert!(tested.iter().any(|arguments| arguments.starts_with(&words)), "{words:?}");
        commands += 1;
    }
    assert!(commands > 40, "{commands}");
}

/// The earlier run is removed first, as was asked for, and what there is then can be overwritten again.
#[test]
fn an_overwrite_is_repeated_after_a_full_disk() {
    let bench = Bench::new();
    let Some(_disk) = Disk::mount(bench.path("disk"), "20m") else { return };
    bench.train("disk/run", &[]).assert().success();
    fill(&bench.path("disk/filler"));
    // More weights than the earlier run leaves room for.
    let wider =
        ["--overwrite", "--set", "model.architecture={ name = \"burgess\", channels = 32, hidden = 64 }"];
    let output = bench.train("disk/run", &wider).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.starts_with("error: ") && text.ends_with("No space left on device (os error 28)\n"),
        "{text}"
    );
    fs::remove_file(bench.path("disk/filler")).unwrap();
    bench.train("disk/run", &wider).assert().success();
    bench.train("elsewhere", &wider[1..]).assert().success();
    assert_same(&bench.path("elsewhere"), &bench.path("disk/run"));
}

/// Images that fit into memory stay there, with a note. Those that do not have nowhere else to be.
#[test]
fn a_full_disk_of_the_cache_is_reported() {
    let bench = Bench::new();
    let Some(_disk) = Disk::mount(bench.path("disk"), "1m") else { return };
    bench.train("run", &[]).assert().success();
    // 64 images of 4 KiB.
    bench.succeed(&["sample", "run", "-n", "64", "-o", "photos"], &[]);
    fill(&bench.path("disk/filler"));
    let info = |limit: &str| {
        let mut command = bench.unbraid(&["data", "info", "folder(path=photos, channels=1)"]);
        command.env("UNBRAID_CACHE", "disk/cache").env("UNBRAID_MEMORY_LIMIT", limit).output().unwrap()
    };
    let notes = check(&info("1000000000"), &[]);
    let note = "disk/cache: cannot cache the decoded images: No space left on device (os error 28)";
    assert!(notes.contains(note), "{notes}");
    // More than half of the limit.
    let output = info("400000");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.starts_with("error: disk/cache/"), "{text}");
    assert!(
        text.ends_with(".pixels: cannot write decoded images: No space left on device (os error 28)\n"),
        "{text}"
    );
    assert_eq!(files(&bench.path("disk")).len(), 1, "nothing but the filler");
    // With room, they are there, and checked when they are used.
    fs::remove_file(bench.path("disk/filler")).unwrap();
    check(&info("400000"), &[]);
    let cached: Vec<u64> = fs::read_dir(bench.path("disk/cache"))
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .collect();
    // The images, the hashes of their four blocks of 64 KiB, and that of the list of hashes.
    assert_eq!(cached, [64 * 4096 + 4 * 32 + 32]);
}
