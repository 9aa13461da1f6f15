//! What the columns of a table from elsewhere mean. Names of other tools become ours here.

use super::columns::{DEVIATION, MEDIAN, RUNS};
use super::import_error::ImportError;
use crate::analysis::quantities::{self, Kind};

/// What a column says of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// One of the things that a row has a place for, by its name in our own tables.
    Own(&'static str),
    /// The hyper-parameter of the row's method, whichever that is.
    HyperParameter,
    /// A setting by its dotted key.
    Setting(String),
    /// A setting of some methods, which another column may have for others: disentanglement_lib has `vae_beta` and
    /// `beta_tc_vae_beta`, both of which are `objective.beta`.
    MethodSetting {
        /// The name of the column.
        column: String,
        /// The dotted key.
        key: &'static str,
    },
    /// How many times a setting is another one: `lambda_d` by its ratio to `lambda_od`.
    Ratio {
        /// The dotted key of the setting that it gives.
        key: &'static str,
        /// The dotted key of the setting that it multiplies.
        of: &'static str,
    },
    /// A number, or its mean over several runs.
    Number(String),
    /// The standard deviation of a number.
    Deviation(String),
    /// The median of a number.
    Median(String),
    /// To be told from what is in it.
    Unknown(String),
    /// Nothing about the row: a counter of lines.
    Ignored,
}

/// disentanglement_lib's number of a model, which is its name.
pub(super) const MODEL_NUMBER: &str = "model_num";

/// Names of what a row has a place for: ours first.
const OWN: [(&str, &[&str]); 10] = [
    ("number", &[]),
    ("name", &["run", MODEL_NUMBER]),
    ("hash", &[]),
    ("method", &["model", "model_name", "objective"]),
    ("data", &["dataset", "data_set"]),
    ("seed", &["random_seed", "model_random_seed"]),
    ("state", &[]),
    ("step", &["steps"]),
    ("seconds", &[]),
    (RUNS, &["n_seeds", "seeds", "n", "models", "n_models"]),
];

const HYPER_PARAMETER: [&str; 3] = ["hyper", "hyperparameter", "hyper_parameter"];

/// Sections of a configuration, whose keys are settings.
const SECTIONS: [&str; 6] = ["data.", "model.", "objective.", "optimizer.", "training.", "evaluation."];

/// Names of numbers elsewhere, and here.
const NUMBERS: [(&str, &str); 21] = [
    ("loss", "train/loss"),
    ("regularizer", "train/regularizer"),
    ("beta_vae_eval_accuracy", "beta_vae_score"),
    ("factor_vae_eval_accuracy", "factor_vae_score"),
    ("mig_discrete_mig", "mig"),
    ("sap_score", "sap"),
    ("modularity_score", "modularity"),
    ("modularity_explicitness_score_test", "explicitness"),
    ("rec", quantities::RECONSTRUCTION),
    ("reconstruction", quantities::RECONSTRUCTION),
    ("reconstruction_loss", quantities::RECONSTRUCTION),
    ("kl_loss", quantities::KL),
    ("betavae", "beta_vae_score"),
    ("factorvae", "factor_vae_score"),
    ("dci_d", "dci_disentanglement"),
    ("dci_c", "dci_completeness"),
    ("dci_i_train", "dci_informativeness_train"),
    ("dci_i_test", "dci_informativeness_test"),
    ("explicit", "explicitness"),
    ("explicit_test", "explicitness"),
    ("irs_score", "irs"),
];

/// disentanglement_lib's names of hyper-parameters, each of one method or two, and the dotted keys of ours.
const METHOD_SETTINGS: [(&str, &str); 5] = [
    ("vae_beta", "objective.beta"),
    ("beta_tc_vae_beta", "objective.beta"),
    ("factor_vae_gamma", "objective.gamma"),
    ("dip_vae_lambda_od", "objective.lambda_od"),
    ("annealed_vae_c_max", "objective.capacity"),
];
/// Its ratio of DIP-VAE's two weights.
const LAMBDA_RATIO: &str = "dip_vae_lambda_d_factor";

/// Names of methods elsewhere, and here; then the key of the hyper-parameter that publications vary.
const METHODS: [(&str, &str, &str); 7] = [
    ("beta_vae", "beta-vae", "objective.beta"),
    ("factor_vae", "factor-vae", "objective.gamma"),
    ("dip_vae_i", "dip-vae-i", "objective.lambda_od"),
    ("dip_vae_ii", "dip-vae-ii", "objective.lambda_od"),
    ("beta_tc_vae", "beta-tcvae", "objective.beta"),
    ("beta_tcvae", "beta-tcvae", "objective.beta"),
    ("annealed_vae", "annealed-vae", "objective.capacity"),
];

