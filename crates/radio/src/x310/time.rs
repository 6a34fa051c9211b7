//! The radio's clock.

use takt_base::Tick;
use takt_wire::x310::registers::{board, timekeeper};

use super::X310;
use crate::RadioError;
use crate::clock::{ClockReading, best_reading};

impl X310 {
    /// The radio's time now. Fails if the radio does not answer.
    pub fn time(&mut self) -> Result<Tick, RadioError> {
        // Reading the low word keeps the high one.
        let tick = self.read_time(timekeeper::NOW_LOW, timekeeper::NOW_HIGH)?;
        self.anchor.set(self.net.now(), tick);
        Ok(tick)
    }

    /// Reads both clocks at one instant, as nearly as the path allows: the best of `tries` questions.
    /// Fails if the radio does not answer.
    pub fn read_clocks(&mut self, tries: u32) -> Result<ClockReading, RadioError> {
        let net = std::sync::Arc::clone(&self.net);
        best_reading(&*net, (self.clock.rate(), self.seen_speed()), tries, |at| {
            let low = self.firmware.board(board::TIMEKEEPER + timekeeper::NOW_LOW)?;
            Ok(self.anchor.complete(low, at()))
        })
    }

    /// Sets the radio's time, at once. Fails if the radio does not answer.
    pub fn set_time(&mut self, tick: Tick) -> Result<(), RadioError> {
        self.write_time(tick, timekeeper::SET_NOW)?;
        self.anchor.set(self.net.now(), tick);
        Ok(())
    }

    /// Sets the radio's time at its next PPS edge. Fails if the radio does not answer.
    pub fn set_time_at_pps(&mut self, tick: Tick) -> Result<(), RadioError> {
        self.write_time(tick, timekeeper::SET_AT_PPS)
    }

    /// The radio's time at its last PPS edge. Fails if the radio does not answer.
    pub fn time_at_last_pps(&mut self) -> Result<Tick, RadioError> {
        self.read_time(timekeeper::PPS_LOW, timekeeper::PPS_HIGH)
    }

    fn read_time(&mut self, low: u32, high: u32) -> Result<Tick, RadioError> {
        let low = self.firmware.board(board::TIMEKEEPER + low)?;
        let high = self.firmware.board(board::TIMEKEEPER + high)?;
        Ok(Tick(u64::from(high) << 32 | u64::from(low)))
    }

    fn write_time(&mut self, tick: Tick, when: u32) -> Result<(), RadioError> {
        let at = |word| board::TIMEKEEPER + word;
        self.firmware.set_board(at(timekeeper::NEW_LOW), tick.0 as u32)?;
        self.firmware.set_board(at(timekeeper::NEW_HIGH), (tick.0 >> 32) as u32)?;
        self.firmware.set_board(at(timekeeper::CONTROL), when)
    }
}
