//! Weights that PyTorch wrote give here what PyTorch computed with them (tests/fixtures/make_burgess.py).
use burn::tensor::{Device, Tensor, TensorData};
use std::path::PathBuf;
use unbraid::config::Source;
use unbraid::data::ImageShape;
use unbraid::model::{Network, Pass, StateTensor, read_state, write_state};

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// The network of the fixture: four channels, 16 hidden values, three units.
fn network(units: usize) -> Network {
    let assignments = vec![
        "model.architecture={ name = \"burgess\", channels = 4, hidden = 16 }".to_owned(),
        format!("model.latents.continuous={units}"),
    ];
    let config = Source { assignments, ..Source::default() }.resolve().unwrap();
    Network::new(&config.model, ImageShape::new(64, 80, 3), 0, &Device::flex()).unwrap()
}

fn expected(name: &str) -> StateTensor {
    let (state, _) = read_state(&fixture("burgess_expected.safetensors")).unwrap();
    state.into_iter().find(|tensor| tensor.name == name).unwrap()
}

fn assert_close<const D: usize>(found: Tensor<D>, name: &str) {
    let found: Vec<f32> = found.into_data().try_into_vec().unwrap();
    let expected = expected(name);
    let expected = expected.values.as_floats();
    assert_eq!(found.len(), expected.len(), "{name}");
    for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!(
            (found - expected).abs() <= 1e-5 + 1e-5 * expected.abs(),
            "{name}[{place}]: {found} {expected}"
        );
    }
}

#[test]
fn a_state_dict_of_pytorch_computes_the_same_here() {
    let mut network = network(3);
    let (weights, note) = read_state(&fixture("burgess.safetensors")).unwrap();
    assert_eq!(note, None);
    network.set_state(weights).unwrap();

    let images = expected("images");
    let images = TensorData::new(images.values.as_floats().to_vec(), images.shape);
    let images = Tensor::<4>::from_data(images, network.device()).permute([0, 2, 3, 1]);
    let posterior = network.encode(images, &mut Pass::Inference).continuous.moments();
    assert_close(posterior.mean.clone(), "mean");
    assert_close(posterior.log_variance, "log_variance");
    let outputs = network.decode(posterior.mean, &mut Pass::Inference);
    assert_close(network.likelihood().mean(outputs).permute([0, 3, 1, 2]), "reconstruction");
}

#[test]
fn what_is_written_is_what_was_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("weights.safetensors");
    let (mut read, _) = read_state(&fixture("burgess.safetensors")).unwrap();
    let mut network = network(3);
    network.set_state(read.clone()).unwrap();
    std::fs::write(&path, write_state(&network.state(), "a note").unwrap()).unwrap();
    let (mut written, note) = read_state(&path).unwrap();
    for state in [&mut read, &mut written] {
        state.sort_by(|left, right| left.name.cmp(&right.name));
    }
    assert_eq!(written, read);
    assert_eq!(note.as_deref(), Some("a note"));
}

#[test]
fn weights_of_another_network_are_refused_and_change_nothing() {
    let (weights, _) = read_state(&fixture("burgess.safetensors")).unwrap();
    let mut other = network(5);
    let before = other.state();
    let error = other.set_state(weights.clone()).unwrap_err();
    assert!(
        matches!(&error, unbraid::Error::TensorMismatch { tensor, .. } if tensor == "encoder.mu_logvar_gen.weight"),
        "{error}"
    );
    let mut extra = weights.clone();
    extra.push(StateTensor::floats("surplus", vec![1], vec![0.0]));
    assert_eq!(
        network(3).set_state(extra).unwrap_err().to_string(),
        "weights of another model: surplus: found F32 [1], expected nothing"
    );
    let mut missing = weights;
    missing.retain(|tensor| tensor.name != "decoder.lin2.bias");
    assert_eq!(
        network(3).set_state(missing).unwrap_err().to_string(),
        "weights of another model: decoder.lin2.bias: found nothing, expected F32 [16]"
    );
    assert_eq!(other.state(), before);
}
