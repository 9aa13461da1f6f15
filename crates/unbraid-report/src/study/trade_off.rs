//! Scores against reconstruction.

use super::hyper_parameters::{first_value, tell_apart, with_others};
use super::section::{Block, HOW_TO_SCORE, StudySection};
use super::view::StudyView;
use crate::chart::labelled_points::{self, AxisTitles, LabelledPoint, LabelledSeries};
use crate::chart::svg::Svg;
use crate::labels::label;
use crate::numbers::counted;
use std::collections::HashMap;
use unbraid_study::analysis::curves::{Curve, curves};
use unbraid_study::analysis::quantities::{KL, RECONSTRUCTION, RECONSTRUCTION_ERROR};

const HEADING: &str = "Scores against reconstruction";
/// More dots than this would hide each other; of more runs, one in so many is drawn.
const MOST_DOTS: usize = 300;
/// Up to so many runs have their hyper-parameters written beside them.
const MOST_LABELS: usize = 100;

/// The scores of Kumar, Fig. 1 and 2.
const KUMAR: [&str; 2] = ["sap_kumar", "beta_vae_score"];

/// Means with confidence intervals (Mathieu, Fig. 2; over the error per pixel, Kumar, Fig. 1 and 2), and
/// single runs (thesis, Fig. 5.9).
pub(crate) fn section(view: &StudyView<'_>) -> StudySection {
    let keys = view.headlines();
    if keys.is_empty() || !view.has(RECONSTRUCTION) {
        let why = format!("No finished run has both a score and a reconstruction loss. {HOW_TO_SCORE}");
        return StudySection::missing("trade-off", HEADING, why);
    }
    let mut blocks = Vec::new();
    if view.has(KL) {
        let charts = view.data.iter().map(|data| plane(view, data)).collect();
        blocks.push(Block::charts(
            "rate-distortion",
            "Rate and distortion",
            "The rate is the KL divergence of posteriors from the prior, the distortion the reconstruction loss, both in nats \
             an image and means over seeds; a point has its hyper-parameter beside it. Bars are 95 % confidence intervals of \
             the mean distortion, cut at the frame: those of two seeds are often wider than the chart. A line that falls by \
             one nat of distortion for each nat of rate has a constant ELBO; methods further down and to the left are better \
             at both. As in the thesis, Fig. 4.2.",
            charts,
        ));
    }
    for data in &view.data {
        let rows = view.rows_on(data);
        let on = if view.data.len() > 1 { format!(" on {data}") } else { String::new() };
        let charts = keys.iter().map(|key| means(view, &rows, RECONSTRUCTION, key)).collect();
        blocks.push(Block::charts(
            "trade-off",
            format!("Means over seeds{on}"),
            "The label of a point is its hyper-parameter; bars are 95 % confidence intervals of the mean score, cut at the \
             frame. Up and to the left is better, unless lower scores are better.",
            charts,
        ));
        if view.has(RECONSTRUCTION_ERROR) {
            let keys = per_pixel_scores(view);
            let charts = keys.iter().map(|key| means(view, &rows, RECONSTRUCTION_ERROR, key));
            blocks.push(Block::charts(
                "trade-off-per-pixel",
                format!("Against the error per pixel{on}"),
                "The same against the mean squared error of a pixel, on the images that scores are computed on: those of the \
                 test split where evaluation.split asks for it. As in Kumar, Fig. 1 and 2.",
                charts.collect(),
            ));
        }
        let stride = rows.len().div_ceil(MOST_DOTS).max(1);
        let thinned = if stride > 1 {
            format!("Each dot is a run; of {}, one in {stride} is drawn.", counted(rows.len(), "run"))
        } else {
            "Each dot is a run.".to_owned()
        };
        let shown: Vec<usize> = rows.into_iter().step_by(stride).collect();
        let labelled = shown.len() <= MOST_LABELS;
        let charts = keys.iter().map(|key| single_runs(view, &shown, key, labelled)).collect();
        let thinned = if labelled { format!("{thinned} Its label is its hyper-parameter.") } else { thinned };
        blocks.push(Block::charts("single-runs", format!("Single runs{on}"), &thinned, charts));
    }
    StudySection {
        id: "trade-off",
        heading: HEADING,
        introduction: "The trade-off between disentanglement and reconstruction. Means with hyper-parameters as labels and \
                       95 % confidence intervals as in Mathieu, Fig. 2; single runs with theirs as in the thesis, Fig. 5.9, \
                       and the plane of rate and distortion as in its Fig. 4.2. Runs with the metric reconstruction_error, \
                       as unbraid evaluate RUN --metrics reconstruction_error computes it, have Kumar's figures, too."
            .to_owned(),
        blocks,
    }
}

