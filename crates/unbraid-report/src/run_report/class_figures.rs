//! Figures of categorical units: what the model draws of each class, and which images of the data have it.

use super::class_labels::ClassLabels;
use super::encoded_run::EncodedRun;
use crate::error::Result;
use crate::figure::{Drawing, Figure};
use crate::picture::gallery::{Gallery, ImageRow};
use ndarray::Array4;
use unbraid::model::Unit;

const COLUMNS: usize = 8;

/// Samples for each class of each categorical unit (Dupont 2018, Fig. 4): a row holds the class, a column everything
/// else.
///
/// # Errors
/// Never for a run that could be opened.
pub(super) fn samples(encoded: &EncodedRun<'_>) -> Result<Option<Figure>> {
    let layout = encoded.layout();
    if layout.categorical().is_empty() {
        return Ok(None);
    }
    let latents = encoded.run().draw_latents(COLUMNS, 0);
    let mut rows = Vec::new();
    for (unit, &classes) in layout.categorical().iter().enumerate() {
        let labels = ClassLabels::of(encoded, unit);
        for class in 0..classes {
            let images = encoded.run().decode(&layout.in_class(&latents, unit, class))?;
            rows.push(row(encoded, labels.as_ref(), (unit, class), images));
        }
    }
    Ok(Some(Figure {
        name: "categories",
        title: "Samples of each category".to_owned(),
        caption: format!(
            "In each row one categorical unit is held in one class; all other units are drawn from the prior, the same in \
             every row.{LABELS}"
        ),
        drawing: Drawing::Gallery(Gallery { columns: COLUMNS, rows, captions: Vec::new() }),
    }))
}

/// Images of the data whose most likely class is this one, for each class of each categorical unit.
///
/// # Errors
/// If images cannot be read.
pub(super) fn members(encoded: &EncodedRun<'_>) -> Result<Option<Figure>> {
    let mut rows = Vec::new();
    let mut unused = 0;
    for (unit, &classes) in encoded.layout().categorical().iter().enumerate() {
        let labels = ClassLabels::of(encoded, unit);
        let of_images = encoded.posteriors().categories.column(unit);
        for class in 0..classes {
            let of_class = of_images.iter().enumerate().filter(|(_, other)| **other == class as i64);
            let places: Vec<usize> = of_class.map(|(place, _)| place).take(COLUMNS).collect();
            if places.is_empty() {
                unused += 1;
                continue;
            }
            rows.push(row(encoded, labels.as_ref(), (unit, class), encoded.images_at(&places)?));
        }
    }
    if rows.is_empty() {
        return Ok(None);
    }
    let missing = match unused {
        0 => String::new(),
        1 => " One class is the most likely one of no image and has no row.".to_owned(),
        several => format!(" {several} classes are the most likely ones of no image and have no rows."),
    };
    Ok(Some(Figure {
        name: "category-members",
        title: "Images of each category".to_owned(),
        caption: format!(
            "Images of the data whose most likely class of a categorical unit is that of the row.{LABELS}{missing}"
        ),
        drawing: Drawing::Gallery(Gallery { columns: COLUMNS, rows, captions: Vec::new() }),
    }))
}

/// What the notes beside the rows say.
const LABELS: &str = " Beside it stands the most common label of the images with this class, and its share.";

/// A class with the label that most of its images have.
fn row(
    encoded: &EncodedRun<'_>,
    labels: Option<&ClassLabels<'_>>,
    (unit, class): (usize, usize),
    images: Array4<f32>,
) -> ImageRow {
    let note = match labels.and_then(|labels| labels.most_common(class)) {
        Some((label, share)) => format!("class {class}: {label}, {:.0} %", 100.0 * share),
        None => format!("class {class}"),
    };
    ImageRow { label: encoded.run().unit_label(Unit::Categorical(unit)), note, images }
}
