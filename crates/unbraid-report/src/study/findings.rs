//! The findings of a study: its numbers in sentences.

use super::correlations::coefficient;
use super::section::{Block, HOW_TO_SCORE, StudySection};
use super::view::StudyView;
use crate::chart::lines::extent;
use crate::labels::{label, listed};
use crate::numbers::counted;
use crate::numbers::number;
use unbraid::metrics::Direction;
use unbraid_study::analysis::correlations::rank_correlations;
use unbraid_study::analysis::groups::{Part, distributions, groups};
use unbraid_study::analysis::quantities::{direction, unsupervised_keys};
use unbraid_study::analysis::selection::ranking;
use unbraid_study::analysis::statistics::Mean;
use unbraid_study::analysis::variance::{VarianceShares, variance_shares};

const HEADING: &str = "Findings";
/// Fewer seeds than this say little about their variance.
const FEW_SEEDS: usize = 3;

/// Sentences made from the numbers of the finished runs.
pub(crate) fn section(view: &StudyView<'_>) -> StudySection {
    let keys = view.headlines();
    if keys.is_empty() {
        return StudySection::missing(
            "findings",
            HEADING,
            format!("Nothing yet: no finished run has scores. {HOW_TO_SCORE}"),
        );
    }
    let mut sentences = vec![scope(view)];
    sentences.extend(explained(view, &keys));
    for key in &keys {
        sentences.extend(ranks(view, key));
    }
    sentences.extend(luck(view, &keys));
    sentences.extend(agreement(view, &keys));
    sentences.extend(without_factors(view, &keys));
    StudySection {
        id: "findings",
        heading: HEADING,
        introduction: String::new(),
        blocks: vec![Block::List(sentences)],
    }
}

/// How many runs the findings are based on.
fn scope(view: &StudyView<'_>) -> String {
    let settings = groups(view.table, &view.rows, &[Part::Data, Part::Method, Part::Setting]);
    let sizes: Vec<usize> = settings.iter().map(|group| group.rows.len()).collect();
    let (least, most) = (sizes.iter().min().copied().unwrap_or(0), sizes.iter().max().copied().unwrap_or(0));
    let seeds =
        if least == most { counted(most, "seed") } else { format!("{least} to {}", counted(most, "seed")) };
    let per_data = settings.len() / view.data.len().max(1);
    let mut text = format!(
        "Based on {}: {} in {} on {}, with {seeds} each.",
        counted(view.rows.len(), "finished run"),
        counted(view.methods_of(&view.rows).len(), "method"),
        counted(per_data, "setting"),
        if view.data.len() == 1 { view.data[0].clone() } else { counted(view.data.len(), "data set") },
    );
    if least < FEW_SEEDS {
        text.push_str(" With so few seeds, differences may be due to chance.");
    }
    text
}

/// How much of the variance is due to the method, the hyper-parameter and the seed.
fn explained(view: &StudyView<'_>, keys: &[String]) -> Option<String> {
    let shares: Vec<(&String, VarianceShares)> = keys
        .iter()
        .filter_map(|key| Some((key, variance_shares(view.table, &view.rows, key)?)))
        .filter(|(_, shares)| shares.runs > shares.settings && shares.settings > 1)
        .collect();
    if shares.is_empty() {
        return None;
    }
    let percent = |part: fn(&VarianceShares) -> f64| {
        let values: Vec<f64> = shares.iter().map(|(_, shares)| 100.0 * part(shares)).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let (low, high) = extent(values.iter().copied());
        let (low, high) = (format!("{low:.0}"), format!("{high:.0}"));
        let range = if low == high { String::new() } else { format!(" ({low} to {high})") };
        // A number and its sign stay on one line.
        (mean, format!("{mean:.0}\u{a0}%{range}"))
    };
    let (method, method_words) = percent(|shares| shares.method);
    let (parameter, parameter_words) = percent(|shares| shares.hyper_parameter);
    let (seed, seed_words) = percent(|shares| shares.seed);
    let over = listed(&shares.iter().map(|(key, _)| label(key)).collect::<Vec<_>>());
    let verdict = match (seed > method, seed > method + parameter) {
        (_, true) => "The seed matters more than method and hyper-parameter together",
        (true, false) => "The seed matters more than the method",
        (false, _) => "The method matters more than the seed",
    };
    Some(format!(
        "{verdict}: of the variance of {over}, the method explains {method_words}, the hyper-parameter another \
         {parameter_words}, and {seed_words} is left to the seed."
    ))
}

