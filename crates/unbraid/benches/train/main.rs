//! Milliseconds of a training step, as a share of the machine's peak, and beside PyTorch on request.
//!
//! ```text
//! cargo xtask bench train [--rounds N] [--network NAME] [--torch PYTHON] [--script bench_pytorch.py] [--objectives]
//! ```
//! The networks are `conv` on 64 random binary images of 64 x 64 pixels with one and with three channels, JointVAE's on
//! 32 x 32, `burgess`, `dlib` and the narrow one of the preset `images`, each on one thread and on two;
//! `--network` leaves those whose name begins like that. `--torch` runs tools/bench_pytorch.py with that
//! interpreter, alternately with our steps on two threads, and prints the ratios of the best rounds.
//! `--objectives` compares the methods with each other instead.

mod networks;
mod objectives;
mod steps;
mod torch;

use mimalloc::MiMalloc;
use std::path::PathBuf;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// What was asked for.
#[derive(Debug)]
struct Arguments {
    rounds: usize,
    /// What the names of the networks begin with.
    network: String,
    torch: Option<String>,
    script: PathBuf,
    objectives: bool,
}

fn main() -> ExitCode {
    // As the command does.
    unbraid_kernels::keep_freed_memory();
    let done = arguments().and_then(|arguments| match arguments.objectives {
        true => objectives::bench(arguments.rounds),
        false => networks::bench(&arguments),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn arguments() -> Result<Arguments, String> {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tools/bench_pytorch.py");
    let mut parsed = Arguments { rounds: 5, network: String::new(), torch: None, script, objectives: false };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--rounds" => {
                let text = value()?;
                parsed.rounds =
                    text.parse().ok().filter(|rounds| *rounds > 0).ok_or_else(|| {
                        format!("--rounds: found `{text}`, expected a number of at least 1")
                    })?;
            }
            "--network" => parsed.network = value()?,
            "--torch" => parsed.torch = Some(value()?),
            "--script" => parsed.script = value()?.into(),
            "--objectives" => parsed.objectives = true,
            // Cargo hands this to every benchmark.
            "--bench" => {}
            other => return Err(format!("unknown argument {other}")),
        }
    }
    Ok(parsed)
}
