//! The scores of a run as tables: all of them, and what is known of each factor.

use super::class_labels::class_information;
use super::encoded_run::EncodedRun;
use super::latent_figures::{unit_names, with_categorical_units};
use super::page::better;
use crate::html::escape;
use crate::labels::label;
use crate::numbers::{number, thousands};
use std::fmt::Write;
use unbraid::data::Factor;
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
        "<p class=\"faint\">Chance: the same score with the factors of all points shuffled. ≈: the value is no further \
         from it than three standard deviations of the shuffles, or than 0.01, and says nothing.</p>\n",
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

/// One row of the table of factors.
struct Row {
    name: String,
    kind: &'static str,
    values: usize,
    /// The unit that shares most with the factor, and the share of the factor's entropy.
    best: Option<(String, f64)>,
    /// The share that some unit has by chance.
    share_by_chance: Option<f64>,
    accuracy: Option<f64>,
    chance: Option<f64>,
    majority: Option<f64>,
}

/// What is known of each factor, those that a unit encodes best first.
pub(super) fn factors(encoded: &EncodedRun<'_>, scores: Option<&Scores>) -> String {
    let Some((scores, space)) = scores.zip(encoded.data().factors()) else { return String::new() };
    let names = &scores.about.factors;
    let information = scores.matrix("mutual_information").filter(|matrix| matrix.ncols() == names.len());
    let information = information.map(|matrix| with_categorical_units(encoded, matrix, names));
    let units = information.as_ref().map_or_else(Vec::new, |matrix| unit_names(encoded, matrix.nrows()));
    let entropies = scores.report.list("factor_entropy");
    let row = |(column, name): (usize, &String)| {
        let factor: Option<&Factor> = space.position(name).map(|position| &space.factors()[position]);
        let best = information.as_ref().zip(entropies).and_then(|(matrix, entropies)| {
            let of = matrix.column(column).to_vec();
            let unit = (0..of.len()).max_by(|&a, &b| of[a].total_cmp(&of[b]))?;
            let entropy = *entropies.get(column)?;
            Some((units[unit].clone(), if entropy > 0.0 { of[unit] / entropy } else { 0.0 }))
        });
        let share_by_chance = space.position(name).zip(entropies).and_then(|(position, entropies)| {
            let entropy = entropies.get(column).copied().filter(|entropy| *entropy > 0.0)?;
            best.as_ref()
                .map(|_| information_by_chance(encoded, position, scores.about.train_points) / entropy)
        });
        let key = format!("attribute_accuracy/{name}");
        Row {
            name: name.clone(),
            kind: factor.map_or("", |factor| factor.kind.name()),
            values: factor.map_or(0, |factor| factor.size),
            best,
            share_by_chance,
            accuracy: scores.get(&key),
            chance: scores.report.chance(&key).map(|level| level.mean),
            majority: scores.report.majority(&key),
        }
    };
    let mut rows: Vec<Row> = names.iter().enumerate().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    rows.sort_by(|a, b| {
        let beyond_chance = |row: &Row| {
            row.best.as_ref().map_or(0.0, |(_, share)| share - row.share_by_chance.unwrap_or(0.0))
        };
        beyond_chance(b).total_cmp(&beyond_chance(a))
    });
    // What matters most stands first: on a phone the last columns have to be scrolled to.
    let mut html = format!(
        "<p>Each factor with the unit that shares most mutual information with it, as a share of the factor's entropy, beside \
         the largest share of any unit with shuffled values, which is not zero where few images have a value; and how accurately its values are classified along the difference of class means, from all units, on {} test points. \
         Chance: the same with shuffled factors; majority: always the more common answer.</p>\n<div class=\"scroll\"><table>\n\
         <thead><tr><th scope=\"col\">Factor</th><th scope=\"col\">Best unit</th><th scope=\"col\" class=\"number\">Its share</th>\
         <th scope=\"col\" class=\"number\">By chance</th>\
         <th scope=\"col\" class=\"number\">Accuracy</th><th scope=\"col\" class=\"number\">Chance</th>\
         <th scope=\"col\" class=\"number\">Majority</th><th scope=\"col\" class=\"number\">Values</th>\
         <th scope=\"col\">Kind</th></tr></thead>\n<tbody>\n",
        thousands(scores.about.test_points)
    );
    let cell = |value: Option<f64>| value.filter(|value| value.is_finite()).map_or_else(String::new, number);
    for Row { name, kind, values, best, share_by_chance, accuracy, chance, majority } in rows {
        let _ = writeln!(
            html,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>\
             <td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td>{kind}</td></tr>",
            escape(&name),
            best.as_ref().map_or_else(String::new, |(unit, _)| escape(unit)),
            cell(best.as_ref().map(|(_, share)| *share)),
            cell(share_by_chance),
            cell(accuracy),
            cell(chance),
            cell(majority),
            thousands(values)
        );
    }
    html.push_str("</tbody>\n</table></div>\n<p></p>\n");
    html
}

/// The largest mutual information of a unit with a factor whose values are shuffled, in nats: what the estimate is where
/// there is none, from as many points as the scores had.
fn information_by_chance(encoded: &EncodedRun<'_>, factor: usize, points: usize) -> f64 {
    let mut values = encoded.factor(factor);
    values.truncate(points);
    let values = shuffled(&values);
    let continuous =
        (0..encoded.layout().continuous()).map(|unit| binned(&encoded.means(unit)[..values.len()]));
    let categories = &encoded.posteriors().categories;
    let classes = categories
        .columns()
        .into_iter()
        .map(|column| column.iter().take(values.len()).copied().collect::<Vec<i64>>());
    continuous.chain(classes).map(|unit: Vec<i64>| class_information(&unit, &values)).fold(0.0, f64::max)
}

/// The values in another order, always the same one: a prime number of steps onwards, again and again.
fn shuffled(values: &[f64]) -> Vec<f64> {
    const STEP: usize = 7_368_787;
    let count = values.len();
    // A multiple of the prime would come back to where it began.
    let step = if count.is_multiple_of(STEP) { 1 } else { STEP };
    (0..count).map(|place| values[(place * step) % count]).collect()
}

/// Twenty bins of equal width, as those of the mutual information of the scores.
fn binned(values: &[f64]) -> Vec<i64> {
    const BINS: f64 = 20.0;
    let (low, high) = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(*value), high.max(*value)));
    let width = if high > low { (high - low) / BINS } else { 1.0 };
    values.iter().map(|value| ((value - low) / width).floor().min(BINS - 1.0) as i64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffled_values_are_the_same_in_another_order() {
        let values: Vec<f64> = (0..1000).map(f64::from).collect();
        let mut found = shuffled(&values);
        assert_ne!(found, values);
        found.sort_by(f64::total_cmp);
        assert_eq!(found, values);
        assert!(shuffled(&[]).is_empty());
    }

    /// A width of 0.5: 0, 0.5 and 9.9 are in the first, the second and the last of twenty bins, and so is the largest value.
    #[test]
    fn bins_have_the_same_width() {
        assert_eq!(binned(&[0.0, 0.49, 0.5, 9.9, 10.0]), [0, 0, 1, 19, 19]);
        assert_eq!(binned(&[3.0, 3.0]), [0, 0]);
    }
}
