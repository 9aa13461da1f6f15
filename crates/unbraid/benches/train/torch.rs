//! The same step in PyTorch.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// The ways in which PyTorch can do it.
pub(crate) const MODES: [&str; 2] = ["eager", "channels_last"];

/// Milliseconds of a step in each of the [`MODES`], and PyTorch's version: one round, which keeps its best part.
pub(crate) fn round(
    python: &str,
    script: &Path,
    threads: usize,
    channels: usize,
) -> Result<([f64; 2], String), String> {
    if !script.is_file() {
        return Err(format!(
            "{}: no such file; --script PATH or UNBRAID_SHARED says where torch_train.py is",
            script.display()
        ));
    }
    let output = Command::new(python)
        .arg(script)
        .args(["--modes", &MODES.join(","), "--rounds", "2", "--steps", "15"])
        .args(["--threads", &threads.to_string(), "--channels", &channels.to_string()])
        .output()
        .map_err(|error| format!("cannot run {python}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{python} failed:\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    let printed: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("{}: its output is no JSON: {error}", script.display()))?;
    let best = |mode: &str| {
        printed["modes"][mode]["best_ms"]
            .as_f64()
            .ok_or_else(|| format!("{}: no modes.{mode}.best_ms in its output", script.display()))
    };
    // "2.15.0+cu132" says more than anybody wants to know of a run on the CPU.
    let version = printed["torch"].as_str().and_then(|text| text.split('+').next()).unwrap_or("?").to_owned();
    Ok(([best(MODES[0])?, best(MODES[1])?], version))
}
