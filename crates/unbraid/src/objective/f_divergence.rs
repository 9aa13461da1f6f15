//! f-divergences of the aggregate posterior from the prior, by their variational bound.

use super::adversary::Adversary;
use super::{ForwardPass, Needs, Setting, Term};
use crate::config::{DiscriminatorConfig, FDivergence};
use crate::error::Result;
use crate::model::StateTensor;
use burn::tensor::Tensor;
use burn::tensor::activation::softplus;
use std::f64::consts::LN_2;

/// `f_divergence`: D_f(q(z) || p(z)) >= E_q\[T(z)\] - E_p\[f*(T(z))\] (Nguyen et al. 2010; Nowozin et al. 2016, eq. 4; Mushom
/// 2020, eq. 2.2), which a network maximises over T and the encoder minimises.
///
/// T = g(v) of the network's output v, with g such that T is in the domain of the conjugate f* (Nowozin et al. 2016, Table
/// 2). The bound is tight for T = f'(q / p), that is for the v of the last column, with u = q / p.
///
/// | f | g(v) | f*(t) | best v |
/// |---|---|---|---|
/// | `kl` | v | exp(t - 1) | 1 + ln u |
/// | `reverse-kl` | -exp(-v) | -1 - ln(-t) | ln u |
/// | `jensen-shannon` | ln 2 - ln(1 + exp(-v)) | -ln(2 - exp(t)) | ln u |
/// | `pearson` | v | t^2 / 4 + t | 2 (u - 1) |
/// | `squared-hellinger` | 1 - exp(-v) | t / (1 - t) | 1/2 ln u |
#[derive(Debug)]
pub struct VariationalFDivergence {
    divergence: FDivergence,
    adversary: Adversary,
}

impl VariationalFDivergence {
    /// The term before the first step.
    pub fn new(divergence: FDivergence, config: &DiscriminatorConfig, setting: &Setting) -> Self {
        Self { divergence, adversary: Adversary::new(config, setting) }
    }
}

/// The bound from the network's outputs for samples of q and of p.
fn bound(divergence: FDivergence, of_posterior: Tensor<1>, of_prior: Tensor<1>) -> Tensor<1> {
    let (v, w) = (of_posterior, of_prior);
    match divergence {
        FDivergence::Kl => v.mean() - (w - 1.0).exp().mean(),
        // f*(-exp(-w)) = -1 + w
        FDivergence::ReverseKl => -v.neg().exp().mean() - (w - 1.0).mean(),
        // T = ln 2 - softplus(-v); f*(T) = -ln(2 - 2 sigmoid(w)) = softplus(w) - ln 2
        FDivergence::JensenShannon => {
            (softplus(v.neg(), 1.0).neg() + LN_2).mean() - (softplus(w, 1.0) - LN_2).mean()
        }
        FDivergence::Pearson => v.mean() - (w.clone() * w.clone() * 0.25 + w).mean(),
        // f*(1 - exp(-w)) = exp(w) - 1
        FDivergence::SquaredHellinger => (v.neg().exp().neg() + 1.0).mean() - (w.exp() - 1.0).mean(),
    }
}

