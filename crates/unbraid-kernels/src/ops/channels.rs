//! Images as rows of numbers in PyTorch's order, as differentiable operations on tensors.

use burn::tensor::Tensor;

use crate::ops::extension::{LayerBackend, TransposeOptions};
use crate::ops::use_own_kernels;
use crate::transpose::Matrices;

/// Flattens images, `[batch, height, width, channels]`, to rows in the order channel, row, column, as PyTorch does.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use unbraid_kernels::{flatten_images, unflatten_images};
///
/// // Two pixels of two channels.
/// let images = Tensor::<4>::from_data([[[[1.0, 10.0], [2.0, 20.0]]]], &Device::flex());
/// let rows = flatten_images(images.clone());
/// assert_eq!(rows.to_data().try_to_vec::<f32>()?, [1.0, 2.0, 10.0, 20.0]);
/// assert_eq!(unflatten_images(rows, [1, 2, 2]).to_data(), images.to_data());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn flatten_images(images: Tensor<4>) -> Tensor<2> {
    let [batch, height, width, channels] = images.dims();
    let shape = [batch, height * width * channels];
    if channels == 1 || height * width == 1 {
        return images.reshape(shape);
    }
    if use_own_kernels(&images) {
        let matrices = Matrices { rows: height * width, columns: channels };
        return transposed(images, matrices, shape);
    }
    images.permute([0, 3, 1, 2]).reshape(shape)
}

/// The inverse of [`flatten_images`], for images of the given height, width and channels.
///
/// # Panics
/// If the rows are not as long as such an image.
pub fn unflatten_images(rows: Tensor<2>, [height, width, channels]: [usize; 3]) -> Tensor<4> {
    let [batch, length] = rows.dims();
    assert!(
        length == height * width * channels,
        "unflatten_images: the rows have {length} values, an image [{height}, {width}, {channels}] has {}",
        height * width * channels
    );
    let shape = [batch, height, width, channels];
    if channels == 1 || height * width == 1 {
        return rows.reshape(shape);
    }
    if use_own_kernels(&rows) {
        let matrices = Matrices { rows: channels, columns: height * width };
        return transposed(rows, matrices, shape);
    }
    rows.reshape([batch, channels, height, width]).permute([0, 2, 3, 1])
}

fn transposed<const D: usize, const E: usize>(
    tensor: Tensor<D>,
    matrices: Matrices,
    shape: [usize; E],
) -> Tensor<E> {
    let options = TransposeOptions { matrices, shape: shape.to_vec() };
    Tensor::from_dispatch(<burn::backend::Dispatch as LayerBackend>::unbraid_transpose(
        tensor.into_dispatch(),
        options,
    ))
}
