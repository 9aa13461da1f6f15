//! The shapes of a convolution's input and output; depends on nothing else in the crate.
//!
//! A convolution and a transposed convolution are the same relation, applied in opposite directions. It connects a *fine*
//! image (the input of a convolution, the output of a transposed convolution) with a *coarse* image through
//! `fine_y = coarse_y * stride - padding + kernel_y`, and likewise for x. The weights of both are `[coarse channels, fine
//! channels, kernel height, kernel width]`, as in PyTorch. Three computations therefore serve both layers:
//!
//! | | convolution | transposed convolution |
//! |---|---|---|
//! | *contract*, coarse from fine | forward | input gradient |
//! | *expand*, fine from coarse | input gradient | forward |
//! | weight gradient from both | weight gradient | weight gradient |

/// Shape of one image, stored as `[height, width, channels]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ImageShape {
    pub(crate) height: usize,
    pub(crate) width: usize,
    pub(crate) channels: usize,
}

impl ImageShape {
    /// Floats in a row of pixels.
    pub(crate) const fn row(self) -> usize {
        self.width * self.channels
    }

    /// Floats in the image.
    pub(crate) const fn len(self) -> usize {
        self.height * self.row()
    }
}

/// Size, stride and padding of the kernel, each as `[vertical, horizontal]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Filter {
    pub(crate) size: [usize; 2],
    pub(crate) stride: [usize; 2],
    pub(crate) padding: [usize; 2],
}

/// The shapes of a convolution or a transposed convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layer {
    pub(crate) batch_size: usize,
    pub(crate) fine: ImageShape,
    pub(crate) coarse: ImageShape,
    pub(crate) filter: Filter,
}

impl Layer {
    /// Number of weights.
    pub(crate) const fn weights(&self) -> usize {
        self.coarse.channels * self.fine.channels * self.filter.size[0] * self.filter.size[1]
    }

    /// Floats in a batch of images of the given shape.
    ///
    /// # Panics
    /// If their number overflows.
    pub(crate) fn batch_len(&self, image: ImageShape) -> usize {
        self.batch_size.checked_mul(image.len()).expect("a batch that fits into memory")
    }
}

/// Pixels of a convolution's output along one axis, or `None` if the kernel is larger than the padded image or if the
/// size of the padded image overflows.
pub(crate) fn contracted(size: usize, kernel: usize, stride: usize, padding: usize) -> Option<usize> {
    let padded = size.checked_add(padding.checked_mul(2)?)?;
    Some(padded.checked_sub(kernel)? / stride + 1)
}

/// Pixels of a transposed convolution's output along one axis, or `None` if the padding leaves none or if a size
/// overflows.
pub(crate) fn expanded(
    size: usize,
    kernel: usize,
    stride: usize,
    padding: usize,
    output_padding: usize,
) -> Option<usize> {
    let last = size.checked_sub(1)?.checked_mul(stride)?;
    let padded = last.checked_add(kernel)?.checked_add(output_padding)?;
    padded.checked_sub(padding.checked_mul(2)?).filter(|pixels| *pixels > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_the_textbook_formula() {
        assert_eq!(contracted(64, 4, 2, 1), Some(32));
        assert_eq!(contracted(7, 3, 2, 0), Some(3));
        assert_eq!(contracted(2, 5, 1, 1), None);
        assert_eq!(expanded(4, 4, 2, 1, 0), Some(8));
        assert_eq!(expanded(3, 3, 2, 1, 1), Some(6));
        assert_eq!(expanded(1, 1, 1, 1, 0), None);
    }

    #[test]
    fn sizes_that_overflow_are_refused() {
        assert_eq!(contracted(8, 3, 1, usize::MAX / 2), None);
        assert_eq!(contracted(8, 3, 1, usize::MAX), None);
        assert_eq!(expanded(3, 3, usize::MAX, 1, 0), None);
        assert_eq!(expanded(0, 3, 2, 0, 0), None);
    }
}
