//! The convolutions against burn's own, forward and all gradients.

use unbraid_kernels::{Conv2dOptions, InstructionSet};

use crate::common::{Case, Generator, directly_on_every_instruction_set, on_every_instruction_set};

const CHANNELS: [usize; 7] = [1, 3, 16, 17, 32, 50, 64];

/// The values make every sum exact (see `Generator::quarters`), so the two paths must agree to the last bit.
fn assert_exactly_equal(cases: &[Case]) {
    let expected: Vec<_> = cases.iter().map(Case::run_by_burn).collect();
    directly_on_every_instruction_set(|set| {
        for (case, expected) in cases.iter().zip(&expected) {
            let found = case.run();
            let name = format!(
                "{set}, transposed {}, input {:?}, weight {:?}, {:?}",
                case.transposed, case.input_shape, case.weight_shape, case.options
            );
            assert_eq!(found.shape, expected.shape, "{name}");
            for ((array, found), (_, expected)) in found.arrays().into_iter().zip(expected.arrays()) {
                assert_eq!(found.len(), expected.len(), "{name}: {array}");
                let wrong = found.iter().zip(expected).position(|(found, expected)| found != expected);
                if let Some(index) = wrong {
                    panic!("{name}: {array}[{index}] is {}, not {}", found[index], expected[index]);
                }
            }
        }
    });
}

/// A Latin square: every window (kernel, stride and padding) occurs with every number of input channels and with every
/// number of output channels, and every pair of channels occurs. Image sizes, batch sizes and the ReLU alternate.
#[test]
fn exactly_as_burn_over_channels_kernels_strides_and_paddings() {
    let windows = (1..=5)
        .flat_map(|kernel| (1..=3).map(move |stride| (kernel, stride)))
        .flat_map(|(kernel, stride)| (0..=2).map(move |padding| (kernel, stride, padding)))
        .filter(|(kernel, _, padding)| padding <= kernel);
    let sizes = [[5, 5], [6, 9], [7, 8], [8, 8], [9, 6], [11, 5], [5, 13], [10, 10]];
    let mut cases = Vec::new();
    for (row, (kernel, stride, padding)) in windows.enumerate() {
        for column in 0..CHANNELS.len() {
            let channels = [CHANNELS[column], CHANNELS[(row + column) % CHANNELS.len()]];
            let number = row * CHANNELS.len() + column;
            let [height, width] = sizes[number % sizes.len()];
            let batch_size = [1, 2, 1, 3, 65][number % 5];
            // The next test has batches of 65 with many channels, where burn is slow.
            let batch_size = if channels[0] * channels[1] > 1000 { batch_size.min(3) } else { batch_size };
            let mut options = Conv2dOptions::new(stride, padding);
            if !number.is_multiple_of(3) {
                options = options.with_relu();
            }
            for transposed in [false, true] {
                let shape = [batch_size, height, width];
                cases.push(Case::new(transposed, shape, channels, [kernel; 2], options, Generator::quarters));
            }
        }
    }
    assert_exactly_equal(&cases);
}

/// The layers of the networks, with a batch size that is not a multiple of any part or group.
#[test]
fn exactly_as_burn_on_the_layers_of_the_networks() {
    let mut cases = Vec::new();
    for (size, fine, coarse) in [(32, 1, 32), (16, 3, 32), (16, 32, 32), (8, 32, 64), (8, 64, 64)] {
        for (kernel, padding) in [(4, 1), (2, 0)] {
            let options = Conv2dOptions::new(2, padding).with_relu();
            for (transposed, size, channels) in
                [(false, size, [fine, coarse]), (true, size / 2, [coarse, fine])]
            {
                let shape = [65, size, size];
                cases.push(Case::new(transposed, shape, channels, [kernel; 2], options, Generator::quarters));
            }
        }
    }
    assert_exactly_equal(&cases);
}

