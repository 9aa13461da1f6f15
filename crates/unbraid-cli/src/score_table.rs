//! Scores in words: a table for people, CSV for spreadsheets. (JSON comes from the report itself.)

use crate::error::Outcome;
use crate::format::{csv_of, wrapped};
use std::fmt::Write;
use unbraid::metrics::registry::{factor_of_key, find};
use unbraid::metrics::{Direction, Report, Score};

/// The numbers that are looked at first, as far as they apply.
const FIRST: [&str; 9] = [
    "cluster_accuracy",
    "mig",
    "dci_disentanglement",
    "factor_vae_score",
    "dci_informativeness_test",
    "sap",
    "explicitness",
    "reconstruction_error",
    "kl",
];

/// How many numbers are shown after training.
const FEW: usize = 5;

/// A table: each number beside its chance level and its direction; with `explain`, also its meaning.
pub(crate) fn as_text(report: &Report, explain: bool) -> String {
    let mut text = Table::new(report, |_| true).text(explain);
    text.push_str("\n↑ higher is better, ↓ lower is better");
    text.push_str(if explain { "\n" } else { "; --explain says what each means\n" });
    if let Some(shuffles) =
        report.scores.iter().filter_map(|score| Some(score.chance.as_ref()?.shuffles)).max()
    {
        let times = if shuffles == 1 { "once".to_owned() } else { format!("up to {shuffles} times") };
        let _ = writeln!(text, "chance: the same with the factors of all points shuffled, {times}");
    }
    if report
        .scores
        .iter()
        .any(|score| score.values.numbers().iter().any(|(key, _)| score.values.majority(key).is_some()))
    {
        text.push_str("majority: the accuracy of always predicting the most common value\n");
    }
    for note in &report.notes {
        let _ = writeln!(text, "note: {}", wrapped(note, 74, 6));
    }
    text
}

/// The few numbers that are looked at first, and where the others are.
pub(crate) fn in_short(report: &Report) -> String {
    let numbers = || report.scores.iter().flat_map(|score| score.values.numbers());
    let defined = |key: &str| numbers().any(|(other, value)| other == key && value.is_finite());
    let others = numbers().map(|(key, _)| key.as_str()).filter(|key| factor_of_key(key).is_none());
    let mut shown: Vec<&str> = Vec::new();
    for key in FIRST.into_iter().chain(others) {
        if shown.len() < FEW && defined(key) && !shown.contains(&key) {
            shown.push(key);
        }
    }
    let mut text = Table::new(report, |key| shown.contains(&key)).text(false);
    let left = numbers().count() - shown.len();
    if left > 0 {
        let _ = writeln!(text, "{left} more in scores.json; `unbraid evaluate RUN` prints all, at no cost");
    }
    for note in &report.notes {
        let _ = writeln!(text, "note: {}", wrapped(note, 74, 6));
    }
    text
}

/// The rows of a table, and which columns it needs.
struct Table<'a> {
    scores: Vec<(&'a Score, Vec<&'a (String, f64)>)>,
    width: usize,
    chance: bool,
    majority: bool,
}

impl<'a> Table<'a> {
    fn new(report: &'a Report, shown: impl Fn(&str) -> bool) -> Self {
        let numbers =
            |score: &'a Score| score.values.numbers().iter().filter(|(key, _)| shown(key)).collect();
        let scores: Vec<(&Score, Vec<&(String, f64)>)> =
            report.scores.iter().map(|score| (score, numbers(score))).collect();
        let keys =
            || scores.iter().flat_map(|(score, numbers)| numbers.iter().map(move |(key, _)| (*score, key)));
        Self {
            width: keys().map(|(_, key)| key.chars().count()).max().unwrap_or(0),
            chance: keys()
                .any(|(score, key)| score.chance.as_ref().is_some_and(|chance| chance.get(key).is_some())),
            majority: keys().any(|(score, key)| score.values.majority(key).is_some()),
            scores,
        }
    }

