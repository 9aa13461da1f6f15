//! The tasks that a study was cut into for a scheduler: a file with one line for each, which names its runs.
//!
//! Names, not numbers: numbers shift when a study is planned again while its tasks wait in a queue, and a task must
//! never train another run than the one it was submitted for.

use crate::error::{Error, Result};
use crate::manifest::{Entry, Manifest};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use unbraid::data::files::{longest_table, read_text};
use unbraid::files::{self, Existing};

/// The names of the runs of each task.
pub type Tasks = Vec<Vec<String>>;

/// Puts `names` into tasks of `runs_per_task`, in order.
pub fn cut(names: &[String], runs_per_task: usize) -> Tasks {
    names.chunks(runs_per_task.max(1)).map(<[String]>::to_vec).collect()
}

/// Writes a new file of tasks: a JSON list of names in each line.
///
/// # Errors
/// If the file exists or cannot be written.
pub fn write(path: &Path, tasks: &[Vec<String>]) -> Result {
    Ok(files::write(path, Existing::Keep, |file| {
        for task in tasks {
            serde_json::to_writer(&mut *file, task)?;
            writeln!(file)?;
        }
        Ok(())
    })?)
}

/// Bytes of memory for each of a file: a task of one run of one letter, six bytes, becomes a list with room
/// for four names.
const EXPANSION: u64 = 32;

/// Reads a file of tasks.
///
/// # Errors
/// If it cannot be read, or a line is no list of names. The message names the line.
pub fn read(path: &Path) -> Result<Tasks> {
    let text = read_text(path, longest_table(EXPANSION)).map_err(unbraid::Error::io(path, "read it"))?;
    let line = |(number, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|source| Error::DamagedTasks {
            path: path.to_owned(),
            line: number + 1,
            source,
        })
    };
    text.lines().enumerate().map(line).collect()
}

/// The names in one task of a file.
///
/// # Errors
/// As [`read`], and if there is no such task.
pub fn read_one(path: &Path, task: usize) -> Result<Vec<String>> {
    let mut tasks = read(path)?;
    if task < tasks.len() {
        return Ok(tasks.swap_remove(task));
    }
    Err(Error::NoSuchTask { path: path.to_owned(), task, tasks: tasks.len() })
}

/// The runs of these names in the order of the manifest, and the names that the study no longer has.
pub fn find<'a>(manifest: &'a Manifest, names: &[String]) -> (Vec<&'a Entry>, Vec<String>) {
    let known: BTreeMap<&str, &Entry> =
        manifest.entries.iter().map(|entry| (entry.name.as_str(), entry)).collect();
    let mut found = BTreeMap::new();
    let mut missing = Vec::new();
    for name in names {
        match known.get(name.as_str()) {
            Some(entry) => {
                found.insert(entry.number, *entry);
            }
            None => missing.push(name.clone()),
        }
    }
    (found.into_values().collect(), missing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use unbraid::config::Source;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn five_runs_in_tasks_of_two_are_three_tasks() {
        let expected = vec![names(&["a", "b"]), names(&["c", "d"]), names(&["e"])];
        assert_eq!(cut(&names(&["a", "b", "c", "d", "e"]), 2), expected);
        assert_eq!(cut(&[], 2), Tasks::new());
    }

    #[test]
    fn what_is_written_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("small.tasks");
        let tasks = vec![names(&["a=1-\"x\"", "b c"]), names(&["d"])];
        write(&path, &tasks).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "[\"a=1-\\\"x\\\"\",\"b c\"]\n[\"d\"]\n");
        assert_eq!(read(&path).unwrap(), tasks);
        assert_eq!(read_one(&path, 1).unwrap(), tasks[1]);
        assert_eq!(
            read_one(&path, 2).unwrap_err().to_string(),
            format!("{}: no task 2; found 2 tasks, numbered from 0", path.display())
        );
        // A queue may still hold tasks of the file that is there.
        assert_eq!(
            write(&path, &tasks).unwrap_err().to_string(),
            format!("{}: the file exists", path.display())
        );
        std::fs::write(&path, "[\"a\"]\n[\"b\"").unwrap();
        assert_eq!(
            unbraid::error_chain(&read(&path).unwrap_err()),
            format!(
                "{}, line 2: expected a list of names of runs: EOF while parsing a list at line 1 column 4",
                path.display()
            )
        );
    }

    #[test]
    fn runs_are_found_by_name_after_numbers_have_shifted() {
        let configuration = Source::default().resolve().unwrap();
        let entry = |number: usize, name: &str| Entry {
            number,
            name: name.to_owned(),
            hash: configuration.fingerprint(),
            settings: BTreeMap::new(),
            configuration: configuration.clone(),
            paths: BTreeMap::new(),
        };
        let manifest = Manifest { entries: vec![entry(0, "new"), entry(1, "a"), entry(2, "b")] };
        let (found, missing) = find(&manifest, &names(&["b", "gone", "a", "b"]));
        assert_eq!(found.iter().map(|entry| entry.number).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(missing, names(&["gone"]));
    }
}
