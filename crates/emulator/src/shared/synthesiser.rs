//! A synthesiser of a daughterboard, from register writes to the frequency of its oscillator: the ADF4350 of an SBX or WBX, and
//! the MAX2871 of a UBX, which has the same fields.
//!
//! Layout: Analog Devices, ADF4350 data sheet, and Maxim, MAX2871 data sheet, registers 0 to 5 (low three bits of each word =
//! register number).

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Synthesiser {
    registers: [u32; 6],
    /// Registers in force since register 0 was written.
    latched: Option<[u32; 6]>,
}

impl Synthesiser {
    /// A 32-bit word shifted in. Register 0 is written last and takes the rest with it.
    pub(crate) fn write(&mut self, word: u32) {
        if let Some(register) = self.registers.get_mut((word & 7) as usize) {
            *register = word;
        }
        if word & 7 == 0 {
            self.latched = Some(self.registers);
        }
    }

    /// Output frequency with this reference, Hz; `None` before it is programmed, or with a divider of 0.
    pub(crate) fn output_hz(&self, reference_hz: f64) -> Option<f64> {
        let [r0, r1, r2, _, r4, _] = self.latched?;
        let modulus = field(r1, 3, 12);
        let reference = field(r2, 14, 10) * (1 + field(r2, 24, 1));
        if modulus == 0 || reference == 0 {
            return None;
        }
        let doubled = f64::from(1 + field(r2, 25, 1));
        let detector_hz = reference_hz * doubled / f64::from(reference);
        // A MAX2871 in integer mode ignores the fraction.
        let fraction = if field(r0, 31, 1) == 0 { field(r0, 3, 12) } else { 0 };
        let ratio = f64::from(field(r0, 15, 16)) + f64::from(fraction) / f64::from(modulus);
        // With feedback from the divided output the loop itself multiplies only up to the output frequency.
        let fundamental = field(r4, 23, 1) == 1;
        let divider = if fundamental { f64::from(1u32 << field(r4, 20, 3)) } else { 1.0 };
        Some(detector_hz * ratio / divider)
    }
}

fn field(word: u32, at: u32, bits: u32) -> u32 {
    (word >> at) & ((1 << bits) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // the words UHD shifts out to tune an SBX to 2400 MHz
    fn the_words_for_2400_mhz_give_2400_mhz() {
        let mut lo = Synthesiser::default();
        let words = [0x6500_8A4A, 0x0040_0005, 0x000F_A23C, 0x0001_001B, 0x6500_8A42, 0x0000_7FF9, 0x0030_0000];
        for word in words {
            assert_eq!(lo.output_hz(100e6), None, "not before the last word");
            lo.write(word);
        }
        assert_eq!(lo.output_hz(100e6), Some(2_400e6));
    }

    #[test]
    fn hostile_words_give_no_frequency() {
        let mut lo = Synthesiser::default();
        for word in 0..=7 {
            lo.write(word);
        }
        assert_eq!(lo.output_hz(100e6), None, "modulus and reference divider are 0");
    }

    #[test]
    fn a_max2871_in_integer_mode_has_no_fraction() {
        let mut lo = Synthesiser::default();
        for word in [1 << 23 | 1 << 20 | 4, 1 << 14 | 2, 4095 << 3 | 1, 1 << 31 | 72 << 15 | 7 << 3] {
            lo.write(word);
        }
        assert_eq!(lo.output_hz(50e6), Some(1_800e6));
    }

    #[test]
    fn a_fundamental_loop_divides_its_output() {
        let mut lo = Synthesiser::default();
        // Reference 100 MHz / 4, modulus 4000, integer 144, fraction 1000, output divider 4.
        for word in [1 << 23 | 2 << 20 | 4, 4 << 14 | 2, 4000 << 3 | 1, 144 << 15 | 1000 << 3] {
            lo.write(word);
        }
        assert_eq!(lo.output_hz(100e6), Some(25e6 * 144.25 / 4.0));
    }
}
