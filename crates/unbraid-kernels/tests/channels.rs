//! Images to rows in PyTorch's order and back, by the formula of the index, with gradients.

use burn::tensor::Device;
use unbraid_kernels::{flatten_images, unflatten_images};

use crate::common::{Generator, on_every_instruction_set, tensor, values};

/// Batch, height, width and channels: of a network, of few channels, without anything to do, and of odd sizes.
const SHAPES: [[usize; 4]; 5] = [[64, 4, 4, 64], [3, 2, 5, 3], [2, 4, 3, 1], [2, 1, 1, 8], [5, 7, 3, 17]];

/// Where the value of each place in a row lies in images with channels last.
fn places([batch, height, width, channels]: [usize; 4]) -> Vec<usize> {
    let pixels = height * width;
    let place = |image: usize, channel: usize, pixel: usize| (image * pixels + pixel) * channels + channel;
    let of_image =
        |image| (0..channels).flat_map(move |channel| (0..pixels).map(move |pixel| (image, channel, pixel)));
    (0..batch).flat_map(of_image).map(|(image, channel, pixel)| place(image, channel, pixel)).collect()
}

#[test]
fn rows_have_the_order_of_pytorch_and_gradients_go_back() {
    let device = Device::flex().autodiff();
    on_every_instruction_set(|set| {
        for shape in SHAPES {
            let length: usize = shape.iter().product();
            let mut generator = Generator(7);
            let (pixels, slopes) = (generator.floats(length), generator.floats(length));
            let images = tensor(pixels.clone(), shape, &device).require_grad();
            let rows = flatten_images(images.clone());
            assert_eq!(rows.dims(), [shape[0], length / shape[0]]);
            let expected: Vec<f32> = places(shape).into_iter().map(|place| pixels[place]).collect();
            assert_eq!(values(rows.clone()), expected, "{set}: {shape:?}");
            // The derivative of a sum of values times slopes is the slope of each value.
            let sum = (rows.clone() * tensor(slopes.clone(), rows.dims(), &device)).sum();
            let gradient = values(images.grad(&sum.backward()).expect("the images have a gradient"));
            let gradient: Vec<f32> = places(shape).into_iter().map(|place| gradient[place]).collect();
            assert_eq!(gradient, slopes, "{set}: {shape:?}");
        }
    });
}

#[test]
fn unflattening_is_the_inverse() {
    let device = Device::flex().autodiff();
    on_every_instruction_set(|set| {
        for shape in SHAPES {
            let [_, height, width, channels] = shape;
            let length: usize = shape.iter().product();
            let mut generator = Generator(8);
            let (pixels, slopes) = (generator.floats(length), generator.floats(length));
            let rows = flatten_images(tensor(pixels.clone(), shape, &device)).require_grad();
            let images = unflatten_images(rows.clone(), [height, width, channels]);
            assert_eq!(images.dims(), shape);
            assert_eq!(values(images.clone()), pixels, "{set}: {shape:?}");
            let sum = (images * tensor(slopes.clone(), shape, &device)).sum();
            let gradient = values(rows.grad(&sum.backward()).expect("the rows have a gradient"));
            let expected: Vec<f32> = places(shape).into_iter().map(|place| slopes[place]).collect();
            assert_eq!(gradient, expected, "{set}: {shape:?}");
        }
    });
}

#[test]
#[should_panic(expected = "the rows have 6 values, an image [2, 2, 2] has 8")]
fn rows_of_another_length_are_refused() {
    unflatten_images(tensor(vec![0.0; 6], [1, 6], &Device::flex()), [2, 2, 2]);
}
