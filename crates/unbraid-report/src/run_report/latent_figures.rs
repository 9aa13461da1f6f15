//! Figures of the latent space: posteriors beside the prior, and units beside factors.

use super::encoded_run::EncodedRun;
use crate::chart::{dots, heat_map, histogram};
use crate::error::Result;
use crate::figure::{Drawing, Figure};
use crate::numbers::thousands;
use crate::picture::density::{self, Square};
use ndarray::{Array2, Array4, Axis};
use unbraid::evaluate::Scores;

/// Histograms that are shown; the other units have smaller KL divergences.
const MOST_UNITS: usize = 12;
/// Curves that can be told apart.
const MOST_CURVES: usize = 10;
/// Points of a scatter.
const MOST_POINTS: usize = 1000;
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
            let title = format!("unit {unit}");
            histogram::against_density(&title, &encoded.aggregate(unit), (low - wider, high + wider), density)
        })
        .collect();
    (!charts.is_empty()).then(|| Figure {
        name: "aggregate-posterior",
        title: "Aggregate posterior against the prior".to_owned(),
        caption: format!(
            "Bars: samples of the posteriors of {} images. Line: the prior. Units are sorted by KL divergence; an unused \
             unit matches the prior exactly.",
            thousands(encoded.count())
        ),
        drawing: Drawing::Charts(charts),
    })
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
            units.iter().take(MOST_CURVES).map(|&unit| (unit.to_string(), values(unit))).collect()
        };
        let means = groups(&|unit| encoded.means(unit));
        charts.push(histogram::outlines(&format!("Mean of {name} units"), "mean", &means));
        let deviations = groups(&|unit| encoded.deviations(unit));
        let title = format!("Standard deviation of {name} units");
        charts.push(histogram::outlines(&title, "standard deviation", &deviations));
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
            "The aggregate posterior of {} images and the prior in the same colours: dark is zero, yellow the highest of \
             both.",
            thousands(count)
        ),
        drawing: Drawing::Picture(density::draw(
            square,
            &[("aggregate posterior", aggregate), ("prior", prior)],
        )),
    })
}

/// Labels of the rows of a matrix of units by factors.
fn unit_names(encoded: &EncodedRun<'_>, rows: usize) -> Vec<String> {
    let layout = encoded.layout();
    let by_column: Vec<String> = layout
        .units()
        .flat_map(|unit| {
            let columns = layout.columns(unit).len();
            let name = unit.label();
            (0..columns)
                .map(move |class| if columns == 1 { name.clone() } else { format!("{name}: {class}") })
        })
        .collect();
    if by_column.len() == rows { by_column } else { (0..rows).map(|row| format!("unit {row}")).collect() }
}

/// The matrices of units by factors that the scores were computed from.
pub(crate) fn matrices(encoded: &EncodedRun<'_>, scores: &Scores) -> Option<Figure> {
    let factors = factor_names(encoded);
    let charts: Vec<_> = [
        ("mutual_information", "Mutual information (nats)"),
        ("dci_importance", "Importance (DCI)"),
        ("sap_matrix", "Score of single units (SAP)"),
    ]
    .into_iter()
    .filter_map(|(key, title)| {
        let matrix = scores.matrix(key)?;
        // Scores of other data than this have other factors.
        (matrix.ncols() == factors.len())
            .then(|| heat_map::draw(title, matrix, &unit_names(encoded, matrix.nrows()), &factors))
    })
    .collect();
    (!charts.is_empty()).then(|| Figure {
        name: "units-by-factors",
        title: "Which unit knows which factor".to_owned(),
        caption: "A disentangled representation has one bright cell in each row (the unit encodes one factor) and one in \
                  each column (the factor is encoded by one unit)."
            .to_owned(),
        drawing: Drawing::Matrices(charts),
    })
}

fn factor_names(encoded: &EncodedRun<'_>) -> Vec<String> {
    encoded.data().factors().map_or_else(Vec::new, |space| {
        space.latent().into_iter().map(|factor| space.factors()[factor].name.clone()).collect()
    })
}

/// Each factor against the continuous unit with which it has the largest mutual information (Dupont 2018, Fig. 9a).
pub(crate) fn scatters(encoded: &EncodedRun<'_>, scores: &Scores) -> Option<Figure> {
    let information = scores.matrix("mutual_information")?;
    let space = encoded.data().factors()?;
    let latent = space.latent();
    let units = encoded.layout().continuous().min(information.nrows());
    if information.ncols() != latent.len() || units == 0 {
        return None;
    }
    let charts = latent
        .iter()
        .enumerate()
        .take(MOST_UNITS)
        .map(|(column, &factor)| {
            let of = |unit: usize| information[[unit, column]];
            let unit = (0..units).max_by(|&a, &b| of(a).total_cmp(&of(b))).unwrap_or(0);
            let pairs = encoded.factor(factor).into_iter().zip(encoded.means(unit));
            let points: Vec<(f64, f64)> = pairs.take(MOST_POINTS).collect();
            let name = &space.factors()[factor].name;
            dots::unit_against_factor(&format!("unit {unit} by {name}"), name, &points)
        })
        .collect();
    Some(Figure {
        name: "units-against-factors",
        title: "Each factor against its unit".to_owned(),
        caption: format!(
            "The posterior mean of the unit with the largest mutual information with a factor, for {} images; large dots \
             are the mean for each value of the factor. A unit that encodes this factor alone gives a thin line.",
            thousands(MOST_POINTS.min(encoded.count()))
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
