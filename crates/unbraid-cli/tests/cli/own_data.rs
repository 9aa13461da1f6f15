//! Data of one's own: a folder is enough, and runs are found again wherever they are.

use crate::support::{Bench, TINY, check, without_directory};
use image::{Rgb, RgbImage};
use std::fs;
use std::path::Path;
use unbraid::Run;
use unbraid::data::progress::Silent;
use unbraid_study::{Manifest, StudyDirectory};

/// A folder of small pictures in colour, and a table that says which are red.
fn photographs(folder: &Path, count: u8) {
    fs::create_dir_all(folder).unwrap();
    let mut table = "file,red\n".to_owned();
    for number in 0..count {
        let red = number % 2 == 0;
        let colour = if red { [200, number * 9, 30] } else { [10, number * 9, 180] };
        RgbImage::from_pixel(40, 30, Rgb(colour)).save(folder.join(format!("{number}.png"))).unwrap();
        table.push_str(&format!("{number}.png,{}\n", if red { "yes" } else { "no" }));
    }
    fs::write(folder.join("../table.csv"), table).unwrap();
}

#[test]
fn a_folder_is_enough() {
    let bench = Bench::new();
    photographs(&bench.path("photos"), 12);
    let print = |arguments: &[&str]| {
        let text = bench.expect_output(&[&["train", "--print-config"], arguments].concat());
        without_directory(&text, bench.directory.path())
    };
    let config = print(&["photos"]);
    assert!(config.contains("[data]\nname = \"folder\"\npath = \"DIR/photos\"\n"), "{config}");
    assert_eq!(print(&["photos/"]).replace("photos/", "photos"), config, "with or without a slash");
    fs::write(bench.path("own.toml"), "[data]\npath = \"photos\"\n").unwrap();
    assert_eq!(print(&["--config", "own.toml"]), config);
    for setting in ["data=photos", "data.path=photos"] {
        assert_eq!(print(&["--set", setting]), config, "{setting}");
    }
    let small = ["photos", "--steps", "3", "--batch-size", "4", "--seed", "2", "--set", "data.size=32"];
    let config = print(&small);
    for line in ["seed = 2\n", "steps = 3\n", "batch_size = 4\n", "size = 32\n"] {
        assert!(config.contains(line), "{line}{config}");
    }
    // What bench measures is what train does.
    let measured = bench.expect_output(&[&["bench"], &small[..]].concat());
    for words in ["`unbraid train` does with these settings", "conv, 4 images of 32 x 32 x 3\n", "3 steps"] {
        assert!(measured.contains(words), "{measured}");
    }
    let output = bench.unbraid(&[&["train", "--no-report"], &small[..]].concat()).output().unwrap();
    let notes = check(&output, &["training beta-vae on folder (12 images of 32 x 32 x 3)"]);
    assert!(notes.contains("in runs/photos-beta-vae-seed2"), "{notes}");
    bench.refuse(
        &["train", "fotos"],
        "error: unknown data set `fotos`\nhint: known names are shapes, scenes, dsprites, colour-dsprites, noisy-dsprites, \
         scream-dsprites, smallnorb, cars3d, shapes3d, mpi3d, mnist, fashion-mnist, pinwheel, npz, table, celeba, chairs, folder, \
         and there is no file or folder of this name",
    );
    bench.refuse(
        &["train", "photos", "--set", "data.sise=32", "--print-config"],
        "error: data set `folder` has no option `sise`\nhint: did you mean `size`?",
    );
    fs::create_dir(bench.path("videos")).unwrap();
    fs::write(bench.path("videos/a.mov"), "").unwrap();
    bench.refuse(
        &["train", "videos", "--set", "data.name=folder"],
        "error: videos: path: found a directory with no images but one other file: a.mov, expected images, or the files of a \
         known data set; give its name to open it regardless",
    );
}

