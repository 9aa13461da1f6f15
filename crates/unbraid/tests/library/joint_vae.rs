//! JointVAE: its two terms against golden numbers, and what is left of it without categorical units.

use crate::golden::{Batch, floats, golden, matrix};
use crate::objective_training::Rows;
use burn::tensor::{Device, Tensor};
use unbraid::config::{
    Initializer, ObjectiveConfig, OptimizerConfig, PriorConfig, Ramp, Samples, Schedule, Source,
};
use unbraid::data::progress::Silent;
use unbraid::model::{Categorical, StateTensor};
use unbraid::objective::{
    CategoricalKlFromCapacity, ContinuousKlFromCapacity, ForwardPass, Latent, Objective, Setting, Term,
    Weight,
};
use unbraid::prior::Prior;
use unbraid::train::{Parts, Trainer, train};

fn close(found: f32, expected: f64) -> bool {
    (f64::from(found) - expected).abs() <= 1e-4 * expected.abs().max(1e-3)
}

/// Terms, total and gradients from the golden divergences: |KL_z - C_z|, |KL_c - min(C_c, ln 5)|. The slope of the
/// categorical divergence with respect to a logit is alpha (ln alpha + H) / batch.
#[test]
fn terms_and_gradients_agree_with_double_precision() {
    let golden = golden();
    let device = Device::flex().autodiff();
    let setting =
        Setting { seed: 0, units: 4, pixels: 4, initializer: Initializer::Pytorch, device: device.clone() };
    let prior = Prior::new(&PriorConfig::StandardNormal {}, 4, None, &device).unwrap();
    let kl_z = golden["terms"]["kl_standard_normal"]["value"].as_f64().unwrap();
    let kl_c = golden["categorical"]["kl_uniform"].as_f64().unwrap();
    let probabilities: Vec<Vec<f64>> =
        serde_json::from_value(golden["categorical"]["probabilities"].clone()).unwrap();
    let rising = Schedule::Linear(Ramp { from: 0.0, to: 10.0, start: 0, end: 100 });
    // At step 40 a capacity of 4 nats for the continuous units; for the other one of 0.1, of 4, which is cut to ln 5.
    for (capacity_categorical, c_c) in
        [(Schedule::Constant(0.1), 0.1), (rising, 5.0_f64.ln()), (Schedule::Constant(9.0), 5.0_f64.ln())]
    {
        let objective = ObjectiveConfig::JointVae {
            gamma_continuous: Some(30.0.into()),
            capacity_continuous: Some(rising),
            gamma_categorical: 20.0.into(),
            capacity_categorical,
            samples: Samples::default(),
        };
        let logits = matrix(&golden["categorical"]["probabilities"], &device).log().detach().require_grad();
        let batch = Batch::new(&golden, &device);
        let mut forward = batch.forward(&golden, &prior);
        forward.step = 40;
        forward.categorical = vec![Categorical::new(logits.clone())];
        let losses = Objective::new(&objective, &setting).evaluate(&forward);

        let (distance_z, distance_c) = ((kl_z - 4.0).abs(), (kl_c - c_c).abs());
        assert!(close(floats(losses.terms[0].clone())[0], distance_z));
        assert!(close(floats(losses.terms[1].clone())[0], distance_c));
        assert!(close(floats(losses.kl.clone().unwrap())[0], kl_z + kl_c));
        assert!(close(floats(losses.total.clone())[0], 4.0 + 30.0 * distance_z + 20.0 * distance_c));
        assert_eq!(losses.kl_of_units.unwrap().dims(), [5]);

        let gradients = losses.total.backward();
        let expected = floats(matrix(&golden["terms"]["kl_standard_normal"]["grad_mean"], &device));
        for (found, expected) in floats(batch.mean.grad(&gradients).unwrap()).into_iter().zip(expected) {
            // KL_z is below its capacity.
            assert!(close(found, -30.0 * f64::from(expected)), "{found} {expected}");
        }
        let found = floats(logits.grad(&gradients).unwrap());
        let side = if kl_c > c_c { 20.0 } else { -20.0 };
        for (row, found) in probabilities.iter().zip(found.chunks_exact(5)) {
            let entropy: f64 = row.iter().map(|alpha| -alpha * alpha.ln()).sum();
            for (alpha, found) in row.iter().zip(found) {
                let expected = side * alpha * (alpha.ln() + entropy) / probabilities.len() as f64;
                assert!(
                    (f64::from(*found) - expected).abs() < 1e-4 * expected.abs().max(1e-2),
                    "{found} {expected}"
                );
            }
        }
    }
}

