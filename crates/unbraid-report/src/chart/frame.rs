//! The frame that charts share: title, axes with ticks and a legend.

use super::axis::Axis;
use super::svg::{Anchor, Svg, stroke};
use crate::colour::SERIES;
use crate::font::page_text_width;

/// Charts are this wide in their own units, so that their text can be read on a phone.
pub(crate) const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 200.0;
const TALL: f64 = 260.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 34.0;
const LEGEND_LINE: f64 = 16.0;
const LEGEND_SIZE: f32 = 11.0;

/// The texts of a chart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Labels<'a> {
    /// Above the chart.
    pub(crate) title: &'a str,
    /// Below the horizontal axis.
    pub(crate) horizontal: &'a str,
    /// What it shows, for screen readers.
    pub(crate) description: &'a str,
}

/// A chart with axes, ready to be drawn into.
#[derive(Debug)]
pub(crate) struct Frame {
    /// The drawing.
    pub(crate) svg: Svg,
    /// From left to right.
    pub(crate) x: Axis,
    /// From bottom to top.
    pub(crate) y: Axis,
    /// Without the legend.
    height: f64,
}

impl Frame {
    /// A frame over these ranges.
    pub(crate) fn new(labels: Labels<'_>, x: (f64, f64), y: (f64, f64)) -> Self {
        Self::with_ticks(labels, HEIGHT, x, y, |axis| axis.ticks(4))
    }

    /// A taller frame, with room for labels beside its points.
    pub(crate) fn tall(labels: Labels<'_>, x: (f64, f64), y: (f64, f64)) -> Self {
        Self::with_ticks(labels, TALL, x, y, |axis| axis.ticks(5))
    }

    /// A frame whose horizontal axis has integers only.
    pub(crate) fn counting(labels: Labels<'_>, x: (f64, f64), y: (f64, f64)) -> Self {
        Self::with_ticks(labels, HEIGHT, x, y, |axis| axis.whole_ticks(4))
    }

    /// A frame whose horizontal axis has these values at 0, 1, 2, ..., in equal distances.
    pub(crate) fn categorical(labels: Labels<'_>, values: &[String], y: (f64, f64)) -> Self {
        let last = values.len().saturating_sub(1) as f64;
        // Where neighbours would touch, only every second or third is written.
        let widest = values.iter().map(|value| page_text_width(value, LEGEND_SIZE)).fold(0.0, f64::max);
        let room = (WIDTH - LEFT - RIGHT) / (last + 1.0);
        let stride = ((widest + 6.0) / room).ceil().max(1.0) as usize;
        Self::with_ticks(labels, HEIGHT, (-0.5, last + 0.5), y, |_| {
            values
                .iter()
                .cloned()
                .enumerate()
                .map(|(place, value)| (place as f64, value))
                .step_by(stride)
                .collect()
        })
    }

    fn with_ticks(
        labels: Labels<'_>,
        height: f64,
        x: (f64, f64),
        y: (f64, f64),
        ticks: impl Fn(&Axis) -> Vec<(f64, String)>,
    ) -> Self {
        let mut svg = Svg::new(WIDTH, height, labels.description);
        let x = Axis::new(x, (LEFT, WIDTH - RIGHT));
        let y = Axis::new(y, (height - BOTTOM, TOP));
        svg.text((LEFT, TOP - 9.0), Anchor::Start, "title", labels.title);
        for (value, text) in y.ticks(if height > HEIGHT { 6 } else { 4 }) {
            let place = y.place(value);
            svg.line((LEFT, place), (WIDTH - RIGHT, place), "grid");
            svg.text((LEFT - 5.0, place + 4.0), Anchor::End, "tick", &text);
        }
        for (value, text) in ticks(&x) {
            let place = x.place(value);
            svg.line((place, y.from), (place, y.from + 4.0), "axis");
            // Text at the very end would be cut off.
            let anchor = if place > WIDTH - RIGHT - 12.0 { Anchor::End } else { Anchor::Middle };
            svg.text((place, y.from + 15.0), anchor, "tick", &text);
        }
        svg.line((LEFT, y.from), (WIDTH - RIGHT, y.from), "axis");
        svg.text(((LEFT + WIDTH - RIGHT) / 2.0, height - 5.0), Anchor::Middle, "tick", labels.horizontal);
        Self { svg, x, y, height }
    }

    /// Draws within the axes; what lies outside is clipped.
    pub(crate) fn inside(&mut self, draw: impl FnOnce(&mut Svg, &Axis, &Axis)) {
        let (x, y) = (self.x, self.y);
        let (corner, size) = ((x.from, y.to), (x.to - x.from, y.from - y.to));
        self.svg.clipped(corner, size, |svg| draw(svg, &x, &y));
    }

    /// Labels of the series below the chart, in as many lines as they need.
    pub(crate) fn legend<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) {
        self.legend_of(names.into_iter().enumerate());
    }

    /// The same for series whose colours do not follow their order.
    pub(crate) fn legend_of<'a>(&mut self, names: impl IntoIterator<Item = (usize, &'a str)>) {
        self.legend_in(names.into_iter().map(|(place, name)| (series_style(place), name)));
    }

    /// The same for series with styles of their own.
    pub(crate) fn legend_in<'a>(&mut self, names: impl IntoIterator<Item = (String, &'a str)>) {
        let (mut x, mut line) = (LEFT, 0.0);
        for (paint, name) in names {
            let width = page_text_width(name, LEGEND_SIZE) + 28.0;
            if x > LEFT && x + width > WIDTH {
                (x, line) = (LEFT, line + 1.0);
            }
            let y = self.height + 6.0 + line * LEGEND_LINE;
            self.svg.path(&format!("M{x} {y}h14"), "curve", &paint);
            self.svg.text((x + 18.0, y + 4.0), Anchor::Start, "tick", name);
            x += width;
        }
        self.svg.set_height(self.height + (line + 1.0) * LEGEND_LINE);
    }
}

/// How the curve at this place of a list looks: its own colour, and dashes from the second time around.
pub(crate) fn series_style(place: usize) -> String {
    let colour = stroke(SERIES[place % SERIES.len()]);
    match place / SERIES.len() {
        0 => colour,
        round => format!("{colour} stroke-dasharray=\"{} 3\"", 2 + 3 * round),
    }
}
