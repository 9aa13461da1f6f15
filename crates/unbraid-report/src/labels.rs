//! What scores and losses are called in figures and pages.

use unbraid::metrics::registry;
use unbraid_study::analysis::quantities::{ELBO, KL, RECONSTRUCTION, UDR};

/// Labels of what no metric gives.
const LABELS: [(&str, &str); 4] =
    [(RECONSTRUCTION, "reconstruction loss"), (KL, "KL divergence"), (ELBO, "ELBO"), (UDR, "UDR")];

/// The label of a key, such as `MIG` for `mig`: that of its metric, or the words of the key.
pub(crate) fn label(key: &str) -> String {
    let known = LABELS.iter().find(|(known, _)| *known == key).map(|(_, label)| (*label).to_owned());
    known
        .or_else(|| registry::shared().label(key))
        .unwrap_or_else(|| key.strip_prefix("train/").unwrap_or(key).replace('_', " "))
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

    #[test]
    fn metrics_have_their_own_labels_and_other_keys_become_words() {
        assert_eq!(label("train/total_correlation"), "total correlation");
        assert_eq!(label("gaussian_total_correlation"), "Gaussian total correlation");
        assert_eq!(label("downstream_accuracy_100"), "downstream accuracy 100");
        assert_eq!(label("dci_disentanglement"), "DCI disentanglement");
        assert_eq!(label(RECONSTRUCTION), "reconstruction loss");
    }

    #[test]
    fn lists_are_written_as_people_do() {
        assert_eq!(
            [listed(&["a"]), listed(&["a", "b"]), listed(&["a", "b", "c"])],
            ["a", "a and b", "a, b and c"]
        );
    }
}
