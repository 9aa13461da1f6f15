//! `unbraid compare`: several runs side by side.

use super::configuration::ComputeArgs;
use crate::error::{Outcome, usage};
use unbraid::files::{self, Existing, print};
use unbraid_report::comparison::Comparison;
use unbraid_report::gallery::Gallery;
use unbraid_report::subject::Subject;
use unbraid_report::{comparison_page, document, image_figures};
use unbraid::Run;
use crate::terminal::{Terminal, log_line};
use clap::Args;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use unbraid::data::{DataSet, DataSpec};

/// Arguments of `unbraid compare`.
#[derive(Args, Debug)]
pub(crate) struct CompareArgs {
    /// Run directories
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// Also write a page with tables, curves and traversals
    #[arg(short, long, value_name = "FILE.html")]
    out: Option<PathBuf>,
    /// Replace a page that is there
    #[arg(long, requires = "out")]
    overwrite: bool,
    /// How the comparison is printed (default: table on a terminal, csv elsewhere)
    #[arg(long, value_enum)]
    format: Option<TableFormat>,
    #[command(flatten)]
    compute: ComputeArgs,
    /// Print no progress
    #[arg(long)]
    quiet: bool,
}

/// Images that decide the order of the units.
const IMAGES: usize = 1000;

/// Compares runs, prints the numbers, and writes the page if asked to.
///
/// # Errors
/// If a directory holds no run, one of its files is damaged, or the page cannot be written.
pub(crate) fn run(args: &CompareArgs) -> Outcome {
    let compute = args.compute.prepare()?;
    let existing = Existing::from_flag(args.overwrite);
    if let Some(out) = &args.out {
        document::check_page(out, existing)?;
    }
    let runs = args.runs.iter().map(|path| compute.open(path, None)).collect::<Outcome<Vec<Run>>>()?;
    let comparison = Comparison::read(&runs)?;
    if let Some(out) = &args.out {
        let traversals = compute.run(|| traversals(&runs, args.quiet));
        let html = comparison_page::write(&comparison, &traversals)?;
        files::write(out, existing, |file| file.write_all(html.as_bytes()))?;
        if !args.quiet {
            log_line(&format!("written to {}", out.display()));
        }
    }
    let piped = if std::io::stdout().is_terminal() { TableFormat::Table } else { TableFormat::Csv };
    print(&match args.format.unwrap_or(piped) {
        TableFormat::Table => comparison.as_text(),
        TableFormat::Csv => comparison.as_csv(),
        TableFormat::Json => pretty_json(&comparison.as_json())?,
    })
}

/// The traversals of each run, or why there are none: the numbers of a run can be compared without its data.
fn traversals(runs: &[Run], quiet: bool) -> Vec<Result<Gallery, String>> {
    let progress = Terminal::new(quiet);
    let mut opened: Vec<(&DataSpec, Box<dyn DataSet>)> = Vec::new();
    let mut drawn = Vec::new();
    for run in runs {
        let spec = &run.config().data;
        // Runs usually share their data, which need not be read again.
        let place = match opened.iter().position(|(known, _)| *known == spec) {
            Some(place) => Ok(place),
            None => unbraid::data::open(spec, &progress).map(|data| {
                opened.push((spec, data));
                opened.len() - 1
            }),
        };
        let gallery = place.map_err(Failure::from).and_then(|place| {
            let data = opened[place].1.as_ref();
            if data.shape().values() == 2 {
                return Err(usage("the data has no images"));
            }
            let subject = Subject::new(run, data, IMAGES, &progress)?;
            image_figures::traversal(&subject, &subject.codes(1))
        });
        drawn.push(gallery.map_err(|failure| failure.to_string()));
    }
    drawn
}
