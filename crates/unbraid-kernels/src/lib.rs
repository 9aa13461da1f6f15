//! Fast, deterministic CPU kernels for variational autoencoders, as burn operations.
//!
//! A network calls [`conv2d`], [`conv_transpose2d`] and [`bernoulli_loss`] with burn tensors on any device and
//! differentiates through them as through burn's own operations. On the flex CPU device in single precision they run the
//! kernels of this crate, which are several times as fast as burn's; anywhere else they run burn's. All `unsafe` code of
//! the project is here.
//!
//! # Layout
//!
//! Images are NHWC, `[batch, height, width, channels]`: the channels of a pixel lie next to each other, and a row of a
//! window is one contiguous run of floats. Weights are in PyTorch's layout, `[out, in, kernel height, kernel width]` for a
//! convolution and `[in, out, kernel height, kernel width]` for a transposed one; they are reordered at each call, which
//! costs a per mille of the work.
//!
//! # How it works
//!
//! A convolution and a transposed convolution are one relation between a fine and a coarse image, read in opposite
//! directions. So three computations serve the forward and backward passes of both: *contract* (coarse from fine), *expand*
//! (fine from coarse) and the *weight gradient*; the table is in `geometry`. No patch matrix is ever built:
//!
//! * Contract copies a few images with their zero border into a buffer that stays in the cache. A register tile holds 12
//!   target pixels x 32 channels (AVX-512), runs along the window, and in each step broadcasts a float of each pixel's
//!   window against two vectors of weights. The bias is the tile's initial value, the ReLU happens at its store. The pixels
//!   of a tile may lie in different rows or images, so that tiles are always nearly full.
//! * Expand is the same loop, once per phase: target pixels whose coordinates agree modulo the stride see the same taps,
//!   and form an ordinary convolution with a kernel of size `kernel / stride`. Expanding to very few channels (the last
//!   layer of a decoder) multiplies each pixel with all taps first and then gathers.
//! * The weight gradient holds a tile of weights in registers and runs over all pixels of a few images.
//! * The backward pass of a layer reads each image once: it masks the gradient by the ReLU and sums it for the bias while
//!   copying it into the cache, and computes input and weight gradients from there.
//!
//! # Instruction sets
//!
//! Each kernel is written once against a small trait of vector operations and compiled for AVX-512, AVX2 with FMA, NEON
//! and plain Rust. The widest that the processor has is chosen at run time; [`InstructionSet::force`] or the environment
//! variable `UNBRAID_SIMD` (`avx512`, `avx2`, `neon`, `scalar`) chooses another.
//!
//! # Determinism
//!
//! Results are the same to the last bit for any number of threads. Every output pixel is summed by one thread in a fixed
//! order. Sums over the batch are taken over parts whose number depends on the shapes alone, and the parts are added in
//! their order. Different instruction sets do round differently.
//!
//! # Threads
//!
//! Work runs in the current rayon pool: `pool.install(|| ...)` decides how many threads.

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
