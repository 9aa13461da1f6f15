//! Stacks of layers, of which some are computed in pairs, against the same layers one by one.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use burn::tensor::{Device, Tensor};
use unbraid_kernels::{
    Conv2dLayer, Conv2dOptions, conv_transpose2d, conv_transpose2d_stack, conv2d, conv2d_stack,
};

use crate::common::{Generator, on_every_instruction_set, tensor, values, with_threads};

/// A stack and its arguments; the images have 1 or 3 channels, everything else 32.
#[derive(Clone, Copy, Debug)]
struct Case {
    transposed: bool,
    batch_size: usize,
    /// Width and height of the input.
    size: usize,
    image_channels: usize,
    layers: usize,
    /// Whether the gradient of the input is wanted.
    tracked: bool,
}

const CASES: [Case; 7] = [
    // Batches of one image, of less than a block, and of blocks of which the last is smaller.
    Case { transposed: false, batch_size: 1, size: 16, image_channels: 1, layers: 2, tracked: false },
    Case { transposed: false, batch_size: 19, size: 32, image_channels: 1, layers: 3, tracked: false },
    Case { transposed: false, batch_size: 5, size: 24, image_channels: 3, layers: 2, tracked: true },
    Case { transposed: false, batch_size: 64, size: 16, image_channels: 3, layers: 2, tracked: false },
    Case { transposed: true, batch_size: 1, size: 4, image_channels: 1, layers: 2, tracked: true },
    Case { transposed: true, batch_size: 19, size: 4, image_channels: 1, layers: 3, tracked: true },
    Case { transposed: true, batch_size: 5, size: 6, image_channels: 3, layers: 2, tracked: false },
];

/// Output, then the gradients of the input if it is tracked, of each weight, and of each bias.
type Results = Vec<Vec<f32>>;

impl Case {
    fn run(&self, stacked: bool) -> Results {
        let device = Device::flex().autodiff();
        let mut generator = Generator(self.size as u64);
        let channels = |place: usize| if place == 0 { self.image_channels } else { 32 };
        let input_channels = channels(if self.transposed { self.layers } else { 0 });
        let shape = [self.batch_size, self.size, self.size, input_channels];
        let input: Tensor<4> = tensor(generator.floats(shape.iter().product()), shape, &device);
        let input = if self.tracked { input.require_grad() } else { input };
        // Layers by their distance from the images.
        let mut layers: Vec<Conv2dLayer> = (0..self.layers)
            .map(|place| {
                let shape = [channels(place + 1), channels(place), 4, 4];
                let weight = generator.floats(shape.iter().product());
                let weight = weight.into_iter().map(|value| 0.1 * value).collect();
                let outputs = if self.transposed { channels(place) } else { channels(place + 1) };
                let options = Conv2dOptions::new(2, 1);
                Conv2dLayer {
                    weight: tensor(weight, shape, &device).require_grad(),
                    bias: Some(tensor(generator.floats(outputs), [outputs], &device).require_grad()),
                    options: if self.transposed && place == 0 { options } else { options.with_relu() },
                }
            })
            .collect();
        if self.transposed {
            layers.reverse();
        }
        let output = match (stacked, self.transposed) {
            (true, false) => conv2d_stack(input.clone(), layers.clone()),
            (true, true) => conv_transpose2d_stack(input.clone(), layers.clone()),
            (false, transposed) => layers.iter().cloned().fold(input.clone(), |images, layer| {
                let operation = if transposed { conv_transpose2d } else { conv2d };
                operation(images, layer.weight, layer.bias, layer.options)
            }),
        };
        let shape = output.dims();
        let gradient = tensor(generator.floats(shape.iter().product()), shape, &device);
        let gradients = (output.clone() * gradient).sum().backward();
        let mut results = vec![values(output)];
        results.extend(self.tracked.then(|| values(input.grad(&gradients).unwrap())));
        results.extend(layers.iter().map(|layer| values(layer.weight.grad(&gradients).unwrap())));
        results.extend(
            layers.iter().map(|layer| values(layer.bias.as_ref().unwrap().grad(&gradients).unwrap())),
        );
        results
    }
}

/// Only sums over images may be added in another order, those of the weights next to the images: at most 19 images of 16 x 16
/// pixels, or 4,864 terms, whose rounding errors are a random walk of sqrt(4,864) = 70 half-units of the sum. The outputs are
/// the same to the last bit.
#[test]
fn a_stack_is_its_layers_one_by_one() {
    on_every_instruction_set(|set| {
        for case in CASES {
            let (found, expected) = (case.run(true), case.run(false));
            assert_eq!(found.len(), expected.len());
            assert!(found[0] == expected[0], "{set}, {case:?}: output");
            for (number, (found, expected)) in found.iter().zip(&expected).enumerate().skip(1) {
                let difference = |(found, expected): (&f32, &f32)| f64::from(found - expected).powi(2);
                let error = found.iter().zip(expected).map(difference).sum::<f64>().sqrt();
                let size = expected.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
                let bound = 70.0 * 0.5 * f64::from(f32::EPSILON) * size;
                assert!(error <= bound, "{set}, {case:?}, array {number}: {error} of {size}");
            }
        }
    });
}

#[test]
fn a_stack_gives_the_same_bits_for_one_two_and_three_threads() {
    on_every_instruction_set(|set| {
        for case in CASES {
            let one = with_threads(1, || case.run(true));
            for threads in [2, 3] {
                assert!(
                    one == with_threads(threads, || case.run(true)),
                    "{set}, {threads} threads, {case:?}"
                );
            }
        }
    });
}

/// Layers that are no pair, because the second has another shape or the first has no ReLU, are computed one by one.
#[test]
fn a_stack_may_have_any_layers() {
    let device = Device::flex();
    let layer = |outputs, inputs, kernel, options| Conv2dLayer {
        weight: Tensor::ones([outputs, inputs, kernel, kernel], &device),
        bias: None,
        options,
    };
    let images = Tensor::<4>::ones([1, 8, 8, 1], &device);
    let half = Conv2dOptions::new(2, 1);
    let layers =
        vec![layer(32, 1, 4, half), layer(32, 32, 4, half), layer(3, 32, 2, Conv2dOptions::new(1, 0))];
    let output = conv2d_stack(images.clone(), layers);
    assert_eq!(output.dims(), [1, 1, 1, 3]);
    // By hand: the first layer sums 9 pixels in its corners, 12 at its edges and 16 inside. The second does the same with
    // 32 channels: each of its 2 x 2 windows has 3 x 3 of these 4 x 4 pixels, 9 + 4 x 12 + 4 x 16 = 121. The third adds four
    // of them over 32 channels.
    assert_eq!(values(output), vec![121.0 * 32.0 * 4.0 * 32.0; 3]);
    assert_eq!(conv2d_stack(images.clone(), Vec::new()).dims(), images.dims());
}
