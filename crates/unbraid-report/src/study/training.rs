//! Losses while runs trained, with a band over seeds.

use super::hyper_parameters::first_value;
use super::section::{Block, StudySection};
use super::view::StudyView;
use crate::chart::bands::{self, Band, BandPoint};
use crate::chart::svg::Svg;
use crate::run_report::history::History;
use unbraid_study::StudyDirectory;
use unbraid_study::analysis::curves::{Curve, curves};
use unbraid_study::analysis::settings::short_key;

const HEADING: &str = "Training";
/// The loss, its two parts (thesis, Fig. 5.7a to c).
const LOSSES: [(&str, &str); 3] =
    [("loss", "Loss"), ("reconstruction", "Reconstruction loss"), ("kl", "KL divergence")];
/// Logs of more runs than this take too long to read for a page.
const MOST_RUNS: usize = 500;
/// Places along the axis of steps.
const PLACES: usize = 60;

/// Curves of the losses of each method for each value of its hyper-parameter, means over seeds with the range
/// of these (thesis, Fig. 5.4 and 5.7). `None` if runs have no logs.
pub(crate) fn section(view: &StudyView<'_>, study: &StudyDirectory) -> Option<StudySection> {
    if view.rows.is_empty() || view.table.is_imported_only() {
        return None;
    }
    if view.rows.len() > MOST_RUNS {
        let why = format!(
            "Curves of {} runs are too many for a page; unbraid compare RUN RUN... draws those of some runs.",
            view.rows.len()
        );
        return Some(StudySection::missing("training", HEADING, why));
    }
    let mut blocks = Vec::new();
    for curve in curves(view.table, &view.rows, &[]) {
        let logs = Logs::read(view, study, &curve);
        let charts: Vec<Svg> = LOSSES.iter().filter_map(|(key, title)| logs.chart(key, title)).collect();
        if charts.is_empty() {
            continue;
        }
        let mut title = curve.method.clone();
        if view.data.len() > 1 {
            title = format!("{title} on {}", curve.data);
        }
        if !curve.others.is_empty() {
            title = format!("{title}, {}", curve.others);
        }
        let parameter = curve.key.as_deref().map_or("", short_key);
        let lines = if parameter.is_empty() { String::new() } else { format!(" for each {parameter}") };
        let caption =
            format!("Lines are means over seeds{lines}, bands go from the lowest seed to the highest.");
        blocks.push(Block::charts("training", title, &caption, charts));
    }
    (!blocks.is_empty()).then(|| StudySection {
        id: "training",
        heading: HEADING,
        introduction: "The loss and its two parts over the steps of training, in nats an image. As in the thesis, Fig. 5.4 \
                       (reconstruction over seeds) and Fig. 5.7 (the parts of the objective for each hyper-parameter)."
            .to_owned(),
        blocks,
    })
}

/// Steps and losses of one run.
type LossCurve = Vec<(f64, f64)>;

/// The logs of the runs of one method, by the value of its hyper-parameter.
struct Logs {
    settings: Vec<(String, Vec<History>)>,
}

impl Logs {
    /// Logs that cannot be read are as if they were not there: the table warns of them.
    fn read(view: &StudyView<'_>, study: &StudyDirectory, curve: &Curve) -> Self {
        let log = |&row: &usize| {
            History::read(&study.run_named(&view.table.rows[row].name).metrics())
                .ok()
                .filter(|log| !log.is_empty())
        };
        let settings = curve.points.iter().map(|point| {
            let name = match first_value(point) {
                value if value.is_empty() => curve.method.clone(),
                value => value,
            };
            (name, point.rows.iter().filter_map(log).collect())
        });
        Self { settings: settings.collect() }
    }

