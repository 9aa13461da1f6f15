//! Scores and reconstruction against each hyper-parameter.

use super::scores::axis_title;
use super::section::{Block, StudySection};
use super::view::StudyView;
use crate::chart::bands::{self, Band, BandPoint};
use crate::chart::box_plot::{self, BoxGroup};
use crate::chart::svg::Svg;
use crate::colour::SERIES;
use crate::labels::label;
use unbraid_study::analysis::curves::{Curve, CurvePoint, curves};
use unbraid_study::analysis::groups::{Part, distributions, groups};
use unbraid_study::analysis::settings::{short_key, value_label};
use unbraid_study::analysis::statistics::FiveNumbers;

const HEADING: &str = "Effect of the hyper-parameters";
/// More rows than this do not make a readable chart.
const MOST_SETTINGS: usize = 60;

/// Means over seeds along each hyper-parameter (Hartmann, Fig. 9 and 10; thesis, Fig. 5.11), and the spread
/// over seeds of each of its values (Hartmann, Fig. 11; thesis, Fig. 5.15).
pub(crate) fn section(view: &StudyView<'_>) -> StudySection {
    let keys = view.headlines_and_reconstruction();
    let mut blocks: Vec<Block> =
        view.data.iter().filter_map(|data| methods_by_index(view, data, &keys)).collect();
    if let [_] = view.data.as_slice() {
        for panel in panels(view, &view.rows, |curve| curve.key.clone()) {
            let charts = keys.iter().map(|key| panel.draw(view, key, By::Method));
            let title = format!("{} ({})", short_key(&panel.key), panel.key);
            blocks.push(Block::charts("hyper-parameter", title, CURVES, charts.collect()));
        }
    } else {
        let by_method = |curve: &Curve| Some(format!("{}: {}", curve.method, curve.key.as_ref()?));
        for panel in panels(view, &view.rows, by_method) {
            let charts = keys.iter().map(|key| panel.draw(view, key, By::Data));
            blocks.push(Block::charts("hyper-parameter", panel.key.clone(), CURVES, charts.collect()));
        }
    }
    if blocks.is_empty() {
        return StudySection::missing(
            "hyper-parameters",
            HEADING,
            "No method has finished runs with more than one value of a hyper-parameter. Give it several in its [[method]] of \
             study.toml; unbraid study run STUDY then trains them.",
        );
    }
    for data in &view.data {
        blocks.push(spread_over_seeds(view, data, &keys));
    }
    StudySection {
        id: "hyper-parameters",
        heading: HEADING,
        introduction: "How much a method depends on its hyper-parameter, and whether that is more than the spread over seeds. \
                       As in Hartmann, Fig. 9 (all methods over the index of their hyper-parameter), 10 (curves) and 11 \
                       (boxes), and the thesis, Fig. 5.11 (reconstruction) and 5.15 (boxes)."
            .to_owned(),
        blocks,
    }
}

const CURVES: &str = "Lines are means over seeds. Bands, or bars where there are many lines, go from the lower to the upper \
                      quartile over seeds.";

/// All methods of a data set over the index of their hyper-parameter in one chart for each number (Hartmann,
/// Fig. 9): 1 is the smallest value of each. `None` if fewer than two methods have several values.
fn methods_by_index(view: &StudyView<'_>, data: &str, keys: &[String]) -> Option<Block> {
    let mut along: Vec<Curve> = curves(view.table, &view.rows_on(data), &[]);
    along.retain(|curve| curve.points.len() > 1);
    let longest = along.iter().map(|curve| curve.points.len()).max()?;
    if along.len() < 2 {
        return None;
    }
    let indices: Vec<String> = (1..=longest).map(|index| index.to_string()).collect();
    let charts = keys.iter().map(|key| {
        let mut bands: Vec<Band> = along
            .iter()
            .map(|curve| {
                let points = curve.points.iter().enumerate();
                let points = points.filter_map(|(place, point)| band_point(view, point, key, place));
                method_band(view, curve, points)
            })
            .collect();
        tell_apart(bands.iter_mut().map(|band| &mut band.colour));
        bands::draw(&label(key), "index of the hyper-parameter", &indices, "quartiles", &bands)
    });
    let title = match view.data.len() {
        1 => "All methods over the index of their hyper-parameter".to_owned(),
        _ => format!("All methods over the index of their hyper-parameter on {data}"),
    };
    let values = along.iter().map(|curve| {
        let values: Vec<String> = curve.points.iter().map(first_value).collect();
        let key = curve.key.as_deref().map_or("", short_key);
        format!("{}: {key} {}", with_others(&curve.method, &curve.others), values.join(", "))
    });
    let caption = format!("{CURVES} Indices stand for {}.", values.collect::<Vec<_>>().join("; "));
    Some(Block::charts("methods-by-index", title, &caption, charts.collect()))
}

