//! Which instruction set the kernels use: the widest that the processor has, unless another one is forced.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

#[cfg(target_arch = "x86_64")]
use super::avx2::Avx2;
#[cfg(target_arch = "x86_64")]
use super::avx512::Avx512;
#[cfg(target_arch = "aarch64")]
use super::neon::Neon;
use super::scalar::Scalar;
use super::{Kernel, Simd};
use crate::environment::EnvironmentError;

/// A family of vector instructions that the kernels are compiled for.
///
/// ```
/// use unbraid_kernels::InstructionSet;
///
/// // The widest comes first, plain Rust last.
/// let sets: Vec<_> = InstructionSet::available().collect();
/// assert_eq!(sets.last(), Some(&InstructionSet::Scalar));
///
/// InstructionSet::force(Some(InstructionSet::Scalar))?;
/// assert_eq!(InstructionSet::current().to_string(), "scalar");
/// # Ok::<(), unbraid_kernels::InstructionSetError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InstructionSet {
    /// AVX-512 on x86-64: 16 floats per vector.
    Avx512,
    /// AVX2 with fused multiply-add on x86-64: 8 floats per vector.
    Avx2,
    /// NEON on 64-bit ARM: 4 floats per vector.
    Neon,
    /// Plain Rust, which runs on every processor.
    Scalar,
}

/// Why an instruction set cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InstructionSetError {
    /// No instruction set has this name.
    #[error("unknown instruction set \"{name}\", expected one of {}", list(InstructionSet::ALL))]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// This processor does not have the instructions.
    #[error("this processor does not support {set}, only {}", list(InstructionSet::available()))]
    Unavailable {
        /// What was asked for.
        set: InstructionSet,
    },
}

fn list(sets: impl IntoIterator<Item = InstructionSet>) -> String {
    sets.into_iter().map(InstructionSet::name).collect::<Vec<_>>().join(", ")
}

/// The environment variable that names the default.
const VARIABLE: &str = "UNBRAID_SIMD";

/// What [`InstructionSet::force`] chose: 0 for nothing, otherwise one more than the index in [`InstructionSet::ALL`].
static FORCED: AtomicU8 = AtomicU8::new(0);

impl InstructionSet {
    /// The widest first.
    const ALL: [Self; 4] = [Self::Avx512, Self::Avx2, Self::Neon, Self::Scalar];

    const fn name(self) -> &'static str {
        match self {
            Self::Avx512 => "avx512",
            Self::Avx2 => "avx2",
            Self::Neon => "neon",
            Self::Scalar => "scalar",
        }
    }

    fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => Avx512::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => Avx2::detect().is_some(),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx512 | Self::Avx2 => false,
            #[cfg(target_arch = "aarch64")]
            Self::Neon => Neon::detect().is_some(),
            #[cfg(not(target_arch = "aarch64"))]
            Self::Neon => false,
            Self::Scalar => true,
        }
    }

    /// The instruction sets of this processor, the widest first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|set| set.is_available())
    }

    /// The instruction set that the kernels use: the one that [`InstructionSet::force`] chose, otherwise the one that the
    /// environment variable `UNBRAID_SIMD` names (`avx512`, `avx2`, `neon` or `scalar`), otherwise the widest available.
    ///
    /// # Panics
    /// If `UNBRAID_SIMD` names no instruction set of this processor.
    pub fn current() -> Self {
        static DEFAULT: OnceLock<InstructionSet> = OnceLock::new();
        match FORCED.load(Ordering::Relaxed) {
            0 => *DEFAULT.get_or_init(|| Self::from_environment().unwrap_or_else(|error| panic!("{error}"))),
            number => Self::ALL[usize::from(number) - 1],
        }
    }

    /// Makes every kernel of this process use `choice` from now on; `None` returns to the default.
    ///
    /// # Errors
    /// [`InstructionSetError::Unavailable`] if this processor does not have it.
    pub fn force(choice: Option<Self>) -> Result<(), InstructionSetError> {
        let number = match choice.map(Self::checked).transpose()? {
            None => 0,
            Some(set) => 1 + Self::ALL.iter().take_while(|other| **other != set).count() as u8,
        };
        FORCED.store(number, Ordering::Relaxed);
        Ok(())
    }

    /// Runs `kernel` with these instructions, or as plain Rust if the processor does not have them.
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 if let Some(simd) = Avx512::detect() => simd.vectorize(kernel),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 if let Some(simd) = Avx2::detect() => simd.vectorize(kernel),
            #[cfg(target_arch = "aarch64")]
            Self::Neon if let Some(simd) = Neon::detect() => simd.vectorize(kernel),
            Self::Avx512 | Self::Avx2 | Self::Neon | Self::Scalar => Scalar.vectorize(kernel),
        }
    }

    /// The default: what the environment variable names, or the widest available.
    pub(crate) fn from_environment() -> Result<Self, EnvironmentError> {
        match std::env::var(VARIABLE) {
            Ok(name) if !name.is_empty() => {
                name.parse().and_then(Self::checked).map_err(|error: InstructionSetError| EnvironmentError {
                    variable: VARIABLE,
                    reason: error.to_string(),
                })
            }
            Ok(_) | Err(_) => Ok(Self::available().next().unwrap_or(Self::Scalar)),
        }
    }

    /// Itself, if this processor has it.
    fn checked(self) -> Result<Self, InstructionSetError> {
        if self.is_available() { Ok(self) } else { Err(InstructionSetError::Unavailable { set: self }) }
    }
}

impl FromStr for InstructionSet {
    type Err = InstructionSetError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|set| set.name().eq_ignore_ascii_case(name))
            .ok_or_else(|| InstructionSetError::Unknown { name: name.into() })
    }
}

impl fmt::Display for InstructionSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
