//! The networks of the papers, each as the table in its paper.
//!
//! A new architecture is one file here, one variant of [`ArchitectureConfig`] and one line in [`Blueprint::new`].

mod burgess;
mod conv;
mod cost;
mod dcgan;
mod memory;
mod mlp;

use super::Layout;
use crate::config::{ArchitectureConfig, ModelConfig, PosteriorConfig};
use crate::error::{Error, Result};
use unbraid_data::ImageShape;

/// A pair of networks as tables of layers, before any weight exists.
#[derive(Clone, Debug, PartialEq)]
pub struct Blueprint {
    /// The size of the images that go in and come out.
    pub image_shape: ImageShape,
    /// The latent units.
    pub layout: Layout,
    /// From images to the posterior.
    pub encoder: EncoderTable,
    /// From latent units to images.
    pub decoder: DecoderTable,
    /// The posterior of the continuous units.
    pub posterior: PosteriorConfig,
}

/// Convolutions, then fully connected layers, then the parameters of the posterior.
#[derive(Clone, Debug, PartialEq)]
pub struct EncoderTable {
    /// Applied to the image.
    pub convolutions: Vec<Convolution>,
    /// Applied to the result, flattened in the order channel, row, column, as in PyTorch.
    pub linear: Vec<Linear>,
    /// Mean and log-variance of the continuous units. Each categorical unit has a layer `encoder.categorical.<unit>` of
    /// its own for its logits.
    pub heads: Heads,
}

/// Fully connected layers, then transposed convolutions.
#[derive(Clone, Debug, PartialEq)]
pub struct DecoderTable {
    /// Applied to the latent units.
    pub linear: Vec<Linear>,
    /// The shape in which their output is read, in the order channel, row, column.
    pub grid: ImageShape,
    /// Applied to it.
    pub convolutions: Vec<Convolution>,
}

impl DecoderTable {
    /// Gives its last layer twice as many channels: for each value of an image, a mean and the logarithm of a scale.
    fn double_outputs(&mut self) {
        if let Some(last) = self.convolutions.last_mut() {
            last.channels *= 2;
        } else if let Some(last) = self.linear.last_mut() {
            last.width *= 2;
            self.grid.channels *= 2;
        }
    }
}

/// A convolution of the encoder or a transposed convolution of the decoder.
#[derive(Clone, Debug, PartialEq)]
pub struct Convolution {
    /// Its name in PyTorch, such as `encoder.conv1`.
    pub name: String,
    /// Number of output channels.
    pub channels: usize,
    /// Height and width of the kernel.
    pub kernel: [usize; 2],
    /// The stride in pixels.
    pub stride: usize,
    /// Padding of the finer image, in pixels.
    pub padding: usize,
    /// The name of the batch normalisation that follows; the convolution then has no bias, which normalisation would
    /// cancel.
    pub norm: Option<String>,
    /// The activation.
    pub activation: Activation,
}

impl Convolution {
    /// A 4x4 kernel with stride 2 that halves (or doubles) an image, followed by a ReLU: the most common layer.
    pub fn halving(name: impl Into<String>, channels: usize) -> Self {
        Self {
            name: name.into(),
            channels,
            kernel: [4, 4],
            stride: 2,
            padding: 1,
            norm: None,
            activation: Activation::Relu,
        }
    }

    /// The same with a 2x2 kernel.
    pub fn with_small_kernel(mut self) -> Self {
        (self.kernel, self.padding) = ([2, 2], 0);
        self
    }

    /// The same with another activation.
    pub fn with(mut self, activation: Activation) -> Self {
        self.activation = activation;
        self
    }

    /// The same with batch normalisation before the activation.
    pub fn with_norm(mut self, name: impl Into<String>) -> Self {
        self.norm = Some(name.into());
        self
    }
}

/// A fully connected layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    /// Its name in PyTorch, such as `encoder.fc1`.
    pub name: String,
    /// Number of outputs.
    pub width: usize,
    /// The activation.
    pub activation: Activation,
}

impl Linear {
    /// A layer without activation.
    pub fn plain(name: impl Into<String>, width: usize) -> Self {
        Self { name: name.into(), width, activation: Activation::None }
    }

    /// A layer with a ReLU.
    pub fn relu(name: impl Into<String>, width: usize) -> Self {
        Self { name: name.into(), width, activation: Activation::Relu }
    }
}

/// How the encoder outputs the parameters of the posterior.
#[derive(Clone, Debug, PartialEq)]
pub enum Heads {
    /// By two layers, `encoder.mean` and `encoder.log_variance`.
    Separate,
    /// By one layer of this name, with mean and log-variance of a unit interleaved, as in disentangling-vae.
    Interleaved(String),
}

/// The activation of a layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activation {
    /// The identity.
    None,
    /// `max(0, x)`
    Relu,
    /// `max(c x, x)` with this slope c below zero.
    LeakyRelu(f64),
    /// tanh
    Tanh,
}

