//! Frequency, gain, antenna.

use std::time::Duration;

use takt_wire::n200::registers::{dsp, gpio, readback, settings, spi, status};
use takt_wire::n200::{MASTER_CLOCK_HZ, frequency};

use super::N200;
use super::hardware::LOOK_EVERY;
use crate::board::{BoardKind, Side, SideState};
use crate::{LoOffset, RadioError, TuneRequest, Tuned, lo_target_hz};

/// Registers of the output pins, in the order of [`crate::board::Pins`].
const PINS: [u8; 4] = [settings::GPIO_IDLE, settings::GPIO_RX, settings::GPIO_TX, settings::GPIO_BOTH];
/// First frequency of an SBX, as UHD has it; a WBX can't go there and gets its middle.
const FIRST_SBX_HZ: f64 = 2.4e9;
const FIRST_WBX_HZ: f64 = 1.134e9;
/// A synthesiser locks within this time, or not at all.
const LOCK_PATIENCE: Duration = Duration::from_millis(100);

/// First frequency of boards with a synthesiser, when a radio is opened.
pub(super) fn first_hz(board: BoardKind) -> Option<f64> {
    match board {
        BoardKind::Sbx => Some(FIRST_SBX_HZ),
        BoardKind::Wbx => Some(FIRST_WBX_HZ),
        _ => None,
    }
}

impl N200 {
    /// The daughterboards.
    #[must_use]
    pub fn board(&self) -> BoardKind {
        self.board
    }

    /// Tunes a receive DSP. Both share the oscillator: tuning one moves the other unless [`crate::LoOffset`] keeps it.
    ///
    /// # Errors
    /// `NoModel` of boards that takt can't set, `Range` outside their band, `OscillatorUnlocked`; the radio does not answer.
    pub fn tune_rx(&mut self, channel: u8, request: TuneRequest) -> Result<Tuned, RadioError> {
        let Some(&block) = settings::RX_DSP.get(usize::from(channel)) else {
            return Err(RadioError::Range { what: "receive DSP", got: f64::from(channel), low: 0.0, high: 1.0 });
        };
        let rate_sps = self.rx_rate_sps[usize::from(channel)];
        let lo_hz = self.tune_oscillator(Side::Rx, request, rate_sps)?;
        // The DSP turns what it receives by the word; what is at the target must come to rest at 0 Hz.
        let word = frequency::word_of(lo_hz - request.target_hz);
        self.fifo.poke(block + dsp::FREQUENCY, word as u32)?;
        self.expect_lock(Side::Rx)?;
        Ok(tuned(lo_hz, frequency::hz_of(word), -1.0))
    }

    /// Tunes the transmit DSP.
    ///
    /// # Errors
    /// As [`N200::tune_rx`].
    pub fn tune_tx(&mut self, request: TuneRequest) -> Result<Tuned, RadioError> {
        let lo_hz = self.tune_oscillator(Side::Tx, request, self.tx_rate_sps)?;
        let word = frequency::word_of(request.target_hz - lo_hz);
        self.fifo.poke(settings::TX_DSP + dsp::FREQUENCY, word as u32)?;
        self.expect_lock(Side::Tx)?;
        let tuned = tuned(lo_hz, frequency::hz_of(word), 1.0);
        self.tx_hz = tuned.actual_hz;
        Ok(tuned)
    }

    /// Tunes the oscillator of a side to the nearest it can make, which is returned, with the DSP at 0 Hz.
    ///
    /// # Errors
    /// As [`N200::tune_rx`].
    pub(crate) fn tune_oscillator_to(&mut self, side: Side, hz: f64) -> Result<f64, RadioError> {
        let lo_hz = self.tune_oscillator(side, TuneRequest { target_hz: hz, offset: LoOffset::Hz(0.0) }, 0.0)?;
        let block = match side {
            Side::Rx => settings::RX_DSP[0],
            Side::Tx => settings::TX_DSP,
        };
        self.fifo.poke(block + dsp::FREQUENCY, 0)?;
        self.expect_lock(side)?;
        if side == Side::Tx {
            self.tx_hz = lo_hz;
        }
        Ok(lo_hz)
    }

