//! How values are spread in several groups: a box from the lower to the upper quartile with a line at the
//! median, whiskers to the furthest value within 1.5 times the box, a triangle at the mean, and dots for
//! single values.

use super::frame::Labels;
use super::lines::extent;
use super::row_frame::RowFrame;
use super::svg::{Hover, Svg, Tooltip, fill, path_of_dots, short, stroke};
use crate::colour::{Colour, SERIES};
use crate::numbers::{counted, number};
use std::fmt::Write;
use unbraid::metrics::quantile_of_sorted;

/// One group.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct BoxGroup {
    /// What it is called.
    pub(crate) name: String,
    /// The label of its row, if that is not its name: in a list of settings, not every row repeats the method.
    pub(crate) label: Option<String>,
    /// Its values; those that are not finite are ignored.
    pub(crate) values: Vec<f64>,
    /// Its place among the colours of series.
    pub(crate) colour: usize,
    /// Whether a gap sets it off from the one before it.
    pub(crate) begins: bool,
    /// Published values to compare with, each with its source.
    pub(crate) published: Vec<(String, f64)>,
    /// What a value is of, in the singular; a run if this is empty.
    pub(crate) counted: &'static str,
}

/// Below this number of values there is no box: dots say more.
const FEWEST: usize = 4;
/// Up to this number, every value is a dot; with more, only those beyond the whiskers.
const FEW: usize = 20;
/// More dots than this beyond the whiskers are thinned out.
const MOST_DOTS: usize = 40;
/// Half the height of a box.
const HALF: f64 = 5.5;

/// Draws one row for each group.
pub(crate) fn draw(title: &str, horizontal: &str, groups: &[BoxGroup]) -> Svg {
    draw_with_chance(title, horizontal, groups, None)
}

/// As [`draw`], with a dashed line at the chance level, if that is known.
pub(crate) fn draw_with_chance(
    title: &str,
    horizontal: &str,
    groups: &[BoxGroup],
    chance: Option<f64>,
) -> Svg {
    let spreads: Vec<Option<Spread>> = groups.iter().map(|group| Spread::of(&group.values)).collect();
    let published = groups.iter().flat_map(|group| group.published.iter().map(|(_, value)| *value));
    let values = groups.iter().flat_map(|group| group.values.iter().copied());
    let (low, high) = extent(values.chain(published).chain(chance));
    let margin = (high - low) * 0.04;
    let words: Vec<String> = groups
        .iter()
        .zip(&spreads)
        .filter_map(|(group, spread)| Some(format!("{} {}", group.name, number(spread.as_ref()?.median))))
        .collect();
    let by_chance = chance.map_or_else(String::new, |level| format!("; by chance {}", number(level)));
    let label = format!("{title}: medians {}{by_chance}", words.join(", "));
    let labels = Labels { title, horizontal, description: &label };
    let rows =
        groups.iter().map(|group| (group.label.as_ref().unwrap_or(&group.name).as_str(), group.begins));
    let mut frame = RowFrame::new(labels, (low - margin, high + margin), rows);
    if let Some(level) = chance {
        frame.line_at(level, "chance");
    }
    let mut tooltips = Vec::new();
    for (row, (group, spread)) in groups.iter().zip(&spreads).enumerate() {
        let middle = frame.middle(row);
        let x = frame.x;
        let colour = SERIES[group.colour % SERIES.len()];
        if let Some(spread) = spread {
            draw_spread(&mut frame.svg, spread, middle, colour, |value| x.place(value));
            let text =
                spread.describe(&group.name, if group.counted.is_empty() { "run" } else { group.counted });
            tooltips.push(Tooltip { x: x.place(spread.median), y: middle, colour: Some(colour), text });
        }
        for (source, value) in &group.published {
            let place = x.place(*value);
            diamond(&mut frame.svg, (place, middle));
            let line = format!("\n{source}: {}", number(*value));
            match tooltips.last_mut().filter(|_| spread.is_some()) {
                Some(tooltip) => tooltip.text.push_str(&line),
                None => tooltips.push(Tooltip {
                    x: place,
                    y: middle,
                    colour: Some(colour),
                    text: format!("{}{line}", group.name),
                }),
            }
        }
    }
    frame.svg.set_tooltips(Hover::Row, &tooltips);
    frame.svg
}

