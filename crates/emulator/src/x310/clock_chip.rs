//! The clock chip, a LMK04816, as far as it says how fast the master clock runs.
//!
//! x310.md 8.6: 192 MHz / R28[31:20] * R30[22:5] * P / R0[15:5], P = R30[26:24] or 8; 32-bit words whose low 5 bits name the
//! register. The values count that stand there when register 30 is written. R1 and R2 divide for the boards, as R0
//! does.

use super::clock::Rate;

/// The oscillator the chip's second loop locks to, divided and multiplied, Hz.
const BASE_HZ: u64 = 192_000_000;
/// Outside of this an X310's loop does not lock; UHD asks for 184.32 to 200 MHz.
const LOCKS_HZ: std::ops::RangeInclusive<u64> = 150_000_000..=250_000_000;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ClockChip {
    /// Dividers of the master clock, and of the clocks of receive and transmit boards: registers 0, 1 and 2.
    output_dividers: [u32; 3],
    /// Register 28.
    reference_divider: u32,
    /// Register 30.
    loop_word: u32,
    unlocked: bool,
}

impl ClockChip {
    /// A word shifted in; `Some` if the master clock has another rate now.
    pub(super) fn write(&mut self, word: u32) -> Option<Rate> {
        match word & 31 {
            output @ 0..=2 => self.output_dividers[output as usize] = (word >> 5) & 0x7FF,
            28 => self.reference_divider = word >> 20,
            30 => {
                self.loop_word = word;
                let rate = self.rate();
                self.unlocked = rate.is_none();
                return rate;
            }
            _ => {}
        }
        None
    }

    pub(super) fn locked(&self) -> bool {
        !self.unlocked
    }

    /// Clocks of the receive and the transmit boards, Hz; 0 before they are set.
    pub(super) fn boards_hz(&self) -> [f64; 2] {
        let [_, receive, transmit] = self.output_dividers;
        [receive, transmit].map(|divider| match u64::from(self.reference_divider) * u64::from(divider) {
            0 => 0.0,
            divider => BASE_HZ as f64 * self.multiplier() as f64 / divider as f64,
        })
    }

    fn multiplier(&self) -> u64 {
        let prescaler = match (self.loop_word >> 24) & 7 {
            0 => 8,
            other => other,
        };
        u64::from((self.loop_word >> 5) & 0x3_FFFF) * u64::from(prescaler)
    }

    fn rate(&self) -> Option<Rate> {
        let divider = u64::from(self.reference_divider) * u64::from(self.output_dividers[0]);
        let rate = Rate { ticks: BASE_HZ * self.multiplier(), seconds: divider };
        (divider > 0 && LOCKS_HZ.contains(&(rate.ticks / divider))).then_some(rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(words: [u32; 3]) -> Option<f64> {
        let mut chip = ClockChip::default();
        let [divider, reference, main] = words;
        assert_eq!(chip.write(divider), None);
        assert_eq!(chip.write(reference), None);
        let rate = chip.write(main);
        assert_eq!(chip.locked(), rate.is_some());
        rate.map(|rate| rate.ticks as f64 / rate.seconds as f64)
    }

    #[test] // x310.md 8.6
    fn the_rates_that_uhd_sets() {
        assert_eq!(after([0x0014_0180, 0x0020_015C, 0x0500_00BE]), Some(200e6));
        assert_eq!(after([0x0014_01C0, 0x0190_0C1C, 0x0200_151E]), Some(184.32e6));
        let odd = after([0x0014_01A0, 0x0250_0C1C, 0x0200_1DDE]).unwrap();
        assert!((odd - 192e6 * 476.0 / 481.0).abs() < 1e-3, "{odd}");
    }

    #[test]
    fn boards_have_clocks_of_their_own() {
        let mut chip = ClockChip::default();
        assert_eq!(chip.boards_hz(), [0.0, 0.0]);
        for word in [0x0014_0180, 48 << 5 | 1, 96 << 5 | 2, 0x0020_015C, 0x0500_00BE] {
            chip.write(word);
        }
        assert_eq!(chip.boards_hz(), [50e6, 25e6]); // of 2400 MHz
    }

    #[test]
    fn dividers_of_zero_and_rates_beyond_the_loop_are_not_locked() {
        assert_eq!(after([0x0014_0000, 0x0020_015C, 0x0500_00BE]), None);
        assert_eq!(after([0x0014_0180, 0x0000_015C, 0x0500_00BE]), None);
        assert_eq!(after([0x0014_0020, 0x0010_015C, 0x05FF_FFFE]), None);
    }
}
