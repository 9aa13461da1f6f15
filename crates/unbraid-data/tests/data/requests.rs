//! Names, options and splits: what is understood, and what is refused before any work.

use crate::support::{factors, open_spec};
use unbraid_data::registry::{ENTRIES, open};
use unbraid_data::{DataSpec, progress::Silent};

fn refused(spec: &str) -> String {
    open_spec(spec).expect_err(spec).to_string()
}

#[test]
fn misspelled_names_and_options_get_a_suggestion() {
    assert!(refused("shapse").contains("did you mean `shapes`?"));
    assert!(refused("fashion").contains("did you mean `fashion-mnist`?"));
    assert!(refused("qqqq").contains("unbraid data list"));
    assert!(refused("shapes(orientation=10)").contains("did you mean `orientations`?"));
    assert!(refused("shapes(zzz=10)").contains("it has scales, orientations"));
    assert!(refused("pinwheel(split_by=cluster)").contains("has no option `split_by`"));
}

#[test]
fn impossible_values_are_refused() {
    for (spec, expected) in [
        ("shapes(orientations=7)", "found 7, expected a divisor of 40"),
        ("shapes(orientations=0)", "found 0, expected a whole number from 1 to 40"),
        ("shapes(orientations=-4)", "found -4"),
        ("shapes(orientations=4.5)", "found 4.5, expected a whole number"),
        ("shapes(positions=many)", "found \"many\""),
        ("shapes(variant=purple)", "expected one of plain, colour, noisy, scream"),
        ("shapes(split=dev)", "expected one of all, train, test"),
        ("shapes(split=train, train_fraction=1.5)", "expected a number between 0 and 1"),
        ("shapes(split=train, split_by=size)", "expected one of shape, scale, orientation, x, y"),
        ("shapes(path=here)", "expected no path"),
        ("mnist", "found none, expected the directory"),
    ] {
        let error = refused(spec);
        assert!(error.contains(expected), "{spec}: {error}");
    }
    let neither = open(&DataSpec::default(), &Silent).unwrap_err().to_string();
    assert!(neither.contains("neither name nor path"), "{neither}");
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

/// Recognising tries every entry on every kind of path without harm.
#[test]
fn unknown_paths_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("notes.txt");
    std::fs::write(&file, "nothing to see").unwrap();
    let error = refused(&file.display().to_string());
    assert!(error.contains("an unknown kind of file") && error.contains("notes.txt"), "{error}");
    let error = refused(&directory.path().join("").display().to_string());
    assert!(error.contains("a directory without any of their files"), "{error}");
    assert!(refused("no/such.npz").contains("cannot open"));
}

#[test]
fn the_table_is_well_formed() {
    let mut names: Vec<_> = ENTRIES.iter().map(|entry| entry.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), ENTRIES.len(), "names are unique");
    assert!(ENTRIES.iter().all(|entry| !entry.summary.is_empty() && entry.summary.len() < 64));
}
