//! Figures of the latent space: posteriors beside the prior, and units beside factors.

use super::class_labels::class_information;
use super::encoded_run::EncodedRun;
use crate::chart::dots::ColouredGroup;
use crate::chart::svg::Svg;
use crate::chart::{dots, heat_map, histogram};
use crate::colour::{SERIES, scale};
use crate::error::Result;
use crate::figure::{Drawing, Figure};
use crate::picture::density::{self, Square};
use ndarray::{Array1, Array2, Array4, Axis};
use unbraid::data::Factor;
use unbraid::evaluate::Scores;
use unbraid::model::Unit;

/// The matrix of mutual information among the scores.
pub(super) const INFORMATION: &str = "mutual_information";
/// Histograms that are shown; the other units have smaller KL divergences.
const MOST_UNITS: usize = 12;
/// Curves that can be told apart.
const MOST_CURVES: usize = 10;
/// Points of a scatter.
const MOST_POINTS: usize = 1000;
/// Codes of a plane.
const MOST_CODES: usize = 2000;
/// Factors beyond which a matrix has them as rows, so that their names can be read and the page need not be scrolled.
const MOST_COLUMNS: usize = 12;
/// The most factors that a matrix shows: those with the largest entries.
const MOST_FACTORS: usize = 40;
/// Colours of a factor with many values.
const SHADES: usize = 6;
/// Posteriors that make up a picture of the density.
const MOST_POSTERIORS: usize = 2000;

/// The aggregate posterior of each unit against the prior (Mushom 2020, Fig. 5.12).
pub(crate) fn aggregate_posterior(encoded: &EncodedRun<'_>) -> Option<Figure> {
    let charts: Vec<_> = encoded
        .continuous_by_divergence()
        .take(MOST_UNITS)
        .map(|unit| {
            let (low, high) = encoded.run().range_of(unit);
            let wider = (high - low) / 6.0;
            let density = |places: &[f64]| encoded.run().prior_densities(unit, places);
            let title = encoded.run().unit_label(Unit::Continuous(unit));
            histogram::against_density(&title, &encoded.aggregate(unit), (low - wider, high + wider), density)
        })
        .collect();
    (!charts.is_empty()).then(|| Figure {
        name: "aggregate-posterior",
        title: "Aggregate posterior against the prior".to_owned(),
        caption: format!(
            "Bars: samples of the posteriors of {}. Line: the prior. Units are sorted by KL divergence; an unused \
             unit matches the prior exactly.",
            encoded.counted(encoded.count())
        ),
        drawing: Drawing::Charts(charts),
    })
}

/// What a unit is called in a legend, which has no room for more than its name or number.
fn short_label(encoded: &EncodedRun<'_>, unit: usize) -> String {
    encoded.run().names().get(Unit::Continuous(unit)).map_or_else(|| unit.to_string(), str::to_owned)
}

/// Means and standard deviations of the posteriors, of active and of passive units (Mushom 2020, Fig. 5.6).
pub(crate) fn activity(encoded: &EncodedRun<'_>) -> Option<Figure> {
    let (active, passive): (Vec<usize>, Vec<usize>) =
        encoded.continuous_by_divergence().partition(|&unit| encoded.is_active(unit));
    let mut charts = Vec::new();
    for (name, units) in [("active", &active), ("passive", &passive)] {
        if units.is_empty() {
            continue;
        }
        let groups = |values: &dyn Fn(usize) -> Vec<f64>| -> Vec<(String, Vec<f64>)> {
            units.iter().take(MOST_CURVES).map(|&unit| (short_label(encoded, unit), values(unit))).collect()
        };
        // A unit has the colour of its number, as in the chart of the KL divergences.
        let colours: Vec<usize> = units.iter().take(MOST_CURVES).copied().collect();
        let means = groups(&|unit| encoded.means(unit));
        let title = format!("Mean of {name} units");
        charts.push(histogram::outlines_in(&title, "mean", &means, &colours));
        let deviations = groups(&|unit| encoded.deviations(unit));
        let title = format!("Standard deviation of {name} units");
        charts.push(histogram::outlines_in(&title, "standard deviation", &deviations, &colours));
    }
    (!charts.is_empty()).then(|| Figure {
        name: "activity",
        title: "Active and passive units".to_owned(),
        caption: format!(
            "{} of {} continuous units are active: the variance of their posterior mean over the data is above 0.01. A \
             passive unit has the mean and the standard deviation of the prior, whatever the image.",
            active.len(),
            active.len() + passive.len()
        ),
        drawing: Drawing::Charts(charts),
    })
}