/// Distortion over rate, along the hyper-parameter of each method.
fn plane(view: &StudyView<'_>, data: &str) -> Svg {
    let mut series: Vec<LabelledSeries> = curves(view.table, &view.rows_on(data), &[KL, RECONSTRUCTION])
        .iter()
        .map(|curve| along(view, curve))
        .collect();
    tell_apart(series.iter_mut().map(|series| &mut series.colour));
    let vertical = match view.data.len() {
        1 => "distortion, nats".to_owned(),
        _ => format!("distortion on {data}, nats"),
    };
    labelled_points::draw_close(AxisTitles { vertical: &vertical, horizontal: "rate, nats" }, &series)
}

/// Kumar's two scores, or the main ones where a study has neither.
fn per_pixel_scores(view: &StudyView<'_>) -> Vec<String> {
    let kumar: Vec<String> = KUMAR.iter().filter(|key| view.has(key)).map(|&key| key.to_owned()).collect();
    if kumar.is_empty() { view.headlines() } else { kumar }
}

fn axes<'a>(title: &'a str, across: &str) -> AxisTitles<'a> {
    let horizontal =
        if across == RECONSTRUCTION { "reconstruction loss, nats" } else { "squared error of a pixel" };
    AxisTitles { vertical: title, horizontal }
}

