//! A [`Report`] as the object `{"mig": {...}, "dci": {...}}` that `scores.json` has under `scores`, for
//! `#[serde(with = "unbraid_metrics::by_name")]`.
//!
//! Reading puts scores into the order of the built-in metrics; unknown metrics come last, in the order of the file.
//! [`deserialize_numbers`] skips the details, which make up most of a file, without parsing them: for reading thousands of
//! files.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use unbraid_metrics::{Report, by_name};
//!
//! #[derive(Serialize, Deserialize)]
//! struct File {
//!     step: u64,
//!     #[serde(with = "by_name")]
//!     scores: Report,
//! }
//!
//! #[derive(Deserialize)]
//! struct FileWithoutDetails {
//!     #[serde(deserialize_with = "by_name::deserialize_numbers")]
//!     scores: Report,
//! }
//!
//! let text = r#"{"step": 5, "scores": {"mig": {"parts": {"mig": 0.5}, "details": {"mig_per_factor": [0.4, 0.6]}}}}"#;
//! let file: File = serde_json::from_str(text)?;
//! assert_eq!(file.scores.list("mig_per_factor"), Some(&[0.4, 0.6][..]));
//! let numbers: FileWithoutDetails = serde_json::from_str(text)?;
//! assert_eq!((numbers.scores.get("mig"), numbers.scores.list("mig_per_factor")), (Some(0.5), None));
//! # Ok::<(), serde_json::Error>(())
//! ```

use super::Report;
use super::stored::{Entry, InOrder, IntoDetails, StoredDetails};
use crate::registry;
use serde::de::{Deserialize, Deserializer, IgnoredAny};
use serde::ser::Serializer;

/// Writes each score under the name of its metric.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(report: &Report, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(report.scores.iter().map(|score| (&score.name, score)))
}

/// Reads scores that [`serialize`] wrote.
///
/// # Errors
/// If they have another form.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Report, D::Error> {
    read::<StoredDetails, D>(deserializer)
}

/// As [`deserialize`], without lists and matrices.
///
/// # Errors
/// If they have another form.
pub fn deserialize_numbers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Report, D::Error> {
    read::<IgnoredAny, D>(deserializer)
}

fn read<'de, T: IntoDetails<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Report, D::Error> {
    let InOrder(entries) = InOrder::<Entry<T>>::deserialize(deserializer)?;
    let mut scores: Vec<_> = entries.into_iter().map(|(name, entry)| entry.into_score(name)).collect();
    let builtin = registry::shared();
    scores.sort_by_key(|score| builtin.position(&score.name).unwrap_or(usize::MAX));
    Ok(Report { scores, ..Report::default() })
}
