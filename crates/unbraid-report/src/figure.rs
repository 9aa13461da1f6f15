//! A figure with a title and a caption, as a file and as a part of a page.

use crate::chart::svg::Svg;
use crate::error::Result;
use crate::html::{data_uri, escape};
use crate::picture::animation::Animation;
use crate::picture::canvas::Canvas;
use crate::picture::gallery::Gallery;
use std::path::Path;
use unbraid::files::Existing;

/// What is drawn.
#[derive(Debug)]
pub(crate) enum Drawing {
    /// Rows of images: PNG.
    Gallery(Gallery),
    /// Charts of one size: SVG.
    Charts(Vec<Svg>),
    /// Charts of sizes of their own: SVG.
    Matrices(Vec<Svg>),
    /// A picture: PNG.
    Picture(Canvas),
    /// A moving picture: GIF.
    Animation(Animation),
}

/// A figure.
#[derive(Debug)]
pub(crate) struct Figure {
    /// The name of its file, without the extension.
    pub(crate) name: &'static str,
    /// Its title.
    pub(crate) title: String,
    /// What it shows and how to read it.
    pub(crate) caption: String,
    /// What is drawn.
    pub(crate) drawing: Drawing,
}

impl Figure {
    /// The name of its file.
    pub(crate) fn file(&self) -> String {
        let extension = match self.drawing {
            Drawing::Gallery(_) | Drawing::Picture(_) => "png",
            Drawing::Charts(_) | Drawing::Matrices(_) => "svg",
            Drawing::Animation(_) => "gif",
        };
        format!("{}.{extension}", self.name)
    }

    /// Whether it moves.
    pub(crate) fn is_animation(&self) -> bool {
        matches!(self.drawing, Drawing::Animation(_))
    }

    /// Writes it into a directory, in place of an earlier one.
    ///
    /// # Errors
    /// If it cannot be encoded or written.
    pub(crate) fn save(&self, directory: &Path) -> Result {
        let path = directory.join(self.file());
        match &self.drawing {
            Drawing::Gallery(gallery) => gallery.draw(&self.title).save(&path, Existing::Replace),
            Drawing::Picture(canvas) => canvas.save(&path, Existing::Replace),
            Drawing::Animation(animation) => animation.save(&path, Existing::Replace),
            Drawing::Charts(charts) | Drawing::Matrices(charts) => match charts.as_slice() {
                [chart] => chart.save(&path, Existing::Replace),
                charts => Svg::grid(charts, 3, self.title.clone()).save(&path, Existing::Replace),
            },
        }
    }

    /// As a part of a page.
    ///
    /// # Errors
    /// If a picture cannot be encoded.
    pub(crate) fn html(&self) -> Result<String> {
        let content = self.drawing.html(&self.title)?;
        let (title, caption) = (escape(&self.title), escape(&self.caption));
        Ok(format!("<figure>\n<h3>{title}</h3>\n<figcaption>{caption}</figcaption>\n{content}</figure>\n"))
    }
}

impl Drawing {
    /// As a part of a page, without a caption.
    ///
    /// # Errors
    /// If a picture cannot be encoded.
    pub(crate) fn html(&self, title: &str) -> Result<String> {
        let escaped = escape(title);
        Ok(match self {
            Self::Gallery(gallery) => gallery.html(title)?,
            Self::Charts(charts) => inline("charts", charts, Svg::inline),
            Self::Matrices(charts) => inline("wide", charts, Svg::inline_in_full),
            Self::Picture(canvas) => paper(&escaped, canvas, &data_uri("image/png", &canvas.png()?)),
            Self::Animation(animation) => {
                let Some(still) = animation.frames.first() else { return Ok(String::new()) };
                let moving = paper(&escaped, still, &data_uri("image/gif", &animation.gif()?));
                let still = data_uri("image/png", &still.png()?);
                // Readers who asked for less motion see the first frame.
                format!(
                    "<picture><source media=\"(prefers-reduced-motion:reduce)\" srcset=\"{still}\">{moving}</picture>\n"
                )
            }
        })
    }
}

fn inline(class: &str, charts: &[Svg], html: fn(&Svg) -> String) -> String {
    let charts: String = charts.iter().map(html).collect();
    format!("<div class=\"{class}\">\n{charts}</div>\n")
}

fn paper(title: &str, canvas: &Canvas, source: &str) -> String {
    let (width, height) = (canvas.width(), canvas.height());
    format!("<img class=\"paper\" width=\"{width}\" height=\"{height}\" alt=\"{title}\" src=\"{source}\">\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_escaped_and_files_have_the_right_ending() {
        let directory = tempfile::tempdir().unwrap();
        let mut figure = Figure {
            name: "a",
            title: "<script>".to_owned(),
            caption: "x < y & \"z\"".to_owned(),
            drawing: Drawing::Charts(vec![Svg::new(10.0, 10.0, ""), Svg::new(20.0, 10.0, "")]),
        };
        let html = figure.html().unwrap();
        assert!(html.contains("<h3>&lt;script&gt;</h3>") && html.contains("x &lt; y &amp; &quot;z&quot;"));
        assert!(!html.contains("<script>"));
        for (drawing, file) in [
            (Drawing::Picture(Canvas::new(3, 2)), "a.png"),
            (Drawing::Animation(Animation { frames: vec![Canvas::new(3, 2)], delay: 1 }), "a.gif"),
            (Drawing::Matrices(vec![Svg::new(1.0, 1.0, "")]), "a.svg"),
        ] {
            figure.drawing = drawing;
            figure.save(directory.path()).unwrap();
            assert!(directory.path().join(file).is_file(), "{file}");
            assert!(figure.html().unwrap().contains("<figure>"));
        }
    }
}
