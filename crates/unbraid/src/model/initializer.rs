//! The weights before the first step, drawn from the run's own streams.

use crate::config::Initializer;
use rand::Rng;
use unbraid_data::random::{Generator, Stream};

/// Number of values that feed one unit of a layer, and that one unit feeds, as PyTorch counts them from the first two
/// dimensions of a weight.
///
/// For a transposed convolution, whose weight is `[in, out, kh, kw]`, they are therefore swapped; so they are in PyTorch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fans {
    incoming: usize,
    outgoing: usize,
}

impl Fans {
    /// From the shape of a weight: `[out, in, kernel...]`.
    pub(super) fn of(shape: &[usize]) -> Self {
        let window: usize = shape[2..].iter().product();
        Self { incoming: shape[1] * window, outgoing: shape[0] * window }
    }
}

/// Draws parameters; each from a stream of its own name, so that adding a layer changes no other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draws {
    pub(super) initializer: Initializer,
    pub(super) seed: u64,
}

impl Draws {
    /// Values of the weight `name`.
    pub(super) fn weight(self, name: &str, fans: Fans, length: usize) -> Vec<f32> {
        let (incoming, outgoing) = (fans.incoming as f64, fans.outgoing as f64);
        let bound = match self.initializer {
            Initializer::Pytorch => 1.0 / incoming.sqrt(),
            Initializer::GlorotUniform => (6.0 / (incoming + outgoing)).sqrt(),
            Initializer::KaimingUniform => (6.0 / incoming).sqrt(),
        };
        self.uniform(name, bound, length)
    }

    /// Values of the bias `name` of a layer with these fans.
    pub(super) fn bias(self, name: &str, fans: Fans, length: usize) -> Vec<f32> {
        match self.initializer {
            Initializer::GlorotUniform => vec![0.0; length],
            Initializer::Pytorch | Initializer::KaimingUniform => {
                self.uniform(name, 1.0 / (fans.incoming as f64).sqrt(), length)
            }
        }
    }

    fn uniform(self, name: &str, bound: f64, length: usize) -> Vec<f32> {
        let mut generator = Stream::new(self.seed, &format!("initial {name}")).at(0).generator();
        (0..length).map(|_| ((2.0 * unit(&mut generator) - 1.0) * bound) as f32).collect()
    }
}

/// Uniform in \[0, 1\) from 32 random bits.
fn unit(generator: &mut Generator) -> f64 {
    f64::from(generator.next_u32()) / 4_294_967_296.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(initializer: Initializer, shape: &[usize]) -> (f32, f64) {
        let length = shape.iter().product();
        let values = Draws { initializer, seed: 3 }.weight("w", Fans::of(shape), length);
        let largest = values.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        let variance = values.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>() / length as f64;
        (largest, variance)
    }

    /// A uniform distribution within `b` has the variance `b^2 / 3`; bounds by hand for a 64 x 32 x 4 x 4 convolution:
    /// fan-in 512, fan-out 1024.
    #[test]
    fn bounds_and_variances_are_those_of_the_definitions() {
        for (initializer, bound) in [
            (Initializer::Pytorch, (1.0_f64 / 512.0).sqrt()),
            (Initializer::GlorotUniform, (6.0_f64 / 1536.0).sqrt()),
            (Initializer::KaimingUniform, (6.0_f64 / 512.0).sqrt()),
        ] {
            let (largest, variance) = spread(initializer, &[64, 32, 4, 4]);
            assert!(f64::from(largest) <= bound && f64::from(largest) > 0.99 * bound, "{initializer:?}");
            assert!((variance / (bound * bound / 3.0) - 1.0).abs() < 0.02, "{initializer:?}: {variance}");
        }
    }

    #[test]
    fn parameters_have_streams_of_their_own() {
        let fans = Fans::of(&[4, 4]);
        let draw =
            |seed, name: &str| Draws { initializer: Initializer::Pytorch, seed }.weight(name, fans, 16);
        assert_eq!(draw(0, "a"), draw(0, "a"));
        assert_ne!(draw(0, "a"), draw(0, "b"));
        assert_ne!(draw(0, "a"), draw(1, "a"));
    }
}
