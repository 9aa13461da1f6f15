//! Plain Rust, which runs on every processor and under Miri; the compiler may vectorise it.

use super::{Kernel, Simd};

/// The token of plain Rust, which is always available.
#[derive(Clone, Copy)]
pub(crate) struct Scalar;

const LANES: usize = 4;

#[inline(always)]
fn lanes(of: impl FnMut(usize) -> f32) -> [f32; LANES] {
    std::array::from_fn(of)
}

// SAFETY: a vector is an array of `LANES` floats, and `load` and `store` read and write one array.
unsafe impl Simd for Scalar {
    type Vector = [f32; LANES];
    const LANES: usize = LANES;
    const TILE_ROWS: usize = 4;

    #[inline(always)]
    fn vectorize<K: Kernel>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }

    #[inline(always)]
    fn splat(self, value: f32) -> Self::Vector {
        [value; LANES]
    }

    #[inline(always)]
    unsafe fn load(self, from: *const f32) -> Self::Vector {
        // SAFETY: the caller promises `LANES` readable floats; an array of floats has the alignment of a float.
        unsafe { from.cast::<[f32; LANES]>().read() }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32, vector: Self::Vector) {
        // SAFETY: the caller promises `LANES` writable floats; an array of floats has the alignment of a float.
        unsafe { to.cast::<[f32; LANES]>().write(vector) }
    }

    #[inline(always)]
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        lanes(|i| a[i] + b[i])
    }

    #[inline(always)]
    fn subtract(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        lanes(|i| a[i] - b[i])
    }

    #[inline(always)]
    fn multiply(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        lanes(|i| a[i] * b[i])
    }

    #[inline(always)]
    fn divide(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        lanes(|i| a[i] / b[i])
    }

    // Rounds twice, because a fused operation would be a library call on processors without one.
    #[inline(always)]
    fn multiply_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
        lanes(|i| a[i] * b[i] + c[i])
    }

    #[inline(always)]
    fn maximum(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        lanes(|i| if a[i] > b[i] { a[i] } else { b[i] })
    }

    #[inline(always)]
    fn sum(self, vector: Self::Vector) -> f32 {
        vector.iter().sum()
    }

    #[inline(always)]
    fn exp2_integer(self, n: Self::Vector) -> Self::Vector {
        lanes(|i| f32::from_bits(((n[i] as i32 + 127) as u32) << 23))
    }

    #[inline(always)]
    fn select_non_negative(self, value: Self::Vector, yes: Self::Vector, no: Self::Vector) -> Self::Vector {
        lanes(|i| if value[i] >= 0.0 { yes[i] } else { no[i] })
    }

    #[inline(always)]
    fn select_positive(self, value: Self::Vector, yes: Self::Vector, no: Self::Vector) -> Self::Vector {
        lanes(|i| if value[i] > 0.0 { yes[i] } else { no[i] })
    }
}
