//! Curves over a common axis, with their values at the pointer.

use super::frame::{Frame, Labels, series_style};
use super::svg::{Svg, path_through};
use crate::colour::{SERIES, hex};
use crate::numbers::{five_digits, number};
use serde_json::json;

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    /// What it is called in the legend.
    pub(crate) name: String,
    /// Its points from left to right.
    pub(crate) points: Vec<(f64, f64)>,
}

/// More points than this cannot be told apart; neighbours are averaged.
const MOST_POINTS: usize = 400;

/// The share of a curve at its beginning that need not fit the axis: losses fall from heights that would flatten the
/// rest.
const BEGINNING: f64 = 0.05;

/// Draws curves. The vertical axis covers all points but those of the first twentieth, which may come from above or
/// below.
pub(crate) fn draw(title: &str, horizontal: &str, series: &[Series]) -> Svg {
    draw_as(title, horizontal, series, BEGINNING, |place| place)
}

/// The same, with the place of each curve among the colours of series.
pub(crate) fn draw_in(title: &str, horizontal: &str, series: &[Series], colours: &[usize]) -> Svg {
    draw_as(title, horizontal, series, BEGINNING, |place| colours[place])
}

/// Draws curves as a whole: the vertical axis covers all points.
pub(crate) fn draw_whole(title: &str, horizontal: &str, series: &[Series]) -> Svg {
    draw_as(title, horizontal, series, 0.0, |place| place)
}

fn draw_as(
    title: &str,
    horizontal: &str,
    series: &[Series],
    beginning: f64,
    colour_of: impl Fn(usize) -> usize,
) -> Svg {
    let thin: Vec<Series> = series.iter().map(thinned).collect();
    let reach = |axis: fn(&(f64, f64)) -> f64, settled: bool| {
        let values = thin.iter().flat_map(|series| {
            let skip = if settled { (series.points.len() as f64 * beginning) as usize } else { 0 };
            // A curve of one point has no beginning.
            series.points.iter().skip(skip.min(series.points.len().saturating_sub(1))).map(axis)
        });
        extent(values)
    };
    let x = reach(|point| point.0, false);
    let (low, high) = reach(|point| point.1, true);
    let margin = (high - low) * 0.05;
    let last = |series: &Series| {
        let finite = series.points.iter().rev().find(|point| point.1.is_finite());
        finite.map(|point| number(point.1))
    };
    let ends: Vec<String> =
        thin.iter().filter_map(|series| Some(format!("{} {}", series.name, last(series)?))).collect();
    let label = format!("Curve of {title}, ending at {}", ends.join(", "));
    let mut frame =
        Frame::new(Labels { title, horizontal, description: &label }, x, (low - margin, high + margin));
    frame.inside(|svg, x, y| {
        for (place, series) in thin.iter().enumerate() {
            let points = series.points.iter().map(|point| (x.place(point.0), y.place(point.1)));
            svg.path(&path_through(points), "curve", &series_style(colour_of(place)));
        }
    });
    if thin.len() > 1 {
        frame.legend_of(
            thin.iter().enumerate().map(|(place, series)| (colour_of(place), series.name.as_str())),
        );
    }
    let Frame { mut svg, x, y, .. } = frame;
    let curves: Vec<_> = thin
        .iter()
        .enumerate()
        .map(|(place, series)| {
            // A gap has nothing to show under the pointer.
            let known = |point: &&(f64, f64)| point.0.is_finite() && point.1.is_finite();
            let finite: Vec<(f64, f64)> = series.points.iter().filter(known).copied().collect();
            let part = |axis: fn(&(f64, f64)) -> f64| -> Vec<f64> {
                finite.iter().map(axis).map(five_digits).collect()
            };
            let colour = hex(SERIES[colour_of(place) % SERIES.len()]);
            json!({ "name": series.name, "colour": colour, "x": part(|point| point.0), "y": part(|point| point.1) })
        })
        .collect();
    svg.set_data(&json!({
        "x": [x.low, x.high, x.from, x.to],
        "y": [y.low, y.high, y.from, y.to],
        "at": horizontal,
        "curves": curves,
    }));
    svg
}

/// The smallest and largest of the finite values.
pub(crate) fn extent(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let finite = values.into_iter().filter(|value| value.is_finite());
    finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
}

/// At most [`MOST_POINTS`], each the mean of some neighbours at the place of the last of them.
fn thinned(series: &Series) -> Series {
    let each = series.points.len().div_ceil(MOST_POINTS).max(1);
    let mean = |points: &[(f64, f64)]| {
        let sum: f64 = points.iter().map(|point| point.1).sum();
        (points.last().map_or(0.0, |point| point.0), sum / points.len() as f64)
    };
    Series { name: series.name.clone(), points: series.points.chunks(each).map(mean).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(points: Vec<(f64, f64)>) -> Series {
        Series { name: "a".to_owned(), points }
    }

    #[test]
    fn long_curves_are_averaged_and_short_ones_untouched() {
        let short = series(vec![(1.0, 5.0), (2.0, 7.0)]);
        assert_eq!(thinned(&short), short);
        let long = series((0..800).map(|i| (f64::from(i), f64::from(i % 2))).collect());
        let thin = thinned(&long);
        assert_eq!(thin.points.len(), 400);
        assert_eq!((thin.points[0], thin.points[399]), ((1.0, 0.5), (799.0, 0.5)));
    }

    /// A hundred points at 1 to 2 after a first one at 1000: that one is left out of the axis, and still in the data.
    #[test]
    fn the_beginning_does_not_flatten_the_rest() {
        let mut points = vec![(0.0, 1000.0)];
        points.extend((1..=99).map(|i| (f64::from(i), 1.0 + f64::from(i) / 99.0)));
        let chart = draw("loss", "step", &[series(points)]);
        let inline = chart.inline();
        let data = inline.split("data-chart=\"").nth(1).unwrap().split('"').next().unwrap();
        let data: serde_json::Value = serde_json::from_str(&data.replace("&quot;", "\"")).unwrap();
        let high = data["y"][1].as_f64().unwrap();
        assert!(high > 2.0 && high < 2.1, "{high}");
        assert_eq!(data["curves"][0]["y"][0], 1000.0);
        assert_eq!((data["x"][0].as_f64(), data["x"][1].as_f64()), (Some(0.0), Some(99.0)));
        assert!(inline.contains("ending at a 2.000"));
    }

    #[test]
    fn nothing_and_one_point_can_be_drawn() {
        for points in [vec![], vec![(3.0, 4.0)], vec![(1.0, f64::NAN)]] {
            assert!(!draw("t", "x", &[series(points)]).file().contains("NaN"));
        }
    }
}
