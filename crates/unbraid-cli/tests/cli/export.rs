//! `unbraid export`, and codes for viewers of embeddings.

use crate::support::Bench;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use unbraid::data::formats::npz::Npz;

/// A trained run with a categorical unit, scored and reported.
fn trained() -> Bench {
    let bench = Bench::new();
    let latents = "model.latents={ continuous = 2, categorical = [3] }";
    let objective = "objective={ name = \"joint-vae\", gamma_continuous = 1, capacity_continuous = 5, \
                     gamma_categorical = 1, capacity_categorical = 1 }";
    bench
        .train("run", &["--set", latents, "--set", objective, "--set", "training.steps=20"])
        .assert()
        .success();
    bench
}

#[test]
fn a_run_is_exported_for_other_programs() {
    let bench = trained();
    bench.succeed(
        &["export", "run", "--format", "onnx", "-o", "model"],
        &["wrote model/encoder.onnx", "wrote model/decoder.onnx"],
    );
    bench.succeed(
        &["export", "run", "--format", "safetensors", "-o", "model"],
        &["wrote model/model.safetensors", "wrote model/config.json"],
    );
    bench.refuse(
        &["export", "run", "--format", "onnx", "-o", "model"],
        "error: model/encoder.onnx: the file exists\nhint: --overwrite replaces it",
    );
    bench.succeed(&["export", "run", "--format", "onnx", "-o", "model", "--overwrite"], &[]);
    bench.refuse(
        &["export", "run", "--format", "onnx", "-o", "model", "--licence", "mit"],
        "error: --licence: expected --format hub, which writes a model card",
    );
    // What was exported can be imported again.
    let config: Value =
        serde_json::from_str(&fs::read_to_string(bench.path("model/config.json")).unwrap()).unwrap();
    assert_eq!(config["categorical_units"], serde_json::json!([3]));
}

/// The card has a header that a reader of YAML finds, the scores of the run, and names of files that are there.
#[test]
fn a_directory_for_a_hub_has_everything() {
    let bench = trained();
    bench.succeed(&["evaluate", "run", "--metrics", "mig,gaussian_total_correlation", "--quiet"], &[]);
    bench.succeed(
        &["export", "run", "--format", "hub", "--licence", "mit", "-o", "hub"],
        &["wrote hub/README.md"],
    );
    let card = fs::read_to_string(bench.path("hub/README.md")).unwrap();
    let (header, body) = card.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
    for line in [
        "license: \"mit\"",
        "library_name: unbraid",
        "- onnx",
        "model-index:",
        "- name: \"run\"",
        "    - type: \"mig\"",
    ] {
        assert!(header.lines().any(|found| found == line), "{line}: {header}");
    }
    let scores: Value =
        serde_json::from_str(&fs::read_to_string(bench.path("hub/scores.json")).unwrap()).unwrap();
    let mig = &scores["scores"]["mig"]["value"];
    assert!(header.contains(&format!("      value: {mig}\n      name: \"MIG\"")), "{header}");
    assert!(body.contains("| MIG |") && body.contains("| data | shapes |"));
    for part in body.split("](").skip(1) {
        let file = part.split(')').next().unwrap();
        assert!(bench.path("hub").join(file).is_file(), "{file}");
    }
    for file in [
        "model.safetensors",
        "config.json",
        "encoder.onnx",
        "decoder.onnx",
        "report.html",
        "traversals-image.png",
    ] {
        assert!(bench.path("hub").join(file).is_file(), "{file}");
    }
    let directory = bench.directory.path().display().to_string();
    assert!(!card.contains(&directory), "paths of this machine stay here");
}

/// The numbers of the three tables are the same to the bit.
#[test]
fn parquet_numpy_and_csv_agree() {
    let bench = trained();
    for name in ["codes.csv", "codes.npz", "codes.parquet"] {
        bench.succeed(&["encode", "run", "-o", name, "--quiet"], &[]);
    }
    let text = fs::read_to_string(bench.path("codes.csv")).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<&str>>());
    let header = lines.next().unwrap();
    let rows: Vec<BTreeMap<&str, &str>> =
        lines.map(|line| header.iter().copied().zip(line).collect()).collect();

    let reader = SerializedFileReader::new(fs::File::open(bench.path("codes.parquet")).unwrap()).unwrap();
    let mut count = 0;
    for (row, csv) in reader.get_row_iter(None).unwrap().zip(&rows) {
        let columns: BTreeMap<String, Field> =
            row.unwrap().get_column_iter().map(|(name, field)| (name.clone(), field.clone())).collect();
        for (name, text) in csv {
            match &columns[*name] {
                Field::Float(value) => {
                    assert_eq!(value.to_bits(), text.parse::<f32>().unwrap().to_bits(), "{name}");
                }
                Field::Long(value) => assert_eq!(*value, text.parse::<i64>().unwrap(), "{name}"),
                other => panic!("{name}: {other:?}"),
            }
        }
        // 192 images of 64 pixels: each has its picture, and a place beside the columns of the table.
        let Field::Str(picture) = &columns["thumbnail"] else { panic!("no picture") };
        assert!(picture.starts_with("data:image/png;base64,iVBORw0KGgo"));
        assert!(matches!((&columns["x"], &columns["y"]), (Field::Float(_), Field::Float(_))));
        assert_eq!(columns.len(), csv.len() + 3);
        count += 1;
    }
    assert_eq!((count, rows.len()), (192, 192));

    let mut archive = Npz::open(&bench.path("codes.npz")).unwrap();
    for (array, column) in
        [("codes", "mean"), ("standard_deviation", "deviation"), ("probabilities_0", "probability_0")]
    {
        let values = archive.array(array).unwrap();
        let width = values.header().shape[1];
        for (place, value) in values.floats().unwrap().into_iter().enumerate() {
            let text = rows[place / width][format!("{column}_{}", place % width).as_str()];
            assert_eq!((value as f32).to_bits(), text.parse::<f32>().unwrap().to_bits(), "{array}");
        }
    }
}

/// Codes, names and factors line by line, and a sheet with as many pictures.
#[test]
fn the_projector_gets_its_files() {
    let bench = trained();
    bench.succeed(&["encode", "run", "-o", "codes.csv", "--quiet"], &[]);
    bench.succeed(
        &["encode", "run", "--projector", "projector"],
        &["wrote projector/vectors.tsv", "wrote projector/sprite.png"],
    );
    let read = |name: &str| fs::read_to_string(bench.path(name)).unwrap();
    let (vectors, metadata, codes) =
        (read("projector/vectors.tsv"), read("projector/metadata.tsv"), read("codes.csv"));
    assert_eq!(vectors.lines().count(), 192);
    for (vector, code) in vectors.lines().zip(codes.lines().skip(1)) {
        let means: Vec<&str> = code.split(',').skip(1).take(2).collect();
        assert_eq!(vector, means.join("\t"));
    }
    assert_eq!(metadata.lines().count(), 193);
    assert_eq!(metadata.lines().next().unwrap(), "image\tname\tshape\tscale\torientation\tx\ty");
    // 14 rows of 14 hold 192 pictures of 64 pixels.
    let sheet = image::open(bench.path("projector/sprite.png")).unwrap();
    assert_eq!((sheet.width(), sheet.height()), (14 * 64, 14 * 64));
    let config = read("projector/projector_config.pbtxt");
    for line in
        ["  tensor_path: \"vectors.tsv\"", "    image_path: \"sprite.png\"", "    single_image_dim: 64"]
    {
        assert!(config.lines().any(|found| found == line), "{line}: {config}");
    }
}