    /// Sets the gain of a side to the nearest its board has, which is returned, dB.
    ///
    /// # Errors
    /// `Board` if there is none to set, `NoModel` if takt does not know how, `Range` outside it; the radio does not answer.
    pub fn set_gain_db(&mut self, side: Side, gain_db: f64) -> Result<f64, RadioError> {
        let board = self.board;
        let range = board.gains_db(side).ok_or_else(|| self.lacks("gain"))?;
        if !range.contains(gain_db) {
            let what = match side {
                Side::Rx => "receive gain in dB",
                Side::Tx => "transmit gain in dB",
            };
            return Err(RadioError::Range { what, got: gain_db, low: range.low, high: range.high });
        }
        let actual = (gain_db / range.step).round() * range.step;
        self.side_mut(side).gain_db = actual;
        match board.tx_gain_word(actual).filter(|_| side == Side::Tx) {
            Some(word) => self.write_aux_dac(spi::TX_AUX_DAC, word)?,
            None => self.write_pins()?,
        }
        Ok(actual)
    }

    /// Connects a side to an antenna, by name.
    ///
    /// # Errors
    /// `Name` if the board has no such antenna, `Board` or `NoModel` if it has none to choose; the radio does not answer.
    pub fn set_antenna(&mut self, side: Side, name: &str) -> Result<(), RadioError> {
        let known = self.board.antennas(side);
        if known.is_empty() {
            return Err(self.lacks("antenna"));
        }
        let Some(antenna) = known.iter().position(|antenna| antenna.eq_ignore_ascii_case(name)) else {
            let known = known.iter().map(ToString::to_string).collect();
            let what = match side {
                Side::Rx => "receive antenna",
                Side::Tx => "transmit antenna",
            };
            return Err(RadioError::Name { what, got: name.to_owned(), known });
        };
        self.side_mut(side).antenna = antenna;
        self.write_pins()
    }

    /// State of a side.
    #[must_use]
    pub fn side(&self, side: Side) -> &SideState {
        match side {
            Side::Rx => &self.rx_side,
            Side::Tx => &self.tx_side,
        }
    }

    /// Whether the synthesiser of a side is locked; `None`: the board has none. Fails if the radio does not answer.
    pub fn lo_locked(&mut self, side: Side) -> Result<Option<bool>, RadioError> {
        if !self.board.has_oscillator() {
            return Ok(None);
        }
        let pin = match side {
            Side::Rx => gpio::RX_LO_LOCKED,
            Side::Tx => gpio::TX_LO_LOCKED,
        };
        let locked = self.fifo.peek(readback::GPIO)? & pin != 0;
        if self.side(side).locked != locked {
            self.side_mut(side).locked = locked;
            self.write_pins()?; // the board's LED
        }
        Ok(Some(locked))
    }

    /// Whether the synthesiser of a side is locked, or locks within 100 ms; `None`: the board has none.
    /// Fails if the radio does not answer.
    pub fn lo_locks(&mut self, side: Side) -> Result<Option<bool>, RadioError> {
        let until = self.net.now() + LOCK_PATIENCE;
        loop {
            let locked = self.lo_locked(side)?;
            if locked != Some(false) || self.net.now() >= until {
                return Ok(locked);
            }
            self.net.sleep(LOOK_EVERY);
        }
    }

    /// Whether the master clock follows its reference. Fails if the radio does not answer.
    pub fn reference_locked(&mut self) -> Result<bool, RadioError> {
        Ok(self.fifo.peek(readback::STATUS)? & status::REFERENCE_LOCKED != 0)
    }

    /// Whether another radio is there at the MIMO cable. Fails if the radio does not answer.
    pub fn mimo_link(&mut self) -> Result<bool, RadioError> {
        Ok(self.fifo.peek(readback::STATUS)? & status::MIMO_LINK != 0)
    }

    /// Brings corrections, multiplexers, pins and oscillators into a known state.
    pub(super) fn start_front_end(&mut self) -> Result<(), RadioError> {
        const FIXED: u32 = 0xC000_0000;
        for register in [settings::RX_DC_OFFSET_I, settings::RX_DC_OFFSET_Q] {
            // Fixes the offset that the FPGA subtracts at zero, then lets it follow the signal again.
            self.fifo.poke(register, FIXED)?;
            self.fifo.poke(register, 0)?;
        }
        for register in [
            settings::RX_IQ_MAGNITUDE,
            settings::RX_IQ_PHASE,
            settings::TX_DC_OFFSET_I,
            settings::TX_DC_OFFSET_Q,
            settings::TX_IQ_MAGNITUDE,
            settings::TX_IQ_PHASE,
            settings::RX_SWAP_IQ,
            settings::RX_DSP[0] + dsp::MUX,
            settings::RX_DSP[0] + dsp::FREQUENCY,
            settings::RX_DSP[1] + dsp::MUX,
            settings::RX_DSP[1] + dsp::FREQUENCY,
            settings::TX_DSP + dsp::FREQUENCY,
        ] {
            self.fifo.poke(register, 0)?;
        }
        self.fifo.poke(settings::TX_MUX, self.board.tx_mux())?;
        self.write_pins()?;
        self.fifo.poke(settings::GPIO_DIRECTION, self.board.directions())?;
        let Some(first_hz) = first_hz(self.board) else { return Ok(()) };
        for side in [Side::Rx, Side::Tx] {
            self.set_oscillator(side, first_hz)?;
        }
        self.tx_hz = self.tx_side.lo_hz;
        if let Some(word) = self.board.tx_gain_word(0.0) {
            self.write_aux_dac(spi::TX_AUX_DAC, word)?;
        }
        Ok(())
    }

