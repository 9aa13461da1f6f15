//! Packs the weights in the order in which the micro-kernel reads them.

use crate::kernel::plan::Plan;
use crate::kernel::scratch::{AlignedBuffer, aligned};
use crate::simd::TILE_VECTORS;

/// Consecutive channels that share a register tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Panel {
    /// The first channel.
    pub(crate) channel: usize,
    /// Number of channels; the rest of the vectors is padding.
    pub(crate) channels: usize,
    pub(crate) vectors: usize,
}

/// Divides `channels` into panels of `TILE_VECTORS` vectors; the last may be narrower.
pub(crate) fn panels(channels: usize, lanes: usize) -> impl Iterator<Item = Panel> {
    let width = TILE_VECTORS * lanes;
    (0..channels).step_by(width).map(move |channel| {
        let channels = width.min(channels - channel);
        Panel { channel, channels, vectors: channels.div_ceil(lanes) }
    })
}

/// Floats in all panels of one row.
pub(crate) fn padded_channels(channels: usize, lanes: usize) -> usize {
    channels.next_multiple_of(lanes)
}

/// Weights and bias of a [`Plan`], panel by panel.
pub(crate) struct PackedWeights {
    values: AlignedBuffer,
    /// Offset of the panels of each phase.
    phases: Vec<usize>,
    /// Offset of the bias.
    bias: usize,
}

impl PackedWeights {
    /// Reorders `weights`, `[coarse, fine, kernel height, kernel width]`, for `plan`.
    pub(crate) fn new(plan: &Plan, lanes: usize, weights: &[f32], bias: Option<&[f32]>) -> Self {
        let (source_channels, target_channels) =
            (plan.shapes().source.channels, plan.shapes().target.channels);
        let width = padded_channels(target_channels, lanes);
        let mut length = 0;
        let phases = plan
            .phases()
            .iter()
            .map(|phase| {
                let start = length;
                length += aligned(phase.depth(source_channels) * width);
                start
            })
            .collect();
        let mut packed = Self { values: AlignedBuffer::zeros(length + width), phases, bias: length };
        let values = packed.values.as_mut_slice();
        if let Some(bias) = bias {
            values[length..length + bias.len()].copy_from_slice(bias);
        }
        for (phase, start) in plan.phases().iter().zip(&packed.phases) {
            let depth = phase.depth(source_channels);
            for panel in panels(target_channels, lanes) {
                let width = panel.vectors * lanes;
                let rows = &mut values[start + panel.channel * depth..][..depth * width];
                // Source channels outermost, because the weights of one of them are close together in memory.
                for source in 0..source_channels {
                    let from = &weights[panel.channel * plan.target_stride + source * plan.source_stride..];
                    for (number, tap) in phase.taps(plan.kernel_width).enumerate() {
                        let row = &mut rows[(number * source_channels + source) * width..][..panel.channels];
                        for (value, weight) in
                            row.iter_mut().zip(from[tap..].iter().step_by(plan.target_stride))
                        {
                            *value = *weight;
                        }
                    }
                }
            }
        }
        packed
    }

    /// The weights of a panel: `[depth, vectors * lanes]`.
    pub(crate) fn panel(&self, phase: usize, depth: usize, panel: Panel, lanes: usize) -> &[f32] {
        // All panels before this one are full, so their widths add up to its first channel.
        &self.values.as_slice()[self.phases[phase] + panel.channel * depth..][..depth * panel.vectors * lanes]
    }

    /// The bias of a panel, or zeros if there is none.
    pub(crate) fn bias(&self, panel: Panel, lanes: usize) -> &[f32] {
        &self.values.as_slice()[self.bias + panel.channel..][..panel.vectors * lanes]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_cover_the_channels_and_the_last_is_narrow() {
        let cut: Vec<_> = panels(50, 16).collect();
        assert_eq!(cut[0], Panel { channel: 0, channels: 32, vectors: 2 });
        assert_eq!(cut[1], Panel { channel: 32, channels: 18, vectors: 2 });
        assert_eq!(panels(33, 16).last(), Some(Panel { channel: 32, channels: 1, vectors: 1 }));
        assert_eq!(padded_channels(33, 16), 48);
    }
}