/// Names of data sets elsewhere, and here, beside those that differ in underscores only.
const DATA_SETS: [(&str, &str); 2] = [("dsprites_full", "dsprites"), ("color_dsprites", "colour-dsprites")];

/// The meaning of every column.
///
/// # Errors
/// If two columns mean the same, no column says the method, none holds a score or a loss, or means come
/// without the number of runs.
pub(super) fn meanings(header: &[String]) -> Result<Vec<Meaning>, ImportError> {
    let known: Vec<String> = header.iter().map(|name| plain(name)).collect();
    let meanings: Vec<Meaning> = header.iter().map(|name| meaning(name, &known)).collect();
    for (place, meaning) in meanings.iter().enumerate() {
        if *meaning == Meaning::Ignored {
            continue;
        }
        if let Some(first) = meanings[..place].iter().position(|other| other == meaning) {
            let (first, second) = (header[first].clone(), header[place].clone());
            return Err(ImportError::SameMeaning { first, second });
        }
    }
    if !meanings.contains(&Meaning::Own("method")) {
        return Err(ImportError::NoMethodColumn { columns: header.to_vec() });
    }
    // What chance gives is no result.
    let is_result = |meaning: &Meaning| matches!(meaning, Meaning::Number(key) if !matches!(quantities::kind(key), Kind::Chance | Kind::Other));
    if !meanings.iter().any(is_result) {
        return Err(ImportError::NoResultColumn { columns: header.to_vec() });
    }
    let summary = known.iter().zip(&meanings).find(|(name, meaning)| {
        matches!(meaning, Meaning::Deviation(_) | Meaning::Median(_))
            || matches!(meaning, Meaning::Number(_)) && name.ends_with("_mean")
    });
    if let Some((name, _)) = summary
        && !meanings.contains(&Meaning::Own(RUNS))
    {
        return Err(ImportError::NoRunsColumn { column: name.clone() });
    }
    Ok(meanings)
}

fn meaning(name: &str, header: &[String]) -> Meaning {
    let simple = plain(name);
    if let Some((own, _)) =
        OWN.iter().find(|(own, others)| *own == simple || others.contains(&simple.as_str()))
    {
        return Meaning::Own(own);
    }
    if HYPER_PARAMETER.contains(&simple.as_str()) {
        return Meaning::HyperParameter;
    }
    if let Some((_, key)) = METHOD_SETTINGS.iter().find(|(other, _)| *other == simple) {
        return Meaning::MethodSetting { column: simple, key };
    }
    if simple == LAMBDA_RATIO {
        return Meaning::Ratio { key: "objective.lambda_d", of: "objective.lambda_od" };
    }
    // The index that pandas writes has no name.
    if simple.is_empty() || simple == "unnamed:_0" {
        return Meaning::Ignored;
    }
    if SECTIONS.iter().any(|section| name.starts_with(section)) {
        return Meaning::Setting(name.to_owned());
    }
    let has = |other: String| header.contains(&other);
    for (suffix, of) in [
        ("_mean", Meaning::Number as fn(String) -> Meaning),
        (DEVIATION, Meaning::Deviation),
        (MEDIAN, Meaning::Median),
    ] {
        let Some(base) = simple.strip_suffix(suffix) else { continue };
        if let Some(key) = number_key(base, header) {
            return of(key);
        }
        if suffix == "_mean" || has(base.to_owned()) || has(format!("{base}_mean")) {
            return of(base.to_owned());
        }
    }
    match number_key(&simple, header) {
        Some(key) => Meaning::Number(key),
        None if has(format!("{simple}{DEVIATION}")) => Meaning::Number(simple),
        None => Meaning::Unknown(name.to_owned()),
    }
}

/// Our key of a number.
fn number_key(name: &str, header: &[String]) -> Option<String> {
    // Beside a reconstruction error `kl` is the other part of the same loss; alone it is the score of this name.
    let beside_reconstruction = || {
        let is_there =
            |other: &str| header.iter().any(|name| name == other || *name == format!("{other}_mean"));
        is_there("rec") || is_there("reconstruction") || is_there("reconstruction_loss")
    };
    if name == "kl" && beside_reconstruction() {
        return Some(quantities::KL.to_owned());
    }
    if quantities::kind(name) != Kind::Other {
        return Some(name.to_owned());
    }
    NUMBERS.iter().find(|(other, _)| *other == name).map(|(_, ours)| (*ours).to_owned())
}

/// Lower case, with underscores.
fn plain(name: &str) -> String {
    name.trim().to_lowercase().replace([' ', '-'], "_")
}

