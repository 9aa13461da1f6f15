//! A matrix as coloured cells with their numbers: units by factors, or correlations.

use super::lines::extent;
use super::svg::{Anchor, Svg, fill};
use crate::colour::{Colour, diverging, readable_on, scale};
use crate::font::page_text_width;
use crate::numbers::minus;
use ndarray::{ArrayRef, Ix2};

const CELL: (f64, f64) = (46.0, 22.0);
const TOP: f64 = 46.0;
const WORD: f32 = 11.0;

/// Draws the matrix `[rows, columns]`; colours go from 0 to the largest value.
///
/// # Panics
/// If there are not as many names as rows and columns.
pub(crate) fn draw(title: &str, matrix: &ArrayRef<f64, Ix2>, rows: &[String], columns: &[String]) -> Svg {
    let (_, largest) = extent(matrix.iter().copied());
    let largest = if largest > 0.0 { largest } else { 1.0 };
    let label = describe(title, matrix, rows, columns);
    // Neighbouring names of columns must not touch.
    let cell = (CELL.0.max(widest(columns) + 8.0), CELL.1);
    let left = left_of(rows);
    let mut svg = sheet(title, label, left, TOP, cell, matrix.dim());
    for (column, name) in columns.iter().enumerate() {
        svg.text((left + (column as f64 + 0.5) * cell.0, TOP - 8.0), Anchor::Middle, "tick", name);
    }
    cells(&mut svg, matrix, rows, (left, TOP), cell, |value| scale(value / largest));
    svg
}

/// Draws correlations; names of columns read upwards, so that many of them fit beside each other.
///
/// # Panics
/// If there are not as many names as rows and columns.
pub(crate) fn correlations(
    title: &str,
    matrix: &ArrayRef<f64, Ix2>,
    rows: &[String],
    columns: &[String],
) -> Svg {
    signed(title, matrix, rows, columns, diverging)
}

fn signed(
    title: &str,
    matrix: &ArrayRef<f64, Ix2>,
    rows: &[String],
    columns: &[String],
    colour: impl Fn(f64) -> Colour,
) -> Svg {
    let (left, top) = (left_of(rows), left_of(columns).max(TOP - 16.0) + 16.0);
    let cell = (34.0, CELL.1);
    let mut svg = sheet(title, strongest(title, matrix, rows, columns), left, top, cell, matrix.dim());
    for (column, name) in columns.iter().enumerate() {
        svg.upright_text((left + (column as f64 + 0.5) * cell.0 + 3.5, top - 6.0), "tick", name);
    }
    cells(&mut svg, matrix, rows, (left, top), cell, colour);
    svg
}

/// Draws signed changes; colours go from the largest below zero to the largest above, and names of columns
/// read upwards.
///
/// # Panics
/// If there are not as many names as rows and columns.
pub(crate) fn changes(title: &str, matrix: &ArrayRef<f64, Ix2>, rows: &[String], columns: &[String]) -> Svg {
    let (_, largest) = extent(matrix.iter().map(|value| value.abs()));
    let largest = if largest > 0.0 { largest } else { 1.0 };
    signed(title, matrix, rows, columns, |value| diverging(value / largest))
}

fn widest(names: &[String]) -> f64 {
    names.iter().map(|name| page_text_width(name, WORD)).fold(0.0, f64::max)
}

/// Room for the names of rows.
fn left_of(rows: &[String]) -> f64 {
    widest(rows) + 14.0
}

/// The paper with its title.
fn sheet(
    title: &str,
    label: String,
    left: f64,
    top: f64,
    cell: (f64, f64),
    (rows, columns): (usize, usize),
) -> Svg {
    // A title is bold, which our font is not.
    let width = (left + columns as f64 * cell.0 + 4.0).max(page_text_width(title, 13.0) * 1.12 + 16.0);
    let mut svg = Svg::new(width, top + rows as f64 * cell.1 + 6.0, label);
    svg.text((4.0, 15.0), Anchor::Start, "title", title);
    svg
}

