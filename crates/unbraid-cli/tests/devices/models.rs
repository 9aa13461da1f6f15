//! Every architecture, posterior, likelihood and prior once: losses and gradients of the first step.

use crate::agreement::{config, first_steps_agree};

fn agree(sets: &[&str]) {
    first_steps_agree(&sets.join(", "), &config(sets));
}

#[test]
fn architectures() {
    for architecture in [
        "conv",
        "dlib",
        "{ name = \"burgess\", channels = 8, hidden = 16 }",
        "dupont-64",
        "dupont-32",
        "mathieu",
        "dcgan",
        "{ name = \"mlp\", encoder = [20, 16], decoder = [16, 20], decoder_activation = \"tanh\" }",
        "linear",
    ] {
        agree(&[&format!("model.architecture={architecture}"), "training.batch_size=4"]);
    }
}

#[test]
fn colours() {
    let scenes = "data={ name = \"scenes\" }";
    agree(&[scenes, "model.architecture={ name = \"burgess\", channels = 8, hidden = 16 }"]);
}

#[test]
fn latent_units() {
    agree(&["model.latents={ continuous = 3, categorical = [4, 2] }"]);
    agree(&[
        "model.latents={ continuous = 0, categorical = [5] }",
        "model.architecture={ name = \"burgess\", channels = 8, hidden = 16 }",
    ]);
}

#[test]
fn posteriors() {
    agree(&["model.posterior=full-covariance"]);
    agree(&["model.posterior={ name = \"iaf\", hidden = [8], context = 4 }"]);
    let contrast = "objective={ name = \"avb\", adaptive_contrast = true, discriminator = { width = 20, features = 8, samples = 4 } }";
    agree(&["model.posterior={ name = \"implicit\", noise = 4, hidden = [8] }", contrast]);
}

#[test]
fn likelihoods() {
    for likelihood in ["gaussian", "laplace"] {
        for scale in ["0.1", "\"learned\"", "\"decoded\""] {
            agree(&[&format!("model.likelihood={{ name = \"{likelihood}\", scale = {scale} }}")]);
        }
    }
    agree(&["model.likelihood={ name = \"gaussian\", output = \"linear\" }"]);
}

#[test]
fn priors() {
    for prior in [
        "{ name = \"standard-normal\" }",
        "{ name = \"anisotropic\", variances = [2.0, 0.3, 1.0, 0.7] }",
        "{ name = \"anisotropic\", variances = [2.0, 0.3, 1.0, 0.7], learned = true }",
        "{ name = \"student-t\", degrees_of_freedom = 9.0 }",
        "{ name = \"mixture\", positions = [[0.0, -1.0, 0.5, 2.0], [1.0, 0.0, -3.0, 0.0]], variance = 0.2, weights = [0.6, 0.4] }",
        "{ name = \"sparse\", gamma = 0.8 }",
    ] {
        let prior = format!("model.prior={prior}");
        agree(&[&prior]);
        // Samples of the prior, which no divergence needs.
        agree(&[&prior, "objective={ name = \"wae-mmd\", lambda = 10.0, encoder = \"gaussian\" }"]);
    }
}
