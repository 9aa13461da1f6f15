//! Figures made of images: data, reconstructions, samples, traversals.

use super::encoded_run::EncodedRun;
use super::feature_figures;
use crate::error::Result;
use crate::figure::{Drawing, Figure};
use crate::numbers::{one_decimal, thousands};
use crate::picture::animation::Animation;
use crate::picture::gallery::{Gallery, ImageRow};
use ndarray::{Array2, Array4, Axis};
use unbraid::inference::Traversal;
use unbraid::model::{Unit, steps};

/// Units that a traversal shows; the others have smaller KL divergences.
const MOST_UNITS: usize = 12;
const TRAVERSAL_STEPS: usize = 11;
/// Units and steps of an animated traversal.
const ANIMATED_UNITS: usize = 10;
const ANIMATED_STEPS: usize = 15;
const RECONSTRUCTIONS: usize = 10;
const SAMPLES: usize = 32;
const SAMPLE_COLUMNS: usize = 8;
/// Samples of which the mean image is computed (Mushom 2020, Fig. 5.2: 10,000).
const MEAN_OF: usize = 10_000;
const GRID: usize = 9;

/// The traversals of a run by which it is compared with others: images from the first one, or features of a table.
///
/// # Errors
/// If images cannot be read.
pub(crate) fn compared_traversal(encoded: &EncodedRun<'_>) -> Result<Drawing> {
    match encoded.run().features() {
        Some(features) => Ok(Drawing::Charts(feature_figures::traversal_charts(encoded, features)?)),
        None => Ok(Drawing::Gallery(traversal(encoded, &encoded.codes(1))?)),
    }
}

/// Latent traversals from the first image (Mushom 2020, Fig. 5.5; Dupont 2018, Fig. 3).
///
/// # Errors
/// If images cannot be read.
pub(crate) fn traversal_from_image(encoded: &EncodedRun<'_>) -> Result<Figure> {
    Ok(Figure {
        name: "traversals-image",
        title: "Latent traversals from an image".to_owned(),
        caption: format!(
            "Each row decodes the code of one image while a single latent unit changes {}. Rows are sorted by \
             KL divergence in nats, the information that a unit carries; a row in which nothing changes is an unused unit.{}",
            range_text(encoded),
            left_out(encoded)
        ),
        drawing: Drawing::Gallery(traversal(encoded, &encoded.codes(1))?),
    })
}

/// Latent traversals from the middle of the prior.
///
/// # Errors
/// Never for a run that could be opened.
pub(crate) fn traversal_from_prior(encoded: &EncodedRun<'_>) -> Result<Figure> {
    Ok(Figure {
        name: "traversals-prior",
        title: "Latent traversals from the middle of the prior".to_owned(),
        caption: format!(
            "As above, with all other units at the median of the prior. A single unit changes {}.{}",
            range_text(encoded),
            left_out(encoded)
        ),
        drawing: Drawing::Gallery(traversal(encoded, &encoded.run().middle())?),
    })
}

/// The rows of a traversal that starts from the first row of `start`.
///
/// # Errors
/// If `start` has another number of columns than the run's latent values.
fn traversal(encoded: &EncodedRun<'_>, start: &Array2<f32>) -> Result<Gallery> {
    let mut columns = TRAVERSAL_STEPS;
    let mut rows = Vec::new();
    for &(unit, divergence) in encoded.by_divergence().iter().take(MOST_UNITS) {
        let Traversal { label, latents, .. } =
            encoded.run().traversal(&start.row(0), unit, None, TRAVERSAL_STEPS)?;
        columns = columns.max(latents.nrows());
        let images = encoded.run().decode(&latents)?;
        rows.push(ImageRow { label, note: format!("KL {divergence:.2}"), images });
    }
    let captions = common_range(encoded)
        .map_or_else(Vec::new, |range| steps(range, TRAVERSAL_STEPS).into_iter().map(one_decimal).collect());
    Ok(Gallery { columns, rows, captions })
}

