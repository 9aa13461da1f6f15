//! Where every product of a convolution finds its operands; knows shapes, touches no image data.
//!
//! Both directions become the same loop: each target pixel is a sum over the rows of a window of the padded source image,
//! and in each row over a contiguous run of `columns * channels` floats. [`Plan::contract`] has one such window shape.
//! [`Plan::expand`] has one per *phase*, the target coordinates modulo the stride: within a phase the taps that reach a
//! pixel are always the same ones, so that a phase is an ordinary convolution of stride one with a smaller kernel.

use crate::geometry::{Image, Layer};

/// How to compute all target images from all source images.
///
/// Unsafe code relies on what follows, so the fields that it concerns are private:
///
/// * `image_count` padded source images or target images have at most `u32::MAX` floats.
/// * The window of each pixel of image `i` lies inside the floats of padded source image `i`.
/// * The pixels of all phases together are the pixels of the target images, each exactly once.
#[derive(Debug)]
pub(crate) struct Plan {
    shapes: Shapes,
    phases: Vec<Phase>,
    /// Images whose pixels are listed, one after another in memory.
    image_count: usize,
    /// Distance in the weights between neighbouring target channels.
    pub(crate) target_stride: usize,
    /// Distance in the weights between neighbouring source channels.
    pub(crate) source_stride: usize,
    /// Width of the kernel, to find a tap in the weights.
    pub(crate) kernel_width: usize,
}

/// The images that a [`Plan`] reads and writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shapes {
    /// The source image as stored by the caller.
    pub(crate) source: Image,
    /// The source image with its zero border.
    pub(crate) padded: Image,
    /// Rows and columns of zeros before the first pixel.
    pub(crate) before: [usize; 2],
    pub(crate) target: Image,
}

/// The target pixels that share one window shape.
#[derive(Debug)]
pub(crate) struct Phase {
    /// Kernel row of each row of the window, top first.
    kernel_rows: Vec<usize>,
    /// Kernel column of each column of the window, left first.
    kernel_columns: Vec<usize>,
    /// Start of each pixel's window in the padded source images; half the width of a pointer, since tiles stream them.
    source_offsets: Vec<u32>,
    /// Offset of each pixel in the target images.
    target_offsets: Vec<u32>,
    /// Pixels of one image.
    pixels: usize,
}

/// One axis of a phase.
struct Axis {
    /// Kernel index of each tap, in the order of the source.
    taps: Vec<usize>,
    /// First source coordinate of the first pixel's window, before padding.
    start: isize,
    /// Source step from one pixel to the next.
    source_step: usize,
    target_start: usize,
    target_step: usize,
    pixels: usize,
}

impl Axis {
    fn contract(layer: &Layer, axis: usize, coarse: usize) -> Vec<Self> {
        vec![Self {
            taps: (0..layer.filter.size[axis]).collect(),
            start: -(layer.filter.padding[axis] as isize),
            source_step: layer.filter.stride[axis],
            target_start: 0,
            target_step: 1,
            pixels: coarse,
        }]
    }

    /// A fine pixel `f` meets coarse pixel `(f + padding - k) / stride` through tap `k`; the taps of the phase are those
    /// for which that division has no remainder.
    fn expand(layer: &Layer, axis: usize, fine: usize) -> Vec<Self> {
        let [kernel, stride, padding] =
            [layer.filter.size[axis], layer.filter.stride[axis], layer.filter.padding[axis]];
        (0..stride.min(fine))
            .map(|phase| {
                let (quotient, remainder) = ((phase + padding) / stride, (phase + padding) % stride);
                let taps: Vec<_> = (remainder..kernel).step_by(stride).collect::<Vec<_>>();
                Self {
                    start: quotient as isize - taps.len().saturating_sub(1) as isize,
                    taps: taps.into_iter().rev().collect(),
                    source_step: 1,
                    target_start: phase,
                    target_step: stride,
                    pixels: (fine - phase).div_ceil(stride),
                }
            })
            .collect()
    }

