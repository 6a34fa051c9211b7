//! Report of a hop.

use serde::{Deserialize, Serialize};

use crate::model::Counters;

/// Frames that have passed, those dropped and where, and whether the hop kept its own times.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    pub counters: Counters,
    pub lateness: Lateness,
    pub priority: Option<u8>,
    /// Event that stopped it, if one did: an interface went away.
    pub ended: Option<String>,
}

/// The hop against its model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lateness {
    pub max_ns: u64,
    /// Frames that left more than a millisecond late.
    pub over_1ms: u64,
}

impl Lateness {
    pub(super) fn record(&mut self, late_ns: u64) {
        self.max_ns = self.max_ns.max(late_ns);
        self.over_1ms += u64::from(late_ns > 1_000_000);
    }
}
