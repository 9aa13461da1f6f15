//! Models from elsewhere as runs: weights that PyTorch wrote, and networks of the known programs under their names.

use ndarray::{Array2, Array4};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use unbraid::config::Source;
use unbraid::data::progress::Silent;
use unbraid::data::{DataSpec, ImageShape};
use unbraid::import::Import;
use unbraid::model::{Network, StateTensor, write_state};
use unbraid::run::{Meta, Start};
use unbraid::{Device, Run, error_chain};
use zip::write::SimpleFileOptions;

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// A mapping for torch_mlp.pt.
const MAPPING: &str = concat!(
    r#"
root = "model_states.net"
[images]
height = 4
width = 6
channels = 1
[data]
name = "npz"
"#,
    include_str!("../fixtures/torch_mlp.toml")
);

fn rows(value: &Value) -> Array2<f32> {
    let rows: Vec<Vec<f32>> = serde_json::from_value(value.clone()).unwrap();
    let shape = (rows.len(), rows[0].len());
    Array2::from_shape_vec(shape, rows.into_iter().flatten().collect()).unwrap()
}

/// Single precision, in another order of additions.
fn assert_close(found: &Array2<f32>, expected: &Array2<f32>) {
    assert_eq!(found.dim(), expected.dim());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-5, "{found} {expected}");
    }
}

#[test]
fn a_mapped_state_dict_computes_what_pytorch_computed() {
    let directory = tempfile::tempdir().unwrap();
    let mapping = directory.path().join("mapping.toml");
    fs::write(&mapping, MAPPING).unwrap();
    let import = Import::new(fixture("torch_mlp.pt")).mapping(&mapping);
    let run = import.write(directory.path().join("run"), Start::Fresh, &Silent).unwrap();

    let expected: Value =
        serde_json::from_str(&fs::read_to_string(fixture("torch_mlp.json")).unwrap()).unwrap();
    let images = rows(&expected["images"]).into_shape_with_order((3, 4, 6, 1)).unwrap();
    let posteriors = run.encode(&images).unwrap();
    assert_close(&posteriors.mean, &rows(&expected["mean"]));
    assert_close(&posteriors.log_variance, &rows(&expected["log_variance"]));
    let pictures = run.decode(&posteriors.mean).unwrap().into_shape_with_order((3, 24)).unwrap();
    assert_close(&pictures, &rows(&expected["reconstruction"]));

    let provenance = Meta::read(&run.paths().meta()).unwrap().imported.unwrap();
    assert_eq!((provenance.program.as_str(), provenance.file.as_str()), ("a mapping file", "torch_mlp.pt"));
    // Without the optimiser's state it cannot go on, and says so.
    let error = unbraid::Session::resume(run.path()).execute(&Silent).unwrap_err();
    assert!(error_chain(&error).contains("npz"), "{error}");
}