    /// Coordinate after the last that the windows touch, before padding.
    fn end(&self) -> isize {
        self.start + ((self.pixels - 1) * self.source_step + self.taps.len()) as isize
    }

    /// Whether all windows lie inside `padded` pixels that begin with `before` zeros, and all pixels inside `target`.
    fn lies_inside(&self, before: usize, padded: usize, target: usize) -> bool {
        let reach = || {
            let last = self.pixels.checked_sub(1)?;
            let first_source = usize::try_from(self.start.checked_add_unsigned(before)?).ok()?;
            let last_source = first_source.checked_add(last.checked_mul(self.source_step)?)?;
            let last_target = self.target_start.checked_add(last.checked_mul(self.target_step)?)?;
            Some((last_source.checked_add(self.taps.len())?, last_target))
        };
        reach().is_some_and(|(source_end, last_target)| source_end <= padded && last_target < target)
    }
}

/// An index into the images that a thread works on at once.
fn offset(index: usize) -> u32 {
    u32::try_from(index).unwrap_or_else(|_| too_large())
}

fn too_large() -> ! {
    panic!("one image has more than {} values", u32::MAX)
}

/// Checks that all offsets into `image_count` images fit into 32 bits.
fn check_size(image: Image, image_count: usize) {
    let factors = [image.width, image.channels, image_count];
    let length = factors.into_iter().try_fold(image.height, usize::checked_mul);
    offset(length.unwrap_or_else(|| too_large()));
}

/// Zeros before the first pixel, and the padded extent, such that every window of `axes` lies inside.
fn pad(axes: &[Axis], size: usize) -> (usize, usize) {
    let before = axes.iter().map(|axis| -axis.start).max().unwrap_or(0).max(0) as usize;
    let end = axes.iter().map(Axis::end).max().unwrap_or(0).max(size as isize) as usize;
    (before, before + end)
}

impl Plan {
    /// Coarse images from fine ones.
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

    /// Fine images from coarse ones.
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

    /// For each pixel of this plan's padded source, what it adds to the target through each tap: the first half of an
    /// expansion to few channels. The targets are `[fine channels, kernel height, kernel width]` for each pixel.
    pub(crate) fn contributions(&self, layer: &Layer) -> Self {
        let Image { height, width, channels } = self.shapes.padded;
        let contributions = layer.weights() / layer.coarse.channels;
        let every = |pixels| {
            vec![Axis { taps: vec![0], start: 0, source_step: 1, target_start: 0, target_step: 1, pixels }]
        };
        Self::new(
            Image { height, width, channels },
            Image { height, width, channels: contributions },
            [every(height), every(width)],
            [1, contributions],
            1,
        )
    }

    /// Lists the pixels of at least `image_count` images that lie one after another.
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
        source: Image,
        target: Image,
        [vertical, horizontal]: [Vec<Axis>; 2],
        [target_stride, source_stride]: [usize; 2],
        kernel_width: usize,
    ) -> Self {
        let (top, height) = pad(&vertical, source.height);
        let (left, width) = pad(&horizontal, source.width);
        let padded = Image { height, width, channels: source.channels };
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
    fn new(vertical: &Axis, horizontal: &Axis, before: [usize; 2], padded: Image, target: Image) -> Self {
        let place = |axis: &Axis, before: usize, pixel: usize| {
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
            let (source_y, target_y) = place(vertical, before[0], row);
            for column in 0..horizontal.pixels {
                let (source_x, target_x) = place(horizontal, before[1], column);
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

    /// Places of the window's taps in a kernel of the given width, in the order of the window.
    pub(crate) fn taps(&self, kernel_width: usize) -> impl Iterator<Item = usize> {
        let columns = &self.kernel_columns;
        self.kernel_rows
            .iter()
            .flat_map(move |row| columns.iter().map(move |column| row * kernel_width + column))
    }

    /// Products that make up one target value.
    pub(crate) fn depth(&self, channels: usize) -> usize {
        self.kernel_rows.len() * self.kernel_columns.len() * channels
    }
}
