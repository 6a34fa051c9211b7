//! Every path carries what it should, as it should, and leaves nothing. Needs root; skipped aloud without.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, UdpSocket};
use std::path::Path as FilePath;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use takt_host::accounting::Snapshot;
use takt_host::leftovers::{Registry, Run};
use takt_testbed::net::{Build, Ceiling, Namespace, Path, PathSpec, SetBy, Towards};
use takt_testing::{HANG, not_judged, skip, wait_for};

mod fast_router;
mod impaired;

const TAKT: &str = env!("CARGO_BIN_EXE_takt");

/// Records of a test's own, and a label that is in the names of all it makes, so that tests may run side by side.
struct Ground {
    _dir: tempfile::TempDir,
    run: Run,
    label: &'static str,
}

fn ground(label: &'static str) -> Ground {
    let dir = tempfile::tempdir().unwrap();
    let run = Registry::at(dir.path()).begin("test").unwrap();
    Ground { _dir: dir, run, label }
}

fn spec(name: &str, options: &[(&str, &str)]) -> PathSpec {
    let mut spec = PathSpec::named(name).unwrap();
    for (option, value) in options {
        spec.set(option, value).unwrap();
    }
    spec
}

/// As it is by default, with no more of a CPU than tests that run side by side have to share.
fn usual(name: &str) -> PathSpec {
    spec(name, if name == "router-small" { &[("cpu", "0.05")] } else { &[] })
}

/// `None`, on record, where this machine or this process lacks something.
#[track_caller]
fn build(ground: &Ground, spec: &PathSpec) -> Option<Path> {
    let with = Build { run: &ground.run, label: ground.label, program: FilePath::new(TAKT), cpus: &[] };
    match Path::build(spec, &with) {
        Ok(path) => Some(path),
        Err(error) if error.is_unavailable() => {
            skip(format!("path {}: {error}   ({})", spec.name, error.fix().unwrap_or_default()));
            None
        }
        Err(error) => {
            panic!("{}: {error}: {:?}", spec.name, std::error::Error::source(&error).map(ToString::to_string))
        }
    }
}

fn socket(namespace: &Namespace, addr: impl Into<SocketAddr>) -> UdpSocket {
    let addr = addr.into();
    let socket = namespace.inside(|| UdpSocket::bind(addr).unwrap()).unwrap();
    socket.set_read_timeout(Some(HANG)).unwrap();
    socket
}

/// A value of the SNMP counters of a namespace: `Ip` and `InHdrErrors`.
fn snmp(namespace: &Namespace, group: &str, name: &str) -> u64 {
    let text = namespace.inside(|| fs::read_to_string("/proc/thread-self/net/snmp").unwrap()).unwrap();
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(group)?.strip_prefix(": "));
    let column = lines.next().unwrap().split(' ').position(|column| column == name).unwrap();
    lines.next().unwrap().split(' ').nth(column).unwrap().parse().unwrap()
}

fn namespaces_of(ground: &Ground) -> BTreeSet<String> {
    namespaces_with(&format!("takt-{}-{}-", std::process::id(), ground.label))
}

fn namespaces_with(prefix: &str) -> BTreeSet<String> {
    let all = fs::read_dir("/run/netns").map_or_else(|_| Vec::new(), |dir| dir.flatten().collect());
    all.into_iter().filter_map(|e| e.file_name().into_string().ok()).filter(|name| name.starts_with(prefix)).collect()
}

#[test]
fn every_path_carries_datagrams_both_ways_and_leaves_nothing() {
    for name in PathSpec::NAMES {
        let ground = ground("every");
        let Some(path) = build(&ground, &usual(name)) else { continue };
        let radio = socket(&path.radio.namespace, (path.radio.address, 49152));
        let host = socket(&path.host.namespace, (path.host.address, 0));
        let mut buffer = [0; 2000];
        for payload in [1, 16, 1472] {
            host.send_to(&vec![7; payload], (path.radio.address, 49152)).unwrap();
            let (len, from) = radio.recv_from(&mut buffer).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(len, payload, "{name}");
            let hidden = from.ip() != path.host.address;
            assert_eq!(hidden, !matches!(name, "direct" | "switch"), "{name}: from {from}");
            radio.send_to(&buffer[..len], from).unwrap();
            let back = host.recv(&mut buffer).unwrap_or_else(|error| panic!("{name} back: {error}"));
            assert_eq!(back, payload, "{name}");
        }
        let routed = !matches!(name, "direct" | "switch");
        ping(&path, if routed { 63 } else { 64 });
        assert_eq!(path.topology.nodes.len(), namespaces_of(&ground).len());
        drop((radio, host, path));
        assert_eq!(namespaces_of(&ground), BTreeSet::new(), "{name}");
    }
}

