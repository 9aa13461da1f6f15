//! Points with labels beside them and intervals around them, joined within their series: one quantity against
//! another, with a hyper-parameter as the label (Kumar 2018, Fig. 1; Mathieu 2019, Fig. 2).

use super::frame::{Frame, Labels, series_style};
use super::lines::extent;
use super::svg::{Anchor, Hover, Svg, Tooltip, path_of_dots, path_through, short, stroke};
use crate::colour::SERIES;
use crate::font::page_text_width;
use crate::numbers::number;
use std::fmt::Write;

/// Some points that belong together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LabelledSeries {
    /// What it is called in the legend.
    pub(crate) name: String,
    /// Its place among the colours of series.
    pub(crate) colour: usize,
    /// Its points; they are joined in this order if `joined`.
    pub(crate) points: Vec<LabelledPoint>,
    /// Whether a line leads through them.
    pub(crate) joined: bool,
}

/// One of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LabelledPoint {
    /// From left to right.
    pub(crate) x: f64,
    /// From bottom to top.
    pub(crate) y: f64,
    /// An interval around `y`, drawn as a bar.
    pub(crate) interval: Option<(f64, f64)>,
    /// A short label beside it, left out where there is no room.
    pub(crate) label: String,
    /// The last line of its tooltip.
    pub(crate) note: String,
}

/// The titles of the axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AxisTitles<'a> {
    /// Above the chart: the vertical axis.
    pub(crate) vertical: &'a str,
    /// Below it.
    pub(crate) horizontal: &'a str,
}

const LABEL_SIZE: f32 = 10.0;
/// The height of a label.
const LINE: f64 = 10.0;

/// Draws the points. Of two or three values an interval may be so wide that it would flatten all others; it is cut
/// where it would more than triple the chart.
pub(crate) fn draw(axes: AxisTitles<'_>, series: &[LabelledSeries]) -> Svg {
    draw_within(axes, series, 1.0)
}

/// Draws the points, with intervals that are cut near the highest and the lowest of them.
pub(crate) fn draw_close(axes: AxisTitles<'_>, series: &[LabelledSeries]) -> Svg {
    draw_within(axes, series, 0.1)
}

/// Draws the points. Intervals add at most this share of their spread to the chart, above and below.
fn draw_within(axes: AxisTitles<'_>, series: &[LabelledSeries], share: f64) -> Svg {
    let all = || series.iter().flat_map(|series| &series.points).filter(|point| is_known(point));
    let (left, right) = extent(all().map(|point| point.x));
    let (low, high) = vertical_reach(all(), share);
    // Labels beside the outermost points need room.
    let (across, up) = ((right - left) * 0.08, (high - low) * 0.08);
    let label = format!(
        "{} against {}: {}",
        axes.vertical,
        axes.horizontal,
        series.iter().map(describe).collect::<Vec<_>>().join("; ")
    );
    let labels = Labels { title: axes.vertical, horizontal: axes.horizontal, description: &label };
    let mut frame = Frame::tall(labels, (left - across, right + across), (low - up, high + up));
    let mut tooltips = Vec::new();
    frame.inside(|svg, x, y| {
        let mut taken: Vec<Place> = Vec::new();
        let mut labels = Vec::new();
        for series in series {
            let colour = SERIES[series.colour % SERIES.len()];
            let line = stroke(colour);
            let known: Vec<&LabelledPoint> = series.points.iter().filter(|point| is_known(point)).collect();
            let places: Vec<(f64, f64)> =
                known.iter().map(|point| (x.place(point.x), y.place(point.y))).collect();
            if series.joined {
                svg.path(&path_through(places.iter().copied()), "curve thin", &series_style(series.colour));
            }
            let mut bars = String::new();
            for (point, &(across, up)) in known.iter().zip(&places) {
                if let Some((low, high)) = point.interval {
                    let (bottom, top) = (short(y.place(low)), short(y.place(high)));
                    let (across, left) = (short(across), short(across - 3.0));
                    let _ = write!(bars, "M{across} {bottom}V{top}M{left} {bottom}h6M{left} {top}h6");
                }
                taken.push(Place::around((across, up)));
                labels.push(((across, up), point.label.as_str()));
                tooltips.push(Tooltip {
                    x: across,
                    y: up,
                    colour: Some(colour),
                    text: tooltip_text(axes, series, point),
                });
            }
            if !bars.is_empty() {
                svg.path(&bars, "whisker", &line);
            }
            let class = if series.joined { "dots strong" } else { "dots run" };
            svg.path(&path_of_dots(places), class, &line);
        }
        let room = Place { left: x.from, top: y.to, right: x.to, bottom: y.from };
        for (point, label) in labels.into_iter().filter(|(_, label)| !label.is_empty()) {
            if let Some((place, at)) = free_place(point, label, room, &taken) {
                svg.text(at, Anchor::Start, "word", label);
                taken.push(place);
            }
        }
    });
    if series.len() > 1 {
        frame.legend_of(series.iter().map(|series| (series.colour, series.name.as_str())));
    }
    frame.svg.set_tooltips(Hover::Point, &tooltips);
    frame.svg
}

/// From the lowest to the highest point with its interval, which is cut at this share of the points' spread.
fn vertical_reach<'a>(points: impl Iterator<Item = &'a LabelledPoint> + Clone, share: f64) -> (f64, f64) {
    let (low, high) = extent(points.clone().map(|point| point.y));
    let more = share * (high - low);
    let (bottom, top) = extent(points.flat_map(|point| {
        let (low, high) = point.interval.unwrap_or((point.y, point.y));
        [point.y, low, high]
    }));
    if more > 0.0 { (bottom.max(low - more), top.min(high + more)) } else { (bottom, top) }
}

