//! Figures made of images: data, reconstructions, samples, traversals.

use super::animation::Animation;
use super::axis::one_decimal;
use super::canvas::{Align, Canvas};
use super::figure::{Drawing, Figure};
use super::gallery::{Gallery, Row};
use super::latents::{Unit, steps};
use super::sheet::thousands;
use super::subject::Subject;
use crate::failure::Outcome;
use ndarray::{Array2, Array4, Axis};

/// Units that a traversal shows; the others have the smallest divergence.
const MOST_UNITS: usize = 12;
const TRAVERSAL_STEPS: usize = 11;
const RECONSTRUCTIONS: usize = 10;
const SAMPLES: usize = 32;
const SAMPLE_COLUMNS: usize = 8;
/// Samples of which the mean image is computed (Mushom 2020, Fig. 5.2: 10,000).
const MEAN_OF: usize = 2000;
const GRID: usize = 9;

/// Latent traversals from the first image (Mushom 2020, Fig. 5.5; Dupont 2018, Fig. 3).
///
/// # Errors
/// If images cannot be read.
pub fn traversal_from_image(subject: &Subject<'_>) -> Outcome<Figure> {
    Ok(Figure {
        name: "traversals-image",
        title: "Latent traversals from an image".to_owned(),
        caption: format!(
            "Each row decodes one image's code while a single unit changes {}. Rows are sorted by KL divergence in nats, \
             the information a unit carries; a row in which nothing changes is a unit that is not used.{}",
            range_in_words(subject),
            left_out(subject)
        ),
        drawing: Drawing::Gallery(traversal(subject, &subject.codes(1))?),
    })
}

/// Latent traversals from the middle of the prior.
///
/// # Errors
/// Never for a run that could be opened.
pub fn traversal_from_prior(subject: &Subject<'_>) -> Outcome<Figure> {
    Ok(Figure {
        name: "traversals-prior",
        title: "Latent traversals from the middle of the prior".to_owned(),
        caption: format!(
            "As above, with all other units at the middle of the prior. A single unit changes {}.{}",
            range_in_words(subject),
            left_out(subject)
        ),
        drawing: Drawing::Gallery(traversal(subject, &subject.middle())?),
    })
}

/// The rows of a traversal that starts from the first row of `start`.
///
/// # Errors
/// If `start` has another number of columns than the run's latent values.
pub fn traversal(subject: &Subject<'_>, start: &Array2<f32>) -> Outcome<Gallery> {
    let layout = subject.layout();
    let start = start.row(0);
    let mut columns = TRAVERSAL_STEPS;
    let mut rows = Vec::new();
    for &(unit, divergence) in subject.by_divergence().iter().take(MOST_UNITS) {
        let latents = match unit {
            Unit::Continuous(unit) => {
                layout.traversal(&start, unit, &steps(subject.range(unit), TRAVERSAL_STEPS))
            }
            Unit::Categorical(unit) => layout.classes(&start, unit),
        };
        columns = columns.max(latents.nrows());
        let images = subject.run().decode(&latents)?;
        rows.push(Row { label: layout.name(unit), note: format!("KL {divergence:.2}"), images });
    }
    let captions = common_range(subject)
        .map_or_else(Vec::new, |range| steps(range, TRAVERSAL_STEPS).into_iter().map(one_decimal).collect());
    Ok(Gallery { columns, rows, captions })
}

/// The range that all continuous units share, if they do and there are no others.
fn common_range(subject: &Subject<'_>) -> Option<(f64, f64)> {
    let layout = subject.layout();
    let mut ranges = (0..layout.continuous()).map(|unit| subject.range(unit));
    let first = ranges.next()?;
    (layout.categorical().is_empty() && ranges.all(|range| range == first)).then_some(first)
}

fn range_in_words(subject: &Subject<'_>) -> String {
    match common_range(subject) {
        Some((low, high)) => {
            format!("from {} (left) to {} (right)", one_decimal(low), one_decimal(high))
        }
        None => "over the range of its prior, or through its classes".to_owned(),
    }
}

fn left_out(subject: &Subject<'_>) -> String {
    match subject.by_divergence().get(MOST_UNITS..).unwrap_or_default() {
        [] => String::new(),
        rest => {
            let largest = rest.first().map_or(0.0, |(_, divergence)| *divergence);
            format!(" The other {} units, with a KL of {largest:.2} or less, are not shown.", rest.len())
        }
    }
}

