//! Two devices, and how far their results may be apart.

use unbraid::Device;
use unbraid::burn::tensor::{Tensor, TensorData};
use unbraid::config::{Config, Source};
use unbraid::data::DataSet;
use unbraid::data::progress::Silent;
use unbraid::model::StateTensor;
use unbraid::train::Trainer;

/// The device that is tested, as `--device` names it.
pub(crate) fn name() -> String {
    std::env::var("UNBRAID_TEST_DEVICE").unwrap_or_else(|_| "wgpu".to_owned())
}

/// The device that is tested. There is no point in skipping: whoever runs these tests asked for it.
pub(crate) fn device() -> Device {
    name().parse().unwrap_or_else(|error| panic!("{error}; Debian has llvmpipe in mesa-vulkan-drivers"))
}

/// The largest distance of the gradients of a network, as a share of their norm. Both devices round each
/// product and sum to 2^-24 of its size, 6e-8. A gradient is a sum of up to 10^5 of them, in different
/// orders, and parts of it cancel, in each of some ten layers, one after the other; Vulkan moreover grants
/// exponentials and logarithms several units of the last place.
pub(crate) const GRADIENT: f64 = 1e-4;

/// The same for a loss, which is one sum after a single pass through the network.
pub(crate) const LOSS: f64 = 2e-5;

/// The norm of a whole array.
fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}

/// |a - b|
fn difference(found: &[f32], expected: &[f32]) -> f64 {
    assert_eq!(found.len(), expected.len());
    norm(found.iter().zip(expected).map(|(found, expected)| f64::from(*found) - f64::from(*expected)))
}

/// |a - b| / |b|
pub(crate) fn distance(found: &[f32], expected: &[f32]) -> f64 {
    difference(found, expected) / norm(expected.iter().copied().map(f64::from)).max(f64::MIN_POSITIVE)
}

/// The largest of some distances; NaN if one of them is, where `f64::max` would pass over it.
pub(crate) fn largest(distances: impl Iterator<Item = f64>) -> f64 {
    distances.fold(0.0, |largest, next| if next > largest || next.is_nan() { next } else { largest })
}

/// A tensor on a device, tracked.
pub(crate) fn tracked<const D: usize>(values: &[f32], shape: [usize; D], device: &Device) -> Tensor<D> {
    let device = device.tensor_device().autodiff();
    Tensor::from_data(TensorData::new(values.to_vec(), shape), &device).require_grad()
}

pub(crate) fn floats<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_into_vec().unwrap()
}

/// Numbers from -1 to 1 that repeat nowhere near.
pub(crate) fn numbers(count: usize, start: u32) -> Vec<f32> {
    let mut state = start.wrapping_mul(747_796_405).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 8_388_608.0 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// A run on few images with a small network, in which tables of `more` replace those here.
pub(crate) fn config(more: &[&str]) -> Config {
    let mut source = Source::default();
    for set in [
        "seed=3",
        "data={ name = \"shapes\", scales = 2, orientations = 2, positions = 4 }",
        "model.architecture={ name = \"mlp\", encoder = [16], decoder = [16] }",
        "model.latents={ continuous = 4 }",
        "objective={ name = \"vae\" }",
        "training.batch_size=8",
        "training.steps=50",
        "training.log_every=10",
    ]
    .iter()
    .chain(more)
    {
        source = source.set(*set);
    }
    source.resolve().unwrap_or_else(|error| panic!("{more:?}: {}", unbraid::error_chain(&error)))
}

pub(crate) fn data(config: &Config) -> Box<dyn DataSet> {
    unbraid::data::open(&config.data, &Silent).unwrap()
}

/// What is known after one step: its losses, and the gradients of all parameters.
struct FirstStep {
    losses: Vec<f64>,
    /// The first moment of Adam after a single step is (1 - beta1) times the gradient.
    gradients: Vec<StateTensor>,
}

fn first_step(config: &Config, data: &dyn DataSet, device: &Device) -> FirstStep {
    let mut trainer = Trainer::new(config, data, device).unwrap();
    trainer.advance().unwrap();
    let state = trainer.state();
    let losses = state.iter().find(|tensor| tensor.name == "means.sums").unwrap();
    let unbraid::model::Values::Doubles(losses) = losses.values.clone() else { panic!("sums of losses") };
    let gradients = state.into_iter().filter(|tensor| tensor.name.contains("adam.first.")).collect();
    FirstStep { losses, gradients }
}

/// Losses and gradients of the first step agree. Prints how far they are apart, for the documentation.
pub(crate) fn first_steps_agree(what: &str, config: &Config) {
    let data = data(config);
    let expected = first_step(config, data.as_ref(), &Device::cpu());
    let found = first_step(config, data.as_ref(), &device());
    // A part of the loss that cancels is as exact as the whole is.
    let scale = expected.losses[0].abs();
    let loss = largest(
        (found.losses.iter().zip(&expected.losses))
            .map(|(found, expected)| (found - expected).abs() / expected.abs().max(1e-2 * scale)),
    );
    let size = |tensor: &StateTensor| norm(tensor.values.as_floats().iter().copied().map(f64::from));
    let longest = largest(expected.gradients.iter().map(size));
    let mut gradient: f64 = 0.0;
    assert_eq!(found.gradients.len(), expected.gradients.len());
    for (found, expected) in found.gradients.iter().zip(&expected.gradients) {
        assert_eq!(found.name, expected.name);
        let apart = difference(found.values.as_floats(), expected.values.as_floats());
        // Of a gradient that is zero, such as that of a bias before batch normalisation, there is only
        // rounding. Where nothing is trained by gradients, all are zero.
        let share = apart / size(expected).max(1e-3 * longest).max(f64::MIN_POSITIVE);
        assert!(share < GRADIENT, "{what}: {}: {share:e}", found.name);
        gradient = gradient.max(share);
    }
    println!("{what}: loss {loss:.1e}, gradient {gradient:.1e}");
    assert!(loss < LOSS, "{what}: {:?} {:?}", found.losses, expected.losses);
}
