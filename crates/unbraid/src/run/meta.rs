//! `meta.json`: where, when and on which data a run was trained.

use super::clock;
use crate::error::Result;
use crate::files::{self, Existing};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use unbraid_data::files::{LONGEST_TEXT, read_text};

/// Facts about a run that do not affect its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    /// Version of unbraid.
    pub version: String,
    /// Name of the machine.
    pub host: String,
    /// The seed, as in the configuration.
    pub seed: u64,
    /// SHA-256 that identifies the data.
    pub data_sha256: String,
    /// The paths of the data relative to the run directory, by their keys: where it is after both were moved together.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub data_paths: BTreeMap<String, PathBuf>,
    /// Number of images.
    pub data_images: usize,
    /// Height, width and channels.
    pub image_shape: [usize; 3],
    /// Number of trained parameters.
    pub parameters: usize,
    /// Number of threads.
    pub threads: usize,
    /// The device.
    pub device: String,
    /// When the run started.
    pub started: String,
    /// When it was last resumed.
    pub resumed: Option<String>,
    /// When it ended.
    pub finished: Option<String>,
    /// Where its weights come from, if it was not trained here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Provenance>,
}

/// Where imported weights come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The program that trained them.
    pub program: String,
    /// The name of the file.
    pub file: String,
    /// Its hash.
    pub sha256: String,
}

impl Meta {
    /// For this version on this machine, starting now; the caller fills in the rest.
    pub fn new(seed: u64) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            host: host(),
            seed,
            data_sha256: String::new(),
            data_paths: BTreeMap::new(),
            data_images: 0,
            image_shape: [0; 3],
            parameters: 0,
            threads: 0,
            device: String::new(),
            started: clock::timestamp(),
            resumed: None,
            finished: None,
            imported: None,
        }
    }

    /// Reads the file; `None` if it is missing or invalid.
    pub fn read(path: &Path) -> Option<Self> {
        serde_json::from_str(&read_text(path, LONGEST_TEXT).ok()?).ok()
    }

    /// Seconds from the start of training to its end; `None` if it has not ended, or was resumed, since the time in
    /// between is unknown.
    pub fn seconds(&self) -> Option<f64> {
        let (started, finished) =
            (clock::parse_utc(&self.started)?, clock::parse_utc(self.finished.as_ref()?)?);
        let seconds = finished.checked_sub(started).filter(|_| self.resumed.is_none())?;
        Some(seconds as f64)
    }

    /// The same, resumed now.
    #[must_use]
    pub(crate) fn resumed_now(mut self) -> Self {
        self.resumed = Some(clock::timestamp());
        self
    }

    /// The same, finished now.
    #[must_use]
    pub(crate) fn finished_now(mut self) -> Self {
        self.finished = Some(clock::timestamp());
        self
    }

    /// Replaces the file at `path`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, path: &Path) -> Result {
        files::write(path, Existing::Replace, |file| {
            serde_json::to_writer_pretty(&mut *file, self)?;
            writeln!(file)
        })
    }
}

/// The name of this machine, as far as a file or the environment has it.
pub fn host() -> String {
    ["/proc/sys/kernel/hostname", "/etc/hostname"]
        .iter()
        .find_map(|path| std::fs::read_to_string(path).ok())
        .or_else(|| std::env::var("HOSTNAME").or_else(|_| std::env::var("COMPUTERNAME")).ok())
        .map_or_else(|| "unknown".to_owned(), |name| name.trim().to_owned())
}
