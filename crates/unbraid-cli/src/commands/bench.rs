//! `unbraid bench`: what a run will cost on this machine.

use super::configuration::{Compute, ComputeArgs, ConfigArgs};
use crate::error::Outcome;
use crate::format::{duration, print};
use crate::terminal::{Terminal, points_of};
use clap::Args;
use serde_json::json;
use std::fmt::Write;
use std::time::Duration;
use unbraid::config::Config;
use unbraid::data::DataSet;
use unbraid::train::cost::{self, StepCost, Timing};

/// What to measure.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct BenchArgs {
    #[command(flatten)]
    config: ConfigArgs,
    #[command(flatten)]
    compute: ComputeArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "Example: unbraid bench photos/ --batch-size 32\n\nWith data, a preset or other settings, the steps that `unbraid train` would do with \
                          them are measured. Without any, those of the preset shapes/beta-vae: the network `conv`, 64 images of \
                          64 x 64 a step, to compare machines and versions. `unbraid bench --preset default` measures what \
                          `unbraid train` does without settings.";

/// What is measured if nothing is asked for; otherwise what `train` would do with the same options. `default`
/// may change with what is learned of methods; numbers of two machines or two versions should stay
/// comparable.
const REFERENCE_PRESET: &str = "shapes/beta-vae";

/// Five rounds of this length.
const TIMING: Timing =
    Timing { warm_up: cost::WARM_UP, rounds: 5, round: Duration::from_millis(600), at_least: Duration::ZERO };

/// What was measured.
#[derive(Debug)]
struct Cost {
    step_ms: f64,
    images_per_second: f64,
    gigaflops: f64,
    peak_gigaflops: f64,
}

/// Measures and prints.
///
/// # Errors
/// If the configuration is wrong or the data cannot be read.
pub(crate) fn run(args: &BenchArgs) -> Outcome {
    let config = args.config.resolve_or(REFERENCE_PRESET)?;
    let compute = args.compute.prepare()?;
    let data = unbraid::data::open(&config.data, &Terminal::new(false))?;
    config.check_against(data.as_ref())?;
    let cost = compute.run(|| measure(&config, data.as_ref(), &compute))?;
    if args.json {
        return print(&as_json(&cost, &compute));
    }
    let measured = if args.config.is_empty() {
        format!("the preset {REFERENCE_PRESET}, to compare machines; see --help")
    } else {
        "what `unbraid train` does with these settings".to_owned()
    };
    print(&format!("{:12} {measured}\n{}", "measured", as_text(&cost, &compute, &config, data.as_ref())))
}

fn measure(config: &Config, data: &dyn DataSet, compute: &Compute) -> Outcome<Cost> {
    let StepCost { seconds, operations } = cost::measure_step(config, data, &compute.device(), TIMING)?;
    Ok(Cost {
        step_ms: 1000.0 * seconds,
        images_per_second: config.training.batch_size as f64 / seconds,
        gigaflops: operations / seconds / 1e9,
        peak_gigaflops: unbraid_kernels::measured_peak_gflops(compute.threads()),
    })
}

fn as_json(cost: &Cost, compute: &Compute) -> String {
    let cost = json!({
        "step_ms": cost.step_ms,
        "images_per_second": cost.images_per_second,
        "threads": compute.threads(),
        "device": compute.device().to_string(),
        "share_of_peak": cost.gigaflops / cost.peak_gigaflops,
    });
    format!("{cost:#}\n")
}

fn as_text(cost: &Cost, compute: &Compute, config: &Config, data: &dyn DataSet) -> String {
    let steps = config.training.total_steps(data.len());
    let seconds = steps as f64 * cost.step_ms / 1000.0;
    let mut text = String::new();
    for (name, value) in [
        (
            "network",
            format!(
                "{}, {} {}",
                config.model.architecture.name(),
                config.training.batch_size,
                points_of(data.shape())
            ),
        ),
        ("device", format!("{}, {} threads", compute.device(), compute.threads())),
        ("step", format!("{:.1} ms", cost.step_ms)),
        ("images", format!("{:.0} a second", cost.images_per_second)),
        (
            "arithmetic",
            format!(
                "{:.0} GFLOP/s, {:.0} % of the {:.0} measured here",
                cost.gigaflops,
                100.0 * cost.gigaflops / cost.peak_gigaflops,
                cost.peak_gigaflops
            ),
        ),
        ("run", format!("{steps} steps, {}", duration(seconds))),
    ] {
        let _ = writeln!(text, "{name:12} {value}");
    }
    text
}
