//! Means over the values of a hyper-parameter, with an interval around them as a band or as bars.

use super::frame::{Frame, Labels, series_style};
use super::lines::extent;
use super::svg::{Hover, Svg, Tooltip, fill, path_of_dots, path_through, stroke};
use crate::colour::SERIES;
use crate::numbers::number;

/// One curve with its band.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Band {
    /// What it is called in the legend.
    pub(crate) name: String,
    /// Its place among the colours of series.
    pub(crate) colour: usize,
    /// From left to right.
    pub(crate) points: Vec<BandPoint>,
}

/// A point of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BandPoint {
    /// Which of the values of the horizontal axis.
    pub(crate) place: usize,
    /// The height of the curve.
    pub(crate) mean: f64,
    /// The lower end of the interval.
    pub(crate) low: f64,
    /// Its upper end.
    pub(crate) high: f64,
    /// How many runs the mean is of.
    pub(crate) count: usize,
}

/// Up to this many curves have bands; with more, each has bars.
const FEW: usize = 3;
/// With more values than this, dots would touch each other.
const MOST_DOTS: usize = 20;

/// Draws the curves; `values` are those along the horizontal axis, `interval` says what the band is.
pub(crate) fn draw(title: &str, horizontal: &str, values: &[String], interval: &str, bands: &[Band]) -> Svg {
    draw_as(title, (horizontal, values), interval, bands, bands.len() > FEW)
}

/// The same with bands around any number of curves, for many values that follow each other closely, such as steps.
pub(crate) fn draw_closely(
    title: &str,
    horizontal: &str,
    values: &[String],
    interval: &str,
    bands: &[Band],
) -> Svg {
    draw_as(title, (horizontal, values), interval, bands, false)
}

fn draw_as(
    title: &str,
    (horizontal, values): (&str, &[String]),
    interval: &str,
    bands: &[Band],
    bars: bool,
) -> Svg {
    let known: Vec<Band> = bands.iter().map(finite).filter(|band| !band.points.is_empty()).collect();
    let all = || known.iter().flat_map(|band| &band.points);
    let (low, high) = extent(all().flat_map(|point| [point.mean, point.low, point.high]));
    let margin = (high - low) * 0.05;
    let label = format!("{title} over {horizontal}: {}", describe(&known, values));
    let labels = Labels { title, horizontal, description: &label };
    let mut frame = Frame::categorical(labels, values, (low - margin, high + margin));
    let mut tooltips = Vec::new();
    frame.inside(|svg, x, y| {
        // More than a few bands over each other are a grey cloud: bars beside each other are not.
        let shift =
            |order: usize| if bars { (order as f64 - (known.len() - 1) as f64 / 2.0) * 0.05 } else { 0.0 };
        for (order, band) in known.iter().enumerate() {
            let colour = SERIES[band.colour % SERIES.len()];
            let at =
                |point: &BandPoint, value: f64| (x.place(point.place as f64 + shift(order)), y.place(value));
            if bars {
                let bar = |point: &BandPoint| path_through([at(point, point.low), at(point, point.high)]);
                let path: String = band.points.iter().map(bar).collect();
                svg.path(&path, "whisker", &stroke(colour));
            } else {
                let there = band.points.iter().map(|point| at(point, point.high));
                let back = band.points.iter().rev().map(|point| at(point, point.low));
                svg.path(&(path_through(there.chain(back)) + "Z"), "band", &fill(colour));
            }
        }
        for (order, band) in known.iter().enumerate() {
            let colour = SERIES[band.colour % SERIES.len()];
            let middles: Vec<(f64, f64)> = band
                .points
                .iter()
                .map(|point| (x.place(point.place as f64 + shift(order)), y.place(point.mean)))
                .collect();
            svg.path(&path_through(middles.iter().copied()), "curve", &series_style(band.colour));
            if values.len() <= MOST_DOTS {
                svg.path(&path_of_dots(middles.iter().copied()), "dots strong", &stroke(colour));
            }
            for (point, (x, y)) in band.points.iter().zip(middles) {
                let text = format!(
                    "{}, {horizontal} {}\nmean {} of {}\n{interval} {} to {}",
                    band.name,
                    values[point.place],
                    number(point.mean),
                    point.count,
                    number(point.low),
                    number(point.high)
                );
                tooltips.push(Tooltip { x, y, colour: Some(colour), text });
            }
        }
    });
    if known.len() > 1 {
        frame.legend_of(known.iter().map(|band| (band.colour, band.name.as_str())));
    }
    frame.svg.set_tooltips(Hover::Point, &tooltips);
    frame.svg
}

