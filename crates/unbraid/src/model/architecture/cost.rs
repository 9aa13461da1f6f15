//! How much arithmetic a network is.

use super::Blueprint;
use unbraid_data::ImageShape;

impl Blueprint {
    /// Floating-point operations of one training step for each image: a multiplication and an addition for each weight
    /// of each output value, once forward and twice backward, for the inputs and for the weights. The first layer needs
    /// no gradient for its input. Activations, normalisation, losses and the optimiser are left out, as is usual.
    pub fn training_operations(&self) -> u64 {
        let layers = self.multiplications();
        let first = layers.first().copied().unwrap_or(0);
        2 * (3 * layers.iter().sum::<u64>() - first)
    }

    /// Multiplications of each layer for one image, first to last.
    fn multiplications(&self) -> Vec<u64> {
        let mut layers = Vec::new();
        let mut image = self.images;
        for layer in &self.encoder.convolutions {
            let size =
                |size: usize, axis: usize| (size + 2 * layer.padding - layer.kernel[axis]) / layer.stride + 1;
            let next = ImageShape::new(size(image.height, 0), size(image.width, 1), layer.channels);
            layers.push(next.values() * image.channels * layer.kernel[0] * layer.kernel[1]);
            image = next;
        }
        let mut width = image.values();
        for layer in &self.encoder.linear {
            layers.push(width * layer.width);
            width = layer.width;
        }
        layers.push(width * (2 * self.units + self.categorical.iter().sum::<usize>()));
        width = self.latent_width();
        for layer in &self.decoder.linear {
            layers.push(width * layer.width);
            width = layer.width;
        }
        image = self.decoder.grid;
        for layer in &self.decoder.convolutions {
            layers.push(image.values() * layer.channels * layer.kernel[0] * layer.kernel[1]);
            let size =
                |size: usize, axis: usize| (size - 1) * layer.stride + layer.kernel[axis] - 2 * layer.padding;
            image = ImageShape::new(size(image.height, 0), size(image.width, 1), layer.channels);
        }
        layers.into_iter().map(|count| count as u64).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Source;
    use crate::model::Blueprint;
    use unbraid_data::ImageShape;

    /// Layer by layer by hand for 64x64x1 and ten units: convolutions 32*32*32*16, 16*16*32*32*16, 8*8*64*32*16,
    /// 4*4*64*64*16; FC 1024*256; heads 256*20; FC 10*256 and 256*1024; transposed: the convolutions backwards.
    #[test]
    fn the_default_network_is_counted_as_by_hand() {
        let config = Source::default().resolve().unwrap();
        let blueprint = Blueprint::new(&config.model, ImageShape::new(64, 64, 1)).unwrap();
        let convolutions = 524_288 + 4_194_304 + 2_097_152 + 1_048_576;
        let linear = 262_144 + 5_120 + 2_560 + 262_144;
        let forward: u64 = 2 * convolutions + linear;
        assert_eq!(blueprint.training_operations(), 2 * (3 * forward - 524_288));
    }
}
