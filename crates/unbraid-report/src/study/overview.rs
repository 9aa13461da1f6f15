//! What a study consists of, and how many of its runs are done.

use super::section::{Block, Cell, StudySection, TextTable};
use super::view::StudyView;
use crate::html::escape;
use crate::labels::listed;
use crate::numbers::{counted, thousands};
use serde_json::Value;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt::Write;
use unbraid::run::State;
use unbraid_study::Row;
use unbraid_study::analysis::settings::{as_number, value_label};

/// Names of runs that are listed; the rest are counted.
const LISTED: usize = 20;
/// Values of a setting that are listed.
const VALUES: usize = 24;

/// How many of a study's own runs are in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// All of them.
    pub(crate) runs: usize,
    /// Done.
    pub(crate) done: usize,
    /// Failed.
    pub(crate) failed: usize,
    /// Running or interrupted.
    pub(crate) unfinished: usize,
    /// Not started.
    pub(crate) queued: usize,
}

impl Counts {
    /// Of these rows.
    pub(crate) fn of<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Self {
        let mut counts = Self::default();
        for row in rows {
            counts.runs += 1;
            *match row.state {
                State::Done => &mut counts.done,
                State::Failed => &mut counts.failed,
                State::Running | State::Interrupted => &mut counts.unfinished,
                State::Queued => &mut counts.queued,
            } += 1;
        }
        counts
    }
}

fn own<'a>(view: &StudyView<'a>) -> impl Iterator<Item = &'a Row> {
    view.counted()
}

/// The numbers below the title, as HTML.
pub(crate) fn facts(view: &StudyView<'_>) -> String {
    let counts = Counts::of(own(view));
    let mut html = String::from("<dl class=\"facts\">\n");
    let mut fact = |name: &str, value: usize| {
        let _ = writeln!(html, "<div><dt>{}</dt><dd>{}</dd></div>", escape(name), thousands(value));
    };
    fact("runs", counts.runs);
    fact("done", counts.done);
    for (name, count) in [
        ("failed", counts.failed),
        ("running or interrupted", counts.unfinished),
        ("not started", counts.queued),
    ] {
        if count > 0 {
            fact(name, count);
        }
    }
    let distinct = |part: fn(&Row) -> String| own(view).map(part).collect::<BTreeSet<String>>().len();
    fact("methods", distinct(|row| row.method.clone()));
    fact("data sets", distinct(|row| row.data.clone()));
    fact("seeds", distinct(|row| row.seed.map_or_else(String::new, |seed| seed.to_string())));
    html.push_str("</dl>\n");
    html
}

/// What was run, with which settings, and what is missing.
pub(crate) fn section(view: &StudyView<'_>, notes: &[String]) -> StudySection {
    let mut blocks = vec![Block::Table("Runs of each method".to_owned(), states(view))];
    blocks.push(Block::Table("Settings".to_owned(), settings(view)));
    for (states, text) in
        [(&[State::Failed][..], "failed"), (&[State::Running, State::Interrupted], "did not finish")]
    {
        let names: Vec<&str> =
            own(view).filter(|row| states.contains(&row.state)).map(|row| row.name.as_str()).collect();
        if !names.is_empty() {
            let more = match names.len().saturating_sub(LISTED) {
                0 => String::new(),
                more => format!(" and {} more", thousands(more)),
            };
            let shown = listed(&names[..names.len().min(LISTED)]);
            blocks.push(Block::Paragraph(format!("{} {text}: {shown}{more}.", counted(names.len(), "run"))));
        }
    }
    let scores = view.scores();
    let has_none = |row: &&usize| !scores.iter().any(|key| view.table.number(**row, key).is_finite());
    let bare = view.rows.iter().filter(has_none).count();
    if bare > 0 && bare < view.rows.len() {
        blocks.push(Block::Paragraph(format!("{} finished without scores.", counted(bare, "run"))));
    }
    blocks.extend(notes.iter().take(LISTED).map(|note| Block::Paragraph(format!("Left out: {note}."))));
    if notes.len() > LISTED {
        blocks.push(Block::Paragraph(format!("And {} more.", counted(notes.len() - LISTED, "note"))));
    }
    StudySection {
        id: "overview",
        heading: "Overview",
        introduction: if view.table.is_imported_only() {
            format!(
                "Figures and tables show the runs that were imported from {}; this study (a hyper-parameter sweep) has \
                 trained none.",
                listed(&view.table.sources())
            )
        } else {
            "Figures and tables show the runs of this study (a hyper-parameter sweep) that are done. The command unbraid \
             study table writes every number of every run."
                .to_owned()
        },
        blocks,
    }
}

fn states(view: &StudyView<'_>) -> TextTable {
    let mut methods: Vec<&str> = Vec::new();
    for row in own(view) {
        if !methods.contains(&row.method.as_str()) {
            methods.push(&row.method);
        }
    }
    let cells = |counts: Counts| {
        [counts.runs, counts.done, counts.failed, counts.unfinished, counts.queued]
            .map(|count| Cell::plain(thousands(count)))
            .to_vec()
    };
    let row = |method: &&str| {
        ((*method).to_owned(), cells(Counts::of(own(view).filter(|row| row.method == **method))))
    };
    let mut rows: Vec<(String, Vec<Cell>)> = methods.iter().map(row).collect();
    if rows.len() > 1 {
        rows.push(("all".to_owned(), cells(Counts::of(own(view)))));
    }
    let columns = ["Method", "runs", "done", "failed", "running or interrupted", "not started"];
    // Imported runs are what they are.
    let shown = if view.table.is_imported_only() { 1 } else { columns.len() - 1 };
    rows.iter_mut().for_each(|(_, cells)| cells.truncate(shown));
    let columns = &columns[..=shown];
    TextTable { columns: columns.iter().map(|&name| name.to_owned()).collect(), rows, is_text: false }
}

/// Every key that distinguishes runs, with its values.
fn settings(view: &StudyView<'_>) -> TextTable {
    let values_of = |column: usize| {
        let mut values: Vec<&Value> = Vec::new();
        for value in own(view).filter_map(|row| row.settings.get(column)?.as_ref()) {
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
        for value in own(view).filter_map(part) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    };
    let keys = view.table.setting_keys.iter().enumerate();
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
        is_text: true,
    }
}
