//! The paths in a configuration. They are absolute, so that it means the same in any working directory; the same paths
//! relative to a run or a study tell where things are after both were moved together.

use super::Config;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use unbraid_data::registry::PATH_OPTIONS;
use unbraid_data::{DataSpec, OptionValue};

/// The key of the path of the data set itself.
const DATA: &str = "path";

/// The key of the weights that training starts from.
const INIT: &str = "training.init";

/// Paths relative to a directory, by their keys: `path` is that of the data set, options of the data set have their own names,
/// such as `attributes`, and `training.init` is that of the weights that training starts from.
pub type RelativePaths = BTreeMap<String, PathBuf>;

impl Config {
    /// The paths in it relative to a directory.
    pub fn relative_paths(&self, directory: &Path) -> RelativePaths {
        // Paths may have been written through a link to the directory or not; the shorter way is the one that moves with it.
        let directories = [Some(normal(directory)), directory.canonicalize().ok()];
        let relative = |(key, path): (&str, PathBuf)| {
            let ways =
                directories.iter().flatten().filter_map(|directory| between(directory, &normal(&path)));
            Some((key.to_owned(), ways.min_by_key(|way| way.components().count())?))
        };
        self.paths().filter_map(relative).collect()
    }

    /// The same with each path where it leads now: as it is, or, if nothing is there, relative to a directory that was moved
    /// together with what the path leads to.
    #[must_use]
    pub fn located(&self, relative: &RelativePaths, directory: &Path) -> Self {
        let mut found = self.clone();
        for (key, stored) in self.paths() {
            let Some(relative) = relative.get(key).filter(|_| !stored.exists()) else { continue };
            let path = normal(&directory.join(relative));
            if path.exists() {
                found.set_path(key, &path);
            }
        }
        found
    }

    /// As [`Config::moved`], if its data would then be something else that exists: what is at the stored paths may have come
    /// there after the data was moved away.
    pub(crate) fn moved_elsewhere(&self, relative: &RelativePaths, directory: &Path) -> Option<Self> {
        let moved = self.moved(relative, directory);
        let real = |data: &DataSpec| -> Vec<Option<PathBuf>> {
            data_paths(data).map(|(_, path)| path.canonicalize().ok()).collect()
        };
        let places = real(&moved.data);
        (places != real(&self.data) && places.iter().all(Option::is_some)).then_some(moved)
    }

    /// The same with every path that `relative` has, starting in `directory`.
    #[must_use]
    pub fn moved(&self, relative: &RelativePaths, directory: &Path) -> Self {
        let mut moved = self.clone();
        for (key, path) in relative.iter().filter(|(key, _)| self.paths().any(|(own, _)| own == *key)) {
            moved.set_path(key, &normal(&directory.join(path)));
        }
        moved
    }

    /// As [`Config::fingerprint`], with the paths as they are seen from a directory: it does not change if that directory is
    /// moved together with the data.
    pub fn fingerprint_from(&self, directory: &Path) -> String {
        let mut seen = self.clone();
        for (key, path) in self.relative_paths(directory) {
            seen.set_path(&key, &path);
        }
        seen.fingerprint()
    }

    /// Whether this configuration, of something that may have been moved, trains the same model as another. `relative` are
    /// its paths relative to `directory` as they were recorded; a path leads to the same place if it does so as it is, or
    /// from there.
    pub fn is_same_training(&self, relative: &RelativePaths, directory: &Path, other: &Self) -> bool {
        let mut same = self.clone();
        let own: BTreeMap<&str, PathBuf> = self.paths().collect();
        for (key, theirs) in other.paths() {
            let Some(ours) = own.get(key) else { return false };
            let real = |path: &Path| path.canonicalize().ok();
            let leads_there = |path: &Path| {
                normal(path) == normal(&theirs) || real(path).is_some_and(|path| Some(path) == real(&theirs))
            };
            if leads_there(ours) || relative.get(key).is_some_and(|path| leads_there(&directory.join(path))) {
                same.set_path(key, &theirs);
                same.forget_hash(key, other);
            }
        }
        same.fingerprint() == other.fingerprint()
    }

    /// A plan names weights by their path, and a run also has their hash.
    fn forget_hash(&mut self, key: &str, plan: &Self) {
        let is_planned = plan.training.init.as_ref().is_some_and(|init| init.sha256.is_none());
        if let Some(init) = self.training.init.as_mut().filter(|_| key == INIT && is_planned) {
            init.sha256 = None;
        }
    }

