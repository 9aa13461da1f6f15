//! Scatter plots: a unit against a factor (Dupont 2018, Fig. 9a), or two-dimensional data.

use super::axis::Axis;
use super::frame::{Frame, Labels, series_style};
use super::lines::extent;
use super::svg::{Svg, path_of_dots, stroke};
use crate::colour::Colour;
use crate::numbers::counted;

/// Some points that belong together.
pub(crate) type PointGroup = (String, Vec<(f64, f64)>);
/// The same in a colour of their own.
pub(crate) type ColouredGroup = (String, Colour, Vec<(f64, f64)>);

/// Points of a factor's values (horizontal) and a unit's values (vertical), with the mean of each column. The
/// factor's values are numbers, or places in the list of its `names`.
pub(crate) fn unit_against_factor(title: &str, factor: &str, names: &[String], points: &[(f64, f64)]) -> Svg {
    let (low, high) = extent(points.iter().map(|point| point.0));
    let (bottom, top) = extent(points.iter().map(|point| point.1));
    let margin = (top - bottom) * 0.05;
    let means = column_means(points);
    let name = |value: f64| names.get(value as usize).cloned().unwrap_or_else(|| value.to_string());
    let words: Vec<String> =
        means.iter().map(|(value, mean)| format!("{mean:.2} at {}", name(*value))).collect();
    // A factor like an orientation has forty values; the ends and some between are enough to listen to.
    let step = words.len().div_ceil(8).max(1);
    let words: Vec<&str> = words.iter().step_by(step).map(String::as_str).collect();
    let label = format!("{title}: mean of the unit for values of {factor}: {}", words.join(", "));
    let labels = Labels { title, horizontal: factor, description: &label };
    let heights = (bottom - margin, top + margin);
    let mut frame = if names.is_empty() {
        Frame::counting(labels, (low - 0.5, high + 0.5), heights)
    } else {
        Frame::categorical(labels, names, heights)
    };
    frame.inside(|svg, x, y| {
        let place = |point: &(f64, f64)| (x.place(point.0 + spread(point.1)), y.place(point.1));
        svg.path(&path_of_dots(points.iter().map(place)), "dots", &series_style(0));
        let middles = means.iter().map(|(value, mean)| (x.place(*value), y.place(*mean)));
        svg.path(&path_of_dots(middles), "dots mean", "");
    });
    frame.svg
}

/// Points that share a factor's value would lie on one line; this jitters each by the bits of its value, up to a fifth
/// of a column.
fn spread(value: f64) -> f64 {
    let bits = value.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    (bits as f64 / f64::from(1 << 24) - 0.5) * 0.4
}

/// The mean of the second values for each first value, in order.
fn column_means(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut sorted: Vec<(f64, f64)> = points.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let columns = sorted.chunk_by(|a, b| a.0 == b.0);
    columns
        .map(|column| (column[0].0, column.iter().map(|p| p.1).sum::<f64>() / column.len() as f64))
        .collect()
}

/// Points of the plane in groups.
pub(crate) fn plane(title: &str, groups: &[PointGroup]) -> Svg {
    let reach = |axis: fn(&(f64, f64)) -> f64| {
        let (low, high) = extent(groups.iter().flat_map(|(_, points)| points.iter().map(axis)));
        let margin = (high - low) * 0.05;
        (low - margin, high + margin)
    };
    let counts: Vec<String> =
        groups.iter().map(|(name, points)| format!("{} points {name}", points.len())).collect();
    let label = format!("{title}: {}", counts.join(", "));
    let labels = Labels { title, horizontal: "", description: &label };
    let mut frame = Frame::new(labels, reach(|point| point.0), reach(|point| point.1));
    frame.inside(|svg, x: &Axis, y: &Axis| {
        for (place, (_, points)) in groups.iter().enumerate() {
            let dots = points.iter().map(|point| (x.place(point.0), y.place(point.1)));
            svg.path(&path_of_dots(dots), "dots", &series_style(place));
        }
    });
    if groups.len() > 1 {
        frame.legend(groups.iter().map(|(name, _)| name.as_str()));
    }
    frame.svg
}

/// Points of the plane of two units, each group in a colour of its own, which the legend names.
pub(crate) fn coloured_plane(
    title: &str,
    (horizontal, vertical): (&str, &str),
    groups: &[ColouredGroup],
) -> Svg {
    let reach = |axis: fn(&(f64, f64)) -> f64| {
        let (low, high) = extent(groups.iter().flat_map(|(_, _, points)| points.iter().map(axis)));
        let margin = (high - low) * 0.05;
        (low - margin, high + margin)
    };
    let words: Vec<String> = groups
        .iter()
        .map(|(name, _, points)| format!("{name}: {}", counted(points.len(), "point")))
        .collect();
    let label = format!("{title}, {horizontal} and {vertical}: {}", words.join(", "));
    let title = format!("{title} ({vertical} over {horizontal})");
    let labels = Labels { title: &title, horizontal, description: &label };
    let mut frame = Frame::tall(labels, reach(|point| point.0), reach(|point| point.1));
    frame.inside(|svg, x: &Axis, y: &Axis| {
        for (_, colour, points) in groups {
            let dots = points.iter().map(|point| (x.place(point.0), y.place(point.1)));
            svg.path(&path_of_dots(dots), "dots run", &stroke(*colour));
        }
    });
    if groups.len() > 1 {
        frame.legend_in(groups.iter().map(|(name, colour, _)| (stroke(*colour), name.as_str())));
    }
    frame.svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_their_colours_and_names() {
        let groups = [
            ("0".to_owned(), [1, 2, 3], vec![(0.0, 1.0), (2.0, 1.0)]),
            ("1".to_owned(), [9, 8, 7], vec![(1.0, -1.0)]),
        ];
        let chart = coloured_plane("digit", ("unit 0", "unit 1"), &groups).inline();
        assert!(chart.contains("digit, unit 0 and unit 1: 0: 2 points, 1: 1 point"), "{chart}");
        // The dots and the entry of the legend.
        assert_eq!((chart.matches("#010203").count(), chart.matches("#090807").count()), (2, 2));
        assert_eq!(chart.matches("h0").count(), 3);
    }

    #[test]
    fn columns_have_their_means() {
        let points = [(1.0, 2.0), (0.0, 5.0), (1.0, 4.0), (3.0, -1.0)];
        assert_eq!(column_means(&points), [(0.0, 5.0), (1.0, 3.0), (3.0, -1.0)]);
        let chart = unit_against_factor("unit 2", "scale", &[], &points).inline();
        assert!(chart.contains("values of scale: 5.00 at 0, 3.00 at 1, -1.00 at 3"), "{chart}");
        assert_eq!(chart.matches("h0").count(), 4 + 3);
    }

    #[test]
    fn points_stay_within_their_column() {
        for value in [-1.0, 0.0, 1e-9, 3.7, 1e9] {
            assert!(spread(value).abs() <= 0.2);
        }
    }

    /// Classes have their names below the axis and in the words, not their places.
    #[test]
    fn classes_are_called_by_their_names() {
        let names = ["obj1", "obj7"].map(str::to_owned);
        let chart = unit_against_factor("unit 2", "object", &names, &[(0.0, 1.0), (1.0, 3.0)]).inline();
        assert!(chart.contains("1.00 at obj1, 3.00 at obj7"), "{chart}");
        assert!(chart.contains(">obj1</text>") && chart.contains(">obj7</text>"), "{chart}");
    }
}
