//! The Bernoulli loss against double precision, finite differences and burn's own operations.

use burn::tensor::activation::softplus;
use burn::tensor::{Device, Tensor};
use unbraid_kernels::bernoulli_loss;

use crate::common::{Generator, on_every_instruction_set, tensor, values};

/// `softplus(x) - target * x` in double precision, in the form that stays accurate on both sides.
fn exact(logit: f64, target: f64) -> f64 {
    logit.max(0.0) + (-logit.abs()).exp().ln_1p() - target * logit
}

fn bernoulli_loss_by_burn(logits: Tensor<4>, targets: Tensor<4>) -> Tensor<1> {
    let batch_size = logits.dims()[0];
    (softplus(logits.clone(), 1.0) - targets * logits).flatten::<2>(1, 3).sum_dim(1).reshape([batch_size])
}

fn loss_and_gradient(logits: &[f32], targets: &[f32], shape: [usize; 2]) -> (Vec<f32>, Vec<f32>) {
    let device = Device::flex().autodiff();
    let logits = tensor(logits.to_vec(), shape, &device).require_grad();
    let losses = bernoulli_loss(logits.clone(), tensor(targets.to_vec(), shape, &device));
    let gradients = losses.clone().sum().backward();
    (values(losses), values(logits.grad(&gradients).expect("the logits have a gradient")))
}

#[test]
fn agrees_with_double_precision_for_small_and_large_logits() {
    let mut generator = Generator(11);
    // Not a multiple of any vector, and more than one block.
    let shape = [5, 1031];
    let logits: Vec<f32> = generator.floats(5 * 1031).iter().map(|value| (12.0 * value).sinh()).collect();
    let targets: Vec<f32> = generator.floats(5 * 1031).iter().map(|value| value.abs()).collect();
    on_every_instruction_set(|set| {
        let (losses, gradient) = loss_and_gradient(&logits, &targets, shape);
        for (row, loss) in losses.iter().enumerate() {
            let range = row * 1031..(row + 1) * 1031;
            let terms = logits[range.clone()].iter().zip(&targets[range]);
            let terms: Vec<_> = terms.map(|(x, t)| exact(f64::from(*x), f64::from(*t))).collect();
            // All terms are positive. Each is exact to a few units in the last place, and so is a sum of at most 1024
            // terms by vectors.
            let expected: f64 = terms.iter().sum();
            let error = (f64::from(*loss) - expected).abs();
            assert!(error < 2e-6 * expected, "{set}: row {row} is {loss}, not {expected}");
        }
        for ((x, target), derivative) in logits.iter().zip(&targets).zip(&gradient) {
            let expected = 1.0 / (1.0 + (-f64::from(*x)).exp()) - f64::from(*target);
            assert!(
                (f64::from(*derivative) - expected).abs() < 3e-7,
                "{set}: derivative {derivative} at {x}, not {expected}"
            );
        }
    });
}

#[test]
fn the_gradient_agrees_with_finite_differences() {
    let logits = [-3.0, -0.7, -0.01, 0.0, 0.02, 0.9, 4.0];
    let targets = [0.0, 1.0, 0.3, 0.5, 0.9, 0.0, 1.0];
    on_every_instruction_set(|set| {
        let (_, gradient) = loss_and_gradient(&logits, &targets, [1, 7]);
        for index in 0..7 {
            let [x, target] = [f64::from(logits[index]), f64::from(targets[index])];
            let step = 1e-4;
            let difference = (exact(x + step, target) - exact(x - step, target)) / (2.0 * step);
            // The error of the central difference is step^2 / 6 times the third derivative, which is below 0.13.
            let error = (f64::from(gradient[index]) - difference).abs();
            assert!(error < 1e-6, "{set}: {} at {x}, not {difference}", gradient[index]);
        }
    });
}

#[test]
fn extreme_logits_neither_overflow_nor_change_the_sign() {
    on_every_instruction_set(|set| {
        let logits = [1e30, -1e30, 200.0, -200.0, 88.0, -88.0];
        let (losses, gradient) = loss_and_gradient(&logits, &[1.0, 0.0, 0.0, 1.0, 1.0, 0.0], [6, 1]);
        // The smallest exponential is exp(-87), 1.6e-38.
        for (loss, expected) in losses.iter().zip([0.0, 0.0, 200.0, 200.0, 0.0, 0.0]) {
            assert!(*loss >= expected && *loss <= expected + 1e-37, "{set}: {loss}, not {expected}");
        }
        for (derivative, expected) in gradient.iter().zip([0.0, 0.0, 1.0, -1.0, 0.0, 0.0]) {
            assert!((derivative - expected).abs() < 1e-37, "{set}: {derivative}, not {expected}");
        }
    });
}

#[test]
fn a_nan_logit_gives_a_nan_loss_and_gradient() {
    on_every_instruction_set(|set| {
        let (losses, gradient) = loss_and_gradient(&[f32::NAN, 1.0], &[0.0, 0.0], [2, 1]);
        assert!(losses[0].is_nan() && gradient[0].is_nan(), "{set}");
        assert!(losses[1].is_finite() && gradient[1].is_finite(), "{set}");
    });
}

#[test]
fn agrees_with_burn_and_scales_each_row_by_its_own_gradient() {
    let device = Device::flex().autodiff();
    let mut generator = Generator(5);
    let shape = [3, 4, 5, 2];
    let logits: Vec<_> = generator.floats(120).iter().map(|value| 8.0 * value).collect();
    let targets: Vec<_> = generator.floats(120).iter().map(|value| value.abs()).collect();
    let factors = [2.0, -1.0, 0.5];
    let run = |operation: fn(Tensor<4>, Tensor<4>) -> Tensor<1>| {
        let logits = tensor(logits.clone(), shape, &device).require_grad();
        let losses = operation(logits.clone(), tensor(targets.clone(), shape, &device));
        let gradients = (losses.clone() * tensor(factors.to_vec(), [3], &device)).sum().backward();
        (values(losses), values(logits.grad(&gradients).unwrap()))
    };
    let (losses, gradient) = run(bernoulli_loss);
    let (expected_losses, expected_gradient) = run(bernoulli_loss_by_burn);
    // Forty terms below 10, and derivatives below 2, each exact to a few units in the last place.
    for (loss, expected) in losses.iter().zip(&expected_losses) {
        assert!((loss - expected).abs() < 400.0 * 8.0 * f32::EPSILON, "{loss} not {expected}");
    }
    for (derivative, expected) in gradient.iter().zip(&expected_gradient) {
        assert!((derivative - expected).abs() < 2.0 * 8.0 * f32::EPSILON, "{derivative} not {expected}");
    }
}

#[test]
#[should_panic(expected = "the logits are [2, 3], the targets [3, 2]")]
fn different_shapes_are_refused() {
    let device = Device::flex();
    bernoulli_loss(Tensor::<2>::zeros([2, 3], &device), Tensor::zeros([3, 2], &device));
}
