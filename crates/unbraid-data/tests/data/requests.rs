//! Names, options and splits: what is accepted, and what is refused before any file is read.

use crate::support::{after_path, chain, factors, missing, open_spec};
use unbraid_data::registry::{ENTRIES, open};
use unbraid_data::{DataSpec, progress::Silent};

fn refused(spec: &str) -> String {
    chain(&open_spec(spec).expect_err(spec))
}

#[test]
fn misspelled_names_and_options_get_a_suggestion() {
    assert_eq!(refused("shapse"), "unknown data set `shapse`\nhint: did you mean `shapes`?");
    assert_eq!(refused("fashion"), "unknown data set `fashion`\nhint: did you mean `fashion-mnist`?");
    assert_eq!(
        refused("qqqq"),
        "unknown data set `qqqq`\nhint: known names are shapes, scenes, dsprites, colour-dsprites, noisy-dsprites, \
         scream-dsprites, smallnorb, cars3d, shapes3d, mpi3d, mnist, fashion-mnist, pinwheel, npz, table, celeba, chairs, \
         folder, and there is no file or folder of this name"
    );
    assert_eq!(
        refused("shapes(orientation=10)"),
        "data set `shapes` has no option `orientation`\nhint: did you mean `orientations`?"
    );
    assert_eq!(
        refused("shapes(zzz=10)"),
        "data set `shapes` has no option `zzz`\nhint: its options are scales, orientations, positions, triangle, \
         variant, picture, split, train_fraction, split_by, split_seed"
    );
    assert_eq!(
        refused("pinwheel(split_by=cluster)"),
        "data set `pinwheel` has no option `split_by`\nhint: did you mean `split`?"
    );
}

#[test]
fn impossible_values_are_refused() {
    for (spec, expected) in [
        (
            "pinwheel(radial=3)",
            "option `radial` of data set `pinwheel`: found 3, expected a number between 0 and 1",
        ),
        (
            "shapes(orientations=7)",
            "option `orientations` of data set `shapes`: found 7, expected a divisor of 40",
        ),
        (
            "shapes(orientations=0)",
            "option `orientations` of data set `shapes`: found 0, expected a whole number from 1 to 40",
        ),
        (
            "shapes(orientations=-4)",
            "option `orientations` of data set `shapes`: found -4, expected a whole number from 1 to 40",
        ),
        (
            "shapes(orientations=4.5)",
            "option `orientations` of data set `shapes`: found 4.5, expected a whole number from 1 to 40",
        ),
        (
            "shapes(positions=many)",
            "option `positions` of data set `shapes`: found \"many\", expected a whole number from 1 to 32",
        ),
        (
            "shapes(variant=purple)",
            "option `variant` of data set `shapes`: found \"purple\", expected one of plain, colour, noisy, scream",
        ),
        (
            "shapes(split=dev)",
            "option `split` of data set `shapes`: found \"dev\", expected one of all, train, test",
        ),
        ("shapes(split=7)", "option `split` of data set `shapes`: found 7, expected one of all, train, test"),
        (
            "shapes(split=train, train_fraction=1.5)",
            "option `train_fraction` of data set `shapes`: found 1.5, expected a number between 0 and 1",
        ),
        (
            "shapes(split=train, split_by=size)",
            "option `split_by` of data set `shapes`: found \"size\", expected one of shape, scale, orientation, x, y",
        ),
        (
            "shapes(path=here)",
            "path of data set `shapes`: found here, expected no path: the data set is generated",
        ),
        (
            "mnist",
            "path of data set `mnist`: found none, expected the directory of its four idx files, gzip-compressed or not",
        ),
    ] {
        assert_eq!(refused(spec), expected, "{spec}");
    }
    let neither = open(&DataSpec::default(), &Silent).unwrap_err();
    assert_eq!(chain(&neither), "data set: found neither name nor path, expected one of them");
}

#[test]
fn splits_are_deterministic_disjoint_and_complete() {
    let part = |part: &str| open_spec(&format!("shapes(orientations=4, positions=8, split={part})")).unwrap();
    let (train, test) = (part("train"), part("test"));
    let total = 3 * 6 * 4 * 8 * 8;
    assert_eq!(train.len() + test.len(), total);
    assert_eq!(train.len(), (total as f64 * 0.8).round() as usize);
    let rows =
        |data: &dyn unbraid_data::DataSet| (0..data.len()).map(|i| factors(data, i)).collect::<Vec<_>>();
    let (train_rows, test_rows) = (rows(train.as_ref()), rows(test.as_ref()));
    assert_eq!(train_rows, rows(part("train").as_ref()));
    let distinct: std::collections::HashSet<_> = train_rows.iter().chain(&test_rows).collect();
    assert_eq!(distinct.len(), total);
    assert!(!train.is_full_grid());
    let other = open_spec("shapes(orientations=4, positions=8, split=train, split_seed=1)").unwrap();
    assert_ne!(train_rows, rows(other.as_ref()));
    assert_ne!(train.fingerprint().unwrap(), other.fingerprint().unwrap());
}

#[test]
fn a_split_by_factor_holds_out_its_last_values() {
    let train =
        open_spec("shapes(orientations=4, positions=8, split=train, split_by=scale, train_fraction=0.5)");
    let train = train.unwrap();
    assert_eq!(train.len(), 3 * 3 * 4 * 8 * 8);
    assert!((0..train.len()).all(|i| factors(train.as_ref(), i)[1] < 3));
}

/// Every entry of the registry is tried on these paths.
#[test]
fn unknown_paths_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("notes.txt");
    std::fs::write(&file, "nothing to see").unwrap();
    let directory = directory.path().join("");
    let images = "images, or the files of a known data set";
    for (path, found, expected) in [
        (file.as_path(), "a file of unknown type", "a known data set"),
        (directory.as_path(), "a directory with no images but one other file: notes.txt", images),
    ] {
        let error = refused(&path.display().to_string());
        assert_eq!(
            after_path(&error, path),
            format!("path: found {found}, expected {expected}; give its name to open it regardless")
        );
    }
    let image = directory.join("one.png");
    std::fs::write(&image, "").unwrap();
    assert_eq!(
        after_path(&refused(&image.display().to_string()), &image),
        "path: found an image, expected a folder of images, or another data set"
    );
    assert_eq!(refused("no/such.npz"), format!("no/such.npz: {}", missing()));
}

#[test]
fn the_table_is_well_formed() {
    let mut names: Vec<_> = ENTRIES.iter().map(|entry| entry.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), ENTRIES.len(), "names are unique");
    assert!(ENTRIES.iter().all(|entry| !entry.summary.is_empty() && entry.summary.len() < 64));
}
