//! Vectorised exponential and logarithm, in the ranges that the Bernoulli loss needs.

use crate::simd::Simd;

/// `exp(x)` for `x <= 0`, with a relative error below 3e-7 for `x >= -87`; below that, `exp(-87)`, about 1.6e-38. NaN
/// stays NaN.
///
/// `x = n ln 2 + r` with `|r| <= ln 2 / 2`, and `exp(r)` is its Taylor polynomial of degree 7, whose first omitted term is
/// below `0.3466^8 / 8! = 5.2e-9`. The rest of the error is rounding: half a unit for each of the last few steps.
#[inline(always)]
pub(crate) fn exp_non_positive<S: Simd>(simd: S, x: S::Vector) -> S::Vector {
    // Adding and subtracting 1.5 * 2^23 rounds to an integer, because floats of that size are 1 apart.
    const ROUND: f32 = 12_582_912.0;
    // ln 2 in two parts. The first has few digits, so its product with n is exact.
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let x = simd.maximum(simd.splat(-87.0), x);
    let shifted = simd.multiply_add(x, simd.splat(std::f32::consts::LOG2_E), simd.splat(ROUND));
    let n = simd.subtract(shifted, simd.splat(ROUND));
    let r = simd.multiply_add(n, simd.splat(-LN_2_HIGH), x);
    let r = simd.multiply_add(n, simd.splat(-LN_2_LOW), r);
    let mut sum = simd.splat(1.0 / 5040.0);
    for coefficient in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        sum = simd.multiply_add(sum, r, simd.splat(coefficient));
    }
    simd.multiply(sum, simd.exp2_integer(n))
}

/// `ln(1 + e)` for `0 <= e <= 1`, with a relative error below 5e-7. NaN stays NaN.
///
/// `ln(1 + e) = 2 artanh(t)` with `t = e / (2 + e) <= 1/3`. The series `2 (t + t^3/3 + t^5/5 + ...)` is truncated after
/// eight terms, which leaves a relative error below `(1/9)^8 / 17 * 9/8 = 1.6e-9`. The rest is rounding.
#[inline(always)]
pub(crate) fn ln_1p_unit<S: Simd>(simd: S, e: S::Vector) -> S::Vector {
    let t = simd.divide(e, simd.add(simd.splat(2.0), e));
    let square = simd.multiply(t, t);
    let mut sum = simd.splat(2.0 / 15.0);
    for coefficient in [2.0 / 13.0, 2.0 / 11.0, 2.0 / 9.0, 2.0 / 7.0, 2.0 / 5.0, 2.0 / 3.0, 2.0] {
        sum = simd.multiply_add(sum, square, simd.splat(coefficient));
    }
    simd.multiply(sum, t)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{InstructionSet, Kernel};

    /// Both functions at one point.
    struct At(f32);

    impl Kernel for At {
        type Output = [f32; 2];

        fn run<S: Simd>(self, simd: S) -> [f32; 2] {
            let exponential = exp_non_positive(simd, simd.splat(self.0));
            let logarithm = ln_1p_unit(simd, exponential);
            [exponential, logarithm].map(|vector| simd.to_array(vector)[0])
        }
    }

    #[test]
    fn errors_stay_within_the_documented_bounds() {
        for set in InstructionSet::available() {
            for step in 0..200_000 {
                let x = -87.0 * (step as f32 / 200_000.0);
                let [exponential, logarithm] = set.run(At(x));
                let exact = f64::from(x).exp();
                let error = (f64::from(exponential) - exact).abs() / exact;
                assert!(error < 3e-7, "{set}: exp({x}) = {exponential}, relative error {error:e}");
                let exact = f64::from(exponential).ln_1p();
                let error = (f64::from(logarithm) - exact).abs() / exact;
                assert!(error < 5e-7, "{set}: ln(1 + {exponential}) = {logarithm}, relative error {error:e}");
            }
        }
    }

    #[test]
    fn ends_of_the_range_are_as_documented() {
        for set in InstructionSet::available() {
            assert_eq!(set.run(At(0.0))[0], 1.0, "{set}");
            assert!(set.run(At(f32::NEG_INFINITY))[0] < 1.7e-38, "{set}");
            assert!(set.run(At(f32::NAN)).iter().all(|value| value.is_nan()), "{set}");
        }
    }
}
