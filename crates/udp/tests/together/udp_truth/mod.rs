//! Is it true? Reports of `takt udp`, held against strangers' eyes and a relay whose faults are known. The strangers
//! are dumpcap and tshark on the same interfaces, and iperf3 on the same path.

mod capture;
mod relay;

use std::collections::{BTreeSet, HashMap};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use capture::{Capture, Crossed};
use relay::{Done, Faults, Relay};
use takt_host::namespace::enter_network;
use takt_testing::{not_judged, wait_for};
use takt_udp::{UdpOptions, UdpReport};

use crate::inside::{ROUTED, beside_server, have, inside, load};

/// 3000 datagrams, 2000 a second, however long they take.
fn options(server: SocketAddr) -> UdpOptions {
    UdpOptions {
        payload_bytes: 200,
        datagrams_per_s: Some(2000.0),
        datagrams: Some(3000),
        duration: Duration::from_secs(60),
        ..UdpOptions::to(server)
    }
}

/// A load through a relay that stands in `namespace`, or here.
fn through(
    namespace: Option<&'static str>,
    front: &'static str,
    server: SocketAddr,
    faults: Faults,
) -> (UdpReport, Done) {
    let stop = Arc::new(AtomicBool::new(false));
    let (address, received) = std::sync::mpsc::channel();
    let relay = thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            if let Some(name) = namespace {
                enter_network(format!("/run/netns/{name}")).expect("it was made");
            }
            let relay = Relay::between(front, server);
            address.send(relay.at()).expect("we wait");
            relay.run(faults, 7, &stop)
        }
    });
    let report = load(&options(received.recv().expect("it says where it is")));
    stop.store(true, Ordering::Relaxed);
    (report, relay.join().expect("in good order"))
}

/// RFC 4737, 3.3 and 4.2.1: reordered datagrams, the sum and the maximum of their extents; and repeated ones.
fn disorder(order: &[u64]) -> (u64, u64, u64, u64) {
    let (mut unique, mut repeated) = (Vec::new(), 0);
    let (mut reordered, mut sum, mut max) = (0, 0, 0);
    let mut seen = BTreeSet::new();
    for &sequence in order {
        if !seen.insert(sequence) {
            repeated += 1;
            continue;
        }
        if let Some(j) = unique.iter().position(|&earlier| earlier > sequence) {
            let extent = (unique.len() - j) as u64;
            (reordered, sum, max) = (reordered + 1, sum + extent, max.max(extent));
        }
        unique.push(sequence);
    }
    (reordered, sum, max, repeated)
}

/// The report on order and repetition is exactly what this order is.
fn same_order(report: &UdpReport, order: &[u64]) {
    let way = &report.way;
    let (reordered, extents, extent_max, repeated) = disorder(order);
    let unique = order.iter().collect::<BTreeSet<_>>().len() as u64;
    assert_eq!((way.received.datagrams, way.duplicates, way.reordered), (unique, repeated, reordered));
    assert_eq!(way.reordering.extent_max, extent_max);
    let sum = way.reordering.extent_mean.unwrap_or(0.0) * reordered as f64;
    assert!((sum - extents as f64).abs() < 1e-3, "{sum} {extents}");
}

/// Whether the interval (99.9 %) around what was counted holds what was set.
fn holds(counted: u64, of: u64, set: f64) {
    let interval = takt_stats::proportion(of as usize, counted as usize, 0.999).expect("there were some");
    assert!(interval.low() <= set && set <= interval.high(), "{counted} of {of} is not {set}: {interval}");
}

#[test]
fn loss_repetition_and_reordering_are_what_the_path_was_set_to() {
    let faults = Faults { lose: 0.05, repeat: 0.03, hold: 0.04, hold_for: 3, ..Faults::default() };
    let (report, done) = beside_server(None, "127.0.0.1:0", |server| through(None, "127.0.0.1:0", server, faults));
    let way = &report.way;
    same_order(&report, &done.left);
    // Datagrams that a stalled relay does not even receive are lost as well, and no share it was set to.
    let missed = way.sent.datagrams - done.came;
    assert_eq!(way.lost.total, done.lost + missed);
    holds(way.lost.total - missed, done.came, faults.lose);
    holds(way.duplicates, done.came - done.lost, faults.repeat);
    // Each that was held back came after a higher number, unless those were lost, held back as well, or it was the last.
    assert!(way.reordered > 0 && way.reordered <= done.held, "{} of {}", way.reordered, done.held);
    holds(done.held, done.came - done.lost, faults.hold);
}

