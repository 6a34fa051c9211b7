//! The ADC and the DAC of a slot, as far as a host tests them when it starts (x310.md 8.4 and 8.5).

use super::spi::Transfer;

const DAC: u32 = 0x80;
const ADC: u32 = 0x40;

/// Delay taps at which the ADC's lines are read right. A sweep that finds five of them in a row ends early.
const TAPS: std::ops::RangeInclusive<u32> = 2..=11;

pub(super) struct Converters {
    adc: [u8; 128],
    dac: [u8; 128],
    /// Last answer of the DAC.
    readback: u8,
    /// The register of resets and delays.
    control: u32,
}

impl Converters {
    pub(super) fn new() -> Converters {
        Converters { adc: [0; 128], dac: [0; 128], readback: 0, control: 0 }
    }

    pub(super) fn set_control(&mut self, control: u32) {
        self.control = control;
    }

    /// 16 bits: register and data. A transfer to another chip is not for these.
    pub(super) fn transfer(&mut self, transfer: Transfer) {
        let (register, data) = ((transfer.word >> 8) as u8 & 0x7F, transfer.word as u8);
        let reads = transfer.word & 0x8000 != 0;
        if transfer.slaves & ADC != 0 && !reads {
            self.adc[usize::from(register)] = data;
        }
        if transfer.slaves & DAC != 0 {
            if reads {
                self.readback = self.dac_status(register);
            } else {
                self.dac[usize::from(register)] = data;
            }
        }
    }

    /// Loops locked, interfaces in step: in other words, a DAC that works.
    fn dac_status(&self, register: u8) -> u8 {
        match register {
            0x0E => 0x80,
            0x06 => 0x50,
            0x12 => 0x40,
            0x19 => 0x0F,
            other => self.dac[usize::from(other & 0x7F)],
        }
    }

    pub(super) fn readback(&self) -> u32 {
        self.readback.into()
    }

    /// The checkers of the ADC's test patterns: locked in bits 3:0, errors in 7:4.
    pub(super) fn adc_status(&self) -> u32 {
        if TAPS.contains(&((self.control >> 4) & 31)) { 0x0F } else { 0xFF }
    }

    /// A word of the ADC in its test mode, channel A above B, the signs inverted as the board's wiring does.
    pub(super) fn adc_word(&self) -> u32 {
        (self.pattern(0x62) << 18 | self.pattern(0x75) << 2) ^ 0xFFFC_0000
    }

    /// 14 bits, as the channel's test register chooses.
    fn pattern(&self, register: usize) -> u32 {
        match self.adc[register] & 7 {
            2 => 0x3FFF,
            5 => u32::from(self.adc[0x51]) | u32::from(self.adc[0x52] & 0x3F) << 8,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adc(register: u32, data: u32) -> Transfer {
        Transfer { slaves: ADC, word: register << 8 | data }
    }

    #[test]
    fn patterns_of_both_channels_come_back() {
        let mut converters = Converters::new();
        converters.transfer(adc(0x51, 0x34));
        converters.transfer(adc(0x52, 0x12));
        converters.transfer(adc(0x62, 5));
        converters.transfer(adc(0x75, 2));
        assert_eq!(converters.adc_word(), ((0x1234 << 2) << 16 | 0x3FFF << 2) ^ 0xFFFC_0000);
        converters.transfer(adc(0x62, 1));
        converters.transfer(adc(0x75, 1));
        assert_eq!(converters.adc_word(), 0xFFFC_0000);
    }

    #[test]
    fn a_sweep_of_delays_finds_where_lines_are_read_right() {
        let mut converters = Converters::new();
        let good = (0..32).filter(|tap| {
            converters.set_control(tap << 4);
            converters.adc_status() == 0x0F
        });
        assert_eq!(good.collect::<Vec<_>>(), (2..12).collect::<Vec<_>>());
    }

    #[test]
    fn the_dac_says_that_it_is_locked_and_else_what_was_written() {
        let mut converters = Converters::new();
        let mut read = |register: u32| {
            converters.transfer(Transfer { slaves: DAC, word: 0x1E00 | 1 });
            converters.transfer(Transfer { slaves: DAC, word: 0x8000 | register << 8 });
            converters.readback()
        };
        assert_eq!([0x0E, 0x06, 0x12, 0x19, 0x1E, 0x1F].map(&mut read), [0x80, 0x50, 0x40, 0x0F, 1, 0]);
    }
}
