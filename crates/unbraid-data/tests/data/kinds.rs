//! The kind of every factor of every data set: categorical, ordered or an angle.

use crate::support::{Array, chain, fixture, open, open_path, open_spec, refusal, write_npz};
use std::fs;
use std::path::Path;
use unbraid_data::FactorKind::{self, Angle, Categorical, Ordered};
use unbraid_data::convert::{PixelType, write_npz as convert};
use unbraid_data::progress::Silent;
use unbraid_data::{DataSet, DataSpec};

fn kinds(data: &dyn DataSet) -> Vec<(&str, FactorKind)> {
    data.factors().unwrap().factors().iter().map(|factor| (factor.name.as_str(), factor.kind)).collect()
}

fn save(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    ::image::RgbImage::new(4, 4).save(path).unwrap();
}

/// From the publications: dSprites turns by 2 pi; Shapes3D has hues on the colour circle but turns the room by 60
/// degrees only; MPI3D's arm moves by 180 degrees; azimuths of smallNORB, Cars3D and Chairs go all the way round.
#[test]
fn published_data_sets() {
    let dsprites =
        [("shape", Categorical), ("scale", Ordered), ("orientation", Angle), ("x", Ordered), ("y", Ordered)];
    assert_eq!(kinds(open_spec("shapes").unwrap().as_ref()), dsprites);
    assert_eq!(kinds(open_spec("shapes(variant=colour)").unwrap().as_ref()), dsprites);
    assert_eq!(kinds(open_spec("shapes(split=test, positions=4)").unwrap().as_ref()), dsprites);
    let hues = |kind: FactorKind| [("floor_hue", kind), ("wall_hue", kind), ("object_hue", kind)];
    for (spec, kind) in [("scenes(size=32)", Ordered), ("scenes(size=32, circular=true)", Angle)] {
        let others = [("scale", Ordered), ("shape", Categorical), ("orientation", Ordered)];
        assert_eq!(kinds(open_spec(spec).unwrap().as_ref()), [hues(kind), others].concat());
    }
    assert_eq!(kinds(open_spec("pinwheel").unwrap().as_ref()), [("cluster", Categorical)]);
    let read = |name: &str, file: &str| open_path(name, fixture(file)).unwrap();
    assert_eq!(kinds(read("mnist", "mnist").as_ref()), [("digit", Categorical)]);
    assert_eq!(
        kinds(read("smallnorb", "smallnorb").as_ref()),
        [
            ("category", Categorical),
            ("instance", Categorical),
            ("elevation", Ordered),
            ("azimuth", Angle),
            ("lighting", Categorical)
        ]
    );
    assert_eq!(
        kinds(read("cars3d", "cars3d").as_ref()),
        [("elevation", Ordered), ("azimuth", Angle), ("object", Categorical)]
    );
    assert_eq!(
        kinds(read("shapes3d", "shapes3d/latest_growing.h5").as_ref()),
        [
            ("floor hue", Angle),
            ("wall hue", Angle),
            ("object hue", Angle),
            ("scale", Ordered),
            ("shape", Categorical),
            ("orientation", Ordered)
        ]
    );
    let mpi3d =
        DataSpec::named("mpi3d").with_path(fixture("mpi3d/stored.npz")).with("sizes", "1x2x1x1x1x1x3");
    assert_eq!(
        kinds(open(&mpi3d).unwrap().as_ref()).into_iter().map(|(_, kind)| kind).collect::<Vec<_>>(),
        [Categorical, Categorical, Ordered, Ordered, Categorical, Ordered, Ordered]
    );
}

