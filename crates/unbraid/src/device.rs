//! Where tensors live and are computed.

use crate::error::{Error, Result};
use burn::tensor::Device as TensorDevice;
use std::fmt;
use std::str::FromStr;

/// Checks the environment variables that choose CPU kernels, `UNBRAID_SIMD` and `UNBRAID_CONV`.
///
/// # Errors
/// [`Error::Environment`] if one of them has a value that this machine does not support.
pub fn check_environment() -> Result<()> {
    Ok(unbraid_kernels::check_environment()?)
}

/// Whether tensors on this device are in main memory, so that to look at them costs nothing. Of any other
/// device, it would wait for everything that the device has been asked to compute.
pub(crate) fn is_cpu(device: &TensorDevice) -> bool {
    device.clone().inner() == TensorDevice::flex()
}

/// A device: the CPU, or a GPU in builds with the cargo feature `cuda`, `wgpu`, `vulkan` or `metal`.
///
/// ```
/// use unbraid::Device;
///
/// assert_eq!(Device::default(), "cpu".parse()?);
/// # Ok::<(), unbraid::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Device {
    name: String,
    device: TensorDevice,
}

/// A kind of devices, as `--device` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// The processor, in every build.
    Cpu,
    /// NVIDIA's cards.
    Cuda,
    /// Any card, by the graphics interface that suits it.
    Wgpu,
    /// Any card with Vulkan, and nothing else.
    Vulkan,
    /// Apple's cards.
    Metal,
}

impl DeviceKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Cpu, Self::Cuda, Self::Wgpu, Self::Vulkan, Self::Metal];

    /// Its name, which is also that of its cargo feature.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Cuda => "cuda",
            Self::Wgpu => "wgpu",
            Self::Vulkan => "vulkan",
            Self::Metal => "metal",
        }
    }

    /// Whether this build has it.
    pub fn is_built(self) -> bool {
        match self {
            Self::Cpu => true,
            Self::Cuda => cfg!(feature = "cuda"),
            Self::Wgpu => cfg!(feature = "wgpu"),
            Self::Vulkan => cfg!(feature = "vulkan"),
            Self::Metal => cfg!(feature = "metal"),
        }
    }

    /// How many devices of this kind this machine has; none if this build lacks the kind.
    pub fn count(self) -> usize {
        self.devices().len()
    }

    /// The names by which the devices of this kind call themselves, in the order of their indices; empty
    /// where one has none.
    pub fn names(self) -> Vec<String> {
        self.devices().iter().map(own_name).collect()
    }

    /// The devices of this kind, in the order of their indices.
    #[allow(unreachable_patterns, reason = "the last arm has the kinds that this build lacks")]
    fn devices(self) -> Vec<TensorDevice> {
        match self {
            Self::Cpu => vec![TensorDevice::flex()],
            #[cfg(feature = "cuda")]
            Self::Cuda => found(burn::tensor::DeviceType::Cuda),
            #[cfg(feature = "wgpu")]
            Self::Wgpu => found(burn::tensor::DeviceType::Wgpu),
            #[cfg(feature = "vulkan")]
            Self::Vulkan => found(burn::tensor::DeviceType::Vulkan),
            #[cfg(feature = "metal")]
            Self::Metal => found(burn::tensor::DeviceType::Metal),
            #[cfg(not(all(feature = "cuda", feature = "wgpu", feature = "vulkan", feature = "metal")))]
            Self::Cuda | Self::Wgpu | Self::Vulkan | Self::Metal => Vec::new(),
        }
    }
}

/// A driver that is not there may be a panic of its library: then there are no devices.
#[cfg(any(feature = "cuda", feature = "wgpu", feature = "vulkan", feature = "metal"))]
fn found(kind: burn::tensor::DeviceType) -> Vec<TensorDevice> {
    std::panic::catch_unwind(|| TensorDevice::enumerate(kind).into_iter().collect()).unwrap_or_default()
}

#[cfg(any(feature = "cuda", feature = "wgpu", feature = "vulkan", feature = "metal"))]
fn own_name(device: &TensorDevice) -> String {
    use std::panic::AssertUnwindSafe;

    let identity = std::panic::catch_unwind(AssertUnwindSafe(|| device.identity())).ok().flatten();
    identity.map(|identity| identity.name).unwrap_or_default()
}

#[cfg(not(any(feature = "cuda", feature = "wgpu", feature = "vulkan", feature = "metal")))]
fn own_name(_: &TensorDevice) -> String {
    String::new()
}

impl Device {
    /// The CPU.
    pub fn cpu() -> Self {
        Self { name: "cpu".to_owned(), device: TensorDevice::flex() }
    }

    /// burn's name for it.
    pub fn tensor_device(&self) -> TensorDevice {
        self.device.clone()
    }
}

impl Default for Device {
    fn default() -> Self {
        Self::cpu()
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// What `--device` takes.
const EXPECTED: &str = "`cpu`, `cuda`, `wgpu`, `vulkan` or `metal`, or one of several cards, as in `cuda:1`";

/// `cpu`, `cuda`, `cuda:1`, `wgpu`, `vulkan`, `metal`.
impl FromStr for Device {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let refuse = |expected: String| Error::argument("device", format!("`{name}`"), expected);
        let (word, index) = name.split_once(':').map_or((name, None), |(word, index)| (word, Some(index)));
        let kind = DeviceKind::ALL.into_iter().find(|kind| kind.name() == word);
        let kind = kind.filter(|kind| *kind != DeviceKind::Cpu || index.is_none());
        let kind = kind.ok_or_else(|| refuse(EXPECTED.to_owned()))?;
        let number = match index.map(str::parse::<usize>).transpose() {
            Ok(number) => number.unwrap_or(0),
            Err(_) => return Err(refuse(format!("the number of a card after `{word}:`"))),
        };
        if !kind.is_built() {
            return Err(refuse(format!("`cpu`, since this build lacks `--features {word}`")));
        }
        let mut devices = kind.devices();
        if number >= devices.len() {
            let expected = match devices.len() {
                0 => format!("`cpu`, since this machine has no device for {word}"),
                1 => format!("`{word}:0`, the only device of this machine for {word}"),
                count => format!("`{word}:0` to `{word}:{}`, the devices of this machine", count - 1),
            };
            return Err(refuse(expected));
        }
        Ok(Self { name: name.to_owned(), device: devices.swap_remove(number) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_devices_are_refused_by_name() {
        let message = |name: &str| name.parse::<Device>().unwrap_err().to_string();
        for name in ["tpu", "cpu:1", "", ":0"] {
            assert_eq!(message(name), format!("device: found `{name}`, expected {EXPECTED}"));
        }
        for kind in ["cuda", "wgpu", "vulkan", "metal"] {
            let name = format!("{kind}:one");
            let expected = format!("the number of a card after `{kind}:`");
            assert_eq!(message(&name), format!("device: found `{name}`, expected {expected}"));
        }
        for kind in DeviceKind::ALL.into_iter().filter(|kind| !kind.is_built()) {
            let word = kind.name();
            for name in [word.to_owned(), format!("{word}:1")] {
                assert_eq!(
                    message(&name),
                    format!(
                        "device: found `{name}`, expected `cpu`, since this build lacks `--features {word}`"
                    )
                );
            }
            assert_eq!(kind.count(), 0);
        }
        assert_eq!(DeviceKind::Cpu.count(), 1);
    }
}
