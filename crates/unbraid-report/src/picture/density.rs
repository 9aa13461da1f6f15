//! The density of two latent units over the plane (Mathieu et al. 2019, Fig. 3).

use super::canvas::{Align, Canvas};
use crate::colour::{FAINT_INK, INK, scale};
use crate::numbers::one_decimal;
use ndarray::{Array2, ArrayRef, Ix2};
use rayon::prelude::*;
use std::f64::consts::PI;

/// Pixels of a side.
pub(crate) const SIDE: usize = 160;
const ZOOM: usize = 2;
const MARGIN: usize = 44;

/// A square of the plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Square {
    /// Its smallest coordinate, of both axes.
    pub(crate) low: f64,
    /// Its largest.
    pub(crate) high: f64,
}

impl Square {
    /// The middle of a pixel; row 0 is at the top.
    pub(crate) fn point(self, row: usize, column: usize) -> [f64; 2] {
        let at = |place: usize| self.low + (self.high - self.low) * (place as f64 + 0.5) / SIDE as f64;
        [at(column), at(SIDE - 1 - row)]
    }

    /// The middles of all pixels, row by row.
    pub(crate) fn points(self) -> Vec<[f64; 2]> {
        (0..SIDE * SIDE).map(|pixel| self.point(pixel / SIDE, pixel % SIDE)).collect()
    }

    /// Values at [`Square::points`] as rows.
    pub(crate) fn with(self, values: Vec<f64>) -> Array2<f64> {
        Array2::from_shape_fn((SIDE, SIDE), |(row, column)| values[row * SIDE + column])
    }
}

/// A density at every pixel of a square.
pub(crate) fn evaluate(square: Square, density: impl Fn([f64; 2]) -> f64 + Sync) -> Array2<f64> {
    square.with(square.points().into_par_iter().map(&density).collect())
}

/// The aggregate posterior q(z) = 1/n sum_i q(z|x_i) of two Gaussian units with means and log-variances `[n, 2]`.
pub(crate) fn aggregate_posterior(
    mean: &ArrayRef<f32, Ix2>,
    log_variance: &ArrayRef<f32, Ix2>,
) -> impl Fn([f64; 2]) -> f64 + Sync + use<> {
    struct Component {
        mean: [f64; 2],
        /// 1 / (2 sigma^2)
        precision: [f64; 2],
        /// 1 / (2 pi sigma_1 sigma_2 n)
        height: f64,
    }
    let count = mean.nrows() as f64;
    let components: Vec<Component> = mean
        .rows()
        .into_iter()
        .zip(log_variance.rows())
        .map(|(mean, log_variance)| {
            let [a, b] = [f64::from(log_variance[0]), f64::from(log_variance[1])];
            Component {
                mean: [f64::from(mean[0]), f64::from(mean[1])],
                precision: [0.5 * (-a).exp(), 0.5 * (-b).exp()],
                height: (-0.5 * (a + b)).exp() / (2.0 * PI * count),
            }
        })
        .collect();
    move |z| {
        let density = |component: &Component| {
            let exponent: f64 =
                (0..2).map(|unit| component.precision[unit] * (z[unit] - component.mean[unit]).powi(2)).sum();
            component.height * (-exponent).exp()
        };
        components.iter().map(&density).sum()
    }
}

/// Draws densities side by side in the same colours, dark for none and light for the highest of all.
pub(crate) fn draw(square: Square, panels: &[(&str, Array2<f64>)]) -> Canvas {
    let highest = panels.iter().flat_map(|(_, values)| values).fold(f64::MIN_POSITIVE, |a, &b| a.max(b));
    let side = SIDE * ZOOM;
    let mut canvas = Canvas::new(panels.len() * (side + MARGIN) + MARGIN / 2, side + 2 * MARGIN);
    for (place, (title, values)) in panels.iter().enumerate() {
        let left = MARGIN + place * (side + MARGIN);
        canvas.text(title, left, MARGIN / 2, 16.0, Align::Left, INK);
        for ((row, column), value) in values.indexed_iter() {
            let colour = scale(value / highest);
            canvas.fill(left + column * ZOOM, MARGIN + row * ZOOM, ZOOM, ZOOM, colour);
        }
        for (share, value) in [(0.0, square.low), (0.5, (square.low + square.high) / 2.0), (1.0, square.high)]
        {
            let (along, text) = ((share * side as f64) as usize, one_decimal(value));
            canvas.text(&text, left + along, MARGIN + side + 14, 12.0, Align::Centre, FAINT_INK);
            if place == 0 {
                canvas.text(&text, left - 6, MARGIN + side - along, 12.0, Align::Right, FAINT_INK);
            }
        }
    }
    canvas
}

/// What the rows and columns of a grid of densities are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GridLabels<'a> {
    /// What varies from row to row.
    pub(crate) row: &'a str,
    /// Its values.
    pub(crate) rows: &'a [String],
    /// What varies from column to column.
    pub(crate) column: &'a str,
    /// Its values.
    pub(crate) columns: &'a [String],
}

