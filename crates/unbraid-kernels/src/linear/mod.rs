//! Fully connected layers on slices: `y = f(x W^T + b)` and its gradients; nothing here depends on burn.
//!
//! Weights are `[outputs, inputs]`, as PyTorch stores them, and are never transposed or copied as a whole. Threads divide
//! them among each other, because in training there are more of them than activations.

mod columns;
mod panels;
mod products;
mod stack;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use rayon::prelude::*;

use crate::kernel::dots::Dots;
use crate::simd::{InstructionSet, Kernel, Simd};
use products::{Differentiate, Store};

pub use stack::Parameters;
pub(crate) use stack::{Stack, StackLayer};

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
}

/// The shape of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinearShape {
    pub(crate) batch_size: usize,
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
}

impl LinearShape {
    /// Whether threads would cost more time than they save.
    fn is_small(&self) -> bool {
        const SMALL: usize = 1 << 18;
        self.batch_size.saturating_mul(self.inputs).saturating_mul(self.outputs) < SMALL
    }

    /// Outputs that one task of the forward pass computes: a multiple of the rows of every register tile.
    fn task_rows(&self) -> usize {
        const TASKS: usize = 32;
        if self.is_small() { self.outputs } else { self.outputs.div_ceil(TASKS).next_multiple_of(12) }
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
        let LinearShape { batch_size, inputs, outputs } = self.shape;
        assert_eq!(self.input.len(), batch_size * inputs, "input");
        assert_eq!(self.weights.len(), outputs * inputs, "weights");
        assert_eq!(self.bias.len(), outputs, "bias");
        if batch_size == 0 {
            Vec::new()
        } else if batch_size < S::LANES {
            self.by_dot_products(simd)
        } else {
            let Self { shape, activation, input, weights, bias } = self;
            products::forward(simd, shape, activation, (input, weights, bias))
        }
    }
}

impl LinearForward<'_> {
    /// For batches that do not fill a vector: time is that of reading the weights, which are multiplied along their rows.
    fn by_dot_products<S: Simd>(&self, simd: S) -> Vec<f32> {
        let Self { shape, activation, input, weights, bias } = *self;
        let LinearShape { batch_size, inputs, outputs } = shape;
        // `[outputs, batch]`, so that the sums of each row of weights are contiguous.
        let mut sums = vec![0.0; outputs * batch_size];
        let rows = shape.task_rows();
        sums.par_chunks_mut(rows * batch_size).zip(weights.par_chunks(rows * inputs)).for_each(
            |(target, weights)| {
                simd.vectorize(Dots { depth: inputs, left: weights, right: input, target });
            },
        );
        let mut output = vec![0.0; batch_size * outputs];
        for (image, row) in output.chunks_exact_mut(outputs).enumerate() {
            for (number, (value, bias)) in row.iter_mut().zip(bias).enumerate() {
                *value = activation.apply(sums[number * batch_size + image] + bias);
            }
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
    /// Of the weights and of the bias.
    pub(crate) parameters: Option<[Vec<f32>; 2]>,
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
                parameters: self.needs_weights.then(|| [vec![0.0; outputs * inputs], vec![0.0; outputs]]),
            };
        }
        let gradient = &*self.gradient_of_sums(simd);
        LinearGradients {
            input: self
                .needs_input
                .then(|| products::input_gradient(simd, self.shape, (gradient, self.weights), None)),
            parameters: self.needs_weights.then(|| {
                let mut weights = Vec::with_capacity(outputs * inputs);
                let targets = Store::all(&mut weights.spare_capacity_mut()[..outputs * inputs], inputs);
                let bias = products::weight_gradient(simd, self.shape, (gradient, self.input), None, targets);
                // SAFETY: the targets cover the weights, and each has been written.
                unsafe { weights.set_len(outputs * inputs) };
                [weights, bias]
            }),
        }
    }
}

impl LinearBackward<'_> {
    /// The gradient before the activation.
    fn gradient_of_sums<S: Simd>(&self, simd: S) -> Cow<'_, [f32]> {
        /// Floats of a task.
        const CHUNK: usize = 1 << 14;
        let activation = self.activation;
        if activation == LinearActivation::Identity {
            return Cow::Borrowed(self.gradient);
        }
        let length = self.gradient.len();
        let mut of_sums = Vec::with_capacity(length);
        let targets = of_sums.spare_capacity_mut()[..length].par_chunks_mut(CHUNK);
        targets.zip(self.gradient.par_chunks(CHUNK)).zip(self.output.par_chunks(CHUNK)).for_each(
            |((target, gradient), values)| {
                let gradient = target.write_copy_of_slice(gradient);
                simd.vectorize(Differentiate { activation, values, gradient });
            },
        );
        // SAFETY: the chunks cover all of it, and each has been written.
        unsafe { of_sums.set_len(length) };
        Cow::Owned(of_sums)
    }
}
