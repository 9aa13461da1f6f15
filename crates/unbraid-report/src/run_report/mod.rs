//! The report of a run: all its figures, drawn and written.
//!
//! * [`encoded_run`] and [`history`] are what is drawn: a run with some of its data, and its log.
//! * [`image_figures`] and [`latent_figures`] are the figures of the papers.
//! * [`page`] puts them together.

pub(crate) mod encoded_run;
pub(crate) mod history;
pub(crate) mod image_figures;
mod latent_figures;
pub(crate) mod page;

use crate::error::{Error, Result};
use crate::figure::{Drawing, Figure};
use crate::html;
use encoded_run::EncodedRun;
use history::History;
use page::{Content, Figures};
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use unbraid::data::DataSet;
use unbraid::data::progress::Progress;
use unbraid::evaluate::StoredScores;
use unbraid::files::{self, Existing};
use unbraid::run::Reporter;
use unbraid::{BoxedError, Observer, Run};

/// Images that are encoded for the figures.
const IMAGES: usize = 5000;

/// Draws the report of a run at the end of its [`Session`](unbraid::Session), as [`write_run_report`] does.
///
/// ```no_run
/// use unbraid::config::Source;
/// use unbraid::data::progress::Silent;
/// use unbraid::run::Session;
/// use unbraid_report::HtmlReport;
///
/// let config = Source::preset("default").resolve()?;
/// let run = Session::new(config).out("runs/first").report(&HtmlReport).execute(&Silent)?;
/// println!("{}", run.paths().report().display());
/// # Ok::<(), unbraid::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct HtmlReport;

impl Reporter for HtmlReport {
    fn write_report(
        &self,
        run: &Run,
        data: &dyn DataSet,
        observer: &dyn Observer,
    ) -> Result<PathBuf, BoxedError> {
        Ok(write_run_report(run, data, observer)?)
    }
}

/// Draws all figures of a run into `figures/` and writes `report.html`, from what the run directory holds: weights,
/// `metrics.jsonl` and, if the run has been evaluated, `scores.json`. Returns the path of the page.
///
/// The same run gives the same bytes, whatever the number of threads.
///
/// # Errors
/// If the data does not fit the run, a file of the run is damaged, or a file cannot be written.
pub fn write_run_report(run: &Run, data: &dyn DataSet, progress: &dyn Progress) -> Result<PathBuf> {
    let paths = run.paths();
    let page = paths.report();
    html::check_page(&page, Existing::Replace)?;
    let history = History::read(&paths.metrics())?;
    let scores = StoredScores::read(&paths.scores())?;
    let encoded = EncodedRun::new(run, data, IMAGES, progress)?;
    let figures = draw(&encoded, &history, scores.as_ref())?;
    let content =
        Content { encoded: &encoded, history: &history, scores: scores.as_ref(), figures: &figures };
    let html = page::write(&content)?;

    let directory = paths.figures();
    fs::create_dir_all(&directory)
        .map_err(|source| Error::CreateDirectory { path: directory.clone(), source })?;
    for figure in figures.iter() {
        figure.save(&directory)?;
    }
    files::write(&page, Existing::Replace, |file| file.write_all(html.as_bytes()))?;
    Ok(page)
}

/// All figures that apply.
fn draw(encoded: &EncodedRun<'_>, history: &History, scores: Option<&StoredScores>) -> Result<Figures> {
    let mut figures = Figures::default();
    if encoded.data().shape().values() == 2 {
        figures.images.push(latent_figures::points_of_the_plane(encoded)?);
    } else {
        figures.traversals.push(image_figures::traversal_from_image(encoded)?);
        figures.traversals.extend(image_figures::animated_traversal(encoded)?);
        figures.traversals.push(image_figures::traversal_from_prior(encoded)?);
        figures.traversals.extend(image_figures::plane(encoded)?);
        figures.images.push(image_figures::reconstructions(encoded)?);
        figures.images.extend(image_figures::samples(encoded)?);
        figures.images.extend(image_figures::categories(encoded)?);
    }
    if !history.is_empty() {
        figures.training.push(curves(history));
    }
    figures.latents.extend(latent_figures::aggregate_posterior(encoded));
    figures.latents.extend(latent_figures::activity(encoded));
    figures.latents.extend(latent_figures::plane_density(encoded));
    if let Some(scores) = scores {
        figures.factors.extend(latent_figures::matrices(encoded, scores));
        figures.factors.extend(latent_figures::scatters(encoded, scores));
    }
    Ok(figures)
}

fn curves(history: &History) -> Figure {
    Figure {
        name: "training",
        title: "Losses and their terms".to_owned(),
        caption: "In nats, before weighting; each point is the mean over the steps since the one before it. The first \
                  twentieth of a curve may lie outside its frame. Point at a curve, or move along it with the arrow keys, \
                  to read its values."
            .to_owned(),
        drawing: Drawing::Charts(history.charts()),
    }
}
