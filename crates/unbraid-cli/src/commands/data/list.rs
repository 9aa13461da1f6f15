//! `unbraid data list`.

use crate::error::Outcome;
use crate::format::{print, wrapped_after};
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
            push_paragraph(&mut text, &format!("path: {path}"));
        }
        for option in entry.options {
            push_paragraph(&mut text, &format!("{}: {}", option.name, option.help()));
        }
    }
    text.push_str("\nEvery data set also takes\n");
    for option in SPLIT_OPTIONS {
        push_paragraph(&mut text, &format!("{}: {}", option.name, option.help()));
    }
    text.push_str("\nOptions are written in parentheses: unbraid data info \"shapes(positions=16)\"\n");
    text
}

/// Adds an indented paragraph, broken so that it fits 79 columns.
fn push_paragraph(text: &mut String, paragraph: &str) {
    let _ = writeln!(text, "{:19}{}", "", wrapped_after(paragraph, 60, 58, 21));
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
