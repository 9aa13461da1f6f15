//! Encoders as ONNX files, scored as the runs that they came from.

use super::{JOINT, SCENES, SHAPES};
use ndarray::Axis;
use std::fs;
use std::path::{Path, PathBuf};
use unbraid::config::Source;
use unbraid::data::DataSet;
use unbraid::data::progress::Silent;
use unbraid::evaluate::{Evaluation, Representation, Settings, evaluate, evaluate_encoder};
use unbraid::export::onnx;
use unbraid::import::{EncoderOptions, OnnxEncoder};
use unbraid::{ErrorKind, Run, Session, error_chain};

/// Sixty steps of training: the codes then have a spread that their rounding is small against.
fn trained(directory: &Path, settings: &[&str]) -> (Run, PathBuf) {
    let common = [
        "training.steps=60",
        "training.batch_size=16",
        "optimizer.learning_rate=0.002",
        "model.latents={ continuous = 3 }",
    ];
    let source =
        common.iter().chain(settings).fold(Source::preset("images"), |source, setting| source.set(*setting));
    let session = Session::new(source.resolve().unwrap()).out(directory.join("run"));
    let run = session.evaluation(false).execute(&Silent).unwrap();
    let path = directory.join("encoder.onnx");
    fs::write(&path, onnx::encoder(&run).unwrap()).unwrap();
    (run, path)
}

fn opened(run: &Run) -> Box<dyn DataSet> {
    run.open_data(&Silent).unwrap().data
}

/// An evaluation of the run and one of its exported encoder.
fn both(run: &Run, path: &Path, metrics: &[&str], representation: Representation) -> [Evaluation; 2] {
    let data = opened(run);
    let metrics = metrics.iter().map(|&name| name.to_owned()).collect();
    let settings = Settings { metrics, representation, chance: false, ..Settings::default() };
    let encoder = OnnxEncoder::open(path, data.as_ref(), &EncoderOptions::default()).unwrap();
    assert_eq!((encoder.units(), encoder.categorical_units()), (run.units(), run.categorical_units()));
    [
        evaluate(run, data.as_ref(), None, &settings, &Silent).unwrap(),
        evaluate_encoder(&encoder, data.as_ref(), None, &settings, &Silent).unwrap(),
    ]
}

fn number(evaluation: &Evaluation, key: &str) -> f64 {
    let numbers = evaluation.report.scores.iter().flat_map(|score| score.values.numbers());
    let found = numbers.into_iter().find(|(name, _)| *name == key);
    found.map_or_else(|| panic!("no {key}"), |(_, value)| *value)
}

/// Codes are the same to 1e-6, and scores as far as that determines them. The divergence from the prior has a
/// slope of at most |mean| + |log-variance| + 1, which is below 10 here. A correlation moves by at most twice
/// the error over the spread of a unit, its square by four times that. A vote of the FactorVAE score falls for another unit only where two
/// are equal to that error: at most a handful of its 10,000 and 5,000.
#[test]
fn an_exported_encoder_has_the_scores_of_its_run() {
    let directory = tempfile::tempdir().unwrap();
    let (run, path) = trained(directory.path(), &[SHAPES, "objective=vae"]);
    let names = ["kl", "sap_continuous", "factor_vae_score"];
    let [own, other] = both(&run, &path, &names, Representation::Mean);
    let (codes, found) = (&own.points.codes_train, &other.points.codes_train);
    assert_eq!(codes.dim(), (128, 3));
    let worst = codes.iter().zip(found).map(|(left, right)| (left - right).abs()).fold(0.0, f32::max);
    assert!(worst < 1e-6, "{worst}");
    let spread = codes.std_axis(Axis(0), 0.0).into_iter().fold(f32::INFINITY, f32::min);
    let allowed = f64::from(8.0 * 1e-6 / spread);
    assert!(allowed < 1e-3, "codes with a spread of {spread}");
    for (key, tolerance) in [("kl", 1e-5), ("sap_continuous", allowed), ("factor_vae_score", 1e-3)] {
        let (left, right) = (number(&own, key), number(&other, key));
        assert!((left - right).abs() <= tolerance, "{key}: {left} {right}");
    }
    assert_eq!((own.encoded, other.encoded), (192, 192));
    // Samples come from the same streams of noise.
    let [own, other] = both(&run, &path, &["sap_continuous"], Representation::Sample);
    let codes = own.points.codes_train.iter().zip(&other.points.codes_train);
    assert!(codes.into_iter().all(|(left, right)| (left - right).abs() < 1e-5));
}