impl Term for VariationalFDivergence {
    fn name(&self) -> &'static str {
        "f_divergence"
    }

    fn needs(&self) -> Needs {
        Needs { prior_sample: true, ..Needs::default() }
    }

    fn value(&self, forward: &ForwardPass<'_>) -> Tensor<1> {
        let (posterior, prior) = (forward.first_sample(), forward.prior_sample());
        let (of_posterior, of_prior) = self.adversary.differences(posterior, Some(prior));
        bound(self.divergence, of_posterior, of_prior.expect("as many as were asked for"))
    }

    fn auxiliary_losses(&self) -> &'static [&'static str] {
        &["discriminator_loss"]
    }

    /// One Adam step on minus the bound, which is returned.
    fn update(&mut self, forward: &ForwardPass<'_>) -> Vec<Tensor<1>> {
        let divergence = self.divergence;
        let (posterior, prior) = (forward.first_sample(), forward.prior_sample());
        vec![
            self.adversary
                .update_on(posterior, prior, |posterior, prior| -bound(divergence, posterior, prior)),
        ]
    }

    fn state(&self) -> Vec<StateTensor> {
        self.adversary.state()
    }

    fn set_state(&mut self, state: Vec<StateTensor>) -> Result {
        self.adversary.set_state(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prior::special::{inverse, normal_cdf};
    use burn::tensor::{Device, TensorData};

    const POINTS: usize = 40_000;

    /// The midpoints of equal shares of N(0, 1): their mean stands for the expectation.
    fn quantiles() -> Vec<f64> {
        let share = |place: usize| (place as f64 + 0.5) / POINTS as f64;
        (0..POINTS).map(|place| inverse(normal_cdf, share(place))).collect()
    }

    /// q = N(0.3, 0.8^2) and p = N(0, 1): with the best v of the table the bound is the divergence itself, known in closed
    /// form or, for Jensen and Shannon, as a sum over a fine grid. With any other v it is smaller.
    #[test]
    fn the_bound_is_tight_for_the_best_function_and_only_for_it() {
        let (mean, deviation) = (0.3_f64, 0.8_f64);
        let variance = deviation * deviation;
        let log_ratio = |z: f64| -((z - mean) / deviation).powi(2) / 2.0 - deviation.ln() + z * z / 2.0;
        let kl = 0.5 * (variance + mean * mean - 1.0 - variance.ln());
        let reverse_kl = 0.5 * (1.0 / variance + mean * mean / variance - 1.0 + variance.ln());
        // E_q[q / p] - 1 by completing the square, with 1 / t = 2 / variance - 1.
        let t = 1.0 / (2.0 / variance - 1.0);
        let pearson = t.sqrt() / variance
            * (mean * mean * (2.0 * t / (variance * variance) - 1.0 / variance)).exp()
            - 1.0;
        let overlap =
            (2.0 * deviation / (1.0 + variance)).sqrt() * (-mean * mean / (4.0 * (1.0 + variance))).exp();
        let grid: Vec<f64> = (0..200_000).map(|place| -10.0 + f64::from(place) * 1e-4).collect();
        let density = |z: f64| (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
        let jensen_shannon: f64 = grid
            .iter()
            .map(|&z| {
                let u = log_ratio(z).exp();
                density(z) * (u * u.ln() - (u + 1.0) * ((u + 1.0) / 2.0).ln()) * 1e-4
            })
            .sum();
        let (device, quantiles) = (Device::flex(), quantiles());
        for (divergence, exact, best) in [
            (FDivergence::Kl, kl, (|l: f64| 1.0 + l) as fn(f64) -> f64),
            (FDivergence::ReverseKl, reverse_kl, |l| l),
            (FDivergence::JensenShannon, jensen_shannon, |l| l),
            (FDivergence::Pearson, pearson, |l| 2.0 * (l.exp() - 1.0)),
            (FDivergence::SquaredHellinger, 2.0 - 2.0 * overlap, |l| 0.5 * l),
        ] {
            let value = |shift: f64| {
                let outputs = |mean: f64, deviation: f64| {
                    let points = quantiles.iter().map(|normal| mean + deviation * normal);
                    let values: Vec<f32> = points.map(|z| (best(log_ratio(z)) + shift * z) as f32).collect();
                    Tensor::<1>::from_data(TensorData::new(values, [POINTS]), &device)
                };
                let bound = bound(divergence, outputs(mean, deviation), outputs(0.0, 1.0));
                f64::from(bound.into_data().try_into_vec::<f32>().unwrap()[0])
            };
            // Tails of 40,000 points and sums in single precision leave 1e-3.
            assert!((value(0.0) - exact).abs() < 1e-3, "{divergence:?}: {} {exact}", value(0.0));
            assert!(value(0.3) < exact - 5e-3 && value(-0.3) < exact - 5e-3, "{divergence:?}");
        }
    }

    /// By the chain rule from the table: g'(v) / n for samples of q, and -f*'(g(w)) g'(w) / m for samples of p.
    #[test]
    fn gradients_follow_from_the_table() {
        type Function = fn(f64) -> f64;
        let (of_posterior, of_prior) = ([-1.2, 0.1, 0.9], [-0.7, 0.4]);
        let cases: [(FDivergence, Function, Function, Function); 5] = [
            (FDivergence::Kl, |v| v, |_| 1.0, |t| (t - 1.0).exp()),
            (FDivergence::ReverseKl, |v| -(-v).exp(), |v| (-v).exp(), |t| -1.0 / t),
            (
                FDivergence::JensenShannon,
                |v| LN_2 - (-v).exp().ln_1p(),
                |v| 1.0 / (1.0 + v.exp()),
                |t| t.exp() / (2.0 - t.exp()),
            ),
            (FDivergence::Pearson, |v| v, |_| 1.0, |t| t / 2.0 + 1.0),
            (FDivergence::SquaredHellinger, |v| 1.0 - (-v).exp(), |v| (-v).exp(), |t| (1.0 - t).powi(-2)),
        ];
        let device = Device::flex().autodiff();
        for (divergence, g, slope, conjugate_slope) in cases {
            let v = Tensor::<1>::from_floats(of_posterior.map(|value| value as f32), &device).require_grad();
            let w = Tensor::<1>::from_floats(of_prior.map(|value| value as f32), &device).require_grad();
            let gradients = bound(divergence, v.clone(), w.clone()).backward();
            let found = |tensor: &Tensor<1>| -> Vec<f32> {
                tensor.grad(&gradients).unwrap().into_data().try_into_vec().unwrap()
            };
            let expected_v = of_posterior.map(|v| slope(v) / 3.0);
            let expected_w = of_prior.map(|w| -conjugate_slope(g(w)) * slope(w) / 2.0);
            let pairs = found(&v).into_iter().zip(expected_v).chain(found(&w).into_iter().zip(expected_w));
            for (found, expected) in pairs {
                // A few roundings in single precision.
                assert!(
                    (f64::from(found) - expected).abs() < 1e-6 * (1.0 + expected.abs()),
                    "{divergence:?}"
                );
            }
        }
    }
}
