//! Scores against reconstruction.

use super::chapter::{Block, Chapter};
use super::hyper_parameters::{first_value, tell_apart, with_others};
use super::view::StudyView;
use crate::chart::labelled_points::{self, AxisTitles, LabelledPoint, LabelledSeries};
use crate::chart::svg::Svg;
use crate::labels::label;
use crate::numbers::counted;
use unbraid_study::analysis::curves::{Curve, curves};
use unbraid_study::analysis::quantities::RECONSTRUCTION;

const HEADING: &str = "Scores against reconstruction";
/// More dots than this would hide each other; of more runs, one in so many is drawn.
const MOST_DOTS: usize = 300;

/// Means with confidence intervals (Kumar, Fig. 1; Mathieu, Fig. 2), and single runs (thesis, Fig. 5.9).
pub(crate) fn chapter(view: &StudyView<'_>) -> Chapter {
    let keys = view.headlines();
    if keys.is_empty() || !view.has(RECONSTRUCTION) {
        let why = "No finished run has both a score and a reconstruction loss.";
        return Chapter::missing("trade-off", HEADING, why);
    }
    let mut blocks = Vec::new();
    for data in &view.data {
        let rows = view.rows_on(data);
        let on = if view.data.len() > 1 { format!(" on {data}") } else { String::new() };
        let charts = keys.iter().map(|key| means(view, &rows, key)).collect();
        blocks.push(Block::charts(
            "trade-off",
            format!("Means over seeds{on}"),
            "The label of a point is its hyper-parameter; bars are 95 % confidence intervals of the mean score, cut at the \
             frame. Up and to the left is better, unless lower scores are better.",
            charts,
        ));
        let stride = rows.len().div_ceil(MOST_DOTS).max(1);
        let thinned = if stride > 1 {
            format!("Each dot is a run; of {}, one in {stride} is drawn.", counted(rows.len(), "run"))
        } else {
            "Each dot is a run.".to_owned()
        };
        let shown: Vec<usize> = rows.into_iter().step_by(stride).collect();
        let charts = keys.iter().map(|key| single_runs(view, &shown, key)).collect();
        blocks.push(Block::charts("single-runs", format!("Single runs{on}"), &thinned, charts));
    }
    Chapter {
        id: "trade-off",
        heading: HEADING,
        introduction: "The trade-off between disentanglement and reconstruction. Means with hyper-parameters as labels as in \
                       Kumar, Fig. 1, with 95 % confidence intervals as in Mathieu, Fig. 2; single runs as in the thesis, \
                       Fig. 5.9."
            .to_owned(),
        blocks,
    }
}

fn axes(title: &str) -> AxisTitles<'_> {
    AxisTitles { vertical: title, horizontal: "reconstruction loss, nats" }
}

fn means(view: &StudyView<'_>, rows: &[usize], key: &str) -> Svg {
    let mut series: Vec<LabelledSeries> =
        curves(view.table, rows, &[RECONSTRUCTION, key]).iter().map(|curve| along(view, curve)).collect();
    tell_apart(series.iter_mut().map(|series| &mut series.colour));
    labelled_points::draw(axes(&label(key)), &series)
}

fn along(view: &StudyView<'_>, curve: &Curve) -> LabelledSeries {
    let points = curve.points.iter().filter_map(|point| {
        let [Some(loss), Some(score)] = point.means.as_slice() else { return None };
        Some(LabelledPoint {
            x: loss.mean,
            y: score.mean,
            interval: score.confidence(),
            label: first_value(point),
            note: counted(score.count, "run"),
        })
    });
    LabelledSeries {
        name: with_others(&curve.method, &curve.others),
        colour: view.colour(&curve.method),
        points: points.collect(),
        joined: true,
    }
}

/// Runs without labels, in the colours of their methods.
fn single_runs(view: &StudyView<'_>, rows: &[usize], key: &str) -> Svg {
    labelled_points::draw(axes(&label(key)), &runs_by_method(view, rows, RECONSTRUCTION, key))
}

/// Two numbers of each run, by method.
pub(crate) fn runs_by_method(view: &StudyView<'_>, rows: &[usize], x: &str, y: &str) -> Vec<LabelledSeries> {
    let (across, up) = (view.values(rows, x), view.values(rows, y));
    let series = |method: &str| {
        let own = (0..rows.len()).filter(|&run| view.table.rows[rows[run]].method == method);
        let point = |run: usize| LabelledPoint {
            x: across[run],
            y: up[run],
            interval: None,
            label: String::new(),
            note: view.table.rows[rows[run]].name.clone(),
        };
        LabelledSeries {
            name: method.to_owned(),
            colour: view.colour(method),
            points: own.map(point).filter(|point| point.x.is_finite() && point.y.is_finite()).collect(),
            joined: false,
        }
    };
    view.methods_of(rows).into_iter().map(series).collect()
}