/// A run with an attribute table works from any directory, and after it was moved together with its data.
#[test]
fn a_run_and_its_data_can_be_moved() {
    let bench = Bench::new();
    let project = bench.path("project");
    photographs(&project.join("photos"), 12);
    fs::create_dir(project.join("settings")).unwrap();
    let config = "[data]\npath = \"../photos\"\nattributes = \"../table.csv\"\nsize = 16\n\
                  [training]\nbatch_size = 4\nsteps = 4\ncheckpoint_every = 2\n[evaluation]\nafter_training = false\n\
                  report = false\n[model]\narchitecture = { name = \"mlp\", encoder = [8], decoder = [8] }\n";
    fs::write(project.join("settings/own.toml"), config).unwrap();
    // From a directory that is neither that of the configuration nor that of the data.
    bench.succeed(
        &["train", "--quiet", "--config", "project/settings/own.toml", "--out", "project/runs/own"],
        &[],
    );
    bench.succeed(&["encode", "project/runs/own", "--quiet", "-o", "before.csv"], &[]);
    let header = fs::read_to_string(bench.path("before.csv")).unwrap();
    assert!(header.starts_with("image,name,mean_0") && header.contains("factor_red"), "{header}");

    let moved = bench.path("elsewhere/deep");
    fs::create_dir(bench.path("elsewhere")).unwrap();
    fs::rename(&project, &moved).unwrap();
    bench.succeed(&["encode", "elsewhere/deep/runs/own", "--quiet", "-o", "after.csv"], &[]);
    assert_eq!(fs::read(bench.path("after.csv")).unwrap(), fs::read(bench.path("before.csv")).unwrap());
    bench.succeed(
        &[
            "measure",
            "elsewhere/deep/runs/own",
            "--images",
            "8",
            "--likelihood-images",
            "2",
            "--samples",
            "2",
            "--quiet",
        ],
        &[],
    );
    // What is at its old place by now is not its data.
    photographs(&project.join("photos"), 6);
    let encoded = |out: &str| {
        bench.succeed(&["encode", "elsewhere/deep/runs/own", "--quiet", "-o", out], &[]);
        fs::read(bench.path(out)).unwrap()
    };
    assert_eq!(encoded("beside.csv"), fs::read(bench.path("before.csv")).unwrap());
    bench.succeed(&["train", "--quiet", "--out", "elsewhere/deep/runs/own", "--extend", "5"], &[]);
    fs::remove_dir_all(&project).unwrap();
    // It goes on where it is, with its own configuration or the same file, and stays movable.
    bench.succeed(&["train", "--quiet", "--out", "elsewhere/deep/runs/own", "--extend", "6"], &[]);
    bench.succeed(
        &[
            "train",
            "--quiet",
            "--resume",
            "--out",
            "elsewhere/deep/runs/own",
            "--config",
            "elsewhere/deep/settings/own.toml",
            "--steps",
            "6",
        ],
        &[],
    );
    fs::rename(&moved, bench.path("third")).unwrap();
    let run = Run::open(bench.path("third/runs/own")).unwrap();
    assert_eq!(run.step(), 6);
    let data = run.open_data(&Silent).unwrap();
    assert_eq!((data.data.len(), data.data.factors().unwrap().factors()[0].name.as_str()), (12, "red"));
    // Without its data, the message has the path that was configured.
    fs::rename(bench.path("third/photos"), bench.path("third/pictures")).unwrap();
    let project = project.display();
    bench.refuse(
        &["encode", "third/runs/own", "--quiet"],
        &format!("error: {project}/photos: cannot open: No such file or directory (os error 2)")
            .replace(&bench.directory.path().display().to_string(), "DIR"),
    );
}

/// The picture of backgrounds is found like any other file of the data.
#[test]
fn a_run_and_its_picture_can_be_moved() {
    let bench = Bench::new();
    let project = bench.path("project");
    fs::create_dir(&project).unwrap();
    let painting = RgbImage::from_fn(200, 150, |x, y| Rgb([x as u8, y as u8, (x * y) as u8]));
    painting.save(project.join("painting.png")).unwrap();
    let data = "[data]\nname = \"shapes\"\nscales = 2\norientations = 2\npositions = 4\nvariant = \"scream\"\n\
                picture = \"painting.png\"\n";
    let (before, after) = TINY.split_once("[data]\n").unwrap();
    let (_, rest) = after.split_once("[model]").unwrap();
    fs::write(project.join("own.toml"), format!("{before}{data}[model]{rest}")).unwrap();
    let train = ["train", "--quiet", "--config", "project/own.toml", "--steps", "2"];
    bench.succeed(&[&train[..], &["--out", "project/runs/own"]].concat(), &[]);
    let encoded = |run: &str| bench.expect_output(&["encode", run, "--quiet"]);
    let before = encoded("project/runs/own");
    fs::rename(&project, bench.path("moved")).unwrap();
    assert_eq!(encoded("moved/runs/own"), before);
    // Another painting at the old place is not that of the run.
    fs::create_dir(&project).unwrap();
    RgbImage::new(200, 150).save(project.join("painting.png")).unwrap();
    assert_eq!(encoded("moved/runs/own"), before);
}