/// The judge: three answers, with the life that one router leaves them. Each is requested by itself: once one has come,
/// ping(8) waits for another no longer than twice as long as for the first.
fn ping(path: &Path, ttl: u32) {
    let to = path.radio.address.to_string();
    for _ in 0..3 {
        let arguments = ["netns", "exec", path.host.namespace.name(), "ping", "-c", "1", "-W", "60", &to];
        let Ok(output) = Command::new("ip").args(arguments).output() else {
            return skip("the judge, ip(8), is not installed   (apt-get install iproute2)");
        };
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if said.is_empty() {
            return skip("the judge, ping(8), is not installed   (apt-get install iputils-ping)");
        }
        assert!(said.contains("1 received, 0% packet loss") || said.contains("1 received, 0.0% packet loss"), "{said}");
        assert!(said.contains(&format!("ttl={ttl} ")), "{}: {said}", path.spec.name);
    }
}

/// Throughput, measured for so long that it says something. Arrivals are stamped when the kernel gets to them: where it
/// was held up, a burst of them can make a short span look as if more had crossed than may. A limiter that is not in
/// force lets more through in every span.
fn crossing(path: &Path, towards: Towards, payload_bytes: usize) -> Ceiling {
    const LONGEST: Duration = Duration::from_secs(8);
    let mut span = Duration::from_millis(200);
    loop {
        let ceiling = path.ceiling(towards, payload_bytes, span).unwrap();
        assert_eq!((ceiling.towards, ceiling.payload_bytes), (towards, payload_bytes));
        if ceiling.set_by != SetBy::Nobody && ceiling.datagrams_per_s > 0.0 || span > LONGEST {
            return ceiling;
        }
        span *= 2;
    }
}

#[test]
fn a_limiter_lets_through_what_its_cable_would_and_no_more() {
    let ground = ground("limiter");
    for name in ["switch", "router", "router-hw", "xdp-router"] {
        for (rate, towards, payload) in
            [("10M", Towards::Radio, 16), ("100M", Towards::Radio, 1472), ("100M", Towards::Host, 1472)]
        {
            let Some(path) = build(&ground, &spec(name, &[("rate", rate)])) else { continue };
            // Less crosses where the machine has no time, but not always; more crosses never.
            wait_for("a span in which as much crosses as the cable carries", || {
                let ceiling = crossing(&path, towards, payload);
                assert_ne!(ceiling.set_by, SetBy::Nobody, "{name} {rate}: {ceiling:?}");
                (ceiling.set_by == SetBy::Path).then_some(())
            });
        }
    }
    let Some(mut path) = build(&ground, &spec("router-hw", &[("rate", "100M")])) else { return };
    for (flow, towards) in Towards::BOTH.into_iter().enumerate() {
        wait_for("losses at the ring of a router that is offered all there is", || {
            crossing(&path, towards, 16);
            let lost = path.look().unwrap()[0].report.counters.flows[flow].dropped_at_ring;
            (lost > 0).then_some(())
        });
    }
}

/// Frames towards the radio that found the ring of a small router full.
fn lost_at_ring(path: &Path) -> u64 {
    let counters = path.counters().unwrap();
    counters.iter().find(|node| node.node == "lan-card").unwrap().interfaces["wan0"].counts.tx_dropped
}

