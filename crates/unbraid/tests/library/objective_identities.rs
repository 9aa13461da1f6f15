//! What holds between objectives, whatever the numbers.

use crate::gaussians::{Correlated, floats, normal};
use burn::tensor::{Device, Tensor, TensorData};
use unbraid::config::{
    DivergenceConfig, Estimator, Initializer, Kernel, KlForm, MmdConfig, ObjectiveConfig, PriorConfig,
    Samples, Variances,
};
use unbraid::model::DiagonalGaussian;
use unbraid::objective::{
    Covariance, CovarianceOf, DimensionWiseKl, Entries, ExclusiveKl, ForwardPass, IwaeKl, Losses, Mmd,
    Moments, MutualInformation, Objective, Setting, Term, TotalCorrelation,
};
use unbraid::prior::Prior;

const BATCH: usize = 24;
const UNITS: usize = 3;
const IMAGES: usize = 5000;

fn device() -> Device {
    Device::flex().autodiff()
}

fn tensor(values: Vec<f32>, shape: [usize; 2]) -> Tensor<2> {
    Tensor::from_data(TensorData::new(values, shape), &device())
}

fn prior_of(config: &PriorConfig) -> Prior {
    Prior::new(config, UNITS, None, &device()).unwrap()
}

fn standard_normal() -> Prior {
    prior_of(&PriorConfig::StandardNormal {})
}

fn anisotropic() -> Prior {
    let variances = Variances::Given(vec![3.0, 1.0, 0.2]);
    prior_of(&PriorConfig::Anisotropic { variances, learned: false, scale: None })
}

/// Parameters of posteriors, away from the prior's.
struct Parameters {
    mean: Tensor<2>,
    log_variance: Tensor<2>,
}

impl Parameters {
    fn new() -> Self {
        let shape = [BATCH, UNITS];
        let mean = normal(1, BATCH * UNITS).into_iter().map(|value| 1.3 * value + 0.4).collect();
        let log_variance = normal(2, BATCH * UNITS).into_iter().map(|value| 0.7 * value - 1.0).collect();
        Self {
            mean: tensor(mean, shape).require_grad(),
            log_variance: tensor(log_variance, shape).require_grad(),
        }
    }

    fn posterior(&self) -> DiagonalGaussian {
        DiagonalGaussian::new(self.mean.clone(), self.log_variance.clone())
    }

    fn forward<'a>(&self, prior: &'a Prior, noise: u64) -> ForwardPass<'a> {
        forward(prior, self.posterior(), noise)
    }
}

fn forward(prior: &Prior, posterior: DiagonalGaussian, noise: u64) -> ForwardPass<'_> {
    let shape = posterior.mean.dims();
    let sample = posterior.sample(tensor(normal(noise, shape.iter().product()), shape));
    let reconstruction = Tensor::from_floats([100.0; BATCH], &device());
    let mut forward = ForwardPass::new((0, IMAGES), prior, posterior, sample, reconstruction);
    forward.prior_sample = Some(tensor(normal(99, BATCH * UNITS), [BATCH, UNITS]));
    forward
}

fn evaluate(config: &ObjectiveConfig, forward: &ForwardPass<'_>) -> Losses {
    Objective::new(
        config,
        &Setting { seed: 0, units: UNITS, pixels: 4, initializer: Initializer::Pytorch, device: device() },
    )
    .evaluate(forward)
}

fn number(tensor: &Tensor<1>) -> f64 {
    f64::from(floats(tensor.clone())[0])
}

fn assert_near(what: &str, found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{what}: found {found}, expected {expected}");
}

fn beta_tcvae(weights: [f64; 3], estimator: Estimator, kl: KlForm) -> ObjectiveConfig {
    let [alpha, beta, gamma] = weights.map(Into::into);
    ObjectiveConfig::BetaTcvae { alpha, beta, gamma, estimator, kl, samples: Samples::default() }
}

const ESTIMATORS: [Estimator; 3] = [Estimator::Mss, Estimator::Mws, Estimator::MssColumns];

