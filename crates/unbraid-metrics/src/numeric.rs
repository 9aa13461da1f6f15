//! Small numerical helpers that several scores and learners share.

use ndarray::{Array2, ArrayView2};

/// The exponential function in a form that compilers can vectorise: no branches, no table.
///
/// The relative error is at most about 5e-16 on [-708, 709]; arguments outside are clamped, so that the result is always a
/// normal number.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    // Adding 1.5 * 2^52 leaves the nearest integer in the low bits of the sum.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    // ln 2 in two parts, the first with so few bits that its product with the exponent is exact.
    const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let x = x.clamp(-708.0, 709.0);
    let rounded = x * std::f64::consts::LOG2_E + ROUND;
    let exponent = rounded - ROUND;
    let r = (x - exponent * LN_2_HIGH) - exponent * LN_2_LOW;
    // The Taylor series to r^13. Since |r| <= ln(2)/2, the remainder is below 1e-17.
    let mut series = 1.0 / 6_227_020_800.0;
    for divisor in [
        479_001_600.0,
        39_916_800.0,
        3_628_800.0,
        362_880.0,
        40_320.0,
        5_040.0,
        720.0,
        120.0,
        24.0,
        6.0,
        2.0,
        1.0,
        1.0,
    ] {
        series = series * r + 1.0 / divisor;
    }
    let power = f64::from_bits(rounded.to_bits().wrapping_add(1023).wrapping_shl(52));
    series * power
}

/// 2 to the power of x to nine digits, in about two thirds of the operations of [`exp`].
///
/// The relative error is below 1e-9 on [-1022, 1022]; arguments outside are clamped.
#[inline(always)]
pub(crate) fn exp2(x: f64) -> f64 {
    const ROUND: f64 = 6_755_399_441_055_744.0;
    // ln(2)^k / k! for k from 8 to 0: the Taylor series, whose remainder is about (ln(2) / 2)^9 / 9! = 2e-10 at |r| = 1/2.
    const TERMS: [f64; 9] = [
        1.321_548_679_014_431e-6,
        1.525_273_380_405_984e-5,
        1.540_353_039_338_161e-4,
        1.333_355_814_642_844_3e-3,
        9.618_129_107_628_477e-3,
        5.550_410_866_482_158e-2,
        0.240_226_506_959_100_7,
        std::f64::consts::LN_2,
        1.0,
    ];
    let x = x.clamp(-1022.0, 1022.0);
    let rounded = x + ROUND;
    let r = x - (rounded - ROUND);
    let mut series = TERMS[0];
    for term in &TERMS[1..] {
        series = series * r + term;
    }
    series * f64::from_bits(rounded.to_bits().wrapping_add(1023).wrapping_shl(52))
}

/// Runs `work` compiled for the widest vector instructions of the processor.
///
/// Results are the same on every processor: each lane does the same operations, and none are fused or reordered. Only
/// inlined code benefits, so `work` should be a plain loop in a closure marked `#[inline(always)]`.
#[inline]
pub(crate) fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}

/// The columns of an array as vectors.
pub(crate) fn columns(array: ArrayView2<'_, f64>) -> Vec<Vec<f64>> {
    array.columns().into_iter().map(|column| column.to_vec()).collect()
}

/// Both samples, standardised with the mean and the standard deviation of the first; constant columns become 0.
pub(crate) fn standardise(
    train: ArrayView2<'_, f64>,
    test: ArrayView2<'_, f64>,
) -> (Array2<f64>, Array2<f64>) {
    let (mut train, mut test) = (train.to_owned(), test.to_owned());
    for (mut train, mut test) in train.columns_mut().into_iter().zip(test.columns_mut()) {
        let constant = is_constant(train.iter().copied());
        let mean = train.sum() / train.len() as f64;
        let deviation = train.var(0.0).sqrt();
        let scale = |value: f64| {
            let scaled = (value - mean) / deviation;
            if constant || !scaled.is_finite() { 0.0 } else { scaled }
        };
        train.mapv_inplace(scale);
        test.mapv_inplace(scale);
    }
    (train, test)
}

