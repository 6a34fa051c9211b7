//! Frames lost, doubled, held back and delayed as requested.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::process::Command;
use std::time::{Duration, Instant};

use takt_testbed::net::Path;
use takt_testing::wait_for;

use super::{Ground, build, ground, namespaces_of, socket, spec, start};

/// Frames towards the radio, as the first hop counts them.
#[derive(Clone, Copy, Debug)]
struct Counted {
    arrived: u64,
    left: u64,
    doubled: u64,
    held_back: u64,
    dropped_by_chance: u64,
    dropped_otherwise: u64,
}

impl Counted {
    fn by(path: &mut Path) -> Counted {
        let flow = path.look().unwrap()[0].report.counters.flows[0];
        Counted {
            arrived: flow.in_frames,
            left: flow.out_frames,
            doubled: flow.doubled,
            held_back: flow.held_back,
            dropped_by_chance: flow.dropped_by_chance,
            dropped_otherwise: flow.dropped() - flow.dropped_by_chance,
        }
    }

    fn none_inside(&self) -> bool {
        self.arrived + self.doubled == self.left + self.dropped_by_chance + self.dropped_otherwise
    }

    fn since(self, before: Counted) -> Counted {
        Counted {
            arrived: self.arrived - before.arrived,
            left: self.left - before.left,
            doubled: self.doubled - before.doubled,
            held_back: self.held_back - before.held_back,
            dropped_by_chance: self.dropped_by_chance - before.dropped_by_chance,
            dropped_otherwise: self.dropped_otherwise - before.dropped_otherwise,
        }
    }
}

/// Counts of the hop once so many frames have arrived and none is inside.
fn settled(path: &mut Path, arrived: u64) -> Counted {
    wait_for("a hop with nothing inside", || {
        let counted = Counted::by(path);
        (counted.none_inside() && counted.arrived >= arrived).then_some(counted)
    })
}

/// Has each end and router know the others' hardware addresses for good, so that no frame but a test's own crosses.
/// Answers what the hop has counted until then.
fn without_arp(path: &mut Path, ground: &Ground) -> Counted {
    let radio = socket(&path.radio.namespace, (path.radio.address, 49151));
    let host = socket(&path.host.namespace, (path.host.address, 0));
    radio.set_nonblocking(true).unwrap();
    host.set_nonblocking(true).unwrap();
    wait_for("an answer across the path", || {
        host.send_to(b"?", (path.radio.address, 49151)).unwrap();
        while let Ok((_, from)) = radio.recv_from(&mut [0; 1]) {
            radio.send_to(b"!", from).unwrap();
        }
        host.recv(&mut [0; 1]).ok()
    });
    // One call, its options one word each: ADDRESS dev INTERFACE lladdr ADDRESS STATE.
    let script = "ip -4 neigh show | while read to dev name lladdr at state; do \
                  ip neigh replace $to dev $name lladdr $at nud permanent || exit; done";
    for namespace in namespaces_of(ground) {
        let done = Command::new("ip").args(["netns", "exec", &namespace, "sh", "-c", script]).status().unwrap();
        assert!(done.success(), "{namespace}");
    }
    settled(path, 0)
}

/// Sends numbered datagrams, and the next ones only when all before have arrived or were dropped; the numbers in order of
/// their arrival, and what the hop counted.
fn numbered(path: &mut Path, ground: &Ground, count: u32) -> (Vec<u32>, Counted) {
    /// Far fewer than any buffer on the way holds.
    const AT_ONCE: u32 = 100;
    let before = without_arp(path, ground);
    let radio = socket(&path.radio.namespace, (path.radio.address, 49152));
    let host = socket(&path.host.namespace, (path.host.address, 0));
    let mut seen = Vec::new();
    let mut counted = before;
    for first in (0..count).step_by(AT_ONCE as usize) {
        let end = count.min(first + AT_ONCE);
        for number in first..end {
            host.send_to(&number.to_be_bytes(), (path.radio.address, 49152)).unwrap();
        }
        counted = settled(path, before.arrived + u64::from(end)).since(before);
        assert_eq!(counted.arrived, u64::from(end), "nothing but the test's own crosses: {counted:?}");
        while seen.len() < counted.left as usize {
            let mut buffer = [0; 4];
            assert_eq!(radio.recv(&mut buffer).unwrap(), 4);
            seen.push(u32::from_be_bytes(buffer));
        }
    }
    radio.set_nonblocking(true).unwrap();
    assert!(radio.recv(&mut [0; 4]).is_err(), "more arrived than left the hop");
    (seen, counted)
}