#[test]
fn a_clean_relay_is_reported_clean() {
    let (report, done) =
        beside_server(None, "127.0.0.1:0", |server| through(None, "127.0.0.1:0", server, Faults::default()));
    same_order(&report, &done.left);
    assert_eq!((report.way.duplicates, report.way.reordered), (0, 0));
    assert_eq!(report.way.lost.total, report.way.sent.datagrams - done.came);
}

/// Within one in a hundred.
fn agree(what: &str, ours: f64, theirs: f64) {
    assert!((ours - theirs).abs() <= 0.01 * theirs.abs(), "{what}: {ours} reported, {theirs} captured");
}

fn quantile(sorted: &[f64], q: f64) -> f64 {
    sorted[((sorted.len() as f64 * q).ceil() as usize).clamp(1, sorted.len()) - 1]
}

/// RFC 3550, 6.4.1, in order of arrival.
fn jitter_us(crossed: &[Crossed]) -> f64 {
    let transits: Vec<f64> = crossed.iter().map(|c| c.at_ns - c.intended_ns as f64).collect();
    transits.windows(2).fold(0.0, |j, pair| j + ((pair[1] - pair[0]).abs() - j) / 16.0) / 1e3
}

#[test]
fn a_capture_on_the_same_interfaces_sees_the_same() {
    const TEST: &str = "udp_truth::a_capture_on_the_same_interfaces_sees_the_same";
    if !have(&["dumpcap", "tshark"]) || !inside(TEST, ROUTED) {
        return;
    }
    let ms = Duration::from_millis;
    let faults = Faults { lose: 0.03, repeat: 0.02, hold: 0.02, hold_for: 4, delay: ms(20), spread: ms(3) };
    let directory = tempfile::tempdir().expect("a place");
    let (report, before, after) = beside_server(Some("server"), "10.2.0.2:0", |server| {
        let before = Capture::on(None, "c0", directory.path());
        let after = Capture::on(Some("server"), "s0", directory.path());
        let (report, _) = through(Some("router"), "10.1.0.2:0", server, faults);
        // Crosses both, after everything else.
        let nobody = "10.2.0.2:9".parse().expect("an address");
        (report, before.end(1, nobody), after.end(1, nobody))
    });
    let way = &report.way;
    assert_eq!(way.sent.datagrams, before.len() as u64, "each that left");
    same_order(&report, &after.iter().map(|c| c.sequence).collect::<Vec<_>>());
    let unique: HashMap<u64, Crossed> = after.iter().rev().map(|c| (c.sequence, *c)).collect();
    agree("loss", way.lost.share, 1.0 - unique.len() as f64 / before.len() as f64);

    // From the time for which the first was meant to that at which the last left, or for as long as some were received.
    let sent_s = (before[before.len() - 1].at_ns - before[0].intended_ns as f64) / 1e9;
    let seconds = sent_s.max((after[after.len() - 1].at_ns - after[0].at_ns) / 1e9);
    assert!(way.sent.span_s >= sent_s * 0.999, "{} {sent_s}", way.sent.span_s);
    if way.sent.span_s <= seconds * 1.005 {
        agree("datagrams/s", way.datagrams_per_s, unique.len() as f64 / seconds);
        let bits: usize = unique.values().map(|c| c.payload_bytes * 8).sum();
        agree("throughput", way.throughput_bps, bits as f64 / seconds);
    } else {
        not_judged(format_args!("the sender looked at the clock {} s after {sent_s} s", way.sent.span_s - sent_s));
    }

    let mut delays: Vec<f64> = unique.values().map(|c| (c.at_ns - c.intended_ns as f64) / 1e3).collect();
    delays.sort_by(f64::total_cmp);
    agree("p50", way.latency_us.p50_us.expect("some arrived"), quantile(&delays, 0.5));
    agree("p99", way.latency_us.p99_us.expect("some arrived"), quantile(&delays, 0.99));
    assert!(delays[0] >= 20_000.0, "the relay holds each for 20 ms: {} us", delays[0]);
    agree("jitter", way.jitter_us.expect("some arrived"), jitter_us(&after));

    // The time of the path and the lateness of the sender are the two parts of the latency.
    let left: HashMap<u64, f64> = before.iter().map(|c| (c.sequence, c.at_ns - c.intended_ns as f64)).collect();
    let mut late: Vec<f64> = left.values().map(|ns| ns / 1e3).collect();
    late.sort_by(f64::total_cmp);
    let pacing = way.pacing_error_us.p50_us.expect("some left");
    // From the schedule to the frame: the system call and the way through the stack come on top.
    assert!(pacing <= quantile(&late, 0.5) * 1.01, "{pacing} {}", quantile(&late, 0.5));
}