const TINY: &[&str] = &[
    "data={ name = \"shapes\", scales = 2, orientations = 2, positions = 4 }",
    "model.architecture={ name = \"burgess\", channels = 8, hidden = 16 }",
    "model.latents={ continuous = 3 }",
    "training.batch_size=8",
];

#[test]
fn without_categorical_units_it_is_annealed_vae() {
    let ramp = "{ from = 0.0, to = 5.0, end = 20 }";
    let annealed = format!("objective={{ name = \"annealed-vae\", gamma = 30.0, capacity = {ramp} }}");
    let joint = format!(
        "objective={{ name = \"joint-vae\", gamma_continuous = 30.0, capacity_continuous = {ramp}, \
         gamma_categorical = 7.0, capacity_categorical = 3.0 }}"
    );
    let weights = [annealed, joint].map(|objective| {
        let assignments = TINY.iter().map(|&text| text.to_owned()).chain([objective]).collect();
        let config = Source { assignments, ..Source::default() }.resolve().unwrap();
        let data = unbraid::data::open(&config.data, &Silent).unwrap();
        let mut trainer = Trainer::new(&config, data.as_ref(), &unbraid::Device::cpu()).unwrap();
        let losses: Vec<f64> = (0..10).map(|_| trainer.advance().unwrap()).collect();
        (losses, trainer.network().state())
    });
    assert!(weights[0] == weights[1], "{:?} {:?}", weights[0].0, weights[1].0);
}

/// Without continuous units, their weight and capacity are neither needed nor part of the loss, which is the
/// reconstruction and 20 |KL_c - C_c|. With all keys, as a preset has them, it is the same.
#[test]
fn without_continuous_units_there_is_no_distance_from_their_capacity() {
    let categorical = "gamma_categorical = 20.0, capacity_categorical = 0.5";
    let continuous = "gamma_continuous = 30.0, capacity_continuous = 5.0";
    let runs = [categorical.to_owned(), format!("{continuous}, {categorical}")].map(|options| {
        let more = [
            "model.latents={ continuous = 0, categorical = [3] }".to_owned(),
            format!("objective={{ name = \"joint-vae\", {options} }}"),
            "training.steps=5".to_owned(),
            "training.log_every=1".to_owned(),
        ];
        let assignments = TINY.iter().map(|&text| text.to_owned()).chain(more).collect();
        let config = Source { assignments, ..Source::default() }.resolve().unwrap();
        let data = unbraid::data::open(&config.data, &Silent).unwrap();
        let mut trainer = Trainer::new(&config, data.as_ref(), &unbraid::Device::cpu()).unwrap();
        let mut rows = Rows::default();
        train(&mut trainer, &config, 5, &mut rows).unwrap();
        for row in &rows.0 {
            let value = |key: &str| row.get(&format!("train/{key}")).unwrap();
            let expected = value("reconstruction") + 20.0 * value("categorical_kl_from_capacity");
            // A sum in single precision.
            assert!((value("loss") / expected - 1.0).abs() < 1e-6, "{} {expected}", value("loss"));
        }
        trainer.network().state()
    });
    assert!(runs[0] == runs[1]);
}

/// -ln p(x|z), as a term that can be weighed.
#[derive(Debug)]
struct Reconstruction;

impl Term for Reconstruction {
    fn name(&self) -> &'static str {
        "reconstruction_again"
    }

    fn value(&self, forward: &ForwardPass<'_>) -> Tensor<1> {
        forward.reconstruction.clone().mean()
    }
}

