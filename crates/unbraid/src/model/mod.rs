//! Networks and distributions on tensors: what maps images to latent units and back. Depends on the configuration's
//! `[model]` table and on nothing else of this crate.
//!
//! Images are `[batch, height, width, channels]` inside the network. Weights have PyTorch's names and layouts, in memory
//! as on disk.

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
mod weights;

pub use architecture::Blueprint;
pub use batch_norm::BatchStatistics;
pub use categorical::{Categorical, gumbel};
pub use discriminator::Discriminator;
pub use inference::{Inference, Posteriors};
pub use latents::{Noise, NoiseSource, Posterior, Sample};
pub use layers::Pass;
pub use layout::{Layout, Unit, steps};
pub use likelihood::Likelihood;
pub use network::Network;
pub use parameter::NamedParameter;
pub(crate) use parameter::Parameter;
pub use posterior::DiagonalGaussian;
pub use weights::{StateTensor, Values, matched, read_state, write_state};
