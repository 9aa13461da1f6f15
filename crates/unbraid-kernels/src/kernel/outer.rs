//! The weight gradient: divides the weights into register tiles and runs the micro-kernel on each.

use crate::geometry::Layer;
use crate::kernel::pack::{Panel, padded_channels, panels};
use crate::kernel::pad::Padded;
use crate::kernel::rows::{tiles, with_rows};
use crate::kernel::tile::{OuterTile, Pixels, Strides, Sums};
use crate::simd::{Kernel, Simd, TILE_VECTORS};

/// The weight gradient of a few images, summed over them; writes all of `sums`, or adds to all of them.
pub(crate) struct Products<'a> {
    pub(crate) layer: &'a Layer,
    pub(crate) image_count: usize,
    /// Fine images with the border that a contraction needs.
    pub(crate) fine: Padded<'a>,
    pub(crate) coarse: Padded<'a>,
    /// `[kernel rows, kernel columns, fine channels, padded coarse channels]`
    pub(crate) sums: Sums<'a>,
    /// For each index into the first three axes of `sums` together, the offset of its value for the first pixel.
    pub(crate) fine_offsets: &'a [usize],
}

/// Floats in the sums of a weight gradient.
pub(crate) fn sums_length(layer: &Layer, lanes: usize) -> usize {
    layer.weights() / layer.coarse.channels * padded_channels(layer.coarse.channels, lanes)
}

/// Offset of the value for each kernel row, kernel column and fine channel in a padded fine image with `row` floats in a
/// row.
pub(crate) fn fine_offsets(layer: &Layer, row: usize) -> Vec<usize> {
    let run = layer.filter.size[1] * layer.fine.channels;
    (0..layer.filter.size[0]).flat_map(|ky| (0..run).map(move |k| ky * row + k)).collect()
}

impl Kernel for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let channels = self.layer.coarse.channels;
        assert_eq!(self.sums.len(), self.fine_offsets.len() * padded_channels(channels, S::LANES), "sums");
        for panel in panels(channels, S::LANES) {
            match panel.vectors {
                1 => self.panel::<S, 1>(simd, panel),
                TILE_VECTORS => self.panel::<S, TILE_VECTORS>(simd, panel),
                vectors => unreachable!("a panel of {vectors} vectors"),
            }
        }
    }
}

impl Products<'_> {
    #[inline(always)]
    fn panel<S: Simd, const VECTORS: usize>(&mut self, simd: S, panel: Panel) {
        for (first, height) in tiles(self.fine_offsets.len(), S::TILE_ROWS) {
            with_rows!(height, ROWS => self.tile::<S, ROWS, VECTORS>(simd, panel, first));
        }
    }

    #[inline(always)]
    fn tile<S: Simd, const ROWS: usize, const VECTORS: usize>(
        &mut self,
        simd: S,
        panel: Panel,
        first: usize,
    ) {
        let Layer { coarse, filter, .. } = *self.layer;
        let stride = padded_channels(coarse.channels, S::LANES);
        let mut fine_offsets = [0; ROWS];
        fine_offsets.copy_from_slice(&self.fine_offsets[first..first + ROWS]);
        simd.vectorize(OuterTile::<ROWS, VECTORS> {
            pixels: Pixels { image_count: self.image_count, rows: coarse.height, columns: coarse.width },
            fine: self.fine.values,
            fine_strides: Strides {
                image: self.fine.image.len(),
                row: filter.stride[0] * self.fine.image.row(),
                column: filter.stride[1] * self.fine.image.channels,
            },
            fine_offsets,
            coarse: &self.coarse.values[self.coarse.origin() + panel.channel..],
            coarse_strides: Strides {
                image: self.coarse.image.len(),
                row: self.coarse.image.row(),
                column: self.coarse.image.channels,
            },
            sums: self.sums.skip(first * stride + panel.channel),
            sums_stride: stride,
        });
    }
}
