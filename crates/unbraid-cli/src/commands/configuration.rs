//! Options that several commands share: which configuration, and on what to compute.

use crate::config::{Config, Source};
use crate::failure::{Failure, Outcome};
use burn::tensor::Device;
use clap::Args;
use std::path::PathBuf;

/// Which configuration; later ones override earlier ones.
#[derive(Args, Debug)]
pub struct ConfigArgs {
    /// Start from a preset of `unbraid presets`
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// Read a configuration file
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Set one key, as in `objective.beta=6`; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl ConfigArgs {
    fn source(&self) -> Source {
        Source { preset: self.preset.clone(), file: self.config.clone(), assignments: self.set.clone() }
    }

    /// Whether none was given.
    pub(super) fn is_empty(&self) -> bool {
        self.source().is_empty()
    }

    /// The checked configuration, on top of another preset than `default` if none was asked for.
    pub(super) fn resolve_over(&self, preset: &str) -> Outcome<Config> {
        let mut source = self.source();
        if source.file.is_none() {
            source.preset.get_or_insert_with(|| preset.to_owned());
        }
        Ok(source.resolve()?)
    }

    /// The checked configuration.
    pub(super) fn resolve(&self) -> Outcome<Config> {
        Ok(self.source().resolve()?)
    }
}

/// On how many threads to compute.
#[derive(Args, Debug)]
pub struct ThreadArgs {
    /// Number of threads; all cores by default. The result is the same for any number
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

/// On what to compute.
#[derive(Args, Debug)]
pub struct ComputeArgs {
    #[command(flatten)]
    threads: ThreadArgs,
    /// The device to compute on: `cpu`; `cuda`, `cuda:1` and `wgpu` in builds with that feature
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: String,
}

/// Threads and device, checked.
#[derive(Debug)]
pub(super) struct Compute {
    pub(super) threads: usize,
    pub(super) device: Device,
    pub(super) device_name: String,
    pool: rayon::ThreadPool,
}

/// More threads than any machine has: a slip of the finger.
const MOST_THREADS: usize = 1024;

impl ThreadArgs {
    /// Checks the number and starts the threads.
    pub(super) fn prepare(&self) -> Outcome<rayon::ThreadPool> {
        let threads = match self.threads {
            Some(threads @ 1..=MOST_THREADS) => threads,
            Some(threads) => {
                return Err(Failure::input(format!(
                    "--threads: found {threads}, expected 1 to {MOST_THREADS}"
                )));
            }
            None => std::thread::available_parallelism().map_or(1, usize::from),
        };
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|error| Failure::run(format!("cannot start {threads} threads: {error}")))
    }
}

impl ComputeArgs {
    /// Checks them and starts the threads.
    pub(super) fn prepare(&self) -> Outcome<Compute> {
        let device = find_device(&self.device)?;
        let pool = self.threads.prepare()?;
        Ok(Compute { threads: pool.current_num_threads(), device, device_name: self.device.clone(), pool })
    }
}

impl Compute {
    /// Does some work on the threads. It runs on one of them, so that handing out parts needs no other.
    pub(super) fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }
}

/// The device of that name: `cpu`, `cuda`, `cuda:1`, `wgpu`.
fn find_device(name: &str) -> Outcome<Device> {
    let (kind, index) = name.split_once(':').map_or((name, None), |(kind, index)| (kind, Some(index)));
    match (kind, index) {
        ("cpu", None) => Ok(Device::flex()),
        ("cuda", index) => cuda(index),
        ("wgpu", None) => wgpu(),
        _ => Err(Failure::input(format!(
            "--device: found `{name}`, expected `cpu`, `cuda`, `cuda:1` or `wgpu`"
        ))),
    }
}

#[cfg(feature = "cuda")]
fn cuda(index: Option<&str>) -> Outcome<Device> {
    match index.map(str::parse::<usize>).transpose() {
        Ok(index) => Ok(Device::cuda(index.unwrap_or(0))),
        Err(_) => Err(Failure::input("--device: expected the number of a card after `cuda:`")),
    }
}

#[cfg(not(feature = "cuda"))]
fn cuda(_: Option<&str>) -> Outcome<Device> {
    Err(missing("cuda"))
}

#[cfg(feature = "wgpu")]
#[expect(clippy::unnecessary_wraps, reason = "without the feature it is an error")]
fn wgpu() -> Outcome<Device> {
    Ok(Device::wgpu(burn::tensor::DeviceKind::DefaultDevice))
}

#[cfg(not(feature = "wgpu"))]
fn wgpu() -> Outcome<Device> {
    Err(missing("wgpu"))
}

#[cfg(not(all(feature = "cuda", feature = "wgpu")))]
fn missing(feature: &str) -> Failure {
    Failure::input(format!(
        "--device: found `{feature}`, expected `cpu`; `cargo build --release --features {feature}` makes a build that has \
         both"
    ))
}