/// The density of the aggregate posterior beside the prior's, for two continuous units (Mathieu et al. 2019, Fig. 3).
pub(crate) fn plane_density(encoded: &EncodedRun<'_>) -> Option<Figure> {
    if encoded.layout().continuous() != 2 {
        return None;
    }
    let posteriors = encoded.posteriors();
    let count = posteriors.mean.nrows().min(MOST_POSTERIORS);
    let part = |values: &Array2<f32>| values.slice_axis(Axis(0), (..count).into()).to_owned();
    let (mean, log_variance) = (part(&posteriors.mean), part(&posteriors.log_variance));
    let reach = (0..2)
        .map(|unit| encoded.run().range_of(unit))
        .fold(0.0_f64, |reach, (low, high)| reach.max(low.abs()).max(high.abs()));
    let reach = mean.iter().fold(reach, |reach, &value| reach.max(f64::from(value.abs()) * 1.1));
    let square = Square { low: -reach, high: reach };
    let aggregate = density::evaluate(square, density::aggregate_posterior(&mean, &log_variance));
    let prior = square.with(encoded.prior_densities_of_plane(&square.points()));
    Some(Figure {
        name: "density",
        title: "Density of the latent plane".to_owned(),
        caption: format!(
            "The aggregate posterior of {} and the prior in the same colours: dark is zero, yellow the highest of \
             both.",
            encoded.counted(count)
        ),
        drawing: Drawing::Picture(density::draw(
            square,
            &[("aggregate posterior", aggregate), ("prior", prior)],
        )),
    })
}

/// The codes of images in the plane of two continuous units, coloured by class or by another factor
/// (Hartmann, Fig. 5 and 6).
pub(crate) fn coloured_codes(encoded: &EncodedRun<'_>) -> Option<Figure> {
    if encoded.layout().continuous() != 2 {
        return None;
    }
    let space = encoded.data().factors()?;
    let count = encoded.count().min(MOST_CODES);
    let points: Vec<(f64, f64)> = encoded.means(0).into_iter().zip(encoded.means(1)).take(count).collect();
    let charts: Vec<_> = space
        .latent()
        .into_iter()
        .take(MOST_UNITS)
        .map(|factor| {
            let described = &space.factors()[factor];
            let groups = by_value(&points, &encoded.factor(factor)[..count], described);
            let labels = [0, 1].map(|unit| encoded.run().unit_label(Unit::Continuous(unit)));
            dots::coloured_plane(&described.name, (&labels[0], &labels[1]), &groups)
        })
        .collect();
    (!charts.is_empty()).then(|| Figure {
        name: "codes",
        title: "Codes in the latent plane".to_owned(),
        caption: format!(
            "The posterior means of {}, coloured by one factor in each panel: by its values if there are at most ten, \
             or else from dark for the lowest to yellow for the highest. An autoencoder leaves gaps between classes; a VAE \
             packs them around the origin.",
            encoded.counted(count)
        ),
        drawing: Drawing::Charts(charts),
    })
}

/// Points by the value of a factor: every value of a few has a colour of its own, and many go through one
/// scale in as many steps as can be told apart.
fn by_value(points: &[(f64, f64)], values: &[f64], factor: &Factor) -> Vec<ColouredGroup> {
    let size = factor.size;
    let label = |value: usize| factor.label(value as u32);
    let few = size <= SERIES.len();
    let steps = if few { size } else { SHADES };
    let step_of = |value: f64| if few { value as usize } else { value as usize * SHADES / size };
    let mut groups: Vec<ColouredGroup> = (0..steps)
        .map(|step| {
            if few {
                return (label(step), SERIES[step], Vec::new());
            }
            let (first, next) = ((step * size).div_ceil(SHADES), ((step + 1) * size).div_ceil(SHADES));
            (
                format!("{} to {}", label(first), label(next - 1)),
                scale(step as f64 / (SHADES - 1) as f64),
                Vec::new(),
            )
        })
        .collect();
    for (point, value) in points.iter().zip(values) {
        if let Some(group) = groups.get_mut(step_of(*value)) {
            group.2.push(*point);
        }
    }
    groups
}

/// Labels of the rows of a matrix of units by factors.
pub(super) fn unit_names(encoded: &EncodedRun<'_>, rows: usize) -> Vec<String> {
    let layout = encoded.layout();
    let by_column: Vec<String> = layout
        .units()
        .flat_map(|unit| {
            let columns = layout.columns(unit).len();
            let name = encoded.run().unit_label(unit);
            (0..columns)
                .map(move |class| if columns == 1 { name.clone() } else { format!("{name}: {class}") })
        })
        .collect();
    let by_unit: Vec<String> = layout.units().map(|unit| encoded.run().unit_label(unit)).collect();
    // Codes are the continuous units, or the classes where there are none; continuous units come first.
    match rows {
        rows if rows == by_unit.len() => by_unit,
        rows if rows == layout.continuous() => by_unit[..rows].to_vec(),
        rows if rows == by_column.len() => by_column,
        rows => (0..rows).map(|row| format!("unit {row}")).collect(),
    }
}