/// Without what cannot be drawn.
fn finite(band: &Band) -> Band {
    let known =
        |point: &&BandPoint| [point.mean, point.low, point.high].iter().all(|value| value.is_finite());
    Band { points: band.points.iter().filter(known).copied().collect(), ..band.clone() }
}

fn describe(bands: &[Band], values: &[String]) -> String {
    let ends = |band: &Band| {
        let (first, last) = (band.points.first()?, band.points.last()?);
        let at = |point: &BandPoint| format!("{} at {}", number(point.mean), values[point.place]);
        Some(format!("{} from {} to {}", band.name, at(first), at(last)))
    };
    bands.iter().filter_map(ends).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::hex;

    fn point(place: usize, mean: f64, half: f64) -> BandPoint {
        BandPoint { place, mean, low: mean - half, high: mean + half, count: 5 }
    }

    #[test]
    fn curves_pass_their_means_and_bands_surround_them() {
        let words = ["1", "4", "16"].map(str::to_owned);
        let points = vec![point(0, 1.0, 0.5), point(1, f64::NAN, 1.0), point(2, 2.0, 0.0)];
        let band = Band { name: "beta-vae".to_owned(), colour: 2, points };
        let chart = draw("MIG", "beta", &words, "quartiles", &[band]).inline();
        assert!(chart.contains("beta-vae from 1.000 at 1 to 2.000 at 16"), "{chart}");
        // Two means are left; the band has two corners above and two below.
        assert_eq!(chart.matches("h0").count(), 2);
        let path = chart.split("<path d=\"").nth(1).unwrap().split('"').next().unwrap();
        assert_eq!(path.matches(['M', 'L']).count(), 4, "{path}");
        assert!(path.ends_with('Z') && chart.contains("quartiles 0.5000 to 1.500"), "{chart}");
        assert!(chart.contains(&format!("fill=\"{}\"", hex(SERIES[2]))));
    }

    #[test]
    fn many_curves_have_bars_beside_each_other_instead_of_bands() {
        let band = |colour| Band { name: "a".to_owned(), colour, points: vec![point(0, 1.0, 0.5)] };
        let words = ["1".to_owned()];
        let few = draw("t", "x", &words, "quartiles", &[band(0), band(1), band(2)]).inline();
        let many = draw("t", "x", &words, "quartiles", &[band(0), band(1), band(2), band(3)]).inline();
        assert_eq!((few.matches("\"band\"").count(), few.matches("\"whisker\"").count()), (3, 0));
        assert_eq!((many.matches("\"band\"").count(), many.matches("\"whisker\"").count()), (0, 4));
        let places: std::collections::BTreeSet<&str> = many
            .split("class=\"whisker\"")
            .filter_map(|part| part.rsplit("d=\"M").next()?.split(' ').next())
            .collect();
        assert!(places.len() >= 4, "{places:?}");
    }

    #[test]
    fn nothing_can_be_drawn() {
        assert!(!draw("t", "x", &[], "quartiles", &[]).file().contains("NaN"));
        let band = Band { name: "a".to_owned(), colour: 0, points: vec![point(0, 1.0, 0.0)] };
        assert!(!draw("t", "x", &["1".to_owned()], "quartiles", &[band]).file().contains("NaN"));
    }
}
