//! WBX v2. Its receive attenuator sits on pins 13:8 like an SBX's; its transmit gain is a voltage from the auxiliary
//! converter. Pin 15 is the antenna switch of either half.

use super::{Pins, STATES, SideState};

pub(super) const RX_ANTENNAS: [&str; 2] = ["RX2", "TX/RX"];
pub(super) const TX_ANTENNAS: [&str; 1] = ["TX/RX"];
pub(super) const DIRECTIONS: u32 = 0x80DC_BFDC;

const RX2: usize = 0;
/// Powered, synthesiser on.
const POWER: u32 = 0x00DC;
const SWITCH: u32 = 1 << 15;

/// Volts at no gain and at full gain, and the gain between them; and the converter's reference.
const NO_GAIN_V: f64 = 1.4;
const FULL_GAIN_V: f64 = 0.5;
const FULL_GAIN_DB: f64 = 25.0;
const REFERENCE_V: f64 = 3.3;
/// AD5623: write and update channel A.
const WRITE: u32 = 0x18 << 16;

pub(super) fn pins(rx: &SideState, tx: &SideState) -> Pins {
    let _ = tx; // its gain is no pin
    STATES.map(|(receiving, transmitting)| {
        let rx2 = transmitting || (receiving && rx.antenna == RX2);
        let receive = POWER | rx.gain_bits() | if rx2 { SWITCH } else { 0 };
        let transmit = POWER | if transmitting { 0 } else { SWITCH };
        transmit << 16 | receive
    })
}

pub(super) fn tx_gain_word(gain_db: f64) -> u32 {
    let volts = NO_GAIN_V + gain_db / FULL_GAIN_DB * (FULL_GAIN_V - NO_GAIN_V);
    WRITE | ((volts / REFERENCE_V * 4095.0).round() as u32 & 0xFFF) << 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // as traced from UHD 4.3
    fn uhd_writes_the_same_words() {
        let rx2 = SideState { antenna: RX2, gain_db: 0.0, lo_hz: 9e8, locked: true };
        let shared = SideState { antenna: 1, gain_db: 10.0, ..rx2 };
        assert_eq!(pins(&rx2, &rx2), [0x80DC_00DC, 0x80DC_80DC, 0x00DC_80DC, 0x00DC_80DC]);
        assert_eq!(pins(&shared, &rx2), [0x80DC_14DC, 0x80DC_14DC, 0x00DC_94DC, 0x00DC_94DC]);
        assert_eq!(tx_gain_word(0.0), 0x18_6C90);
        assert_eq!(tx_gain_word(20.0), 0x18_34C0);
    }
}
