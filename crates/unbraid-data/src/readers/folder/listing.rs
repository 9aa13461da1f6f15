//! The images of a folder, in a fixed order.

use super::decode::ENDINGS;
use crate::error::{DataError, Result};
use crate::readers::labels::Column;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// The images below a folder, sorted.
#[derive(Debug)]
pub(super) struct Listing {
    /// Their paths with `/` as separator, for people: what is not Unicode is written out as `\xE9`.
    names: Vec<String>,
    /// Where they are, from the folder on.
    paths: Vec<PathBuf>,
    /// Files that are not images by their names, sorted likewise.
    foreign: Vec<String>,
}

impl Listing {
    /// Finds all images below `root`, of which there must be one. Hidden files and links to directories are skipped.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let listing = Self::scan(root)?;
        if listing.names.is_empty() {
            let expected = format!("{} in it or its sub-folders", super::decode::FORMATS);
            return Err(DataError::content(root, "folder", listing.without_images(), expected));
        }
        Ok(listing)
    }

    /// The same, of any number of images.
    pub(super) fn scan(root: &Path) -> Result<Self> {
        if !fs::metadata(root).map_err(DataError::io(root, "open"))?.is_dir() {
            return Err(DataError::content(root, "path", "a file", "a folder of images"));
        }
        let (mut images, mut foreign) = (Vec::new(), Vec::new());
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            visit(root, &folder, &mut folders, |path, is_image| {
                let name = shown(&path);
                if is_image { images.push((name, path)) } else { foreign.push(name) }
            })?;
        }
        images.sort();
        foreign.sort();
        let (names, paths) = images.into_iter().unzip();
        Ok(Self { names, paths, foreign })
    }

    /// What there is instead of images.
    pub(super) fn without_images(&self) -> String {
        match self.foreign.len() {
            0 => "no files".to_owned(),
            1 => format!("no images but one other file: {}", first_names(&self.foreign)),
            count => format!("no images but {count} other files: {}", first_names(&self.foreign)),
        }
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

    pub(super) fn path(&self, index: usize) -> &Path {
        &self.paths[index]
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    pub(super) fn into_names(self) -> Vec<String> {
        self.names
    }

    /// Keeps the images whose index `wanted` accepts.
    pub(super) fn keep(&mut self, wanted: impl Fn(usize) -> bool) {
        let mut places = 0..self.names.len();
        self.names.retain(|_| places.next().is_some_and(&wanted));
        let mut places = 0..self.paths.len();
        self.paths.retain(|_| places.next().is_some_and(&wanted));
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
}

/// Calls `take` for each file of a folder below `root`, with its path from there on and whether it is an
/// image by its name, and adds the folders in it to `folders`.
fn visit(
    root: &Path,
    folder: &Path,
    folders: &mut Vec<PathBuf>,
    mut take: impl FnMut(PathBuf, bool),
) -> Result<()> {
    let place = root.join(folder);
    for entry in fs::read_dir(&place).map_err(DataError::io(&place, "list"))? {
        let entry = entry.map_err(DataError::io(&place, "list"))?;
        let kind = entry.file_type().map_err(DataError::io(&entry.path(), "read its file type"))?;
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let path = folder.join(&name);
        if kind.is_dir() {
            folders.push(path);
        } else {
            let ending = path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase);
            let is_image = ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str()));
            take(path, is_image);
        }
    }
    Ok(())
}

/// A path for people: `/` between its parts, and bytes that are not Unicode as `\xE9`.
fn shown(path: &Path) -> String {
    let part = |part: &OsStr| {
        let mut text = String::new();
        for chunk in part.as_encoded_bytes().utf8_chunks() {
            text.push_str(chunk.valid());
            chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02X}")));
        }
        text
    };
    path.iter().map(part).collect::<Vec<String>>().join("/")
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
