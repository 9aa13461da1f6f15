//! Fast, deterministic CPU kernels for variational autoencoders, as burn operations.
//!
//! A network calls [`conv2d`], [`conv_transpose2d`] and [`bernoulli_loss`] with burn tensors on any device and
//! differentiates through them as through burn's own operations. On the flex CPU device they run the kernels of this
//! crate; on any other device, burn's.

mod adam;
mod bernoulli;
mod geometry;
mod kernel;
mod math;
mod ops;
mod peak;
mod profile;
mod simd;

pub use adam::{AdamStep, adam_step};
pub use ops::{
    Activation, Conv2dOptions, bernoulli_loss, bernoulli_loss_reference, conv_transpose2d,
    conv_transpose2d_reference, conv2d, conv2d_reference,
};
pub use peak::measured_peak_gflops;
pub use profile::{LayerShape, LayerTimes};
pub use simd::{InstructionSet, UnavailableInstructionSet};
