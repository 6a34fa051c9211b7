//! The order of rounds and the undoing of changes, on a recorded host with a slow clock source.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::journal::{self, Scope};
use crate::{Fixer, Setting};

use super::*;

const CURRENT: &str = "sys/devices/system/clocksource/clocksource0/current_clocksource";

struct World(tempfile::TempDir);

impl World {
    fn new() -> World {
        let world = World(tempfile::tempdir().unwrap());
        world.put("proc/sys/kernel/osrelease", "6.18.0\n");
        world.put(CURRENT, "hpet\n");
        world.put("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet\n");
        world.put("proc/sys/net/core/busy_read", "0\n");
        world
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    fn put(&self, file: &str, text: &str) {
        fs::create_dir_all(self.path(file).parent().unwrap()).unwrap();
        fs::write(self.path(file), text).unwrap();
    }

    fn source(&self) -> String {
        fs::read_to_string(self.path(CURRENT)).unwrap().trim().to_owned()
    }

    fn standing(&self) -> usize {
        journal::read(&Host::this(), &self.path("state")).unwrap().standing.len()
    }

    fn prove(
        &self,
        rule: &str,
        pairs: u32,
        progress: &mut dyn FnMut(Progress),
        keep: bool,
        stop: &Stop,
    ) -> Result<ProveOutcome, ProveError> {
        self.prove_by(&mut probes::measure, rule, pairs, progress, keep, stop)
    }

    fn prove_by(
        &self,
        probe: Probe<'_>,
        rule: &str,
        pairs: u32,
        progress: &mut dyn FnMut(Progress),
        keep: bool,
        stop: &Stop,
    ) -> Result<ProveOutcome, ProveError> {
        let host = Host::at(self.0.path());
        let claim = Claim {
            host: &host,
            state: &self.path("state"),
            rule: crate::rule(rule).unwrap(),
            options: ProveOptions { pairs, round: Duration::from_millis(1) },
            // It waits for the end of its pipe, as the guard does.
            guard: &|_| Guard::start(Command::new("cat")),
        };
        super::prove_by(probe, &claim, progress, &mut |_| keep, stop)
    }
}

#[test]
fn rounds_alternate_so_that_drift_hits_both_alike_and_nothing_stays() {
    let world = World::new();
    let mut order = String::new();
    let mut observed = |progress: Progress| order.push(if progress.with { 'B' } else { 'A' });
    let outcome = world.prove("clock-source", 4, &mut observed, false, &Stop::new()).unwrap();
    assert_eq!(order, "ABBAABBA");
    assert_eq!((outcome.pairs.len(), outcome.kept, outcome.stopped), (4, false, false));
    assert!(outcome.pairs.iter().all(|pair| pair.with > 0.0 && pair.without > 0.0), "{:?}", outcome.pairs);
    assert_eq!((world.source().as_str(), world.standing()), ("hpet", 0));
}

#[test]
fn the_setting_is_changed_in_rounds_with_it_only() {
    let world = World::new();
    let mut wrong = Vec::new();
    // Read before a round: the source is then the one of the round before.
    let mut before = String::from("hpet");
    let mut observed = |progress: Progress| {
        if world.source() != before {
            wrong.push(progress);
        }
        before = if progress.with { "tsc" } else { "hpet" }.to_owned();
    };
    world.prove("clock-source", 3, &mut observed, false, &Stop::new()).unwrap();
    assert_eq!(wrong, []);
}

#[test]
fn datagrams_are_counted_in_every_round_with_the_change_and_without() {
    const LIMIT: &str = "sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq";
    let world = World::new();
    world.put("sys/devices/system/cpu/online", "0\n");
    world.put("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3000000\n");
    world.put(LIMIT, "2000000\n");
    let limit = || fs::read_to_string(world.path(LIMIT)).unwrap().trim().to_owned();
    let mut limits = Vec::new();
    let mut probe = |measure, round, _: &Stop| {
        assert!(measure == Measure::Datagram && round >= probes::shortest(measure), "{measure:?} for {round:?}");
        probes::datagram::ns_of(200)
    };
    let mut observed = |_| limits.push(limit());
    let outcome = world.prove_by(&mut probe, "frequency-limit", 2, &mut observed, false, &Stop::new()).unwrap();
    // Read before a round, so each is the limit of the round before.
    assert_eq!(limits, ["2000000", "2000000", "3000000", "3000000"]);
    assert_eq!((outcome.unit, outcome.measured.as_str()), ("ns", Measure::Datagram.what()));
    assert!(matches!(outcome.gain.size, Size::Ratio { .. }));
    // A datagram over loopback takes more than 10 ns and less than 0.1 s on any machine.
    let possible = |ns: f64| (10.0..1e8).contains(&ns);
    assert!(outcome.pairs.iter().all(|pair| possible(pair.with) && possible(pair.without)), "{:?}", outcome.pairs);
    assert_eq!((limit().as_str(), world.standing()), ("2000000", 0));
}

#[test]
fn what_is_to_stay_stays_and_undo_knows_it() {
    let world = World::new();
    let outcome = world.prove("clock-source", 3, &mut |_| {}, true, &Stop::new()).unwrap();
    assert!(outcome.kept);
    assert_eq!((world.source().as_str(), world.standing()), ("tsc", 1));
    let mut fixer = Fixer::open(Host::at(world.0.path()), &world.path("state")).unwrap();
    assert_eq!(fixer.undo(|_| true).len(), 1);
    assert_eq!(world.source(), "hpet");
}

#[test]
fn stopped_while_the_change_is_in_force_everything_is_given_back() {
    for at in [2, 3, 6] {
        let world = World::new();
        let stop = Stop::new();
        let mut observed = |progress: Progress| {
            if progress.round == at {
                stop.request();
            }
        };
        let proved = world.prove("clock-source", 4, &mut observed, true, &stop);
        match proved {
            Ok(outcome) => assert!(outcome.stopped && !outcome.kept && at == 6, "{at}"),
            Err(ProveError::Stopped { pairs }) => assert!(pairs < 2 && at < 6, "{at}"),
            Err(error) => panic!("{error}"),
        }
        assert_eq!((world.source().as_str(), world.standing()), ("hpet", 0), "{at}");
    }
}

#[test]
fn a_panic_in_the_middle_gives_back_too() {
    let world = World::new();
    let proved = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut observed = |progress: Progress| assert!(progress.round < 3, "the third round");
        world.prove("clock-source", 4, &mut observed, true, &Stop::new())
    }));
    assert!(proved.is_err());
    assert_eq!((world.source().as_str(), world.standing()), ("hpet", 0));
}

