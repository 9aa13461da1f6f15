//! Distribution functions and their inverses, in double precision.

use libm::{erfc, exp, lgamma, log, log1p};
use std::f64::consts::PI;

/// P(N(0, 1) <= x).
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * erfc(-x / std::f64::consts::SQRT_2)
}

/// From so many degrees of freedom on, what [`near_normal_cdf`] leaves out is below the rounding of a double.
const NEARLY_NORMAL: f64 = 1e6;

/// P(T <= x) for Student's t with `nu` degrees of freedom, by the incomplete beta function.
pub fn student_t_cdf(nu: f64, x: f64) -> f64 {
    // The continued fraction of the incomplete beta function loses digits as nu grows.
    if nu >= NEARLY_NORMAL {
        return near_normal_cdf(nu, x);
    }
    // Both arguments are passed, since 1 - w would lose all precision for x near 0 or many degrees of freedom.
    let square = x * x;
    let (w, rest) = (nu / (nu + square), square / (nu + square));
    let tail = 0.5 * incomplete_beta_half(0.5 * nu, w, rest);
    if x > 0.0 { 1.0 - tail } else { tail }
}

/// Phi(x) - phi(x) ((x^3 + x) / (4 nu) + (3 x^7 - 7 x^5 - 5 x^3 - 3 x) / (96 nu^2)) (Fisher 1925).
fn near_normal_cdf(nu: f64, x: f64) -> f64 {
    let square = x * x;
    let density = exp(-0.5 * square) / f64::sqrt(2.0 * PI);
    if density == 0.0 {
        return normal_cdf(x);
    }
    let first = x * (square + 1.0) / (4.0 * nu);
    let second = x * (((3.0 * square - 7.0) * square - 5.0) * square - 3.0) / (96.0 * nu * nu);
    normal_cdf(x) - density * (first + second)
}

/// ln of the constant in front of Student's density: Gamma((nu + 1) / 2) / (Gamma(nu / 2) sqrt(nu pi)). With many degrees
/// of freedom it is -1/2 ln(2 pi) - 1 / (4 nu), by the expansion below.
pub(super) fn student_t_log_constant(nu: f64) -> f64 {
    log_gamma_half_step(0.5 * nu) - 0.5 * log(nu * PI)
}

/// From here on, the next term of the expansion, 1 / (640 a^5), is below the last digit of a double.
const LARGE: f64 = 1000.0;

/// ln Gamma(a + 1/2) - ln Gamma(a). Both logarithms are about a ln a, so that nothing would be left of the digits of their
/// difference for large a. There it is 1/2 ln a - 1 / (8 a) + 1 / (192 a^3) - ..., from Stirling's series of both (DLMF
/// 5.11.8).
fn log_gamma_half_step(a: f64) -> f64 {
    if a < LARGE {
        return lgamma(a + 0.5) - lgamma(a);
    }
    0.5 * log(a) - 1.0 / (8.0 * a) + 1.0 / (192.0 * a * a * a)
}

/// The regularised incomplete beta function I_x(a, 1/2), with `rest` = 1 - x.
fn incomplete_beta_half(a: f64, x: f64, rest: f64) -> f64 {
    const B: f64 = 0.5;
    if x <= 0.0 || rest <= 0.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    let log_x = if x < 0.5 { log(x) } else { log1p(-rest) };
    let log_rest = if rest < 0.5 { log(rest) } else { log1p(-x) };
    // Gamma(1/2) = sqrt(pi)
    let front = exp(log_gamma_half_step(a) - 0.5 * log(PI) + a * log_x + B * log_rest);
    // The fraction converges quickly only on this side of the mean.
    if x < (a + 1.0) / (a + B + 2.0) {
        front * beta_fraction(a, B, x) / a
    } else {
        1.0 - front * beta_fraction(B, a, rest) / B
    }
}

