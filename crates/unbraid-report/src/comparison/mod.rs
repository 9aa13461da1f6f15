//! Several runs side by side: what differs in their configurations, their losses and their scores.

mod page;

use crate::error::Result;
use crate::run_report::history::History;
use crate::run_report::page::run_name;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use unbraid::Run;
use unbraid::config::Config;
use unbraid::evaluate::{About, Scores};
use unbraid::files::CellText;
use unbraid::metrics::{Direction, Level, registry};

/// Some runs, with what their directories say.
///
/// ```no_run
/// use std::path::Path;
/// use unbraid::Run;
/// use unbraid::data::progress::Silent;
/// use unbraid::files::Existing;
/// use unbraid_report::Comparison;
///
/// let runs = [Run::open("runs/beta-1")?, Run::open("runs/beta-4")?];
/// let comparison = Comparison::new(&runs)?;
/// print!("{}", comparison.as_text());
/// comparison.write_page(Path::new("compare.html"), Existing::Keep, &Silent)?;
/// # Ok::<(), unbraid_report::Error>(())
/// ```
#[derive(Debug)]
pub struct Comparison<'a> {
    /// In the order in which they were given.
    entries: Vec<Entry<'a>>,
}

/// One of the runs.
#[derive(Debug)]
struct Entry<'a> {
    run: &'a Run,
    /// The name of its directory; its path where several have this name.
    name: String,
    history: History,
    scores: Option<Scores>,
}

/// A score or a loss of all runs of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedNumber {
    /// Its key, such as `mig`.
    pub key: String,
    /// Whether higher or lower is better; `None` for losses and for scores that the registry does not know.
    pub direction: Option<Direction>,
    /// The value of each run; `None` for a run that does not have it.
    pub values: Vec<Option<f64>>,
    /// The chance level of each run's value; empty for losses.
    pub chance: Vec<Option<Level>>,
    /// Whether the values can be compared; not so for scores on different images or at different steps.
    pub comparable: bool,
}

impl ComparedNumber {
    /// Whether the value of this run cannot be told from chance.
    ///
    /// # Panics
    /// If there is no such run.
    pub fn is_at_chance(&self, run: usize) -> bool {
        let level = self.chance.get(run).copied().flatten();
        self.values[run].zip(level).is_some_and(|(value, level)| level.includes(value))
    }

    /// Whether this run has the best of several values that differ and are comparable.
    ///
    /// # Panics
    /// If there is no such run.
    pub fn is_best(&self, run: usize) -> bool {
        let known: Vec<f64> =
            self.values.iter().flatten().copied().filter(|value| value.is_finite()).collect();
        let best = match self.direction {
            Some(Direction::Higher) => known.iter().copied().reduce(f64::max),
            Some(Direction::Lower) => known.iter().copied().reduce(f64::min),
            Some(Direction::Neither) | None => None,
        };
        self.comparable
            && best.is_some()
            && self.values[run] == best
            && known.iter().any(|&value| Some(value) != best)
    }
}

impl<'a> Comparison<'a> {
    /// Reads the log and the scores of these runs.
    ///
    /// # Errors
    /// If one of their files is damaged.
    pub fn new(runs: &'a [Run]) -> Result<Self> {
        let entry = |run: &'a Run| -> Result<Entry<'a>> {
            Ok(Entry {
                run,
                name: run_name(run.path()),
                history: History::read(&run.paths().metrics())?,
                scores: run.scores()?,
            })
        };
        let mut entries = runs.iter().map(entry).collect::<Result<Vec<Entry<'a>>>>()?;
        let paths: Vec<&Path> = runs.iter().map(Run::path).collect();
        tell_apart(&mut entries, &paths);
        Ok(Self { entries })
    }

    /// The names of the runs: those of their directories, or their paths where several have one name.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }

    /// Keys of the configuration in which the runs differ, with the value of each run as TOML, or a dash.
    pub fn settings(&self) -> Vec<(String, Vec<String>)> {
        let shown = |value: Option<String>| value.unwrap_or_else(|| "–".to_owned());
        let settings = self.differing(Config::values).into_iter();
        settings.map(|(key, values)| (key, values.into_iter().map(shown).collect())).collect()
    }

