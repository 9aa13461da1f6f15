//! The kernels as differentiable burn operations.

mod bernoulli;
mod channels;
mod convolution;
mod extension;
mod linear;
mod row_function;

use burn::backend::{DType, DispatchDevice};
use burn::tensor::Tensor;

pub use bernoulli::bernoulli_loss;
pub use channels::{flatten_images, unflatten_images};
pub use convolution::{
    Conv2dLayer, Conv2dOptions, conv_transpose2d, conv_transpose2d_stack, conv2d, conv2d_stack,
};
pub use linear::linear;
pub use row_function::{AdamParameters, DenseLayer, RowFunction};

/// Whether the kernels of this crate support the tensor: single precision on the flex CPU device, with or without
/// automatic differentiation.
fn use_own_kernels<const D: usize>(tensor: &Tensor<D>) -> bool {
    tensor.dtype() == DType::F32 && matches!(tensor.device().inner().as_dispatch(), DispatchDevice::Flex(_))
}