/// Which method is best by the median, and whether the difference is larger than that between seeds.
fn ranks(view: &StudyView<'_>, key: &str) -> Option<String> {
    if let [data] = view.data.as_slice() {
        let ranked = medians(view, &view.rows_on(data), key);
        let [(best, median), (second, next), ..] = ranked.as_slice() else { return None };
        let spread = seed_spread(view, &view.rows, key)?;
        let difference = (median - next).abs();
        let verdict = if difference > spread { "more than" } else { "not more than" };
        return Some(format!(
            "{}: by the median over all its runs, {best} is best with {}, before {second} with {}. The difference of {} is \
             {verdict} the standard deviation over seeds, {}.",
            label(key),
            number(*median),
            number(*next),
            number(difference),
            number(spread)
        ));
    }
    let mut wins: Vec<(String, usize)> = Vec::new();
    for data in &view.data {
        let Some((best, _)) = medians(view, &view.rows_on(data), key).into_iter().next() else {
            continue;
        };
        match wins.iter_mut().find(|(method, _)| *method == best) {
            Some((_, count)) => *count += 1,
            None => wins.push((best, 1)),
        }
    }
    wins.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let words: Vec<String> =
        wins.iter().map(|(method, count)| format!("{method} on {count} of {}", view.data.len())).collect();
    (!words.is_empty())
        .then(|| format!("{}: by the median, the best method is {} data sets.", label(key), listed(&words)))
}

/// Methods and their medians, the best first.
fn medians(view: &StudyView<'_>, rows: &[usize], key: &str) -> Vec<(String, f64)> {
    let found = groups(view.table, rows, &[Part::Method]);
    let values = distributions(view.table, &found, key);
    let mut ranked: Vec<(String, f64)> = found
        .into_iter()
        .zip(values)
        .filter_map(|(group, values)| Some((group.labels.into_iter().next()?, values.five_numbers?.median)))
        .collect();
    let sign = if direction(key) == Direction::Lower { 1.0 } else { -1.0 };
    ranked.sort_by(|a, b| (sign * a.1).total_cmp(&(sign * b.1)));
    ranked
}

/// The standard deviation of runs that differ in nothing but the seed, pooled over settings.
fn seed_spread(view: &StudyView<'_>, rows: &[usize], key: &str) -> Option<f64> {
    let (mut squares, mut free) = (0.0, 0);
    for group in groups(view.table, rows, &[Part::Data, Part::Method, Part::Setting]) {
        if let Some(mean) = Mean::of(&view.values(&group.rows, key)).filter(|mean| mean.count > 1) {
            squares += mean.deviation.powi(2) * (mean.count - 1) as f64;
            free += mean.count - 1;
        }
    }
    (free > 0).then(|| (squares / free as f64).sqrt())
}

/// Whether a good run of the worst method beats a bad run of the best.
fn luck(view: &StudyView<'_>, keys: &[String]) -> Option<String> {
    let (mut reversed, mut compared) = (0, 0);
    for key in keys {
        for data in &view.data {
            let rows = view.rows_on(data);
            let ranked = medians(view, &rows, key);
            let [(best, _), .., (worst, _)] = ranked.as_slice() else { continue };
            let of = |method: &str| {
                let own: Vec<usize> =
                    rows.iter().copied().filter(|&row| view.table.rows[row].method == method).collect();
                extent(view.values(&own, key))
            };
            let ((best_low, best_high), (worst_low, worst_high)) = (of(best), of(worst));
            compared += 1;
            let beaten = if direction(key) == Direction::Lower {
                worst_low < best_high
            } else {
                worst_high > best_low
            };
            reversed += usize::from(beaten);
        }
    }
    if compared == 0 {
        return None;
    }
    let what = if view.data.len() > 1 { "comparison" } else { "score" };
    Some(if reversed == 0 {
        "The luckiest run of the worst method never beats the unluckiest of the best one.".to_owned()
    } else {
        format!(
            "A lucky run of the worst method beats an unlucky run of the best one in {reversed} of {}.",
            counted(compared, what)
        )
    })
}

/// Whether scores rank runs in the same order.
fn agreement(view: &StudyView<'_>, keys: &[String]) -> Option<String> {
    let mut pairs: Vec<(f64, &str, &str)> = Vec::new();
    for data in &view.data {
        let found = rank_correlations(view.table, &view.rows_on(data), keys, keys);
        for (row, first) in keys.iter().enumerate() {
            for (column, second) in keys.iter().enumerate().skip(row + 1) {
                pairs.push((found.values[[row, column]], first, second));
            }
        }
    }
    pairs.retain(|pair| pair.0.is_finite());
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (lowest, highest) = (pairs.first()?, pairs.last()?);
    let median = pairs[pairs.len() / 2].0;
    let words = |pair: &(f64, &str, &str)| {
        format!("{} between {} and {}", coefficient(pair.0), label(pair.1), label(pair.2))
    };
    let verdict = match median {
        median if median > 0.6 && lowest.0 > 0.3 => "The scores agree with each other",
        median if median > 0.6 => "Most scores agree with each other, but not all",
        median if median > 0.3 => "The scores agree in part",
        _ => "The scores do not agree with each other",
    };
    Some(if pairs.len() == 1 {
        format!("{verdict}: the rank correlation is {}.", words(highest))
    } else {
        format!("{verdict}: rank correlations range from {} to {}.", words(lowest), words(highest))
    })
}

