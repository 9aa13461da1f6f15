//! Where every product of a convolution finds its operands; knows shapes, touches no image data.
//!
//! Both directions become the same loop: each target pixel is a sum over the rows of a window of the padded source image,
//! and in each row over a contiguous run of `columns * channels` floats. [`Plan::contract`] has one such window shape.
//! [`Plan::expand`] has one per *phase*, the target coordinates modulo the stride: within a phase the taps that reach a
//! pixel are always the same ones, so that a phase is an ordinary convolution of stride one with a smaller kernel.

use crate::geometry::{Image, Layer};

/// How to compute all target images from all source images.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The source image as stored by the caller.
    pub(crate) source: Image,
    /// The source image with its zero border.
    pub(crate) padded: Image,
    /// Rows and columns of zeros before the first pixel.
    pub(crate) before: [usize; 2],
    pub(crate) target: Image,
    pub(crate) phases: Vec<Phase>,
    /// Distance in the weights between neighbouring target channels.
    pub(crate) target_stride: usize,
    /// Distance in the weights between neighbouring source channels.
    pub(crate) source_stride: usize,
    /// Width of the kernel, to find a tap in the weights.
    pub(crate) kernel_width: usize,
}

/// The target pixels that share one window shape.
#[derive(Debug)]
pub(crate) struct Phase {
    /// Kernel row of each row of the window, top first.
    pub(crate) kernel_rows: Vec<usize>,
    /// Kernel column of each column of the window, left first.
    pub(crate) kernel_columns: Vec<usize>,
    /// Start of each pixel's window in the padded source image; half the width of a pointer, since tiles stream them.
    pub(crate) source_offsets: Vec<u32>,
    /// Each pixel's place in the target image.
    pub(crate) target_offsets: Vec<u32>,
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
}

/// A place among the images that a thread works on at once.
fn offset(place: usize) -> u32 {
    u32::try_from(place).expect("one image has less than four thousand million values")
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
        let Image { height, width, channels } = self.padded;
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

    /// Lists the pixels of `images` images that lie one after another, in place of one.
    pub(crate) fn repeat(&mut self, images: usize) {
        let (source, target) = (self.padded.len(), self.target.len());
        for phase in &mut self.phases {
            let pixels = phase.source_offsets.len();
            for image in 1..images {
                for pixel in 0..pixels {
                    phase.source_offsets.push(offset(phase.source_offsets[pixel] as usize + image * source));
                    phase.target_offsets.push(offset(phase.target_offsets[pixel] as usize + image * target));
                }
            }
        }
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
        let phases = vertical
            .iter()
            .flat_map(|v| horizontal.iter().map(move |h| (v, h)))
            .map(|(v, h)| Phase::new(v, h, [top, left], padded, target))
            .collect();
        Self {
            source,
            padded,
            before: [top, left],
            target,
            phases,
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
