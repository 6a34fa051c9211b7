//! The radio's clock: reading it, setting it, commands at a time.

use std::time::Duration;

use takt_base::{Speed, Tick};
use takt_wire::n200::registers::{readback, settings};
use takt_wire::n200::time;

use super::{CLOCK, N200};
use crate::RadioError;
use crate::clock::{ClockReading, best_reading};

/// A PPS edge must come within this time, or there is none.
const PPS_PATIENCE: Duration = Duration::from_millis(1500);
/// How often a time that could not be read in one piece, or set for sure, is tried again.
const TRIES: u32 = 3;

impl N200 {
    /// Reads both clocks at one instant, as nearly as the path allows: the best of `tries` questions.
    /// Fails if the radio does not answer.
    pub fn read_clocks(&mut self, tries: u32) -> Result<ClockReading, RadioError> {
        let net = std::sync::Arc::clone(&self.net);
        best_reading(&*net, (CLOCK, self.seen_speed()), tries, |at| {
            let low = self.control.peek(readback::TIME_LOW)?;
            Ok(self.anchor.complete(low, at()))
        })
    }

    /// The radio's time now. Fails if the radio does not answer.
    pub fn time(&mut self) -> Result<Tick, RadioError> {
        let tick = self.read_time(readback::TIME_HIGH, readback::TIME_LOW)?;
        self.anchor.set(self.net.now(), tick);
        Ok(tick)
    }

    /// Reading of the clock at the last PPS edge; 0 if there was none. Fails if the radio does not answer.
    pub fn time_at_last_pps(&mut self) -> Result<Tick, RadioError> {
        self.read_time(readback::PPS_HIGH, readback::PPS_LOW)
    }

    /// Sets the clock at once. Streams that are running report [`crate::RxEvent::Retimed`].
    /// Fails if the radio does not answer.
    pub fn set_time_now(&mut self, tick: Tick) -> Result<(), RadioError> {
        self.latch_time(tick, true)?;
        self.anchor.set(self.net.now(), tick);
        self.claim.touch_now();
        Ok(())
    }

    /// Sets the clock at the next PPS edge, within a second. Given to several radios between two edges of the same PPS, it
    /// makes their clocks one. Fails if the radio does not answer.
    pub fn set_time_at_next_pps(&mut self, tick: Tick) -> Result<(), RadioError> {
        self.latch_time(tick, false)?;
        // Half a second of the radio, give or take half a second, from now.
        self.anchor.set(self.net.now() + self.seen_speed().host_time(Duration::from_millis(500)), tick);
        Ok(())
    }

    /// Waits for a PPS edge, so that the next is a second away. Returns the clock's time at it.
    ///
    /// # Errors
    /// `NoPps` if none comes; the radio does not answer.
    pub fn await_pps(&mut self) -> Result<Tick, RadioError> {
        let before = self.time_at_last_pps()?;
        let waited = self.seen_speed().patience(PPS_PATIENCE);
        let until = self.net.now() + waited;
        loop {
            let last = self.time_at_last_pps()?;
            if last != before {
                return Ok(last);
            }
            if self.net.now() >= until {
                return Err(RadioError::NoPps { waited });
            }
            self.net.sleep(Duration::from_millis(10));
        }
    }

    /// Settings from now on take effect when the radio's clock passes `tick`; `None`: at once again. Until then the radio
    /// answers nothing that goes the same way, reading its time included. A tick that has passed means at once.
    /// Fails if the radio does not answer.
    pub fn set_command_time(&mut self, tick: Option<Tick>) -> Result<(), RadioError> {
        let Some(tick) = tick else {
            self.fifo.set_time(None);
            return Ok(());
        };
        // The slow path tells the time even while the FIFO waits.
        let low = self.control.peek(readback::TIME_LOW)?;
        let now = self.anchor.complete(low, self.net.now());
        let at = self.net.now() + self.seen_speed().duration_of(CLOCK, tick - now);
        self.fifo.set_time(Some((tick, at)));
        Ok(())
    }

    /// Returns when every setting so far has taken effect. Fails if the radio does not answer.
    pub fn flush(&mut self) -> Result<(), RadioError> {
        self.fifo.flush()
    }

    /// The wall's, unless it says something else.
    pub(super) fn seen_speed(&self) -> Speed {
        self.speed.unwrap_or_default()
    }

    fn read_time(&mut self, high: u8, low: u8) -> Result<Tick, RadioError> {
        let mut first = self.fifo.peek(high)?;
        let mut tick = 0;
        for _ in 0..TRIES {
            tick = time::join(first, self.fifo.peek(low)?);
            let second = self.fifo.peek(high)?;
            if second == first {
                break;
            }
            first = second;
        }
        Ok(Tick(tick))
    }

    fn latch_time(&mut self, tick: Tick, now: bool) -> Result<(), RadioError> {
        let [high, low] = time::split(tick.0);
        let mut last = Ok(());
        for _ in 0..TRIES {
            self.fifo.poke(settings::TIME_LOW, low)?;
            self.fifo.poke(settings::TIME_IMMEDIATE, u32::from(now))?;
            self.fifo.poke(settings::TIME_HIGH, high)?;
            last = self.fifo.flush();
            // The latch may or may not have acted. Latching afresh is right in either case.
            if !matches!(last, Err(RadioError::Unsure { .. })) {
                break;
            }
        }
        last
    }
}
