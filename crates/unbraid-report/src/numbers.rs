//! Numbers as people write them.

/// An integer with a comma between thousands.
///
/// ```
/// assert_eq!(unbraid_report::thousands(737_280), "737,280");
/// ```
pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with about four digits: 0.0123, 12.34, 1234, 1.23e7. A score that is undefined is no number.
pub(crate) fn number(value: f64) -> String {
    if value.is_nan() {
        return "n/a".to_owned();
    }
    if !value.is_finite() {
        return value.to_string();
    }
    let size = value.abs();
    minus(match size {
        _ if size == 0.0 => "0".to_owned(),
        _ if !(1e-4..1e6).contains(&size) => format!("{value:.2e}"),
        _ if size < 1.0 => format!("{value:.4}"),
        _ if size < 10.0 => format!("{value:.3}"),
        _ if size < 100.0 => format!("{value:.2}"),
        _ if size < 1000.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    })
}

/// A number with one decimal, never a negative zero: −2.0, 0.0, 1.2.
pub(crate) fn one_decimal(value: f64) -> String {
    minus(format!("{:.1}", (value * 10.0).round() / 10.0 + 0.0))
}

/// Digits with a real minus sign in place of a hyphen.
pub(crate) fn minus(text: impl AsRef<str>) -> String {
    text.as_ref().replace('-', "−")
}

/// Rounded to five digits, for files that need no more.
pub(crate) fn five_digits(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let places = 4 - value.abs().log10().floor() as i32;
    // A power of ten that is no number of double precision.
    if places > 300 {
        return value;
    }
    // Dividing by a power of ten rather than multiplying by its inverse keeps the decimal short.
    let (factor, divide) = (10_f64.powi(places.abs()), places < 0);
    if divide { (value / factor).round() * factor } else { (value * factor).round() / factor }
}

/// A count of things: `1 run`, `12 runs`.
pub(crate) fn counted(count: usize, thing: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {thing}{ending}", thousands(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        assert_eq!([5, 999, 1000, 737_280].map(thousands), ["5", "999", "1,000", "737,280"]);
    }

    #[test]
    fn numbers_have_about_four_digits() {
        let found = [0.0, 0.012_34, -1.5, 12.345, 123.45, 1234.5, 12_345_678.0, 1e-7].map(number);
        assert_eq!(found, ["0", "0.0123", "−1.500", "12.35", "123.5", "1234", "1.23e7", "1.00e−7"]);
        assert_eq!([-1e-13, -2.04, 0.55, 3.0].map(one_decimal), ["0.0", "−2.0", "0.6", "3.0"]);
        assert_eq!([five_digits(1_234_567.0), five_digits(0.001_234_567)], [1_234_600.0, 0.001_234_6]);
        let smallest = f64::from_bits(1);
        assert_eq!(five_digits(smallest), smallest);
    }

    #[test]
    fn one_thing_has_no_plural() {
        assert_eq!(
            [counted(1, "run"), counted(0, "run"), counted(2000, "seed")],
            ["1 run", "0 runs", "2,000 seeds"]
        );
    }
}
