//! Winograd's F(4, 2) on the points 0, 1/2, -1, 2 and infinity, along one axis.
//!
//! Four outputs of a kernel with two taps, `y[i] = g[0] d[i] + g[1] d[i + 1]`, need five inputs. Read backwards, this is
//! the product of two polynomials, which five of its values determine:
//!
//! ```text
//! y = A^T [(G g) . (B^T d)]
//! ```
//!
//! with one multiplication per *position* instead of two per output. The adjoint maps give the other two computations of a
//! layer: `d = B [(G g) . (A y)]` spreads coarse values over fine ones, and `g = G^T [(B^T d) . (A y)]` is the gradient of
//! the taps. (Winograd, Arithmetic Complexity of Computations, 1980; Lavin and Gray, CVPR 2016, for images.)
//!
//! The points decide the rounding error: with `1/2` and `2` as reciprocals, and `-1` for the other sign, the entries of
//! all three matrices stay near one, and the error is half of what the usual 0, 1, -1, 2 give.

use crate::simd::Simd;

/// Outputs of a tile along one axis.
pub(super) const TILE: usize = 4;

/// Positions along one axis; a tile also reads as many inputs of each phase.
pub(super) const SPAN: usize = 5;

/// Positions of a tile in both axes.
pub(super) const POSITIONS: usize = SPAN * SPAN;

/// Taps of one phase of the kernel along one axis.
pub(super) const TAPS: usize = 2;

/// A linear map along one axis, from `FROM` to `TO` values.
///
/// Maps are types and not closures, because everything between a kernel and its intrinsics must be inlined.
pub(super) trait Map<const FROM: usize, const TO: usize> {
    fn apply<S: Simd>(simd: S, line: [S::Vector; FROM]) -> [S::Vector; TO];
}

/// `factor * a + b`
#[inline(always)]
fn times<S: Simd>(simd: S, factor: f32, a: S::Vector, b: S::Vector) -> S::Vector {
    simd.multiply_add(simd.splat(factor), a, b)
}

/// `B^T`, for the fine values of one phase.
pub(super) struct FromFine;

impl Map<SPAN, SPAN> for FromFine {
    #[inline(always)]
    fn apply<S: Simd>(simd: S, d: [S::Vector; SPAN]) -> [S::Vector; SPAN] {
        [
            times(simd, -1.5, simd.add(d[1], d[2]), simd.add(d[0], d[3])),
            times(simd, -2.0, d[1], simd.subtract(d[3], d[2])),
            times(simd, -2.5, d[2], simd.add(d[1], d[3])),
            times(simd, 0.5, simd.subtract(d[2], d[1]), d[3]),
            times(simd, -1.5, simd.add(d[2], d[3]), simd.add(d[1], d[4])),
        ]
    }
}

/// `B`, the adjoint of [`FromFine`].
pub(super) struct ToFine;

impl Map<SPAN, SPAN> for ToFine {
    #[inline(always)]
    fn apply<S: Simd>(simd: S, n: [S::Vector; SPAN]) -> [S::Vector; SPAN] {
        let second = times(simd, -2.0, n[1], times(simd, -0.5, n[3], simd.add(n[2], n[4])));
        let third = times(simd, -2.5, n[2], times(simd, 0.5, n[3], simd.multiply(simd.splat(-1.0), n[1])));
        [
            n[0],
            times(simd, -1.5, n[0], second),
            times(simd, -1.5, simd.add(n[0], n[4]), third),
            times(simd, -1.5, n[4], simd.add(simd.add(n[0], n[1]), simd.add(n[2], n[3]))),
            n[4],
        ]
    }
}

/// `A`, for coarse values.
pub(super) struct FromCoarse;

