//! Tables of vectors: CSV, Parquet, `.npy` and `.npz`. Expected values come from the formulas in `make_tables.py`.

use crate::support::{after_path, chain, damage, fixture, open, open_path, refusal, written};
use unbraid_data::random::Stream;
use unbraid_data::{DataSet, DataSpec, FactorKind, Features, ImageShape, registry};

fn row(data: &dyn DataSet, index: usize) -> Vec<f64> {
    let mut values = vec![0.0; data.shape().values()];
    data.write_row(index, Stream::new(0, "").at(0).lane(0), &mut values).unwrap();
    values
}

fn rows(data: &dyn DataSet) -> Vec<Vec<f64>> {
    (0..data.len()).map(|index| row(data, index)).collect()
}

fn spec(name: &str) -> DataSpec {
    DataSpec::named("table").with_path(fixture("tables").join(name))
}

/// What is said of a gap in a column of numbers.
const NO_NUMBER: &str =
    "found nothing, expected a number; missing = \"skip\" leaves such rows out, \"mean\" fills in the mean";

const PEOPLE: &str = "\u{feff}name,x1,x2,age\nA,0.5,1e3,30\nB, -1 ,2,40\nA,2.5,,50\n";

#[test]
fn a_csv_is_a_table_of_its_numbers() {
    let (_directory, path) = written("people.csv", PEOPLE.replace(",,", ",7,").as_bytes());
    let data = open_path("table", &path).unwrap();
    assert_eq!(data.columns().unwrap(), ["x1", "x2", "age"], "names are no numbers");
    assert_eq!(data.shape(), ImageShape::new(1, 3, 1));
    assert_eq!(rows(data.as_ref()), [[0.5, 1000.0, 30.0], [-1.0, 2.0, 40.0], [2.5, 7.0, 50.0]]);
    assert!(data.factors().is_none());
    assert_eq!(registry::recognise(&path).unwrap().name, "table");
}

#[test]
fn columns_are_chosen_and_others_are_factors() {
    let (_directory, path) = written("people.csv", PEOPLE.replace(",,", ",7,").as_bytes());
    let spec = DataSpec::named("table").with_path(&path).with("columns", "x*").with("factors", "name+age");
    let data = open(&spec).unwrap();
    assert_eq!(data.columns().unwrap(), ["x1", "x2"]);
    let space = data.factors().unwrap();
    let kinds: Vec<_> = space.factors().iter().map(|f| (f.name.as_str(), f.size, f.kind)).collect();
    assert_eq!(kinds, [("name", 2, FactorKind::Categorical), ("age", 3, FactorKind::Ordered)]);
    let mut factors = [9; 2];
    data.factors_of(2, &mut factors);
    assert_eq!(factors, [0, 2]);
    // In the order in which they are asked for.
    let data = open(&DataSpec::named("table").with_path(&path).with("columns", "age+x1")).unwrap();
    assert_eq!(row(data.as_ref(), 1), [40.0, -1.0]);
    let refused = |columns: &str| open(&spec.clone().with("columns", columns)).unwrap_err().to_string();
    assert_eq!(
        refused("x1+z*"),
        "option `columns` of data set `table`: found \"z*\", which no column matches, expected some of the columns \
         name, x1, x2 and 1 more"
    );
    // Factors are not trained on: a pattern leaves them out, and a column cannot be both.
    let data = open(&spec.clone().with("columns", "*")).unwrap();
    assert_eq!(data.columns().unwrap(), ["x1", "x2"]);
    assert_eq!(
        refused("x1+age"),
        "option `columns` of data set `table`: found \"age\", which is a factor, expected columns that `factors` does not \
         name"
    );
}