/// The cells and the names of their rows.
fn cells(
    svg: &mut Svg,
    matrix: &ArrayRef<f64, Ix2>,
    rows: &[String],
    (left, top): (f64, f64),
    cell: (f64, f64),
    colour: impl Fn(f64) -> Colour,
) {
    assert_eq!(matrix.nrows(), rows.len(), "a name for each row");
    for (row, name) in rows.iter().enumerate() {
        let top = top + row as f64 * cell.1;
        svg.text((left - 6.0, top + 15.0), Anchor::End, "tick", name);
        for (column, &value) in matrix.row(row).iter().enumerate() {
            let x = left + column as f64 * cell.0;
            let colour = colour(value);
            svg.rectangle((x, top), (cell.0 - 1.0, cell.1 - 1.0), "", &fill(colour));
            let class = if readable_on(colour) == [0; 3] { "cell dark" } else { "cell light" };
            let text = if value.is_nan() { "–".to_owned() } else { minus(format!("{:.2}", value + 0.0)) };
            svg.text((x + cell.0 / 2.0 - 0.5, top + 14.5), Anchor::Middle, class, &text);
        }
    }
}

/// The largest entry of each column in words.
fn describe(title: &str, matrix: &ArrayRef<f64, Ix2>, rows: &[String], columns: &[String]) -> String {
    let best = |column: usize| {
        let entries = matrix.column(column).to_vec();
        let row = (0..entries.len()).max_by(|&a, &b| entries[a].total_cmp(&entries[b]))?;
        Some(format!("{}: {} ({:.2})", columns[column], rows[row], entries[row]))
    };
    let best: Vec<String> = (0..columns.len()).filter_map(best).collect();
    format!("{title}; the largest value of each factor: {}", best.join(", "))
}

/// The strongest correlations between different quantities in words.
fn strongest(title: &str, matrix: &ArrayRef<f64, Ix2>, rows: &[String], columns: &[String]) -> String {
    let mut pairs: Vec<(f64, usize, usize)> = matrix
        .indexed_iter()
        .filter(|((row, column), value)| value.is_finite() && rows[*row] != columns[*column])
        // Of a symmetric matrix, each pair once.
        .filter(|((row, column), _)| rows != columns || row < column)
        .map(|((row, column), &value)| (value, row, column))
        .collect();
    pairs.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    let words: Vec<String> = pairs
        .iter()
        .take(5)
        .map(|(value, row, column)| format!("{} and {} ({value:.2})", rows[*row], columns[*column]))
        .collect();
    format!("{title}; the strongest: {}", words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::hex;
    use ndarray::array;

    #[test]
    fn correlations_are_coloured_by_their_sign_and_the_strongest_are_named() {
        let names = ["MIG", "SAP", "DCI"].map(str::to_owned).to_vec();
        let matrix = array![[1.0, 0.5, -0.9], [0.5, 1.0, f64::NAN], [-0.9, f64::NAN, 1.0]];
        let svg = correlations("ranks", &matrix, &names, &names).file();
        assert!(svg.contains("the strongest: MIG and DCI (-0.90), MIG and SAP (0.50)\""), "{svg}");
        for value in [1.0, 0.5, -0.9] {
            let count = if value == 1.0 { 3 } else { 2 };
            assert_eq!(svg.matches(&format!("fill=\"{}\"", hex(diverging(value)))).count(), count);
        }
        assert_eq!(svg.matches(">–<").count(), 2);
        assert_eq!(svg.matches("rotate(-90").count(), 3);
    }

    #[test]
    fn the_largest_value_has_the_lightest_colour_and_zero_the_darkest() {
        let names = |names: [&str; 2]| names.map(str::to_owned).to_vec();
        let (rows, columns) = (names(["unit 0", "unit 1"]), names(["<x>", "y"]));
        let svg = draw("information", &array![[0.0, 0.5], [2.0, 1.0]], &rows, &columns).file();
        let fills: Vec<&str> = svg.split("fill=\"#").skip(1).map(|rest| &rest[..6]).collect();
        let [lowest, highest] = [scale(0.0), scale(1.0)].map(hex);
        // Row by row; the style sheet of the file has no such fills.
        let cells = &fills[fills.len() - 4..];
        assert_eq!((cells[0], cells[2]), (&lowest[1..], &highest[1..]));
        assert_eq!(cells[3], &hex(scale(0.5))[1..]);
        assert!(svg.contains("&lt;x&gt;: unit 1 (2.00), y: unit 1 (1.00)"), "{svg}");
        let zeros = draw("none", &array![[0.0]], &rows[..1], &columns[..1]).file();
        assert!(zeros.contains(&lowest));
    }
}
