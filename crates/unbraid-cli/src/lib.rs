//! The command `unbraid`, for the two programs that are this command: the binary of this crate, and the
//! script that the Python wheel installs. There is nothing else to call here; what commands do is in the
//! libraries.

mod commands;
mod error;
mod format;
mod hints;
mod interrupt;
mod program;
mod score_table;
mod study_view;
mod terminal;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use error::{Outcome, usage};
use std::error::Error;
use std::ffi::OsString;
use std::num::{IntErrorKind, ParseIntError};
use std::path::PathBuf;

/// Train, score and use variational autoencoders that learn disentangled representations.
#[derive(Debug, Parser)]
#[command(
    name = "unbraid",
    version,
    max_term_width = 80,
    arg_required_else_help = true,
    disable_version_flag = true
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print the version
    #[arg(short = 'V', long)]
    version: bool,
    /// With --version: also features, instruction sets and devices
    #[arg(long, requires = "version")]
    verbose: bool,
    /// Lift the limits on memory: three quarters of the machine's, 256 MiB for a picture
    #[arg(long, global = true)]
    allow_large: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Train a model; without arguments, an example that takes minutes
    Train(commands::train::TrainArgs),
    /// Score how disentangled a run, an ONNX encoder or codes from elsewhere are
    Evaluate(commands::evaluate::EvaluateArgs),
    /// List the scores, what they mean, and their options
    Metrics(commands::metrics::MetricsArgs),
    /// Write a run for other programs: ONNX, safetensors, a model hub
    Export(commands::export::ExportArgs),
    /// Make a run of published weights
    Import(commands::import::ImportArgs),
    /// Measure a model: likelihood, rate and distortion, active units
    Measure(commands::measure::MeasureArgs),
    /// Draw the figures of a run and write its report.html
    Report(commands::report::ReportArgs),
    /// Compare runs: settings, scores, loss curves, traversals
    Compare(commands::compare::CompareArgs),
    /// Rank runs, or the runs of a study, and say by what
    Best(commands::best::BestArgs),
    /// Encode images to a table of codes
    Encode(commands::encode::EncodeArgs),
    /// Decode codes to images
    Decode(commands::decode::DecodeArgs),
    /// Sample new images from the prior
    Sample(commands::sample::SampleArgs),
    /// Reconstruct images and show the difference
    Reconstruct(commands::reconstruct::ReconstructArgs),
    /// Traverse latent units: show what each one does
    Traverse(commands::traverse::TraverseArgs),
    /// Show images in the order of a latent unit
    Infer(commands::infer::InferArgs),
    /// Give latent units names
    Name(commands::name::NameArgs),
    /// Edit an image by setting latent units
    Edit(commands::edit::EditArgs),
    /// Interpolate between two images
    Interpolate(commands::interpolate::InterpolateArgs),
    /// List, describe, show and convert data sets
    #[command(subcommand, arg_required_else_help = true)]
    Data(commands::data::DataCommand),
    /// Describe every key of a configuration
    #[command(subcommand, arg_required_else_help = true)]
    Config(commands::config::ConfigCommand),
    /// Show the size of the cache of decoded images, or empty it
    #[command(subcommand, arg_required_else_help = true)]
    Cache(commands::cache::CacheCommand),
    /// Run and analyse hyper-parameter sweeps, here or on a cluster
    #[command(subcommand, arg_required_else_help = true)]
    Study(commands::study::StudyCommand),
    /// List the presets that reproduce the papers' set-ups, or show one
    Presets(commands::presets::PresetsArgs),
    /// List the methods and the terms that they are made of, with formulas
    Objectives(commands::objectives::ObjectivesArgs),
    /// Draw the densities of priors
    #[command(subcommand, arg_required_else_help = true)]
    Prior(commands::prior::PriorCommand),
    /// Measure the speed of a training step on this machine
    Bench(commands::bench::BenchArgs),
    /// List the devices that this build and this machine have
    Devices(commands::devices::DevicesArgs),
    /// Print completions for a shell
    Completions(commands::shell::CompletionsArgs),
    /// Print the manual page, or write those of all commands
    Man(commands::shell::ManArgs),
}

