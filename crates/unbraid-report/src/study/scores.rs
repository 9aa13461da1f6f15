//! Scores per method, over hyper-parameters and seeds, and per data set.

use super::chapter::{Block, Chapter};
use super::names::{listed, name, names};
use super::subject::Subject;
use crate::report::box_plot::{self, Group};
use crate::report::svg::Svg;
use crate::study::analysis::groups::{Part, distributions, groups};
use crate::study::analysis::quantities::{RECONSTRUCTION, direction};
use unbraid_metrics::registry::Direction;

const HEADING: &str = "Scores of the methods";

/// Box plots of every score, pooled over everything but the method (Hartmann, Fig. 7; thesis, Fig. 5.14).
pub fn methods(subject: &Subject<'_>) -> Chapter {
    let mut keys = subject.scores();
    // Losses of different data sets have nothing in common.
    if subject.data.len() == 1 && subject.has(RECONSTRUCTION) {
        keys.push(RECONSTRUCTION.to_owned());
    }
    if keys.is_empty() {
        return Chapter::missing("methods", HEADING, "No finished run has scores yet.");
    }
    let data: Vec<&str> = subject.data.iter().map(String::as_str).collect();
    let charts = keys.iter().map(|key| boxes(subject, &subject.rows, &data, key)).collect();
    Chapter {
        id: "methods",
        heading: HEADING,
        introduction: "One row for each method, over all its hyper-parameters and seeds. A box reaches from the lower to the \
                       upper quartile, its line is the median, its whiskers end at the last run within 1.5 times the box. \
                       Where boxes overlap, a lucky run of one method beats an unlucky one of the other. As Hartmann, \
                       Fig. 7, and the thesis, Fig. 5.14."
            .to_owned(),
        blocks: vec![Block::charts("scores-by-method", "All runs", legend(subject), charts)],
    }
}

/// The same on each data set, and of the mean of the scores that papers show first (Hartmann, Fig. 8). Nothing if there is
/// one data set only.
pub fn data_sets(subject: &Subject<'_>) -> Option<Chapter> {
    let keys = subject.headlines_and_reconstruction();
    if subject.data.len() < 2 || keys.is_empty() {
        return None;
    }
    let shown = subject.headlines();
    let mut blocks = Vec::new();
    if shown.len() > 1 {
        let charts = subject.data.iter().map(|data| mean_boxes(subject, data, &shown)).collect();
        let caption = format!("The mean of {} of each run.", listed(&names(&shown)));
        blocks.push(Block::charts("mean-score-by-data", "All scores together", &caption, charts));
    }
    for data in &subject.data {
        let rows = subject.rows_on(data);
        let charts = keys.iter().map(|key| boxes(subject, &rows, &[data.as_str()], key)).collect();
        blocks.push(Block::charts("scores-by-data", data.as_str(), legend(subject), charts));
    }
    Some(Chapter {
        id: "data",
        heading: "Scores on each data set",
        introduction: "Whether the order of the methods is the same on every data set. As Hartmann, Fig. 8."
            .to_owned(),
        blocks,
    })
}

fn legend(subject: &Subject<'_>) -> &'static str {
    if subject.shared_data().is_empty() {
        "Point at a row to read its numbers."
    } else {
        "Point at a row to read its numbers. Diamonds are means that others published for one hyper-parameter each."
    }
}

fn boxes(subject: &Subject<'_>, rows: &[usize], data: &[&str], key: &str) -> Svg {
    let found = groups(subject.table, rows, &[Part::Method]);
    let values = distributions(subject.table, &found, key);
    let rows: Vec<Group> = found
        .iter()
        .zip(values)
        .map(|(group, distribution)| {
            let method = &group.labels[0];
            let published = data.iter().flat_map(|data| subject.published(data, method, key));
            Group {
                name: method.clone(),
                values: distribution.values,
                colour: subject.colour(method),
                published: published
                    .map(|found| (format!("{} {}", found.source, found.setting), found.mean.mean))
                    .collect(),
                ..Group::default()
            }
        })
        .collect();
    box_plot::draw(&name(key), axis(key), &rows)
}

/// What stands below the axis of a score.
pub fn axis(key: &str) -> &'static str {
    match (key, direction(key)) {
        (RECONSTRUCTION, _) => "nats per image, lower is better",
        (_, Direction::Higher) => "higher is better",
        (_, Direction::Lower) => "lower is better",
        (_, Direction::Neither) => "",
    }
}

/// Box plots of the mean of several scores of each run that has all of them.
fn mean_boxes(subject: &Subject<'_>, data: &str, keys: &[String]) -> Svg {
    let rows = subject.rows_on(data);
    let boxes: Vec<Group> = groups(subject.table, &rows, &[Part::Method])
        .iter()
        .map(|group| {
            let columns: Vec<Vec<f64>> = keys.iter().map(|key| subject.values(&group.rows, key)).collect();
            let mean =
                |run: usize| columns.iter().map(|column| column[run]).sum::<f64>() / columns.len() as f64;
            let method = &group.labels[0];
            Group {
                name: method.clone(),
                values: (0..group.rows.len()).map(mean).collect(),
                colour: subject.colour(method),
                ..Group::default()
            }
        })
        .collect();
    box_plot::draw(data, "mean of the scores", &boxes)
}
