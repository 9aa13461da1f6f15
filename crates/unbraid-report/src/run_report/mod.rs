//! The report of a run: all its figures, drawn and written.
//!
//! * [`encoded_run`] and [`history`] are what is drawn: a run with some of its data, and its log.
//! * [`image_figures`], [`latent_figures`] and [`class_figures`] are the figures of the papers,
//!   [`feature_figures`] those of tables; [`class_labels`] says what classes stand for.
//! * [`score_table`], [`factor_table`] and [`category_tables`] are the tables of scores, factors and classes.
//! * [`page`] puts them together.

mod category_tables;
mod class_figures;
mod class_labels;
pub(crate) mod encoded_run;
mod factor_table;
pub(crate) mod feature_figures;
pub(crate) mod history;
pub(crate) mod image_figures;
mod latent_figures;
pub(crate) mod page;
mod score_table;

use crate::error::{Error, Result};
use crate::figure::{Drawing, Figure};
use crate::html;
use crate::live::{self, LiveRun};
use encoded_run::EncodedRun;
use history::History;
use page::{Content, Figures};
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use unbraid::data::DataSet;
use unbraid::data::progress::Progress;
use unbraid::evaluate::Scores;
use unbraid::files::{self, Existing};
use unbraid::run::{Reporter, UnitNames};
use unbraid::{BoxedError, Observer, Run};

/// Images that are encoded for the figures (Mushom 2020, Fig. 5.6 and 5.12: 10,000).
const IMAGES: usize = 10_000;

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
/// `metrics.jsonl` and, if the run has been evaluated, `scores.json`. The page carries the model itself, up to
/// `evaluation.model_limit` of the run's configuration. Returns the path of the page.
///
/// The same run gives the same bytes, whatever the number of threads.
///
/// # Errors
/// If the data does not fit the run, a file of the run is damaged, or a file cannot be written.
pub fn write_run_report(run: &Run, data: &dyn DataSet, progress: &dyn Progress) -> Result<PathBuf> {
    write_run_report_with(run, data, run.config().evaluation.model_limit, progress)
}

