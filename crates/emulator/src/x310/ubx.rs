//! A UBX daughterboard, as far as it moves frequencies: four synthesisers and a switch register behind one SPI.
//!
//! Pins 2:0 of the transmit half (bits 18:16 of the board's pins) choose which chip a word of 32 bits is for. Above 500 MHz the
//! first oscillator of a direction mixes to 0 Hz; below, the switch of the low band is set, and the second is subtracted
//! (x310.md 4).

use super::spi::Transfer;
use crate::shared::Synthesiser;

/// The transmit half of the board, by which UHD reaches all of its chips.
const SLAVE: u32 = 0x01;
/// Chips: oscillators 1 and 2 to transmit, 1 and 2 to receive, switches.
const TRANSMIT: [usize; 2] = [0, 1];
const RECEIVE: [usize; 2] = [2, 3];
const SWITCHES: usize = 4;
/// In the switch register: the low band is in use.
const TRANSMIT_LOW: u32 = 1 << 1;
const RECEIVE_LOW: u32 = 1 << 6;
/// In the switch register: the transmitter leads to the receiver, not to the antenna.
const CALIBRATION: u32 = 1 << 25;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ubx {
    oscillators: [Synthesiser; 4],
    switches: u32,
    /// References of the receive and of the transmit side, Hz.
    references_hz: [f64; 2],
}

impl Ubx {
    pub(super) fn clocked(&mut self, references_hz: [f64; 2]) {
        self.references_hz = references_hz;
    }

    /// A transaction of the slot's SPI while the board's pins have these levels; whether it was for this board.
    pub(super) fn transfer(&mut self, transfer: Transfer, pins: u32) -> bool {
        if transfer.slaves & SLAVE == 0 {
            return false;
        }
        match (pins >> 16 & 7) as usize {
            SWITCHES => self.switches = transfer.word,
            chip => match self.oscillators.get_mut(chip) {
                Some(oscillator) => oscillator.write(transfer.word),
                None => return false,
            },
        }
        true
    }

    /// The radio frequencies that are 0 Hz at the converters, receive and transmit; 0 before a host has set them.
    pub(super) fn oscillators_hz(&self) -> [f64; 2] {
        let [receive_hz, transmit_hz] = self.references_hz;
        [
            self.oscillator_hz(RECEIVE, receive_hz, self.switches & RECEIVE_LOW != 0),
            self.oscillator_hz(TRANSMIT, transmit_hz, self.switches & TRANSMIT_LOW != 0),
        ]
    }

    /// Whether the receiver is connected to the transmitter. UHD sets the switch with the transmit antenna `CAL`.
    pub(super) fn calibrates(&self) -> bool {
        self.switches & CALIBRATION != 0
    }

    /// Gains of receiver and transmitter, by the board's pins, dB.
    pub(super) fn gains_db(pins: u32) -> [f64; 2] {
        [10, 26].map(|lowest| f64::from(pins >> lowest & 63) / 2.0)
    }

    fn oscillator_hz(&self, [first, second]: [usize; 2], reference_hz: f64, low: bool) -> f64 {
        let output_hz = |chip: usize| self.oscillators[chip].output_hz(reference_hz).unwrap_or(0.0);
        output_hz(first) - if low { output_hz(second) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Integer and thousandths of 50 MHz, halved.
    fn tune(ubx: &mut Ubx, chip: u32, integer: u32, thousandths: u32) {
        for word in [1 << 23 | 1 << 20 | 4, 1 << 14 | 2, 1000 << 3 | 1, integer << 15 | thousandths << 3] {
            assert!(ubx.transfer(Transfer { slaves: SLAVE, word }, chip << 16));
        }
    }

    #[test]
    fn each_direction_has_an_oscillator_of_its_own() {
        let mut ubx = Ubx::default();
        ubx.clocked([50e6, 50e6]);
        assert_eq!(ubx.oscillators_hz(), [0.0, 0.0]);
        tune(&mut ubx, 2, 96, 40);
        tune(&mut ubx, 0, 72, 0);
        assert_eq!(ubx.oscillators_hz(), [2401e6, 1800e6]);
        ubx.clocked([25e6, 50e6]);
        assert_eq!(ubx.oscillators_hz(), [1200.5e6, 1800e6]);
    }

    #[test]
    fn in_the_low_band_the_second_oscillator_is_subtracted() {
        let mut ubx = Ubx::default();
        ubx.clocked([50e6, 50e6]);
        tune(&mut ubx, 0, 84, 0); // 2100 MHz
        tune(&mut ubx, 1, 80, 0); // 2000 MHz
        assert_eq!(ubx.oscillators_hz()[1], 2100e6);
        assert!(ubx.transfer(Transfer { slaves: SLAVE, word: TRANSMIT_LOW }, 4 << 16));
        assert_eq!(ubx.oscillators_hz()[1], 100e6);
    }

    #[test]
    fn pins_have_the_gains_and_a_switch_the_port() {
        let mut ubx = Ubx::default();
        assert_eq!(Ubx::gains_db(21 << 10 | 63 << 26 | 0x3FF), [10.5, 31.5]);
        assert!(!ubx.calibrates());
        assert!(ubx.transfer(Transfer { slaves: SLAVE, word: CALIBRATION }, 4 << 16));
        assert!(ubx.calibrates());
    }

    #[test]
    fn what_is_for_others_is_left_alone() {
        let mut ubx = Ubx::default();
        assert!(!ubx.transfer(Transfer { slaves: 0x80, word: 0 }, 0));
        assert!(!ubx.transfer(Transfer { slaves: SLAVE, word: 0 }, 7 << 16));
    }
}
