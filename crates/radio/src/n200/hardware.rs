//! Clock chip, converters and serial bus of the motherboard.
//!
//! The words are those UHD 4.3 was seen to write, in its order, when it opened a software radio, which ignores them.
//! **Untried on hardware**: no N200 was at hand.

use std::str::FromStr;
use std::time::Duration;

use takt_wire::n200::registers::{clock_control, settings, spi};

use super::N200;
use crate::RadioError;

/// Number of bits, and edges, for each slave: the upper half of the SPI control register.
const CLOCK_WORD: u32 = 0x5800_0000;
const DAC_WORD: u32 = 0x5000_0000;
const ADC_WORD: u32 = 0x9000_0000;
const AUX_DAC_WORD: u32 = 0x9800_0000;
const BOARD_WORD: u32 = 0x6000_0000;

/// A clock locks to its reference within this time, or not at all.
const REFERENCE_PATIENCE: Duration = Duration::from_secs(1);
/// How often a lock is looked at while it is waited for.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(5);

/// SPI clock: the bus clock divided by this and two.
const SPI_DIVIDER: u32 = 4;

/// AD9510: all outputs known, then the converters' and the bus clocks on. Register in bits 15:8, value in 7:0; 0x5A01
/// makes what was written before it hold.
const CLOCK_START: [u32; 25] = [
    0x0940, 0x0A04, 0x0400, 0x0500, 0x0605, 0x0B00, 0x0C01, 0x0844, 0x5A01, 0x4301, 0x5A01, 0x4101, 0x5A01, 0x4201,
    0x5444, 0x5A01, 0x3F08, 0x4F80, 0x5A01, 0x3E00, 0x4D80, 0x5A01, 0x3C0A, 0x4800, 0x4980,
];
/// AD9510: lock to the reference that [`clock_control`] selects.
const CLOCK_REFERENCE: [u32; 8] = [0x0847, 0x5A01, 0x4200, 0x5444, 0x5A01, 0x3800, 0x3900, 0x3A1A];
/// AD9510: clocks of both daughterboards at 100 MHz, on.
const CLOCK_BOARDS: [u32; 10] = [0x560F, 0x5780, 0x5A01, 0x5380, 0x520F, 0x5A01, 0x4100, 0x5A01, 0x4300, 0x5A01];
/// AD9510: everything off but the processor's clock.
const CLOCK_STOP: [u32; 18] = [
    0x0844, 0x5A01, 0x4301, 0x5A01, 0x4101, 0x5A01, 0x3F0A, 0x4F80, 0x5A01, 0x3E02, 0x4D80, 0x5A01, 0x4201, 0x5444,
    0x5A01, 0x3C0A, 0x4800, 0x4980,
];
/// AD9777: interpolation by four, no modulation, full-scale currents.
const DAC_START: [u32; 14] =
    [0x0004, 0x0180, 0x0200, 0x0300, 0x0480, 0x0500, 0x060F, 0x0700, 0x0800, 0x0900, 0x0A0F, 0x0B00, 0x0C00, 0x0180];
const DAC_STOP: [u32; 1] = [0x000C];
/// ADS62P44: reset, then LVDS, offset binary off, no gain.
const ADC_START: [u32; 8] = [0x0002, 0x1480, 0x1104, 0x1228, 0x14A0, 0x14B0, 0x1700, 0x1A00];
const ADC_STOP: [u32; 1] = [0x14B4];
/// AD5623: reset, internal reference.
const AUX_DAC_RESET: u32 = 0x2F_0010;

/// Source of a radio's 10 MHz.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClockSource {
    /// Its own oscillator.
    #[default]
    Internal,
    /// The `REF IN` connector, or the GPSDO in its place.
    External,
    /// Another radio over the MIMO cable.
    Mimo,
}

impl ClockSource {
    /// Its name, as a person writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ClockSource::Internal => "internal",
            ClockSource::External => "external",
            ClockSource::Mimo => "mimo",
        }
    }
}

impl FromStr for ClockSource {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<ClockSource, &'static str> {
        let all = [ClockSource::Internal, ClockSource::External, ClockSource::Mimo];
        all.into_iter().find(|source| source.name() == text).ok_or("expected internal, external or mimo")
    }
}

