//! How far the estimate of the entropy of q(z) is off, by batch size (Mathieu et al. 2019, appendix C): the table of
//! `docs/objectives.md`.
//!
//! Codes are such that q(z) = N(0, I), whose entropy is D/2 (1 + ln 2 pi). Each estimate is a mean over 8192 images in
//! batches, as if drawn from 737,280. Run with `cargo run --example entropy_bias`.
#![allow(clippy::unwrap_used, reason = "an example")]

#[allow(dead_code, reason = "some of it is for tests")]
#[path = "../tests/library/gaussians.rs"]
mod gaussians;

use std::f64::consts::PI;

const IMAGES: usize = 737_280;

fn main() {
    println!("| units | posterior standard deviation | H[q(z)] | batch | estimate | ln N + E H[q(z\\|x)] |");
    println!("|---|---|---|---|---|---|");
    for (units, noise) in [(2, 0.5), (4, 0.3), (10, 0.3), (10, 0.1)] {
        let exact = 0.5 * units as f64 * (1.0 + (2.0 * PI).ln());
        let biased = (IMAGES as f64).ln() + exact + units as f64 * f64::ln(noise);
        for batch in [64, 256, 1024] {
            let batches = 8192 / batch;
            let estimates = (0..batches as u64)
                .map(|place| gaussians::entropy_estimate(units, noise, batch, IMAGES, place));
            let mean = estimates.sum::<f64>() / batches as f64;
            println!("| {units} | {noise} | {exact:.2} | {batch} | {mean:.2} | {biased:.2} |");
        }
    }
}