    /// The same for programs: text without quotes, and `None` for a run that does not have the key.
    fn plain_settings(&self) -> Vec<(String, Vec<Option<String>>)> {
        self.differing(Config::plain_values)
    }

    /// Keys in which the runs differ, with their values.
    fn differing(
        &self,
        values: fn(&Config) -> BTreeMap<String, String>,
    ) -> Vec<(String, Vec<Option<String>>)> {
        let values: Vec<BTreeMap<String, String>> =
            self.entries.iter().map(|entry| values(entry.run.config())).collect();
        let keys: BTreeSet<&String> = values.iter().flat_map(BTreeMap::keys).collect();
        keys.into_iter()
            .filter(|key| values.iter().any(|other| other.get(*key) != values[0].get(*key)))
            .map(|key| (key.clone(), values.iter().map(|values| values.get(key).cloned()).collect()))
            .collect()
    }

    /// Names of the losses that any of the runs has.
    fn losses(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in self.entries.iter().flat_map(|entry| entry.history.losses()) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        names
    }

    /// The last value of each loss.
    pub fn last_losses(&self) -> Vec<ComparedNumber> {
        let row = |key: String| ComparedNumber {
            values: self.entries.iter().map(|entry| entry.history.last(&key)).collect(),
            direction: None,
            chance: Vec::new(),
            comparable: false,
            key,
        };
        self.losses().into_iter().map(row).collect()
    }

    /// Why the scores of the runs cannot be compared: different data sets, splits or steps; `None` if they can.
    pub fn why_not_comparable(&self) -> Option<String> {
        let about: Vec<&About> = self
            .entries
            .iter()
            .filter_map(|entry| entry.scores.as_ref())
            .map(|scores| &scores.about)
            .collect();
        let differ =
            |part: &dyn Fn(&About) -> String| about.iter().any(|other| part(other) != part(about[0]));
        let differences: Vec<&str> = [
            (differ(&|about| about.data_sha256.clone()), "data sets"),
            (differ(&|about| format!("{} {:?}", about.test_split, about.test_sha256)), "splits"),
            (differ(&|about| about.step.to_string()), "steps"),
        ]
        .into_iter()
        .filter_map(|(differs, what)| differs.then_some(what))
        .collect();
        (!differences.is_empty()).then(|| {
            format!("The scores are of different {}: none is marked as the best.", differences.join(" and "))
        })
    }

    /// Each score that any of the runs has, in the order of the registry.
    pub fn scores(&self) -> Vec<ComparedNumber> {
        let mut keys: Vec<(usize, &str, &str)> = Vec::new();
        for score in self
            .entries
            .iter()
            .filter_map(|entry| entry.scores.as_ref())
            .flat_map(|scores| &scores.report.scores)
        {
            let place = registry::metrics().position(|metric| metric.name == score.name);
            for (key, _) in score.values.numbers() {
                if !keys.iter().any(|(_, _, known)| known == key) {
                    keys.push((place.unwrap_or(usize::MAX), &score.name, key));
                }
            }
        }
        keys.sort_by_key(|(place, _, _)| *place);
        let comparable = self.why_not_comparable().is_none();
        let row = |(_, metric, key): (usize, &str, &str)| ComparedNumber {
            comparable,
            key: key.to_owned(),
            direction: registry::find(metric).ok().map(|metric| metric.direction),
            values: self.entries.iter().map(|entry| entry.scores.as_ref()?.get(key)).collect(),
            chance: self.entries.iter().map(|entry| entry.scores.as_ref()?.report.chance(key)).collect(),
        };
        keys.into_iter().map(row).collect()
    }

