//! Exported ONNX files against the run that they came from, computed by two programs: an evaluator that follows the
//! specification operator by operator, and tract.

#[cfg(feature = "onnx")]
mod encoder;
mod evaluator;
mod protobuf;
mod tract;

use evaluator::{Model, Tensor};
use ndarray::{Array2, Array4};
use serde_json::{Value, json};
use std::path::Path;
use unbraid::config::Source;
use unbraid::data::progress::Silent;
use unbraid::export::{onnx, weights};
use unbraid::files::Existing;
use unbraid::model::read_state;
use unbraid::{Run, Session, error_chain};

/// Three steps of training: running statistics, learned priors and scales are then not what they began as.
fn trained(directory: &Path, settings: &[&str]) -> Run {
    let common = ["training.steps=3", "training.batch_size=8", "model.latents={ continuous = 3 }"];
    let source =
        common.iter().chain(settings).fold(Source::preset("images"), |source, setting| source.set(*setting));
    let config = source.resolve().unwrap();
    Session::new(config).out(directory.join("run")).evaluation(false).execute(&Silent).unwrap()
}

/// Numbers between 0 and 1 without any pattern.
fn numbers(count: usize) -> impl Iterator<Item = f32> {
    (0..count).map(|place| ((place as f32 * 12.9898).sin() * 43758.547).fract().abs())
}

/// The tolerance that exported models promise.
fn assert_close(what: &str, found: &Tensor, expected: impl IntoIterator<Item = f32>) {
    let expected: Vec<f32> = expected.into_iter().collect();
    assert_eq!(found.values.len(), expected.len(), "{what}");
    for (place, (found, expected)) in found.values.iter().zip(expected).enumerate() {
        assert!((found - f64::from(expected)).abs() < 1e-4, "{what}[{place}]: {found} {expected}");
    }
}

/// Channels first, or the rows of a table.
fn with_channels_first(images: &Array4<f32>, is_table: bool) -> Tensor {
    let ordered = images.view().permuted_axes([0, 3, 1, 2]);
    let (count, channels, height, width) = ordered.dim();
    let shape =
        if is_table { vec![count, height * width * channels] } else { vec![count, channels, height, width] };
    Tensor { shape, values: ordered.iter().map(|&value| value.into()).collect() }
}

/// Compares both files with the run, on two images and three codes: the number of them is not part of a file.
fn assert_same(what: &str, run: &Run) {
    let (shape, is_table) = (run.image_shape(), run.features().is_some());
    let dimensions = (2, shape.height, shape.width, shape.channels);
    let images = Array4::from_shape_vec(dimensions, numbers(2 * shape.values()).collect()).unwrap();
    let posteriors = run.encode(&images).unwrap();
    let bytes = onnx::encoder(run).unwrap();
    let encoder = Model::read(&bytes);
    let input = if is_table { "values" } else { "images" };
    let given = with_channels_first(&images, is_table);
    for (program, outputs) in
        [("tract", tract::run(&bytes, &given)), ("the specification", encoder.run(input, given))]
    {
        let what = format!("{what}, by {program}");
        if run.units() > 0 {
            assert_close(&format!("{what}: mean"), &outputs["mean"], posteriors.mean.iter().copied());
            let logarithms = posteriors.log_variance.iter().copied();
            assert_close(&format!("{what}: log_variance"), &outputs["log_variance"], logarithms);
        }
        for unit in 0..run.categorical_units().len() {
            let columns = run.layout().probability_columns(unit);
            let own = posteriors.probabilities.slice_axis(ndarray::Axis(1), columns.into());
            let found = &outputs[&format!("probabilities_{unit}")];
            assert_close(&format!("{what}: probabilities_{unit}"), found, own.iter().copied());
        }
    }
    let width = run.layout().width();
    let latents: Vec<f32> = numbers(3 * width).map(|value| 4.0 * value - 2.0).collect();
    let latents = Array2::from_shape_vec((3, width), latents).unwrap();
    let bytes = onnx::decoder(run).unwrap();
    let decoder = Model::read(&bytes);
    let values = latents.iter().map(|&value| value.into()).collect();
    let given = Tensor { shape: vec![3, width], values };
    let expected = with_channels_first(&run.decode(&latents).unwrap(), is_table);
    for (program, outputs) in
        [("tract", tract::run(&bytes, &given)), ("the specification", decoder.run("latents", given))]
    {
        assert_eq!(outputs[input].shape, expected.shape, "{what}, by {program}");
        assert_close(
            &format!("{what}, by {program}: images"),
            &outputs[input],
            expected.values.iter().map(|&value| value as f32),
        );
    }
    for model in [encoder, decoder] {
        assert_eq!(model.versions(), (7, 13));
    }
}

