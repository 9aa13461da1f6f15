//! The part of a page that moves: models with their weights, and the script that decodes and encodes images,
//! or rows of a table, in the browser.
//!
//! * [`layers`] is a network as the engine computes it, [`weights`] its numbers as bytes.
//! * [`units`] says what each latent unit does, [`matches`] which units of several models are the same.
//! * `assets/live/engine.js` computes, `pictures.js` and `features.js` draw what was decoded, `panel.js` the controls.

mod layers;
mod matches;
mod units;
mod weights;

use crate::error::Result;
use crate::html::{base64, data_uri, escape};
use crate::labels::listed;
use crate::numbers::thousands;
use crate::picture::canvas::Canvas;
use crate::run_report::encoded_run::EncodedRun;
use crate::run_report::feature_figures::columns_by_change;
use layers::PlainNetwork;
use ndarray::{ArrayRef, Axis, Ix2};
use serde_json::{Value, json};
use std::fmt::Write;
use unbraid::data::{ImageShape, Treatment};
use weights::Precision;

/// Its style sheet and its script, which the page's security policy allows by their hashes.
pub(crate) const STYLE: &str = concat!("\n", include_str!("../../assets/live/live.css"));
pub(crate) const SCRIPT: &str = concat!(
    "\n",
    include_str!("../../assets/live/engine.js"),
    include_str!("../../assets/live/pictures.js"),
    include_str!("../../assets/live/features.js"),
    include_str!("../../assets/live/panel.js")
);

/// Images or rows of the data to start from.
const STARTS: usize = 12;
/// Samples of the prior to start from: the page does not know how to draw from every prior.
const SAMPLES: usize = 100;

/// A million bytes, the unit of the limit.
const MEGABYTE: f64 = 1e6;

/// In megabytes: browsers hold no text of more than 512 MiB, and in base64 the weights take four thirds of their bytes.
const LARGEST: f64 = 256.0;

/// A section of a page, and whether it moves.
#[derive(Debug, Default)]
pub(crate) struct LiveSection {
    /// As HTML: the panel, or why there is none; empty for data that are neither pictures nor a table.
    pub(crate) html: String,
    /// Whether it has a panel.
    pub(crate) moves: bool,
}

impl LiveSection {
    fn words(words: &str) -> Self {
        Self { html: format!("<p class=\"faint\">{}</p>\n", escape(words)), moves: false }
    }
}

/// A run whose units can be moved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LiveRun<'a> {
    /// Its number on the page, from 1.
    pub(crate) number: usize,
    /// What it is called.
    pub(crate) name: &'a str,
    /// The run with its data.
    pub(crate) encoded: &'a EncodedRun<'a>,
}

