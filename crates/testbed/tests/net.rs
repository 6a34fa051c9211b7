//! Paths are made, carry datagrams, and leave nothing. Needs root; skipped without.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::net::UdpSocket;
use std::process::Command;
use std::sync::{Mutex, MutexGuard};

use takt_host::leftovers::{Registry, Run};
use takt_testbed::net::{Namespace, PathError, RadioPair, Shape};

/// The tests look at the list of all namespaces, so they take turns.
static TURN: Mutex<()> = Mutex::new(());

/// The test's turn, and a run whose record lies in a directory of its own.
fn run() -> (MutexGuard<'static, ()>, tempfile::TempDir, Run) {
    let turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let dir = tempfile::tempdir().unwrap();
    let run = Registry::at(dir.path()).begin("test").unwrap();
    (turn, dir, run)
}

const NO_IP: &str = "the judge, ip(8), is not installed   (apt-get install iproute2)";

#[track_caller]
fn allowed<T>(made: Result<T, PathError>) -> Option<T> {
    match made {
        Ok(made) => Some(made),
        Err(PathError::NotPermitted) => {
            takt_testing::skip("network namespaces are root's   (run as root)");
            None
        }
        Err(error) => panic!("{error}: {:?}", std::error::Error::source(&error).map(ToString::to_string)),
    }
}

/// Namespaces of this process, and all interfaces of the namespace the test runs in.
fn what_is_there() -> BTreeSet<String> {
    let names =
        |dir: &str| fs::read_dir(dir).map_or_else(|_| Vec::new(), |d| d.flatten().map(|e| e.file_name()).collect());
    let own = format!("takt-{}-", std::process::id());
    let namespaces =
        names("/run/netns").into_iter().filter_map(|n| n.into_string().ok()).filter(|n| n.starts_with(&own));
    let interfaces = names("/sys/class/net").into_iter().filter_map(|n| n.into_string().ok());
    namespaces.chain(interfaces.filter(|n| n.starts_with("radio") || n.starts_with("host"))).collect()
}

#[test]
fn a_pair_carries_datagrams_and_leaves_nothing() {
    let (_turn, _dir, run) = run();
    let before = what_is_there();
    let Some(pair) = allowed(RadioPair::create(&run, "first")) else { return };
    assert_eq!(what_is_there().len(), before.len() + 2, "both have a name");

    let radio = pair.radio.inside(|| UdpSocket::bind((RadioPair::RADIO_ADDR, 49152)).unwrap()).unwrap();
    let host = pair.host.inside(|| UdpSocket::bind((RadioPair::HOST_ADDR, 0)).unwrap()).unwrap();
    host.send_to(b"to the radio", (RadioPair::RADIO_ADDR, 49152)).unwrap();
    let mut buffer = [0; 64];
    let (len, from) = radio.recv_from(&mut buffer).unwrap();
    assert_eq!((&buffer[..len], from), (&b"to the radio"[..], host.local_addr().unwrap()));
    radio.send_to(b"and back", from).unwrap();
    assert_eq!(host.recv_from(&mut buffer).unwrap().0, 8);

    drop((radio, host));
    drop(pair);
    assert_eq!(what_is_there(), before);
}

#[test]
fn two_pairs_do_not_meet() {
    let (_turn, _dir, run) = run();
    let Some(first) = allowed(RadioPair::create(&run, "first")) else { return };
    let second = RadioPair::create(&run, "second").unwrap();
    assert_ne!(first.radio.name(), second.radio.name());
    let bind = || UdpSocket::bind((RadioPair::RADIO_ADDR, 49152)).map(drop);
    first.radio.inside(bind).unwrap().unwrap();
    second.radio.inside(bind).unwrap().unwrap();
    assert!(bind().is_err(), "the test's own namespace has no such address");
}

#[test]
fn ip_netns_sees_a_namespace_and_a_taken_name_is_refused() {
    let (_turn, _dir, run) = run();
    let Some(namespace) = allowed(Namespace::create(&run, "seen")) else { return };
    assert!(matches!(Namespace::create(&run, "seen"), Err(PathError::Taken { .. })));
    assert!(namespace.path().exists(), "the refused one did not take the first one's name away");
    match Command::new("ip").args(["netns", "exec", namespace.name(), "ip", "-o", "link"]).output() {
        Ok(output) => {
            let links = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            assert_eq!(links.lines().count(), 1, "{links}");
            assert!(links.contains("lo") && links.contains("UP"), "{links}");
        }
        Err(_) => takt_testing::skip(NO_IP),
    }
}

#[test]
fn an_aggregate_crosses_the_pair_as_single_datagrams() {
    let (_turn, _dir, run) = run();
    let Some(pair) = allowed(RadioPair::create(&run, "first")) else { return };
    for (namespace, interface) in [(&pair.host, "host0"), (&pair.radio, "radio0")] {
        let arguments = ["-n", namespace.name(), "-d", "-o", "link", "show", interface];
        let Ok(output) = Command::new("ip").args(arguments).output() else {
            return takt_testing::skip(NO_IP);
        };
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(shown.contains("gso_max_segs 1 "), "{shown}");
    }
}

