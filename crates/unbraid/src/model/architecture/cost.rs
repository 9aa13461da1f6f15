//! The number of floating-point operations of a network.

use super::Blueprint;
use crate::config::PosteriorConfig;
use unbraid_data::ImageShape;

/// The product of some numbers, or the largest number if it is larger.
fn product(factors: &[usize]) -> u64 {
    factors.iter().fold(1, |product, factor| product.saturating_mul(*factor as u64))
}

impl Blueprint {
    /// Floating-point operations of one training step per image: a multiplication and an addition for each weight of
    /// each output value, once in the forward pass and twice in the backward pass, for the inputs and for the weights.
    /// The first layer needs no gradient for its input. Activations, normalisation, losses and the optimiser are left
    /// out, as is usual.
    pub fn training_operations(&self) -> u64 {
        let layers = self.multiplications();
        let first = layers.first().copied().unwrap_or(0);
        let all = layers.iter().fold(0_u64, |sum, layer| sum.saturating_add(*layer));
        all.saturating_mul(3).saturating_sub(first).saturating_mul(2)
    }

    /// The size of the largest image or layer output, for one image.
    pub fn largest_layer(&self) -> usize {
        let linear = self.encoder.linear.iter().chain(&self.decoder.linear).map(|layer| layer.width);
        let images = self.encoder_images().into_iter().chain(self.decoder_images());
        images.map(ImageShape::values).chain(linear).max().unwrap_or(0)
    }

    /// The shapes of the encoder's convolution outputs, starting with the image itself.
    pub(super) fn encoder_images(&self) -> Vec<ImageShape> {
        let mut images = vec![self.image_shape];
        for layer in &self.encoder.convolutions {
            let size =
                |size: usize, axis: usize| (size + 2 * layer.padding - layer.kernel[axis]) / layer.stride + 1;
            let ImageShape { height, width, .. } = images[images.len() - 1];
            images.push(ImageShape::new(size(height, 0), size(width, 1), layer.channels));
        }
        images
    }

    /// The shapes of the decoder's convolution outputs, starting with the grid itself.
    pub(super) fn decoder_images(&self) -> Vec<ImageShape> {
        let mut images = vec![self.decoder.grid];
        for layer in &self.decoder.convolutions {
            let size =
                |size: usize, axis: usize| (size - 1) * layer.stride + layer.kernel[axis] - 2 * layer.padding;
            let ImageShape { height, width, .. } = images[images.len() - 1];
            images.push(ImageShape::new(size(height, 0), size(width, 1), layer.channels));
        }
        images
    }

    /// Multiplications from the encoder's last `width` values to a sample of the continuous units.
    pub(super) fn posterior_multiplications(&self, width: usize) -> u64 {
        let units = self.layout.continuous();
        let heads = product(&[2, width, units]);
        let through = |first: usize, hidden: &[usize], last: usize| {
            let widths: Vec<usize> =
                [first].into_iter().chain(hidden.iter().copied()).chain([last]).collect();
            widths.windows(2).map(product).fold(0, u64::saturating_add)
        };
        match &self.posterior {
            PosteriorConfig::Diagonal {} => heads,
            PosteriorConfig::FullCovariance {} => heads.saturating_add(product(&[width, units, units])),
            PosteriorConfig::Iaf { steps, hidden, context } => {
                let flow = through(units + context, hidden, 2 * units).saturating_mul(*steps as u64);
                heads.saturating_add(product(&[width, *context])).saturating_add(flow)
            }
            PosteriorConfig::Implicit { noise, hidden } => through(width + noise, hidden, units),
        }
    }

    /// Multiplications of each layer for one image, first to last.
    fn multiplications(&self) -> Vec<u64> {
        let mut layers = Vec::new();
        let images = self.encoder_images();
        for (layer, image) in self.encoder.convolutions.iter().zip(images.windows(2)) {
            layers.push(product(&[image[1].values(), image[0].channels, layer.kernel[0], layer.kernel[1]]));
        }
        let mut width = images[images.len() - 1].values();
        for layer in &self.encoder.linear {
            layers.push(product(&[width, layer.width]));
            width = layer.width;
        }
        let posterior = self.posterior_multiplications(width);
        layers.push(posterior.saturating_add(product(&[width, self.layout.classes()])));
        width = self.layout.width();
        for layer in &self.decoder.linear {
            layers.push(product(&[width, layer.width]));
            width = layer.width;
        }
        for (layer, image) in self.decoder.convolutions.iter().zip(self.decoder_images()) {
            layers.push(product(&[image.values(), layer.channels, layer.kernel[0], layer.kernel[1]]));
        }
        layers
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Source;
    use crate::model::Blueprint;
    use unbraid_data::ImageShape;

    /// Layer by layer, by hand, for 64x64x1 and ten units: convolutions 32*32*32*16, 16*16*32*32*16, 8*8*64*32*16,
    /// 4*4*64*64*16; FC 1024*256; heads 256*20; FC 10*256 and 256*1024; transposed convolutions as the convolutions in
    /// reverse.
    #[test]
    fn the_network_conv_is_counted_as_by_hand() {
        let preset = Some("shapes/beta-vae".to_owned());
        let config = Source { preset, ..Source::default() }.resolve().unwrap();
        let blueprint = Blueprint::new(&config.model, ImageShape::new(64, 64, 1)).unwrap();
        let convolutions = 524_288 + 4_194_304 + 2_097_152 + 1_048_576;
        let linear = 262_144 + 5_120 + 2_560 + 262_144;
        let forward: u64 = 2 * convolutions + linear;
        assert_eq!(blueprint.training_operations(), 2 * (3 * forward - 524_288));
        assert_eq!(blueprint.largest_layer(), 32 * 32 * 32);
    }
}
