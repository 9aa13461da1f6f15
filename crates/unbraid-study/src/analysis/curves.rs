//! Numbers against the hyper-parameter, and against each other along it.

use super::groups::{Part, groups};
use super::settings::{Setting, hyper_parameters};
use super::statistics::Mean;
use crate::Table;

/// The runs of one method on one data set, along its hyper-parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Where they come from; none for the study's own.
    pub source: Option<String>,
    /// The data set.
    pub data: String,
    /// The method.
    pub method: String,
    /// The dotted key of the hyper-parameter on the axis; none if the method has none.
    pub key: Option<String>,
    /// What the points share beside that, such as `continuous=10`, if more than one hyper-parameter varies.
    pub others: String,
    /// In the order of the hyper-parameter.
    pub points: Vec<CurvePoint>,
}

/// The runs that differ in nothing but the seed.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvePoint {
    /// Their hyper-parameters.
    pub setting: Setting,
    /// Their places in the table.
    pub rows: Vec<usize>,
    /// For each of the numbers asked for, its mean over them, with deviation and confidence interval.
    pub means: Vec<Option<Mean>>,
}

/// The means of several numbers over seeds, along the hyper-parameter of each method.
///
/// * One number against [`Setting::value`]: scores and reconstruction against each hyper-parameter (Hartmann, Fig. 9 to
///   11; thesis, Fig. 5.11 and 5.15), and sparsity (`hoyer`) against alpha (Mathieu, Fig. 4).
/// * Two numbers against each other, labelled by the setting: scores against reconstruction error (Kumar,
///   Fig. 1; thesis, Fig. 5.9), with [`Mean::confidence`] for both (Mathieu, Fig. 2).
///
/// Rows that summarise several runs, as published means do, are points like any other.
pub fn curves(table: &Table, rows: &[usize], numbers: &[&str]) -> Vec<Curve> {
    let columns: Vec<Option<usize>> = numbers.iter().map(|key| table.number_column(key)).collect();
    let parameters = hyper_parameters(table, rows);
    let mut curves: Vec<Curve> = Vec::new();
    for group in groups(table, rows, &[Part::Source, Part::Data, Part::Method, Part::Setting]) {
        let first = &table.rows[group.rows[0]];
        let (source, data, method) = (first.source.clone(), first.data.clone(), first.method.clone());
        let Some(setting) = group.setting else { continue };
        let others = setting.others();
        let means = columns.iter().map(|column| Mean::of_rows(table, &group.rows, (*column)?)).collect();
        let point = CurvePoint { setting, rows: group.rows, means };
        let same = |curve: &&mut Curve| {
            curve.source == source && curve.data == data && curve.method == method && curve.others == others
        };
        if let Some(curve) = curves.iter_mut().find(same) {
            curve.points.push(point);
            continue;
        }
        let own = parameters.iter().find(|own| own.source == source && own.method == method);
        let key = own.and_then(|own| own.keys.first().cloned());
        curves.push(Curve { source, data, method, key, others, points: vec![point] });
    }
    curves
}

#[cfg(test)]
mod tests {
    use super::super::testing::{all, table};
    use super::*;
    use crate::{Row, Spread};
    use serde_json::json;

    #[test]
    fn means_over_seeds_along_the_hyper_parameter() {
        let line = |alpha: f64, units: u64, seed: u64, hoyer: f64| {
            ("decomposition", "shapes", vec![json!(units), json!(alpha)], seed, vec![hoyer, 10.0 * hoyer])
        };
        let table = table(
            &["model.latents.continuous", "objective.alpha"],
            &["hoyer", "train/reconstruction"],
            vec![line(10.0, 6, 0, 0.4), line(10.0, 6, 1, 0.6), line(0.0, 6, 0, 0.1), line(0.0, 10, 0, 0.2)],
        );
        let found = curves(&table, &all(&table), &["hoyer", "train/reconstruction", "absent"]);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].others.as_str(), found[1].others.as_str()), ("continuous=6", "continuous=10"));
        assert_eq!(found[0].key.as_deref(), Some("objective.alpha"));
        let values: Vec<Option<f64>> = found[0].points.iter().map(|point| point.setting.value).collect();
        assert_eq!(values, [Some(0.0), Some(10.0)]);
        let last = &found[0].points[1];
        let (hoyer, reconstruction) = (last.means[0].unwrap(), last.means[1].unwrap());
        assert!((hoyer.mean - 0.5).abs() < 1e-15 && (reconstruction.mean - 5.0).abs() < 1e-14);
        assert!((hoyer.deviation - 0.02_f64.sqrt()).abs() < 1e-15);
        assert_eq!((last.means[2], last.rows.as_slice()), (None, &[0, 1][..]));
    }

    #[test]
    fn published_means_are_points_of_a_curve_of_their_own() {
        let mut table = table(
            &["objective.beta"],
            &["mig"],
            vec![("beta-vae", "dsprites", vec![json!(4)], 0, vec![0.1])],
        );
        table.rows.push(Row {
            source: Some("published".into()),
            settings: vec![Some(json!(4.0))],
            numbers: vec![0.09],
            spread: Some(Spread { runs: 50, deviations: vec![0.05], medians: vec![0.08] }),
            ..Row::named("line 2", "beta-vae", "dsprites")
        });
        let found = curves(&table, &all(&table), &["mig"]);
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].source.as_deref(), Some("published"));
        let mean = found[1].points[0].means[0].unwrap();
        assert_eq!((mean.count, mean.mean, mean.deviation), (50, 0.09, 0.05));
        assert_eq!(found[1].points[0].setting.label, "beta=4");
    }
}
