//! `training.init`: weights to start from.

use super::Config;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Weights to start from: those of a run, or a file of tensors with the network's own names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InitConfig {
    /// A run directory, or a file of weights: safetensors, or a state dict of PyTorch.
    pub path: String,
    /// The SHA-256 of the file. A written configuration has it, and other weights are then refused; the path does not matter to
    /// whether two runs are the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// How many letters a SHA-256 has.
const HASH_LENGTH: usize = 64;

impl Config {
    pub(super) fn check_init(&self) -> Result {
        let Some(InitConfig { path, sha256 }) = &self.training.init else { return Ok(()) };
        if self.objective.closed_form().is_some() {
            let expected = format!("nothing, since `{}` is fitted in one step", self.objective.name());
            return Err(Error::value("training.init", path, expected));
        }
        if path.is_empty() {
            return Err(Error::value(
                "training.init.path",
                "nothing",
                "a run directory or a file of weights",
            ));
        }
        let is_hash = |text: &&String| {
            text.len() == HASH_LENGTH && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        match sha256.as_ref().filter(|text| !is_hash(text)) {
            None => Ok(()),
            Some(text) => {
                Err(Error::value("training.init.sha256", text, "64 hexadecimal digits, in lower case"))
            }
        }
    }
}
