//! Stacked bars: a row for each score, cut into shares of its variance.

use super::frame::{Labels, WIDTH};
use super::row_frame::{ROW, RowFrame};
use super::svg::{Anchor, Hover, Svg, Tooltip, fill};
use crate::colour::SERIES;
use crate::font::page_text_width;
use crate::numbers::number;
use std::fmt::Write;

/// Draws a bar for each row, with one share of 1 for each part; the rest of a bar stays empty.
///
/// # Panics
/// If a row has not as many shares as there are parts.
pub(crate) fn draw(title: &str, parts: &[&str], rows: &[(String, Vec<f64>)]) -> Svg {
    let label =
        format!("{title}: {}", rows.iter().map(|row| describe(parts, row)).collect::<Vec<_>>().join("; "));
    let labels = Labels { title, horizontal: "share of the variance, %", description: &label };
    let mut frame = RowFrame::new(labels, (0.0, 100.0), rows.iter().map(|(name, _)| (name.as_str(), false)));
    let mut tooltips = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        assert_eq!(row.1.len(), parts.len(), "a share for each part");
        let middle = frame.middle(place);
        let mut from = 0.0;
        for (part, share) in row.1.iter().enumerate().filter(|(_, share)| share.is_finite()) {
            let (left, right) = (frame.x.place(from * 100.0), frame.x.place((from + share) * 100.0));
            let colour = fill(SERIES[part % SERIES.len()]);
            let size = ((right - left).max(0.0), ROW - 5.0);
            frame.svg.rectangle((left, middle - (ROW - 5.0) / 2.0), size, "part", &colour);
            from += share;
        }
        tooltips.push(Tooltip {
            x: frame.x.place(50.0),
            y: middle,
            colour: None,
            text: describe(parts, row),
        });
    }
    legend(&mut frame.svg, parts);
    frame.svg.set_tooltips(Hover::Row, &tooltips);
    frame.svg
}

fn describe(parts: &[&str], (name, shares): &(String, Vec<f64>)) -> String {
    let mut text = name.clone();
    for (part, share) in parts.iter().zip(shares) {
        let share = if share.is_finite() {
            format!("{} %", number((share * 1000.0).round() / 10.0))
        } else {
            "–".to_owned()
        };
        let _ = write!(text, "\n{part} {share}");
    }
    text
}

/// The names of the parts below the chart, in as many lines as they need.
fn legend(svg: &mut Svg, parts: &[&str]) {
    const LEFT: f64 = 12.0;
    let (mut x, mut y) = (LEFT, svg.height() + 8.0);
    for (part, name) in parts.iter().enumerate() {
        let width = page_text_width(name, 11.0) + 26.0;
        if x > LEFT && x + width > WIDTH {
            (x, y) = (LEFT, y + 16.0);
        }
        let colour = fill(SERIES[part % SERIES.len()]);
        svg.rectangle((x, y - 6.0), (10.0, 10.0), "part", &colour);
        svg.text((x + 14.0, y + 3.0), Anchor::Start, "tick", name);
        x += width;
    }
    svg.set_height(y + 10.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Halves and quarters of an axis: the second part begins where the first ends.
    #[test]
    fn parts_follow_each_other() {
        let rows = [("MIG".to_owned(), vec![0.5, 0.25]), ("SAP".to_owned(), vec![f64::NAN, 1.0])];
        let chart = draw("variance", &["method", "seed"], &rows).inline();
        let number = |text: &str| text.split('"').next().unwrap().parse::<f64>().unwrap();
        let bars: Vec<(f64, f64)> = chart
            .split("<rect x=\"")
            .skip(1)
            .map(|rest| (number(rest), number(rest.split("width=\"").nth(1).unwrap())))
            .collect();
        // Three bars and two of the legend.
        assert_eq!(bars.len(), 5);
        assert!((bars[0].0 + bars[0].1 - bars[1].0).abs() < 0.11, "{bars:?}");
        assert!((bars[0].1 - 2.0 * bars[1].1).abs() < 0.2, "{bars:?}");
        assert!((bars[2].1 - 2.0 * bars[0].1).abs() < 0.2, "{bars:?}");
        assert!(chart.contains("MIG\nmethod 50.00 %\nseed 25.00 %; SAP\nmethod –"), "{chart}");
    }
}
