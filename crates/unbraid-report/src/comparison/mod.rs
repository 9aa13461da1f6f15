//! Several runs beside each other, as numbers: what differs in their configurations, their losses and their scores.

use super::history::History;
use super::page::run_name;
use crate::config::Config;
use crate::evaluate::scores_file::StoredScores;
use crate::failure::Outcome;
use crate::run::Run;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use unbraid_metrics::registry::{self, Direction};

/// What is known of one of the runs.
#[derive(Debug)]
pub struct Entry {
    /// The name of its directory; of runs with one name, their paths.
    pub name: String,
    /// Steps that it was trained for.
    pub step: u64,
    config: Config,
    /// What was logged.
    pub history: History,
    scores: Option<StoredScores>,
}

/// Some runs.
#[derive(Debug)]
pub struct Comparison {
    /// In the order in which they were given.
    pub entries: Vec<Entry>,
}

/// A number that runs have, or do not have.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberRow {
    /// What it is called.
    pub key: String,
    /// Which way is better.
    pub direction: Option<Direction>,
    /// One for each run.
    pub values: Vec<Option<f64>>,
}

impl NumberRow {
    /// Whether the value of this run is the best of several that differ.
    pub fn is_best(&self, run: usize) -> bool {
        let known: Vec<f64> =
            self.values.iter().flatten().copied().filter(|value| value.is_finite()).collect();
        let best = match self.direction {
            Some(Direction::Higher) => known.iter().copied().reduce(f64::max),
            Some(Direction::Lower) => known.iter().copied().reduce(f64::min),
            Some(Direction::Neither) | None => None,
        };
        best.is_some() && self.values[run] == best && known.iter().any(|&value| Some(value) != best)
    }
}

impl Comparison {
    /// Reads what the directories of these runs say.
    ///
    /// # Errors
    /// If one of their files is damaged.
    pub fn read(runs: &[Run]) -> Outcome<Self> {
        let entry = |run: &Run| -> Outcome<Entry> {
            Ok(Entry {
                name: run_name(run.path()),
                step: run.step(),
                config: run.config().clone(),
                history: History::read(&run.path().join("metrics.jsonl"))?,
                scores: StoredScores::read(&run.path().join("scores.json"))?,
            })
        };
        let mut entries = runs.iter().map(entry).collect::<Outcome<Vec<Entry>>>()?;
        let paths: Vec<&Path> = runs.iter().map(Run::path).collect();
        tell_apart(&mut entries, &paths);
        Ok(Self { entries })
    }

    /// Keys of the configuration in which not all runs agree, with the value of each.
    pub fn settings(&self) -> Vec<(String, Vec<String>)> {
        let values: Vec<BTreeMap<String, String>> =
            self.entries.iter().map(|run| run.config.values()).collect();
        let keys: BTreeSet<&String> = values.iter().flat_map(BTreeMap::keys).collect();
        keys.into_iter()
            .filter(|key| values.iter().any(|other| other.get(*key) != values[0].get(*key)))
            .map(|key| {
                let shown = values.iter().map(|run| run.get(key).cloned().unwrap_or_else(|| "–".to_owned()));
                (key.clone(), shown.collect())
            })
            .collect()
    }

    /// Names of the losses that any of the runs has.
    pub fn losses(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in self.entries.iter().flat_map(|run| run.history.losses()) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        names
    }

    /// The last value of each loss.
    pub fn last_losses(&self) -> Vec<NumberRow> {
        let row = |key: String| NumberRow {
            values: self.entries.iter().map(|run| run.history.last(&key)).collect(),
            direction: None,
            key,
        };
        self.losses().into_iter().map(row).collect()
    }

    /// Each score that any of the runs has, in the order of the registry.
    pub fn scores(&self) -> Vec<NumberRow> {
        let mut keys: Vec<(usize, &str, &str)> = Vec::new();
        for score in
            self.entries.iter().filter_map(|run| run.scores.as_ref()).flat_map(|stored| &stored.scores)
        {
            let place = registry::metrics().iter().position(|metric| metric.name == score.name);
            for (key, _) in &score.values {
                if !keys.iter().any(|(_, _, known)| known == key) {
                    keys.push((place.unwrap_or(usize::MAX), &score.name, key));
                }
            }
        }
        keys.sort_by_key(|(place, _, _)| *place);
        let row = |(_, metric, key): (usize, &str, &str)| NumberRow {
            key: key.to_owned(),
            direction: registry::find(metric).ok().map(|metric| metric.direction),
            values: self.entries.iter().map(|run| run.scores.as_ref()?.get(key)).collect(),
        };
        keys.into_iter().map(row).collect()
    }