/// The traversals in motion: each continuous unit goes there and back.
///
/// # Errors
/// If images cannot be read.
pub fn animated_traversal(subject: &Subject<'_>) -> Outcome<Option<Figure>> {
    const FRAMES: usize = 15;
    const COLUMNS: usize = 5;
    const GAP: usize = 8;
    const WORDS: usize = 18;
    // Neutral, so that grey images need no other colours.
    const GREY: [u8; 3] = [70; 3];
    let (layout, shape) = (subject.layout(), subject.run().image_shape());
    let zoom = 64_usize.div_ceil(shape.width.max(shape.height)).max(1);
    let start = subject.codes(1);
    let units: Vec<usize> = subject.continuous_by_divergence().take(2 * COLUMNS).collect();
    if units.is_empty() {
        return Ok(None);
    }
    let films = units
        .iter()
        .map(|&unit| {
            let values = steps(subject.range(unit), FRAMES);
            subject.run().decode(&layout.traversal(&start.row(0), unit, &values))
        })
        .collect::<Outcome<Vec<Array4<f32>>>>()?;
    let cell = (shape.width * zoom + GAP, shape.height * zoom + GAP + WORDS);
    let columns = COLUMNS.min(units.len());
    let frame = |time: usize| {
        let size = (columns * cell.0 + GAP, units.len().div_ceil(columns) * cell.1 + GAP);
        let mut canvas = Canvas::new(size.0, size.1);
        for (place, (unit, film)) in units.iter().zip(&films).enumerate() {
            let (left, top) = (GAP + place % columns * cell.0, GAP + place / columns * cell.1);
            let pixels: Vec<f32> = film.index_axis(Axis(0), time).iter().copied().collect();
            canvas.draw_image(shape, &pixels, left, top, zoom);
            let (centre, below) = (left + shape.width * zoom / 2, top + shape.height * zoom + WORDS / 2);
            canvas.text(&format!("unit {unit}"), centre, below, 12.0, Align::Centre, GREY);
        }
        canvas
    };
    Ok(Some(Figure {
        name: "traversals",
        title: "The same in motion".to_owned(),
        caption: "Each unit goes over its range and back, those with the largest KL first.".to_owned(),
        drawing: Drawing::Animation(Animation::back_and_forth((0..FRAMES).map(frame).collect(), 10)),
    }))
}