/// As [`write_run_report`], with a model of up to `model_limit` megabytes as part of the page.
///
/// # Errors
/// As [`write_run_report`].
pub fn write_run_report_with(
    run: &Run,
    data: &dyn DataSet,
    model_limit: f64,
    progress: &dyn Progress,
) -> Result<PathBuf> {
    let paths = run.paths();
    let page = paths.report();
    paths.check_links()?;
    html::check_page(&page, Existing::Replace)?;
    files::remove_abandoned(&paths.figures());
    let history = History::read(&paths.metrics())?;
    let scores = run.scores()?;
    let encoded = EncodedRun::new(run, data, IMAGES, progress)?;
    let figures = draw(&encoded, &history, scores.as_ref())?;
    let moving = LiveRun { number: 1, name: &page::run_name(run.path()), encoded: &encoded };
    let live = live::section(&[moving], model_limit)?;
    let content = Content {
        encoded: &encoded,
        history: &history,
        scores: scores.as_ref(),
        figures: &figures,
        live: &live,
    };
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
fn draw(encoded: &EncodedRun<'_>, history: &History, scores: Option<&Scores>) -> Result<Figures> {
    let mut figures = Figures::default();
    if let Some(features) = encoded.run().features() {
        figures.traversals.push(feature_figures::traversals(encoded, features)?);
        figures.traversals.extend(feature_figures::changes(encoded, features)?);
        figures.images.push(feature_figures::reconstructions(encoded, features)?);
        figures.images.push(feature_figures::samples(encoded, features)?);
    }
    if encoded.data().shape().values() == 2 {
        figures.images.push(latent_figures::points_of_the_plane(encoded)?);
    } else if encoded.run().features().is_none() {
        figures.traversals.push(image_figures::traversal_from_image(encoded)?);
        figures.traversals.extend(image_figures::animated_traversal(encoded)?);
        figures.traversals.push(image_figures::traversal_from_prior(encoded)?);
        figures.traversals.extend(image_figures::plane(encoded)?);
        figures.images.push(image_figures::reconstructions(encoded)?);
        figures.images.extend(image_figures::samples(encoded)?);
        figures.categories.extend(class_figures::samples(encoded)?);
        figures.categories.extend(class_figures::members(encoded)?);
    }
    if !history.is_empty() {
        figures.training.push(curves(history, encoded.run().names()));
    }
    figures.latents.extend(latent_figures::aggregate_posterior(encoded));
    figures.latents.extend(latent_figures::activity(encoded));
    figures.latents.extend(latent_figures::plane_density(encoded));
    figures.latents.extend(latent_figures::coloured_codes(encoded));
    if let Some(scores) = scores {
        figures.factors.extend(latent_figures::matrices(encoded, scores));
        figures.factors.extend(latent_figures::scatters(encoded, scores));
    }
    Ok(figures)
}

fn curves(history: &History, names: &UnitNames) -> Figure {
    Figure {
        name: "training",
        title: "Losses and their terms".to_owned(),
        caption: "In nats, before weighting; each point is the mean over the steps since the one before it. The first \
                  twentieth of a curve may lie outside its frame. Point at a curve, or move along it with the arrow keys, \
                  to read its values."
            .to_owned(),
        drawing: Drawing::Charts(history.charts(names)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::tiny_run;
    use unbraid::data::progress::Silent;

    #[test]
    fn a_session_ends_with_a_report_that_can_be_written_again() {
        let directory = tempfile::tempdir().unwrap();
        let run = tiny_run(&directory, "<run>", &[]);
        let page = || fs::read_to_string(run.paths().report()).unwrap();
        let first = page();
        // The name of the run is text, and everything that the page shows is in it.
        assert!(first.contains("<title>&lt;run&gt;</title>") && !first.contains("<run>"));
        assert!(first.contains("<dt>MIG</dt>") && first.contains("category 0"));
        // Categorical units are in the matrix of mutual information, in pictures of their classes and in the
        // animation: three units beside each other, each of 64 pixels with a gap of 8, and one gap more.
        assert!(first.contains(">category 0</text>") && first.contains("Images of each category"));
        let gif = fs::read(run.paths().figures().join("traversals.gif")).unwrap();
        assert_eq!(u16::from_le_bytes([gif[6], gif[7]]), 3 * 72 + 8);
        // The namespace of SVG is a name, not an address.
        assert_eq!(first.matches("://").count(), first.matches("http://www.w3.org/").count());
        for figure in [
            "traversals-image.png",
            "traversals.gif",
            "categories.png",
            "category-members.png",
            "training.svg",
        ] {
            assert!(run.paths().figures().join(figure).is_file(), "{figure}");
        }
        fs::remove_file(run.paths().report()).unwrap();
        let data = run.open_data(&Silent).unwrap().data;
        assert_eq!(write_run_report(&run, data.as_ref(), &Silent).unwrap(), run.paths().report());
        assert!(page() == first, "a report is a function of its run");

        fs::write(run.paths().report(), "mine").unwrap();
        let error = write_run_report(&run, data.as_ref(), &Silent).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "{}: found a file that unbraid did not write, expected none or an earlier page",
                run.paths().report().display()
            )
        );
        assert_eq!(error.kind(), unbraid::ErrorKind::Input);
        assert_eq!(page(), "mine");
    }

    /// Densities and scatter plots in place of images, for two values and two units.
    #[test]
    fn two_dimensional_data_has_figures_of_its_own() {
        let directory = tempfile::tempdir().unwrap();
        let changes = [
            "data={ name = \"pinwheel\" }",
            "model.architecture={ name = \"mlp\", encoder = [8], decoder = [8] }",
            "model.latents={ continuous = 2, categorical = [] }",
            "model.likelihood={ name = \"gaussian\", scale = 0.3, output = \"linear\" }",
            "evaluation.after_training=false",
        ];
        let run = tiny_run(&directory, "plane", &changes);
        for figure in ["points.svg", "density.png", "aggregate-posterior.svg", "codes.svg"] {
            assert!(run.paths().figures().join(figure).is_file(), "{figure}");
        }
        assert!(!run.paths().figures().join("traversals-image.png").exists());
    }
}
