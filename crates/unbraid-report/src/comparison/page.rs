//! `compare.html`: several runs side by side.

use super::axis::number;
use super::comparison::{Comparison, NumberRow, cut};
use super::gallery::Gallery;
use super::html::{Section, escape, page};
use super::lines::{self, Series};
use super::page::better;
use crate::failure::Outcome;
use std::fmt::Write;

/// The page; of each run either its traversals or the reason why there are none.
///
/// # Errors
/// If a picture cannot be encoded.
pub fn write(comparison: &Comparison, traversals: &[Result<Gallery, String>]) -> Outcome<String> {
    let section = |id, heading, content| Section { id, heading, content };
    let names: Vec<String> = comparison.entries.iter().map(|run| run.name.clone()).collect();
    let mut summary = String::from("<ol>\n");
    for run in &comparison.entries {
        let _ = writeln!(
            summary,
            "<li>{} <span class=\"faint\">step {}</span></li>",
            escape(&run.name),
            run.step
        );
    }
    summary.push_str("</ol>\n");
    let sections = [
        section("scores", "Scores", numbers(&names, &comparison.scores())),
        section("settings", "Settings that differ", settings(&names, &comparison.settings())),
        section("traversals", "What each unit does", galleries(&names, traversals)?),
        section("training", "Training", curves(comparison)),
        section("losses", "Losses in the end", numbers(&names, &comparison.last_losses())),
    ];
    Ok(page(&format!("{} runs compared", names.len()), &summary, &sections))
}

/// A table with the runs as columns.
fn table(names: &[String], first: &str, rows: impl FnOnce(&mut String)) -> String {
    let mut html = format!("<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">{first}</th>");
    for (place, name) in names.iter().enumerate() {
        let (number, name) = (place + 1, escape(name));
        // The whole name of a run may be long; its number stands for it.
        let _ =
            write!(html, "<th scope=\"col\" class=\"number\"><abbr title=\"{name}\">{number}</abbr></th>");
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    rows(&mut html);
    html.push_str("</tbody>\n</table></div>\n");
    html
}

fn numbers(names: &[String], rows: &[NumberRow]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    table(names, "", |html| {
        for row in rows {
            let better = better(row.direction);
            let better = if better.is_empty() {
                String::new()
            } else {
                format!(" <span class=\"faint\">{better} is better</span>")
            };
            let _ = write!(html, "<tr><th scope=\"row\">{}{better}</th>", escape(&row.key.replace('_', " ")));
            for (run, value) in row.values.iter().enumerate() {
                let value = value.map_or_else(|| "–".to_owned(), number);
                let _ = if row.is_best(run) {
                    write!(html, "<td class=\"number best\"><strong>{value}</strong></td>")
                } else {
                    write!(html, "<td class=\"number\">{value}</td>")
                };
            }
            html.push_str("</tr>\n");
        }
    })
}

fn settings(names: &[String], rows: &[(String, Vec<String>)]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    table(names, "Key", |html| {
        for (key, values) in rows {
            let _ = write!(html, "<tr><th scope=\"row\"><code>{}</code></th>", escape(key));
            for value in values {
                let _ = write!(html, "<td class=\"number\">{}</td>", escape(value));
            }
            html.push_str("</tr>\n");
        }
    })
}

fn galleries(names: &[String], traversals: &[Result<Gallery, String>]) -> Outcome<String> {
    let mut html = String::from(
        "<p>From the same image where runs share their data; units sorted by KL divergence in nats. Each row goes over the \
         range of the unit's prior, or through its classes.</p>\n",
    );
    for (place, (name, traversal)) in names.iter().zip(traversals).enumerate() {
        let title = format!("{}: {name}", place + 1);
        let _ = writeln!(html, "<figure>\n<h3>{}</h3>", escape(&title));
        match traversal {
            Ok(gallery) => html.push_str(&gallery.html(&title)?),
            Err(reason) => {
                let _ = writeln!(html, "<p class=\"faint\">Not drawn: {}</p>", escape(reason));
            }
        }
        html.push_str("</figure>\n");
    }
    Ok(html)
}

fn curves(comparison: &Comparison) -> String {
    let mut html = String::new();
    for loss in comparison.losses() {
        let series: Vec<Series> = comparison
            .entries
            .iter()
            .enumerate()
            .filter_map(|(place, run)| {
                run.history.series(&loss, &cut(&format!("{}: {}", place + 1, run.name), 36))
            })
            .collect();
        html.push_str(&lines::draw(&loss, "step", &series).inline());
    }
    if html.is_empty() { html } else { format!("<div class=\"charts\">\n{html}</div>\n") }
}
