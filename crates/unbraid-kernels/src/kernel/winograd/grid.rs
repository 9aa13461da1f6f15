//! How the images of a layer are divided into tiles, and where the values of a tile lie.

use crate::geometry::{ImageShape, Layer};
use crate::kernel::winograd::points::{POSITIONS, TILE};

/// Phases of the fine images: pixels with the same coordinates modulo the stride.
pub(super) const PHASES: usize = 4;

/// Pixels of a fine image between two tiles.
pub(super) const FINE_STEP: usize = 2 * TILE;

/// The tiles of one image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    pub(super) fine: ImageShape,
    pub(super) coarse: ImageShape,
    /// Rows and columns of tiles.
    pub(super) tiles: [usize; 2],
    /// A fine image with its border, whose last tiles may reach beyond the image.
    pub(super) padded_fine: ImageShape,
    /// Rows and columns of border before the first pixel of a fine image.
    pub(super) before: [usize; 2],
    /// A coarse image whose last tiles may reach beyond the image.
    pub(super) padded_coarse: ImageShape,
}

impl Grid {
    pub(super) fn new(layer: &Layer) -> Self {
        let Layer { fine, coarse, filter, .. } = *layer;
        let tiles = [coarse.height.div_ceil(TILE), coarse.width.div_ceil(TILE)];
        // The windows of the last tile end two pixels after its step. A fine image may be larger by pixels that no window
        // reaches.
        let padded = |axis: usize, size| (tiles[axis] * FINE_STEP + 2).max(filter.padding[axis] + size);
        Self {
            fine,
            coarse,
            tiles,
            padded_fine: ImageShape { height: padded(0, fine.height), width: padded(1, fine.width), ..fine },
            before: filter.padding,
            padded_coarse: ImageShape { height: tiles[0] * TILE, width: tiles[1] * TILE, ..coarse },
        }
    }

    /// Tiles of one image.
    pub(super) fn tiles_per_image(&self) -> usize {
        self.tiles[0] * self.tiles[1]
    }

    /// Values of a tile at each position, if it is one of fine pixels: all channels of each phase.
    pub(super) fn fine_width(&self) -> usize {
        PHASES * self.fine.channels
    }

    /// The tiles of several images, in order.
    pub(super) fn tiles_of(&self, image_count: usize) -> impl Iterator<Item = Tile> + use<> {
        let ([rows, columns], per_image) = (self.tiles, self.tiles_per_image());
        (0..image_count).flat_map(move |image| {
            (0..rows).flat_map(move |row| {
                (0..columns).map(move |column| Tile {
                    number: image * per_image + row * columns + column,
                    image,
                    row,
                    column,
                })
            })
        })
    }
}

/// One tile of one of several images.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    /// Among the tiles of all images.
    pub(super) number: usize,
    pub(super) image: usize,
    /// Row and column of tiles.
    pub(super) row: usize,
    pub(super) column: usize,
}

/// The layout of transformed tiles: `[positions][tiles][width]`, with a gap between positions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transformed {
    pub(super) tiles: usize,
    pub(super) width: usize,
}

impl Transformed {
    /// Floats between positions. The gap of a cache line keeps the positions of a tile, which are written together, from
    /// falling into the same set of the cache.
    pub(super) fn stride(self) -> usize {
        self.tiles * self.width + 16
    }

    /// Floats of all positions.
    pub(super) fn len(self) -> usize {
        POSITIONS * self.stride()
    }
}