/// The arithmetic mean; 0 for an empty list.
pub(crate) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// The largest and the second largest entry; a missing entry counts as 0.
pub(crate) fn top_two(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let (mut first, mut second, mut seen) = (f64::NEG_INFINITY, f64::NEG_INFINITY, 0);
    for value in values {
        seen += 1;
        if value > first {
            (first, second) = (value, first);
        } else if value > second {
            second = value;
        }
    }
    (if seen > 0 { first } else { 0.0 }, if seen > 1 { second } else { 0.0 })
}

/// The index of the largest entry, the first of equals; 0 for an empty list.
pub(crate) fn argmax(values: &[f64]) -> usize {
    let mut best = 0;
    for (i, &value) in values.iter().enumerate() {
        if value > values[best] {
            best = i;
        }
    }
    best
}

/// The entropy in nats of a distribution given by counts.
pub(crate) fn entropy_of_counts(counts: &[u32]) -> f64 {
    let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    let total = total as f64;
    counts
        .iter()
        .filter(|&&count| count > 0)
        .map(|&count| {
            let share = f64::from(count) / total;
            -share * share.ln()
        })
        .sum::<f64>()
        .max(0.0)
}

/// The quantile of sorted values with linear interpolation, NumPy's default; 0 for an empty list.
pub fn quantile_of_sorted(sorted: &[f64], quantile: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let position = quantile * last as f64;
    let below = (position.floor() as usize).min(last);
    let above = (below + 1).min(last);
    let weight = position - below as f64;
    sorted[below] + (sorted[above] - sorted[below]) * weight
}

/// Whether all values are equal. (A variance is no test: the rounded mean of equal values may differ from them.)
pub(crate) fn is_constant(values: impl IntoIterator<Item = f64>) -> bool {
    let mut values = values.into_iter();
    let Some(first) = values.next() else { return true };
    values.all(|value| value == first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_agrees_with_the_library() {
        for i in -70_800..70_900 {
            let x = f64::from(i) * 0.01;
            let (ours, library) = (exp(x), x.exp());
            assert!((ours - library).abs() <= 5e-16 * library, "exp({x}): {ours} and {library}");
        }
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(-1e9) > 0.0 && exp(-1e9) < 1e-300);
        assert!(exp(1e9).is_finite());
    }

    #[test]
    fn exp2_agrees_with_the_library() {
        for i in -102_200..=102_200 {
            let x = f64::from(i) * 0.01;
            let (ours, library) = (exp2(x), x.exp2());
            assert!((ours - library).abs() <= 1e-9 * library, "exp2({x}): {ours} and {library}");
        }
        assert_eq!((exp2(0.0), exp2(-3.0), exp2(1e9)), (1.0, 0.125, 2_f64.powi(1022)));
        assert!(exp2(-1e300) > 0.0);
    }

    #[test]
    fn top_two_of_short_lists() {
        assert_eq!(top_two([]), (0.0, 0.0));
        assert_eq!(top_two([3.0]), (3.0, 0.0));
        assert_eq!(top_two([-3.0, -4.0]), (-3.0, -4.0));
        assert_eq!(top_two([1.0, 5.0, 5.0]), (5.0, 5.0));
    }

    #[test]
    fn entropies_of_known_distributions() {
        assert_eq!(entropy_of_counts(&[7, 0]), 0.0);
        assert!((entropy_of_counts(&[5, 5, 5, 5]) - 4_f64.ln()).abs() < 1e-15);
    }

    /// numpy.quantile([1, 2, 4, 8], [0.5, 0.99]) gives 3 and 7.88.
    #[test]
    fn quantiles_interpolate() {
        let sorted = [1.0, 2.0, 4.0, 8.0];
        assert_eq!(quantile_of_sorted(&sorted, 0.5), 3.0);
        assert!((quantile_of_sorted(&sorted, 0.99) - 7.88).abs() < 1e-12);
        assert_eq!(quantile_of_sorted(&sorted, 1.0), 8.0);
    }
}
