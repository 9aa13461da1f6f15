//! Scores in words: a table for people, CSV for spreadsheets. (JSON comes from the report itself.)

use std::fmt::Write;
use unbraid::metrics::registry::find;
use unbraid::metrics::{Direction, Report};

/// A table of 80 columns: each number and which way is good; with `explain`, also what it says.
pub(crate) fn as_text(report: &Report, explain: bool) -> String {
    let keys =
        report.scores.iter().flat_map(|score| score.values.numbers()).map(|(key, _)| key.chars().count());
    let width = keys.max().unwrap_or(0);
    let mut text = String::new();
    for score in &report.scores {
        let metric = find(&score.name).ok();
        let arrow = metric.map_or("", |metric| match metric.direction {
            Direction::Higher => " ↑",
            Direction::Lower => " ↓",
            Direction::Neither => "",
        });
        for (key, value) in score.values.numbers() {
            let _ = writeln!(text, "{key:width$}  {value:>9.4}{arrow}");
        }
        if let Some(metric) = metric.filter(|_| explain) {
            let _ = writeln!(text, "    {}", wrapped(&metric.meaning, 76, 4));
        }
    }
    text.push_str("\n↑ higher is better, ↓ lower is better");
    text.push_str(if explain { "\n" } else { "; --explain says what each means\n" });
    text
}

/// Breaks a sentence into lines of `width`, all but the first indented.
fn wrapped(sentence: &str, width: usize, indent: usize) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in sentence.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > width {
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            column = 0;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += length;
    }
    text
}

/// One row for each number.
pub(crate) fn as_csv(report: &Report) -> String {
    let mut text = String::from("metric,key,value,seed,seconds\n");
    for score in &report.scores {
        for (key, value) in score.values.numbers() {
            let _ = writeln!(text, "{},{key},{value},{},{:.3}", score.name, score.seed, score.seconds);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn sentences_are_broken_between_words() {
        assert_eq!(wrapped("one two three four", 9, 2), "one two\n  three\n  four");
        assert_eq!(wrapped("one", 1, 2), "one");
    }
}
