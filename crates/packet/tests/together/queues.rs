//! Engine `xdp` on some queues of an interface with four. A veth pair has neither rules nor a table: its channels are what
//! can be changed, and what comes over it comes by the first queue.

use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::thread::CapabilitySet;
use takt_host::leftovers::Registry;
use takt_packet::{Config, Engine, EngineError, EngineKind, FramePath, Missing, PortSpec, Way, open};
use takt_testing::wait_for;

use crate::support::far::{over_a_wide_cable, shell};
use crate::support::{self, P0, addr, keep_capabilities, recv_some, stranger, unconnected};

fn kind(name: &str) -> EngineKind {
    name.parse().unwrap()
}

/// An engine of queues that have just been let go: the kernel frees them a moment later.
fn opened(name: &str, config: &Config) -> Box<dyn Engine> {
    wait_for("queues that nobody holds", || match open(kind(name), config) {
        Err(EngineError::Missing { missing: Missing::QueueFree { .. } | Missing::InterfaceFree { .. }, .. }) => None,
        opened => Some(opened.unwrap()),
    })
}

fn missing(name: &str) -> Missing {
    match open(kind(name), &unconnected(1)) {
        Err(EngineError::Missing { missing, .. }) => missing,
        Err(error) => panic!("{error:?}"),
        Ok(engine) => panic!("it opened: {:?}", engine.queues()),
    }
}

/// Receive queues of this end, as ethtool knows them.
fn queues() -> u32 {
    let out = Command::new("ethtool").args(["-l", "near"]).output().expect("ethtool");
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    let now = said.rsplit("RX:").next().and_then(|text| text.split_whitespace().next()?.parse().ok());
    now.unwrap_or_else(|| panic!("{said}"))
}

fn receives(engine: &mut dyn Engine) {
    stranger().send_to(b"here", addr(engine, 0)).unwrap();
    assert_eq!(recv_some(engine, 1)[0].bytes, b"here");
}

#[test]
fn named_queues_are_had_and_the_others_come_back_with_the_engines_end() {
    if !over_a_wide_cable("queues::named_queues_are_had_and_the_others_come_back_with_the_engines_end") {
        return;
    }
    for (name, path, left, said) in [
        ("xdp:0", FramePath::NativeXdp, 1, "queue 0 of near by its channels"),
        ("xdp:0-1", FramePath::NativeXdp, 2, "queues 0-1 of near by its channels"),
        ("xdp-generic:0-2", FramePath::GenericXdp, 3, "queues 0-2 of near by its channels"),
    ] {
        let mut engine = opened(name, &unconnected(2));
        assert_eq!((engine.limits().path, engine.queues(), queues()), (path, Some(said), left));
        receives(&mut *engine);
        drop(engine);
        assert_eq!(queues(), 4);
    }
    assert!(Registry::system().clean().unwrap().removed.is_empty());
}

#[test]
fn without_a_way_it_has_all_queues_and_says_why() {
    if !over_a_wide_cable("queues::without_a_way_it_has_all_queues_and_says_why") {
        return;
    }
    for (name, words) in [
        ("xdp", "all queues of near, no rules: Operation not supported"),
        ("xdp:2-3", "no channels: these are not the first queues of one kind"),
    ] {
        let mut engine = opened(name, &unconnected(1));
        let said = engine.queues().unwrap().to_owned();
        assert!(said.contains(words), "{said}");
        receives(&mut *engine);
        assert_eq!(queues(), 4);
    }
    assert_eq!(opened("xdp:0-3", &unconnected(1)).queues(), None);
}

#[test]
fn a_queue_that_is_not_there_is_named_with_those_that_are() {
    if !over_a_wide_cable("queues::a_queue_that_is_not_there_is_named_with_those_that_are") {
        return;
    }
    let none = missing("xdp:2-4");
    assert_eq!(none, Missing::NoQueue { interface: "near".to_owned(), queue: 4, there: 4 });
    assert!(none.to_string().ends_with("(it has 4, numbered from 0)"), "{none}");
}

