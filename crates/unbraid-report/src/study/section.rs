//! The building blocks of a study's page: sections of figures and tables.

use crate::chart::svg::Svg;
use crate::error::Result;
use crate::figure::{Drawing, Figure};
use crate::html::{Section, escape};
use std::fmt::Write;

/// A part of the page with a heading.
#[derive(Debug)]
pub(crate) struct StudySection {
    /// What addresses it within the page.
    pub(crate) id: &'static str,
    /// Its heading.
    pub(crate) heading: &'static str,
    /// How to read it, and which figures of which papers it follows.
    pub(crate) introduction: String,
    /// What it shows; a section that shows nothing says why.
    pub(crate) blocks: Vec<Block>,
}

/// A figure, a table or text.
#[derive(Debug)]
pub(crate) enum Block {
    /// Charts with a title and a caption.
    Figure(Figure),
    /// A table with a title.
    Table(String, TextTable),
    /// A paragraph.
    Paragraph(String),
    /// Sentences as a list.
    List(Vec<String>),
}

/// How runs of a study get scores, for sections that lack them.
pub(crate) const HOW_TO_SCORE: &str = "unbraid study run STUDY trains and scores the runs that are left, unbraid evaluate RUN \
                                       scores a trained one; then make this page again.";

impl StudySection {
    /// A section that says what is missing, and which command computes it.
    pub(crate) fn missing(id: &'static str, heading: &'static str, why: impl Into<String>) -> Self {
        Self { id, heading, introduction: why.into(), blocks: Vec::new() }
    }

    /// As a section of a page.
    ///
    /// # Errors
    /// If a picture cannot be encoded.
    pub(crate) fn page_section(&self) -> Result<Section> {
        let mut content = String::new();
        if !self.introduction.is_empty() {
            let _ = writeln!(content, "<p>{}</p>", escape(&self.introduction));
        }
        for block in &self.blocks {
            match block {
                Block::Figure(figure) => content.push_str(&figure.html()?),
                Block::Table(title, table) => {
                    let _ =
                        write!(content, "<figure>\n<h3>{}</h3>\n{}</figure>\n", escape(title), table.html());
                }
                Block::Paragraph(text) => {
                    let _ = writeln!(content, "<p>{}</p>", escape(text));
                }
                Block::List(sentences) => {
                    content.push_str("<ul>\n");
                    for sentence in sentences {
                        let _ = writeln!(content, "<li>{}</li>", escape(sentence));
                    }
                    content.push_str("</ul>\n");
                }
            }
        }
        Ok(Section { id: self.id, heading: self.heading, content })
    }
}

impl Block {
    /// Charts of one width, in as many columns as fit the window.
    pub(crate) fn charts(
        name: &'static str,
        title: impl Into<String>,
        caption: &str,
        charts: Vec<Svg>,
    ) -> Self {
        let (title, caption) = (title.into(), caption.to_owned());
        Self::Figure(Figure { name, title, caption, drawing: Drawing::Charts(charts) })
    }

    /// Charts that differ in width.
    pub(crate) fn matrices(
        name: &'static str,
        title: impl Into<String>,
        caption: &str,
        charts: Vec<Svg>,
    ) -> Self {
        let (title, caption) = (title.into(), caption.to_owned());
        Self::Figure(Figure { name, title, caption, drawing: Drawing::Matrices(charts) })
    }
}

/// A table of text and numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TextTable {
    /// Names of the columns.
    pub(crate) columns: Vec<String>,
    /// The rows: a name, and a cell for each further column.
    pub(crate) rows: Vec<(String, Vec<Cell>)>,
    /// Whether cells hold text, which may be broken into lines, rather than numbers.
    pub(crate) is_text: bool,
}

/// A cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cell {
    /// What it says.
    pub(crate) text: String,
    /// A detail after that, in a fainter colour.
    pub(crate) faint: String,
    /// Whether it is the best of its row or column.
    pub(crate) best: bool,
}

impl Cell {
    /// A cell that is not the best.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

impl TextTable {
    /// As HTML that scrolls where the window is narrow.
    pub(crate) fn html(&self) -> String {
        let mut html = String::from("<div class=\"scroll\"><table>\n<thead><tr>");
        for (place, name) in self.columns.iter().enumerate() {
            let class = if place == 0 || self.is_text { "" } else { " class=\"number\"" };
            let _ = write!(html, "<th scope=\"col\"{class}>{}</th>", escape(name));
        }
        html.push_str("</tr></thead>\n<tbody>\n");
        for (name, cells) in &self.rows {
            let _ = write!(html, "<tr><th scope=\"row\">{}</th>", escape(name));
            for cell in cells {
                let text = escape(&cell.text);
                let faint = match cell.faint.as_str() {
                    "" => String::new(),
                    faint => format!(" <span class=\"faint\">{}</span>", escape(faint)),
                };
                let _ = if self.is_text {
                    write!(html, "<td>{text}{faint}</td>")
                } else if cell.best {
                    write!(html, "<td class=\"number best\"><strong>{text}</strong>{faint}</td>")
                } else {
                    write!(html, "<td class=\"number\">{text}{faint}</td>")
                };
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</tbody>\n</table></div>\n");
        html
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_words_are_escaped_and_the_best_stands_out() {
        let best = Cell { text: "0.5 ± 0.1".to_owned(), faint: "<4>".to_owned(), best: true };
        let table = TextTable {
            columns: vec!["Score".to_owned(), "a & b".to_owned()],
            rows: vec![("MIG".to_owned(), vec![best])],
            is_text: false,
        };
        let blocks = vec![Block::Table("<t>".to_owned(), table), Block::Paragraph("x < y".to_owned())];
        let section = StudySection { id: "a", heading: "A", introduction: "1 > 0".to_owned(), blocks };
        let html = section.page_section().unwrap().content;
        for expected in ["1 &gt; 0", "<h3>&lt;t&gt;</h3>", "a &amp; b", "x &lt; y", "&lt;4&gt;"] {
            assert!(html.contains(expected), "{expected}: {html}");
        }
        assert!(html.contains("<td class=\"number best\"><strong>0.5 ± 0.1</strong>"), "{html}");
    }
}