    /// A table of at most 80 columns: runs by number, in as many blocks as they need.
    pub fn as_text(&self) -> String {
        let mut text = String::new();
        for (number, entry) in self.entries.iter().enumerate() {
            let _ = writeln!(text, "{:>3}  {} (step {})", number + 1, entry.name, entry.run.step());
        }
        let arrow = |direction| match direction {
            Some(Direction::Higher) => " ↑",
            Some(Direction::Lower) => " ↓",
            Some(Direction::Neither) | None => "",
        };
        let numbers = |rows: Vec<ComparedNumber>| -> Vec<(String, Vec<String>)> {
            let shown = |value: Option<f64>, is_at_chance: bool| match value {
                None => "–".to_owned(),
                Some(value) if value.is_nan() => "n/a".to_owned(),
                Some(value) => format!("{}{value:.4}", if is_at_chance { "≈" } else { "" }),
            };
            rows.into_iter()
                .map(|row| {
                    let values = row.values.iter().enumerate();
                    let values = values.map(|(run, value)| shown(*value, row.is_at_chance(run))).collect();
                    (format!("{}{}", row.key, arrow(row.direction)), values)
                })
                .collect()
        };
        for rows in [self.settings(), numbers(self.last_losses()), numbers(self.scores())] {
            write_blocks(&mut text, &rows, self.entries.len());
        }
        text.push_str("\n↑ higher is better, ↓ lower is better, ≈ at the level of chance\n");
        if let Some(why) = self.why_not_comparable() {
            let _ = writeln!(text, "{why}");
        }
        text
    }

    /// CSV with one row for each run and value: `run,kind,key,value`. The chance level of a score has the kind
    /// `chance`. The value of a setting is empty for a run that does not have it.
    pub fn as_csv(&self, cells: CellText) -> String {
        let (settings, losses, scores) = (self.plain_settings(), self.last_losses(), self.scores());
        let mut table = csv::Writer::from_writer(Vec::new());
        let mut write = |record: [&str; 4]| table.write_record(record).expect("memory takes every record");
        write(["run", "kind", "key", "value"]);
        for (place, entry) in self.entries.iter().enumerate() {
            let mut row = |kind: &str, key: &str, value: &str| {
                write([&cells.of(&entry.name), kind, &cells.of(key), &cells.of(value)]);
            };
            for (key, values) in &settings {
                row("setting", key, values[place].as_deref().unwrap_or_default());
            }
            for (kind, rows) in [("loss", &losses), ("score", &scores)] {
                for ComparedNumber { key, values, chance, .. } in rows {
                    if let Some(value) = values[place] {
                        row(kind, key, &value.to_string());
                    }
                    if let Some(level) = chance.get(place).copied().flatten() {
                        row("chance", key, &level.mean.to_string());
                    }
                }
            }
        }
        let bytes = table.into_inner().expect("memory takes every record");
        String::from_utf8(bytes).expect("the records are text")
    }

