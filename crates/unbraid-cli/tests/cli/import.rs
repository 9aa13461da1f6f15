//! `unbraid import`: models of others as runs that every command takes.

use crate::support::{Bench, shared};
use ndarray::{Array2, Axis};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use unbraid::Run;
use unbraid::data::formats::npz::Npz;
use unbraid::data::formats::npz_writer::NpzWriter;
use unbraid::data::progress::Silent;
use unbraid::data::random::Stream;
use unbraid::evaluate::score;
use unbraid::metrics::{Codes, Options, Registry};

/// Files that PyTorch wrote, with the script that made them.
fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../unbraid/tests/fixtures").join(name)
}

/// A mapping for torch_mlp.pt.
const MAPPING: &str = concat!(
    "root = \"model_states.net\"\ndata = \"images.npz\"\n",
    include_str!("../../../unbraid/tests/fixtures/torch_mlp.toml")
);

/// A directory with a mapping, and images of four by six pixels with two factors.
fn bench() -> Bench {
    let bench = Bench::new();
    fs::write(bench.path("mapping.toml"), MAPPING).unwrap();
    let mut archive = NpzWriter::new(fs::File::create(bench.path("images.npz")).unwrap());
    let pixels = (0..60 * 24).map(|place| (place * 7 % 13) as f64 / 12.0);
    archive.floats("images", &[60, 4, 6], pixels).unwrap();
    archive
        .integers("factors", &[60, 2], (0..120).map(|place| i64::from(place / 2 % (2 + place % 2))))
        .unwrap();
    archive.finish().unwrap();
    bench
}

/// A run without training, used by every command that takes one.
#[test]
fn every_command_works_on_an_imported_run() {
    let bench = bench();
    let weights = fixture("torch_mlp.pt");
    let weights = weights.to_str().unwrap();
    bench.succeed(
        &["import", weights, "--mapping", "mapping.toml", "--set", "training.batch_size=16", "-o", "run"],
        &["architecture mlp, images of 4 x 6 x 1, 3 continuous and 0 categorical units, "],
    );
    for command in [
        vec!["encode", "run", "-o", "codes.npz"],
        vec!["decode", "run", "codes.npz", "-o", "decoded.npz"],
        vec!["sample", "run", "--count", "4", "-o", "samples.png"],
        vec!["reconstruct", "run", "-o", "reconstructions.png"],
        vec!["traverse", "run", "-o", "traversal.png"],
        vec!["infer", "run", "--unit", "0", "-o", "infer.png"],
        vec!["measure", "run"],
        vec!["name", "run", "1=height"],
        vec!["evaluate", "run", "--metrics", "mig", "--no-chance"],
        vec!["report", "run"],
        vec!["compare", "run"],
        vec!["export", "run", "--format", "onnx", "-o", "onnx"],
        vec!["export", "run", "--format", "hub", "-o", "hub"],
    ] {
        let output = bench.unbraid(&command).output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    bench.refuse(
        &["train", "--resume", "--out", "run"],
        "error: cannot resume: run: found imported weights without the optimiser's state, expected those of a training\n\
         hint: unbraid train --init run starts a new run from them",
    );
    // Imported weights are the start of a training.
    bench.succeed(
        &[
            "train",
            "--config",
            "run/config.toml",
            "--init",
            "run",
            "--steps",
            "3",
            "--batch-size",
            "8",
            "--out",
            "tuned",
            "--no-evaluation",
            "--no-report",
        ],
        &[],
    );
    bench.refuse(
        &["import", weights, "--mapping", "mapping.toml", "-o", "run"],
        "error: run: there is a run here already (finished after 1 steps)\n\
         hint: --overwrite replaces it",
    );
    bench.succeed(
        &["import", weights, "--mapping", "mapping.toml", "-o", "run", "--overwrite", "--quiet"],
        &[],
    );
    assert!(!bench.path("run/report.html").exists());
}

/// One clear message for each way in which a file can be wrong, and no run.
#[test]
fn what_cannot_be_imported_is_refused() {
    let bench = bench();
    // What Python's pickle module makes of an object whose reduction is os.system and a command.
    let hostile = b"\x80\x02ccollections\nOrderedDict\n)R(X\x01\x00\x00\x00acposix\nsystem\nX\x05\x00\x00\x00touchh\x85Ru.";
    let magic = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\x80\x02}.";
    fs::write(bench.path("hostile.pt"), [&magic[..], hostile].concat()).unwrap();
    let whole = fs::read(fixture("torch_old.pt")).unwrap();
    fs::write(bench.path("cut.pt"), &whole[..whole.len() - 3]).unwrap();
    fs::write(bench.path("model.onnx"), b"\x08\x07\x12\x07unbraid").unwrap();
    let mapped = |file: &'static str| ["import", file, "--mapping", "mapping.toml", "-o", "run"];
    bench.refuse(
        &mapped("hostile.pt"),
        "error: hostile.pt: found a pickle that asks for `posix.system`, expected a state dict of tensors: \
         torch.save(model.state_dict(), ...)",
    );
    bench.refuse(
        &mapped("cut.pt"),
        "error: cut.pt: found a file that ends within its storages, expected a whole file",
    );
    bench.refuse(
        &mapped("model.onnx"),
        "error: model.onnx: found data of an unknown kind, expected weights that torch.save wrote (.pt, .pth), or a \
         safetensors file",
    );
    fs::create_dir(bench.path("other")).unwrap();
    fs::copy(fixture("torch_zip.pt"), bench.path("other/model.pt")).unwrap();
    fs::write(bench.path("other/specs.json"), r#"{"lr": 1}"#).unwrap();
    bench.refuse(
        &["import", "other", "-o", "run"],
        "error: other/specs.json: found the settings `lr`, expected those of disentangling-vae (`model_type`, \
         `latent_dim`) or joint-vae (`latent_spec`)",
    );
    assert!(!bench.path("run").exists());
}

/// The classes and factors of an archive as indices into the grid of dSprites: shape, scale, orientation, x, y.
fn indices(factors: &Array2<i64>) -> Vec<usize> {
    let sizes = [3, 6, 40, 32, 32];
    let index = |row: ndarray::ArrayView1<'_, i64>| {
        row.iter().zip(sizes).fold(0, |index, (&value, size)| index * size + value as usize)
    };
    factors.axis_iter(Axis(0)).map(index).collect()
}

