//! Tables of means: the best hyper-parameter of each method, and all of them.

use super::section::{Block, Cell, HOW_TO_SCORE, StudySection, TextTable};
use super::view::StudyView;
use crate::labels::label;
use crate::numbers::{minus, number};
use unbraid::metrics::Direction;
use unbraid_study::analysis::best::best_settings;
use unbraid_study::analysis::groups::{Part, groups};
use unbraid_study::analysis::quantities::{RECONSTRUCTION, RECONSTRUCTION_ERROR, direction};
use unbraid_study::analysis::statistics::Mean;

const HEADING: &str = "Best hyper-parameters";
const KUMAR: &str = "sap_kumar";
/// The column, and the row, of what the scores are with shuffled factors.
const CHANCE: &str = "by chance";

/// The best setting of each method for each score (thesis, Table 5.6; Kumar, Table 1), and the means of all settings
/// (thesis, Table 5.3).
pub(crate) fn section(view: &StudyView<'_>) -> StudySection {
    let mut keys = view.scores();
    if keys.is_empty() {
        return StudySection::missing(
            "best",
            HEADING,
            format!("No finished run has scores yet. {HOW_TO_SCORE}"),
        );
    }
    keys.extend(reconstructions(view));
    let mut blocks = Vec::new();
    for data in &view.data {
        let rows = view.rows_on(data);
        let on = if view.data.len() > 1 { format!(" on {data}") } else { String::new() };
        blocks.push(Block::Table(format!("Best setting of each method{on}"), best(view, &rows, &keys)));
        blocks.push(Block::Table(format!("All settings{on}"), settings(view, &rows)));
    }
    StudySection {
        id: "best",
        heading: HEADING,
        introduction: "Mean and standard deviation over seeds. The best mean of each row of the first table, and of each \
                       column of the second, is in bold. A difference smaller than the standard deviations may be due to \
                       the seeds, and the best of many settings looks a little better than it is. By chance: the same \
                       score with the factors of all points shuffled, where it was computed. As in the thesis, Tables 5.3 \
                       and 5.6, and Kumar, Table 1."
            .to_owned(),
        blocks,
    }
}

/// The reconstruction loss and the error per pixel, as far as they are known.
fn reconstructions(view: &StudyView<'_>) -> impl Iterator<Item = String> {
    let known = |key: &&str| view.has(key);
    [RECONSTRUCTION, RECONSTRUCTION_ERROR].into_iter().filter(known).map(str::to_owned)
}

/// Scores by methods.
pub(super) fn best(view: &StudyView<'_>, rows: &[usize], keys: &[String]) -> TextTable {
    let methods = view.methods_of(rows);
    let mut table = TextTable::default();
    table.columns.push("Score".to_owned());
    table.columns.extend(methods.iter().map(|method| (*method).to_owned()));
    let levels: Vec<Option<f64>> = keys.iter().map(|key| view.chance(rows, key)).collect();
    let has_chance = levels.iter().any(Option::is_some);
    table.columns.extend(has_chance.then(|| CHANCE.to_owned()));
    for (key, level) in keys.iter().zip(levels) {
        let found = best_settings(view.table, rows, key, &[]);
        if found.is_empty() {
            continue;
        }
        let means: Vec<f64> = found.iter().map(|best| best.score.mean).collect();
        let cells = methods.iter().map(|method| {
            let Some(best) = found.iter().find(|best| best.method == *method) else {
                return Cell::plain("–");
            };
            Cell {
                text: in_digits_of(key, &best.score),
                faint: best.setting.label.clone(),
                best: is_best(best.score.mean, &means, direction(key)),
            }
        });
        table.rows.push((label(key), cells.chain(has_chance.then(|| by_chance(level))).collect()));
    }
    table
}

/// Settings by scores.
fn settings(view: &StudyView<'_>, rows: &[usize]) -> TextTable {
    let mut keys = view.headlines();
    // Kumar, Table 1, has SAP as its authors define it, beside the one of the other papers.
    keys.extend((view.has(KUMAR) && !keys.iter().any(|key| key == KUMAR)).then(|| KUMAR.to_owned()));
    keys.extend(reconstructions(view));
    let found = groups(view.table, rows, &[Part::Method, Part::Setting]);
    let mut table = TextTable::default();
    table.columns.extend(["Setting".to_owned(), "runs".to_owned()]);
    table.columns.extend(keys.iter().map(|key| label(key)));
    let columns: Vec<(Vec<Option<Mean>>, Direction)> = keys
        .iter()
        .map(|key| {
            let mean = |rows: &[usize]| Mean::of(&view.values(rows, key));
            (found.iter().map(|group| mean(&group.rows)).collect(), direction(key))
        })
        .collect();
    for (place, group) in found.iter().enumerate() {
        let mut cells = vec![Cell::plain(group.rows.len().to_string())];
        for (key, (means, direction)) in keys.iter().zip(&columns) {
            let all: Vec<f64> = means.iter().flatten().map(|mean| mean.mean).collect();
            cells.push(means[place].map_or_else(
                || Cell::plain("–"),
                |mean| Cell {
                    text: in_digits_of(key, &mean),
                    faint: String::new(),
                    best: is_best(mean.mean, &all, *direction),
                },
            ));
        }
        table.rows.push((format!("{} {}", group.labels[0], group.labels[1]).trim_end().to_owned(), cells));
    }
    let levels: Vec<Option<f64>> = keys.iter().map(|key| view.chance(rows, key)).collect();
    if levels.iter().any(Option::is_some) {
        let cells = std::iter::once(Cell::default()).chain(levels.into_iter().map(by_chance));
        table.rows.push((CHANCE.to_owned(), cells.collect()));
    }
    table
}

