//! `unbraid export`: a trained run for other programs.

use super::model::{ModelArgs, OverwriteArgs, wrote};
use crate::error::Outcome;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use unbraid::export::{onnx, weights};
use unbraid_report::write_hub_directory;

/// Arguments of `unbraid export`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  unbraid export runs/photos --format onnx -o model/
  unbraid export runs/photos --format hub --licence mit -o card/

onnx: encoder.onnx (images -> mean, log_variance, probabilities_0, ...) and
decoder.onnx (latents -> images), opset 13, any batch size, images from 0 to 1
with channels first. safetensors: model.safetensors and config.json. hub: these,
report.html, scores and pictures, and a model card README.md. See docs/models.md.")]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// What to write
    #[arg(long, value_enum)]
    format: Format,
    /// The directory to write into, created if it does not exist
    #[arg(short, long, value_name = "DIRECTORY")]
    output: PathBuf,
    /// Licence in the model card's header, such as `mit` (default: unknown)
    #[arg(long, value_name = "ID")]
    licence: Option<String>,
    #[command(flatten)]
    overwrite: OverwriteArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// encoder.onnx and decoder.onnx
    Onnx,
    /// model.safetensors and config.json
    Safetensors,
    /// Everything that a model hub shows
    Hub,
}

/// Exports as asked.
///
/// # Errors
/// If the run is wrong or cannot be exported, or a file cannot be written.
pub(crate) fn run(args: &ExportArgs) -> Outcome {
    if args.licence.is_some() && args.format != Format::Hub {
        return Err(crate::error::usage("--licence: expected --format hub, which writes a model card"));
    }
    let existing = args.overwrite.existing();
    args.model.run(|run| {
        std::fs::create_dir_all(&args.output)
            .map_err(unbraid::Error::io(&args.output, "create the directory"))?;
        let written = match args.format {
            Format::Onnx => onnx::write(run, &args.output, existing)?,
            Format::Safetensors => weights::write(run, &args.output, existing)?,
            Format::Hub => {
                let licence = args.licence.as_deref();
                write_hub_directory(run, &args.output, licence, existing, &args.model.progress())?
            }
        };
        for path in &written {
            wrote(&args.model, path);
        }
        Ok(())
    })
}
