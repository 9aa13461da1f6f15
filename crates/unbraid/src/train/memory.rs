//! How much memory training takes, estimated before any of it is allocated.

use crate::config::{Config, ContrastConfig, DiscriminatorConfig, Latent, PosteriorConfig, TermConfig};
use crate::error::{Error, Result};
use crate::model::Blueprint;
use unbraid_data::{ImageShape, memory};

/// Checks that training on images of this size fits into the memory that one request may take.
///
/// # Errors
/// [`Error::TooLarge`], or if the architecture cannot take such images.
pub fn check_memory(config: &Config, images: ImageShape) -> Result {
    let needed = training_bytes(config, images)?;
    // A float that is too large becomes the largest integer.
    memory::check(needed as u64).map_err(|memory::TooLarge { needed, limit }| Error::TooLarge {
        subject: format!(
            "training with batches of {} images of {images} (height x width x channels)",
            config.training.batch_size
        ),
        needed,
        limit,
    })
}

/// A lower bound in bytes: for every weight itself, its gradient and Adam's two means; for every value that passes from
/// layer to layer, itself and its gradient; for the samples of adaptive contrast, which have no gradient, themselves; all in
/// single precision.
fn training_bytes(config: &Config, images: ImageShape) -> Result<f64> {
    let blueprint = Blueprint::new(&config.model, images)?;
    let weights = blueprint.weight_count() + discriminator_weights(config, images);
    let mut activations = blueprint.activation_count() * config.training.batch_size as f64;
    if let Latent::Samples(samples) = config.objective.latent() {
        activations *= samples as f64;
    }
    Ok(16.0 * weights + 8.0 * activations + 4.0 * contrast_samples(config))
}

/// The values from which adaptive contrast computes the moments of posteriors that do not know their own: noise, hidden
/// layers and units of some samples of each image.
fn contrast_samples(config: &Config) -> f64 {
    let units = config.model.latents.continuous;
    let widths = |noise: usize, hidden: &[usize]| {
        [noise, units].iter().chain(hidden).map(|width| *width as f64).sum::<f64>()
    };
    let values = match &config.model.posterior {
        PosteriorConfig::Diagonal {} | PosteriorConfig::FullCovariance {} => 0.0,
        // Of its steps, which come one after the other.
        PosteriorConfig::Iaf { hidden, .. } => widths(units, hidden),
        PosteriorConfig::Implicit { noise, hidden } => widths(*noise, hidden),
    };
    let samples = |term: &TermConfig| {
        let TermConfig::AdversarialKl(config) = term else { return 0.0 };
        if config.adaptive_contrast { config.discriminator.samples as f64 } else { 0.0 }
    };
    let terms = config.objective.terms();
    let samples: f64 = terms.iter().map(|term| samples(&term.term)).sum();
    values * samples * config.training.batch_size as f64
}

