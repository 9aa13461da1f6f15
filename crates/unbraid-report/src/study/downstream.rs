//! What codes are good for: predictions from few and from many labels.

use super::chapter::{Block, Chapter};
use super::correlations;
use super::subject::Subject;
use crate::report::bands::{self, Band, BandPoint};
use crate::report::box_plot::{self, Group};
use crate::report::svg::Svg;
use crate::study::analysis::downstream::{Learner, downstream_accuracies, sample_efficiencies};
use crate::study::analysis::groups::{Part, groups};

/// Accuracy over the number of labels, sample efficiency, and how both go with scores (thesis, Fig. 5.19). Nothing if no
/// run was scored so.
pub fn chapter(subject: &Subject<'_>) -> Option<Chapter> {
    let mut blocks = Vec::new();
    for (learner, words, stem) in [
        (Learner::Boosting, "gradient-boosted trees", "downstream"),
        (Learner::Logistic, "logistic regression", "downstream_logistic"),
    ] {
        let mut charts = Vec::new();
        for data in &subject.data {
            charts.extend(accuracy(subject, data, learner));
            charts.extend(efficiency(subject, data, learner));
        }
        if charts.is_empty() {
            continue;
        }
        let caption = "Curves: mean accuracy over all factors and runs of a method by the number of labels, with its 95 % \
                       confidence interval. Boxes: accuracy from 100 labels over accuracy from the most, which is 1 if \
                       few labels are as good as many.";
        blocks.push(Block::charts("downstream", format!("Accuracy of {words}"), caption, charts));
        let accuracies: Vec<String> = subject
            .table
            .number_keys
            .iter()
            .filter(|key| {
                key.starts_with(&format!("{stem}_accuracy_")) || **key == format!("{stem}_sample_efficiency")
            })
            .filter(|key| subject.has(key))
            .cloned()
            .collect();
        let mut scores = subject.scores();
        scores.retain(|key| !key.starts_with("downstream"));
        if !accuracies.is_empty() && !scores.is_empty() {
            let maps = subject.data.iter().map(|data| correlations::map(subject, data, &scores, &accuracies));
            let caption =
                "Spearman's rank correlation over runs: whether a better score means better predictions.";
            blocks.push(Block::matrices(
                "downstream-correlations",
                format!("Scores and the accuracy of {words}"),
                caption,
                maps.collect(),
            ));
        }
    }
    (!blocks.is_empty()).then(|| Chapter {
        id: "downstream",
        heading: "Usefulness for predictions",
        introduction: "How well the factors are predicted from the codes, by the number of labels. As the thesis, Fig. 5.19."
            .to_owned(),
        blocks,
    })
}

fn accuracy(subject: &Subject<'_>, data: &str, learner: Learner) -> Option<Svg> {
    let found = downstream_accuracies(subject.table, &subject.rows_on(data), learner);
    let mut labels: Vec<usize> =
        found.iter().flat_map(|method| method.accuracies.iter().map(|(labels, _)| *labels)).collect();
    labels.sort_unstable();
    labels.dedup();
    if labels.is_empty() {
        return None;
    }
    let bands: Vec<Band> = found
        .iter()
        .map(|method| {
            let points = method.accuracies.iter().filter_map(|(count, mean)| {
                let (low, high) = mean.confidence().unwrap_or((mean.mean, mean.mean));
                let place = labels.binary_search(count).ok()?;
                Some(BandPoint { place, mean: mean.mean, low, high, count: mean.count })
            });
            Band {
                name: method.method.clone(),
                colour: subject.colour(&method.method),
                points: points.collect(),
            }
        })
        .collect();
    let words: Vec<String> = labels.iter().map(ToString::to_string).collect();
    let title = if subject.data.len() > 1 { format!("Accuracy on {data}") } else { "Accuracy".to_owned() };
    Some(bands::draw(&title, "labels", &words, "95 % confidence", &bands))
}

fn efficiency(subject: &Subject<'_>, data: &str, learner: Learner) -> Option<Svg> {
    let values = sample_efficiencies(subject.table, learner);
    let rows: Vec<usize> = subject.rows_on(data).into_iter().filter(|&row| values[row].is_finite()).collect();
    let boxes: Vec<Group> = groups(subject.table, &rows, &[Part::Method])
        .into_iter()
        .map(|group| Group {
            colour: subject.colour(&group.labels[0]),
            name: group.labels[0].clone(),
            values: group.rows.iter().map(|&row| values[row]).collect(),
            ..Group::default()
        })
        .collect();
    (!boxes.is_empty()).then(|| box_plot::draw("Sample efficiency", "higher is better", &boxes))
}
