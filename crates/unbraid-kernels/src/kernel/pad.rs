//! Copies images into scratch memory with a border of zeros.

use crate::geometry::ImageShape;

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
pub(crate) fn for_each_row(
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
