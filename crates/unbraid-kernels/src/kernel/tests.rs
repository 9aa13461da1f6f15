//! The kernels against the definition of a convolution, without burn and small enough for Miri.
//!
//! `RAYON_NUM_THREADS=1 MIRIFLAGS="-Zmiri-tree-borrows -Zmiri-ignore-leaks -Zmiri-disable-isolation" cargo +nightly miri
//! test -p unbraid-kernels --lib kernel::tests` (rayon's queues need the tree-borrows model, and its threads never end).

use super::pack::PackedWeights;
use super::plan::Plan;
use super::window::Windows;
use super::write_only::WriteOnly;
use super::*;
use crate::geometry::{Filter, ImageShape, Layer, contracted};
use crate::simd::InstructionSet;

/// Multiples of 1/4, whose sums of products are exact in any order.
fn quarters(length: usize, seed: usize) -> Vec<f32> {
    (0..length).map(|index| ((index * 7 + seed * 3) % 9) as f32 / 4.0 - 1.0).collect()
}

/// Calls `visit` with the indices of the fine value, the coarse value and the weight of every product of the layer.
pub(super) fn for_each_product(layer: &Layer, mut visit: impl FnMut(usize, usize, usize)) {
    let Layer { batch_size, fine, coarse, filter } = *layer;
    let [kernel_height, kernel_width] = filter.size;
    for image in 0..batch_size {
        for (y, x) in (0..coarse.height).flat_map(|y| (0..coarse.width).map(move |x| (y, x))) {
            for (ky, kx) in (0..kernel_height).flat_map(|ky| (0..kernel_width).map(move |kx| (ky, kx))) {
                let fine_y = (y * filter.stride[0] + ky).checked_sub(filter.padding[0]);
                let fine_x = (x * filter.stride[1] + kx).checked_sub(filter.padding[1]);
                let (Some(fine_y), Some(fine_x)) = (fine_y, fine_x) else { continue };
                if fine_y >= fine.height || fine_x >= fine.width {
                    continue;
                }
                for c in 0..coarse.channels {
                    for f in 0..fine.channels {
                        visit(
                            image * fine.len() + (fine_y * fine.width + fine_x) * fine.channels + f,
                            image * coarse.len() + (y * coarse.width + x) * coarse.channels + c,
                            ((c * fine.channels + f) * kernel_height + ky) * kernel_width + kx,
                        );
                    }
                }
            }
        }
    }
}

/// A layer whose images and kernels are squares.
pub(super) fn square_layer(
    batch_size: usize,
    size: usize,
    [fine_channels, coarse_channels]: [usize; 2],
    [kernel, stride, padding]: [usize; 3],
) -> Layer {
    let image = |size, channels| ImageShape { height: size, width: size, channels };
    Layer {
        batch_size,
        fine: image(size, fine_channels),
        coarse: image(contracted(size, kernel, stride, padding).unwrap(), coarse_channels),
        filter: Filter { size: [kernel; 2], stride: [stride; 2], padding: [padding; 2] },
    }
}

