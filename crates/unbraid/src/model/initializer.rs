//! The initial weights, drawn from the run's random streams.

use crate::config::Initializer;
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use unbraid_data::random::{Generator, Stream};

/// Number of inputs of one unit of a layer, and of outputs that depend on one unit, computed from the first two
/// dimensions of a weight as in PyTorch.
///
/// For a transposed convolution, whose weight is `[in, out, kh, kw]`, the two are swapped, as in PyTorch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fans {
    incoming: usize,
    outgoing: usize,
    /// What PyTorch used in place of `incoming` before version 1.0: input channels times window, for every layer.
    before_1_0: usize,
}

impl Fans {
    /// From the shape of a weight: `[out, in, kernel...]`.
    pub(super) fn of(shape: &[usize]) -> Self {
        let window: usize = shape[2..].iter().product();
        let (incoming, outgoing) = (shape[1] * window, shape[0] * window);
        Self { incoming, outgoing, before_1_0: incoming }
    }

    /// From the shape of the weight of a transposed convolution: `[in, out, kernel...]`.
    pub(super) fn of_transposed(shape: &[usize]) -> Self {
        let fans = Self::of(shape);
        Self { before_1_0: fans.outgoing, ..fans }
    }
}

/// Draws parameters. Each has a stream named after it, so that adding a layer does not change the others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draws {
    pub(super) initializer: Initializer,
    pub(super) seed: u64,
}

impl Draws {
    /// Values of the weight `name`.
    pub(super) fn weight(self, name: &str, fans: Fans, length: usize) -> Vec<f32> {
        let (incoming, outgoing) = (fans.incoming as f64, fans.outgoing as f64);
        match self.initializer {
            Initializer::Pytorch => self.uniform(name, 1.0 / incoming.sqrt(), length),
            Initializer::Pytorch04 => self.uniform(name, 1.0 / (fans.before_1_0 as f64).sqrt(), length),
            Initializer::GlorotUniform => self.uniform(name, (6.0 / (incoming + outgoing)).sqrt(), length),
            Initializer::KaimingUniform => self.uniform(name, (6.0 / incoming).sqrt(), length),
            Initializer::KaimingNormal => self.normal(name, (2.0 / incoming).sqrt(), length),
        }
    }

    /// Values of the bias `name` of a layer with these fans.
    pub(super) fn bias(self, name: &str, fans: Fans, length: usize) -> Vec<f32> {
        match self.initializer {
            Initializer::GlorotUniform => vec![0.0; length],
            Initializer::Pytorch | Initializer::KaimingUniform => {
                self.uniform(name, 1.0 / (fans.incoming as f64).sqrt(), length)
            }
            Initializer::Pytorch04 => self.uniform(name, 1.0 / (fans.before_1_0 as f64).sqrt(), length),
            Initializer::KaimingNormal => self.normal(name, (2.0 / fans.incoming as f64).sqrt(), length),
        }
    }

    fn generator(self, name: &str) -> Generator {
        Stream::new(self.seed, &format!("initial {name}")).at(0).generator()
    }

    fn normal(self, name: &str, deviation: f64, length: usize) -> Vec<f32> {
        let mut generator = self.generator(name);
        let mut draw = || -> f64 { StandardNormal.sample(&mut generator) };
        (0..length).map(|_| (deviation * draw()) as f32).collect()
    }

