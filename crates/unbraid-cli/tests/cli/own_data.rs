//! Data of one's own: a folder is enough, and runs are found again wherever they are.

use crate::support::{Bench, check, without_directory};
use image::{Rgb, RgbImage};
use std::fs;
use std::path::Path;
use unbraid::Run;
use unbraid::data::progress::Silent;

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
    let small = ["photos", "--steps", "3", "--batch-size", "4", "--seed", "2", "--set", "data.size=32"];
    let config = print(&small);
    for line in ["seed = 2\n", "steps = 3\n", "batch_size = 4\n", "size = 32\n"] {
        assert!(config.contains(line), "{line}{config}");
    }
    // What bench measures is what train does.
    let measured = bench.expect_output(&[&["bench"], &small[..]].concat());
    assert!(
        measured.contains("conv, 4 images of 32 x 32 x 3\n") && measured.contains("3 steps"),
        "{measured}"
    );
    let output = bench.unbraid(&[&["train", "--no-report"], &small[..]].concat()).output().unwrap();
    let notes = check(&output, &["training beta-vae on folder (12 images of 32 x 32 x 3)"]);
    assert!(notes.contains("in runs/photos-beta-vae-seed2"), "{notes}");
    bench.refuse(
        &["train", "fotos"],
        "error: unknown data set `fotos`\nhint: known names are shapes, scenes, dsprites, colour-dsprites, noisy-dsprites, \
         scream-dsprites, smallnorb, cars3d, shapes3d, mpi3d, mnist, fashion-mnist, pinwheel, npz, table, celeba, chairs, folder, \
         and there is no file or folder of this name",
    );
    fs::create_dir(bench.path("videos")).unwrap();
    fs::write(bench.path("videos/a.mov"), "").unwrap();
    bench.refuse(
        &["train", "videos", "--set", "data.name=folder"],
        "error: videos: path: found a directory of unknown type, expected a known data set; give its name to open it \
         regardless",
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

/// Paths of a study start in the directory of its study.toml, those of the file that `config` names in its own, wherever the
/// command is run; and the runs of a study that is moved together with its data find it.
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
