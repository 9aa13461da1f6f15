//! `dcgan` (Mathieu et al. 2019, Table 1c, after Radford et al. 2016): batch normalisation and leaky ReLU.

use super::{Activation, Convolution, DecoderTable, EncoderTable, Heads, reduced};
use unbraid_data::ImageShape;

/// Channels of the encoder's layers; the decoder has them in reverse.
const CHANNELS: [usize; 4] = [32, 64, 128, 256];

/// | encoder | decoder |
/// |---|---|
/// | 4 x conv 4x4 s2, batch norm, leaky ReLU 0.2: 32, 64, 128, 256 | transposed from 1x1, 256, batch norm, ReLU |
/// | heads | 3 x transposed 4x4 s2, batch norm, ReLU: 128, 64, 32 |
/// | | transposed 4x4 s2, image |
///
/// The paper's heads are convolutions whose kernel covers all of the remaining image, which is a fully connected layer.
/// For 64x64 images that kernel is 4x4; for others it scales with the image.
pub(super) fn tables(images: ImageShape, latent_width: usize) -> (EncoderTable, DecoderTable) {
    let contracting = CHANNELS.into_iter().enumerate().map(|(place, channels)| {
        Convolution::halving(format!("encoder.conv{}", place + 1), channels)
            .with_norm(format!("encoder.norm{}", place + 1))
            .with(Activation::LeakyRelu(0.2))
    });
    let left = reduced(images, 4, 0);
    let first = Convolution { kernel: [left.height, left.width], stride: 1, padding: 0, ..expanding(0) };
    let last = Convolution::halving("decoder.deconv5", images.channels).with(Activation::None);
    let encoder =
        EncoderTable { convolutions: contracting.collect(), linear: Vec::new(), heads: Heads::Separate };
    let decoder = DecoderTable {
        linear: Vec::new(),
        grid: ImageShape::new(1, 1, latent_width),
        convolutions: [first].into_iter().chain((1..4).map(expanding)).chain([last]).collect(),
    };
    (encoder, decoder)
}

fn expanding(place: usize) -> Convolution {
    Convolution::halving(format!("decoder.deconv{}", place + 1), CHANNELS[3 - place])
        .with_norm(format!("decoder.norm{}", place + 1))
}
