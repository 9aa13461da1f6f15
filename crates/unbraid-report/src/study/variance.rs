//! How much of a score is the method, the hyper-parameter and the seed.

use super::chapter::{Block, Chapter};
use super::names::name;
use super::subject::Subject;
use crate::report::shares;
use crate::report::svg::Svg;
use crate::study::analysis::variance::{VarianceShares, variance_shares};

const HEADING: &str = "What explains the scores";
const PARTS: [&str; 3] = ["method", "hyper-parameter", "seed"];

/// Shares of the variance of each score (Locatello et al. 2019, section 5.3, whose runs Hartmann takes up).
pub fn chapter(subject: &Subject<'_>) -> Chapter {
    let together = "All data sets";
    let mut charts: Vec<Svg> = Vec::new();
    if let [data] = subject.data.as_slice() {
        charts.extend(chart(subject, data, &subject.rows));
    } else {
        charts.extend(chart(subject, together, &subject.rows));
        for data in &subject.data {
            charts.extend(chart(subject, data, &subject.rows_on(data)));
        }
    }
    if charts.is_empty() {
        let why = "Too few finished runs: several seeds of several settings are needed.";
        return Chapter::missing("variance", HEADING, why);
    }
    let chance = subject.scores().iter().find_map(|key| variance_shares(subject.table, &subject.rows, key));
    let caption = chance.map_or_else(String::new, |shares| by_chance(&shares));
    Chapter {
        id: "variance",
        heading: HEADING,
        introduction: "How much of the variance of a score disappears once the method is known, how much more once its \
                       hyper-parameter is known too, and how much is left to the seed. Locatello et al. 2019, section 5.3, \
                       did this for the runs that Hartmann compares; the thesis, section 5.5, asks the same question."
            .to_owned(),
        blocks: vec![Block::charts("variance", "Shares of the variance", &caption, charts)],
    }
}

/// What few seeds pretend.
fn by_chance(shares: &VarianceShares) -> String {
    format!(
        "With as many runs as here, a method without any influence would seem to explain {:.0} %, and a hyper-parameter \
         without any {:.0} %.",
        100.0 * shares.method_by_chance,
        100.0 * shares.hyper_parameter_by_chance
    )
}

fn chart(subject: &Subject<'_>, title: &str, rows: &[usize]) -> Option<Svg> {
    let shares: Vec<(String, Vec<f64>)> = subject
        .scores()
        .iter()
        .filter_map(|key| {
            let found = variance_shares(subject.table, rows, key)?;
            Some((name(key), vec![found.method, found.hyper_parameter, found.seed]))
        })
        .collect();
    (!shares.is_empty()).then(|| shares::draw(title, &PARTS, &shares))
}
