//! A number computed from each row by a stack of fully connected layers: its gradient, and Adam on the weights.
//!
//! A sum over the rows of any functions of that number has the gradient of one row of the stack, times a factor for each
//! row. So the pass from the number to the rows is made once, before the functions are known, and serves all of them.

use super::products::{Differentiate, GradientRows, input_gradient, target_rows, weight_gradient};
use super::{LinearActivation, LinearForward, LinearShape, linear_forward};
use crate::adam::{AdamStep, Factors};
use crate::simd::{InstructionSet, Kernel, Simd};

/// A layer of a stack.
#[derive(Clone, Copy)]
pub(crate) struct StackLayer<'a> {
    pub(crate) inputs: usize,
    pub(crate) activation: LinearActivation,
    /// `[outputs, inputs]`
    pub(crate) weights: &'a [f32],
    pub(crate) bias: &'a [f32],
}

/// A pass through a stack and back.
#[derive(Clone, Debug)]
pub(crate) struct Stack {
    shapes: Vec<LinearShape>,
    /// The input of each layer, `[rows, inputs]`.
    inputs: Vec<Vec<f32>>,
    /// The derivatives of the numbers with respect to the sums of each layer, `[rows, outputs]`.
    slopes: Vec<Vec<f32>>,
    /// The number of each row.
    pub(crate) values: Vec<f32>,
    /// Its gradient with respect to the row, `[rows, inputs of the first layer]`.
    pub(crate) gradient: Vec<f32>,
}

impl Stack {
    /// The number of a row is the sum of the last outputs times `direction`.
    ///
    /// # Panics
    /// If the layers do not fit each other, the rows or the direction, or if there are no layers.
    pub(crate) fn new(rows: Vec<f32>, layers: &[StackLayer<'_>], direction: &[f32]) -> Self {
        assert!(!layers.is_empty(), "a stack has layers");
        let batch_size = rows.len() / layers[0].inputs;
        let (mut shapes, mut inputs) = (Vec::new(), vec![rows]);
        for layer in layers {
            let StackLayer { inputs: width, activation, weights, bias } = *layer;
            let shape = LinearShape { batch_size, inputs: width, outputs: bias.len() };
            let input = inputs.last().map_or(&[][..], Vec::as_slice);
            let output = linear_forward(LinearForward { shape, activation, input, weights, bias });
            shapes.push(shape);
            inputs.push(output);
        }
        let output = inputs.pop().unwrap_or_default();
        let values = output
            .chunks_exact(direction.len())
            .map(|row| row.iter().zip(direction).map(|(value, factor)| value * factor).sum())
            .collect();
        let mut stack = Self { shapes, inputs, slopes: Vec::new(), values, gradient: Vec::new() };
        if batch_size > 0 {
            let direction = direction.repeat(batch_size);
            InstructionSet::current().run(Back { stack: &mut stack, layers, output: &output, direction });
        }
        stack
    }

    /// Moves the weights of a layer by one step of Adam on a sum over the rows of functions of their numbers, given the
    /// derivative of each function. Returns the gradient of the layer's bias.
    ///
    /// # Panics
    /// If a slice does not have the length of the weights, or there is not one factor for each row.
    pub(crate) fn step(
        &self,
        layer: usize,
        factors: &[f32],
        settings: &AdamStep,
        parameters: Parameters<'_>,
    ) -> Vec<f32> {
        let LinearShape { batch_size, inputs, outputs } = self.shapes[layer];
        assert_eq!(factors.len(), batch_size, "one factor for each row");
        let Parameters { values, moments: [first, second], largest } = parameters;
        let lengths = [values.len(), first.len(), second.len()];
        let largest_length = largest.as_ref().map_or(outputs * inputs, |largest| largest.len());
        assert!(
            lengths.into_iter().chain([largest_length]).all(|length| length == outputs * inputs),
            "parameters of a layer"
        );
        let length = target_rows() * inputs;
        let mut largest = largest.map(|largest| largest.chunks_mut(length));
        let factors_of_adam = settings.factors();
        let targets = values
            .chunks_mut(length)
            .zip(first.chunks_mut(length))
            .zip(second.chunks_mut(length))
            .map(|((values, first), second)| AdamRows {
                factors: factors_of_adam,
                inputs,
                values,
                first,
                second,
                largest: largest.as_mut().and_then(Iterator::next),
            })
            .collect();
        InstructionSet::current().run(Step { stack: self, layer, factors, targets })
    }
}

/// Weights and the moments of their gradients, all in the layout of the weights; see [`adam_step`](crate::adam_step).
#[derive(Debug)]
pub struct Parameters<'a> {
    /// The weights.
    pub values: &'a mut [f32],
    /// First and second moments.
    pub moments: [&'a mut [f32]; 2],
    /// The largest second moments so far, for AMSGrad only.
    pub largest: Option<&'a mut [f32]>,
}

/// The way back through a stack.
struct Back<'a> {
    stack: &'a mut Stack,
    layers: &'a [StackLayer<'a>],
    output: &'a [f32],
    /// The derivative of the number of each row by the outputs.
    direction: Vec<f32>,
}

