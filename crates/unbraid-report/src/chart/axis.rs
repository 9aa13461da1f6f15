//! Linear axes with round ticks: from values to coordinates.

use crate::numbers::minus;

/// A linear axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Axis {
    /// The value at its beginning.
    pub(crate) low: f64,
    /// The value at its end; always larger.
    pub(crate) high: f64,
    /// Where it begins on paper.
    pub(crate) from: f64,
    /// Where it ends on paper; smaller than `from` if it goes up.
    pub(crate) to: f64,
}

/// The end of the longest axis.
const LARGEST: f64 = 1e300;
/// How far outside its frame a point is drawn: browsers do not take any number for a coordinate.
const FARTHEST: f64 = 1e6;

impl Axis {
    /// An axis over `low` to `high`. Without extent, or with ends that are not finite, it is widened to something that
    /// can be drawn.
    pub(crate) fn new((low, high): (f64, f64), (from, to): (f64, f64)) -> Self {
        // Differences of larger numbers overflow.
        let bounded = |value: f64| if value.is_finite() { value.clamp(-LARGEST, LARGEST) } else { value };
        let (low, high) = (bounded(low), bounded(high));
        let (low, high) = match (low.is_finite(), high.is_finite()) {
            (true, true) if low < high => (low, high),
            (true, true) => {
                let middle = (low + high) / 2.0;
                let half = (middle.abs() * 0.1).max(0.5);
                (middle - half, middle + half)
            }
            _ => (0.0, 1.0),
        };
        Self { low, high, from, to }
    }

    /// The coordinate of a value; not exact far outside the frame, where it is not visible.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let place = self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from);
        place.clamp(-FARTHEST, FARTHEST)
    }

    /// Round values within the axis, about `count` of them, with how to write them.
    pub(crate) fn ticks(&self, count: usize) -> Vec<(f64, String)> {
        self.ticks_apart(count, 0.0)
    }

    /// The same for values that are numbers of things: whole ones.
    pub(crate) fn whole_ticks(&self, count: usize) -> Vec<(f64, String)> {
        self.ticks_apart(count, 1.0)
    }

    /// Ticks that are at least so far apart.
    fn ticks_apart(&self, count: usize, least: f64) -> Vec<(f64, String)> {
        let step = round_step(((self.high - self.low) / count.max(1) as f64).max(least));
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        (first..=last).map(|number| number as f64 * step).map(|value| (value, tick(value, step))).collect()
    }
}

/// The smallest of 1, 2, 5, 10, 20, ... times a power of ten that is not below `least`.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.max(f64::MIN_POSITIVE).log10().floor());
    // A hair of tolerance, so that a step that is already round is not taken for a little too much.
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= least * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

fn tick(value: f64, step: f64) -> String {
    // Three hundred digits are no label.
    if value.abs() >= 1e12 {
        return minus(format!("{value:.1e}"));
    }
    for (unit, suffix) in [(1e9, "G"), (1e6, "M"), (1e3, "k")] {
        if step >= unit / 10.0 && value.abs() >= unit {
            let decimals = usize::from(step < unit);
            return minus(format!("{:.decimals$}{suffix}", value / unit));
        }
    }
    if step < 1e-4 {
        return if value == 0.0 { "0".to_owned() } else { minus(format!("{value:.0e}")) };
    }
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    // Negative zero is zero.
    minus(format!("{:.decimals$}", value + 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_placed_in_proportion() {
        let axis = Axis::new((-1.0, 3.0), (100.0, 0.0));
        assert_eq!([axis.place(-1.0), axis.place(0.0), axis.place(3.0)], [100.0, 75.0, 0.0]);
    }

    #[test]
    fn ticks_are_round_and_within_the_axis() {
        let ticks = |low, high, count| -> Vec<String> {
            Axis::new((low, high), (0.0, 1.0)).ticks(count).into_iter().map(|(_, text)| text).collect()
        };
        assert_eq!(ticks(0.0, 10.0, 5), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(ticks(-3.0, 3.0, 3), ["−2", "0", "2"]);
        assert_eq!(ticks(0.0, 1.0, 4), ["0.0", "0.5", "1.0"]);
        assert_eq!(ticks(0.31, 0.39, 4), ["0.32", "0.34", "0.36", "0.38"]);
        assert_eq!(ticks(0.0, 300_000.0, 3), ["0", "100k", "200k", "300k"]);
        assert_eq!(ticks(0.0, 4000.0, 4), ["0", "1k", "2k", "3k", "4k"]);
        assert_eq!(ticks(0.0, 1200.0, 3), ["0", "500", "1.0k"]);
        let whole = Axis::new((-0.5, 1.5), (0.0, 1.0)).whole_ticks(4);
        assert_eq!(whole, [(0.0, "0".to_owned()), (1.0, "1".to_owned())]);
    }

    #[test]
    fn the_largest_numbers_can_be_drawn() {
        for (low, high) in [(-1e308, 1e308), (f64::MIN, f64::MAX), (1e308, 1e308), (0.0, f64::MAX)] {
            let axis = Axis::new((low, high), (0.0, 10.0));
            let ticks = axis.ticks(5);
            assert!(ticks.len() < 20, "{}", ticks.len());
            assert!(ticks.iter().all(|(value, _)| value.is_finite() && axis.place(*value).is_finite()));
            assert!([f64::MIN, f64::MAX].iter().all(|value| axis.place(*value).abs() <= 1e6));
        }
    }

    /// Steps that a log may claim: 2^60 and the next number of double precision, 2^8 further; and the smallest numbers.
    #[test]
    fn absurd_numbers_have_few_and_short_ticks() {
        let step = 2_f64.powi(60);
        for (low, high) in [
            (step, step + 256.0),
            (0.0, step),
            (1e300, 1e300 * (1.0 + f64::EPSILON)),
            (0.0, f64::from_bits(1)),
            (-f64::MIN_POSITIVE, f64::MIN_POSITIVE),
            (1.0, 1.0 + f64::EPSILON),
        ] {
            for ticks in [
                Axis::new((low, high), (0.0, 10.0)).ticks(4),
                Axis::new((low, high), (0.0, 10.0)).whole_ticks(4),
            ] {
                assert!(ticks.len() <= 6, "{low} {high}: {}", ticks.len());
                assert!(ticks.iter().all(|(_, text)| text.chars().count() <= 8), "{low} {high}: {ticks:?}");
            }
        }
        // A fifth of 2^60 is 2.3e17, and the next round number 5e17.
        let ticks = Axis::new((0.0, step), (0.0, 1.0)).ticks(5);
        let texts: Vec<&str> = ticks.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["0", "5.0e17", "1.0e18"]);
    }

    #[test]
    fn an_axis_without_extent_can_still_be_drawn() {
        for (low, high) in [(2.0, 2.0), (0.0, 0.0), (f64::NAN, 1.0), (f64::INFINITY, 0.0), (5.0, 1.0)] {
            let axis = Axis::new((low, high), (0.0, 10.0));
            assert!(axis.low < axis.high && axis.place(axis.low).is_finite(), "{low} {high}");
            assert!(axis.ticks(4).len() < 12);
        }
    }
}