#[test]
fn missing_values_are_refused_skipped_or_filled() {
    let (_directory, path) = written("people.csv", PEOPLE.as_bytes());
    assert_eq!(refusal("table", &path), format!("row 3, column `x2`: {NO_NUMBER}"));
    let with =
        |missing: &str| open(&DataSpec::named("table").with_path(&path).with("missing", missing)).unwrap();
    let skipped = with("skip");
    assert_eq!(rows(skipped.as_ref()), [[0.5, 1000.0, 30.0], [-1.0, 2.0, 40.0]]);
    assert_eq!(skipped.image_name(1), Some("row 2"));
    assert_eq!(row(with("mean").as_ref(), 2), [2.5, 501.0, 50.0], "the mean of 1000 and 2");
    for word in ["NA", "nan", "NULL", "None", " "] {
        let (_directory, path) = written("a.csv", format!("a,b\n1,{word}\n2,3\n").as_bytes());
        assert_eq!(refusal("table", &path), format!("row 1, column `b`: {NO_NUMBER}"), "{word}");
    }
    // A label cannot be filled.
    for word in ["", "NA", "null", " n/a "] {
        let (_directory, path) = written("a.csv", format!("a,b\n1,x\n2,{word}\n").as_bytes());
        let spec = DataSpec::named("table").with_path(&path).with("factors", "b");
        for missing in ["error", "mean"] {
            let error = chain(&open(&spec.clone().with("missing", missing)).unwrap_err());
            assert_eq!(
                after_path(&error, &path),
                "row 2, column `b`: found nothing, expected the value of a factor; missing = \"skip\" leaves such rows out"
            );
        }
        assert_eq!(open(&spec.with("missing", "skip")).unwrap().len(), 1);
    }
    // What may be a label is one.
    let (_directory, path) = written("a.csv", b"a,sign,glasses\n1,+,none\n2,-,round\n");
    let spec = DataSpec::named("table").with_path(&path).with("factors", "sign+glasses");
    assert_eq!(open(&spec).unwrap().factors().unwrap().len(), 2);
}

#[test]
fn wrong_cells_are_located() {
    for (text, columns, message) in [
        ("a,b\n1,2\n3,x\n", "b", "row 2, column `b`: found `x`, expected a number"),
        ("a,b\n1,inf\n", "*", "row 1, column `b`: found inf, expected a finite number"),
        ("a,a\n1,2\n", "*", "header: found the column `a` twice, expected a different name for every column"),
        ("a,b\n1,2\n3\n", "*", "line 3: found a row of 1 cell, expected 2, as in the first line"),
        ("a,b\n", "*", "table: found no rows, expected at least one row"),
        (
            "a,b\n1,\n2,\n",
            "*",
            "column `b`: found no number at all, expected numbers; `columns` can leave it out",
        ),
    ] {
        let (_directory, path) = written("a.csv", text.as_bytes());
        let error = open(&DataSpec::named("table").with_path(&path).with("columns", columns)).unwrap_err();
        assert_eq!(chain(&error), format!("{}: {message}", path.display()), "{text}");
    }
    let (_directory, path) = written("a.csv", b"a,b\nx,y\n");
    assert_eq!(refusal("table", &path), "table: found no column of numbers, expected at least one");
    let (_directory, path) = written("a.csv", b"a,b\n1,2\n\xff,3\n");
    assert_eq!(
        refusal("table", &path),
        "line 3: found bytes in cell 1 that are not UTF-8, expected text in UTF-8"
    );
    let (_directory, path) = written("a.csv", b"a,b\n1,\n,2\n");
    let error = open(&DataSpec::named("table").with_path(&path).with("missing", "skip")).unwrap_err();
    assert_eq!(
        after_path(&chain(&error), &path),
        "table: found an empty cell in every row, expected at least one row without one"
    );
}

#[test]
fn other_separators_and_no_header() {
    for (name, text) in [("a.csv", "a;b\n1;2\n"), ("a.tsv", "a\tb\n1\t2\n"), ("a.csv", ",a,b\n0,1,2\n")] {
        let (_directory, path) = written(name, text.as_bytes());
        let data = open_path("table", &path).unwrap();
        // A column without a name is an index that a program wrote.
        assert_eq!(
            (data.columns().unwrap(), row(data.as_ref(), 0)),
            (&["a", "b"].map(str::to_owned)[..], vec![1.0, 2.0])
        );
    }
    let (_directory, path) = written("a.csv", b"1,2\n3,4\n");
    let data = open(&DataSpec::named("table").with_path(&path).with("header", false)).unwrap();
    assert_eq!(
        (data.columns().unwrap().join(" "), rows(data.as_ref())),
        ("x0 x1".to_owned(), vec![vec![1.0, 2.0], vec![3.0, 4.0]])
    );
}

#[test]
fn numpy_arrays_of_two_axes_are_tables() {
    let data = open(&spec("floats.npy")).unwrap();
    assert_eq!(data.columns().unwrap(), ["x0", "x1", "x2"]);
    for index in 0..6 {
        let number = index as f64;
        assert_eq!(row(data.as_ref(), index), [number / 4.0, 100.0 - number, number * number]);
    }
    assert_eq!(
        refusal("table", &fixture("tables/one_axis.npy")),
        "array `one_axis`: found shape [4], expected 2 axes"
    );
    assert_eq!(
        refusal("table", &fixture("tables/two_arrays.npz")),
        "archive: found several arrays of two axes: first, second, expected array = \"NAME\", which says which"
    );
    let second = open(&spec("two_arrays.npz").with("array", "second")).unwrap();
    assert_eq!((second.len(), row(second.as_ref(), 2)), (3, vec![1.0, 1.0]));
}

