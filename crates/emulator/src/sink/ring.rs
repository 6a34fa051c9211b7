//! A sink that writes to a ring, for a thread that is not the device's.

use takt_base::{Complex32, Tick, TickRate, Ticks};

use super::{BurstEdges, Sink};
use crate::sample_ring::{Mark, Writer};
use crate::timebase::Timebase;

/// A sink that writes to a ring.
pub struct RingSink {
    writer: Writer,
    centre_hz: f64,
    clock: Timebase,
    /// Each burst is a run of its own.
    marks_bursts: bool,
}

impl RingSink {
    /// For a device whose clock has this rate until the device says another one.
    pub(crate) fn new(mut writer: Writer, clock: TickRate) -> RingSink {
        let clock = Timebase::of(clock);
        writer.mark(Mark { offset: 0, clock });
        RingSink { writer, centre_hz: 0.0, clock, marks_bursts: false }
    }

    /// Each burst is a run of its own, even where it follows the one before without a gap.
    pub(crate) fn marking_bursts(writer: Writer, clock: TickRate) -> RingSink {
        RingSink { marks_bursts: true, ..RingSink::new(writer, clock) }
    }
}

impl Sink for RingSink {
    fn clocked(&mut self, _from: Tick, base: Timebase) {
        self.clock = base;
        if !self.marks_bursts {
            self.writer.mark(Mark { offset: 0, clock: base });
        }
    }

    fn burst(&mut self, first: Tick, device_tick: u64) {
        if self.marks_bursts {
            self.writer.begin_burst(Mark { offset: device_tick.wrapping_sub(first.0), clock: self.clock });
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
            if self.marks_bursts {
                self.writer.end_burst();
            }
        }
    }
}