impl Map<TILE, SPAN> for FromCoarse {
    #[inline(always)]
    fn apply<S: Simd>(simd: S, y: [S::Vector; TILE]) -> [S::Vector; SPAN] {
        [
            y[0],
            times(simd, 0.5, times(simd, 0.5, times(simd, 0.5, y[3], y[2]), y[1]), y[0]),
            simd.subtract(simd.add(y[0], y[2]), simd.add(y[1], y[3])),
            times(simd, 2.0, times(simd, 2.0, times(simd, 2.0, y[3], y[2]), y[1]), y[0]),
            y[3],
        ]
    }
}

/// `A^T`, the adjoint of [`FromCoarse`].
pub(super) struct ToCoarse;

impl Map<SPAN, TILE> for ToCoarse {
    #[inline(always)]
    fn apply<S: Simd>(simd: S, m: [S::Vector; SPAN]) -> [S::Vector; TILE] {
        [
            simd.add(simd.add(m[0], m[1]), simd.add(m[2], m[3])),
            times(simd, 2.0, m[3], simd.subtract(simd.multiply(simd.splat(0.5), m[1]), m[2])),
            times(simd, 4.0, m[3], times(simd, 0.25, m[1], m[2])),
            times(simd, 8.0, m[3], times(simd, 0.125, m[1], simd.subtract(m[4], m[2]))),
        ]
    }
}

/// `G`, for the taps of one phase.
pub(super) struct FromTaps;

impl Map<TAPS, SPAN> for FromTaps {
    #[inline(always)]
    fn apply<S: Simd>(simd: S, g: [S::Vector; TAPS]) -> [S::Vector; SPAN] {
        [
            g[0],
            simd.multiply(simd.splat(-4.0 / 9.0), times(simd, 2.0, g[0], g[1])),
            simd.multiply(simd.splat(2.0 / 9.0), simd.subtract(g[1], g[0])),
            simd.multiply(simd.splat(1.0 / 9.0), times(simd, 2.0, g[1], g[0])),
            g[1],
        ]
    }
}

/// `G^T`, the adjoint of [`FromTaps`].
pub(super) struct ToTaps;

impl Map<SPAN, TAPS> for ToTaps {
    #[inline(always)]
    fn apply<S: Simd>(simd: S, u: [S::Vector; SPAN]) -> [S::Vector; TAPS] {
        let first = times(simd, -2.0 / 9.0, u[2], times(simd, -8.0 / 9.0, u[1], u[0]));
        let second = times(simd, -4.0 / 9.0, u[1], u[4]);
        [times(simd, 1.0 / 9.0, u[3], first), times(simd, 2.0 / 9.0, simd.add(u[2], u[3]), second)]
    }
}

/// Applies a map to both axes of a square.
#[inline(always)]
pub(super) fn on_both_axes<M, S, const FROM: usize, const TO: usize>(
    simd: S,
    square: [[S::Vector; FROM]; FROM],
) -> [[S::Vector; TO]; TO]
where
    M: Map<FROM, TO>,
    S: Simd,
{
    let zero = simd.splat(0.0);
    let mut rows = [[zero; TO]; FROM];
    for y in 0..FROM {
        rows[y] = M::apply(simd, square[y]);
    }
    let mut result = [[zero; TO]; TO];
    for x in 0..TO {
        let mut column = [zero; FROM];
        for y in 0..FROM {
            column[y] = rows[y][x];
        }
        let column = M::apply(simd, column);
        for y in 0..TO {
            result[y][x] = column[y];
        }
    }
    result
}

/// Loads a square of vectors: element `(y, x)` lies `y * row + x * column` floats after the first.
///
/// # Safety
/// All of them must be readable and initialised.
#[inline(always)]
pub(super) unsafe fn load_square<S: Simd, const N: usize>(
    simd: S,
    first: *const f32,
    row: usize,
    column: usize,
) -> [[S::Vector; N]; N] {
    let mut square = [[simd.splat(0.0); N]; N];
    for (y, line) in square.iter_mut().enumerate() {
        for (x, vector) in line.iter_mut().enumerate() {
            // SAFETY: the caller promises it.
            *vector = unsafe { simd.load(first.add(y * row + x * column)) };
        }
    }
    square
}
