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

/// A device: the CPU, or a GPU in builds with the cargo feature `cuda` or `wgpu`.
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

/// `cpu`, `cuda`, `cuda:1`, `wgpu`.
impl FromStr for Device {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let (kind, index) = name.split_once(':').map_or((name, None), |(kind, index)| (kind, Some(index)));
        let device = match (kind, index) {
            ("cpu", None) => TensorDevice::flex(),
            ("cuda", index) => cuda(name, index)?,
            ("wgpu", None) => wgpu(name)?,
            _ => {
                return Err(Error::argument(
                    "device",
                    format!("`{name}`"),
                    "`cpu`, `cuda`, `cuda:1` or `wgpu`",
                ));
            }
        };
        Ok(Self { name: name.to_owned(), device })
    }
}

#[cfg(feature = "cuda")]
fn cuda(name: &str, index: Option<&str>) -> Result<TensorDevice> {
    match index.map(str::parse::<usize>).transpose() {
        Ok(index) => Ok(TensorDevice::cuda(index.unwrap_or(0))),
        Err(_) => Err(Error::argument("device", format!("`{name}`"), "the number of a card after `cuda:`")),
    }
}

#[cfg(not(feature = "cuda"))]
fn cuda(name: &str, _: Option<&str>) -> Result<TensorDevice> {
    Err(missing(name, "cuda"))
}

#[cfg(feature = "wgpu")]
#[expect(clippy::unnecessary_wraps, reason = "without the feature it is an error")]
fn wgpu(_: &str) -> Result<TensorDevice> {
    Ok(TensorDevice::wgpu(burn::tensor::DeviceKind::DefaultDevice))
}

#[cfg(not(feature = "wgpu"))]
fn wgpu(name: &str) -> Result<TensorDevice> {
    Err(missing(name, "wgpu"))
}

#[cfg(not(all(feature = "cuda", feature = "wgpu")))]
fn missing(name: &str, feature: &str) -> Error {
    let expected = format!("`cpu`, since this build lacks `--features {feature}`");
    Error::argument("device", format!("`{name}`"), expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_devices_are_refused_by_name() {
        let message = |name: &str| name.parse::<Device>().unwrap_err().to_string();
        assert_eq!(message("tpu"), "device: found `tpu`, expected `cpu`, `cuda`, `cuda:1` or `wgpu`");
        assert_eq!(message("cpu:1"), "device: found `cpu:1`, expected `cpu`, `cuda`, `cuda:1` or `wgpu`");
        #[cfg(not(feature = "cuda"))]
        assert_eq!(
            message("cuda:1"),
            "device: found `cuda:1`, expected `cpu`, since this build lacks `--features cuda`"
        );
    }
}
