//! `report.html`: everything about a run on one page.

use super::encoded_run::EncodedRun;
use super::history::History;
use crate::error::Result;
use crate::figure::Figure;
use crate::html::{Section, escape, page};
use crate::labels::label;
use crate::numbers::{number, thousands};
use std::fmt::Write;
use std::path::Path;
use unbraid::evaluate::Scores;
use unbraid::metrics::{Direction, registry};
use unbraid::run::{Meta, State, Status};

/// The figures of a report, by section.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    /// Latent traversals.
    pub(crate) traversals: Vec<Figure>,
    /// Reconstructions and samples.
    pub(crate) images: Vec<Figure>,
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
        let Self { traversals, images, training, latents, factors } = self;
        [traversals, images, training, latents, factors].into_iter().flatten()
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
    let sections = [
        section("traversals", "Latent traversals", all(&figures.traversals)?),
        section("scores", "Scores", scores(content.scores)),
        section("factors", "Units and factors", all(&figures.factors)?),
        section("images", "Images", all(&figures.images)?),
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
        "<p>{} on {} ({} images of {}), seed {}, after {} steps.</p>\n<dl class=\"facts\">\n",
        escape(config.objective.name()),
        escape(data.name()),
        thousands(data.len()),
        data.shape(),
        config.seed,
        thousands(run.step() as usize)
    );
    let mut fact = |name: &str, value: String| {
        let _ = writeln!(html, "<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(&value));
    };
    for key in ["mig", "dci_disentanglement", "sap", "factor_vae_score"] {
        if let Some(value) = content.scores.and_then(|scores| scores.get(key)) {
            fact(&label(key), number(value));
        }
    }
    for (key, name) in [("reconstruction", "reconstruction, nats"), ("kl", "KL divergence, nats")] {
        if let Some(value) = content.history.last(key) {
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

fn scores(scores: Option<&Scores>) -> String {
    let Some(scores) = scores else { return String::new() };
    let about = &scores.about;
    let tested = match about.test_points {
        0 => String::new(),
        points => format!(" for training and {} for testing", thousands(points)),
    };
    let mut html = format!(
        "<p>Computed at step {} on the {}s of the posteriors of {} images{tested}, with seed {}.</p>\n\
         <div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">Score</th><th scope=\"col\" class=\"number\">Value\
         </th><th scope=\"col\">Better</th><th scope=\"col\">Meaning of a good value</th></tr></thead>\n<tbody>\n",
        about.step,
        escape(&about.representation),
        thousands(about.train_points),
        about.seed,
    );
    for score in &scores.report.scores {
        let metric = registry::find(&score.name).ok();
        for (place, (key, value)) in score.values.numbers().iter().enumerate() {
            let meaning = metric.filter(|_| place == 0).map_or("", |metric| metric.meaning.as_str());
            let _ = writeln!(
                html,
                "<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td><td>{}</td><td class=\"meaning\">{}</td></tr>",
                escape(&label(key)),
                number(*value),
                better(metric.map(|metric| metric.direction)),
                escape(meaning)
            );
        }
    }
    html.push_str("</tbody>\n</table></div>\n");
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
        html.push_str(
            "<h3 style=\"margin-top:1.25rem\">How it was trained</h3>\n<div class=\"scroll\"><table><tbody>\n",
        );
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
