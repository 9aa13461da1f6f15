//! Wrong shapes, other layouts and precisions, forced instruction sets, tensors without gradients.

use burn::tensor::{DType, Device, Tensor};
use unbraid_kernels::{
    Conv2dOptions, InstructionSet, LayerShape, conv_transpose2d, conv2d, measured_peak_gflops,
};

use crate::common::{Generator, conv2d_by_burn, tensor, values, without_forcing};

fn zeros<const D: usize>(shape: [usize; D]) -> Tensor<D> {
    Tensor::zeros(shape, &Device::flex())
}

#[test]
#[should_panic(expected = "has 3 channels, the weight [8, 4, 3, 3] takes 4")]
fn mismatched_channels_are_named() {
    conv2d(zeros([1, 8, 8, 3]), zeros([8, 4, 3, 3]), None, Conv2dOptions::new(1, 1));
}

#[test]
#[should_panic(expected = "has 3 channels, the weight [4, 8, 3, 3] takes 4")]
fn mismatched_channels_of_a_transposed_convolution_are_named() {
    conv_transpose2d(zeros([1, 8, 8, 3]), zeros([4, 8, 3, 3]), None, Conv2dOptions::new(1, 1));
}

#[test]
#[should_panic(expected = "the bias has 7 values for 8 output channels")]
fn a_bias_of_the_wrong_length_is_named() {
    conv2d(zeros([1, 8, 8, 3]), zeros([8, 3, 3, 3]), Some(zeros([7])), Conv2dOptions::new(1, 1));
}

#[test]
#[should_panic(expected = "a kernel of 5 x 5 does not fit into images of 2 x 2 with padding [1, 1]")]
fn a_kernel_larger_than_the_image_is_named() {
    conv2d(zeros([1, 2, 2, 3]), zeros([8, 3, 5, 5]), None, Conv2dOptions::new(1, 1));
}

#[test]
#[should_panic(expected = "the padding [3, 3] leaves nothing")]
fn a_padding_that_leaves_nothing_is_named() {
    conv_transpose2d(zeros([1, 2, 2, 3]), zeros([3, 8, 2, 2]), None, Conv2dOptions::new(1, 3));
}

#[test]
#[should_panic(expected = "the stride [0, 0] has a zero")]
fn a_stride_of_zero_is_refused() {
    conv2d(zeros([1, 2, 2, 3]), zeros([8, 3, 2, 2]), None, Conv2dOptions::new(0, 0));
}

#[test]
#[should_panic(expected = "the output padding [2, 2] must be less than the stride [2, 2]")]
fn an_output_padding_beyond_the_stride_is_refused() {
    let options = Conv2dOptions { output_padding: [2, 2], ..Conv2dOptions::new(2, 0) };
    conv_transpose2d(zeros([1, 2, 2, 3]), zeros([3, 8, 2, 2]), None, options);
}

#[test]
#[should_panic(
    expected = "conv2d: the input [1, 8, 8, 0] (NHWC) or the weight [4, 0, 3, 3] has an axis of length 0"
)]
fn images_without_channels_are_refused() {
    conv2d(zeros([1, 8, 8, 0]), zeros([4, 0, 3, 3]), None, Conv2dOptions::new(1, 1));
}

#[test]
#[should_panic(expected = "does not fit into images of 8 x 8 with padding")]
fn a_padding_that_overflows_is_refused() {
    conv2d(zeros([1, 8, 8, 1]), zeros([1, 1, 3, 3]), None, Conv2dOptions::new(1, usize::MAX / 2));
}

#[test]
#[should_panic(expected = "one image has more than 4294967295 values")]
fn a_padding_beyond_the_offsets_of_a_kernel_is_refused() {
    conv2d(zeros([1, 8, 8, 1]), zeros([1, 1, 3, 3]), None, Conv2dOptions::new(1 << 40, 1 << 30));
}

#[test]
#[should_panic(expected = "a batch that fits into memory")]
fn a_batch_that_overflows_is_refused() {
    let shape = LayerShape {
        batch_size: usize::MAX / 2,
        image_size: 8,
        fine_channels: 1,
        coarse_channels: 1,
        kernel: 4,
        stride: 2,
        padding: 1,
        transposed: false,
    };
    shape.measure(1);
}

