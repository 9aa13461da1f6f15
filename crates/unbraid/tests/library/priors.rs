//! Priors against numbers computed in double precision (golden/objectives.json), closed forms and their own
//! definitions.

use crate::golden::golden;
use burn::tensor::{Device, Tensor, TensorData};
use serde_json::Value;
use unbraid::config::{PriorConfig, VarianceRule, Variances};
use unbraid::data::random::Stream;
use unbraid::model::DiagonalGaussian;
use unbraid::prior::Prior;

/// Relative tolerance in single precision.
const TOLERANCE: f64 = 1e-4;

fn rows(value: &Value) -> Vec<Vec<f64>> {
    serde_json::from_value(value.clone()).unwrap()
}

fn matrix(rows: &[Vec<f64>], device: &Device) -> Tensor<2> {
    let values: Vec<f32> = rows.iter().flatten().map(|value| *value as f32).collect();
    Tensor::from_data(TensorData::new(values, [rows.len(), rows[0].len()]), device)
}

fn floats<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    let values: Vec<f32> = tensor.inner().into_data().try_into_vec().unwrap();
    values.into_iter().map(f64::from).collect()
}

fn assert_close(what: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    // Entries near zero are compared with the size of the whole.
    let largest = expected.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    for (found, expected) in found.iter().zip(expected) {
        let allowed = TOLERANCE * expected.abs().max(1e-2 * largest);
        assert!((found - expected).abs() <= allowed, "{what}: {found} {expected}");
    }
}

fn prior(config: &PriorConfig, units: usize) -> Prior {
    Prior::new(config, units, None, &Device::flex()).unwrap()
}

fn anisotropic(variances: &[f64], learned: bool) -> PriorConfig {
    PriorConfig::Anisotropic { variances: Variances::Given(variances.to_vec()), learned, scale: None }
}

fn mixture(positions: &[[f64; 2]], variance: f64, weights: &[f64]) -> PriorConfig {
    PriorConfig::Mixture {
        positions: positions.iter().map(|position| position.to_vec()).collect(),
        variance,
        weights: weights.to_vec(),
    }
}

/// One of each kind, for two units.
fn every_kind() -> Vec<PriorConfig> {
    vec![
        PriorConfig::StandardNormal {},
        anisotropic(&[2.0, 0.3], false),
        anisotropic(&[2.0, 0.3], true),
        PriorConfig::StudentT { degrees_of_freedom: 9.0 },
        mixture(&[[0.0, -1.0], [0.5, 2.0], [-3.0, 0.0]], 0.2, &[0.5, 0.3, 0.2]),
        PriorConfig::Sparse { gamma: 0.8, sigma0: 0.05, scale: 1.5 },
        PriorConfig::Sparse { gamma: 0.0, sigma0: 0.05, scale: 1.0 },
        PriorConfig::Sparse { gamma: 1.0, sigma0: 0.05, scale: 1.0 },
    ]
}