/// Cores that the busiest of some processes or kernel threads used.
fn busiest(pids: &[u32], work: impl FnOnce()) -> f64 {
    let earlier = Snapshot::take_with(pids).unwrap();
    work();
    let usage = Snapshot::take_with(pids).unwrap().since(&earlier);
    assert_eq!(usage.companions.len(), pids.len());
    let most_ns = usage.companions.iter().map(|thread| thread.cpu_ns).max().unwrap_or(0);
    most_ns as f64 / usage.wall_ns as f64
}

#[test]
fn the_small_router_passes_what_the_papers_did() {
    let ground = ground("small");
    let Some(path) = build(&ground, &spec("router-small", &[("rate", "100M")])) else { return };
    assert!(path.limit.unwrap().datagram_ns.is_some(), "{:?}", path.limit);
    wait_for("a span in which all that 100 Mb/s carry passes", || {
        let before = lost_at_ring(&path);
        let ceiling = path.ceiling(Towards::Radio, 128, Duration::from_millis(200)).unwrap();
        (ceiling.datagrams_per_s > 0.0 && lost_at_ring(&path) == before).then_some(())
    });
}

#[test]
fn the_small_router_has_no_more_than_its_share_and_loses_the_rest() {
    let ground = ground("share");
    let share = 0.05;
    let Some(path) = build(&ground, &spec("router-small", &[("cpu", "0.05"), ("rate", "1G")])) else { return };
    assert_eq!(path.limit.map(|limit| (limit.share, limit.datagram_ns)), Some((share, None)));
    let threads = path.pids_of("router");
    assert_eq!(threads.len(), 2, "one for each way");
    wait_for("a router that has used up its share of a CPU", || {
        let mut ceiling = None;
        let used = busiest(&threads, || {
            ceiling = Some(path.ceiling(Towards::Radio, 16, Duration::from_millis(400)).unwrap());
        });
        // A thread is stopped at the next tick, and that is made good in the periods that follow.
        assert!(used < 1.5 * share, "{used}");
        (used > 0.6 * share && lost_at_ring(&path) > 0 && ceiling.unwrap().set_by == SetBy::Path).then_some(())
    });
}

#[test]
fn what_each_node_costs_is_told_apart() {
    let ground = ground("apart");
    let Some(path) = build(&ground, &spec("router", &[])) else { return };
    assert_eq!(path.notes, Vec::<String>::new());
    let nodes = ["host", "router", "radio"].map(|node| path.pids_of(node));
    assert_eq!(nodes.each_ref().map(Vec::len), [1, 2, 1]);
    assert_eq!(path.pids().into_iter().collect::<BTreeSet<u32>>().len(), 4, "none works for two");
    let flood = || assert!(crossing(&path, Towards::Radio, 16).datagrams_per_s > 0.0);
    let used = nodes.each_ref().map(|pids| busiest(pids, flood));
    // The host received nothing to speak of.
    assert!(used[1] > 4.0 * used[0] && used[2] > 4.0 * used[0], "{used:?}");
}

/// Starts a program in a namespace; `None`, on record, if it or ip(8) is not installed.
#[track_caller]
fn start(namespace: &Namespace, program: &[&str]) -> Option<Child> {
    let installed = Command::new("sh").args(["-c", "command -v ip && command -v \"$0\"", program[0]]).output().unwrap();
    if !installed.status.success() {
        skip(format!("the judge, {0}, is not installed   (apt-get install {0})", program[0]));
        return None;
    }
    let mut command = Command::new("ip");
    command.args(["netns", "exec", namespace.name()]).args(program);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    Some(command.spawn().unwrap())
}

/// Whether a program listens on this TCP port in a namespace (proc_net_tcp(5): state 0A).
fn listens(namespace: &Namespace, port: u16) -> bool {
    let tables = ["tcp", "tcp6"].map(|table| format!("/proc/thread-self/net/{table}"));
    let read = |table: &String| fs::read_to_string(table).unwrap_or_default();
    let text = namespace.inside(|| tables.each_ref().map(read).concat()).unwrap();
    let at = format!(":{port:04X}");
    text.lines().any(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        fields.get(1).is_some_and(|local| local.ends_with(&at)) && fields.get(3) == Some(&"0A")
    })
}