#[test]
fn the_three_parts_add_up_to_the_estimate_of_the_divergence() {
    for prior in [standard_normal(), anisotropic()] {
        let forward = Parameters::new().forward(&prior, 3);
        let sample = forward.sample.clone();
        let whole = forward.diagonal().log_density(sample.clone()).sum_dim(1).reshape([BATCH])
            - prior.log_density(sample);
        let whole = number(&whole.mean());
        for estimator in ESTIMATORS {
            let forward = Parameters::new().forward(&prior, 3);
            let parts: [Box<dyn Term>; 3] = [
                Box::new(MutualInformation(estimator)),
                Box::new(TotalCorrelation(estimator)),
                Box::new(DimensionWiseKl(estimator)),
            ];
            let sum: f64 = parts.iter().map(|part| number(&part.value(&forward))).sum();
            assert_near(&format!("{estimator:?}"), sum, whole, 2e-5 * whole.abs().max(10.0));
        }
    }
}

/// KL(q(z) || p(z)) is total correlation plus dimension-wise KL, whatever the estimator; with the weights (b,
/// b + a, b + a) `beta-tcvae` is `decomposition` with the exclusive KL, but for the sample in its mutual
/// information.
#[test]
fn the_exclusive_divergence_is_the_sum_of_two_parts() {
    let prior = standard_normal();
    for estimator in [Estimator::Mss, Estimator::Mws, Estimator::MssColumns, Estimator::Stratified] {
        let forward = Parameters::new().forward(&prior, 3);
        let sum = number(&TotalCorrelation(estimator).value(&forward))
            + number(&DimensionWiseKl(estimator).value(&forward));
        assert_near(
            &format!("{estimator:?}"),
            number(&ExclusiveKl(estimator).value(&forward)),
            sum,
            2e-5 * sum.abs().max(10.0),
        );
        let analytic = beta_tcvae([2.0, 5.0, 5.0], estimator, KlForm::Estimated);
        let decomposition = ObjectiveConfig::Decomposition {
            alpha: 3.0.into(),
            beta: 2.0.into(),
            divergence: DivergenceConfig::ExclusiveKl { estimator },
            samples: Samples::default(),
        };
        let [left, right] = [&analytic, &decomposition]
            .map(|config| number(&evaluate(config, &Parameters::new().forward(&prior, 3)).total));
        // 2 (estimate of KL at the sample - KL in closed form).
        let sample = forward.sample.clone();
        let estimated = forward.diagonal().log_density(sample.clone()).sum_dim(1).reshape([BATCH])
            - prior.log_density(sample);
        let noise = 2.0 * (number(&estimated.mean()) - number(&forward.divergence_of_images().mean()));
        assert_near(&format!("{estimator:?}"), left - right, noise, 1e-3);
    }
}

#[test]
fn beta_tcvae_with_weights_of_one_is_the_vae_in_expectation() {
    let prior = standard_normal();
    let vae = number(
        &evaluate(
            &ObjectiveConfig::Vae { samples: Samples::default() },
            &Parameters::new().forward(&prior, 3),
        )
        .total,
    );
    for estimator in ESTIMATORS {
        // With the divergence in closed form, without expectation: the parts have the weight zero.
        let exact = beta_tcvae([1.0; 3], estimator, KlForm::Analytic);
        let total = number(&evaluate(&exact, &Parameters::new().forward(&prior, 3)).total);
        assert_near("analytic", total, vae, 1e-5 * vae);

        let estimated = beta_tcvae([1.0; 3], estimator, KlForm::Estimated);
        let totals: Vec<f64> = (0..400)
            .map(|noise| {
                number(&evaluate(&estimated, &Parameters::new().forward(&prior, 1000 + noise)).total)
            })
            .collect();
        let mean = totals.iter().sum::<f64>() / totals.len() as f64;
        let variance = totals.iter().map(|total| (total - mean).powi(2)).sum::<f64>() / totals.len() as f64;
        let error = (variance / totals.len() as f64).sqrt();
        assert!(error < 0.02, "{error}");
        assert_near(&format!("{estimator:?}"), mean, vae, 4.0 * error);
    }
    // Both forms have the same expectation for other weights as well; with one sample they differ by its noise only.
    let noise = |kl| {
        number(
            &evaluate(
                &beta_tcvae([1.0, 6.0, 1.0], Estimator::Mss, kl),
                &Parameters::new().forward(&prior, 3),
            )
            .total,
        )
    };
    let single_sample = number(
        &evaluate(
            &beta_tcvae([1.0; 3], Estimator::Mss, KlForm::Estimated),
            &Parameters::new().forward(&prior, 3),
        )
        .total,
    );
    assert_near("forms", noise(KlForm::Estimated) - noise(KlForm::Analytic), single_sample - vae, 1e-3);
}