/// Kernels, strides and paddings that differ between the axes, kernels smaller than the stride, padding larger than the
/// kernel, output padding, single pixels.
#[test]
fn exactly_as_burn_in_corner_cases() {
    let options = |stride, padding| Conv2dOptions { stride, padding, ..Conv2dOptions::new(1, 0) };
    let with_output_padding = |options, output_padding| Conv2dOptions { output_padding, ..options };
    let convolutions = [
        ([2, 9, 7], [3, 17], [3, 5], options([2, 1], [1, 2])),
        ([2, 9, 7], [17, 3], [5, 2], options([1, 3], [0, 1])),
        ([1, 1, 1], [5, 4], [1, 1], options([1, 1], [0, 0])),
        ([3, 1, 6], [4, 5], [3, 3], options([3, 2], [1, 1])),
        ([1, 7, 7], [2, 33], [2, 2], options([3, 3], [0, 0])),
        ([2, 4, 4], [8, 8], [2, 2], options([2, 2], [3, 3])),
        ([1, 4, 4], [1, 1], [4, 4], options([1, 1], [0, 0])),
    ];
    let transposed = [
        ([2, 4, 5], [3, 17], [3, 5], options([2, 1], [1, 2])),
        ([2, 4, 5], [17, 3], [1, 2], options([2, 3], [0, 0])),
        ([1, 1, 1], [5, 4], [4, 4], options([1, 1], [0, 0])),
        ([1, 1, 1], [5, 1], [3, 3], options([2, 2], [1, 1])),
        ([3, 6, 6], [4, 40], [3, 3], with_output_padding(options([2, 2], [1, 1]), [1, 1])),
        ([2, 3, 4], [6, 2], [5, 4], with_output_padding(options([3, 3], [2, 1]), [2, 0])),
    ];
    let cases: Vec<_> = convolutions
        .into_iter()
        .map(|arguments| (false, arguments))
        .chain(transposed.into_iter().map(|arguments| (true, arguments)))
        .flat_map(|(transposed, (shape, channels, kernel, options))| {
            [options, options.with_relu()]
                .map(|options| Case::new(transposed, shape, channels, kernel, options, Generator::quarters))
        })
        .collect();
    assert_exactly_equal(&cases);
}

/// With arbitrary digits, the order of the additions matters. The rounding error of a sum of n terms grows like a random
/// walk: a few times sqrt(n) half-units of the sum of the absolute values. That sum comes from burn, run on the absolute
/// values. No sum here has more terms than 5 images of 16 x 16 pixels, or 4 x 4 taps of 48 channels.
const TOLERANCE: f32 = 4.0 * 35.8 * f32::EPSILON;

fn assert_close_to_burn(set: InstructionSet, tolerance: f32) {
    for transposed in [false, true] {
        let shape = if transposed { [5, 8, 8] } else { [5, 16, 16] };
        let options = Conv2dOptions::new(2, 1);
        let signed = Case::new(transposed, shape, [32, 48], [4, 4], options, Generator::floats);
        let absolute = |values: &[f32]| values.iter().map(|value| value.abs()).collect::<Vec<_>>();
        let sizes = Case {
            input: absolute(&signed.input),
            weight: absolute(&signed.weight),
            bias: absolute(&signed.bias),
            output_gradient: absolute(&signed.output_gradient),
            ..signed.clone()
        };
        let (found, expected, sizes) = (signed.run(), signed.run_by_burn(), sizes.run_by_burn());
        let arrays = found.arrays().into_iter().zip(expected.arrays()).zip(sizes.arrays());
        for (((array, found), (_, expected)), (_, sizes)) in arrays {
            for (index, ((found, expected), size)) in found.iter().zip(expected).zip(sizes).enumerate() {
                let error = (found - expected).abs();
                assert!(error <= tolerance * size, "{set}: {array}[{index}] is {found}, not {expected}");
            }
        }
    }
}

#[test]
fn close_to_burn_with_arbitrary_values() {
    directly_on_every_instruction_set(|set| assert_close_to_burn(set, TOLERANCE));
}

/// Winograd's algorithm computes these layers, since their channels are whole vectors; its error is at most ten times
/// that of the definition (kernel/winograd/tests.rs holds it to that in double precision).
#[test]
fn close_to_burn_by_winograd() {
    on_every_instruction_set(|set| assert_close_to_burn(set, 10.0 * TOLERANCE));
}
