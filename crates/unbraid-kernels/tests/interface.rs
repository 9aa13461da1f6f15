//! What happens around the computation: wrong shapes, other layouts and devices, forced instruction sets, constants.

mod common;

use burn::tensor::{DType, Device, Tensor};
use common::{Numbers, tensor, undisturbed, values};
use unbraid_kernels::{
    Conv2dOptions, InstructionSet, conv_transpose2d, conv2d, conv2d_reference, measured_peak_gflops,
};

fn zeros<const D: usize>(shape: [usize; D]) -> Tensor<D> {
    Tensor::zeros(shape, &Device::flex())
}

#[test]
#[should_panic(expected = "has 3 channels, the weight [8, 4, 3, 3] takes 4")]
fn channels_that_do_not_fit_are_named() {
    conv2d(zeros([1, 8, 8, 3]), zeros([8, 4, 3, 3]), None, Conv2dOptions::new(1, 1));
}

#[test]
#[should_panic(expected = "has 3 channels, the weight [4, 8, 3, 3] takes 4")]
fn channels_of_a_transposed_layer_that_do_not_fit_are_named() {
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
    let options = Conv2dOptions::new(2, 0).with_output_padding([2, 2]);
    conv_transpose2d(zeros([1, 2, 2, 3]), zeros([3, 8, 2, 2]), None, options);
}

#[test]
fn an_empty_batch_gives_an_empty_result() {
    let output = conv2d(zeros([0, 8, 8, 3]), zeros([4, 3, 4, 4]), None, Conv2dOptions::new(2, 1));
    assert_eq!(output.dims(), [0, 4, 4, 4]);
}

#[test]
fn tensors_that_do_not_lie_in_order_give_the_same() {
    let device = Device::flex();
    let mut numbers = Numbers(2);
    let planes = tensor(numbers.quarters(2 * 3 * 8 * 8), [2, 3, 8, 8], &device);
    let weight = tensor(numbers.quarters(3 * 5 * 4 * 4), [3, 5, 4, 4], &device).swap_dims(0, 1);
    let options = Conv2dOptions::new(2, 1).with_relu();
    let views = conv2d(planes.clone().permute([0, 2, 3, 1]), weight.clone(), None, options);
    let expected = conv2d_reference(planes.permute([0, 2, 3, 1]), weight, None, options);
    assert_eq!(values(views), values(expected));
}

#[test]
fn double_precision_takes_the_operations_of_burn() {
    let device = Device::flex();
    let images = Tensor::<4>::ones([1, 4, 4, 1], &device).cast(DType::F64);
    let weight = Tensor::<4>::ones([1, 1, 4, 4], &device).cast(DType::F64);
    let output = conv2d(images, weight, None, Conv2dOptions::new(1, 0));
    assert_eq!(output.into_data().try_to_vec::<f64>().unwrap(), [16.0]);
}

#[test]
fn gradients_flow_only_where_they_are_asked_for() {
    let device = Device::flex().autodiff();
    let images = Tensor::<4>::ones([1, 2, 2, 1], &device);
    let weight = Tensor::<4>::ones([1, 1, 2, 2], &device).require_grad();
    let output = conv2d(images.clone(), weight.clone(), None, Conv2dOptions::new(1, 0));
    let gradients = output.sum().backward();
    assert_eq!(values(weight.grad(&gradients).unwrap()), [1.0; 4]);
    assert!(images.grad(&gradients).is_none());
}

#[test]
fn a_value_that_is_no_number_is_not_hidden_by_the_relu() {
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
fn an_instruction_set_of_another_machine_is_refused() {
    undisturbed(|| {
        let foreign = InstructionSet::ALL.into_iter().find(|set| !set.is_available());
        if let Some(foreign) = foreign {
            let message = InstructionSet::force(Some(foreign)).unwrap_err().to_string();
            assert!(message.contains(foreign.name()) && message.contains("scalar"), "{message}");
        }
        assert!("sse9".parse::<InstructionSet>().is_err());
        assert_eq!("AVX2".parse::<InstructionSet>(), Ok(InstructionSet::Avx2));
    });
}

#[test]
fn the_peak_is_a_plausible_number() {
    // From a slow emulator to a fast core with two wide units: 2 * 2 * 16 operations at 6 GHz.
    let peak = undisturbed(|| measured_peak_gflops(1));
    assert!(peak > 0.01 && peak < 400.0, "{peak}");
}
