//! Rank correlations over runs.

use super::section::{Block, HOW_TO_SCORE, StudySection};
use super::view::StudyView;
use crate::chart::heat_map;
use crate::chart::svg::Svg;
use crate::labels::labels;
use crate::numbers::minus;
use unbraid_study::analysis::correlations::rank_correlations;
use unbraid_study::analysis::quantities::unsupervised_keys;

const HEADING: &str = "Agreement between scores";
/// Two runs always agree or disagree in their order.
const FEWEST_RUNS: usize = 3;

/// Between scores (thesis, Fig. 5.13), and of scores with quantities that need no factors (Fig. 5.16).
pub(crate) fn section(view: &StudyView<'_>) -> StudySection {
    let scores = view.scores();
    if scores.len() < 2 || view.rows.len() < FEWEST_RUNS {
        return StudySection::missing(
            "correlations",
            HEADING,
            format!("Fewer than two scores, or fewer than three finished runs. {HOW_TO_SCORE}"),
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
    blocks.extend(within_methods(
        view,
        "score-correlations-by-method",
        "Between scores, within a method",
        (&scores, &scores),
    ));
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
        blocks.extend(within_methods(
            view,
            "unsupervised-correlations-by-method",
            "With unsupervised quantities, within a method",
            (&scores, &unsupervised),
        ));
    }
    StudySection {
        id: "correlations",
        heading: HEADING,
        introduction: "Spearman's rank correlation over all runs on a data set: 1 if two quantities rank them in the same \
                       order, −1 in the opposite order, 0 if they are unrelated. A dash means that a value is missing, or \
                       the same for all runs."
            .to_owned(),
        blocks,
    }
}

/// The maps of each method on its own; `None` if there are none. The thesis correlates the runs of FactorVAE alone.
pub(super) fn within_methods(
    view: &StudyView<'_>,
    name: &'static str,
    title: impl Into<String>,
    keys: (&[String], &[String]),
) -> Option<Block> {
    let maps = by_method(view, keys);
    let caption = "The same over the runs of one method, where no difference between methods can make numbers agree. The \
                   thesis has the runs of FactorVAE.";
    (!maps.is_empty()).then(|| Block::matrices(name, title, caption, maps))
}

/// A map for each method with enough runs on a data set; none if there is only one method.
fn by_method(view: &StudyView<'_>, keys: (&[String], &[String])) -> Vec<Svg> {
    let mut maps = Vec::new();
    for data in &view.data {
        let rows = view.rows_on(data);
        let methods = view.methods_of(&rows);
        if methods.len() < 2 {
            continue;
        }
        for method in methods {
            let own: Vec<usize> =
                rows.iter().copied().filter(|&row| view.table.rows[row].method == method).collect();
            if own.len() >= FEWEST_RUNS {
                let title =
                    if view.data.len() > 1 { format!("{method} on {data}") } else { method.to_owned() };
                maps.push(map_of(view, &title, &own, keys));
            }
        }
    }
    maps
}

/// The correlations on one data set.
pub(crate) fn map(view: &StudyView<'_>, data: &str, rows: &[String], columns: &[String]) -> Svg {
    map_of(view, data, &view.rows_on(data), (rows, columns))
}

/// The correlations of two lists of quantities over some runs.
fn map_of(view: &StudyView<'_>, title: &str, runs: &[usize], (rows, columns): (&[String], &[String])) -> Svg {
    let found = rank_correlations(view.table, runs, rows, columns);
    heat_map::correlations(title, &found.values, &labels(&found.rows), &labels(&found.columns))
}

/// A coefficient with two digits and a real minus sign.
pub(crate) fn coefficient(value: f64) -> String {
    minus(format!("{value:.2}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use unbraid_study::{Row, Table};

    /// Within `a` both scores rise together; within `b` one falls while the other rises.
    #[test]
    fn methods_have_maps_of_their_own() {
        let mut rows = Vec::new();
        for (method, direction) in [("a", 1.0), ("b", -1.0)] {
            for seed in 0..4 {
                let mig = 0.1 * seed as f64;
                rows.push(Row {
                    seed: Some(seed),
                    numbers: vec![mig, 0.5 + direction * mig],
                    ..Row::named(format!("{method} {seed}"), method, "shapes")
                });
            }
        }
        let number_keys = ["mig", "sap"].map(str::to_owned).to_vec();
        let table = Table { number_keys, rows, ..Table::default() };
        let view = StudyView::new(&table);
        let scores = view.scores();
        let within = |method: usize| {
            let runs: Vec<usize> = (4 * method..4 * method + 4).collect();
            rank_correlations(&table, &runs, &scores, &scores).values[[0, 1]]
        };
        // The root of the product of two variances need not be exact.
        assert!(
            (within(0) - 1.0).abs() < 1e-12 && (within(1) + 1.0).abs() < 1e-12,
            "{} {}",
            within(0),
            within(1)
        );
        assert_eq!(by_method(&view, (&scores, &scores)).len(), 2);
        let html = section(&view).page_section().unwrap().content;
        assert!(html.contains("Between scores, within a method"), "{html}");
        let one = Table { rows: table.rows[..4].to_vec(), ..table.clone() };
        assert!(by_method(&StudyView::new(&one), (&scores, &scores)).is_empty());
    }

    /// The thesis, Fig. 5.16 and 5.19, for each method: over four runs whose losses rise with MIG, and fall with it.
    #[test]
    fn losses_and_accuracies_are_correlated_within_methods() {
        let mut rows = Vec::new();
        for (method, direction) in [("factor-vae", 1.0), ("beta-vae", -1.0)] {
            for seed in 0..4 {
                let mig = 0.1 * seed as f64;
                let loss = 40.0 + direction * mig;
                rows.push(Row {
                    seed: Some(seed),
                    numbers: vec![mig, 0.5 * mig, loss, 0.5, 0.6 + mig],
                    ..Row::named(format!("{method} {seed}"), method, "shapes")
                });
            }
        }
        let number_keys =
            ["mig", "sap", "train/reconstruction", "downstream_accuracy_100", "downstream_accuracy_1000"];
        let number_keys = number_keys.map(str::to_owned).to_vec();
        let table = Table { number_keys, rows, ..Table::default() };
        let view = StudyView::new(&table);
        let keys = ["mig".to_owned()];
        for (runs, expected) in [(0..4, 1.0), (4..8, -1.0)] {
            let runs: Vec<usize> = runs.collect();
            let found = rank_correlations(&table, &runs, &keys, &["train/reconstruction".to_owned()]);
            assert!((found.values[[0, 0]] - expected).abs() < 1e-12, "{found:?}");
        }
        let html = section(&view).page_section().unwrap().content;
        let after = html.split_once("With unsupervised quantities, within a method").unwrap().1;
        // A map for each of the two methods, in the order of the study.
        let place = |word: &str| after.find(word).unwrap_or_else(|| panic!("{word}: {after}"));
        assert!(place("factor-vae") < place("beta-vae"));
        let html = super::super::downstream::section(&view).unwrap().page_section().unwrap().content;
        assert!(
            html.contains("Scores and the accuracy of gradient-boosted trees, within a method"),
            "{html}"
        );
    }
}
