//! `unbraid data info`.

use super::DataArgs;
use crate::error::Outcome;
use crate::format::print;
use clap::Args;
use serde_json::json;
use std::fmt::Write;
use unbraid::data::{DataSet, Factor};
use unicode_width::UnicodeWidthStr;

#[derive(Args, Debug)]
pub(crate) struct InfoArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &InfoArgs) -> Outcome {
    let data = args.data.open()?;
    let hash = data.fingerprint()?;
    print(&if args.json { as_json(data.as_ref(), &hash) } else { as_text(data.as_ref(), &hash) })
}

fn factors(data: &dyn DataSet) -> &[Factor] {
    data.factors().map_or(&[], |space| space.factors())
}

fn as_text(data: &dyn DataSet, hash: &str) -> String {
    let mut text = String::new();
    let shape = data.shape();
    let _ = writeln!(text, "{:10} {}", "name", data.name());
    let _ = match data.columns() {
        Some(columns) => {
            let count = columns.len();
            writeln!(text, "{:10} {} of {count} columns: {}", "rows", data.len(), some(columns))
        }
        None => writeln!(text, "{:10} {} of {shape} (height x width x channels)", "images", data.len()),
    };
    let grid = match factors(data).len() {
        0 => "none".to_owned(),
        count if data.is_full_grid() => format!("{count}, a full grid"),
        count => format!("{count}, no full grid"),
    };
    let _ = writeln!(text, "{:10} {grid}", "factors");
    let width = factors(data).iter().map(|factor| factor.name.width()).max().unwrap_or(0).max(16);
    for factor in factors(data) {
        let nuisance = if factor.latent { "" } else { " (not latent)" };
        let (name, size, kind) = (&factor.name, factor.size, factor.kind);
        // A letter may fill two columns of a terminal, or none.
        let gap = " ".repeat(width - name.width());
        let line = format!("  {name}{gap} {size:>6} values  {kind:11}{nuisance}{}", labels(factor));
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let _ = writeln!(text, "{:10} {}", "memory", megabytes(data.memory() as u64));
    if let Some(peak) = peak_memory() {
        let _ = writeln!(text, "{:10} {}", "peak", megabytes(peak));
    }
    let _ = writeln!(text, "{:10} {hash}", "sha256");
    text
}

/// The first and the last of the names of columns.
fn some(columns: &[String]) -> String {
    match columns {
        [first, .., last] if columns.len() > 4 => format!("{first} to {last}"),
        few => few.join(", "),
    }
}

/// The labels of a factor, as many as fit a line of 80 columns.
fn labels(factor: &Factor) -> String {
    let mut text = String::new();
    for (i, label) in factor.labels.iter().enumerate() {
        if text.width() + label.width() > 26 {
            text.push_str(if i == 0 { "" } else { ", ..." });
            break;
        }
        text.push_str(if i == 0 { ": " } else { ", " });
        text.push_str(label);
    }
    text
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// The largest resident memory of this process so far, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

fn as_json(data: &dyn DataSet, hash: &str) -> String {
    let shape = data.shape();
    let factors: Vec<_> = factors(data)
        .iter()
        .map(|factor| {
            json!({
                "name": factor.name,
                "size": factor.size,
                "latent": factor.latent,
                "kind": factor.kind.name(),
                "labels": factor.labels,
            })
        })
        .collect();
    let info = json!({
        "name": data.name(),
        "images": data.len(),
        "height": shape.height,
        "width": shape.width,
        "channels": shape.channels,
        "columns": data.columns(),
        "factors": factors,
        "full_grid": data.is_full_grid(),
        "memory_bytes": data.memory(),
        "peak_memory_bytes": peak_memory(),
        "sha256": hash,
    });
    format!("{info:#}\n")
}
