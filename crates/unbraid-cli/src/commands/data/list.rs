//! `unbraid data list`.

use crate::error::Outcome;
use crate::format::print;
use clap::Args;
use serde_json::json;
use std::fmt::Write;
use unbraid::data::registry::{ENTRIES, Entry, SPLIT_OPTIONS};

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &ListArgs) -> Outcome {
    print(&if args.json { as_json() } else { as_text() })
}

fn as_text() -> String {
    let mut text = String::new();
    for entry in ENTRIES {
        let _ = writeln!(text, "{:16} {}", entry.name, entry.summary);
        if let Some(path) = entry.path {
            push_wrapped(&mut text, &format!("path: {path}"));
        }
        for option in entry.options {
            push_wrapped(&mut text, &format!("{}: {}", option.name, option.help()));
        }
    }
    text.push_str("\nEvery data set also takes\n");
    for option in SPLIT_OPTIONS {
        push_wrapped(&mut text, &format!("{}: {}", option.name, option.help()));
    }
    text.push_str("\nOptions are written in parentheses: unbraid data info \"shapes(positions=16)\"\n");
    text
}

/// Adds an indented paragraph, broken so that it fits 80 columns.
fn push_wrapped(text: &mut String, paragraph: &str) {
    let indent = " ".repeat(19);
    let mut line = indent.clone();
    for word in paragraph.split(' ') {
        if line.len() + 1 + word.len() > 80 && line.len() > indent.len() {
            text.push_str(line.trim_end());
            text.push('\n');
            line = format!("{indent}  ");
        }
        line.push_str(word);
        line.push(' ');
    }
    text.push_str(line.trim_end());
    text.push('\n');
}

fn as_json() -> String {
    let options = |entry: &Entry| {
        let all = entry.options.iter().chain(entry.split_options());
        all.map(|option| json!({ "name": option.name, "help": option.help() })).collect::<Vec<_>>()
    };
    let entries: Vec<_> = ENTRIES
        .iter()
        .map(|entry| {
            json!({
                "name": entry.name,
                "summary": entry.summary,
                "path": entry.path,
                "options": options(entry),
            })
        })
        .collect();
    format!("{:#}\n", serde_json::Value::Array(entries))
}
