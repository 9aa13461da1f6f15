//! An objective with a term of one's own: a VAE whose codes are drawn towards zero by their absolute values.
//!
//! `cargo run --release -p unbraid --example own_term`

use std::path::Path;
use unbraid::burn::tensor::Tensor;
use unbraid::config::Source;
use unbraid::data::progress::Silent;
use unbraid::objective::{ForwardPass, Kl, Latent, Objective, Term};
use unbraid::run::last_row;
use unbraid::train::Parts;
use unbraid::{Result, Session};

/// `sparsity`: sum over the units of |E\[z_i|x\]|, mean over the batch.
#[derive(Debug)]
struct Sparsity;

impl Term for Sparsity {
    fn name(&self) -> &'static str {
        "sparsity"
    }

    fn value(&self, forward: &ForwardPass<'_>) -> Tensor<1> {
        forward.posterior.moments().mean.abs().sum_dim(1).mean()
    }
}

fn main() -> Result {
    let directory = std::env::temp_dir().join(format!("unbraid-own-term-{}", std::process::id()));
    let sums = run(&directory)?;
    println!("sum of absolute codes with the weights 0 and 20: {:.3} and {:.3}", sums[0], sums[1]);
    // A directory that cannot be removed does no harm.
    let _ = std::fs::remove_dir_all(directory);
    Ok(())
}

/// Trains twice, without and with the term, and gives its last value of each.
pub(crate) fn run(directory: &Path) -> Result<[f64; 2]> {
    let mut last = [0.0; 2];
    for (place, weight) in [0.0, 20.0].into_iter().enumerate() {
        let config = Source::preset("images")
            .set("data={ name = \"shapes\", scales = 2, orientations = 1, positions = 8 }")
            .set("training={ steps = 60, batch_size = 32, log_every = 20, checkpoint_every = 60 }")
            .set("evaluation={ after_training = false, report = false }")
            .resolve()?;
        let objective = Objective::from_terms(
            Latent::Samples(1),
            [(1.0.into(), Box::new(Kl) as Box<dyn Term>), (weight.into(), Box::new(Sparsity))],
        )?;
        let run = Session::new(config)
            .out(directory.join(format!("weight-{weight}")))
            .parts(Parts { objective: Some(objective), prior: None })
            .execute(&Silent)?;
        let row = last_row(&run.paths().metrics()).ok().flatten().unwrap_or_default();
        last[place] = row["train/sparsity"];
    }
    Ok(last)
}
