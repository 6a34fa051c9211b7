//! Errors of a board: smooth functions of frequency and gain, drawn from a seed.
//!
//! Each of the constant of I, that of Q, the gain and the phase of Q against I is, at an oscillator of f and a gain of g,
//!
//! ```text
//!   A (+-3/4 + cos(2 pi (f / 1.7 GHz + a)) / 5 + cos(2 pi (f / 0.41 GHz + b)) / 20) (1 + c (g - 15.75 dB) / 31.5 dB)
//! ```
//!
//! Sign, a and b come from the seed, the radio's serial number, its slot, the direction and the quantity. So no quantity is ever
//! below half of its A, and a table with a point every 7.3 MHz, as UHD makes it, describes all of it.
//!
//! | | A | c |
//! | --- | --- | --- |
//! | constant of a receiver | 0.02 of full scale | 0.5 |
//! | constant of a transmitter, the carrier | 0.03 of full scale | 0.005 |
//! | gain of Q against I | 0.5 dB | 0.002 |
//! | phase of Q against I | 3 degrees | 0.002 |

use std::f64::consts::TAU;

use super::imbalance::{Imbalance, ImbalanceSpec};

const PERIODS_HZ: [f64; 2] = [1.7e9, 0.41e9];
/// Gain assumed for boards whose gain is not known, dB.
const MIDDLE_DB: f64 = 15.75;
const RANGE_DB: f64 = 31.5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Receive,
    Transmit,
}

/// Errors of one board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Imperfections {
    seed: u64,
}

/// A quantity: how large, how much it depends on gain.
struct Quantity {
    most: f64,
    by_gain: f64,
}

const IQ_GAIN_DB: Quantity = Quantity { most: 0.5, by_gain: 0.002 };
const IQ_PHASE_DEG: Quantity = Quantity { most: 3.0, by_gain: 0.002 };

impl Side {
    fn constant(self) -> Quantity {
        match self {
            Side::Receive => Quantity { most: 0.02, by_gain: 0.5 },
            Side::Transmit => Quantity { most: 0.03, by_gain: 0.005 },
        }
    }
}

impl Imperfections {
    pub(crate) fn new(seed: u64, serial: &str, slot: usize) -> Imperfections {
        let named = serial.bytes().fold(mixed(seed), |seed, byte| mixed(seed ^ u64::from(byte)));
        Imperfections { seed: mixed(named ^ slot as u64) }
    }

    /// Errors of a side at this oscillator and gain; an unknown gain counts as the middle.
    pub(crate) fn at(&self, side: Side, oscillator_hz: f64, gain_db: Option<f64>) -> Option<Imbalance> {
        Imbalance::of(self.numbers(side, oscillator_hz, gain_db))
    }

    fn numbers(&self, side: Side, oscillator_hz: f64, gain_db: Option<f64>) -> ImbalanceSpec {
        let gain_share = (gain_db.unwrap_or(MIDDLE_DB) - MIDDLE_DB) / RANGE_DB;
        let value = |number: u64, quantity: Quantity| {
            let draw = |n: u64| mixed(self.seed ^ mixed(16 * number + 8 * (side as u64) + n));
            let turns = |n: u64| draw(n) as f64 / (1u128 << 64) as f64;
            let sign = if draw(0) & 1 == 0 { 1.0 } else { -1.0 };
            let [slow, fast] = [0, 1].map(|n| (TAU * (oscillator_hz / PERIODS_HZ[n] + turns(1 + n as u64))).cos());
            quantity.most * (0.75 * sign + 0.2 * slow + 0.05 * fast) * (1.0 + quantity.by_gain * gain_share)
        };
        ImbalanceSpec {
            dc_offset_i: value(0, side.constant()),
            dc_offset_q: value(1, side.constant()),
            iq_gain_db: value(2, IQ_GAIN_DB),
            iq_phase_deg: value(3, IQ_PHASE_DEG),
        }
    }
}

/// A number with as many bits of its own (splitmix64 of Steele, Lea and Flood).
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nothing_is_small_or_large_and_all_is_smooth(seed in any::<u64>(), hz in 10e6..6e9, gain in 0.0..31.5f64) {
            let board = Imperfections::new(seed, "EMU001", 0);
            for side in [Side::Receive, Side::Transmit] {
                let at = |hz: f64| {
                    let n = board.numbers(side, hz, Some(gain));
                    [n.dc_offset_i, n.dc_offset_q, n.iq_gain_db, n.iq_phase_deg]
                };
                let limits = [side.constant(), side.constant(), IQ_GAIN_DB, IQ_PHASE_DEG];
                let [below, here, above] = [-3.65e6, 0.0, 3.65e6].map(|off| at(hz + off));
                for (n, limit) in limits.iter().enumerate() {
                    let size = here[n].abs() / limit.most;
                    prop_assert!((0.37..1.26).contains(&size), "{n}: {size}");
                    // A straight line between two points of UHD's table misses by less than a thousandth.
                    prop_assert!(((below[n] + above[n]) / 2.0 - here[n]).abs() < 1e-3 * here[n].abs(), "{n}");
                }
            }
        }
    }

    #[test]
    fn each_board_and_each_direction_is_its_own_and_the_same_again() {
        let at = |seed, serial: &str, slot, side| Imperfections::new(seed, serial, slot).numbers(side, 1e9, None);
        let one = at(1, "EMU001", 0, Side::Receive);
        assert_eq!(one, at(1, "EMU001", 0, Side::Receive));
        for other in [
            at(2, "EMU001", 0, Side::Receive),
            at(1, "EMU002", 0, Side::Receive),
            at(1, "EMU001", 1, Side::Receive),
            at(1, "EMU001", 0, Side::Transmit),
        ] {
            assert_ne!(one.iq_phase_deg, other.iq_phase_deg);
        }
    }
}