/// Originals, their reconstructions, and how far they are apart (Mushom 2020, Fig. 5.3).
///
/// # Errors
/// If images cannot be read.
pub fn reconstructions(subject: &Subject<'_>) -> Outcome<Figure> {
    let originals = subject.pictures(RECONSTRUCTIONS)?;
    let decoded = subject.run().decode(&subject.codes(RECONSTRUCTIONS))?;
    let difference = difference(&originals, &decoded);
    let row = |label: &str, images: Array4<f32>| Row { label: label.to_owned(), note: String::new(), images };
    Ok(Figure {
        name: "reconstructions",
        title: "Reconstructions".to_owned(),
        caption: "Images of the data, the decoded means of their posteriors, and the absolute difference, in which black \
                  is none."
            .to_owned(),
        drawing: Drawing::Gallery(Gallery {
            columns: RECONSTRUCTIONS,
            rows: vec![
                row("original", originals),
                row("reconstruction", decoded),
                row("difference", difference),
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
pub fn samples(subject: &Subject<'_>) -> Outcome<Vec<Figure>> {
    let gallery = |images: Array4<f32>| {
        let row = Row { label: String::new(), note: String::new(), images };
        Drawing::Gallery(Gallery { columns: SAMPLE_COLUMNS, rows: vec![row], captions: Vec::new() })
    };
    let latents = subject.run().draw_latents(MEAN_OF, 0);
    let drawn = subject.run().decode(&latents.slice_axis(Axis(0), (..SAMPLES).into()))?;
    let pictures = subject.pictures(MEAN_OF.min(subject.count()))?;
    let mean = |label: &str, count: usize, image: Array4<f32>| Row {
        label: label.to_owned(),
        note: format!("of {}", thousands(count)),
        images: image,
    };
    let mut decoded = Array4::zeros(mean_of(&drawn).dim());
    // In parts, since thousands of large images need not fit in memory at once.
    for part in latents.axis_chunks_iter(Axis(0), 500) {
        decoded = decoded + mean_of(&subject.run().decode(&part)?) * (part.nrows() as f32 / MEAN_OF as f32);
    }
    let data = mean_of(&pictures);
    // Small shapes that move leave little anywhere; on a common scale both can be seen and compared.
    let brightest = data.iter().chain(&decoded).fold(f32::MIN_POSITIVE, |most, &value| most.max(value));
    let rows = vec![
        mean("mean of the data", pictures.len_of(Axis(0)), data / brightest),
        mean("mean of samples", MEAN_OF, decoded / brightest),
    ];
    let figure = |name: &'static str, title: &str, caption: &str, drawing: Drawing| Figure {
        name,
        title: title.to_owned(),
        caption: caption.to_owned(),
        drawing,
    };
    let shown = pictures.slice_axis(Axis(0), (..SAMPLES.min(pictures.len_of(Axis(0)))).into()).to_owned();
    Ok(vec![
        figure("data", "Images of the data", "Drawn at random.", gallery(shown)),
        figure(
            "samples",
            "Samples from the model",
            "Latent values drawn from the prior and decoded. Where they look less like data than the reconstructions do, \
             the encoder does not fill the prior.",
            gallery(drawn),
        ),
        figure(
            "means",
            "Mean images",
            "Where the data and the samples have their mass, on a common scale on which the largest value is white.",
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

/// Samples for each class of each categorical unit (Dupont 2018, Fig. 4): in a row the class is held and all else is
/// drawn, in a column all else is held.
///
/// # Errors
/// Never for a run that could be opened.
pub fn categories(subject: &Subject<'_>) -> Outcome<Option<Figure>> {
    let layout = subject.layout();
    if layout.categorical().is_empty() {
        return Ok(None);
    }
    let latents = subject.run().draw_latents(SAMPLE_COLUMNS, 0);
    let mut rows = Vec::new();
    for (unit, &classes) in layout.categorical().iter().enumerate() {
        for class in 0..classes {
            let images = subject.run().decode(&layout.in_class(&latents, unit, class))?;
            rows.push(Row {
                label: layout.name(Unit::Categorical(unit)),
                note: format!("class {class}"),
                images,
            });
        }
    }
    Ok(Some(Figure {
        name: "categories",
        title: "Samples of each category".to_owned(),
        caption: "In each row a categorical unit is held in one class and the others are drawn from the prior, the same in \
                  every row."
            .to_owned(),
        drawing: Drawing::Gallery(Gallery { columns: SAMPLE_COLUMNS, rows, captions: Vec::new() }),
    }))
}

/// The images over the plane of the two units with the largest divergence.
///
/// # Errors
/// If images cannot be read.
pub fn plane(subject: &Subject<'_>) -> Outcome<Option<Figure>> {
    let mut units = subject.continuous_by_divergence();
    let (Some(across), Some(up)) = (units.next(), units.next()) else { return Ok(None) };
    let axis = |unit: usize| {
        let (low, high) = subject.range(unit);
        // Both units at their ends at once are rare; two thirds of the way is what the decoder has seen.
        let (middle, reach) = ((low + high) / 2.0, (high - low) / 3.0);
        steps((middle - reach, middle + reach), GRID)
    };
    let (values, heights) = (axis(across), axis(up));
    let start = subject.codes(1);
    let latents = subject.layout().grid(&start.row(0), (across, &values), (up, &heights));
    let row = Row { label: String::new(), note: String::new(), images: subject.run().decode(&latents)? };
    let ends = |values: &[f64]| format!("{} to {}", one_decimal(values[0]), one_decimal(values[GRID - 1]));
    Ok(Some(Figure {
        name: "plane",
        title: format!("Units {across} and {up} together"),
        caption: format!(
            "The two units with the largest KL over a grid: unit {across} from left to right ({}), unit {up} from bottom \
             to top ({}).",
            ends(&values),
            ends(&heights)
        ),
        drawing: Drawing::Gallery(Gallery { columns: GRID, rows: vec![row], captions: Vec::new() }),
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
