//! Figures of a run on a table: what images are to other runs, features are to it. Nothing else draws features.
//!
//! Values are in standard deviations of their columns, so that columns of different units share an axis.

use super::encoded_run::EncodedRun;
use crate::chart::lines::{self, Series};
use crate::chart::svg::Svg;
use crate::chart::{heat_map, histogram};
use crate::error::Result;
use crate::figure::{Drawing, Figure};
use crate::numbers::thousands;
use ndarray::{Array2, ArrayRef, Axis, Ix2};
use std::path::Path;
use unbraid::data::random::Stream;
use unbraid::data::{DataSet, Features, sampling};
use unbraid::files::Existing;
use unbraid::model::Unit;

/// Units that are shown; the others have smaller KL divergences.
const MOST_UNITS: usize = 12;
const TRAVERSAL_STEPS: usize = 21;
/// Curves of a chart: the features that change most.
const MOST_CURVES: usize = 6;
/// Rows of a matrix: the features that change most, or are reconstructed best.
const MOST_FEATURES: usize = 40;
/// Features whose distribution is shown.
const MOST_HISTOGRAMS: usize = 12;
/// Columns of a table that are drawn.
const MOST_TABLE_CHARTS: usize = 100;
/// Rows and samples that distributions are drawn from.
const ROWS: usize = 5000;

/// Writes histograms of the columns of a table as an SVG; of a table with more columns than fit a page, the first ones.
///
/// # Errors
/// If rows cannot be read, or the file cannot be written.
pub fn write_table_charts(data: &dyn DataSet, path: &Path, existing: Existing) -> Result {
    let names: Vec<String> =
        data.columns().unwrap_or_default().iter().take(MOST_TABLE_CHARTS).cloned().collect();
    let mut generator = Stream::new(0, "table charts").at(0).generator();
    let indices = sampling::distinct(data.len(), &mut generator, ROWS);
    let mut columns = vec![Vec::with_capacity(indices.len()); names.len()];
    let mut row = vec![0.0; data.shape().values()];
    for &index in &indices {
        data.write_row(index, Stream::new(0, "table charts").at(1).lane(index as u64), &mut row)?;
        columns.iter_mut().zip(&row).for_each(|(column, &value)| column.push(value));
    }
    let charts: Vec<Svg> = names
        .iter()
        .zip(columns)
        .map(|(name, values)| histogram::outlines(name, "value", &[(name.clone(), values)]))
        .collect();
    let title = format!("{} rows of {} columns", thousands(data.len()), data.shape().values());
    Svg::grid(&charts, 4.min(charts.len()).max(1), title).save(path, existing)
}

/// The features that change most while a unit goes over `values`: a chart with a curve for each, from the rows that
/// were decoded for them, in standard deviations.
pub(crate) fn traversal_chart(
    title: &str,
    horizontal: &str,
    features: &Features,
    values: &[f64],
    rows: &ArrayRef<f32, Ix2>,
) -> Svg {
    let names: Vec<&str> = features.names().collect();
    let series: Vec<Series> = most_changing(rows, MOST_CURVES)
        .into_iter()
        .map(|column| Series {
            name: names[column].to_owned(),
            points: values
                .iter()
                .zip(rows.column(column))
                .map(|(&at, &value)| (at, f64::from(value)))
                .collect(),
        })
        .collect();
    lines::draw_whole(title, horizontal, &series)
}

/// The columns by how far their values are apart, at most so many; equal ones stay in order.
fn most_changing(rows: &ArrayRef<f32, Ix2>, most: usize) -> Vec<usize> {
    let spread = |column: usize| {
        let (low, high) = lines::extent(rows.column(column).iter().map(|&value| f64::from(value)));
        high - low
    };
    let mut order = ordered_by(rows.ncols(), spread);
    order.truncate(most);
    order
}

/// A chart for each unit, from the middle of the prior.
///
/// # Errors
/// Never for a run that could be opened.
pub(crate) fn traversal_charts(encoded: &EncodedRun<'_>, features: &Features) -> Result<Vec<Svg>> {
    let run = encoded.run();
    let start = run.middle();
    let chart = |&(unit, divergence): &(Unit, f64)| -> Result<Svg> {
        let traversal = run.traversal(&start.row(0), unit, None, TRAVERSAL_STEPS)?;
        let title = format!("{}, KL {divergence:.2}", traversal.label);
        let rows = run.decode_standardised(&traversal.latents)?;
        Ok(traversal_chart(&title, traversal.axis(), features, &traversal.values, &rows))
    };
    encoded.by_divergence().iter().take(MOST_UNITS).map(chart).collect()
}

