//! Where the signal of an emulated transmitter goes.

use takt_base::{Complex32, Tick};

/// Whether a block of samples opens or closes its burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BurstEdges {
    /// The first sample is the first of a burst.
    pub start: bool,
    /// The last sample is the last of a burst.
    pub end: bool,
}

/// What leaves the DAC: contiguous samples of a running burst, `step` ticks each.
pub trait Sink: Send {
    /// Takes the samples of ticks `first`, `first + step`, ... of the free-running counter. Never allocates, locks or
    /// waits.
    fn take(&mut self, first: Tick, step: u32, samples: &[Complex32], edges: BurstEdges);
}
