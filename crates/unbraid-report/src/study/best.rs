//! Tables of means: the best hyper-parameter of each method, and all of them.

use super::chapter::{Block, Cell, Chapter, TextTable};
use super::names::name;
use super::subject::Subject;
use crate::report::axis::number;
use crate::study::analysis::best::best_settings;
use crate::study::analysis::groups::{Part, groups};
use crate::study::analysis::quantities::{RECONSTRUCTION, direction};
use crate::study::analysis::statistics::Mean;
use unbraid_metrics::registry::Direction;

const HEADING: &str = "Best hyper-parameters";

/// The best setting of each method for each score (thesis, Table 5.6; Kumar, Table 1), and the means of all settings
/// (thesis, Table 5.3).
pub fn chapter(subject: &Subject<'_>) -> Chapter {
    let mut keys = subject.scores();
    if keys.is_empty() {
        return Chapter::missing("best", HEADING, "No finished run has scores yet.");
    }
    keys.extend(subject.has(RECONSTRUCTION).then(|| RECONSTRUCTION.to_owned()));
    let mut blocks = Vec::new();
    for data in &subject.data {
        let rows = subject.rows_on(data);
        let on = if subject.data.len() > 1 { format!(" on {data}") } else { String::new() };
        blocks.push(Block::Table(format!("Best setting of each method{on}"), best(subject, &rows, &keys)));
        blocks.push(Block::Table(format!("All settings{on}"), settings(subject, &rows)));
    }
    Chapter {
        id: "best",
        heading: HEADING,
        introduction: "Mean and standard deviation over seeds; the best mean of a row of the first table and of a column of \
                       the second is marked. A difference smaller than the standard deviations may be luck, and the best of \
                       many settings is a little better than it will be next time. As the thesis, Tables 5.3 and 5.6, and \
                       Kumar, Table 1."
            .to_owned(),
        blocks,
    }
}

/// Scores by methods.
fn best(subject: &Subject<'_>, rows: &[usize], keys: &[String]) -> TextTable {
    let methods = subject.methods_of(rows);
    let mut table = TextTable::default();
    table.columns.push("Score".to_owned());
    table.columns.extend(methods.iter().map(|method| (*method).to_owned()));
    for key in keys {
        let found = best_settings(subject.table, rows, key, &[]);
        if found.is_empty() {
            continue;
        }
        let means: Vec<f64> = found.iter().map(|best| best.score.mean).collect();
        let cells = methods.iter().map(|method| {
            let Some(best) = found.iter().find(|best| best.method == *method) else {
                return Cell::plain("–");
            };
            Cell {
                text: with_deviation(&best.score),
                faint: best.setting.label.clone(),
                best: is_best(best.score.mean, &means, direction(key)),
            }
        });
        table.rows.push((name(key), cells.collect()));
    }
    table
}

/// Settings by scores.
fn settings(subject: &Subject<'_>, rows: &[usize]) -> TextTable {
    let keys = subject.headlines_and_reconstruction();
    let found = groups(subject.table, rows, &[Part::Method, Part::Setting]);
    let mut table = TextTable::default();
    table.columns.extend(["Setting".to_owned(), "runs".to_owned()]);
    table.columns.extend(keys.iter().map(|key| name(key)));
    let columns: Vec<(Vec<Option<Mean>>, Direction)> = keys
        .iter()
        .map(|key| {
            let mean = |rows: &[usize]| Mean::of(&subject.values(rows, key));
            (found.iter().map(|group| mean(&group.rows)).collect(), direction(key))
        })
        .collect();
    for (place, group) in found.iter().enumerate() {
        let mut cells = vec![Cell::plain(group.rows.len().to_string())];
        for (means, direction) in &columns {
            let all: Vec<f64> = means.iter().flatten().map(|mean| mean.mean).collect();
            cells.push(means[place].map_or_else(
                || Cell::plain("–"),
                |mean| Cell {
                    text: with_deviation(&mean),
                    faint: String::new(),
                    best: is_best(mean.mean, &all, *direction),
                },
            ));
        }
        table.rows.push((format!("{} {}", group.labels[0], group.labels[1]).trim_end().to_owned(), cells));
    }
    table
}

/// `0.297 ± 0.061`; the mean alone if there is one run.
pub fn with_deviation(mean: &Mean) -> String {
    let digits = |value: f64| {
        if value.abs() < 10.0 { format!("{value:.3}").replace('-', "−") } else { number(value) }
    };
    match mean.deviation.is_finite() {
        true => format!("{} ± {}", digits(mean.mean), digits(mean.deviation)),
        false => digits(mean.mean),
    }
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

    #[test]
    fn means_are_written_as_in_papers_and_the_best_is_one_of_several() {
        let mean = |mean, deviation| Mean { count: 3, mean, deviation };
        assert_eq!(with_deviation(&mean(0.2974, 0.0611)), "0.297 ± 0.061");
        assert_eq!(with_deviation(&mean(44.44, 1.002)), "44.44 ± 1.002");
        assert_eq!(with_deviation(&mean(-0.5, f64::NAN)), "−0.500");
        assert!(is_best(2.0, &[1.0, 2.0], Direction::Higher) && is_best(1.0, &[1.0, 2.0], Direction::Lower));
        assert!(
            !is_best(2.0, &[2.0, 2.0], Direction::Higher) && !is_best(2.0, &[1.0, 2.0], Direction::Neither)
        );
    }
}
