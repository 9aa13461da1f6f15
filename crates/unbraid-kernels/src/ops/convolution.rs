//! Convolution and transposed convolution as differentiable operations on tensors.

use burn::backend::Dispatch;
use burn::tensor::Tensor;
use burn::tensor::activation::relu;
use burn::tensor::module;
use burn::tensor::ops::{ConvOptions, ConvTransposeOptions};

use crate::geometry::{Filter, ImageShape, Layer, contracted, expanded};
use crate::kernel::{Direction, is_pair};
use crate::ops::extension::{LayerBackend, LayerOptions, PairOptions};
use crate::ops::use_own_kernels;

/// Stride, padding and activation of a convolution; pairs are `[vertical, horizontal]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conv2dOptions {
    /// Pixels between neighbouring windows.
    pub stride: [usize; 2],
    /// Rows and columns of zeros on each side of the input of a convolution; a transposed convolution cuts as many off
    /// its output.
    pub padding: [usize; 2],
    /// Rows and columns added at the end of a transposed convolution's output; a convolution ignores it.
    pub output_padding: [usize; 2],
    /// Whether `max(0, x)` is applied to the output, while it is still in a register.
    pub relu: bool,
}

impl Conv2dOptions {
    /// The same stride and padding in both directions, no output padding, no ReLU.
    pub const fn new(stride: usize, padding: usize) -> Self {
        Self { stride: [stride; 2], padding: [padding; 2], output_padding: [0; 2], relu: false }
    }

    /// The same options with a ReLU.
    pub const fn with_relu(self) -> Self {
        Self { relu: true, ..self }
    }
}

/// Convolution of images `[batch, height, width, channels]` with weights `[out, in, kernel height, kernel width]`.
///
/// Returns `[batch, out height, out width, out]`, where the output height is `(height + 2 * padding - kernel height) /
/// stride + 1`, rounded down, and likewise the width. The kernels of this crate run on the flex CPU device in single
/// precision; otherwise burn's own operation does.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use unbraid_kernels::{Conv2dOptions, conv2d};
///
/// let device = Device::flex();
/// let images = Tensor::<4>::ones([2, 64, 64, 1], &device);
/// let weight = Tensor::<4>::ones([32, 1, 4, 4], &device);
/// let output = conv2d(images, weight, None, Conv2dOptions::new(2, 1).with_relu());
/// assert_eq!(output.dims(), [2, 32, 32, 32]);
/// ```
///
/// # Panics
/// If the shapes do not match; the message names them.
pub fn conv2d(
    input: Tensor<4>,
    weight: Tensor<4>,
    bias: Option<Tensor<1>>,
    options: Conv2dOptions,
) -> Tensor<4> {
    let layer = convolution_layer(input.dims(), &weight, bias.as_ref(), options);
    if all_use_own_kernels(&input, &weight, bias.as_ref()) {
        own(input, weight, bias, layer, Direction::Contract, options.relu)
    } else {
        conv2d_by_burn(input, weight, bias, options)
    }
}

/// Transposed convolution of images `[batch, height, width, channels]` with weights `[in, out, kernel height, kernel
/// width]`, as PyTorch stores them.
///
/// Returns `[batch, out height, out width, out]`, where the output height is `(height - 1) * stride - 2 * padding + kernel
/// height + output_padding`, and likewise the width. The kernels of this crate run where those of [`conv2d`] do.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use unbraid_kernels::{Conv2dOptions, conv_transpose2d};
///
/// let device = Device::flex();
/// let images = Tensor::<4>::ones([2, 32, 32, 32], &device);
/// let weight = Tensor::<4>::ones([32, 1, 4, 4], &device);
/// let output = conv_transpose2d(images, weight, None, Conv2dOptions::new(2, 1));
/// assert_eq!(output.dims(), [2, 64, 64, 1]);
/// ```
///
/// # Panics
/// If the shapes do not match; the message names them.
pub fn conv_transpose2d(
    input: Tensor<4>,
    weight: Tensor<4>,
    bias: Option<Tensor<1>>,
    options: Conv2dOptions,
) -> Tensor<4> {
    let layer = transposed_layer(input.dims(), &weight, bias.as_ref(), options);
    if all_use_own_kernels(&input, &weight, bias.as_ref()) {
        own(input, weight, bias, layer, Direction::Expand, options.relu)
    } else {
        conv_transpose2d_by_burn(input, weight, bias, options)
    }
}

/// A layer of [`conv2d_stack`] or [`conv_transpose2d_stack`].
#[derive(Clone, Debug)]
pub struct Conv2dLayer {
    /// `[out, in, kernel height, kernel width]`, or `[in, out, kernel height, kernel width]` if it is transposed.
    pub weight: Tensor<4>,
    /// One value for each output channel.
    pub bias: Option<Tensor<1>>,
    /// Stride, padding and activation.
    pub options: Conv2dOptions,
}