#[test]
fn metadata_say_what_units_and_prior_are() {
    let prior = "model.prior={ name = \"anisotropic\", variances = [2.0, 0.5, 0.25], learned = true }";
    let directory = tempfile::tempdir().unwrap();
    let (run, path) = trained(directory.path(), &[SHAPES, prior, "objective=vae"]);
    let [own, other] = both(&run, &path, &["kl"], Representation::Mean);
    let (left, right) = (number(&own, "kl"), number(&other, "kl"));
    // Divided by variances of 0.25 and more, the slopes are below 50.
    assert!((left - right).abs() < 1e-4, "{left} {right}");

    for settings in [
        [SHAPES, "model.architecture=dupont-64", "model.latents={ continuous = 2, categorical = [3, 4] }"],
        [SCENES, "model.architecture=dupont-32", "model.latents={ continuous = 0, categorical = [5] }"],
    ] {
        let directory = tempfile::tempdir().unwrap();
        let (run, path) = trained(directory.path(), &[&settings[..], &[JOINT]].concat());
        let [own, other] = both(&run, &path, &["cluster_accuracy"], Representation::Mean);
        assert_eq!(own.points.clusters, other.points.clusters, "{settings:?}");
        assert_eq!(number(&own, "cluster_accuracy"), number(&other, "cluster_accuracy"));
    }
}

/// One clear message for each, with the file, what was found and what was expected.
#[test]
fn wrong_files_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (run, whole) = trained(directory.path(), &[SHAPES, "training.steps=1"]);
    let bytes = fs::read(&whole).unwrap();
    let path = directory.path().join("wrong.onnx");
    let shapes = opened(&run);
    let open = |data: &dyn DataSet, output: Option<&str>| {
        let options = EncoderOptions { output: output.map(str::to_owned), ..EncoderOptions::default() };
        let error = OnnxEncoder::open(&path, data, &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input);
        error_chain(&error).replace(&path.display().to_string(), "FILE")
    };
    let refusal = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        open(shapes.as_ref(), None)
    };
    let damaged = "FILE: found a damaged ONNX file, expected a whole one";
    for length in [3, 100, bytes.len() / 2] {
        assert_eq!(refusal(&bytes[..length]), damaged, "{length}");
    }
    assert_eq!(refusal(b""), "FILE: found an empty file, expected an ONNX model");
    let unknown = "FILE: found data of an unknown kind, expected an ONNX model";
    assert_eq!(refusal(b"\x89PNG\r\n\x1a\n"), unknown);
    assert_eq!(refusal(b"{\"a\": 1}"), unknown);
    // Only a version.
    assert_eq!(refusal(b"\x08\x07"), unknown);

    fs::write(&path, &bytes).unwrap();
    assert_eq!(
        open(shapes.as_ref(), Some("code")),
        "FILE: found the outputs `mean`, `log_variance`, expected one named `code`"
    );
    let scenes = unbraid::data::open(&"scenes(hues=2, scales=2, orientations=2)".parse().unwrap(), &Silent);
    assert_eq!(
        open(scenes.unwrap().as_ref(), None),
        "FILE: found the input `images` of [batch, 1, 64, 64], expected images of 64 x 64 x 3 (height x width x \
         channels), those of scenes: [batch, 3, 64, 64] or [batch, 12288]"
    );
    // Operators of the same length in the place of others.
    let decoder = onnx::decoder(&run).unwrap();
    let renamed = |bytes: &[u8], from: &str, to: &str| {
        assert_eq!(from.len(), to.len());
        let mut bytes = bytes.to_vec();
        let places: Vec<usize> =
            (0..bytes.len() - from.len()).filter(|&at| bytes[at..].starts_with(from.as_bytes())).collect();
        assert!(!places.is_empty());
        places.into_iter().for_each(|at| bytes[at..at + to.len()].copy_from_slice(to.as_bytes()));
        bytes
    };
    assert_eq!(
        refusal(&renamed(&bytes, "Flatten", "Shatter")),
        "FILE: found the operators `Shatter`, expected operators that tract knows"
    );
    assert_eq!(
        refusal(&renamed(&decoder, "ConvTranspose", "RandomUniform")),
        "FILE: found the operators `RandomUniform`, expected an output that depends on the image alone, not on random \
         numbers"
    );
    assert_eq!(
        refusal(&decoder),
        "FILE: found the input `latents` of [batch, 3], expected images of 64 x 64 x 1 (height x width x channels), those \
         of shapes: [batch, 1, 64, 64] or [batch, 64, 64] or [batch, 4096]"
    );
    fs::remove_file(&path).unwrap();
    assert!(open(shapes.as_ref(), None).starts_with("FILE: cannot read it: "));
}

/// Any damage ends with a message, never with a panic.
#[test]
fn damaged_files_never_panic() {
    let directory = tempfile::tempdir().unwrap();
    let mlp = "model.architecture={ name = \"mlp\", encoder = [5], decoder = [6] }";
    let (run, path) = trained(directory.path(), &[SCENES, mlp, "training.steps=1"]);
    let (data, bytes) = (opened(&run), fs::read(&path).unwrap());
    // Most bytes are weights, which may be anything; the structure is at both ends.
    let ends = (0..1000).chain(bytes.len() - 2000..bytes.len());
    for place in ends.step_by(11) {
        let mut changed = bytes.clone();
        changed[place] ^= 0x55;
        fs::write(&path, &changed).unwrap();
        if let Err(error) = OnnxEncoder::open(&path, data.as_ref(), &EncoderOptions::default()) {
            assert_eq!(error.kind(), ErrorKind::Input, "{}", error_chain(&error));
        }
    }
}