const SHAPES: &str = "data=shapes(scales=2, orientations=2, positions=4)";
const SCENES: &str = "data=scenes(hues=2, scales=2, orientations=2, size=32)";
const JOINT: &str = "objective={ name = \"joint-vae\", gamma_continuous = 1, capacity_continuous = 5, gamma_categorical = 1, \
                     capacity_categorical = 1 }";

#[test]
fn every_architecture_computes_the_same_as_onnx() {
    for (what, settings) in [
        ("conv", vec![SHAPES, "model.architecture=conv"]),
        ("dlib", vec![SHAPES, "model.architecture=dlib"]),
        ("burgess", vec![SHAPES, "model.architecture=burgess"]),
        ("burgess, 32 pixels in colour", vec![SCENES, "model.architecture=burgess"]),
        ("mathieu", vec![SHAPES, "model.architecture=mathieu"]),
        ("dcgan", vec![SHAPES, "model.architecture=dcgan"]),
        (
            "linear",
            vec![
                SCENES,
                "model.architecture=linear",
                "model.likelihood={ name = \"gaussian\", output = \"linear\" }",
            ],
        ),
        (
            "mlp",
            vec![
                SCENES,
                "model.architecture={ name = \"mlp\", encoder = [7, 5], decoder = [6], decoder_activation = \"tanh\" }",
            ],
        ),
        (
            "dupont-64",
            vec![
                SHAPES,
                "model.architecture=dupont-64",
                JOINT,
                "model.latents={ continuous = 2, categorical = [3, 4] }",
            ],
        ),
        (
            "dupont-32 without continuous units",
            vec![
                SCENES,
                "model.architecture=dupont-32",
                JOINT,
                "model.latents={ continuous = 0, categorical = [5] }",
            ],
        ),
    ] {
        let directory = tempfile::tempdir().unwrap();
        assert_same(what, &trained(directory.path(), &settings));
    }
}

#[test]
fn posteriors_priors_and_likelihoods_are_exported() {
    for (what, settings) in [
        ("full covariance", vec![SHAPES, "model.posterior=full-covariance", "objective=vae"]),
        (
            "interleaved, full covariance",
            vec![SHAPES, "model.architecture=burgess", "model.posterior=full-covariance", "objective=vae"],
        ),
        (
            "a scale for each pixel",
            vec![
                SCENES,
                "model.architecture=dupont-32",
                "model.likelihood={ name = \"gaussian\", scale = \"decoded\" }",
            ],
        ),
        (
            "a scale for each value of a fully connected decoder",
            vec![
                SCENES,
                "model.architecture={ name = \"mlp\", encoder = [5], decoder = [6] }",
                "model.likelihood={ name = \"laplace\", scale = \"decoded\", output = \"linear\" }",
            ],
        ),
        (
            "a learned prior",
            vec![
                SHAPES,
                "model.prior={ name = \"anisotropic\", variances = [1.0, 0.5, 0.25], learned = true }",
                "objective=vae",
            ],
        ),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let run = trained(directory.path(), &settings);
        assert_same(what, &run);
        let model = Model::read(&onnx::decoder(&run).unwrap());
        let prior: Value = serde_json::from_str(&model.metadata()["unbraid.prior"]).unwrap();
        let state = run.prior().state();
        assert_eq!(prior["state"].as_array().unwrap().len(), state.len());
        for (found, expected) in prior["state"].as_array().unwrap().iter().zip(&state) {
            assert_eq!(found["name"], json!(expected.name));
            let values: Vec<f32> = serde_json::from_value(found["values"].clone()).unwrap();
            assert_eq!(values, expected.values.as_floats());
        }
    }
}

