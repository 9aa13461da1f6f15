//! What the study is and how far it got.

use super::chapter::{Block, Cell, Chapter, TextTable};
use super::names::{counted, listed};
use super::subject::Subject;
use crate::report::html::escape;
use crate::report::sheet::thousands;
use crate::run::State;
use crate::study::Row;
use crate::study::analysis::settings::{as_number, value_label};
use serde_json::Value;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Names of runs that are listed before the rest is only counted.
const LISTED: usize = 20;
/// Values of a setting that are listed.
const VALUES: usize = 24;

/// How many of a study's own runs are in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All of them.
    pub runs: usize,
    /// Done.
    pub done: usize,
    /// Failed.
    pub failed: usize,
    /// Begun and not ended.
    pub running: usize,
    /// Not begun.
    pub missing: usize,
}

impl Counts {
    /// Of these rows.
    pub fn of<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Self {
        let mut counts = Self::default();
        for row in rows {
            counts.runs += 1;
            *match row.state {
                State::Done => &mut counts.done,
                State::Failed => &mut counts.failed,
                State::Running => &mut counts.running,
                State::Queued => &mut counts.missing,
            } += 1;
        }
        counts
    }
}

fn own<'a>(subject: &Subject<'a>) -> impl Iterator<Item = &'a Row> {
    subject.table.rows.iter().filter(|row| row.source.is_none())
}

/// The numbers below the title, as HTML.
pub fn facts(subject: &Subject<'_>) -> String {
    let counts = Counts::of(own(subject));
    let mut html = String::from("<dl class=\"facts\">\n");
    let mut fact = |name: &str, value: usize| {
        let _ = writeln!(html, "<div><dt>{}</dt><dd>{}</dd></div>", escape(name), thousands(value));
    };
    fact("runs", counts.runs);
    fact("done", counts.done);
    for (name, count) in
        [("failed", counts.failed), ("running or interrupted", counts.running), ("not begun", counts.missing)]
    {
        if count > 0 {
            fact(name, count);
        }
    }
    let distinct = |part: fn(&Row) -> String| own(subject).map(part).collect::<BTreeSet<String>>().len();
    fact("methods", distinct(|row| row.method.clone()));
    fact("data sets", distinct(|row| row.data.clone()));
    fact("seeds", distinct(|row| row.seed.map_or_else(String::new, |seed| seed.to_string())));
    html.push_str("</dl>\n");
    html
}

/// What was run, with which settings, and what is missing.
pub fn chapter(subject: &Subject<'_>, notes: &[String]) -> Chapter {
    let mut blocks = vec![Block::Table("Runs of each method".to_owned(), states(subject))];
    blocks.push(Block::Table("Settings".to_owned(), settings(subject)));
    for (state, words) in [(State::Failed, "failed"), (State::Running, "did not end")] {
        let names: Vec<&str> =
            own(subject).filter(|row| row.state == state).map(|row| row.name.as_str()).collect();
        if !names.is_empty() {
            let more = match names.len().saturating_sub(LISTED) {
                0 => String::new(),
                more => format!(" and {} more", thousands(more)),
            };
            let shown = listed(&names[..names.len().min(LISTED)]);
            blocks.push(Block::Words(format!("{} {words}: {shown}{more}.", counted(names.len(), "run"))));
        }
    }
    let scores = subject.scores();
    let has_none = |row: &&usize| !scores.iter().any(|key| subject.table.number(**row, key).is_finite());
    let bare = subject.rows.iter().filter(has_none).count();
    if bare > 0 && bare < subject.rows.len() {
        blocks.push(Block::Words(format!("{} are done and have no scores.", counted(bare, "run"))));
    }
    blocks.extend(notes.iter().take(LISTED).map(|note| Block::Words(format!("Left out: {note}."))));
    if notes.len() > LISTED {
        blocks.push(Block::Words(format!("And {} more.", counted(notes.len() - LISTED, "note"))));
    }
    Chapter {
        id: "overview",
        heading: "The study",
        introduction:
            "Figures and tables are of the runs that are done. The command unbraid study table writes every \
                       number of every run."
                .to_owned(),
        blocks,
    }
}

fn states(subject: &Subject<'_>) -> TextTable {
    let mut methods: Vec<&str> = Vec::new();
    for row in own(subject) {
        if !methods.contains(&row.method.as_str()) {
            methods.push(&row.method);
        }
    }
    let cells = |counts: Counts| {
        [counts.runs, counts.done, counts.failed, counts.running, counts.missing]
            .map(|count| Cell::plain(thousands(count)))
            .to_vec()
    };
    let row = |method: &&str| {
        ((*method).to_owned(), cells(Counts::of(own(subject).filter(|row| row.method == **method))))
    };
    let mut rows: Vec<(String, Vec<Cell>)> = methods.iter().map(row).collect();
    if rows.len() > 1 {
        rows.push(("all".to_owned(), cells(Counts::of(own(subject)))));
    }
    let columns = ["Method", "runs", "done", "failed", "running or interrupted", "not begun"];
    TextTable { columns: columns.map(str::to_owned).to_vec(), rows, words: false }
}

/// Every key that distinguishes runs, with its values.
fn settings(subject: &Subject<'_>) -> TextTable {
    let values_of = |column: usize| {
        let mut values: Vec<&Value> = Vec::new();
        for value in own(subject).filter_map(|row| row.settings.get(column)?.as_ref()) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        // Several methods may have listed numbers of one key; words stay in the order in which they came.
        values.sort_by(|a, b| match (as_number(a), as_number(b)) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            _ => Ordering::Equal,
        });
        values.into_iter().map(|value| value_label(Some(value))).collect::<Vec<String>>()
    };
    let distinct = |part: fn(&Row) -> Option<String>| {
        let mut values: Vec<String> = Vec::new();
        for value in own(subject).filter_map(part) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    };
    let keys = subject.table.setting_keys.iter().enumerate();
    let mut rows: Vec<(String, Vec<String>)> = vec![
        ("method".to_owned(), distinct(|row| Some(row.method.clone()))),
        ("data".to_owned(), distinct(|row| Some(row.data.clone()))),
    ];
    rows.extend(keys.map(|(column, key)| (key.clone(), values_of(column))));
    rows.push(("seed".to_owned(), distinct(|row| row.seed.map(|seed| seed.to_string()))));
    rows.retain(|(_, values)| !values.is_empty());
    let cell = |values: Vec<String>| {
        let more = values.len().saturating_sub(VALUES);
        let shown = values[..values.len() - more].join(", ");
        vec![Cell::plain(if more == 0 { shown } else { format!("{shown}, and {more} more") })]
    };
    TextTable {
        columns: vec!["Key".to_owned(), "Values".to_owned()],
        rows: rows.into_iter().map(|(key, values)| (key, cell(values))).collect(),
        words: true,
    }
}
