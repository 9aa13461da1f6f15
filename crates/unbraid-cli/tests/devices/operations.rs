//! The operations that have kernels of our own on the CPU, which burn's operations replace elsewhere.

use crate::agreement::{device, distance, floats, largest, numbers, tracked};
use unbraid::Device;
use unbraid::burn::tensor::Tensor;
use unbraid_kernels::{Conv2dOptions, LinearActivation, bernoulli_loss, conv_transpose2d, conv2d, linear};

/// One layer: some hundred products in each sum, each rounded to 6e-8.
const LAYER: f64 = 2e-6;

/// What a device computes: the output and the gradient of each argument.
type Results = Vec<Vec<f32>>;

/// A function of some tensors by its name, and what it computes on a device.
#[track_caller]
fn agree(what: &str, run: impl Fn(&Device) -> Results) {
    let (found, expected) = (run(&device()), run(&Device::cpu()));
    assert_eq!(found.len(), expected.len());
    let apart = largest(found.iter().zip(&expected).map(|(found, expected)| distance(found, expected)));
    println!("{what}: {apart:.1e}");
    assert!(apart < LAYER, "{what}: output or gradients are {apart:e} apart");
}

/// The output, and gradients of its products with numbers that are all different.
macro_rules! results {
    ($output:expr, $device:expr, $($argument:expr),+) => {{
        let output = $output;
        let shape = output.dims();
        let weights = numbers(shape.iter().product(), 9);
        let weights = tracked(&weights, shape, $device).detach();
        let gradients = (output.clone() * weights).sum().backward();
        vec![floats(output), $(floats($argument.grad(&gradients).unwrap())),+]
    }};
}

/// Every kernel, stride and padding that an architecture has, with and without ReLU; images that are not square.
const LAYERS: [(usize, usize, usize, [usize; 2]); 6] = [
    (4, 2, 1, [16, 12]),
    (2, 2, 0, [8, 12]),
    (2, 1, 1, [5, 6]),
    (4, 1, 0, [4, 4]),
    (3, 1, 1, [7, 5]),
    (4, 2, 0, [10, 6]),
];

type Convolution = fn(Tensor<4>, Tensor<4>, Option<Tensor<1>>, Conv2dOptions) -> Tensor<4>;

fn layers_agree(what: &str, layer: Convolution, weight_channels: [usize; 2]) {
    for (kernel, stride, padding, [height, width]) in LAYERS {
        for relu in [false, true] {
            let options = Conv2dOptions { relu, ..Conv2dOptions::new(stride, padding) };
            let name = format!("{what} {kernel} x {kernel}, stride {stride}, padding {padding}, relu {relu}");
            agree(&name, |device| {
                let (batch, channels, outputs) = (3, 5, 6);
                let images = tracked(
                    &numbers(batch * height * width * channels, 1),
                    [batch, height, width, channels],
                    device,
                );
                let shape = [weight_channels[0], weight_channels[1], kernel, kernel];
                let weight = tracked(&numbers(shape.iter().product(), 2), shape, device);
                let bias = tracked(&numbers(outputs, 3), [outputs], device);
                let output = layer(images.clone(), weight.clone(), Some(bias.clone()), options);
                results!(output, device, images, weight, bias)
            });
        }
    }
}

#[test]
fn convolutions() {
    layers_agree("convolution", conv2d, [6, 5]);
}

#[test]
fn transposed_convolutions() {
    layers_agree("transposed convolution", conv_transpose2d, [5, 6]);
}

#[test]
fn fully_connected_layers() {
    for activation in [
        LinearActivation::Identity,
        LinearActivation::Relu,
        LinearActivation::LeakyRelu { slope: 0.2 },
        LinearActivation::Tanh,
    ] {
        // A batch of one, and sizes that are no multiple of a tile.
        for [batch, inputs, outputs] in [[1, 7, 5], [8, 100, 33], [16, 256, 20]] {
            agree(&format!("fully connected {batch} x {inputs} x {outputs}, {activation:?}"), |device| {
                let input = tracked(&numbers(batch * inputs, 4), [batch, inputs], device);
                let weight = tracked(&numbers(outputs * inputs, 5), [outputs, inputs], device);
                let bias = tracked(&numbers(outputs, 6), [outputs], device);
                let output = linear(input.clone(), weight.clone(), bias.clone(), activation);
                results!(output, device, input, weight, bias)
            });
        }
    }
}

#[test]
fn bernoulli_losses() {
    agree("Bernoulli loss", |device| {
        // Logits far from zero, where ln(1 + exp x) must not overflow.
        let logits: Vec<f32> = numbers(4 * 300, 7).iter().map(|value| 100.0 * value.powi(3)).collect();
        let targets: Vec<f32> = numbers(4 * 300, 8).iter().map(|value| (value + 1.0) / 2.0).collect();
        let logits = tracked(&logits, [4, 300], device);
        let targets = tracked(&targets, [4, 300], device).detach();
        let output = bernoulli_loss(logits.clone(), targets);
        results!(output, device, logits)
    });
}
