//! `unbraid data show`.
use super::DataArgs;
use crate::failure::Outcome;
use clap::Args;
#[derive(Args, Debug)]
pub struct ShowArgs {
    #[command(flatten)]
    data: DataArgs,
}
pub(super) fn run(args: &ShowArgs) -> Outcome {
    args.data.open()?;
    Ok(())
}
