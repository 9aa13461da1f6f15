//! Scores by method, over all hyper-parameters and seeds, and by data set.

use super::section::{Block, HOW_TO_SCORE, StudySection};
use super::view::StudyView;
use crate::chart::box_plot::{self, BoxGroup};
use crate::chart::svg::Svg;
use crate::labels::{label, labels, listed};
use unbraid::metrics::Direction;
use unbraid_study::analysis::groups::{Part, distributions, groups};
use unbraid_study::analysis::quantities::{RECONSTRUCTION, direction};

const HEADING: &str = "Scores by method";

/// Box plots of every score, pooled over everything but the method (Hartmann, Fig. 7; thesis, Fig. 5.14).
pub(crate) fn methods(view: &StudyView<'_>) -> StudySection {
    let mut keys = view.scores();
    keys.extend(view.has(RECONSTRUCTION).then(|| RECONSTRUCTION.to_owned()));
    if keys.is_empty() {
        return StudySection::missing(
            "methods",
            HEADING,
            format!("No finished run has scores yet. {HOW_TO_SCORE}"),
        );
    }
    let data: Vec<&str> = view.data.iter().map(String::as_str).collect();
    let mut caption = legend(view);
    if view.data.len() > 1 && view.has(RECONSTRUCTION) {
        caption.push_str(" Reconstruction losses of different data sets are not comparable: their panel shows that, and no more.");
    }
    let charts = keys.iter().map(|key| boxes(view, &view.rows, &data, key)).collect();
    StudySection {
        id: "methods",
        heading: HEADING,
        introduction: "One row for each method, over all its hyper-parameters and seeds. A box goes from the lower to the \
                       upper quartile, its line is the median, its triangle the mean, and its whiskers end at the furthest \
                       runs within 1.5 times the interquartile range. Where boxes overlap, a lucky run of one method beats an unlucky run of the \
                       other. As in Hartmann, Fig. 7, and the thesis, Fig. 5.14."
            .to_owned(),
        blocks: vec![Block::charts("scores-by-method", "All runs", &caption, charts)],
    }
}

/// The same on each data set, and of all values of the scores that papers show first together (Hartmann, Fig.
/// 8). `None` if there is only one data set.
pub(crate) fn data_sets(view: &StudyView<'_>) -> Option<StudySection> {
    let keys = view.headlines_and_reconstruction();
    if view.data.len() < 2 || keys.is_empty() {
        return None;
    }
    let shown = view.headlines();
    let mut blocks = Vec::new();
    if shown.len() > 1 {
        let charts = view.data.iter().map(|data| pooled_boxes(view, data, &shown)).collect();
        let caption = format!(
            "Every value of {} of every run is one value of its box, whatever the scales of the scores.",
            listed(&labels(&shown))
        );
        blocks.push(Block::charts("pooled-scores-by-data", "All scores together", &caption, charts));
    }
    for data in &view.data {
        let rows = view.rows_on(data);
        let charts = keys.iter().map(|key| boxes(view, &rows, &[data.as_str()], key)).collect();
        blocks.push(Block::charts("scores-by-data", data.as_str(), &legend(view), charts));
    }
    Some(StudySection {
        id: "data",
        heading: "Scores by data set",
        introduction:
            "Whether the order of the methods is the same on every data set. As in Hartmann, Fig. 8."
                .to_owned(),
        blocks,
    })
}

fn legend(view: &StudyView<'_>) -> String {
    let mut text = String::from("Point at a row to read its numbers.");
    if !view.shared_data().is_empty() {
        text.push_str(" Diamonds are published means, each of one value of the hyper-parameter.");
    }
    if view.scores().iter().any(|key| view.chance(&view.rows, key).is_some()) {
        text.push_str(
            " Dashed, where it is of one data set: the chance level, the same score with the factors of all points \
             shuffled, mean over the runs.",
        );
    }
    text
}

fn boxes(view: &StudyView<'_>, scored: &[usize], data: &[&str], key: &str) -> Svg {
    let found = groups(view.table, scored, &[Part::Method]);
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
    // What chance gives differs from one data set to the next.
    let chance = if data.len() == 1 { view.chance(scored, key) } else { None };
    box_plot::draw_with_chance(&label(key), axis_title(key), &rows, chance)
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

/// Box plots of all values of several scores together.
fn pooled_boxes(view: &StudyView<'_>, data: &str, keys: &[String]) -> Svg {
    let boxes: Vec<BoxGroup> = pooled(view, data, keys)
        .into_iter()
        .map(|(method, values)| BoxGroup {
            colour: view.colour(&method),
            name: method,
            values,
            counted: "value",
            ..BoxGroup::default()
        })
        .collect();
    box_plot::draw(data, "all scores", &boxes)
}

/// All values of several scores on a data set, by method.
fn pooled(view: &StudyView<'_>, data: &str, keys: &[String]) -> Vec<(String, Vec<f64>)> {
    groups(view.table, &view.rows_on(data), &[Part::Method])
        .into_iter()
        .map(|group| {
            let values = keys.iter().flat_map(|key| view.values(&group.rows, key)).collect();
            (group.labels.into_iter().next().unwrap_or_default(), values)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use unbraid_study::{Row, Table};

    #[test]
    fn scores_are_pooled_value_by_value() {
        let row = |method: &str, data: &str, numbers: [f64; 2]| Row {
            numbers: numbers.to_vec(),
            ..Row::named(format!("{method} {data} {}", numbers[0]), method, data)
        };
        let table = Table {
            setting_keys: Vec::new(),
            number_keys: ["mig", "sap"].map(str::to_owned).to_vec(),
            rows: vec![
                row("a", "one", [0.1, 0.9]),
                row("a", "one", [0.2, f64::NAN]),
                row("b", "one", [0.3, 0.4]),
                row("a", "two", [0.5, 0.6]),
            ],
        };
        let view = StudyView::new(&table);
        let keys = ["mig", "sap"].map(str::to_owned);
        let mut found = pooled(&view, "one", &keys);
        found[0].1.retain(|value| value.is_finite());
        assert_eq!(found, [("a".to_owned(), vec![0.1, 0.2, 0.9]), ("b".to_owned(), vec![0.3, 0.4])]);
        // The mean of each run would be 0.5 and nothing; that of all values is 0.4.
        assert!((found[0].1.iter().sum::<f64>() / 3.0 - 0.4).abs() < 1e-15);
        let chart = pooled_boxes(&view, "one", &keys).inline();
        assert!(chart.contains("one: medians a 0.2000, b 0.3500") && chart.contains("3 values"), "{chart}");
    }
}
