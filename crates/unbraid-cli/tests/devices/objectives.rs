//! Every method and every term once, as the catalogue of `unbraid objectives` has them: losses and gradients
//! of the first step, those of discriminators included.

use crate::agreement::{config, first_steps_agree};
use unbraid::config::{METHODS, TERMS};

/// The discriminators of the papers have a million weights, more than the test has patience for.
fn smaller(table: &str) -> String {
    let mut table = table.to_owned();
    for (large, small) in [
        ("width = 1000", "width = 16"),
        ("width = 512", "width = 16"),
        ("features = 256", "features = 8, width = 16"),
        ("features = 8, width = 16, layers = 2, width = 16", "features = 8, layers = 2, width = 16"),
        ("discriminator = { layers = 6 }", "discriminator = { layers = 3, width = 16 }"),
    ] {
        table = table.replace(large, small);
    }
    table
}

#[test]
fn methods() {
    for method in METHODS {
        let objective = format!("objective={}", smaller(method.example));
        let mut sets = vec![objective.as_str()];
        if method.name == "joint-vae" {
            sets.push("model.latents={ continuous = 4, categorical = [3] }");
        }
        // Fitted on the CPU in one step; no gradient trains them.
        if ["pca", "ica"].contains(&method.name) {
            sets.extend([
                "training.steps=1",
                "model.architecture=linear",
                "model.likelihood={ name = \"gaussian\", scale = \"learned\", output = \"linear\" }",
            ]);
        }
        first_steps_agree(method.name, &config(&sets));
    }
}

#[test]
fn terms() {
    for term in TERMS {
        let (terms, samples) = match term.name {
            "iwae-kl" => (smaller(term.example), 3),
            // Something must keep the posteriors from collapsing where a term is about all of them at once.
            name if name != "kl" && !name.contains("kl-from") && name != "adversarial-kl" => {
                (format!("{{ name = \"kl\", weight = 1.0 }}, {}", smaller(term.example)), 1)
            }
            _ => (smaller(term.example), 1),
        };
        let objective =
            format!("objective={{ name = \"composed\", terms = [{terms}], samples = {samples} }}");
        let mut sets = vec![objective.as_str()];
        if term.name.starts_with("c") && term.name.ends_with("kl-from-capacity") {
            sets.push("model.latents={ continuous = 4, categorical = [3] }");
        }
        first_steps_agree(term.name, &config(&sets));
    }
}

/// State that is carried from step to step, and other estimators.
#[test]
fn variants() {
    for objective in [
        "{ name = \"dip-vae-i\", lambda_od = 10.0, lambda_d = 100.0, running_decay = 0.5 }",
        "{ name = \"dip-vae-ii\", lambda_od = 10.0, lambda_d = 10.0, lambda_3 = 20.0 }",
        "{ name = \"beta-tcvae\", beta = 6.0, estimator = \"mws\" }",
        "{ name = \"wae-mmd\", lambda = 10.0, encoder = \"gaussian\", mmd = { kernel = \"rbf\", per_unit = true } }",
        "{ name = \"vae\", samples = 3 }",
    ] {
        first_steps_agree(objective, &config(&[&format!("objective={objective}")]));
    }
}