/// Losses and gradients of two objectives on the same batch.
fn assert_same(left: &ObjectiveConfig, right: &ObjectiveConfig) {
    let prior = standard_normal();
    let [left, right] = [left, right].map(|config| {
        let parameters = Parameters::new();
        let total = evaluate(config, &parameters.forward(&prior, 3)).total;
        let gradients = total.backward();
        let mut values = floats(total);
        values.extend(floats(parameters.mean.grad(&gradients).unwrap()));
        values.extend(floats(parameters.log_variance.grad(&gradients).unwrap()));
        values
    });
    for (left, right) in left.iter().zip(&right) {
        assert!((left - right).abs() <= 1e-6 * right.abs().max(0.1), "{left} {right}");
    }
}

#[test]
fn objectives_contain_each_other() {
    let beta_vae = ObjectiveConfig::BetaVae { beta: 3.0.into(), samples: Samples::default() };
    for divergence in
        [DivergenceConfig::default(), DivergenceConfig::InclusiveKl {}, DivergenceConfig::Moments {}]
    {
        let decomposition = ObjectiveConfig::Decomposition {
            alpha: 0.0.into(),
            beta: 3.0.into(),
            divergence,
            samples: Samples::default(),
        };
        assert_same(&decomposition, &beta_vae);
    }
    let mmd = MmdConfig::default();
    let decomposition = |alpha: f64, beta: f64| ObjectiveConfig::Decomposition {
        alpha: alpha.into(),
        beta: beta.into(),
        divergence: DivergenceConfig::Mmd(mmd.clone()),
        samples: Samples::default(),
    };
    // 1 - alpha = 0.75 on the divergence, alpha + lambda - 1 = 9.25 on the discrepancy.
    let info = ObjectiveConfig::InfoVae {
        alpha: 0.25.into(),
        lambda: 10.0.into(),
        mmd: mmd.clone(),
        samples: Samples::default(),
    };
    assert_same(&info, &decomposition(9.25, 0.75));
    let wae = ObjectiveConfig::WaeMmd {
        lambda: 10.0.into(),
        encoder: unbraid::config::Encoder::Gaussian,
        mmd: mmd.clone(),
        samples: Samples::default(),
    };
    assert_same(&wae, &decomposition(10.0, 0.0));
    // A capacity that is never reached is a constant.
    let annealed =
        ObjectiveConfig::AnnealedVae { gamma: 3.0.into(), capacity: 0.0.into(), samples: Samples::default() };
    assert_same(&annealed, &beta_vae);
}

/// A rotation about an oblique axis (Rodrigues), `[3, 3]`.
fn rotation() -> Tensor<2> {
    let [x, y, z] = [2.0_f64 / 7.0, 3.0 / 7.0, 6.0 / 7.0];
    let (sine, cosine) = 0.9_f64.sin_cos();
    let k = 1.0 - cosine;
    let rows = [
        [cosine + x * x * k, x * y * k - z * sine, x * z * k + y * sine],
        [y * x * k + z * sine, cosine + y * y * k, y * z * k - x * sine],
        [z * x * k - y * sine, z * y * k + x * sine, cosine + z * z * k],
    ];
    tensor(rows.as_flattened().iter().map(|value| *value as f32).collect(), [3, 3])
}

