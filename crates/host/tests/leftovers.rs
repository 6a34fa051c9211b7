//! The registry of runs: what is recorded is found after the run's end, and nothing else is touched.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use takt_host::leftovers::{Leftover, LeftoversError, Registry};
use takt_host::testing::TestRun;

fn namespace(name: &str) -> Leftover {
    Leftover::NetworkNamespace { name: name.to_owned() }
}

fn registry() -> (tempfile::TempDir, Registry) {
    let dir = tempfile::tempdir().unwrap();
    let registry = Registry::at(dir.path());
    (dir, registry)
}

/// A process that does nothing for ten minutes; killed when dropped.
struct Sleeper(std::process::Child);

impl Sleeper {
    fn new(mark: Option<(&str, &str)>) -> Sleeper {
        let mut command = Command::new("sleep");
        command.arg("600").stdin(Stdio::null()).envs(mark);
        Sleeper(command.spawn().unwrap())
    }

    fn leftover(&self) -> Leftover {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap();
        let start_ticks = stat.rsplit(')').next().unwrap().split_whitespace().nth(19).unwrap().parse().unwrap();
        Leftover::Process { pid: self.0.id(), start_ticks }
    }

    fn program(&self) -> std::path::PathBuf {
        format!("/proc/{}/exe", self.0.id()).into()
    }

