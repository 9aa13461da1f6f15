//! The images of a folder, in a fixed order.

use super::decode::ENDINGS;
use crate::error::{DataError, Result};
use crate::readers::labels::Column;
use std::fs;
use std::path::{Path, PathBuf};

/// Paths of the images below a folder, sorted, with `/` as separator.
#[derive(Debug)]
pub(super) struct Listing {
    names: Vec<String>,
    /// Files that are no images by their names, sorted likewise.
    foreign: Vec<String>,
}

impl Listing {
    /// Finds all images below `root`. Hidden files and links to directories are skipped.
    pub(super) fn read(root: &Path) -> Result<Self> {
        if !fs::metadata(root).map_err(DataError::io(root, "open"))?.is_dir() {
            return Err(DataError::content(root, "path", "a file", "a folder of images"));
        }
        let mut listing = Self { names: Vec::new(), foreign: Vec::new() };
        let mut folders = vec![(root.to_owned(), String::new())];
        while let Some((folder, prefix)) = folders.pop() {
            listing.visit(&folder, &prefix, &mut folders)?;
        }
        listing.names.sort();
        listing.foreign.sort();
        if listing.names.is_empty() {
            let found = match listing.foreign.len() {
                0 => "no files".to_owned(),
                count => format!("no images but {count} other files: {}", first_names(&listing.foreign)),
            };
            let expected = format!("{} in it or its sub-folders", super::decode::FORMATS);
            return Err(DataError::content(root, "folder", found, expected));
        }
        Ok(listing)
    }

    /// Files that are no images by their names.
    pub(super) fn foreign(&self) -> &[String] {
        &self.foreign
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

    /// The first sub-folder of each image, as the labels of a factor.
    pub(super) fn folder_labels(&self, root: &Path) -> Result<Column> {
        let folder = |name: &str| name.split_once('/').map(|(folder, _)| folder.to_owned());
        let folders: Option<Vec<String>> = self.names.iter().map(|name| folder(name)).collect();
        let folders = folders.ok_or_else(|| {
            let outside = self.names.iter().find(|name| !name.contains('/')).cloned().unwrap_or_default();
            let found = format!("{outside} outside the sub-folders");
            DataError::content(root, "folder", found, "every image in a sub-folder")
        })?;
        Ok(("folder".to_owned(), folders))
    }

    fn visit(&mut self, folder: &Path, prefix: &str, folders: &mut Vec<(PathBuf, String)>) -> Result<()> {
        for entry in fs::read_dir(folder).map_err(DataError::io(folder, "list"))? {
            let entry = entry.map_err(DataError::io(folder, "list"))?;
            let name = entry.file_name();
            let kind = entry.file_type().map_err(DataError::io(&entry.path(), "read its file type"))?;
            // A name that is no Unicode could not be found again by what is stored of it.
            let (name, is_unicode) = (name.to_string_lossy(), name.to_str().is_some());
            if name.starts_with('.') {
                continue;
            }
            let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
            let is_image = ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str()));
            if kind.is_dir() {
                folders.push((entry.path(), format!("{prefix}{name}/")));
            } else if is_image && is_unicode {
                self.names.push(format!("{prefix}{name}"));
            } else {
                self.foreign.push(format!("{prefix}{name}"));
            }
        }
        Ok(())
    }
}

/// The first three names, and how many more there are.
pub(crate) fn first_names<T: AsRef<str>>(names: &[T]) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<&str> = names.iter().take(SHOWN).map(AsRef::as_ref).collect();
    let shown = shown.join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
