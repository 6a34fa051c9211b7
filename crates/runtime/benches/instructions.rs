//! Calls to count instructions of: `instructions KERNEL CALLS` runs a thousand slots of sixteen components that do nothing, so
//! many times over; without arguments each is run once.
//!
//! `tests/instructions/run` runs this under cachegrind, with few calls and with many: the difference is the call path's.

#[path = "support/nulls.rs"]
mod nulls;

use takt_base::Stop;
use takt_graph::{Graph, Latency, Plan};
use takt_runtime::{Options, Session};

use nulls::{chain, registry};

/// Slots one after the other on one worker.
fn run(slots: u64, burst: u64) {
    let registry = registry();
    let graph = Graph::check(&chain(16), &registry).unwrap_or_else(|error| panic!("{error}"));
    let plan = Plan::assign(&graph, &vec![0; graph.components().len()], Latency::Compact).expect("one worker");
    let options = Options { slots: Some(slots), burst, hash: false, ..Options::default() };
    let report = Session::open(&graph, &plan, &registry, options).expect("opens").run(&Stop::new()).expect("starts");
    assert_eq!((report.slots, report.misses), (slots, 0));
}

/// Name, and slots in a burst.
const KERNELS: [(&str, u64); 2] = [("call", 1), ("call-in-bursts", 16)];

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let (kernel, calls) = (arguments.next(), arguments.next().and_then(|text| text.parse::<u64>().ok()));
    for (_, burst) in KERNELS.iter().filter(|(name, _)| kernel.as_deref().is_none_or(|kernel| kernel == *name)) {
        run(calls.unwrap_or(1) * 1000, *burst);
    }
}
