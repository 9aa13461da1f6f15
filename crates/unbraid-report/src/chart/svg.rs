//! Shapes and text as SVG, which take their colours from the page that shows them.

use crate::colour::{Colour, hex};
use crate::error::Result;
use crate::html::{CHART_STYLE, escape};
use serde_json::json;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use unbraid::files::{self, Existing};

/// Where text stands relative to its anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// The anchor is its left end.
    Start,
    /// The anchor is its middle.
    Middle,
    /// The anchor is its right end.
    End,
}

impl Anchor {
    fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// Text that a page shows while the pointer is over a part of a chart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tooltip {
    /// Where that part is, from the left.
    pub(crate) x: f64,
    /// Where that part is, from the top.
    pub(crate) y: f64,
    /// The colour of its first line; `None` for that of other text.
    pub(crate) colour: Option<Colour>,
    /// What it says, in lines.
    pub(crate) text: String,
}

/// Which tooltip belongs to the pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hover {
    /// The nearest.
    Point,
    /// The one in whose row the pointer is.
    Row,
}

/// A chart.
#[derive(Clone, Debug)]
pub(crate) struct Svg {
    width: f64,
    height: f64,
    /// What it shows, for screen readers.
    label: String,
    /// What the page's script shows under the pointer, as JSON.
    data: Option<String>,
    body: String,
}

impl Svg {
    /// An empty chart; `label` says what it shows.
    pub(crate) fn new(width: f64, height: f64, label: impl Into<String>) -> Self {
        Self { width, height, label: label.into(), data: None, body: String::new() }
    }

    /// Its height in its own units.
    pub(crate) fn height(&self) -> f64 {
        self.height
    }

    /// Makes it higher.
    pub(crate) fn set_height(&mut self, height: f64) {
        self.height = height;
    }

    /// What the page's script shows under the pointer.
    pub(crate) fn set_data(&mut self, data: &serde_json::Value) {
        self.data = Some(data.to_string());
    }

    /// Text that the page's script shows beside the pointer.
    pub(crate) fn set_tooltips(&mut self, hover: Hover, tooltips: &[Tooltip]) {
        let marks: Vec<_> = tooltips
            .iter()
            .filter(|tooltip| tooltip.x.is_finite() && tooltip.y.is_finite())
            .map(|tooltip| {
                json!([tenths(tooltip.x), tenths(tooltip.y), tooltip.colour.map(hex), tooltip.text])
            })
            .collect();
        let near = match hover {
            Hover::Point => "point",
            Hover::Row => "row",
        };
        self.set_data(&json!({ "near": near, "marks": marks }));
    }

