//! The slice kernels against the definition of a convolution, without burn: small enough for Miri.
//!
//! `RAYON_NUM_THREADS=1 MIRIFLAGS="-Zmiri-tree-borrows -Zmiri-ignore-leaks -Zmiri-disable-isolation" cargo +nightly miri
//! test -p unbraid-kernels --lib kernel::tests` (rayon's queues pass the tree-borrows model only, and its threads never
//! end).

use super::*;
use crate::geometry::{Filter, Image, Layer, contracted};

/// Multiples of 1/4, whose sums of products are exact in any order.
fn quarters(length: usize, seed: usize) -> Vec<f32> {
    (0..length).map(|place| ((place * 7 + seed * 3) % 9) as f32 / 4.0 - 1.0).collect()
}

/// Calls `visit` with the places of fine value, coarse value and weight of every product of the layer.
fn for_each_product(layer: &Layer, mut visit: impl FnMut(usize, usize, usize)) {
    let Layer { batch, fine, coarse, filter } = *layer;
    let [kernel_height, kernel_width] = filter.size;
    for image in 0..batch {
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

#[test]
fn both_directions_and_their_gradients_follow_the_definition() {
    for (fine_channels, coarse_channels, kernel, stride, padding) in
        [(1, 5, 4, 2, 1), (3, 17, 3, 2, 0), (5, 2, 2, 1, 1), (9, 33, 4, 2, 1), (2, 3, 2, 3, 0)]
    {
        // Miri is a thousand times slower, and has only the plain instruction set, with vectors of four.
        let (size, batch) = if cfg!(miri) { (4, 1) } else { (6, 3) };
        if cfg!(miri) && coarse_channels > 5 {
            continue;
        }
        let small = contracted(size, kernel, stride, padding).unwrap();
        let layer = &Layer {
            batch,
            fine: Image { height: size, width: size, channels: fine_channels },
            coarse: Image { height: small, width: small, channels: coarse_channels },
            filter: Filter { size: [kernel; 2], stride: [stride; 2], padding: [padding; 2] },
        };
        for direction in [Direction::Contract, Direction::Expand] {
            let (from, to) = match direction {
                Direction::Contract => (layer.fine, layer.coarse),
                Direction::Expand => (layer.coarse, layer.fine),
            };
            let input = &quarters(layer.batch * from.len(), 1);
            let weights = &quarters(layer.weights(), 2);
            let bias = &quarters(to.channels, 3);
            let gradient = &quarters(layer.batch * to.len(), 4);

            let mut output: Vec<f32> = bias.iter().copied().cycle().take(gradient.len()).collect();
            for_each_product(layer, |fine, coarse, weight| match direction {
                Direction::Contract => output[coarse] += input[fine] * weights[weight],
                Direction::Expand => output[fine] += input[coarse] * weights[weight],
            });
            output.iter_mut().for_each(|value| *value = value.max(0.0));
            let found = forward(Forward { layer, direction, relu: true, input, weights, bias: Some(bias) });
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