/// The mean of a number over the runs of a setting, with their quartiles, at a place of the axis.
fn band_point(view: &StudyView<'_>, point: &CurvePoint, key: &str, place: usize) -> Option<BandPoint> {
    let mut values = view.values(&point.rows, key);
    values.retain(|value| value.is_finite());
    let five = FiveNumbers::of(&values)?;
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    Some(BandPoint { place, mean, low: five.lower_quartile, high: five.upper_quartile, count: values.len() })
}

/// What the lines of a panel are.
#[derive(Clone, Copy)]
enum By {
    Method,
    Data,
}

/// Curves that share an axis.
struct Panel {
    key: String,
    curves: Vec<Curve>,
    /// Values of the hyper-parameter, in order.
    values: Vec<String>,
}

/// Curves in the order in which their common key appears; axes along which nothing varies are left out.
fn panels(view: &StudyView<'_>, rows: &[usize], key: impl Fn(&Curve) -> Option<String>) -> Vec<Panel> {
    let mut panels: Vec<Panel> = Vec::new();
    for curve in curves(view.table, rows, &[]) {
        let Some(key) = key(&curve) else { continue };
        match panels.iter_mut().find(|panel| panel.key == key) {
            Some(panel) => panel.curves.push(curve),
            None => panels.push(Panel { key, curves: vec![curve], values: Vec::new() }),
        }
    }
    panels.retain(|panel| panel.curves.iter().any(|curve| curve.points.len() > 1));
    for panel in &mut panels {
        let mut points: Vec<&CurvePoint> = panel.curves.iter().flat_map(|curve| &curve.points).collect();
        points.sort_by(|a, b| a.setting.compare(&b.setting));
        let mut values: Vec<String> = points.into_iter().map(first_value).collect();
        // Settings are ordered by all their values; on this axis only the first counts.
        values.dedup();
        panel.values = values;
    }
    panels
}

/// The value of the hyper-parameter that varies, in short form.
pub(crate) fn first_value(point: &CurvePoint) -> String {
    value_label(point.setting.values.first().map(|(_, value)| value))
}

impl Panel {
    fn draw(&self, view: &StudyView<'_>, key: &str, by: By) -> Svg {
        let mut bands: Vec<Band> = self
            .curves
            .iter()
            .map(|curve| {
                let (name, colour) = match by {
                    By::Method => (&curve.method, view.colour(&curve.method)),
                    By::Data => {
                        let place = view.data.iter().position(|data| *data == curve.data);
                        (&curve.data, place.unwrap_or(0))
                    }
                };
                let points = curve.points.iter().filter_map(|point| self.point(view, point, key));
                Band { name: with_others(name, &curve.others), colour, points: points.collect() }
            })
            .collect();
        tell_apart(bands.iter_mut().map(|band| &mut band.colour));
        let parameter = self.curves.first().and_then(|curve| curve.key.as_deref()).map_or("", short_key);
        bands::draw(&label(key), parameter, &self.values, "quartiles", &bands)
    }

    fn point(&self, view: &StudyView<'_>, point: &CurvePoint, key: &str) -> Option<BandPoint> {
        let value = first_value(point);
        let place = self.values.iter().position(|known| *known == value)?;
        band_point(view, point, key, place)
    }
}