impl Kernel for Back<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { stack, layers, output, direction: mut slope } = self;
        if let Some(last) = layers.last() {
            let activation = last.activation;
            simd.vectorize(Differentiate { activation, values: output, gradient: &mut slope });
        }
        let mut slopes = Vec::new();
        for (place, layer) in layers.iter().enumerate().rev() {
            let shape = stack.shapes[place];
            // The input of a layer is the output of the one before.
            let before = place.checked_sub(1).map(|before| layers[before].activation);
            let before = before.map(|activation| (activation, stack.inputs[place].as_slice()));
            let next = input_gradient(simd, shape, (&slope, layer.weights), before);
            slopes.push(std::mem::replace(&mut slope, next));
        }
        slopes.reverse();
        stack.slopes = slopes;
        stack.gradient = slope;
    }
}

/// A step of the weights of one layer.
struct Step<'a, 'b> {
    stack: &'a Stack,
    layer: usize,
    factors: &'a [f32],
    targets: Vec<AdamRows<'b>>,
}

impl Kernel for Step<'_, '_> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Vec<f32> {
        let Self { stack, layer, factors, targets } = self;
        let shape = stack.shapes[layer];
        if shape.batch_size == 0 {
            return vec![0.0; shape.outputs];
        }
        let matrices = (stack.slopes[layer].as_slice(), stack.inputs[layer].as_slice());
        weight_gradient(simd, shape, matrices, Some(factors), targets)
    }
}

/// Some rows of the weights of a layer, which Adam moves as soon as their gradient is known.
struct AdamRows<'a> {
    factors: Factors,
    inputs: usize,
    values: &'a mut [f32],
    first: &'a mut [f32],
    second: &'a mut [f32],
    largest: Option<&'a mut [f32]>,
}

impl GradientRows for AdamRows<'_> {
    fn needed(&self) -> Vec<*const f32> {
        let largest = self.largest.as_ref().map(|largest| largest.as_ptr());
        [self.values.as_ptr(), self.first.as_ptr(), self.second.as_ptr()].into_iter().chain(largest).collect()
    }

    fn finish<S: Simd>(self, simd: S, rows: &[f32], stride: usize) {
        let Self { factors, inputs, values, first, second, largest } = self;
        let mut largest = largest.map(|largest| largest.chunks_exact_mut(inputs));
        let rows = rows.chunks_exact(stride).zip(values.chunks_exact_mut(inputs));
        let moments = first.chunks_exact_mut(inputs).zip(second.chunks_exact_mut(inputs));
        for ((gradient, parameters), (first_moment, second_moment)) in rows.zip(moments) {
            simd.vectorize(crate::adam::Update {
                factors,
                parameters,
                gradient: &gradient[..inputs],
                first_moment,
                second_moment,
                max_second_moment: largest.as_mut().and_then(Iterator::next),
            });
        }
    }
}
