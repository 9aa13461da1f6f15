//! A Slurm cluster of this host alone, with its own configuration, key, ports and directories, so that it
//! meets no other.
//!
//! Everything that belongs to it carries the path of its configuration in the environment. A keeper, which outlives the
//! test, ends all of that when the test drops the cluster, panics or is killed.

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Waits that end when something has happened last at most this long, however loaded the machine is.
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);

/// Slurm keeps a job that was requeued waiting for this many seconds. It is also the time that a job has to start.
const CREDENTIAL_SECONDS: u64 = 20;

/// A running cluster.
pub(crate) struct Cluster {
    directory: tempfile::TempDir,
    keeper: Child,
    daemons: Vec<Child>,
}

/// Reads until the test closes the pipe or is gone, then ends every process with the cluster's configuration in its
/// environment, until none is left, and removes the directory.
const KEEPER: &str = r#"
read -r _
again=1
while [ -n "$again" ]; do
  again=
  for process in /proc/[0-9]*; do
    if grep --quiet --null-data --fixed-strings --line-regexp "SLURM_CONF=$1/slurm.conf" "$process/environ" 2>/dev/null
    then kill -s KILL "${process#/proc/}" 2>/dev/null && again=1
    fi
  done
  sleep 0.1
done
rm -rf -- "$1"
"#;

impl Cluster {
    /// Starts one whose job arrays have at most `array_size` tasks, two at a time. None where Slurm is not installed.
    pub(crate) fn start(array_size: usize) -> Option<Self> {
        let programs =
            ["munged", "slurmctld", "slurmd", "sbatch", "scancel", "scontrol", "squeue", "setpriv"];
        if let Some(missing) = programs.into_iter().find(|program| find(program).is_none()) {
            crate::support::skip(&format!(
                "no {missing} in PATH; on Debian: apt-get install --no-install-recommends slurmctld slurmd slurm-client \
                 munge"
            ));
            return None;
        }
        let directory = tempfile::Builder::new().prefix("unbraid-slurm-").tempdir().unwrap();
        let keeper = Command::new("bash")
            .args(["-c", KEEPER, "keeper"])
            .arg(directory.path())
            // Ctrl-C goes to the test, whose end the keeper waits for.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut cluster = Self { directory, keeper, daemons: Vec::new() };
        // A port that is free now may be taken by somebody else before Slurm has it.
        for _ in 0..5 {
            if cluster.start_daemons(array_size) {
                return Some(cluster);
            }
            cluster.end_daemons();
        }
        panic!("Slurm does not start:\n{}", cluster.logs());
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// A command as a user of this cluster, and of no other, would start it.
    pub(crate) fn member(&self, mut command: Command) -> Command {
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("SLURM_") || text.starts_with("SBATCH_") || text.starts_with("SQUEUE_") {
                command.env_remove(name);
            }
        }
        command.env("SLURM_CONF", self.path().join("slurm.conf")).stdin(Stdio::null());
        command
    }

    /// Runs one of Slurm's programs and gives what it printed.
    pub(crate) fn slurm(&self, program: &str, arguments: &[&str]) -> Output {
        self.member(Command::new(find(program).unwrap())).args(arguments).output().unwrap()
    }

    /// Jobs that wait or run: a task of an array in each line, with its state.
    pub(crate) fn queue(&self) -> Vec<(String, String)> {
        let output = self.slurm("squeue", &["--noheader", "--array", "--format=%i %T"]);
        assert!(output.status.success(), "{}\n{}", String::from_utf8_lossy(&output.stderr), self.logs());
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines()
            .filter_map(|line| line.split_once(' '))
            .map(|(job, state)| (job.into(), state.into()))
            .collect()
    }

    /// What the daemons wrote, for the message of a test that fails.
    pub(crate) fn logs(&self) -> String {
        let text = |name: &str| {
            let text = fs::read_to_string(self.path().join(name)).unwrap_or_default();
            let start = text.len().saturating_sub(3000);
            format!("--- {name}\n{}\n", text.get(start..).unwrap_or(&text))
        };
        ["munged.out", "slurmctld.out", "slurmd.out"].map(text).concat()
    }

