//! Fully connected layers as differentiable operations on tensors.

use burn::tensor::Tensor;
use burn::tensor::activation::{leaky_relu, relu};

use crate::linear::{LinearActivation, LinearShape};
use crate::ops::extension::{LayerBackend, LinearOptions};
use crate::ops::use_own_kernels;

/// A fully connected layer, `f(x W^T + b)`, of inputs `[batch, in]` with weights `[out, in]`, as PyTorch stores them.
///
/// On the flex CPU device in single precision, one pass computes the sums, the bias and the activation, and the gradients
/// are computed without transposing the weights; otherwise burn's own operations run.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use unbraid_kernels::{LinearActivation, linear};
///
/// let device = Device::flex();
/// let inputs = Tensor::<2>::ones([8, 100], &device);
/// let weight = Tensor::<2>::ones([5, 100], &device) * -1.0;
/// let output = linear(inputs, weight, Tensor::zeros([5], &device), LinearActivation::LeakyRelu { slope: 0.2 });
/// assert_eq!(output.dims(), [8, 5]);
/// assert_eq!(output.max().into_scalar::<f32>(), -20.0);
/// ```
///
/// # Panics
/// If the shapes do not match; the message names them.
pub fn linear(
    input: Tensor<2>,
    weight: Tensor<2>,
    bias: Tensor<1>,
    activation: LinearActivation,
) -> Tensor<2> {
    let ([batch_size, inputs], [outputs, weight_inputs], [bias_length]) =
        (input.dims(), weight.dims(), bias.dims());
    assert!(
        inputs == weight_inputs,
        "linear: the input [{batch_size}, {inputs}] has {inputs} columns, the weight [{outputs}, {weight_inputs}] takes \
         {weight_inputs}"
    );
    assert!(bias_length == outputs, "linear: the bias has {bias_length} values for {outputs} outputs");
    assert!(inputs > 0 && outputs > 0, "linear: the weight [{outputs}, {inputs}] has an axis of length 0");
    if use_own_kernels(&input) && use_own_kernels(&weight) && use_own_kernels(&bias) {
        let options = LinearOptions { shape: LinearShape { batch_size, inputs, outputs }, activation };
        return Tensor::from_dispatch(<burn::backend::Dispatch as LayerBackend>::unbraid_linear(
            input.into_dispatch(),
            weight.into_dispatch(),
            bias.into_dispatch(),
            options,
        ));
    }
    let sums = input.matmul(weight.transpose()) + bias.unsqueeze();
    match activation {
        LinearActivation::Identity => sums,
        LinearActivation::Relu => relu(sums),
        LinearActivation::LeakyRelu { slope } => leaky_relu(sums, f64::from(slope)),
        LinearActivation::Tanh => sums.tanh(),
    }
}
