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
    study!("kumar-celeba", "Kumar et al. 2018", "Figure 2: beta-VAE and DIP-VAE on CelebA"),
    study!("mathieu", "Mathieu et al. 2019", "Figure 2: priors on dSprites"),
    study!("mathieu-clustering", "Mathieu et al. 2019", "Figure 3: alpha and beta, mixture prior"),
    study!("mathieu-sparsity", "Mathieu et al. 2019", "Figure 4: sparse prior, alpha and beta"),
    study!("thesis", "Mushom 2020", "Table 5.4: four methods on dSprites"),
];

/// The name of the template for your own study.
pub const EMPTY: &str = "empty";

/// The name of a study that consists of imported tables.
pub const IMPORTED: &str = "imported";

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
    if name == IMPORTED {
        return Ok(include_str!("presets/imported.toml"));
    }
    let found = STUDIES.iter().find(|study| study.name == name).map(|study| study.text(scale));
    found.ok_or_else(|| {
        let names = STUDIES.iter().map(|study| study.name).chain([EMPTY, IMPORTED]);
        Error::UnknownPreset { name: name.to_owned(), suggestion: nearest(name, names) }
    })
}

/// A study with keys set for all runs by `key=value`, and the number of its runs.
///
/// # Errors
/// If an assignment is malformed, sets what the study varies, or makes the study invalid.
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
    use unbraid::config::EvaluationSplit;

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
            ("kumar", 13 + 8 + 8, (4 + 3 + 3) * 3),
            ("kumar-celeba", 12 + 8 + 9, (3 + 2 + 2) * 3),
            ("mathieu", 4 * 6 * 100, 4 * 2 * 4),
            ("mathieu-clustering", 5 * 5 * 3, 3 * 3),
            ("mathieu-sparsity", 2 * (6 + 4) * 3, 2 * (3 + 2) * 3),
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
        assert!(entries(text(IMPORTED, PresetScale::Full).unwrap()).is_empty());
    }

    /// The values of one key over the runs of a method with the first seed, in the order of the runs.
    fn values(runs: &[Entry], method: &str, key: &str) -> Vec<f64> {
        let mut found: Vec<f64> = Vec::new();
        for run in runs.iter().filter(|run| run.method() == method) {
            let value = run.settings[key].as_f64().unwrap();
            if !found.contains(&value) {
                found.push(value);
            }
        }
        found
    }

    /// Study, method, key, values and seeds: typed from the papers, not from the files.
    #[rustfmt::skip] // To be read as a table.
    const PRINTED: &[(&str, &str, &str, &[f64], usize)] = &[
        // Hartmann, Table 1; 50 seeds.
        ("dlib", "beta-vae", "objective.beta", &[1.0, 2.0, 4.0, 6.0, 8.0, 16.0], 50),
        ("dlib", "annealed-vae", "objective.capacity.to", &[5.0, 10.0, 25.0, 50.0, 75.0, 100.0], 50),
        ("dlib", "factor-vae", "objective.gamma", &[10.0, 20.0, 30.0, 40.0, 50.0, 100.0], 50),
        ("dlib", "dip-vae-i", "objective.lambda_od", &[1.0, 2.0, 5.0, 10.0, 20.0, 50.0], 50),
        ("dlib", "dip-vae-i", "objective.lambda_d", &[10.0, 20.0, 50.0, 100.0, 200.0, 500.0], 50),
        ("dlib", "dip-vae-ii", "objective.lambda_od", &[1.0, 2.0, 5.0, 10.0, 20.0, 50.0], 50),
        ("dlib", "dip-vae-ii", "objective.lambda_d", &[1.0, 2.0, 5.0, 10.0, 20.0, 50.0], 50),
        ("dlib", "beta-tcvae", "objective.beta", &[1.0, 2.0, 4.0, 6.0, 8.0, 10.0], 50),
        // Kumar et al. 2018, section 4, "Hyperparameters", and beta = 60 of Table 1.
        ("kumar", "beta-vae", "objective.beta", &[1.0, 2.0, 4.0, 8.0, 16.0, 25.0, 32.0, 60.0, 64.0, 100.0, 128.0, 200.0, 256.0], 1),
        ("kumar", "dip-vae-i", "objective.lambda_od", &[1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 500.0], 1),
        ("kumar", "dip-vae-i", "objective.lambda_d", &[10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 5000.0], 1),
        ("kumar", "dip-vae-ii", "objective.lambda_od", &[1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 500.0], 1),
        ("kumar", "dip-vae-ii", "objective.lambda_d", &[1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 500.0], 1),
        // The same for CelebA: lambda_d = 50 lambda_od (I), lambda_od = 2 lambda_d (II), and lambda_od = 80 of Table 1.
        ("kumar-celeba", "beta-vae", "objective.beta", &[1.0, 2.0, 4.0, 8.0, 16.0, 25.0, 32.0, 64.0, 100.0, 128.0, 200.0, 256.0], 1),
        ("kumar-celeba", "dip-vae-i", "objective.lambda_od", &[1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 500.0], 1),
        ("kumar-celeba", "dip-vae-i", "objective.lambda_d", &[50.0, 100.0, 250.0, 500.0, 1000.0, 2500.0, 5000.0, 25000.0], 1),
        ("kumar-celeba", "dip-vae-ii", "objective.lambda_od", &[1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 80.0, 100.0, 500.0], 1),
        ("kumar-celeba", "dip-vae-ii", "objective.lambda_d", &[0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 40.0, 50.0, 250.0], 1),
        // Mathieu et al. 2019: 100 networks a point (Figure 2), nu of Figure 5 among ours, gamma of section 6.3.
        ("mathieu-sparsity", "alpha", "model.prior.gamma", &[0.0, 0.9], 3),
        ("mathieu-sparsity", "beta", "model.prior.gamma", &[0.0, 0.9], 3),
        // Mushom 2020, Table 5.4, ten seeds; lambda of beta-TCVAE beside a KL divergence that contains TC
        // once: 1 + lambda.
        ("thesis", "beta-vae", "objective.beta", &[1.0, 3.0, 10.0, 30.0], 10),
        ("thesis", "factor-vae", "objective.gamma", &[5.0, 10.0, 25.0, 50.0, 100.0], 10),
        ("thesis", "beta-tcvae", "objective.beta", &[1.0 + 1.0, 1.0 + 3.0, 1.0 + 6.0, 1.0 + 10.0], 10),
        ("thesis", "dip-vae", "objective.lambda_od", &[1.0, 3.0, 10.0, 30.0], 10),
        ("thesis", "dip-vae", "objective.lambda_d", &[1.0, 3.0, 10.0, 30.0], 10),
    ];

    #[test]
    fn full_studies_have_the_values_of_the_papers() {
        for (study, method, key, expected, seeds) in PRINTED {
            let runs = entries(text(study, PresetScale::Full).unwrap());
            assert_eq!(values(&runs, method, key), *expected, "{study}: {method}: {key}");
            let seed = |run: &Entry| run.settings["seed"].as_u64();
            let found: BTreeSet<_> = runs.iter().filter(|run| run.method() == *method).map(seed).collect();
            assert_eq!(found.len(), *seeds, "{study}: {method}");
        }
        // Section 6.1 and Figures 2 and 5 of Mathieu et al.
        let runs = entries(text("mathieu", PresetScale::Full).unwrap());
        let nu = values(&runs, "student-t", "model.prior.degrees_of_freedom");
        assert!([3.0, 5.0, 100.0].iter().all(|printed| nu.contains(printed)), "{nu:?}");
        assert_eq!(runs.iter().filter(|run| run.method() == "isotropic").count(), 6 * 100);
    }

    /// Section 6.3 compares increasing alpha, at beta = 1, with increasing beta; no point is trained twice.
    #[test]
    fn sparsity_is_studied_against_alpha_and_against_beta() {
        for scale in [PresetScale::Full, PresetScale::Small] {
            let runs = entries(text("mathieu-sparsity", scale).unwrap());
            let constant =
                |run: &Entry, key: &str| -> f64 { run.configuration.values()[key].parse().unwrap() };
            for run in &runs {
                let (alpha, beta) = (constant(run, "objective.alpha"), constant(run, "objective.beta"));
                match run.method() {
                    "alpha" => assert_eq!(beta, 1.0),
                    "beta" => assert!(alpha == 0.0 && beta > 1.0),
                    other => panic!("{other}"),
                }
            }
            assert!(values(&runs, "beta", "objective.beta").len() > 1);
        }
    }

    /// Kumar et al. 2018: Table 1 and Figures 1 and 2 are of the test set, a tenth of CelebA; reconstruction
    /// errors are per pixel, SAP is that of section 3, and the Z-diff score has "a one-vs-rest linear SVM
    /// with weight on the hinge loss C set to 0.01".
    #[test]
    fn the_studies_of_kumar_score_images_that_were_not_trained_on() {
        for (name, scale) in ["kumar", "kumar-celeba"]
            .into_iter()
            .flat_map(|name| [PresetScale::Full, PresetScale::Small].map(|scale| (name, scale)))
        {
            for run in entries(text(name, scale).unwrap()) {
                let evaluation = &run.configuration.evaluation;
                assert_eq!(evaluation.split, EvaluationSplit::Test, "{name} {scale:?}");
                assert_eq!(evaluation.metrics, ["default", "sap_kumar", "reconstruction_error"]);
                let registry = evaluation.registry().unwrap();
                let classifier = registry.values("beta_vae_score").unwrap();
                assert_eq!(classifier["classifier"], "svm");
                assert_eq!((&classifier["c"], &classifier["loss"]), (&0.01.into(), &"hinge".into()));
                let data = run.configuration.values();
                let of = |key: &str| data[key].trim_matches('"').to_owned();
                assert_eq!((of("data.split"), of("data.train_fraction")), ("train".into(), "0.9".into()));
            }
        }
    }

    /// Dupont 2018, section 4.2: digits are inferred "on test data".
    #[test]
    fn the_study_of_jointvae_scores_the_test_images_of_mnist() {
        for run in entries(text("jointvae", PresetScale::Full).unwrap()) {
            assert_eq!(run.configuration.evaluation.split, EvaluationSplit::Test);
            assert!(!run.configuration.data.options.contains_key("split"), "MNIST's own training images");
        }
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
        assert_eq!(std::fs::read_dir(directory).unwrap().count(), 2 * STUDIES.len() + 2);
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
            ("training.steps", "assignment `training.steps`: expected key=value, such as objective.beta=6"),
        ] {
            assert_eq!(unbraid::error_chain(&set(&[assignment]).unwrap_err()), expected);
        }
        // The first point of the grid is the one that is refused.
        let message = unbraid::error_chain(&set(&["training.stepz=3"]).unwrap_err());
        let expected = "study.toml: method `beta-vae`, objective.beta = 1: configuration: training: unknown key `stepz`\n\
                        hint: did you mean `steps`?";
        assert_eq!(message, expected);
    }
}
