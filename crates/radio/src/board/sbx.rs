//! SBX v3.
//!
//! | pin | receive half | transmit half |
//! | --- | --- | --- |
//! | 0, 1 | lock detect and multiplexer of the synthesiser (inputs) | the same |
//! | 2 | receiver on | transmitter on |
//! | 3 | powered | powered |
//! | 4 | - | transmitter on |
//! | 6 | LED: synthesiser not locked | the same |
//! | 7 | LED: antenna `TX/RX` | LED: antenna `CAL` |
//! | 13:8 | gain, half dB | gain, half dB, while transmitting |
//! | 14 | antenna: 1 = `RX2` | 1 = connector to the transmitter, 0 = to the receiver or to `CAL` |
//! | 15 | oscillator below 1.5 GHz: low-pass filter | the same |

use super::{Pins, STATES, SideState};

pub(super) const RX_ANTENNAS: [&str; 3] = ["RX2", "TX/RX", "CAL"];
pub(super) const TX_ANTENNAS: [&str; 2] = ["TX/RX", "CAL"];
pub(super) const DIRECTIONS: u32 = 0xFFFC_FFFC;

const RX2: usize = 0;
const SHARED: usize = 1;
const CAL: usize = 2;
const TX_CAL: usize = 1;

const ON: u32 = 1 << 2;
const POWER: u32 = 1 << 3;
const TX_ON: u32 = 1 << 4;
const UNLOCKED: u32 = 1 << 6;
const MARK: u32 = 1 << 7;
const SWITCH: u32 = 1 << 14;
const LOW_PASS: u32 = 1 << 15;

/// Frequency below which the low-pass filter behind the oscillator is switched in.
const LOW_PASS_BELOW_HZ: f64 = 1.5e9;

pub(super) fn pins(rx: &SideState, tx: &SideState) -> Pins {
    STATES.map(|(receiving, transmitting)| {
        let receive = rx_half(rx, receiving, transmitting);
        let transmit = tx_half(tx, rx.antenna, receiving, transmitting);
        transmit << 16 | receive
    })
}

fn common(side: &SideState) -> u32 {
    let low_pass = if side.lo_hz > 0.0 && side.lo_hz < LOW_PASS_BELOW_HZ { LOW_PASS } else { 0 };
    POWER | low_pass | if side.locked { 0 } else { UNLOCKED }
}

fn rx_half(rx: &SideState, receiving: bool, transmitting: bool) -> u32 {
    // While it transmits, the shared connector belongs to the transmitter and the receiver receives at RX2.
    let rx2 = match rx.antenna {
        RX2 => true,
        CAL => !(receiving || transmitting),
        _ => transmitting || !receiving,
    };
    let on = if receiving { ON } else { 0 };
    let switch = if rx2 { SWITCH } else { 0 };
    let mark = if rx.antenna == SHARED { MARK } else { 0 };
    common(rx) | rx.gain_bits() | on | switch | mark
}

fn tx_half(tx: &SideState, rx_antenna: usize, receiving: bool, transmitting: bool) -> u32 {
    let to_receiver = receiving && !transmitting && rx_antenna != RX2;
    let to_cal = transmitting && tx.antenna == TX_CAL;
    let on = if transmitting { ON | TX_ON | tx.gain_bits() } else { 0 };
    let switch = if to_receiver || to_cal { 0 } else { SWITCH };
    let mark = if tx.antenna == TX_CAL { MARK } else { 0 };
    common(tx) | on | switch | mark
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(antenna: usize, gain_db: f64, lo_hz: f64, locked: bool) -> SideState {
        SideState { antenna, gain_db, lo_hz, locked }
    }

    // UHD 4.3 was seen to write these, registers 184 (idle), 185 (receive), 186 (transmit), 187 (both).
    #[test]
    fn uhd_writes_the_same_pins() {
        let fresh = side(0, 0.0, 2.4e9, false);
        let cases = [
            (fresh, fresh, [0x4048_4048, 0x4048_404C, 0x405C_4048, 0x405C_404C]),
            (side(RX2, 10.5, 2.4e9, false), fresh, [0x4048_5548, 0x4048_554C, 0x405C_5548, 0x405C_554C]),
            (side(RX2, 10.5, 2.4e9, true), fresh, [0x4048_5508, 0x4048_550C, 0x405C_5508, 0x405C_550C]),
            (side(RX2, 0.0, 9e8, false), fresh, [0x4048_C048, 0x4048_C04C, 0x405C_C048, 0x405C_C04C]),
            (side(SHARED, 0.0, 9e8, false), fresh, [0x4048_C0C8, 0x0048_80CC, 0x405C_C0C8, 0x405C_C0CC]),
            (side(CAL, 0.0, 9e8, false), fresh, [0x4048_C048, 0x0048_804C, 0x405C_8048, 0x405C_804C]),
            (fresh, side(0, 20.5, 9e8, false), [0xC048_4048, 0xC048_404C, 0xE95C_4048, 0xE95C_404C]),
            (fresh, side(TX_CAL, 20.5, 9e8, false), [0xC0C8_4048, 0xC0C8_404C, 0xA9DC_4048, 0xA9DC_404C]),
        ];
        for (rx, tx, want) in cases {
            let got = pins(&rx, &tx);
            assert_eq!(got, want, "{rx:?} {tx:?}: {got:08x?}, want {want:08x?}");
        }
    }
}
