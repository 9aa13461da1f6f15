//! Where the data of a run is now. Its configuration has absolute paths, so that the run works from any directory;
//! `meta.json` has the same paths relative to the run, so that it also works after both were moved together.

use super::meta::Meta;
use super::paths::RunPaths;
use crate::config::{Config, RelativePaths};
use unbraid_data::DataSpec;
use unbraid_data::progress::Progress;

impl RunPaths {
    /// The data of the run where it is now: each path of its configuration as it is stored, or, if nothing is
    /// there, the path relative to the run.
    pub fn data_spec(&self, stored: &Config) -> DataSpec {
        stored.located(&self.relative_paths(), self.root()).data
    }

    /// As [`RunPaths::data_spec`], but where something is at the stored paths and relative to the run as
    /// well, it is the data whose hash is that of the data that the run was trained on.
    pub(crate) fn find_data(&self, stored: &Config, progress: &dyn Progress) -> DataSpec {
        let place = self.data_spec(stored);
        let Some(moved) = stored.moved_elsewhere(&self.relative_paths(), self.root()) else { return place };
        let Some(meta) = Meta::read(&self.meta()) else { return place };
        let is_own = |data: &DataSpec| {
            let hash = unbraid_data::open(data, progress).and_then(|data| data.fingerprint());
            hash.is_ok_and(|hash| hash == meta.data_sha256)
        };
        if !is_own(&place) && is_own(&moved.data) { moved.data } else { place }
    }

    /// The configuration of the run as if it had been moved together with its data: with the recorded paths
    /// relative to the run, whether or not something is at the stored ones.
    #[must_use]
    pub fn moved(&self, stored: &Config) -> Config {
        stored.moved(&self.relative_paths(), self.root())
    }

    /// Whether the run, whose configuration is `stored`, is the one that is wanted: both train the same
    /// model, and the run may have been moved together with its data.
    pub fn is_run_of(&self, stored: &Config, wanted: &Config) -> bool {
        stored.fingerprint() == wanted.fingerprint()
            || stored.is_same_training(&self.relative_paths(), self.root(), wanted)
    }

    /// The paths in its configuration relative to the run: as they were recorded if they still lead
    /// somewhere, else those of where its data is now.
    pub(super) fn relative_paths_of(&self, stored: &Config) -> RelativePaths {
        let recorded = self.relative_paths();
        let mut paths = stored.located(&recorded, self.root()).relative_paths(self.root());
        for (key, path) in &mut paths {
            if let Some(recorded) = recorded.get(key).filter(|path| self.root().join(path).exists()) {
                path.clone_from(recorded);
            }
        }
        paths
    }

    /// The paths in its configuration relative to the run, as they were recorded.
    fn relative_paths(&self) -> RelativePaths {
        Meta::read(&self.meta()).map(|meta| meta.data_paths).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Source;
    use std::path::Path;

    #[test]
    fn data_is_found_after_moving_it_with_its_run() {
        let directory = tempfile::tempdir().unwrap();
        let (old, new) = (directory.path().join("old"), directory.path().join("new"));
        std::fs::create_dir_all(old.join("runs/x")).unwrap();
        std::fs::create_dir(old.join("photos")).unwrap();
        std::fs::write(old.join("table.csv"), "").unwrap();
        let config = |place: &Path| {
            let data = DataSpec::named("folder")
                .with_path(place.join("photos"))
                .with("attributes", place.join("table.csv").display())
                .with("attributes.kinds.weight", "number");
            Config { data, ..Source::default().resolve().unwrap() }
        };
        let run = RunPaths::new(old.join("runs/x"));
        let mut meta = Meta::new(0);
        meta.data_paths = config(&old).relative_paths(run.root());
        meta.write(&run.meta()).unwrap();
        assert_eq!(run.data_spec(&config(&old)), config(&old).data);
        assert!(!run.is_run_of(&config(&old), &config(&new)));
        std::fs::rename(&old, &new).unwrap();
        let run = RunPaths::new(new.join("runs/x"));
        assert_eq!(run.data_spec(&config(&old)), config(&new).data);
        assert!(run.is_run_of(&config(&old), &config(&new)));
        // Nothing is made up where there is nothing.
        std::fs::remove_dir(new.join("photos")).unwrap();
        assert_eq!(run.data_spec(&config(&old)).path, config(&old).data.path);
    }
}