/// The mutual information of units and factors with a row for each categorical unit below those of the continuous ones.
pub(super) fn with_categorical_units(
    encoded: &EncodedRun<'_>,
    information: &Array2<f64>,
    factors: &[String],
) -> Array2<f64> {
    let (layout, mut all) = (encoded.layout(), information.clone());
    let positions: Option<Vec<usize>> =
        encoded.data().factors().and_then(|space| factors.iter().map(|name| space.position(name)).collect());
    let Some(positions) = positions.filter(|_| information.nrows() == layout.continuous()) else {
        return all;
    };
    for unit in 0..layout.categorical().len() {
        let classes = encoded.posteriors().categories.column(unit).to_vec();
        let row = positions.iter().map(|&factor| class_information(&classes, &encoded.factor(factor)));
        let row = Array1::from_iter(row);
        if all.push_row(row.view()).is_err() {
            break;
        }
    }
    all
}

/// The matrices of units by factors that the scores were computed from.
pub(crate) fn matrices(encoded: &EncodedRun<'_>, scores: &Scores) -> Option<Figure> {
    let factors =
        if scores.about.factors.is_empty() { factor_names(encoded) } else { scores.about.factors.clone() };
    let charts: Vec<_> = [
        (INFORMATION, "Mutual information (nats)"),
        ("dci_importance", "Importance (DCI)"),
        ("sap_matrix", "Score of single units (SAP)"),
    ]
    .into_iter()
    .filter_map(|(key, title)| {
        // Scores of other data than this have other factors.
        let matrix = scores.matrix(key).filter(|matrix| matrix.ncols() == factors.len())?;
        if key == INFORMATION {
            return Some(matrix_chart(
                encoded,
                title,
                &with_categorical_units(encoded, matrix, &factors),
                &factors,
            ));
        }
        Some(matrix_chart(encoded, title, matrix, &factors))
    })
    .collect();
    let many = factors.len() > MOST_COLUMNS;
    (!charts.is_empty()).then(|| Figure {
        name: "units-by-factors",
        title: "Which unit encodes which factor".to_owned(),
        caption: if many {
            "Rows are factors, those with the largest entries first; columns are units. A disentangled representation \
             has one bright cell in each row and at most one in each column."
                .to_owned()
        } else {
            "A disentangled representation has one bright cell in each row (the unit encodes one factor) and one in each \
             column (the factor is encoded by one unit)."
                .to_owned()
        },
        drawing: Drawing::Matrices(charts),
    })
}

/// A matrix of units by factors; many factors are its rows.
fn matrix_chart(encoded: &EncodedRun<'_>, title: &str, matrix: &Array2<f64>, factors: &[String]) -> Svg {
    let units = unit_names(encoded, matrix.nrows());
    if factors.len() <= MOST_COLUMNS {
        return heat_map::draw(title, matrix, &units, factors);
    }
    let order = most_informative(matrix, MOST_FACTORS);
    let names: Vec<String> = order.iter().map(|&factor| factors[factor].clone()).collect();
    let short: Vec<String> = units.iter().map(|name| name.trim_start_matches("unit ").to_owned()).collect();
    heat_map::draw(title, &matrix.select(Axis(1), &order).reversed_axes(), &names, &short)
}

/// The columns of a matrix by their largest entry, at most so many.
fn most_informative(matrix: &Array2<f64>, most: usize) -> Vec<usize> {
    let largest = |column: usize| matrix.column(column).iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut order: Vec<usize> = (0..matrix.ncols()).collect();
    order.sort_by(|&a, &b| largest(b).total_cmp(&largest(a)));
    order.truncate(most);
    order
}

fn factor_names(encoded: &EncodedRun<'_>) -> Vec<String> {
    encoded.data().factors().map_or_else(Vec::new, |space| {
        space.latent().into_iter().map(|factor| space.factors()[factor].name.clone()).collect()
    })
}

