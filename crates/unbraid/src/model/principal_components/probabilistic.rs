//! Principal components as a variational autoencoder: probabilistic PCA (Tipping & Bishop 1999).

use super::PrincipalComponents;
use crate::model::StateTensor;
use ndarray::Array1;
use unbraid_data::ImageShape;

/// The smallest noise, as a standard deviation of pixel values: below it, single precision cannot represent
/// the likelihood.
const SMALLEST_NOISE: f64 = 1e-4;

/// The state dict of a `linear` network with a Gaussian likelihood of learned scale that is the probabilistic
/// PCA of the data.
///
/// The model is x = W z + m + noise with z ~ N(0, I) and noise ~ N(0, s^2 I). The maximum of its likelihood is at W = U
/// (L - s^2 I)^(1/2) for the directions U and variances L of the principal components, and s^2 the mean variance along
/// the remaining directions (Tipping & Bishop 1999, eqs. 7 and 8). The posterior is N(M^-1 W^T (x - m), s^2 M^-1) with
/// M = W^T W + s^2 I = L. This is diagonal, so that the encoder represents it exactly, and the evidence lower bound
/// equals the log-likelihood.
pub fn probabilistic_pca(
    components: &PrincipalComponents,
    units: usize,
    images: ImageShape,
) -> Vec<StateTensor> {
    let noise = noise_variance(components, units, images.values());
    let found = components.variances.len().min(units);
    let mut model = LinearModel::empty(&components.mean, units, images, noise);
    for unit in 0..found {
        let variance = components.variances[unit].max(noise);
        let direction = components.directions.row(unit);
        let length = (variance - noise).sqrt();
        model.set_unit(
            unit,
            LinearUnit {
                image: direction.mapv(|value| length * value),
                filter: direction.mapv(|value| length * value / variance),
                offset: -length / variance * direction.dot(&components.mean),
                variance: noise / variance,
            },
        );
    }
    model.into_state()
}

/// s^2, the mean variance along the directions that `units` components leave out.
pub(super) fn noise_variance(components: &PrincipalComponents, units: usize, pixels: usize) -> f64 {
    let found = components.variances.len().min(units);
    let left_out = components.total_variance - components.variances[..found].iter().sum::<f64>();
    (left_out / (pixels - found).max(1) as f64).max(SMALLEST_NOISE * SMALLEST_NOISE)
}

/// The weights of a `linear` network in the making.
pub(super) struct LinearModel {
    mean: Array1<f64>,
    noise: f64,
    units: usize,
    /// Where the network has each value of an image.
    places: Vec<usize>,
    encoder: Vec<f32>,
    offsets: Vec<f32>,
    log_variances: Vec<f32>,
    decoder: Vec<f32>,
}

/// The weights of one unit.
pub(super) struct LinearUnit {
    /// What the decoder adds to an image for a step of one.
    pub(super) image: Array1<f64>,
    /// What the encoder multiplies an image with.
    pub(super) filter: Array1<f64>,
    /// What it then adds.
    pub(super) offset: f64,
    /// The variance of the posterior.
    pub(super) variance: f64,
}

impl LinearModel {
    /// One whose units carry no information: their posterior is the prior.
    pub(super) fn empty(mean: &Array1<f64>, units: usize, images: ImageShape, noise: f64) -> Self {
        let pixels = images.values();
        Self {
            mean: mean.clone(),
            noise,
            units,
            places: (0..pixels).map(|pixel| place_in_network(pixel, images)).collect(),
            encoder: vec![0.0; units * pixels],
            offsets: vec![0.0; units],
            log_variances: vec![0.0; units],
            decoder: vec![0.0; pixels * units],
        }
    }

    /// Gives a unit its weights.
    pub(super) fn set_unit(&mut self, unit: usize, weights: LinearUnit) {
        let LinearUnit { image, filter, offset, variance } = weights;
        let pixels = self.places.len();
        for ((&place, image), filter) in self.places.iter().zip(image).zip(filter) {
            self.decoder[place * self.units + unit] = image as f32;
            self.encoder[unit * pixels + place] = filter as f32;
        }
        self.offsets[unit] = offset as f32;
        self.log_variances[unit] = variance.ln() as f32;
    }

    pub(super) fn into_state(self) -> Vec<StateTensor> {
        let (units, pixels) = (self.units, self.places.len());
        let mut bias = vec![0.0_f32; pixels];
        self.places.iter().zip(&self.mean).for_each(|(place, mean)| bias[*place] = *mean as f32);
        let tensor =
            |name: &str, shape: &[usize], values: Vec<f32>| StateTensor::floats(name, shape.to_vec(), values);
        vec![
            tensor("encoder.mean.weight", &[units, pixels], self.encoder),
            tensor("encoder.mean.bias", &[units], self.offsets),
            tensor("encoder.log_variance.weight", &[units, pixels], vec![0.0; units * pixels]),
            tensor("encoder.log_variance.bias", &[units], self.log_variances),
            tensor("decoder.fc1.weight", &[pixels, units], self.decoder),
            tensor("decoder.fc1.bias", &[pixels], bias),
            tensor("likelihood.log_scale", &[1], vec![(0.5 * self.noise.ln()) as f32]),
        ]
    }
}

/// Data sets have channels last; networks flatten images with channels first, as PyTorch does.
fn place_in_network(pixel: usize, images: ImageShape) -> usize {
    let (channel, position) = (pixel % images.channels, pixel / images.channels);
    channel * images.height * images.width + position
}
