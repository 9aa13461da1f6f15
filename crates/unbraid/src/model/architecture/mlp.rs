//! `mlp`: fully connected layers, for images of any size and for points.
//!
//! 1200-1200 with a tanh decoder of 1200-1200-1200 is the network of Higgins et al. 2017 and Chen et al. 2018 for
//! dSprites; 100 with 100 that of Mathieu et al. 2019 for the pinwheel (Table 1b). `linear` has no hidden
//! layers at all.

use super::{Activation, DecoderTable, EncoderTable, Heads, Linear};
use crate::config;
use unbraid_data::ImageShape;

pub(super) fn tables(
    images: ImageShape,
    encoder: &[usize],
    decoder: &[usize],
    decoder_activation: config::Activation,
) -> (EncoderTable, DecoderTable) {
    let decoder_activation = match decoder_activation {
        config::Activation::Relu => Activation::Relu,
        config::Activation::Tanh => Activation::Tanh,
    };
    let hidden = |side: &str, widths: &[usize], activation| -> Vec<Linear> {
        let layer = |(place, width): (usize, &usize)| Linear {
            name: format!("{side}.fc{}", place + 1),
            width: *width,
            activation,
        };
        widths.iter().enumerate().map(layer).collect()
    };
    let encoder = EncoderTable {
        convolutions: Vec::new(),
        linear: hidden("encoder", encoder, Activation::Relu),
        heads: Heads::Separate,
    };
    let mut linear = hidden("decoder", decoder, decoder_activation);
    linear.push(Linear::plain(format!("decoder.fc{}", decoder.len() + 1), images.values()));
    (encoder, DecoderTable { linear, grid: images, convolutions: Vec::new() })
}