#[test]
fn divergences_and_their_gradients_agree_with_double_precision() {
    let golden = golden();
    let device = Device::flex().autodiff();
    let terms = &golden["terms"];
    let number = |value: &Value| value.as_f64().unwrap();
    let numbers = |value: &Value| -> Vec<f64> { serde_json::from_value(value.clone()).unwrap() };
    let mixture = &golden["mixture_prior"];
    for (name, config) in [
        ("kl_standard_normal", PriorConfig::StandardNormal {}),
        ("kl_anisotropic", anisotropic(&numbers(&terms["kl_anisotropic"]["prior_variance"]), false)),
        ("kl_anisotropic", anisotropic(&numbers(&terms["kl_anisotropic"]["prior_variance"]), true)),
        (
            "mc_kl_student_t",
            PriorConfig::StudentT {
                degrees_of_freedom: number(&terms["mc_kl_student_t"]["degrees_of_freedom"]),
            },
        ),
        (
            "mc_kl_mixture",
            PriorConfig::Mixture {
                positions: rows(&mixture["means"]),
                variance: number(&mixture["variance"]),
                weights: numbers(&mixture["weights"]),
            },
        ),
        (
            "mc_kl_sparse",
            PriorConfig::Sparse {
                gamma: number(&terms["mc_kl_sparse"]["gamma"]),
                sigma0: number(&terms["mc_kl_sparse"]["sigma0"]),
                scale: 1.0,
            },
        ),
    ] {
        let prior = Prior::new(&config, 4, None, &device).unwrap();
        let mean = matrix(&rows(&golden["mean"]), &device).require_grad();
        let log_variance = matrix(&rows(&golden["log_variance"]), &device).require_grad();
        let posterior = DiagonalGaussian::new(mean.clone(), log_variance.clone());
        let sample = posterior.sample(matrix(&rows(&golden["noise"]), &device));

        let divergence = prior.divergence(&posterior, &sample);
        let value = divergence.images.mean();
        assert_close(name, &floats(value.clone()), &[number(&terms[name]["value"])]);
        if let Some(per_unit) = terms[name].get("per_unit") {
            let units = divergence.units.mean_dim(0);
            assert_close("units", &floats(units), &numbers(per_unit));
        }
        let gradients = value.backward();
        for (part, tensor) in [("grad_mean", mean), ("grad_log_variance", log_variance)] {
            let expected: Vec<f64> = rows(&terms[name][part]).into_iter().flatten().collect();
            assert_close(&format!("{name} {part}"), &floats(tensor.grad(&gradients).unwrap()), &expected);
        }
    }
}

