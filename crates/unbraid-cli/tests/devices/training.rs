//! Fifty steps on both devices.

use crate::agreement::{config, data, device};
use unbraid::config::Config;
use unbraid::data::DataSet;
use unbraid::train::{Ending, Journal, Row, Trainer, train};
use unbraid::{Device, Error};

/// Differences of the first gradients, 1e-5 of their size, are carried on: after each step the weights differ
/// by that share of the learning rate, more where a gradient is small, since Adam divides by its size.
const AFTER_FIFTY_STEPS: f64 = 1e-3;

#[derive(Default)]
struct Rows {
    rows: Vec<Row>,
    steps: Vec<(u64, f64)>,
}

impl Journal for Rows {
    fn step(&mut self, step: u64, loss: f64) -> unbraid::Result {
        self.steps.push((step, loss));
        Ok(())
    }

    fn row(&mut self, row: &Row) -> unbraid::Result {
        self.rows.push(row.clone());
        Ok(())
    }

    fn checkpoint(&mut self, trainer: &Trainer<'_>, _: bool) -> unbraid::Result {
        // Complete at any time: the losses that waited on the device are in it.
        assert!(trainer.state().iter().any(|tensor| tensor.name == "means.sums"));
        Ok(())
    }

    fn should_stop(&self) -> bool {
        false
    }
}

fn rows(config: &Config, data: &dyn DataSet, device: &Device) -> Rows {
    let mut trainer = Trainer::new(config, data, device).unwrap();
    let mut rows = Rows::default();
    assert_eq!(train(&mut trainer, config, 50, &mut rows).unwrap(), Ending::Complete);
    rows
}

#[test]
fn losses_of_fifty_steps_agree() {
    for (name, sets) in [
        (
            "beta-vae",
            &[
                "objective={ name = \"beta-vae\", beta = 4.0 }",
                "model.architecture={ name = \"burgess\", channels = 8, hidden = 32 }",
            ][..],
        ),
        ("beta-tcvae", &["objective={ name = \"beta-tcvae\", beta = 6.0 }", "optimizer.gradient_clip=100"]),
        (
            "factor-vae",
            &[
                "objective={ name = \"factor-vae\", gamma = 10.0, discriminator = { layers = 3, width = 32 } }",
                "optimizer.amsgrad=true",
            ],
        ),
    ] {
        let config = config(&[sets, &["optimizer.learning_rate=1e-3"]].concat());
        let data = data(&config);
        let expected = rows(&config, data.as_ref(), &Device::cpu());
        let found = rows(&config, data.as_ref(), &device());
        assert_eq!(expected.rows.len(), 5);
        let mut largest: f64 = 0.0;
        for (found, expected) in found.rows.iter().zip(&expected.rows) {
            assert_eq!((found.step, found.steps), (expected.step, expected.steps));
            let loss = expected.get("train/loss").unwrap();
            for ((name, found), (_, expected)) in found.values.iter().zip(&expected.values) {
                // What is small beside the loss is known as well as the loss is.
                let apart = (found - expected).abs() / expected.abs().max(1e-2 * loss);
                assert!(apart < AFTER_FIFTY_STEPS, "{name}: {found} {expected}");
                largest = largest.max(apart);
            }
        }
        println!("{name}: {largest:.1e}");
        // The loss falls by far more than the bound, or there would be nothing to compare.
        let loss = |row: usize| expected.rows[row].get("train/loss").unwrap();
        assert!(loss(0) - loss(4) > 100.0 * AFTER_FIFTY_STEPS * loss(0), "{name}: {} {}", loss(0), loss(4));
        // Read at the first step and then with each row; every step is reported all the same.
        assert_eq!(found.steps.len(), 50);
        let read: Vec<u64> =
            found.steps.windows(2).filter(|pair| pair[0].1 != pair[1].1).map(|pair| pair[1].0).collect();
        assert_eq!(read, [10, 20, 30, 40, 50], "{name}");
    }
}

/// The step is named, though the device has gone on to the next ones by then.
#[test]
fn a_loss_that_is_not_finite_is_found_at_its_step() {
    let config = config(&["optimizer.learning_rate=1e30"]);
    let data = data(&config);
    let failure = |device: &Device| {
        let mut trainer = Trainer::new(&config, data.as_ref(), device).unwrap();
        match train(&mut trainer, &config, 50, &mut Rows::default()) {
            Err(Error::LossNotFinite { step, .. }) => step,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(failure(&device()), failure(&Device::cpu()));
}