/// Runs the command with these arguments, the first of which is its own name, and returns its exit code.
///
/// Some verbs start the command again. `program` is the file to start; without it, that is the program of this process.
pub fn main(arguments: impl IntoIterator<Item = OsString>, program: Option<PathBuf>) -> u8 {
    program::set(program);
    // clap prints usage errors to standard error with exit code 2, help and version to standard output with 0.
    let cli = match parse(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            if let Some(error) = wrong_number(&error) {
                return error::report(&error);
            }
            let printed = error.print();
            let code = u8::try_from(error.exit_code()).unwrap_or(2);
            return if printed.is_err() { 0 } else { code };
        }
    };
    if cli.allow_large {
        unbraid::data::memory::lift_limit();
    }
    let done = match cli.command {
        Some(command) if !cli.version => run(command),
        Some(_) | None if cli.version => print_version(cli.verbose),
        Some(_) | None => {
            let missing = Cli::command()
                .error(ErrorKind::MissingSubcommand, "expected a command; see `unbraid --help`");
            let _ = missing.print();
            return 2;
        }
    };
    match done {
        Ok(()) => 0,
        Err(error) => error::report(&error),
    }
}

fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let mut command = with_negative_numbers(Cli::command());
    let matches = command.try_get_matches_from_mut(arguments)?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// Lets every option take a negative number, to be refused for its value: for `--steps -5`, clap would look for an
/// option `-5`, and suggest `-- -5`.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|arg| {
        let is_option = arg.get_action().takes_values() && !arg.is_positional();
        if is_option { arg.allow_negative_numbers(true) } else { arg }
    });
    command.mut_subcommands(with_negative_numbers)
}

/// The error of an option whose value is no whole number. clap quotes Rust's parser: "invalid digit found in string".
fn wrong_number(error: &clap::Error) -> Option<anyhow::Error> {
    let parser: &ParseIntError = error.source()?.downcast_ref()?;
    if *parser.kind() != IntErrorKind::InvalidDigit {
        return None;
    }
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    };
    // `--steps <N>`
    let option = text(ContextKind::InvalidArg)?.split(' ').next()?;
    let found = text(ContextKind::InvalidValue)?;
    Some(usage(format!("{option}: found {found}, expected a whole number, 0 or more")))
}

fn print_version(verbose: bool) -> Outcome {
    if !verbose {
        return format::print(concat!("unbraid ", env!("CARGO_PKG_VERSION"), "\n"));
    }
    unbraid::check_environment()?;
    format::print(&commands::devices::verbose_version())
}

fn run(command: Command) -> Outcome {
    unbraid::check_environment()?;
    match command {
        Command::Train(args) => commands::train::run(&args),
        Command::Evaluate(args) => commands::evaluate::run(&args),
        Command::Metrics(args) => commands::metrics::run(&args),
        Command::Export(args) => commands::export::run(&args),
        Command::Import(args) => commands::import::run(&args),
        Command::Measure(args) => commands::measure::run(&args),
        Command::Report(args) => commands::report::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Best(args) => commands::best::run(&args),
        Command::Encode(args) => commands::encode::run(&args),
        Command::Decode(args) => commands::decode::run(&args),
        Command::Sample(args) => commands::sample::run(&args),
        Command::Reconstruct(args) => commands::reconstruct::run(&args),
        Command::Traverse(args) => commands::traverse::run(&args),
        Command::Infer(args) => commands::infer::run(&args),
        Command::Name(args) => commands::name::run(&args),
        Command::Edit(args) => commands::edit::run(&args),
        Command::Interpolate(args) => commands::interpolate::run(&args),
        Command::Data(command) => commands::data::run(command),
        Command::Config(command) => commands::config::run(&command),
        Command::Cache(command) => commands::cache::run(command),
        Command::Study(command) => commands::study::run(command),
        Command::Presets(args) => commands::presets::run(&args),
        Command::Objectives(args) => commands::objectives::run(&args),
        Command::Prior(command) => commands::prior::run(&command),
        Command::Bench(args) => commands::bench::run(&args),
        Command::Devices(args) => commands::devices::run(&args),
        Command::Completions(args) => commands::shell::completions(&args, Cli::command()),
        Command::Man(args) => commands::shell::man(&args, Cli::command()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of a command line with quotes, as a shell has them.
    fn words(line: &str) -> Vec<String> {
        let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
        for letter in line.chars() {
            match quote {
                Some(open) if letter == open => quote = None,
                Some(_) => word.get_or_insert_default().push(letter),
                None if matches!(letter, '\'' | '"') => {
                    quote = Some(letter);
                    word.get_or_insert_default();
                }
                None if letter == ' ' => words.extend(word.take()),
                None => word.get_or_insert_default().push(letter),
            }
        }
        words.extend(word);
        words
    }

    #[test]
    fn every_command_of_the_page_on_the_papers_can_be_parsed() {
        let page = include_str!("../../../docs/papers.md");
        let commands: Vec<&str> = page.split('`').filter(|part| part.starts_with("unbraid ")).collect();
        assert!(commands.len() > 90, "{}", commands.len());
        for command in commands {
            if let Err(error) = Cli::try_parse_from(words(command)) {
                panic!("{command}: {error}");
            }
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