/// Mathieu et al. 2019, theorem 2: means and covariances rotated together, with the reconstruction as it was since the
/// decoder can undo a rotation.
#[test]
fn the_beta_vae_does_not_see_rotations_and_an_anisotropic_prior_does() {
    let config = ObjectiveConfig::BetaVae { beta: 4.0.into(), samples: Samples::default() };
    let loss = |prior: &Prior, posterior: &DiagonalGaussian| {
        number(&evaluate(&config, &forward(prior, posterior.clone(), 3)).total)
    };
    let parameters = Parameters::new();
    // One variance for all units of an image: any rotation leaves its covariance what it is.
    let round = parameters.log_variance.clone().narrow(1, 0, 1).repeat_dim(1, UNITS);
    let before = DiagonalGaussian::new(parameters.mean.clone(), round.clone());
    let after = DiagonalGaussian::new(parameters.mean.clone().matmul(rotation()), round);
    // A quarter turn of the first and third unit, for which any diagonal covariance stays diagonal.
    let turned = |values: Tensor<2>, sign: f64| {
        let column = |unit| values.clone().narrow(1, unit, 1);
        Tensor::cat(vec![column(2) * sign, column(1), column(0)], 1)
    };
    let quarter = DiagonalGaussian::new(
        turned(parameters.mean.clone(), -1.0),
        turned(parameters.log_variance.clone(), 1.0),
    );
    let (isotropic, anisotropic) = (standard_normal(), anisotropic());
    for (left, right) in [(before, after), (parameters.posterior(), quarter)] {
        let (left_loss, right_loss) = (loss(&isotropic, &left), loss(&isotropic, &right));
        assert_near("isotropic", left_loss, right_loss, 1e-5 * left_loss);
        assert!((loss(&anisotropic, &left) - loss(&anisotropic, &right)).abs() > 1.0);
    }
    // Any covariance, by the density of a sample that is rotated with it: q is unchanged, so p must be.
    let sample = parameters.forward(&isotropic, 3).sample;
    let turned = sample.clone().matmul(rotation());
    let change = |prior: &Prior| {
        let difference = prior.log_density(sample.clone()) - prior.log_density(turned.clone());
        floats(difference).into_iter().fold(0.0_f32, |largest, value| largest.max(value.abs()))
    };
    assert!(change(&isotropic) < 1e-5 && change(&anisotropic) > 1.0);
}

/// The bound from K samples written out in double precision; for one sample it is the estimate of the divergence.
#[test]
fn the_importance_weighted_bound_matches_its_definition() {
    let prior = standard_normal();
    for samples in [1, 5] {
        let posterior = Parameters::new().posterior();
        let repeated = posterior.repeated(samples);
        let rows = samples * BATCH;
        let sample = repeated.sample(tensor(normal(7, rows * UNITS), [rows, UNITS]));
        let losses: Vec<f32> = normal(8, rows).into_iter().map(|value| 50.0 + 2.0 * value).collect();
        let reconstruction = Tensor::<1>::from_data(TensorData::new(losses.clone(), [rows]), &device());
        let of_posterior = floats(repeated.log_density(sample.clone()).sum_dim(1));
        let of_prior = floats(prior.log_density(sample.clone()));
        let forward = ForwardPass::new((0, IMAGES), &prior, posterior, sample, reconstruction);
        let term = IwaeKl.value(&forward);
        let objective = evaluate(&ObjectiveConfig::Iwae { samples }, &forward).total;

        let mut bound = 0.0;
        for image in 0..BATCH {
            let weights = (0..samples).map(|sample| {
                let row = sample * BATCH + image;
                f64::from(of_prior[row]) - f64::from(of_posterior[row]) - f64::from(losses[row])
            });
            bound += (weights.map(f64::exp).sum::<f64>() / samples as f64).ln() / BATCH as f64;
        }
        assert_near("bound", number(&objective), -bound, 1e-4);
        let mean = losses.iter().map(|value| f64::from(*value)).sum::<f64>() / rows as f64;
        assert_near("term", number(&term), -bound - mean, 1e-4);
    }
}

