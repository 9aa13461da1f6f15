//! How much of the variance of a score is due to the method, the hyper-parameter and the seed.

use super::section::{Block, HOW_TO_SCORE, StudySection};
use super::view::StudyView;
use crate::chart::stacked_shares;
use crate::chart::svg::Svg;
use crate::labels::label;
use unbraid_study::analysis::variance::{VarianceShares, variance_shares};

const HEADING: &str = "Explained variance";
const PARTS: [&str; 3] = ["method", "hyper-parameter", "seed"];

/// Shares of the variance of each score (Locatello et al. 2019, section 5.3, whose runs Hartmann takes up).
pub(crate) fn section(view: &StudyView<'_>) -> StudySection {
    let together = "All data sets";
    let mut charts: Vec<Svg> = Vec::new();
    if let [data] = view.data.as_slice() {
        charts.extend(chart(view, data, &view.rows));
    } else {
        charts.extend(chart(view, together, &view.rows));
        for data in &view.data {
            charts.extend(chart(view, data, &view.rows_on(data)));
        }
    }
    if charts.is_empty() {
        let why =
            format!("Too few finished runs: several seeds of several settings are needed. {HOW_TO_SCORE}");
        return StudySection::missing("variance", HEADING, why);
    }
    let chance = view.scores().iter().find_map(|key| variance_shares(view.table, &view.rows, key));
    let caption = chance.map_or_else(String::new, |shares| by_chance(&shares));
    StudySection {
        id: "variance",
        heading: HEADING,
        introduction: "How much of the variance of a score the method explains, how much more the hyper-parameter explains, \
                       and how much is left to the seed. Locatello et al. 2019, section 5.3, did this for the runs that \
                       Hartmann compares; the thesis, section 5.5, asks the same question."
            .to_owned(),
        blocks: vec![Block::charts("variance", "Shares of the variance", &caption, charts)],
    }
}

/// The shares that few seeds would show by chance.
fn by_chance(shares: &VarianceShares) -> String {
    format!(
        "With this many runs, a method without any effect would seem to explain {:.0} % by chance, and a hyper-parameter \
         without any effect {:.0} %.",
        100.0 * shares.method_by_chance,
        100.0 * shares.hyper_parameter_by_chance
    )
}

fn chart(view: &StudyView<'_>, title: &str, rows: &[usize]) -> Option<Svg> {
    let shares: Vec<(String, Vec<f64>)> = view
        .scores()
        .iter()
        .filter_map(|key| {
            let found = variance_shares(view.table, rows, key)?;
            Some((label(key), vec![found.method, found.hyper_parameter, found.seed]))
        })
        .collect();
    (!shares.is_empty()).then(|| stacked_shares::draw(title, &PARTS, &shares))
}
