//! Every path carries what it should, as it should, and leaves nothing. Needs root; skipped aloud without.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Write, stderr};
use std::net::{SocketAddr, UdpSocket};
use std::path::Path as FilePath;
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use takt_host::leftovers::{Registry, Run};
use takt_lab::net::{Build, Namespace, Path, PathSpec, SetBy, Towards};

const TAKT: &str = env!("CARGO_BIN_EXE_takt");

/// The tests look at the list of all namespaces, so they take turns.
static TURN: Mutex<()> = Mutex::new(());

/// Past the harness, which keeps what a test that passes prints.
fn aloud(text: &str) {
    stderr().write_all(format!("{text}\n").as_bytes()).unwrap();
}

struct Ground {
    _dir: tempfile::TempDir,
    run: Run,
}

fn ground() -> Ground {
    let dir = tempfile::tempdir().unwrap();
    let run = Registry::at(dir.path()).begin("test").unwrap();
    Ground { _dir: dir, run }
}

fn spec(name: &str, options: &[(&str, &str)]) -> PathSpec {
    let mut spec = PathSpec::named(name).unwrap();
    for (option, value) in options {
        spec.set(option, value).unwrap();
    }
    spec
}

/// `None`, aloud, where this machine or this process lacks something.
fn build(ground: &Ground, spec: &PathSpec) -> Option<Path> {
    let with = Build { run: &ground.run, label: "p", program: FilePath::new(TAKT), cpus: &[] };
    match Path::build(spec, &with) {
        Ok(path) => Some(path),
        Err(error) if error.is_unavailable() => {
            aloud(&format!("SKIPPED: path {}: {error}", spec.name));
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
    socket.set_read_timeout(Some(Duration::from_secs(3))).unwrap();
    socket
}

/// A value of `Ip:` in a namespace's SNMP counters.
fn ip_counter(namespace: &Namespace, name: &str) -> u64 {
    let text = namespace.inside(|| fs::read_to_string("/proc/thread-self/net/snmp").unwrap()).unwrap();
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Ip: "));
    let column = lines.next().unwrap().split(' ').position(|column| column == name).unwrap();
    lines.next().unwrap().split(' ').nth(column).unwrap().parse().unwrap()
}

fn own_namespaces() -> BTreeSet<String> {
    let own = format!("takt-{}-", std::process::id());
    let all = fs::read_dir("/run/netns").map_or_else(|_| Vec::new(), |dir| dir.flatten().collect());
    all.into_iter().filter_map(|e| e.file_name().into_string().ok()).filter(|name| name.starts_with(&own)).collect()
}

#[test]
fn every_path_carries_datagrams_both_ways_and_leaves_nothing() {
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    for name in PathSpec::NAMES {
        let ground = ground();
        let Some(path) = build(&ground, &spec(name, &[])) else { continue };
        let radio = socket(&path.radio.namespace, (path.radio.address, 49152));
        let host = socket(&path.host.namespace, (path.host.address, 0));
        let mut buffer = [0; 2000];
        for payload in [1, 16, 1472] {
            host.send_to(&vec![7; payload], (path.radio.address, 49152)).unwrap();
            let (len, from) = radio.recv_from(&mut buffer).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(len, payload, "{name}");
            let hidden = from.ip() != path.host.address;
            assert_eq!(hidden, matches!(name, "router" | "router-small" | "router-hw"), "{name}: from {from}");
            radio.send_to(&buffer[..len], from).unwrap();
            assert_eq!(
                host.recv(&mut buffer).unwrap_or_else(|error| panic!("{name} back: {error}")),
                payload,
                "{name}"
            );
        }
        let routed = !matches!(name, "direct" | "switch");
        ping(&path, if routed { 63 } else { 64 });
        assert_eq!(path.topology.nodes.len(), own_namespaces().len());
        drop((radio, host, path));
        assert_eq!(own_namespaces(), BTreeSet::new(), "{name}");
    }
}

/// The judge: three answers, with the life that one router leaves them.
fn ping(path: &Path, ttl: u32) {
    let to = path.radio.address.to_string();
    let arguments = ["netns", "exec", path.host.namespace.name(), "ping", "-c", "3", "-i", "0.01", "-W", "2", &to];
    let Ok(output) = Command::new("ip").args(arguments).output() else {
        return aloud("SKIPPED: the judge, ip(8), is not installed");
    };
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if said.is_empty() {
        return aloud("SKIPPED: the judge, ping(8), is not installed");
    }
    assert!(said.contains("3 received, 0% packet loss") || said.contains("3 received, 0.0% packet loss"), "{said}");
    assert!(said.contains(&format!("ttl={ttl} ")), "{}: {said}", path.spec.name);
}

#[test]
fn the_fast_forwarder_forwards_and_the_kernel_does_not() {
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let ground = ground();
    let Some(path) = build(&ground, &spec("xdp-router", &[])) else { return };
    let router =
        Namespace::path(&path.host.namespace).with_file_name(path.host.namespace.name().replace("-host", "-router"));
    let forwarded = |router: &FilePath| {
        let router = router.to_owned();
        thread::spawn(move || {
            takt_host::namespace::enter_network(router).unwrap();
            fs::read_to_string("/proc/thread-self/net/snmp").unwrap()
        })
        .join()
        .unwrap()
    };
    let radio = socket(&path.radio.namespace, (path.radio.address, 49152));
    let host = socket(&path.host.namespace, (path.host.address, 0));
    let mut buffer = [0; 64];
    for _ in 0..100 {
        host.send_to(b"over", (path.radio.address, 49152)).unwrap();
        let (len, from) = radio.recv_from(&mut buffer).unwrap();
        radio.send_to(&buffer[..len], from).unwrap();
        host.recv(&mut buffer).unwrap();
    }
    let text = forwarded(&router);
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Ip: "));
    let column = lines.next().unwrap().split(' ').position(|column| column == "ForwDatagrams").unwrap();
    assert_eq!(lines.next().unwrap().split(' ').nth(column), Some("0"));
    assert_eq!(ip_counter(&path.radio.namespace, "InHdrErrors"), 0, "the checksums were right");
}

/// Sends numbered datagrams at an even pace; the numbers in order of their arrival.
fn numbered(path: &Path, count: u32, gap: Duration) -> Vec<u32> {
    let radio = socket(&path.radio.namespace, (path.radio.address, 49152));
    radio.set_read_timeout(Some(Duration::from_millis(1500))).unwrap();
    let host = socket(&path.host.namespace, (path.host.address, 0));
    let to = path.radio.address;
    let sending = thread::spawn(move || {
        let begun = Instant::now();
        for number in 0..count {
            thread::sleep((gap * number).saturating_sub(begun.elapsed()));
            host.send_to(&number.to_be_bytes(), (to, 49152)).unwrap();
        }
    });
    let mut buffer = [0; 4];
    let mut seen = Vec::new();
    while let Ok(4) = radio.recv(&mut buffer) {
        seen.push(u32::from_be_bytes(buffer));
    }
    sending.join().unwrap();
    seen
}

/// The dice are seeded, so the counts are what they are; the bounds are four standard deviations of a fair one.
#[test]
fn impairments_are_as_they_were_asked_for() {
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let ground = ground();
    let count = 3000;
    let options = [("loss", "10%"), ("duplicate", "5%"), ("reorder", "3%"), ("hold", "5ms"), ("delay", "20ms")];
    let Some(mut path) = build(&ground, &spec("direct", &options)) else { return };
    let seen = numbered(&path, count, Duration::from_micros(400));
    let distinct: BTreeSet<u32> = seen.iter().copied().collect();
    let flow = path.look().unwrap()[0].report.counters.flows[0];
    assert_eq!(flow.dropped_by_hop, 0, "{flow:?}");
    // Besides the datagrams there may be some ARP.
    assert_eq!(distinct.len() as u64, u64::from(count) - flow.dropped_by_chance);
    assert_eq!(seen.len() as u64, u64::from(count) - flow.dropped_by_chance + flow.doubled);
    let near = |got: u64, of: u64, share: f64| {
        let (mean, deviation) = (of as f64 * share, (of as f64 * share * (1.0 - share)).sqrt());
        assert!((got as f64 - mean).abs() < 4.0 * deviation, "{got} of {of}, asked for {share}");
    };
    near(flow.dropped_by_chance, count.into(), 0.10);
    near(flow.doubled, u64::from(count) - flow.dropped_by_chance, 0.05);
    near(flow.held_back, u64::from(count) - flow.dropped_by_chance, 0.03);
    assert!(seen.windows(2).any(|pair| pair[1] < pair[0]), "something was overtaken");

    let host = socket(&path.host.namespace, (path.host.address, 0));
    let radio = socket(&path.radio.namespace, (path.radio.address, 49153));
    let begun = Instant::now();
    // Ten tries: one may be lost.
    for _ in 0..10 {
        host.send_to(b"?", (path.radio.address, 49153)).unwrap();
    }
    radio.recv(&mut [0; 1]).unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(20), "never sooner than the delay");
}

#[test]
fn no_limiter_lets_more_through_than_its_cable_would() {
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    for name in ["switch", "router", "router-hw", "xdp-router"] {
        let ground = ground();
        let Some(mut path) = build(&ground, &spec(name, &[("rate", "100M")])) else { continue };
        for (towards, payload) in Towards::BOTH.into_iter().flat_map(|towards| [(towards, 16), (towards, 1472)]) {
            let ceiling = path.ceiling(towards, payload, Duration::from_millis(300)).unwrap();
            assert_eq!((ceiling.towards, ceiling.payload_bytes), (towards, payload));
            assert_ne!(ceiling.set_by, SetBy::Nobody, "{name}: {ceiling:?}");
            assert!(ceiling.datagrams_per_s > 0.0, "{name}: {ceiling:?}");
            aloud(&format!(
                "{name} {payload} B to the {towards:?}: {:.0} of {:.0} datagrams/s, set by {:?}",
                ceiling.datagrams_per_s,
                ceiling.specified_per_s.unwrap_or(f64::NAN),
                ceiling.set_by
            ));
        }
        if name == "router-hw" {
            let hops = path.look().unwrap();
            for flow in hops[0].report.counters.flows {
                assert!(flow.dropped_at_ring > 0, "flat out it loses at its ring: {flow:?}");
            }
        }
    }
}

#[test]
fn the_small_router_feels_its_limit() {
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let ground = ground();
    let Some(mut path) = build(&ground, &spec("router-small", &[("cpu", "0.1"), ("rate", "none")])) else { return };
    let ceiling = path.ceiling(Towards::Radio, 16, Duration::from_millis(400)).unwrap();
    let hops = path.look().unwrap();
    assert!(hops[0].throttled.is_some_and(|throttled| throttled.times > 0), "{ceiling:?} {hops:?}");
    assert_eq!(path.hop_pids().len(), 1);
    aloud(&format!("router-small, 10 % of a core: {:.0} datagrams/s of 16 B", ceiling.datagrams_per_s));
}

/// Starts a program in a namespace; `None`, aloud, if it or ip(8) is not installed.
fn start(namespace: &Namespace, program: &[&str]) -> Option<std::process::Child> {
    let installed = Command::new("sh").args(["-c", "command -v ip && command -v \"$0\"", program[0]]).output().unwrap();
    if !installed.status.success() {
        aloud(&format!("SKIPPED: the judge, {}, is not installed", program[0]));
        return None;
    }
    let mut command = Command::new("ip");
    command.args(["netns", "exec", namespace.name()]).args(program);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    Some(command.spawn().unwrap())
}

#[test]
fn an_independent_capture_sees_what_the_counters_say() {
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let ground = ground();
    let options = [("loss", "20%"), ("duplicate", "10%"), ("seed", "5")];
    let Some(mut path) = build(&ground, &spec("router", &options)) else { return };
    let capture = ["tcpdump", "-i", "radio0", "-nn", "-q", "-B", "4096", "udp", "dst", "port", "49152"];
    let Some(tcpdump) = start(&path.radio.namespace, &capture) else { return };
    // It says when it listens, on its error output; half a second is what it takes at most.
    thread::sleep(Duration::from_millis(500));
    let before = path.look().unwrap()[0].report.counters.flows[0];
    let seen = numbered(&path, 1000, Duration::from_micros(500)).len() as u64;
    let after = path.look().unwrap()[0].report.counters.flows[0];
    Command::new("kill").args(["-INT", &tcpdump.id().to_string()]).status().unwrap();
    let output = tcpdump.wait_with_output().unwrap();
    let captured =
        String::from_utf8_lossy(&output.stdout).lines().filter(|line| line.contains(": UDP,")).count() as u64;
    let lost = after.dropped_by_chance - before.dropped_by_chance;
    assert_eq!(captured, seen, "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(captured, 1000 - lost + after.doubled - before.doubled);
    assert!((100..300).contains(&lost), "{lost} of 1000");
    let counters = path.counters().unwrap();
    let names: Vec<&str> = counters.iter().map(|node| node.node.as_str()).collect();
    assert_eq!(names, ["host", "router", "network", "radio"]);
    assert!(
        counters[0].interfaces["host0"].tx_frames >= 1000 && counters[3].interfaces["radio0"].rx_frames >= captured
    );
}

#[test]
fn iperf3_gets_no_more_than_the_cable_carries_and_the_loss_is_where_it_says() {
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let ground = ground();
    let options = [("rate", "1G"), ("impaired-rate", "20M"), ("buffer", "64KiB")];
    let Some(mut path) = build(&ground, &spec("switch", &options)) else { return };
    let Some(server) = start(&path.radio.namespace, &["iperf3", "-s", "-1"]) else { return };
    thread::sleep(Duration::from_millis(300));
    let to = path.radio.address.to_string();
    let flood = ["iperf3", "-u", "-c", &to, "-b", "60M", "-l", "1472", "-t", "1", "--json"];
    let client = start(&path.host.namespace, &flood).unwrap().wait_with_output().unwrap();
    server.wait_with_output().unwrap();
    let said: serde_json::Value = serde_json::from_slice(&client.stdout).unwrap();
    let sum = &said["end"]["sum"];
    let (sent, lost) = (sum["packets"].as_u64().unwrap(), sum["lost_packets"].as_u64().unwrap());
    let (passed, seconds) = (sent - lost, sum["seconds"].as_f64().unwrap());
    let most = path.spec.ceiling_datagrams_per_s(1472).unwrap();
    // What waits in the buffer when the sender stops arrives as well: 64 KiB are 43 frames.
    assert!(passed as f64 <= most * seconds + 43.0 + 1.0, "{passed} passed in {seconds} s, {most} a second may");
    assert!(lost > 0, "{sum}");
    let flow = path.look().unwrap()[0].report.counters.flows[0];
    // iperf3 may stop counting before the last has arrived.
    assert!(flow.dropped_at_queue.abs_diff(lost) <= 50, "{flow:?}, iperf3 lost {lost}");
}

/// Set for the process that is going to be killed; its value is the registry's directory.
const VICTIM: &str = "TAKT_TEST_PATH_VICTIM";

/// In a victim this builds a path and waits to be killed; in the suite it does nothing more than the others.
#[test]
fn a_path_can_be_built_by_a_process_that_is_killed() {
    let Ok(dir) = std::env::var(VICTIM) else { return };
    let run = Registry::at(dir).begin("victim").unwrap();
    let with = Build { run: &run, label: "victim", program: FilePath::new(TAKT), cpus: &[] };
    let _path = Path::build(&spec("router-small", &[("delay", "1ms")]), &with);
    std::io::stdout().write_all(b"built\n").unwrap();
    thread::sleep(Duration::from_secs(600));
}

#[test]
fn what_a_killed_process_built_is_found_and_removed() {
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let ground = ground();
    if build(&ground, &spec("router-small", &[])).is_none() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_path_can_be_built_by_a_process_that_is_killed", "--nocapture"])
        .env(VICTIM, dir.path())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let output = std::io::BufReader::new(victim.stdout.take().unwrap());
    assert!(std::io::BufRead::lines(output).map_while(Result::ok).any(|line| line.contains("built")));
    let own = format!("takt-{}-victim", victim.id());
    let left = || {
        let names = |dir: &str| fs::read_dir(dir).map_or_else(|_| Vec::new(), |dir| dir.flatten().collect());
        let all = ["/run/netns", "/sys/fs/cgroup", "/sys/fs/cgroup/cpu"].into_iter().flat_map(names);
        all.filter_map(|entry| entry.file_name().into_string().ok()).filter(|name| name.starts_with(&own)).count()
    };
    // Five namespaces (host, small, router, network, radio) and a group.
    assert!(left() >= 6, "{}", left());
    victim.kill().unwrap();
    victim.wait().unwrap();
    let cleaned = Registry::at(dir.path()).clean().unwrap();
    assert_eq!(left(), 0, "{cleaned:?}");
}
