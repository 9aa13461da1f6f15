//! Unsupervised model selection by UDR.

use super::best::with_deviation;
use super::correlations::coefficient;
use super::section::{Block, Cell, StudySection, TextTable};
use super::trade_off::runs_by_method;
use super::view::StudyView;
use crate::chart::labelled_points::{self, AxisTitles};
use crate::labels::label;
use crate::numbers::counted;
use crate::numbers::number;
use unbraid_study::analysis::quantities::UDR;
use unbraid_study::analysis::selection::{Ranked, agreement, ranking};
use unbraid_study::analysis::statistics::Mean;

const HEADING: &str = "Unsupervised model selection";
/// The table shows so many of the best settings.
const SHOWN: usize = 10;
/// More dots than this would hide each other.
const MOST_DOTS: usize = 300;

/// Settings by their UDR, and what scores they have (Duan et al. 2020).
pub(crate) fn section(view: &StudyView<'_>) -> StudySection {
    let mut blocks = Vec::new();
    for data in &view.data {
        let rows = view.rows_on(data);
        let ranked = ranking(view.table, &rows);
        if ranked.is_empty() {
            continue;
        }
        let on = if view.data.len() > 1 { format!(" on {data}") } else { String::new() };
        let title = format!("Settings with the highest UDR{on}");
        blocks.push(Block::Table(title, table(view, &ranked)));
        let known: Vec<(String, f64)> = agreement(view.table, &rows)
            .into_iter()
            .filter(|found| found.correlation.is_finite())
            .map(|found| (found.key, found.correlation))
            .collect();
        if !known.is_empty() {
            let table = TextTable {
                columns: vec!["Score".to_owned(), "rank correlation with UDR".to_owned()],
                rows: known
                    .iter()
                    .map(|(key, value)| (label(key), vec![Cell::plain(coefficient(*value))]))
                    .collect(),
                is_text: false,
            };
            blocks.push(Block::Table(format!("Rank correlation of UDR with the scores{on}"), table));
        }
        let stride = rows.len().div_ceil(MOST_DOTS).max(1);
        let shown: Vec<usize> = rows.iter().copied().step_by(stride).collect();
        let charts = view
            .headlines()
            .iter()
            .map(|key| {
                let axes = AxisTitles { vertical: &label(key), horizontal: "UDR" };
                labelled_points::draw(axes, &runs_by_method(view, &shown, UDR, key))
            })
            .collect();
        let caption = if stride > 1 {
            format!("Each dot is a run; of {}, one in {stride} is drawn.", counted(rows.len(), "run"))
        } else {
            "Each dot is a run.".to_owned()
        };
        blocks.push(Block::charts("udr", format!("Scores against UDR{on}"), &caption, charts));
    }
    if blocks.is_empty() && view.table.is_imported_only() {
        let why =
            "UDR compares the codes of runs that differ only in their seed; imported tables have no codes.";
        return StudySection::missing("choice", HEADING, why);
    }
    if blocks.is_empty() {
        return StudySection::missing(
            "choice",
            HEADING,
            "UDR compares runs that differ only in their seed, by their codes: it needs at least two seeds of a setting with \
             codes.npz, which unbraid study run STUDY writes, and unbraid evaluate RUN for a single run.",
        );
    }
    StudySection {
        id: "choice",
        heading: HEADING,
        introduction: "Unsupervised disentanglement ranking (UDR) asks whether runs that differ only in the seed learned the \
                       same latent units (dimensions); it needs no factors. If it correlates with the scores, the setting with the highest UDR \
                       is a good choice where there are no factors. Duan et al. 2020; the thesis, section 5.5, leaves the \
                       question open."
            .to_owned(),
        blocks,
    }
}

fn table(view: &StudyView<'_>, ranked: &[Ranked]) -> TextTable {
    let keys = view.headlines();
    let mut columns = vec!["Setting".to_owned(), "median UDR".to_owned(), "runs".to_owned()];
    columns.extend(keys.iter().map(|key| label(key)));
    let row = |found: &Ranked| {
        let mut cells =
            vec![Cell::plain(number(found.udr.median)), Cell::plain(found.rows.len().to_string())];
        cells.extend(keys.iter().map(|key| {
            let mean = Mean::of(&view.values(&found.rows, key));
            Cell::plain(mean.map_or_else(|| "–".to_owned(), |mean| with_deviation(&mean)))
        }));
        (format!("{} {}", found.method, found.setting.label).trim_end().to_owned(), cells)
    };
    TextTable { columns, rows: ranked.iter().take(SHOWN).map(row).collect(), is_text: false }
}