#[test]
fn both_directions_and_their_gradients_follow_the_definition() {
    for (fine_channels, coarse_channels, kernel, stride, padding) in
        [(1, 5, 4, 2, 1), (3, 17, 3, 2, 0), (5, 2, 2, 1, 1), (9, 33, 4, 2, 1), (2, 3, 2, 3, 0)]
    {
        // Miri is about a thousand times slower, and runs only plain Rust, with vectors of four.
        let (size, batch_size) = if cfg!(miri) { (4, 1) } else { (6, 3) };
        if cfg!(miri) && coarse_channels > 5 {
            continue;
        }
        let layer =
            &square_layer(batch_size, size, [fine_channels, coarse_channels], [kernel, stride, padding]);
        for direction in [Direction::Contract, Direction::Expand] {
            let (from, to) = match direction {
                Direction::Contract => (layer.fine, layer.coarse),
                Direction::Expand => (layer.coarse, layer.fine),
            };
            let input = &quarters(layer.batch_size * from.len(), 1);
            let weights = &quarters(layer.weights(), 2);
            let bias = &quarters(to.channels, 3);
            let gradient = &quarters(layer.batch_size * to.len(), 4);

            let mut output: Vec<f32> = bias.iter().copied().cycle().take(gradient.len()).collect();
            for_each_product(layer, |fine, coarse, weight| match direction {
                Direction::Contract => output[coarse] += input[fine] * weights[weight],
                Direction::Expand => output[fine] += input[coarse] * weights[weight],
            });
            output.iter_mut().for_each(|value| *value = value.max(0.0));
            let found = forward(input, Forward { layer, direction, relu: true, weights, bias: Some(bias) });
            assert_eq!(found, output, "{layer:?} {direction:?}");

            let masked = gradient.iter().zip(&output);
            let masked: Vec<f32> = masked.map(|(g, y)| if *y > 0.0 { *g } else { 0.0 }).collect();
            let mut input_gradient = vec![0.0; input.len()];
            let mut weight_gradient = vec![0.0; weights.len()];
            for_each_product(layer, |fine, coarse, weight| {
                let (from, to) = match direction {
                    Direction::Contract => (fine, coarse),
                    Direction::Expand => (coarse, fine),
                };
                input_gradient[from] += masked[to] * weights[weight];
                weight_gradient[weight] += masked[to] * input[from];
            });
            let mut bias_gradient = vec![0.0; to.channels];
            for pixel in masked.chunks_exact(to.channels) {
                bias_gradient.iter_mut().zip(pixel).for_each(|(sum, value)| *sum += value);
            }
            let found = backward(Backward {
                layer,
                direction,
                input,
                weights,
                output: Some(&output),
                gradient,
                needs_input: true,
                needs_weights: true,
            });
            assert_eq!(found.input, Some(input_gradient), "{layer:?} {direction:?}");
            assert_eq!(found.weights, Some(weight_gradient), "{layer:?} {direction:?}");
            assert_eq!(found.bias, bias_gradient, "{layer:?} {direction:?}");
        }
    }
}

/// With a single output channel, the expansion adds up contributions and takes the number of channels from the bias.
#[test]
#[should_panic(expected = "bias")]
fn a_bias_of_the_wrong_length_is_refused() {
    let layer = &square_layer(1, 4, [1, 2], [4, 2, 1]);
    let (input, weights) = (&quarters(layer.coarse.len(), 1), &quarters(layer.weights(), 2));
    forward(input, Forward { layer, direction: Direction::Expand, relu: false, weights, bias: Some(&[]) });
}

/// Runs the windows of a contraction on slices that are shorter than its images.
fn run_windows(missing_source: usize, missing_target: usize, image_count: usize) {
    let layer = &square_layer(2, 4, [1, 2], [4, 2, 1]);
    let mut plan = Plan::contract(layer);
    plan.repeat(2);
    // Plain Rust has vectors of four.
    let weights = &PackedWeights::new(&plan, 4, &quarters(layer.weights(), 1), None);
    let source = &quarters(image_count * plan.shapes().padded.len() - missing_source, 2);
    let mut target = vec![0.0; image_count * plan.shapes().target.len() - missing_target];
    let target = WriteOnly::from(target.as_mut_slice());
    InstructionSet::Scalar.run(Windows { plan: &plan, weights, relu: false, image_count, source, target });
}

#[test]
fn windows_accept_all_images_of_their_plan() {
    run_windows(0, 0, 2);
}

#[test]
#[should_panic(expected = "source images")]
fn windows_refuse_a_source_that_is_too_short() {
    run_windows(1, 0, 2);
}

#[test]
#[should_panic(expected = "target images")]
fn windows_refuse_a_target_that_is_too_short() {
    run_windows(0, 1, 2);
}

#[test]
#[should_panic(expected = "more images than the plan lists")]
fn windows_refuse_more_images_than_their_plan_lists() {
    run_windows(0, 0, 3);
}
