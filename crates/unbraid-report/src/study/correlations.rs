//! How numbers go together: rank correlations over runs.

use super::chapter::{Block, Chapter};
use super::names::names;
use super::subject::Subject;
use crate::report::heat_map;
use crate::report::svg::Svg;
use crate::study::analysis::correlations::rank_correlations;
use crate::study::analysis::quantities::unsupervised_keys;

const HEADING: &str = "Agreement of scores";

/// Between scores (thesis, Fig. 5.13), and of scores with what can be known without factors (Fig. 5.16).
pub fn chapter(subject: &Subject<'_>) -> Chapter {
    let scores = subject.scores();
    if scores.len() < 2 || subject.rows.len() < 3 {
        return Chapter::missing(
            "correlations",
            HEADING,
            "Fewer than two scores, or fewer than three finished runs.",
        );
    }
    let unsupervised = unsupervised_keys(subject.table, &subject.rows);
    let maps = |columns: &[String]| -> Vec<Svg> {
        subject.data.iter().map(|data| map(subject, data, &scores, columns)).collect()
    };
    let mut blocks = vec![Block::matrices(
        "score-correlations",
        "Between scores",
        "High where two scores put runs in the same order. As the thesis, Fig. 5.13.",
        maps(&scores),
    )];
    if unsupervised.is_empty() {
        blocks.push(Block::Words(
            "No loss and no property of the codes is known that scores could be compared with.".into(),
        ));
    } else {
        blocks.push(Block::matrices(
            "unsupervised-correlations",
            "With what can be known without factors",
            "Only where a column is far from zero could it choose a good model where there are no factors. As the thesis, \
             Fig. 5.16.",
            maps(&unsupervised),
        ));
    }
    Chapter {
        id: "correlations",
        heading: HEADING,
        introduction: "Spearman's rank correlation over all runs on a data set: 1 if two numbers put them in the same order, \
                       −1 if in opposite orders, 0 if they have nothing to do with each other. A dash stands where a number \
                       is the same for all runs or missing."
            .to_owned(),
        blocks,
    }
}

/// The correlations on one data set.
pub fn map(subject: &Subject<'_>, data: &str, rows: &[String], columns: &[String]) -> Svg {
    let found = rank_correlations(subject.table, &subject.rows_on(data), rows, columns);
    heat_map::correlations(data, &found.values, &names(&found.rows), &names(&found.columns))
}

/// A coefficient with two digits and a real minus sign.
pub fn coefficient(value: f64) -> String {
    format!("{value:.2}").replace('-', "−")
}