/// The range that all continuous units share, if they do and there are no others.
fn common_range(encoded: &EncodedRun<'_>) -> Option<(f64, f64)> {
    let layout = encoded.layout();
    let mut ranges = (0..layout.continuous()).map(|unit| encoded.run().range_of(unit));
    let first = ranges.next()?;
    (layout.categorical().is_empty() && ranges.all(|range| range == first)).then_some(first)
}

fn range_text(encoded: &EncodedRun<'_>) -> String {
    match common_range(encoded) {
        Some((low, high)) => {
            format!("from {} (left) to {} (right)", one_decimal(low), one_decimal(high))
        }
        None => "over the range of its prior, or through its classes".to_owned(),
    }
}

fn left_out(encoded: &EncodedRun<'_>) -> String {
    match encoded.by_divergence().get(MOST_UNITS..).unwrap_or_default() {
        [] => String::new(),
        rest => {
            let largest = rest.first().map_or(0.0, |(_, divergence)| *divergence);
            format!(
                " The other {} units, with a KL divergence of {largest:.2} or less, are not shown.",
                rest.len()
            )
        }
    }
}

/// The traversals as an animation: each continuous unit goes over its range and back, each categorical one through its
/// classes.
///
/// # Errors
/// If images cannot be read.
pub(crate) fn animated_traversal(encoded: &EncodedRun<'_>) -> Result<Option<Figure>> {
    let start = encoded.codes(1);
    let mut rows = Vec::new();
    for &(unit, _) in encoded.by_divergence().iter().take(ANIMATED_UNITS) {
        let Traversal { label, latents, .. } =
            encoded.run().traversal(&start.row(0), unit, None, ANIMATED_STEPS)?;
        rows.push(ImageRow::new(label, encoded.run().decode(&latents)?));
    }
    Ok((!rows.is_empty()).then(|| Figure {
        name: "traversals",
        title: "The same in motion".to_owned(),
        caption: "Each unit goes over its range, or through its classes, and back; those with the largest KL divergence \
                  come first."
            .to_owned(),
        drawing: Drawing::Animation(Animation::of_rows(&rows)),
    }))
}

/// Originals, their reconstructions, and how far they are apart (Mushom 2020, Fig. 5.3).
///
/// # Errors
/// If images cannot be read.
pub(crate) fn reconstructions(encoded: &EncodedRun<'_>) -> Result<Figure> {
    let originals = encoded.images(RECONSTRUCTIONS)?;
    let decoded = encoded.run().decode(&encoded.codes(RECONSTRUCTIONS))?;
    let difference = difference(&originals, &decoded);
    Ok(Figure {
        name: "reconstructions",
        title: "Reconstructions".to_owned(),
        caption: "Images of the data, the decoded means of their posteriors, and the absolute difference, which is black \
                  where there is none."
            .to_owned(),
        drawing: Drawing::Gallery(Gallery {
            columns: RECONSTRUCTIONS,
            rows: vec![
                ImageRow::new("original", originals),
                ImageRow::new("reconstruction", decoded),
                ImageRow::new("difference", difference),
            ],
            captions: Vec::new(),
        }),
    })
}

fn difference(left: &Array4<f32>, right: &Array4<f32>) -> Array4<f32> {
    (left - right).mapv(f32::abs)
}

