//! The best hyper-parameter of each method.

use super::groups::{Part, groups};
use super::quantities::direction;
use super::settings::Setting;
use super::statistics::Mean;
use crate::Table;
use unbraid::metrics::Direction;

/// The best setting of one method.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// The method.
    pub method: String,
    /// Its best hyper-parameters.
    pub setting: Setting,
    /// Their runs, which differ in nothing but the seed.
    pub rows: Vec<usize>,
    /// The score they were chosen by.
    pub score: Mean,
    /// The other numbers asked for, of the same runs.
    pub others: Vec<Option<Mean>>,
    /// How many settings of the method were compared.
    pub settings: usize,
}

/// For each method, the hyper-parameters whose mean of `score` over seeds is best, with mean and standard deviation
/// (thesis, Tables 5.3 and 5.6; Kumar, Table 1), and the means of `others` there.
///
/// The rows should be of one data set and one source. Of equal means the first counts. A score that points neither way
/// has no best; the result is then empty.
pub fn best_settings(table: &Table, rows: &[usize], score: &str, others: &[&str]) -> Vec<Best> {
    let sign = match direction(score) {
        Direction::Higher => 1.0,
        Direction::Lower => -1.0,
        Direction::Neither => return Vec::new(),
    };
    let Some(column) = table.number_column(score) else { return Vec::new() };
    let columns: Vec<Option<usize>> = others.iter().map(|key| table.number_column(key)).collect();
    let mut found: Vec<Best> = Vec::new();
    for group in groups(table, rows, &[Part::Method, Part::Setting]) {
        let method = &table.rows[group.rows[0]].method;
        let (Some(setting), Some(mean)) = (group.setting, Mean::of_rows(table, &group.rows, column)) else {
            continue;
        };
        let others = columns.iter().map(|column| Mean::of_rows(table, &group.rows, (*column)?)).collect();
        let candidate =
            Best { method: method.clone(), setting, rows: group.rows, score: mean, others, settings: 1 };
        match found.iter_mut().find(|best| best.method == *method) {
            None => found.push(candidate),
            Some(best) => {
                let settings = best.settings + 1;
                if sign * candidate.score.mean > sign * best.score.mean {
                    *best = candidate;
                }
                best.settings = settings;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::testing::{all, table};
    use super::*;
    use serde_json::json;

    #[test]
    fn the_best_mean_in_the_right_direction() {
        let line = |method: &'static str, beta: u64, seed: u64, mig: f64, reconstruction: f64| {
            (method, "shapes", vec![json!(beta)], seed, vec![mig, reconstruction])
        };
        let table = table(
            &["objective.beta"],
            &["mig", "train/reconstruction", "hoyer"],
            vec![
                line("beta-vae", 1, 0, 0.1, 20.0),
                line("beta-vae", 1, 1, 0.9, 22.0),
                line("beta-vae", 4, 0, 0.6, 40.0),
                line("beta-vae", 4, 1, 0.6, 44.0),
                line("beta-tcvae", 4, 0, 0.3, 50.0),
                line("beta-tcvae", 8, 0, f64::NAN, 90.0),
            ]
            .into_iter()
            .map(|(method, data, settings, seed, numbers)| {
                (method, data, settings, seed, [numbers, vec![0.5]].concat())
            })
            .collect(),
        );
        let best = best_settings(&table, &all(&table), "mig", &["train/reconstruction", "sap"]);
        let found: Vec<(&str, &str, f64, usize)> = best
            .iter()
            .map(|best| (best.method.as_str(), best.setting.label.as_str(), best.score.mean, best.settings))
            .collect();
        // The best single run, 0.9, is of the setting whose mean, 0.5, is lower.
        assert_eq!(found, [("beta-vae", "beta=4", 0.6, 2), ("beta-tcvae", "beta=4", 0.3, 1)]);
        assert_eq!(best[0].rows, [2, 3]);
        assert_eq!(best[0].score.deviation, 0.0);
        assert_eq!((best[0].others[0].unwrap().mean, best[0].others[1]), (42.0, None));
        let lowest = best_settings(&table, &all(&table), "train/reconstruction", &[]);
        assert_eq!(lowest[0].setting.label, "beta=1");
        assert!(best_settings(&table, &all(&table), "hoyer", &[]).is_empty());
        assert!(best_settings(&table, &all(&table), "absent", &[]).is_empty());
    }
}