/// A score over a reconstruction loss or error, along the hyper-parameter of each method.
fn means(view: &StudyView<'_>, rows: &[usize], across: &str, key: &str) -> Svg {
    let mut series: Vec<LabelledSeries> =
        curves(view.table, rows, &[across, key]).iter().map(|curve| along(view, curve)).collect();
    tell_apart(series.iter_mut().map(|series| &mut series.colour));
    labelled_points::draw(axes(&label(key), across), &series)
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

/// Runs in the colours of their methods, with their hyper-parameters if these can be read.
fn single_runs(view: &StudyView<'_>, rows: &[usize], key: &str, labelled: bool) -> Svg {
    let mut series = runs_by_method(view, rows, RECONSTRUCTION, key);
    if labelled {
        let settings: HashMap<&str, String> = curves(view.table, rows, &[])
            .iter()
            .flat_map(|curve| &curve.points)
            .flat_map(|point| point.rows.iter().map(move |&row| (row, first_value(point))))
            .map(|(row, value)| (view.table.rows[row].name.as_str(), value))
            .collect();
        for point in series.iter_mut().flat_map(|series| &mut series.points) {
            point.label = settings.get(point.note.as_str()).cloned().unwrap_or_default();
        }
    }
    labelled_points::draw(axes(&label(key), RECONSTRUCTION), &series)
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

#[cfg(test)]
mod tests {
    use super::*;
    use unbraid_study::{Row, Table};

    /// Two seeds of beta-vae with beta 1 and 4: rate, distortion and MIG.
    fn table() -> Table {
        let runs = [
            (1.0, [20.0, 30.0, 0.10]),
            (1.0, [22.0, 34.0, 0.14]),
            (4.0, [10.0, 50.0, 0.30]),
            (4.0, [12.0, 58.0, 0.20]),
        ];
        let row = |(place, (beta, numbers)): (usize, (f64, [f64; 3]))| Row {
            seed: Some(place as u64 % 2),
            settings: vec![Some(beta.into())],
            numbers: numbers.to_vec(),
            ..Row::named(format!("run {place}"), "beta-vae", "shapes")
        };
        Table {
            setting_keys: vec!["objective.beta".to_owned()],
            number_keys: [KL, RECONSTRUCTION, "mig"].map(str::to_owned).to_vec(),
            rows: runs.into_iter().enumerate().map(row).collect(),
        }
    }

    #[test]
    fn points_of_the_plane_are_means_of_rate_and_distortion() {
        let table = table();
        let view = StudyView::new(&table);
        let found = curves(&table, &view.rows_on("shapes"), &[KL, RECONSTRUCTION]);
        let [curve] = found.as_slice() else { panic!("one method: {found:?}") };
        let series = along(&view, curve);
        let points: Vec<(&str, f64, f64)> =
            series.points.iter().map(|point| (point.label.as_str(), point.x, point.y)).collect();
        assert_eq!(points, [("1", 21.0, 32.0), ("4", 11.0, 54.0)]);
        // The same as words for those who cannot see the chart.
        let html = section(&view).page_section().unwrap().content;
        let words = "distortion, nats against rate, nats: beta-vae with 2 points, the highest 54.00 at 11.00";
        assert!(html.contains(words), "{html}");
        // Intervals of two seeds are 12.7 standard errors wide, here 25 and 51 nats each way, and the points are 22 apart.
        // The axis ends soon after the highest, at 54 + 0.1 * 22 and 8 % of the whole: there is a tick at 50, none at 60.
        let chart = plane(&view, "shapes").inline();
        assert!(chart.contains(">50</text>") && !chart.contains(">60</text>"), "{chart}");
    }

    /// Means by hand: of errors 0.002 and 0.004, and of scores 0.1 and 0.3.
    #[test]
    fn scores_stand_over_the_error_per_pixel_where_it_is_known() {
        let mut table = table();
        let html = |table: &Table| section(&StudyView::new(table)).page_section().unwrap().content;
        assert!(!html(&table).contains("Against the error per pixel"));
        table.number_keys.extend(["reconstruction_error", "sap_kumar"].map(str::to_owned));
        for (row, numbers) in
            table.rows.iter_mut().zip([[0.002, 0.1], [0.004, 0.3], [0.010, 0.5], [0.014, 0.6]])
        {
            row.numbers.extend(numbers);
        }
        let html = html(&table);
        assert!(html.contains("<h3>Against the error per pixel</h3>"), "{html}");
        // Kumar's score alone; MIG stays over the loss.
        let words = "against squared error of a pixel: beta-vae with 2 points, the highest 0.5500 at 0.0120";
        assert_eq!(html.matches("against squared error of a pixel").count(), 1, "{html}");
        assert!(html.contains(words), "{html}");
        let view = StudyView::new(&table);
        let found = curves(&table, &view.rows, &[RECONSTRUCTION_ERROR, "sap_kumar"]);
        let points: Vec<(f64, f64)> =
            along(&view, &found[0]).points.iter().map(|point| (point.x, point.y)).collect();
        assert!((points[0].0 - 0.003).abs() < 1e-15 && (points[0].1 - 0.2).abs() < 1e-15, "{points:?}");
    }

    #[test]
    fn single_runs_have_their_setting_beside_them() {
        let table = table();
        let view = StudyView::new(&table);
        let svg = |labelled: bool| {
            let charts = vec![single_runs(&view, &view.rows, "mig", labelled)];
            let block = Block::charts("single-runs", "Runs", "", charts);
            let Block::Figure(figure) = block else { panic!("a figure") };
            figure.html().unwrap()
        };
        let words = |html: &str| {
            let texts = html.split("class=\"word\"").skip(1);
            let mut words: Vec<String> = texts
                .filter_map(|rest| Some(rest.split_once('>')?.1.split_once('<')?.0.to_owned()))
                .collect();
            words.sort();
            words
        };
        assert_eq!(words(&svg(true)), ["1", "1", "4", "4"]);
        assert!(words(&svg(false)).is_empty());
    }
}
