//! Winograd's algorithm against the definition in double precision.

use crate::awake::with_threads_awake;
use crate::geometry::Layer;
use crate::kernel::backward::Gradients;
use crate::kernel::forward::run_all;
use crate::kernel::tests::{for_each_product, square_layer};
use crate::kernel::winograd::own_copies;
use crate::kernel::{Backward, Direction, Forward};
use crate::simd::{InstructionSet, Kernel, Simd};

/// Digits that a test can repeat: a linear congruential generator.
struct Digits(u64);

impl Digits {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Nearly normal: the sum of twelve uniform numbers has variance one.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    fn many(&mut self, length: usize, draw: fn(&mut Self) -> f64) -> Vec<f32> {
        (0..length).map(|_| draw(self) as f32).collect()
    }
}

/// Inputs and gradients as a test draws them.
#[derive(Clone, Copy, Debug)]
struct Inputs {
    name: &'static str,
    images: fn(&mut Digits) -> f64,
}

const INPUTS: [Inputs; 3] = [
    Inputs { name: "after a ReLU", images: |digits| digits.normal().max(0.0) },
    Inputs { name: "with a large mean", images: |digits| 1000.0 + digits.normal() },
    Inputs {
        name: "over a huge range",
        images: |digits| digits.normal() * 10f64.powf(8.0 * digits.uniform() - 4.0),
    },
];

/// A layer's arguments.
struct Case {
    layer: Layer,
    direction: Direction,
    input: Vec<f32>,
    weights: Vec<f32>,
    bias: Vec<f32>,
    gradient: Vec<f32>,
}

/// Output, input gradient, weight gradient and bias gradient.
type Results<T> = [Vec<T>; 4];

impl Case {
    fn new(layer: Layer, direction: Direction, inputs: Inputs) -> Self {
        let mut digits = Digits(17);
        let (from, to) = match direction {
            Direction::Contract => (layer.fine, layer.coarse),
            Direction::Expand => (layer.coarse, layer.fine),
        };
        Self {
            input: digits.many(layer.batch_len(from), inputs.images),
            weights: digits.many(layer.weights(), |digits| 0.05 * digits.normal()),
            bias: digits.many(to.channels, Digits::normal),
            gradient: digits.many(layer.batch_len(to), inputs.images),
            layer,
            direction,
        }
    }

    /// By the definition, in double precision, without a ReLU.
    fn exact(&self) -> Results<f64> {
        let mut output: Vec<f64> =
            self.bias.iter().cycle().take(self.gradient.len()).map(|bias| f64::from(*bias)).collect();
        let mut input_gradient = vec![0.0; self.input.len()];
        let mut weight_gradient = vec![0.0; self.weights.len()];
        for_each_product(&self.layer, |fine, coarse, weight| {
            let (from, to) = match self.direction {
                Direction::Contract => (fine, coarse),
                Direction::Expand => (coarse, fine),
            };
            output[to] += f64::from(self.input[from]) * f64::from(self.weights[weight]);
            input_gradient[from] += f64::from(self.gradient[to]) * f64::from(self.weights[weight]);
            weight_gradient[weight] += f64::from(self.gradient[to]) * f64::from(self.input[from]);
        });
        let mut bias_gradient = vec![0.0; self.bias.len()];
        for pixel in self.gradient.chunks_exact(self.bias.len()) {
            bias_gradient.iter_mut().zip(pixel).for_each(|(sum, value)| *sum += f64::from(*value));
        }
        [output, input_gradient, weight_gradient, bias_gradient]
    }

    fn run(&self, set: InstructionSet, winograd: bool) -> Results<f32> {
        set.run(Run { case: self, winograd })
    }
}

/// Both passes of a case by one algorithm.
struct Run<'a> {
    case: &'a Case,
    winograd: bool,
}

impl Kernel for Run<'_> {
    type Output = Results<f32>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Results<f32> {
        let Case { layer, direction, input, weights, bias, gradient } = self.case;
        let direction = *direction;
        let forward = Forward { layer, direction, relu: false, weights, bias: Some(bias) };
        let [output] = run_all(simd, input, [forward], [self.winograd]);
        let backward = Backward {
            layer,
            direction,
            input,
            weights,
            output: None,
            gradient,
            needs_input: true,
            needs_weights: true,
        };
        let Gradients { input, weights, bias } =
            if self.winograd { backward.by_winograd(simd) } else { backward.directly(simd) };
        [output, input.unwrap(), weights.unwrap(), bias]
    }
}

/// Root mean square of the error, relative to that of the values.
fn error(found: &[f32], exact: &[f64]) -> f64 {
    assert_eq!(found.len(), exact.len());
    let squares = found.iter().zip(exact).map(|(found, exact)| (f64::from(*found) - exact).powi(2));
    (squares.sum::<f64>() / exact.iter().map(|exact| exact * exact).sum::<f64>()).sqrt()
}

