//! The model card: `README.md` with a YAML header that hubs read.

use crate::labels::label;
use crate::numbers::{number, thousands};
use crate::run_report::page::run_name;
use serde_json::json;
use std::fmt::Write;
use unbraid::Run;
use unbraid::evaluate::Scores;
use unbraid::metrics::registry;
use unbraid::model::NamedParameter;

/// What a card is made of.
#[derive(Debug)]
pub(super) struct ModelCard<'a> {
    /// The run.
    pub(super) run: &'a Run,
    /// The identifier of a licence, such as `mit`.
    pub(super) licence: Option<&'a str>,
    /// Its scores, if it has been evaluated.
    pub(super) scores: Option<&'a Scores>,
    /// Files beside the card, with what they show.
    pub(super) pictures: &'a [(&'a str, &'a str)],
    /// Why there are no ONNX files, if there are none.
    pub(super) without_onnx: Option<&'a str>,
}

/// A text as YAML has it: every JSON string is one.
fn quoted(text: &str) -> String {
    json!(text).to_string()
}

/// The numbers that a card lists: those of whole models, as far as they are defined.
fn listed(scores: &Scores) -> Vec<(&str, &str, f64)> {
    let all = scores.report.scores.iter().flat_map(|score| {
        score
            .values
            .numbers()
            .iter()
            .map(move |(key, value)| (score.name.as_str(), key.as_str(), *value, score))
    });
    all.filter(|(_, key, value, score)| {
        registry::factor_of_key(key).is_none()
            && value.is_finite()
            && score.values.why_undefined(key).is_none()
    })
    .map(|(metric, key, value, _)| (metric, key, value))
    .collect()
}

/// The card as Markdown.
pub(super) fn model_card(card: &ModelCard<'_>) -> String {
    let mut text = header(card);
    let run = card.run;
    let config = run.config();
    let data = config.data.name.clone().unwrap_or_else(|| "its own data".to_owned());
    let parameters = run.network().parameters().iter().map(|parameter| size(*parameter)).sum::<usize>();
    let _ = write!(
        text,
        "# {}\n\nA variational autoencoder whose latent units (dimensions) are meant to follow one factor of variation each, \
         trained with unbraid.\n\n| | |\n|---|---|\n| data | {data} |\n| objective | {} |\n| architecture | {}, {} \
         parameters |\n| latent units | {} continuous{} |\n| prior | {} |\n| steps | {} |\n| seed | {} |\n",
        run_name(run.path()),
        config.objective.name(),
        config.model.architecture.name(),
        thousands(parameters),
        run.units(),
        categorical(run.categorical_units()),
        config.model.prior.name(),
        run.step(),
        config.seed,
    );
    if !card.pictures.is_empty() {
        text.push_str("\n## What the units do\n");
        for (file, caption) in card.pictures {
            let _ = write!(text, "\n![{caption}]({file})\n\n{caption}.\n");
        }
    }
    if let Some(scores) = card.scores {
        score_table(&mut text, scores);
    }
    usage(&mut text, card);
    text
}

fn size(parameter: &dyn NamedParameter) -> usize {
    parameter.shape().iter().product()
}

fn categorical(classes: &[usize]) -> String {
    if classes.is_empty() {
        return String::new();
    }
    let classes: Vec<String> = classes.iter().map(usize::to_string).collect();
    format!(", categorical with {} classes", classes.join(" and "))
}

fn header(card: &ModelCard<'_>) -> String {
    let name = run_name(card.run.path());
    let mut text = format!(
        "---\nlicense: {}\nlibrary_name: unbraid\ntags:\n- disentanglement\n- vae\n- representation-learning\n",
        quoted(card.licence.unwrap_or("unknown"))
    );
    if card.without_onnx.is_none() {
        text.push_str("- onnx\n");
    }
    let data = card.run.config().data.name.as_deref();
    if card.run.features().is_none() {
        text.push_str("pipeline_tag: image-feature-extraction\n");
    }
    if let Some(scores) = card.scores {
        let data = quoted(data.unwrap_or("own"));
        let _ = write!(
            text,
            "model-index:\n- name: {}\n  results:\n  - task:\n      type: disentanglement\n      name: Disentanglement\n    \
             dataset:\n      name: {data}\n      type: {data}\n    metrics:\n",
            quoted(&name)
        );
        for (_, key, value) in listed(scores) {
            let _ = writeln!(
                text,
                "    - type: {}\n      value: {}\n      name: {}",
                quoted(key),
                json!(value),
                quoted(&label(key))
            );
        }
    }
    text.push_str("---\n\n");
    text
}

fn score_table(text: &mut String, scores: &Scores) {
    let has_chance = scores.report.scores.iter().any(|score| score.chance.is_some());
    text.push_str("\n## Scores\n\n");
    text.push_str(if has_chance {
        "| score | value | chance |\n|---|---|---|\n"
    } else {
        "| score | value |\n|---|---|\n"
    });
    for (metric, key, value) in listed(scores) {
        let score = scores.report.scores.iter().find(|score| score.name == metric);
        let chance = score.and_then(|score| score.chance.as_ref()?.get(key)).map(|level| number(level.mean));
        let _ = write!(text, "| {} | {} |", label(key), number(value));
        if has_chance {
            let _ = write!(text, " {} |", chance.unwrap_or_default());
        }
        text.push('\n');
    }
    let about = &scores.about;
    let _ = writeln!(
        text,
        "\nOn {} training and {} test points, seed {}; `scores.json` has the parameters of every score. Chance: the same score \
         with the factors of all points shuffled.",
        thousands(about.train_points),
        thousands(about.test_points),
        about.seed
    );
}

fn usage(text: &mut String, card: &ModelCard<'_>) {
    text.push_str("\n## Files\n\n| file | |\n|---|---|\n");
    text.push_str(
        "| `model.safetensors`, `config.json` | weights under PyTorch's names, and what they belong to |\n",
    );
    text.push_str(
        "| `report.html` | figures, and the model itself to move: one page without requests to any host |\n",
    );
    match card.without_onnx {
        Some(reason) => {
            let _ = writeln!(
                text,
                "\nThere are no ONNX files, since the posterior cannot be exported: {reason}."
            );
        }
        None => {
            text.push_str("| `encoder.onnx`, `decoder.onnx` | for any runtime of ONNX |\n\n```python\n");
            let (input, like) = match card.run.features() {
                Some(features) => ("values", format!("{}", features.len())),
                None => {
                    let shape = card.run.image_shape();
                    ("images", format!("{}, {}, {}", shape.channels, shape.height, shape.width))
                }
            };
            let _ = write!(
                text,
                "import numpy as np, onnxruntime\n\n{input} = np.zeros((1, {like}), np.float32){}\nencoder = \
                 onnxruntime.InferenceSession(\"encoder.onnx\")\noutputs = encoder.run(None, {{\"{input}\": {input}}})\n```\n",
                if input == "images" {
                    "  # from 0 to 1, channels first"
                } else {
                    "  # in the units of the table"
                },
            );
        }
    }
}