/// Each factor against the continuous unit with which it has the largest mutual information (Dupont 2018, Fig. 9a).
pub(crate) fn scatters(encoded: &EncodedRun<'_>, scores: &Scores) -> Option<Figure> {
    let information = scores.matrix(INFORMATION)?;
    let space = encoded.data().factors()?;
    // The factors that were scored; those of other data, or of earlier versions, are all of them.
    let scored: Vec<usize> = if scores.about.factors.is_empty() {
        space.latent()
    } else {
        scores.about.factors.iter().filter_map(|name| space.position(name)).collect()
    };
    let units = encoded.layout().continuous().min(information.nrows());
    if information.ncols() != scored.len() || units == 0 {
        return None;
    }
    // A few are shown in the order of the data; of many, those with the largest mutual information with a unit.
    let chosen = if scored.len() <= MOST_UNITS {
        (0..scored.len()).collect()
    } else {
        let of_units = information.slice_axis(Axis(0), (..units).into()).to_owned();
        most_informative(&of_units, MOST_UNITS)
    };
    let charts = chosen
        .into_iter()
        .map(|column| {
            let factor = scored[column];
            let of = |unit: usize| information[[unit, column]];
            let unit = (0..units).max_by(|&a, &b| of(a).total_cmp(&of(b))).unwrap_or(0);
            let numbers = space.factors()[factor].numbers();
            let value =
                |position: f64| numbers.as_ref().map_or(position, |numbers| numbers[position as usize]);
            let pairs = encoded.factor(factor).into_iter().map(value).zip(encoded.means(unit));
            let points: Vec<(f64, f64)> = pairs.take(MOST_POINTS).collect();
            let name = &space.factors()[factor].name;
            let unit = encoded.run().unit_label(Unit::Continuous(unit));
            // Numbers have an axis of their own, and classes their names.
            let names = match numbers {
                Some(_) => &[][..],
                None => &space.factors()[factor].labels,
            };
            dots::unit_against_factor(&format!("{unit} by {name}"), name, names, &points)
        })
        .collect();
    Some(Figure {
        name: "units-against-factors",
        title: "Each factor against its unit".to_owned(),
        caption: format!(
            "The posterior mean of the continuous unit with the largest mutual information with a factor, for {}; \
             large dots are the mean for each value of the factor. A unit that encodes this factor alone gives a thin line.",
            encoded.counted(MOST_POINTS)
        ),
        drawing: Drawing::Charts(charts),
    })
}

/// Two-dimensional data: points, their reconstructions, and samples.
///
/// # Errors
/// If points cannot be read.
pub(crate) fn points_of_the_plane(encoded: &EncodedRun<'_>) -> Result<Figure> {
    let count = encoded.count().min(MOST_POINTS);
    let pairs = |images: Array4<f32>| -> Vec<(f64, f64)> {
        let values: Vec<f32> = images.into_iter().collect();
        values.chunks_exact(2).map(|pair| (f64::from(pair[0]), f64::from(pair[1]))).collect()
    };
    let data = pairs(encoded.images(count)?);
    let reconstructed = pairs(encoded.run().decode(&encoded.codes(count))?);
    let drawn = pairs(encoded.run().sample(count, 0)?);
    let group = |name: &str, points: &[(f64, f64)]| (name.to_owned(), points.to_vec());
    Ok(Figure {
        name: "points",
        title: "Points of the data and of the model".to_owned(),
        caption:
            "Reconstructions decode the means of the posteriors; samples decode values drawn from the prior."
                .to_owned(),
        drawing: Drawing::Charts(vec![
            dots::plane("Reconstructions", &[group("data", &data), group("reconstructed", &reconstructed)]),
            dots::plane("Samples", &[group("data", &data), group("sampled", &drawn)]),
        ]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_a_colour_each_or_a_shade_for_several() {
        let points = [(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)];
        let few =
            by_value(&points, &[1.0, 0.0, 1.0], &Factor::labelled("shape", ["square", "ellipse", "heart"]));
        let names: Vec<&str> = few.iter().map(|(name, _, _)| name.as_str()).collect();
        assert_eq!(names, ["square", "ellipse", "heart"]);
        assert_eq!((&few[1].1, few[1].2.as_slice()), (&SERIES[1], &[(0.0, 0.0), (2.0, 2.0)][..]));
        assert!(few[2].2.is_empty());
        // Forty values in six shades: 40 / 6 values each, from the first to the last.
        let many = by_value(&points, &[0.0, 20.0, 39.0], &Factor::new("orientation", 40));
        let names: Vec<&str> = many.iter().map(|(name, _, _)| name.as_str()).collect();
        assert_eq!(names, ["0 to 6", "7 to 13", "14 to 19", "20 to 26", "27 to 33", "34 to 39"]);
        assert_eq!((many[0].2.len(), many[3].2.len(), many[5].2.len()), (1, 1, 1));
        assert_eq!((many[0].1, many[5].1), (scale(0.0), scale(1.0)));
    }
}
