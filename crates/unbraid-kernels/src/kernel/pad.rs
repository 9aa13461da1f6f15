//! Copies images into scratch memory with a border of zeros.

use crate::geometry::ImageShape;
use crate::simd::{Kernel, Simd};

/// Images with a border.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Padded<'a> {
    /// One image after another, with enough floats after the last pixel for a tile to read.
    pub(crate) values: &'a [f32],
    /// Shape with the border.
    pub(crate) image: ImageShape,
    /// Rows and columns of border before the first pixel.
    pub(crate) before: [usize; 2],
}

impl Padded<'_> {
    /// Offset of the first pixel inside the border.
    pub(crate) fn origin(&self) -> usize {
        (self.before[0] * self.image.width + self.before[1]) * self.image.channels
    }
}

/// Copies the images of `source` into `target`, each with its border.
pub(crate) fn copy_padded(
    source: &[f32],
    image: ImageShape,
    target: &mut [f32],
    padded: ImageShape,
    before: [usize; 2],
) {
    let images = source.chunks_exact(image.len()).zip(target.chunks_exact_mut(padded.len()));
    for (source, target) in images {
        for_each_row(image, target, padded, before, |row, target| {
            target.copy_from_slice(&source[row * image.row()..][..image.row()]);
        });
    }
}

/// Clears the border of one image and calls `fill` with each row inside it.
#[inline(always)]
fn for_each_row(
    image: ImageShape,
    target: &mut [f32],
    padded: ImageShape,
    before: [usize; 2],
    mut fill: impl FnMut(usize, &mut [f32]),
) {
    let left = before[1] * image.channels;
    let (top, rest) = target.split_at_mut(before[0] * padded.row());
    let (inside, bottom) = rest.split_at_mut(image.height * padded.row());
    top.fill(0.0);
    bottom.fill(0.0);
    for (row, target) in inside.chunks_exact_mut(padded.row()).enumerate() {
        target[..left].fill(0.0);
        target[left + image.row()..].fill(0.0);
        fill(row, &mut target[left..left + image.row()]);
    }
}

/// Prepares the gradient of a layer's output: sets it to zero where the ReLU was inactive, copies it with a border, and
/// sums it for the bias.
pub(crate) struct PrepareGradient<'a> {
    pub(crate) gradient: &'a [f32],
    /// The layer's output, if it has a ReLU: the gradient is kept where it is positive.
    pub(crate) output: Option<&'a [f32]>,
    pub(crate) image: ImageShape,
    pub(crate) target: &'a mut [f32],
    pub(crate) padded: ImageShape,
    pub(crate) before: [usize; 2],
    /// The bias gradient so far: one sum per channel, in double precision, because it may have a million terms.
    pub(crate) bias: &'a mut [f64],
    /// Scratch memory, one float per channel.
    pub(crate) row_sums: &'a mut [f32],
}

impl Kernel for PrepareGradient<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { gradient, output, image, target, padded, before, bias, row_sums } = self;
        let images = gradient.chunks_exact(image.len()).zip(target.chunks_exact_mut(padded.len()));
        for (number, (gradient, target)) in images.enumerate() {
            let output = output.map(|output| &output[number * image.len()..][..image.len()]);
            for_each_row(image, target, padded, before, |row, target| {
                let range = row * image.row()..(row + 1) * image.row();
                let gradient = &gradient[range.clone()];
                match output {
                    None => target.copy_from_slice(gradient),
                    Some(output) => {
                        for ((target, gradient), output) in
                            target.iter_mut().zip(gradient).zip(&output[range])
                        {
                            *target = if *output > 0.0 { *gradient } else { 0.0 };
                        }
                    }
                }
                row_sums.fill(0.0);
                for pixel in target.chunks_exact(image.channels) {
                    for (sum, value) in row_sums.iter_mut().zip(pixel) {
                        *sum += value;
                    }
                }
                for (sum, row_sum) in bias.iter_mut().zip(&*row_sums) {
                    *sum += f64::from(*row_sum);
                }
            });
        }
    }
}
