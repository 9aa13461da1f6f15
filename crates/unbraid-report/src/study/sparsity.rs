//! Sparse codes: the Hoyer measure against the weight of the divergence of the aggregate posterior.

use super::chapter::{Block, Chapter};
use super::hyper_parameters::{first_value, tell_apart, with_others};
use super::view::StudyView;
use crate::chart::bands::{self, Band, BandPoint};
use crate::chart::svg::Svg;
use crate::labels::label;
use unbraid_study::analysis::curves::{Curve, curves};
use unbraid_study::analysis::quantities::RECONSTRUCTION;
use unbraid_study::analysis::settings::short_key;

const HOYER: &str = "hoyer";

/// Sparsity, reconstruction and divergence against alpha (Mathieu, Fig. 4). `None` if no method has several values of alpha.
pub(crate) fn chapter(view: &StudyView<'_>) -> Option<Chapter> {
    // The divergence of the aggregate posterior is one of the last two, whichever the objective has.
    let mut keys: Vec<String> =
        [HOYER, RECONSTRUCTION, "train/mmd", "train/inclusive_kl"].map(str::to_owned).to_vec();
    keys.retain(|key| view.has(key));
    if !keys.iter().any(|key| key == HOYER) {
        return None;
    }
    let asked: Vec<&str> = keys.iter().map(String::as_str).collect();
    let mut blocks = Vec::new();
    for data in &view.data {
        let along: Vec<Curve> = curves(view.table, &view.rows_on(data), &asked)
            .into_iter()
            .filter(|curve| curve.key.as_deref().is_some_and(|key| short_key(key) == "alpha"))
            .collect();
        if along.iter().any(|curve| curve.points.len() > 1) {
            let charts = keys.iter().enumerate().map(|(place, key)| chart(view, key, place, &along));
            let caption = "Means over seeds with their 95 % confidence intervals.";
            blocks.push(Block::charts("sparsity", data.as_str(), caption, charts.collect()));
        }
    }
    (!blocks.is_empty()).then(|| Chapter {
        id: "sparsity",
        heading: "Sparsity against alpha",
        introduction: "Whether a stronger divergence of the aggregate posterior from a sparse prior makes codes sparse: the \
                       Hoyer measure is 0 for dense codes and 1 if a single unit is non-zero for each image. As in Mathieu, \
                       Fig. 4."
            .to_owned(),
        blocks,
    })
}

fn chart(view: &StudyView<'_>, key: &str, place: usize, along: &[Curve]) -> Svg {
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
            Band {
                name: with_others(&curve.method, &curve.others),
                colour: view.colour(&curve.method),
                points: points.collect(),
            }
        })
        .collect();
    tell_apart(bands.iter_mut().map(|band| &mut band.colour));
    bands::draw(&label(key), "alpha", &values, "95 % confidence", &bands)
}
