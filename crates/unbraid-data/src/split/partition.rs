//! CelebA's own partition, `list_eval_partition.txt`: a line for each image, its file name and 0 for training, 1 for
//! validation or 2 for test.

use super::Part;
use crate::dataset::DataSet;
use crate::error::{DataError, Result};
use crate::files::{longest_table, read_text};
use crate::readers::folder::celeba_file;
use crate::request::Request;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

pub(crate) const FILE: &str = "list_eval_partition.txt";

/// Bytes of memory for each of the file: a line of four bytes becomes an entry of a hash map.
const EXPANSION: u64 = 16;

/// The file that a request names, or the one beside the images.
pub(super) fn find(request: &Request<'_>) -> Result<PathBuf> {
    if let Some(path) = request.text("partition")? {
        return Ok(PathBuf::from(path));
    }
    let root = request.path()?;
    celeba_file(root, "Eval", FILE).ok_or_else(|| {
        let expected =
            "it in the folder, in its parent, or given as `partition`, since `split_by` is official";
        DataError::content(root, "folder", format!("no {FILE}"), expected)
    })
}

/// The part of every image.
pub(super) fn read(file: &Path, data: &dyn DataSet) -> Result<Vec<Part>> {
    let text = read_text(file, longest_table(EXPANSION)).map_err(DataError::io(file, "read"))?;
    let mut parts = HashMap::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let mut fields = line.split_whitespace();
        let part = match (fields.next(), fields.next(), fields.next()) {
            (Some(name), Some("0"), None) => (name, Part::Train),
            (Some(name), Some("1"), None) => (name, Part::Validation),
            (Some(name), Some("2"), None) => (name, Part::Test),
            _ => {
                let expected = "a file name and 0 (train), 1 (validation) or 2 (test)";
                let line = format!("`{}`", line.trim());
                return Err(DataError::content(file, format!("line {}", number + 1), line, expected));
            }
        };
        parts.insert(part.0, part.1);
    }
    let part_of = |index: usize| {
        let name = data.image_name(index).unwrap_or_default();
        let name = name.rsplit('/').next().unwrap_or(name);
        parts.get(name).copied().ok_or_else(|| {
            DataError::content(file, "partition", format!("no line for {name}"), "a line for every image")
        })
    };
    (0..data.len()).map(part_of).collect()
}
