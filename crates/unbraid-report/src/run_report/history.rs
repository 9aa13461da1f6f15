//! `metrics.jsonl` as curves.

use crate::chart::lines::{self, Series};
use crate::chart::svg::Svg;
use crate::error::{Error, Result};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::Path;
use unbraid::data::files::{longest_table, read_text};
use unbraid::model::Unit;
use unbraid::run::{UnitNames, loss_rank, unit_of_loss};

/// The losses that were logged while a run trained.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct History {
    steps: Vec<f64>,
    /// Each key without `train/`, with a value for each step; NaN where a row lacks it.
    columns: Vec<(String, Vec<f64>)>,
    /// The same of the keys with `validation/`, with the steps that have them.
    held_out: Vec<(String, Vec<(f64, f64)>)>,
}

/// What is wrong with a row.
#[derive(Debug)]
enum RowError {
    NotJson(serde_json::Error),
    NoStep,
    /// Of the whole log: every row has losses that the others do not have.
    OtherLosses {
        rows: usize,
        losses: usize,
    },
    /// Of the whole log: more losses than charts can be drawn of.
    ManyLosses {
        losses: usize,
    },
}

/// Bytes of memory for each of a log: a row of nothing but its step, eleven bytes, becomes a map with room
/// for eleven keys.
const EXPANSION: u64 = 64;

/// Each loss is a chart, or with its unit a curve of one: far more than any model has units.
const MOST_LOSSES: usize = 10_000;

/// A log of so many numbers is a small one, whatever its rows are.
const FEW: usize = 1 << 20;

impl History {
    /// Reads a file; one that is missing has no rows, and a last row that is still being written does not count.
    ///
    /// # Errors
    /// If the file cannot be read, or has a row that is not a JSON object with a step.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = match read_text(path, longest_table(EXPANSION)) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(unbraid::Error::io(path, "read it")(error).into()),
        };
        Self::parse(&text).map_err(|(line, error)| match error {
            RowError::NotJson(source) => Error::LogRow { path: path.to_owned(), line, source },
            RowError::NoStep => Error::LogStep { path: path.to_owned(), line },
            RowError::OtherLosses { rows, losses } => {
                Error::LogLosses { path: path.to_owned(), rows, losses }
            }
            RowError::ManyLosses { losses } => {
                Error::ManyLosses { path: path.to_owned(), losses, most: MOST_LOSSES }
            }
        })
    }

    /// Fails with the number of the first wrong line, counted from 1.
    fn parse(text: &str) -> Result<Self, (usize, RowError)> {
        let mut rows: Vec<Map<String, Value>> = Vec::new();
        for (number, line) in text.split_inclusive('\n').enumerate() {
            match serde_json::from_str::<Map<String, Value>>(line) {
                Ok(row) if row.get("step").is_some_and(Value::is_number) => rows.push(row),
                _ if !line.ends_with('\n') => {}
                Ok(_) => return Err((number + 1, RowError::NoStep)),
                Err(error) => return Err((number + 1, RowError::NotJson(error))),
            }
        }
        let keys_of = |prefix: &str| -> BTreeSet<&String> {
            rows.iter().flat_map(Map::keys).filter(|key| key.starts_with(prefix)).collect()
        };
        let keys = keys_of("train/");
        // Every loss gets a number for each row: were each of them in one row alone, a small file would need gigabytes.
        let logged = rows.iter().map(Map::len).sum::<usize>();
        let losses = keys.len() + keys_of("validation/").len();
        let numbers = losses.saturating_mul(rows.len());
        if numbers > FEW && numbers / 16 > logged {
            return Err((rows.len(), RowError::OtherLosses { rows: rows.len(), losses }));
        }
        if losses > MOST_LOSSES {
            return Err((rows.len(), RowError::ManyLosses { losses }));
        }
        let number =
            |row: &Map<String, Value>, key: &str| row.get(key).and_then(Value::as_f64).unwrap_or(f64::NAN);
        let mut columns: Vec<(String, Vec<f64>)> = keys
            .into_iter()
            .map(|key| (key["train/".len()..].to_owned(), rows.iter().map(|row| number(row, key)).collect()))
            .collect();
        columns.sort_by_cached_key(|(name, _)| loss_rank(name));
        let point =
            |row: &Map<String, Value>, key: &str| Some((number(row, "step"), row.get(key)?.as_f64()?));
        let held_out = keys_of("validation/").into_iter().map(|key| {
            let points = rows.iter().filter_map(|row| point(row, key)).collect();
            (key["validation/".len()..].to_owned(), points)
        });
        let held_out = held_out.collect();
        Ok(Self { steps: rows.iter().map(|row| number(row, "step")).collect(), columns, held_out })
    }

    /// Whether nothing was logged.
    pub(crate) fn is_empty(&self) -> bool {
        self.steps.is_empty() || self.columns.is_empty()
    }

    /// The last value of a key, such as `kl`.
    pub(crate) fn last(&self, key: &str) -> Option<f64> {
        self.columns.iter().find(|(name, _)| name == key).and_then(|(_, values)| values.last().copied())
    }

    /// The value of a key in the last row up to a step: the weights of a run may be those of an earlier step
    /// than the last.
    pub(crate) fn at(&self, step: u64, key: &str) -> Option<f64> {
        let (_, values) = self.columns.iter().find(|(name, _)| name == key)?;
        let row = self.steps.iter().rposition(|&logged| logged <= step as f64)?;
        values.get(row).copied()
    }

    /// A loss by step, such as `kl`; nothing if it was not logged.
    pub(crate) fn curve(&self, key: &str) -> Vec<(f64, f64)> {
        let column = self.columns.iter().find(|(name, _)| name == key);
        column.map_or_else(Vec::new, |(_, values)| {
            self.steps.iter().copied().zip(values.iter().copied()).collect()
        })
    }

    /// The names of the losses: everything but the KL divergences of single units, the total first.
    pub(crate) fn losses(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(name, _)| name.as_str()).filter(|name| unit_of_loss(name).is_none())
    }

    /// One curve by its name.
    pub(crate) fn series(&self, key: &str, name: &str) -> Option<Series> {
        let (_, values) = self.columns.iter().find(|(column, _)| column == key)?;
        let points = self.steps.iter().copied().zip(values.iter().copied()).collect();
        Some(Series { name: name.to_owned(), points })
    }

    /// A chart for each loss, and one for the KL divergences of all units (Dupont 2018, Fig. 7).
    pub(crate) fn charts(&self, names: &UnitNames) -> Vec<Svg> {
        if self.is_empty() {
            return Vec::new();
        }
        let one = |name: &str| {
            let own = self.series(name, name)?;
            let Some((_, points)) = self.held_out.iter().find(|(key, _)| key == name) else {
                return Some(lines::draw(name, "step", &[own]));
            };
            let train = Series { name: "training".to_owned(), ..own };
            let held_out = Series { name: "held out".to_owned(), points: points.clone() };
            Some(lines::draw(name, "step", &[train, held_out]))
        };
        self.losses().filter_map(one).chain(self.criterion()).chain(self.divergences(names)).collect()
    }

    /// The KL divergences of all units. A unit has the colour of its number, categorical units those after the
    /// continuous ones.
    fn divergences(&self, names: &UnitNames) -> Option<Svg> {
        let units = || self.columns.iter().filter_map(|(key, _)| Some((key, unit_of_key(key)?)));
        let continuous = units().map(|(_, unit)| match unit {
            Unit::Continuous(number) => number.saturating_add(1),
            Unit::Categorical(_) => 0,
        });
        let continuous = continuous.max()?;
        let curve = |(key, unit): (&String, Unit)| {
            let colour = match unit {
                Unit::Continuous(number) => number,
                Unit::Categorical(number) => continuous.saturating_add(number),
            };
            Some((self.series(key, &unit_name(key, unit, names)?)?, colour))
        };
        let (curves, colours): (Vec<Series>, Vec<usize>) = units().filter_map(curve).unzip();
        Some(lines::draw_in("KL of each unit", "step", &curves, &colours))
    }

    /// What decides on early stopping and the best weights where a weight of the loss changes during the run.
    /// It may be many times the loss, which would be flat beside it.
    fn criterion(&self) -> Option<Svg> {
        let (_, points) = self.held_out.iter().find(|(key, _)| key == "final_loss")?;
        let series = Series { name: "held out".to_owned(), points: points.clone() };
        Some(lines::draw("loss with the last values of all schedules, held out", "step", &[series]))
    }
}