impl Blueprint {
    /// The tables of an architecture for images of this size.
    ///
    /// # Errors
    /// If its strides do not divide the image; the message says which sizes fit.
    pub fn new(config: &ModelConfig, images: ImageShape) -> Result<Self> {
        let layout = Layout::new(&config.latents);
        let halvings = match &config.architecture {
            ArchitectureConfig::Mlp { .. } | ArchitectureConfig::Linear {} => 0,
            ArchitectureConfig::Dupont32 {} => 3,
            ArchitectureConfig::Burgess { .. } => burgess::depth(images),
            ArchitectureConfig::Conv {}
            | ArchitectureConfig::Dlib {}
            | ArchitectureConfig::Dupont64 {}
            | ArchitectureConfig::Mathieu {}
            | ArchitectureConfig::Dcgan {} => 4,
        };
        check_size(config.architecture.name(), images, halvings)?;
        let (encoder, mut decoder) = match &config.architecture {
            ArchitectureConfig::Conv {} | ArchitectureConfig::Dupont64 {} => conv::tables(images),
            ArchitectureConfig::Dlib {} => conv::dlib_tables(images),
            ArchitectureConfig::Dupont32 {} => conv::dupont_32_tables(images),
            ArchitectureConfig::Mathieu {} => conv::mathieu_tables(images),
            ArchitectureConfig::Burgess { channels, hidden } => burgess::tables(images, *channels, *hidden),
            ArchitectureConfig::Dcgan {} => dcgan::tables(images, layout.width()),
            ArchitectureConfig::Linear {} => mlp::tables(images, &[], &[], crate::config::Activation::Relu),
            ArchitectureConfig::Mlp { encoder, decoder, decoder_activation } => {
                mlp::tables(images, encoder, decoder, *decoder_activation)
            }
        };
        if config.likelihood.has_decoded_scale() {
            decoder.double_outputs();
        }
        Ok(Self { image_shape: images, layout, encoder, decoder, posterior: config.posterior.clone() })
    }
}

/// The size of an image after `halvings` layers of stride 2.
fn reduced(images: ImageShape, halvings: u32, channels: usize) -> ImageShape {
    ImageShape::new(images.height >> halvings, images.width >> halvings, channels)
}

fn check_size(architecture: &'static str, images: ImageShape, halvings: u32) -> Result {
    let step = 1 << halvings;
    if images.height.is_multiple_of(step) && images.width.is_multiple_of(step) && images.values() > 0 {
        return Ok(());
    }
    let nearest = |size: usize| size.div_ceil(step).max(1) * step;
    Err(Error::ImageSize {
        architecture,
        height: images.height,
        width: images.width,
        expected: format!(
            "a height and width that are multiples of {step}, such as {} x {}",
            nearest(images.height),
            nearest(images.width)
        ),
    })
}

#[cfg(test)]
mod tests {
    use crate::config::Source;
    use crate::model::Blueprint;
    use unbraid_data::ImageShape;

    fn blueprint(architecture: &str, images: ImageShape) -> Result<Blueprint, String> {
        let assignments = vec![format!("model.architecture={architecture}")];
        let config = Source { assignments, ..Source::default() }.resolve().unwrap();
        Blueprint::new(&config.model, images).map_err(|error| error.to_string())
    }

    /// What a configuration says of batch normalisation is what the tables have: a normalised layer with one pixel.
    #[test]
    fn images_that_are_normalised_at_one_pixel_are_known() {
        let mut found = Vec::new();
        for architecture in ["conv", "dlib", "dupont-64", "dupont-32", "mathieu", "dcgan", "burgess"] {
            for (height, width) in [(16, 16), (16, 32), (32, 16), (32, 32), (64, 64)] {
                let images = ImageShape::new(height, width, 1);
                let source = Source::default().set(format!("model.architecture={architecture}"));
                let model = source.resolve().unwrap().model;
                let Ok(blueprint) = Blueprint::new(&model, images) else { continue };
                // The lists of images begin with the input.
                let outputs = blueprint.encoder_images().into_iter().skip(1);
                let outputs = outputs.chain(blueprint.decoder_images().into_iter().skip(1));
                let layers = blueprint.encoder.convolutions.iter().chain(&blueprint.decoder.convolutions);
                let one_pixel = layers
                    .zip(outputs)
                    .any(|(layer, image)| layer.norm.is_some() && image.height * image.width == 1);
                assert_eq!(model.architecture.normalises_one_pixel(images), one_pixel, "{architecture}");
                found.extend(one_pixel.then_some((architecture, height, width)));
            }
        }
        assert_eq!(found, [("dcgan", 16, 16)]);
    }

    #[test]
    fn sizes_that_do_not_fit_are_refused_with_one_that_does() {
        for architecture in ["conv", "dlib", "dupont-64", "mathieu", "dcgan", "burgess"] {
            let error = blueprint(architecture, ImageShape::new(72, 100, 3)).unwrap_err();
            let expected = "a height and width that are multiples of 16, such as 80 x 112";
            assert_eq!(
                error,
                format!("model.architecture `{architecture}`: found images of 72 x 100, expected {expected}")
            );
        }
        let error = blueprint("dupont-32", ImageShape::new(28, 28, 1)).unwrap_err();
        assert_eq!(
            error,
            "model.architecture `dupont-32`: found images of 28 x 28, expected a height and width that are multiples of 8, \
             such as 32 x 32"
        );
        blueprint("{ name = \"mlp\", encoder = [3], decoder = [3] }", ImageShape::new(1, 2, 1)).unwrap();
    }
}
