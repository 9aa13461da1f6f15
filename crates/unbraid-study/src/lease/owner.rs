//! Who owns a lease, and whether that process is still there.

use serde::{Deserialize, Serialize};
use std::fs;
use unbraid::data::files::token;
use unbraid::run;

/// A process that owns a lease.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Owner {
    /// The name of its machine.
    pub host: String,
    /// Its process ID there.
    pub pid: u32,
    /// Where that ID means something: this boot of this machine, and its PID namespace. A container has a namespace of
    /// its own, often under the same host name. Empty where the system does not tell.
    #[serde(rename = "place")]
    pub namespace: String,
    /// No two leases have the same.
    pub token: String,
    /// Since when, in seconds since 1970 (UTC).
    pub since: f64,
}

impl Owner {
    /// This process, as the owner of a new lease.
    pub fn this_process() -> Self {
        Self {
            host: run::host(),
            pid: std::process::id(),
            namespace: namespace(),
            token: token(),
            since: run::now(),
        }
    }

    /// Whether it is known to have ended. That can only be said of processes of this machine.
    pub fn has_ended(&self) -> bool {
        !self.namespace.is_empty() && self.namespace == namespace() && !is_alive(self.pid)
    }
}

/// This boot and this PID namespace, as Linux names them.
fn namespace() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id");
    let namespace = fs::read_link("/proc/self/ns/pid");
    match (boot, namespace) {
        (Ok(boot), Ok(namespace)) => format!("{} {}", boot.trim(), namespace.display()),
        _ => String::new(),
    }
}

/// Whether a process of this machine is alive. A zombie is not.
fn is_alive(pid: u32) -> bool {
    // `17 (name, which may hold anything) S ...`: the state is after the last parenthesis.
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        let state = stat.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
        !matches!(state, Some('Z' | 'X'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_of_this_machine_is_known_to_have_ended_and_others_are_not() {
        let this = Owner::this_process();
        assert!(!this.has_ended());
        let mut child = Command::new("sleep").arg("600").stdout(Stdio::null()).spawn().unwrap();
        let other = Owner { pid: child.id(), ..this };
        assert!(!other.has_ended());
        child.kill().unwrap();
        // Killed, and not waited for: a zombie as soon as the system is done with it.
        while !other.has_ended() {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(other.has_ended());
        assert!(!Owner { namespace: "another boot".to_owned(), ..other.clone() }.has_ended());
        assert!(!Owner { namespace: String::new(), ..other }.has_ended());
    }
}