/// Weights after some steps of JointVAE with the loss multiplied by `scale`.
fn weights_of_scaled_loss(scale: f64, epsilon: f64) -> Vec<StateTensor> {
    let more = ["model.latents={ continuous = 3, categorical = [3] }".to_owned()];
    let assignments = TINY.iter().map(|&text| text.to_owned()).chain(more).collect();
    let mut config = Source { assignments, ..Source::default() }.resolve().unwrap();
    config.optimizer = OptimizerConfig { learning_rate: 1e-3, epsilon, ..config.optimizer };
    let capacity = Schedule::Linear(Ramp { from: 0.0, to: 5.0, start: 0, end: 20 });
    let terms: Vec<(Weight, Box<dyn Term>)> = vec![
        ((scale - 1.0).into(), Box::new(Reconstruction)),
        ((30.0 * scale).into(), Box::new(ContinuousKlFromCapacity { capacity })),
        ((30.0 * scale).into(), Box::new(CategoricalKlFromCapacity { capacity })),
    ];
    let objective = Some(Objective::from_terms(Latent::Samples(1), terms).unwrap());
    let data = unbraid::data::open(&config.data, &Silent).unwrap();
    let parts = Parts { objective, ..Parts::default() };
    let mut trainer = Trainer::with_parts(&config, data.as_ref(), &unbraid::Device::cpu(), parts).unwrap();
    for _ in 0..25 {
        trainer.advance().unwrap();
    }
    trainer.weights()
}

fn largest_difference(left: &[StateTensor], right: &[StateTensor]) -> f32 {
    let pairs = left.iter().zip(right).flat_map(|(left, right)| {
        left.values.as_floats().iter().zip(right.values.as_floats()).map(|(a, b)| (a - b).abs())
    });
    pairs.fold(0.0, f32::max)
}

/// Dividing the loss by the number of pixels, as the author does, and Adam's epsilon with it, leaves a run unchanged: a
/// power of two commutes with every rounding. With epsilon alone left as it is, it does not, so Adam is not
/// invariant to the scale of the loss by itself.
#[test]
fn scaling_loss_and_epsilon_together_leaves_a_run_unchanged() {
    let ours = weights_of_scaled_loss(1.0, 1024.0 * 1e-8);
    let authors = weights_of_scaled_loss(1.0 / 1024.0, 1e-8);
    assert!(largest_difference(&ours, &authors) < 1e-7, "{}", largest_difference(&ours, &authors));
    let unscaled = weights_of_scaled_loss(1.0, 1e-8);
    assert!(largest_difference(&ours, &unscaled) > 1e-5, "{}", largest_difference(&ours, &unscaled));
}

/// The cap at ln d changes the distance, and no gradient: a divergence of finite logits is below ln d.
#[test]
fn a_capacity_beyond_the_bound_pulls_like_the_bound_itself() {
    let golden = golden();
    let device = Device::flex().autodiff();
    let prior = Prior::new(&PriorConfig::StandardNormal {}, 4, None, &device).unwrap();
    let slopes = [5.0_f64.ln(), 100.0].map(|capacity| {
        let logits = matrix(&golden["categorical"]["probabilities"], &device).log().detach().require_grad();
        let batch = Batch::new(&golden, &device);
        let mut forward = batch.forward(&golden, &prior);
        forward.categorical = vec![Categorical::new(logits.clone())];
        let term = CategoricalKlFromCapacity { capacity: capacity.into() };
        floats(logits.grad(&term.value(&forward).backward()).unwrap())
    });
    assert_eq!(slopes[0], slopes[1]);
    // Without the cap the slope of |KL - 100| is minus that of KL, and so it is with it.
    let logits = matrix(&golden["categorical"]["probabilities"], &device).log().detach().require_grad();
    let kl = Categorical::new(logits.clone()).divergence_from_uniform().mean();
    let expected: Vec<f32> =
        floats(logits.grad(&kl.backward()).unwrap()).into_iter().map(|slope| -slope).collect();
    assert_eq!(slopes[1], expected);
}

#[test]
fn objectives_of_continuous_units_refuse_categorical_ones() {
    for (name, objective) in [
        ("factor-vae", "{ name = \"factor-vae\", gamma = 1.0 }"),
        ("wae-gan", "{ name = \"wae-gan\", lambda = 1.0 }"),
        ("aae", "aae"),
    ] {
        let assignments = vec![format!("objective={objective}"), "model.latents.categorical=[3]".to_owned()];
        let error = Source { assignments, ..Source::default() }.resolve().unwrap_err().to_string();
        let expected = format!("[], since `{name}` is defined for continuous units only");
        assert_eq!(
            error,
            format!("configuration: model.latents.categorical: found [3], expected {expected}")
        );
    }
}