    /// Everything off, as it was before it was opened.
    pub(super) fn stop_front_end(&mut self) -> Result<(), RadioError> {
        for register in PINS {
            self.fifo.poke(register, 0)?;
        }
        self.fifo.poke(settings::GPIO_DIRECTION, 0)
    }

    /// Why there is nothing to set: the boards have none of it, or takt does not know how.
    fn lacks(&self, what: &'static str) -> RadioError {
        match self.board {
            BoardKind::Unknown => RadioError::NoModel { boards: self.identity.boards(), what },
            board => RadioError::Board { board: board.name(), what },
        }
    }

    /// Returns when the synthesiser of a side has settled. A tuning for later has not begun.
    fn expect_lock(&mut self, side: Side) -> Result<(), RadioError> {
        if self.fifo.is_timed() || self.lo_locks(side)? != Some(false) {
            return Ok(());
        }
        let (addr, hz, waited) = (self.addr, self.side(side).lo_hz, LOCK_PATIENCE);
        let side = match side {
            Side::Rx => "receive",
            Side::Tx => "transmit",
        };
        Err(RadioError::OscillatorUnlocked { addr, side, hz, waited })
    }

    fn side_mut(&mut self, side: Side) -> &mut SideState {
        match side {
            Side::Rx => &mut self.rx_side,
            Side::Tx => &mut self.tx_side,
        }
    }

    /// Puts the oscillator where the policy wants it; returns where it is.
    fn tune_oscillator(&mut self, side: Side, request: TuneRequest, rate_sps: f64) -> Result<f64, RadioError> {
        let board = self.board;
        let range = board.frequencies_hz(side).ok_or_else(|| self.lacks("frequency"))?;
        let target = request.target_hz;
        if !range.contains(target) {
            return Err(RadioError::Range { what: "frequency in Hz", got: target, low: range.low, high: range.high });
        }
        if !board.has_oscillator() {
            return Ok(0.0);
        }
        // The offset must not lead out of the band that the target lies in.
        let wish = lo_target_hz(request, board.bandwidth_hz(), rate_sps).clamp(range.low, range.high);
        let half_clock = f64::from(MASTER_CLOCK_HZ) / 2.0;
        if (wish - target).abs() > half_clock {
            let (low, high) = (-half_clock, half_clock);
            return Err(RadioError::Range { what: "oscillator offset in Hz", got: wish - target, low, high });
        }
        self.set_oscillator(side, wish)
    }

    fn set_oscillator(&mut self, side: Side, hz: f64) -> Result<f64, RadioError> {
        let Some(synthesis) = self.board.oscillator(hz)? else { return Ok(0.0) };
        let slave = match side {
            Side::Rx => spi::RX_BOARD,
            Side::Tx => spi::TX_BOARD,
        };
        self.write_board(slave, &synthesis.words)?;
        let state = self.side_mut(side);
        state.lo_hz = synthesis.actual_hz;
        state.locked = false;
        self.write_pins()?;
        self.correct(side, synthesis.actual_hz)?;
        Ok(synthesis.actual_hz)
    }

    fn write_pins(&mut self) -> Result<(), RadioError> {
        if !self.board.has_oscillator() {
            return Ok(());
        }
        let pins = self.board.pins(&self.rx_side, &self.tx_side);
        for (register, word) in PINS.into_iter().zip(pins) {
            self.fifo.poke(register, word)?;
        }
        Ok(())
    }
}

fn tuned(lo_hz: f64, dsp_hz: f64, sign: f64) -> Tuned {
    Tuned { actual_hz: lo_hz + sign * dsp_hz, lo_hz, dsp_hz }
}
