//! Published results beside the study's own.

use super::best::with_deviation;
use super::section::{Block, Cell, StudySection, TextTable};
use super::view::{Published, StudyView};
use crate::chart::labelled_points::{self, AxisTitles, LabelledPoint, LabelledSeries};
use crate::chart::svg::Svg;
use crate::labels::{label, listed};
use crate::numbers::counted;
use unbraid_study::analysis::groups::{Group, Part, groups};
use unbraid_study::analysis::settings::value_label;
use unbraid_study::analysis::statistics::Mean;

/// Settings that both have, side by side. `None` if nothing was imported, or nothing else is there to compare with.
pub(crate) fn section(view: &StudyView<'_>) -> Option<StudySection> {
    let sources = view.table.sources();
    let is_summary = |&row: &usize| view.table.rows[row].spread.is_some();
    let imported = view.table.select(|row| row.source.is_some());
    if sources.is_empty() || view.table.is_imported_only() && !imported.iter().any(is_summary) {
        return None;
    }
    let keys = view.headlines_and_reconstruction();
    let mut blocks = Vec::new();
    for data in &view.data {
        let rows = view.rows_on(data);
        let own = groups(view.table, &rows, &[Part::Method, Part::Setting]);
        let pairs: Vec<(String, Vec<Pair>)> =
            keys.iter().map(|key| (key.clone(), pairs(view, data, &own, key))).collect();
        if pairs.iter().all(|(_, pairs)| pairs.is_empty()) {
            continue;
        }
        let mut on = if view.data.len() > 1 { format!(" on {data}") } else { String::new() };
        let other = pairs.iter().flat_map(|(_, pairs)| pairs).map(|pair| &pair.other.data);
        if let Some(other) = other.into_iter().find(|other| *other != data) {
            on = format!(" on {data} and published ones on {other}");
        }
        let charts =
            pairs.iter().filter(|(_, pairs)| !pairs.is_empty()).map(|(key, pairs)| chart(view, key, pairs));
        blocks.push(Block::charts(
            "ours-and-published",
            format!("The same settings{on}"),
            "Each point is a setting that both have; bars are 95 % confidence intervals of this study's mean. Where both \
             agree, a point has the same value on both axes.",
            charts.collect(),
        ));
        blocks.push(Block::Table(
            format!("This study, with published values below{on}"),
            table(&pairs, sources.len()),
        ));
    }
    let read = counted(imported.len(), "row");
    let mut introduction = format!("{read} from {}.", listed(&sources));
    introduction.push_str(if blocks.is_empty() {
        " None has the names of a data set, a method and a hyper-parameter of this study, so there is nothing to compare."
    } else {
        " Published means are also drawn as diamonds in the box plots above. Networks, data and training differ, so compare \
         the order of methods rather than the values."
    });
    Some(StudySection { id: "imported", heading: "Comparison with published results", introduction, blocks })
}

/// One setting, in this study and published.
struct Pair {
    method: String,
    setting: String,
    /// Its hyper-parameter alone.
    value: String,
    own: Mean,
    other: Published,
}

fn pairs(view: &StudyView<'_>, data: &str, own: &[Group], key: &str) -> Vec<Pair> {
    let mut found = Vec::new();
    for group in own {
        let [method, setting] = group.labels.as_slice() else { continue };
        let Some(own) = Mean::of(&view.values(&group.rows, key)) else { continue };
        let value = group.setting.as_ref().and_then(|setting| setting.values.first()).map(|(_, value)| value);
        let published = view.published(data, method, key);
        found.extend(published.into_iter().filter(|other| other.setting == *setting).map(|other| Pair {
            method: method.clone(),
            setting: setting.clone(),
            value: value_label(value),
            own,
            other,
        }));
    }
    found
}

fn chart(view: &StudyView<'_>, key: &str, pairs: &[Pair]) -> Svg {
    let mut series: Vec<LabelledSeries> = Vec::new();
    for pair in pairs {
        let point = LabelledPoint {
            x: pair.other.mean.mean,
            y: pair.own.mean,
            interval: pair.own.confidence(),
            label: pair.value.clone(),
            note: pair.other.source.clone(),
        };
        match series.iter_mut().find(|series| series.name == pair.method) {
            Some(series) => series.points.push(point),
            None => series.push(LabelledSeries {
                name: pair.method.clone(),
                colour: view.colour(&pair.method),
                points: vec![point],
                joined: true,
            }),
        }
    }
    labelled_points::draw(AxisTitles { vertical: &label(key), horizontal: "published" }, &series)
}

/// A row for each setting and source, a column for each score: our value, and the published one below it.
fn table(pairs: &[(String, Vec<Pair>)], sources: usize) -> TextTable {
    let mut rows: Vec<(String, Vec<Cell>)> = Vec::new();
    for (column, (_, pairs)) in pairs.iter().enumerate() {
        for pair in pairs {
            let mut title = format!("{} {}", pair.method, pair.setting).trim_end().to_owned();
            if sources > 1 {
                title = format!("{title} ({})", pair.other.source);
            }
            let place = rows.iter().position(|(known, _)| *known == title).unwrap_or_else(|| {
                rows.push((title, Vec::new()));
                rows.len() - 1
            });
            let cells = &mut rows[place].1;
            cells.resize(column, Cell::plain("–"));
            let (text, faint) = (with_deviation(&pair.own), with_deviation(&pair.other.mean));
            cells.push(Cell { text, faint, best: false });
        }
    }
    for (_, cells) in &mut rows {
        cells.resize(pairs.len(), Cell::plain("–"));
    }
    let columns = pairs.iter().map(|(key, _)| label(key));
    TextTable {
        columns: std::iter::once("Setting".to_owned()).chain(columns).collect(),
        rows,
        is_text: false,
    }
}
