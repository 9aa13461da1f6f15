//! Fully connected layers on slices: `y = f(x W^T + b)` and its gradients; nothing here depends on burn.
//!
//! None of the three products needs its factors in another layout. The forward pass multiplies rows of `x` with rows of
//! `W`. The input gradient, `dy W`, and the weight gradient, `dy^T x`, broadcast floats of `dy` and read rows of `W` or
//! `x` as vectors. Threads divide the weights among each other, because in training there are more of them than
//! activations, and each is read once.

use rayon::prelude::*;

use crate::kernel::dots::Dots;
use crate::kernel::product::{Left, Product, Right};
use crate::simd::{InstructionSet, Kernel, Simd, TILE_VECTORS};

/// The function that a layer applies to its sums.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinearActivation {
    /// The sums themselves.
    Identity,
    /// `max(0, x)`
    Relu,
    /// `x`, or `slope * x` for negative `x`; the slope is positive.
    LeakyRelu {
        /// The slope below zero.
        slope: f32,
    },
    /// The hyperbolic tangent.
    Tanh,
}

impl LinearActivation {
    fn apply(self, sum: f32) -> f32 {
        match self {
            Self::Identity => sum,
            // NaN stays NaN, as in PyTorch.
            Self::Relu if sum < 0.0 => 0.0,
            Self::LeakyRelu { slope } if sum < 0.0 => slope * sum,
            Self::Relu | Self::LeakyRelu { .. } => sum,
            Self::Tanh => sum.tanh(),
        }
    }

    /// The derivative, from the output: its sign is that of the sum.
    fn derivative(self, output: f32) -> f32 {
        match self {
            Self::Identity => 1.0,
            Self::Relu => f32::from(u8::from(output > 0.0)),
            Self::LeakyRelu { slope } => {
                if output > 0.0 {
                    1.0
                } else {
                    slope
                }
            }
            Self::Tanh => 1.0 - output * output,
        }
    }
}

/// The shape of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinearShape {
    pub(crate) batch_size: usize,
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
}

impl LinearShape {
    /// Rows of the weights, or columns of them, of one task. Small layers are one task, because threads would cost more
    /// time than they save.
    fn task_size(&self, length: usize) -> usize {
        const SMALL: usize = 1 << 18;
        const TASKS: usize = 16;
        let products = self.batch_size.saturating_mul(self.inputs).saturating_mul(self.outputs);
        if products < SMALL { length.max(1) } else { length.div_ceil(TASKS).next_multiple_of(32) }
    }
}

/// The arguments of a forward pass.
pub(crate) struct LinearForward<'a> {
    pub(crate) shape: LinearShape,
    pub(crate) activation: LinearActivation,
    /// `[batch, inputs]`
    pub(crate) input: &'a [f32],
    /// `[outputs, inputs]`
    pub(crate) weights: &'a [f32],
    pub(crate) bias: &'a [f32],
}

/// The output, `[batch, outputs]`.
pub(crate) fn linear_forward(work: LinearForward<'_>) -> Vec<f32> {
    InstructionSet::current().run(work)
}

impl Kernel for LinearForward<'_> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Vec<f32> {
        let Self { shape, activation, input, weights, bias } = self;
        let LinearShape { batch_size, inputs, outputs } = shape;
        assert_eq!(input.len(), batch_size * inputs, "input");
        assert_eq!(weights.len(), outputs * inputs, "weights");
        assert_eq!(bias.len(), outputs, "bias");
        if batch_size == 0 {
            return Vec::new();
        }
        // `[outputs, batch]`, so that the sums of each row of weights are contiguous.
        let mut sums = vec![0.0; outputs * batch_size];
        let rows = shape.task_size(outputs);
        sums.par_chunks_mut(rows * batch_size).zip(weights.par_chunks(rows * inputs)).for_each(
            |(target, weights)| {
                simd.vectorize(Dots { depth: inputs, left: weights, right: input, target });
            },
        );
        let mut output = vec![0.0; batch_size * outputs];
        let finish = |(image, row): (usize, &mut [f32])| {
            for (number, (value, bias)) in row.iter_mut().zip(bias).enumerate() {
                *value = activation.apply(sums[number * batch_size + image] + bias);
            }
        };
        if rows >= outputs {
            output.chunks_exact_mut(outputs).enumerate().for_each(finish);
        } else {
            output.par_chunks_exact_mut(outputs).enumerate().for_each(finish);
        }
        output
    }
}

