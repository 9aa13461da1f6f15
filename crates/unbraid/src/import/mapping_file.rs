//! The mapping file of `unbraid import --mapping`: a configuration, with a table of names beside it.
//!
//! ```toml
//! [images]
//! height = 64
//! width = 64
//! channels = 1
//!
//! [model]
//! architecture = "conv"
//! latents = { continuous = 10 }
//!
//! [tensors]                             # ours = theirs
//! "encoder.conv1.weight" = "enc.0.weight"
//! "encoder.mean.weight" = { name = "head.weight", rows = [0, 10] }
//! ```

use super::mapping::Mapping;
use super::recipe::Recipe;
use crate::config::explain;
use crate::error::{Error, Result};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;
use toml::Table;
use unbraid_data::files::{LONGEST_TEXT, read_text};
use unbraid_data::{DataSpec, ImageShape, one_line};

/// Keys that no configuration has.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Own {
    tensors: Mapping,
    ignore: Vec<String>,
    root: Option<String>,
    images: Option<Images>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Images {
    height: usize,
    width: usize,
    channels: usize,
}

/// A file that was read.
#[derive(Debug)]
pub(super) struct MappingFile {
    /// The dictionary of tensors within a file of PyTorch.
    pub(super) root: Option<String>,
    pub(super) recipe: Recipe,
}

impl MappingFile {
    /// Reads the file.
    ///
    /// # Errors
    /// If it cannot be read, is not TOML, or its own keys are wrong; those of the configuration are checked later.
    pub(super) fn read(path: &Path) -> Result<Self> {
        Self::of_text(path, &read_text(path, LONGEST_TEXT).map_err(Error::io(path, "read it"))?)
    }

    /// As [`MappingFile::read`], of the file's text; its path is for messages and relative paths.
    pub(super) fn of_text(path: &Path, text: &str) -> Result<Self> {
        let syntax = |error: toml::de::Error| Error::ConfigSyntax {
            origin: path.display().to_string(),
            message: error.to_string().trim_end().to_owned(),
        };
        let mut config: Table = text.parse().map_err(syntax)?;
        let mut own = Table::new();
        for key in ["tensors", "ignore", "root", "images"] {
            own.extend(config.remove(key).map(|value| (key.to_owned(), value)));
        }
        let shape = |error: toml::de::Error| Error::ConfigSyntax {
            origin: path.display().to_string(),
            message: explain(&error),
        };
        let Own { tensors, ignore, root, images } = own.try_into().map_err(shape)?;
        let data = config.remove("data").map(|data| data_of(data, path)).transpose()?;
        let mut config = serde_json::to_value(config).unwrap_or_else(|_| json!({}));
        put_default(&mut config, "objective", json!({ "name": "vae" }));
        put_default(&mut config, "training", json!({}));
        let training = &mut config["training"];
        if training.is_object() && training.get("steps").is_none() && training.get("epochs").is_none() {
            training["steps"] = json!(1);
        }
        let image_shape =
            images.map(|Images { height, width, channels }| ImageShape::new(height, width, channels));
        let recipe = Recipe {
            program: "a mapping file",
            config,
            data,
            image_shape,
            mapping: tensors,
            ignored: ignore,
        };
        Ok(Self { root, recipe })
    }
}

fn put_default(config: &mut Value, key: &str, value: Value) {
    if let Some(table) = config.as_object_mut() {
        table.entry(key).or_insert(value);
    }
}

/// A data set in words or as a table, with a relative path in the directory of the file.
fn data_of(data: toml::Value, file: &Path) -> Result<DataSpec> {
    let directory = file.parent().unwrap_or(Path::new(""));
    let spec = match data {
        toml::Value::String(text) => DataSpec::parse_in(&text, directory)?,
        other => other.try_into().map_err(|error: toml::de::Error| Error::ConfigShape {
            message: format!("data: {}", one_line(error.message())),
        })?,
    };
    Ok(match &spec.path {
        Some(path) if path.is_relative() => DataSpec { path: Some(directory.join(path)), ..spec },
        _ => spec,
    })
}
