//! AVX-512: 16 lanes, 32 registers.

use std::arch::x86_64::*;

use super::{Kernel, Simd};

/// Proof that the processor has AVX-512F, AVX2 and FMA.
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// The token, if the processor has the instructions.
    #[inline]
    pub(crate) fn detect() -> Option<Self> {
        let detected = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma");
        detected.then_some(Self(()))
    }
}

// Every kernel is a separate function, because tiles that are inlined into their callers compete for registers.
#[inline(never)]
#[target_feature(enable = "avx512f,avx2,fma")]
fn vectorized<K: Kernel>(simd: Avx512, kernel: K) -> K::Output {
    kernel.run(simd)
}

// SAFETY of the implementation: `LANES`, `load` and `store` agree with the size of a vector.
// SAFETY of every block below: a value of `Avx512` exists only if `detect` found the instructions. `load` and `store` also
// rely on what their callers promise about the pointer.
#[allow(clippy::undocumented_unsafe_blocks, reason = "the comment above holds for all of them")]
unsafe impl Simd for Avx512 {
    type Vector = __m512;
    const LANES: usize = 16;
    const TILE_ROWS: usize = 12;

    #[inline(always)]
    fn vectorize<K: Kernel>(self, kernel: K) -> K::Output {
        unsafe { vectorized(self, kernel) }
    }

    #[inline(always)]
    fn splat(self, value: f32) -> Self::Vector {
        unsafe { _mm512_set1_ps(value) }
    }

    #[inline(always)]
    unsafe fn load(self, from: *const f32) -> Self::Vector {
        unsafe { _mm512_loadu_ps(from) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32, vector: Self::Vector) {
        unsafe { _mm512_storeu_ps(to, vector) }
    }

    #[inline(always)]
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        unsafe { _mm512_add_ps(a, b) }
    }

    #[inline(always)]
    fn subtract(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        unsafe { _mm512_sub_ps(a, b) }
    }

    #[inline(always)]
    fn multiply(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        unsafe { _mm512_mul_ps(a, b) }
    }

    #[inline(always)]
    fn divide(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        unsafe { _mm512_div_ps(a, b) }
    }

    #[inline(always)]
    fn multiply_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
        unsafe { _mm512_fmadd_ps(a, b, c) }
    }

    #[inline(always)]
    fn maximum(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        unsafe { _mm512_max_ps(a, b) }
    }

    #[inline(always)]
    fn sum(self, vector: Self::Vector) -> f32 {
        unsafe { _mm512_reduce_add_ps(vector) }
    }

    #[inline(always)]
    fn exp2_integer(self, n: Self::Vector) -> Self::Vector {
        unsafe {
            let exponent = _mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127));
            _mm512_castsi512_ps(_mm512_slli_epi32::<23>(exponent))
        }
    }

    #[inline(always)]
    fn prefetch(self, from: *const f32) {
        // Into the second-level cache. An address that cannot be read does no harm.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(from.cast()) }
    }

    #[inline(always)]
    fn select_non_negative(self, value: Self::Vector, yes: Self::Vector, no: Self::Vector) -> Self::Vector {
        unsafe {
            let mask = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(value, _mm512_setzero_ps());
            _mm512_mask_blend_ps(mask, no, yes)
        }
    }

    #[inline(always)]
    fn select_positive(self, value: Self::Vector, yes: Self::Vector, no: Self::Vector) -> Self::Vector {
        unsafe {
            let mask = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(value, _mm512_setzero_ps());
            _mm512_mask_blend_ps(mask, no, yes)
        }
    }
}
