//! What the tests can use beyond the Rust toolchain, installed where that is allowed: as root on a Debian.
//! Elsewhere the tests that want it say that they skip.

use std::env;
use std::fs;
use std::process::{Command, Stdio};

/// Something from Debian's packages.
struct Tool {
    name: &'static str,
    /// What is there where it is installed.
    programs: &'static [&'static str],
    /// What apt-get installs, and options for it.
    packages: &'static [&'static str],
}

const TOOLS: [Tool; 4] = [
    // The pages are tested in a real browser.
    Tool { name: "browser", programs: &["chromium"], packages: &["chromium"] },
    // Processes are killed at single system calls.
    Tool { name: "strace", programs: &["strace"], packages: &["strace"] },
    // The peak memory of processes is measured.
    Tool { name: "time", programs: &["time"], packages: &["time"] },
    // Studies are submitted to a real cluster: of this host alone, started and stopped by the test. Nothing here is
    // configured to start by itself.
    Tool {
        name: "slurm",
        programs: &["slurmctld", "slurmd", "sbatch", "munged"],
        packages: &["--no-install-recommends", "slurmctld", "slurmd", "slurm-client", "munge"],
    },
];

/// Installs what is missing, without questions. What cannot be installed is no failure.
pub(crate) fn missing_tools() {
    for tool in TOOLS {
        if !tool.programs.iter().all(|program| is_there(program)) && !installed(tool.name, tool.packages) {
            eprintln!("== {}: cannot be installed; its tests will skip", tool.name);
        }
    }
}

/// Where the drivers of Vulkan devices are listed.
const VULKAN_DRIVERS: [&str; 2] = ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"];

/// Installs a Vulkan device that computes on the CPU, Mesa's llvmpipe, if there is no Vulkan device.
pub(crate) fn vulkan_device() {
    let has_drivers = |folder: &str| fs::read_dir(folder).is_ok_and(|mut drivers| drivers.next().is_some());
    // macOS has devices without drivers of ours.
    if cfg!(target_os = "linux") && !VULKAN_DRIVERS.into_iter().any(has_drivers) {
        installed("vulkan", &["mesa-vulkan-drivers"]);
    }
}

/// Whether packages could be installed, which is allowed to root on a Debian only.
fn installed(name: &str, packages: &[&str]) -> bool {
    if !is_there("apt-get") || !is_root() {
        return false;
    }
    eprintln!("== {name}: apt-get install {}", packages.join(" "));
    // The lists of packages may be missing or old.
    install(packages) || (apt_get(&["update"]) && install(packages))
}

fn is_there(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    // Debian keeps daemons where not everybody looks for programs.
    env::split_paths(&path).chain(["/usr/sbin".into()]).any(|folder| folder.join(program).is_file())
}

fn is_root() -> bool {
    output("id", &["-u"]).is_some_and(|user| user.trim_ascii() == b"0")
}

fn install(packages: &[&str]) -> bool {
    apt_get(&[&["install", "--yes"], packages].concat())
}

fn apt_get(arguments: &[&str]) -> bool {
    // Somebody else may be installing something.
    let patient = [&["-o", "DPkg::Lock::Timeout=300"], arguments].concat();
    output("apt-get", &patient).is_some()
}

/// What a program prints; none if it is missing or fails.
fn output(program: &str, arguments: &[&str]) -> Option<Vec<u8>> {
    let mut command = Command::new(program);
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
    command.output().ok().filter(|output| output.status.success()).map(|output| output.stdout)
}
