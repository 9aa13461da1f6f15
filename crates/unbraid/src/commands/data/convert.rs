//! `unbraid data convert`.
use super::DataArgs;
use crate::failure::Outcome;
use clap::Args;
#[derive(Args, Debug)]
pub struct ConvertArgs {
    #[command(flatten)]
    data: DataArgs,
}
pub(super) fn run(args: &ConvertArgs) -> Outcome {
    args.data.open()?;
    Ok(())
}
