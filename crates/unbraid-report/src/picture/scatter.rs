//! A scatter plot of two-dimensional data, coloured by its first factor.

use super::canvas::{Align, Canvas};
use crate::colour::{FAINT_INK, INK, SERIES};
use crate::error::Result;
use crate::numbers::thousands;
use unbraid::data::random::Stream;
use unbraid::data::{DataSet, FactorSpace};

const SIDE: usize = 560;
const MARGIN: usize = 40;
/// More points than this only make the picture black.
const MOST_POINTS: usize = 20_000;

/// Draws the points, with the same scale on both axes.
///
/// # Errors
/// If a point cannot be read.
///
/// # Panics
/// If the data has another number of values than two.
pub(super) fn draw(data: &dyn DataSet) -> Result<Canvas> {
    assert_eq!(data.shape().values(), 2, "points of the plane");
    let step = data.len().div_ceil(MOST_POINTS).max(1);
    let mut points = Vec::new();
    let mut values = vec![0; data.factors().map_or(0, FactorSpace::len)];
    for index in (0..data.len()).step_by(step) {
        let mut point = [0.0; 2];
        data.write_image(index, Stream::new(0, "scatter").at(0).lane(0), &mut point)?;
        data.factors_of(index, &mut values);
        points.push((point, values.first().copied().unwrap_or(0)));
    }
    let reach =
        points.iter().flat_map(|(point, _)| *point).fold(f32::MIN_POSITIVE, |reach, v| reach.max(v.abs()));
    let mut canvas = Canvas::new(SIDE + 2 * MARGIN, SIDE + 2 * MARGIN);
    let place = |value: f32| MARGIN as f32 + (value / reach + 1.0) / 2.0 * SIDE as f32;
    canvas.fill(MARGIN, place(0.0) as usize, SIDE, 1, [220, 224, 230]);
    canvas.fill(place(0.0) as usize, MARGIN, 1, SIDE, [220, 224, 230]);
    for (point, class) in points {
        // Up is positive, as in a graph.
        canvas.disc((place(point[0]), place(-point[1])), 2.5, SERIES[class as usize % SERIES.len()]);
    }
    let title = format!("{}: {} points", data.name(), thousands(data.len()));
    canvas.text(&title, MARGIN, MARGIN / 2, 20.0, Align::Left, INK);
    canvas.text(&format!("±{reach:.2}"), MARGIN + SIDE, MARGIN + SIDE + 14, 12.0, Align::Right, FAINT_INK);
    Ok(canvas)
}
