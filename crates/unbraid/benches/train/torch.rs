//! The same step in PyTorch.

use super::Arguments;
use serde_json::Value;
use std::process::Command;

/// The ways in which PyTorch can do it. The last takes a minute to compile, so it is measured in the first
/// round only; so are those that are far behind then, such as bf16 on a processor that has no instructions
/// for it.
pub(crate) const MODES: [&str; 4] = ["eager", "channels_last", "bf16", "compile"];

/// A mode that takes so many times the time of the best is not measured again.
const FAR: f64 = 3.0;

/// The best of some rounds of PyTorch.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    pub(crate) version: String,
    /// Milliseconds of a step in each of the [`MODES`], or why there are none.
    pub(crate) best: [Option<Result<f64, String>>; MODES.len()],
}

impl Rounds {
    /// One more round of a network that `tools/bench_pytorch.py` knows, on images of `size` x `size` pixels.
    pub(crate) fn add(
        &mut self,
        (python, arguments): (&str, &Arguments),
        (network, size, channels): (&str, usize, usize),
    ) -> Result<(), String> {
        let script = &arguments.script;
        if !script.is_file() {
            return Err(format!(
                "{}: no such file; --script PATH says where bench_pytorch.py is",
                script.display()
            ));
        }
        let is_first = self.version.is_empty();
        let modes: Vec<&str> = MODES.into_iter().filter(|mode| is_first || self.is_close(mode)).collect();
        let output = Command::new(python)
            .arg(script)
            .args(["--network", network, "--size", &size.to_string(), "--channels", &channels.to_string()])
            .args(["--modes", &modes.join(","), "--rounds", "2", "--steps", "15", "--threads", "2"])
            .output()
            .map_err(|error| format!("cannot run {python}: {error}"))?;
        if !output.status.success() {
            return Err(format!("{python} failed:\n{}", String::from_utf8_lossy(&output.stderr)));
        }
        let printed: Value = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("{}: its output is no JSON: {error}", script.display()))?;
        for (mode, best) in MODES.iter().zip(&mut self.best).filter(|(mode, _)| modes.contains(mode)) {
            let found = &printed["modes"][*mode];
            let round = match (found["best_ms"].as_f64(), found["error"].as_str()) {
                (Some(milliseconds), _) => Ok(milliseconds),
                (None, Some(error)) => Err(error.to_owned()),
                (None, None) => return Err(format!("{}: nothing about {mode}", script.display())),
            };
            *best = Some(match (best.take(), round) {
                (Some(Ok(before)), Ok(now)) => Ok(before.min(now)),
                (Some(Ok(before)), Err(_)) => Ok(before),
                (Some(Err(_)) | None, round) => round,
            });
        }
        // "2.15.0+cu132" says more than anybody wants to know of a run on the CPU.
        self.version =
            printed["torch"].as_str().and_then(|text| text.split('+').next()).unwrap_or("?").to_owned();
        Ok(())
    }

    /// Whether another round could make this mode the best.
    fn is_close(&self, mode: &str) -> bool {
        let best = self.best.iter().flatten().flatten().fold(f64::INFINITY, |best, time| best.min(*time));
        let place = MODES.iter().position(|other| *other == mode);
        let time = place.and_then(|place| self.best[place].as_ref()?.as_ref().ok());
        mode != "compile" && time.is_some_and(|time| *time < FAR * best)
    }
}
