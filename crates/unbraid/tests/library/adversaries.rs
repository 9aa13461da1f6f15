//! The discriminator: its gradients against differences in double precision, and the total correlation that it learns.
use burn::tensor::{Device, Tensor, TensorData};
use rand_distr::{Distribution, StandardNormal};
use unbraid::config::{
    DiscriminatorBatch, DiscriminatorConfig, GeneratorLoss, Initializer, PriorConfig, Source,
};
use unbraid::data::random::Stream;
use unbraid::model::{DiagonalGaussian, Discriminator, StateTensor};
use unbraid::objective::{
    AdversarialPrior, Adversary, DiscriminatedTotalCorrelation, ForwardPass, Setting, Term,
};
use unbraid::prior::Prior;

const SMALL: DiscriminatorConfig = DiscriminatorConfig {
    layers: 2,
    width: 64,
    learning_rate: 2e-3,
    beta1: 0.5,
    beta2: 0.9,
    epsilon: 1e-8,
    leak: 0.2,
};

fn floats<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.inner().into_data().try_into_vec().unwrap()
}

fn matrix(rows: &[Vec<f64>], device: &Device) -> Tensor<2> {
    let values: Vec<f32> = rows.iter().flatten().map(|value| *value as f32).collect();
    Tensor::from_data(TensorData::new(values, [rows.len(), rows[0].len()]), device)
}

fn setting(units: usize) -> Setting {
    Setting {
        seed: 3,
        units,
        pixels: 4,
        initializer: Initializer::Pytorch,
        device: Device::flex().autodiff(),
    }
}

/// The forward of a batch of samples; posteriors do not matter here.
fn forward<'a>(step: u64, prior: &'a Prior, sample: Tensor<2>) -> ForwardPass<'a> {
    let (mean, log_variance) = (sample.clone(), sample.zeros_like());
    let reconstruction = Tensor::zeros([sample.dims()[0]], &sample.device());
    let posterior = DiagonalGaussian { mean, log_variance };
    ForwardPass::new((step, 1000), prior, posterior, sample, reconstruction)
}

/// The logits of one row, computed here in double precision from the weights of a checkpoint.
fn logits(weights: &[StateTensor], row: &[f64]) -> [f64; 2] {
    logits_with_slope(weights, row, 0.2)
}

fn logits_with_slope(weights: &[StateTensor], row: &[f64], slope: f64) -> [f64; 2] {
    let tensor = |name: &str| {
        let tensor = weights.iter().find(|tensor| tensor.name == format!("discriminator.{name}")).unwrap();
        tensor.values.as_floats().iter().map(|value| f64::from(*value)).collect::<Vec<_>>()
    };
    let layer = |name: &str, values: &[f64]| -> Vec<f64> {
        let (weight, bias) = (tensor(&format!("{name}.weight")), tensor(&format!("{name}.bias")));
        let rows = weight.chunks_exact(values.len()).zip(bias);
        rows.map(|(row, bias)| bias + row.iter().zip(values).map(|(w, x)| w * x).sum::<f64>()).collect()
    };
    let leaky = |values: Vec<f64>| {
        values.into_iter().map(|x| if x < 0.0 { slope * x } else { x }).collect::<Vec<_>>()
    };
    let last = layer("logits", &leaky(layer("fc2", &leaky(layer("fc1", row)))));
    [last[0], last[1]]
}

/// ln softmax of two logits.
fn log_probabilities([first, second]: [f64; 2]) -> [f64; 2] {
    let most = first.max(second);
    let total = most + ((first - most).exp() + (second - most).exp()).ln();
    [first - total, second - total]
}

fn mean(rows: &[Vec<f64>], value: impl Fn(&[f64]) -> f64) -> f64 {
    rows.iter().map(|row| value(row)).sum::<f64>() / rows.len() as f64
}

