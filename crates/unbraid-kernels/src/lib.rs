#![doc = include_str!("../README.md")]

mod adam;
mod awake;
mod bernoulli;
mod environment;
mod geometry;
mod kernel;
mod linear;
mod math;
#[cfg(feature = "mimalloc")]
mod memory;
mod ops;
mod peak;
mod profile;
mod simd;
mod transpose;

pub use adam::{AdamStep, adam_step};
pub use awake::with_threads_awake;
pub use environment::{EnvironmentError, check_environment};
pub use kernel::{ConvolutionAlgorithm, ConvolutionCost};
pub use linear::LinearActivation;
#[cfg(feature = "mimalloc")]
pub use memory::keep_freed_memory;
pub use ops::{
    AdamParameters, Conv2dLayer, Conv2dOptions, DenseLayer, RowFunction, bernoulli_loss, conv_transpose2d,
    conv_transpose2d_stack, conv2d, conv2d_stack, flatten_images, linear, unflatten_images,
};
pub use peak::measured_peak_gflops;
pub use profile::{AlgorithmTimes, DenseShape, DenseTimes, LayerShape, LayerTimes};
pub use simd::{InstructionSet, InstructionSetError};
