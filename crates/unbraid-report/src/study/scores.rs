//! Scores by method, over all hyper-parameters and seeds, and by data set.

use super::chapter::{Block, Chapter};
use super::view::StudyView;
use crate::chart::box_plot::{self, BoxGroup};
use crate::chart::svg::Svg;
use crate::labels::{label, labels, listed};
use unbraid::metrics::Direction;
use unbraid_study::analysis::groups::{Part, distributions, groups};
use unbraid_study::analysis::quantities::{RECONSTRUCTION, direction};

const HEADING: &str = "Scores by method";

/// Box plots of every score, pooled over everything but the method (Hartmann, Fig. 7; thesis, Fig. 5.14).
pub(crate) fn methods(view: &StudyView<'_>) -> Chapter {
    let mut keys = view.scores();
    // Losses on different data sets are not comparable.
    if view.data.len() == 1 && view.has(RECONSTRUCTION) {
        keys.push(RECONSTRUCTION.to_owned());
    }
    if keys.is_empty() {
        return Chapter::missing("methods", HEADING, "No finished run has scores yet.");
    }
    let data: Vec<&str> = view.data.iter().map(String::as_str).collect();
    let charts = keys.iter().map(|key| boxes(view, &view.rows, &data, key)).collect();
    Chapter {
        id: "methods",
        heading: HEADING,
        introduction: "One row for each method, over all its hyper-parameters and seeds. A box goes from the lower to the \
                       upper quartile, its line is the median, and its whiskers end at the furthest runs within 1.5 times \
                       the interquartile range. Where boxes overlap, a lucky run of one method beats an unlucky run of the \
                       other. As in Hartmann, Fig. 7, and the thesis, Fig. 5.14."
            .to_owned(),
        blocks: vec![Block::charts("scores-by-method", "All runs", legend(view), charts)],
    }
}

/// The same on each data set, and of the mean of the scores that papers show first (Hartmann, Fig. 8). `None` if there is
/// only one data set.
pub(crate) fn data_sets(view: &StudyView<'_>) -> Option<Chapter> {
    let keys = view.headlines_and_reconstruction();
    if view.data.len() < 2 || keys.is_empty() {
        return None;
    }
    let shown = view.headlines();
    let mut blocks = Vec::new();
    if shown.len() > 1 {
        let charts = view.data.iter().map(|data| mean_boxes(view, data, &shown)).collect();
        let caption = format!("The mean of {} of each run.", listed(&labels(&shown)));
        blocks.push(Block::charts("mean-score-by-data", "Mean of the scores", &caption, charts));
    }
    for data in &view.data {
        let rows = view.rows_on(data);
        let charts = keys.iter().map(|key| boxes(view, &rows, &[data.as_str()], key)).collect();
        blocks.push(Block::charts("scores-by-data", data.as_str(), legend(view), charts));
    }
    Some(Chapter {
        id: "data",
        heading: "Scores by data set",
        introduction:
            "Whether the order of the methods is the same on every data set. As in Hartmann, Fig. 8."
                .to_owned(),
        blocks,
    })
}

fn legend(view: &StudyView<'_>) -> &'static str {
    if view.shared_data().is_empty() {
        "Point at a row to read its numbers."
    } else {
        "Point at a row to read its numbers. Diamonds are published means, each of one value of the hyper-parameter."
    }
}

fn boxes(view: &StudyView<'_>, rows: &[usize], data: &[&str], key: &str) -> Svg {
    let found = groups(view.table, rows, &[Part::Method]);
    let values = distributions(view.table, &found, key);
    let rows: Vec<BoxGroup> = found
        .iter()
        .zip(values)
        .map(|(group, distribution)| {
            let method = &group.labels[0];
            let published = data.iter().flat_map(|data| view.published(data, method, key));
            BoxGroup {
                name: method.clone(),
                values: distribution.values,
                colour: view.colour(method),
                published: published
                    .map(|found| (format!("{} {}", found.source, found.setting), found.mean.mean))
                    .collect(),
                ..BoxGroup::default()
            }
        })
        .collect();
    box_plot::draw(&label(key), axis_title(key), &rows)
}

/// The title of the axis of a score.
pub(crate) fn axis_title(key: &str) -> &'static str {
    match (key, direction(key)) {
        (RECONSTRUCTION, _) => "nats per image, lower is better",
        (_, Direction::Higher) => "higher is better",
        (_, Direction::Lower) => "lower is better",
        (_, Direction::Neither) => "",
    }
}

/// Box plots of the mean of several scores of each run that has all of them.
fn mean_boxes(view: &StudyView<'_>, data: &str, keys: &[String]) -> Svg {
    let rows = view.rows_on(data);
    let boxes: Vec<BoxGroup> = groups(view.table, &rows, &[Part::Method])
        .iter()
        .map(|group| {
            let columns: Vec<Vec<f64>> = keys.iter().map(|key| view.values(&group.rows, key)).collect();
            let mean =
                |run: usize| columns.iter().map(|column| column[run]).sum::<f64>() / columns.len() as f64;
            let method = &group.labels[0];
            BoxGroup {
                name: method.clone(),
                values: (0..group.rows.len()).map(mean).collect(),
                colour: view.colour(method),
                ..BoxGroup::default()
            }
        })
        .collect();
    box_plot::draw(data, "mean of the scores", &boxes)
}
