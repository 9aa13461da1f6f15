//! The scores of a run as a table.

use super::page::better;
use crate::html::escape;
use crate::labels::label;
use crate::numbers::{number, thousands};
use std::fmt::Write;
use unbraid::evaluate::Scores;
use unbraid::metrics::registry;

/// Every score beside its chance level.
pub(super) fn scores(scores: Option<&Scores>) -> String {
    let Some(scores) = scores else { return String::new() };
    let mut html = format!("<p>{}</p>\n", escape(&how_computed(scores)));
    for note in &scores.about.notes {
        let _ = writeln!(html, "<p>Note: {}.</p>", escape(note));
    }
    let shown = || {
        let scores = scores.report.scores.iter();
        scores.flat_map(|score| {
            score.values.numbers().iter().map(move |(key, value)| (score, key.as_str(), *value))
        })
    };
    let has_majority = shown().any(|(score, key, _)| score.values.majority(key).is_some());
    let has_interval = scores.report.scores.iter().any(|score| score.bootstrap.is_some());
    html.push_str(
        "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">Score</th><th scope=\"col\" class=\"number\">Value</th>\
         <th scope=\"col\" class=\"number\">Chance</th>",
    );
    for (needed, name) in [(has_interval, "95 % interval"), (has_majority, "Majority")] {
        if needed {
            let _ = write!(html, "<th scope=\"col\" class=\"number\">{name}</th>");
        }
    }
    html.push_str(
        "<th scope=\"col\">Better</th><th scope=\"col\">Meaning of a good value</th></tr></thead>\n<tbody>\n",
    );
    let mut last = "";
    for (score, key, value) in shown() {
        // Those of single factors are in the table of factors.
        if registry::factor_of_key(key).is_some() {
            continue;
        }
        let metric = registry::find(&score.name).ok();
        let _ = write!(html, "<tr><th scope=\"row\">{}</th>", escape(&label(key)));
        let columns = 1 + usize::from(has_interval) + usize::from(has_majority);
        if let Some(why) = score.values.why_undefined(key) {
            let _ =
                write!(html, "<td class=\"number\">n/a</td><td colspan=\"{columns}\">{}</td>", escape(why));
        } else {
            let level = score.chance.as_ref().and_then(|chance| chance.get(key));
            // Two numbers that cannot be told apart.
            let about = if level.is_some_and(|level| level.includes(value)) { "≈ " } else { "" };
            let cell = |number_of: Option<f64>| number_of.map_or_else(String::new, number);
            let _ = write!(
                html,
                "<td class=\"number\">{}</td><td class=\"number\">{about}{}</td>",
                number(value),
                cell(level.map(|level| level.mean))
            );
            if has_interval {
                let interval = score.bootstrap.as_ref().and_then(|bootstrap| bootstrap.get(key));
                let interval = interval
                    .map_or_else(String::new, |[low, high]| format!("{} to {}", number(low), number(high)));
                let _ = write!(html, "<td class=\"number\">{interval}</td>");
            }
            if has_majority {
                let _ = write!(html, "<td class=\"number\">{}</td>", cell(score.values.majority(key)));
            }
        }
        let meaning = metric.filter(|_| last != score.name).map_or("", |metric| metric.meaning.as_str());
        let _ = writeln!(
            html,
            "<td>{}</td><td class=\"meaning\">{}</td></tr>",
            better(metric.map(|metric| metric.direction)),
            escape(meaning)
        );
        last = &score.name;
    }
    html.push_str("</tbody>\n</table></div>\n");
    html.push_str(
        "<p class=\"faint\">Chance: the same score with the factors of all points shuffled. ≈: the value is where \
         99 of 100 shuffles would be, or within 0.01 of them, and says nothing.</p>\n",
    );
    html
}

/// On which points the scores were computed.
fn how_computed(scores: &Scores) -> String {
    let about = &scores.about;
    let images = |points: usize, distinct: usize| {
        if distinct == 0 || distinct == points {
            thousands(points)
        } else {
            format!("{} ({} distinct)", thousands(points), thousands(distinct))
        }
    };
    let tested = match about.test_points {
        0 => String::new(),
        points => format!(" for training and {} for testing", images(points, about.test_images)),
    };
    let unseen = if about.test_split { ", the latter not used for training the model" } else { "" };
    format!(
        "Computed at step {} on the {}s of the posteriors of {} images{tested}{unseen}, with seed {}.",
        about.step,
        about.representation,
        images(about.train_points, about.train_images),
        about.seed
    )
}
