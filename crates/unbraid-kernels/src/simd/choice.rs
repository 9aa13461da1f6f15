//! Which instruction set to use: the best that the processor has, unless somebody asked for another.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use super::{Kernel, Simd, scalar};

/// A family of vector instructions that the kernels can be compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InstructionSet {
    /// Sixteen floats at a time, x86-64.
    Avx512,
    /// Eight floats at a time with fused multiply-add, x86-64.
    Avx2,
    /// Four floats at a time, 64-bit ARM.
    Neon,
    /// What the compiler makes of plain loops; runs everywhere.
    Scalar,
}

/// The environment variable that overrides the choice: `avx512`, `avx2`, `neon` or `scalar`.
const VARIABLE: &str = "UNBRAID_SIMD";

/// What [`InstructionSet::force`] asked for; 0 is nothing, otherwise one more than the place in [`InstructionSet::ALL`].
static FORCED: AtomicU8 = AtomicU8::new(0);

impl InstructionSet {
    /// Every instruction set, the widest first.
    pub const ALL: [Self; 4] = [Self::Avx512, Self::Avx2, Self::Neon, Self::Scalar];

    /// The name that `UNBRAID_SIMD` takes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Avx512 => "avx512",
            Self::Avx2 => "avx2",
            Self::Neon => "neon",
            Self::Scalar => "scalar",
        }
    }

    /// Whether this processor has it.
    pub fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => super::avx512::Avx512::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => super::avx2::Avx2::detect().is_some(),
            #[cfg(target_arch = "aarch64")]
            Self::Neon => super::neon::Neon::detect().is_some(),
            Self::Scalar => true,
            #[allow(unreachable_patterns, reason = "what is left over depends on the architecture")]
            _ => false,
        }
    }

    /// Those that this processor has, the widest first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|set| set.is_available())
    }

    /// The one that kernels use now: forced by [`InstructionSet::force`], else by the variable `UNBRAID_SIMD`, else the
    /// widest of the processor.
    ///
    /// # Panics
    /// If `UNBRAID_SIMD` names no instruction set of this processor.
    pub fn current() -> Self {
        static DEFAULT: OnceLock<InstructionSet> = OnceLock::new();
        match FORCED.load(Ordering::Relaxed) {
            0 => *DEFAULT.get_or_init(Self::from_environment),
            place => Self::ALL[usize::from(place) - 1],
        }
    }

    /// Makes every kernel of the process use `choice` from now on; `None` returns to the default.
    ///
    /// # Errors
    /// If this processor does not have it.
    pub fn force(choice: Option<Self>) -> Result<(), UnavailableInstructionSet> {
        let place = match choice {
            None => 0,
            Some(set) if !set.is_available() => return Err(UnavailableInstructionSet(set.name().into())),
            Some(set) => 1 + Self::ALL.iter().take_while(|other| **other != set).count() as u8,
        };
        FORCED.store(place, Ordering::Relaxed);
        Ok(())
    }

    /// Runs `kernel` with these instructions, or plain code if the processor does not have them.
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 if let Some(simd) = super::avx512::Avx512::detect() => simd.vectorize(kernel),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 if let Some(simd) = super::avx2::Avx2::detect() => simd.vectorize(kernel),
            #[cfg(target_arch = "aarch64")]
            Self::Neon if let Some(simd) = super::neon::Neon::detect() => simd.vectorize(kernel),
            _ => scalar::Scalar.vectorize(kernel),
        }
    }

    fn from_environment() -> Self {
        match std::env::var(VARIABLE) {
            Ok(name) if !name.is_empty() => match name.parse::<Self>() {
                Ok(set) if set.is_available() => set,
                _ => panic!("{VARIABLE}: {}", UnavailableInstructionSet(name)),
            },
            _ => Self::available().next().unwrap_or(Self::Scalar),
        }
    }
}

impl FromStr for InstructionSet {
    type Err = UnavailableInstructionSet;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|set| set.name().eq_ignore_ascii_case(name))
            .ok_or_else(|| UnavailableInstructionSet(name.into()))
    }
}

impl fmt::Display for InstructionSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// An instruction set was asked for that does not exist, or that this processor does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnavailableInstructionSet(String);

impl fmt::Display for UnavailableInstructionSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "this processor has no instruction set \"{}\"; it has", self.0)?;
        InstructionSet::available().try_for_each(|set| write!(formatter, " {set}"))
    }
}

impl std::error::Error for UnavailableInstructionSet {}
