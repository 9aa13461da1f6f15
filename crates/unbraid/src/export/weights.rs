//! `model.safetensors` and `config.json`: the weights under PyTorch's names, and how to build the network
//! that they belong to.

use crate::error::Result;
use crate::files::{self, Existing};
use crate::model::{StateTensor, write_state};
use crate::run::Run;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The name of the weights.
pub const WEIGHTS: &str = "model.safetensors";
/// The name of the configuration.
pub const CONFIG: &str = "config.json";

/// Writes both files into a directory that exists.
///
/// # Errors
/// If a file cannot be written.
pub fn write(run: &Run, directory: &Path, existing: Existing) -> Result<Vec<PathBuf>> {
    let (weights, config) = (directory.join(WEIGHTS), directory.join(CONFIG));
    let bytes = write_state(&state(run), &json!({ "step": run.step() }).to_string())?;
    files::write(&weights, existing, |file| file.write_all(&bytes))?;
    files::write(&config, existing, |file| {
        serde_json::to_writer_pretty(&mut *file, &description(run))?;
        writeln!(file)
    })?;
    Ok(vec![weights, config])
}

/// The state dict of network and prior.
pub fn state(run: &Run) -> Vec<StateTensor> {
    run.network().state().into_iter().chain(run.prior().state()).collect()
}

/// The content of `config.json`: the whole configuration, the size of the images, and the layers as a table,
/// so that the network can be built without this program.
pub fn description(run: &Run) -> Value {
    let shape = run.image_shape();
    let tensors: Vec<Value> =
        state(run).iter().map(|tensor| json!({ "name": tensor.name, "shape": tensor.shape })).collect();
    let mut description = json!({
        "model_type": "unbraid",
        "unbraid_version": env!("CARGO_PKG_VERSION"),
        "step": run.step(),
        "image_shape": { "height": shape.height, "width": shape.width, "channels": shape.channels },
        "continuous_units": run.units(),
        "categorical_units": run.categorical_units(),
        "configuration": portable(serde_json::to_value(run.config()).unwrap_or_default()),
        "tensors": tensors,
    });
    if let Some(features) = run.features() {
        description["features"] = serde_json::to_value(features).unwrap_or_default();
    }
    description
}

/// A configuration without the paths of this machine.
fn portable(mut config: Value) -> Value {
    if let Some(data) = config.get_mut("data").and_then(Value::as_object_mut) {
        data.remove("path");
        for key in unbraid_data::registry::PATH_OPTIONS {
            data.remove(key);
        }
    }
    config
}
