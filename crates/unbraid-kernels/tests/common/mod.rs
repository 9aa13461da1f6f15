//! Shared by the tests: deterministic data, forced instruction sets, and gradients of a layer.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test file uses some of it, and a test fails by panicking"
)]

use std::sync::{Mutex, PoisonError};

use burn::tensor::{Device, Tensor, TensorData};
use unbraid_kernels::{Conv2dOptions, InstructionSet};

static FORCING: Mutex<()> = Mutex::new(());

/// Runs `test` once for each instruction set of this machine. The choice holds for the process, so tests take turns.
pub(crate) fn on_every_instruction_set(mut test: impl FnMut(InstructionSet)) {
    let _turn = FORCING.lock().unwrap_or_else(PoisonError::into_inner);
    for set in InstructionSet::available() {
        InstructionSet::force(Some(set)).unwrap();
        test(set);
    }
    InstructionSet::force(None).unwrap();
}

/// Runs `test` while no other test forces an instruction set.
pub(crate) fn undisturbed<T>(test: impl FnOnce() -> T) -> T {
    let _turn = FORCING.lock().unwrap_or_else(PoisonError::into_inner);
    test()
}

/// A small generator of numbers (a multiplicative congruence), so that a test's data never changes.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// Multiples of 1/4 between -1 and 1. Sums of products of two of them are multiples of 1/16, exact in single
    /// precision up to a million: whatever the order of the additions, the result must be the same to the last bit.
    pub(crate) fn quarters(&mut self, length: usize) -> Vec<f32> {
        (0..length).map(|_| (self.next() % 9) as f32 / 4.0 - 1.0).collect()
    }

    /// Floats between -1 and 1 with random digits.
    pub(crate) fn floats(&mut self, length: usize) -> Vec<f32> {
        (0..length).map(|_| (self.next() % (1 << 24)) as f32 / (1 << 23) as f32 - 1.0).collect()
    }
}

pub(crate) fn tensor<const D: usize>(values: Vec<f32>, shape: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(values, shape), device)
}

pub(crate) fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_to_vec().unwrap()
}

/// `conv2d`, `conv_transpose2d` or one of their references.
pub(crate) type Operation = fn(Tensor<4>, Tensor<4>, Option<Tensor<1>>, Conv2dOptions) -> Tensor<4>;

/// Arguments of a layer and the gradient that comes back to its output.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// NHWC
    pub(crate) input_shape: [usize; 4],
    pub(crate) weight_shape: [usize; 4],
    pub(crate) output_channels: usize,
    pub(crate) options: Conv2dOptions,
    pub(crate) input: Vec<f32>,
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
    /// Repeated over the output as often as needed.
    pub(crate) upstream: Vec<f32>,
}

/// Output and all gradients.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) shape: [usize; 4],
    pub(crate) output: Vec<f32>,
    pub(crate) input: Vec<f32>,
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
}

impl Outcome {
    /// The parts by name.
    pub(crate) fn parts(&self) -> [(&'static str, &[f32]); 4] {
        [("output", &self.output), ("input", &self.input), ("weight", &self.weight), ("bias", &self.bias)]
    }
}

impl Case {
    /// Runs the operation forward and backward.
    pub(crate) fn run(&self, operation: Operation) -> Outcome {
        let device = Device::flex().autodiff();
        let input = tensor(self.input.clone(), self.input_shape, &device).require_grad();
        let weight = tensor(self.weight.clone(), self.weight_shape, &device).require_grad();
        let bias = tensor(self.bias.clone(), [self.output_channels], &device).require_grad();
        let output = operation(input.clone(), weight.clone(), Some(bias.clone()), self.options);
        let shape = output.dims();
        let upstream = self.upstream.iter().copied().cycle().take(shape.iter().product()).collect();
        let gradients = (output.clone() * tensor(upstream, shape, &device)).sum().backward();
        Outcome {
            shape,
            output: values(output),
            input: values(input.grad(&gradients).unwrap()),
            weight: values(weight.grad(&gradients).unwrap()),
            bias: values(bias.grad(&gradients).unwrap()),
        }
    }
}