/// The rounding error of the definition in single precision is the measure: that of Winograd's algorithm is at most ten
/// times as large, whatever the images.
#[test]
fn at_most_ten_times_the_error_of_the_definition() {
    for set in InstructionSet::available() {
        for direction in [Direction::Contract, Direction::Expand] {
            for inputs in INPUTS {
                for (size, channels) in [(16, [32, 32]), (8, [64, 64])] {
                    let case = Case::new(square_layer(3, size, channels, [4, 2, 1]), direction, inputs);
                    let exact = case.exact();
                    let (found, direct) = (case.run(set, true), case.run(set, false));
                    for (number, name) in
                        ["output", "input gradient", "weight gradient", "bias gradient"].iter().enumerate()
                    {
                        let winograd = error(&found[number], &exact[number]);
                        let direct = error(&direct[number], &exact[number]);
                        assert!(
                            winograd <= 10.0 * direct.max(f64::from(f32::EPSILON) / 4.0),
                            "{set}, {direction:?}, {name}, images {}: {winograd:e} against {direct:e}",
                            inputs.name
                        );
                    }
                }
            }
        }
    }
}

/// Images that are no multiple of the tiles, all paddings, odd sizes with pixels that no window reaches, and batches that
/// are no multiple of the blocks.
#[test]
fn every_shape_follows_the_definition() {
    for set in InstructionSet::available() {
        for direction in [Direction::Contract, Direction::Expand] {
            for (size, padding) in [(2, 1), (4, 0), (5, 0), (7, 1), (8, 2), (9, 2), (12, 1), (19, 0), (20, 1)]
            {
                for (batch_size, channels) in [(1, [16, 16]), (35, [16, 48])] {
                    if cfg!(miri) && (size > 5 || batch_size > 1) {
                        continue;
                    }
                    let layer = square_layer(batch_size, size, channels, [4, 2, padding]);
                    let case = Case::new(layer, direction, INPUTS[0]);
                    for (found, exact) in case.run(set, true).iter().zip(case.exact()) {
                        let error = error(found, &exact);
                        // Ten times the error of the definition, which is 2e-7 for sums of some hundred terms.
                        assert!(error < 2e-6, "{set}, {direction:?}, {layer:?}: {error:e}");
                    }
                }
            }
        }
    }
}

/// A layer with a ReLU: the output is cut at zero, and the gradient passes where it is positive.
#[test]
fn the_relu_masks_output_and_gradients() {
    for direction in [Direction::Contract, Direction::Expand] {
        let case = Case::new(square_layer(5, 8, [32, 16], [4, 2, 1]), direction, INPUTS[0]);
        let set = InstructionSet::Scalar;
        let plain = case.run(set, true);
        let Case { layer, input, weights, bias, gradient, .. } = &case;
        let output = set.run(WithRelu { case: &case });
        let expected: Vec<f32> = plain[0].iter().map(|value| value.max(0.0)).collect();
        assert_eq!(output.0, expected);
        let masked = gradient.iter().zip(&expected).map(|(g, y)| if *y > 0.0 { *g } else { 0.0 }).collect();
        let masked = Case {
            layer: *layer,
            direction,
            input: input.clone(),
            weights: weights.clone(),
            bias: bias.clone(),
            gradient: masked,
        };
        let [_, input, weights, bias] = masked.run(set, true);
        assert_eq!((output.1.input, output.1.weights, output.1.bias), (Some(input), Some(weights), bias));
    }
}

/// Both passes of a case with a ReLU.
struct WithRelu<'a> {
    case: &'a Case,
}

impl Kernel for WithRelu<'_> {
    type Output = (Vec<f32>, Gradients);

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Self::Output {
        let Case { layer, direction, input, weights, bias, gradient } = self.case;
        let direction = *direction;
        let forward = Forward { layer, direction, relu: true, weights, bias: Some(bias) };
        let [output] = run_all(simd, input, [forward], [true]);
        let backward = Backward {
            layer,
            direction,
            input,
            weights,
            output: Some(&output),
            gradient,
            needs_input: true,
            needs_weights: true,
        };
        let gradients = backward.by_winograd(simd);
        (output, gradients)
    }
}

/// In a training step of several threads each half of a batch transforms the weights for itself.
#[test]
fn copies_of_the_weights_change_no_bit() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    for direction in [Direction::Contract, Direction::Expand] {
        for batch_size in [1, 2, 7, 40] {
            let case = Case::new(square_layer(batch_size, 8, [16, 32], [4, 2, 1]), direction, INPUTS[0]);
            let run = || case.run(InstructionSet::current(), true);
            let in_a_step = pool.install(|| with_threads_awake(|| (own_copies(), run())));
            assert_eq!(in_a_step, (true, run()), "{batch_size} images, {direction:?}");
        }
    }
}

#[test]
fn a_batch_without_images_has_gradients() {
    let layer = square_layer(0, 8, [16, 32], [4, 2, 1]);
    let [output, input, weights, bias] =
        Case::new(layer, Direction::Contract, INPUTS[0]).run(InstructionSet::current(), true);
    assert_eq!((output, input), (Vec::new(), Vec::new()));
    assert_eq!((weights, bias), (vec![0.0; layer.weights()], vec![0.0; 32]));
}
