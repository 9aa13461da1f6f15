//! NEON: 4 lanes, 32 registers.

use std::arch::aarch64::*;

use super::{Kernel, Simd};

/// Proof that the processor has NEON.
#[derive(Clone, Copy)]
pub(crate) struct Neon(());

impl Neon {
    /// The token, if the processor has the instructions.
    #[inline]
    pub(crate) fn detect() -> Option<Self> {
        std::arch::is_aarch64_feature_detected!("neon").then_some(Self(()))
    }
}

// Every kernel is a separate function, because tiles that are inlined into their callers compete for registers.
#[inline(never)]
#[target_feature(enable = "neon")]
fn vectorized<K: Kernel>(simd: Neon, kernel: K) -> K::Output {
    kernel.run(simd)
}

// SAFETY of the implementation: `LANES`, `load` and `store` agree with the size of a vector.
// SAFETY of every block below: a value of `Neon` exists only if `detect` found the instructions. `load` and `store` also
// rely on what their callers promise about the pointer.
#[allow(clippy::undocumented_unsafe_blocks, reason = "the comment above holds for all of them")]
unsafe impl Simd for Neon {
    type Vector = float32x4_t;
    const LANES: usize = 4;
    const TILE_ROWS: usize = 12;

    #[inline(always)]
    fn vectorize<K: Kernel>(self, kernel: K) -> K::Output {
        unsafe { vectorized(self, kernel) }
    }

    #[inline(always)]
    fn splat(self, value: f32) -> Self::Vector {
        unsafe { vdupq_n_f32(value) }
    }

    #[inline(always)]
    unsafe fn load(self, from: *const f32) -> Self::Vector {
        unsafe { vld1q_f32(from) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32, vector: Self::Vector) {
        unsafe { vst1q_f32(to, vector) }
    }

    #[inline(always)]
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        unsafe { vaddq_f32(a, b) }
    }

    #[inline(always)]
    fn subtract(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        unsafe { vsubq_f32(a, b) }
    }

    #[inline(always)]
    fn multiply(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        unsafe { vmulq_f32(a, b) }
    }

    #[inline(always)]
    fn divide(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        unsafe { vdivq_f32(a, b) }
    }

    #[inline(always)]
    fn multiply_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
        unsafe { vfmaq_f32(c, a, b) }
    }

    #[inline(always)]
    fn maximum(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        unsafe { vbslq_f32(vcgtq_f32(a, b), a, b) }
    }

    #[inline(always)]
    fn sum(self, vector: Self::Vector) -> f32 {
        unsafe { vaddvq_f32(vector) }
    }

    #[inline(always)]
    fn exp2_integer(self, n: Self::Vector) -> Self::Vector {
        unsafe {
            let exponent = vaddq_s32(vcvtnq_s32_f32(n), vdupq_n_s32(127));
            vreinterpretq_f32_s32(vshlq_n_s32::<23>(exponent))
        }
    }

    #[inline(always)]
    fn select_non_negative(self, value: Self::Vector, yes: Self::Vector, no: Self::Vector) -> Self::Vector {
        unsafe { vbslq_f32(vcgeq_f32(value, vdupq_n_f32(0.0)), yes, no) }
    }

    #[inline(always)]
    fn select_positive(self, value: Self::Vector, yes: Self::Vector, no: Self::Vector) -> Self::Vector {
        unsafe { vbslq_f32(vcgtq_f32(value, vdupq_n_f32(0.0)), yes, no) }
    }
}
