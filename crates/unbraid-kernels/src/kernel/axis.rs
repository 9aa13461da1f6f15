//! The windows of a convolution along one axis.

use crate::geometry::Layer;

/// One axis of a [phase](crate::kernel::plan::Phase).
pub(crate) struct Axis {
    /// Kernel index of each tap, in the order of the source.
    pub(crate) taps: Vec<usize>,
    /// First source coordinate of the first pixel's window; negative inside the border.
    pub(crate) start: isize,
    /// Distance between the windows of consecutive pixels.
    pub(crate) source_step: usize,
    pub(crate) target_start: usize,
    pub(crate) target_step: usize,
    pub(crate) pixels: usize,
}

impl Axis {
    /// The only phase of a contraction.
    pub(crate) fn contract(layer: &Layer, axis: usize, coarse: usize) -> Vec<Self> {
        vec![Self {
            taps: (0..layer.filter.size[axis]).collect(),
            start: -(layer.filter.padding[axis] as isize),
            source_step: layer.filter.stride[axis],
            target_start: 0,
            target_step: 1,
            pixels: coarse,
        }]
    }

    /// The phases of an expansion. Tap `k` connects the fine pixel `f` with the coarse pixel `(f + padding - k) / stride`;
    /// the taps of a phase are those for which the division has no remainder.
    pub(crate) fn expand(layer: &Layer, axis: usize, fine: usize) -> Vec<Self> {
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

    /// Source coordinate after the last window.
    fn end(&self) -> isize {
        self.start + ((self.pixels - 1) * self.source_step + self.taps.len()) as isize
    }

    /// Whether all windows lie inside a padded source of `padded` pixels, the first `before` of which are zeros, and all
    /// pixels inside a target of `target` pixels.
    pub(crate) fn lies_inside(&self, before: usize, padded: usize, target: usize) -> bool {
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

/// Zeros before the first pixel, and the padded size, such that every window of `axes` lies inside.
pub(crate) fn pad(axes: &[Axis], size: usize) -> (usize, usize) {
    let before = axes.iter().map(|axis| -axis.start).max().unwrap_or(0).max(0) as usize;
    let end = axes.iter().map(Axis::end).max().unwrap_or(0).max(size as isize) as usize;
    (before, before + end)
}
