//! How much memory a request may take: what files and configurations claim is compared with it before anything is
//! allocated.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// The environment variable that sets the limit, in bytes.
pub const LIMIT_VARIABLE: &str = "UNBRAID_MEMORY_LIMIT";

/// The limit where the system does not tell how much memory it has.
const UNKNOWN_MACHINE: u64 = 16 << 30;

static UNLIMITED: AtomicBool = AtomicBool::new(false);

/// Lifts the limit for the rest of this process, as `--allow-large` does.
pub fn lift_limit() {
    UNLIMITED.store(true, Ordering::Relaxed);
}

/// Whether that was done.
pub fn is_lifted() -> bool {
    UNLIMITED.load(Ordering::Relaxed)
}

/// The most that one request may take, in bytes: `$UNBRAID_MEMORY_LIMIT`, or three quarters of the memory of
/// this machine or of the control group that the process is confined to.
pub fn limit() -> u64 {
    static LIMIT: OnceLock<u64> = OnceLock::new();
    if is_lifted() {
        return u64::MAX;
    }
    *LIMIT.get_or_init(|| {
        let set = std::env::var(LIMIT_VARIABLE).ok().and_then(|text| text.trim().parse().ok());
        set.unwrap_or_else(|| of_this_machine().map_or(UNKNOWN_MACHINE, |bytes| bytes / 4 * 3))
    })
}

fn of_this_machine() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let machine = read("/proc/meminfo").as_deref().and_then(total_of);
    // Unless it is confined, this is the word `max`.
    let group = read("/sys/fs/cgroup/memory.max").and_then(|text| text.trim().parse().ok());
    machine.into_iter().chain(group).min()
}

/// `MemTotal:       16384 kB`
fn total_of(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// A need that is above the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// Bytes that are needed.
    pub needed: u64,
    /// Bytes that are allowed.
    pub limit: u64,
}

/// Compares a need with the limit.
///
/// # Errors
/// If it is above the limit.
pub fn check(needed: u64) -> Result<(), TooLarge> {
    let limit = limit();
    if needed <= limit { Ok(()) } else { Err(TooLarge { needed, limit }) }
}

/// Compressed data that becomes more than this...
pub(crate) const LARGEST_EXPANSION: u64 = 1 << 30;
/// ...may become so many times what it is. dSprites, mostly black, becomes 116 times as much.
const MOST_EXPANSION: u64 = 200;

/// What so many bytes of compressed data may become: those that pretend to be very much more are a bomb.
pub(crate) fn largest_expansion(compressed: u64) -> u64 {
    if is_lifted() { u64::MAX } else { LARGEST_EXPANSION.max(compressed.saturating_mul(MOST_EXPANSION)) }
}

/// A number of bytes, written as `512 bytes`, `1.5 MiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(bytes) = *self;
        let of = |shift: u32| bytes as f64 / f64::from(1_u32 << shift);
        match bytes {
            0..0x400 => write!(f, "{bytes} bytes"),
            0x400..0x10_0000 => write!(f, "{:.1} KiB", of(10)),
            0x10_0000..0x4000_0000 => write!(f, "{:.1} MiB", of(20)),
            _ => write!(f, "{:.1} GiB", of(30)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_found() {
        assert_eq!(total_of("MemTotal:       16314456 kB\nMemFree: 1 kB\n"), Some(16_314_456 * 1024));
        assert_eq!(total_of("MemFree: 1 kB\n"), None);
        assert_eq!(total_of("MemTotal: 99999999999999999999 kB"), None);
    }

    #[test]
    fn sizes_are_written_for_people() {
        let text = |bytes: u64| Bytes(bytes).to_string();
        assert_eq!(text(1023), "1023 bytes");
        assert_eq!(text(1536), "1.5 KiB");
        assert_eq!(text(64 << 20), "64.0 MiB");
        assert_eq!(text(5 << 29), "2.5 GiB");
        assert_eq!(text(u64::MAX), "17179869184.0 GiB");
    }
}
