//! Scores against reconstruction.

use super::chapter::{Block, Chapter};
use super::hyper_parameters::{first_value, tell_apart, with_others};
use super::names::{counted, name};
use super::subject::Subject;
use crate::report::labelled::{self, Axes, LabelledPoint, LabelledSeries};
use crate::report::svg::Svg;
use crate::study::analysis::curves::{Curve, curves};
use crate::study::analysis::quantities::RECONSTRUCTION;

const HEADING: &str = "Scores against reconstruction";
/// More dots than this only cover each other; every so many runs one is drawn.
const MOST_DOTS: usize = 300;

/// Means with confidence intervals (Kumar, Fig. 1; Mathieu, Fig. 2), and single runs (thesis, Fig. 5.9).
pub fn chapter(subject: &Subject<'_>) -> Chapter {
    let keys = subject.headlines();
    if keys.is_empty() || !subject.has(RECONSTRUCTION) {
        let why = "No finished run has both a score and a reconstruction loss.";
        return Chapter::missing("trade-off", HEADING, why);
    }
    let mut blocks = Vec::new();
    for data in &subject.data {
        let rows = subject.rows_on(data);
        let on = if subject.data.len() > 1 { format!(" on {data}") } else { String::new() };
        let charts = keys.iter().map(|key| means(subject, &rows, key)).collect();
        blocks.push(Block::charts(
            "trade-off",
            format!("Means over seeds{on}"),
            "The word beside a point is its hyper-parameter; bars are 95 % confidence intervals of the mean score. A bar \
             that leaves the frame goes on. Up and to the left is better, unless the score is better when lower.",
            charts,
        ));
        let stride = rows.len().div_ceil(MOST_DOTS).max(1);
        let thinned = if stride > 1 {
            format!("Each dot is a run; of {}, one in {stride} is drawn.", counted(rows.len(), "run"))
        } else {
            "Each dot is a run.".to_owned()
        };
        let shown: Vec<usize> = rows.into_iter().step_by(stride).collect();
        let charts = keys.iter().map(|key| single_runs(subject, &shown, key)).collect();
        blocks.push(Block::charts("single-runs", format!("Single runs{on}"), &thinned, charts));
    }
    Chapter {
        id: "trade-off",
        heading: HEADING,
        introduction: "Whether disentanglement is paid for with reconstruction. Means with hyper-parameters as labels as \
                       Kumar, Fig. 1, with 95 % confidence intervals as Mathieu, Fig. 2; single runs as the thesis, \
                       Fig. 5.9."
            .to_owned(),
        blocks,
    }
}

fn axes(title: &str) -> Axes<'_> {
    Axes { vertical: title, horizontal: "reconstruction loss, nats" }
}

fn means(subject: &Subject<'_>, rows: &[usize], key: &str) -> Svg {
    let mut series: Vec<LabelledSeries> = curves(subject.table, rows, &[RECONSTRUCTION, key])
        .iter()
        .map(|curve| along(subject, curve))
        .collect();
    tell_apart(series.iter_mut().map(|series| &mut series.colour));
    labelled::draw(axes(&name(key)), &series)
}

fn along(subject: &Subject<'_>, curve: &Curve) -> LabelledSeries {
    let points = curve.points.iter().filter_map(|point| {
        let [Some(loss), Some(score)] = point.means.as_slice() else { return None };
        Some(LabelledPoint {
            x: loss.mean,
            y: score.mean,
            interval: score.confidence(),
            label: first_value(point),
            words: counted(score.count, "run"),
        })
    });
    LabelledSeries {
        name: with_others(&curve.method, &curve.others),
        colour: subject.colour(&curve.method),
        points: points.collect(),
        joined: true,
    }
}

/// Runs without labels, in the colours of their methods.
fn single_runs(subject: &Subject<'_>, rows: &[usize], key: &str) -> Svg {
    labelled::draw(axes(&name(key)), &runs_by_method(subject, rows, RECONSTRUCTION, key))
}

/// Two numbers of each run, by method.
pub fn runs_by_method(subject: &Subject<'_>, rows: &[usize], x: &str, y: &str) -> Vec<LabelledSeries> {
    let (across, up) = (subject.values(rows, x), subject.values(rows, y));
    let series = |method: &str| {
        let own = (0..rows.len()).filter(|&run| subject.table.rows[rows[run]].method == method);
        let point = |run: usize| LabelledPoint {
            x: across[run],
            y: up[run],
            interval: None,
            label: String::new(),
            words: subject.table.rows[rows[run]].name.clone(),
        };
        LabelledSeries {
            name: method.to_owned(),
            colour: subject.colour(method),
            points: own.map(point).filter(|point| point.x.is_finite() && point.y.is_finite()).collect(),
            joined: false,
        }
    };
    subject.methods_of(rows).into_iter().map(series).collect()
}
