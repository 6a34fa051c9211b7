//! ADF4350: six registers from a wanted frequency.
//!
//! Source: Analog Devices ADF4350 data sheet, revision B, "Register maps" and "RF synthesizer: a worked example". The
//! data sheet leaves some settings open: charge pump 1.88 mA, low-spur mode, phase resync after 400 µs, feedback from
//! behind the output divider. UHD was seen to write them to an SBX; the tests hold both against each other.
//!
//! With feedback from behind the output divider, `output = (INT + FRAC / MOD) × PFD` whatever the divider is.

/// Why the synthesiser cannot make a frequency.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{requested_hz} Hz is outside the range of an ADF4350 ({low_hz} to {high_hz} Hz)")]
#[allow(missing_docs, reason = "the names say it")]
pub struct OutOfRange {
    pub requested_hz: f64,
    pub low_hz: f64,
    pub high_hz: f64,
}

/// Registers, and the frequency they give.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Synthesis {
    /// The frequency in fact, Hz.
    pub actual_hz: f64,
    /// Control words in the order in which they are written; the low three bits name the register. Register 2 comes
    /// twice: first with the counters held in reset.
    pub words: [u32; 7],
}

const VCO_LOW_HZ: f64 = 2.2e9;
const VCO_HIGH_HZ: f64 = 4.4e9;
const MODULUS: u32 = 4095;
/// Above it the 4/5 prescaler does not count any more.
const PRESCALER_4_5_MAX_HZ: f64 = 3.0e9;
const INT_MIN_4_5: u32 = 23;
const INT_MIN_8_9: u32 = 75;
/// The comparison frequency that UHD was seen to use; the part allows 32 MHz.
const PFD_MAX_HZ: f64 = 25e6;
/// Band selection may run at up to 125 kHz; 100 kHz is what was seen.
const BAND_SELECT_HZ: f64 = 100e3;
/// Phase resynchronisation comes this long after a change, when the loop has settled.
const RESYNC_S: f64 = 400e-6;

/// Registers for `target_hz` from a reference of `reference_hz`.
///
/// # Errors
/// Below 137.5 MHz or above 4.4 GHz.
pub fn synthesise(target_hz: f64, reference_hz: f64) -> Result<Synthesis, OutOfRange> {
    let low_hz = VCO_LOW_HZ / 16.0;
    if !(low_hz..=VCO_HIGH_HZ).contains(&target_hz) {
        return Err(OutOfRange { requested_hz: target_hz, low_hz, high_hz: VCO_HIGH_HZ });
    }
    // The smallest divider that brings the oscillator into its range: 1, 2, 4, 8 or 16.
    let divider_log2 = (0..4u32).find(|k| target_hz * f64::from(1 << k) >= VCO_LOW_HZ).unwrap_or(4);
    let prescaler_8_9 = target_hz > PRESCALER_4_5_MAX_HZ;
    let int_min = if prescaler_8_9 { INT_MIN_8_9 } else { INT_MIN_4_5 };
    // Reference counter with the divide-by-two behind it, which makes the comparison clock's duty cycle even. A lower
    // comparison frequency is taken only where INT would fall below what the prescaler can count.
    let counter_max = 1023;
    let counter = (1..=counter_max)
        .find(|&r| {
            let pfd_hz = reference_hz / f64::from(2 * r);
            pfd_hz <= PFD_MAX_HZ && target_hz / pfd_hz >= f64::from(int_min)
        })
        .unwrap_or(counter_max);
    let pfd_hz = reference_hz / f64::from(2 * counter);

    let steps = (target_hz / pfd_hz * f64::from(MODULUS)).round() as u32;
    let (int, frac) = (steps / MODULUS, steps % MODULUS);
    let band_select = ((pfd_hz / BAND_SELECT_HZ).ceil() as u32).min(255);
    let resync = ((RESYNC_S * pfd_hz / f64::from(MODULUS)).ceil() as u32).clamp(1, 4095);

    let r0 = int << 15 | frac << 3;
    let r1 = u32::from(prescaler_8_9) << 27 | MODULUS << 3 | 1;
    let r2 = 0b11 << 29 | 1 << 26 | 1 << 24 | counter << 14 | 5 << 9 | 1 << 6 | 2;
    let r3 = 0b10 << 15 | resync << 3 | 3;
    let r4 = divider_log2 << 20 | band_select << 12 | 1 << 9 | 1 << 5 | 0b11 << 3 | 4;
    let r5 = 0b01 << 22 | 5;
    const COUNTER_RESET: u32 = 1 << 3;
    Ok(Synthesis {
        actual_hz: f64::from(steps) / f64::from(MODULUS) * pfd_hz,
        words: [r2 | COUNTER_RESET, r5, r4, r3, r2, r1, r0],
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test] // as traced from UHD 4.3 tuning an SBX to 2400 MHz
    fn uhd_writes_the_same_words_for_2400_mhz() {
        let words = synthesise(2.4e9, 100e6).unwrap().words;
        assert_eq!(words, [0x6500_8A4A, 0x0040_0005, 0x000F_A23C, 0x0001_001B, 0x6500_8A42, 0x0000_7FF9, 0x0030_0000]);
    }

    #[test] // UHD reported this LO for a request of 901 MHz
    fn a_fraction_is_rounded_to_the_nearest_step() {
        assert!((synthesise(901e6, 100e6).unwrap().actual_hz - 901.001_221e6).abs() < 1.0);
    }

    #[test]
    fn what_the_part_can_not_make_is_refused() {
        for hz in [0.0, 137.4e6, 4.401e9, f64::NAN] {
            assert!(synthesise(hz, 100e6).is_err(), "{hz}");
        }
    }

    proptest! {
        /// Every bound of the data sheet, for every frequency.
        #[test]
        fn every_word_keeps_the_data_sheets_bounds(hz in 137.5e6..4.4e9) {
            let s = synthesise(hz, 100e6).unwrap();
            let [_, _, r4, _, r2, r1, r0] = s.words;
            let int = r0 >> 15 & 0xffff;
            let prescaler_8_9 = r1 >> 27 & 1 == 1;
            let pfd_hz = 100e6 / f64::from(2 * (r2 >> 14 & 0x3ff));
            let divider = f64::from(1u32 << (r4 >> 20 & 7));
            prop_assert!(pfd_hz <= 32e6);
            prop_assert!(pfd_hz / f64::from(r4 >> 12 & 0xff) <= 125e3);
            let least = if prescaler_8_9 { 75 } else { 23 };
            prop_assert!(int >= least);
            prop_assert!(prescaler_8_9 || s.actual_hz <= 3.0e9 + pfd_hz);
            prop_assert!((r0 >> 3 & 0xfff) < (r1 >> 3 & 0xfff));
            let vco_hz = s.actual_hz * divider;
            prop_assert!((2.2e9 - pfd_hz * divider..=4.4e9 + pfd_hz * divider).contains(&vco_hz));
            prop_assert!((s.actual_hz - hz).abs() <= pfd_hz / 4095.0 / 2.0 + 1.0);
        }
    }
}
