//! Options that several commands share: which configuration, and where to compute.

use crate::error::{Outcome, usage};
use anyhow::Context;
use clap::Args;
use std::path::{Path, PathBuf};
use unbraid::config::{Config, Source};
use unbraid::data::DataSpec;
use unbraid::run::OpenOptions;
use unbraid::{Device, Run};

/// Which configuration; later ones override earlier ones.
#[derive(Args, Debug)]
pub(crate) struct ConfigArgs {
    /// What to train on: a folder of pictures, a table, a file, or a name from `unbraid data list` with options as in
    /// `shapes(positions=16)`
    #[arg(value_name = "DATA")]
    data: Option<DataSpec>,
    /// Start from a preset of `unbraid presets` (default: one that suits the data)
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// Read a configuration file
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Columns of a table to train on, by name or pattern, as in 'x*'; may be repeated (data.columns;
    /// default: all numbers that are not factors)
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    columns: Vec<String>,
    /// Columns of a table that are factors, which are scored and not trained on (data.factors)
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    factors: Vec<String>,
    /// Number of training steps (training.steps)
    #[arg(long, value_name = "N")]
    steps: Option<u64>,
    /// Images per step (training.batch_size)
    #[arg(long, value_name = "N")]
    batch_size: Option<u64>,
    /// Seed of all random numbers (seed)
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Set one key, as in `objective.beta=6`; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl ConfigArgs {
    fn source(&self) -> Source {
        let numbers =
            [("training.steps", self.steps), ("training.batch_size", self.batch_size), ("seed", self.seed)];
        let numbers = numbers.into_iter().filter_map(|(key, value)| Some(format!("{key}={}", value?)));
        let names = [("data.columns", &self.columns), ("data.factors", &self.factors)];
        let names = names.into_iter().filter(|(_, names)| !names.is_empty());
        let names = names.map(|(key, names)| format!("{key}={}", toml::Value::from(names.join("+"))));
        Source {
            preset: self.preset.clone(),
            file: self.config.clone(),
            data: self.data.clone(),
            assignments: names.chain(numbers).chain(self.set.iter().cloned()).collect(),
        }
    }

    /// Whether none was given.
    pub(super) fn is_empty(&self) -> bool {
        self.source().is_empty()
    }

    /// The checked configuration; that of `preset` if nothing was asked for.
    pub(super) fn resolve_or(&self, preset: &str) -> Outcome<Config> {
        if self.is_empty() { Ok(Source::preset(preset).resolve()?) } else { self.resolve() }
    }

    /// The checked configuration.
    pub(super) fn resolve(&self) -> Outcome<Config> {
        Ok(self.source().resolve()?)
    }

    /// As [`ConfigArgs::resolve`], starting from these weights, if any.
    pub(super) fn resolve_from(&self, weights: Option<&Path>) -> Outcome<Config> {
        let mut source = self.source();
        let weights = weights.map(|path| toml::Value::from(path.display().to_string()));
        source.assignments.extend(weights.map(|path| format!("training.init={{ path = {path} }}")));
        Ok(source.resolve()?)
    }
}

/// Where to compute.
#[derive(Args, Debug)]
pub(crate) struct ComputeArgs {
    /// Number of threads (default: all cores). The result does not depend on it
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Device: `cpu`, or `cuda`, `cuda:1`, `wgpu`, `vulkan`, `metal` in builds with that feature; see `unbraid devices`
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: String,
}

/// Threads and device, checked.
#[derive(Debug)]
pub(crate) struct Compute {
    device: Device,
    pool: rayon::ThreadPool,
}

/// More threads than any machine has: a typo.
const MOST_THREADS: usize = 1024;

impl ComputeArgs {
    /// Checks them and starts the threads.
    pub(super) fn prepare(&self) -> Outcome<Compute> {
        // The error begins with the name of the argument.
        let device = self.device.parse().map_err(|error: unbraid::Error| usage(format!("--{error}")))?;
        let threads = match self.threads {
            Some(threads @ 1..=MOST_THREADS) => threads,
            Some(threads) => {
                return Err(usage(format!("--threads: found {threads}, expected 1 to {MOST_THREADS}")));
            }
            None => std::thread::available_parallelism().map_or(1, usize::from),
        };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .with_context(|| format!("cannot start {threads} threads"))?;
        Ok(Compute { device, pool })
    }
}

impl Compute {
    /// The device.
    pub(super) fn device(&self) -> Device {
        self.device.clone()
    }

    /// How many threads there are.
    pub(super) fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Opens a run on the device, with the weights of this step or the last ones.
    pub(super) fn open(&self, path: &Path, step: Option<u64>) -> Outcome<Run> {
        Ok(Run::open_with(path, OpenOptions { step, device: self.device(), prior: None })?)
    }

    /// Does some work on the threads. It runs on one of them, so that handing out parts needs no other.
    pub(super) fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }
}
