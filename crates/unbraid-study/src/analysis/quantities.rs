//! What the numbers of a table are: scores that know the factors, properties of the codes alone, losses.

use crate::Table;
use unbraid::metrics::{Description, Direction, registry};

/// The reconstruction loss, in nats per image.
pub const RECONSTRUCTION: &str = "train/reconstruction";
/// The squared error of a pixel on the images that scores are computed on, by the metric of this name.
pub const RECONSTRUCTION_ERROR: &str = "reconstruction_error";
/// The divergence of posteriors from the prior, in nats per image.
pub const KL: &str = "train/kl";
/// The evidence lower bound as [`with_derived`] computes it.
pub const ELBO: &str = "elbo";
/// Unsupervised disentanglement ranking, as [`selection`](super::selection) computes it.
pub const UDR: &str = "udr";

/// Before the key of a score: its chance level, the same score with the factors of all points shuffled.
const CHANCE: &str = "chance/";

/// The key of the chance level of the score with this key.
pub fn chance_key(key: &str) -> String {
    format!("{CHANCE}{key}")
}

/// The key of the score whose chance level has this key.
pub fn scored_key(key: &str) -> Option<&str> {
    key.strip_prefix(CHANCE).filter(|score| metric(score).is_some())
}

/// What a number says something about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// How codes and factors go together.
    Score,
    /// The part of a single factor in a score, by its name: `attribute_accuracy/Smiling`.
    Attribute,
    /// The codes or the model, without any factors: what could choose a model where there are none.
    Unsupervised,
    /// What training minimised, or a part of it.
    Loss,
    /// The chance level of a score: `chance/mig`.
    Chance,
    /// Unknown here, from a table from elsewhere.
    Other,
}

/// The metric that gives a number with this key.
pub fn metric(key: &str) -> Option<&'static Description> {
    registry::find_by_key(key)
}

/// What the number with this key is about.
pub fn kind(key: &str) -> Kind {
    match metric(key) {
        Some(_) if registry::factor_of_key(key).is_some() => Kind::Attribute,
        Some(metric) if metric.needs.factors => Kind::Score,
        Some(_) => Kind::Unsupervised,
        None if key == ELBO || key == UDR => Kind::Unsupervised,
        None if key.starts_with("train/") => Kind::Loss,
        None if scored_key(key).is_some() => Kind::Chance,
        None => Kind::Other,
    }
}

/// Which way the number with this key points.
pub fn direction(key: &str) -> Direction {
    match (metric(key), key) {
        (Some(metric), _) => metric.direction,
        (None, ELBO | UDR) => Direction::Higher,
        // A divergence trades off against reconstruction: neither direction is better as such.
        (None, RECONSTRUCTION | "train/loss") => Direction::Lower,
        (None, _) => Direction::Neither,
    }
}

/// The keys of this kind that at least one of these rows has a number for, in the order of the table.
pub fn keys_of(table: &Table, rows: &[usize], wanted: Kind) -> Vec<String> {
    let known = |column: usize| rows.iter().any(|&row| table.rows[row].numbers[column].is_finite());
    let keys = table.number_keys.iter().enumerate();
    keys.filter(|(column, key)| kind(key) == wanted && known(*column)).map(|(_, key)| key.clone()).collect()
}

/// The unsupervised quantities of the thesis, Fig. 5.16, as far as these rows have them: reconstruction, KL divergence,
/// evidence lower bound, total correlation, mutual information between units, UDR.
pub fn unsupervised_keys(table: &Table, rows: &[usize]) -> Vec<String> {
    let present = |key: &&str| {
        table
            .number_column(key)
            .is_some_and(|column| rows.iter().any(|&row| table.rows[row].numbers[column].is_finite()))
    };
    [RECONSTRUCTION, KL, ELBO, "gaussian_total_correlation", "mutual_info_score", UDR]
        .iter()
        .filter(|key| present(key))
        .map(|key| (*key).to_owned())
        .collect()
}

/// The table with the evidence lower bound, -(reconstruction + KL divergence), as the number [`ELBO`]: the plain bound,
/// of which the methods minimise a weighted form.
#[must_use]
pub fn with_derived(mut table: Table) -> Table {
    let places = (table.number_column(RECONSTRUCTION), table.number_column(KL));
    if let (Some(reconstruction), Some(kl)) = places {
        let bounds: Vec<f64> =
            table.rows.iter().map(|row| -(row.numbers[reconstruction] + row.numbers[kl])).collect();
        table.set_numbers(ELBO, &bounds);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::testing::{all, table};
    use super::*;

    #[test]
    fn numbers_are_told_by_their_keys() {
        for (key, expected, way) in [
            ("mig", Kind::Score, Direction::Higher),
            ("dci_completeness", Kind::Score, Direction::Higher),
            ("downstream_accuracy_100", Kind::Score, Direction::Higher),
            ("gaussian_total_correlation", Kind::Unsupervised, Direction::Lower),
            ("hoyer", Kind::Unsupervised, Direction::Neither),
            (UDR, Kind::Unsupervised, Direction::Higher),
            (RECONSTRUCTION, Kind::Loss, Direction::Lower),
            (KL, Kind::Loss, Direction::Neither),
            ("fid", Kind::Other, Direction::Neither),
            ("mig_100", Kind::Score, Direction::Higher),
            ("attribute_accuracy", Kind::Score, Direction::Higher),
            ("attribute_accuracy/Smiling", Kind::Attribute, Direction::Higher),
            (RECONSTRUCTION_ERROR, Kind::Unsupervised, Direction::Lower),
            ("chance/mig", Kind::Chance, Direction::Neither),
            ("chance/attribute_accuracy/Smiling", Kind::Chance, Direction::Neither),
            ("chance/fid", Kind::Other, Direction::Neither),
        ] {
            assert_eq!((kind(key), direction(key)), (expected, way), "{key}");
        }
    }

    #[test]
    fn the_bound_is_derived_and_missing_where_a_part_is() {
        let table = table(
            &[],
            &[RECONSTRUCTION, KL, "mig", "sap"],
            vec![
                ("vae", "shapes", vec![], 0, vec![30.0, 12.0, 0.5, f64::NAN]),
                ("vae", "shapes", vec![], 1, vec![30.0, f64::NAN, 0.5, f64::NAN]),
            ],
        );
        let table = with_derived(table);
        assert_eq!(table.number(0, ELBO), -42.0);
        assert!(table.number(1, ELBO).is_nan());
        assert_eq!(unsupervised_keys(&table, &all(&table)), [RECONSTRUCTION, KL, ELBO]);
        assert_eq!(unsupervised_keys(&table, &[1]), [RECONSTRUCTION]);
        assert_eq!(keys_of(&table, &all(&table), Kind::Score), ["mig"]);
    }
}
