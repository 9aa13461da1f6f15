//! Options shared by all commands that use a trained model: which run, which images, and where the result goes.

use super::configuration::ComputeArgs;
use crate::error::{Outcome, usage};
use crate::format::TableFormat;
use crate::terminal::{Terminal, log_line};
use anyhow::Context;
use clap::Args;
use ndarray::Array4;
use rand::seq::SliceRandom;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use unbraid::data::random::Stream;
use unbraid::data::{DataSet, DataSpec};
use unbraid::files::{CellText, Existing};
use unbraid::inference::Corruption;
use unbraid::inference::input;
use unbraid::run::{Run, State, Status};

/// Which trained model.
#[derive(Args, Debug)]
pub(crate) struct ModelArgs {
    /// A run directory
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Use the checkpoint of this step instead of the last one
    #[arg(long, value_name = "N")]
    step: Option<u64>,
    #[command(flatten)]
    compute: ComputeArgs,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
}

impl ModelArgs {
    /// Opens the run and does some work with it on the threads. Says so if it has not been trained to the end.
    pub(super) fn run<T: Send>(&self, work: impl FnOnce(&Run) -> Outcome<T> + Send) -> Outcome<T> {
        let compute = self.compute.prepare()?;
        let run = compute.open(&self.run, self.step)?;
        if let Some(status) = Status::read(&run.paths().status())
            && status.state != State::Done
            && self.step.is_none()
        {
            self.log(&format!(
                "{}: not trained to the end; using the checkpoint of step {} of {}",
                self.run.display(),
                run.step(),
                status.steps
            ));
        }
        compute.run(|| work(&run))
    }

    /// One line on standard error, unless quiet.
    pub(super) fn log(&self, message: &str) {
        if !self.quiet {
            log_line(message);
        }
    }

    pub(super) fn progress(&self) -> Terminal {
        Terminal::new(self.quiet)
    }

    /// The name of the run, for titles.
    pub(super) fn name(&self) -> String {
        self.run
            .file_name()
            .map_or_else(|| self.run.display().to_string(), |name| name.to_string_lossy().into())
    }
}

/// Which images.
#[derive(Args, Debug)]
pub(crate) struct InputArgs {
    /// A data set as in `unbraid data`, a folder of images, or an image file (default: the run's own data)
    #[arg(long, value_name = "NAME|PATH")]
    data: Option<DataSpec>,
    /// An image file of any size, cropped and resized to the run's; may be repeated
    #[arg(long, value_name = "FILE", conflicts_with = "data")]
    image: Vec<PathBuf>,
    /// Images of the run's data that it was not trained on: their test split
    #[arg(long, conflicts_with_all = ["data", "image"])]
    test_split: bool,
}

impl InputArgs {
    /// Opens them.
    pub(super) fn open(&self, run: &Run, progress: &Terminal) -> Outcome<Box<dyn DataSet>> {
        Ok(match (&self.data, self.image.as_slice()) {
            (Some(spec), _) => input::open(run, spec, progress)?,
            (None, []) if self.test_split => {
                let trained_on = run.open_data(progress)?;
                run.open_test_split(&trained_on.sha256, progress).context("--test-split")?
            }
            (None, []) => input::open_own(run, progress)?,
            (None, files) => input::open_images(run, files)?,
        })
    }

    /// The numbers of up to `count` images of a data set, drawn at random, or of all single files.
    pub(super) fn choose(&self, data: &dyn DataSet, count: u16, seed: u64) -> Vec<usize> {
        let mut images: Vec<usize> = (0..data.len()).collect();
        if !self.image.is_empty() {
            return images;
        }
        let mut generator = Stream::new(seed, "images to reconstruct").at(0).generator();
        let count = usize::from(count).min(images.len());
        images.partial_shuffle(&mut generator, count).0.to_vec()
    }
}

/// How to corrupt images first.
#[derive(Args, Debug)]
pub(crate) struct CorruptArgs {
    /// Corrupt images first: `invert` maps every pixel x to 1 - x, `noise=0.05` one in twenty
    #[arg(long, value_name = "noise=P|invert")]
    corrupt: Option<Corruption>,
}

impl CorruptArgs {
    /// Whether there is any.
    pub(super) fn is_given(&self) -> bool {
        self.corrupt.is_some()
    }

    /// The corrupted images; `None` without --corrupt.
    pub(super) fn apply(&self, images: &Array4<f32>, seed: u64) -> Option<Array4<f32>> {
        self.corrupt.map(|corruption| corruption.apply(images, seed))
    }
}

/// Whether what is there may be replaced.
#[derive(Args, Debug)]
pub(crate) struct OverwriteArgs {
    /// Overwrite existing files
    #[arg(long)]
    overwrite: bool,
}

impl OverwriteArgs {
    pub(super) fn existing(&self) -> Existing {
        Existing::from_flag(self.overwrite)
    }
}

/// For whom CSV is written.
#[derive(Args, Debug)]
pub(crate) struct SpreadsheetArgs {
    /// CSV for spreadsheets: text that they would take for a formula begins with an apostrophe
    #[arg(long)]
    spreadsheet: bool,
}

impl SpreadsheetArgs {
    /// What text becomes in a file, which must be CSV if that is for spreadsheets, or on standard output.
    pub(super) fn cells(&self, path: Option<&Path>) -> Outcome<CellText> {
        let is_csv = |path: &Path| path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
        match path {
            _ if !self.spreadsheet => Ok(CellText::Plain),
            Some(path) if !is_csv(path) => {
                let path = path.display();
                Err(usage(format!("--spreadsheet: found {path}, expected a name that ends in .csv")))
            }
            Some(_) | None => Ok(CellText::ForSpreadsheets),
        }
    }

    /// The format of standard output, which must be CSV if that is for spreadsheets, and what text becomes
    /// there. Unless it is said, it is a table on a terminal, and CSV elsewhere.
    pub(super) fn format(&self, wanted: Option<TableFormat>) -> Outcome<(TableFormat, CellText)> {
        match wanted {
            Some(format @ (TableFormat::Table | TableFormat::Json)) if self.spreadsheet => {
                let name = if format == TableFormat::Table { "table" } else { "json" };
                Err(usage(format!("--spreadsheet: found --format {name}, expected --format csv")))
            }
            None if std::io::stdout().is_terminal() && !self.spreadsheet => {
                Ok((TableFormat::Table, CellText::Plain))
            }
            Some(_) | None => Ok((wanted.unwrap_or(TableFormat::Csv), self.cells(None)?)),
        }
    }
}

/// Says what was written.
pub(super) fn wrote(model: &ModelArgs, path: &Path) {
    model.log(&format!("wrote {}", path.display()));
}