/// An array of the golden files, which stand with the metrics.
fn golden(name: &str) -> Array2<f64> {
    let mut archive = Npz::open(&golden_file("btcvae.npz")).unwrap();
    let array = archive.array(name).unwrap();
    let shape = (array.header().shape[0], array.header().shape[1]);
    Array2::from_shape_vec(shape, array.floats().unwrap()).unwrap()
}

fn golden_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../unbraid-metrics/tests/golden").join(name)
}

/// disentangling-vae's own model gives the codes that PyTorch computed with it, on the images that the golden
/// file names by their factors, and from our codes the scores that disentanglement_lib computed from
/// PyTorch's.
///
/// Tolerances: those of MIG, modularity, mutual information, total correlation and continuous SAP are twice what they
/// move by if uniform noise of 1e-4, the tolerance of the codes, is added to the golden ones (found with
/// NumPy, six draws; five units have a standard deviation of 0.02 to 0.04); of IRS, the Wasserstein
/// correlation and KL, estimates from their slopes; of scores with learners, those of the metrics' own golden
/// tests. Interventional scores are drawn from these points, not from the full grid.
#[test]
fn the_published_beta_tcvae_gives_its_golden_codes_and_scores() {
    let (Some(model), Some(images)) = (
        shared("data/pretrained/disentangling-vae-btcvae-dsprites"),
        shared("data/dsprites/dsprites_reconstructed.npz"),
    ) else {
        return;
    };
    let bench = Bench::new();
    bench.succeed(
        &["import", model.to_str().unwrap(), "--data", images.to_str().unwrap(), "-o", "run"],
        &["architecture burgess, images of 64 x 64 x 1, 10 continuous and 0 categorical units"],
    );
    let run = Run::open(bench.path("run")).unwrap();
    let data = run.open_data(&Silent).unwrap().data;
    let [train_factors, test_factors] =
        ["factors_train", "factors_test"].map(|name| golden(name).mapv(|value| value as i64));
    let encode = |factors: &Array2<i64>| {
        run.encode_data(data.as_ref(), &indices(factors), Stream::new(0, "none"), &Silent).unwrap()
    };
    let (train, test) = (encode(&train_factors), encode(&test_factors));
    for (name, found) in [
        ("codes_train", &train.mean),
        ("codes_test", &test.mean),
        ("log_variance_train", &train.log_variance),
    ] {
        let expected = golden(name);
        let errors = found.iter().zip(&expected).map(|(found, code)| (f64::from(*found) - code).abs());
        let worst = errors.fold(0.0, f64::max);
        assert!(worst < 1e-4, "{name}: {worst}");
    }

    let doubles = |codes: &Array2<f32>| codes.mapv(f64::from);
    let codes = Codes::new(doubles(&train.mean), train_factors, doubles(&test.mean), test_factors)
        .and_then(|codes| codes.with_log_variances(doubles(&train.log_variance)))
        .unwrap();
    let text = fs::read_to_string(golden_file("btcvae.json")).unwrap();
    let expected: Value = serde_json::from_str(&text).unwrap();
    let names = [
        "mig",
        "modularity",
        "mutual_info_score",
        "irs",
        "gaussian_total_correlation",
        "gaussian_wasserstein_correlation",
        "sap_continuous",
        "sap",
        "explicitness",
        "dci",
        "kl",
        "beta_vae_score",
        "factor_vae_score",
    ];
    let options = Options { seed: 0, sampler: None, chance: false, resamples: 0 };
    let report = score(&Registry::builtin(), &names.map(str::to_owned), &codes, &options, &Silent).unwrap();
    let found = |key: &str| {
        let numbers = report.scores.iter().flat_map(|score| score.values.numbers());
        numbers
            .into_iter()
            .find(|(name, _)| name == key)
            .map_or_else(|| panic!("no {key}"), |(_, value)| *value)
    };
    for (key, tolerance) in [
        ("mig", 2e-4),
        ("modularity", 1e-3),
        ("mutual_info_score", 2e-4),
        // Deviations are divided by the largest of their unit, which is 0.05 or more.
        ("irs", 2e-3),
        ("gaussian_total_correlation", 3e-4),
        ("gaussian_wasserstein_correlation", 1e-4),
        ("sap_continuous", 5e-5),
        ("sap", 0.003),
        ("explicitness", 0.005),
        ("dci_disentanglement", 0.005),
        ("dci_completeness", 0.005),
        ("dci_informativeness_test", 0.005),
    ] {
        let (found, expected) = (found(key), expected[key].as_f64().unwrap());
        assert!((found - expected).abs() < tolerance, "{key}: {found} {expected}");
    }
    let list = |key: &str| expected[key].as_array().unwrap().iter().map(|value| value.as_f64().unwrap());
    // A divergence has a slope of at most 3 in a mean and less in a log-variance; of ten units, six are active.
    let kl: f64 = list("kl_per_unit_train").sum();
    assert!((found("kl") - kl).abs() < 2e-3, "{} {kl}", found("kl"));
    for key in ["beta_vae_score", "factor_vae_score"] {
        let mean = list(&format!("{key}_on_full_grid_3_seeds")).sum::<f64>() / 3.0;
        assert!((found(key) - mean).abs() < 0.05, "{key}: {} {mean}", found(key));
    }
}