/// Our name of a method; unchanged if it is unknown.
pub(super) fn method_name(name: &str) -> String {
    let simple = plain(name);
    METHODS.iter().find(|(other, _, _)| *other == simple).map_or(name, |(_, ours, _)| ours).to_owned()
}

/// The key of the hyper-parameter that publications vary for one of our methods.
pub(super) fn hyper_parameter_of(method: &str) -> &'static str {
    METHODS.iter().find(|(_, ours, _)| *ours == method).map_or("hyper", |(_, _, key)| key)
}

/// Our name of a data set; unchanged if it is unknown.
pub(super) fn data_name(name: &str) -> String {
    let simple = plain(name);
    if let Some((_, ours)) = DATA_SETS.iter().find(|(other, _)| *other == simple) {
        return (*ours).to_owned();
    }
    let hyphened = simple.replace('_', "-");
    if unbraid::data::registry::entry(&hyphened).is_ok() { hyphened } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(header: &[&str]) -> Result<Vec<Meaning>, ImportError> {
        meanings(&header.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn names_of_other_tools_become_ours() {
        let number = |key: &str| Meaning::Number(key.to_owned());
        let found =
            of(&["dataset", "model", "hyper", "n_seeds", "rec_mean", "rec_std", "kl_mean", "dci_d_median"]);
        assert_eq!(
            found.unwrap(),
            [
                Meaning::Own("data"),
                Meaning::Own("method"),
                Meaning::HyperParameter,
                Meaning::Own("runs"),
                number("train/reconstruction"),
                Meaning::Deviation("train/reconstruction".into()),
                number("train/kl"),
                Meaning::Median("dci_disentanglement".into()),
            ]
        );
        let found =
            of(&["method", "objective.beta", "kl", "downstream_accuracy_100", "train/tc", "colour"]).unwrap();
        assert_eq!(found[1], Meaning::Setting("objective.beta".into()));
        assert_eq!(found[2..5], [number("kl"), number("downstream_accuracy_100"), number("train/tc")]);
        assert_eq!(found[5], Meaning::Unknown("colour".into()));
        let found = of(&["method", "runs", "mig", "mine", "mine_std", "alone_std"]).unwrap();
        assert_eq!(found[3..5], [number("mine"), Meaning::Deviation("mine".into())]);
        assert_eq!(found[5], Meaning::Unknown("alone_std".into()));
        assert_eq!(method_name("beta_tc_vae"), "beta-tcvae");
        assert_eq!((method_name("My VAE"), hyper_parameter_of("My VAE")), ("My VAE".to_owned(), "hyper"));
        assert_eq!(hyper_parameter_of("dip-vae-ii"), "objective.lambda_od");
        let data = ["dsprites_full", "noisy_dsprites", "cars3d", "My data"].map(data_name);
        assert_eq!(data, ["dsprites", "noisy-dsprites", "cars3d", "My data"]);
    }

    #[test]
    fn the_columns_of_disentanglement_lib_are_known() {
        let header = ["", "model_num", "dataset", "model_name", "vae_beta", "dip_vae_lambda_d_factor"];
        let header = header.iter().chain(&["beta_tc_vae_beta", "model_random_seed", "kl_loss", "sap_score"]);
        let found = of(&header.copied().collect::<Vec<_>>()).unwrap();
        let setting =
            |column: &str| Meaning::MethodSetting { column: column.to_owned(), key: "objective.beta" };
        let number = |key: &str| Meaning::Number(key.to_owned());
        assert_eq!(
            found,
            [
                Meaning::Ignored,
                Meaning::Own("name"),
                Meaning::Own("data"),
                Meaning::Own("method"),
                setting("vae_beta"),
                Meaning::Ratio { key: "objective.lambda_d", of: "objective.lambda_od" },
                setting("beta_tc_vae_beta"),
                Meaning::Own("seed"),
                number("train/kl"),
                number("sap"),
            ]
        );
    }

    #[test]
    fn headers_that_say_too_little_or_too_much_are_refused() {
        for (header, expected) in [
            (
                &["mig", "seed"][..],
                "line 1: found the columns `mig`, `seed`, expected a column `method` or `model`",
            ),
            (
                &["method", "seed", "colour"],
                "line 1: found the columns `method`, `seed`, `colour`, expected at least one score or loss, such as \
                 `mig` or `train/reconstruction`",
            ),
            (
                &["method", "mig", "mig_mean", "runs"],
                "line 1: found the columns `mig` and `mig_mean`, expected only one of them",
            ),
            (
                &["method", "mig_mean", "mig_std"],
                "line 1: found the column `mig_mean`, expected the number of runs as well, in a column `runs` or \
                 `n_seeds`",
            ),
        ] {
            assert_eq!(of(header).unwrap_err().to_string(), expected);
        }
    }
}
