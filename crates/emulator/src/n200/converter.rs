//! The AD9777 transmit converter, as far as it moves frequencies.
//!
//! It interpolates by 4 and can shift the result by an eighth, a quarter or a half of its 400 MS/s; a host uses that for
//! transmit frequencies beyond what the DSP's frequency word reaches. Register 1 (Analog Devices, AD9777 data sheet): bits
//! 5:4 modulation, bit 1 sign. With it UHD's transmit frequencies up to 170 MHz on a Basic board come out where it says.

/// Output rate, Hz.
const OUTPUT_HZ: f64 = 400e6;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Converter {
    modulation: u32,
}

impl Converter {
    /// A 16-bit word shifted in: read flag, width, address in bits 12:8, data in 7:0.
    pub(super) fn write(&mut self, word: u32) {
        if word & 0x9F00 == 0x0100 {
            self.modulation = word & 0xFF;
        }
    }

    /// By how much the output is shifted, Hz.
    pub(super) fn shift_hz(&self) -> f64 {
        let share = match (self.modulation >> 4) & 3 {
            1 => 2.0,
            2 => 4.0,
            3 => 8.0,
            _ => return 0.0,
        };
        let sign = if self.modulation & 2 != 0 { 1.0 } else { -1.0 };
        sign * OUTPUT_HZ / share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_register_1_shifts() {
        let mut dac = Converter::default();
        dac.write(0x0222);
        assert_eq!(dac.shift_hz(), 0.0);
        dac.write(0x0122);
        assert_eq!(dac.shift_hz(), 100e6);
        dac.write(0x0120);
        assert_eq!(dac.shift_hz(), -100e6);
        dac.write(0x8110);
        assert_eq!(dac.shift_hz(), -100e6, "a read changes nothing");
    }
}