/// Latent traversals: features against each unit.
///
/// # Errors
/// Never for a run that could be opened.
pub(crate) fn traversals(encoded: &EncodedRun<'_>, features: &Features) -> Result<Figure> {
    Ok(Figure {
        name: "traversals",
        title: "Latent traversals: features against each unit".to_owned(),
        caption: format!(
            "Each chart decodes the middle of the prior while a single latent unit changes, and shows the {MOST_CURVES} \
             columns that change most, in standard deviations from their means. Charts are sorted by KL divergence in nats, \
             the information that a unit carries; flat curves are those of an unused unit."
        ),
        drawing: Drawing::Charts(traversal_charts(encoded, features)?),
    })
}

/// How far each feature moves with each of these units, in its standard deviations, while the unit goes from
/// one standard deviation below the middle of its prior to one above: `[features, units]`.
fn change_of_features(encoded: &EncodedRun<'_>, features: &Features, units: &[usize]) -> Result<Array2<f64>> {
    let run = encoded.run();
    let start = run.middle();
    let mut change = Array2::zeros((features.len(), units.len()));
    for (place, &unit) in units.iter().enumerate() {
        // The range of a normal prior is six of its standard deviations.
        let (low, high) = run.range_of(unit);
        let (middle, reach) = ((low + high) / 2.0, (high - low) / 6.0);
        let ends = [middle - reach, middle + reach];
        let rows = run.decode_standardised(&run.layout().traversal(&start.row(0), unit, &ends))?;
        for column in 0..features.len() {
            change[[column, place]] = f64::from(rows[[1, column]] - rows[[0, column]]);
        }
    }
    Ok(change)
}

/// The features by the largest of their changes.
fn by_largest_change(change: &ArrayRef<f64, Ix2>) -> Vec<usize> {
    let largest =
        |column: usize| change.row(column).iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    ordered_by(change.nrows(), largest)
}

/// All columns, those first that the units change most.
///
/// # Errors
/// Never for a run that could be opened.
pub(crate) fn columns_by_change(encoded: &EncodedRun<'_>, features: &Features) -> Result<Vec<usize>> {
    let units: Vec<usize> = encoded.continuous_by_divergence().take(MOST_UNITS).collect();
    Ok(by_largest_change(&change_of_features(encoded, features, &units)?))
}

/// How much each feature changes with each continuous unit, as a matrix.
///
/// # Errors
/// Never for a run that could be opened.
pub(crate) fn changes(encoded: &EncodedRun<'_>, features: &Features) -> Result<Option<Figure>> {
    let run = encoded.run();
    let units: Vec<usize> = encoded.continuous_by_divergence().take(MOST_UNITS).collect();
    if units.is_empty() {
        return Ok(None);
    }
    let change = change_of_features(encoded, features, &units)?;
    let mut order = by_largest_change(&change);
    order.truncate(MOST_FEATURES);
    let names: Vec<&str> = features.names().collect();
    let rows: Vec<String> = order.iter().map(|&column| names[column].to_owned()).collect();
    let columns: Vec<String> = units.iter().map(|&unit| run.unit_label(Unit::Continuous(unit))).collect();
    let chart =
        heat_map::changes("Change in standard deviations", &change.select(Axis(0), &order), &rows, &columns);
    Ok(Some(Figure {
        name: "features-by-units",
        title: "Which unit changes which feature".to_owned(),
        caption: format!(
            "How far each column moves, in its standard deviations, while a unit goes from one standard deviation below the \
             middle of its prior to one above. Units with the largest KL divergence come first, then columns by their \
             largest change.{}",
            left_out(features.len(), order.len())
        ),
        drawing: Drawing::Matrices(vec![chart]),
    }))
}

/// The places with the largest values first; equal ones stay in order.
fn ordered_by(count: usize, value: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| value(b).total_cmp(&value(a)));
    order
}

fn left_out(all: usize, shown: usize) -> String {
    if shown < all { format!(" The other {} columns are not shown.", all - shown) } else { String::new() }
}