/// A study of three runs on a folder beside it.
fn study_of_photographs(project: &Path) {
    photographs(&project.join("photos"), 12);
    fs::create_dir(project.join("study")).unwrap();
    let study = "base = \"photographs\"\n[set]\ndata = { path = \"../photos\", size = 16, attributes = \"../table.csv\" }\n\
                 training = { batch_size = 4, steps = 2 }\nevaluation = { after_training = false }\n\
                 model = { architecture = { name = \"mlp\", encoder = [8], decoder = [8] } }\n\
                 [grid]\n\"objective.beta\" = [1, 2, 3]\n";
    fs::write(project.join("study/study.toml"), study).unwrap();
}

fn names_in(directory: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = fs::read_dir(directory).unwrap().map(name).collect();
    names.sort();
    names
}

/// A study that is moved together with its data while runs are pending goes on: those that are done stay
/// done, and the others keep their names.
#[test]
fn a_study_goes_on_after_it_was_moved_with_its_data() {
    let bench = Bench::new();
    study_of_photographs(&bench.path("project"));
    bench.succeed(&["study", "plan", "project/study", "--no-timing"], &[]);
    bench.succeed(&["study", "run", "project/study", "--id", "0"], &["1/1 done"]);
    let planned: Vec<String> = {
        let manifest = StudyDirectory::open(&bench.path("project/study")).unwrap().read_manifest().unwrap();
        manifest.entries.into_iter().map(|entry| entry.name).collect()
    };
    let first = bench.path("moved/study/runs").join(&planned[0]).join("status.json");

    fs::rename(bench.path("project"), bench.path("moved")).unwrap();
    let trained_at = fs::read(&first).unwrap();
    let status = bench.expect_output(&["study", "status", "moved/study"]);
    assert!(status.contains("done            1\n") && status.contains("pending         2\n"), "{status}");
    let output = bench.unbraid(&["study", "run", "moved/study"]).output().unwrap();
    let notes = check(&output, &["3/3 done"]);
    assert!(!notes.contains("warning"), "{notes}");
    let summary = String::from_utf8(output.stdout).unwrap();
    assert!(summary.contains("finished now    2\n"), "{summary}");
    assert_eq!(fs::read(&first).unwrap(), trained_at, "a run that was done is left alone");
    let mut expected = planned.clone();
    expected.sort();
    assert_eq!(names_in(&bench.path("moved/study/runs")), expected);
    // Runs from before and after the move are runs of the same data.
    bench.succeed(&["study", "table", "moved/study", "-o", "table.csv"], &[]);

    // Planned again in a third place, all are recognised.
    fs::create_dir(bench.path("deep")).unwrap();
    fs::rename(bench.path("moved"), bench.path("deep/project")).unwrap();
    let plan = bench.expect_output(&["study", "plan", "deep/project/study", "--no-timing"]);
    assert!(plan.contains("kept         3, 3 of them trained\nnew          0\n"), "{plan}");
    let summary = bench.expect_output(&["study", "run", "deep/project/study"]);
    assert_eq!(summary, "runs            3\ndone            3\n");

    // Moved alone, it keeps what it has trained.
    fs::rename(bench.path("deep/project/study"), bench.path("alone")).unwrap();
    let status = bench.expect_output(&["study", "status", "alone"]);
    assert!(status.contains("done            3\n"), "{status}");
}

