//! Loss terms and their gradients against numbers computed in double precision (objectives.json).

use crate::golden::{Batch, assert_close, assert_term, floats, golden, matrix, numbers, rows};
use burn::tensor::{Device, Tensor, TensorData};
use unbraid::config::{
    Estimator, Initializer, LikelihoodConfig, MmdConfig, ObjectiveConfig, Output, PriorConfig, Samples,
    Scale, Source,
};
use unbraid::model::Likelihood;
use unbraid::objective::{
    Covariance, CovarianceOf, DimensionWiseKl, Entries, InclusiveKl, Kl, Mmd, MutualInformation, Objective,
    Setting, ThirdMoment, TotalCorrelation,
};
use unbraid::prior::Prior;

fn standard_normal() -> Prior {
    Prior::new(&PriorConfig::StandardNormal {}, 4, None, &Device::flex().autodiff()).unwrap()
}

fn setting() -> Setting {
    Setting {
        seed: 0,
        units: 4,
        pixels: 4,
        initializer: Initializer::Pytorch,
        device: Device::flex().autodiff(),
    }
}

#[test]
fn vae_and_beta_vae_agree_with_double_precision() {
    let golden = golden();
    let prior = standard_normal();
    let term = &golden["terms"]["kl_standard_normal"];
    let kl = term["value"].as_f64().unwrap();
    for (config, weight) in [
        (ObjectiveConfig::Vae { samples: Samples::default() }, 1.0),
        (ObjectiveConfig::BetaVae { beta: 4.0.into(), samples: Samples::default() }, 4.0),
    ] {
        let batch = Batch::new(&golden, &Device::flex().autodiff());
        assert_close("sample", &floats(batch.sample.clone()), &numbers(&golden["z"]));
        let losses = Objective::new(&config, &setting()).evaluate(&batch.forward(&golden, &prior));
        assert_close("kl", &floats(losses.terms[0].clone()), &[kl]);
        assert_close("loss", &floats(losses.total.clone()), &[4.0 + weight * kl]);
        let per_unit: Vec<f64> = serde_json::from_value(term["per_unit"].clone()).unwrap();
        assert_close("kl of each unit", &floats(losses.kl_of_units.clone().unwrap()), &per_unit);
        let slopes =
            |name: &str| -> Vec<f64> { numbers(&term[name]).iter().map(|slope| weight * slope).collect() };
        batch.assert_gradients("loss", &losses.total, &slopes("grad_mean"), &slopes("grad_log_variance"));
    }
    assert_term(&golden, "kl_standard_normal", &prior, &Kl, |_| {});
}

/// |KL - C| is the KL divergence, up to sign and constant, on either side of C.
#[test]
fn the_distance_from_a_capacity_agrees_on_both_sides() {
    let golden = golden();
    let prior = standard_normal();
    let term = &golden["terms"]["kl_standard_normal"];
    let kl = term["value"].as_f64().unwrap();
    for (capacity, sign) in [(1.0, 1.0), (7.5, -1.0)] {
        let batch = Batch::new(&golden, &Device::flex().autodiff());
        let config = ObjectiveConfig::AnnealedVae {
            gamma: 1000.0.into(),
            capacity: capacity.into(),
            samples: Samples::default(),
        };
        let losses = Objective::new(&config, &setting()).evaluate(&batch.forward(&golden, &prior));
        assert_close("distance", &floats(losses.terms[0].clone()), &[sign * (kl - capacity)]);
        assert_close("loss", &floats(losses.total.clone()), &[4.0 + 1000.0 * sign * (kl - capacity)]);
        let slopes = |name: &str| -> Vec<f64> {
            numbers(&term[name]).iter().map(|slope| 1000.0 * sign * slope).collect()
        };
        batch.assert_gradients("loss", &losses.total, &slopes("grad_mean"), &slopes("grad_log_variance"));
    }
}

#[test]
fn the_parts_of_the_divergence_agree_with_double_precision() {
    let golden = golden();
    let prior = standard_normal();
    for (estimator, name) in [(Estimator::Mws, "mws"), (Estimator::Mss, "mss")] {
        let key = |part: &str| format!("{name}_{part}");
        assert_term(&golden, &key("mutual_information"), &prior, &MutualInformation(estimator), |_| {});
        assert_term(&golden, &key("total_correlation"), &prior, &TotalCorrelation(estimator), |_| {});
        assert_term(&golden, &key("dimension_wise_kl"), &prior, &DimensionWiseKl(estimator), |_| {});
    }
}