/// The weights of the discriminators of all terms.
fn discriminator_weights(config: &Config, images: ImageShape) -> f64 {
    let units = config.model.latents.continuous as f64;
    let classifier = |inputs: f64, discriminator: &DiscriminatorConfig| {
        let (layers, width) = (discriminator.layers as f64, discriminator.width as f64);
        width * (inputs + (layers - 1.0) * width + 2.0)
    };
    let of_term = |term: &TermConfig| match term {
        TermConfig::DiscriminatedTotalCorrelation { discriminator, .. }
        | TermConfig::Adversarial { discriminator, .. }
        | TermConfig::FDivergence { discriminator, .. } => classifier(units, discriminator),
        TermConfig::AdversarialKl(term) => {
            let ContrastConfig { features, .. } = term.discriminator;
            let (pixels, features) = (images.values() as f64, features as f64);
            features * (pixels + features) + classifier(features + units, &term.discriminator.over_features())
        }
        TermConfig::Kl {}
        | TermConfig::KlFromCapacity { .. }
        | TermConfig::ContinuousKlFromCapacity { .. }
        | TermConfig::CategoricalKlFromCapacity { .. }
        | TermConfig::NegativeEntropy {}
        | TermConfig::IwaeKl {}
        | TermConfig::MutualInformation { .. }
        | TermConfig::TotalCorrelation { .. }
        | TermConfig::DimensionWiseKl { .. }
        | TermConfig::CovarianceOffDiagonal(_)
        | TermConfig::CovarianceDiagonal(_)
        | TermConfig::ThirdMoment {}
        | TermConfig::Mmd(_)
        | TermConfig::InclusiveKl {}
        | TermConfig::ExclusiveKl { .. }
        | TermConfig::Moments {}
        | TermConfig::RandomMixture { .. }
        | TermConfig::SlicedWasserstein { .. } => 0.0,
    };
    config.objective.terms().iter().map(|term| of_term(&term.term)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Source;

    /// `linear` on 2x3x1 with one unit: heads 2*6 and decoder 6 weights; images of 6 values in and out, the decoder's
    /// layer of 6, and 3 latent values.
    #[test]
    fn a_linear_network_is_counted_as_by_hand() {
        let config = Source::preset("default")
            .set("model.architecture=linear")
            .set("model.latents.continuous=1")
            .set("training.batch_size=5")
            .resolve()
            .unwrap();
        let bytes = training_bytes(&config, ImageShape::new(2, 3, 1)).unwrap();
        assert_eq!(bytes, 16.0 * 18.0 + 8.0 * 5.0 * (6.0 + 6.0 + 6.0 + 3.0));
    }

    #[test]
    fn a_discriminator_counts() {
        let config = Source::preset("default")
            .set("objective={ name = \"factor-vae\", gamma = 1, discriminator = { layers = 3, width = 10 } }")
            .set("model.latents.continuous=4")
            .resolve()
            .unwrap();
        let images = ImageShape::new(64, 64, 1);
        assert_eq!(discriminator_weights(&config, images), 40.0 + 100.0 + 100.0 + 20.0);
    }

    /// Three samples of five images, each of 7 numbers of noise, hidden layers of 11 and 13, and 2 units: 4 bytes each beside
    /// what the same run takes without adaptive contrast.
    #[test]
    fn the_samples_of_adaptive_contrast_count() {
        let bytes = |contrast: &str| {
            let objective = format!(
                "objective={{ name = \"avb\", adaptive_contrast = {contrast}, discriminator = {{ samples = 3 }} }}"
            );
            let config = Source::preset("default")
                .set(objective)
                .set("model.latents={ continuous = 2 }")
                .set("model.posterior={ name = \"implicit\", noise = 7, hidden = [11, 13] }")
                .set("training.batch_size=5")
                .resolve()
                .unwrap();
            training_bytes(&config, ImageShape::new(64, 64, 1)).unwrap()
        };
        assert_eq!(bytes("true") - bytes("false"), 4.0 * 3.0 * 5.0 * (7.0 + 11.0 + 13.0 + 2.0));
    }

    /// The largest number of samples that a configuration may have, 2^24, with 2^12 images and more than 2^10 values of each.
    #[test]
    fn more_samples_of_adaptive_contrast_than_fit_are_refused() {
        let config = Source::preset("default")
            .set("objective={ name = \"avb\", adaptive_contrast = true, discriminator = { samples = 16777216 } }")
            .set("model.latents={ continuous = 2 }")
            .set("model.posterior={ name = \"implicit\", noise = 1022 }")
            .set("training.batch_size=4096")
            .resolve()
            .unwrap();
        let error = check_memory(&config, ImageShape::new(64, 64, 1)).unwrap_err();
        let Error::TooLarge { needed, .. } = error else { panic!("{error}") };
        assert!(needed > 1 << 46, "{needed}");
    }

    #[test]
    fn what_no_machine_holds_is_refused() {
        let config = Source::preset("default")
            .set("model.architecture={ name = \"burgess\", hidden = 16777216 }")
            .resolve()
            .unwrap();
        let error = check_memory(&config, ImageShape::new(64, 64, 1)).unwrap_err();
        let Error::TooLarge { needed, limit, .. } = &error else { panic!("{error}") };
        assert!(needed > limit);
        assert_eq!(error.kind(), crate::ErrorKind::Input);
    }
}
