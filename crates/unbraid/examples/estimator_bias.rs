//! How far the estimators of the total correlation are off, by batch size: the table of `docs/objectives.md`.
//!
//! Codes are Gaussian, so that the total correlation of q(z) is known: -1/2 ln det(correlation). Each
//! estimate is a mean over 8192 images in batches, as if drawn from 737,280. Run with `cargo run --example
//! estimator_bias`.
#![allow(clippy::unwrap_used, reason = "an example")]

#[allow(dead_code, reason = "some of it is for tests")]
#[path = "../tests/library/gaussians.rs"]
mod gaussians;

use gaussians::{Correlated, floats};
use unbraid::config::Estimator;

const IMAGES: usize = 737_280;

fn main() {
    println!("| units | posterior deviation | exact | batch | `mss` | `mws` | `mws` - (D - 1) ln N |");
    println!("|---|---|---|---|---|---|---|");
    for (units, noise) in [(2, 0.5), (4, 0.3), (10, 0.3), (10, 0.1)] {
        let codes = Correlated { units, correlation: 0.5, noise };
        for batch in [64, 256, 1024] {
            let estimate = |estimator| {
                let batches = 8192 / batch;
                let sum: f32 = (0..batches as u64)
                    .map(|place| floats(codes.total_correlation_estimate(batch, IMAGES, estimator, place))[0])
                    .sum();
                f64::from(sum) / batches as f64
            };
            let (stratified, weighted) = (estimate(Estimator::Mss), estimate(Estimator::Mws));
            let shift = (units as f64 - 1.0) * (IMAGES as f64).ln();
            println!(
                "| {units} | {noise} | {:.2} | {batch} | {stratified:.2} | {weighted:.2} | {:.2} |",
                codes.total_correlation(),
                weighted - shift
            );
        }
    }
}
