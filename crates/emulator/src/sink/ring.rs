//! A sink that writes to a ring, for a thread that is not the device's.

use takt_base::{Complex32, Tick, TickRate, Ticks};

use super::{BurstEdges, Sink};
use crate::sample_ring::{Mark, Writer};
use crate::timebase::Timebase;

/// A sink that writes to a ring.
pub struct RingSink {
    writer: Writer,
    centre_hz: f64,
    /// Ticks in a second, if each burst is to be a run of its own.
    marks: Option<u32>,
}

impl RingSink {
    pub(crate) fn new(writer: Writer) -> RingSink {
        RingSink { writer, centre_hz: 0.0, marks: None }
    }

    /// Each burst is a run of its own, even where it follows the one before without a gap.
    pub(crate) fn marking_bursts(writer: Writer, clock: TickRate) -> RingSink {
        RingSink { marks: Some(clock.hz()), ..RingSink::new(writer) }
    }
}

impl Sink for RingSink {
    fn clocked(&mut self, _from: Tick, base: Timebase) {
        self.marks = self.marks.map(|_| base.rate().hz());
    }

    fn burst(&mut self, first: Tick, device_tick: u64) {
        if let Some(clock_hz) = self.marks {
            self.writer.begin_burst(Mark { offset: device_tick.wrapping_sub(first.0), clock_hz });
        }
    }

    /// The device gives samples of later ticks anew.
    fn tuned(&mut self, _from: Tick, centre_hz: f64) {
        self.centre_hz = centre_hz;
    }

    fn passed(&mut self, until: Tick) {
        self.writer.settle(until);
    }

    fn take(&mut self, first: Tick, step: u32, samples: &[Complex32], edges: BurstEdges) {
        self.writer.push(first, step, self.centre_hz, samples);
        if edges.end {
            self.writer.end_at(first + Ticks(samples.len() as u64 * u64::from(step)));
            if self.marks.is_some() {
                self.writer.end_burst();
            }
        }
    }
}
