//! Rank correlations over runs.

use super::chapter::{Block, Chapter};
use super::view::StudyView;
use crate::chart::heat_map;
use crate::chart::svg::Svg;
use crate::labels::labels;
use unbraid_study::analysis::correlations::rank_correlations;
use unbraid_study::analysis::quantities::unsupervised_keys;

const HEADING: &str = "Agreement between scores";

/// Between scores (thesis, Fig. 5.13), and of scores with quantities that need no factors (Fig. 5.16).
pub(crate) fn chapter(view: &StudyView<'_>) -> Chapter {
    let scores = view.scores();
    if scores.len() < 2 || view.rows.len() < 3 {
        return Chapter::missing(
            "correlations",
            HEADING,
            "Fewer than two scores, or fewer than three finished runs.",
        );
    }
    let unsupervised = unsupervised_keys(view.table, &view.rows);
    let maps = |columns: &[String]| -> Vec<Svg> {
        view.data.iter().map(|data| map(view, data, &scores, columns)).collect()
    };
    let mut blocks = vec![Block::matrices(
        "score-correlations",
        "Between scores",
        "High where two scores rank runs in the same order. As in the thesis, Fig. 5.13.",
        maps(&scores),
    )];
    if unsupervised.is_empty() {
        blocks.push(Block::Paragraph(
            "The runs have no losses and no unsupervised scores to compare with.".into(),
        ));
    } else {
        blocks.push(Block::matrices(
            "unsupervised-correlations",
            "With unsupervised quantities",
            "Only a column that is far from zero could select a good model where there are no factors. As in the thesis, \
             Fig. 5.16.",
            maps(&unsupervised),
        ));
    }
    Chapter {
        id: "correlations",
        heading: HEADING,
        introduction: "Spearman's rank correlation over all runs on a data set: 1 if two quantities rank them in the same \
                       order, −1 in the opposite order, 0 if they are unrelated. A dash means that a value is missing, or \
                       the same for all runs."
            .to_owned(),
        blocks,
    }
}

/// The correlations on one data set.
pub(crate) fn map(view: &StudyView<'_>, data: &str, rows: &[String], columns: &[String]) -> Svg {
    let found = rank_correlations(view.table, &view.rows_on(data), rows, columns);
    heat_map::correlations(data, &found.values, &labels(&found.rows), &labels(&found.columns))
}

/// A coefficient with two digits and a real minus sign.
pub(crate) fn coefficient(value: f64) -> String {
    format!("{value:.2}").replace('-', "−")
}