/// The dice are seeded, so the counts are what they are; the bounds are four standard deviations of a fair one.
#[test]
fn impairments_are_as_they_were_requested() {
    let ground = ground("impaired");
    let count = 3000;
    let options = [("loss", "10%"), ("duplicate", "5%"), ("reorder", "3%"), ("hold", "5ms"), ("delay", "20ms")];
    let Some(mut path) = build(&ground, &spec("direct", &options)) else { return };
    let (seen, flow) = numbered(&mut path, &ground, count);
    let distinct: BTreeSet<u32> = seen.iter().copied().collect();
    assert_eq!(flow.dropped_otherwise, 0, "{flow:?}");
    assert_eq!(distinct.len() as u64, u64::from(count) - flow.dropped_by_chance);
    assert_eq!(seen.len() as u64, u64::from(count) - flow.dropped_by_chance + flow.doubled);
    let near = |got: u64, of: u64, share: f64| {
        let (mean, deviation) = (of as f64 * share, (of as f64 * share * (1.0 - share)).sqrt());
        assert!((got as f64 - mean).abs() < 4.0 * deviation, "{got} of {of}, requested {share}");
    };
    near(flow.dropped_by_chance, count.into(), 0.10);
    near(flow.doubled, u64::from(count) - flow.dropped_by_chance, 0.05);
    near(flow.held_back, u64::from(count) - flow.dropped_by_chance, 0.03);
    assert!(seen.windows(2).any(|pair| pair[1] < pair[0]), "something was overtaken");

    let host = socket(&path.host.namespace, (path.host.address, 0));
    let radio = socket(&path.radio.namespace, (path.radio.address, 49153));
    let mut attempt = 0_u32;
    // A busy machine is late now and then, a path that delays by more is late always.
    wait_for("a datagram that is delayed by what was requested and little more", || {
        attempt += 1;
        let begun = Instant::now();
        // Ten of them: one may be lost, or held back.
        for _ in 0..10 {
            host.send_to(&attempt.to_be_bytes(), (path.radio.address, 49153)).unwrap();
        }
        let mut number = [0; 4];
        while u32::from_be_bytes(number) != attempt {
            radio.recv(&mut number).unwrap();
        }
        let took = begun.elapsed();
        assert!(took >= Duration::from_millis(20), "never sooner than the delay");
        (took < Duration::from_millis(30)).then_some(())
    });
}

#[test]
fn an_independent_capture_sees_what_the_counters_say() {
    let ground = ground("capture");
    let options = [("loss", "20%"), ("duplicate", "10%"), ("seed", "5")];
    let Some(mut path) = build(&ground, &spec("router", &options)) else { return };
    // Short snapshots: the buffer holds thousands of them.
    let how = ["tcpdump", "-i", "radio0", "-nn", "-q", "-l", "-s", "128", "-B", "4096", "--immediate-mode"];
    let capture = [&how[..], &["udp", "dst", "port", "49152"]].concat();
    let Some(mut tcpdump) = start(&path.radio.namespace, &capture) else { return };
    let mut errors = BufReader::new(tcpdump.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains("listening on") {
        assert!(errors.read_line(&mut said).unwrap() > 0, "tcpdump ended: {said}");
    }
    let (seen, flow) = numbered(&mut path, &ground, 1000);
    let mut lines = BufReader::new(tcpdump.stdout.take().unwrap()).lines().map_while(Result::ok);
    let is_datagram = |line: &String| line.contains(": UDP,");
    let captured = lines.by_ref().filter(is_datagram).take(seen.len()).count();
    // It ends after what it has captured: more than arrived would show.
    Command::new("kill").args(["-INT", &tcpdump.id().to_string()]).status().unwrap();
    let captured = (captured + lines.filter(is_datagram).count()) as u64;
    errors.read_to_string(&mut said).unwrap();
    tcpdump.wait().unwrap();
    assert!(said.contains("\n0 packets dropped by kernel"), "{said}");
    assert_eq!(captured, seen.len() as u64, "{said}");
    assert_eq!(captured, 1000 - flow.dropped_by_chance + flow.doubled);
    assert!((100..300).contains(&flow.dropped_by_chance), "{} of 1000", flow.dropped_by_chance);
    let counters = path.counters().unwrap();
    let names: Vec<&str> = counters.iter().map(|node| node.node.as_str()).collect();
    assert_eq!(names, ["host", "router", "network", "radio"]);
    assert!(
        counters[0].interfaces["host0"].counts.tx_frames >= 1000
            && counters[3].interfaces["radio0"].counts.rx_frames >= captured
    );
}
