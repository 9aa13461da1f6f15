//! The methods, beside each other.

use super::steps::{Steps, configuration, random_images};
use unbraid_data::ImageShape;

/// Every method by the keys that select it.
const METHODS: [&str; 2] = ["objective=vae", "objective={ name = \"beta-vae\", beta = 4 }"];

pub(crate) fn bench(rounds: usize) -> Result<(), String> {
    let images = random_images(ImageShape::new(64, 64, 1));
    let mut all = Vec::new();
    for method in METHODS {
        let config = configuration(&[method])?;
        all.push((config.objective.name(), Steps::new(&config, &images, 2)?));
    }
    for _ in 0..rounds {
        all.iter_mut().try_for_each(|(_, steps)| steps.round())?;
    }
    for (name, steps) in &all {
        println!("{name:<20}{:>10.1} ms", steps.milliseconds());
    }
    Ok(())
}
