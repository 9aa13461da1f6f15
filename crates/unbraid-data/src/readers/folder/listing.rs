//! The images of a folder, in a fixed order.

use crate::error::{DataError, Result};
use crate::factors::{Factor, FactorSpace};
use crate::table::FactorTable;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const ENDINGS: [&str; 3] = ["png", "jpg", "jpeg"];

/// Paths of the images below a folder, sorted, with `/` as separator.
#[derive(Debug)]
pub(super) struct Listing {
    names: Vec<String>,
}

impl Listing {
    /// Finds all images below `root`. Hidden files and links to directories are skipped.
    pub(super) fn read(root: &Path) -> Result<Self> {
        if !fs::metadata(root).map_err(DataError::io(root, "open"))?.is_dir() {
            return Err(DataError::content(root, "path", "a file", "a folder of images"));
        }
        let mut names = Vec::new();
        let mut folders = vec![(root.to_owned(), String::new())];
        while let Some((folder, prefix)) = folders.pop() {
            visit(&folder, &prefix, &mut names, &mut folders)?;
        }
        if names.is_empty() {
            let expected = "at least one .png, .jpg or .jpeg in it or its sub-folders";
            return Err(DataError::content(root, "folder", "no images", expected));
        }
        names.sort();
        Ok(Self { names })
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn name(&self, index: usize) -> &str {
        &self.names[index]
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    pub(super) fn into_names(self) -> Vec<String> {
        self.names
    }

    /// Keeps the images whose index `wanted` accepts.
    pub(super) fn keep(&mut self, wanted: impl Fn(usize) -> bool) {
        let mut index = 0;
        self.names.retain(|_| {
            index += 1;
            wanted(index - 1)
        });
    }

    /// A table with one factor, the first sub-folder of each image.
    pub(super) fn folders_as_factor(&self, root: &Path) -> Result<FactorTable> {
        let folder = |name: &str| name.split_once('/').map(|(folder, _)| folder.to_owned());
        let folders: Option<Vec<String>> = self.names.iter().map(|name| folder(name)).collect();
        let folders = folders.ok_or_else(|| {
            let outside = self.names.iter().find(|name| !name.contains('/')).cloned().unwrap_or_default();
            let found = format!("{outside} outside the sub-folders");
            DataError::content(root, "folder", found, "every image in a sub-folder")
        })?;
        table_of_labels(vec![("folder".to_owned(), folders)])
    }
}

fn visit(
    folder: &Path,
    prefix: &str,
    names: &mut Vec<String>,
    folders: &mut Vec<(PathBuf, String)>,
) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(DataError::io(folder, "list"))? {
        let entry = entry.map_err(DataError::io(folder, "list"))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        let kind = entry.file_type().map_err(DataError::io(&entry.path(), "read its file type"))?;
        let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
        if kind.is_dir() {
            folders.push((entry.path(), format!("{prefix}{name}/")));
        } else if ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str())) {
            names.push(format!("{prefix}{name}"));
        }
    }
    Ok(())
}

/// A table with one factor per column, whose values are the distinct labels: in numerical order if all are numbers, in
/// alphabetical order otherwise.
pub(super) fn table_of_labels(columns: Vec<(String, Vec<String>)>) -> Result<FactorTable> {
    let mut factors = Vec::with_capacity(columns.len());
    let mut numbered: Vec<Vec<u32>> = Vec::with_capacity(columns.len());
    for (name, labels) in columns {
        let distinct: BTreeSet<&String> = labels.iter().collect();
        let mut distinct: Vec<&String> = distinct.into_iter().collect();
        let numbers: Option<Vec<f64>> = distinct.iter().map(|label| label.trim().parse().ok()).collect();
        if numbers.is_some_and(|numbers| numbers.iter().all(|number| !number.is_nan())) {
            distinct.sort_by(|left, right| {
                let number = |label: &str| label.trim().parse().unwrap_or(f64::INFINITY);
                number(left).total_cmp(&number(right)).then_with(|| left.cmp(right))
            });
        }
        let position: std::collections::HashMap<&String, u32> =
            distinct.iter().enumerate().map(|(i, &label)| (label, i as u32)).collect();
        numbered.push(labels.iter().map(|label| position[label]).collect());
        factors.push(Factor::labelled(name, distinct.into_iter().cloned()));
    }
    let len = numbered.first().map_or(0, Vec::len);
    let rows = (0..len).flat_map(|row| numbered.iter().map(move |column| column[row])).collect();
    FactorTable::from_rows(FactorSpace::new(factors), rows)
}