/// Every kernel by its definition, pair by pair in double precision.
#[test]
fn discrepancies_match_their_definitions() {
    let prior = standard_normal();
    let forward = Parameters::new().forward(&prior, 3);
    let points = |tensor: Tensor<2>| -> Vec<Vec<f64>> {
        floats(tensor).chunks(UNITS).map(|row| row.iter().map(|value| f64::from(*value)).collect()).collect()
    };
    let (z, p) = (points(forward.sample.clone()), points(forward.prior_sample()));
    for kernel in [Kernel::Imq, Kernel::Rbf] {
        for per_unit in [false, true] {
            let scales = vec![0.3, 2.0];
            let k = |squared: f64, units: f64| -> f64 {
                let value = |scale: &f64| match kernel {
                    Kernel::Imq => 2.0 * units * scale / (2.0 * units * scale + squared),
                    Kernel::Rbf => (-squared / (2.0 * units * scale)).exp(),
                };
                scales.iter().map(value).sum()
            };
            let similarity = |a: &[f64], b: &[f64]| -> f64 {
                let squares = a.iter().zip(b).map(|(a, b)| (a - b).powi(2));
                if per_unit {
                    squares.map(|square| k(square, 1.0)).sum()
                } else {
                    k(squares.sum(), UNITS as f64)
                }
            };
            let count = BATCH as f64;
            let mut expected = 0.0;
            for i in 0..BATCH {
                for j in 0..BATCH {
                    if i != j {
                        expected +=
                            (similarity(&z[i], &z[j]) + similarity(&p[i], &p[j])) / (count * (count - 1.0));
                    }
                    expected -= 2.0 * similarity(&z[i], &p[j]) / (count * count);
                }
            }
            let term = Mmd::new(&MmdConfig { kernel, scales: scales.clone(), per_unit });
            assert_near(&format!("{kernel:?} {per_unit}"), number(&term.value(&forward)), expected, 1e-5);
        }
    }
}

/// With a standard normal prior: DIP-VAE-II's penalties with weights of one, and the squared mean.
#[test]
fn matched_moments_are_those_of_dip_for_a_standard_normal_prior() {
    let prior = standard_normal();
    let forward = Parameters::new().forward(&prior, 3);
    let part = |entries| number(&Covariance::new(CovarianceOf::Samples, entries, 0.0, UNITS).value(&forward));
    let mean = floats(forward.diagonal().mean.clone().mean_dim(0));
    let squares: f64 = mean.iter().map(|value| f64::from(*value).powi(2)).sum();
    let expected = part(Entries::OffDiagonal) + part(Entries::Diagonal) + squares;
    assert_near("moments", number(&Moments.value(&forward)), expected, 1e-5 * expected);
}

/// Averages without bias: a running estimate of the same batch over and over is the batch's own covariance, and that of
/// changing batches has less noise.
#[test]
fn running_covariances_remember() {
    let prior = standard_normal();
    let mut term = Covariance::new(CovarianceOf::Samples, Entries::OffDiagonal, 0.9, UNITS);
    let single = Covariance::new(CovarianceOf::Samples, Entries::OffDiagonal, 0.0, UNITS);
    let mut forward = Parameters::new().forward(&prior, 3);
    for step in 0..5 {
        forward.step = step;
        assert_near("same batch", number(&term.value(&forward)), number(&single.value(&forward)), 1e-4);
        term.update(&forward);
    }
    // Batches whose true covariance is diagonal: the penalty is noise alone, of the order 1 / images seen.
    let mut sums = [0.0; 2];
    for step in 5..60 {
        let mean = tensor(normal(500 + step, BATCH * UNITS), [BATCH, UNITS]);
        let posterior = DiagonalGaussian::new(mean.clone(), mean.zeros_like());
        let mut forward = self::forward(&prior, posterior, 3);
        forward.step = step;
        if step >= 40 {
            sums[0] += number(&term.value(&forward));
            sums[1] += number(&single.value(&forward));
        }
        term.update(&forward);
    }
    assert!(sums[0] < 0.2 * sums[1], "{sums:?}");
    // What was saved is what comes back.
    let mut restored = Covariance::new(CovarianceOf::Samples, Entries::OffDiagonal, 0.9, UNITS);
    restored.set_state(term.state()).unwrap();
    assert_eq!(restored.state(), term.state());
    let other = Covariance::new(CovarianceOf::Samples, Entries::OffDiagonal, 0.9, UNITS + 1).state();
    // 3 means, 3 x 3 products and 3 variances; with four units 4, 16 and 4.
    assert_eq!(
        restored.set_state(other).unwrap_err().to_string(),
        "weights of another model: moments: found F32 [24], expected F32 [15]"
    );
}

