//! Black and white images, eight pixels per byte: dSprites takes 377 MB instead of 3 GB.

use std::fmt;

/// Images of zeros and ones. The first pixel is the lowest bit of the first byte; each image starts at a new byte.
///
/// The images are stored in blocks of a few megabytes, as growing one large array would need twice its memory while it
/// is copied.
#[derive(Clone, PartialEq, Eq)]
pub struct BitImages {
    values_per_image: usize,
    /// Whole images; every block but the last holds [`BitImages::images_per_block`].
    blocks: Vec<Vec<u8>>,
}

const BYTES_PER_BLOCK: usize = 4 << 20;

/// Shows how many images there are, not their pixels.
impl fmt::Debug for BitImages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BitImages").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// The pixels of each byte.
static UNPACKED: [[f32; 8]; 256] = {
    let mut table = [[0.0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte][bit] = 1.0;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

impl BitImages {
    /// No images yet.
    ///
    /// # Panics
    /// If `values_per_image` is 0.
    pub fn new(values_per_image: usize) -> Self {
        assert!(values_per_image > 0, "an image has at least one pixel");
        Self { values_per_image, blocks: Vec::new() }
    }

    fn images_per_block(&self) -> usize {
        (BYTES_PER_BLOCK / self.bytes_per_image()).max(1)
    }

    fn bytes_per_image(&self) -> usize {
        self.values_per_image.div_ceil(8)
    }

    /// The number of images.
    pub fn len(&self) -> usize {
        let Some((last, full)) = self.blocks.split_last() else { return 0 };
        full.len() * self.images_per_block() + last.len() / self.bytes_per_image()
    }

    /// Whether there are no images.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Appends whole images with one byte per pixel.
    ///
    /// # Errors
    /// The first byte that is neither 0 nor 1. The images before it have then been appended.
    ///
    /// # Panics
    /// If `pixels` is not a whole number of images.
    pub fn push(&mut self, pixels: &[u8]) -> Result<(), u8> {
        assert_eq!(pixels.len() % self.values_per_image, 0, "whole images");
        let block_bytes = self.images_per_block() * self.bytes_per_image();
        let mut packed = Vec::with_capacity(self.bytes_per_image());
        for image in pixels.chunks_exact(self.values_per_image) {
            packed.clear();
            pack(image, &mut packed)?;
            match self.blocks.last_mut() {
                Some(block) if block.len() < block_bytes => block.extend_from_slice(&packed),
                _ => {
                    let mut block = Vec::with_capacity(block_bytes);
                    block.extend_from_slice(&packed);
                    self.blocks.push(block);
                }
            }
        }
        Ok(())
    }

    /// The packed bytes of image `index`.
    fn packed(&self, index: usize) -> &[u8] {
        let (block, place) = (index / self.images_per_block(), index % self.images_per_block());
        &self.blocks[block][place * self.bytes_per_image()..][..self.bytes_per_image()]
    }

    /// Writes image `index` as zeros and ones.
    ///
    /// # Panics
    /// If `index` is out of range or `pixels` is not one image long.
    pub fn write(&self, index: usize, pixels: &mut [f32]) {
        unpack(self.packed(index), self.values_per_image, pixels);
    }

    /// Bytes of main memory in use.
    pub fn memory(&self) -> usize {
        self.blocks.iter().map(Vec::capacity).sum()
    }

    /// Releases the unused memory of the last block.
    pub fn shrink_to_fit(&mut self) {
        if let Some(last) = self.blocks.last_mut() {
            last.shrink_to_fit();
        }
    }
}

/// Packs one image; fails with the first byte that is neither 0 nor 1.
fn pack(image: &[u8], packed: &mut Vec<u8>) -> Result<(), u8> {
    let (eights, rest) = image.as_chunks::<8>();
    for eight in eights {
        let word = u64::from_le_bytes(*eight);
        if word & !0x0101_0101_0101_0101 != 0 {
            return Err(*eight.iter().find(|&&byte| byte > 1).unwrap_or(&0));
        }
        // Moves bit 8 i to bit 56 + i: each of the eight ones of the factor shifts one byte into the top byte.
        packed.push((word.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8);
    }
    if let Some(&byte) = rest.iter().find(|&&byte| byte > 1) {
        return Err(byte);
    }
    if !rest.is_empty() {
        packed.push(rest.iter().enumerate().fold(0, |bits, (i, &pixel)| bits | pixel << i));
    }
    Ok(())
}

/// Unpacks one image.
fn unpack(packed: &[u8], values: usize, pixels: &mut [f32]) {
    assert_eq!(pixels.len(), values, "`pixels` holds one image");
    let (eights, rest) = pixels.as_chunks_mut::<8>();
    for (eight, &byte) in eights.iter_mut().zip(packed) {
        *eight = UNPACKED[usize::from(byte)];
    }
    if let Some(&last) = packed.last() {
        rest.copy_from_slice(&UNPACKED[usize::from(last)][..rest.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_pixel_is_the_lowest_bit() {
        let mut images = BitImages::new(8);
        images.push(&[1, 0, 0, 0, 0, 0, 1, 1]).unwrap();
        assert_eq!(images.packed(0), [0b1100_0001]);
    }

    #[test]
    fn the_first_grey_pixel_is_the_error() {
        assert_eq!(BitImages::new(9).push(&[0, 1, 255, 0, 0, 0, 0, 0, 0]), Err(255));
        assert_eq!(BitImages::new(9).push(&[0, 1, 0, 0, 0, 0, 0, 0, 2]), Err(2));
    }

    /// Images of 3 MB each: one per block.
    #[test]
    fn blocks_fill_in_order() {
        let values = 24_000_000;
        let mut images = BitImages::new(values);
        let mut image = vec![0; values];
        for index in 0..3 {
            image[index] = 1;
            images.push(&image).unwrap();
            image[index] = 0;
        }
        images.shrink_to_fit();
        assert_eq!((images.len(), images.blocks.len()), (3, 3));
        for index in 0..3 {
            assert_eq!(images.packed(index)[0], 1 << index);
        }
    }

    proptest! {
        #[test]
        fn images_of_any_size_round_trip(values in 1_usize..40, len in 1_usize..5, seed: u64) {
            let pixels: Vec<u8> = (0..values * len).map(|i| (seed.rotate_left(i as u32 * 7) & 1) as u8).collect();
            let mut packed = BitImages::new(values);
            packed.push(&pixels).unwrap();
            prop_assert_eq!(packed.len(), len);
            let mut image = vec![0.5; values];
            for index in 0..len {
                packed.write(index, &mut image);
                let expected: Vec<f32> = pixels[index * values..][..values].iter().map(|&p| f32::from(p)).collect();
                prop_assert_eq!(&image, &expected);
            }
        }
    }
}
