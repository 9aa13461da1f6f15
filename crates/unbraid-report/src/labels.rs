//! What scores and losses are called in figures and pages.

use unbraid_study::analysis::quantities::{ELBO, KL, RECONSTRUCTION, UDR};

/// Keys whose labels are not just their words.
const LABELS: [(&str, &str); 24] = [
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

/// The label of a key, such as `MIG` for `mig`. The only place that knows where labels come from.
pub(crate) fn label(key: &str) -> String {
    if let Some((_, label)) = LABELS.iter().find(|(known, _)| *known == key) {
        return (*label).to_owned();
    }
    let words = key.strip_prefix("train/").unwrap_or(key).replace('_', " ");
    words.strip_prefix("gaussian").map_or_else(|| words.clone(), |rest| format!("Gaussian{rest}"))
}

/// The labels of several keys.
pub(crate) fn labels(keys: &[String]) -> Vec<String> {
    keys.iter().map(|key| label(key)).collect()
}

/// Words in a list: `a`, `a and b`, `a, b and c`.
pub(crate) fn listed<T: AsRef<str>>(words: &[T]) -> String {
    match words {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [most @ .., last] => {
            let most: Vec<&str> = most.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", most.join(", "), last.as_ref())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unbraid::metrics::registry;

    #[test]
    fn keys_become_words_and_every_special_name_is_of_a_key_that_exists() {
        assert_eq!(label("train/total_correlation"), "total correlation");
        assert_eq!(label("gaussian_total_correlation"), "Gaussian total correlation");
        assert_eq!(label("downstream_accuracy_100"), "downstream accuracy 100");
        let known = |key: &str| registry::metrics().iter().any(|metric| metric.keys.contains(&key));
        for (key, _) in LABELS {
            assert!(known(key) || [RECONSTRUCTION, KL, ELBO, UDR].contains(&key), "{key}");
        }
    }

    #[test]
    fn lists_are_written_as_people_do() {
        assert_eq!(
            [listed(&["a"]), listed(&["a", "b"]), listed(&["a", "b", "c"])],
            ["a", "a and b", "a, b and c"]
        );
    }
}
