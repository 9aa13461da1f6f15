//! Images on their way to a device: as bytes where their pixels are bytes.

use crate::device::is_cpu;
use burn::tensor::{Device, Int, Tensor, TensorData};

/// Pixels in one word, which is the smallest integer that every device can compute with.
const PACKED: usize = 4;

/// Images `[batch, height, width, channels]` of pixels in \[0, 1\]. On a device other than the CPU, a quarter
/// of the floats' bytes is copied if every pixel is n / 255 for a whole number n, as those of most data sets
/// are, and the device divides.
pub(crate) fn upload(pixels: Vec<f32>, dimensions: [usize; 4], device: &Device) -> Tensor<4> {
    if !is_cpu(device)
        && pixels.len().is_multiple_of(PACKED)
        && let Some(words) = packed(&pixels)
    {
        return unpacked(words, device).reshape(dimensions);
    }
    Tensor::from_data(TensorData::new(pixels, dimensions), device)
}

/// Four pixels as the bytes of each word, the first as its lowest; `None` if they are not bytes.
fn packed(pixels: &[f32]) -> Option<Vec<i32>> {
    let byte = |pixel: f32| {
        // The cast saturates, and takes NaN for 0.
        let byte = (pixel * 255.0).round() as u8;
        (f32::from(byte) / 255.0 == pixel).then_some(byte)
    };
    pixels
        .chunks_exact(PACKED)
        .map(|four| {
            let mut bytes = [0; PACKED];
            for (place, pixel) in bytes.iter_mut().zip(four) {
                *place = byte(*pixel)?;
            }
            Some(i32::from_le_bytes(bytes))
        })
        .collect()
}

/// The pixels, `[words, 4]`.
fn unpacked(words: Vec<i32>, device: &Device) -> Tensor<2> {
    let count = words.len();
    let words = Tensor::<2, Int>::from_data(TensorData::new(words, [count, 1]), device);
    let bytes = (0..PACKED)
        .map(|place| words.clone().bitwise_right_shift_scalar(8 * place as i32).bitwise_and_scalar(255));
    Tensor::cat(bytes.collect(), 1).float() / 255.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The CPU can do what other devices do.
    #[test]
    fn every_byte_arrives_as_it_was() {
        let pixels: Vec<f32> = (0..=255).rev().map(|byte| byte as f32 / 255.0).collect();
        let words = packed(&pixels).unwrap();
        assert_eq!(words.len(), 64);
        // 255, 254, 253 and 252, of which the first is the lowest byte.
        assert_eq!(words[0], 0xfcfd_feff_u32.cast_signed());
        let found: Vec<f32> = unpacked(words, &Device::flex()).into_data().try_into_vec().unwrap();
        assert_eq!(found, pixels);
    }

    #[test]
    fn other_values_are_no_bytes() {
        for odd in [0.5, -1.0 / 255.0, 256.0 / 255.0, f32::NAN, f32::INFINITY, 1e-9] {
            assert_eq!(packed(&[0.0, 1.0, odd, 0.0]), None, "{odd}");
        }
    }
}
