//! The uplink of a terminal.

use num_complex::Complex32;
use takt_lte::PrachConfig;
use takt_lte_link::UplinkOrders;
use takt_lte_radio::TerminalUplink;
use takt_runtime::{MakeError, component, graph::Value};

use crate::codec::{Coded, Reader};
use crate::records::SubframeEnd;
use crate::settings::{counts, subframe_len, terminal};

/// Subframes that are kept until they leave.
const KEPT: usize = 8;

struct LteUeSend {
    uplink: TerminalUplink,
    /// Samples from the beginning of a slot to the first that it gives.
    ahead: u64,
    burst: Vec<Complex32>,
    /// The samples to come, by their number.
    kept: Vec<Complex32>,
    /// One beyond the last sample of the last burst.
    sent_upto: u64,
    bursts: u64,
    late: u64,
    early: u64,
    refused: u64,
}

/// Makes the samples of uplink subframes: preambles, PUSCH, PUCCH, SC-FDMA (TS 36.211 section 5), each earlier by the timing advance.
/// In slot s it gives a slot of samples, from s + `ahead` on. A burst whose time has passed is counted as late; what is left of it is sent.
#[component(name = "lte-ue-send")]
impl LteUeSend {
    fn new(
        /// Resource blocks.
        #[param(range = 6..=100, default = 6)]
        prb: u32,
        /// Slots from the beginning of a slot until the first sample given in it is on the air. With the links from the receiver to
        /// here it adds up to 3 at most, less the longest timing advance: that early a burst may begin.
        #[param(unit = "slots", range = 0.0..=4.0, default = 1.0)]
        ahead: f64,
    ) -> Result<LteUeSend, MakeError> {
        let settings = terminal(prb)?;
        let len = settings.numerology.subframe_len();
        Ok(LteUeSend {
            uplink: TerminalUplink::new(&settings),
            ahead: (ahead * len as f64).round() as u64,
            burst: vec![Complex32::default(); len],
            kept: vec![Complex32::default(); KEPT * len],
            sent_upto: 0,
            bursts: 0,
            late: 0,
            early: 0,
            refused: 0,
        })
    }

    fn tick(&mut self, input: In<u8>, #[port(up_to = subframe_len(prb))] mut output: Out<Complex32>, slot: u64) {
        let len = self.burst.len() as u64;
        let first = slot * len + self.ahead;
        let mut orders = Reader(&input);
        while !orders.is_empty() {
            let Some(end) = SubframeEnd::get(&mut orders) else { break };
            let Some(prach) = Option::<PrachConfig>::get(&mut orders) else { break };
            let Some(ordered) = UplinkOrders::get(&mut orders) else { break };
            self.order(first, &end, prach, &ordered);
        }
        self.give(first, &mut output);
        if output.iter().all(|sample| *sample == Complex32::default()) {
            output.truncate(0);
        }
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        counts([("bursts", self.bursts), ("late", self.late), ("early", self.early), ("refused", self.refused)])
    }
}

impl LteUeSend {
    /// Takes the samples from `first` on out of what is kept.
    fn give(&mut self, first: u64, out: &mut [Complex32]) {
        let from = (first % self.kept.len() as u64) as usize;
        let (begin, rest) = out.split_at_mut((self.kept.len() - from).min(out.len()));
        for (part, at) in [(begin, from), (rest, 0)] {
            let kept = &mut self.kept[at..at + part.len()];
            part.copy_from_slice(kept);
            kept.fill(Complex32::default());
        }
    }

    /// Keeps a burst until it leaves. Samples before `first` have left.
    fn order(&mut self, first: u64, end: &SubframeEnd, prach: Option<PrachConfig>, orders: &UplinkOrders) {
        let Some(cell) = &end.cell else { return };
        // A broadcast with settings that the standard lacks is no reason to stop.
        let Ok(at) = self.uplink.send(end.next_begin, cell, prach, orders, &mut self.burst) else {
            self.refused += 1;
            return;
        };
        let Some(at) = at else { return };
        let len = self.burst.len() as u64;
        if at + len > first + self.kept.len() as u64 {
            self.early += 1;
            return;
        }
        self.late += u64::from(at < first);
        self.bursts += 1;
        // A burst begins after the one before it, even if the advance grew between them.
        let from = at.max(first).max(self.sent_upto).min(at + len);
        let kept = self.kept.len() as u64;
        for (number, sample) in (from..).zip(&self.burst[(from - at) as usize..]) {
            self.kept[(number % kept) as usize] = *sample;
        }
        self.sent_upto = at + len;
    }
}