/// Samples of the data, of the model, and the mean images of both (Mushom 2020, Fig. 5.1 and 5.2).
///
/// # Errors
/// If images cannot be read.
pub(crate) fn samples(encoded: &EncodedRun<'_>) -> Result<Vec<Figure>> {
    let gallery = |images: Array4<f32>| {
        let rows = vec![ImageRow::new("", images)];
        Drawing::Gallery(Gallery { columns: SAMPLE_COLUMNS, rows, captions: Vec::new() })
    };
    let latents = encoded.run().draw_latents(MEAN_OF, 0);
    let drawn = encoded.run().decode(&latents.slice_axis(Axis(0), (..SAMPLES).into()))?;
    let images = encoded.images(SAMPLES.min(encoded.count()))?;
    let (data, averaged) = encoded.mean_image(MEAN_OF)?;
    let mean = |label: &str, count: usize, image: Array4<f32>| ImageRow {
        label: label.to_owned(),
        note: format!("of {}", thousands(count)),
        images: image,
    };
    let mut decoded = Array4::zeros(mean_of(&drawn).dim());
    // In parts, since thousands of large images need not fit in memory at once.
    for part in latents.axis_chunks_iter(Axis(0), 500) {
        decoded = decoded + mean_of(&encoded.run().decode(&part)?) * (part.nrows() as f32 / MEAN_OF as f32);
    }
    // The mean of small shapes that move is nearly black; a common scale makes both visible and comparable.
    let brightest = data.iter().chain(&decoded).fold(f32::MIN_POSITIVE, |most, &value| most.max(value));
    let rows = vec![
        mean("mean of the data", averaged, data / brightest),
        mean("mean of samples", MEAN_OF, decoded / brightest),
    ];
    let figure = |name: &'static str, title: &str, caption: &str, drawing: Drawing| Figure {
        name,
        title: title.to_owned(),
        caption: caption.to_owned(),
        drawing,
    };
    Ok(vec![
        figure("data", "Images of the data", "Drawn at random.", gallery(images)),
        figure(
            "samples",
            "Samples from the model",
            "Latent values drawn from the prior and decoded. Where samples look less like the data than reconstructions do, \
             the aggregate posterior does not match the prior.",
            gallery(drawn),
        ),
        figure(
            "means",
            "Mean images",
            "The mean of the data and of the samples, on a common scale on which the largest value is white.",
            Drawing::Gallery(Gallery { columns: 1, rows, captions: Vec::new() }),
        ),
    ])
}

/// The mean of images as one image.
fn mean_of(images: &Array4<f32>) -> Array4<f32> {
    let (_, height, width, channels) = images.dim();
    let mean = images.mean_axis(Axis(0)).unwrap_or_else(|| ndarray::Array3::zeros((height, width, channels)));
    mean.insert_axis(Axis(0))
}

/// The images over the plane of the two continuous units with the largest KL divergence.
///
/// # Errors
/// If images cannot be read.
pub(crate) fn plane(encoded: &EncodedRun<'_>) -> Result<Option<Figure>> {
    let mut units = encoded.continuous_by_divergence();
    let (Some(across), Some(up)) = (units.next(), units.next()) else { return Ok(None) };
    let axis = |unit: usize| {
        let (low, high) = encoded.run().range_of(unit);
        // Both units at their ends at once are rare; two thirds of the way is what the decoder has seen.
        let (middle, reach) = ((low + high) / 2.0, (high - low) / 3.0);
        steps((middle - reach, middle + reach), GRID)
    };
    let (values, heights) = (axis(across), axis(up));
    let start = encoded.codes(1);
    let latents = encoded.layout().grid(&start.row(0), (across, &values), (up, &heights));
    let rows = vec![ImageRow::new("", encoded.run().decode(&latents)?)];
    let label = |unit: usize| encoded.run().unit_label(Unit::Continuous(unit));
    let ends = |values: &[f64]| format!("{} to {}", one_decimal(values[0]), one_decimal(values[GRID - 1]));
    Ok(Some(Figure {
        name: "plane",
        title: format!("{} and {} together", label(across), label(up)),
        caption: format!(
            "The two units with the largest KL divergence over a grid: {} from left to right ({}), {} from bottom to top \
             ({}).",
            label(across),
            ends(&values),
            label(up),
            ends(&heights)
        ),
        drawing: Drawing::Gallery(Gallery { columns: GRID, rows, captions: Vec::new() }),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_have_no_sign_and_means_are_means() {
        let images = |values: [f32; 2]| Array4::from_shape_vec((2, 1, 1, 1), values.to_vec()).unwrap();
        let (left, right) = (images([0.25, 1.0]), images([0.75, 0.5]));
        assert_eq!(difference(&left, &right), images([0.5, 0.5]));
        assert_eq!(mean_of(&left)[[0, 0, 0, 0]], 0.625);
        assert_eq!(mean_of(&left).dim(), (1, 1, 1, 1));
    }
}