    /// JSON with one object for each run, under `runs`.
    pub fn as_json(&self) -> serde_json::Value {
        let numbers = |rows: Vec<ComparedNumber>, place: usize| -> BTreeMap<String, f64> {
            rows.into_iter().filter_map(|row| Some((row.key, row.values[place]?))).collect()
        };
        let runs = self.entries.iter().enumerate().map(|(place, entry)| {
            let settings: BTreeMap<String, Option<String>> = self
                .plain_settings()
                .into_iter()
                .map(|(key, mut values)| (key, values.swap_remove(place)))
                .collect();
            let chance: BTreeMap<String, f64> = self
                .scores()
                .into_iter()
                .filter_map(|row| Some((row.key, row.chance[place]?.mean)))
                .collect();
            json!({
                "run": entry.name,
                "step": entry.run.step(),
                "settings": settings,
                "losses": numbers(self.last_losses(), place),
                "scores": numbers(self.scores(), place),
                "chance": chance,
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

/// Runs whose directories have one name are called by their paths.
fn tell_apart(entries: &mut [Entry<'_>], paths: &[&Path]) {
    let names: Vec<String> = entries.iter().map(|entry| entry.name.clone()).collect();
    for (entry, path) in entries.iter_mut().zip(paths) {
        if names.iter().filter(|name| **name == entry.name).count() > 1 {
            entry.name = path.display().to_string();
        }
    }
}

/// At most so many characters.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::tiny_run;
    use unbraid::data::progress::Silent;
    use unbraid::files::Existing;

    #[test]
    fn every_format_has_the_same_numbers() {
        let directory = tempfile::tempdir().unwrap();
        let one = tiny_run(&directory, "one", &["objective.beta=1", "evaluation.report=false"]);
        let unscored = [
            "objective.beta=4",
            "evaluation.after_training=false",
            "evaluation.report=false",
            "evaluation.metrics=[\"mig\", \"sap\"]",
        ];
        let runs = [one, tiny_run(&directory, "two", &unscored)];
        let comparison = Comparison::new(&runs).unwrap();
        assert_eq!(comparison.names().collect::<Vec<_>>(), ["one", "two"]);
        let beta = ("objective.beta".to_owned(), vec!["1.0".to_owned(), "4.0".to_owned()]);
        assert!(comparison.settings().contains(&beta), "{:?}", comparison.settings());
        let scores = comparison.scores();
        let mig = runs[0].scores().unwrap().unwrap().get("mig");
        assert_eq!((scores[0].key.as_str(), &scores[0].values), ("mig", &vec![mig, None]));
        let json = comparison.as_json();
        assert_eq!(json["runs"][0]["scores"]["mig"].as_f64(), mig);
        assert!(comparison.as_csv(CellText::Plain).contains(&format!("one,score,mig,{}\n", mig.unwrap())));
        let level = runs[0].scores().unwrap().unwrap().report.chance("mig").unwrap();
        assert_eq!(json["runs"][0]["chance"]["mig"].as_f64(), Some(level.mean));
        assert!(comparison.as_csv(CellText::Plain).contains(&format!("one,chance,mig,{}\n", level.mean)));
        assert!(comparison.as_text().contains(&format!("{:.4}", mig.unwrap())));
        // Lists have commas and quotes in them.
        assert!(comparison.settings().iter().any(|(_, values)| values[1].contains("\", \"")));
        let csv = comparison.as_csv(CellText::Plain);
        let records: Vec<csv::StringRecord> =
            csv::Reader::from_reader(csv.as_bytes()).records().collect::<Result<_, _>>().unwrap();
        for (key, values) in comparison.settings() {
            let expected = ["two", "setting", &key, &values[1]];
            assert!(records.iter().any(|record| record.iter().eq(expected)), "{key}: {csv}");
        }

        let page = directory.path().join("compare.html");
        comparison.write_page(&page, Existing::Keep, &Silent).unwrap();
        let html = std::fs::read_to_string(&page).unwrap();
        assert!(html.contains("objective.beta") && html.contains("2: two") && html.contains("MIG"));
        assert_eq!(html.matches("<img").count(), 6, "three units of two runs");
        let error = comparison.write_page(&page, Existing::Keep, &Silent).unwrap_err();
        assert_eq!(error.to_string(), format!("{}: the file exists", page.display()));
    }

    #[test]
    fn the_best_is_the_best_of_several_in_the_right_direction() {
        let row = |direction, values: &[Option<f64>]| ComparedNumber {
            key: String::new(),
            direction: Some(direction),
            values: values.to_vec(),
            chance: Vec::new(),
            comparable: true,
        };
        let best =
            |row: &ComparedNumber| (0..row.values.len()).filter(|&run| row.is_best(run)).collect::<Vec<_>>();
        let values = [Some(0.5), None, Some(0.7), Some(f64::NAN), Some(0.7)];
        assert_eq!(best(&row(Direction::Higher, &values)), [2, 4]);
        assert_eq!(best(&row(Direction::Lower, &values)), [0]);
        assert!(best(&row(Direction::Neither, &values)).is_empty());
        assert!(best(&row(Direction::Higher, &[Some(1.0), Some(1.0)])).is_empty(), "nobody is better");
        assert!(best(&row(Direction::Higher, &[Some(1.0), None])).is_empty(), "nobody to compare with");
        let apart = ComparedNumber { comparable: false, ..row(Direction::Higher, &values) };
        assert!(best(&apart).is_empty(), "other images");
    }

    #[test]
    fn long_values_are_cut() {
        assert_eq!(cut("abcdef", 4), "abc…");
    }
}
