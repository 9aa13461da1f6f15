//! A matrix of units by factors as coloured cells with their numbers.

use super::canvas::text_width;
use super::colour::{hex, readable_on, scale};
use super::lines::extent;
use super::svg::{Anchor, Svg};
use ndarray::{ArrayRef, Ix2};

const CELL: (f64, f64) = (46.0, 22.0);
const TOP: f64 = 46.0;
const WORD: f32 = 11.0;

/// Draws the matrix `[rows, columns]`; colours go from 0 to the largest value.
///
/// # Panics
/// If there are not as many names as rows and columns.
pub fn draw(title: &str, matrix: &ArrayRef<f64, Ix2>, rows: &[String], columns: &[String]) -> Svg {
    assert_eq!(matrix.dim(), (rows.len(), columns.len()), "a name for each row and column");
    let widest =
        |names: &[String]| names.iter().map(|name| f64::from(text_width(name, WORD))).fold(0.0, f64::max);
    let left = widest(rows) + 12.0;
    // Neighbouring names of columns must not touch.
    let cell = (CELL.0.max(widest(columns) + 8.0), CELL.1);
    let (_, largest) = extent(matrix.iter().copied());
    let largest = if largest > 0.0 { largest } else { 1.0 };
    let width = (left + columns.len() as f64 * cell.0 + 4.0).max(f64::from(text_width(title, 13.0)) + 16.0);
    let label = describe(title, matrix, rows, columns);
    let mut svg = Svg::new(width, TOP + rows.len() as f64 * cell.1 + 6.0, label);
    svg.text((4.0, 15.0), Anchor::Start, "title", title);
    for (column, name) in columns.iter().enumerate() {
        svg.text((left + (column as f64 + 0.5) * cell.0, TOP - 8.0), Anchor::Middle, "tick", name);
    }
    for (row, name) in rows.iter().enumerate() {
        let top = TOP + row as f64 * cell.1;
        svg.text((left - 6.0, top + 15.0), Anchor::End, "tick", name);
        for (column, &value) in matrix.row(row).iter().enumerate() {
            let x = left + column as f64 * cell.0;
            let colour = scale(value / largest);
            svg.rectangle((x, top), (cell.0 - 1.0, cell.1 - 1.0), "", &format!("fill:{}", hex(colour)));
            let class = if readable_on(colour) == [0; 3] { "cell dark" } else { "cell light" };
            svg.text((x + cell.0 / 2.0 - 0.5, top + 14.5), Anchor::Middle, class, &format!("{value:.2}"));
        }
    }
    svg
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

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn the_largest_value_has_the_lightest_colour_and_zero_the_darkest() {
        let names = |names: [&str; 2]| names.map(str::to_owned).to_vec();
        let (rows, columns) = (names(["unit 0", "unit 1"]), names(["<x>", "y"]));
        let svg = draw("information", &array![[0.0, 0.5], [2.0, 1.0]], &rows, &columns).file();
        let fills: Vec<&str> = svg.split("fill:#").skip(1).map(|rest| &rest[..6]).collect();
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
