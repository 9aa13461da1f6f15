//! The offsets of the operands of a convolution, computed from the shapes alone.
//!
//! Both directions are the same loop: a target pixel is a sum over the rows of a window of the padded source image, and in
//! each row over a contiguous run of `columns * channels` floats. [`Plan::contract`] has one window shape.
//! [`Plan::expand`] has one for each *phase*, which is the set of target pixels with the same coordinates modulo the
//! stride: the same taps reach all of them, so a phase is an ordinary convolution of stride one with a smaller kernel.

use crate::geometry::{ImageShape, Layer};
use crate::kernel::axis::{Axis, pad};

/// How to compute all target images from all source images.
///
/// Unsafe code relies on these properties, so the fields that they concern are private:
///
/// * `image_count` padded source images or target images have at most `u32::MAX` floats.
/// * The window of each pixel of image `i` lies inside the floats of padded source image `i`.
/// * The pixels of all phases together are the pixels of the target images, each exactly once.
#[derive(Debug)]
pub(crate) struct Plan {
    shapes: Shapes,
    phases: Vec<Phase>,
    /// Images whose pixels are listed; they are contiguous in memory.
    image_count: usize,
    /// Distance in the weights between consecutive target channels.
    pub(crate) target_stride: usize,
    /// Distance in the weights between consecutive source channels.
    pub(crate) source_stride: usize,
    /// Width of the kernel in the weights.
    pub(crate) kernel_width: usize,
}

/// The shapes of the images that a [`Plan`] reads and writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shapes {
    /// The source image as stored by the caller.
    pub(crate) source: ImageShape,
    /// The source image with its zero border.
    pub(crate) padded: ImageShape,
    /// Rows and columns of zeros before the first pixel.
    pub(crate) before: [usize; 2],
    pub(crate) target: ImageShape,
}

/// The target pixels that share one window shape.
#[derive(Debug)]
pub(crate) struct Phase {
    /// Kernel row of each row of the window, top first.
    kernel_rows: Vec<usize>,
    /// Kernel column of each column of the window, left first.
    kernel_columns: Vec<usize>,
    /// Start of each pixel's window in the padded source images; 32 bits wide, because tiles read many of them.
    source_offsets: Vec<u32>,
    /// Offset of each pixel in the target images.
    target_offsets: Vec<u32>,
    /// Pixels of one image.
    pixels: usize,
}

/// An index into the images that a thread works on at once.
fn offset(index: usize) -> u32 {
    u32::try_from(index).unwrap_or_else(|_| too_large())
}

fn too_large() -> ! {
    panic!("one image has more than {} values", u32::MAX)
}

/// Checks that all offsets into `image_count` images fit into 32 bits.
fn check_size(image: ImageShape, image_count: usize) {
    let factors = [image.width, image.channels, image_count];
    let length = factors.into_iter().try_fold(image.height, usize::checked_mul);
    offset(length.unwrap_or_else(|| too_large()));
}

impl Plan {
    /// Coarse images from fine images.
    pub(crate) fn contract(layer: &Layer) -> Self {
        let taps = layer.filter.size[0] * layer.filter.size[1];
        Self::new(
            layer.fine,
            layer.coarse,
            [Axis::contract(layer, 0, layer.coarse.height), Axis::contract(layer, 1, layer.coarse.width)],
            [layer.fine.channels * taps, taps],
            layer.filter.size[1],
        )
    }

    /// Fine images from coarse images.
    pub(crate) fn expand(layer: &Layer) -> Self {
        let taps = layer.filter.size[0] * layer.filter.size[1];
        Self::new(
            layer.coarse,
            layer.fine,
            [Axis::expand(layer, 0, layer.fine.height), Axis::expand(layer, 1, layer.fine.width)],
            [taps, layer.fine.channels * taps],
            layer.filter.size[1],
        )
    }

    /// The contribution of each pixel of this plan's padded source to the target through each tap: the first half of an
    /// expansion to few channels. For each pixel, the contributions are `[fine channels, kernel height, kernel width]`.
    pub(crate) fn contributions(&self, layer: &Layer) -> Self {
        let ImageShape { height, width, channels } = self.shapes.padded;
        let contributions = layer.weights() / layer.coarse.channels;
        let every = |pixels| {
            vec![Axis { taps: vec![0], start: 0, source_step: 1, target_start: 0, target_step: 1, pixels }]
        };
        Self::new(
            ImageShape { height, width, channels },
            ImageShape { height, width, channels: contributions },
            [every(height), every(width)],
            [1, contributions],
            1,
        )
    }

