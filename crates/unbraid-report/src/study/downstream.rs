//! Downstream accuracy: factors predicted from codes with few and with many labels.

use super::correlations;
use super::section::{Block, StudySection};
use super::view::StudyView;
use crate::chart::bands::{self, Band, BandPoint};
use crate::chart::box_plot::{self, BoxGroup};
use crate::chart::svg::Svg;
use unbraid_study::analysis::downstream::{Learner, downstream_accuracies, sample_efficiencies};
use unbraid_study::analysis::groups::{Part, groups};

const HEADING: &str = "Downstream accuracy";

/// Accuracy over the number of labels, sample efficiency, and how both correlate with scores (thesis, Fig.
/// 5.19). A section without these scores says how to compute them; `None` where that is not possible.
pub(crate) fn section(view: &StudyView<'_>) -> Option<StudySection> {
    let mut blocks = Vec::new();
    for (learner, words, stem) in [
        (Learner::Boosting, "gradient-boosted trees", "downstream"),
        (Learner::Logistic, "logistic regression", "downstream_logistic"),
    ] {
        let mut charts = Vec::new();
        for data in &view.data {
            charts.extend(accuracy(view, data, learner));
            charts.extend(efficiency(view, data, learner));
        }
        if charts.is_empty() {
            continue;
        }
        let caption = "Curves: mean accuracy over all factors and runs of a method by the number of labels, with its 95 % \
                       confidence interval. Boxes: accuracy with 100 labels divided by accuracy with the most, which is 1 \
                       if few labels are as good as many.";
        blocks.push(Block::charts("downstream", format!("Accuracy of {words}"), caption, charts));
        let accuracies: Vec<String> = view
            .table
            .number_keys
            .iter()
            .filter(|key| {
                key.starts_with(&format!("{stem}_accuracy_")) || **key == format!("{stem}_sample_efficiency")
            })
            .filter(|key| view.has(key))
            .cloned()
            .collect();
        let mut scores = view.scores();
        scores.retain(|key| !key.starts_with("downstream"));
        if !accuracies.is_empty() && !scores.is_empty() {
            let maps = view.data.iter().map(|data| correlations::map(view, data, &scores, &accuracies));
            let caption =
                "Spearman's rank correlation over runs: whether a better score means a better accuracy.";
            blocks.push(Block::matrices(
                "downstream-correlations",
                format!("Scores and the accuracy of {words}"),
                caption,
                maps.collect(),
            ));
            blocks.extend(correlations::within_methods(
                view,
                "downstream-correlations-by-method",
                format!("Scores and the accuracy of {words}, within a method"),
                (&scores, &accuracies),
            ));
        }
    }
    if blocks.is_empty() {
        if view.rows.is_empty() || view.table.is_imported_only() {
            return None;
        }
        let why = "No run has the accuracy of predictions from its codes. unbraid evaluate RUN --metrics \
                   downstream,downstream_logistic computes it for a run; for a whole study, name these metrics in \
                   evaluation.metrics of its study.toml before it is run. As in the thesis, Fig. 5.19.";
        return Some(StudySection::missing("downstream", HEADING, why));
    }
    Some(StudySection {
        id: "downstream",
        heading: HEADING,
        introduction: "How well the factors are predicted from the codes, by the number of labels. As in the thesis, Fig. 5.19."
            .to_owned(),
        blocks,
    })
}

fn accuracy(view: &StudyView<'_>, data: &str, learner: Learner) -> Option<Svg> {
    let found = downstream_accuracies(view.table, &view.rows_on(data), learner);
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
                colour: view.colour(&method.method),
                points: points.collect(),
            }
        })
        .collect();
    let words: Vec<String> = labels.iter().map(ToString::to_string).collect();
    let title = if view.data.len() > 1 { format!("Accuracy on {data}") } else { "Accuracy".to_owned() };
    Some(bands::draw(&title, "labels", &words, "95 % confidence", &bands))
}

fn efficiency(view: &StudyView<'_>, data: &str, learner: Learner) -> Option<Svg> {
    let values = sample_efficiencies(view.table, learner);
    let rows: Vec<usize> = view.rows_on(data).into_iter().filter(|&row| values[row].is_finite()).collect();
    let boxes: Vec<BoxGroup> = groups(view.table, &rows, &[Part::Method])
        .into_iter()
        .map(|group| BoxGroup {
            colour: view.colour(&group.labels[0]),
            name: group.labels[0].clone(),
            values: group.rows.iter().map(|&row| values[row]).collect(),
            ..BoxGroup::default()
        })
        .collect();
    (!boxes.is_empty()).then(|| box_plot::draw("Sample efficiency", "higher is better", &boxes))
}