/// A published value.
fn diamond(svg: &mut Svg, (x, y): (f64, f64)) {
    let path = format!("M{} {}l4.5 4.5l-4.5 4.5l-4.5 -4.5Z", short(x), short(y - 4.5));
    svg.path(&path, "published", "");
}

fn draw_spread(svg: &mut Svg, spread: &Spread, middle: f64, colour: Colour, place: impl Fn(f64) -> f64) {
    let line = stroke(colour);
    if spread.count >= FEWEST {
        let (left, right) = (place(spread.lower), place(spread.upper));
        let mut whiskers = String::new();
        for (from, to) in [(left, place(spread.whiskers.0)), (right, place(spread.whiskers.1))] {
            let _ = write!(
                whiskers,
                "M{} {}H{}M{} {}v5",
                short(from),
                short(middle),
                short(to),
                short(to),
                short(middle - 2.5)
            );
        }
        svg.path(&whiskers, "whisker", &line);
        svg.rectangle(
            (left, middle - HALF),
            ((right - left).max(0.5), 2.0 * HALF),
            "box",
            &(fill(colour) + &line),
        );
    }
    let dots = spread.dots.iter().map(|&value| (place(value), middle + jitter(value)));
    svg.path(&path_of_dots(dots), "dots value", &line);
    let median = place(spread.median);
    svg.path(&format!("M{} {}v{}", short(median), short(middle - HALF), 2.0 * HALF), "median", &line);
    if spread.count >= FEWEST {
        let mean = place(spread.mean);
        let path = format!("M{} {}l3 5h-6Z", short(mean), short(middle - 2.7));
        svg.path(&path, "mean", &line);
    }
}

/// Jitters dots that would cover each other vertically, by the bits of their values.
fn jitter(value: f64) -> f64 {
    let bits = value.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    (bits as f64 / f64::from(1 << 24) - 0.5) * 7.0
}

/// Five numbers, and the values that are drawn one by one.
#[derive(Clone, Debug, PartialEq)]
struct Spread {
    count: usize,
    mean: f64,
    lower: f64,
    median: f64,
    upper: f64,
    /// The furthest values within one and a half times the box.
    whiskers: (f64, f64),
    /// All values of a few, those beyond the whiskers of many.
    dots: Vec<f64>,
    /// Values beyond the whiskers that are not drawn.
    left_out: usize,
    ends: (f64, f64),
}

impl Spread {
    fn of(values: &[f64]) -> Option<Self> {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let (&least, &most) = (sorted.first()?, sorted.last()?);
        let [lower, median, upper] = [0.25, 0.5, 0.75].map(|share| quantile_of_sorted(&sorted, share));
        let reach = 1.5 * (upper - lower);
        let inside = |value: &f64| *value >= lower - reach && *value <= upper + reach;
        let within = || sorted.iter().copied().filter(|value| inside(value));
        let whiskers = (within().next().unwrap_or(lower), within().next_back().unwrap_or(upper));
        let mut left_out = 0;
        let dots = if sorted.len() <= FEW {
            sorted.clone()
        } else {
            let beyond: Vec<f64> = sorted.iter().copied().filter(|value| !inside(value)).collect();
            let kept = thinned(&beyond, MOST_DOTS);
            left_out = beyond.len() - kept.len();
            kept
        };
        let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
        let (count, ends) = (sorted.len(), (least, most));
        Some(Self { count, mean, lower, median, upper, whiskers, dots, left_out, ends })
    }

    fn describe(&self, name: &str, thing: &str) -> String {
        let mut words = format!(
            "{name}\nmedian {}, mean {}\nquartiles {} to {}\nall {} to {}, {}",
            number(self.median),
            number(self.mean),
            number(self.lower),
            number(self.upper),
            number(self.ends.0),
            number(self.ends.1),
            counted(self.count, thing)
        );
        if self.left_out > 0 {
            let _ = write!(words, "\n{} of the outlying dots are not drawn", self.left_out);
        }
        words
    }
}

