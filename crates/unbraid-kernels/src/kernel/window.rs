//! Contract and expand: cuts the target pixels into register tiles and runs the micro-kernel over them.

use crate::kernel::pack::{PackedWeights, Panel, panels};
use crate::kernel::plan::{Phase, Plan};
use crate::kernel::tile::WindowTile;
use crate::kernel::write_only::WriteOnly;
use crate::simd::{Kernel, MAXIMUM_TILE_ROWS, Simd};

/// Computes the target images of a few padded source images.
pub(crate) struct Windows<'a> {
    /// Lists the pixels of at least `images` images.
    pub(crate) plan: &'a Plan,
    /// Target pixels of one image in each phase.
    pub(crate) pixels: &'a [usize],
    pub(crate) weights: &'a PackedWeights,
    pub(crate) relu: bool,
    pub(crate) images: usize,
    /// Padded source images.
    pub(crate) source: &'a [f32],
    pub(crate) target: WriteOnly<'a>,
}

impl Kernel for Windows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        for phase in 0..self.plan.phases.len() {
            for panel in panels(self.plan.target.channels, S::LANES) {
                match panel.vectors {
                    1 => self.panel::<S, 1>(simd, phase, panel),
                    _ => self.panel::<S, 2>(simd, phase, panel),
                }
            }
        }
    }
}

impl Windows<'_> {
    /// All pixels of a phase, for the channels of one panel, in tiles of nearly equal height.
    #[inline(always)]
    fn panel<S: Simd, const VECTORS: usize>(&mut self, simd: S, number: usize, panel: Panel) {
        let phase = &self.plan.phases[number];
        let pixels = self.images * self.pixels[number];
        let tiles = pixels.div_ceil(S::TILE_ROWS);
        let mut first = 0;
        for tile in 1..=tiles {
            let end = tile * pixels / tiles;
            let tile = Tile { phase, number, panel, first };
            match end - first {
                1 => self.tile::<S, 1, VECTORS>(simd, &tile),
                2 => self.tile::<S, 2, VECTORS>(simd, &tile),
                3 => self.tile::<S, 3, VECTORS>(simd, &tile),
                4 => self.tile::<S, 4, VECTORS>(simd, &tile),
                5 => self.tile::<S, 5, VECTORS>(simd, &tile),
                6 => self.tile::<S, 6, VECTORS>(simd, &tile),
                7 => self.tile::<S, 7, VECTORS>(simd, &tile),
                8 => self.tile::<S, 8, VECTORS>(simd, &tile),
                9 => self.tile::<S, 9, VECTORS>(simd, &tile),
                10 => self.tile::<S, 10, VECTORS>(simd, &tile),
                11 => self.tile::<S, 11, VECTORS>(simd, &tile),
                MAXIMUM_TILE_ROWS => self.tile::<S, MAXIMUM_TILE_ROWS, VECTORS>(simd, &tile),
                rows => unreachable!("a tile of {rows} rows"),
            }
            first = end;
        }
    }

    #[inline(always)]
    fn tile<S: Simd, const ROWS: usize, const VECTORS: usize>(&mut self, simd: S, tile: &Tile) {
        let Tile { phase, number, panel, first } = *tile;
        let channels = self.plan.source.channels;
        // References into the lists: were the offsets copied here, the tile would have to wait for the stores.
        let (Some(source_offsets), Some(target_offsets)) =
            (phase.source_offsets[first..].first_chunk(), phase.target_offsets[first..].first_chunk())
        else {
            unreachable!("a tile ends at the last pixel");
        };
        simd.vectorize(WindowTile::<ROWS, VECTORS> {
            source: self.source,
            source_offsets,
            rows: phase.rows(),
            row_stride: self.plan.padded.row(),
            run: phase.kernel_columns.len() * channels,
            weights: self.weights.panel(number, phase.depth(channels), panel, S::LANES),
            bias: self.weights.bias(panel, S::LANES),
            target: self.target.from_index(panel.channel),
            target_offsets,
            channels: panel.channels,
            relu: self.relu,
        });
    }
}

/// Pixels from `first` on, of one phase and panel.
struct Tile<'a> {
    phase: &'a Phase,
    number: usize,
    panel: Panel,
    first: usize,
}