#[test]
fn a_card_has_queues_for_one_takt() {
    if !over_a_wide_cable("queues::a_card_has_queues_for_one_takt") {
        return;
    }
    let first = opened("xdp:0-1", &unconnected(1));
    assert_eq!(missing("xdp:0"), Missing::QueuesTaken { interface: "near".to_owned(), pid: std::process::id() });
    assert_eq!(queues(), 2);
    drop(first);
    assert_eq!(queues(), 4);
}

#[test]
fn an_engine_that_receives_and_one_that_transmits_share_the_first_queue() {
    if !over_a_wide_cable("queues::an_engine_that_receives_and_one_that_transmits_share_the_first_queue") {
        return;
    }
    let of = |way| Config { way, ..unconnected(1) };
    for name in ["xdp", "xdp:0-1"] {
        for (first, second) in [(Way::Receive, Way::Transmit), (Way::Transmit, Way::Receive)] {
            let mut one = opened(name, &of(first));
            let mut other = open(kind(name), &of(second)).unwrap();
            let (receiving, transmitting) =
                if first == Way::Receive { (&mut one, &mut other) } else { (&mut other, &mut one) };
            assert!(receiving.queues().is_some() && transmitting.queues().is_none());
            receives(&mut **receiving);
            let there = stranger();
            there.set_read_timeout(Some(takt_testing::HANG)).unwrap();
            let mut batch = transmitting.reserve(1);
            batch.push(P0, Some(there.local_addr().unwrap()), |_| 5);
            assert_eq!(batch.send(support::soon()).unwrap(), 1);
            assert_eq!(there.recv(&mut [0; 99]).unwrap(), 5);
            drop((one, other));
            assert_eq!(queues(), 4);
        }
    }
}

#[test]
fn an_interface_that_goes_away_has_nothing_to_give_back() {
    if !over_a_wide_cable("queues::an_interface_that_goes_away_has_nothing_to_give_back") {
        return;
    }
    let mut engine = opened("xdp:0", &unconnected(1));
    shell("ip link del near");
    let gone = wait_for("an engine that notices", || engine.recv(support::soon()).err());
    assert!(matches!(gone, EngineError::InterfaceGone { .. }), "{gone:?}");
    drop(engine);
    let cleaned = Registry::system().clean().unwrap();
    assert!(cleaned.removed.is_empty() && cleaned.kept.is_empty() && cleaned.alive.is_empty(), "{cleaned:?}");
}

#[test]
fn what_a_killed_process_had_is_given_back_by_clean() {
    const NAME: &str = "queues::what_a_killed_process_had_is_given_back_by_clean";
    if std::env::var_os("TAKT_PACKET_QUEUES_HOLD").is_some() {
        let spec = PortSpec { bind: "10.98.0.1:0".parse().unwrap(), peer: None };
        let _held = open(kind("xdp:0"), &Config::new(vec![spec])).expect("the queue is free");
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    if !over_a_wide_cable(NAME) {
        return;
    }
    let exe = std::env::current_exe().expect("this binary");
    let mut command = Command::new(exe);
    command.args(["--exact", NAME]).env("TAKT_PACKET_QUEUES_HOLD", "1").stdout(Stdio::null());
    let mut child = command.spawn().expect("it runs");
    wait_for("one queue", || (queues() == 1).then_some(()));
    child.kill().expect("it is ours");
    child.wait().expect("it ends");
    assert_eq!(queues(), 1);
    let cleaned = Registry::system().clean().unwrap();
    assert_eq!(cleaned.removed.len(), 1, "{cleaned:?}");
    assert_eq!(cleaned.removed[0].leftover.to_string(), "change of the number of queues of near");
    assert_eq!(queues(), 4);
    assert!(Registry::system().clean().unwrap().removed.is_empty());
}

#[test]
fn without_privileges_nothing_is_changed_and_it_says_which_are_missing() {
    if !over_a_wide_cable("queues::without_privileges_nothing_is_changed_and_it_says_which_are_missing") {
        return;
    }
    keep_capabilities(CapabilitySet::empty());
    assert_eq!(missing("xdp:0"), Missing::XdpPermission);
    assert_eq!(queues(), 4);
}
