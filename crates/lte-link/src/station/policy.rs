//! The order in which terminals are served: TS 36.300 leaves it to the base station.

use serde::{Deserialize, Serialize};

/// The order in which terminals with data are served. System information, answers and repetitions always go first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// In turn: who has waited longest.
    #[default]
    RoundRobin,
    /// The terminal with the best channel first. The others may starve.
    BestQuality,
    /// The terminal with the best channel first, in relation to its recent throughput.
    ProportionalFair,
}

/// The figures that the order depends on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Share {
    /// When it was served last.
    served_at: u64,
    /// Bits a subframe, averaged over a hundred.
    average: f32,
}

impl Share {
    /// Lower is first.
    pub(crate) fn rank(&self, policy: Policy, bits_of_element: f32) -> f64 {
        match policy {
            Policy::RoundRobin => self.served_at as f64,
            Policy::BestQuality => -f64::from(bits_of_element),
            Policy::ProportionalFair => -f64::from(bits_of_element / (self.average + 1.0)),
        }
    }

    /// A subframe in which it was given this many bits.
    pub(crate) fn served(&mut self, now: u64, bits: usize) {
        self.average += 0.01 * (bits as f32 - self.average);
        if bits > 0 {
            self.served_at = now;
        }
    }
}
