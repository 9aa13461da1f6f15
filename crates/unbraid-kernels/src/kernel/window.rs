//! Contract and expand: divides the target pixels into register tiles and runs the micro-kernel on each.

use crate::kernel::pack::{PackedWeights, Panel, panels};
use crate::kernel::plan::{Phase, Plan, Shapes};
use crate::kernel::rows::{tiles, with_rows};
use crate::kernel::tile::{SourceWindows, TargetPixels, WindowTile};
use crate::kernel::write_only::WriteOnly;
use crate::simd::{Kernel, Simd, TILE_VECTORS};

/// Computes the target images of a few padded source images; writes every float of `target`.
pub(crate) struct Windows<'a> {
    /// Lists the pixels of at least `image_count` images.
    pub(crate) plan: &'a Plan,
    pub(crate) weights: &'a PackedWeights,
    pub(crate) relu: bool,
    pub(crate) image_count: usize,
    /// Padded source images.
    pub(crate) source: &'a [f32],
    pub(crate) target: WriteOnly<'a>,
}

impl Kernel for Windows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let Shapes { padded, target, .. } = self.plan.shapes();
        assert!(self.image_count <= self.plan.image_count(), "more images than the plan lists");
        assert!(self.source.len() >= self.image_count * padded.len(), "source images");
        assert!(self.target.len() == self.image_count * target.len(), "target images");
        for phase in 0..self.plan.phases().len() {
            for panel in panels(target.channels, S::LANES) {
                // SAFETY: the lengths are checked above, and the panel is one of the target's.
                unsafe {
                    match panel.vectors {
                        1 => self.panel::<S, 1>(simd, phase, panel),
                        TILE_VECTORS => self.panel::<S, TILE_VECTORS>(simd, phase, panel),
                        vectors => unreachable!("a panel of {vectors} vectors"),
                    }
                }
            }
        }
    }
}

impl Windows<'_> {
    /// Computes all pixels of a phase for the channels of one panel, in tiles of nearly equal height.
    ///
    /// # Safety
    /// `source` and `target` have all images, the plan lists their pixels, and `panel` is one of the target's.
    #[inline(always)]
    unsafe fn panel<S: Simd, const VECTORS: usize>(&mut self, simd: S, number: usize, panel: Panel) {
        let phase = &self.plan.phases()[number];
        for (first, height) in tiles(self.image_count * phase.pixels(), S::TILE_ROWS) {
            let tile = Tile { phase, number, panel, first };
            // SAFETY: the caller promises the same, and the last tile ends at the last pixel of the last image.
            with_rows!(height, ROWS => unsafe { self.tile::<S, ROWS, VECTORS>(simd, &tile) });
        }
    }

    /// Computes `ROWS` pixels of a phase for the channels of one panel.
    ///
    /// # Safety
    /// As for [`Windows::panel`], and the pixels belong to the images.
    #[inline(always)]
    unsafe fn tile<S: Simd, const ROWS: usize, const VECTORS: usize>(&mut self, simd: S, tile: &Tile) {
        let Tile { phase, number, panel, first } = *tile;
        let Shapes { source, padded, .. } = self.plan.shapes();
        // References into the lists, because a copy made here would have to be stored before the tile can load it.
        let (Some(source_offsets), Some(target_offsets)) =
            (phase.source_offsets()[first..].first_chunk(), phase.target_offsets()[first..].first_chunk())
        else {
            unreachable!("a tile ends at the last pixel");
        };
        let source_windows = SourceWindows {
            images: self.source,
            offsets: source_offsets,
            rows: phase.rows(),
            row_stride: padded.row(),
            run: phase.columns() * source.channels,
        };
        let weights = self.weights.panel(number, phase.depth(source.channels), panel, S::LANES);
        let bias = self.weights.bias(panel, S::LANES);
        let target_pixels = TargetPixels {
            images: self.target.skip(panel.channel),
            offsets: target_offsets,
            channels: panel.channels,
        };
        // SAFETY: the windows and pixels of a plan lie inside its images, all of which `source` and `target` have. The
        // channels of a panel are some of the target's, and `target_pixels` starts at the first of them.
        let tile = unsafe {
            WindowTile::<ROWS, VECTORS>::new(source_windows, weights, bias, target_pixels, self.relu)
        };
        simd.vectorize(tile);
    }
}

/// Pixels of one phase from `first` on, and channels of one panel.
struct Tile<'a> {
    phase: &'a Phase,
    number: usize,
    panel: Panel,
    first: usize,
}
