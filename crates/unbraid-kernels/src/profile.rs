//! Timing of single layers without burn, for benchmarks.

use std::hint::black_box;
use std::time::Instant;

use crate::adam::AdamStep;
use crate::awake::with_threads_awake;
use crate::geometry::{Filter, ImageShape, Layer, contracted};
use crate::kernel::{Backward, ConvolutionCost, Direction, Forward, backward, forward, run_all};
use crate::linear::{
    LinearActivation, LinearBackward, LinearForward, LinearShape, Parameters, Stack, StackLayer,
    linear_backward, linear_forward,
};
use crate::simd::{InstructionSet, Kernel, Simd};

/// A layer to time. Its *fine* images are the input of a convolution or the output of a transposed convolution, its
/// *coarse* images are the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerShape {
    /// Number of images.
    pub batch_size: usize,
    /// Height and width of the fine images.
    pub image_size: usize,
    /// Channels of the fine images.
    pub fine_channels: usize,
    /// Channels of the coarse images.
    pub coarse_channels: usize,
    /// Height and width of the kernel.
    pub kernel: usize,
    /// Stride in both directions.
    pub stride: usize,
    /// Padding in both directions.
    pub padding: usize,
    /// Whether it is a transposed convolution.
    pub transposed: bool,
}

/// The best times of a layer in seconds, and its operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerTimes {
    /// Forward pass with bias and ReLU.
    pub forward: f64,
    /// Input and bias gradients only, including the ReLU's mask.
    pub input_gradient: f64,
    /// Weight and bias gradients only, including the ReLU's mask.
    pub weight_gradient: f64,
    /// All gradients in one pass, as in training.
    pub backward: f64,
    /// Floating-point operations of the forward pass, and of each of the two gradients.
    pub operations: f64,
}

/// The best times of both passes of a layer in seconds, whichever algorithm it uses, and what they have to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlgorithmTimes {
    /// By the definition.
    pub direct: f64,
    /// By Winograd's algorithm.
    pub winograd: f64,
    /// One pass over one image.
    pub cost: ConvolutionCost,
}

impl LayerShape {
    /// The layer, and the direction in which it is applied.
    fn layer(&self) -> (Layer, Direction) {
        let coarse = contracted(self.image_size, self.kernel, self.stride, self.padding)
            .unwrap_or_else(|| panic!("the kernel does not fit: {self:?}"));
        let image = |size, channels| ImageShape { height: size, width: size, channels };
        let layer = Layer {
            batch_size: self.batch_size,
            fine: image(self.image_size, self.fine_channels),
            coarse: image(coarse, self.coarse_channels),
            filter: Filter { size: [self.kernel; 2], stride: [self.stride; 2], padding: [self.padding; 2] },
        };
        (layer, if self.transposed { Direction::Expand } else { Direction::Contract })
    }

    /// Times a forward pass and all gradients by both algorithms in alternation: the best of `rounds` runs each in the
    /// current thread pool with the current instruction set. `None` if Winograd's algorithm cannot compute the layer.
    ///
    /// # Panics
    /// As [`LayerShape::measure`].
    pub fn compare_algorithms(&self, rounds: usize) -> Option<AlgorithmTimes> {
        InstructionSet::current().run(CompareAlgorithms { shape: self, rounds })
    }

    /// Times the layer in the current thread pool with the current instruction set: the best of `rounds` runs each.
    ///
    /// # Panics
    /// If the kernel does not fit into the images, if the stride is 0, or if the batch does not fit into memory.
    pub fn measure(&self, rounds: usize) -> LayerTimes {
        let (layer, direction) = self.layer();
        let layer = &layer;
        let (from, to) = direction.between(layer);
        let input = &pattern(layer.batch_len(from));
        let weights = &pattern(layer.weights());
        let bias = &pattern(to.channels);
        let gradient = &pattern(layer.batch_len(to));
        let run_forward =
            || forward(input, Forward { layer, direction, relu: true, weights, bias: Some(bias) });
        let output = run_forward();
        let run_backward = |needs_input, needs_weights| {
            let output = Some(output.as_slice());
            backward(Backward {
                layer,
                direction,
                input,
                weights,
                output,
                gradient,
                needs_input,
                needs_weights,
            })
        };
        LayerTimes {
            forward: best(rounds, run_forward),
            input_gradient: best(rounds, || run_backward(true, false)),
            weight_gradient: best(rounds, || run_backward(false, true)),
            backward: best(rounds, || run_backward(true, true)),
            operations: 2.0
                * (layer.batch_size * layer.coarse.height * layer.coarse.width * layer.weights()) as f64,
        }
    }
}

