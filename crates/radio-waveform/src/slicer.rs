//! Cuts a receive stream into slots, without losing count of a sample.
//!
//! A sample belongs to the slot that its time stamp says. Samples that the stream reports as lost, by an overflow or on
//! the way, are missing in their slots, to the sample. A slot with a missing sample is lost as a whole, since no
//! component computes with half a packet.

use takt_base::{Complex32, MonoNs, TickRate};
use takt_radio::{RadioError, Received, RxEvent, RxStream};

use crate::SlotGrid;

/// Channels of a stream at most.
pub(crate) const CHANNELS: usize = 2;

/// A slot that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotEnd {
    /// Which.
    pub slot: u64,
    /// Samples missing of it, per channel; 0: it is whole.
    pub lost_samples: u64,
    /// Whether the radio overflowed in it. With no sample missing, nobody knows how many are.
    pub overflow: bool,
}

/// Position of a stream in its slots.
#[derive(Clone, Debug)]
pub struct Slicer {
    grid: SlotGrid,
    /// The sample, counted from the start, that comes next.
    at: u64,
    /// Up to where samples are known to be missing; not beyond `at` where none are.
    resume: u64,
    /// The slot in hand.
    slot: u64,
    lost: u64,
    overflow: bool,
    /// The hole up to `resume` is an overflow's.
    overflowing: bool,
    /// The last sample of the burst has come.
    ended: bool,
}

impl Slicer {
    /// At the start of slot 0.
    #[must_use]
    pub fn new(grid: SlotGrid) -> Slicer {
        let (lost, overflow, overflowing, ended) = (0, false, false, false);
        Slicer { grid, at: 0, resume: 0, slot: 0, lost, overflow, overflowing, ended }
    }

    /// Whether the stream has come to its end.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Samples received or known to be lost, per channel.
    #[must_use]
    pub fn accounted(&self) -> u64 {
        self.at
    }

    /// Receives into `cells`, a buffer of a slot for each channel, until the slot in hand is over, something happened to the
    /// stream, or the clock shows `until`. A slot that is over is returned, and the next call begins the next one: at the start of
    /// `cells`.
    ///
    /// # Errors
    /// The stream is over, did not begin since the command came too late, or has another number of channels.
    ///
    /// # Panics
    /// If a buffer is not of a slot's length.
    pub fn step<'a>(
        &mut self,
        rx: &mut dyn RxStream,
        cells: impl Iterator<Item = &'a mut [Complex32]>,
        until: MonoNs,
    ) -> Result<Option<SlotEnd>, RadioError> {
        let end = (self.slot + 1) * self.grid.samples;
        self.cross(end);
        if self.at < end && !self.ended {
            let from = (self.at - self.slot * self.grid.samples) as usize;
            let mut room: [&mut [Complex32]; CHANNELS] = Default::default();
            let mut channels = 0;
            for (room, cell) in room.iter_mut().zip(cells) {
                assert_eq!(cell.len() as u64, self.grid.samples, "a buffer for each channel's slot");
                *room = &mut cell[from..];
                channels += 1;
            }
            let received = rx.recv(&mut room[..channels], until)?;
            self.take(received, rx.tick_rate())?;
            self.cross(end);
        }
        Ok((self.at == end).then(|| self.end_slot()))
    }

    /// Passes by what is missing of the slot in hand.
    fn cross(&mut self, end: u64) {
        let upto = self.resume.min(end);
        if upto > self.at {
            self.lost += upto - self.at;
            self.overflow |= self.overflowing;
            self.at = upto;
        }
    }

    fn take(&mut self, received: Received, clock: TickRate) -> Result<(), RadioError> {
        self.at += received.samples as u64;
        match received.event {
            Some(RxEvent::Overflow { lost, .. }) => self.hole(lost, true),
            Some(RxEvent::Dropped { lost, .. }) => self.hole(lost, false),
            Some(RxEvent::Unmeasured { .. }) => self.overflow = true,
            Some(RxEvent::EndOfBurst) => self.ended = true,
            Some(RxEvent::Late { by, .. }) => return Err(RadioError::StartedLate { by: clock.duration_of(by) }),
            _ => {}
        }
        Ok(())
    }

    fn hole(&mut self, lost: u64, overflow: bool) {
        self.resume = self.at + lost;
        self.overflowing = overflow;
    }

    fn end_slot(&mut self) -> SlotEnd {
        let end = SlotEnd { slot: self.slot, lost_samples: self.lost, overflow: self.overflow };
        self.slot += 1;
        (self.lost, self.overflow) = (0, false);
        end
    }
}