fn is_known(point: &LabelledPoint) -> bool {
    point.x.is_finite() && point.y.is_finite()
}

fn tooltip_text(axes: AxisTitles<'_>, series: &LabelledSeries, point: &LabelledPoint) -> String {
    let mut text = series.name.clone();
    if !point.label.is_empty() {
        let _ = write!(text, " {}", point.label);
    }
    let _ = write!(text, "\n{} {}", axes.vertical, number(point.y));
    if let Some((low, high)) = point.interval {
        let _ = write!(text, " ({} to {})", number(low), number(high));
    }
    let _ = write!(text, "\n{} {}", axes.horizontal, number(point.x));
    if !point.note.is_empty() {
        let _ = write!(text, "\n{}", point.note);
    }
    text
}

fn describe(series: &LabelledSeries) -> String {
    let best = series
        .points
        .iter()
        .filter(|point| is_known(point))
        .max_by(|a, b| a.y.total_cmp(&b.y))
        .map(|point| format!(", the highest {} at {}", number(point.y), number(point.x)));
    format!("{} with {} points{}", series.name, series.points.len(), best.unwrap_or_default())
}

/// A rectangle that something fills.
#[derive(Clone, Copy, Debug)]
struct Place {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Place {
    /// Where a dot is.
    fn around((x, y): (f64, f64)) -> Self {
        Self { left: x - 3.5, top: y - 3.5, right: x + 3.5, bottom: y + 3.5 }
    }

    fn touches(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn is_within(&self, other: &Self) -> bool {
        self.left >= other.left
            && self.right <= other.right
            && self.top >= other.top
            && self.bottom <= other.bottom
    }
}

/// The first free place for a label around its point, and where its text begins.
fn free_place((x, y): (f64, f64), label: &str, room: Place, taken: &[Place]) -> Option<(Place, (f64, f64))> {
    let width = page_text_width(label, LABEL_SIZE);
    let candidates = [
        (x + 5.0, y - 4.0),
        (x + 5.0, y + LINE),
        (x - width - 5.0, y - 4.0),
        (x - width - 5.0, y + LINE),
        (x - width / 2.0, y - 7.0),
        (x - width / 2.0, y + LINE + 6.0),
    ];
    candidates.into_iter().find_map(|(left, baseline)| {
        let place = Place { left, top: baseline - LINE + 1.0, right: left + width, bottom: baseline + 1.0 };
        let free = place.is_within(&room) && !taken.iter().any(|other| place.touches(other));
        free.then_some((place, (left, baseline)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(x: f64, y: f64, label: &str) -> LabelledPoint {
        LabelledPoint { x, y, interval: None, label: label.to_owned(), note: "5 runs".to_owned() }
    }

    fn series(points: Vec<LabelledPoint>) -> LabelledSeries {
        LabelledSeries { name: "beta-vae".to_owned(), colour: 0, points, joined: true }
    }

    const AXES: AxisTitles<'_> = AxisTitles { vertical: "MIG", horizontal: "reconstruction" };

    #[test]
    fn points_have_their_labels_and_intervals() {
        let mut second = point(20.0, 0.5, "4");
        second.interval = Some((0.4, 0.7));
        let chart = draw(AXES, &[series(vec![point(10.0, 0.2, "1"), second])]).inline();
        assert_eq!(chart.matches("class=\"word\"").count(), 2);
        assert_eq!(chart.matches("h0").count(), 2);
        let bar = chart.split("class=\"whisker\"").next().unwrap().rsplit("<path d=\"").next().unwrap();
        assert_eq!(bar.matches('M').count(), 3, "a bar with two ends: {bar}");
        assert!(chart.contains("MIG 0.5000 (0.4000 to 0.7000)"), "{chart}");
        assert!(
            chart.contains("MIG against reconstruction: beta-vae with 2 points, the highest 0.5000 at 20.00")
        );
    }

    /// A hundred points in one spot: a few labels fit around them, the rest are left out rather than written
    /// over each other.
    #[test]
    fn labels_never_cover_each_other() {
        let crowd = (0..100).map(|i| point(1.0 + f64::from(i) * 1e-6, 0.3, "12.5"));
        let chart = draw(AXES, &[series(crowd.chain([point(2.0, 0.9, "x")]).collect())]).inline();
        let labels = chart.matches(">12.5</text>").count();
        assert!((1..=6).contains(&labels), "{labels}");
        assert!(chart.contains(">x</text>"));
    }

    #[test]
    fn one_wide_interval_does_not_flatten_the_rest() {
        let mut wide = point(1.0, 0.5, "");
        wide.interval = Some((-9.0, 10.0));
        let points = [point(0.0, 0.0, ""), wide.clone(), point(2.0, 1.0, "")];
        assert_eq!(vertical_reach(points.iter(), 1.0), (-1.0, 2.0));
        assert_eq!(vertical_reach(points.iter(), 0.25), (-0.25, 1.25));
        assert_eq!(vertical_reach([wide].iter(), 1.0), (-9.0, 10.0), "alone it is all there is");
    }

    #[test]
    fn nothing_can_be_drawn() {
        for points in [vec![], vec![point(f64::NAN, 1.0, "")], vec![point(1.0, 1.0, "a")]] {
            assert!(!draw(AXES, &[series(points)]).file().contains("NaN"));
        }
    }
}