/// scikit-learn's digits: 1,797 rows of 64 counts, and the digit.
#[test]
fn digits_have_the_moments_that_numpy_finds() {
    let data = open(&DataSpec::at(fixture("tables/digits.npz"))).unwrap();
    assert_eq!((data.name(), data.len(), data.shape().values()), ("table", 1797, 64));
    let digit = &data.factors().unwrap().factors()[0];
    assert_eq!((digit.name.as_str(), digit.size, digit.kind), ("digit", 10, FactorKind::Categorical));
    let features = Features::of(data.as_ref()).unwrap();
    for (column, name, mean, deviation) in [
        (2, "pixel_0_2", 5.204_785_754_034_502, 4.753_503_165_476_308),
        (20, "pixel_2_4", 7.097_941_012_799_11, 6.174_009_933_121_541),
        // Nobody ever wrote there.
        (0, "pixel_0_0", 0.0, 1.0),
    ] {
        let found = &features.columns()[column];
        assert_eq!(found.name, name);
        assert!((found.mean - mean).abs() < 1e-9 && (found.deviation - deviation).abs() < 1e-9, "{found:?}");
    }
}

/// Every byte of a file changed once: each file is read or refused, and none is a panic.
#[cfg(feature = "parquet")]
#[test]
fn damaged_parquet_never_panics() {
    let whole = std::fs::read(fixture("tables/small.parquet")).unwrap();
    let mut refused = 0;
    for place in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x55;
        let (_directory, path) = written("a.parquet", &bytes);
        let spec = DataSpec::named("table").with_path(&path).with("missing", "skip").with("factors", "name");
        refused += usize::from(open(&spec).is_err());
    }
    assert!(refused > 0 && refused < whole.len(), "{refused} of {}", whole.len());
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_has_numbers_text_and_gaps() {
    let path = fixture("tables/small.parquet");
    assert_eq!(registry::recognise(&path).unwrap().name, "table");
    assert_eq!(refusal("table", &path), format!("row 4, column `x2`: {NO_NUMBER}"));
    let data = open(&spec("small.parquet").with("missing", "skip").with("factors", "name")).unwrap();
    assert_eq!(data.columns().unwrap(), ["id", "x1", "x2", "flag"], "a list is no column of numbers");
    assert_eq!(row(data.as_ref(), 3), [4.0, 1.0, 96.0, 0.0], "the fifth row of the file");
    assert_eq!(data.factors().unwrap().factors()[0].labels, ["a", "b", "ä"]);
    let chosen = open(&spec("small.parquet").with("columns", "x1+id")).unwrap();
    assert_eq!(row(chosen.as_ref(), 5), [1.25, 5.0]);
    assert_eq!(
        refusal("table", &fixture("tables/zstd.parquet")),
        "column `id`: found ZSTD compression, expected none, or Snappy"
    );
    let expected = "file: found damaged or unknown data, expected a whole Parquet file";
    let (_directory, path) = written("a.parquet", b"PAR1 and nothing else");
    assert_eq!(damage("table", &path), expected);
}

#[test]
fn options_that_do_not_apply_are_refused() {
    let error = |spec: DataSpec| open(&spec).unwrap_err().to_string();
    assert_eq!(
        error(spec("floats.npy").with("array", "a")),
        "option `array` of data set `table`: found \"a\", expected nothing: only an .npz has arrays"
    );
    assert_eq!(
        error(spec("floats.npy").with("header", true)),
        "option `header` of data set `table`: found true, expected nothing: only a CSV has a header"
    );
    let (_directory, path) = written("a.txt", b"1");
    assert_eq!(
        refusal("table", &path),
        "file: found a name of another kind, expected a name that ends in .csv, .tsv, .parquet, .npy or .npz"
    );
}

#[test]
fn a_table_survives_its_conversion() {
    use unbraid_data::convert::{PixelType, write_npz};
    use unbraid_data::progress::Silent;
    let (directory, path) = written("people.csv", PEOPLE.replace(",,", ",7,").as_bytes());
    let data = open(&DataSpec::named("table").with_path(&path).with("factors", "name")).unwrap();
    let out = directory.path().join("people.npz");
    write_npz(data.as_ref(), PixelType::Bytes, 0, std::fs::File::create(&out).unwrap(), &Silent).unwrap();
    let back = open(&DataSpec::at(&out)).unwrap();
    assert_eq!((back.name(), back.columns()), ("table", data.columns()));
    assert_eq!(rows(back.as_ref()), rows(data.as_ref()));
    assert_eq!(back.factors().unwrap().factors()[0].name, "name");
}
