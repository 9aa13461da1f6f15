//! Images to transformed tiles and back; the vectors run along the channels.

use crate::geometry::ImageShape;
use crate::kernel::winograd::grid::{FINE_STEP, Grid, PHASES, Tile, Transformed};
use crate::kernel::winograd::points::{
    FromCoarse, FromFine, SPAN, TILE, ToCoarse, ToFine, load_square, on_both_axes,
};
use crate::kernel::write_only::WriteOnly;
use crate::simd::{Kernel, Simd};

/// Padded fine images to their positions, `[positions][tiles][phases * channels]`.
pub(super) struct ReadFine<'a> {
    pub(super) grid: &'a Grid,
    pub(super) image_count: usize,
    pub(super) source: &'a [f32],
    pub(super) target: &'a mut [f32],
}

impl Kernel for ReadFine<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { grid, image_count, source, target } = self;
        let ImageShape { width, channels, .. } = grid.padded_fine;
        let layout = Transformed { tiles: image_count * grid.tiles_per_image(), width: grid.fine_width() };
        assert!(channels.is_multiple_of(S::LANES), "channels are whole vectors");
        assert!(source.len() >= image_count * grid.padded_fine.len(), "padded fine images");
        assert!(target.len() >= layout.len(), "positions of fine images");
        let stride = layout.stride();
        for Tile { number, image, row, column } in grid.tiles_of(image_count) {
            let corner = image * grid.padded_fine.len() + FINE_STEP * (row * width + column) * channels;
            for phase in 0..PHASES {
                let first = corner + ((phase / 2) * width + phase % 2) * channels;
                for channel in (0..channels).step_by(S::LANES) {
                    // SAFETY: a tile reads ten rows and columns from its corner on, which lie inside the padded
                    // image by the definition of the grid; a vector of channels lies inside a pixel.
                    let square = unsafe {
                        load_square(
                            simd,
                            source.as_ptr().add(first + channel),
                            2 * width * channels,
                            2 * channels,
                        )
                    };
                    let square = on_both_axes::<FromFine, S, SPAN, SPAN>(simd, square);
                    let start = number * layout.width + phase * channels + channel;
                    for (position, vector) in square.as_flattened().iter().enumerate() {
                        // SAFETY: the tile, the phase and the channels belong to the layout.
                        unsafe {
                            simd.store(target.as_mut_ptr().add(position * stride + start), *vector);
                        }
                    }
                }
            }
        }
    }
}

/// Positions of fine tiles to padded fine images: neighbouring tiles overlap by two pixels, where they are added.
pub(super) struct WriteFine<'a> {
    pub(super) grid: &'a Grid,
    pub(super) image_count: usize,
    /// `[positions][tiles][phases * channels]`
    pub(super) source: &'a [f32],
    pub(super) target: &'a mut [f32],
}

