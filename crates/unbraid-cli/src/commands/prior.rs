//! `unbraid prior`: densities of priors, without a run.

use super::model::OverwriteArgs;
use crate::error::{Outcome, usage};
use crate::terminal::log_line;
use clap::{Args, Subcommand};
use std::path::PathBuf;
use unbraid::Device;
use unbraid::config::{Config, PriorConfig, Source, VarianceRule, Variances};
use unbraid::prior::Prior;
use unbraid_report::{PictureFile, draw_priors};

/// What to do with priors.
#[derive(Debug, Subcommand)]
pub(crate) enum PriorCommand {
    /// Draw the density of one or more priors of two latent units
    Show(ShowArgs),
}

/// Arguments of `unbraid prior show`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  unbraid prior show --preset mathieu/pinwheel -o mixture.png
  unbraid prior show --prior 'name=\"student-t\", degrees_of_freedom=3' \\
    --prior 'name=\"student-t\", degrees_of_freedom=100' -o student-t.png")]
pub(crate) struct ShowArgs {
    /// A prior as in `model.prior`: `name="sparse", gamma=0.8`, or its name alone; may be repeated
    #[arg(long, value_name = "PRIOR")]
    prior: Vec<String>,
    /// The prior of this preset; may be repeated
    #[arg(long, value_name = "NAME")]
    preset: Vec<String>,
    /// Draw from -R to R (default: as far as the widest prior goes)
    #[arg(long, value_name = "R")]
    reach: Option<f64>,
    /// The picture to write, ending in .png
    #[arg(short, long, value_name = "FILE.png")]
    output: PathBuf,
    #[command(flatten)]
    overwrite: OverwriteArgs,
}

/// Does it.
///
/// # Errors
/// As the verb says.
pub(crate) fn run(command: &PriorCommand) -> Outcome {
    match command {
        PriorCommand::Show(args) => show(args),
    }
}

/// Draws the densities.
///
/// # Errors
/// If a prior is wrong or needs data, or the picture cannot be written.
fn show(args: &ShowArgs) -> Outcome {
    let file = PictureFile::still(&args.output, args.overwrite.existing())?;
    if let Some(reach) = args.reach.filter(|reach| !(reach.is_finite() && *reach > 0.0)) {
        return Err(usage(format!("--reach: found {reach}, expected a number above 0")));
    }
    let mut priors: Vec<(String, PriorConfig)> = Vec::new();
    for name in &args.preset {
        let Config { model, .. } = Source::preset(name.as_str()).resolve()?;
        priors.push((name.clone(), model.prior));
    }
    for text in &args.prior {
        priors.push((text.replace('"', ""), parsed(text)?));
    }
    if priors.is_empty() {
        return Err(usage("expected --prior or --preset".to_owned()));
    }
    let built: Vec<(&str, Prior)> = priors
        .iter()
        .map(|(title, config)| Ok((title.as_str(), of_two_units(title, config)?)))
        .collect::<Outcome<_>>()?;
    file.save_canvas(&draw_priors(&built, args.reach))?;
    log_line(&format!("wrote {}", args.output.display()));
    Ok(())
}

/// A prior of two units by its text.
fn parsed(text: &str) -> Outcome<PriorConfig> {
    let table = if text.contains('=') { text.to_owned() } else { format!("name=\"{text}\"") };
    let table = table.trim().trim_start_matches('{').trim_end_matches('}').to_owned();
    let source = Source::preset("default")
        .set("model.latents={ continuous = 2 }")
        .set(format!("model.prior={{ {table} }}"));
    Ok(source.resolve()?.model.prior)
}

/// The first two units of a prior, whatever the number of its units.
fn of_two_units(title: &str, config: &PriorConfig) -> Outcome<Prior> {
    let mut config = config.clone();
    match &mut config {
        PriorConfig::Anisotropic { variances, .. } => match variances {
            Variances::Given(numbers) => numbers.truncate(2),
            Variances::Rule(VarianceRule::Equal) => {}
            Variances::Rule(VarianceRule::PrincipalComponents | VarianceRule::UncentredSingularValues) => {
                return Err(usage(format!(
                    "{title}: its variances are those of data, expected a prior that needs none; the report of a run \
                     draws it"
                )));
            }
        },
        PriorConfig::Mixture { positions, .. } => {
            positions.iter_mut().for_each(|position| position.truncate(2));
        }
        PriorConfig::StandardNormal {} | PriorConfig::StudentT { .. } | PriorConfig::Sparse { .. } => {}
    }
    Ok(Prior::new(&config, 2, None, &Device::cpu().tensor_device())?)
}
