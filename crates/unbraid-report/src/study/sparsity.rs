//! Sparse codes: the Hoyer measure against the weight of the divergence of the aggregate posterior.

use super::hyper_parameters::{first_value, method_band, tell_apart};
use super::section::{Block, StudySection};
use super::view::StudyView;
use crate::chart::bands::{self, Band, BandPoint};
use crate::chart::svg::Svg;
use crate::labels::label;
use unbraid_study::analysis::curves::{Curve, curves};
use unbraid_study::analysis::quantities::RECONSTRUCTION;
use unbraid_study::analysis::settings::short_key;

const HOYER: &str = "hoyer";
const HEADING: &str = "Sparsity";
/// The weights whose influence is shown: of the divergence of the aggregate posterior, and of the overlap.
const PARAMETERS: [&str; 2] = ["alpha", "beta"];

/// Sparsity, reconstruction and divergence against alpha and beta (Mathieu, Fig. 4). `None` if no method has
/// several values of alpha.
pub(crate) fn section(view: &StudyView<'_>) -> Option<StudySection> {
    // The divergence of the aggregate posterior is one of the last two, whichever the objective has.
    let mut keys: Vec<String> =
        [HOYER, RECONSTRUCTION, "train/mmd", "train/inclusive_kl"].map(str::to_owned).to_vec();
    keys.retain(|key| view.has(key));
    if view.rows.is_empty() || !varies_alpha(view) {
        return None;
    }
    if !keys.iter().any(|key| key == HOYER) {
        let why = "No run has the Hoyer measure of its codes. unbraid evaluate RUN --metrics hoyer computes it for a run; \
                   for a whole study, add evaluation.metrics = [\"hoyer\"] to [set] of its study.toml before it is run.";
        return Some(StudySection::missing("sparsity", HEADING, why));
    }
    let asked: Vec<&str> = keys.iter().map(String::as_str).collect();
    let mut blocks = Vec::new();
    for data in &view.data {
        let all = curves(view.table, &view.rows_on(data), &asked);
        for parameter in PARAMETERS {
            let is_along =
                |curve: &&Curve| curve.key.as_deref().is_some_and(|key| short_key(key) == parameter);
            let along: Vec<Curve> = all.iter().filter(is_along).cloned().collect();
            if along.iter().any(|curve| curve.points.len() > 1) {
                let charts =
                    keys.iter().enumerate().map(|(place, key)| chart(view, key, (place, parameter), &along));
                let caption = "Means over seeds with their 95 % confidence intervals.";
                let title = format!("Along {parameter} on {data}");
                blocks.push(Block::charts("sparsity", title, caption, charts.collect()));
            }
        }
    }
    (!blocks.is_empty()).then(|| StudySection {
        id: "sparsity",
        heading: HEADING,
        introduction: "Whether a stronger divergence of the aggregate posterior from a sparse prior (alpha) makes codes \
                       sparse, and whether more overlap (beta) does: the Hoyer measure is 0 for dense codes and 1 if a \
                       single unit is non-zero for each image. As in Mathieu, Fig. 4 and section 6.3."
            .to_owned(),
        blocks,
    })
}

/// Whether some method has several values of alpha.
fn varies_alpha(view: &StudyView<'_>) -> bool {
    let along = |curve: &Curve| curve.key.as_deref().is_some_and(|key| short_key(key) == "alpha");
    curves(view.table, &view.rows, &[]).iter().any(|curve| along(curve) && curve.points.len() > 1)
}

fn chart(view: &StudyView<'_>, key: &str, (place, parameter): (usize, &str), along: &[Curve]) -> Svg {
    let mut points: Vec<_> = along.iter().flat_map(|curve| &curve.points).collect();
    points.sort_by(|a, b| a.setting.compare(&b.setting));
    let mut values: Vec<String> = points.into_iter().map(first_value).collect();
    values.dedup();
    let mut bands: Vec<Band> = along
        .iter()
        .map(|curve| {
            let points = curve.points.iter().filter_map(|point| {
                let mean = point.means[place]?;
                let (low, high) = mean.confidence().unwrap_or((mean.mean, mean.mean));
                let place = values.iter().position(|value| *value == first_value(point))?;
                Some(BandPoint { place, mean: mean.mean, low, high, count: mean.count })
            });
            method_band(view, curve, points)
        })
        .collect();
    tell_apart(bands.iter_mut().map(|band| &mut band.colour));
    bands::draw(&label(key), parameter, &values, "95 % confidence", &bands)
}

#[cfg(test)]
mod tests {
    use super::*;
    use unbraid_study::{Row, Table};

    /// Two methods as in the study `mathieu-sparsity`: alpha without overlap, and beta without alpha, two seeds each.
    fn table(number_keys: &[&str]) -> Table {
        let mut rows = Vec::new();
        for (method, alpha, beta, hoyer) in [
            ("alpha", 0.0, 1.0, 0.2),
            ("alpha", 5.0, 1.0, 0.6),
            ("beta", 0.0, 2.0, 0.3),
            ("beta", 0.0, 4.0, 0.1),
        ] {
            for seed in 0..2 {
                rows.push(Row {
                    seed: Some(seed),
                    settings: vec![Some(alpha.into()), Some(beta.into())],
                    numbers: vec![hoyer + 0.02 * seed as f64],
                    ..Row::named(format!("{alpha} {beta} {seed}"), method, "shapes")
                });
            }
        }
        let setting_keys = ["objective.alpha", "objective.beta"].map(str::to_owned).to_vec();
        Table { setting_keys, number_keys: number_keys.iter().map(|&key| key.to_owned()).collect(), rows }
    }

    /// The second seed has 0.02 more, so that means have 0.01 more.
    #[test]
    fn sparsity_is_drawn_along_alpha_and_along_beta() {
        let table = table(&[HOYER]);
        let section = section(&StudyView::new(&table)).unwrap();
        let drawn: Vec<(String, String)> = section
            .blocks
            .iter()
            .map(|block| match block {
                Block::Figure(figure) => (figure.title.clone(), figure.html().unwrap()),
                other => panic!("{other:?}"),
            })
            .collect();
        let expected = [
            ("Along alpha on shapes", "alpha from 0.2100 at 0 to 0.6100 at 5"),
            ("Along beta on shapes", "beta from 0.3100 at 2 to 0.1100 at 4"),
        ];
        assert_eq!(drawn.len(), 2);
        for ((title, html), (expected_title, words)) in drawn.iter().zip(expected) {
            assert_eq!(title, expected_title);
            assert!(html.contains(words), "{words}: {html}");
        }
    }

    #[test]
    fn without_the_measure_the_section_says_what_computes_it() {
        let table = table(&["mig"]);
        let section = section(&StudyView::new(&table)).unwrap();
        assert!(
            section.introduction.contains("unbraid evaluate RUN --metrics hoyer"),
            "{}",
            section.introduction
        );
    }
}