/// Posteriors a thousand times narrower than the distances between them, far from the origin, in single precision: the
/// same as every density written out in double precision.
#[test]
fn narrow_posteriors_lose_no_digits() {
    let prior = standard_normal();
    let mean: Vec<f32> = normal(21, BATCH * UNITS).into_iter().map(|value| 3.0 * value + 10.0).collect();
    let log_variance: Vec<f32> = normal(22, BATCH * UNITS).into_iter().map(|value| value - 12.0).collect();
    let shape = [BATCH, UNITS];
    let posterior = DiagonalGaussian::new(tensor(mean.clone(), shape), tensor(log_variance.clone(), shape));
    let forward = forward(&prior, posterior, 23);
    let z = floats(forward.sample.clone());
    let at = |values: &[f32], row: usize, unit: usize| f64::from(values[row * UNITS + unit]);
    let density = |i: usize, j: usize, unit: usize| {
        let (deviation, logarithm) = (at(&z, i, unit) - at(&mean, j, unit), at(&log_variance, j, unit));
        -0.5 * (deviation * deviation * (-logarithm).exp() + logarithm + (2.0 * std::f64::consts::PI).ln())
    };
    let log_mean = |values: &dyn Fn(usize) -> f64| {
        let largest = (0..BATCH).map(values).fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = (0..BATCH).map(|j| (values(j) - largest).exp()).sum();
        largest + sum.ln() - ((BATCH * IMAGES) as f64).ln()
    };
    let mut expected = 0.0;
    for i in 0..BATCH {
        let joint = log_mean(&|j| (0..UNITS).map(|unit| density(i, j, unit)).sum());
        let marginals: f64 = (0..UNITS).map(|unit| log_mean(&|j| density(i, j, unit))).sum();
        expected += (joint - marginals) / BATCH as f64;
    }
    let found = number(&TotalCorrelation(Estimator::Mws).value(&forward));
    assert_near("total correlation", found, expected, 1e-4 * expected.abs());
}

/// Gaussian codes of known covariance: the stratified estimate approaches -1/2 ln det(correlation), from closer with a
/// larger batch; the weighted one is off by about (D - 1) ln N whatever the batch.
#[test]
fn the_total_correlation_of_gaussians_is_found() {
    let codes = Correlated { units: 3, correlation: 0.7, noise: 0.4 };
    let exact = codes.total_correlation();
    let images = 737_280;
    let estimate = |batch: usize, estimator| {
        let rounds = 2048 / batch;
        let sum: f64 = (0..rounds)
            .map(|round| number(&codes.total_correlation_estimate(batch, images, estimator, round as u64)))
            .sum();
        sum / rounds as f64
    };
    let [small, large] = [64, 1024].map(|batch| (estimate(batch, Estimator::Mss) - exact).abs());
    assert!(large < 0.03 && large < small, "{large} {small} of {exact}");
    let weighted = estimate(1024, Estimator::Mws) - exact;
    assert_near("weighted", weighted, 2.0 * (images as f64).ln(), 0.5);
}
