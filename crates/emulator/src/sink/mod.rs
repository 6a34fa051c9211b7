//! Destinations of an emulated transmitter's signal.

mod begin;
mod counts;
mod memory;
mod output;
mod recorder;
mod ring;
mod spec;

use takt_base::{Complex32, Tick, TickRate};

use crate::timebase::Timebase;

pub(crate) use counts::Counts;
pub use memory::{Burst, Memory, Remembered};
pub(crate) use recorder::{Recording, remember, start};
pub use ring::RingSink;
pub use spec::Spec;

/// The radio whose signal is recorded, for the metadata of recordings.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    pub clock: TickRate,
    /// Origin that a recording states: "N200 EMU001".
    pub hw: String,
    /// UTC at tick 0, in ns since 1970, for the times in recordings; without it there are none.
    pub utc_at_tick_0_ns: Option<u64>,
}

/// Whether a block of samples opens or closes its burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BurstEdges {
    /// The first sample is the first of a burst.
    pub start: bool,
    /// The last sample is the last of a burst.
    pub end: bool,
}

/// Samples that leave the DAC: contiguous samples of a running burst, `step` ticks each. A change holds from its sample on: a
/// device that is told of one while it plays a packet says so, and gives the rest of that packet anew.
pub trait Sink: Send {
    /// From tick `from` on the clock that counts ticks has another rate.
    fn clocked(&mut self, _from: Tick, _base: Timebase) {}

    /// The radio frequency at which 0 Hz of the samples leaves from tick `from` on, in Hz (oscillator, DAC shift and DUC
    /// word together).
    fn tuned(&mut self, _from: Tick, _centre_hz: f64) {}

    /// The radio frequency of the board's oscillator from tick `from` on, in Hz: around it lies what a board does wrong.
    fn oscillator(&mut self, _from: Tick, _hz: f64) {}

    /// False: the samples would be thrown away, so the device need not even decode them.
    fn wants_samples(&self) -> bool {
        true
    }

    /// A burst begins at tick `first`, when the time of the device is `device_tick`. Its first samples follow.
    fn burst(&mut self, _first: Tick, _device_tick: u64) {}

    /// The device has reached a tick: what was taken for earlier ones has left, and stays as it is.
    fn passed(&mut self, _until: Tick) {}

    /// Takes the samples of ticks `first`, `first + step`, ... of the free-running counter, no later than the device
    /// reaches `first`. They replace what was taken for these ticks and later ones. Never allocates, locks or waits.
    fn take(&mut self, first: Tick, step: u32, samples: &[Complex32], edges: BurstEdges);
}

/// Nowhere.
#[derive(Clone, Copy, Debug)]
pub struct Null;

impl Sink for Null {
    fn wants_samples(&self) -> bool {
        false
    }

    fn take(&mut self, _first: Tick, _step: u32, _samples: &[Complex32], _edges: BurstEdges) {}
}
