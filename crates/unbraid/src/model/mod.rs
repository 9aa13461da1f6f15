//! Networks and distributions on tensors, which map images to latent units and back. Depends on the `[model]` table of
//! the configuration and nothing else in this crate.
//!
//! Images are `[batch, height, width, channels]` inside the network. Weights have PyTorch's names and layouts, both in
//! memory and on disk.

pub mod architecture;
mod batch_norm;
mod categorical;
mod discriminator;
mod inference;
mod initializer;
mod latents;
mod layers;
mod layout;
mod likelihood;
mod network;
mod parameter;
mod posterior;
pub mod principal_components;
mod upload;
mod weights;

pub use architecture::Blueprint;
pub use batch_norm::{BATCH_NORM_EPSILON, BatchStatistics};
pub use categorical::{Categorical, gumbel};
pub use discriminator::{ContrastNetwork, Discriminator, Trained};
pub use inference::{Inference, Posteriors};
#[cfg(feature = "onnx")]
pub(crate) use inference::{rows_of, share_out};
pub use latents::{Noise, NoiseSource, Posterior, Sample};
pub use layers::Pass;
pub use layout::{Layout, Unit, steps};
pub use likelihood::Likelihood;
pub use network::Network;
pub use parameter::NamedParameter;
pub(crate) use parameter::Parameter;
pub use posterior::{
    ContinuousPosterior, DiagonalGaussian, Draw, FlowPosterior, FullCovarianceGaussian, ImplicitPosterior,
    Marginals,
};
pub(crate) use upload::upload;
pub(crate) use weights::check_shapes;
pub use weights::{StateTensor, Values, matched, read_state, write_state};
