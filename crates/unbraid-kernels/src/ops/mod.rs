//! The kernels as burn operations: what a network calls.

mod bernoulli;
mod convolution;
mod extension;

use burn::backend::{DType, DispatchDevice};
use burn::tensor::Tensor;

pub use bernoulli::{bernoulli_loss, bernoulli_loss_reference};
pub use convolution::{
    Activation, Conv2dOptions, conv_transpose2d, conv_transpose2d_reference, conv2d, conv2d_reference,
};

/// Whether the tensor lives on the flex CPU device, with or without automatic differentiation.
pub(crate) fn is_flex_cpu<const D: usize>(tensor: &Tensor<D>) -> bool {
    matches!(tensor.device().inner().as_dispatch(), DispatchDevice::Flex(_))
}

/// Whether the kernels of this crate can take the tensor.
pub(crate) fn use_own_kernels<const D: usize>(tensor: &Tensor<D>) -> bool {
    tensor.dtype() == DType::F32 && is_flex_cpu(tensor)
}