/// The section of one run, or of several that were trained on the same data: the first has the sliders, and
/// the others follow where their units match. Models of more than `limit` megabytes together are left out.
///
/// # Errors
/// If images of the data cannot be read.
pub(crate) fn section(runs: &[LiveRun<'_>], limit: f64) -> Result<LiveSection> {
    let Some(first) = runs.first() else { return Ok(LiveSection::default()) };
    let shape = first.encoded.run().image_shape();
    let features = first.encoded.run().features();
    let pictures = matches!(shape.channels, 1 | 3) && shape.height * shape.width > 1 && shape.values() != 2;
    if features.is_none() && !pictures {
        return Ok(LiveSection::default());
    }
    let mut networks = Vec::new();
    let (mut parameters, mut megabytes) = (0, 0.0);
    let mut precisions: Vec<&str> = Vec::new();
    for live in runs {
        let run = live.encoded.run();
        let Some(network) = PlainNetwork::new(run.network(), &run.config().model.likelihood) else {
            return Ok(LiveSection::words(
                "The model has layers that this page cannot compute: its units cannot be moved here.",
            ));
        };
        let precision = Precision::of(network.parameters());
        if !precisions.contains(&precision.words()) {
            precisions.push(precision.words());
        }
        parameters += network.parameters();
        megabytes += weights::length(&network, precision) as f64 / MEGABYTE;
        networks.push((network, precision));
    }
    if megabytes > limit.min(LARGEST) {
        let (which, takes) =
            if runs.len() > 1 { ("models are", "they take") } else { ("model is", "it takes") };
        return Ok(LiveSection::words(&format!(
            "The {which} not part of this page: {takes} {megabytes:.1} MB, and {}.",
            limit_in_words(limit)
        )));
    }
    let models = runs.iter().zip(&networks).map(|(live, (network, precision))| {
        (model(live, first, network, *precision), weights::bytes(network, *precision))
    });
    let (tables, bytes): (Vec<Value>, Vec<Vec<u8>>) = models.unzip();
    let mut data = json!({ "run": first.name, "models": tables });
    match features {
        Some(features) => {
            data["columns"] = json!({
                "names": features.names().collect::<Vec<_>>(),
                "order": columns_by_change(first.encoded, features)?,
            });
            data["rows"] = rows_to_start_from(first.encoded);
        }
        None => {
            data["shape"] = json!([shape.height, shape.width, shape.channels]);
            let Treatment { crop, mask } = Treatment::of(&first.encoded.run().config().data)?;
            data["crop"] = json!(crop);
            data["mask"] = json!(mask);
            data["images"] = images(first.encoded)?.into();
        }
    }
    let several = if runs.len() > 1 {
        " The first model has the sliders. A unit of another model follows one of the first if their posterior means \
         correlate (r of 0.5 or more, or of −0.5 or less); categorical units move in the first model only."
    } else {
        ""
    };
    let decoded = if features.is_some() {
        "computes the columns of a row, in standard deviations from their means. A line marks where each column started; those \
         that units change most come first."
    } else {
        "draws what it stands for."
    };
    let mut html = format!(
        "<p>Move a latent unit (dimension), and the decoder {decoded} Units are sorted by KL divergence in nats; \
         beside it is the factor that explains most of the unit.{several} Click on the name of a unit to give it one.</p>\n\
         <p class=\"faint\">The page computes by itself: {} weights as {} ({}) are part of it.</p>\n\
         <noscript><p>This part of the page needs JavaScript.</p></noscript>\n\
         <style>{STYLE}</style>\n<div id=\"live\" class=\"live\"></div>\n\
         <script type=\"application/json\" id=\"live-data\">{}</script>\n",
        thousands(parameters),
        listed(&precisions),
        size(megabytes),
        in_script(&data)
    );
    for (place, bytes) in bytes.iter().enumerate() {
        let _ = writeln!(
            html,
            "<script type=\"text/plain\" id=\"live-weights-{place}\">{}</script>",
            base64(bytes)
        );
    }
    let _ = writeln!(html, "<script>{SCRIPT}</script>");
    Ok(LiveSection { html, moves: true })
}

fn limit_in_words(limit: f64) -> String {
    if limit < LARGEST {
        format!("the limit is {limit} MB (evaluation.model_limit, or --model-limit)")
    } else {
        format!("no page carries more than {LARGEST} MB")
    }
}

/// A size for people; the weights of a table's model may be few.
fn size(megabytes: f64) -> String {
    if megabytes < 0.1 { format!("{:.0} kB", 1e3 * megabytes) } else { format!("{megabytes:.1} MB") }
}

/// JSON that cannot end the element around it.
fn in_script(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

fn model(live: &LiveRun<'_>, first: &LiveRun<'_>, network: &PlainNetwork, precision: Precision) -> Value {
    let encoded = live.encoded;
    let (run, layout) = (encoded.run(), encoded.layout());
    let tables = |layers: &[layers::PlainLayer]| -> Vec<Value> {
        layers.iter().map(layers::PlainLayer::table).collect()
    };
    let mut model = json!({
        "name": live.name,
        "number": live.number,
        "precision": precision.word(),
        "continuous": layout.continuous(),
        "categorical": layout.categorical(),
        "encoder": network.encoder.as_deref().map(tables),
        "decoder": tables(&network.decoder),
        "middle": rows(&run.middle())[0],
        "starts": rows(&encoded.codes(STARTS)),
        "samples": rows(&run.draw_latents(SAMPLES, 0)),
    });
    if let Some(features) = run.features() {
        let columns = features.columns().iter();
        model["features"] = columns.map(|column| json!([column.mean, column.deviation])).collect();
    }
    if live.number == first.number {
        model["units"] = units::describe(encoded).into();
    } else {
        model["matches"] = matches::describe(first.encoded, encoded).into();
    }
    model
}

/// Rows of latent values with as many digits as a slider can tell apart.
fn rows(latents: &ArrayRef<f32, Ix2>) -> Vec<Vec<f64>> {
    let short = |value: &f32| (f64::from(*value) * 1e4).round() / 1e4;
    latents.rows().into_iter().map(|row| row.iter().map(short).collect()).collect()
}

/// The rows to start from: what they are called, as in messages, and what `--index` calls them.
fn rows_to_start_from(encoded: &EncodedRun<'_>) -> Value {
    let described = encoded.indices(STARTS).iter().map(|&index| {
        let label = encoded.data().image_name(index);
        json!({ "label": label.map_or_else(|| format!("row {}", index + 1), str::to_owned), "index": index })
    });
    described.collect()
}

/// The images to start from, as they are.
fn images(encoded: &EncodedRun<'_>) -> Result<Vec<Value>> {
    let images = encoded.images(STARTS)?;
    let (_, height, width, channels) = images.dim();
    let shape = ImageShape::new(height, width, channels);
    let picture = |(place, image): (usize, ndarray::ArrayView3<'_, f32>)| -> Result<Value> {
        let pixels: Vec<f32> = image.iter().copied().collect();
        let png = Canvas::of_image(shape, &pixels).png()?;
        Ok(
            json!({ "source": data_uri("image/png", &png), "label": format!("Start from image {}", place + 1) }),
        )
    };
    images.axis_iter(Axis(0)).enumerate().map(picture).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::tiny_run;
    use unbraid::data::progress::Silent;

    #[test]
    fn small_sizes_are_not_rounded_to_nothing() {
        assert_eq!([0.009_2, 0.1, 1.46].map(size), ["9 kB", "0.1 MB", "1.5 MB"]);
    }

    #[test]
    fn a_model_is_part_of_its_page_up_to_a_limit() {
        let directory = tempfile::tempdir().unwrap();
        let run =
            tiny_run(&directory, "run", &["evaluation.report=false", "evaluation.after_training=false"]);
        let data = run.open_data(&Silent).unwrap().data;
        let encoded = EncodedRun::new(&run, data.as_ref(), 40, &Silent).unwrap();
        let live = |name| LiveRun { number: 1, name, encoded: &encoded };
        let whole = section(&[live("</script>")], 1.0).unwrap();
        assert!(whole.moves && whole.html.contains("\\u003c/script>"), "names cannot end the script");
        assert_eq!(whole.html.matches("</script>").count(), 3, "data, weights and code");
        assert_eq!(whole.html.matches("://").count(), 0);
        let none = section(&[live("run")], 0.0).unwrap();
        assert!(!none.moves);
        let expected = "MB, and the limit is 0 MB (evaluation.model_limit, or --model-limit).</p>";
        assert!(none.html.trim_end().ends_with(expected), "{}", none.html);
        let network = PlainNetwork::new(run.network(), &run.config().model.likelihood).unwrap();
        for precision in [Precision::Half, Precision::Byte] {
            let length = weights::length(&network, precision);
            assert_eq!(weights::bytes(&network, precision).len(), length);
        }
        // Any number is a limit.
        for limit in [256.0, 1e308, f64::INFINITY] {
            assert_eq!(section(&[live("</script>")], limit).unwrap().html, whole.html);
            assert_eq!(limit_in_words(limit), "no page carries more than 256 MB");
        }
    }
}