/// The arguments of a backward pass.
pub(crate) struct LinearBackward<'a> {
    pub(crate) shape: LinearShape,
    pub(crate) activation: LinearActivation,
    pub(crate) input: &'a [f32],
    pub(crate) weights: &'a [f32],
    pub(crate) output: &'a [f32],
    /// Gradient of the output.
    pub(crate) gradient: &'a [f32],
    pub(crate) needs_input: bool,
    pub(crate) needs_weights: bool,
}

/// The results of a backward pass.
pub(crate) struct LinearGradients {
    pub(crate) input: Option<Vec<f32>>,
    pub(crate) weights: Option<Vec<f32>>,
    pub(crate) bias: Vec<f32>,
}

/// The gradients of a layer.
pub(crate) fn linear_backward(work: LinearBackward<'_>) -> LinearGradients {
    InstructionSet::current().run(work)
}

impl Kernel for LinearBackward<'_> {
    type Output = LinearGradients;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> LinearGradients {
        let LinearShape { batch_size, inputs, outputs } = self.shape;
        assert_eq!(self.input.len(), batch_size * inputs, "input");
        assert_eq!(self.weights.len(), outputs * inputs, "weights");
        assert_eq!(self.output.len(), batch_size * outputs, "output");
        assert_eq!(self.gradient.len(), batch_size * outputs, "gradient of the output");
        if batch_size == 0 {
            return LinearGradients {
                input: self.needs_input.then(Vec::new),
                weights: self.needs_weights.then(|| vec![0.0; outputs * inputs]),
                bias: vec![0.0; outputs],
            };
        }
        // Of the sums before the activation.
        let gradient: Vec<f32> = self
            .gradient
            .iter()
            .zip(self.output)
            .map(|(gradient, output)| gradient * self.activation.derivative(*output))
            .collect();
        let mut bias = vec![0.0f64; outputs];
        for row in gradient.chunks_exact(outputs) {
            bias.iter_mut().zip(row).for_each(|(sum, value)| *sum += f64::from(*value));
        }
        LinearGradients {
            input: self.needs_input.then(|| self.input_gradient(simd, &gradient)),
            weights: self.needs_weights.then(|| self.weight_gradient(simd, &gradient)),
            bias: bias.into_iter().map(|sum| sum as f32).collect(),
        }
    }
}

impl LinearBackward<'_> {
    /// `dy W`, some columns at a time.
    fn input_gradient<S: Simd>(&self, simd: S, gradient: &[f32]) -> Vec<f32> {
        let LinearShape { batch_size, inputs, outputs } = self.shape;
        let width = self.shape.task_size(inputs);
        let block = |first: usize| {
            let columns = width.min(inputs - first);
            let mut target = vec![0.0; batch_size * columns];
            simd.vectorize(AnyColumns {
                rows: batch_size,
                columns,
                depth: outputs,
                left: Left { floats: gradient, row: outputs, depth: 1, pair: 0 },
                right: &self.weights[first..],
                right_row: inputs,
                target: &mut target,
            });
            target
        };
        if width >= inputs {
            return block(0);
        }
        let blocks: Vec<Vec<f32>> =
            (0..inputs.div_ceil(width)).into_par_iter().map(|number| block(number * width)).collect();
        let mut input_gradient = vec![0.0; batch_size * inputs];
        input_gradient.par_chunks_exact_mut(inputs).enumerate().for_each(|(image, row)| {
            for (row, block) in row.chunks_mut(width).zip(&blocks) {
                row.copy_from_slice(&block[image * row.len()..][..row.len()]);
            }
        });
        input_gradient
    }

    /// `dy^T x`, some rows at a time.
    fn weight_gradient<S: Simd>(&self, simd: S, gradient: &[f32]) -> Vec<f32> {
        let LinearShape { batch_size, inputs, outputs } = self.shape;
        let mut weights = vec![0.0; outputs * inputs];
        let rows = self.shape.task_size(outputs);
        weights.par_chunks_mut(rows * inputs).enumerate().for_each(|(number, target)| {
            simd.vectorize(AnyColumns {
                rows: target.len() / inputs,
                columns: inputs,
                depth: batch_size,
                left: Left { floats: &gradient[number * rows..], row: 1, depth: outputs, pair: 0 },
                right: self.input,
                right_row: inputs,
                target,
            });
        });
        weights
    }
}

/// A [`Product`] with any number of columns, into a contiguous target.
struct AnyColumns<'a> {
    rows: usize,
    columns: usize,
    depth: usize,
    left: Left<'a>,
    right: &'a [f32],
    /// Floats between rows of `right`.
    right_row: usize,
    target: &'a mut [f32],
}

