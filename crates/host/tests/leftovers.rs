//! The registry of runs: what is recorded is found after the run's end, and nothing else is touched.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use takt_host::leftovers::{Leftover, LeftoversError, Registry};

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
    // What a kill does: the lock goes, the record stays.
    drop((dead, _recorded));

    let cleaned = registry.clean().unwrap();
    assert!(cleaned.kept.is_empty(), "{cleaned:?}");
    assert_eq!(cleaned.alive, [("alive".to_owned(), std::process::id())]);
    assert_eq!(cleaned.removed.len(), 2, "{cleaned:?}");
    assert!(kept.lives() && !marked.lives() && !recorded.lives());

    let again = registry.clean().unwrap();
    assert!(again.removed.is_empty() && again.kept.is_empty(), "{again:?}");
}

/// What a foreign program leaves running for others inherits the mark and is no part of the run.
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

fn record_of(dir: &tempfile::TempDir) -> std::path::PathBuf {
    let is_record = |path: &std::path::PathBuf| path.extension().is_some_and(|e| e == "jsonl");
    fs::read_dir(dir.path()).unwrap().flatten().map(|entry| entry.path()).find(is_record).unwrap()
}
