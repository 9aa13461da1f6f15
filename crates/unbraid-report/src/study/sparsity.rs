//! Sparse codes: how the Hoyer measure follows the regularisation of the aggregate posterior.

use super::chapter::{Block, Chapter};
use super::hyper_parameters::{first_value, tell_apart, with_others};
use super::names::name;
use super::subject::Subject;
use crate::report::bands::{self, Band, BandPoint};
use crate::report::svg::Svg;
use crate::study::analysis::curves::{Curve, curves};
use crate::study::analysis::quantities::RECONSTRUCTION;
use crate::study::analysis::settings::short_key;

const HOYER: &str = "hoyer";

/// Sparsity, reconstruction and divergence against alpha (Mathieu, Fig. 4). Nothing if no method has an alpha that varies.
pub fn chapter(subject: &Subject<'_>) -> Option<Chapter> {
    // The divergence of the aggregate posterior is one of the last two, whichever the objective has.
    let mut keys: Vec<String> =
        [HOYER, RECONSTRUCTION, "train/mmd", "train/inclusive_kl"].map(str::to_owned).to_vec();
    keys.retain(|key| subject.has(key));
    if !keys.iter().any(|key| key == HOYER) {
        return None;
    }
    let asked: Vec<&str> = keys.iter().map(String::as_str).collect();
    let mut blocks = Vec::new();
    for data in &subject.data {
        let along: Vec<Curve> = curves(subject.table, &subject.rows_on(data), &asked)
            .into_iter()
            .filter(|curve| curve.key.as_deref().is_some_and(|key| short_key(key) == "alpha"))
            .collect();
        if along.iter().any(|curve| curve.points.len() > 1) {
            let charts = keys.iter().enumerate().map(|(place, key)| chart(subject, key, place, &along));
            let caption = "Means over seeds with their 95 % confidence intervals.";
            blocks.push(Block::charts("sparsity", data.as_str(), caption, charts.collect()));
        }
    }
    (!blocks.is_empty()).then(|| Chapter {
        id: "sparsity",
        heading: "Sparsity against alpha",
        introduction: "Whether pulling the aggregate posterior towards a sparse prior makes codes sparse: 0 for dense codes, \
                       1 if one unit speaks for each image. As Mathieu, Fig. 4."
            .to_owned(),
        blocks,
    })
}

fn chart(subject: &Subject<'_>, key: &str, place: usize, along: &[Curve]) -> Svg {
    let mut points: Vec<_> = along.iter().flat_map(|curve| &curve.points).collect();
    points.sort_by(|a, b| a.setting.compare(&b.setting));
    let mut words: Vec<String> = points.into_iter().map(first_value).collect();
    words.dedup();
    let mut bands: Vec<Band> = along
        .iter()
        .map(|curve| {
            let points = curve.points.iter().filter_map(|point| {
                let mean = point.means[place]?;
                let (low, high) = mean.confidence().unwrap_or((mean.mean, mean.mean));
                let place = words.iter().position(|word| *word == first_value(point))?;
                Some(BandPoint { place, mean: mean.mean, low, high, count: mean.count })
            });
            Band {
                name: with_others(&curve.method, &curve.others),
                colour: subject.colour(&curve.method),
                points: points.collect(),
            }
        })
        .collect();
    tell_apart(bands.iter_mut().map(|band| &mut band.colour));
    bands::draw(&name(key), "alpha", &words, "95 % confidence", &bands)
}