    fn chart(&self, key: &str, title: &str) -> Option<Svg> {
        let curves: Vec<(&str, Vec<LossCurve>)> = self
            .settings
            .iter()
            .map(|(name, logs)| (name.as_str(), logs.iter().map(|log| log.curve(key)).collect()))
            .collect();
        let steps = places(curves.iter().flat_map(|(_, runs)| runs.iter().flatten().map(|point| point.0)));
        let bands: Vec<Band> = curves
            .iter()
            .enumerate()
            .map(|(colour, (name, runs))| {
                let points =
                    steps.iter().enumerate().filter_map(|(place, &step)| over_seeds(runs, step, place));
                Band { name: (*name).to_owned(), colour, points: points.collect() }
            })
            .filter(|band| !band.points.is_empty())
            .collect();
        let words: Vec<String> = steps.iter().map(|step| format!("{step}")).collect();
        (!bands.is_empty()).then(|| bands::draw_closely(title, "step", &words, "seeds from", &bands))
    }
}

/// Some of the steps that were logged, the last among them.
fn places(steps: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut steps: Vec<f64> = steps.collect();
    steps.sort_by(f64::total_cmp);
    steps.dedup();
    let stride = steps.len().div_ceil(PLACES).max(1);
    let last = steps.len().saturating_sub(1);
    let kept = |place: &usize| (last - place).is_multiple_of(stride);
    (0..steps.len()).filter(kept).map(|place| steps[place]).collect()
}

/// Mean and range over the runs that logged this step.
fn over_seeds(runs: &[LossCurve], step: f64, place: usize) -> Option<BandPoint> {
    let at = |run: &LossCurve| {
        run.iter().find(|point| point.0 == step).map(|point| point.1).filter(|value| value.is_finite())
    };
    let values: Vec<f64> = runs.iter().filter_map(at).collect();
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    Some(BandPoint { place, mean, low, high, count: values.len() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use unbraid_study::{Row, Table};

    #[test]
    fn bands_go_from_the_lowest_seed_to_the_highest() {
        let directory = tempfile::tempdir().unwrap();
        let study = StudyDirectory::create(directory.path(), "base = \"default\"\n").unwrap();
        let mut rows = Vec::new();
        for (beta, seed, losses) in
            [(1.0, 0, [9.0, 4.0]), (1.0, 1, [11.0, 8.0]), (4.0, 0, [20.0, 10.0]), (4.0, 1, [20.0, 12.0])]
        {
            let name = format!("run-{beta}-{seed}");
            let log = study.run_named(&name).metrics();
            std::fs::create_dir_all(log.parent().unwrap()).unwrap();
            let lines = losses
                .iter()
                .zip([10, 20])
                .map(|(loss, step)| format!("{{\"step\":{step},\"train/loss\":{loss},\"train/kl\":1.0}}\n"));
            std::fs::write(log, lines.collect::<String>()).unwrap();
            rows.push(Row {
                seed: Some(seed),
                settings: vec![Some(beta.into())],
                numbers: vec![0.5],
                ..Row::named(name, "beta-vae", "shapes")
            });
        }
        let (setting_keys, number_keys) = (vec!["objective.beta".to_owned()], vec!["mig".to_owned()]);
        let table = Table { setting_keys, number_keys, rows };
        let view = StudyView::new(&table);
        let all = curves(&table, &view.rows, &[]);
        let logs = Logs::read(&view, &study, &all[0]);
        let runs: Vec<LossCurve> = logs.settings[0].1.iter().map(|log| log.curve("loss")).collect();
        let point = over_seeds(&runs, 20.0, 1).unwrap();
        assert_eq!((point.mean, point.low, point.high, point.count), (6.0, 4.0, 8.0, 2));
        assert!(over_seeds(&runs, 15.0, 0).is_none());
        let html = section(&view, &study).unwrap().page_section().unwrap().content;
        assert!(
            html.contains("1 from 10.00 at 10 to 6.000 at 20, 4 from 20.00 at 10 to 11.00 at 20"),
            "{html}"
        );
        // Two settings have a band each, in the charts of the loss and of the divergence; reconstruction was
        // not logged.
        assert_eq!(html.matches("class=\"band\"").count(), 4);
    }

    #[test]
    fn the_last_step_is_always_shown() {
        let shown = places((1..=150).map(f64::from));
        assert!(shown.len() <= PLACES && shown.last() == Some(&150.0), "{shown:?}");
        assert_eq!(places([5.0, 1.0, 5.0].into_iter()), [1.0, 5.0]);
    }
}
