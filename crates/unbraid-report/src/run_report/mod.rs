//! The report of a run: all its figures, drawn and written.

use super::figure::{Drawing, Figure};
use super::history::History;
use super::page::{self, Content, Figures};
use super::subject::Subject;
use super::{image_figures, latent_figures};
use crate::evaluate::scores_file::StoredScores;
use crate::failure::{Failure, Outcome};
use crate::files::{self, Existing};
use crate::run::Run;
use std::io::Write;
use std::path::{Path, PathBuf};
use unbraid_data::DataSet;
use unbraid_data::progress::Progress;

/// Images that are encoded for the figures.
const IMAGES: usize = 5000;

/// How a page of ours is recognised.
const MARK: &str = "<meta name=\"generator\" content=\"unbraid ";

/// Draws all figures of a run into `figures/` and writes `report.html`, from what the run directory holds: weights,
/// `metrics.jsonl` and, where it has been evaluated, `scores.json`. Gives the path of the page.
///
/// # Errors
/// If the data does not fit the run, a file of the run is damaged, or a file cannot be written.
pub fn write(run: &Run, data: &dyn DataSet, progress: &dyn Progress) -> Outcome<PathBuf> {
    let page = run.path().join("report.html");
    check_page(&page, Existing::Replace)?;
    let history = History::read(&run.path().join("metrics.jsonl"))?;
    let scores = StoredScores::read(&run.path().join("scores.json"))?;
    let subject = Subject::new(run, data, IMAGES, progress)?;
    let figures = draw(&subject, &history, scores.as_ref())?;
    let content =
        Content { subject: &subject, history: &history, scores: scores.as_ref(), figures: &figures };
    let html = page::write(&content)?;

    let directory = run.path().join("figures");
    std::fs::create_dir_all(&directory)
        .map_err(|error| Failure::run(format!("{}: cannot create it: {error}", directory.display())))?;
    for figure in figures.iter() {
        figure.save(&directory)?;
    }
    files::write(&page, Existing::Replace, |file| file.write_all(html.as_bytes()))?;
    Ok(page)
}

/// Checks that a page can be written: one of ours may be replaced if `existing` says so, another file may not.
///
/// # Errors
/// If something is there that must stay, or its directory is missing.
pub fn check_page(path: &Path, existing: Existing) -> Outcome {
    files::check_output(path, existing)?;
    if path.exists() && !std::fs::read_to_string(path).is_ok_and(|text| text.contains(MARK)) {
        return Err(Failure::input(format!(
            "{}: found a file that unbraid did not write, expected none or an earlier page\nhint: move it out of the way",
            path.display()
        )));
    }
    Ok(())
}

/// All figures that apply.
fn draw(subject: &Subject<'_>, history: &History, scores: Option<&StoredScores>) -> Outcome<Figures> {
    let mut figures = Figures::default();
    if subject.data().shape().values() == 2 {
        figures.images.push(latent_figures::points_of_the_plane(subject)?);
    } else {
        figures.traversals.push(image_figures::traversal_from_image(subject)?);
        figures.traversals.extend(image_figures::animated_traversal(subject)?);
        figures.traversals.push(image_figures::traversal_from_prior(subject)?);
        figures.traversals.extend(image_figures::plane(subject)?);
        figures.images.push(image_figures::reconstructions(subject)?);
        figures.images.extend(image_figures::samples(subject)?);
        figures.images.extend(image_figures::categories(subject)?);
    }
    if !history.is_empty() {
        figures.training.push(curves(history));
    }
    figures.latents.extend(latent_figures::aggregate_posterior(subject));
    figures.latents.extend(latent_figures::activity(subject));
    figures.latents.extend(latent_figures::plane_density(subject));
    if let Some(scores) = scores {
        figures.factors.extend(latent_figures::matrices(subject, scores));
        figures.factors.extend(latent_figures::scatters(subject, scores));
    }
    Ok(figures)
}

fn curves(history: &History) -> Figure {
    Figure {
        name: "training",
        title: "Losses and their terms".to_owned(),
        caption: "In nats, before weighting; each point is the mean since the one before it. The first twentieth of a curve \
                  may lie outside its frame. Point at a curve, or move along it with the arrow keys, to read its values."
            .to_owned(),
        drawing: Drawing::Charts(history.charts()),
    }
}
