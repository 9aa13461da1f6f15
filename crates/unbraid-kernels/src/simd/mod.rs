//! Vector operations that are generic over the instruction set; depends on nothing else in the crate.
//!
//! A kernel is a type that implements [`Kernel`], written once with the operations of [`Simd`]. Each instruction set has a
//! token type. A value of it exists only if the processor has the instructions, which makes the arithmetic safe to call.
//! The token's [`Simd::vectorize`] compiles the whole kernel with these instructions enabled, so everything between it and
//! the intrinsics must be `#[inline(always)]`.

mod choice;
mod scalar;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;

pub use choice::{InstructionSet, InstructionSetError};

/// Vectors in a full row of the register tile.
pub(crate) const TILE_VECTORS: usize = 2;

/// The widest vector of any instruction set, in floats.
pub(crate) const MAXIMUM_LANES: usize = 16;

/// The vector operations of one instruction set.
///
/// `multiply_add` may or may not round the product: results agree between thread counts, not between instruction sets.
///
/// # Safety
/// `LANES` is at most [`MAXIMUM_LANES`], `load` reads no more than `LANES` floats, and `store` writes no more.
pub(crate) unsafe trait Simd: Copy + Send + Sync {
    /// A vector of [`Self::LANES`] floats.
    type Vector: Copy;
    /// Floats in a vector.
    const LANES: usize;
    /// Rows of the register tile, at most 12: `TILE_ROWS * TILE_VECTORS` accumulators, `TILE_VECTORS` vectors of the other operand and
    /// one broadcast value must fit into the registers.
    const TILE_ROWS: usize;

    /// Runs `kernel` compiled for this instruction set.
    fn vectorize<K: Kernel>(self, kernel: K) -> K::Output;

    /// All lanes equal to `value`.
    fn splat(self, value: f32) -> Self::Vector;

    /// Reads `LANES` floats.
    ///
    /// # Safety
    /// They must be readable and initialised.
    unsafe fn load(self, from: *const f32) -> Self::Vector;

    /// Writes `LANES` floats.
    ///
    /// # Safety
    /// They must be writable.
    unsafe fn store(self, to: *mut f32, vector: Self::Vector);

    /// The floats of a vector, followed by zeros.
    #[inline(always)]
    fn to_array(self, vector: Self::Vector) -> [f32; MAXIMUM_LANES] {
        let mut floats = [0.0; MAXIMUM_LANES];
        // SAFETY: a vector has at most `MAXIMUM_LANES` floats.
        unsafe { self.store(floats.as_mut_ptr(), vector) };
        floats
    }

    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn subtract(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn multiply(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn divide(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a * b + c`
    fn multiply_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
    /// The maximum in each lane, or `b` where either is NaN.
    fn maximum(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// The sum of all lanes, in an order that depends on the instruction set alone.
    fn sum(self, vector: Self::Vector) -> f32;
    /// `2^n` for integral `n` in -126 ..= 127.
    fn exp2_integer(self, n: Self::Vector) -> Self::Vector;
    /// Starts to fetch a cache line that will be needed soon, from any address; does nothing where there is no such
    /// instruction.
    #[inline(always)]
    fn prefetch(self, _from: *const f32) {}
    /// In each lane, `yes` if `value >= 0`, otherwise (also for NaN) `no`.
    fn select_non_negative(self, value: Self::Vector, yes: Self::Vector, no: Self::Vector) -> Self::Vector;
    /// In each lane, `yes` if `value > 0`, otherwise (also for NaN) `no`.
    fn select_positive(self, value: Self::Vector, yes: Self::Vector, no: Self::Vector) -> Self::Vector;
}

/// A computation written once for all instruction sets.
pub(crate) trait Kernel {
    /// The result of the computation.
    type Output;

    /// Runs the computation. Implementations are `#[inline(always)]`.
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}