    /// A table for people, 80 columns wide: runs by number, in as many blocks as they need.
    pub fn as_text(&self) -> String {
        let mut text = String::new();
        for (number, run) in self.entries.iter().enumerate() {
            let _ = writeln!(text, "{:>3}  {} (step {})", number + 1, run.name, run.step);
        }
        let arrow = |direction| match direction {
            Some(Direction::Higher) => " ↑",
            Some(Direction::Lower) => " ↓",
            Some(Direction::Neither) | None => "",
        };
        let numbers = |rows: Vec<NumberRow>| -> Vec<(String, Vec<String>)> {
            let shown =
                |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.4}"));
            rows.into_iter()
                .map(|row| {
                    let values = row.values.iter().map(|value| shown(*value)).collect();
                    (format!("{}{}", row.key, arrow(row.direction)), values)
                })
                .collect()
        };
        for rows in [self.settings(), numbers(self.last_losses()), numbers(self.scores())] {
            write_blocks(&mut text, &rows, self.entries.len());
        }
        text.push_str("\n↑ higher is better, ↓ lower is better\n");
        text
    }

    /// One row for each run and value.
    pub fn as_csv(&self) -> String {
        let mut text = String::from("run,kind,key,value\n");
        for (place, run) in self.entries.iter().enumerate() {
            let mut row = |kind: &str, key: &str, value: &str| {
                let _ = writeln!(text, "{},{kind},{},{}", quoted(&run.name), quoted(key), quoted(value));
            };
            for (key, values) in self.settings() {
                row("setting", &key, &values[place]);
            }
            for (kind, rows) in [("loss", self.last_losses()), ("score", self.scores())] {
                for NumberRow { key, values, .. } in rows {
                    if let Some(value) = values[place] {
                        row(kind, &key, &value.to_string());
                    }
                }
            }
        }
        text
    }

    /// One object for each run.
    pub fn as_json(&self) -> serde_json::Value {
        let numbers = |rows: Vec<NumberRow>, place: usize| -> BTreeMap<String, f64> {
            rows.into_iter().filter_map(|row| Some((row.key, row.values[place]?))).collect()
        };
        let runs = self.entries.iter().enumerate().map(|(place, run)| {
            let settings: BTreeMap<String, String> = self
                .settings()
                .into_iter()
                .map(|(key, mut values)| (key, values.swap_remove(place)))
                .collect();
            json!({
                "run": run.name,
                "step": run.step,
                "settings": settings,
                "losses": numbers(self.last_losses(), place),
                "scores": numbers(self.scores(), place),
            })
        });
        json!({ "runs": runs.collect::<Vec<_>>() })
    }
}

/// Writes rows of one value for each run, with as many runs beside each other as 80 columns hold.
fn write_blocks(text: &mut String, rows: &[(String, Vec<String>)], runs: usize) {
    const WIDTH: usize = 80;
    if rows.is_empty() {
        return;
    }
    let widest =
        |texts: &mut dyn Iterator<Item = &String>| texts.map(|text| text.chars().count()).max().unwrap_or(0);
    let key_width = widest(&mut rows.iter().map(|(key, _)| key)).min(42);
    // Three runs beside each other are worth more than the end of a long value.
    let most = ((WIDTH - key_width) / runs.clamp(1, 3)).saturating_sub(2).max(6);
    let cell = widest(&mut rows.iter().flat_map(|(_, values)| values)).clamp(6, most);
    let each = (WIDTH.saturating_sub(key_width) / (cell + 2)).max(1);
    for first in (0..runs).step_by(each) {
        let block = first..(first + each).min(runs);
        let numbers: Vec<String> = block.clone().map(|run| (run + 1).to_string()).collect();
        let header = (String::new(), numbers);
        let lines = rows.iter().map(|(key, values)| (key, &values[block.clone()]));
        text.push('\n');
        for (key, values) in std::iter::once((&header.0, &header.1[..])).chain(lines) {
            let _ = write!(text, "{:key_width$}", cut(key, key_width));
            for value in values {
                let _ = write!(text, "  {:>cell$}", cut(value, cell));
            }
            text.push('\n');
        }
    }
}

/// Runs of one name are called by their paths.
fn tell_apart(entries: &mut [Entry], paths: &[&Path]) {
    let names: Vec<String> = entries.iter().map(|entry| entry.name.clone()).collect();
    for (entry, path) in entries.iter_mut().zip(paths) {
        if names.iter().filter(|name| **name == entry.name).count() > 1 {
            entry.name = path.display().to_string();
        }
    }
}

/// At most so many characters.
pub fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// As a field of CSV (RFC 4180).
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_is_the_best_of_several_in_the_right_direction() {
        let row = |direction, values: &[Option<f64>]| NumberRow {
            key: String::new(),
            direction: Some(direction),
            values: values.to_vec(),
        };
        let best =
            |row: &NumberRow| (0..row.values.len()).filter(|&run| row.is_best(run)).collect::<Vec<_>>();
        let values = [Some(0.5), None, Some(0.7), Some(f64::NAN), Some(0.7)];
        assert_eq!(best(&row(Direction::Higher, &values)), [2, 4]);
        assert_eq!(best(&row(Direction::Lower, &values)), [0]);
        assert!(best(&row(Direction::Neither, &values)).is_empty());
        assert!(best(&row(Direction::Higher, &[Some(1.0), Some(1.0)])).is_empty(), "nobody is better");
        assert!(best(&row(Direction::Higher, &[Some(1.0), None])).is_empty(), "nobody to compare with");
    }

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(quoted("a"), "a");
        assert_eq!(quoted("[1, 2] \"x\""), "\"[1, 2] \"\"x\"\"\"");
        assert_eq!(cut("abcdef", 4), "abc…");
    }
}