/// [`conv2d`] with each of the layers in turn. The layer next to the images and the one after it are computed together,
/// block by block, where that saves time.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use unbraid_kernels::{Conv2dLayer, Conv2dOptions, conv2d_stack};
///
/// let device = Device::flex();
/// let layer = |channels| Conv2dLayer {
///     weight: Tensor::ones([32, channels, 4, 4], &device),
///     bias: None,
///     options: Conv2dOptions::new(2, 1).with_relu(),
/// };
/// let images = Tensor::<4>::ones([2, 64, 64, 1], &device);
/// assert_eq!(conv2d_stack(images, vec![layer(1), layer(32), layer(32)]).dims(), [2, 8, 8, 32]);
/// ```
///
/// # Panics
/// If the shapes do not match; the message names them.
pub fn conv2d_stack(input: Tensor<4>, layers: Vec<Conv2dLayer>) -> Tensor<4> {
    stack(Direction::Contract, input, layers)
}

/// [`conv_transpose2d`] with each of the layers in turn. The layer next to the images and the one before it are computed
/// together, block by block, where that saves time.
///
/// # Panics
/// If the shapes do not match; the message names them.
pub fn conv_transpose2d_stack(input: Tensor<4>, layers: Vec<Conv2dLayer>) -> Tensor<4> {
    stack(Direction::Expand, input, layers)
}

fn stack(direction: Direction, mut input: Tensor<4>, layers: Vec<Conv2dLayer>) -> Tensor<4> {
    let mut layers = layers.into_iter().peekable();
    while let Some(first) = layers.next() {
        let shapes = first.shapes(direction, input.dims());
        let (_, image) = direction.between(&shapes);
        let between = [shapes.batch_size, image.height, image.width, image.channels];
        let second = layers.next_if(|second| {
            let both = [&shapes, &second.shapes(direction, between)];
            first.uses_own_kernels(&input)
                && second.uses_own_kernels(&input)
                && is_pair(both, direction, [first.options.relu, second.options.relu])
        });
        input = match second {
            Some(second) => {
                let layers = [shapes, second.shapes(direction, between)];
                let options = PairOptions { layers, direction, relu: second.options.relu };
                own_pair(input, [first, second], options)
            }
            None => first.apply(direction, input),
        };
    }
    input
}

impl Conv2dLayer {
    fn shapes(&self, direction: Direction, input: [usize; 4]) -> Layer {
        let Self { weight, bias, options } = self;
        match direction {
            Direction::Contract => convolution_layer(input, weight, bias.as_ref(), *options),
            Direction::Expand => transposed_layer(input, weight, bias.as_ref(), *options),
        }
    }

    fn uses_own_kernels(&self, input: &Tensor<4>) -> bool {
        all_use_own_kernels(input, &self.weight, self.bias.as_ref())
    }

    fn apply(self, direction: Direction, input: Tensor<4>) -> Tensor<4> {
        let Self { weight, bias, options } = self;
        match direction {
            Direction::Contract => conv2d(input, weight, bias, options),
            Direction::Expand => conv_transpose2d(input, weight, bias, options),
        }
    }
}

/// [`conv2d`] with burn's own operations, on any device.
fn conv2d_by_burn(
    input: Tensor<4>,
    weight: Tensor<4>,
    bias: Option<Tensor<1>>,
    options: Conv2dOptions,
) -> Tensor<4> {
    let burn = ConvOptions::new(options.stride, options.padding, [1, 1], 1);
    finish(module::conv2d(input.permute([0, 3, 1, 2]), weight, bias, burn), options)
}

/// [`conv_transpose2d`] with burn's own operations, on any device.
fn conv_transpose2d_by_burn(
    input: Tensor<4>,
    weight: Tensor<4>,
    bias: Option<Tensor<1>>,
    options: Conv2dOptions,
) -> Tensor<4> {
    let burn = ConvTransposeOptions::new(options.stride, options.padding, options.output_padding, [1, 1], 1);
    finish(module::conv_transpose2d(input.permute([0, 3, 1, 2]), weight, bias, burn), options)
}

/// From burn's NCHW to NHWC, with the ReLU.
fn finish(output: Tensor<4>, options: Conv2dOptions) -> Tensor<4> {
    let output = output.permute([0, 2, 3, 1]);
    if options.relu { relu(output) } else { output }
}

fn all_use_own_kernels(input: &Tensor<4>, weight: &Tensor<4>, bias: Option<&Tensor<1>>) -> bool {
    use_own_kernels(input) && use_own_kernels(weight) && bias.is_none_or(use_own_kernels)
}

/// Runs the kernels of this crate.
fn own(
    input: Tensor<4>,
    weight: Tensor<4>,
    bias: Option<Tensor<1>>,
    layer: Layer,
    direction: Direction,
    relu: bool,
) -> Tensor<4> {
    let bias = bias_or_zeros(bias, direction, &layer, &input);
    let options = LayerOptions { layer, direction, relu };
    Tensor::from_dispatch(<Dispatch as LayerBackend>::unbraid_layer(
        input.into_dispatch(),
        weight.into_dispatch(),
        bias.into_dispatch(),
        options,
    ))
}

