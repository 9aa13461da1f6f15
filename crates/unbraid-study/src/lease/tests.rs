use super::*;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Bench {
    _directory: tempfile::TempDir,
    leases: Leases,
}

impl Bench {
    fn new(timeout: Duration) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let leases = Leases { directory: directory.path().join("claims"), timeout };
        fs::create_dir(&leases.directory).unwrap();
        Self { _directory: directory, leases }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.leases.directory.join(name)
    }

    fn acquire(&self, name: &str) -> Option<Lease> {
        match self.leases.acquire(name).unwrap() {
            Attempt::Acquired(lease) => Some(lease),
            Attempt::AlreadyHeld => None,
        }
    }

    /// The lease of a machine that we know nothing of, whose last heartbeat was so many seconds ago.
    fn foreign(&self, name: &str, seconds: u64) {
        let namespace = "another boot".to_owned();
        let owner = Owner { host: "another".to_owned(), namespace, ..Owner::this_process() };
        self.write(name, &serde_json::to_vec(&owner).unwrap(), seconds);
    }

    fn write(&self, name: &str, bytes: &[u8], seconds: u64) {
        fs::write(self.path(name), bytes).unwrap();
        let file = File::options().write(true).open(self.path(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> =
            self.leases.files().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
        names.sort();
        names
    }
}

#[test]
fn a_lease_is_acquired_once_and_released() {
    let bench = Bench::new(TIMEOUT);
    let mut lease = bench.acquire("run").unwrap();
    assert!(bench.acquire("run").is_none());
    assert!(bench.acquire("other").is_some());
    let found = bench.leases.find("run").unwrap();
    assert_eq!(found.owner.unwrap().pid, std::process::id());
    assert!(!found.is_stale && matches!(lease.renew(), Renewal::Renewed));
    drop(lease);
    assert_eq!(bench.names(), [""; 0]);
    assert!(bench.acquire("run").is_some());
}

#[test]
fn fresh_leases_of_others_are_respected_and_stale_ones_are_not() {
    let bench = Bench::new(TIMEOUT);
    bench.foreign("fresh", 60);
    bench.foreign("stale", 150);
    bench.write("half", b"{\"host\": \"a", 60);
    bench.write("old-half", b"", 150);
    assert!(bench.acquire("fresh").is_none() && bench.acquire("half").is_none());
    assert!(bench.acquire("stale").is_some() && bench.acquire("old-half").is_some());
    assert_eq!(bench.names(), ["fresh", "half"]);
}

#[test]
fn a_lease_that_is_dated_far_ahead_is_stale() {
    let bench = Bench::new(TIMEOUT);
    for (name, seconds) in [("soon", 60), ("next-month", 30 * 86_400)] {
        bench.foreign(name, 0);
        let file = File::options().write(true).open(bench.path(name)).unwrap();
        file.set_modified(SystemTime::now() + Duration::from_secs(seconds)).unwrap();
    }
    assert!(bench.acquire("soon").is_none() && bench.acquire("next-month").is_some());
    bench.leases.remove_stale();
    assert_eq!(bench.names(), ["soon"]);
}

#[cfg(target_os = "linux")]
#[test]
fn the_lease_of_a_process_that_has_ended_is_stale_at_once() {
    let bench = Bench::new(TIMEOUT);
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    let owner = Owner { pid: child.id(), ..Owner::this_process() };
    bench.write("run", &serde_json::to_vec(&owner).unwrap(), 0);
    assert!(bench.acquire("run").is_some());
}

/// A study from a stranger may have anything in `claims/`; nobody waits for it.
#[cfg(unix)]
#[test]
fn a_lease_that_is_no_file_is_like_one_that_is_incomplete() {
    let bench = Bench::new(TIMEOUT);
    std::os::unix::fs::symlink("/dev/zero", bench.path("endless")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(bench.path("pipe")).status().unwrap().success());
    assert!(bench.acquire("pipe").is_none());
    assert_eq!(bench.leases.all().len(), 2);
    // The clock of a file system may stand still for some milliseconds.
    std::thread::sleep(Duration::from_millis(50));
    let soon = Bench { leases: Leases { timeout: Duration::ZERO, ..bench.leases.clone() }, ..bench };
    assert!(soon.acquire("pipe").is_some() && soon.acquire("endless").is_some());
    assert_eq!(soon.names(), [""; 0]);
}

#[test]
fn only_stale_leases_are_removed() {
    let bench = Bench::new(TIMEOUT);
    bench.foreign("fresh", 60);
    bench.foreign("stale", 150);
    bench.write(".run.0123.aside", b"", 150);
    bench.write(".run.4567.aside", b"", 0);
    bench.leases.remove_stale();
    assert_eq!(bench.names(), [".run.4567.aside", "fresh"]);
}

#[test]
fn a_lease_that_was_taken_over_is_lost_and_left_alone() {
    let bench = Bench::new(Duration::ZERO);
    let mut first = bench.acquire("run").unwrap();
    let second = loop {
        // Stale as soon as the clock has moved.
        if let Some(second) = bench.acquire("run") {
            break second;
        }
    };
    assert!(matches!(first.renew(), Renewal::Lost));
    drop(first);
    assert_eq!(fs::read(bench.path("run")).unwrap(), second.bytes);
}

#[test]
fn a_lease_that_somebody_removed_is_created_again() {
    let bench = Bench::new(TIMEOUT);
    let mut lease = bench.acquire("run").unwrap();
    fs::remove_file(bench.path("run")).unwrap();
    assert!(matches!(lease.renew(), Renewal::Renewed));
    assert!(bench.acquire("run").is_none());
    assert!(matches!(lease.renew(), Renewal::Renewed));
    fs::remove_dir_all(&bench.leases.directory).unwrap();
    match lease.renew() {
        Renewal::Failed(error) => {
            let expected = format!("{}: cannot write the lease", bench.path("run").display());
            assert_eq!(error.to_string(), expected);
        }
        other @ (Renewal::Renewed | Renewal::Lost) => panic!("{other:?}"),
    }
}

#[test]
fn a_lease_that_changed_since_it_was_judged_is_put_back() {
    let bench = Bench::new(TIMEOUT);
    bench.foreign("run", 150);
    let judged = bench.leases.find("run").unwrap();
    assert!(judged.is_stale);
    // Another is quicker.
    let winner = bench.acquire("run").unwrap();
    bench.leases.break_lease("run", &judged);
    assert_eq!(fs::read(bench.path("run")).unwrap(), winner.bytes);
    // An owner that sends heartbeats again.
    bench.foreign("revived", 150);
    let judged = bench.leases.find("revived").unwrap();
    File::options().write(true).open(bench.path("revived")).unwrap().set_modified(SystemTime::now()).unwrap();
    bench.leases.break_lease("revived", &judged);
    assert!(bench.acquire("revived").is_none());
    assert_eq!(bench.names(), ["revived", "run"]);
}

/// Many processes at once on a stale lease, a hundred times: each time one acquires it, and keeps it.
#[test]
fn of_many_takers_one_wins() {
    let bench = Bench::new(TIMEOUT);
    for round in 0..100 {
        let name = format!("run-{round}");
        bench.foreign(&name, 150);
        let (barrier, winners) = (Barrier::new(8), AtomicUsize::new(0));
        let leases: Vec<Option<Lease>> = std::thread::scope(|scope| {
            let takers: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        barrier.wait();
                        let lease = bench.acquire(&name);
                        winners.fetch_add(usize::from(lease.is_some()), Ordering::SeqCst);
                        lease
                    })
                })
                .collect();
            takers.into_iter().map(|taker| taker.join().unwrap()).collect()
        });
        let owned: Vec<Lease> = leases.into_iter().flatten().collect();
        // Whoever was put back too late has lost, and its next heartbeat says so.
        let renewed = owned.into_iter().filter_map(|mut lease| match lease.renew() {
            Renewal::Renewed => Some(lease),
            Renewal::Lost | Renewal::Failed(_) => None,
        });
        assert_eq!(renewed.count(), 1, "round {round}, {winners:?} winners at first");
    }
}

/// Other versions read these names.
#[test]
fn the_file_of_a_lease_is_what_it_always_was() {
    let bench = Bench::new(TIMEOUT);
    let lease = bench.acquire("run").unwrap();
    let value: serde_json::Value = serde_json::from_slice(&lease.bytes).unwrap();
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["host", "pid", "place", "since", "token"]);
}
