//! The environment variables that choose how kernels compute.

use crate::kernel::ConvolutionAlgorithm;
use crate::simd::InstructionSet;

/// An environment variable has a value that no kernel can be chosen by.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable}: {reason}")]
pub struct EnvironmentError {
    /// The name of the variable.
    pub variable: &'static str,
    /// What was found, and what was expected.
    pub reason: String,
}

/// Checks `UNBRAID_SIMD` and `UNBRAID_CONV`, so that a program can refuse them before the first kernel panics.
///
/// # Errors
/// If one of them has a value that it cannot have on this machine.
pub fn check_environment() -> Result<(), EnvironmentError> {
    InstructionSet::from_environment()?;
    ConvolutionAlgorithm::from_environment()?;
    Ok(())
}
