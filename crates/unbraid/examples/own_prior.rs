//! A prior of one's own: logistic distributions, plugged into training and into the trained run.
//!
//! `cargo run --release -p unbraid --example own_prior`

use rand::RngExt;
use std::path::Path;
use unbraid::burn::tensor::{Device, Tensor, TensorData};
use unbraid::config::Source;
use unbraid::data::progress::Silent;
use unbraid::data::random::Position;
use unbraid::prior::PriorFamily;
use unbraid::run::OpenOptions;
use unbraid::train::Parts;
use unbraid::{Result, Run, Session};

/// Independent logistic units: ln p(z) = -z - 2 ln(1 + e^-z), with tails heavier than those of a normal distribution.
#[derive(Clone, Debug)]
pub(crate) struct Logistic;

impl PriorFamily for Logistic {
    fn log_density_of_units(&self, z: Tensor<2>) -> Tensor<2> {
        // The density is symmetric; of |z| the exponential cannot overflow.
        let z = z.abs();
        -z.clone() - z.neg().exp().log1p() * 2.0
    }

    fn distribution_function(&self, _unit: usize, x: f64) -> f64 {
        1.0 / (1.0 + (-x).exp())
    }

    fn sample(&self, position: Position, shape: [usize; 2], device: &Device) -> Tensor<2> {
        let mut generator = position.generator();
        let mut draw = || {
            let uniform: f64 = generator.random_range(f64::EPSILON..1.0);
            (uniform / (1.0 - uniform)).ln() as f32
        };
        let values: Vec<f32> = (0..shape[0] * shape[1]).map(|_| draw()).collect();
        Tensor::from_data(TensorData::new(values, shape), device)
    }

    fn covariance(&self, units: usize, device: &Device) -> Tensor<2> {
        Tensor::eye(units, device) * (std::f64::consts::PI.powi(2) / 3.0)
    }
}

fn main() -> Result {
    let directory = std::env::temp_dir().join(format!("unbraid-own-prior-{}", std::process::id()));
    let run = run(&directory)?;
    let (low, high) = run.range_of(0);
    println!("traversals go from {low:.2} to {high:.2}, where a normal prior has -3 to 3");
    // A directory that cannot be removed does no harm.
    let _ = std::fs::remove_dir_all(directory);
    Ok(())
}

/// Trains with the prior, and opens the run again with it.
pub(crate) fn run(directory: &Path) -> Result<Run> {
    let config = Source::preset("images")
        .set("data={ name = \"shapes\", scales = 2, orientations = 1, positions = 8 }")
        .set("training={ steps = 40, batch_size = 32, log_every = 20, checkpoint_every = 40 }")
        .set("evaluation={ after_training = false, report = false }")
        .resolve()?;
    Session::new(config)
        .out(directory)
        .parts(Parts { objective: None, prior: Some(Box::new(Logistic)) })
        .execute(&Silent)?;
    Run::open_with(directory, OpenOptions { prior: Some(Box::new(Logistic)), ..OpenOptions::default() })
}
