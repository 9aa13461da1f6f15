//! Principal components as a variational autoencoder: probabilistic PCA (Tipping & Bishop 1999).

use super::PrincipalComponents;
use crate::model::StateTensor;
use unbraid_data::ImageShape;

/// The smallest noise, as a standard deviation in units of pixels: below it, single precision has no likelihood.
const SMALLEST_NOISE: f64 = 1e-4;

/// The state dict of a `linear` network with a Gaussian likelihood of learned scale that is the probabilistic PCA of the
/// data.
///
/// The model is x = W z + m + noise with z ~ N(0, I) and noise ~ N(0, s^2 I). Its maximum likelihood is at
/// W = U (L - s^2 I)^(1/2) for the directions U and variances L of the principal components, and s^2 the mean variance
/// along the directions left out (Tipping & Bishop 1999, eqs. 7 and 8). The posterior is N(M^-1 W^T (x - m), s^2 M^-1)
/// with M = W^T W + s^2 I = L, which is diagonal, so that the encoder has it exactly: the evidence lower bound is the
/// log-likelihood.
pub fn probabilistic_pca(
    components: &PrincipalComponents,
    units: usize,
    images: ImageShape,
) -> Vec<StateTensor> {
    let pixels = images.values();
    let found = components.variances.len().min(units);
    let left_out = components.total_variance - components.variances[..found].iter().sum::<f64>();
    let noise = (left_out / (pixels - found).max(1) as f64).max(SMALLEST_NOISE * SMALLEST_NOISE);
    // A unit beyond the directions that the data has carries nothing: a variance of the noise alone.
    let variance =
        |unit: usize| components.variances[..found].get(unit).map_or(noise, |found| found.max(noise));

    let places: Vec<usize> = (0..pixels).map(|pixel| place_in_network(pixel, images)).collect();
    let mut bias = vec![0.0_f32; pixels];
    places.iter().zip(&components.mean).for_each(|(place, mean)| bias[*place] = *mean as f32);
    let mut encoder = vec![0.0_f32; units * pixels];
    let mut decoder = vec![0.0_f32; pixels * units];
    let mut offsets = vec![0.0_f32; units];
    for unit in 0..found {
        let direction = components.directions.row(unit);
        let length = (variance(unit) - noise).sqrt();
        for (place, value) in places.iter().zip(direction) {
            decoder[place * units + unit] = (length * value) as f32;
            encoder[unit * pixels + place] = (length * value / variance(unit)) as f32;
        }
        offsets[unit] = (-length / variance(unit) * direction.dot(&components.mean)) as f32;
    }
    let log_variances = (0..units).map(|unit| (noise / variance(unit)).ln() as f32).collect();
    let tensor =
        |name: &str, shape: &[usize], values: Vec<f32>| StateTensor::floats(name, shape.to_vec(), values);
    vec![
        tensor("encoder.mean.weight", &[units, pixels], encoder),
        tensor("encoder.mean.bias", &[units], offsets),
        tensor("encoder.log_variance.weight", &[units, pixels], vec![0.0; units * pixels]),
        tensor("encoder.log_variance.bias", &[units], log_variances),
        tensor("decoder.fc1.weight", &[pixels, units], decoder),
        tensor("decoder.fc1.bias", &[pixels], bias),
        tensor("likelihood.log_scale", &[1], vec![(0.5 * noise.ln()) as f32]),
    ]
}

/// Data sets have channels last; networks flatten images with channels first, as PyTorch does.
fn place_in_network(pixel: usize, images: ImageShape) -> usize {
    let (channel, position) = (pixel % images.channels, pixel / images.channels);
    channel * images.height * images.width + position
}
