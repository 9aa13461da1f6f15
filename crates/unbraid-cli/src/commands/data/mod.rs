//! `unbraid data`: list, describe, show and convert data sets.

mod convert;
mod info;
mod list;
mod show;

use crate::error::Outcome;
use crate::terminal::Terminal;
use clap::{Args, Subcommand};
use std::path::PathBuf;
use unbraid::data::{DataSet, DataSpec};

/// What `unbraid data` can do.
#[derive(Debug, Subcommand)]
pub(crate) enum DataCommand {
    /// List the data sets that unbraid knows, and their options
    List(list::ListArgs),
    /// Describe a data set: shapes, factors, hash, memory
    Info(info::InfoArgs),
    /// Draw a contact sheet, with one row for each factor
    Show(show::ShowArgs),
    /// Write a data set as .npz: images and factors
    Convert(convert::ConvertArgs),
}

/// Runs one of them.
///
/// # Errors
/// If the request is wrong or the data cannot be read or written.
pub(crate) fn run(command: DataCommand) -> Outcome {
    match command {
        DataCommand::List(args) => list::run(&args),
        DataCommand::Info(args) => info::run(&args),
        DataCommand::Show(args) => show::run(&args),
        DataCommand::Convert(args) => convert::run(&args),
    }
}

/// How every command names its data.
#[derive(Args, Debug)]
struct DataArgs {
    /// A name from `unbraid data list`, with options as in `shapes(positions=16)`, or a path
    #[arg(value_name = "NAME|PATH")]
    data: DataSpec,
    /// File or directory of the data set, where NAME needs one
    #[arg(long, value_name = "PATH")]
    path: Option<PathBuf>,
}

impl DataArgs {
    fn spec(&self) -> DataSpec {
        match &self.path {
            Some(path) => self.data.clone().with_path(path),
            None => self.data.clone(),
        }
    }

    fn open(&self) -> Outcome<Box<dyn DataSet>> {
        Ok(unbraid::data::open(&self.spec(), &Terminal::new(false))?)
    }
}