/// Set for the process that is going to be killed; its value is the registry's directory.
const VICTIM: &str = "TAKT_TEST_NET_VICTIM";

/// In a victim this makes a pair and waits to be killed; in the suite it makes one and drops it.
#[test]
fn a_pair_can_be_made_by_a_process_that_is_killed() {
    let Ok(dir) = std::env::var(VICTIM) else {
        let (_turn, _dir, run) = run();
        let made = allowed(RadioPair::create(&run, "victim"));
        assert!(made.is_none_or(|pair| pair.radio.path().exists()));
        return;
    };
    let run = Registry::at(dir).begin("victim").unwrap();
    let _pair = RadioPair::create(&run, "victim").unwrap();
    std::io::stdout().write_all(b"made\n").unwrap();
    std::thread::sleep(std::time::Duration::from_secs(600));
}

#[test]
fn what_a_killed_process_made_is_found_and_removed() {
    let (_turn, dir, run) = run();
    let Some(own) = allowed(RadioPair::create(&run, "own")) else { return };
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_pair_can_be_made_by_a_process_that_is_killed", "--nocapture"])
        .env(VICTIM, dir.path())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let output = std::io::BufReader::new(victim.stdout.take().unwrap());
    assert!(std::io::BufRead::lines(output).map_while(Result::ok).any(|line| line.contains("made")));
    let pid = victim.id();
    let left = |label: &str| std::path::Path::new(&format!("/run/netns/takt-{pid}-victim-{label}")).exists();
    assert!(left("radio") && left("host"));
    Registry::at(dir.path()).clean().unwrap();
    assert!(left("radio"), "a living run is left alone");
    victim.kill().unwrap();
    victim.wait().unwrap();
    let cleaned = Registry::at(dir.path()).clean().unwrap();
    assert!(!left("radio") && !left("host"), "{cleaned:?}");
    assert!(own.radio.path().exists(), "and so is this one");
}

/// The pieces that containers, machines and paths are put together from: judged by what the kernel then shows.
#[test]
fn a_bridge_a_tap_a_route_and_a_rate_are_as_they_were_requested() {
    let (_turn, _dir, run) = run();
    let Some(here) = allowed(Namespace::create(&run, "here")) else { return };
    let there = Namespace::create(&run, "there").unwrap();
    let mut netlink = here.netlink().unwrap();
    netlink.add_bridge("bridge0").unwrap();
    here.add_tap("tap0").unwrap();
    netlink.add_veth("port0", "far0", &fs::File::open(there.path()).unwrap()).unwrap();
    for port in ["tap0", "port0"] {
        netlink.enslave(port, "bridge0").unwrap();
    }
    netlink.add_address("bridge0", [10, 1, 2, 3].into(), 30).unwrap();
    netlink.set_mtu("port0", 9000).unwrap();
    for name in ["bridge0", "tap0", "port0"] {
        netlink.set_up(name).unwrap();
    }
    netlink.set_default_route([10, 1, 2, 2].into()).unwrap();
    here.set_forwarding().unwrap();
    netlink.set_rate("port0", &Shape { rate_bps: 100_000_000, burst_bytes: 1_538, buffer_bytes: 65_536 }).unwrap();
    let ip = |namespace: &Namespace, program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        let output = command.args(["-n", namespace.name(), "-d"]).args(arguments).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let Some(links) = ip(&here, "ip", &["-o", "link"]) else {
        return takt_testing::skip(NO_IP);
    };
    let line = |name: &str| links.lines().find(|line| line.contains(name)).unwrap_or_default();
    assert!(line("tap0:").contains("master bridge0") && line("tap0:").contains("tun type tap"), "{links}");
    assert!(line("port0@").contains("master bridge0") && line("port0@").contains("mtu 9000"), "{links}");
    assert!(line("bridge0:").contains("forward_delay 0") && line("bridge0:").contains("stp_state 0"), "{links}");
    let routes = ip(&here, "ip", &["route"]).unwrap();
    assert!(routes.contains("default via 10.1.2.2 dev bridge0"), "{routes}");
    assert!(routes.contains("10.1.2.0/30 dev bridge0"), "{routes}");
    let queue = ip(&here, "tc", &["qdisc", "show", "dev", "port0"]).unwrap();
    assert!(queue.contains("tbf") && queue.contains("rate 100Mbit"), "{queue}");
    assert!(queue.contains("overhead 24") && queue.contains("linklayer ethernet"), "{queue}");
    for _ in 0..2 {
        netlink.delete_address("bridge0", [10, 1, 2, 3].into(), 30).unwrap();
    }
    assert!(!ip(&here, "ip", &["address"]).unwrap().contains("10.1.2.3"));
    netlink.set_single("tap0").unwrap();
    assert!(ip(&here, "ip", &["-o", "link", "show", "tap0"]).unwrap().contains("gso_max_segs 1 "));
    netlink.move_to("port0", &fs::File::open(there.path()).unwrap()).unwrap();
    there.netlink().unwrap().delete("port0").unwrap();
    assert!(matches!(there.netlink().unwrap().delete("port0"), Err(PathError::Netlink { .. })));
}