    /// Text with its baseline at `y`.
    pub(crate) fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, class: &str, text: &str) {
        let (x, y, anchor, text) = (short(x), short(y), anchor.word(), escape(text));
        let _ = writeln!(
            self.body,
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" class=\"{class}\">{text}</text>"
        );
    }

    /// Text that reads upwards from its anchor.
    pub(crate) fn upright_text(&mut self, (x, y): (f64, f64), class: &str, text: &str) {
        let (x, y, text) = (short(x), short(y), escape(text));
        let _ = writeln!(
            self.body,
            "<text x=\"{x}\" y=\"{y}\" transform=\"rotate(-90 {x} {y})\" class=\"{class}\">{text}</text>"
        );
    }

    /// A line from here to there.
    pub(crate) fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), class: &str) {
        let (x1, y1, x2, y2) = (short(x1), short(y1), short(x2), short(y2));
        let _ =
            writeln!(self.body, "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" class=\"{class}\"/>");
    }

    /// A rectangle; `paint` is from [`stroke`] and [`fill`].
    pub(crate) fn rectangle(
        &mut self,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        class: &str,
        paint: &str,
    ) {
        let (x, y, width, height) = (short(x), short(y), short(width), short(height));
        let _ = writeln!(
            self.body,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" class=\"{class}\"{paint}/>"
        );
    }

    /// A path; `paint` is from [`stroke`] and [`fill`].
    pub(crate) fn path(&mut self, path: &str, class: &str, paint: &str) {
        let _ = writeln!(self.body, "<path d=\"{path}\" class=\"{class}\"{paint}/>");
    }

    /// What `draw` draws is cut at this rectangle.
    pub(crate) fn clipped(
        &mut self,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        draw: impl FnOnce(&mut Self),
    ) {
        // A nested drawing cuts at its edges, and needs no name that would have to differ from all others of a page.
        let (x, y, width, height) = (short(x), short(y), short(width), short(height));
        let _ = writeln!(
            self.body,
            "<svg x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" viewBox=\"{x} {y} {width} {height}\">"
        );
        draw(self);
        self.body.push_str("</svg>\n");
    }

    /// Several charts in rows.
    pub(crate) fn grid(charts: &[Self], columns: usize, label: impl Into<String>) -> Self {
        const GAP: f64 = 12.0;
        let cell = |size: fn(&Self) -> f64| charts.iter().map(size).fold(0.0, f64::max) + GAP;
        let (width, height) = (cell(|chart| chart.width), cell(|chart| chart.height));
        let columns = columns.clamp(1, charts.len().max(1));
        let rows = charts.len().div_ceil(columns);
        let mut grid = Self::new(width * columns as f64, height * rows as f64, label);
        for (place, chart) in charts.iter().enumerate() {
            let (x, y) = ((place % columns) as f64 * width, (place / columns) as f64 * height);
            let _ = writeln!(
                grid.body,
                "<svg x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\">\n{}</svg>",
                short(x),
                short(y),
                short(chart.width),
                short(chart.height),
                chart.body
            );
        }
        grid
    }

    /// As a part of a page. It becomes as wide as its container, up to a limit that keeps its text readable.
    pub(crate) fn inline(&self) -> String {
        self.inline_with(self.width * 1.5)
    }

    /// As a part of a page that scrolls where there is not enough room.
    pub(crate) fn inline_in_full(&self) -> String {
        self.inline_with(self.width)
    }

    /// The width that is asked for is an attribute, since the security policy of pages allows no styles of
    /// single elements.
    fn inline_with(&self, most: f64) -> String {
        let (width, height, label) = (short(self.width), short(self.height), escape(&self.label));
        // What can be read off with the pointer can be read off with the arrow keys.
        let data = self
            .data
            .as_ref()
            .map_or_else(String::new, |data| format!(" tabindex=\"0\" data-chart=\"{}\"", escape(data)));
        format!(
            "<svg class=\"chart\" viewBox=\"0 0 {width} {height}\" width=\"{}\" role=\"img\" \
             aria-label=\"{label}\"{data}>\n{}</svg>\n",
            short(most),
            self.body
        )
    }

    /// As a standalone file.
    pub(crate) fn file(&self) -> String {
        let (width, height, label) = (short(self.width), short(self.height), escape(&self.label));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\">\n<style>\n{CHART_STYLE}</style>\n\
             <rect width=\"100%\" height=\"100%\" class=\"sheet\"/>\n{}</svg>\n",
            self.body
        )
    }

    /// Writes the file.
    ///
    /// # Errors
    /// If it cannot be written, or exists and is to be kept.
    pub(crate) fn save(&self, path: &Path, existing: Existing) -> Result {
        Ok(files::write(path, existing, |file| file.write_all(self.file().as_bytes()))?)
    }
}

/// The colour of a line, as an attribute: the security policy of pages allows no styles of single elements.
pub(crate) fn stroke(colour: Colour) -> String {
    format!(" stroke=\"{}\"", hex(colour))
}

/// The colour of an area, as an attribute.
pub(crate) fn fill(colour: Colour) -> String {
    format!(" fill=\"{}\"", hex(colour))
}

/// A path through points; points that are not finite interrupt it.
pub(crate) fn path_through(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    let mut drawing = false;
    for (x, y) in points {
        if !(x.is_finite() && y.is_finite()) {
            drawing = false;
            continue;
        }
        let _ = write!(path, "{}{} {}", if drawing { "L" } else { "M" }, short(x), short(y));
        drawing = true;
    }
    path
}

/// Dots as one path: each is a line of no length with round ends.
pub(crate) fn path_of_dots(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (x, y) in points.into_iter().filter(|(x, y)| x.is_finite() && y.is_finite()) {
        let _ = write!(path, "M{} {}h0", short(x), short(y));
    }
    path
}

/// A coordinate to a tenth, as short as it can be.
pub(crate) fn short(value: f64) -> String {
    tenths(value).to_string()
}

fn tenths(value: f64) -> f64 {
    // Adding zero turns negative zero into zero.
    (value * 10.0).round() / 10.0 + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short_and_gaps_interrupt_a_path() {
        assert_eq!([short(-0.01), short(2.0), short(2.449)], ["0", "2", "2.4"]);
        let path = path_through([(0.0, 1.0), (1.0, 2.0), (2.0, f64::NAN), (3.0, 0.55)]);
        assert_eq!(path, "M0 1L1 2M3 0.6");
        assert_eq!(path_of_dots([(1.0, 2.0), (f64::INFINITY, 0.0)]), "M1 2h0");
    }

    #[test]
    fn words_and_labels_are_escaped() {
        let mut chart = Svg::new(10.0, 10.0, "a \"b\"");
        chart.text((0.0, 0.0), Anchor::End, "tick", "<script>");
        chart.set_data(&serde_json::json!({ "name": "<'\">" }));
        let inline = chart.inline();
        assert!(inline.contains("&lt;script&gt;") && inline.contains("aria-label=\"a &quot;b&quot;\""));
        assert!(
            inline.contains("data-chart=\"{&quot;name&quot;:&quot;&lt;&#39;\\&quot;&gt;&quot;}\""),
            "{inline}"
        );
        assert!(!chart.file().contains("data-chart") && chart.file().starts_with("<svg xmlns="));
    }
}
