//! Where the data of a run is now. Its configuration has absolute paths, so that the run works from any directory;
//! `meta.json` has the same paths relative to the run, so that it also works after both were moved together.

use super::meta::Meta;
use super::paths::RunPaths;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use unbraid_data::registry::PATH_OPTIONS;
use unbraid_data::{DataSpec, OptionValue};

/// The key of the path of the data set itself.
const PATH: &str = "path";

/// The paths of a data set relative to the directory of a run, by their keys.
pub(super) fn relative_paths(data: &DataSpec, run: &Path) -> BTreeMap<String, PathBuf> {
    let run = normal(run);
    let relative = |(key, path): (&str, PathBuf)| Some((key.to_owned(), between(&run, &normal(&path))?));
    paths(data).filter_map(relative).collect()
}

/// The data of a run where it is now: each path as it is stored, or, if nothing is there, the path relative to the run.
pub(super) fn located(data: &DataSpec, run: &RunPaths) -> DataSpec {
    let Some(meta) = Meta::read(&run.meta()) else { return data.clone() };
    let mut found = data.clone();
    for (key, stored) in paths(data) {
        let Some(relative) = meta.data_paths.get(key).filter(|_| !stored.exists()) else { continue };
        let path = normal(&run.root().join(relative));
        if !path.exists() {
            continue;
        }
        if key == PATH {
            found.path = Some(path);
        } else {
            set_path(&mut found, key, &path);
        }
    }
    found
}

/// The same data set with absolute paths that do not depend on how they were written.
pub(super) fn comparable(data: &DataSpec) -> DataSpec {
    let mut same = data.clone();
    same.path = data.path.as_deref().map(normal);
    for (key, path) in paths(data).filter(|(key, _)| *key != PATH) {
        set_path(&mut same, key, &normal(&path));
    }
    same
}

/// Changes the path in an option.
fn set_path(data: &mut DataSpec, option: &str, path: &Path) {
    if let Some(stored) = data.options.get_mut(option).and_then(OptionValue::as_path_mut) {
        *stored = path.display().to_string();
    }
}

/// The paths of a data set by their keys.
fn paths(data: &DataSpec) -> impl Iterator<Item = (&'static str, PathBuf)> {
    let option = |key: &'static str| Some((key, PathBuf::from(data.options.get(key)?.as_path()?)));
    let own = data.path.clone().map(|path| (PATH, path));
    own.into_iter().chain(PATH_OPTIONS.into_iter().filter_map(option))
}

/// An absolute path without `.` and `..`. It is not followed through links: the place where a user sees a file is the one
/// that they move.
fn normal(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut normal = PathBuf::new();
    for component in absolute.components() {
        match component {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => normal.push(component),
        }
    }
    normal
}

/// The relative path from one absolute path to another; `None` if they are on different drives.
fn between(from: &Path, to: &Path) -> Option<PathBuf> {
    let (mut from, mut to) = (from.components().peekable(), to.components().peekable());
    if from.peek() != to.peek() {
        return None;
    }
    while from.peek().is_some() && from.peek() == to.peek() {
        from.next();
        to.next();
    }
    Some(from.map(|_| Component::ParentDir).chain(to).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_from_a_run_to_its_data() {
        for (from, to, expected) in [
            ("/a/runs/x", "/a/photos", "../../photos"),
            ("/a", "/a/photos", "photos"),
            ("/a/b", "/c", "../../c"),
            ("/a/b", "/a/b", ""),
        ] {
            assert_eq!(between(Path::new(from), Path::new(to)).unwrap(), Path::new(expected));
        }
        assert_eq!(normal(Path::new("/a/./b/../c")), Path::new("/a/c"));
    }

    #[test]
    fn data_is_found_after_moving_it_with_its_run() {
        let directory = tempfile::tempdir().unwrap();
        let (old, new) = (directory.path().join("old"), directory.path().join("new"));
        std::fs::create_dir_all(old.join("runs/x")).unwrap();
        std::fs::create_dir(old.join("photos")).unwrap();
        std::fs::write(old.join("table.csv"), "").unwrap();
        let data = |place: &Path| {
            DataSpec::named("folder")
                .with_path(place.join("photos"))
                .with("attributes", place.join("table.csv").display())
                .with("attributes.kinds.weight", "number")
        };
        let run = RunPaths::new(old.join("runs/x"));
        let mut meta = Meta::new(0);
        meta.data_paths = relative_paths(&data(&old), run.root());
        meta.write(&run.meta()).unwrap();
        assert_eq!(located(&data(&old), &run), data(&old));
        std::fs::rename(&old, &new).unwrap();
        let run = RunPaths::new(new.join("runs/x"));
        assert_eq!(located(&data(&old), &run), data(&new));
        // Nothing is made up where there is nothing.
        std::fs::remove_dir(new.join("photos")).unwrap();
        assert_eq!(located(&data(&old), &run).path, data(&old).path);
    }
}
