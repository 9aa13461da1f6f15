//! What is known of each factor, as a table: the unit that encodes it best, and how accurately it is classified.

use super::class_labels::class_information;
use super::encoded_run::EncodedRun;
use super::latent_figures::{INFORMATION, unit_names, with_categorical_units};
use crate::html::escape;
use crate::numbers::{number, thousands};
use std::fmt::Write;
use unbraid::data::random::Stream;
use unbraid::data::{Factor, sampling};
use unbraid::evaluate::Scores;
use unbraid::metrics::Report;
use unbraid::metrics::information::{BINS, discretise};
use unbraid::metrics::scores::HistogramParameters;

/// One row of the table of factors.
struct Row {
    name: String,
    kind: &'static str,
    values: usize,
    /// How many images have the least common value, and how many there are.
    rarest: Option<(usize, usize)>,
    /// The unit that shares most with the factor, and the share of the factor's entropy.
    best: Option<(String, f64)>,
    /// The share that some unit has by chance.
    share_by_chance: Option<f64>,
    accuracy: Option<f64>,
    chance: Option<f64>,
    majority: Option<f64>,
}

/// A column of the table.
struct Column {
    heading: &'static str,
    /// What it means, where the heading does not say it.
    meaning: &'static str,
    /// The attributes of its cells.
    attributes: &'static str,
    /// The cell of a row, empty where nothing is known.
    cell: fn(&Row) -> String,
}

const TEXT: &str = " class=\"word\"";
const NUMBER: &str = " class=\"number\"";

/// What matters most stands first: on a phone the last columns have to be scrolled to.
static COLUMNS: [Column; 9] = [
    Column {
        heading: "Best unit",
        meaning: "Each factor with the unit that shares the most mutual information with it.",
        attributes: TEXT,
        cell: |row| row.best.as_ref().map_or_else(String::new, |(unit, _)| escape(unit)),
    },
    Column {
        heading: "Its share",
        meaning: "Its share: that information divided by the entropy of the factor.",
        attributes: NUMBER,
        cell: |row| cell(row.best.as_ref().map(|(_, share)| *share)),
    },
    Column {
        heading: "By chance",
        meaning: "By chance: the largest share of any unit when the values are shuffled, which is not zero where few \
                  images have a value.",
        attributes: NUMBER,
        cell: |row| cell(row.share_by_chance),
    },
    Column {
        heading: "Accuracy",
        meaning: "Accuracy: how accurately each value is told from the others along the difference of class means, from \
                  all units, on the test points.",
        attributes: NUMBER,
        cell: |row| cell(row.accuracy),
    },
    Column {
        heading: "Chance",
        meaning: "Chance: the accuracy with shuffled factors.",
        attributes: NUMBER,
        cell: |row| cell(row.chance),
    },
    Column {
        heading: "Majority",
        meaning: "Majority: the accuracy of always giving the more common answer.",
        attributes: NUMBER,
        cell: |row| cell(row.majority),
    },
    Column { heading: "Values", meaning: "", attributes: NUMBER, cell: |row| thousands(row.values) },
    Column {
        heading: "Images of the rarest",
        meaning: "Images of the rarest: how many of the images that were encoded for this page have the least common value.",
        attributes: NUMBER,
        cell: |row| {
            let count = |(rarest, all)| format!("{} of {}", thousands(rarest), thousands(all));
            row.rarest.map_or_else(String::new, count)
        },
    },
    Column { heading: "Kind", meaning: "", attributes: TEXT, cell: |row| row.kind.to_owned() },
];

fn cell(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map_or_else(String::new, number)
}

/// What is known of each factor, those that a unit encodes best first.
pub(super) fn factors(encoded: &EncodedRun<'_>, scores: Option<&Scores>) -> String {
    let Some((scores, space)) = scores.zip(encoded.data().factors()) else { return String::new() };
    let names = &scores.about.factors;
    let information = scores.matrix(INFORMATION).filter(|matrix| matrix.ncols() == names.len());
    let information = information.map(|matrix| with_categorical_units(encoded, matrix, names));
    let units = information.as_ref().map_or_else(Vec::new, |matrix| unit_names(encoded, matrix.nrows()));
    let entropies = scores.report.list("factor_entropy");
    let bins = bins_of(&scores.report);
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
            let bins = bins.filter(|_| best.is_some())?;
            Some(information_by_chance(encoded, position, scores.about.train_points, bins) / entropy)
        });
        let key = format!("attribute_accuracy/{name}");
        Row {
            name: name.clone(),
            kind: factor.map_or("", |factor| factor.kind.name()),
            values: factor.map_or(0, |factor| factor.size),
            rarest: space.position(name).and_then(|position| rarest(&encoded.factor(position))),
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
    table(&rows)
}

