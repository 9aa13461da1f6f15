//! Encoder and decoder of a run as ONNX files, which runtimes in many languages read.
//!
//! | file | input | outputs |
//! |---|---|---|
//! | `encoder.onnx` | `images` \[batch, channels, height, width\] from 0 to 1 | `mean`, `log_variance` \[batch, units\], `probabilities_0`, ... \[batch, classes\] |
//! | `decoder.onnx` | `latents` \[batch, width\]: the continuous units, then the classes of each categorical one | `images`: the expected images |
//!
//! A run on a table has `values` \[batch, columns\] in place of images, in the units of the table; the
//! decoder gives them in double precision. Every number is what [`Run::encode`] and [`Run::decode`] give, to
//! the rounding of single precision.

mod graph;
mod network;
mod protobuf;

use crate::config::PosteriorConfig;
use crate::error::Result;
use crate::files::{self, Existing};
use crate::model::Unit;
use crate::run::Run;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The version of ONNX's operators that files are written for.
pub const OPSET: i64 = graph::OPSET;

/// Writes `encoder.onnx` and `decoder.onnx` into a directory that exists.
///
/// # Errors
/// If the posterior has no closed form, so that there is no encoder to export, or a file cannot be written.
pub fn write(run: &Run, directory: &Path, existing: Existing) -> Result<Vec<PathBuf>> {
    let files = [("encoder.onnx", encoder(run)?), ("decoder.onnx", decoder(run)?)];
    let mut written = Vec::new();
    for (name, bytes) in files {
        let path = directory.join(name);
        files::write(&path, existing, |file| file.write_all(&bytes))?;
        written.push(path);
    }
    Ok(written)
}

/// The content of `encoder.onnx`.
///
/// # Errors
/// If the posterior has no closed form.
pub fn encoder(run: &Run) -> Result<Vec<u8>> {
    let description = "From images to the posterior of the latent units";
    Ok(network::encoder(run)?.into_file("encoder", description, &metadata(run)))
}

/// The content of `decoder.onnx`.
///
/// # Errors
/// Never for a run that could be opened.
pub fn decoder(run: &Run) -> Result<Vec<u8>> {
    let description = "From latent units to the expected images";
    Ok(network::decoder(run)?.into_file("decoder", description, &metadata(run)))
}

/// Why the encoder of a run with this posterior cannot be exported; `None` if it can.
pub fn obstacle(posterior: &PosteriorConfig) -> Option<&'static str> {
    network::obstacle(posterior)
}

/// What a reader of the files has to know, as JSON under keys that begin with `unbraid.`.
fn metadata(run: &Run) -> Vec<(String, String)> {
    let model = &run.config().model;
    let name = |unit: Unit| run.names().get(unit).map_or_else(|| unit.to_string(), str::to_owned);
    let continuous: Vec<String> = (0..run.units()).map(|unit| name(Unit::Continuous(unit))).collect();
    let classes = run.categorical_units().iter().enumerate();
    let categorical: Vec<_> = classes
        .map(|(unit, classes)| json!({ "name": name(Unit::Categorical(unit)), "classes": classes }))
        .collect();
    let prior: Vec<_> = run
        .prior()
        .state()
        .into_iter()
        .map(|tensor| json!({ "name": tensor.name, "shape": tensor.shape, "values": tensor.values.as_floats() }))
        .collect();
    let shape = run.image_shape();
    let mut entries = vec![
        ("architecture", json!(model.architecture)),
        ("categorical_units", json!(categorical)),
        ("continuous_units", json!(continuous)),
        ("data", json!(run.config().data.name)),
        ("likelihood", json!(model.likelihood)),
        ("posterior", json!(model.posterior)),
        ("prior", json!({ "config": model.prior, "state": prior })),
        ("step", json!(run.step())),
        ("version", json!(env!("CARGO_PKG_VERSION"))),
    ];
    match run.features() {
        None => entries.extend([
            ("data_range", json!([0, 1])),
            ("image_shape", json!([shape.channels, shape.height, shape.width])),
            ("layout", json!("NCHW")),
        ]),
        Some(features) => {
            entries
                .extend([("columns", json!(features.names().collect::<Vec<_>>())), ("layout", json!("NC"))]);
        }
    }
    entries.sort_by_key(|(key, _)| *key);
    entries.into_iter().map(|(key, value)| (format!("unbraid.{key}"), value.to_string())).collect()
}