    fn set_path(&mut self, key: &str, path: &Path) {
        match (key, &mut self.training.init) {
            (DATA, _) => self.data.path = Some(path.to_owned()),
            (INIT, Some(init)) => init.path = path.display().to_string(),
            (INIT, None) => {}
            (option, _) => {
                if let Some(stored) = self.data.options.get_mut(option).and_then(OptionValue::as_path_mut) {
                    *stored = path.display().to_string();
                }
            }
        }
    }

    /// The paths by their keys.
    fn paths(&self) -> impl Iterator<Item = (&'static str, PathBuf)> {
        let init = self.training.init.as_ref().map(|init| (INIT, PathBuf::from(&init.path)));
        data_paths(&self.data).chain(init)
    }
}

fn data_paths(data: &DataSpec) -> impl Iterator<Item = (&'static str, PathBuf)> {
    let option = |key: &'static str| Some((key, PathBuf::from(data.options.get(key)?.as_path()?)));
    let own = data.path.clone().map(|path| (DATA, path));
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

/// The directory of a file, absolute.
pub(super) fn directory_of(file: &Path) -> PathBuf {
    absolute_in(&working_directory(), file.parent().unwrap_or(Path::new("")))
}

/// The working directory; where there is none any more, relative paths stay as they are.
pub(super) fn working_directory() -> PathBuf {
    std::env::current_dir().unwrap_or_default()
}

/// Resolves a path against `directory` and removes the `..` at its beginning. The path is part of a run's identity and
/// must not depend on how the study was addressed.
pub(super) fn absolute_in(directory: &Path, path: &Path) -> PathBuf {
    let mut absolute = directory.to_owned();
    let mut components = path.components().peekable();
    while let Some(Component::ParentDir | Component::CurDir) = components.peek() {
        if components.next() == Some(Component::ParentDir) {
            absolute.pop();
        }
    }
    // An absolute path replaces everything before it.
    absolute.extend(components);
    absolute
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{InitConfig, Source};

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

    /// A configuration whose data is in a directory.
    fn config(place: &str) -> Config {
        let data = DataSpec::named("folder")
            .with_path(format!("{place}/photos"))
            .with("attributes", format!("{place}/table.csv"))
            .with("attributes.kinds.weight", "number");
        Config { data, ..Source::default().resolve().unwrap() }
    }

    #[test]
    fn a_fingerprint_from_a_directory_moves_with_it() {
        let from = |place: &str, directory: &str| config(place).fingerprint_from(Path::new(directory));
        assert_eq!(from("/old", "/old/study"), from("/new/deep", "/new/deep/study"));
        assert_ne!(from("/old", "/old/study"), from("/old", "/new/study"));
        assert_ne!(config("/old").fingerprint(), config("/new").fingerprint());
        // Where there are no paths, it is the fingerprint of earlier versions.
        let without = Source::default().resolve().unwrap();
        assert_eq!(without.fingerprint_from(Path::new("/old/study")), without.fingerprint());
    }

    #[test]
    fn what_was_moved_is_recognised_by_its_relative_paths() {
        let (old, new) = (config("/old"), config("/new"));
        let recorded = old.relative_paths(Path::new("/old/runs/x"));
        assert_eq!(recorded["attributes"], Path::new("../../table.csv"));
        let run = Path::new("/new/runs/x");
        assert!(old.is_same_training(&recorded, run, &new), "both were moved");
        assert!(old.is_same_training(&recorded, run, &old), "the run was moved alone");
        assert!(!old.is_same_training(&recorded, run, &config("/other")));
        assert!(!old.is_same_training(&RelativePaths::new(), run, &new));
        assert!(!old.is_same_training(&recorded, run, &Config { seed: 1, ..new.clone() }));
        let mut without = new.clone();
        without.data.options.remove("attributes");
        assert!(!old.is_same_training(&recorded, run, &without));
        assert!(!without.is_same_training(&recorded, run, &new));
    }

    /// The run has the hash of the weights that it started from, its plan the path alone.
    #[test]
    fn weights_to_start_from_are_recognised_by_their_path() {
        let with = |path: &str, hash: Option<char>| {
            let mut config = config("/old");
            let sha256 = hash.map(|digit| digit.to_string().repeat(64));
            config.training.init = Some(InitConfig { path: path.to_owned(), sha256 });
            config
        };
        let (run, directory) = (with("/old/first", Some('a')), Path::new("/old/runs/x"));
        let recorded = run.relative_paths(directory);
        assert!(run.is_same_training(&recorded, directory, &with("/old/first", None)));
        assert!(run.is_same_training(&recorded, directory, &with("/elsewhere", Some('a'))));
        assert!(!run.is_same_training(&recorded, directory, &with("/old/second", None)));
        assert!(!run.is_same_training(&recorded, directory, &with("/old/first", Some('b'))));
    }
}