/// Columns whose mean is a million times their spread: standardising in single precision would be off by a sixteenth.
#[test]
fn tables_are_taken_in_their_own_units() {
    let directory = tempfile::tempdir().unwrap();
    let table = directory.path().join("table.csv");
    let row = |row: usize| format!("{},{}\n", 1_000_000 + row % 7, row as f64 * 0.25);
    std::fs::write(&table, format!("a,b\n{}", (0..64).map(row).collect::<String>())).unwrap();
    let source = Source::data(unbraid::data::DataSpec::at(&table))
        .set("training.steps=3")
        .set("training.batch_size=8");
    let config = source.resolve().unwrap();
    let out = directory.path().join("run");
    let run = Session::new(config).out(&out).evaluation(false).execute(&Silent).unwrap();
    let images = Array4::from_shape_vec((2, 1, 2, 1), vec![1_000_003.0, 4.5, 1_000_000.0, 16.0]);
    let images = images
        .unwrap()
        .into_shape_with_order((
            2,
            run.image_shape().height,
            run.image_shape().width,
            run.image_shape().channels,
        ))
        .unwrap();
    let posteriors = run.encode(&images).unwrap();
    let bytes = onnx::encoder(&run).unwrap();
    let given = with_channels_first(&images, true);
    for outputs in [tract::run(&bytes, &given), Model::read(&bytes).run("values", given)] {
        assert_close("mean", &outputs["mean"], posteriors.mean.iter().copied());
    }
    let latents = Array2::zeros((1, run.units()));
    let rows = run.decode_rows(&latents).unwrap();
    let bytes = onnx::decoder(&run).unwrap();
    let model = Model::read(&bytes);
    let given = Tensor { shape: vec![1, run.units()], values: vec![0.0; run.units()] };
    for outputs in [tract::run(&bytes, &given), model.run("latents", given)] {
        for (found, expected) in outputs["values"].values.iter().zip(&rows) {
            assert!((found - expected).abs() < 1e-4, "{found} {expected}");
        }
    }
    assert_eq!(model.metadata()["unbraid.columns"], r#"["a","b"]"#);
}

/// Names, axes and metadata of the files as their readers rely on them.
#[test]
fn files_say_what_they_take_and_give() {
    let directory = tempfile::tempdir().unwrap();
    let settings = [
        SHAPES,
        "model.architecture=dupont-64",
        JOINT,
        "model.latents={ continuous = 2, categorical = [3] }",
    ];
    let run = trained(directory.path(), &settings);
    let written = onnx::write(&run, directory.path(), Existing::Keep).unwrap();
    let [encoder, decoder] = [0, 1].map(|place| Model::read(&std::fs::read(&written[place]).unwrap()));
    let value =
        |name: &str, shape: &[&str]| (name.to_owned(), shape.iter().map(|&axis| axis.to_owned()).collect());
    assert_eq!(encoder.values(11), [value("images", &["batch", "1", "64", "64"])]);
    let outputs = [
        value("mean", &["batch", "2"]),
        value("log_variance", &["batch", "2"]),
        value("probabilities_0", &["batch", "3"]),
    ];
    assert_eq!(encoder.values(12), outputs);
    assert_eq!(decoder.values(11), [value("latents", &["batch", "5"])]);
    assert_eq!(decoder.values(12), [value("images", &["batch", "1", "64", "64"])]);
    let metadata = encoder.metadata();
    for (key, expected) in [
        ("architecture", r#"{"name":"dupont-64"}"#),
        ("categorical_units", r#"[{"classes":3,"name":"category.0"}]"#),
        ("continuous_units", r#"["0","1"]"#),
        ("data_range", "[0,1]"),
        ("image_shape", "[1,64,64]"),
        ("layout", "\"NCHW\""),
        ("step", "3"),
    ] {
        assert_eq!(metadata[&format!("unbraid.{key}")], expected);
    }
    // The same run gives the same bytes, and nothing is overwritten unasked.
    assert!(onnx::encoder(&run).unwrap() == std::fs::read(&written[0]).unwrap());
    assert!(
        onnx::write(&run, directory.path(), Existing::Keep)
            .unwrap_err()
            .to_string()
            .ends_with("the file exists")
    );
}

#[test]
fn posteriors_without_moments_are_refused_with_the_reason() {
    for (posterior, objective, reason) in [
        ("iaf", "objective=vae", "its moments have no closed form: they are means over samples of a flow"),
        ("implicit", "objective=avb", "it has no moments in closed form, only samples"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let posterior_setting = format!("model.posterior={posterior}");
        let mlp = "model.architecture={ name = \"mlp\", encoder = [5], decoder = [6] }";
        let run = trained(directory.path(), &[SCENES, mlp, &posterior_setting, objective]);
        let error = onnx::encoder(&run).unwrap_err();
        let message = format!(
            "{}: found an encoder with model.posterior `{posterior}`, expected one that can be exported: {reason}",
            run.path().display()
        );
        assert_eq!(error_chain(&error), message);
        // The decoder does not depend on it.
        onnx::decoder(&run).unwrap();
    }
}

/// The weights are those of the run, under the same names, and `config.json` has no path of this machine.
#[test]
fn weights_and_configuration_are_exported() {
    let directory = tempfile::tempdir().unwrap();
    let run = trained(directory.path(), &[SHAPES, "model.architecture=dcgan"]);
    weights::write(&run, directory.path(), Existing::Keep).unwrap();
    let (mut state, _) = read_state(&directory.path().join("model.safetensors")).unwrap();
    let mut expected = run.network().state();
    state.sort_by(|left, right| left.name.cmp(&right.name));
    expected.sort_by(|left, right| left.name.cmp(&right.name));
    assert!(state == expected);
    let text = std::fs::read_to_string(directory.path().join("config.json")).unwrap();
    let config: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(config["image_shape"], json!({ "height": 64, "width": 64, "channels": 1 }));
    assert_eq!(config["configuration"]["model"]["architecture"]["name"], "dcgan");
    assert_eq!(config["tensors"].as_array().unwrap().len(), expected.len());
    assert!(!text.contains(&directory.path().display().to_string()));
}
