//! Calls to count instructions of: `instructions KERNEL CALLS` runs a thousand slots of sixteen components that do nothing, or hands
//! over a thousand packets, so many times over; without arguments each is run once.
//!
//! `tests/instructions/run` runs this under cachegrind, with few calls and with many: the difference is the call path's.

#[path = "support/nulls.rs"]
mod nulls;

use takt_base::Stop;
use takt_graph::{Graph, Latency, Plan};
use takt_runtime::ring::ring;
use takt_runtime::{Session, SessionOptions};

use nulls::{chain, registry};

/// Slots one after the other on one worker.
fn run(slots: u64, burst: u64) {
    let registry = registry();
    let graph = Graph::check(&chain(16), &registry).unwrap_or_else(|error| panic!("{error}"));
    let plan = Plan::assign(&graph, &vec![0; graph.components().len()], Latency::Compact).expect("one worker");
    let options = SessionOptions { slots: Some(slots), burst, hash: false, ..SessionOptions::default() };
    let report = Session::open(&graph, &plan, &registry, options).expect("opens").run(&Stop::new()).expect("starts");
    assert_eq!((report.slots, report.misses), (slots, 0));
}

/// A packet of one word after the other through a link, both ends on one core: neither ever waits.
fn hand_over(slots: u64) {
    let (mut writer, mut readers) = ring([0_u64; 4], 1);
    let reader = &mut readers[0];
    for slot in 0..slots {
        assert!(writer.free(slot));
        if let Some(cell) = writer.cell(slot) {
            *cell = slot;
        }
        writer.publish(slot);
        assert!(reader.ready(slot));
        assert_eq!(reader.cell(slot).copied(), Some(slot));
        reader.release(slot + 1);
    }
}

/// Does its work in so many slots.
type Kernel = fn(u64);

const KERNELS: [(&str, Kernel); 3] =
    [("call", |slots| run(slots, 1)), ("call-in-bursts", |slots| run(slots, 16)), ("hand-over", hand_over)];

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let (kernel, calls) = (arguments.next(), arguments.next().and_then(|text| text.parse::<u64>().ok()));
    for (_, run) in KERNELS.iter().filter(|(name, _)| kernel.as_deref().is_none_or(|kernel| kernel == *name)) {
        run(calls.unwrap_or(1) * 1000);
    }
}
