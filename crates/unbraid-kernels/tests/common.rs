//! Shared by the tests: deterministic data, forced instruction sets, and a layer run forward and backward.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::{Mutex, PoisonError};

use burn::tensor::activation::relu;
use burn::tensor::module;
use burn::tensor::ops::{ConvOptions, ConvTransposeOptions};
use burn::tensor::{Device, Tensor, TensorData};
use unbraid_kernels::{Conv2dOptions, ConvolutionAlgorithm, InstructionSet, conv_transpose2d, conv2d};

static FORCING: Mutex<()> = Mutex::new(());

/// Runs `test` once for each instruction set of this machine. The choice holds for the process, so such tests run one
/// after another.
pub(crate) fn on_every_instruction_set(mut test: impl FnMut(InstructionSet)) {
    let _guard = FORCING.lock().unwrap_or_else(PoisonError::into_inner);
    for set in InstructionSet::available() {
        InstructionSet::force(Some(set)).unwrap();
        test(set);
    }
    InstructionSet::force(None).unwrap();
}

/// Runs `test` once for each instruction set, with convolutions by their definition: Winograd's algorithm divides by nine,
/// so its results are never exact.
pub(crate) fn directly_on_every_instruction_set(test: impl FnMut(InstructionSet)) {
    let mut test = test;
    on_every_instruction_set(|set| {
        ConvolutionAlgorithm::force(Some(ConvolutionAlgorithm::Direct));
        test(set);
        ConvolutionAlgorithm::force(None);
    });
}

/// Runs `test` while no other test forces an instruction set or an algorithm.
pub(crate) fn without_forcing<T>(test: impl FnOnce() -> T) -> T {
    let _guard = FORCING.lock().unwrap_or_else(PoisonError::into_inner);
    test()
}

/// Runs `work` on a pool of its own.
pub(crate) fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

/// A linear congruential generator, so that the data of a test never changes.
pub(crate) struct Generator(pub(crate) u64);

impl Generator {
    fn next(&mut self) -> u64 {
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

/// `conv2d` or `conv_transpose2d`.
type Operation = fn(Tensor<4>, Tensor<4>, Option<Tensor<1>>, Conv2dOptions) -> Tensor<4>;

/// `conv2d` with the operations of burn.
pub(crate) fn conv2d_by_burn(
    input: Tensor<4>,
    weight: Tensor<4>,
    bias: Option<Tensor<1>>,
    options: Conv2dOptions,
) -> Tensor<4> {
    let burn = ConvOptions::new(options.stride, options.padding, [1, 1], 1);
    let output = module::conv2d(input.permute([0, 3, 1, 2]), weight, bias, burn).permute([0, 2, 3, 1]);
    if options.relu { relu(output) } else { output }
}

/// `conv_transpose2d` with the operations of burn.
fn conv_transpose2d_by_burn(
    input: Tensor<4>,
    weight: Tensor<4>,
    bias: Option<Tensor<1>>,
    options: Conv2dOptions,
) -> Tensor<4> {
    let burn = ConvTransposeOptions::new(options.stride, options.padding, options.output_padding, [1, 1], 1);
    let output = module::conv_transpose2d(input.permute([0, 3, 1, 2]), weight, bias, burn);
    let output = output.permute([0, 2, 3, 1]);
    if options.relu { relu(output) } else { output }
}

/// Arguments of a layer and the gradient of its output.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) transposed: bool,
    /// NHWC
    pub(crate) input_shape: [usize; 4],
    pub(crate) weight_shape: [usize; 4],
    pub(crate) output_channels: usize,
    pub(crate) options: Conv2dOptions,
    pub(crate) input: Vec<f32>,
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
    /// Repeated over the output as often as needed.
    pub(crate) output_gradient: Vec<f32>,
}

/// Output and all gradients of a layer.
#[derive(Debug, PartialEq)]
pub(crate) struct LayerResults {
    pub(crate) shape: [usize; 4],
    pub(crate) output: Vec<f32>,
    pub(crate) input_gradient: Vec<f32>,
    pub(crate) weight_gradient: Vec<f32>,
    pub(crate) bias_gradient: Vec<f32>,
}

impl LayerResults {
    /// The arrays by name.
    pub(crate) fn arrays(&self) -> [(&'static str, &[f32]); 4] {
        [
            ("output", &self.output),
            ("input gradient", &self.input_gradient),
            ("weight gradient", &self.weight_gradient),
            ("bias gradient", &self.bias_gradient),
        ]
    }
}

impl Case {
    /// A layer with values from `draw`.
    pub(crate) fn new(
        transposed: bool,
        [batch_size, height, width]: [usize; 3],
        [input, output]: [usize; 2],
        [kernel_height, kernel_width]: [usize; 2],
        options: Conv2dOptions,
        draw: fn(&mut Generator, usize) -> Vec<f32>,
    ) -> Self {
        let mut generator = Generator((batch_size * height * width + input * output + kernel_height) as u64);
        let [first, second] = if transposed { [input, output] } else { [output, input] };
        let weight_shape = [first, second, kernel_height, kernel_width];
        Self {
            transposed,
            input_shape: [batch_size, height, width, input],
            weight_shape,
            output_channels: output,
            options,
            input: draw(&mut generator, batch_size * height * width * input),
            weight: draw(&mut generator, weight_shape.iter().product()),
            bias: draw(&mut generator, output),
            // A prime length, so that the pattern does not align with any shape.
            output_gradient: draw(&mut generator, 9973),
        }
    }

    /// Forward and backward with the kernels of this crate.
    pub(crate) fn run(&self) -> LayerResults {
        self.run_operation(if self.transposed { conv_transpose2d } else { conv2d })
    }

    /// Forward and backward with the operations of burn.
    pub(crate) fn run_by_burn(&self) -> LayerResults {
        self.run_operation(if self.transposed { conv_transpose2d_by_burn } else { conv2d_by_burn })
    }

    fn run_operation(&self, operation: Operation) -> LayerResults {
        let device = Device::flex().autodiff();
        let input = tensor(self.input.clone(), self.input_shape, &device).require_grad();
        let weight = tensor(self.weight.clone(), self.weight_shape, &device).require_grad();
        let bias = tensor(self.bias.clone(), [self.output_channels], &device).require_grad();
        let output = operation(input.clone(), weight.clone(), Some(bias.clone()), self.options);
        let shape = output.dims();
        let output_gradient = self.output_gradient.iter().copied().cycle();
        let output_gradient = output_gradient.take(shape.iter().product()).collect();
        let gradients = (output.clone() * tensor(output_gradient, shape, &device)).sum().backward();
        LayerResults {
            shape,
            output: values(output),
            input_gradient: values(input.grad(&gradients).unwrap()),
            weight_gradient: values(weight.grad(&gradients).unwrap()),
            bias_gradient: values(bias.grad(&gradients).unwrap()),
        }
    }
}
