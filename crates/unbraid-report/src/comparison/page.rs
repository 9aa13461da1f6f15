//! `compare.html`: several runs side by side.

use super::{ComparedNumber, Comparison, cut};
use crate::chart::lines::{self, Series};
use crate::error::{Error, Result};
use crate::figure::Drawing;
use crate::html::{Section, check_page, escape, page};
use crate::labels::label;
use crate::live::{self, LiveRun, LiveSection};
use crate::numbers::number;
use crate::run_report::encoded_run::EncodedRun;
use crate::run_report::image_figures::compared_traversal;
use crate::run_report::page::better;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use unbraid::data::progress::Progress;
use unbraid::data::{DataSet, DataSpec};
use unbraid::error_chain;
use unbraid::files::{self, Existing};

/// Images that decide the order of the units.
const IMAGES: usize = 1000;

impl Comparison<'_> {
    /// Writes a self-contained page with tables, training curves, latent traversals, and models that move
    /// together. A run whose data cannot be opened has no traversals, and the page says why.
    ///
    /// # Errors
    /// If there is a file that must be kept, or the page cannot be written.
    pub fn write_page(&self, path: &Path, existing: Existing, progress: &dyn Progress) -> Result {
        let limit = self.entries.iter().map(|entry| entry.run.config().evaluation.model_limit).sum();
        self.write_page_with(path, existing, limit, progress)
    }

    /// As [`Comparison::write_page`], with models of up to `model_limit` megabytes together as part of the page.
    ///
    /// # Errors
    /// As [`Comparison::write_page`].
    pub fn write_page_with(
        &self,
        path: &Path,
        existing: Existing,
        model_limit: f64,
        progress: &dyn Progress,
    ) -> Result {
        check_page(path, existing)?;
        let (data, places) = self.open_data(progress);
        let mut traversals = Vec::new();
        // Runs with their numbers and the places of their data.
        let mut encoded: Vec<(usize, usize, EncodedRun<'_>)> = Vec::new();
        for (number, (entry, place)) in self.entries.iter().zip(places).enumerate() {
            let opened = place.and_then(|place| {
                let data = data[place].as_ref();
                if data.shape().values() == 2 && data.columns().is_none() {
                    return Err(Error::NoImages);
                }
                Ok((place, EncodedRun::new(entry.run, data, IMAGES, progress)?))
            });
            traversals.push(opened.and_then(|(place, run)| {
                let drawing = compared_traversal(&run);
                encoded.push((number, place, run));
                drawing
            }));
        }
        // Codes can be compared only where they are codes of the same images.
        let shared = encoded.first().map(|(_, place, _)| *place);
        let together: Vec<LiveRun<'_>> = encoded
            .iter()
            .filter(|(_, place, _)| Some(*place) == shared)
            .map(|(number, _, encoded)| LiveRun {
                number: number + 1,
                name: &self.entries[*number].name,
                encoded,
            })
            .collect();
        let live = live::section(&together, model_limit)?;
        let html = self.page(&traversals, &live)?;
        Ok(files::write(path, existing, |file| file.write_all(html.as_bytes()))?)
    }

    /// The data of all runs, and for each run the place of its own, or why it cannot be opened.
    fn open_data(&self, progress: &dyn Progress) -> (Vec<Box<dyn DataSet>>, Vec<Result<usize>>) {
        let mut specs: Vec<&DataSpec> = Vec::new();
        let mut opened: Vec<Box<dyn DataSet>> = Vec::new();
        let mut places = Vec::new();
        for entry in &self.entries {
            let spec = &entry.run.config().data;
            // Runs usually share their data, which need not be read again.
            places.push(match specs.iter().position(|known| *known == spec) {
                Some(place) => Ok(place),
                None => unbraid::data::open(spec, progress).map_err(Error::from).map(|data| {
                    specs.push(spec);
                    opened.push(data);
                    opened.len() - 1
                }),
            });
        }
        (opened, places)
    }

    fn page(&self, traversals: &[Result<Drawing>], live: &LiveSection) -> Result<String> {
        let section = |id, heading, content| Section { id, heading, content };
        let names: Vec<String> = self.names().map(str::to_owned).collect();
        let mut summary = String::from("<ol>\n");
        for entry in &self.entries {
            let (name, step) = (escape(&entry.name), entry.run.step());
            let _ = writeln!(summary, "<li>{name} <span class=\"faint\">step {step}</span></li>");
        }
        summary.push_str("</ol>\n");
        let remark =
            self.why_not_comparable().map_or_else(String::new, |why| format!("<p>{}</p>\n", escape(&why)));
        let sections = [
            section("scores", "Scores", remark + &numbers(&names, &self.scores())),
            section("settings", "Settings that differ", settings(&names, &self.settings())),
            section("move", "Move the units", live.html.clone()),
            section("traversals", "Latent traversals", galleries(&names, traversals)?),
            section("training", "Training", curves(self)),
            section("losses", "Final losses", numbers(&names, &self.last_losses())),
        ];
        Ok(page(&format!("{} runs compared", names.len()), &summary, &sections))
    }
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

fn numbers(names: &[String], rows: &[ComparedNumber]) -> String {
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
            let _ = write!(html, "<tr><th scope=\"row\">{}{better}</th>", escape(&label(&row.key)));
            for (run, value) in row.values.iter().enumerate() {
                let value = value.map_or_else(|| "–".to_owned(), number);
                let chance = row.chance.get(run).copied().flatten().map_or_else(String::new, |level| {
                    let about = if row.is_at_chance(run) { "≈ " } else { "" };
                    format!("<br><span class=\"faint\">{about}chance {}</span>", number(level.mean))
                });
                let _ = if row.is_best(run) {
                    write!(html, "<td class=\"number best\"><strong>{value}</strong>{chance}</td>")
                } else {
                    write!(html, "<td class=\"number\">{value}{chance}</td>")
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

fn galleries(names: &[String], traversals: &[Result<Drawing>]) -> Result<String> {
    let mut html = String::from(
        "<p>From the same image where runs share their data. Latent units (dimensions) are sorted by KL divergence in nats. \
         Each row goes over the range of the unit's prior, or through its classes.</p>\n",
    );
    for (place, (name, traversal)) in names.iter().zip(traversals).enumerate() {
        let title = format!("{}: {name}", place + 1);
        let _ = writeln!(html, "<figure>\n<h3>{}</h3>", escape(&title));
        match traversal {
            Ok(drawing) => html.push_str(&drawing.html(&title)?),
            Err(error) => {
                let _ = writeln!(html, "<p class=\"faint\">Not drawn: {}</p>", escape(&error_chain(error)));
            }
        }
        html.push_str("</figure>\n");
    }
    Ok(html)
}

fn curves(comparison: &Comparison<'_>) -> String {
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
