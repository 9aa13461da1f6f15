//! The command line: what can be asked, and how answers and errors leave the process.

use crate::commands;
use crate::failure::{Failure, Outcome};
use crate::terminal::log_line;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Learn disentangled representations with variational autoencoders, measure them, and look at them.
#[derive(Debug, Parser)]
#[command(
    name = "unbraid",
    version,
    max_term_width = 80,
    disable_help_subcommand = true,
    arg_required_else_help = true
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List, describe, show and convert data sets
    #[command(subcommand, arg_required_else_help = true)]
    Data(commands::data::DataCommand),
    /// Train a model; without arguments, a small example within minutes
    Train(commands::train::TrainArgs),
    /// Score codes: how disentangled, complete, informative
    Evaluate(commands::evaluate::EvaluateArgs),
    /// Measure a model: likelihood, rate and distortion, active units
    Measure(commands::measure::MeasureArgs),
    /// Draw the figures of a run and write its report.html
    Report(commands::report::ReportArgs),
    /// Put several runs side by side: settings, scores, curves, traversals
    Compare(commands::compare::CompareArgs),
    /// Turn images into a table of codes
    Encode(commands::encode::EncodeArgs),
    /// Turn codes into images
    Decode(commands::decode::DecodeArgs),
    /// Draw new images from a model
    Sample(commands::sample::SampleArgs),
    /// Show images beside what a model makes of them
    Reconstruct(commands::reconstruct::ReconstructArgs),
    /// Show what each latent unit does
    Traverse(commands::traverse::TraverseArgs),
    /// Change an image by setting latent units
    Edit(commands::edit::EditArgs),
    /// Show the way from one image to another
    Interpolate(commands::interpolate::InterpolateArgs),
    /// Many runs as one: plan, run here or on a cluster, tables, report
    #[command(subcommand, arg_required_else_help = true)]
    Study(commands::study::StudyCommand),
    /// List the set-ups of the papers, or show one
    Presets(commands::presets::PresetsArgs),
    /// Measure what a configuration costs on this machine
    Bench(commands::bench::BenchArgs),
}

/// Runs the command that the process was started with.
pub fn run() -> ExitCode {
    // clap prints usage errors to standard error with exit code 2, help and version to standard output with 0.
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let printed = error.print();
            let code = u8::try_from(error.exit_code()).unwrap_or(2);
            return if printed.is_err() { ExitCode::SUCCESS } else { ExitCode::from(code) };
        }
    };
    match dispatch(cli.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !matches!(failure, Failure::PipeClosed) {
                log_line(&format!("error: {failure}"));
            }
            failure.exit_code()
        }
    }
}

fn dispatch(command: Command) -> Outcome {
    match command {
        Command::Data(command) => commands::data::run(command),
        Command::Evaluate(args) => commands::evaluate::run(&args),
        Command::Measure(args) => commands::measure::run(&args),
        Command::Encode(args) => commands::encode::run(&args),
        Command::Decode(args) => commands::decode::run(&args),
        Command::Sample(args) => commands::sample::run(&args),
        Command::Reconstruct(args) => commands::reconstruct::run(&args),
        Command::Traverse(args) => commands::traverse::run(&args),
        Command::Edit(args) => commands::edit::run(&args),
        Command::Interpolate(args) => commands::interpolate::run(&args),
        Command::Train(args) => commands::train::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Report(args) => commands::report::run(&args),
        Command::Study(command) => commands::study::run(command),
        Command::Presets(args) => commands::presets::run(&args),
        Command::Bench(args) => commands::bench::run(&args),
    }
}
