//! `unbraid best`: which of some runs to use.

use super::model::SpreadsheetArgs;
use crate::error::Outcome;
use crate::format::{TableFormat, csv_of, pretty_json, print, wrapped};
use crate::terminal::log_line;
use clap::Args;
use serde_json::json;
use std::fmt::Write;
use std::path::PathBuf;
use unbraid::files::CellText;
use unbraid_study::{Criterion, RankedRun, Ranking, rank, runs_at};

/// Arguments of `unbraid best`.
#[derive(Args, Debug)]
#[command(after_help = "\
Example: unbraid best studies/small --by mig

Runs on data with factors are ranked by the scores that they share, the mean of
their ranks; others by UDR, if there are several seeds of a setting, which need
no factors; or else by the evidence lower bound on held-out data. What was
chosen, and why, is said above the table.")]
pub(crate) struct BestArgs {
    /// Run directories, or studies, whose finished runs are ranked
    #[arg(value_name = "RUN|STUDY", required = true)]
    runs: Vec<PathBuf>,
    /// By what: `rank` (of all scores), `udr`, `elbo` (held out), or a score such as `mig` (default: what
    /// suits the runs)
    #[arg(long, value_name = "CRITERION")]
    by: Option<String>,
    /// How many runs to show
    #[arg(short = 'n', long = "count", value_name = "N", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
    /// Output format (default: table on a terminal, csv elsewhere)
    #[arg(long, value_enum)]
    format: Option<TableFormat>,
    #[command(flatten)]
    spreadsheet: SpreadsheetArgs,
}

/// Ranks as asked.
///
/// # Errors
/// If there is no run, or nothing to rank them by.
pub(crate) fn run(args: &BestArgs) -> Outcome {
    let (format, cells) = args.spreadsheet.format(args.format)?;
    let wanted = args.by.as_deref().map(|by| match by {
        "rank" => Criterion::MeanRank,
        "udr" => Criterion::Udr,
        "elbo" => Criterion::HeldOutElbo,
        key => Criterion::Score(key.to_owned()),
    });
    let mut ranking = rank(&runs_at(&args.runs)?, wanted.as_ref())?;
    for note in &ranking.left_out {
        log_line(&format!("left out: {note}"));
    }
    ranking.runs.truncate(args.count as usize);
    print(&match format {
        TableFormat::Table => as_text(&ranking),
        TableFormat::Csv => as_csv(&ranking, cells)?,
        TableFormat::Json => pretty_json(&json!({
            "criterion": ranking.criterion.name(),
            "reason": ranking.reason,
            "runs": ranking.runs.iter().map(as_json).collect::<Vec<_>>(),
        }))?,
    })
}

fn as_json(run: &RankedRun) -> serde_json::Value {
    let numbers: serde_json::Map<String, serde_json::Value> =
        run.numbers.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
    json!({ "run": run.run, "value": run.value, "numbers": numbers, "settings": run.settings })
}

/// A line for each run, and below it what it differs in from the others.
fn as_text(ranking: &Ranking) -> String {
    let mut text = format!("Ranked {}.\n\n", wrapped(&ranking.reason, 73, 0));
    let name = ranking.criterion.name();
    let _ = writeln!(text, "{:>3}  {name:>10}  run", "");
    for (place, run) in ranking.runs.iter().enumerate() {
        let _ = writeln!(text, "{:>3}  {:>10.4}  {}", place + 1, run.value, run.run.display());
        let settings: Vec<String> =
            run.settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
        if !settings.is_empty() {
            let _ = writeln!(text, "{:17}{}", "", wrapped(&settings.join(", "), 63, 17));
        }
    }
    text
}

/// One row for each run: place, run, the value, and the numbers that it is made of.
fn as_csv(ranking: &Ranking, cells: CellText) -> Outcome<String> {
    let keys: Vec<&String> =
        ranking.runs.first().map_or_else(Vec::new, |run| run.numbers.iter().map(|(key, _)| key).collect());
    csv_of(|table| {
        let header = ["place", "run", ranking.criterion.name()].into_iter();
        table.write_record(header.chain(keys.iter().map(|key| key.as_str())).map(|name| cells.of(name)))?;
        for (place, run) in ranking.runs.iter().enumerate() {
            let name = cells.of(&run.run.display().to_string());
            let mut record = vec![(place + 1).to_string(), name, run.value.to_string()];
            record.extend(run.numbers.iter().map(|(_, value)| value.to_string()));
            table.write_record(&record)?;
        }
        Ok(())
    })
}