/// How much of the variance of each feature its reconstruction keeps.
///
/// # Errors
/// If rows cannot be read.
pub(crate) fn reconstructions(encoded: &EncodedRun<'_>, features: &Features) -> Result<Figure> {
    let count = encoded.count().min(encoded.data().len()).min(ROWS);
    let originals = encoded.rows(count)?;
    let decoded = encoded.run().decode_rows(&encoded.codes(count))?;
    let kept: Vec<f64> = (0..features.len())
        .map(|column| share_kept(&originals.column(column).to_vec(), &decoded.column(column).to_vec()))
        .collect();
    // A constant column has no variance to keep.
    let mut order =
        ordered_by(features.len(), |column| if kept[column].is_nan() { f64::MIN } else { kept[column] });
    order.truncate(MOST_FEATURES);
    order.retain(|&column| !kept[column].is_nan());
    let names: Vec<&str> = features.names().collect();
    let rows: Vec<String> = order.iter().map(|&column| names[column].to_owned()).collect();
    let matrix = Array2::from_shape_fn((order.len(), 1), |(row, _)| kept[order[row]]);
    Ok(Figure {
        name: "reconstructed-features",
        title: "Reconstructed features".to_owned(),
        caption: format!(
            "R²: one minus the squared error of the reconstructions over the variance, of {} rows. 1 is a perfect \
             reconstruction, 0 what the mean alone would give; constant columns have none.{}",
            thousands(count),
            left_out(features.len(), order.len())
        ),
        drawing: Drawing::Matrices(vec![heat_map::draw("R²", &matrix, &rows, &["R²".to_owned()])]),
    })
}

/// R² of reconstructions; NaN if the originals are all the same.
fn share_kept(originals: &[f64], decoded: &[f64]) -> f64 {
    let count = originals.len().max(1) as f64;
    let mean = originals.iter().sum::<f64>() / count;
    let variance: f64 = originals.iter().map(|value| (value - mean).powi(2)).sum();
    let error: f64 = originals.iter().zip(decoded).map(|(a, b)| (a - b).powi(2)).sum();
    if variance > 0.0 { 1.0 - error / variance } else { f64::NAN }
}

/// The distributions of features in the data and in samples of the model.
///
/// # Errors
/// If rows cannot be read.
pub(crate) fn samples(encoded: &EncodedRun<'_>, features: &Features) -> Result<Figure> {
    let run = encoded.run();
    let count = encoded.count().min(encoded.data().len()).min(ROWS);
    let data = encoded.rows(count)?;
    let drawn = run.decode_rows(&run.draw_latents(count, 0))?;
    let charts = features.names().enumerate().take(MOST_HISTOGRAMS).map(|(column, name)| {
        let groups = [
            ("data".to_owned(), data.column(column).to_vec()),
            ("expected of samples".to_owned(), drawn.column(column).to_vec()),
        ];
        histogram::outlines(name, "value", &groups)
    });
    let shown = features.len().min(MOST_HISTOGRAMS);
    Ok(Figure {
        name: "sampled-features",
        title: "Features of the data and of samples".to_owned(),
        caption: format!(
            "The values of {} rows of the data, and the expected values of as many samples of the prior. Samples lack the \
             noise of the likelihood, so that they are narrower where the model explains little.{}",
            thousands(count),
            left_out(features.len(), shown)
        ),
        drawing: Drawing::Charts(charts.collect()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn the_columns_that_change_most_come_first() {
        let rows = array![[0.0, 5.0, -1.0, 2.0], [0.1, 5.0, 1.0, 2.5]];
        assert_eq!(most_changing(&rows, 3), [2, 3, 0]);
        // By the largest change of any unit, whichever way it goes.
        let change = array![[0.1, 0.2], [-3.0, 0.0], [0.0, 2.0], [0.2, 0.0]];
        assert_eq!(by_largest_change(&change), [1, 2, 0, 3]);
    }

    /// By hand: the variance of 1, 2, 3 is 2/3 and the squared error of 1, 2, 4 is 1/3: 1 - (1/3) / (2/3).
    #[test]
    fn the_share_of_variance_that_is_kept() {
        assert!((share_kept(&[1.0, 2.0, 3.0], &[1.0, 2.0, 4.0]) - 0.5).abs() < 1e-12);
        assert_eq!(share_kept(&[1.0, 2.0, 3.0], &[2.0, 2.0, 2.0]), 0.0);
        assert!(share_kept(&[1.0, 1.0], &[1.0, 2.0]).is_nan());
    }
}