/// Result of a load of `PPS` datagrams a second for `SECONDS` with one of the two. It can be judged if nothing but the
/// path and the program itself decided about it.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    per_s: f64,
    loss: f64,
    kept_up: bool,
}

const PPS: u32 = 2000;
const SECONDS: u32 = 2;
const PAYLOAD_BYTES: usize = 1000;

/// Whether a sender sent what it was to, in the time in which it was to: within 0.3 %.
fn kept_up(sent: f64, seconds: f64) -> bool {
    let (rate, all) = (sent / seconds / f64::from(PPS), sent / f64::from(PPS * SECONDS));
    (rate - 1.0).abs() <= 0.003 && (all - 1.0).abs() <= 0.003
}

/// Datagrams that found no room with a receiver in namespace `server`, whose program was not there to read.
fn full_buffers() -> u64 {
    let out = Command::new("ip").args(["netns", "exec", "server", "cat", "/proc/net/snmp"]).output().expect("ip");
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let mut udp = text.lines().filter_map(|line| line.strip_prefix("Udp: "));
    let (names, numbers) = udp.next().zip(udp.next()).expect("two lines");
    let mut pairs = names.split(' ').zip(numbers.split(' '));
    pairs.find(|(name, _)| *name == "RcvbufErrors").and_then(|(_, number)| number.parse().ok()).expect("a number")
}

/// iperf3's, as its receiver counted.
fn iperf3() -> Outcome {
    let mut server = Command::new("ip");
    server.args(["netns", "exec", "server", "iperf3", "-s", "-1", "-B", "10.2.0.2"]);
    let server = Killed(server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("iperf3"));
    // Its port, 5201, in state LISTEN of its namespace.
    let sockets = format!("/proc/{}/net/tcp", server.0.id());
    let listens = |line: &str| line.contains(":1451 00000000:0000 0A");
    wait_for("iperf3 to listen", || std::fs::read_to_string(&sockets).ok()?.lines().any(listens).then_some(()));
    let full = full_buffers();
    let (bits, length) = ((PPS as usize * PAYLOAD_BYTES * 8).to_string(), PAYLOAD_BYTES.to_string());
    let seconds = SECONDS.to_string();
    let words = ["-c", "10.2.0.2", "-u", "-b", &bits, "-l", &length, "-t", &seconds, "-J"];
    let ran = Command::new("iperf3").args(words).output().expect("iperf3");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
    let json: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("a document");
    let number = |key: &str| json.pointer(key).and_then(serde_json::Value::as_f64).expect(key);
    // Its "received" is what was sent; the sum has the receiver's counts (3.12).
    let (sent, lost, span_s) =
        (number("/end/sum/packets"), number("/end/sum/lost_packets"), number("/end/sum/seconds"));
    let kept_up = kept_up(sent, span_s) && full_buffers() == full;
    Outcome { per_s: (sent - lost) / span_s, loss: lost / sent, kept_up }
}

fn takt_udp() -> Outcome {
    let report = beside_server(Some("server"), "10.2.0.2:0", |server| {
        let duration = Duration::from_secs(SECONDS.into());
        load(&UdpOptions { payload_bytes: PAYLOAD_BYTES, duration, datagrams: None, ..options(server) })
    });
    let way = &report.way;
    let kept_up = kept_up(way.sent.datagrams as f64, way.sent.span_s) && way.lost.by_place.receiver_buffer == 0;
    Outcome { per_s: way.datagrams_per_s, loss: way.lost.share, kept_up }
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn iperf3_agrees_where_both_are_below_what_the_path_carries() {
    const TEST: &str = "udp_truth::iperf3_agrees_where_both_are_below_what_the_path_carries";
    if !have(&["iperf3"]) || !inside(TEST, ROUTED) {
        return;
    }
    let mut outcomes = Vec::new();
    for _ in 0..3 {
        let (theirs, ours) = (iperf3(), takt_udp());
        outcomes.push((theirs, ours));
        if theirs.kept_up && ours.kept_up {
            let agree = (ours.per_s / theirs.per_s - 1.0).abs() <= 0.01 && (ours.loss - theirs.loss).abs() <= 0.01;
            assert!(agree, "datagrams/s and loss, iperf3's and ours, do not agree: {outcomes:?}");
            return;
        }
    }
    not_judged(format_args!("the host did not let both keep up in any of three pairs: {outcomes:?}"));
}
