//! `unbraid import`: published weights as a run.

use crate::error::{Outcome, usage};
use crate::terminal::{Terminal, log_line};
use clap::Args;
use std::path::PathBuf;
use unbraid::data::DataSpec;
use unbraid::import::Import;
use unbraid::run::{Meta, Start};

/// Arguments of `unbraid import`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  unbraid import pretrained/btcvae_dsprites -o runs/btcvae
  unbraid import pretrained/joint-vae-mnist --data mnist/ -o runs/joint
  unbraid import vae.pth --mapping vae.toml -o runs/vae

A directory of disentangling-vae or joint-vae has model.pt and specs.json. Any
other weights (torch.save of a state dict, in either format, or safetensors)
need a mapping: a configuration with a table [tensors] of our names and theirs;
see docs/models.md. Nothing in a file is executed: a pickle that asks for a
function that is not on a short list is refused.")]
pub(crate) struct ImportArgs {
    /// A directory with model.pt and specs.json, or a file of weights
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// The run directory to write
    #[arg(short, long, value_name = "RUN")]
    output: PathBuf,
    /// The data that it was trained on; a path is that of the data set which specs.json names
    #[arg(long, value_name = "NAME|PATH")]
    data: Option<DataSpec>,
    /// A TOML file with the configuration and the names of the tensors
    #[arg(long, value_name = "FILE")]
    mapping: Option<PathBuf>,
    /// Set one key of the configuration; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Delete a run that is there
    #[arg(long)]
    overwrite: bool,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
}

/// Imports as asked.
///
/// # Errors
/// If the model is damaged, unknown or of another shape than it says, or the run cannot be written.
pub(crate) fn run(args: &ImportArgs) -> Outcome {
    let mut import = Import::new(&args.model);
    if let Some(mapping) = &args.mapping {
        import = import.mapping(mapping);
    }
    if let Some(data) = &args.data {
        import = import.data(data.clone());
    }
    for assignment in &args.set {
        import = import.set(assignment);
    }
    let start = if args.overwrite { Start::Overwrite } else { Start::Fresh };
    let run = import.write(&args.output, start, &Terminal::new(args.quiet)).map_err(|error| match error {
        // What is there can be trained further, but not by this command.
        unbraid::Error::RunExists { .. } => usage(format!("{error}\nhint: --overwrite replaces it")),
        other => other.into(),
    })?;
    if args.quiet {
        return Ok(());
    }
    let meta = Meta::read(&run.paths().meta());
    let parameters = meta.as_ref().map_or(0, |meta| meta.parameters);
    log_line(&format!(
        "{}: architecture {}, images of {}, {} continuous and {} categorical units, {parameters} parameters",
        args.output.display(),
        run.config().model.architecture.name(),
        run.image_shape(),
        run.units(),
        run.categorical_units().len(),
    ));
    if meta.is_some_and(|meta| meta.data_sha256.is_empty()) {
        log_line(&format!(
            "its data, {}, is not known here; commands take --data PATH, and so does this one",
            run.config().data
        ));
    }
    Ok(())
}
