//! Compares what arrives with what was sent.

use crate::items::counts;
use takt_graph::Value;
use takt_runtime::{Bit, component};

struct BitSinkCompare {
    seed: u64,
    late: u64,
    bits: i64,
    errors: i64,
    missing: i64,
    sent: Vec<Bit>,
}

/// Counts errors against the sequence of a `bit-source` with the same seed. A missing packet is counted as such, and
/// none of its bits as an error.
#[component]
impl BitSinkCompare {
    fn new(
        /// Which sequence was sent.
        #[param(default = 1)]
        seed: u64,
        /// By how many bits what arrives is behind what was sent: those of the slots for which a component held it back.
        #[param(unit = "items", range = 0..=1_000_000_000, default = 0)]
        late: u64,
    ) -> BitSinkCompare {
        BitSinkCompare { seed, late, bits: 0, errors: 0, missing: 0, sent: Vec::new() }
    }

    fn prepare(&mut self, ports: &takt_runtime::Prepared<'_>) -> Result<(), String> {
        self.sent = vec![Bit(0); ports.input_items.first().copied().unwrap_or(0)];
        Ok(())
    }

    fn tick(&mut self, input: In<Bit>) {
        if input.missing() {
            self.missing += 1;
            return;
        }
        // A packet that its maker numbered is compared where it belongs, whatever was lost before it.
        let sent = &mut self.sent[..input.len()];
        super::bits::fill(self.seed, input.first_item().saturating_sub(self.late), sent);
        self.bits += input.len() as i64;
        self.errors += sent.iter().zip(input).filter(|(sent, got)| sent != got).count() as i64;
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        counts([("bits", self.bits), ("bit_errors", self.errors), ("missing_packets", self.missing)])
    }
}
