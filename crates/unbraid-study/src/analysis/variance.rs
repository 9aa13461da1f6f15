//! How much of a score's variance is due to the method, to its hyper-parameter, and to the seed.

use super::groups::{Group, Part, groups};
use super::statistics::mean_and_squares;
use crate::Table;

/// Shares of the variance of a score, which add up to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VarianceShares {
    /// What the method explains.
    pub method: f64,
    /// What the hyper-parameter explains in addition.
    pub hyper_parameter: f64,
    /// The rest: runs that differ in nothing but the seed.
    pub seed: f64,
    /// How much the method would explain on average if it had no influence at all: (methods - 1) / (runs - 1).
    pub method_by_chance: f64,
    /// The same for the hyper-parameter: (settings - methods) / (runs - 1).
    pub hyper_parameter_by_chance: f64,
    /// Runs that have the score.
    pub runs: usize,
    /// How many methods they are of.
    pub methods: usize,
    /// How many settings of these.
    pub settings: usize,
}

/// The coefficients of determination of two nested least-squares regressions of the number `key` on indicator variables
/// (Locatello et al. 2019, section 5.3), of the method alone and of method and hyper-parameter together:
/// ```text
/// R^2(method)  = 1 - SS(within methods) / SS,   SS: squared distances from the mean
/// R^2(setting) = 1 - SS(within settings) / SS
/// shares: R^2(method),  R^2(setting) - R^2(method),  1 - R^2(setting)
/// ```
/// A regression on indicators predicts the mean of each group, so that no system of equations is needed. If rows are of
/// several data sets, all this is done for each and the squares are added up: the variance between data sets belongs to
/// none of the three.
///
/// `None` if fewer than three runs have the number, or all have the same. With one run for each setting nothing is left
/// for the seed; the shares by chance tell how much of this is an artefact of few seeds.
pub fn variance_shares(table: &Table, rows: &[usize], key: &str) -> Option<VarianceShares> {
    let column = table.number_column(key)?;
    let value = |row: usize| table.rows[row].numbers[column];
    let known: Vec<usize> = rows
        .iter()
        .copied()
        .filter(|&row| table.rows[row].spread.is_none() && value(row).is_finite())
        .collect();
    let squares_in = |group: &Group| {
        let values: Vec<f64> = group.rows.iter().map(|&row| value(row)).collect();
        mean_and_squares(&values).1
    };
    let within = |parts: &[Part]| {
        let found = groups(table, &known, parts);
        let squares: f64 = found.iter().map(squares_in).sum();
        (squares, found.len())
    };
    let (total, data_sets) = within(&[Part::Data]);
    let (in_methods, methods) = within(&[Part::Data, Part::Method]);
    let (in_settings, settings) = within(&[Part::Data, Part::Method, Part::Setting]);
    if known.len() < 3 || total <= 0.0 || known.len() <= data_sets {
        return None;
    }
    let free = (known.len() - data_sets) as f64;
    Some(VarianceShares {
        method: 1.0 - in_methods / total,
        hyper_parameter: (in_methods - in_settings) / total,
        seed: in_settings / total,
        method_by_chance: (methods - data_sets) as f64 / free,
        hyper_parameter_by_chance: (settings - methods) as f64 / free,
        runs: known.len(),
        methods,
        settings,
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Line, all, table};
    use super::*;
    use serde_json::json;

    fn lines(data: &'static str, shift: f64) -> Vec<Line<'static>> {
        let score = [0.1, 0.3, 0.2, 0.6, 0.5, 0.9, 0.4, 0.4, 0.8, 1.0];
        let setting = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4];
        let of_run = |(run, score): (usize, f64)| {
            let method = if run < 4 { "beta-vae" } else { "factor-vae" };
            (method, data, vec![json!(setting[run])], run as u64 % 2, vec![score + shift])
        };
        score.into_iter().enumerate().map(of_run).collect()
    }

    /// R^2 of `numpy.linalg.lstsq` on indicator variables (NumPy with SciPy 1.17.1): 0.39542483660130734 for the two
    /// methods, 0.7549019607843137 for the five settings.
    #[test]
    fn shares_are_those_of_least_squares_on_indicators() {
        let table = table(&["objective.gamma"], &["mig"], lines("shapes", 0.0));
        let found = variance_shares(&table, &all(&table), "mig").unwrap();
        assert!((found.method - 0.395_424_836_601_307_34).abs() < 1e-12);
        assert!((found.method + found.hyper_parameter - 0.754_901_960_784_313_7).abs() < 1e-12);
        assert!((found.method + found.hyper_parameter + found.seed - 1.0).abs() < 1e-12);
        assert_eq!((found.runs, found.methods, found.settings), (10, 2, 5));
        assert!((found.method_by_chance - 1.0 / 9.0).abs() < 1e-15);
        assert!((found.hyper_parameter_by_chance - 3.0 / 9.0).abs() < 1e-15);
    }

    #[test]
    fn a_difference_between_data_sets_belongs_to_none() {
        let both = [lines("shapes", 0.0), lines("cars3d", 5.0)].concat();
        let table = table(&["objective.gamma"], &["mig"], both);
        let found = variance_shares(&table, &all(&table), "mig").unwrap();
        assert!((found.method - 0.395_424_836_601_307_34).abs() < 1e-12);
        assert!((found.seed - (1.0 - 0.754_901_960_784_313_7)).abs() < 1e-12);
    }

    #[test]
    fn too_little_to_say_anything() {
        let table = table(&["objective.gamma"], &["mig"], lines("shapes", 0.0));
        assert_eq!(variance_shares(&table, &[0, 1], "mig"), None);
        assert_eq!(variance_shares(&table, &[6, 7, 6], "mig"), None);
        assert_eq!(variance_shares(&table, &[], "mig"), None);
        assert_eq!(variance_shares(&table, &all(&table), "sap"), None);
    }
}