    fn lives(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_run_that_releases_everything_leaves_no_record() {
    let (dir, registry) = registry();
    let run = registry.begin("check").unwrap();
    let one = run.will_create(namespace(&run.name("host"))).unwrap();
    assert_eq!(registry.clean().unwrap().alive, [("check".to_owned(), std::process::id())]);
    one.released().unwrap();
    drop(run);
    let files: Vec<_> = fs::read_dir(dir.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(files, ["lock"]);
    let cleaned = registry.clean().unwrap();
    assert!(cleaned.alive.is_empty() && cleaned.removed.is_empty() && cleaned.kept.is_empty(), "{cleaned:?}");
}

#[test]
fn what_a_living_run_made_is_left_alone_and_what_a_dead_one_made_is_removed() {
    let (_dir, registry) = registry();
    let alive = registry.begin("alive").unwrap();
    let mut kept = Sleeper::new(Some(alive.mark()));
    let _kept = alive.will_create(kept.leftover()).unwrap();

    let dead = registry.begin("dead").unwrap();
    let mut marked = Sleeper::new(Some(dead.mark()));
    dead.starts(&marked.program()).unwrap();
    let mut recorded = Sleeper::new(None);
    let _recorded = dead.will_create(recorded.leftover()).unwrap();
    // A kill does this: the lock goes, the record stays.
    drop((dead, _recorded));

    let cleaned = registry.clean().unwrap();
    assert!(cleaned.kept.is_empty(), "{cleaned:?}");
    assert_eq!(cleaned.alive, [("alive".to_owned(), std::process::id())]);
    assert_eq!(cleaned.removed.len(), 2, "{cleaned:?}");
    assert!(kept.lives() && !marked.lives() && !recorded.lives());

    let again = registry.clean().unwrap();
    assert!(again.removed.is_empty() && again.kept.is_empty(), "{again:?}");
}

/// A process that a foreign program leaves running for others inherits the mark and is no part of the run.
#[test]
fn a_process_that_only_inherited_the_mark_is_listed_and_left_alone() {
    let (_dir, registry) = registry();
    let dead = registry.begin("dead").unwrap();
    let standing = dead.will_create(namespace("takt-0-none")).unwrap();
    let mut own = Sleeper::new(Some(dead.mark()));
    dead.starts(&own.program()).unwrap();
    let mut stranger = Sleeper(Command::new("cat").stdin(Stdio::piped()).envs([dead.mark()]).spawn().unwrap());
    drop((dead, standing));
    let cleaned = registry.clean().unwrap();
    assert!(!own.lives() && stranger.lives(), "{cleaned:?}");
    let listed = &cleaned.foreign_processes[..];
    assert!(matches!(listed, [(pid, program)] if *pid == stranger.0.id() && program.ends_with("cat")), "{cleaned:?}");
    assert!(cleaned.kept.is_empty() && cleaned.removed.len() == 1, "{cleaned:?}");
}

/// A killed run's child has the record's lock as long as it has not become its own program.
#[test]
fn a_lock_that_outlives_its_process_for_a_moment_does_not_make_a_run_alive() {
    let (dir, registry) = registry();
    // No process has this number, now or later.
    let killed = u32::MAX;
    let run = registry.begin("killed").unwrap();
    let mut recorded = Sleeper::new(None);
    let leftover = run.will_create(recorded.leftover()).unwrap();
    let record = record_of(&dir);
    let own = format!(r#""pid":{}}}"#, std::process::id());
    let forged = fs::read_to_string(&record).unwrap().replacen(&own, &format!(r#""pid":{killed}}}"#), 1);
    fs::write(&record, &forged).unwrap();
    let child = thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        drop((run, leftover));
    });
    let cleaned = registry.clean().unwrap();
    child.join().unwrap();
    assert!(forged.contains(&killed.to_string()) && cleaned.alive.is_empty(), "{cleaned:?}");
    assert!(cleaned.removed.len() == 1 && !recorded.lives(), "{cleaned:?}");
}

/// A namespace of that name as far as a listing of them goes.
struct Named(std::path::PathBuf);

impl Drop for Named {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.0));
    }
}

#[test]
fn a_namespace_of_such_a_name_that_no_record_names_is_left_alone_and_reported() {
    let mut ended = Command::new("true").spawn().unwrap();
    let name = format!("takt-{}-mine", ended.id());
    ended.wait().unwrap();
    let named = Named(std::path::Path::new("/run/netns").join(&name));
    if fs::create_dir_all("/run/netns").and_then(|()| fs::write(&named.0, "")).is_err() {
        return takt_testing::skip("names of network namespaces are root's   (run as root)");
    }
    let (_dir, registry) = registry();
    let cleaned = registry.clean().unwrap();
    assert!(named.0.exists() && cleaned.unclaimed.contains(&name), "{cleaned:?}");
    assert!(cleaned.removed.is_empty() && cleaned.kept.is_empty(), "{cleaned:?}");
}

#[test]
fn a_process_number_that_was_given_to_another_is_not_killed() {
    let (_dir, registry) = registry();
    let mut stranger = Sleeper::new(None);
    let Leftover::Process { pid, start_ticks } = stranger.leftover() else { unreachable!() };
    let run = registry.begin("dead").unwrap();
    let wrong = run.will_create(Leftover::Process { pid, start_ticks: start_ticks + 1 }).unwrap();
    drop((run, wrong));
    let cleaned = registry.clean().unwrap();
    assert!(cleaned.alive.is_empty(), "the run is dead: {cleaned:?}");
    assert!(cleaned.removed.is_empty() && cleaned.kept.is_empty(), "{cleaned:?}");
    assert!(stranger.lives());
}

#[test]
fn a_name_others_may_use_is_refused_before_and_after() {
    let (dir, registry) = registry();
    let run = registry.begin("check").unwrap();
    assert!(matches!(run.will_create(namespace("production")), Err(LeftoversError::Name { .. })));
    let good = run.will_create(namespace("takt-0-x")).unwrap();
    drop((run, good));
    let record = record_of(&dir);
    let forged = fs::read_to_string(&record).unwrap().replace("takt-0-x", "../../etc/passwd");
    fs::write(&record, forged).unwrap();
    let cleaned = registry.clean().unwrap();
    assert!(matches!(&cleaned.kept[..], [LeftoversError::Name { name }] if name == "../../etc/passwd"), "{cleaned:?}");
    assert!(record.exists(), "what was not dealt with stays recorded");
}

#[test]
fn a_record_that_is_no_record_is_named_with_its_line_and_kept() {
    let (dir, registry) = registry();
    let run = registry.begin("check").unwrap();
    let good = run.will_create(namespace("takt-0-x")).unwrap();
    drop((run, good));
    let record = record_of(&dir);
    fs::OpenOptions::new().append(true).open(&record).unwrap().write_all(b"something else\n").unwrap();
    let cleaned = registry.clean().unwrap();
    assert!(matches!(&cleaned.kept[..], [LeftoversError::Corrupt { line: 3, .. }]), "{cleaned:?}");
    assert!(record.exists());
}

#[test]
fn a_record_cut_at_any_byte_is_understood() {
    let (dir, registry) = registry();
    let run = registry.begin("check").unwrap();
    // Neither is there, so removing them finds nothing and changes nothing.
    let one = run.will_create(namespace("takt-0-one")).unwrap();
    let two = run.will_create(namespace("takt-0-two")).unwrap();
    two.released().unwrap();
    drop((run, one));
    let record = record_of(&dir);
    let whole = fs::read(&record).unwrap();
    fs::remove_file(&record).unwrap();
    // All in one folder: each cleaning looks at every process of the machine.
    let cut_at = |length: usize| dir.path().join(format!("run-1-{length}.jsonl"));
    for length in 0..=whole.len() {
        fs::write(cut_at(length), &whole[..length]).unwrap();
    }
    let cleaned = registry.clean().unwrap();
    assert!(cleaned.kept.is_empty() && cleaned.alive.is_empty() && cleaned.removed.is_empty(), "{cleaned:?}");
    for length in 0..=whole.len() {
        assert!(!cut_at(length).exists(), "cut at {length}");
    }
}

proptest! {
    #[test]
    fn a_hostile_record_never_panics_and_removes_nothing(bytes in proptest::collection::vec(any::<u8>(), 1..400)) {
        let dir = tempfile::tempdir().unwrap();
        let record = dir.path().join("run-1-0.jsonl");
        fs::write(&record, &bytes).unwrap();
        let cleaned = Registry::at(dir.path()).clean().unwrap();
        prop_assert!(cleaned.removed.is_empty());
        prop_assert!(record.exists() || !bytes.contains(&b'\n'), "only a first line that was never finished is dropped");
    }
}

/// Set for the test that is going to be killed; its value is the registry's folder.
const VICTIM: &str = "TAKT_TEST_LEFTOVERS_VICTIM";

/// As a victim this makes what tests make, says so and waits to be killed; in the suite it makes it and takes it away.
#[test]
fn what_a_test_makes_is_gone_with_it() {
    let make = |registry: &Registry| {
        let mut test = TestRun::at(registry);
        let mut child = Command::new("sleep");
        test.mark(child.arg("600").stdin(Stdio::null()), &sleep());
        let child = Sleeper(child.spawn().unwrap());
        let namespace = rustix::process::geteuid().is_root().then(|| test.namespace("test-victim"));
        (test, child, namespace)
    };
    if let Ok(dir) = std::env::var(VICTIM) {
        let (_test, child, _) = make(&Registry::at(dir));
        std::io::stdout().write_all(format!("made {}\n", child.0.id()).as_bytes()).unwrap();
        thread::sleep(Duration::from_secs(600));
        return;
    }
    let (dir, registry) = registry();
    let (test, child, namespace) = make(&registry);
    drop((test, child));
    assert!(namespace.is_none_or(|name| !netns(&name).exists()));
    let cleaned = registry.clean().unwrap();
    assert!(cleaned.removed.is_empty() && cleaned.alive.is_empty(), "{cleaned:?}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "the lock alone");
}

#[test]
fn what_a_killed_test_left_is_marked_and_cleaned_up() {
    let (dir, registry) = registry();
    let mut victim = Command::new(std::env::current_exe().unwrap());
    victim.args(["--exact", "what_a_test_makes_is_gone_with_it", "--nocapture"]).env(VICTIM, dir.path());
    let mut victim = Sleeper(victim.stdout(Stdio::piped()).spawn().unwrap());
    let output = std::io::BufReader::new(victim.0.stdout.take().unwrap());
    let mut lines = std::io::BufRead::lines(output).map_while(Result::ok);
    let child =
        lines.find_map(|line| line.rsplit_once("made ").and_then(|(_, pid)| pid.trim().parse::<u32>().ok())).unwrap();
    let namespace = netns(&format!("takt-{}-test-victim", victim.0.id()));
    let is_root = rustix::process::geteuid().is_root();
    assert_eq!(registry.clean().unwrap().alive.len(), 1, "a test that lives is left alone");
    assert_eq!(namespace.exists(), is_root);
    drop(victim);
    let cleaned = registry.clean().unwrap();
    assert!(cleaned.kept.is_empty() && cleaned.removed.len() == 1 + usize::from(is_root), "{cleaned:?}");
    let ended = |removed: &takt_host::cleaning::Removed| matches!(removed.leftover, Leftover::Process { pid, .. } if pid == child);
    assert!(cleaned.removed.iter().any(ended) && !namespace.exists(), "{cleaned:?}");
}

fn netns(name: &str) -> std::path::PathBuf {
    std::path::Path::new("/run/netns").join(name)
}

/// The program of that name.
fn sleep() -> std::path::PathBuf {
    let folders = ["/bin", "/usr/bin"].map(std::path::Path::new);
    folders.into_iter().map(|folder| folder.join("sleep")).find(|file| file.exists()).expect("every machine has it")
}

/// A record that would have `clean` end a process, as anybody can write one: both numbers are in /proc for everybody to see.
fn forged(victim: &Sleeper) -> String {
    let leftover = serde_json::to_value(victim.leftover()).unwrap();
    format!(
        "{{\"takt_run\":{{\"version\":1,\"id\":\"1-2\",\"what\":\"check\",\"pid\":{}}}}}\n{}\n",
        u32::MAX,
        serde_json::json!({ "creates": { "number": 0, "leftover": leftover } })
    )
}

const RECORD: &str = "run-1-0.jsonl";

/// The folder is /tmp/takt-UID without `XDG_RUNTIME_DIR`, and whoever comes first makes it.
#[test]
fn a_folder_of_records_that_another_made_or_may_write_is_refused_and_its_records_do_nothing() {
    let (dir, registry) = registry();
    let mut victim = Sleeper::new(None);
    fs::write(dir.path().join(RECORD), forged(&victim)).unwrap();
    let refuse = || {
        let errors = [
            registry.clean().map(drop).unwrap_err(),
            registry.owners(|_| true).map(drop).unwrap_err(),
            registry.begin("check").map(drop).unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(error, LeftoversError::Untrusted(_)), "{error}");
        }
    };
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
    refuse();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
    match chown(dir.path(), Some(65534), None) {
        Ok(()) => refuse(),
        Err(_) => takt_testing::skip("a folder of another user   (run the tests as root)"),
    }
    assert!(victim.lives());
    let names: Vec<_> = fs::read_dir(dir.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(names, [RECORD], "not even a lock is made there");
}

#[test]
fn a_link_in_place_of_the_folder_of_records_is_refused() {
    let (dir, _registry) = registry();
    let mut victim = Sleeper::new(None);
    fs::write(dir.path().join(RECORD), forged(&victim)).unwrap();
    let place = tempfile::tempdir().unwrap();
    let link = place.path().join("takt-1000");
    symlink(dir.path(), &link).unwrap();
    let error = Registry::at(&link).clean().unwrap_err();
    assert!(error.to_string().contains("a symbolic link"), "{error}");
    assert!(victim.lives());
}

/// A record that is no regular file of one's own is reported and neither waited for nor believed; the others are dealt with.
#[test]
fn what_lies_in_place_of_a_record_or_of_the_lock_is_left_alone() {
    let (dir, registry) = registry();
    let mut victim = Sleeper::new(None);
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join(RECORD), forged(&victim)).unwrap();
    symlink(place.path().join(RECORD), dir.path().join(RECORD)).unwrap();
    let made = Command::new("mkfifo").arg(dir.path().join("run-2-0.jsonl")).status().unwrap();
    assert!(made.success());
    fs::write(dir.path().join("run-3-0.jsonl"), forged(&victim)).unwrap();
    fs::set_permissions(dir.path().join("run-3-0.jsonl"), fs::Permissions::from_mode(0o666)).unwrap();

    let cleaned = registry.clean().unwrap();
    let why: Vec<String> = cleaned.kept.iter().map(ToString::to_string).collect();
    assert!(why.len() == 3 && why[0].contains("symbolic link") && why[1].contains("FIFO"), "{why:?}");
    assert!(why[2].contains("everybody may write"), "{why:?}");
    assert!(victim.lives() && cleaned.removed.is_empty() && place.path().join(RECORD).exists(), "{cleaned:?}");

    fs::remove_file(dir.path().join("lock")).unwrap();
    symlink(place.path().join("made"), dir.path().join("lock")).unwrap();
    assert!(registry.clean().is_err() && registry.begin("check").is_err());
    assert!(!place.path().join("made").exists());
}

/// An older takt gave its folder and records the same names and forms.
#[test]
fn a_record_of_an_older_takt_is_cleaned_up() {
    let (dir, registry) = registry();
    let mut left = Sleeper::new(None);
    fs::write(dir.path().join(RECORD), forged(&left)).unwrap();
    let cleaned = registry.clean().unwrap();
    assert!(cleaned.removed.len() == 1 && !left.lives() && !dir.path().join(RECORD).exists(), "{cleaned:?}");
}

#[test]
fn a_process_that_does_not_end_in_time_takes_patience_and_no_more_rights() {
    let late = LeftoversError::Process { pid: 7, source: std::io::ErrorKind::TimedOut.into() };
    assert!(late.fix().contains("ps -o stat,wchan= -p 7") && !late.fix().contains("sudo"), "{}", late.fix());
    let other = LeftoversError::Process { pid: 7, source: std::io::ErrorKind::PermissionDenied.into() };
    assert_eq!(other.fix().contains("sudo"), !rustix::process::geteuid().is_root(), "root needs no sudo");
}

fn record_of(dir: &tempfile::TempDir) -> std::path::PathBuf {
    let is_record = |path: &std::path::PathBuf| path.extension().is_some_and(|e| e == "jsonl");
    fs::read_dir(dir.path()).unwrap().flatten().map(|entry| entry.path()).find(is_record).unwrap()
}

#[test]
fn a_socket_of_a_killed_process_is_removed_and_that_of_a_live_one_stays() {
    let (dir, registry) = registry();
    let live = dir.path().join("live");
    fs::create_dir(&live).unwrap();
    fs::set_permissions(&live, fs::Permissions::from_mode(0o700)).unwrap();
    // Nobody listens any more, as after a kill.
    drop(std::os::unix::net::UnixListener::bind(live.join("1-rate.sock")).unwrap());
    let _alive = std::os::unix::net::UnixListener::bind(live.join("2-rate.sock")).unwrap();
    let cleaned = registry.clean().unwrap();
    let removed: Vec<_> = cleaned.removed.into_iter().map(|removed| removed.leftover).collect();
    assert_eq!(removed, [Leftover::Socket { name: "1-rate.sock".to_owned() }]);
    assert!(cleaned.kept.is_empty() && live.join("2-rate.sock").exists());
    assert!(registry.clean().unwrap().removed.is_empty(), "nothing is left");
}