/// joint-vae's own model: its class is the digit of 88.73 % of the test images, if each class stands for the
/// digit that is most common in it among the training images.
///
/// That is 8,873 of 10,000 images, not a rounded number, with images that Pillow resized: it rounds to whole
/// grey levels after the rows and again after the columns. Ours are rounded once, and one image falls into
/// another class, also with PyTorch (`tools/golden_joint_vae.py`): 8,872. No other can: between the two
/// largest logits of any test image is 0.008 or more, a thousand times the rounding of single precision
/// (1e-5).
#[test]
fn the_published_joint_vae_has_its_known_accuracy() {
    let (Some(model), Some(mnist)) = (shared("data/pretrained/joint-vae-mnist"), shared("data/mnist")) else {
        return;
    };
    let bench = Bench::new();
    let (model, mnist) = (model.to_str().unwrap(), mnist.to_str().unwrap());
    bench.succeed(
        &["import", model, "-o", "lost"],
        &["its data, mnist, is not known here; commands take --data PATH"],
    );
    bench.succeed(
        &["import", model, "--data", mnist, "-o", "run"],
        &["10 continuous and 1 categorical units"],
    );
    let command =
        ["evaluate", "run", "--metrics", "cluster_accuracy", "--no-chance", "--format", "json", "--quiet"];
    let output = bench.unbraid(&command).args(["--test-split", "--samples", "60000"]).output().unwrap();
    let scores: Value = serde_json::from_slice(&output.stdout).unwrap();
    let images = scores["cluster_accuracy"].as_f64().unwrap() * 10_000.0;
    assert!((images - 8872.0).abs() < 1e-6, "{images}");
}
