//! Corruption of images, to test a model on inputs unlike its training data.

use crate::error::Result;
use ndarray::Array4;
use rand::RngExt;
use std::str::FromStr;
use unbraid_data::random::Stream;

/// A corruption.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Corruption {
    /// Each pixel x becomes 1 - x with this probability, in all its channels at once (thesis, Fig. 5.17: 0.001, 0.01
    /// and 0.05 on binary images).
    Noise(f64),
    /// Every pixel x becomes 1 - x (thesis, Fig. 5.18).
    Invert,
}

impl FromStr for Corruption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "invert" {
            return Ok(Self::Invert);
        }
        let probability = text.strip_prefix("noise=").and_then(|number| number.parse::<f64>().ok());
        match probability {
            Some(probability) if (0.0..=1.0).contains(&probability) => Ok(Self::Noise(probability)),
            _ => Err(format!(
                "found `{text}`, expected `invert` or `noise=P` with a probability P, as in noise=0.05"
            )),
        }
    }
}

impl Corruption {
    /// The corrupted images; the corruption of image `i` depends on the seed and `i` only.
    #[must_use]
    pub fn apply(self, images: &Array4<f32>, seed: u64) -> Array4<f32> {
        let mut images = images.clone();
        let position = Stream::new(seed, "corruption").at(0);
        for (place, mut image) in images.outer_iter_mut().enumerate() {
            let mut generator = position.lane(place as u64).generator();
            let (height, width, channels) = image.dim();
            let mut invert = |row: usize, column: usize| {
                for channel in 0..channels {
                    let value = &mut image[[row, column, channel]];
                    *value = 1.0 - *value;
                }
            };
            for row in 0..height {
                for column in 0..width {
                    match self {
                        Self::Invert => invert(row, column),
                        Self::Noise(probability) if generator.random_bool(probability) => {
                            invert(row, column);
                        }
                        Self::Noise(_) => {}
                    }
                }
            }
        }
        images
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read() {
        assert_eq!("invert".parse(), Ok(Corruption::Invert));
        assert_eq!("noise=0.05".parse(), Ok(Corruption::Noise(0.05)));
        for text in ["", "noise", "noise=", "noise=2", "noise=-0.1", "noise=NaN", "blur=3"] {
            let message = format!(
                "found `{text}`, expected `invert` or `noise=P` with a probability P, as in noise=0.05"
            );
            assert_eq!(text.parse::<Corruption>().unwrap_err(), message);
        }
    }

    /// Of 2 x 64 x 64 pixels, a twentieth is 409.6, with a standard deviation of sqrt(8192 * 0.05 * 0.95) = 19.7.
    #[test]
    fn noise_turns_over_as_many_pixels_as_it_says() {
        let images = Array4::from_elem((2, 64, 64, 3), 0.25);
        let noisy = Corruption::Noise(0.05).apply(&images, 3);
        let mut turned = 0;
        for pixel in noisy.as_slice().unwrap().chunks_exact(3) {
            assert!(pixel == [0.25; 3] || pixel == [0.75; 3], "{pixel:?}");
            turned += usize::from(pixel[0] == 0.75);
        }
        assert!((turned as f64 - 409.6).abs() < 5.0 * 19.7, "{turned}");
        assert_eq!(noisy, Corruption::Noise(0.05).apply(&images, 3));
        assert_ne!(noisy, Corruption::Noise(0.05).apply(&images, 4));
        assert_eq!(Corruption::Noise(0.0).apply(&images, 3), images);
        assert_eq!(Corruption::Noise(1.0).apply(&images, 3), Corruption::Invert.apply(&images, 0));
        assert!(Corruption::Invert.apply(&images, 0).iter().all(|&value| value == 0.75));
    }
}