/// Draws densities in rows and columns, each in colours of its own, and the prior after the first row. A panel that is
/// missing is left empty.
pub(crate) fn draw_grid(
    labels: &GridLabels<'_>,
    panels: &[Option<Array2<f64>>],
    prior: &Array2<f64>,
) -> Canvas {
    const GAP: usize = 8;
    const LEFT: usize = 96;
    let columns = labels.columns.len();
    let cell = SIDE + GAP;
    let width = LEFT + (columns + 1) * cell + 3 * GAP;
    let mut canvas = Canvas::new(width, MARGIN + labels.rows.len() * cell + GAP);
    let panel = |canvas: &mut Canvas, left: usize, top: usize, values: &Array2<f64>| {
        let highest = values.iter().fold(f64::MIN_POSITIVE, |a, &b| a.max(b));
        for ((row, column), value) in values.indexed_iter() {
            canvas.fill(left + column, top + row, 1, 1, scale(value / highest));
        }
    };
    for (place, value) in labels.columns.iter().enumerate() {
        let title = format!("{} = {value}", labels.column);
        canvas.text(&title, LEFT + place * cell + SIDE / 2, MARGIN / 2, 14.0, Align::Centre, INK);
    }
    let last = LEFT + columns * cell + 2 * GAP;
    canvas.text("prior", last + SIDE / 2, MARGIN / 2, 14.0, Align::Centre, INK);
    panel(&mut canvas, last, MARGIN, prior);
    for (row, value) in labels.rows.iter().enumerate() {
        let top = MARGIN + row * cell;
        let title = format!("{} = {value}", labels.row);
        canvas.text(&title, LEFT - 10, top + SIDE / 2, 14.0, Align::Right, INK);
        for column in 0..columns {
            if let Some(values) = panels.get(row * columns + column).and_then(Option::as_ref) {
                panel(&mut canvas, LEFT + column * cell, top, values);
            }
        }
    }
    canvas
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn panels_of_a_grid_have_their_places_and_colours() {
        let flat = |value: f64| Array2::from_elem((SIDE, SIDE), value);
        let mut peak = flat(0.0);
        peak[[0, 0]] = 7.0;
        let words = |values: [&str; 2]| values.map(str::to_owned);
        let (rows, columns) = (words(["0", "10"]), words(["0.5", "1"]));
        let labels = GridLabels { row: "alpha", rows: &rows, column: "beta", columns: &columns };
        let canvas = draw_grid(&labels, &[Some(flat(2.0)), None, Some(peak), None], &flat(3.0));
        let at = |x: usize, y: usize| canvas.picture().get_pixel(x as u32, y as u32).0;
        let (left, cell) = (96, SIDE + 8);
        // A constant density is at its own highest value everywhere.
        assert_eq!((at(left + 5, MARGIN + 5), at(left + 2 * cell + 16, MARGIN)), (scale(1.0), scale(1.0)));
        // The peak of the second row, and what is dark around it.
        assert_eq!((at(left, MARGIN + cell), at(left + 1, MARGIN + cell)), (scale(1.0), scale(0.0)));
        assert_eq!(at(left + cell + 5, MARGIN + 5), [255; 3], "a missing panel is empty");
    }

    #[test]
    fn rows_go_down_and_values_go_up() {
        let square = Square { low: -4.0, high: 4.0 };
        let [x, y] = square.point(0, 0);
        // Half a pixel of 8 / 160 from the corner.
        assert!((x + 3.975).abs() < 1e-12 && (y - 3.975).abs() < 1e-12);
        let values = evaluate(square, |[x, y]| x + 10.0 * y);
        assert!((values[[0, SIDE - 1]] - (3.975 + 39.75)).abs() < 1e-9);
    }

    /// One component at its mean: 1 / (2 pi sigma_1 sigma_2) with variances 1 and 4; the sum over the plane is 1.
    #[test]
    fn the_aggregate_posterior_is_a_density() {
        let log_variance = array![[0.0_f32, 4.0_f32.ln()]];
        let density = aggregate_posterior(&array![[0.5_f32, -1.0]], &log_variance);
        assert!((density([0.5, -1.0]) - 1.0 / (2.0 * PI * 2.0)).abs() < 1e-9);
        // One standard deviation away along each axis: exp(-1/2) of it.
        for point in [[1.5, -1.0], [0.5, 1.0]] {
            assert!((density(point) - (-0.5_f64).exp() / (4.0 * PI)).abs() < 1e-9);
        }
        let two = aggregate_posterior(
            &array![[-1.0_f32, 0.0], [1.0, 0.3]],
            &array![[-2.0_f32, -1.0], [-1.0, -2.0]],
        );
        let square = Square { low: -6.0, high: 6.0 };
        let sum = evaluate(square, two).sum() * (12.0 / SIDE as f64).powi(2);
        assert!((sum - 1.0).abs() < 1e-6, "{sum}");
    }

    #[test]
    fn the_highest_point_is_the_lightest() {
        let mut values = Array2::zeros((SIDE, SIDE));
        values[[0, 0]] = 3.0;
        let canvas = draw(Square { low: 0.0, high: 1.0 }, &[("q(z)", values)]);
        let at = |x: usize, y: usize| canvas.picture().get_pixel(x as u32, y as u32).0;
        assert_eq!(at(MARGIN, MARGIN), scale(1.0));
        assert_eq!(at(MARGIN + 5, MARGIN + 5), scale(0.0));
    }
}