#[test]
fn folders_tell_numbers_from_words() {
    let root = tempfile::tempdir().unwrap();
    for chair in ["7", "8", "9"] {
        save(&root.path().join(format!("chairs/{chair}/renders/image_001_p020_t011_r096.png")));
        save(&root.path().join(format!("photos/{chair}.png")));
    }
    let chairs = open_path("chairs", root.path().join("chairs")).unwrap();
    assert_eq!(
        kinds(chairs.as_ref()),
        [("model", Categorical), ("elevation", Ordered), ("azimuth", Angle)],
        "also if models are numbers"
    );
    let table = root.path().join("labels.csv");
    fs::write(&table, "file,age,smiles,mood,wind\n7.png,3,1,glad,0\n8.png,10,-1,sad,90\n9.png,5,1,odd,180\n")
        .unwrap();
    let photos =
        DataSpec::named("folder").with_path(root.path().join("photos")).with("attributes", table.display());
    let guessed = [("age", Ordered), ("smiles", Categorical), ("mood", Categorical), ("wind", Ordered)];
    assert_eq!(kinds(open(&photos).unwrap().as_ref()), guessed);
    // The same in the table itself; options are stronger.
    let rows = "7.png,3,1,glad,0\n8.png,10,-1,sad,90\n9.png,5,1,odd,180\n";
    fs::write(&table, format!("file,age,smiles,mood,wind\n#kinds,categorical,number,,angle\n{rows}"))
        .unwrap();
    let stated = [("age", Categorical), ("smiles", Ordered), ("mood", Categorical), ("wind", Angle)];
    assert_eq!(kinds(open(&photos).unwrap().as_ref()), stated);
    let changed = [("age", Ordered), ("smiles", Ordered), ("mood", Categorical), ("wind", Angle)];
    assert_eq!(kinds(open(&photos.clone().with("ordered", "age")).unwrap().as_ref()), changed);
    fs::write(&table, format!("file,age,smiles,mood,wind\n#kinds,real,,,\n{rows}")).unwrap();
    assert_eq!(
        chain(&open(&photos).unwrap_err()),
        format!(
            "{}: line `#kinds`: found `real`, expected categorical, ordered, number, angle, or nothing",
            table.display()
        )
    );
    fs::write(&table, format!("file,age,smiles,mood,wind\n{rows}")).unwrap();
    let stated = photos.clone().with("angles", "wind").with("ordered", "smiles + mood");
    let expected = [("age", Ordered), ("smiles", Ordered), ("mood", Ordered), ("wind", Angle)];
    assert_eq!(kinds(open(&stated).unwrap().as_ref()), expected);
    for (option, value, expected) in [
        ("angles", "wnd", "found \"wnd\", expected one of age, smiles, mood, wind"),
        ("categorical", "age+age", "found \"age\", expected one kind for each factor"),
    ] {
        let error = open(&photos.clone().with(option, value)).unwrap_err();
        assert_eq!(chain(&error), format!("option `{option}` of data set `folder`: {expected}"));
    }
    let error = open_spec(&format!("folder(path={}, angles=wind)", root.path().join("photos").display()));
    let expected = "found \"wind\", expected no kinds: the data set has no factors";
    assert_eq!(chain(&error.unwrap_err()), format!("option `angles` of data set `folder`: {expected}"));
}

