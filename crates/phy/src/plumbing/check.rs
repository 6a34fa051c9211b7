//! Order and content, checked.

use crate::items::counts;
use takt_graph::Value;
use takt_runtime::component;

/// Gives bytes that count on from packet to packet.
#[component]
fn counter(
    #[port(fixed = items)] mut output: Out<u8>,
    /// Bytes a slot.
    #[param(unit = "items", range = 1..=16_777_216, default = 1000)]
    items: u32,
) {
    let _ = items;
    let first = output.first_item();
    output.iter_mut().zip(first..).for_each(|(byte, n)| *byte = n as u8);
}

#[derive(Default)]
struct CounterSink {
    packets: i64,
    wrong: i64,
    missing: i64,
    next: u64,
    gaps: i64,
}

/// Checks the bytes of a `counter`: each where it belongs, none lost.
#[component]
impl CounterSink {
    fn new() -> CounterSink {
        CounterSink::default()
    }

    fn tick(&mut self, input: In<u8>) {
        self.packets += 1;
        self.missing += i64::from(input.missing());
        if input.missing() {
            return;
        }
        self.gaps += i64::from(input.first_item() != self.next);
        self.wrong += input.iter().zip(input.first_item()..).filter(|&(&byte, n)| byte != n as u8).count() as i64;
        self.next = input.first_item() + input.len() as u64;
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        let CounterSink { packets, wrong, missing, gaps, .. } = *self;
        counts([("packets", packets), ("wrong_bytes", wrong), ("missing_packets", missing), ("gaps", gaps)])
    }
}

/// Takes bits, for the sake of the waveform's output hash.
#[component(name = "hash-sink")]
fn hash_sink(input: In<takt_runtime::Bit>) {
    let _ = input;
}