#[test]
fn a_round_of_losses_lasts_until_the_reader_has_been_away() {
    let world = World::new();
    world.put("proc/sys/net/core/rmem_max", "212992\n");
    world.put("proc/sys/net/core/wmem_max", "212992\n");
    let mut rounds = Vec::new();
    let mut probe = |_, round: Duration, _: &Stop| {
        rounds.push(round);
        Ok(rounds.len() as f64)
    };
    let proved = world.prove_by(&mut probe, "socket-buffer-small", 2, &mut |_| {}, false, &Stop::new()).unwrap();
    assert!(proved.round_s >= 0.4, "{} s, of 1 ms requested", proved.round_s);
    assert_eq!(rounds, [Duration::from_secs_f64(proved.round_s); 4]);
    assert_eq!(world.standing(), 0);
}

#[test]
fn what_cannot_be_proved_says_why_and_changes_nothing() {
    let world = World::new();
    let of = |rule: &str, pairs: u32| world.prove(rule, pairs, &mut |_| {}, true, &Stop::new()).unwrap_err();
    assert!(matches!(of("busy-poll", 4), ProveError::NotProvable { why } if why.contains("through the card")));
    assert!(matches!(of("load", 4), ProveError::NotProvable { .. }));
    assert!(matches!(of("governor", 4), ProveError::NotVisible { .. }));
    assert!(matches!(of("clock-source", 1), ProveError::Pairs { pairs: 1 }));
    world.put(CURRENT, "tsc\n");
    assert!(matches!(of("clock-source", 4), ProveError::NothingToChange { .. }));
    assert_eq!((world.source().as_str(), world.standing()), ("tsc", 0));
}

#[test]
fn a_guard_whose_pipe_ends_without_a_word_gives_back_its_entries_and_no_others() {
    let world = World::new();
    world.put("proc/sys/vm/swappiness", "60\n");
    let (host, state) = (Host::at(world.0.path()), world.path("state"));
    let apply = |rule: &str, scope: &Scope, setting, becomes: &str| {
        let mut fixer = Fixer::open(host.clone(), &state).unwrap();
        fixer.apply(rule, scope, &[Change { setting, was: String::new(), becomes: becomes.to_owned() }]).unwrap();
    };
    let (own, other) = (Scope::Run { id: "own".to_owned() }, Scope::Run { id: "other".to_owned() });
    let source = Setting::Sysfs(CURRENT.trim_start_matches("sys/").to_owned());
    apply("clock-source", &own, source, "tsc");
    // Runs that got hold of the journal after the proof was killed and before its guard did.
    apply("busy-poll", &Scope::Host, Setting::Sysctl("net.core.busy_read".to_owned()), "50");
    apply("swap", &other, Setting::Sysctl("vm.swappiness".to_owned()), "10");
    let undone = |pipe: &[u8]| wait_and_undo(host.clone(), &state, "own", &mut &pipe[..]).unwrap().len();
    assert_eq!((undone(b"well\n"), world.source().as_str()), (0, "tsc"));
    assert_eq!((undone(b"we"), world.source().as_str()), (1, "hpet"));
    assert_eq!(world.standing(), 2, "the other changes stay");
}
