//! `burgess` (Burgess et al. 2018, appendix A), with the names and head of disentangling-vae, whose weights it loads.

use super::{Activation, Convolution, DecoderTable, EncoderTable, Heads, Linear, reduced};
use unbraid_data::ImageShape;

/// Images below 64 pixels have one layer less, as in disentangling-vae.
pub(super) fn depth(images: ImageShape) -> u32 {
    if images.height.min(images.width) < 64 { 3 } else { 4 }
}

/// | encoder | decoder |
/// |---|---|
/// | 4 x conv 4x4 s2, 32, ReLU | 2 x FC 256 ReLU |
/// | 2 x FC 256 ReLU | FC to 32 channels, ReLU |
/// | one head, mean and log-variance interleaved | 4 x transposed 4x4 s2, 32, ReLU; the last: image |
pub(super) fn tables(images: ImageShape, channels: usize, hidden: usize) -> (EncoderTable, DecoderTable) {
    let depth = depth(images);
    let grid = reduced(images, depth, channels);
    let mut contracting = vec!["encoder.conv1", "encoder.conv2", "encoder.conv3"];
    let mut expanding = vec!["decoder.convT1", "decoder.convT2", "decoder.convT3"];
    if depth == 4 {
        contracting.push("encoder.conv_64");
        expanding.insert(0, "decoder.convT_64");
    }
    let halving = |names: Vec<&str>| -> Vec<Convolution> {
        names.into_iter().map(|name| Convolution::halving(name, channels)).collect()
    };
    let encoder = EncoderTable {
        convolutions: halving(contracting),
        linear: vec![Linear::relu("encoder.lin1", hidden), Linear::relu("encoder.lin2", hidden)],
        heads: Heads::Interleaved("encoder.mu_logvar_gen".to_owned()),
    };
    let mut expanding = halving(expanding);
    if let Some(last) = expanding.last_mut() {
        (last.channels, last.activation) = (images.channels, Activation::None);
    }
    let decoder = DecoderTable {
        linear: vec![
            Linear::relu("decoder.lin1", hidden),
            Linear::relu("decoder.lin2", hidden),
            Linear::relu("decoder.lin3", grid.values()),
        ],
        grid,
        convolutions: expanding,
    };
    (encoder, decoder)
}