/// What is wrong with a mapping, each with the whole message.
#[test]
fn wrong_mappings_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let mapping = directory.path().join("mapping.toml");
    let weights = fixture("torch_mlp.pt");
    let refusal = |old: &str, new: &str| {
        assert!(MAPPING.contains(old), "{old}");
        fs::write(&mapping, MAPPING.replacen(old, new, 1)).unwrap();
        let out = directory.path().join("run");
        let error = Import::new(&weights).mapping(&mapping).write(&out, Start::Fresh, &Silent).unwrap_err();
        assert!(!out.exists(), "nothing is written");
        error_chain(&error).replace(&weights.display().to_string(), "FILE")
    };
    let other = "FILE: weights of another model: ";
    assert_eq!(
        refusal("\"encoder.1.weight\"", "\"encoder.2.weight\""),
        format!("{other}encoder.2.weight (here encoder.fc1.weight): found nothing, expected floats [5, 24]")
    );
    assert_eq!(
        refusal("encoder = [5]", "encoder = [7]"),
        format!(
            "{other}encoder.1.weight (here encoder.fc1.weight): found floats [5, 24], expected floats [7, 24]"
        )
    );
    assert_eq!(
        refusal("{ name = \"head.weight\", rows = [0, 3] }", "\"head.weight\""),
        format!("{other}head.weight (here encoder.mean.weight): found floats [6, 5], expected floats [3, 5]")
    );
    assert_eq!(
        refusal("rows = [3, 6] }", "rows = [3, 7] }"),
        format!(
            "{other}head.weight (here encoder.log_variance.weight): found floats [6, 5], which the mapping cannot be \
             applied to, expected floats [3, 5]"
        )
    );
    assert_eq!(
        refusal("\"decoder.fc2.bias\" = \"last.bias\"", ""),
        format!("{other}decoder.fc2.bias: found nothing, expected floats [24]")
    );
    assert_eq!(
        refusal(
            "\"decoder.fc2.bias\" = \"last.bias\"",
            "\"decoder.fc2.bias\" = { name = \"last.weight\", shape = [192], rows = [0, 24] }"
        ),
        format!("{other}last.bias: found [24], expected nothing")
    );
    assert_eq!(
        refusal("\"decoder.fc2.bias\"", "\"decoder.fc3.bias\""),
        format!("{other}decoder.fc2.bias: found nothing, expected floats [24]")
    );
    assert_eq!(
        refusal("[data]\nname = \"npz\"", ""),
        "data: found nothing, expected the data set that the model was trained on, which its settings do not name"
    );
    assert_eq!(
        refusal("[images]\nheight = 4\nwidth = 6\nchannels = 1", ""),
        "images: found nothing, expected height, width and channels in the mapping, or the path of the data"
    );
    assert!(refusal("latents", "latent").contains("unknown key `latent`"));
    // A line break in a key adds no line of its own.
    let message = refusal("height = 4", "\"hei\\nght\" = 4");
    assert!(message.contains("images: unknown key `hei\\nght`\nhint: "), "{message}");
    assert_eq!(
        refusal("root = \"model_states.net\"", ""),
        "FILE: found a dictionary of `model_states`, `iter`, expected a dictionary of tensors: \
         torch.save(model.state_dict(), ...)"
    );
}

