//! The methods beside each other: what each costs over a beta-VAE.

use super::steps::{Steps, configuration, random_images};
use unbraid::data::ImageShape;

/// Every method by the keys that select it; the first is what the others are compared with.
const METHODS: [&[&str]; 26] = [
    &["objective={ name = \"beta-vae\", beta = 4 }"],
    &["objective=autoencoder"],
    &["objective=vae"],
    &["objective={ name = \"annealed-vae\", gamma = 1000, capacity = 25 }"],
    &["objective={ name = \"beta-tcvae\", beta = 6 }"],
    &["objective={ name = \"beta-tcvae\", beta = 6, estimator = \"mws\" }"],
    &["objective={ name = \"dip-vae-i\", lambda_od = 10, lambda_d = 100 }"],
    &["objective={ name = \"dip-vae-ii\", lambda_od = 10, lambda_d = 10 }"],
    &["objective={ name = \"factor-vae\", gamma = 35 }"],
    &[
        "objective={ name = \"joint-vae\", gamma_continuous = 30, capacity_continuous = 5, gamma_categorical = 30, \
         capacity_categorical = 5 }",
        "model.latents={ continuous = 10, categorical = [10] }",
    ],
    &["objective={ name = \"decomposition\", alpha = 10, beta = 1 }"],
    &["objective={ name = \"info-vae\", alpha = 0, lambda = 10 }"],
    &["objective={ name = \"wae-mmd\", lambda = 10 }"],
    &["objective={ name = \"wae-gan\", lambda = 10 }"],
    &["objective=aae"],
    &["objective={ name = \"iwae\", samples = 5 }"],
    &["objective={ name = \"beta-vae\", beta = 4, samples = 5 }"],
    &["objective={ name = \"max-entropy\", beta = 4 }"],
    &["objective={ name = \"decomposition\", alpha = 10, beta = 1, divergence = \"exclusive-kl\" }"],
    &["objective={ name = \"decomposition\", alpha = 10, beta = 1, divergence = \"sliced-wasserstein\" }"],
    &[
        "objective={ name = \"decomposition\", alpha = 1, beta = 1, divergence = { name = \"random-mixture\", divergence = \
       \"kl\" } }",
    ],
    &[
        "objective={ name = \"decomposition\", alpha = 1, beta = 1, divergence = { name = \"f-divergence\", divergence = \
       \"kl\" } }",
    ],
    &["objective={ name = \"beta-vae\", beta = 4 }", "model.posterior=full-covariance"],
    &["objective={ name = \"beta-vae\", beta = 4 }", "model.posterior=iaf"],
    &["objective=avb", "model.posterior=implicit"],
    &["objective={ name = \"avb\", adaptive_contrast = true }", "model.posterior=implicit"],
];

/// Those whose estimators compare all images of a batch with each other, which grows with its square.
const PAIRWISE: [&str; 4] = ["beta-vae", "beta-tcvae", "dip-vae-i", "dip-vae-ii"];

pub(crate) fn bench(rounds: usize) -> Result<(), String> {
    println!("64 x 64 x 1, `conv`, 2 threads, best of {rounds} rounds\n");
    compare(rounds, 64, |_| true)?;
    compare(rounds, 400, |name| PAIRWISE.contains(&name))
}

/// What tells a configuration from the others of its method.
fn variant(keys: &[&str], posterior: &str) -> String {
    let words = [
        "mws",
        "samples = 5",
        "exclusive-kl",
        "sliced-wasserstein",
        "random-mixture",
        "f-divergence",
        "adaptive",
    ];
    let word = words.into_iter().find(|word| keys[0].contains(word) && !keys[0].contains("iwae"));
    match word.or(Some(posterior).filter(|posterior| *posterior != "diagonal")) {
        Some(word) => format!(" ({word})"),
        None => String::new(),
    }
}

/// Times the methods that are wanted, round by round in turn.
fn compare(rounds: usize, batch: usize, wanted: impl Fn(&str) -> bool) -> Result<(), String> {
    let images = random_images(ImageShape::new(64, 64, 1));
    let batch_size = format!("training.batch_size={batch}");
    let mut all = Vec::new();
    for keys in METHODS {
        let config = configuration(&[keys, &[batch_size.as_str()]].concat())?;
        if wanted(config.objective.name()) {
            let name = format!("{}{}", config.objective.name(), variant(keys, config.model.posterior.name()));
            all.push((name, Steps::new(&config, &images, 2)?));
        }
    }
    for _ in 0..rounds {
        all.iter_mut().try_for_each(|(_, steps)| steps.round())?;
    }
    println!("{:<36}{:>14}{:>14}", format!("batch {batch}"), "ms a step", "of beta-vae");
    let first = all[0].1.milliseconds();
    for (name, steps) in &all {
        println!("{name:<36}{:>14.1}{:>13.2}x", steps.milliseconds(), steps.milliseconds() / first);
    }
    println!();
    Ok(())
}
