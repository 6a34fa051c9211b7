//! Loss by place, over paths that lose at a known place. Each test runs again inside namespaces of its own, or is
//! skipped aloud where this host allows none.
#![allow(clippy::print_stderr, reason = "what is skipped is skipped aloud")]

use std::net::SocketAddr;
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use takt_base::Stop;
use takt_host::namespace::enter_network;
use takt_lab::workload::udp::{CrossedAs, Notice, Options, ServeOptions, UdpReport, run, serve};

/// Client 10.1.0.1 (c0) - r0 router r1 - s0 10.2.0.2 server. Neighbours are known, so that nothing but load and its
/// control crosses.
const ROUTED: &str = "
mount -t tmpfs none /run && mkdir -p /run/netns && ip netns add router && ip netns add server
quiet() { $1 sysctl -qw net.ipv6.conf.default.disable_ipv6=1 net.ipv6.conf.all.disable_ipv6=1; $1 ip link set lo up; }
quiet ''; quiet 'ip netns exec router'; quiet 'ip netns exec server'
ip link add c0 address 02:00:00:00:00:01 type veth peer name r0 address 02:00:00:00:00:02 netns router
ip -n router link add r1 address 02:00:00:00:00:03 type veth peer name s0 address 02:00:00:00:00:04 netns server
ip addr add 10.1.0.1/24 dev c0; ip link set c0 up; ip -n router addr add 10.1.0.2/24 dev r0; ip -n router link set r0 up
ip -n router addr add 10.2.0.1/24 dev r1; ip -n router link set r1 up
ip -n server addr add 10.2.0.2/24 dev s0; ip -n server link set s0 up
ip route add 10.2.0.0/24 via 10.1.0.2; ip -n server route add 10.1.0.0/24 via 10.2.0.1
ip netns exec router sysctl -qw net.ipv4.ip_forward=1
ip neigh add 10.1.0.2 lladdr 02:00:00:00:00:02 dev c0 nud permanent
ip -n router neigh add 10.1.0.1 lladdr 02:00:00:00:00:01 dev r0 nud permanent
ip -n router neigh add 10.2.0.2 lladdr 02:00:00:00:00:04 dev r1 nud permanent
ip -n server neigh add 10.2.0.1 lladdr 02:00:00:00:00:03 dev s0 nud permanent
";

/// Runs `test` of this binary again in namespaces prepared by `setup` (a shell script); `true` inside.
fn inside(test: &str, setup: &str) -> bool {
    const MARK: &str = "TAKT_LAB_TEST_INSIDE";
    if std::env::var(MARK).as_deref() == Ok(test) {
        return true;
    }
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--net", "--mount", "sh", "-ec", script]);
        command.arg(std::env::current_exe().expect("this binary")).env(MARK, test);
        command.output()
    };
    let can = unshare(setup);
    if !can.as_ref().is_ok_and(|out| out.status.success()) {
        eprintln!("SKIPPED {test}: no such path can be built here: {can:?}");
        return false;
    }
    let run = unshare(&format!("{setup}\nexec \"$0\" --exact {test} --nocapture")).expect("it ran a moment ago");
    let said = String::from_utf8_lossy(&run.stdout) + String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success() && said.contains("1 passed"), "{test} inside, {}:\n{said}", run.status);
    false
}

/// A load from here to a server in namespace `server`, or here too.
fn load(namespace: Option<&'static str>, at: &str, change: impl FnOnce(Options) -> Options) -> UdpReport {
    let (stop, (tell, told)) = (Stop::new(), mpsc::channel());
    let bind: SocketAddr = at.parse().expect("an address");
    let server = thread::spawn({
        let stop = stop.clone();
        move || {
            if let Some(name) = namespace {
                enter_network(format!("/run/netns/{name}")).expect("it was made");
            }
            serve(&ServeOptions::at(bind), &mut |notice| tell.send(notice).expect("we wait"), &stop).expect("it serves")
        }
    });
    let Ok(Notice::Ready(at)) = told.recv() else { panic!("a server says first where it is") };
    let options = Options {
        payload_bytes: 1000,
        duration: Duration::from_millis(500),
        warm_up: Duration::from_millis(50),
        ..Options::to(at)
    };
    let report = run(&change(options), &mut |_| {}, &Stop::new()).expect("the server is there");
    stop.request();
    server.join().expect("in good order");
    assert_eq!(report.way.lost.by_place.sum() + report.way.lost.unplaced, report.way.lost.total);
    assert_eq!(report.way.sent.datagrams, report.way.received.datagrams + report.way.lost.total);
    report
}

#[test]
fn what_a_router_drops_was_lost_on_the_path() {
    let narrow = format!("{ROUTED}\ntc -n router qdisc add dev r1 root tbf rate 80mbit burst 16kb limit 40kb");
    if !inside("what_a_router_drops_was_lost_on_the_path", &narrow) {
        return;
    }
    // 8 kB/ms arrive at a bucket that passes 10 kB/ms of frames: a fifth more than fits.
    let report = load(Some("server"), "10.2.0.2:0", |o| Options { datagrams_per_s: Some(12_000.0), ..o });
    let lost = report.way.lost;
    assert!(lost.total > 0, "{lost:?}");
    assert_eq!((lost.by_place.path, lost.unplaced), (lost.total, 0), "{:#?}", report.evidence);
    assert_eq!(report.way.crossed_as, CrossedAs::Datagrams);
    assert!(report.clock.shared, "namespaces share the machine's clock");
}

#[test]
fn what_the_senders_own_queue_drops_was_lost_at_the_sender() {
    let narrow = format!("{ROUTED}\ntc qdisc add dev c0 root tbf rate 80mbit burst 16kb limit 40kb");
    if !inside("what_the_senders_own_queue_drops_was_lost_at_the_sender", &narrow) {
        return;
    }
    // Of an aggregate the queue keeps what fits and calls it sent: only its own counter knows better.
    let report = load(Some("server"), "10.2.0.2:0", |o| Options { aggregate: true, ..o });
    let lost = report.way.lost;
    assert!(lost.total > 0, "{lost:?}");
    assert_eq!((lost.by_place.sender, lost.unplaced), (lost.total, 0), "{:#?}", report.evidence);
    // Single datagrams are told about and offered again: nothing is lost.
    let report = load(Some("server"), "10.2.0.2:0", |o| o);
    assert_eq!(report.way.lost.total, 0, "{:#?}", report.evidence);
    assert!(report.evidence.client.congested > 0);
}

#[test]
fn a_clean_path_loses_nothing_anywhere() {
    if !inside("a_clean_path_loses_nothing_anywhere", ROUTED) {
        return;
    }
    let report = load(Some("server"), "10.2.0.2:0", |o| Options { datagrams_per_s: Some(2000.0), flows: 4, ..o });
    assert_eq!((report.way.lost.total, report.way.reordered, report.way.duplicates), (0, 0, 0));
    assert_eq!(report.evidence.client.net.device.map(|d| d.name).as_deref(), Some("c0"));
    assert_eq!(report.evidence.server.net.device.map(|d| d.name).as_deref(), Some("s0"));
}

#[test]
fn aggregates_are_never_called_packets() {
    if !inside("aggregates_are_never_called_packets", "ip link set lo up") {
        return;
    }
    let report = load(None, "127.0.0.1:0", |o| Options { aggregate: true, ..o });
    assert!(report.evidence.client.aggregates_sends);
    assert_eq!(report.way.crossed_as, CrossedAs::Aggregates, "loopback carries them whole");
    let report = load(None, "127.0.0.1:0", |o| o);
    assert_eq!(report.way.crossed_as, CrossedAs::Datagrams);
}