#[test]
fn an_empty_batch_gives_an_empty_result() {
    let output = conv2d(zeros([0, 8, 8, 3]), zeros([4, 3, 4, 4]), None, Conv2dOptions::new(2, 1));
    assert_eq!(output.dims(), [0, 4, 4, 4]);
}

#[test]
fn non_contiguous_tensors_give_the_same_results() {
    let device = Device::flex();
    let mut generator = Generator(2);
    let planes = tensor(generator.quarters(2 * 3 * 8 * 8), [2, 3, 8, 8], &device);
    let weight = tensor(generator.quarters(3 * 5 * 4 * 4), [3, 5, 4, 4], &device).swap_dims(0, 1);
    let options = Conv2dOptions::new(2, 1).with_relu();
    let views = conv2d(planes.clone().permute([0, 2, 3, 1]), weight.clone(), None, options);
    let expected = conv2d_by_burn(planes.permute([0, 2, 3, 1]), weight, None, options);
    assert_eq!(values(views), values(expected));
}

#[test]
fn double_precision_uses_the_operations_of_burn() {
    let device = Device::flex();
    let images = Tensor::<4>::ones([1, 4, 4, 1], &device).cast(DType::F64);
    let weight = Tensor::<4>::ones([1, 1, 4, 4], &device).cast(DType::F64);
    let output = conv2d(images, weight, None, Conv2dOptions::new(1, 0));
    assert_eq!(output.into_data().try_to_vec::<f64>().unwrap(), [16.0]);
}

#[test]
fn only_tensors_that_require_a_gradient_have_one() {
    let device = Device::flex().autodiff();
    let images = Tensor::<4>::ones([1, 2, 2, 1], &device);
    let weight = Tensor::<4>::ones([1, 1, 2, 2], &device).require_grad();
    let output = conv2d(images.clone(), weight.clone(), None, Conv2dOptions::new(1, 0));
    let gradients = output.sum().backward();
    assert_eq!(values(weight.grad(&gradients).unwrap()), [1.0; 4]);
    assert!(images.grad(&gradients).is_none());
}

#[test]
fn the_relu_keeps_nan() {
    let device = Device::flex();
    let images = tensor(vec![f32::NAN], [1, 1, 1, 1], &device);
    for channels in [1, 32] {
        let weight = Tensor::<4>::ones([channels, 1, 1, 1], &device);
        let output = conv2d(images.clone(), weight, None, Conv2dOptions::new(1, 0).with_relu());
        assert!(values(output).iter().all(|value| value.is_nan()));
        let weight = Tensor::<4>::ones([1, channels, 1, 1], &device);
        let output = conv_transpose2d(images.clone(), weight, None, Conv2dOptions::new(1, 0).with_relu());
        assert!(values(output).iter().all(|value| value.is_nan()));
    }
}

#[test]
fn an_instruction_set_of_another_processor_is_refused() {
    without_forcing(|| {
        let available: Vec<_> = InstructionSet::available().collect();
        // No processor has both.
        let mut foreign = [InstructionSet::Avx512, InstructionSet::Neon].into_iter();
        let foreign = foreign.rfind(|set| !available.contains(set)).unwrap();
        let names = available.iter().map(InstructionSet::to_string).collect::<Vec<_>>().join(", ");
        assert_eq!(
            InstructionSet::force(Some(foreign)).unwrap_err().to_string(),
            format!("this processor does not support {foreign}, only {names}")
        );
        assert!(available.contains(&InstructionSet::current()));
    });
}

#[test]
fn names_of_instruction_sets_ignore_case_and_unknown_ones_are_refused() {
    assert_eq!("AVX2".parse(), Ok(InstructionSet::Avx2));
    assert_eq!(
        "sse9".parse::<InstructionSet>().unwrap_err().to_string(),
        "unknown instruction set \"sse9\", expected one of avx512, avx2, neon, scalar"
    );
}

#[test]
fn the_peak_is_a_plausible_number() {
    // From a slow emulator to a fast core with two AVX-512 units: 2 * 2 * 16 operations at 6 GHz.
    let peak = without_forcing(|| measured_peak_gflops(1));
    assert!(peak > 0.01 && peak < 400.0, "{peak}");
}