/// Mushom 2020, section 4.3 and Table 4.1: beta-TCVAE is L_VAE + lambda TC, estimated by minibatch-weighted
/// sampling. The presets have lambda = 6: loss and gradients from the golden KL divergence and total
/// correlation.
#[test]
fn the_beta_tcvae_of_the_thesis_adds_the_total_correlation_to_the_vae() {
    let golden = golden();
    let prior = standard_normal();
    let [kl, tc] = ["kl_standard_normal", "mws_total_correlation"].map(|term| &golden["terms"][term]);
    let value = |term: &serde_json::Value| term["value"].as_f64().unwrap();
    for name in ["thesis/beta-tcvae", "thesis-code/beta-tcvae"] {
        let config = Source::preset(name).resolve().unwrap().objective;
        let batch = Batch::new(&golden, &Device::flex().autodiff());
        let losses = Objective::new(&config, &setting()).evaluate(&batch.forward(&golden, &prior));
        assert_close("loss", &floats(losses.total.clone()), &[4.0 + value(kl) + 6.0 * value(tc)]);
        let slopes = |key: &str| -> Vec<f64> {
            numbers(&kl[key]).iter().zip(numbers(&tc[key])).map(|(kl, tc)| kl + 6.0 * tc).collect()
        };
        batch.assert_gradients("loss", &losses.total, &slopes("grad_mean"), &slopes("grad_log_variance"));
    }
}

#[test]
fn moments_of_the_aggregate_posterior_agree_with_double_precision() {
    let golden = golden();
    let prior = standard_normal();
    for (of, name) in [(CovarianceOf::Means, "dip_i"), (CovarianceOf::Samples, "dip_ii")] {
        for (entries, part) in [(Entries::OffDiagonal, "off_diagonal"), (Entries::Diagonal, "diagonal")] {
            // The first step of a running estimate is the batch's own.
            for decay in [0.0, 0.9] {
                let term = Covariance::new(of, entries, decay, 4);
                assert_term(&golden, &format!("{name}_{part}"), &prior, &term, |_| {});
            }
        }
    }
    assert_term(&golden, "third_central_moment", &prior, &ThirdMoment, |_| {});
}

#[test]
fn the_discrepancy_agrees_with_double_precision() {
    let golden = golden();
    let device = Device::flex().autodiff();
    let term = Mmd::new(&MmdConfig::default());
    assert_term(&golden, "mmd_imq", &standard_normal(), &term, |forward| {
        forward.prior_sample = Some(matrix(&golden["prior_samples_normal"], &device));
    });
}

#[test]
fn the_inclusive_divergence_agrees_with_double_precision() {
    let golden = golden();
    let device = Device::flex().autodiff();
    let mixture = &golden["mixture_prior"];
    let config = PriorConfig::Mixture {
        positions: serde_json::from_value(mixture["means"].clone()).unwrap(),
        variance: mixture["variance"].as_f64().unwrap(),
        weights: serde_json::from_value(mixture["weights"].clone()).unwrap(),
    };
    let prior = Prior::new(&config, 4, None, &device).unwrap();
    assert_term(&golden, "inclusive_kl_mixture", &prior, &InclusiveKl, |forward| {
        forward.prior_sample = Some(matrix(&golden["prior_samples_mixture"], &device));
    });
}

#[test]
fn reconstruction_losses_agree_with_double_precision() {
    let golden = golden();
    let device = Device::flex();
    let images = |key: &str| {
        let (values, [batch, pixels]) = rows(&golden[key]);
        Tensor::<4>::from_data(TensorData::new(values, [batch, 1, pixels, 1]), &device)
    };
    let loss = |config: &LikelihoodConfig, target: &str| {
        let likelihood = Likelihood::new(config, &device);
        f64::from(floats(likelihood.negative_log_likelihood(images("logits"), images(target)).mean())[0])
    };
    let expected = |key: &str| golden["reconstruction"][key].as_f64().unwrap();
    let bernoulli = LikelihoodConfig::Bernoulli {};
    assert_close("binary", &[loss(&bernoulli, "binary_target") as f32], &[expected("bernoulli_binary")]);
    assert_close("grey", &[loss(&bernoulli, "grey_target") as f32], &[expected("bernoulli_grey")]);
    // A Gaussian of variance 1/2 is the squared error and, for each of the 12 pixels, the constant ln(pi) / 2.
    let scale = Scale::Fixed(0.5_f64.sqrt());
    let gaussian = loss(&LikelihoodConfig::Gaussian { scale, output: Output::Sigmoid }, "grey_target");
    let squared = gaussian - 12.0 * 0.5 * std::f64::consts::PI.ln();
    assert_close("squared error", &[squared as f32], &[expected("squared_error_of_sigmoid")]);
}