    fn uniform(self, name: &str, bound: f64, length: usize) -> Vec<f32> {
        let mut generator = self.generator(name);
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

    /// A uniform distribution within `b` has the variance `b^2 / 3`. Bounds computed by hand for a 64 x 32 x 4 x 4
    /// convolution: fan-in 512, fan-out 1024.
    #[test]
    fn bounds_and_variances_are_those_of_the_definitions() {
        for (initializer, bound) in [
            (Initializer::Pytorch, (1.0_f64 / 512.0).sqrt()),
            (Initializer::Pytorch04, (1.0_f64 / 512.0).sqrt()),
            (Initializer::GlorotUniform, (6.0_f64 / 1536.0).sqrt()),
            (Initializer::KaimingUniform, (6.0_f64 / 512.0).sqrt()),
        ] {
            let (largest, variance) = spread(initializer, &[64, 32, 4, 4]);
            assert!(f64::from(largest) <= bound && f64::from(largest) > 0.99 * bound, "{initializer:?}");
            assert!((variance / (bound * bound / 3.0) - 1.0).abs() < 0.02, "{initializer:?}: {variance}");
        }
    }

    /// From 32 channels to 1 by a transposed convolution of 4 x 4: PyTorch counts the 16 weights of an output channel since
    /// version 1.0, bound 1/4, and counted the 512 of an input before, bound 0.0442.
    #[test]
    fn transposed_convolutions_began_smaller_before_pytorch_1_0() {
        for (initializer, bound) in [(Initializer::Pytorch, 0.25), (Initializer::Pytorch04, 0.044_194)] {
            let draws = Draws { initializer, seed: 3 };
            let fans = Fans::of_transposed(&[32, 1, 4, 4]);
            for values in [draws.weight("w", fans, 512), draws.bias("b", fans, 512)] {
                let largest = values.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
                assert!(largest <= bound && largest > 0.97 * bound, "{initializer:?}: {largest}");
            }
        }
    }

    /// N(0, sqrt(2 / n)) for fan-in 512: standard deviation 1/16. Mean, variance, third and fourth moment of
    /// 32,768 draws within four of their standard errors, sqrt(1, 2, 15, 96) / 181 in units of the deviation;
    /// the share within one deviation is erf(1 / sqrt(2)) = 0.6827. Biases have the same distribution.
    #[test]
    fn kaiming_normal_has_the_moments_of_the_formula() {
        let draws = Draws { initializer: Initializer::KaimingNormal, seed: 3 };
        let fans = Fans::of(&[64, 32, 4, 4]);
        for values in [draws.weight("w", fans, 32_768), draws.bias("b", fans, 32_768)] {
            let scaled: Vec<f64> = values.iter().map(|value| 16.0 * f64::from(*value)).collect();
            for (power, expected, variance) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)]
            {
                let moment = scaled.iter().map(|value| value.powi(power)).sum::<f64>() / 32_768.0;
                let error = (variance / 32_768.0_f64).sqrt();
                assert!((moment - expected).abs() < 4.0 * error, "moment {power}: {moment}");
            }
            let inside = scaled.iter().filter(|value| value.abs() < 1.0).count() as f64 / 32_768.0;
            assert!((inside - 0.682_7).abs() < 4.0 * (0.682_7 * 0.317_3 / 32_768.0_f64).sqrt(), "{inside}");
        }
        assert_ne!(draws.weight("w", fans, 4), draws.bias("b", fans, 4));
    }

    /// A second draw by Box and Muller's formula from another generator: sorted, both samples lie on one line
    /// through the origin (Kolmogorov and Smirnov's distance below 1.63 sqrt(2 / n), its 1 % point).
    #[test]
    fn kaiming_normal_agrees_with_an_independent_draw() {
        const COUNT: usize = 20_000;
        let draws = Draws { initializer: Initializer::KaimingNormal, seed: 8 };
        let mut ours = draws.weight("w", Fans::of(&[100, 200]), COUNT);
        // Marsaglia's xorshift64*.
        let mut state = 88_172_645_463_325_252_u64;
        let mut unit = || {
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            (state.wrapping_mul(2_685_821_657_736_338_717) >> 11) as f64 / 9_007_199_254_740_992.0
        };
        let mut theirs: Vec<f32> = (0..COUNT)
            .map(|_| {
                let radius = (-2.0 * (1.0 - unit()).ln()).sqrt();
                (radius * (std::f64::consts::TAU * unit()).cos() * (2.0_f64 / 200.0).sqrt()) as f32
            })
            .collect();
        ours.sort_by(f32::total_cmp);
        theirs.sort_by(f32::total_cmp);
        let distance = ours
            .iter()
            .enumerate()
            .map(|(place, value)| {
                let below = theirs.partition_point(|other| other < value);
                (below as f64 - place as f64).abs() / COUNT as f64
            })
            .fold(0.0, f64::max);
        assert!(distance < 1.63 * (2.0 / COUNT as f64).sqrt(), "{distance}");
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
