//! The family of 4x4 stride-2 convolutions: `conv`, `dlib`, `dupont-64`, `dupont-32`, `mathieu`.

use super::{Activation, Convolution, DecoderTable, EncoderTable, Heads, Linear, reduced};
use unbraid_data::ImageShape;

type Tables = (EncoderTable, DecoderTable);

/// `conv` and `dupont-64` (Dupont 2018, appendix B):
///
/// | encoder | decoder |
/// |---|---|
/// | conv 4x4 s2, 32, ReLU | FC 256 ReLU |
/// | conv 4x4 s2, 32, ReLU | FC to 64 channels, ReLU |
/// | conv 4x4 s2, 64, ReLU | transposed 4x4 s2, 64, ReLU |
/// | conv 4x4 s2, 64, ReLU | transposed 4x4 s2, 32, ReLU |
/// | FC 256 ReLU | transposed 4x4 s2, 32, ReLU |
/// | heads | transposed 4x4 s2, image |
pub(super) fn tables(images: ImageShape) -> Tables {
    family(images, &[32, 32, 64, 64], &[64, 32, 32], Linear::relu("encoder.fc1", 256), 256)
}

/// `dlib`: the same with 2x2 kernels in the encoder's layers 3 and 4 (disentanglement_lib's `conv_encoder`).
pub(super) fn dlib_tables(images: ImageShape) -> Tables {
    let (mut encoder, decoder) = tables(images);
    for layer in &mut encoder.convolutions[2..] {
        *layer = layer.clone().with_small_kernel();
    }
    (encoder, decoder)
}

/// `dupont-32`: three layers instead of four. The paper's text drops the encoder's last layer, while the author's code,
/// which produced the results, drops the second; this follows the code.
pub(super) fn dupont_32_tables(images: ImageShape) -> Tables {
    family(images, &[32, 64, 64], &[32, 32], Linear::relu("encoder.fc1", 256), 256)
}

/// `mathieu` (Mathieu et al. 2019, Table 1a): FC 128, without activation in the encoder, and 64, 64, 32 channels in the
/// decoder.
pub(super) fn mathieu_tables(images: ImageShape) -> Tables {
    family(images, &[32, 32, 64, 64], &[64, 64, 32], Linear::plain("encoder.fc1", 128), 128)
}

fn family(
    images: ImageShape,
    encoder: &[usize],
    decoder: &[usize],
    encoder_linear: Linear,
    decoder_width: usize,
) -> Tables {
    let grid = reduced(images, encoder.len() as u32, 64);
    let layer = |side: &str, place: usize, channels: usize| {
        Convolution::halving(format!("{side}{}", place + 1), channels)
    };
    let contracting = encoder.iter().enumerate();
    let expanding = decoder.iter().copied().chain([images.channels]).enumerate();
    let mut expanding: Vec<_> =
        expanding.map(|(place, channels)| layer("decoder.deconv", place, channels)).collect();
    if let Some(last) = expanding.last_mut() {
        last.activation = Activation::None;
    }
    let encoder = EncoderTable {
        convolutions: contracting.map(|(place, channels)| layer("encoder.conv", place, *channels)).collect(),
        linear: vec![encoder_linear],
        heads: Heads::Separate,
    };
    let decoder = DecoderTable {
        linear: vec![Linear::relu("decoder.fc1", decoder_width), Linear::relu("decoder.fc2", grid.values())],
        grid,
        convolutions: expanding,
    };
    (encoder, decoder)
}
