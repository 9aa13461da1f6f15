//! The methods and posteriors beside each other: what each costs over a beta-VAE.

use super::steps::{Steps, configuration, random_images};
use unbraid::config::METHODS;
use unbraid::data::ImageShape;

/// One of the configurations that are compared.
struct Case {
    /// What it is called in the table.
    name: &'static str,
    /// The keys that select it.
    keys: &'static [&'static str],
    /// Whether it compares all images of a batch with each other, which grows with the square of its size.
    pairwise: bool,
}

const fn case(name: &'static str, keys: &'static [&'static str]) -> Case {
    Case { name, keys, pairwise: false }
}

const fn pairwise(name: &'static str, keys: &'static [&'static str]) -> Case {
    Case { name, keys, pairwise: true }
}

/// What is fitted in a single step has no cost of a step.
const FITTED: [&str; 2] = ["pca", "ica"];

/// Every method, every divergence of `decomposition` and every posterior; the first is what the others are
/// compared with.
#[rustfmt::skip] // To be read as a table.
const CASES: [Case; 31] = [
    pairwise("beta-vae", &["objective={ name = \"beta-vae\", beta = 4 }"]),
    case("autoencoder", &["objective=autoencoder"]),
    case("vae", &["objective=vae"]),
    case("annealed-vae", &["objective={ name = \"annealed-vae\", gamma = 1000, capacity = 25 }"]),
    pairwise("beta-tcvae", &["objective={ name = \"beta-tcvae\", beta = 6 }"]),
    pairwise("beta-tcvae, mws", &["objective={ name = \"beta-tcvae\", beta = 6, estimator = \"mws\" }"]),
    pairwise("dip-vae-i", &["objective={ name = \"dip-vae-i\", lambda_od = 10, lambda_d = 100 }"]),
    pairwise("dip-vae-ii", &["objective={ name = \"dip-vae-ii\", lambda_od = 10, lambda_d = 10 }"]),
    case("factor-vae", &["objective={ name = \"factor-vae\", gamma = 35 }"]),
    case("joint-vae, 10 + [10]", &["objective={ name = \"joint-vae\", gamma_continuous = 30, capacity_continuous = 5, gamma_categorical = 30, capacity_categorical = 5 }", "model.latents={ continuous = 10, categorical = [10] }"]),
    case("info-vae", &["objective={ name = \"info-vae\", alpha = 0, lambda = 10 }"]),
    case("wae-mmd", &["objective={ name = \"wae-mmd\", lambda = 10 }"]),
    case("wae-gan", &["objective={ name = \"wae-gan\", lambda = 10 }"]),
    case("aae", &["objective=aae"]),
    case("aae with KL", &["objective={ name = \"aae\", kl = 1, generator_loss = \"minimax\" }"]),
    case("max-entropy", &["objective={ name = \"max-entropy\", beta = 4 }"]),
    case("iwae, 5 samples", &["objective={ name = \"iwae\", samples = 5 }"]),
    case("beta-vae, 5 samples", &["objective={ name = \"beta-vae\", beta = 4, samples = 5 }"]),
    case("composed, kl + total-correlation", &["objective={ name = \"composed\", terms = [\"kl\", { name = \"total-correlation\", weight = 5 }] }"]),
    case("decomposition, mmd", &["objective={ name = \"decomposition\", alpha = 10, beta = 1 }"]),
    case("decomposition, moments", &["objective={ name = \"decomposition\", alpha = 10, beta = 1, divergence = \"moments\" }"]),
    case("decomposition, inclusive-kl", &["objective={ name = \"decomposition\", alpha = 10, beta = 1, divergence = \"inclusive-kl\" }"]),
    case("decomposition, exclusive-kl", &["objective={ name = \"decomposition\", alpha = 10, beta = 1, divergence = \"exclusive-kl\" }"]),
    case("decomposition, sliced-wasserstein", &["objective={ name = \"decomposition\", alpha = 10, beta = 1, divergence = \"sliced-wasserstein\" }"]),
    case("decomposition, random-mixture", &["objective={ name = \"decomposition\", alpha = 1, beta = 1, divergence = { name = \"random-mixture\", divergence = \"kl\" } }"]),
    case("decomposition, f-divergence", &["objective={ name = \"decomposition\", alpha = 1, beta = 1, divergence = { name = \"f-divergence\", divergence = \"kl\" } }"]),
    case("beta-vae, full-covariance", &["objective={ name = \"beta-vae\", beta = 4 }", "model.posterior=full-covariance"]),
    case("beta-vae, iaf of 2 steps", &["objective={ name = \"beta-vae\", beta = 4 }", "model.posterior=iaf"]),
    case("beta-vae, iaf of 8 steps", &["objective={ name = \"beta-vae\", beta = 4 }", "model.posterior={ name = \"iaf\", steps = 8 }"]),
    case("avb, implicit", &["objective=avb", "model.posterior=implicit"]),
    case("avb with adaptive contrast, implicit", &["objective={ name = \"avb\", adaptive_contrast = true }", "model.posterior=implicit"]),
];

pub(crate) fn bench(rounds: usize) -> Result<(), String> {
    println!("64 x 64 x 1, `conv`, 2 threads, best of {rounds} rounds\n");
    compare(rounds, 64, |_| true)?;
    compare(rounds, 400, |case| case.pairwise)
}

/// Times the cases that are wanted, round by round in turn.
fn compare(rounds: usize, batch: usize, wanted: impl Fn(&Case) -> bool) -> Result<(), String> {
    let images = random_images(ImageShape::new(64, 64, 1));
    let batch_size = format!("training.batch_size={batch}");
    let (mut all, mut methods) = (Vec::new(), Vec::new());
    for case in CASES {
        let config = configuration(&[case.keys, &[batch_size.as_str()]].concat())?;
        methods.push(config.objective.name());
        if wanted(&case) {
            all.push((case.name, Steps::new(&config, &images, 2)?));
        }
    }
    if let Some(method) =
        METHODS.iter().find(|method| !methods.contains(&method.name) && !FITTED.contains(&method.name))
    {
        return Err(format!("the method `{}` is not among those that are measured", method.name));
    }
    for _ in 0..rounds {
        all.iter_mut().try_for_each(|(_, steps)| steps.round())?;
    }
    println!("{:<40}{:>14}{:>14}", format!("batch {batch}"), "ms a step", "of beta-vae");
    let first = all[0].1.milliseconds();
    for (name, steps) in &all {
        println!("{name:<40}{:>14.1}{:>13.2}x", steps.milliseconds(), steps.milliseconds() / first);
    }
    println!();
    Ok(())
}