/// The KL divergence is the expectation of its estimate: a quadrature over the posterior of one unit must
/// give the closed form.
#[test]
fn estimates_average_to_the_closed_form() {
    let device = Device::flex();
    let prior = prior(&anisotropic(&[0.4], false), 1);
    let (mean, variance) = (0.7_f64, 0.09_f64);
    let steps = 4000;
    let nodes: Vec<f64> = (0..steps).map(|i| -8.0 + 16.0 * (f64::from(i) + 0.5) / f64::from(steps)).collect();
    let z: Vec<Vec<f64>> = nodes.iter().map(|node| vec![mean + variance.sqrt() * node]).collect();
    let log_density = floats(prior.log_density(matrix(&z, &device)));
    let normal = |x: f64| (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let expectation: f64 = nodes
        .iter()
        .zip(&log_density)
        .map(|(node, log_p)| {
            normal(*node) * ((normal(*node) / variance.sqrt()).ln() - log_p) * 16.0 / f64::from(steps)
        })
        .sum();
    let posterior = DiagonalGaussian::new(
        Tensor::from_floats([[mean as f32]], &device),
        Tensor::from_floats([[variance.ln() as f32]], &device),
    );
    let closed = floats(prior.divergence(&posterior, &Tensor::zeros([1, 1], &device)).images)[0];
    // (mu^2 / v + s^2 / v - ln(s^2 / v) - 1) / 2 by hand.
    let by_hand = 0.5 * ((0.49 + 0.09) / 0.4 - (0.09_f64 / 0.4).ln() - 1.0);
    assert!(
        (closed - by_hand).abs() < 1e-6 && (expectation - by_hand).abs() < 1e-5,
        "{closed} {expectation}"
    );
}

#[test]
fn every_marginal_integrates_to_one_and_to_its_distribution_function() {
    let device = Device::flex();
    // Fine enough for a standard deviation of 0.05, wide enough for the tails of nine degrees of freedom.
    let (low, high, steps) = (-60.0, 60.0, 480_000);
    let width = (high - low) / f64::from(steps);
    let nodes: Vec<f64> = (0..steps).map(|i| low + width * (f64::from(i) + 0.5)).collect();
    let z: Vec<Vec<f64>> = nodes.iter().map(|node| vec![*node, *node]).collect();
    let z = matrix(&z, &device);
    for config in every_kind() {
        let prior = prior(&config, 2);
        let densities = floats(prior.log_density_of_units(z.clone()));
        for unit in 0..2 {
            let mut integral = 0.0;
            for (node, density) in nodes.iter().zip(densities.iter().skip(unit).step_by(2)) {
                integral += density.exp() * width;
                if (node + 0.5 * width).rem_euclid(0.25) < 0.5 * width && node.abs() < 5.0 {
                    let expected = prior.distribution_function(unit, node + 0.5 * width);
                    assert!(
                        (integral - expected).abs() < 2e-5,
                        "{config:?} at {node}: {integral} {expected}"
                    );
                }
            }
            assert!((integral - 1.0).abs() < 2e-5, "{config:?}: {integral}");
        }
    }
}

/// Two units on a grid: the joint density, not only the marginals.
#[test]
fn the_joint_density_of_the_mixture_integrates_to_one() {
    let device = Device::flex();
    let prior = prior(&every_kind()[4], 2);
    let (low, high, steps) = (-7.0, 7.0, 280);
    let width = (high - low) / f64::from(steps);
    let node = |i: i32| low + width * (f64::from(i) + 0.5);
    let z: Vec<Vec<f64>> = (0..steps * steps).map(|i| vec![node(i / steps), node(i % steps)]).collect();
    let integral: f64 =
        floats(prior.log_density(matrix(&z, &device))).iter().map(|log| log.exp() * width * width).sum();
    assert!((integral - 1.0).abs() < 1e-5, "{integral}");
}

#[test]
fn quantiles_invert_the_distribution_function() {
    for config in every_kind() {
        let prior = prior(&config, 2);
        for unit in 0..2 {
            let mut last = f64::NEG_INFINITY;
            for probability in [1e-6, 0.01, 0.05, 0.5, 0.9, 0.95, 1.0 - 1e-6] {
                let x = prior.quantile(unit, probability);
                let back = prior.distribution_function(unit, x);
                assert!((back - probability).abs() < 1e-12, "{config:?}: {probability} {x} {back}");
                assert!(x > last);
                last = x;
            }
        }
    }
    // The 97.5 % point of N(0, 0.3) and of Student's t with nine degrees of freedom, from tables.
    let normal = prior(&every_kind()[1], 2).quantile(1, 0.975);
    assert!((normal - 1.959_963_985 * 0.3_f64.sqrt()).abs() < 1e-6, "{normal}");
    let student = prior(&every_kind()[3], 2).quantile(0, 0.975);
    assert!((student - 2.262_157).abs() < 1e-6, "{student}");
}

/// Mean, variance and mean size of the samples against those of the definition; the shares below the quartiles as well.
#[test]
fn samples_have_the_moments_of_the_distribution() {
    const SAMPLES: usize = 200_000;
    let stream = Stream::new(1, "test");
    for (kind, config) in every_kind().into_iter().enumerate() {
        let prior = prior(&config, 2);
        let position = stream.at(kind as u64);
        let values = floats(prior.sample(position, SAMPLES));
        assert_eq!(values, floats(prior.sample(position, SAMPLES)), "the same position, the same numbers");
        for unit in 0..2 {
            let of_unit: Vec<f64> = values.iter().copied().skip(unit).step_by(2).collect();
            for probability in [0.05, 0.25, 0.5, 0.75, 0.95] {
                let quantile = prior.quantile(unit, probability);
                let below = of_unit.iter().filter(|value| **value < quantile).count();
                let share = below as f64 / SAMPLES as f64;
                // Five standard errors of a share.
                let allowed = 5.0 * (probability * (1.0 - probability) / SAMPLES as f64).sqrt();
                assert!((share - probability).abs() < allowed, "{config:?}: {share} {probability}");
            }
            // Means by definition: 0, but for the mixture 0.5 * 0 + 0.3 * 0.5 - 0.2 * 3 and -0.5 + 0.3 * 2.
            let mean = of_unit.iter().sum::<f64>() / SAMPLES as f64;
            let second = of_unit.iter().map(|value| value * value).sum::<f64>() / SAMPLES as f64;
            let (mean_expected, second_expected) = match kind {
                0 => (0.0, 1.0),
                1 | 2 => (0.0, [2.0, 0.3][unit]),
                3 => (0.0, 9.0 / 7.0),
                4 => ([-0.45, 0.1][unit], [0.2 + 0.3 * 0.25 + 0.2 * 9.0, 0.2 + 0.5 + 0.3 * 4.0][unit]),
                5 => (0.0, 0.8 * 0.0025 + 0.2 * 2.25),
                6 => (0.0, 1.0),
                _ => (0.0, 0.0025),
            };
            // Five standard errors; fourth moments are at most 8 times the squared second ones here.
            let allowed = 5.0 * (second_expected / SAMPLES as f64).sqrt();
            assert!((mean - mean_expected).abs() < allowed, "{config:?}: mean {mean}");
            let allowed = 5.0 * second_expected * (20.0 / SAMPLES as f64).sqrt();
            assert!((second - second_expected).abs() < allowed, "{config:?}: {second} {second_expected}");
        }
    }
    // The units of a mixture belong together: under the prior above, unit 1 is near 0 where unit 0 is near -3.
    let values = floats(prior(&every_kind()[4], 2).sample(stream.at(9), SAMPLES));
    let far: Vec<f64> = values.chunks(2).filter(|row| row[0] < -2.0).map(|row| row[1]).collect();
    assert!((far.len() as f64 / SAMPLES as f64 - 0.2).abs() < 0.01);
    assert!((far.iter().sum::<f64>() / far.len() as f64).abs() < 0.02);
}

#[test]
fn student_t_with_many_degrees_of_freedom_is_the_normal_distribution() {
    let device = Device::flex();
    let z = matrix(&[vec![-3.0, -1.0, 0.0, 0.5, 4.0]], &device);
    let normal = floats(prior(&PriorConfig::StandardNormal {}, 5).log_density_of_units(z.clone()));
    let mut last = f64::INFINITY;
    for degrees_of_freedom in [3.0, 30.0, 300.0, 1e5] {
        let student = prior(&PriorConfig::StudentT { degrees_of_freedom }, 5);
        let found = floats(student.log_density_of_units(z.clone()));
        let distance = found.iter().zip(&normal).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        // At z = 4 the densities differ by (z^4 - 2 z^2 - 1) / (4 nu) to first order, which is 55.75 / nu.
        assert!(
            distance < last && distance < 60.0 / degrees_of_freedom + 1e-4,
            "{degrees_of_freedom}: {distance}"
        );
        last = distance;
    }
}

/// Here the two logarithms of gamma functions have no digits in common with their difference, -1/2 ln(2 pi).
#[test]
fn student_t_with_very_many_degrees_of_freedom_is_the_normal_distribution() {
    let z = [-3.0_f64, -1.0, 0.0, 0.5, 4.0];
    for degrees_of_freedom in [1e6, 1e8, 1e10, 1e12] {
        let student = prior(&PriorConfig::StudentT { degrees_of_freedom }, 5);
        let found = floats(student.log_density_of_units(matrix(&[z.to_vec()], &Device::flex())));
        for (z, found) in z.into_iter().zip(found) {
            let first_order = (z.powi(4) - 2.0 * z * z - 1.0) / (4.0 * degrees_of_freedom);
            let expected = -0.5 * z * z - 0.5 * (2.0 * std::f64::consts::PI).ln() + first_order;
            // Some roundings of numbers up to 9 in single precision.
            assert!((found - expected).abs() < 3e-6, "{degrees_of_freedom}, {z}: {found} {expected}");
        }
        let (found, probability) = (student.quantile(0, 0.975), 0.975);
        let normal = prior(&PriorConfig::StandardNormal {}, 1).quantile(0, probability);
        // The first-order term (x^3 + x) / (4 nu) at x = 1.96 is 2.4 / nu.
        assert!((found - normal - 2.372 / degrees_of_freedom).abs() < 1e-9, "{degrees_of_freedom}: {found}");
    }
}

/// One component is a Gaussian; equal components are one; a mixture of two by hand.
#[test]
fn mixtures_match_hand_computations() {
    let device = Device::flex();
    let z = matrix(&[vec![0.3, -0.2]], &device);
    let single = prior(&mixture(&[[0.0, 0.0]], 1.0, &[]), 2);
    let normal = prior(&PriorConfig::StandardNormal {}, 2);
    let twice = prior(&mixture(&[[0.0, 0.0]; 2], 1.0, &[0.25, 0.75]), 2);
    let expected = floats(normal.log_density(z.clone()))[0];
    for prior in [&single, &twice] {
        assert!((floats(prior.log_density(z.clone()))[0] - expected).abs() < 1e-6);
    }
    let two = prior(&mixture(&[[0.0, 0.0], [1.0, 1.0]], 0.5, &[0.25, 0.75]), 2);
    // N(z; m, 0.5 I) = exp(-|z - m|^2) / pi in the plane.
    let density = |x: f64, y: f64| (-(x * x + y * y)).exp() / std::f64::consts::PI;
    let by_hand = 0.25 * density(0.3, -0.2) + 0.75 * density(-0.7, -1.2);
    assert!((floats(two.log_density(z.clone()))[0] - by_hand.ln()).abs() < 1e-6);
    let line = |x: f64| (-(x * x)).exp() / std::f64::consts::PI.sqrt();
    let marginals = floats(two.log_density_of_units(z));
    assert!((marginals[0] - (0.25 * line(0.3) + 0.75 * line(-0.7)).ln()).abs() < 1e-6);
    assert!((marginals[1] - (0.25 * line(-0.2) + 0.75 * line(-1.2)).ln()).abs() < 1e-6);
}

/// gamma = 0 leaves the normal distribution; and far out, where the narrow component has underflowed, ln(1 -
/// gamma) more.
#[test]
fn sparse_priors_match_hand_computations() {
    let device = Device::flex();
    let z = matrix(&[vec![0.0, 0.04, -3.0, 20.0]], &device);
    let normal = floats(prior(&PriorConfig::StandardNormal {}, 4).log_density_of_units(z.clone()));
    let dense = PriorConfig::Sparse { gamma: 0.0, sigma0: 0.05, scale: 1.0 };
    assert_close("gamma 0", &floats(prior(&dense, 4).log_density_of_units(z.clone())), &normal);
    let sparse = floats(
        prior(&PriorConfig::Sparse { gamma: 0.8, sigma0: 0.05, scale: 1.0 }, 4).log_density_of_units(z),
    );
    assert!((sparse[3] - normal[3] - 0.2_f64.ln()).abs() < 1e-4, "{sparse:?}");
    let density = |x: f64, s: f64| (-0.5 * (x / s).powi(2)).exp() / (s * (2.0 * std::f64::consts::PI).sqrt());
    assert!((sparse[1] - (0.8 * density(0.04, 0.05) + 0.2 * density(0.04, 1.0)).ln()).abs() < 1e-5);
}

#[test]
fn learned_variances_keep_their_sum_and_are_saved() {
    let device = Device::flex().autodiff();
    let config = anisotropic(&[2.0, 0.5, 0.5], true);
    let mut learned = Prior::new(&config, 3, None, &device).unwrap();
    assert_eq!(learned.parameters().len(), 1);
    assert_eq!(learned.parameters()[0].name(), "prior.log_variance");
    learned.parameters_mut()[0].update(&mut |values| values.copy_from_slice(&[1.0, -2.0, 0.3]));
    // N(0, v) has the 84.13 % quantile sqrt(v).
    let variance = |prior: &Prior, unit: usize| prior.quantile(unit, 0.841_344_746_068_542_9).powi(2);
    let variances: Vec<f64> = (0..3).map(|unit| variance(&learned, unit)).collect();
    assert!((variances.iter().sum::<f64>() - 3.0).abs() < 1e-6, "{variances:?}");
    assert!((variances[0] / variances[1] - 3.0_f64.exp()).abs() < 1e-4);

    // dKL / d ln v_i = (1 - s_i / v_i) / 2 with s the posterior's variances, and the softmax makes of it
    // g_i - v_i / sum(v) sum(g): variance moves from unit to unit, and none is made.
    let wide = DiagonalGaussian::new(
        Tensor::zeros([1, 3], &device),
        Tensor::from_floats([[4.0, 0.0, 0.0]], &device),
    );
    let direct: Vec<f64> =
        [4.0_f64.exp(), 1.0, 1.0].iter().zip(&variances).map(|(s, v)| 0.5 * (1.0 - s / v)).collect();
    let sum: f64 = direct.iter().sum();
    let by_hand: Vec<f64> = direct.iter().zip(&variances).map(|(g, v)| g - v / 3.0 * sum).collect();
    let divergence = learned.divergence(&wide, &Tensor::zeros([1, 3], &device)).images.mean();
    let slope = learned.parameters()[0].take_gradient(&mut divergence.backward()).unwrap();
    let slope: Vec<f64> = slope.into_iter().map(f64::from).collect();
    assert_close("slope of l", &slope, &by_hand);

    let mut copy = Prior::new(&config, 3, None, &device).unwrap();
    assert!(copy.set_state(learned.state()).unwrap().is_empty());
    assert!((variance(&copy, 1) - variances[1]).abs() < 1e-12);
    assert_eq!(
        copy.set_state(Vec::new()).unwrap_err().to_string(),
        "weights of another model: prior.log_variance: found nothing, expected F32 [3]"
    );
    let mut other = prior(&PriorConfig::StandardNormal {}, 3);
    assert_eq!(
        other.set_state(learned.state()).unwrap_err().to_string(),
        "weights of another model: prior.log_variance: found F32 [3], expected nothing"
    );

    let fixed = Prior::new(&anisotropic(&[2.0, 0.5, 0.5], false), 3, None, &device).unwrap();
    assert!(fixed.parameters().is_empty() && fixed.state().len() == 1);
}

#[test]
fn equal_variances_have_the_scale_that_was_asked_for() {
    let variances = Variances::Rule(VarianceRule::Equal);
    let config = PriorConfig::Anisotropic { variances, learned: true, scale: Some(4.0) };
    let wide = prior(&config, 3);
    for unit in 0..3 {
        assert!((wide.quantile(unit, 0.841_344_746_068_542_9) - 2.0).abs() < 1e-6);
    }
}

/// The standard error of a variance v over 200,000 Gaussian samples is v sqrt(2 / 200,000), 0.0095 for the
/// largest of these variances, 3. The tolerance is three times that.
#[test]
fn priors_know_their_moments() {
    let mixture = PriorConfig::Mixture {
        positions: vec![vec![0.0, -1.0, 2.0], vec![0.5, 2.0, 0.0], vec![-3.0, 0.0, 1.0]],
        variance: 0.2,
        weights: vec![0.5, 0.3, 0.2],
    };
    for config in [
        PriorConfig::StandardNormal {},
        PriorConfig::StudentT { degrees_of_freedom: 9.0 },
        PriorConfig::Sparse { gamma: 0.8, sigma0: 0.05, scale: 1.5 },
        mixture,
        anisotropic(&[3.0, 1.0, 0.2], false),
    ] {
        let prior = prior(&config, 3);
        let count = 200_000;
        let sample = prior.sample(Stream::new(3, "moments").at(0), count);
        let mean = sample.clone().mean_dim(0);
        let centred = sample - mean.clone();
        let covariance = centred.clone().transpose().matmul(centred) / count as f64;
        let close = |found: Tensor<2>, expected: Tensor<2>| {
            for (found, expected) in floats(found).into_iter().zip(floats(expected)) {
                assert!((found - expected).abs() < 0.03, "{config:?}: {found} {expected}");
            }
        };
        close(prior.mean(), mean);
        close(prior.covariance(), covariance);
    }
}
