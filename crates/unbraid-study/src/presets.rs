//! The comparisons of the papers as studies, by name.
//!
//! A new one is two files under `presets/`, full and small, and one line in [`STUDIES`].

use crate::definition::{Definition, entries};
use crate::edit;
use crate::error::{Error, Result};
use std::path::Path;
use unbraid::config::{nearest, parse_assignment};

/// A comparison that was published.
#[derive(Debug)]
pub struct StudyPreset {
    /// The name to ask for.
    pub name: &'static str,
    /// The paper or program that it comes from.
    pub paper: &'static str,
    /// What it compares, and its place in the paper.
    pub place: &'static str,
    full: &'static str,
    small: &'static str,
}

/// How much of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PresetScale {
    /// As it was published.
    Full,
    /// What two cores do in an afternoon, on built-in images.
    Small,
}

macro_rules! study {
    ($name:literal, $paper:literal, $place:literal) => {
        StudyPreset {
            name: $name,
            paper: $paper,
            place: $place,
            full: include_str!(concat!("presets/", $name, ".toml")),
            small: include_str!(concat!("presets/", $name, "-small.toml")),
        }
    };
}

/// All studies, by name.
#[rustfmt::skip] // A line for each, to be read as a table.
pub static STUDIES: &[StudyPreset] = &[
    study!("burgess", "disentangling-vae", "five methods on dSprites"),
    study!("dlib", "Hartmann; Locatello et al. 2019", "Table 1: six methods on six data sets"),
    study!("jointvae", "Dupont 2018", "section 4: JointVAE and beta-VAE on MNIST"),
    study!("kumar", "Kumar et al. 2018", "Figure 1: beta-VAE and DIP-VAE on dSprites"),
    study!("mathieu", "Mathieu et al. 2019", "Figure 2: priors on dSprites"),
    study!("mathieu-clustering", "Mathieu et al. 2019", "Figure 3: alpha and beta, mixture prior"),
    study!("mathieu-sparsity", "Mathieu et al. 2019", "Figure 4: sparse prior on CelebA"),
    study!("thesis", "Mushom 2020", "Table 5.4: four methods on dSprites"),
];

/// The name of a template for a study of one's own.
pub const EMPTY: &str = "empty";

impl StudyPreset {
    /// The text of its `study.toml`.
    pub fn text(&self, scale: PresetScale) -> &'static str {
        match scale {
            PresetScale::Full => self.full,
            PresetScale::Small => self.small,
        }
    }

    /// The number of its runs.
    ///
    /// # Errors
    /// None: all studies are tested.
    pub fn runs(&self, scale: PresetScale) -> Result<usize> {
        Ok(Definition::parse(self.text(scale), self.name, Path::new("."))?.runs())
    }
}

/// The text of the study of this name.
///
/// # Errors
/// If there is none, with the nearest name.
pub fn text(name: &str, scale: PresetScale) -> Result<&'static str> {
    if name == EMPTY {
        return Ok(include_str!("presets/empty.toml"));
    }
    let found = STUDIES.iter().find(|study| study.name == name).map(|study| study.text(scale));
    found.ok_or_else(|| {
        let names = STUDIES.iter().map(|study| study.name).chain([EMPTY]);
        Error::UnknownPreset { name: name.to_owned(), suggestion: nearest(name, names) }
    })
}

