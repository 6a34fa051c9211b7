//! Cost of a datagram of engine `uring` for its sender as a copy and by zero copy, alternately. Run it by
//! `cargo bench -p takt-packet --bench zero_copy` (root: a network namespace of its own).
//!
//! Three devices. Loopback and a virtual cable copy what was offered by zero copy, so that both are paid; the third has a queue that
//! swallows a frame and looks at no byte of it, as a card's driver would that has the bytes fetched by the card: there the price of
//! zero copy itself shows, without a driver's. A figure is processor time of the one thread, with what the kernel receives of it on that thread.
#![allow(clippy::print_stdout, reason = "a benchmark prints its result")]

#[path = "../../../tests/support/bench.rs"]
mod bench;

use std::process::Command;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use takt_base::{Clock, MonoNs, WallClock};
use takt_packet::{Config, Engine, EngineKind, PortIndex, PortSpec, Wait, ZeroCopy, open};

const WAYS: [(&str, ZeroCopy, bool); 4] = [
    ("copy", ZeroCopy::Never, false),
    ("zero copy", ZeroCopy::Always, false),
    ("copy, aggregates", ZeroCopy::Never, true),
    ("zero copy, aggregates", ZeroCopy::Always, true),
];
const SIZES: [usize; 6] = [64, 512, 1472, 4000, 8000, 16_000];
/// Rounds, and how long one lasts at least; where it need only run, a batch.
const MEASURED: (usize, Duration) = (9, Duration::from_millis(100));
const SHORT: (usize, Duration) = (1, Duration::ZERO);
/// Frames of any size are one piece.
const DEVICES: &str = "ip link set lo up
ip link add cable mtu 40000 type veth peer name end address 02:00:00:00:77:02 mtu 40000
ip link add nothing mtu 40000 type veth peer name nobody mtu 40000
ip addr add 10.77.1.1/24 dev cable
ip addr add 10.77.2.1/24 dev nothing
ip link set cable up
ip link set end up
ip link set nothing up
ip link set nobody up
tc qdisc add dev nothing root blackhole
ip neigh add 10.77.1.2 lladdr 02:00:00:00:77:02 dev cable nud permanent
ip neigh add 10.77.2.2 lladdr 02:00:00:00:00:02 dev nothing nud permanent";

/// A device, the address that it sends from, and whom it sends to: on loopback ourselves.
const PATHS: [(&str, &str, Option<&str>); 3] = [
    ("loopback", "127.0.0.1:0", None),
    ("veth", "10.77.1.1:0", Some("10.77.1.2:9")),
    ("nothing", "10.77.2.1:0", Some("10.77.2.2:9")),
];

struct Path {
    client: Box<dyn Engine>,
    /// The receiver, if there is one.
    server: Option<Box<dyn Engine>>,
}

impl Path {
    /// For datagrams of one size: frames then are one piece of memory together.
    fn open(zero_copy: ZeroCopy, aggregate: bool, size: usize, bind: &str, peer: Option<&str>) -> Path {
        let config = |peer| Config {
            zero_copy,
            aggregate,
            force_buffers: true,
            max_payload_bytes: size,
            ..Config::new(vec![PortSpec { bind: bind.parse().expect("an address"), peer }])
        };
        let server = peer.is_none().then(|| open(EngineKind::Uring, &config(None)).expect("it opens"));
        let own = server.as_ref().and_then(|server| server.local(PortIndex(0)));
        let peer = own.or_else(|| peer.map(|peer| peer.parse().expect("an address")));
        Path { client: open(EngineKind::Uring, &config(peer)).expect("it opens"), server }
    }

    /// Processor time a datagram, ns, over one round of at least a batch.
    fn round(&mut self, size: usize, lasts: Duration) -> f64 {
        let (begin, used, mut count) = (Instant::now(), thread_ns(), 0);
        loop {
            let mut batch = self.client.reserve(64);
            while batch.push(PortIndex(0), None, |_| size) {}
            let sent = batch.send(Wait::Until(MonoNs::NEVER)).expect("it lives");
            let mut missing = self.server.as_ref().map_or(0, |_| sent);
            while let (Some(server), 1..) = (&mut self.server, missing) {
                let got = server.recv(Wait::Until(WallClock.now() + Duration::from_secs(30))).expect("it lives").len();
                assert!(got > 0, "loopback lost {missing} of {sent} datagrams");
                missing -= got;
            }
            count += sent;
            if begin.elapsed() >= lasts {
                return (thread_ns() - used) / count as f64;
            }
        }
    }
}

fn thread_ns() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A network of this thread's own, with the devices; `false` where that is not permitted.
fn devices() -> bool {
    takt_host::namespace::unshare_network().is_ok()
        && Command::new("sh").args(["-ec", DEVICES]).output().is_ok_and(|out| out.status.success())
}

fn main() {
    let (rounds, lasts) = if bench::measures() { MEASURED } else { SHORT };
    if !devices() {
        return println!("skipped: no network namespace with devices of its own   (run as root; iproute2)");
    }
    println!(
        "ns of processor time a datagram, median of {rounds} interleaved rounds; x = over the copy; what the kernel reported"
    );
    for (device, bind, peer) in PATHS {
        for size in SIZES {
            let open = |&(_, zero_copy, aggregate)| Path::open(zero_copy, aggregate, size, bind, peer);
            let mut ways: Vec<Path> = WAYS.iter().map(open).collect();
            let mut costs = vec![Vec::new(); WAYS.len()];
            for _ in 0..=rounds {
                for (way, costs) in ways.iter_mut().zip(&mut costs) {
                    costs.push(way.round(size, lasts));
                }
            }
            // The first round warms up.
            let medians: Vec<f64> = costs.into_iter().map(|costs| median(costs[1..].to_vec())).collect();
            print!("{device:>9} {size:>6} B");
            for (number, (name, ..)) in WAYS.iter().enumerate() {
                let cost = medians[number];
                print!("  {name} {cost:>6.0} {:>5.2} x", cost / medians[number & !1]);
            }
            println!();
            for ((name, ..), way) in WAYS.iter().zip(&ways) {
                println!("{:>18} {name}: {}", "", way.client.limits().path);
            }
        }
    }
}
