//! Distribution functions and their inverses, in double precision.

use libm::{erfc, exp, lgamma, log, log1p};

/// P(N(0, 1) <= x).
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * erfc(-x / std::f64::consts::SQRT_2)
}

/// P(T <= x) for Student's t with `nu` degrees of freedom, by the incomplete beta function.
pub fn student_t_cdf(nu: f64, x: f64) -> f64 {
    // Both arguments are passed, since 1 - w would lose all precision for x near 0 or many degrees of freedom.
    let square = x * x;
    let (w, rest) = (nu / (nu + square), square / (nu + square));
    let tail = 0.5 * incomplete_beta(0.5 * nu, 0.5, w, rest);
    if x > 0.0 { 1.0 - tail } else { tail }
}

/// ln of the constant in front of Student's density: Gamma((nu + 1) / 2) / (Gamma(nu / 2) sqrt(nu pi)).
pub(super) fn student_t_log_constant(nu: f64) -> f64 {
    lgamma(0.5 * (nu + 1.0)) - lgamma(0.5 * nu) - 0.5 * log(nu * std::f64::consts::PI)
}

/// The regularised incomplete beta function I_x(a, b), with `rest` = 1 - x.
fn incomplete_beta(a: f64, b: f64, x: f64, rest: f64) -> f64 {
    if x <= 0.0 || rest <= 0.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    let log_x = if x < 0.5 { log(x) } else { log1p(-rest) };
    let log_rest = if rest < 0.5 { log(rest) } else { log1p(-x) };
    let front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log_x + b * log_rest);
    // The fraction converges quickly only on this side of the mean.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(a, b, x) / a
    } else {
        1.0 - front * beta_fraction(b, a, rest) / b
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
    use std::f64::consts::PI;

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
            // The logarithms of the gamma functions are near 6e6 for a million degrees of freedom.
            let tolerance = if nu > 1e5 { 1e-8 } else { 1e-12 };
            assert!((found - expected).abs() <= tolerance * expected, "nu {nu}, x {x}: {found} {expected}");
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

    #[test]
    fn the_inverse_of_the_normal_distribution() {
        // The 97.5 % quantile, as in every statistical table.
        assert!((inverse(normal_cdf, 0.975) - 1.959_963_984_540_054).abs() < 1e-14);
        assert!(inverse(normal_cdf, 0.5).abs() < 1e-15);
    }
}
