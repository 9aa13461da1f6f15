use super::*;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Bench {
    _directory: tempfile::TempDir,
    claims: Claims,
}

impl Bench {
    fn new(stale: Duration) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let claims = Claims { directory: directory.path().join("claims"), stale };
        fs::create_dir(&claims.directory).unwrap();
        Self { _directory: directory, claims }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.claims.directory.join(name)
    }

    fn ours(&self, name: &str) -> Option<Claim> {
        match self.claims.claim(name).unwrap() {
            Attempt::Ours(claim) => Some(claim),
            Attempt::Theirs => None,
        }
    }

    /// The claim of a machine that we know nothing of, whose heart beat so many seconds ago.
    fn foreign(&self, name: &str, seconds: u64) {
        let holder =
            Holder { host: "another".to_owned(), place: "another boot".to_owned(), ..Holder::this_process() };
        self.write(name, &serde_json::to_vec(&holder).unwrap(), seconds);
    }

    fn write(&self, name: &str, bytes: &[u8], seconds: u64) {
        fs::write(self.path(name), bytes).unwrap();
        let file = File::options().write(true).open(self.path(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> =
            self.claims.files().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
        names.sort();
        names
    }
}

#[test]
fn a_run_is_claimed_once_and_given_back() {
    let bench = Bench::new(STALE);
    let mut claim = bench.ours("run").unwrap();
    assert!(bench.ours("run").is_none());
    assert!(bench.ours("other").is_some());
    let found = bench.claims.find("run").unwrap();
    assert_eq!(found.holder.unwrap().pid, std::process::id());
    assert!(!found.is_stale && matches!(claim.beat(), Beat::Steady));
    drop(claim);
    assert_eq!(bench.names(), [""; 0]);
    assert!(bench.ours("run").is_some());
}

#[test]
fn fresh_claims_of_others_are_respected_and_stale_ones_are_not() {
    let bench = Bench::new(STALE);
    bench.foreign("fresh", 60);
    bench.foreign("stale", 150);
    bench.write("half", b"{\"host\": \"a", 60);
    bench.write("old-half", b"", 150);
    assert!(bench.ours("fresh").is_none() && bench.ours("half").is_none());
    assert!(bench.ours("stale").is_some() && bench.ours("old-half").is_some());
    assert_eq!(bench.names(), ["fresh", "half"]);
}

#[cfg(target_os = "linux")]
#[test]
fn the_claim_of_a_process_that_has_ended_is_anybodys_at_once() {
    let bench = Bench::new(STALE);
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    let holder = Holder { pid: child.id(), ..Holder::this_process() };
    bench.write("run", &serde_json::to_vec(&holder).unwrap(), 0);
    assert!(bench.ours("run").is_some());
}

#[test]
fn sweeping_removes_what_is_stale_and_nothing_else() {
    let bench = Bench::new(STALE);
    bench.foreign("fresh", 60);
    bench.foreign("stale", 150);
    bench.write(".run.0123.aside", b"", 150);
    bench.write(".run.4567.aside", b"", 0);
    bench.claims.sweep();
    assert_eq!(bench.names(), [".run.4567.aside", "fresh"]);
}

#[test]
fn a_claim_that_was_taken_over_is_lost_and_left_alone() {
    let bench = Bench::new(Duration::ZERO);
    let mut first = bench.ours("run").unwrap();
    let second = loop {
        // Stale as soon as the clock has moved.
        if let Some(second) = bench.ours("run") {
            break second;
        }
    };
    assert!(matches!(first.beat(), Beat::Lost));
    drop(first);
    assert_eq!(fs::read(bench.path("run")).unwrap(), second.bytes);
}

#[test]
fn a_claim_that_somebody_removed_is_made_again() {
    let bench = Bench::new(STALE);
    let mut claim = bench.ours("run").unwrap();
    fs::remove_file(bench.path("run")).unwrap();
    assert!(matches!(claim.beat(), Beat::Steady));
    assert!(bench.ours("run").is_none());
    assert!(matches!(claim.beat(), Beat::Steady));
    fs::remove_dir_all(&bench.claims.directory).unwrap();
    match claim.beat() {
        Beat::Weak(failure) => assert!(failure.to_string().contains("run: cannot write the claim")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_not_the_claim_that_was_judged_is_put_back() {
    let bench = Bench::new(STALE);
    bench.foreign("run", 150);
    let judged = bench.claims.find("run").unwrap();
    assert!(judged.is_stale);
    // Another is quicker.
    let winner = bench.ours("run").unwrap();
    bench.claims.take_away("run", &judged);
    assert_eq!(fs::read(bench.path("run")).unwrap(), winner.bytes);
    // A heart that begins to beat again.
    bench.foreign("revived", 150);
    let judged = bench.claims.find("revived").unwrap();
    File::options().write(true).open(bench.path("revived")).unwrap().set_modified(SystemTime::now()).unwrap();
    bench.claims.take_away("revived", &judged);
    assert!(bench.ours("revived").is_none());
    assert_eq!(bench.names(), ["revived", "run"]);
}

/// Many at once on a stale claim, a hundred times: each time one gets it, and keeps it.
#[test]
fn of_many_takers_one_wins() {
    let bench = Bench::new(STALE);
    for round in 0..100 {
        let name = format!("run-{round}");
        bench.foreign(&name, 150);
        let (barrier, winners) = (Barrier::new(8), AtomicUsize::new(0));
        let claims: Vec<Option<Claim>> = std::thread::scope(|scope| {
            let takers: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        barrier.wait();
                        let claim = bench.ours(&name);
                        winners.fetch_add(usize::from(claim.is_some()), Ordering::SeqCst);
                        claim
                    })
                })
                .collect();
            takers.into_iter().map(|taker| taker.join().unwrap()).collect()
        });
        let holders: Vec<Claim> = claims.into_iter().flatten().collect();
        // Whoever was put back too late has lost, and its next beat says so.
        let steady = holders.into_iter().filter_map(|mut claim| match claim.beat() {
            Beat::Steady => Some(claim),
            _ => None,
        });
        assert_eq!(steady.count(), 1, "round {round}, {winners:?} winners at first");
    }
}