/// Whether a model could be selected without factors.
fn without_factors(view: &StudyView<'_>, keys: &[String]) -> Option<String> {
    let candidates = unsupervised_keys(view.table, &view.rows);
    let mut best: Option<(f64, String)> = None;
    for candidate in &candidates {
        let mut found: Vec<f64> = Vec::new();
        for data in &view.data {
            let one = std::slice::from_ref(candidate);
            found.extend(rank_correlations(view.table, &view.rows_on(data), keys, one).values.iter());
        }
        found.retain(|value| value.is_finite());
        if found.is_empty() {
            continue;
        }
        let mean = found.iter().sum::<f64>() / found.len() as f64;
        if best.as_ref().is_none_or(|(known, _)| mean.abs() > known.abs()) {
            best = Some((mean, candidate.clone()));
        }
    }
    let (mean, candidate) = best?;
    let verdict = if mean.abs() > 0.5 { "could be used" } else { "is not reliable enough" };
    let mut text = format!(
        "Of the quantities that need no factors, {} correlates best with the scores, with a mean rank correlation of {}: it \
         {verdict} to select a model.",
        label(&candidate),
        coefficient(mean),
    );
    if let [data] = view.data.as_slice()
        && let Some(first) = ranking(view.table, &view.rows_on(data)).first()
    {
        text.push_str(&format!(" UDR would select {} {}.", first.method, first.setting.label));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use unbraid_study::{Row, Table};

    /// Two methods with two seeds each; MIG 0.1, 0.3 and 0.6, 0.8.
    fn table(second: [f64; 2]) -> Table {
        let rows = [("a", 0.1), ("a", 0.3), ("b", second[0]), ("b", second[1])];
        let rows = rows.into_iter().enumerate().map(|(number, (method, mig))| Row {
            number: Some(number),
            seed: Some(number as u64 % 2),
            numbers: vec![mig],
            ..Row::named(format!("run {number}"), method, "shapes")
        });
        Table { setting_keys: Vec::new(), number_keys: vec!["mig".to_owned()], rows: rows.collect() }
    }

    fn words(table: &Table) -> String {
        let section = section(&StudyView::new(table));
        let words = |block: &Block| match block {
            Block::List(sentences) => sentences.join("\n"),
            Block::Figure(_) | Block::Table(..) | Block::Paragraph(_) => String::new(),
        };
        section.blocks.iter().map(words).collect::<Vec<_>>().join("\n")
    }

    /// Medians 0.2 and 0.7. Both methods have the variance 0.02 over seeds, so that the pooled deviation is
    /// 0.1414. The sum of squares is 0.29 around the mean 0.45, of which 0.04 is within methods: 0.25 / 0.29
    /// is 86 %.
    #[test]
    fn sentences_have_the_numbers_of_a_hand_computation() {
        let text = words(&table([0.6, 0.8]));
        assert!(
            text.contains("4 finished runs: 2 methods in 2 settings on shapes, with 2 seeds each"),
            "{text}"
        );
        assert!(
            text.contains("the method explains 86\u{a0}%") && text.contains("14\u{a0}% is left to the seed"),
            "{text}"
        );
        assert!(text.contains("The method matters more than the seed"), "{text}");
        assert!(text.contains("b is best with 0.7000, before a with 0.2000"), "{text}");
        assert!(text.contains("0.5000 is more than the standard deviation over seeds, 0.1414"), "{text}");
        assert!(text.contains("never beats"), "{text}");
    }

    /// Medians 0.2 and 0.25, so that the order may be luck: 0.3 beats 0.15.
    #[test]
    fn luck_is_called_luck() {
        let text = words(&table([0.15, 0.35]));
        assert!(text.contains("0.0500 is not more than the standard deviation over seeds"), "{text}");
        assert!(text.contains("The seed matters more than"), "{text}");
        assert!(
            text.contains(
                "A lucky run of the worst method beats an unlucky run of the best one in 1 of 1 score"
            ),
            "{text}"
        );
        assert!(words(&Table::default()).is_empty());
    }
}