/// The unit of a divergence.
fn unit_of_key(key: &str) -> Option<Unit> {
    unit_of_loss(key)?;
    let place = key.rsplit('/').next()?.parse().ok()?;
    Some(if key.starts_with("kl_unit/") { Unit::Continuous(place) } else { Unit::Categorical(place) })
}

/// What a curve of a unit is called: by the name of the unit, or its number.
fn unit_name(key: &str, unit: Unit, names: &UnitNames) -> Option<String> {
    Some(names.get(unit).map_or(unit_of_loss(key)?, str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::{SERIES, hex};

    const ROWS: &str = r#"{"step":10,"train/kl_unit/10":0.5,"train/kl_unit/2":0.25,"train/kl":3,"train/loss":9,"train/tc":1,"images_per_second":5}
{"step":20,"train/kl_unit/10":0.4,"train/kl_unit/2":0.2,"train/kl":2,"train/loss":8,"train/reconstruction":6,"images_per_second":5}
{"step":30,"train/kl":"#;

    #[test]
    fn columns_are_in_order_and_gaps_are_no_numbers() {
        let history = History::parse(ROWS).unwrap();
        assert_eq!(history.steps, [10.0, 20.0], "the row being written does not count");
        let names: Vec<&str> = history.columns.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["loss", "reconstruction", "kl", "tc", "kl_unit/2", "kl_unit/10"]);
        assert_eq!(history.losses().collect::<Vec<_>>(), ["loss", "reconstruction", "kl", "tc"]);
        assert_eq!(history.last("kl"), Some(2.0));
        assert_eq!(
            [5, 10, 19, 25].map(|step| history.at(step, "kl")),
            [None, Some(3.0), Some(3.0), Some(2.0)]
        );
        assert!(history.series("reconstruction", "r").unwrap().points[0].1.is_nan());
        let mut names = UnitNames::default();
        assert_eq!(history.charts(&names).len(), 5);
        names.set(Unit::Continuous(2), "azimuth").unwrap();
        let last = history.charts(&names).pop().unwrap().inline();
        assert!(last.contains("azimuth") && !last.contains("kl_unit"), "{last}");
        // Units 2 and 10 have the third colour, and the first a second time, with dashes.
        let colours = last.split("&quot;colour&quot;:&quot;").skip(1);
        let colours: Vec<&str> = colours.map(|rest| rest.split('&').next().unwrap()).collect();
        assert_eq!(colours, [hex(SERIES[2]), hex(SERIES[0])]);
        assert_eq!(last.matches("stroke-dasharray").count(), 2, "the curve and the legend: {last}");
    }

    #[test]
    fn losses_on_images_that_are_held_out_are_drawn_beside_the_others() {
        let rows = "{\"step\":10,\"train/loss\":9}\n\
                    {\"step\":20,\"train/loss\":8,\"validation/loss\":8.5}\n\
                    {\"step\":30,\"train/loss\":7}\n{\"step\":40,\"train/loss\":6,\"validation/loss\":8.25}\n";
        let history = History::parse(rows).unwrap();
        assert_eq!(history.held_out, [("loss".to_owned(), vec![(20.0, 8.5), (40.0, 8.25)])]);
        let charts = history.charts(&UnitNames::default());
        assert_eq!(charts.len(), 1);
        let text = charts[0].inline();
        assert!(text.contains("training 6") && text.contains("held out 8.25"), "{text}");
        // With a schedule, the loss that decides which weights are the best has a chart of its own.
        let rows = "{\"step\":10,\"train/loss\":9,\"validation/loss\":8.5,\"validation/final_loss\":12.5}\n\
                    {\"step\":20,\"train/loss\":8,\"validation/loss\":8.25,\"validation/final_loss\":11.5}\n";
        let charts = History::parse(rows).unwrap().charts(&UnitNames::default());
        assert_eq!(charts.len(), 2);
        let text = charts[1].inline();
        assert!(
            text.contains("loss with the last values of all schedules, held out, ending at held out 11.5"),
            "{text}"
        );
    }

    /// Half a megabyte that would need 800 MB as columns, and minutes to look every loss up in every row.
    #[test]
    fn a_log_whose_rows_have_nothing_in_common_is_refused() {
        for prefix in ["train", "validation"] {
            let log = |count: usize| -> String {
                (0..count).map(|row| format!("{{\"step\":{row},\"{prefix}/loss{row}\":1}}\n")).collect()
            };
            assert_eq!(History::parse(&log(100)).unwrap().steps.len(), 100);
            let wrong = History::parse(&log(10_000)).unwrap_err();
            assert!(matches!(wrong.1, RowError::OtherLosses { rows: 10_000, losses: 10_000 }), "{wrong:?}");
        }
        // Many rows are no reason, nor are losses that some of them lack.
        let log: String = (0..100_000)
            .map(|row| match row % 10 {
                0 => format!("{{\"step\":{row},\"train/loss\":1,\"train/kl\":1,\"validation/loss\":1}}\n"),
                _ => format!("{{\"step\":{row},\"train/loss\":1,\"train/kl\":1}}\n"),
            })
            .collect();
        assert_eq!(History::parse(&log).unwrap().held_out[0].1.len(), 10_000);
    }

    /// Fourteen bytes of a row are a chart of three thousand.
    #[test]
    fn more_losses_than_can_be_drawn_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("metrics.jsonl");
        let row = |losses: usize| {
            let losses: String = (0..losses).map(|loss| format!(",\"train/{loss}\":1")).collect();
            format!("{{\"step\":1{losses}}}\n")
        };
        std::fs::write(&path, row(10_001)).unwrap();
        assert_eq!(
            History::read(&path).unwrap_err().to_string(),
            format!("{}: found 10001 different losses, expected at most 10000", path.display())
        );
        assert_eq!(History::parse(&row(10_000)).unwrap().columns.len(), 10_000);
    }

    #[test]
    fn a_damaged_row_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("metrics.jsonl");
        let message = |text: &str| {
            std::fs::write(&path, text).unwrap();
            unbraid::error_chain(&History::read(&path).unwrap_err())
        };
        let cause = serde_json::from_str::<Map<String, Value>>("nonsense\n").unwrap_err();
        assert_eq!(
            message("{\"step\":1}\nnonsense\n{\"step\":2}\n"),
            format!("{}, line 2: expected a JSON object: {cause}", path.display())
        );
        assert_eq!(
            message("{\"loss\":1}\n"),
            format!("{}, line 1: found no `step`, expected one in every row", path.display())
        );
        assert!(History::parse("").unwrap().is_empty());
        assert!(History::read(Path::new("no/such/file")).unwrap().is_empty());
    }
}