fn gaussian_rows(count: usize, units: usize, position: u64) -> Vec<Vec<f64>> {
    let mut generator = Stream::new(11, "test").at(position).generator();
    (0..count).map(|_| (0..units).map(|_| StandardNormal.sample(&mut generator)).collect()).collect()
}

/// The slope of the leaky ReLU is an option; a configuration with the usual one is written as it always was.
#[test]
fn the_slope_of_the_leaky_relu_can_be_chosen() {
    let device = Device::flex();
    let rows = gaussian_rows(5, 3, 4);
    for leak in [0.02, 0.2] {
        let config = DiscriminatorConfig { leak, ..SMALL };
        let discriminator = Discriminator::new(&config, 3, (Initializer::KaimingNormal, 1), &device);
        let weights: Vec<StateTensor> = discriminator
            .parameters()
            .iter()
            .map(|parameter| StateTensor::floats(parameter.name(), parameter.shape(), parameter.values()))
            .collect();
        let found: Vec<f32> =
            discriminator.logits(matrix(&rows, &device)).into_data().try_into_vec().unwrap();
        let expected = rows.iter().flat_map(|row| logits_with_slope(&weights, row, leak));
        for (found, expected) in found.into_iter().zip(expected) {
            assert!((f64::from(found) - expected).abs() < 1e-4, "{leak}: {found} {expected}");
        }
    }
    let text = |name: &str| Source::preset(name).resolve().unwrap().to_toml();
    assert!(text("thesis/factor-vae").contains("leak = 0.02"));
    assert!(!text("thesis-code/factor-vae").contains("leak"));
    let error = Source::preset("thesis/factor-vae").set("objective.discriminator.leak=1").resolve();
    assert_eq!(
        error.unwrap_err().to_string(),
        "configuration: objective.discriminator.leak: found 1, expected a number from 0 to below 1"
    );
}

/// Values and slopes of the terms against central differences of the same formula in double precision.
#[test]
fn terms_and_their_gradients_agree_with_double_precision() {
    let setting = setting(3);
    let prior = Prior::new(&PriorConfig::StandardNormal {}, 3, None, &setting.device).unwrap();
    let rows = gaussian_rows(4, 3, 0);
    let correlation = DiscriminatedTotalCorrelation::new(&SMALL, DiscriminatorBatch::Same, &setting);
    let non_saturating = AdversarialPrior::new(&SMALL, GeneratorLoss::NonSaturating, &setting);
    let minimax = AdversarialPrior::new(&SMALL, GeneratorLoss::Minimax, &setting);
    type Formula = fn([f64; 2]) -> f64;
    let cases: [(&dyn Term, Formula); 3] = [
        (&correlation, |logits| logits[0] - logits[1]),
        (&non_saturating, |logits| -log_probabilities(logits)[0]),
        (&minimax, |logits| log_probabilities(logits)[1]),
    ];
    for (term, formula) in cases {
        let weights = term.state();
        let value = |rows: &[Vec<f64>]| mean(rows, |row| formula(logits(&weights, row)));
        let sample = matrix(&rows, &setting.device).require_grad();
        let found = term.value(&forward(0, &prior, sample.clone()));
        let expected = value(&rows);
        assert!((f64::from(floats(found.clone())[0]) - expected).abs() < 1e-6, "{}: {expected}", term.name());
        let slopes = floats(sample.grad(&found.backward()).unwrap());
        for row in 0..4 {
            for unit in 0..3 {
                let moved = |step: f64| {
                    let mut rows = rows.clone();
                    rows[row][unit] += step;
                    value(&rows)
                };
                let expected = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                let found = f64::from(slopes[3 * row + unit]);
                assert!((found - expected).abs() < 1e-4 * expected.abs().max(1e-3), "{found} {expected}");
            }
        }
    }
}