/// `attributes.kinds = { weight = "number" }`: kinds beside the table that has the columns.
#[test]
fn the_kinds_of_attributes_are_stated_beside_their_table() {
    let root = tempfile::tempdir().unwrap();
    for photo in ["7", "8", "9"] {
        save(&root.path().join(format!("photos/{photo}.png")));
    }
    let table = root.path().join("labels.csv");
    fs::write(&table, "file,weight,smiles,mood\n7.png,3.25,1,glad\n8.png,10,-1,sad\n9.png,5,1,odd\n")
        .unwrap();
    let photos =
        DataSpec::named("folder").with_path(root.path().join("photos")).with("attributes", table.display());
    let with = |values: &[(&str, &str)]| {
        let set = |spec: DataSpec, (column, kind): &(&str, &str)| {
            spec.with(&format!("attributes.kinds.{column}"), kind)
        };
        open(&values.iter().fold(photos.clone(), set))
    };
    let all = [("weight", "categorical"), ("smiles", "number"), ("mood", "ordered")];
    assert_eq!(
        kinds(with(&all).unwrap().as_ref()),
        [("weight", Categorical), ("smiles", Ordered), ("mood", Ordered)]
    );
    let weights = with(&[("weight", "number")]).unwrap();
    assert_eq!(
        kinds(weights.as_ref()),
        [("weight", Ordered), ("smiles", Categorical), ("mood", Categorical)]
    );
    assert_eq!(weights.factors().unwrap().factors()[0].labels, ["3.25", "5", "10"]);
    for (values, key, expected) in [
        (
            ("mood", "number"),
            "attributes.kinds",
            "number for \"mood\", expected another kind, since \"glad\" is no number",
        ),
        (("wight", "number"), "attributes.kinds", "\"wight\", expected one of weight, smiles, mood"),
        (
            ("weight", "real"),
            "attributes.kinds.weight",
            "\"real\", expected categorical, ordered, number or angle",
        ),
    ] {
        let error = with(&[values]).err().unwrap();
        assert_eq!(chain(&error), format!("option `{key}` of data set `folder`: found {expected}"));
    }
    let error =
        open(&photos.clone().with("ordered", "weight").with("attributes.kinds.weight", "categorical"));
    assert_eq!(
        chain(&error.err().unwrap()),
        "option `attributes.kinds` of data set `folder`: found \"weight\", expected one kind for each factor"
    );
    let error = open(&photos.clone().with("attributes.kind.weight", "number"));
    assert_eq!(
        chain(&error.err().unwrap()),
        "data set `folder` has no option `attributes.kind`\nhint: its options are attributes.path, attributes.kinds"
    );
    let without = DataSpec::named("folder").with_path(root.path().join("photos"));
    let error = open(&without.with("attributes.kinds.weight", "number"));
    assert_eq!(
        chain(&error.err().unwrap()),
        "option `attributes` of data set `folder`: found kinds without a path, expected attributes.path, the table whose \
         columns they are"
    );
    // The line in the table means the same by `number`.
    fs::write(&table, "file,mood\n#kinds,number\n7.png,glad\n8.png,sad\n9.png,odd\n").unwrap();
    assert_eq!(
        chain(&open(&photos).err().unwrap()),
        format!(
            "{}: column `mood`: found `glad`, expected a number, as the line `#kinds` says",
            table.display()
        )
    );
}

fn strings(name: &'static str, texts: &[&str]) -> Array {
    let data = texts.iter().flat_map(|text| {
        let mut characters: Vec<u32> = text.chars().map(u32::from).collect();
        characters.resize(12, 0);
        characters.into_iter().flat_map(u32::to_le_bytes)
    });
    Array { name, kind: 'U', bytes_per_element: 48, shape: vec![texts.len()], data: data.collect() }
}

#[test]
fn archives_state_or_guess_their_kinds() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("own.npz");
    let arrays = |kinds: Option<&[&str]>| {
        let mut arrays = vec![
            Array::bytes("images", &[3, 1, 1], vec![7; 3]),
            Array::integers("factors", &[3, 3], &[0, 0, 0, 1, 1, 1, 2, 2, 0]),
        ];
        arrays.extend(kinds.map(|kinds| strings("factor_kinds", kinds)));
        arrays
    };
    let of = |data: &dyn DataSet| kinds(data).into_iter().map(|(_, kind)| kind).collect::<Vec<_>>();
    write_npz(&path, &arrays(None));
    assert_eq!(of(open_path("npz", &path).unwrap().as_ref()), [Ordered, Ordered, Categorical]);
    write_npz(&path, &arrays(Some(&["categorical", "angle", "ordered"])));
    assert_eq!(of(open_path("npz", &path).unwrap().as_ref()), [Categorical, Angle, Ordered]);
    let stated = DataSpec::named("npz").with_path(&path).with("ordered", "factor 0");
    assert_eq!(of(open(&stated).unwrap().as_ref()), [Ordered, Angle, Ordered]);
    write_npz(&path, &arrays(Some(&["categorical", "angles", "ordered"])));
    let expected = "array `factor_kinds`: found `angles`, expected categorical, ordered or angle";
    assert_eq!(refusal("npz", &path), expected);
    write_npz(&path, &arrays(Some(&["categorical"])));
    assert_eq!(refusal("npz", &path), "array `factor_kinds`: found shape [1], expected shape [3]");
}

#[test]
fn conversion_keeps_the_kinds() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cars.npz");
    let cars = open_path("cars3d", fixture("cars3d")).unwrap();
    convert(cars.as_ref(), PixelType::Bytes, 0, fs::File::create(&path).unwrap(), &Silent).unwrap();
    assert_eq!(kinds(open_path("npz", &path).unwrap().as_ref()), kinds(cars.as_ref()));
}