impl Kernel for AnyColumns<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { rows, columns, depth, left, right, right_row, target } = self;
        let whole = columns / S::LANES * S::LANES;
        if whole == 0 {
            for row in 0..rows {
                for column in 0..columns {
                    let terms = (0..depth).map(|d| {
                        left.floats[row * left.row + d * left.depth] * right[d * right_row + column]
                    });
                    target[row * columns + column] = terms.sum();
                }
            }
            return;
        }
        // The last vector overlaps the one before, if it must, and the same sums are written again.
        let last = columns - S::LANES;
        for (first, width) in [(0, whole), (last, if whole < columns { S::LANES } else { 0 })] {
            Product {
                rows,
                columns: width,
                depth,
                pairs: 1,
                left,
                right: Right {
                    floats: &right[first..],
                    panel: TILE_VECTORS * S::LANES,
                    depth: right_row,
                    pair: 0,
                },
                target: &mut target[first..],
                target_row: columns,
                add: false,
            }
            .run(simd);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(length: usize, seed: usize) -> Vec<f32> {
        (0..length).map(|index| ((index * 37 + seed * 11) % 101) as f32 / 50.0 - 1.0).collect()
    }

    fn close(found: &[f32], exact: &[f64], terms: usize) {
        assert_eq!(found.len(), exact.len());
        // Each of n additions rounds a partial sum, whose size grows like sqrt(n), and the errors add up like sqrt(n) of
        // them; a margin of four.
        let tolerance = 4.0 * terms as f64 * f64::from(f32::EPSILON);
        for (index, (found, exact)) in found.iter().zip(exact).enumerate() {
            assert!((f64::from(*found) - exact).abs() <= tolerance, "[{index}] is {found}, not {exact}");
        }
    }

    /// Both passes in double precision, by the definition.
    #[test]
    fn every_shape_and_activation_follows_the_definition() {
        let activations = [
            LinearActivation::Identity,
            LinearActivation::Relu,
            LinearActivation::LeakyRelu { slope: 0.2 },
            LinearActivation::Tanh,
        ];
        let shapes = [(1, 1, 1), (3, 5, 2), (64, 256, 10), (7, 40, 33), (64, 130, 70), (65, 100, 49)];
        for set in InstructionSet::available() {
            for (number, (batch_size, inputs, outputs)) in shapes.into_iter().enumerate() {
                let activation = activations[number % activations.len()];
                let shape = LinearShape { batch_size, inputs, outputs };
                let (input, weights) = (&floats(batch_size * inputs, 1), &floats(outputs * inputs, 2));
                let (bias, gradient) = (&floats(outputs, 3), &floats(batch_size * outputs, 4));
                let at = |values: &[f32], index: usize| f64::from(values[index]);
                let mut exact = vec![0.0; batch_size * outputs];
                let mut slopes = exact.clone();
                for b in 0..batch_size {
                    for o in 0..outputs {
                        let products =
                            (0..inputs).map(|i| at(input, b * inputs + i) * at(weights, o * inputs + i));
                        let sum = products.sum::<f64>() + at(bias, o);
                        let (value, slope) = match activation {
                            LinearActivation::Identity => (sum, 1.0),
                            LinearActivation::Relu => (sum.max(0.0), if sum > 0.0 { 1.0 } else { 0.0 }),
                            LinearActivation::LeakyRelu { slope } => {
                                let slope = if sum > 0.0 { 1.0 } else { f64::from(slope) };
                                (slope * sum, slope)
                            }
                            LinearActivation::Tanh => (sum.tanh(), 1.0 - sum.tanh().powi(2)),
                        };
                        exact[b * outputs + o] = value;
                        slopes[b * outputs + o] = slope * at(gradient, b * outputs + o);
                    }
                }
                let output = set.run(LinearForward { shape, activation, input, weights, bias });
                close(&output, &exact, inputs);
                let found = set.run(LinearBackward {
                    shape,
                    activation,
                    input,
                    weights,
                    output: &output,
                    gradient,
                    needs_input: true,
                    needs_weights: true,
                });
                let mut input_gradient = vec![0.0; batch_size * inputs];
                let mut weight_gradient = vec![0.0; outputs * inputs];
                let mut bias_gradient = vec![0.0; outputs];
                for b in 0..batch_size {
                    for o in 0..outputs {
                        let slope = slopes[b * outputs + o];
                        bias_gradient[o] += slope;
                        for i in 0..inputs {
                            input_gradient[b * inputs + i] += slope * at(weights, o * inputs + i);
                            weight_gradient[o * inputs + i] += slope * at(input, b * inputs + i);
                        }
                    }
                }
                close(&found.input.unwrap(), &input_gradient, outputs);
                close(&found.weights.unwrap(), &weight_gradient, batch_size);
                close(&found.bias, &bias_gradient, batch_size);
            }
        }
    }
}