/// Source of a radio's PPS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeSource {
    /// None that means anything.
    #[default]
    Internal,
    /// The `PPS IN` connector, or the GPSDO in its place.
    External,
    /// Another radio over the MIMO cable.
    Mimo,
}

impl N200 {
    /// Starts clocks and converters. Untried on hardware.
    pub(super) fn start_hardware(&mut self, reference: ClockSource) -> Result<(), RadioError> {
        self.fifo.poke(settings::SPI_DIVIDER, SPI_DIVIDER)?;
        self.spi_words(spi::CLOCK | CLOCK_WORD, &CLOCK_START)?;
        self.spi_words(spi::DAC | DAC_WORD, &DAC_START)?;
        self.spi_words(spi::ADC | ADC_WORD, &ADC_START)?;
        self.set_clock_source(reference)?;
        self.spi_words(spi::RX_AUX_DAC | AUX_DAC_WORD, &[AUX_DAC_RESET])?;
        self.spi_words(spi::TX_AUX_DAC | AUX_DAC_WORD, &[AUX_DAC_RESET])?;
        self.spi_words(spi::CLOCK | CLOCK_WORD, &CLOCK_BOARDS)
    }

    /// Puts converters to sleep and stops the clocks. Untried on hardware.
    pub(super) fn stop_hardware(&mut self) -> Result<(), RadioError> {
        self.spi_words(spi::DAC | DAC_WORD, &DAC_STOP)?;
        self.spi_words(spi::ADC | ADC_WORD, &ADC_STOP)?;
        self.spi_words(spi::CLOCK | CLOCK_WORD, &CLOCK_STOP)
    }

    /// Chooses the reference that the master clock follows.
    ///
    /// # Errors
    /// The radio does not answer. Whether the clock locks is reported by [`N200::reference_locked`].
    pub fn set_clock_source(&mut self, source: ClockSource) -> Result<(), RadioError> {
        let word = match source {
            ClockSource::Internal => clock_control::INTERNAL,
            ClockSource::External => clock_control::EXTERNAL,
            ClockSource::Mimo => clock_control::MIMO,
        };
        self.fifo.flush()?;
        self.control.poke(settings::CLOCK_CONTROL, word)?;
        self.spi_words(spi::CLOCK | CLOCK_WORD, &CLOCK_REFERENCE)
    }

    /// Returns when the master clock follows the reference that was requested. Its own oscillator needs no waiting for: what
    /// the lock then says is for [`N200::reference_locked`].
    pub(super) fn expect_reference(&mut self, reference: ClockSource) -> Result<(), RadioError> {
        if reference == ClockSource::Internal {
            return Ok(());
        }
        let until = self.net.now() + REFERENCE_PATIENCE;
        while !self.reference_locked()? {
            if self.net.now() >= until {
                let waited = REFERENCE_PATIENCE;
                return Err(RadioError::ReferenceUnlocked { addr: self.addr, reference: reference.name(), waited });
            }
            self.net.sleep(LOOK_EVERY);
        }
        Ok(())
    }

    /// Chooses the PPS that [`N200::set_time_at_next_pps`] waits for. Fails if the radio does not answer.
    pub fn set_time_source(&mut self, source: TimeSource) -> Result<(), RadioError> {
        const RISING: u32 = 1;
        const MIMO: u32 = 1 << 8 | 138;
        if source == TimeSource::External {
            self.fifo.poke(settings::PPS_FLAGS, RISING)?;
        }
        self.fifo.poke(settings::MIMO_SYNC, if source == TimeSource::Mimo { MIMO } else { 0 })
    }

    /// Words for a synthesiser on a daughterboard.
    pub(super) fn write_board(&mut self, slave: u32, words: &[u32]) -> Result<(), RadioError> {
        self.spi_words(slave | BOARD_WORD, words)
    }

    /// A word for an auxiliary converter.
    pub(super) fn write_aux_dac(&mut self, slave: u32, word: u32) -> Result<(), RadioError> {
        self.spi_words(slave | AUX_DAC_WORD, &[word])
    }

    /// Shifts words out, each as many bits as `control` says.
    fn spi_words(&mut self, control: u32, words: &[u32]) -> Result<(), RadioError> {
        let bits = control >> 24 & 0x3F;
        self.fifo.poke(settings::SPI_CONTROL, control)?;
        for word in words {
            self.fifo.poke(settings::SPI_DATA, word << (32 - bits))?;
        }
        Ok(())
    }
}
