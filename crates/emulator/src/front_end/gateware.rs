//! The I/Q correction of the gateware, bit by bit.
//!
//! ```text
//!   I' = clip24(I + (A m >> s))        A: the 18 upper of the 24 bits of I
//!   Q' = clip24(Q + (A p >> s))        m, p: registers, signed, 18 bits
//! ```
//!
//! On an N200 s is 12, so a register of 2^17 adds a half; on an X310 s is 11, and it adds the whole. Sources: Ettus'
//! `rx_frontend.v`, `tx_frontend.v`, `rx_frontend_gen3.v` and `tx_frontend_gen3.v`. Between the parts of the core numbers have as
//! many bits as a [`Core`] says, rounded to the nearest. The gateware rounds by noise shaping where it makes words shorter, so
//! its mean is that of the exact number as well.

/// The word lengths of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Core {
    #[default]
    N200,
    X310,
}

impl Core {
    /// Bits of a sample that enters the receive core.
    pub(super) fn rx_bits(self) -> u32 {
        match self {
            Core::N200 => 18,
            Core::X310 => 24,
        }
    }

    /// Bits of a sample that enters the transmit core.
    pub(super) fn tx_bits(self) -> u32 {
        match self {
            Core::N200 => 24,
            Core::X310 => 16,
        }
    }

    fn product_shift(self) -> u32 {
        match self {
            Core::N200 => 12,
            Core::X310 => 11,
        }
    }
}

/// Magnitude and phase, as the registers have them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct IqCorrection {
    pub(crate) magnitude: i32,
    pub(crate) phase: i32,
}

impl IqCorrection {
    /// A register's lowest 18 bits.
    pub(crate) fn word(data: u32) -> i32 {
        signed(data, 18)
    }

    pub(super) fn is_on(self) -> bool {
        self != IqCorrection::default()
    }

    /// Corrects a sample of 24 bits.
    pub(super) fn corrected(self, core: Core, [i, q]: [i32; 2]) -> [i32; 2] {
        let operand = i64::from(i >> 6);
        let added =
            |x: i32, factor: i32| clip24(i64::from(x) + ((operand * i64::from(factor)) >> core.product_shift()));
        [added(i, self.magnitude), added(q, self.phase)]
    }
}

/// The lowest `bits` bits as a signed number.
pub(crate) fn signed(data: u32, bits: u32) -> i32 {
    (data << (32 - bits)).cast_signed() >> (32 - bits)
}

pub(super) fn clip24(x: i64) -> i32 {
    x.clamp(-(1 << 23), (1 << 23) - 1) as i32
}

/// A word of `bits` bits, in the upper bits of 24. `full_scale` is 1.0.
pub(super) fn to_word(full_scale: f64, bits: u32) -> i32 {
    let one = f64::from(1 << (bits - 1));
    // A float beyond all integers, or none, becomes the nearest end, or 0.
    ((full_scale * one).round().clamp(-one, one - 1.0) as i32) << (24 - bits)
}

/// Exact: 24 bits fit.
pub(super) fn to_float(word: i32) -> f32 {
    word as f32 / (1 << 23) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_half_on_an_n200_and_the_whole_on_an_x310() {
        let correction = IqCorrection { magnitude: IqCorrection::word(0x1_0000), phase: IqCorrection::word(0x3_8000) };
        let sample = [1 << 21, 1 << 20]; // a quarter, an eighth
        assert_eq!(correction.corrected(Core::N200, sample), [(1 << 21) + (1 << 19), (1 << 20) - (1 << 18)]);
        assert_eq!(correction.corrected(Core::X310, sample), [(1 << 21) + (1 << 20), (1 << 20) - (1 << 19)]);
    }

    #[test]
    fn floats_become_words_and_end_at_full_scale() {
        assert_eq!(to_word(0.5, 18), 1 << 22);
        assert_eq!(to_word(1.0, 16), 0x7FFF << 8);
        assert_eq!(to_word(-2.0, 24), -(1 << 23));
        assert_eq!(to_word(f64::NAN, 24), 0);
        assert_eq!(to_word(0.4 / 131_072.0, 18), 0);
    }

    proptest! {
        #[test]
        fn the_correction_is_the_stated_arithmetic(
            i in -(1i32 << 23)..1 << 23, q in -(1i32 << 23)..1 << 23, m in any::<u32>(), p in any::<u32>(),
        ) {
            let correction = IqCorrection { magnitude: IqCorrection::word(m), phase: IqCorrection::word(p) };
            for (core, one) in [(Core::N200, 262_144.0), (Core::X310, 131_072.0)] {
                let [got_i, got_q] = correction.corrected(core, [i, q]);
                let operand = f64::from(i.div_euclid(64)) * 64.0;
                let want = |x: i32, factor: i32| {
                    (f64::from(x) + (operand * f64::from(factor) / one).floor()).clamp(-8_388_608.0, 8_388_607.0)
                };
                prop_assert_eq!(f64::from(got_i), want(i, correction.magnitude));
                prop_assert_eq!(f64::from(got_q), want(q, correction.phase));
            }
        }

        #[test]
        fn words_and_floats_are_the_same_numbers(word in -(1i32 << 23)..1 << 23) {
            prop_assert_eq!(to_word(to_float(word).into(), 24), word);
        }
    }
}