#[test]
fn iperf3_gets_no_more_than_the_cable_carries_and_the_loss_is_where_it_says() {
    let ground = ground("iperf");
    let options = [("rate", "1G"), ("impaired-rate", "20M"), ("buffer", "64KiB")];
    let Some(mut path) = build(&ground, &spec("switch", &options)) else { return };
    let Some(server) = start(&path.radio.namespace, &["iperf3", "-s", "-1"]) else { return };
    wait_for("iperf3 that listens", || listens(&path.radio.namespace, 5201).then_some(()));
    let to = path.radio.address.to_string();
    let flood = ["iperf3", "-u", "-c", &to, "-b", "60M", "-l", "1472", "-t", "1", "--json"];
    let begun = Instant::now();
    let client = start(&path.host.namespace, &flood).unwrap().wait_with_output().unwrap();
    let all_of_it = begun.elapsed().as_secs_f64();
    server.wait_with_output().unwrap();
    let said: serde_json::Value = serde_json::from_slice(&client.stdout).unwrap();
    let (sum, far) = (&said["end"]["sum_sent"], &said["end"]["sum_received"]);
    let sent = sum["packets"].as_u64().unwrap();
    // The server counts up to the last datagram that it saw: what is lost behind that one is missing from its losses.
    let passed = far["packets"].as_u64().unwrap() - far["lost_packets"].as_u64().unwrap();
    let (lost, seconds) = (sent - passed, sum["seconds"].as_f64().unwrap());
    let most = path.spec.ceiling_datagrams_per_s(1472).unwrap();
    // Datagrams that wait in the buffer when the sender stops arrive as well: 64 KiB are 43 frames.
    let within = |seconds: f64| passed as f64 <= most * seconds + 43.0 + 1.0;
    assert!(within(all_of_it), "{passed} passed in {all_of_it} s, {most} a second may");
    // A hop that is held up has more before it when the sender stops.
    if !within(seconds) {
        not_judged(format!("{passed} passed in {seconds} s, {most} a second may, and the client took {all_of_it} s"));
    }
    assert!(lost > 0, "{sum} {far}");
    let flow = path.look().unwrap()[0].report.counters.flows[0];
    assert!(flow.dropped_at_queue > 0, "{flow:?}");
    // If the machine is busy, iperf3's own socket and the hop lose too. iperf3 may stop counting before the last
    // arrives.
    let by_others = snmp(&path.radio.namespace, "Udp", "RcvbufErrors") + flow.dropped_by_hop;
    let placed = flow.dropped_at_queue + by_others;
    assert!(placed.abs_diff(lost) <= 50, "{flow:?}, {by_others} lost by others, iperf3 lost {lost}");
}

/// Set for the process that is going to be killed; its value is the registry's directory.
const VICTIM: &str = "TAKT_TEST_PATH_VICTIM";

/// In a victim this builds a path and waits to be killed; in the suite it does nothing more than the others.
#[test]
fn a_path_can_be_built_by_a_process_that_is_killed() {
    let Ok(dir) = std::env::var(VICTIM) else { return };
    let run = Registry::at(dir).begin("victim").unwrap();
    let with = Build { run: &run, label: "victim", program: FilePath::new(TAKT), cpus: &[] };
    let _path = Path::build(&spec("router-small", &[("delay", "1ms"), ("cpu", "0.05")]), &with);
    std::io::stdout().write_all(b"built\n").unwrap();
    thread::sleep(Duration::from_secs(600));
}

#[test]
fn what_a_killed_process_built_is_found_and_removed() {
    let ground = ground("killed");
    if build(&ground, &usual("router-small")).is_none() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_path_can_be_built_by_a_process_that_is_killed", "--nocapture"])
        .env(VICTIM, dir.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(victim.stdout.take().unwrap());
    assert!(output.lines().map_while(Result::ok).any(|line| line.contains("built")));
    let own = format!("takt-{}-victim", victim.id());
    let left = || namespaces_with(&own).len();
    // Six namespaces: host, lan-card, router, wan-card, network, radio.
    assert!(left() >= 6, "{}", left());
    victim.kill().unwrap();
    victim.wait().unwrap();
    let cleaned = Registry::at(dir.path()).clean().unwrap();
    assert_eq!(left(), 0, "{cleaned:?}");
}