/// The continued fraction of the incomplete beta function (Abramowitz & Stegun 26.5.8), evaluated from the front by
/// Lentz's method.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut numerator = 1.0;
    let mut denominator = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = denominator;
    // Far more iterations than any of our arguments needs; each adds about a digit.
    for round in 1..10_000 {
        let m = f64::from(round);
        for coefficient in [
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        ] {
            denominator = 1.0 / away_from_zero(1.0 + coefficient * denominator);
            numerator = away_from_zero(1.0 + coefficient / numerator);
            fraction *= numerator * denominator;
        }
        if (numerator * denominator - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction
}

/// The `x` at which a distribution function reaches `probability`, by bisection down to adjacent doubles.
pub fn inverse(distribution_function: impl Fn(f64) -> f64, probability: f64) -> f64 {
    let (mut low, mut high) = (-1.0, 1.0);
    while distribution_function(low) > probability && low > -f64::MAX / 4.0 {
        low *= 2.0;
    }
    while distribution_function(high) < probability && high < f64::MAX / 4.0 {
        high *= 2.0;
    }
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return middle;
        }
        if distribution_function(middle) < probability { low = middle } else { high = middle }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One degree of freedom is the Cauchy distribution, 1/2 + atan(x) / pi; two have 1/2 + x / (2 sqrt(2 + x^2)).
    #[test]
    fn students_distribution_has_its_closed_forms() {
        for x in [-1e6, -30.0, -2.5, -1.0, -1e-3, 0.0, 1e-9, 0.3, 1.0, 7.0, 1e3] {
            let cauchy = if x < -1.0 { f64::atan(-1.0 / x) / PI } else { 0.5 + f64::atan(x) / PI };
            let found = student_t_cdf(1.0, x);
            assert!((found - cauchy).abs() <= 1e-12 * cauchy, "{x}: {found} {cauchy}");
            let two = 0.5 + x / (2.0 * (2.0 + x * x).sqrt());
            assert!((student_t_cdf(2.0, x) - two).abs() < 1e-12, "{x}");
        }
    }

    /// Values of SciPy 1.17.1, `scipy.stats.t.cdf` and `norm.cdf`.
    #[test]
    fn distribution_functions_agree_with_scipy() {
        for (nu, x, expected) in SCIPY {
            let found = student_t_cdf(nu, x);
            assert!((found - expected).abs() <= 1e-12 * expected, "nu {nu}, x {x}: {found} {expected}");
        }
        assert!((normal_cdf(-5.0) - 2.866_515_718_791_933e-7).abs() < 1e-20);
        assert!((normal_cdf(1.0) - 0.841_344_746_068_542_9).abs() < 1e-15);
    }

    const SCIPY: [(f64, f64, f64); 8] = [
        (0.5, -3.0, 0.183_654_077_992_971_7),
        (3.0, -0.7, 0.267_163_499_152_381_8),
        (5.0, 2.1, 0.955_123_375_057_700_6),
        (9.0, -4.0, 0.001_555_214_155_192_927_2),
        (9.0, 0.01, 0.503_880_277_231_837_4),
        (100.0, 1.3, 0.901_705_268_288_816_9),
        (1e6, -2.0, 0.022_750_266_925_659_62),
        (1e6, 0.5, 0.691_462_406_263_814_3),
    ];

    /// Gamma(n + 1/2) / Gamma(n) = sqrt(pi) / 2 prod_{k < n} (k + 1/2) / k, on both sides of the place where the expansion
    /// takes over. The sum of a thousand logarithms has an error of some 1e-14.
    #[test]
    fn the_constant_of_students_density_is_a_product() {
        let mut log_ratio = (0.5 * PI.sqrt()).ln();
        for n in 1..=1001 {
            let n = f64::from(n);
            if n >= 998.0 {
                let expected = log_ratio - 0.5 * (2.0 * n * PI).ln();
                let found = student_t_log_constant(2.0 * n);
                // lgamma(1000) is near 5905, of which a double leaves 1e-12.
                assert!((found - expected).abs() < 4e-12, "nu {}: {found} {expected}", 2.0 * n);
            }
            log_ratio += (0.5 / n).ln_1p();
        }
    }

    /// -1/2 ln(2 pi) = -0.918938533204672742, and 1 / (4 nu) less. The density is (1 + (x^4 - 2 x^2 - 1) / (4 nu)) phi(x) up
    /// to terms of 1 / nu^2; the slope of the distribution function is the density.
    #[test]
    fn many_degrees_of_freedom_approach_the_normal_distribution() {
        for nu in [1e6, 1e8, 1e10, 1e12] {
            let found = student_t_log_constant(nu);
            assert!((found + 0.918_938_533_204_672_7 + 0.25 / nu).abs() < 1e-14, "nu {nu}: {found}");
            for x in [-3.0_f64, -0.5, 0.0, 0.3, 2.0] {
                let density = (-0.5 * x * x).exp() / (2.0 * PI).sqrt();
                let expected = density * (1.0 + (x.powi(4) - 2.0 * x * x - 1.0) / (4.0 * nu));
                let found = (student_t_cdf(nu, x + 1e-4) - student_t_cdf(nu, x - 1e-4)) / 2e-4;
                // Central differences: 1e-8 / 6 times the third derivative, and 1e-16 / 1e-4 of rounding.
                assert!((found - expected).abs() < 5e-9, "nu {nu}, x {x}: {found} {expected}");
            }
        }
        // On both sides of the place where the expansion takes over.
        for x in [-6.0, -2.0, 0.4, 3.0] {
            let [below, above] = [0.999_999, 1.0].map(|share| student_t_cdf(share * NEARLY_NORMAL, x));
            assert!((below / above - 1.0).abs() < 1e-9, "x {x}: {below} {above}");
        }
    }

    #[test]
    fn the_inverse_of_the_normal_distribution() {
        // The 97.5 % quantile, as in every statistical table.
        assert!((inverse(normal_cdf, 0.975) - 1.959_963_984_540_054).abs() < 1e-14);
        assert!(inverse(normal_cdf, 0.5).abs() < 1e-15);
    }
}