    fn text(&self, explain: bool) -> String {
        let Self { width, chance, majority, .. } = *self;
        let mut text = String::new();
        if chance || majority {
            let _ = write!(text, "{:width$}  {:>9}", "", "score");
            text.push_str(if chance { "      chance" } else { "" });
            text.push_str(if majority { "  majority" } else { "" });
            text.push('\n');
        }
        for (score, numbers) in &self.scores {
            let metric = find(&score.name).ok();
            let arrow = metric.map_or("", |metric| match metric.direction {
                Direction::Higher => " ↑",
                Direction::Lower => " ↓",
                Direction::Neither => "  ",
            });
            for (key, value) in numbers {
                if let Some(why) = score.values.why_undefined(key) {
                    let _ = writeln!(text, "{key:width$}  {:>9}  {why}", "n/a");
                    continue;
                }
                let _ = write!(text, "{key:width$}  {value:>9.4}{arrow}");
                let level = score.chance.as_ref().and_then(|chance| chance.get(key));
                for (needed, number) in
                    [(chance, level.map(|level| level.mean)), (majority, score.values.majority(key))]
                {
                    if needed {
                        let cell = number.map_or_else(String::new, |number| format!("{number:.4}"));
                        let _ = write!(text, "  {cell:>8}");
                    }
                }
                if level.is_some_and(|level| level.includes(*value)) {
                    text.push_str(" at chance");
                }
                if let Some([low, high]) = score.bootstrap.as_ref().and_then(|bootstrap| bootstrap.get(key)) {
                    let _ = write!(text, " [{low:.4}, {high:.4}]");
                }
                text.truncate(text.trim_end().len());
                text.push('\n');
            }
            if let Some(metric) = metric.filter(|_| explain) {
                let _ = writeln!(text, "    {}", wrapped(&metric.meaning, 76, 4));
            }
        }
        text
    }
}

/// One row for each number. What a number does not have is left empty.
pub(crate) fn as_csv(report: &Report) -> Outcome<String> {
    csv_of(|table| {
        table.write_record([
            "metric",
            "key",
            "value",
            "seed",
            "seconds",
            "chance",
            "chance_deviation",
            "majority",
            "low",
            "high",
            "undefined",
        ])?;
        for score in &report.scores {
            for (key, value) in score.values.numbers() {
                let level = score.chance.as_ref().and_then(|chance| chance.get(key));
                let interval = score.bootstrap.as_ref().and_then(|bootstrap| bootstrap.get(key));
                let why = score.values.why_undefined(key);
                let cell = |number: Option<f64>| number.map_or_else(String::new, |number| number.to_string());
                table.write_record([
                    &score.name,
                    key,
                    &cell(Some(*value).filter(|_| why.is_none())),
                    &score.seed.to_string(),
                    &format!("{:.3}", score.seconds),
                    &cell(level.map(|level| level.mean)),
                    &cell(level.and_then(|level| level.deviation)),
                    &cell(score.values.majority(key)),
                    &cell(interval.map(|[low, _]| low)),
                    &cell(interval.map(|[_, high]| high)),
                    why.unwrap_or_default(),
                ])?;
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use unbraid::metrics::{Codes, Options, Registry, ScoreValues};

    /// One factor of two values, which the only unit is: modularity compares factors, MIG is 1, and by chance nearly 0.
    fn report() -> Report {
        let factors = ndarray::Array2::from_shape_fn((400, 1), |(row, _)| (row % 2) as i64);
        let codes = factors.mapv(|value| value as f64);
        let codes = Codes::new(codes.clone(), factors.clone(), codes, factors).unwrap();
        let options = Options { chance: true, ..Options::default() };
        Registry::builtin()
            .run(&["mig", "modularity", "attribute_accuracy", "hoyer"], &codes, &options)
            .unwrap()
    }

    #[test]
    fn a_table_shows_chance_majority_and_what_is_undefined() {
        let report = report();
        let text = as_text(&report, false);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "                        score      chance  majority");
        assert!(lines[1].starts_with("mig                    1.0000 ↑    0.00"), "{text}");
        assert_eq!(lines[2], "modularity                n/a  compares factors, and only one varies");
        assert!(lines[3].starts_with("attribute_accuracy     1.0000 ↑    0."), "{text}");
        assert!(lines[3].ends_with("    0.5000"), "{text}");
        let short = in_short(&report);
        assert!(short.contains("mig") && !short.contains("modularity"), "{short}");
        let csv = as_csv(&report).unwrap();
        assert!(
            csv.contains("modularity,modularity,,0,0.000,,,,,,\"compares factors, and only one varies\""),
            "{csv}"
        );
    }

    /// Names of factors come from files.
    #[test]
    fn csv_keeps_keys_whole() {
        let mut report = report();
        report.scores.truncate(1);
        report.scores[0].values = ScoreValues::new("attribute_accuracy/a,\"b", 0.5);
        let csv = as_csv(&report).unwrap();
        assert!(csv.contains("\nmig,\"attribute_accuracy/a,\"\"b\",0.5,0,"), "{csv}");
        let mut records = csv::Reader::from_reader(csv.as_bytes());
        let record = records.records().next().unwrap().unwrap();
        assert_eq!((record.len(), &record[1]), (11, "attribute_accuracy/a,\"b"));
    }
}