struct CompareAlgorithms<'a> {
    shape: &'a LayerShape,
    rounds: usize,
}

impl Kernel for CompareAlgorithms<'_> {
    type Output = Option<AlgorithmTimes>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Option<AlgorithmTimes> {
        let (layer, direction) = self.shape.layer();
        let layer = &layer;
        let cost = ConvolutionCost::of(layer, S::LANES)?;
        let (from, to) = direction.between(layer);
        let (input, weights) = (&pattern(layer.batch_len(from)), &pattern(layer.weights()));
        let (bias, gradient) = (&pattern(to.channels), &pattern(layer.batch_len(to)));
        let step = |by_winograd| {
            let forward = Forward { layer, direction, relu: true, weights, bias: Some(bias) };
            let [output] = run_all(simd, input, [forward], [by_winograd]);
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
            if by_winograd { backward.by_winograd(simd) } else { backward.directly(simd) }
        };
        let mut times = [f64::INFINITY; 2];
        for _ in 0..self.rounds {
            for (time, by_winograd) in times.iter_mut().zip([false, true]) {
                *time = time.min(best(1, || step(by_winograd)));
            }
        }
        let [direct, winograd] = times;
        Some(AlgorithmTimes { direct, winograd, cost })
    }
}

/// A fully connected layer to time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DenseShape {
    /// Number of rows.
    pub batch_size: usize,
    /// Length of a row.
    pub inputs: usize,
    /// Length of a row of the result.
    pub outputs: usize,
}

/// The best times of a fully connected layer in seconds, and its operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DenseTimes {
    /// Forward pass with bias and leaky ReLU.
    pub forward: f64,
    /// The input gradient only, including the derivative of the activation.
    pub input_gradient: f64,
    /// Weight and bias gradients only, including the derivative of the activation.
    pub weight_gradient: f64,
    /// The weight gradient with a step of Adam, which needs no gradient in memory.
    pub weight_step: f64,
    /// Floating-point operations of the forward pass, and of each of the two gradients.
    pub operations: f64,
}

impl DenseShape {
    /// Times the layer as [`LayerShape::measure`] does.
    ///
    /// # Panics
    /// If the layer does not fit into memory, or has an axis of length 0.
    pub fn measure(&self, rounds: usize) -> DenseTimes {
        let Self { batch_size, inputs, outputs } = *self;
        let shape = LinearShape { batch_size, inputs, outputs };
        let activation = LinearActivation::LeakyRelu { slope: 0.2 };
        let (input, weights) = (&pattern(batch_size * inputs), &pattern(outputs * inputs));
        let (bias, gradient) = (&pattern(outputs), &pattern(batch_size * outputs));
        let run_forward = || linear_forward(LinearForward { shape, activation, input, weights, bias });
        let output = &run_forward();
        let run_backward = |needs_input, needs_weights| {
            linear_backward(LinearBackward {
                shape,
                activation,
                input,
                weights,
                output,
                gradient,
                needs_input,
                needs_weights,
            })
        };
        let layer = StackLayer { inputs, activation, weights, bias };
        let stack = Stack::new(input.clone(), &[layer], &vec![1.0; outputs]);
        let settings = AdamStep { learning_rate: 1e-4, beta1: 0.5, beta2: 0.9, epsilon: 1e-8, step: 1 };
        let (mut values, factors) = (weights.clone(), vec![1.0; batch_size]);
        let [mut first, mut second] = [vec![0.0; weights.len()], vec![0.0; weights.len()]];
        let weight_step = best(rounds, || {
            let moments = [first.as_mut_slice(), second.as_mut_slice()];
            stack.step(0, &factors, &settings, Parameters { values: &mut values, moments, largest: None })
        });
        DenseTimes {
            forward: best(rounds, run_forward),
            input_gradient: best(rounds, || run_backward(true, false)),
            weight_gradient: best(rounds, || run_backward(false, true)),
            weight_step,
            operations: 2.0 * (batch_size * inputs * outputs) as f64,
        }
    }
}

/// The shortest of several times, with the threads awake as in a training step.
fn best<T>(rounds: usize, mut work: impl FnMut() -> T) -> f64 {
    let mut time = || {
        let start = Instant::now();
        black_box(work());
        start.elapsed().as_secs_f64()
    };
    with_threads_awake(|| (0..rounds).map(|_| time()).fold(f64::INFINITY, f64::min))
}

/// Values of both signs, none of them subnormal.
fn pattern(length: usize) -> Vec<f32> {
    (0..length).map(|index| (index * 7 % 19) as f32 / 19.0 - 0.47).collect()
}