    fn start_daemons(&mut self, array_size: usize) -> bool {
        let path = self.path().to_owned();
        for folder in ["state", "spool"] {
            let _ = fs::remove_dir_all(path.join(folder));
            fs::create_dir(path.join(folder)).unwrap();
        }
        let key = path.join("munge.key");
        let mut secret = [0; 128];
        fs::File::open("/dev/urandom").unwrap().read_exact(&mut secret).unwrap();
        fs::write(&key, secret).unwrap();
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(path.join("slurm.conf"), configuration(&path, array_size)).unwrap();
        let place = |option: &str, name: &str| format!("--{option}={}", path.join(name).display());
        let options = [
            place("socket", "munge.socket"),
            place("key-file", "munge.key"),
            place("log-file", "munge.log"),
            place("pid-file", "munge.pid"),
            place("seed-file", "munge.seed"),
        ];
        self.daemon("munged", &[&["--foreground".to_owned(), "--force".to_owned()], &options[..]].concat());
        let socket = path.join("munge.socket");
        self.comes_up(|_| socket.exists())
            && {
                self.daemon("slurmctld", &["-D".to_owned()]);
                self.comes_up(|cluster| {
                    cluster.slurm("scontrol", &["ping"]).stdout.windows(5).any(|w| w == b"is UP")
                })
            }
            && {
                self.daemon("slurmd", &["-D".to_owned()]);
                self.comes_up(|cluster| {
                    cluster.slurm("sinfo", &["--noheader", "--format=%T"]).stdout == b"idle\n"
                })
            }
    }

    /// Starts a daemon in the foreground, as a child of ours that also ends with us.
    fn daemon(&mut self, program: &str, arguments: &[String]) {
        let log = fs::File::create(self.path().join(format!("{program}.out"))).unwrap();
        let daemon = self
            .member(Command::new(find("setpriv").unwrap()))
            .args(["--pdeathsig", "KILL"])
            .arg(find(program).unwrap())
            .args(arguments)
            // Not of the test's own group, so that Ctrl-C leaves the order of things to the keeper.
            .process_group(0)
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        self.daemons.push(daemon);
    }

    /// Waits until something holds; false if a daemon has ended before.
    fn comes_up(&mut self, holds: impl Fn(&Self) -> bool) -> bool {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if self.daemons.iter_mut().any(|daemon| daemon.try_wait().unwrap().is_some()) {
                return false;
            }
            if holds(self) {
                return true;
            }
            sleep(Duration::from_millis(100));
        }
        panic!("Slurm does not come up:\n{}", self.logs());
    }

    fn end_daemons(&mut self) {
        for mut daemon in self.daemons.drain(..) {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        // What the keeper ends are children of ours, which are gone once we have looked.
        let start = Instant::now();
        while start.elapsed() < PATIENCE && self.keeper.try_wait().is_ok_and(|ended| ended.is_none()) {
            self.daemons.retain_mut(|daemon| daemon.try_wait().is_ok_and(|ended| ended.is_none()));
            sleep(Duration::from_millis(20));
        }
        self.end_daemons();
    }
}

/// Debian keeps daemons where not everybody looks for programs.
fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    folders.map(|folder| folder.join(program)).find(|path| path.is_file())
}

fn configuration(path: &Path, array_size: usize) -> String {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let host = host.trim().split('.').next().unwrap();
    let user = Command::new("id").arg("-un").output().unwrap().stdout;
    let user = String::from_utf8(user).unwrap();
    let user = user.trim();
    // Held together, so that they differ.
    let ports = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let [controller, node] = ports.map(|port| port.local_addr().unwrap().port());
    let path = path.display();
    format!(
        "ClusterName=unbraid
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={path}/munge.socket,cred_expire={CREDENTIAL_SECONDS}
ProctrackType=proctrack/linuxproc
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MaxArraySize={array_size}
StateSaveLocation={path}/state
SlurmdSpoolDir={path}/spool
SlurmctldPidFile={path}/slurmctld.pid
SlurmdPidFile={path}/slurmd.pid
SchedulerParameters=sched_interval=2,bf_interval=2
SlurmdParameters=config_overrides
SlurmctldTimeout=600
SlurmdTimeout=600
MessageTimeout=60
KillWait=120
OverTimeLimit=10
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=1000 State=UNKNOWN
PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"
    )
}