/// Gives curves that share a colour different dashes: [`series_style`](crate::chart::frame::series_style) dashes those
/// whose number is beyond the colours.
pub(crate) fn tell_apart<'a>(colours: impl Iterator<Item = &'a mut usize>) {
    let mut used: Vec<usize> = Vec::new();
    for colour in colours {
        while used.contains(colour) {
            *colour += SERIES.len();
        }
        used.push(*colour);
    }
}

/// A curve in the colour of its method.
pub(crate) fn method_band(
    view: &StudyView<'_>,
    curve: &Curve,
    points: impl Iterator<Item = BandPoint>,
) -> Band {
    Band {
        name: with_others(&curve.method, &curve.others),
        colour: view.colour(&curve.method),
        points: points.collect(),
    }
}

/// A name with what else distinguishes it.
pub(crate) fn with_others(name: &str, others: &str) -> String {
    if others.is_empty() { name.to_owned() } else { format!("{name}, {others}") }
}

/// A row for each setting of each method.
fn spread_over_seeds(view: &StudyView<'_>, data: &str, keys: &[String]) -> Block {
    let rows = view.rows_on(data);
    let found = groups(view.table, &rows, &[Part::Method, Part::Setting]);
    let title = if view.data.len() > 1 {
        format!("Spread over seeds on {data}")
    } else {
        "Spread over seeds".to_owned()
    };
    if found.len() > MOST_SETTINGS {
        return Block::Paragraph(format!(
            "{title}: {} settings are too many for a figure; the table of all settings has them.",
            found.len()
        ));
    }
    let charts = keys
        .iter()
        .map(|key| {
            let mut last = "";
            let rows: Vec<BoxGroup> = found
                .iter()
                .zip(distributions(view.table, &found, key))
                .map(|(group, distribution)| {
                    let (method, setting) = (group.labels[0].as_str(), group.labels[1].as_str());
                    let begins = method != last;
                    last = method;
                    let name = format!("{method} {setting}");
                    let published = view.published(data, method, key);
                    let same = published.into_iter().filter(|other| other.setting == setting);
                    BoxGroup {
                        label: Some(if begins || setting.is_empty() {
                            name.clone()
                        } else {
                            setting.to_owned()
                        }),
                        name,
                        values: distribution.values,
                        colour: view.colour(method),
                        begins,
                        published: same.map(|other| (other.source, other.mean.mean)).collect(),
                        ..BoxGroup::default()
                    }
                })
                .collect();
            box_plot::draw(&label(key), axis_title(key), &rows)
        })
        .collect();
    Block::charts(
        "spread-over-seeds",
        title,
        "Each row is one setting; its runs differ only in the seed.",
        charts,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use unbraid_study::{Row, Table};

    #[test]
    fn methods_with_other_values_share_the_axis_of_indices() {
        let mut rows = Vec::new();
        for data in ["one", "two"] {
            for (method, values) in [("a", [1.0, 4.0, 16.0]), ("b", [50.0, 10.0, 100.0])] {
                for (place, value) in values.into_iter().enumerate() {
                    for seed in 0..2 {
                        rows.push(Row {
                            seed: Some(seed),
                            settings: vec![Some(value.into())],
                            numbers: vec![value + seed as f64],
                            ..Row::named(format!("{data} {method} {place} {seed}"), method, data)
                        });
                    }
                }
            }
        }
        let (setting_keys, number_keys) = (vec!["objective.beta".to_owned()], vec!["mig".to_owned()]);
        let table = Table { setting_keys, number_keys, rows };
        let view = StudyView::new(&table);
        let Some(Block::Figure(figure)) = methods_by_index(&view, "two", &["mig".to_owned()]) else {
            panic!("two methods with three values each");
        };
        assert_eq!(figure.title, "All methods over the index of their hyper-parameter on two");
        assert!(figure.caption.ends_with("Indices stand for a: beta 1, 4, 16; b: beta 10, 50, 100."));
        let html = figure.html().unwrap();
        // The mean of 1 and 2, of 16 and 17, of 10 and 11, of 100 and 101.
        assert!(html.contains("a from 1.500 at 1 to 16.50 at 3, b from 10.50 at 1 to 100.5 at 3"), "{html}");
    }
}
