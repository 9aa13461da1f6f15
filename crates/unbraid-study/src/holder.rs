//! Who holds a claim, and whether they are still there.

use crate::run;
use serde::{Deserialize, Serialize};
use std::fs;
use std::hash::{BuildHasher, RandomState};

/// A process that holds a claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Holder {
    /// The name of its machine.
    pub host: String,
    /// Its number there.
    pub pid: u32,
    /// Where that number means something: this boot of this machine, and there, this set of processes. A container has
    /// a set of its own, often under the same name of the machine. Empty where the system does not tell.
    pub place: String,
    /// No two claims have the same.
    pub token: String,
    /// Since when, in seconds since 1970 (UTC).
    pub since: f64,
}

impl Holder {
    /// This process, as the holder of a new claim.
    pub fn this_process() -> Self {
        Self { host: run::host(), pid: std::process::id(), place: place(), token: token(), since: run::now() }
    }

    /// Whether it is known to have ended. That can only be said of processes of this machine.
    pub fn has_ended(&self) -> bool {
        !self.place.is_empty() && self.place == place() && !is_alive(self.pid)
    }
}

/// This boot and this set of processes, as Linux names them.
fn place() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id");
    let processes = fs::read_link("/proc/self/ns/pid");
    match (boot, processes) {
        (Ok(boot), Ok(processes)) => format!("{} {}", boot.trim(), processes.display()),
        _ => String::new(),
    }
}

/// Whether a process of this machine is alive. One that has ended, but whose parent has not noticed, is not.
fn is_alive(pid: u32) -> bool {
    // `17 (name, which may hold anything) S ...`: the state stands after the last parenthesis.
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        let state = stat.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
        !matches!(state, Some('Z' | 'X'))
    })
}

/// Sixteen hexadecimal digits that nobody else has: the keys of a hash map come from the system's random numbers.
pub(super) fn token() -> String {
    format!("{:016x}", RandomState::new().hash_one((std::process::id(), run::now().to_bits())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn tokens_differ() {
        let tokens: std::collections::BTreeSet<String> = (0..1000).map(|_| token()).collect();
        assert_eq!(tokens.len(), 1000);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_of_this_machine_is_known_to_have_ended_and_others_are_not() {
        let this = Holder::this_process();
        assert!(!this.has_ended());
        let mut child = Command::new("sleep").arg("600").stdout(Stdio::null()).spawn().unwrap();
        let other = Holder { pid: child.id(), ..this };
        assert!(!other.has_ended());
        child.kill().unwrap();
        // Killed, and not waited for: as soon as the system has done it, there is only the shell of a process.
        while !other.has_ended() {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(other.has_ended());
        assert!(!Holder { place: "another boot".to_owned(), ..other.clone() }.has_ended());
        assert!(!Holder { place: String::new(), ..other }.has_ended());
    }
}