/// Cross-entropy by hand, and Adam's first step: against the gradient by the learning rate, whatever its size.
#[test]
fn the_discriminator_steps_against_the_gradient_of_its_cross_entropy() {
    let setting = setting(2);
    let mut adversary = Adversary::new(&SMALL, &setting);
    let (first, second) = (gaussian_rows(5, 2, 1), gaussian_rows(5, 2, 2));
    let before = adversary.state();
    let loss = |weights: &[StateTensor]| {
        let of_first = mean(&first, |row| log_probabilities(logits(weights, row))[0]);
        let of_second = mean(&second, |row| log_probabilities(logits(weights, row))[1]);
        -0.5 * (of_first + of_second)
    };
    let found = adversary.update(matrix(&first, &setting.device), matrix(&second, &setting.device));
    assert!((f64::from(floats(found)[0]) - loss(&before)).abs() < 1e-6);
    let after = adversary.state();
    for name in ["discriminator.fc1.weight", "discriminator.fc2.bias", "discriminator.logits.weight"] {
        let place = before.iter().position(|tensor| tensor.name == name).unwrap();
        for entry in 0..before[place].values.as_floats().len().min(20) {
            let moved = |step: f32| {
                let mut weights = before.clone();
                let mut values = weights[place].values.as_floats().to_vec();
                values[entry] += step;
                weights[place] = StateTensor::floats(name, weights[place].shape.clone(), values);
                loss(&weights)
            };
            let slope = (moved(1e-3) - moved(-1e-3)) / 2e-3;
            let change = after[place].values.as_floats()[entry] - before[place].values.as_floats()[entry];
            if slope.abs() > 1e-4 {
                let expected = -SMALL.learning_rate * slope.signum();
                assert!((f64::from(change) - expected).abs() < 1e-5, "{name}[{entry}]: {change} {slope}");
            }
        }
    }
}

#[test]
fn each_pass_computes_the_gradients_of_one_side_only() {
    let device = Device::flex().autodiff();
    let discriminator = Discriminator::new(&SMALL, 2, (Initializer::Pytorch, 0), &device);
    let rows = matrix(&gaussian_rows(3, 2, 0), &device).require_grad();
    let mut gradients = discriminator.frozen_logits(rows.clone()).sum().backward();
    assert!(rows.grad(&gradients).is_some());
    assert!(discriminator.parameters().iter().all(|weight| weight.take_gradient(&mut gradients).is_none()));
    assert_eq!(
        floats(discriminator.frozen_logits(rows.clone())),
        floats(discriminator.logits(rows.clone())),
        "frozen or not, the logits are the same"
    );

    let mut adversary = Adversary::new(&SMALL, &setting(2));
    // A sample that depends on something, as the encoder's does; nothing of it may be touched.
    let sample = rows.clone() * 2.0;
    let loss = adversary.update(sample.clone(), sample.clone());
    assert!(rows.grad(&sample.sum().backward()).is_some());
    assert!(!loss.is_require_grad());
}

/// On the CPU, value and update share one pass with kernels of their own; other devices differentiate the network. Both
/// compute the same.
#[test]
fn the_shared_pass_is_the_automatic_derivative() {
    let setting = setting(3);
    let (first, second) = (gaussian_rows(9, 3, 1), gaussian_rows(9, 3, 2));
    let rows = |rows: &[Vec<f64>]| matrix(rows, &setting.device);
    let [mut shared, mut automatic] = [0, 1].map(|_| Adversary::new(&SMALL, &setting));
    for _ in 0..3 {
        let values = |differences: &dyn Fn(Tensor<2>) -> Tensor<1>| {
            let sample = rows(&first).require_grad();
            let value = differences(sample.clone());
            let gradient = sample.grad(&(value.clone() * value.clone()).sum().backward()).unwrap();
            [floats(value), gradient.into_data().try_into_vec().unwrap()]
        };
        let found = values(&|sample| shared.differences(sample, Some(rows(&second))).0);
        let expected = values(&|sample| automatic.network().frozen_difference(sample));
        for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
            // Sums of 64 products near one, in another order.
            assert!((found - expected).abs() < 1e-5 * expected.abs().max(1.0), "{found} {expected}");
        }
        let loss = |of_first: Tensor<1>, of_second: Tensor<1>| {
            (of_first.clone() * of_first).mean() + of_second.exp().mean()
        };
        let found = shared.update_on(rows(&first), rows(&second), loss);
        let expected = automatic
            .minimize(|network| loss(network.difference(rows(&first)), network.difference(rows(&second))));
        assert!((floats(found)[0] - floats(expected)[0]).abs() < 1e-5);
        for (found, expected) in shared.state().iter().zip(automatic.state()) {
            // Adam divides by the size of the gradient: the weights themselves depend on its sign where it
            // nearly vanishes.
            if found.name.starts_with("adam.") {
                let pairs = found.values.as_floats().iter().zip(expected.values.as_floats());
                for (found_value, expected) in pairs {
                    let limit = 1e-4 * expected.abs().max(1e-2);
                    assert!(
                        (found_value - expected).abs() < limit,
                        "{}: {found_value} {expected}",
                        found.name
                    );
                }
            }
        }
    }
}