/// Earlier versions hashed absolute paths, and their manifests have no others.
#[test]
fn a_study_of_an_earlier_version_keeps_its_runs() {
    let bench = Bench::new();
    study_of_photographs(&bench.path("project"));
    bench.succeed(&["study", "plan", "project/study", "--no-timing"], &[]);
    let study = StudyDirectory::open(&bench.path("project/study")).unwrap();
    let mut manifest = study.read_manifest().unwrap();
    for entry in &mut manifest.entries {
        let hash = entry.configuration.fingerprint();
        assert_ne!(entry.hash, hash);
        entry.name = entry.name.replace(&entry.hash[..8], &hash[..8]);
        (entry.hash, entry.paths) = (hash, Default::default());
    }
    manifest.write(&study.manifest()).unwrap();
    let output = bench.unbraid(&["study", "run", "project/study", "--only", "0..2"]).output().unwrap();
    assert!(!check(&output, &["2/2 done"]).contains("warning"));
    let before = names_in(&study.runs());

    let plan = bench.expect_output(&["study", "plan", "project/study", "--no-timing"]);
    assert!(plan.contains("kept         2, 2 of them trained\nnew          1\n"), "{plan}");
    // Tasks in a queue know even the pending one by its name.
    let names = |manifest: Manifest| -> Vec<String> {
        manifest.entries.into_iter().map(|entry| entry.name).collect()
    };
    assert_eq!(names(study.read_manifest().unwrap()), names(manifest.clone()));

    // Moved before it was planned again.
    manifest.write(&study.manifest()).unwrap();
    fs::rename(bench.path("project"), bench.path("moved")).unwrap();
    let status = bench.expect_output(&["study", "status", "moved/study"]);
    assert!(status.contains("done            2\n") && status.contains("pending         1\n"), "{status}");
    let plan = bench.expect_output(&["study", "plan", "moved/study", "--no-timing"]);
    assert!(plan.contains("kept         2, 2 of them trained\nnew          1\n"), "{plan}");
    let summary = bench.expect_output(&["study", "run", "moved/study"]);
    assert_eq!(summary, "runs            3\ndone            3\nfinished now    1\n");
    let after = names_in(&bench.path("moved/study/runs"));
    assert!(before.iter().all(|name| after.contains(name)), "{before:?} {after:?}");
}

/// A plan names the weights to start from by their path; the runs also have their hash.
#[test]
fn runs_of_a_study_that_start_from_weights_are_done() {
    let bench = Bench::new();
    let project = bench.path("project");
    study_of_photographs(&project);
    let network = "model.architecture={ name = \"mlp\", encoder = [8], decoder = [8] }";
    bench.succeed(
        &[
            "train",
            "project/photos",
            "--set",
            "data.size=16",
            "--set",
            network,
            "--set",
            "data.attributes=project/table.csv",
            "--steps",
            "2",
            "--batch-size",
            "4",
            "--no-report",
            "--quiet",
            "--out",
            "project/first",
        ],
        &[],
    );
    let file = project.join("study/study.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("steps = 2 }", "steps = 2, init = { path = \"../first\" } }")).unwrap();
    bench.succeed(&["study", "plan", "project/study", "--no-timing"], &[]);
    bench.succeed(&["study", "run", "project/study", "--only", "0..2"], &["2/2 done"]);
    fs::rename(&project, bench.path("moved")).unwrap();
    let summary = bench.expect_output(&["study", "run", "moved/study"]);
    assert_eq!(summary, "runs            3\ndone            3\nfinished now    1\n");
}

/// Paths of a study start in the directory of its study.toml, those of the file that `config` names in its
/// own, wherever the command is run; and the runs of a study that is moved together with its data find it.
#[test]
fn a_study_finds_its_data_from_anywhere() {
    let bench = Bench::new();
    let project = bench.path("project");
    photographs(&project.join("photos"), 12);
    fs::create_dir(project.join("settings")).unwrap();
    fs::create_dir(project.join("study")).unwrap();
    let config = "[data]\npath = \"../photos\"\nsize = 16\n[training]\nbatch_size = 4\nsteps = 2\n\
                  [evaluation]\nafter_training = false\n[objective]\nname = \"beta-vae\"\n\
                  [model]\nlatents = { continuous = 2 }\nlikelihood = \"bernoulli\"\n\narchitecture = { name = \"mlp\", encoder = [8], decoder = [8] }\n";
    fs::write(project.join("settings/base.toml"), config).unwrap();
    let study = "config = \"../settings/base.toml\"\n[set]\n\"data.attributes\" = \"../table.csv\"\n\
                 [grid]\n\"objective.beta\" = [1, 2]\n";
    fs::write(project.join("study/study.toml"), study).unwrap();
    bench.succeed(&["study", "plan", "project/study"], &[]);
    bench.succeed(&["study", "run", "project/study"], &["2/2 done"]);

    fs::rename(&project, bench.path("moved")).unwrap();
    let runs: Vec<_> =
        fs::read_dir(bench.path("moved/study/runs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(runs.len(), 2);
    for run in runs {
        let data = Run::open(run).unwrap().open_data(&Silent).unwrap();
        assert_eq!((data.data.len(), data.data.factors().unwrap().factors()[0].name.as_str()), (12, "red"));
    }
}
