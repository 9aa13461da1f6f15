//! The frame of charts with a row for each group: its name on the left, its values along a common axis.

use super::axis::Axis;
use super::frame::{Labels, WIDTH};
use super::svg::{Anchor, Svg};
use crate::font::page_text_width;

const TOP: f64 = 26.0;
const BOTTOM: f64 = 34.0;
const RIGHT: f64 = 12.0;
const WORD: f32 = 11.0;
/// From the middle of one row to that of the next.
pub(crate) const ROW: f64 = 18.0;
/// Between groups of rows.
const GAP: f64 = 7.0;
/// Labels may take this share of the width.
const NAMES: f64 = 0.45;

/// A frame with rows, ready to be drawn into.
#[derive(Debug)]
pub(crate) struct RowFrame {
    /// The drawing.
    pub(crate) svg: Svg,
    /// From left to right.
    pub(crate) x: Axis,
    middles: Vec<f64>,
    /// Where the rows end.
    bottom: f64,
}

impl RowFrame {
    /// A frame over this range of values with these rows, each with whether it begins a new group.
    pub(crate) fn new<'a>(
        labels: Labels<'_>,
        values: (f64, f64),
        rows: impl IntoIterator<Item = (&'a str, bool)>,
    ) -> Self {
        let rows: Vec<(&str, bool)> = rows.into_iter().collect();
        let most = WIDTH * NAMES;
        let shown: Vec<String> = rows.iter().map(|(name, _)| fitting(name, most)).collect();
        let left = shown.iter().map(|name| width(name)).fold(24.0, f64::max) + 12.0;
        let mut middles = Vec::with_capacity(rows.len());
        let mut y = TOP;
        for (place, (_, begins)) in rows.iter().enumerate() {
            if *begins && place > 0 {
                y += GAP;
            }
            middles.push(y + ROW / 2.0);
            y += ROW;
        }
        let mut svg = Svg::new(WIDTH, y + BOTTOM, labels.description);
        let x = Axis::new(values, (left, WIDTH - RIGHT));
        svg.text((8.0, 15.0), Anchor::Start, "title", &fitting(labels.title, WIDTH - 40.0));
        // Numbers of four digits need room.
        for (value, text) in x.ticks(if left > WIDTH / 3.0 { 3 } else { 4 }) {
            let place = x.place(value);
            svg.line((place, TOP), (place, y), "grid");
            let anchor = if place > WIDTH - RIGHT - 8.0 { Anchor::End } else { Anchor::Middle };
            let place = if anchor == Anchor::End { WIDTH - 3.0 } else { place };
            svg.text((place, y + 14.0), anchor, "tick", &text);
        }
        svg.line((left, y), (WIDTH - RIGHT, y), "axis");
        svg.text(((left + WIDTH - RIGHT) / 2.0, y + 28.0), Anchor::Middle, "tick", labels.horizontal);
        for (name, middle) in shown.iter().zip(&middles) {
            svg.text((left - 6.0, middle + 4.0), Anchor::End, "tick", name);
        }
        Self { svg, x, middles, bottom: y }
    }

    /// Draws a line through all rows at a value.
    pub(crate) fn line_at(&mut self, value: f64, class: &str) {
        let place = self.x.place(value);
        self.svg.line((place, TOP), (place, self.bottom), class);
    }

    /// The height of the middle of a row.
    pub(crate) fn middle(&self, row: usize) -> f64 {
        self.middles[row]
    }
}

fn width(text: &str) -> f64 {
    page_text_width(text, WORD)
}

/// The text, or as much of its beginning as fits.
fn fitting(text: &str, most: f64) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let mut kept: Vec<char> = text.chars().collect();
    while kept.pop().is_some() {
        let shorter = format!("{}…", kept.iter().collect::<String>().trim_end());
        if width(&shorter) <= most {
            return shorter;
        }
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_follow_each_other_and_groups_stand_apart() {
        let labels = Labels { title: "t", horizontal: "x", description: "d" };
        let rows = RowFrame::new(labels, (0.0, 1.0), [("a", true), ("b", false), ("c", true)]);
        assert_eq!(rows.middle(1) - rows.middle(0), ROW);
        assert_eq!(rows.middle(2) - rows.middle(1), ROW + GAP);
        assert!(rows.x.from > 20.0 && rows.x.to < WIDTH);
    }

    #[test]
    fn long_names_leave_room_for_values() {
        let labels = Labels { title: "t", horizontal: "x", description: "d" };
        let long = "a-very-long-method-name-with-many-words-and-settings";
        let rows = RowFrame::new(labels, (0.0, 1.0), [(long, false)]);
        assert!(rows.x.from < WIDTH * 0.55, "{}", rows.x.from);
        let cut = fitting(long, 60.0);
        assert!(
            cut.ends_with('…') && width(&cut) <= 60.0 && long.starts_with(cut.trim_end_matches('…')),
            "{cut}"
        );
        assert_eq!(fitting("short", 60.0), "short");
    }
}