impl Kernel for WriteFine<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { grid, image_count, source, target } = self;
        let ImageShape { width, channels, .. } = grid.padded_fine;
        let layout = Transformed { tiles: image_count * grid.tiles_per_image(), width: grid.fine_width() };
        assert!(channels.is_multiple_of(S::LANES), "channels are whole vectors");
        assert!(source.len() >= layout.len(), "positions of fine images");
        assert!(target.len() >= image_count * grid.padded_fine.len(), "padded fine images");
        let stride = layout.stride();
        for Tile { number, image, row, column } in grid.tiles_of(image_count) {
            let corner = image * grid.padded_fine.len() + FINE_STEP * (row * width + column) * channels;
            for phase in 0..PHASES {
                let first = corner + ((phase / 2) * width + phase % 2) * channels;
                for channel in (0..channels).step_by(S::LANES) {
                    let start = number * layout.width + phase * channels + channel;
                    // SAFETY: the tile, the phase and the channels belong to the layout.
                    let square =
                        unsafe { load_square(simd, source.as_ptr().add(start), SPAN * stride, stride) };
                    let square = on_both_axes::<ToFine, S, SPAN, SPAN>(simd, square);
                    for (y, line) in square.iter().enumerate() {
                        for (x, vector) in line.iter().enumerate() {
                            let index = first + channel + 2 * (y * width + x) * channels;
                            // SAFETY: a tile has ten rows and columns from its corner on, which lie inside the
                            // padded image by the definition of the grid; a vector lies inside a pixel.
                            let pixel = unsafe { target.as_mut_ptr().add(index) };
                            // The first row and column were the last ones of the tiles above and to the left.
                            let shared = y == 0 && row > 0 || x == 0 && column > 0;
                            // SAFETY: as above.
                            unsafe {
                                let sum = if shared { simd.add(simd.load(pixel), *vector) } else { *vector };
                                simd.store(pixel, sum);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Padded fine images to fine images, with bias and ReLU; writes every float of `target`.
pub(super) struct FinishFine<'a> {
    pub(super) grid: &'a Grid,
    pub(super) image_count: usize,
    pub(super) source: &'a [f32],
    pub(super) bias: Option<&'a [f32]>,
    pub(super) relu: bool,
    pub(super) target: WriteOnly<'a>,
}

impl Kernel for FinishFine<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { grid, image_count, source, bias, relu, mut target } = self;
        let Grid { fine, padded_fine, before, .. } = *grid;
        assert!(fine.channels.is_multiple_of(S::LANES), "channels are whole vectors");
        assert!(bias.is_none_or(|bias| bias.len() == fine.channels), "bias");
        assert!(target.len() == image_count * fine.len(), "fine images");
        // Pixels that no window reaches are zero before the bias.
        let reached = [grid.tiles[0] * FINE_STEP + 2, grid.tiles[1] * FINE_STEP + 2];
        for image in 0..image_count {
            let source = &source[image * padded_fine.len()..][..padded_fine.len()];
            for row in 0..fine.height {
                let (y, left) = (row + before[0], before[1] * fine.channels);
                let source = &source[y * padded_fine.row() + left..][..fine.row()];
                let known = if y < reached[0] { (reached[1] - before[1]).min(fine.width) } else { 0 };
                let start = image * fine.len() + row * fine.row();
                for x in 0..fine.width {
                    for channel in (0..fine.channels).step_by(S::LANES) {
                        let (place, zero) = (x * fine.channels + channel, simd.splat(0.0));
                        // SAFETY: the pixel lies inside the image, and it and the bias have as many channels as the image,
                        // in whole vectors.
                        unsafe {
                            let mut vector = zero;
                            if x < known {
                                vector = simd.load(source.as_ptr().add(place));
                            }
                            if let Some(bias) = bias {
                                vector = simd.add(vector, simd.load(bias.as_ptr().add(channel)));
                            }
                            if relu {
                                vector = simd.maximum(zero, vector);
                            }
                            simd.store(target.as_mut_ptr().add(start + place), vector);
                        }
                    }
                }
            }
        }
    }
}

/// Padded coarse images to their positions, `[positions][tiles][channels]`.
pub(super) struct ReadCoarse<'a> {
    pub(super) grid: &'a Grid,
    pub(super) image_count: usize,
    pub(super) source: &'a [f32],
    pub(super) target: &'a mut [f32],
}

impl Kernel for ReadCoarse<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { grid, image_count, source, target } = self;
        let ImageShape { width, channels, .. } = grid.padded_coarse;
        let layout = Transformed { tiles: image_count * grid.tiles_per_image(), width: channels };
        assert!(channels.is_multiple_of(S::LANES), "channels are whole vectors");
        assert!(source.len() >= image_count * grid.padded_coarse.len(), "padded coarse images");
        assert!(target.len() >= layout.len(), "positions of coarse images");
        let stride = layout.stride();
        for Tile { number, image, row, column } in grid.tiles_of(image_count) {
            let first = image * grid.padded_coarse.len() + TILE * (row * width + column) * channels;
            for channel in (0..channels).step_by(S::LANES) {
                // SAFETY: padded coarse images consist of whole tiles, and pixels of whole vectors.
                let square = unsafe {
                    load_square(simd, source.as_ptr().add(first + channel), width * channels, channels)
                };
                let square = on_both_axes::<FromCoarse, S, TILE, SPAN>(simd, square);
                let start = number * channels + channel;
                for (position, vector) in square.as_flattened().iter().enumerate() {
                    // SAFETY: the tile and the channels belong to the layout.
                    unsafe { simd.store(target.as_mut_ptr().add(position * stride + start), *vector) };
                }
            }
        }
    }
}

/// Positions of coarse tiles to coarse images, with bias and ReLU; writes every float of `target`.
pub(super) struct WriteCoarse<'a> {
    pub(super) grid: &'a Grid,
    pub(super) image_count: usize,
    /// `[positions][tiles][channels]`
    pub(super) source: &'a [f32],
    pub(super) bias: Option<&'a [f32]>,
    pub(super) relu: bool,
    pub(super) target: WriteOnly<'a>,
}

impl Kernel for WriteCoarse<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { grid, image_count, source, bias, relu, mut target } = self;
        let ImageShape { height, width, channels } = grid.coarse;
        let layout = Transformed { tiles: image_count * grid.tiles_per_image(), width: channels };
        assert!(channels.is_multiple_of(S::LANES), "channels are whole vectors");
        assert!(bias.is_none_or(|bias| bias.len() == channels), "bias");
        assert!(source.len() >= layout.len(), "positions of coarse images");
        assert!(target.len() == image_count * grid.coarse.len(), "coarse images");
        let (stride, zero) = (layout.stride(), simd.splat(0.0));
        for Tile { number, image, row, column } in grid.tiles_of(image_count) {
            let first = image * grid.coarse.len() + TILE * (row * width + column) * channels;
            // The last tiles may reach beyond the image.
            let (rows, columns) = (TILE.min(height - TILE * row), TILE.min(width - TILE * column));
            for channel in (0..channels).step_by(S::LANES) {
                let start = number * channels + channel;
                // SAFETY: the tile and the channels belong to the layout.
                let square = unsafe { load_square(simd, source.as_ptr().add(start), SPAN * stride, stride) };
                let square = on_both_axes::<ToCoarse, S, SPAN, TILE>(simd, square);
                let bias = match bias {
                    None => zero,
                    // SAFETY: the bias has as many floats as there are channels.
                    Some(bias) => unsafe { simd.load(bias.as_ptr().add(channel)) },
                };
                for (y, line) in square.iter().enumerate() {
                    for (x, vector) in line.iter().enumerate() {
                        if y >= rows || x >= columns {
                            continue;
                        }
                        let sum = simd.add(*vector, bias);
                        let sum = if relu { simd.maximum(zero, sum) } else { sum };
                        let index = first + channel + (y * width + x) * channels;
                        // SAFETY: the pixel lies inside the image, and the vector inside the pixel.
                        unsafe { simd.store(target.as_mut_ptr().add(index), sum) };
                    }
                }
            }
        }
    }
}