    /// Lists the pixels of at least `image_count` images.
    pub(crate) fn repeat(&mut self, image_count: usize) {
        check_size(self.shapes.padded, image_count);
        check_size(self.shapes.target, image_count);
        let (source, target) = (self.shapes.padded.len(), self.shapes.target.len());
        for phase in &mut self.phases {
            for image in self.image_count..image_count {
                for pixel in 0..phase.pixels {
                    phase.source_offsets.push(offset(phase.source_offsets[pixel] as usize + image * source));
                    phase.target_offsets.push(offset(phase.target_offsets[pixel] as usize + image * target));
                }
            }
        }
        self.image_count = self.image_count.max(image_count);
    }

    pub(crate) fn shapes(&self) -> Shapes {
        self.shapes
    }

    pub(crate) fn phases(&self) -> &[Phase] {
        &self.phases
    }

    /// Images whose pixels are listed.
    pub(crate) fn image_count(&self) -> usize {
        self.image_count
    }

    fn new(
        source: ImageShape,
        target: ImageShape,
        [vertical, horizontal]: [Vec<Axis>; 2],
        [target_stride, source_stride]: [usize; 2],
        kernel_width: usize,
    ) -> Self {
        let (top, height) = pad(&vertical, source.height);
        let (left, width) = pad(&horizontal, source.width);
        let padded = ImageShape { height, width, channels: source.channels };
        check_size(padded, 1);
        check_size(target, 1);
        // The phases of an axis start less than a step apart from each other and have the same step, so no two pixels
        // coincide. Since there are as many as the target has, none is left out.
        for (axes, before, padded, target) in
            [(&vertical, top, height, target.height), (&horizontal, left, width, target.width)]
        {
            assert!(
                axes.iter().all(|axis| axis.lies_inside(before, padded, target)),
                "windows outside the image"
            );
            assert_eq!(axes.iter().map(|axis| axis.pixels).sum::<usize>(), target, "pixels of all phases");
        }
        let phases = vertical
            .iter()
            .flat_map(|v| horizontal.iter().map(move |h| (v, h)))
            .map(|(v, h)| Phase::new(v, h, [top, left], padded, target))
            .collect();
        Self {
            shapes: Shapes { source, padded, before: [top, left], target },
            phases,
            image_count: 1,
            target_stride,
            source_stride,
            kernel_width,
        }
    }
}

impl Phase {
    fn new(
        vertical: &Axis,
        horizontal: &Axis,
        before: [usize; 2],
        padded: ImageShape,
        target: ImageShape,
    ) -> Self {
        let coordinates = |axis: &Axis, before: usize, pixel: usize| {
            (
                (axis.start + before as isize) as usize + pixel * axis.source_step,
                axis.target_start + pixel * axis.target_step,
            )
        };
        let mut phase = Self {
            kernel_rows: vertical.taps.clone(),
            kernel_columns: horizontal.taps.clone(),
            source_offsets: Vec::with_capacity(vertical.pixels * horizontal.pixels),
            target_offsets: Vec::with_capacity(vertical.pixels * horizontal.pixels),
            pixels: vertical.pixels * horizontal.pixels,
        };
        for row in 0..vertical.pixels {
            let (source_y, target_y) = coordinates(vertical, before[0], row);
            for column in 0..horizontal.pixels {
                let (source_x, target_x) = coordinates(horizontal, before[1], column);
                phase.source_offsets.push(offset((source_y * padded.width + source_x) * padded.channels));
                phase.target_offsets.push(offset((target_y * target.width + target_x) * target.channels));
            }
        }
        phase
    }

    /// Rows of the window.
    pub(crate) fn rows(&self) -> usize {
        self.kernel_rows.len()
    }

    /// Columns of the window.
    pub(crate) fn columns(&self) -> usize {
        self.kernel_columns.len()
    }

    /// Target pixels of one image.
    pub(crate) fn pixels(&self) -> usize {
        self.pixels
    }

    /// Start of each pixel's window in the padded source images.
    pub(crate) fn source_offsets(&self) -> &[u32] {
        &self.source_offsets
    }

    /// Offset of each pixel in the target images.
    pub(crate) fn target_offsets(&self) -> &[u32] {
        &self.target_offsets
    }

    /// Indices of the window's taps in a kernel of the given width, in the order of the window.
    pub(crate) fn taps(&self, kernel_width: usize) -> impl Iterator<Item = usize> {
        let columns = &self.kernel_columns;
        self.kernel_rows
            .iter()
            .flat_map(move |row| columns.iter().map(move |column| row * kernel_width + column))
    }

    /// Number of products in one target value.
    pub(crate) fn depth(&self, channels: usize) -> usize {
        self.kernel_rows.len() * self.kernel_columns.len() * channels
    }
}
