//! The approximate posterior of a categorical unit: class probabilities and differentiable samples.

use burn::tensor::activation::{log_softmax, softmax};
use burn::tensor::{Tensor, TensorData};

/// A distribution over classes for each image of a batch.
#[derive(Clone, Debug)]
pub struct Categorical {
    /// ln alpha, `[batch, classes]`; finite as long as the logits are.
    pub log_probabilities: Tensor<2>,
}

impl Categorical {
    /// From the encoder's output, `[batch, classes]`, by a log-softmax, which never takes the logarithm of zero.
    pub fn new(logits: Tensor<2>) -> Self {
        Self { log_probabilities: log_softmax(logits, 1) }
    }

    /// The same distributions repeated `times` times, as a whole.
    #[must_use]
    pub fn repeated(&self, times: usize) -> Self {
        Self { log_probabilities: self.log_probabilities.clone().repeat_dim(0, times) }
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.log_probabilities.dims()[1]
    }

    /// alpha, `[batch, classes]`.
    pub fn probabilities(&self) -> Tensor<2> {
        self.log_probabilities.clone().exp()
    }

    /// H = -sum_k alpha_k ln alpha_k of each image in nats, `[batch]`.
    pub fn entropy(&self) -> Tensor<1> {
        let batch = self.log_probabilities.dims()[0];
        -(self.probabilities() * self.log_probabilities.clone()).sum_dim(1).reshape([batch])
    }

    /// KL(q(c|x) || uniform) = ln d + sum_k alpha_k ln alpha_k of each image for d classes, `[batch]`:
    /// between 0 and ln d (Dupont 2018, eq. 5, second term).
    pub fn divergence_from_uniform(&self) -> Tensor<1> {
        -self.entropy() + (self.classes() as f64).ln()
    }

    /// y_k = exp((ln alpha_k + g_k) / tau) / sum_i exp((ln alpha_i + g_i) / tau) with Gumbel noise g and temperature
    /// tau (Dupont 2018, eq. 8; Jang et al. 2017; Maddison et al. 2017), `[batch, classes]`: a relaxed one-hot row.
    pub fn sample(&self, gumbel: Tensor<2>, temperature: f64) -> Tensor<2> {
        softmax((self.log_probabilities.clone() + gumbel) / temperature, 1)
    }

    /// The most likely class of each image; the first one in case of ties.
    pub fn most_likely_classes(&self) -> Vec<usize> {
        let log_probabilities = self.log_probabilities.clone();
        let log_probabilities = if log_probabilities.device().is_autodiff() {
            log_probabilities.inner()
        } else {
            log_probabilities
        };
        let rows: Vec<f32> =
            log_probabilities.into_data().try_into_vec().expect("posteriors are in single precision");
        rows.chunks_exact(self.classes()).map(largest).collect()
    }

    /// The same as one-hot rows, `[batch, classes]`, without gradient.
    pub fn most_likely(&self) -> Tensor<2> {
        let [batch, classes] = self.log_probabilities.dims();
        let mut one_hot = vec![0.0_f32; batch * classes];
        for (class, row) in self.most_likely_classes().into_iter().zip(one_hot.chunks_exact_mut(classes)) {
            row[class] = 1.0;
        }
        Tensor::from_data(TensorData::new(one_hot, [batch, classes]), &self.log_probabilities.device())
    }
}

/// The index of the largest value; the first one in case of ties.
fn largest(row: &[f32]) -> usize {
    let mut best = 0;
    for (place, value) in row.iter().enumerate() {
        if *value > row[best] {
            best = place;
        }
    }
    best
}

/// -ln(-ln u): a standard Gumbel variate from a uniform one in (0, 1).
///
/// In double precision: in single precision, a number just below one rounds to one, whose Gumbel variate is infinite.
pub fn gumbel(uniform: f64) -> f64 {
    -(-uniform.ln()).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;

    fn floats<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
        tensor.inner().into_data().try_into_vec().unwrap()
    }

    #[test]
    fn entropy_is_exact_where_probabilities_vanish() {
        let device = Device::flex().autodiff();
        // A fair coin, and one whose other side has probability e^-1000, which is zero in any precision.
        let logits =
            Tensor::<2>::from_floats([[3.0, 3.0], [1000.0, 0.0], [0.0, -1000.0]], &device).require_grad();
        let categorical = Categorical::new(logits.clone());
        let divergence = categorical.divergence_from_uniform();
        let gradients = divergence.clone().sum().backward();
        let divergence = floats(divergence);
        let ln_2 = std::f32::consts::LN_2;
        assert!(divergence[0].abs() < 1e-6, "{divergence:?}");
        assert!((divergence[1] - ln_2).abs() < 1e-6 && (divergence[2] - ln_2).abs() < 1e-6);
        assert!(floats(logits.grad(&gradients).unwrap()).iter().all(|slope| slope.is_finite()));
    }

    /// d KL / d logit_k = alpha_k (ln alpha_k + H), from differentiating ln d + sum alpha ln alpha through the softmax.
    #[test]
    fn the_gradient_is_that_of_the_closed_form() {
        let device = Device::flex().autodiff();
        let values = [0.3_f64, -1.2, 0.9, 0.0];
        let logits = Tensor::<1>::from_floats(values.map(|value| value as f32), &device).require_grad();
        let divergence = Categorical::new(logits.clone().unsqueeze()).divergence_from_uniform();
        let gradients = divergence.sum().backward();
        let total: f64 = values.iter().map(|value| value.exp()).sum();
        let alpha = values.map(|value| value.exp() / total);
        let entropy: f64 = alpha.iter().map(|alpha| -alpha * alpha.ln()).sum();
        let found = floats(logits.grad(&gradients).unwrap());
        for (found, alpha) in found.iter().zip(alpha) {
            let expected = alpha * (alpha.ln() + entropy);
            assert!((f64::from(*found) - expected).abs() < 1e-6, "{found} {expected}");
        }
    }

    #[test]
    fn the_most_likely_class_is_one_hot_and_the_first_of_equals() {
        let device = Device::flex().autodiff();
        let logits = Tensor::<2>::from_floats([[0.0, 2.0, 1.0], [5.0, 5.0, 5.0]], &device);
        let one_hot = floats(Categorical::new(logits).most_likely());
        assert_eq!(one_hot, [0.0, 1.0, 0.0, 1.0, 0.0, 0.0]);
    }

    /// Gumbel's distribution function is exp(-exp(-g)), so the median is -ln(ln 2) and the map is its inverse.
    #[test]
    fn gumbel_numbers_invert_their_distribution_function() {
        assert!((gumbel(0.5) + std::f64::consts::LN_2.ln()).abs() < 1e-15);
        for uniform in [0.5 / 4_294_967_296.0, 0.1, 0.9, 1.0 - 0.5 / 4_294_967_296.0] {
            let back = (-(-gumbel(uniform)).exp()).exp();
            assert!((back - uniform).abs() < 1e-12, "{uniform}: {back}");
        }
    }
}