/// A study with keys set for all runs by `key=value`, and the number of its runs.
///
/// # Errors
/// If an assignment is malformed, sets what the study varies, or leads to a study that cannot be.
pub fn with_assignments(text: &str, assignments: &[String]) -> Result<(String, usize)> {
    let mut text = text.to_owned();
    let mut keys = Vec::new();
    for assignment in assignments {
        let (key, value) = parse_assignment(assignment)?;
        text = edit::set(&text, key, &value);
        keys.push(key);
    }
    let definition = Definition::parse(&text, "study.toml", Path::new("."))?;
    if let Some(key) = definition.varied_keys().find(|key| keys.contains(key)) {
        return Err(Error::VariedKey { key: key.to_owned() });
    }
    let runs = entries(&definition)?.len();
    Ok((text, runs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Entry;
    use std::collections::BTreeSet;

    fn entries(text: &str) -> Vec<Entry> {
        super::entries(&Definition::parse(text, "study.toml", Path::new(".")).unwrap()).unwrap()
    }

    /// Methods x values x data sets x seeds, as the papers have them or the file says.
    #[test]
    fn every_study_has_the_runs_it_promises() {
        for (name, full, small) in [
            ("burgess", 5, 5 * 3),
            ("dlib", 6 * 6 * 6 * 50, 6 * 2 * 3),
            ("jointvae", (3 + 5) * 10, (2 + 2) * 3),
            ("kumar", 12 + 8 + 8, (4 + 3 + 3) * 3),
            ("mathieu", 4 * 6 * 100, 4 * 2 * 4),
            ("mathieu-clustering", 5 * 5 * 3, 3 * 3),
            ("mathieu-sparsity", 2 * 6 * 3, 2 * 3 * 3),
            ("thesis", (4 + 5 + 4 + 4) * 10, 4 * 3 * 3),
        ] {
            let study = STUDIES.iter().find(|study| study.name == name).unwrap();
            for (scale, expected) in [(PresetScale::Full, full), (PresetScale::Small, small)] {
                assert_eq!(entries(study.text(scale)).len(), expected, "{name} {scale:?}");
                assert_eq!(study.runs(scale).unwrap(), expected, "{name} {scale:?}");
            }
        }
        assert!(STUDIES.iter().map(|study| study.name).is_sorted());
        assert_eq!(entries(text(EMPTY, PresetScale::Full).unwrap()).len(), 4 * 3);
    }

    #[test]
    fn small_studies_need_no_files() {
        for study in STUDIES {
            for entry in entries(study.text(PresetScale::Small)) {
                let name = entry.configuration.data.name.clone().unwrap();
                assert!(matches!(name.as_str(), "shapes" | "pinwheel"), "{}: {name}", study.name);
            }
        }
    }

    #[test]
    fn the_weights_of_dlib_keep_their_relations() {
        for scale in [PresetScale::Full, PresetScale::Small] {
            let runs = entries(text("dlib", scale).unwrap());
            for (method, ratio) in [("dip-vae-i", 10), ("dip-vae-ii", 1)] {
                let of_method: Vec<_> = runs.iter().filter(|run| run.method() == method).collect();
                assert!(!of_method.is_empty());
                for run in of_method {
                    let weight = |key: &str| run.settings[key].as_i64().unwrap();
                    assert_eq!(weight("objective.lambda_d"), ratio * weight("objective.lambda_od"));
                }
            }
        }
        let data: BTreeSet<_> = entries(text("dlib", PresetScale::Full).unwrap())
            .iter()
            .map(|run| run.settings["data"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(data.len(), 6);
    }

    #[test]
    fn every_file_is_listed() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/presets");
        assert_eq!(std::fs::read_dir(directory).unwrap().count(), 2 * STUDIES.len() + 1);
    }

    #[test]
    fn keys_are_set_before_the_study_is_written() {
        let small = text("dlib", PresetScale::Small).unwrap();
        let set = |assignments: &[&str]| {
            with_assignments(small, &assignments.iter().map(|&text| text.to_owned()).collect::<Vec<_>>())
        };
        let (text, runs) = set(&["training.steps=7", "seeds=1", "model.architecture=conv"]).unwrap();
        assert!(text.contains("\n\"training.steps\" = 7\n") && text.starts_with("# Hartmann"), "{text}");
        assert_eq!(runs, 12);
        assert!(entries(&text).iter().all(|entry| entry.configuration.training.steps == Some(7)));
        for (assignment, expected) in [
            ("objective.beta=3", "objective.beta: the study varies it, so it cannot be set for all runs"),
            ("seeds=0", "study.toml: seeds: found none, expected one or more"),
            ("training.steps", "--set training.steps: expected key=value, such as objective.beta=6"),
        ] {
            assert_eq!(unbraid::error_chain(&set(&[assignment]).unwrap_err()), expected);
        }
        // The message goes on with the first point of the grid, which is the preset's business.
        let message = unbraid::error_chain(&set(&["training.stepz=3"]).unwrap_err());
        assert!(message.starts_with("study.toml: ") && message.contains("unknown key `stepz`"), "{message}");
    }
}
