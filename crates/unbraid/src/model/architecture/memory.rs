//! How large a network is, counted before any of it exists. Counts are in floating point, which is exact far
//! beyond what any machine holds and cannot overflow.

use super::{Blueprint, Heads};
use crate::config::PosteriorConfig;
use unbraid_data::ImageShape;

impl Blueprint {
    /// The name and shape of the weights of every layer, without biases and normalisation: what a file of weights must
    /// contain if it belongs to images of this size.
    pub(crate) fn weights(&self) -> Vec<(String, Vec<usize>)> {
        let mut weights = Vec::new();
        let mut add = |name: &str, shape: Vec<usize>| weights.push((format!("{name}.weight"), shape));
        let mut image = self.image_shape;
        for layer in &self.encoder.convolutions {
            add(&layer.name, vec![layer.channels, image.channels, layer.kernel[0], layer.kernel[1]]);
            image = ImageShape::new(image.height / layer.stride, image.width / layer.stride, layer.channels);
        }
        let mut width = image.values();
        for layer in &self.encoder.linear {
            add(&layer.name, vec![layer.width, width]);
            width = layer.width;
        }
        let units = self.layout.continuous();
        match &self.encoder.heads {
            // An implicit posterior has no parameters that the encoder could output.
            _ if units == 0 || matches!(self.posterior, PosteriorConfig::Implicit { .. }) => {}
            Heads::Separate => {
                add("encoder.mean", vec![units, width]);
                add("encoder.log_variance", vec![units, width]);
            }
            Heads::Interleaved(name) => add(name, vec![2 * units, width]),
        }
        for (unit, classes) in self.layout.categorical().iter().enumerate() {
            add(&format!("encoder.categorical.{unit}"), vec![*classes, width]);
        }
        width = self.layout.width();
        for layer in &self.decoder.linear {
            add(&layer.name, vec![layer.width, width]);
            width = layer.width;
        }
        let mut channels = self.decoder.grid.channels;
        for layer in &self.decoder.convolutions {
            add(&layer.name, vec![channels, layer.channels, layer.kernel[0], layer.kernel[1]]);
            channels = layer.channels;
        }
        weights
    }

    /// The number of weights, without biases and normalisation, which are few beside them.
    pub(crate) fn weight_count(&self) -> f64 {
        let count = |shape: &[usize]| shape.iter().map(|&axis| axis as f64).product::<f64>();
        let listed: f64 = self.weights().iter().map(|(_, shape)| count(shape)).sum();
        let encoded = self.encoder.linear.last().map_or_else(
            || self.encoder_images().last().map_or(0, |image| image.values()),
            |layer| layer.width,
        );
        let all = self.posterior_multiplications(encoded) as f64;
        // A multiplication for each weight of a posterior; of these, two heads of a Gaussian are listed.
        let heads = 2.0 * encoded as f64 * self.layout.continuous() as f64;
        listed
            + match self.posterior {
                PosteriorConfig::Diagonal {} => 0.0,
                PosteriorConfig::FullCovariance {} | PosteriorConfig::Iaf { .. } => all - heads,
                PosteriorConfig::Implicit { .. } => all,
            }
    }

    /// The number of values that pass from layer to layer for one image: every image, every output of a
    /// layer, the latent values.
    pub(crate) fn activation_count(&self) -> f64 {
        let values = |image: ImageShape| image.height as f64 * image.width as f64 * image.channels as f64;
        let images = self.encoder_images().into_iter().chain(self.decoder_images()).map(values);
        let linear = self.encoder.linear.iter().chain(&self.decoder.linear).map(|layer| layer.width as f64);
        images.chain(linear).sum::<f64>() + 3.0 * self.layout.width() as f64
    }
}

#[cfg(test)]
mod tests {
    use crate::Device;
    use crate::config::Source;
    use crate::model::{Blueprint, Network};
    use unbraid_data::ImageShape;

    /// The list is that of the network itself, for every architecture.
    #[test]
    fn weights_are_those_of_the_network() {
        for (architecture, latents) in [
            ("conv", "{ continuous = 3 }"),
            ("dlib", "{ continuous = 2, categorical = [3, 4] }"),
            ("burgess", "{ continuous = 2 }"),
            ("dupont-64", "{ continuous = 1, categorical = [5] }"),
            ("mathieu", "{ continuous = 2 }"),
            ("dcgan", "{ continuous = 2 }"),
            ("linear", "{ continuous = 2 }"),
            ("{ name = \"mlp\", encoder = [7, 5], decoder = [6] }", "{ continuous = 2, categorical = [3] }"),
        ] {
            let objective = if latents.contains("categorical") {
                "{ name = \"joint-vae\", gamma_continuous = 1, capacity_continuous = 5, gamma_categorical = 1, \
                 capacity_categorical = 1 }"
            } else {
                "vae"
            };
            let source = Source::preset("default")
                .set(format!("model.architecture={architecture}"))
                .set(format!("model.latents={latents}"))
                .set(format!("objective={objective}"));
            let config = source.resolve().unwrap();
            let (height, width) = if architecture == "linear" { (6, 4) } else { (64, 64) };
            let images = ImageShape::new(height, width, 3);
            let device = Device::cpu().tensor_device();
            let network = Network::new(&config.model, images, 0, &device).unwrap();
            let mut expected: Vec<(String, Vec<usize>)> = network
                .parameters()
                .iter()
                .filter(|parameter| parameter.name().ends_with(".weight") && parameter.shape().len() > 1)
                .map(|parameter| (parameter.name().to_owned(), parameter.shape()))
                .collect();
            let blueprint = Blueprint::new(&config.model, images).unwrap();
            let mut found = blueprint.weights();
            expected.sort();
            found.sort();
            assert_eq!(found, expected, "{architecture}");
        }
    }

    /// By hand for `conv`, 64x64x1 and ten units: convolutions 32*16, 32*32*16, 64*32*16, 64*64*16; FC 1024*256; heads
    /// 2*256*10; and the decoder as the encoder with one layer 10*256 for the heads.
    #[test]
    fn the_network_conv_is_counted_as_by_hand() {
        let config = Source::preset("shapes/beta-vae").resolve().unwrap();
        let blueprint = Blueprint::new(&config.model, ImageShape::new(64, 64, 1)).unwrap();
        let convolutions = 512 + 16_384 + 32_768 + 65_536;
        let weights = 2 * convolutions + 2 * 262_144 + 5_120 + 2_560;
        assert_eq!(blueprint.weight_count(), f64::from(weights));
        // Images of 64, 32, 16, 8 and 4 pixels with 1, 32, 32, 64 and 64 channels, both ways; FC 256, 256 and 1024.
        let images = 4_096 + 32_768 + 8_192 + 4_096 + 1_024;
        assert_eq!(blueprint.activation_count(), f64::from(2 * images + 256 + 256 + 1_024 + 30));
    }
}