/// As [`with_deviation`]; an error per pixel, of which good models have thousandths, with the four digits of
/// Kumar, Table 1.
fn in_digits_of(key: &str, mean: &Mean) -> String {
    with_digits(mean, if key == RECONSTRUCTION_ERROR { 4 } else { 3 })
}

/// The chance level of a score.
fn by_chance(level: Option<f64>) -> Cell {
    Cell::plain(level.map_or_else(String::new, |level| digits(level, 3)))
}

/// `0.297 ± 0.061`; the mean alone if there is one run.
pub(crate) fn with_deviation(mean: &Mean) -> String {
    with_digits(mean, 3)
}

fn with_digits(mean: &Mean, count: usize) -> String {
    match mean.deviation.is_finite() {
        true => format!("{} ± {}", digits(mean.mean, count), digits(mean.deviation, count)),
        false => digits(mean.mean, count),
    }
}

/// So many digits after the point, if the value is a small one.
fn digits(value: f64, count: usize) -> String {
    if value.abs() < 10.0 { minus(format!("{value:.count$}")) } else { number(value) }
}

/// Whether a value is the best of several that differ.
fn is_best(value: f64, all: &[f64], direction: Direction) -> bool {
    let best = match direction {
        Direction::Higher => all.iter().copied().reduce(f64::max),
        Direction::Lower => all.iter().copied().reduce(f64::min),
        Direction::Neither => None,
    };
    best == Some(value) && all.iter().any(|other| *other != value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Levels of 0.1 and 0.3 have the mean 0.2; a score without a level has an empty cell.
    #[test]
    fn tables_have_the_level_by_chance_if_some_run_has_one() {
        use unbraid_study::{Row, Table};
        let row = |seed: u64, numbers: [f64; 3]| Row {
            seed: Some(seed),
            numbers: numbers.to_vec(),
            ..Row::named(seed.to_string(), "vae", "shapes")
        };
        let mut table = Table {
            setting_keys: Vec::new(),
            number_keys: ["mig", "chance/mig", "sap"].map(str::to_owned).to_vec(),
            rows: vec![row(0, [0.5, 0.1, 0.4]), row(1, [0.7, 0.3, 0.4])],
        };
        let keys = ["mig", "sap"].map(str::to_owned);
        let texts = |table: &TextTable| -> Vec<Vec<String>> {
            table.rows.iter().map(|(_, cells)| cells.iter().map(|cell| cell.text.clone()).collect()).collect()
        };
        let view = StudyView::new(&table);
        assert_eq!(view.scores(), keys, "a chance level is no score");
        let found = best(&view, &[0, 1], &keys);
        assert_eq!(found.columns, ["Score", "vae", CHANCE]);
        assert_eq!(texts(&found), [["0.600 ± 0.141", "0.200"], ["0.400 ± 0.000", ""]]);
        let found = settings(&view, &[0, 1]);
        assert_eq!(texts(&found), [["2", "0.600 ± 0.141", "0.400 ± 0.000"], ["", "0.200", ""]]);
        table.rows.iter_mut().for_each(|row| row.numbers[1] = f64::NAN);
        assert_eq!(best(&StudyView::new(&table), &[0, 1], &keys).columns, ["Score", "vae"]);
    }

    #[test]
    fn means_are_written_as_in_papers_and_the_best_is_one_of_several() {
        let mean = |mean, deviation| Mean { count: 3, mean, deviation };
        assert_eq!(with_deviation(&mean(0.2974, 0.0611)), "0.297 ± 0.061");
        assert_eq!(with_deviation(&mean(44.44, 1.002)), "44.44 ± 1.002");
        assert_eq!(with_deviation(&mean(-0.5, f64::NAN)), "−0.500");
        assert_eq!(in_digits_of(RECONSTRUCTION_ERROR, &mean(0.0017, 0.0002)), "0.0017 ± 0.0002");
        assert!(is_best(2.0, &[1.0, 2.0], Direction::Higher) && is_best(1.0, &[1.0, 2.0], Direction::Lower));
        assert!(
            !is_best(2.0, &[2.0, 2.0], Direction::Higher) && !is_best(2.0, &[1.0, 2.0], Direction::Neither)
        );
    }
}
