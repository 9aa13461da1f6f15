//! Categorical units in numbers: which classes are used, how much they say, and which labels they hold.

use super::class_labels::ClassLabels;
use super::encoded_run::EncodedRun;
use crate::html::escape;
use crate::numbers::{number, thousands};
use std::fmt::Write;
use unbraid::model::Unit;

/// The use of one categorical unit.
#[derive(Debug, PartialEq)]
struct Use {
    /// How many images have each class as their most likely one.
    counts: Vec<usize>,
    /// The entropy of the mean probabilities H(c), in nats.
    entropy: f64,
    /// I(x; c) = H(c) - mean H(c|x), in nats.
    information: f64,
}

impl Use {
    /// From the probabilities of the classes, image by image.
    fn of(probabilities: &[Vec<f64>]) -> Self {
        let classes = probabilities.first().map_or(0, Vec::len);
        let images = probabilities.len().max(1) as f64;
        let entropy = |shares: &[f64]| -> f64 {
            shares.iter().filter(|share| **share > 0.0).map(|share| -share * share.ln()).sum()
        };
        let mut counts = vec![0; classes];
        let mut mean = vec![0.0; classes];
        let mut conditional = 0.0;
        for row in probabilities {
            if let Some(class) = (0..classes).rev().max_by(|&a, &b| row[a].total_cmp(&row[b])) {
                counts[class] += 1;
            }
            mean.iter_mut().zip(row).for_each(|(sum, share)| *sum += share / images);
            conditional += entropy(row) / images;
        }
        let entropy = entropy(&mean);
        Self { counts, entropy, information: (entropy - conditional).max(0.0) }
    }

    fn used(&self) -> usize {
        self.counts.iter().filter(|count| **count > 0).count()
    }
}

/// A paragraph and tables for each categorical unit; nothing for a model without any.
pub(super) fn write(encoded: &EncodedRun<'_>) -> String {
    let (layout, posteriors) = (encoded.layout(), encoded.posteriors());
    let mut html = String::new();
    for unit in 0..layout.categorical().len() {
        let columns = layout.probability_columns(unit);
        let rows: Vec<Vec<f64>> = posteriors
            .probabilities
            .rows()
            .into_iter()
            .map(|row| columns.clone().map(|column| f64::from(row[column])).collect())
            .collect();
        let found = Use::of(&rows);
        let divergence = encoded
            .by_divergence()
            .iter()
            .find_map(|(other, divergence)| (*other == Unit::Categorical(unit)).then_some(*divergence));
        let name = encoded.run().unit_label(Unit::Categorical(unit));
        let _ = writeln!(
            html,
            "<h3>{}</h3>\n<p>{} of {} classes are the most likely one of some image. Mutual information I(x; c) {} nats of \
             at most ln {} = {}; entropy of the classes over all images {} nats; KL divergence from the prior {} nats, \
             which is large also where every image has the same class.</p>",
            escape(&name),
            found.used(),
            found.counts.len(),
            number(found.information),
            found.counts.len(),
            number((found.counts.len() as f64).ln()),
            number(found.entropy),
            divergence.map_or_else(|| "–".to_owned(), number)
        );
        html.push_str(&confusion(encoded, unit, &found));
    }
    html
}

/// Classes by labels: of the factor that shares most with the unit.
fn confusion(encoded: &EncodedRun<'_>, unit: usize, found: &Use) -> String {
    let labels = ClassLabels::of(encoded, unit);
    let mut html = String::from("<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">Class</th>");
    html.push_str("<th scope=\"col\" class=\"number\">Images</th>");
    for value in 0..labels.as_ref().map_or(0, |labels| labels.factor.size) {
        let label =
            labels.as_ref().map_or_else(String::new, |labels| escape(&labels.factor.label(value as u32)));
        let _ = write!(html, "<th scope=\"col\" class=\"number\">{label}</th>");
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for (class, count) in found.counts.iter().enumerate() {
        let _ =
            write!(html, "<tr><th scope=\"row\">{class}</th><td class=\"number\">{}</td>", thousands(*count));
        if let Some(labels) = &labels {
            let counts = &labels.counts[class];
            let most = counts.iter().copied().max().unwrap_or(0);
            for &count in counts {
                let strong = if count == most && most > 0 { " best" } else { "" };
                let _ = write!(html, "<td class=\"number{strong}\">{}</td>", thousands(count));
            }
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table></div>\n");
    if let Some(ClassLabels { factor, .. }) = labels {
        let _ = writeln!(
            html,
            "<p class=\"faint\">Rows: classes; columns: values of “{}”, the factor that shares most with the unit.</p>",
            escape(&factor.name)
        );
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two certain classes of three, equally often: ln 2 of information. One class for all: none, however certain.
    #[test]
    fn use_by_hand() {
        let rows = vec![vec![1.0, 0.0, 0.0], vec![0.0, 0.0, 1.0]];
        let found = Use::of(&rows);
        assert_eq!((found.counts.as_slice(), found.used()), (&[1, 0, 1][..], 2));
        assert!((found.information - 2_f64.ln()).abs() < 1e-12 && (found.entropy - 2_f64.ln()).abs() < 1e-12);
        let same = Use::of(&[vec![0.0, 1.0, 0.0], vec![0.0, 1.0, 0.0]]);
        assert_eq!((same.used(), same.information, same.entropy), (1, 0.0, 0.0));
        // Undecided between two classes: all of the entropy is within images.
        let undecided = Use::of(&[vec![0.5, 0.5], vec![0.5, 0.5]]);
        assert!(undecided.information.abs() < 1e-12 && (undecided.entropy - 2_f64.ln()).abs() < 1e-12);
    }
}