/// The table of these rows, after a paragraph that explains it. A column in which no row has a value is left out.
fn table(rows: &[Row]) -> String {
    let columns: Vec<(&Column, Vec<String>)> = COLUMNS
        .iter()
        .map(|column| (column, rows.iter().map(column.cell).collect::<Vec<_>>()))
        .filter(|(_, cells)| cells.iter().any(|cell| !cell.is_empty()))
        .collect();
    let meanings: Vec<&str> =
        columns.iter().map(|(column, _)| column.meaning).filter(|meaning| !meaning.is_empty()).collect();
    let mut html = String::new();
    if !meanings.is_empty() {
        let _ = writeln!(html, "<p>{}</p>", meanings.join(" "));
    }
    html.push_str("<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">Factor</th>");
    for (Column { heading, attributes, .. }, _) in &columns {
        let _ = write!(html, "<th scope=\"col\"{attributes}>{heading}</th>");
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for (place, row) in rows.iter().enumerate() {
        let _ = write!(html, "<tr><th scope=\"row\">{}</th>", escape(&row.name));
        for (Column { attributes, .. }, cells) in &columns {
            let _ = write!(html, "<td{attributes}>{}</td>", cells[place]);
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table></div>\n<p></p>\n");
    html
}

/// How many of the values equal the least common one, and how many there are; `None` if there are none.
fn rarest(values: &[f64]) -> Option<(usize, usize)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let runs = sorted.chunk_by(|left, right| left.total_cmp(right).is_eq());
    runs.map(<[f64]>::len).min().map(|fewest| (fewest, values.len()))
}

/// The number of bins of the mutual information of the scores, which their parameters tell; `None` if it was
/// not estimated from bins.
fn bins_of(scores: &Report) -> Option<usize> {
    let score = scores.scores.iter().find(|score| score.values.matrix(INFORMATION).is_some())?;
    if score.parameters.get("neighbours").is_some_and(|neighbours| !neighbours.is_null()) {
        return None;
    }
    match score.parameters.get("bins") {
        None => Some(HistogramParameters::default().bins),
        // A file may say anything.
        Some(bins) => bins.as_u64().map(|bins| bins as usize).filter(|bins| BINS.contains(bins)),
    }
}

/// The largest mutual information of a unit with a factor whose values are shuffled, in nats: what the
/// estimate is where there is none, from as many points and bins as the scores had.
fn information_by_chance(encoded: &EncodedRun<'_>, factor: usize, points: usize, bins: usize) -> f64 {
    let mut values = encoded.factor(factor);
    values.truncate(points);
    let mut generator = Stream::new(0, "report chance").at(factor as u64).generator();
    let order = sampling::distinct(values.len(), &mut generator, values.len());
    let values: Vec<f64> = order.into_iter().map(|place| values[place]).collect();
    let continuous = (0..encoded.layout().continuous()).map(|unit| {
        discretise(&encoded.means(unit)[..values.len()], bins).into_iter().map(i64::from).collect()
    });
    let categories = &encoded.posteriors().categories;
    let classes = categories
        .columns()
        .into_iter()
        .map(|column| column.iter().take(values.len()).copied().collect::<Vec<i64>>());
    continuous.chain(classes).map(|unit: Vec<i64>| class_information(&unit, &values)).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn row(name: &str) -> Row {
        Row {
            name: name.to_owned(),
            kind: "ordered",
            values: 1200,
            rarest: None,
            best: None,
            share_by_chance: None,
            accuracy: None,
            chance: None,
            majority: None,
        }
    }

    /// The headings of a table.
    fn headings(html: &str) -> Vec<&str> {
        let cells = html.split("<th scope=\"col\"").skip(1);
        cells.filter_map(|cell| cell.split_once('>')?.1.split_once('<')).map(|(heading, _)| heading).collect()
    }

    /// The text of the cells of each row, its name first.
    fn cells(html: &str) -> Vec<Vec<&str>> {
        let rows = html.split("<tr><th scope=\"row\">").skip(1);
        rows.map(|row| {
            let row = row.split_once("</tr>").map_or(row, |(row, _)| row);
            let parts = row.split("</t").filter(|part| !matches!(*part, "h>" | "d>"));
            parts.map(|part| part.rsplit('>').next().unwrap_or(part)).collect()
        })
        .collect()
    }

    #[test]
    fn columns_without_a_value_are_left_out() {
        let best = Some(("3".to_owned(), 0.75));
        let html = table(&[Row { best, share_by_chance: Some(0.25), ..row("scale & size") }, row("x")]);
        assert_eq!(headings(&html), ["Factor", "Best unit", "Its share", "By chance", "Values", "Kind"]);
        assert_eq!(
            cells(&html),
            [
                ["scale &amp; size", "3", "0.7500", "0.2500", "1,200", "ordered"],
                ["x", "", "", "", "1,200", "ordered"]
            ]
        );
        assert!(html.starts_with("<p>Each factor with the unit "), "{html}");
        assert!(!html.contains("Accuracy") && !html.contains("Majority"), "{html}");

        // Accuracies of one factor, without a chance level, and a majority that is not a number.
        let html = table(&[row("x"), Row { accuracy: Some(0.5), majority: Some(f64::NAN), ..row("y") }]);
        assert_eq!(headings(&html), ["Factor", "Accuracy", "Values", "Kind"]);
        assert_eq!(cells(&html), [["x", "", "1,200", "ordered"], ["y", "0.5000", "1,200", "ordered"]]);
        assert!(html.starts_with("<p>Accuracy: how accurately "), "{html}");

        let html = table(&[row("x")]);
        assert_eq!(headings(&html), ["Factor", "Values", "Kind"]);
        assert!(html.starts_with("<div "), "{html}");
    }

    #[test]
    fn all_columns_are_shown_where_all_have_values() {
        let full = Row {
            best: Some(("0".to_owned(), 1.0)),
            share_by_chance: Some(0.0),
            accuracy: Some(0.9),
            chance: Some(0.5),
            majority: Some(0.6),
            rarest: Some((3, 9)),
            ..row("x")
        };
        let html = table(&[full]);
        assert_eq!(
            headings(&html),
            [
                "Factor",
                "Best unit",
                "Its share",
                "By chance",
                "Accuracy",
                "Chance",
                "Majority",
                "Values",
                "Images of the rarest",
                "Kind"
            ]
        );
        assert_eq!(
            cells(&html),
            [["x", "0", "1.000", "0", "0.9000", "0.5000", "0.6000", "1,200", "3 of 9", "ordered"]]
        );
    }

    /// Three of seven are 2, and two each are 0 and 5.
    #[test]
    fn the_least_common_value_is_counted() {
        assert_eq!(rarest(&[2.0, 0.0, 2.0, 5.0, 0.0, 2.0, 5.0]), Some((2, 7)));
        assert_eq!(rarest(&[]), None);
        let html = table(&[Row { rarest: Some((12, 1500)), ..row("hat") }]);
        assert_eq!(cells(&html), [["hat", "1,200", "12 of 1,500", "ordered"]]);
    }

    /// The bins are those of the scores; there are none where neighbours were counted, and old files do not say.
    #[test]
    fn bins_are_those_of_the_scores() {
        let report = |parameters: Value| -> Report {
            let matrix = json!({ "mutual_information": [[0.5]] });
            let score = json!({ "name": "mig", "parts": { "mig": 0.5 }, "parameters": parameters, "details": matrix });
            Report { scores: vec![serde_json::from_value(score).unwrap()], ..Report::default() }
        };
        assert_eq!(bins_of(&report(json!({ "bins": 40, "neighbours": null }))), Some(40));
        assert_eq!(bins_of(&report(json!({ "bins": 40, "neighbours": 3 }))), None);
        assert_eq!(bins_of(&report(Value::Null)), Some(20));
        assert_eq!(bins_of(&report(json!({ "bins": 0 }))), None);
        assert_eq!(bins_of(&Report::default()), None);
    }
}