/// A state dict as torch.save writes it, without anything that only PyTorch could know.
fn torch_file(state: &[StateTensor]) -> Vec<u8> {
    let text = |text: &str| [b"X", &(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat();
    let number = |number: usize| [b"J", &(number as u32).to_le_bytes()[..]].concat();
    let tuple = |items: Vec<Vec<u8>>| [b"(".to_vec(), items.concat(), b"t".to_vec()].concat();
    let mut pickle = b"\x80\x02ccollections\nOrderedDict\n)R(".to_vec();
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (place, tensor) in state.iter().enumerate() {
        let values = tensor.values.as_floats();
        let storage = tuple(vec![
            text("storage"),
            b"ctorch\nFloatStorage\n".to_vec(),
            text(&place.to_string()),
            text("cpu"),
            number(values.len()),
        ]);
        let strides = (0..tensor.shape.len()).map(|axis| number(tensor.shape[axis + 1..].iter().product()));
        let arguments = tuple(vec![
            [storage, b"Q".to_vec()].concat(),
            number(0),
            tuple(tensor.shape.iter().map(|&size| number(size)).collect()),
            tuple(strides.collect()),
            b"\x89".to_vec(),
            b"ccollections\nOrderedDict\n)R".to_vec(),
        ]);
        pickle.extend(text(&tensor.name));
        pickle.extend_from_slice(b"ctorch._utils\n_rebuild_tensor_v2\n");
        pickle.extend(arguments);
        pickle.push(b'R');
        archive.start_file(format!("model/data/{place}"), options).unwrap();
        archive.write_all(&values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>()).unwrap();
    }
    pickle.extend_from_slice(b"u.");
    archive.start_file("model/data.pkl", options).unwrap();
    archive.write_all(&pickle).unwrap();
    archive.finish().unwrap().into_inner()
}

/// A network with random weights.
fn network(assignments: &[String], shape: ImageShape) -> Network {
    let source = assignments.iter().fold(Source::preset("shapes/beta-vae"), Source::set);
    let config = source.resolve().unwrap();
    Network::new(&config.model, shape, 3, &Device::cpu().tensor_device()).unwrap()
}

/// Writes weights and settings as a published model, imports it, and compares with the network they came from.
fn assert_imported(directory: &Path, network: &Network, state: &[StateTensor], specs: &Value) -> Run {
    let model = directory.join("model");
    fs::create_dir_all(&model).unwrap();
    fs::write(model.join("model.pt"), torch_file(state)).unwrap();
    fs::write(model.join("specs.json"), specs.to_string()).unwrap();
    let out = directory.join("run");
    let run = Import::new(&model).write(&out, Start::Overwrite, &Silent).unwrap();
    let (mut found, mut expected) = (run.network().state(), network.state());
    let by_name = |tensor: &StateTensor| tensor.name.clone();
    found.sort_by_key(by_name);
    expected.sort_by_key(by_name);
    assert!(found == expected, "{specs}");
    let shape = run.image_shape();
    assert_eq!(shape, network.blueprint().image_shape);
    run.encode(&Array4::zeros((1, shape.height, shape.width, shape.channels))).unwrap();
    assert_eq!(Source::file(out.join("config.toml")).resolve().unwrap(), *run.config());
    run
}

/// Every objective, likelihood, data set and size of disentangling-vae.
#[test]
fn models_of_disentangling_vae_become_runs() {
    let directory = tempfile::tempdir().unwrap();
    for (side, channels, units, dataset, loss, likelihood, objective) in [
        (64, 1, 10, "dsprites", "VAE", "bernoulli", "beta-vae"),
        (32, 1, 5, "mnist", "betaH", "gaussian", "beta-vae"),
        (64, 3, 10, "celeba", "betaB", "laplace", "annealed-vae"),
        (64, 1, 4, "chairs", "factor", "bernoulli", "factor-vae"),
        (32, 3, 2, "fashion", "btcvae", "bernoulli", "beta-tcvae"),
    ] {
        let shape = ImageShape::new(side, side, channels);
        let settings = ["model.architecture=burgess".to_owned(), format!("model.latents.continuous={units}")];
        let network = network(&settings, shape);
        // As the program writes them.
        let specs = json!({
            "batch_size": 64, "betaB_G": 1000, "betaB_finC": 25, "betaB_initC": 0, "betaH_B": 4, "btcvae_A": 1,
            "btcvae_B": 6.4, "btcvae_G": 1, "dataset": dataset, "epochs": 30, "factor_G": 6,
            "img_size": [channels, side, side], "latent_dim": units, "loss": loss, "lr": 0.0005, "lr_disc": 5e-5,
            "model_type": "Burgess", "rec_dist": likelihood, "reg_anneal": 10000, "seed": 1234, "no_cuda": false,
        });
        let run = assert_imported(directory.path(), &network, &network.state(), &specs);
        assert_eq!(run.config().objective.name(), objective);
        assert_eq!(run.config().seed, 1234);
    }
}

/// Our names and those of joint-vae, written out for its network of three layers.
const JOINT: [(&str, &str); 12] = [
    ("encoder.conv1", "img_to_features.0"),
    ("encoder.conv2", "img_to_features.2"),
    ("encoder.conv3", "img_to_features.4"),
    ("encoder.fc1", "features_to_hidden.0"),
    ("encoder.mean", "fc_mean"),
    ("encoder.log_variance", "fc_log_var"),
    ("encoder.categorical.0", "fc_alphas.0"),
    ("decoder.fc1", "latent_to_features.0"),
    ("decoder.fc2", "latent_to_features.2"),
    ("decoder.deconv1", "features_to_img.0"),
    ("decoder.deconv2", "features_to_img.2"),
    ("decoder.deconv3", "features_to_img.4"),
];

/// What its network for 64 pixels and a second categorical unit add.
const JOINT_64: [(&str, &str); 3] = [
    ("encoder.conv4", "img_to_features.6"),
    ("decoder.deconv4", "features_to_img.6"),
    ("encoder.categorical.1", "fc_alphas.1"),
];

#[test]
fn models_of_joint_vae_become_runs() {
    let directory = tempfile::tempdir().unwrap();
    for (side, channels, continuous, categorical, dataset) in [
        (32, 1, 10, vec![10], "mnist"),
        (64, 3, 32, vec![10, 2], "celeba"),
        (64, 1, 6, vec![], "dsprites"),
        (32, 1, 0, vec![10], "fashion"),
        (64, 1, 32, vec![2, 2], "chairs"),
    ] {
        let objective = "objective={ name = \"joint-vae\", gamma_continuous = 1, capacity_continuous = 5, \
                         gamma_categorical = 1, capacity_categorical = 1 }";
        let objective = if categorical.is_empty() { "objective=vae" } else { objective };
        let settings = [
            format!("model.architecture=dupont-{side}"),
            format!("model.latents={{ continuous = {continuous}, categorical = {categorical:?} }}"),
            objective.to_owned(),
        ];
        let network = network(&settings, ImageShape::new(side, side, channels));
        let mut state = network.state();
        for tensor in &mut state {
            let (layer, part) = tensor.name.rsplit_once('.').unwrap();
            let theirs = JOINT.iter().chain(&JOINT_64).find(|(ours, _)| *ours == layer).unwrap().1;
            tensor.name = format!("{theirs}.{part}");
        }
        let mut units = json!({});
        if continuous > 0 {
            units["cont"] = json!(continuous);
        }
        if !categorical.is_empty() {
            units["disc"] = json!(categorical);
        }
        let specs = json!({
            "cont_capacity": [0.0, 5.0, 25000, 30.0], "disc_capacity": [0.0, 5.0, 25000, 30.0], "batch_size": 64,
            "latent_spec": units, "epochs": [100, 101], "lr": [0.0005], "dataset": dataset, "experiment_name": "x",
        });
        let run = assert_imported(directory.path(), &network, &state, &specs);
        assert_eq!(run.categorical_units(), categorical);
        assert_eq!(run.config().training.epochs, Some(101));
    }
}

/// Settings that are wrong, each with the whole message.
#[test]
fn wrong_settings_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let model = directory.path().join("model");
    fs::create_dir_all(&model).unwrap();
    let settings = ["model.architecture=burgess".to_owned(), "model.latents.continuous=10".to_owned()];
    let network = network(&settings, ImageShape::new(32, 32, 1));
    fs::write(model.join("model.pt"), torch_file(&network.state())).unwrap();
    let refusal = |changes: Value| {
        let mut specs = json!({
            "model_type": "Burgess", "latent_dim": 10, "img_size": [1, 32, 32], "loss": "VAE", "dataset": "mnist",
        });
        let specs_table = specs.as_object_mut().unwrap();
        specs_table.extend(changes.as_object().unwrap().clone());
        fs::write(model.join("specs.json"), specs.to_string()).unwrap();
        let error =
            Import::new(&model).write(directory.path().join("run"), Start::Fresh, &Silent).unwrap_err();
        assert_eq!(error.kind(), unbraid::ErrorKind::Input);
        error_chain(&error).replace(&model.display().to_string(), "DIR")
    };
    for (changes, message) in [
        (
            json!({ "latent_dim": 7 }),
            "DIR/model.pt: weights of another model: encoder.mu_logvar_gen.weight: found floats [20, 256], expected \
             floats [14, 256]",
        ),
        (
            json!({ "img_size": [3, 32, 32] }),
            "DIR/model.pt: weights of another model: encoder.conv1.weight: found floats [32, 1, 4, 4], expected floats \
             [32, 3, 4, 4]",
        ),
        (
            json!({ "img_size": [1, 64, 64], "dataset": "dsprites" }),
            "DIR/model.pt: weights of another model: encoder.conv_64.weight: found nothing, expected floats [32, 32, 4, 4]",
        ),
        (
            json!({ "img_size": [1, 28, 28] }),
            "DIR/specs.json: found `img_size`: [1,28,28], expected images of 32 or 64 pixels with 1 or 3 channels",
        ),
        (
            json!({ "loss": "best" }),
            "DIR/specs.json: found `loss`: `best`, expected VAE, betaH, betaB, factor or btcvae",
        ),
        (
            json!({ "latent_dim": "ten" }),
            "DIR/specs.json: found `latent_dim`: `ten`, expected a whole number, 0 or more",
        ),
        (
            json!({ "model_type": "Chen" }),
            "DIR/specs.json: found `model_type`: `Chen`, expected `Burgess`, the only network of disentangling-vae",
        ),
        (
            json!({ "dataset": "faces" }),
            "data: found nothing, expected the data set that the model was trained on, which its settings do not name",
        ),
        (
            json!({ "model_type": null }),
            "DIR/specs.json: found the settings `dataset`, `img_size`, `latent_dim`, `loss`, `model_type`, expected those \
             of disentangling-vae (`model_type`, `latent_dim`) or joint-vae (`latent_spec`)",
        ),
        (
            json!({ "model_type": null, "latent_spec": { "cont": 10 } }),
            "DIR/model.pt: found the tensors `decoder.convT1.bias`, `decoder.convT1.weight`, `decoder.convT2.bias`, \
             `decoder.convT2.weight`, `decoder.convT3.bias`, `decoder.convT3.weight`, `decoder.lin1.bias`, \
             `decoder.lin1.weight`, 16 more, expected the layers of joint-vae, with `img_to_features.0.weight` of [32, \
             channels, 4, 4]",
        ),
    ] {
        assert_eq!(refusal(changes.clone()), message, "{changes}");
    }
    // More units than any machine holds are refused before anything of that size is made.
    let message = refusal(json!({ "latent_dim": 1_000_000_000_000_u64 }));
    assert!(message.contains("model.latents") || message.contains("found a need"), "{message}");
}

/// Weights that are not finite, another number of bytes, and files of other kinds.
#[test]
fn wrong_files_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::write(at("mapping.toml"), MAPPING).unwrap();
    let refusal = |bytes: &[u8]| {
        fs::write(at("weights"), bytes).unwrap();
        let import = Import::new(at("weights")).mapping(at("mapping.toml")).data(DataSpec::named("npz"));
        let error = import.write(at("run"), Start::Fresh, &Silent).unwrap_err();
        error_chain(&error).replace(&directory.path().display().to_string(), "DIR")
    };
    let kinds = "expected weights that torch.save wrote (.pt, .pth), or a safetensors file";
    assert_eq!(refusal(b""), format!("DIR/weights: found an empty file, {kinds}"));
    assert_eq!(
        refusal(b"\x80\x04."),
        format!("DIR/weights: found a pickle that torch.save did not write, {kinds}")
    );
    assert_eq!(refusal(b"\x89HDF\r\n\x1a\n"), format!("DIR/weights: found data of an unknown kind, {kinds}"));
    assert!(
        refusal(b"\xff\xff\xff\xff\xff\xff\xff\x7f{}")
            .starts_with("DIR/weights: found a damaged safetensors file")
    );
    assert!(refusal(b"PK\x03\x04 and no more").starts_with("DIR/weights: found a damaged zip archive"));
    assert_eq!(
        refusal(&write_state(&[StateTensor::floats("a", vec![1], vec![1.0])], "").unwrap()),
        "DIR/weights: weights of another model: encoder.1.weight (here encoder.fc1.weight): found nothing, expected floats \
         [5, 24]"
    );
    let error = Import::new(at("none.pt")).write(at("run"), Start::Fresh, &Silent).unwrap_err();
    assert!(error_chain(&error).contains("cannot read it"), "{}", error_chain(&error));
    let error = Import::new(directory.path()).write(at("run"), Start::Fresh, &Silent).unwrap_err();
    assert!(error.to_string().ends_with(
        "found a directory without model.pt, expected one with model.pt and specs.json, or a file of weights"
    ));
    let error = Import::new(at("weights")).write(at("run"), Start::Fresh, &Silent).unwrap_err();
    assert!(error.to_string().ends_with(
        "found no specs.json beside it, expected that of disentangling-vae or joint-vae, or a mapping of the tensors' names"
    ));
    assert!(!at("run").exists());
}