/// Evenly chosen values, the ends among them.
fn thinned(values: &[f64], most: usize) -> Vec<f64> {
    if values.len() <= most {
        return values.to_vec();
    }
    (0..most).map(|place| values[place * (values.len() - 1) / (most - 1)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::hex;

    fn group(name: &str, values: Vec<f64>) -> BoxGroup {
        BoxGroup { name: name.to_owned(), values, ..BoxGroup::default() }
    }

    /// 1 to 8 and 100: quartiles at the places 2, 4 and 6 of nine; the whiskers reach 3 - 6 to 7 + 6.
    #[test]
    fn boxes_follow_the_quartiles_and_whiskers_stop_before_outliers() {
        let values: Vec<f64> = (1..=8).map(f64::from).chain([100.0, f64::NAN]).collect();
        let spread = Spread::of(&values).unwrap();
        assert_eq!((spread.count, spread.lower, spread.median, spread.upper), (9, 3.0, 5.0, 7.0));
        assert_eq!((spread.whiskers, spread.ends), ((1.0, 8.0), (1.0, 100.0)));
        assert_eq!(spread.dots.len(), 9, "a few values are all dots");
        assert!(Spread::of(&[f64::NAN]).is_none());
    }

    #[test]
    fn of_many_values_only_outlying_ones_are_dots_and_never_too_many() {
        let mut values: Vec<f64> = (0..1000).map(|i| f64::from(i % 10)).collect();
        values.extend((0..200).map(|i| 1000.0 + f64::from(i)));
        let spread = Spread::of(&values).unwrap();
        assert_eq!((spread.dots.len(), spread.left_out), (MOST_DOTS, 160));
        assert_eq!((spread.dots[0], spread.dots[MOST_DOTS - 1]), (1000.0, 1199.0));
        // 1,000 values from 0 to 9 with the mean 4.5, and 200 with the mean 1099.5.
        assert!((spread.mean - (4500.0 + 219_900.0) / 1200.0).abs() < 1e-9);
        let chart = draw("t", "x", &[group("a", values)]).inline();
        assert_eq!(
            (chart.matches("class=\"mean\"").count(), chart.matches("class=\"median\"").count()),
            (1, 1)
        );
        assert!(spread.describe("a", "run").contains("160 of the outlying dots are not drawn"));
    }

    #[test]
    fn rows_stand_in_order_with_their_colours_and_published_values() {
        let mut second = group("b <", vec![2.0, 3.0, 4.0, 5.0]);
        (second.colour, second.published) = (1, vec![("paper".to_owned(), 10.0)]);
        let chart = draw("MIG", "score", &[group("a", vec![0.0, 1.0]), second]).inline();
        assert!(chart.contains("MIG: medians a 0.5000, b &lt; 3.500"), "{chart}");
        // Two values are not enough for a box, four are.
        assert_eq!(chart.matches("class=\"box\"").count(), 1);
        assert_eq!(chart.matches("class=\"median\"").count(), 2);
        assert_eq!(chart.matches("class=\"published\"").count(), 1);
        assert!(chart.contains(&format!("class=\"box\" fill=\"{0}\" stroke=\"{0}\"", hex(SERIES[1]))));
        assert!(chart.contains("paper: 10.00"));
    }

    /// Values from 1 to 3 and chance at 0: the axis has room for both, and the line is at its low end.
    #[test]
    fn chance_is_a_line_through_all_rows() {
        let groups = [group("a", vec![1.0, 3.0]), group("b", vec![2.0])];
        let chart = draw_with_chance("MIG", "score", &groups, Some(0.0)).inline();
        assert!(chart.contains("MIG: medians a 2.000, b 2.000; by chance 0"), "{chart}");
        assert_eq!(chart.matches("class=\"chance\"").count(), 1);
        assert!(!draw("MIG", "score", &groups).inline().contains("class=\"chance\""));
    }

    #[test]
    fn nothing_can_be_drawn() {
        for groups in [vec![], vec![group("a", vec![])], vec![group("a", vec![f64::NAN, 1.0])]] {
            let chart = draw("t", "x", &groups).file();
            assert!(!chart.contains("NaN") && !chart.contains("inf"), "{chart}");
        }
    }
}
