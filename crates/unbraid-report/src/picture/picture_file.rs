//! A picture whose file name says whether it moves.

use super::animation::Animation;
use super::canvas::Canvas;
use super::gallery::{Gallery, ImageRow};
use crate::chart::svg::Svg;
use crate::error::{Error, Result};
use crate::run_report::feature_figures;
use ndarray::Array2;
use std::path::{Path, PathBuf};
use unbraid::data::{Features, ImageShape};
use unbraid::files::{Existing, probe_output};

/// What a run on a table decodes while one of its units changes.
#[derive(Clone, Debug)]
pub struct FeatureTraversal {
    /// What it is called: `unit 3`.
    pub label: String,
    /// What changes: `value of the unit`.
    pub horizontal: String,
    /// The values that it takes.
    pub values: Vec<f64>,
    /// What is decoded for each, `[values, columns]`, as
    /// [`Run::decode_standardised`](unbraid::Run::decode_standardised) gives it.
    pub rows: Array2<f32>,
}

/// A picture file to write: PNG, or GIF for an animation.
///
/// It is created before the images are computed, so that a wrong path fails at once.
///
/// ```
/// use ndarray::Array4;
/// use unbraid::files::Existing;
/// use unbraid_report::{ImageRow, PictureFile};
///
/// # let directory = tempfile::tempdir().unwrap();
/// # let path = directory.path().join("strip.gif");
/// let file = PictureFile::new(&path, Existing::Keep)?;
/// let rows = vec![ImageRow::new("unit 3", Array4::zeros((5, 64, 64, 1)))];
/// file.draw(rows, Vec::new(), "Traversal")?;
/// assert!(file.is_animation() && path.is_file());
/// # Ok::<(), unbraid_report::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureFile {
    path: PathBuf,
    kind: Kind,
    existing: Existing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Still,
    Animation,
    Charts,
}

impl PictureFile {
    /// A path that ends in `.png`, or in `.gif` for an animation.
    ///
    /// # Errors
    /// If it has another extension, exists and is to be kept, or cannot be written.
    pub fn new(path: &Path, existing: Existing) -> Result<Self> {
        let expected = "a name that ends in .png, or in .gif for an animation";
        Self::with_extension(path, existing, &["png", "gif"], expected)
    }

    /// A path that ends in `.png`, in `.gif` for an animation, or in `.svg` for charts: what a traversal may
    /// be written to, as long as it is not known whether the run is on images or on a table.
    ///
    /// # Errors
    /// As [`PictureFile::new`].
    pub fn traversal(path: &Path, existing: Existing) -> Result<Self> {
        let expected = "a name that ends in .png, in .gif for an animation, or in .svg for a run on a table";
        Self::with_extension(path, existing, &["png", "gif", "svg"], expected)
    }

    /// A path that ends in `.png`.
    ///
    /// # Errors
    /// As [`PictureFile::new`].
    pub fn still(path: &Path, existing: Existing) -> Result<Self> {
        Self::with_extension(path, existing, &["png"], "a name that ends in .png")
    }

    fn with_extension(
        path: &Path,
        existing: Existing,
        extensions: &[&str],
        expected: &'static str,
    ) -> Result<Self> {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        if !extensions.iter().any(|known| extension == **known) {
            return Err(Error::FileName { path: path.to_owned(), expected });
        }
        probe_output(path, existing)?;
        let kind = match extension.to_str() {
            Some("gif") => Kind::Animation,
            Some("svg") => Kind::Charts,
            _ => Kind::Still,
        };
        Ok(Self { path: path.to_owned(), kind, existing })
    }

    /// Whether it is an animation.
    pub fn is_animation(&self) -> bool {
        self.kind == Kind::Animation
    }

    /// Draws rows of images: below each other under a title, or as an animation in which all rows play at once.
    ///
    /// # Errors
    /// If it cannot be encoded or written, or the file is one for charts.
    ///
    /// # Panics
    /// If images differ in size.
    pub fn draw(&self, rows: Vec<ImageRow>, captions: Vec<String>, title: &str) -> Result {
        match self.kind {
            Kind::Animation => Animation::of_rows(&rows).save(&self.path, self.existing),
            Kind::Still => {
                let columns = rows.iter().map(ImageRow::count).max().unwrap_or(0).max(1);
                Gallery { columns, rows, captions }.draw(title).save(&self.path, self.existing)
            }
            Kind::Charts => Err(self.expected("a name that ends in .png or .gif: the run is on images")),
        }
    }

    /// Draws traversals of a run on a table: a chart for each, of the columns that change most.
    ///
    /// # Errors
    /// If it cannot be written, or the file is not one for charts.
    ///
    /// # Panics
    /// If rows have another number of columns than there are features.
    pub fn draw_features(&self, features: &Features, traversals: &[FeatureTraversal], title: &str) -> Result {
        if self.kind != Kind::Charts {
            return Err(self
                .expected("a name that ends in .svg: the run is on a table, and what it draws are charts"));
        }
        let chart = |traversal: &FeatureTraversal| {
            let FeatureTraversal { label, horizontal, values, rows } = traversal;
            feature_figures::traversal_chart(label, horizontal, features, values, rows)
        };
        let charts: Vec<_> = traversals.iter().map(chart).collect();
        Svg::grid(&charts, charts.len().clamp(1, 3), title.to_owned()).save(&self.path, self.existing)
    }

    fn expected(&self, expected: &'static str) -> Error {
        Error::FileName { path: self.path.clone(), expected }
    }

    /// Writes what was drawn by hand.
    ///
    /// # Errors
    /// If it cannot be encoded or written.
    pub fn save_canvas(&self, canvas: &Canvas) -> Result {
        canvas.save(&self.path, self.existing)
    }

    /// Writes one image as it is, pixel for pixel.
    ///
    /// # Errors
    /// If it cannot be encoded or written.
    ///
    /// # Panics
    /// If `pixels` is not one image of `shape`.
    pub fn save_image(&self, shape: ImageShape, pixels: &[f32]) -> Result {
        Canvas::of_image(shape, pixels).save(&self.path, self.existing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_extensions_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        for name in ["a.jpg", "a"] {
            assert_eq!(
                PictureFile::new(&at(name), Existing::Keep).unwrap_err().to_string(),
                format!(
                    "{}: expected a name that ends in .png, or in .gif for an animation",
                    at(name).display()
                )
            );
        }
        assert_eq!(
            PictureFile::still(&at("a.gif"), Existing::Keep).unwrap_err().to_string(),
            format!("{}: expected a name that ends in .png", at("a.gif").display())
        );
        assert!(PictureFile::new(&at("a.GIF"), Existing::Keep).unwrap().is_animation());
        assert!(!PictureFile::still(&at("a.Png"), Existing::Keep).unwrap().is_animation());
        assert_eq!(
            PictureFile::new(&at("no/a.png"), Existing::Keep).unwrap_err().to_string(),
            format!("{}: its directory does not exist", at("no/a.png").display())
        );
    }
}