#[test]
fn an_adversary_goes_on_from_its_state_to_the_bit() {
    let setting = setting(2);
    let batch = |step| matrix(&gaussian_rows(8, 2, step), &setting.device);
    let mut whole = Adversary::new(&SMALL, &setting);
    for step in 0..3 {
        whole.update(batch(step), batch(step + 100));
    }
    let mut resumed = Adversary::new(&SMALL, &Setting { seed: 9, ..setting.clone() });
    assert_ne!(resumed.state(), whole.state());
    let mut state = whole.state();
    state.reverse();
    resumed.set_state(state).unwrap();
    for step in 3..6 {
        whole.update(batch(step), batch(step + 100));
        resumed.update(batch(step), batch(step + 100));
    }
    assert_eq!(resumed.state(), whole.state());
    let mut foreign = whole.state();
    foreign.remove(0);
    assert_eq!(
        resumed.set_state(foreign).unwrap_err().to_string(),
        "weights of another model: discriminator.fc1.weight: found nothing, expected F32 [64, 2]"
    );
    assert_eq!(resumed.state(), whole.state());
}

/// Samples of a Gaussian whose units 0 and 1 have the correlation `rho` and whose unit 2 is independent.
fn correlated(count: usize, rho: f64, position: u64) -> Vec<Vec<f64>> {
    let mut rows = gaussian_rows(count, 3, position);
    for row in &mut rows {
        row[1] = rho * row[0] + (1.0 - rho * rho).sqrt() * row[1];
    }
    rows
}

/// TC = -1/2 ln det of the correlation matrix = -1/2 ln(1 - rho^2), on samples that the discriminator never saw. A
/// discriminator that has not quite converged finds less; the estimate's own noise is about 0.01.
#[test]
fn the_total_correlation_of_gaussians_is_found() {
    let setting = setting(3);
    let prior = Prior::new(&PriorConfig::StandardNormal {}, 3, None, &setting.device).unwrap();
    for rho in [0.0, 0.8] {
        let config = DiscriminatorConfig { learning_rate: 1e-3, ..SMALL };
        let mut term = DiscriminatedTotalCorrelation::new(&config, DiscriminatorBatch::Second, &setting);
        assert!(term.needs().second_batch);
        for step in 0..500 {
            let sample = matrix(&correlated(512, rho, 2 * step), &setting.device);
            let mut forward = forward(step, &prior, sample);
            forward.second_sample = Some(matrix(&correlated(512, rho, 2 * step + 1), &setting.device));
            term.update(&forward);
        }
        let fresh = matrix(&correlated(20_000, rho, 1_000_000), &setting.device);
        let found = f64::from(floats(term.value(&forward(500, &prior, fresh)))[0]);
        let expected = -0.5 * (1.0 - rho * rho).ln();
        assert!((found - expected).abs() < 0.05, "rho {rho}: {found} {expected}");
    }
}
