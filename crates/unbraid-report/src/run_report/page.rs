//! `report.html`: everything about a run on one page.

use super::encoded_run::EncodedRun;
use super::history::History;
use super::{category_tables, factor_table, score_table};
use crate::error::Result;
use crate::figure::Figure;
use crate::html::{Section, escape, page};
use crate::labels::label;
use crate::live::LiveSection;
use crate::numbers::{number, thousands};
use std::fmt::Write;
use std::path::Path;
use unbraid::evaluate::Scores;
use unbraid::metrics::Direction;
use unbraid::run::{Meta, State, Status};

/// The figures of a report, by section.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    /// Latent traversals.
    pub(crate) traversals: Vec<Figure>,
    /// Reconstructions and samples.
    pub(crate) images: Vec<Figure>,
    /// Classes of categorical units.
    pub(crate) categories: Vec<Figure>,
    /// Training curves.
    pub(crate) training: Vec<Figure>,
    /// Posteriors and the prior.
    pub(crate) latents: Vec<Figure>,
    /// Units and the factors that they encode.
    pub(crate) factors: Vec<Figure>,
}

impl Figures {
    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Figure> {
        let Self { traversals, images, categories, training, latents, factors } = self;
        [traversals, images, categories, training, latents, factors].into_iter().flatten()
    }
}

/// What a report is made of.
#[derive(Debug)]
pub(crate) struct Content<'a> {
    /// The run and its data.
    pub(crate) encoded: &'a EncodedRun<'a>,
    /// The logged losses.
    pub(crate) history: &'a History,
    /// The scores, if it was evaluated.
    pub(crate) scores: Option<&'a Scores>,
    /// The figures.
    pub(crate) figures: &'a Figures,
    /// The part that moves.
    pub(crate) live: &'a LiveSection,
}

/// The page.
///
/// # Errors
/// If a picture cannot be encoded.
pub(crate) fn write(content: &Content<'_>) -> Result<String> {
    let run = content.encoded.run();
    let name = run_name(run.path());
    let section = |id, heading, content| Section { id, heading, content };
    let figures = content.figures;
    // Where units can be moved, and played, an animation of a megabyte would say nothing new; it stays in figures/.
    let traversals = figures.traversals.iter();
    let traversals = traversals.filter(|figure| !(content.live.moves && figure.is_animation()));
    let sections = [
        section("move", "Move the units", content.live.html.clone()),
        section("traversals", "Latent traversals", traversals.map(Figure::html).collect::<Result<String>>()?),
        section("scores", "Scores", score_table::scores(content.scores)),
        section(
            "factors",
            "Units and factors",
            factor_table::factors(content.encoded, content.scores) + &all(&figures.factors)?,
        ),
        section(
            "categories",
            "Categorical units",
            category_tables::write(content.encoded) + &all(&figures.categories)?,
        ),
        section(
            "images",
            if run.features().is_some() { "Features" } else { "Images" },
            all(&figures.images)?,
        ),
        section("training", "Training", all(&figures.training)?),
        section("latents", "Latent space", all(&figures.latents)?),
        section("configuration", "Configuration", configuration(content)),
    ];
    Ok(page(&name, &summary(content), &sections))
}

/// What a run is called: the name of its directory.
pub(crate) fn run_name(path: &Path) -> String {
    let full = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    full.file_name().map_or_else(|| "run".to_owned(), |name| name.to_string_lossy().into_owned())
}

fn all(figures: &[Figure]) -> Result<String> {
    figures.iter().map(Figure::html).collect()
}

/// The run in a sentence, and the numbers that people look for first.
fn summary(content: &Content<'_>) -> String {
    let encoded = content.encoded;
    let (run, data) = (encoded.run(), encoded.data());
    let config = run.config();
    let mut html = format!(
        "<p>{} on {} ({}), seed {}, after {} steps.</p>\n<dl class=\"facts\">\n",
        escape(config.objective.name()),
        escape(data.name()),
        match data.columns() {
            Some(columns) => format!("{} rows of {} columns", thousands(data.len()), columns.len()),
            None => format!("{} images of {}", thousands(data.len()), data.shape()),
        },
        config.seed,
        thousands(run.step() as usize)
    );
    // A value, and below it in small letters what it is to be compared with.
    let mut tile = |name: &str, value: String, beside: Option<String>| {
        let _ = write!(html, "<div><dt>{}</dt><dd>{}</dd>", escape(name), escape(&value));
        if let Some(beside) = beside {
            let _ = write!(html, "<dd class=\"beside\">{}</dd>", escape(&beside));
        }
        html.push_str("</div>\n");
    };
    // What does not apply, such as a comparison of factors where there is one, has no tile.
    for key in ["cluster_accuracy", "mig", "dci_disentanglement", "sap", "factor_vae_score"] {
        let Some(scores) = content.scores else { continue };
        if let Some(value) = scores.get(key).filter(|value| value.is_finite()) {
            let beside = scores.report.chance(key).map(|level| {
                let about = if level.includes(value) { "≈ " } else { "" };
                format!("{about}chance {}", number(level.mean))
            });
            tile(&label(key), number(value), beside);
        }
    }
    let mut fact = |name: &str, value: String| tile(name, value, None);
    if let Some(value) = content.scores.and_then(|scores| scores.get("reconstruction_error")) {
        let of = if run.features().is_some() { "standardised value" } else { "pixel" };
        fact(&format!("mean squared error of a {of}"), number(value));
    }
    for (key, name) in [("reconstruction", "reconstruction, nats"), ("kl", "KL divergence, nats")] {
        if let Some(value) = content.history.at(run.step(), key) {
            fact(name, number(value));
        }
    }
    let units = encoded.layout().continuous();
    let active = (0..units).filter(|&unit| encoded.is_active(unit)).count();
    fact("active latent units (dimensions)", format!("{active} of {units}"));
    html.push_str("</dl>\n");
    if let Some(Status { state, step, steps, .. }) = Status::read(&run.paths().status())
        && state != State::Done
    {
        let _ = writeln!(html, "<p>The run has not finished: it is at step {step} of {steps}.</p>");
    }
    html
}

/// Which way is good, as a word.
pub(crate) fn better(direction: Option<Direction>) -> &'static str {
    match direction {
        Some(Direction::Higher) => "higher",
        Some(Direction::Lower) => "lower",
        Some(Direction::Neither) | None => "",
    }
}

fn configuration(content: &Content<'_>) -> String {
    let run = content.encoded.run();
    let mut html = format!("<pre>{}</pre>\n", escape(&run.config().to_toml()));
    if let Some(meta) = Meta::read(&run.paths().meta()) {
        html.push_str("<h3>How it was trained</h3>\n<div class=\"scroll\"><table><tbody>\n");
        let finished = meta.finished.unwrap_or_else(|| "not yet".to_owned());
        for (key, value) in [
            ("unbraid", meta.version),
            ("host", meta.host),
            ("device", format!("{}, {} threads", meta.device, meta.threads)),
            ("parameters", thousands(meta.parameters)),
            ("started", meta.started),
            ("finished", finished),
            ("SHA-256 of the data", meta.data_sha256),
        ] {
            let _ = writeln!(html, "<tr><th scope=\"row\">{key}</th><td>{}</td></tr>", escape(&value));
        }
        html.push_str("</tbody></table></div>\n");
    }
    html
}
