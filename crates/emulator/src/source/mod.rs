//! Input of an emulated receiver.

mod generated;
mod loaded;
pub(crate) mod playback;
pub(crate) mod read_ahead;
pub(crate) mod samples;
mod spec;
pub(crate) mod store;

use takt_base::{Complex32, Tick, Ticks};

use crate::timebase::Timebase;

pub use generated::{Counter, Noise, Silence, Tone};
pub use loaded::LOADED_BYTES;
pub use spec::Spec;

/// Complex baseband at the ADC, full scale 1.0.
pub trait Source: Send {
    /// True: samples are integers of the wire, times full scale, that bypass gain and mixer (counter, recorded wire data).
    fn raw(&self) -> bool {
        false
    }

    /// From tick `from` on the clock that counts ticks has another rate. A source that is computed from ticks alone, or
    /// comes from a file, goes on as it was.
    fn clocked(&mut self, _from: Tick, _base: Timebase) {}

    /// The radio frequency that is 0 Hz in `out` from tick `from` on, in Hz (oscillator and DDC word together). Sources
    /// that stand alone give signals relative to the tuned centre and ignore it.
    fn tuned(&mut self, _from: Tick, _centre_hz: f64) {}

    /// The radio frequency of the board's oscillator from tick `from` on, in Hz: around it lies what a board does wrong.
    fn oscillator(&mut self, _from: Tick, _hz: f64) {}

    /// From tick `from` on the receiver is connected to the board's calibration port, where it gets this much of its own
    /// transmitter, or (`None`) to its antenna. Only sources that have such a port heed it.
    fn calibrating(&mut self, _from: Tick, _leakage: Option<f32>) {}

    /// How many ticks beyond the last sample of a block must have happened before the source can fill it exactly (half a
    /// resampling filter). The block begins at `first`, a sample every `step` ticks. May change whenever a sink takes
    /// samples, or the source is tuned; ask again at each deadline. The device sends the packet that much later; its time
    /// stamps do not move.
    fn lookahead(&self, _first: Tick, _step: u32) -> Ticks {
        Ticks(0)
    }

    /// Fills `out`: sample n belongs to free-running device tick `first + n * step`. Never allocates, locks or waits.
    fn fill(&mut self, first: Tick, step: u32, out: &mut [Complex32]);
}
