//! What the numbers of a table are called in figures.

use crate::study::analysis::quantities::{ELBO, KL, RECONSTRUCTION, UDR};

/// Keys whose names are not just their words.
const NAMES: [(&str, &str); 24] = [
    ("beta_vae_score", "BetaVAE score"),
    ("factor_vae_score", "FactorVAE score"),
    ("mig", "MIG"),
    ("mig_full_data", "MIG, all data"),
    ("mig_sup", "MIG-sup"),
    ("rmig", "RMIG"),
    ("jemmig", "JEMMIG"),
    ("dcimig", "DCIMIG"),
    ("aam", "AAM"),
    ("sap", "SAP"),
    ("sap_continuous", "SAP, continuous"),
    ("irs", "IRS"),
    ("dci_disentanglement", "DCI disentanglement"),
    ("dci_completeness", "DCI completeness"),
    ("dci_informativeness_train", "DCI informativeness, train"),
    ("dci_informativeness_test", "DCI informativeness, test"),
    ("hoyer", "sparsity (Hoyer)"),
    ("kl", "KL of codes"),
    ("gaussian_wasserstein_correlation", "Gaussian Wasserstein"),
    ("gaussian_wasserstein_correlation_norm", "Gaussian Wasserstein, normed"),
    (RECONSTRUCTION, "reconstruction loss"),
    (KL, "KL divergence"),
    (ELBO, "ELBO"),
    (UDR, "UDR"),
];

/// The name of a number for people.
pub fn name(key: &str) -> String {
    if let Some((_, name)) = NAMES.iter().find(|(known, _)| *known == key) {
        return (*name).to_owned();
    }
    let words = key.strip_prefix("train/").unwrap_or(key).replace('_', " ");
    words.strip_prefix("gaussian").map_or_else(|| words.clone(), |rest| format!("Gaussian{rest}"))
}

/// The names of several.
pub fn names(keys: &[String]) -> Vec<String> {
    keys.iter().map(|key| name(key)).collect()
}

/// Words as people list them: `a`, `a and b`, `a, b and c`.
pub fn listed<T: AsRef<str>>(words: &[T]) -> String {
    match words {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [most @ .., last] => {
            let most: Vec<&str> = most.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", most.join(", "), last.as_ref())
        }
    }
}

/// A number of things: `1 run`, `12 runs`.
pub fn counted(count: usize, thing: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {thing}{ending}", crate::report::sheet::thousands(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use unbraid_metrics::registry;

    #[test]
    fn keys_become_words_and_every_special_name_is_of_a_key_that_exists() {
        assert_eq!(name("train/total_correlation"), "total correlation");
        assert_eq!(name("gaussian_total_correlation"), "Gaussian total correlation");
        assert_eq!(name("downstream_accuracy_100"), "downstream accuracy 100");
        let known = |key: &str| registry::metrics().iter().any(|metric| metric.keys.contains(&key));
        for (key, _) in NAMES {
            assert!(known(key) || [RECONSTRUCTION, KL, ELBO, UDR].contains(&key), "{key}");
        }
    }

    #[test]
    fn lists_are_written_as_people_do() {
        assert_eq!(
            [listed(&["a"]), listed(&["a", "b"]), listed(&["a", "b", "c"])],
            ["a", "a and b", "a, b and c"]
        );
        assert_eq!(
            [counted(1, "run"), counted(0, "run"), counted(2, "seed")],
            ["1 run", "0 runs", "2 seeds"]
        );
    }
}
