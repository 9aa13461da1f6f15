//! `unbraid study work`: one run of a study, in a process of its own. Not for people: it reads the run's configuration
//! from standard input, one line of JSON, and saves and stops as soon as standard input ends.

use crate::commands::configuration::ComputeArgs;
use crate::error::{Outcome, usage};
use crate::interrupt::Interrupt;
use crate::terminal::Terminal;
use anyhow::Context;
use clap::Args;
use std::io;
use std::path::PathBuf;
use unbraid::run::Start;
use unbraid::{Config, Session};
use unbraid_report::HtmlReport;

/// Which run.
#[derive(Args, Debug)]
pub(crate) struct WorkArgs {
    /// The directory of the run
    #[arg(value_name = "RUN")]
    run: PathBuf,
    #[command(flatten)]
    compute: ComputeArgs,
}

/// Trains and scores the run, from wherever it is.
///
/// # Errors
/// If its configuration, its data or its directory are wrong, something fails, or it is asked to stop.
pub(crate) fn run(args: &WorkArgs) -> Outcome {
    // A scheduler may signal every process of a job, and whoever started us passes on what it gets: that is
    // one request.
    let interrupt = Interrupt::listen_patiently()?;
    let config = read_configuration()?;
    end_with_standard_input(&interrupt)?;
    let compute = args.compute.prepare()?;
    let session = Session::new(config)
        .out(&args.run)
        .start(Start::ResumeIfThere)
        .device(compute.device())
        .report(&HtmlReport)
        .stop_on(&interrupt);
    compute.run(|| session.execute(&Terminal::new(true)))?;
    Ok(())
}

fn read_configuration() -> Outcome<Config> {
    let wrong = |found: &dyn std::fmt::Display| {
        usage(format!("standard input: expected the configuration of a run as JSON: {found}"))
    };
    let mut line = String::new();
    io::stdin().read_line(&mut line).map_err(|error| wrong(&error))?;
    serde_json::from_str(&line).map_err(|error| wrong(&error))
}

/// Nothing more is ever written to the pipe: that it ends means that we are asked to stop, or that whoever
/// started us is gone, however that came.
fn end_with_standard_input(interrupt: &Interrupt) -> Outcome {
    let interrupt = interrupt.clone();
    let watch = move || {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        interrupt.stop();
    };
    std::thread::Builder::new().name("parent".to_owned()).spawn(watch).context("cannot start a thread")?;
    Ok(())
}