/// Runs the kernels of this crate for two layers.
fn own_pair(input: Tensor<4>, layers: [Conv2dLayer; 2], options: PairOptions) -> Tensor<4> {
    let PairOptions { layers: [first_shapes, second_shapes], direction, .. } = options;
    let [first, second] = layers;
    let first_bias = bias_or_zeros(first.bias, direction, &first_shapes, &input);
    let second_bias = bias_or_zeros(second.bias, direction, &second_shapes, &input);
    Tensor::from_dispatch(<Dispatch as LayerBackend>::unbraid_pair(
        input.into_dispatch(),
        first.weight.into_dispatch(),
        first_bias.into_dispatch(),
        second.weight.into_dispatch(),
        second_bias.into_dispatch(),
        options,
    ))
}

fn bias_or_zeros(
    bias: Option<Tensor<1>>,
    direction: Direction,
    layer: &Layer,
    input: &Tensor<4>,
) -> Tensor<1> {
    let (_, output) = direction.between(layer);
    bias.unwrap_or_else(|| Tensor::zeros([output.channels], &input.device()))
}

fn convolution_layer(
    input: [usize; 4],
    weight: &Tensor<4>,
    bias: Option<&Tensor<1>>,
    options: Conv2dOptions,
) -> Layer {
    let [batch_size, height, width, channels] = input;
    let [out, weight_channels, kernel_height, kernel_width] = weight.dims();
    let filter = checked_filter("conv2d", [kernel_height, kernel_width], options);
    assert!(
        channels == weight_channels,
        "conv2d: the input {:?} (NHWC) has {channels} channels, the weight {:?} takes {weight_channels}",
        input,
        weight.dims(),
    );
    check_extents("conv2d", input, weight);
    check_bias("conv2d", bias, out);
    let size =
        |axis: usize, size| contracted(size, filter.size[axis], filter.stride[axis], filter.padding[axis]);
    let (Some(out_height), Some(out_width)) = (size(0, height), size(1, width)) else {
        panic!(
            "conv2d: a kernel of {kernel_height} x {kernel_width} does not fit into images of {height} x {width} with \
             padding {:?}",
            options.padding
        );
    };
    Layer {
        batch_size,
        fine: ImageShape { height, width, channels },
        coarse: ImageShape { height: out_height, width: out_width, channels: out },
        filter,
    }
}

fn transposed_layer(
    input: [usize; 4],
    weight: &Tensor<4>,
    bias: Option<&Tensor<1>>,
    options: Conv2dOptions,
) -> Layer {
    let [batch_size, height, width, channels] = input;
    let [weight_channels, out, kernel_height, kernel_width] = weight.dims();
    let filter = checked_filter("conv_transpose2d", [kernel_height, kernel_width], options);
    assert!(
        channels == weight_channels,
        "conv_transpose2d: the input {:?} (NHWC) has {channels} channels, the weight {:?} takes {weight_channels}",
        input,
        weight.dims(),
    );
    assert!(
        (0..2).all(|axis| options.output_padding[axis] < options.stride[axis].max(1)),
        "conv_transpose2d: the output padding {:?} must be less than the stride {:?}",
        options.output_padding,
        options.stride,
    );
    check_extents("conv_transpose2d", input, weight);
    check_bias("conv_transpose2d", bias, out);
    let size = |axis: usize, size| {
        let output_padding = options.output_padding[axis];
        expanded(size, filter.size[axis], filter.stride[axis], filter.padding[axis], output_padding)
    };
    let (Some(out_height), Some(out_width)) = (size(0, height), size(1, width)) else {
        panic!(
            "conv_transpose2d: the padding {:?} leaves nothing of the output of images of {height} x {width} and a \
             kernel of {kernel_height} x {kernel_width}",
            options.padding
        );
    };
    Layer {
        batch_size,
        fine: ImageShape { height: out_height, width: out_width, channels: out },
        coarse: ImageShape { height, width, channels },
        filter,
    }
}

fn checked_filter(name: &str, size: [usize; 2], options: Conv2dOptions) -> Filter {
    assert!(
        options.stride.iter().all(|stride| *stride > 0),
        "{name}: the stride {:?} has a zero",
        options.stride
    );
    Filter { size, stride: options.stride, padding: options.padding }
}

/// Only the batch may be empty.
fn check_extents(name: &str, input: [usize; 4], weight: &Tensor<4>) {
    let weight = weight.dims();
    assert!(
        input[1..].iter().chain(&weight).all(|length| *length > 0),
        "{name}: the input {input:?} (NHWC) or the weight {weight:?} has an axis of length 0",
    );
}

fn check_bias(name: &str, bias: Option<&Tensor<1>>, channels: usize) {
    if let Some(bias) = bias {
        let [length] = bias.dims();
        assert!(length == channels, "{name}: the bias has {length} values for {channels} output channels");
    }
}
