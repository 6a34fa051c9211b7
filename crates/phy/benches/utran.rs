//! Time of the 14 components of UTRA FDD's 384 kb/s channel in a slot of 10 ms, on one core: `cargo bench -p takt-phy`.
//!
//! `waveforms/utran.toml` as the runtime executes it, slot after slot, two iterations of the turbo decoder as in the ALOE paper.
//! Beside each component its floor: copying as many bytes as it reads and writes together take, half in, half out, measured in
//! the same run. Components, floor, components, floor: medians of turns, so that what disturbs the machine meets both. Times
//! of a shared machine mean little; ratios and floors mean more.
#![allow(clippy::print_stdout, reason = "a benchmark speaks")]

#[path = "../../../tests/support/bench.rs"]
mod bench;

use std::hint::black_box;
use std::time::Instant;

use takt_base::Stop;
use takt_graph::{Graph, Latency, Plan, Waveform};
use takt_runtime::{Registry, Session, SessionOptions};

const FILE: &str = include_str!("../../../waveforms/utran.toml");

/// The components of the paper's Table I, in its order.
const CHAIN: [&str; 14] = [
    "crc",
    "turbo-coder",
    "rate-match",
    "interleaver-1",
    "segmentation",
    "mux",
    "interleaver-2",
    "deinterleaver-2",
    "demux",
    "unsegment",
    "deinterleaver-1",
    "rate-dematch",
    "turbo-decoder",
    "crc-check",
];

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Copying so many bytes, ns.
fn copying(bytes: usize) -> f64 {
    let (from, mut to) = (vec![1_u8; bytes], vec![0_u8; bytes]);
    let calls = 2000;
    let begun = Instant::now();
    for _ in 0..calls {
        black_box(&mut to[..]).copy_from_slice(black_box(&from));
    }
    begun.elapsed().as_nanos() as f64 / f64::from(calls)
}

/// A component's bytes a slot, all its links together.
fn bytes(graph: &Graph, name: &str) -> usize {
    let index = graph.components().iter().position(|component| component.name == name).expect("in the waveform");
    let own = graph.links().iter().filter(|link| link.from.component == index || link.to.component == index);
    own.map(|link| link.lengths.max as usize * link.item.bytes()).sum()
}

/// Median execution time of each component of the chain, ns.
fn turn(graph: &Graph, registry: &Registry, slots: u64) -> [f64; 14] {
    let plan = Plan::single(graph, Latency::Compact);
    let options = SessionOptions { slots: Some(slots), hash: false, ..SessionOptions::default() };
    let session = Session::open(graph, &plan, registry, options).expect("opened");
    let report = session.run(&Stop::new()).expect("started");
    assert_eq!((report.slots, report.misses), (slots, 0));
    CHAIN.map(|name| {
        let component = report.components.iter().find(|component| component.name == name).expect("there");
        component.histogram.quantile(0.5).unwrap_or(0) as f64
    })
}

fn main() {
    // How long it measures; where it need only run, once.
    let (turns, slots) = if bench::measures() { (9, 2000) } else { (1, 5) };
    takt_phy::link();
    let registry = Registry::of_program().expect("one name each");
    let graph = Graph::check(&Waveform::parse("utran.toml", FILE).expect("read"), &registry).expect("checked");
    let bytes = CHAIN.map(|name| bytes(&graph, name));
    let (mut times, mut floors) = (vec![Vec::new(); 14], vec![Vec::new(); 14]);
    turn(&graph, &registry, slots);
    for _ in 0..turns {
        for (all, one) in times.iter_mut().zip(turn(&graph, &registry, slots)) {
            all.push(one);
        }
        for (all, bytes) in floors.iter_mut().zip(bytes) {
            all.push(copying(bytes / 2));
        }
    }
    let (times, floors): (Vec<f64>, Vec<f64>) =
        (times.into_iter().map(median).collect(), floors.into_iter().map(median).collect());
    println!("{:<18} {:>9} {:>9} {:>9}", "component", "us", "copy, us", "x copy");
    let row = |name: &str, time: f64, floor: f64| {
        println!("{name:<18} {:>9.3} {:>9.3} {:>9.1}", time / 1e3, floor / 1e3, time / floor);
    };
    for ((name, time), floor) in CHAIN.iter().zip(&times).zip(&floors) {
        row(name, *time, *floor);
    }
    row("all", times.iter().sum(), floors.iter().sum());
    let decoder = times[12];
    println!("turbo decoder: {:.0} Mb/s times iterations", 3856.0 * 2.0 * 1e3 / decoder);
}
