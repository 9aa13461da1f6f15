//! Histograms: one beside a density, or outlines of several.

use super::frame::{Frame, Labels, series_style};
use super::lines::extent;
use super::svg::{Svg, path_through, short};
use crate::numbers::number;
use std::fmt::Write;
use unbraid::model::steps;

const BINS: usize = 40;

/// The density of values in equal bins from `low` to `high`: counts over the number of all values and the
/// width of a bin, so that the bars have the area of the share that lies within.
pub(crate) fn densities(values: &[f64], (low, high): (f64, f64), bins: usize) -> Vec<f64> {
    let width = (high - low) / bins as f64;
    let mut counts = vec![0_u32; bins];
    for &value in values {
        let bin = ((value - low) / width).floor();
        // The last bin includes its upper end.
        let bin = if value == high { bins as f64 - 1.0 } else { bin };
        if bin >= 0.0 && bin < bins as f64 {
            counts[bin as usize] += 1;
        }
    }
    counts.into_iter().map(|count| f64::from(count) / (values.len().max(1) as f64 * width)).collect()
}

/// Bars of the values, and over them the curve of a density (Mushom 2020, Fig. 5.12).
pub(crate) fn against_density(
    title: &str,
    values: &[f64],
    range: (f64, f64),
    density: impl Fn(&[f64]) -> Vec<f64>,
) -> Svg {
    let bars = densities(values, range, BINS);
    let width = (range.1 - range.0) / BINS as f64;
    let places = steps(range, 121);
    let curve: Vec<(f64, f64)> = places.iter().copied().zip(density(&places)).collect();
    let (_, highest) = extent(curve.iter().map(|point| point.1).chain(bars.iter().copied()));
    let (mean, deviation) = moments(values);
    let label = format!(
        "Histogram of {title} with mean {} and standard deviation {}, beside the density of the prior",
        number(mean),
        number(deviation)
    );
    let mut frame =
        Frame::new(Labels { title, horizontal: "z", description: &label }, range, (0.0, highest * 1.05));
    frame.inside(|svg, x, y| {
        let mut path = String::new();
        for (bin, &bar) in bars.iter().enumerate().filter(|(_, bar)| **bar > 0.0) {
            let (left, right) = (range.0 + bin as f64 * width, range.0 + (bin as f64 + 1.0) * width);
            let _ = write!(
                path,
                "M{} {}V{}H{}V{}Z",
                short(x.place(left)),
                short(y.from),
                short(y.place(bar)),
                short(x.place(right)),
                short(y.from)
            );
        }
        svg.path(&path, "bar", "");
        svg.path(&path_through(curve.iter().map(|p| (x.place(p.0), y.place(p.1)))), "curve ink", "");
    });
    frame.svg
}

/// Outlines of several distributions over their common range.
pub(crate) fn outlines(title: &str, horizontal: &str, groups: &[(String, Vec<f64>)]) -> Svg {
    outlines_in(title, horizontal, groups, &(0..groups.len()).collect::<Vec<_>>())
}

/// The same, with the place of each distribution among the colours of series (Mushom 2020, Fig. 5.6).
pub(crate) fn outlines_in(
    title: &str,
    horizontal: &str,
    groups: &[(String, Vec<f64>)],
    colours: &[usize],
) -> Svg {
    let (low, high) = extent(groups.iter().flat_map(|(_, values)| values.iter().copied()));
    // A collapsed unit has the same value everywhere; its range must still have a width.
    let margin = ((high - low) * 0.05).max(0.05);
    let range = if low.is_finite() { (low - margin, high + margin) } else { (0.0, 1.0) };
    let outlines: Vec<Vec<f64>> = groups.iter().map(|(_, values)| densities(values, range, BINS)).collect();
    let (_, highest) = extent(outlines.iter().flatten().copied());
    let names: Vec<&str> = groups.iter().map(|(name, _)| name.as_str()).collect();
    let label = format!("{title}: distributions of {}", names.join(", "));
    let highest = if highest.is_finite() { highest * 1.05 } else { 1.0 };
    let mut frame = Frame::new(Labels { title, horizontal, description: &label }, range, (0.0, highest));
    let width = (range.1 - range.0) / BINS as f64;
    frame.inside(|svg, x, y| {
        for (&colour, outline) in colours.iter().zip(&outlines) {
            let corners = outline.iter().enumerate().flat_map(|(bin, &height)| {
                let left = range.0 + bin as f64 * width;
                [(left, height), (left + width, height)]
            });
            let path = path_through(corners.map(|(value, height)| (x.place(value), y.place(height))));
            svg.path(&path, "curve", &series_style(colour));
        }
    });
    frame.legend_of(colours.iter().copied().zip(names));
    frame.svg
}

fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    (mean, variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two of five values in [0, 1), one in [1, 2], one outside, one at the end: bins of width one.
    #[test]
    fn bars_have_the_area_of_their_share() {
        let bars = densities(&[0.0, 0.99, 1.5, 7.0, 2.0], (0.0, 2.0), 2);
        assert_eq!(bars, [0.4, 0.4]);
        let bars = densities(&[0.1, 0.2, 0.6], (0.0, 1.0), 2);
        assert!((bars[0] - 4.0 / 3.0).abs() < 1e-12 && (bars[1] - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(densities(&[], (0.0, 1.0), 3), [0.0; 3]);
    }

    #[test]
    fn collapsed_and_missing_values_can_be_drawn() {
        for values in [vec![], vec![1.0; 5], vec![f64::NAN]] {
            let chart = outlines("s", "x", &[("unit 0".to_owned(), values.clone())]).file();
            assert!(!chart.contains("NaN") && !chart.contains("inf"), "{chart}");
            let chart = against_density("u", &values, (-3.0, 3.0), |places| vec![0.1; places.len()]).file();
            assert!(!chart.contains("d=\"NaN") && !chart.contains("inf"), "{chart}");
        }
    }
}
