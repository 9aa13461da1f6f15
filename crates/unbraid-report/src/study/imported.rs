//! Results from elsewhere beside the study's own.

use super::best::with_deviation;
use super::chapter::{Block, Cell, Chapter, TextTable};
use super::names::{counted, listed, name};
use super::subject::{Published, Subject};
use crate::report::labelled::{self, Axes, LabelledPoint, LabelledSeries};
use crate::report::svg::Svg;
use crate::study::analysis::groups::{Group, Part, groups};
use crate::study::analysis::settings::value_label;
use crate::study::analysis::statistics::Mean;

/// Settings that both have, side by side. Nothing if nothing was imported.
pub fn chapter(subject: &Subject<'_>) -> Option<Chapter> {
    let sources = subject.table.sources();
    if sources.is_empty() {
        return None;
    }
    let keys = subject.headlines_and_reconstruction();
    let mut blocks = Vec::new();
    for data in &subject.data {
        let rows = subject.rows_on(data);
        let own = groups(subject.table, &rows, &[Part::Method, Part::Setting]);
        let pairs: Vec<(String, Vec<Pair>)> =
            keys.iter().map(|key| (key.clone(), pairs(subject, data, &own, key))).collect();
        if pairs.iter().all(|(_, pairs)| pairs.is_empty()) {
            continue;
        }
        let on = if subject.data.len() > 1 { format!(" on {data}") } else { String::new() };
        let charts = pairs
            .iter()
            .filter(|(_, pairs)| !pairs.is_empty())
            .map(|(key, pairs)| chart(subject, key, pairs));
        blocks.push(Block::charts(
            "ours-and-published",
            format!("The same settings{on}"),
            "Each point is a setting that both have; bars are 95 % confidence intervals of this study's mean. Where both \
             agree, the number on the axis below is the number on the left.",
            charts.collect(),
        ));
        blocks.push(Block::Table(
            format!("Both in numbers{on}: this study, and published below"),
            table(&pairs, sources.len()),
        ));
    }
    let read = counted(subject.table.select(|row| row.source.is_some()).len(), "row");
    let mut introduction = format!("{read} from {}.", listed(&sources));
    introduction.push_str(if blocks.is_empty() {
        " None is of a data set, a method and a hyper-parameter that this study has too, by name, so that there is nothing to \
         put side by side."
    } else {
        " Published means of a method are also drawn as diamonds in the box plots above. Other networks, other data and \
         other training make other numbers; compare orders rather than digits."
    });
    Some(Chapter { id: "imported", heading: "Beside results from elsewhere", introduction, blocks })
}

/// One setting, here and there.
struct Pair {
    method: String,
    setting: String,
    /// Its hyper-parameter alone.
    value: String,
    own: Mean,
    other: Published,
}

fn pairs(subject: &Subject<'_>, data: &str, own: &[Group], key: &str) -> Vec<Pair> {
    let mut found = Vec::new();
    for group in own {
        let [method, setting] = group.labels.as_slice() else { continue };
        let Some(own) = Mean::of(&subject.values(&group.rows, key)) else { continue };
        let value = group.setting.as_ref().and_then(|setting| setting.values.first()).map(|(_, value)| value);
        let published = subject.published(data, method, key);
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

fn chart(subject: &Subject<'_>, key: &str, pairs: &[Pair]) -> Svg {
    let mut series: Vec<LabelledSeries> = Vec::new();
    for pair in pairs {
        let point = LabelledPoint {
            x: pair.other.mean.mean,
            y: pair.own.mean,
            interval: pair.own.confidence(),
            label: pair.value.clone(),
            words: pair.other.source.clone(),
        };
        match series.iter_mut().find(|series| series.name == pair.method) {
            Some(series) => series.points.push(point),
            None => series.push(LabelledSeries {
                name: pair.method.clone(),
                colour: subject.colour(&pair.method),
                points: vec![point],
                joined: true,
            }),
        }
    }
    labelled::draw(Axes { vertical: &name(key), horizontal: "published" }, &series)
}

/// A row for each setting and source, a column for each number: ours, and below it theirs.
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
    let columns = pairs.iter().map(|(key, _)| name(key));
    TextTable { columns: std::iter::once("Setting".to_owned()).chain(columns).collect(), rows, words: false }
}
