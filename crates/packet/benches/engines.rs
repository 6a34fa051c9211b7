//! Engines against each other on loopback, interleaved round by round: `cargo bench -p takt-packet`.
//!
//! One thread sends a batch of 64 and receives it again, so a figure is the whole cost of a datagram in this host's
//! socket layer, both ends. Loopback carries aggregates whole: columns with aggregates are no packet rate of any path.
#![allow(clippy::print_stdout, reason = "a benchmark prints its result")]

#[path = "../../../tests/support/bench.rs"]
mod bench;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use takt_base::{Clock, WallClock};
use takt_packet::{Config, Engine, EngineKind, PortIndex, PortSpec, Wait, open};

const ENGINES: [(&str, EngineKind, bool); 5] = [
    ("socket", EngineKind::Socket, false),
    ("mmsg", EngineKind::Mmsg, false),
    ("mmsg+aggregate", EngineKind::Mmsg, true),
    ("uring", EngineKind::Uring, false),
    ("uring+aggregate", EngineKind::Uring, true),
];
const SIZES: [usize; 5] = [16, 64, 512, 1472, 8000];
/// Rounds, and how long one lasts at least; where it need only run, a batch.
const MEASURED: (usize, Duration) = (9, Duration::from_millis(100));
const SHORT: (usize, Duration) = (1, Duration::ZERO);
/// No datagram takes so long through loopback.
const LOST: Duration = Duration::from_secs(30);
const LOOPBACK: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

struct Pair(Box<dyn Engine>, Box<dyn Engine>);

impl Pair {
    fn open(kind: EngineKind, aggregate: bool) -> Pair {
        let config = |peer| Config {
            aggregate,
            max_payload_bytes: 9000,
            ..Config::new(vec![PortSpec { bind: LOOPBACK, peer }])
        };
        let server = open(kind, &config(None)).expect("loopback");
        let client = open(kind, &config(server.local(PortIndex(0)))).expect("loopback");
        Pair(server, client)
    }

    /// Datagrams a second through both ends, over one round of at least a batch.
    fn round(&mut self, size: usize, lasts: Duration) -> f64 {
        let (begin, mut count) = (Instant::now(), 0);
        loop {
            let mut batch = self.1.reserve(64);
            while batch.push(PortIndex(0), None, |_| size) {}
            let sent = batch.send(Wait::Poll).expect("loopback");
            assert!(sent > 0, "loopback takes no datagram");
            let mut missing = sent;
            while missing > 0 {
                let got = self.0.recv(Wait::Until(WallClock.now() + LOST)).expect("loopback").len();
                assert!(got > 0, "loopback lost {missing} of {sent} datagrams");
                missing -= got;
            }
            count += sent;
            if begin.elapsed() >= lasts {
                break;
            }
        }
        count as f64 / begin.elapsed().as_secs_f64()
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let (rounds, lasts) = if bench::measures() { MEASURED } else { SHORT };
    println!("kdatagrams/s, both ends on one thread, median of {rounds} interleaved rounds; x = over socket");
    print!("{:>6}", "bytes");
    ENGINES.iter().for_each(|(name, ..)| print!("  {name:>22}"));
    println!();
    let mut pairs: Vec<Pair> = ENGINES.iter().map(|&(_, kind, aggregate)| Pair::open(kind, aggregate)).collect();
    for size in SIZES {
        let mut rates = vec![Vec::new(); ENGINES.len()];
        for _ in 0..=rounds {
            for (pair, rates) in pairs.iter_mut().zip(&mut rates) {
                rates.push(pair.round(size, lasts));
            }
        }
        // The first round warms up.
        let medians: Vec<f64> = rates.into_iter().map(|rates| median(rates[1..].to_vec())).collect();
        print!("{size:>6}");
        medians.iter().for_each(|rate| print!("  {:>13.0} {:>6.2} x", rate / 1e3, rate / medians[0]));
        println!();
    }
}
