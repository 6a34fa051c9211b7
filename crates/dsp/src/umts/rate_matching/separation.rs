//! Bit separation for puncturing a turbo code, TS 25.212 sections 4.2.7.3.1 (uplink) and 4.2.7.4.1 (downlink).

use super::{Parity, Tti};

/// Which bits of a block are systematic, and which are parity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Separation {
    /// Bits of each of the three sequences, but for what is left over by 3: that is systematic.
    pub(super) each: usize,
    /// Kinds of the first, second and third of three bits, `None` being systematic.
    turn: [Option<Parity>; 3],
}

impl Separation {
    /// Separation of a block as the encoder gives it.
    pub(super) fn downlink(bits: usize) -> Separation {
        Separation { each: bits / 3, turn: [None, Some(Parity::First), Some(Parity::Second)] }
    }

    /// Separation of radio frame `frame` of a block that went through the first interleaver. Column c of F holds the
    /// coded bits c, c + F, c + 2 F, ... So it starts with kind c modulo 3 and goes on in steps of F modulo 3. That
    /// gives the offsets alpha and beta of Tables 5 and 6 of section 4.2.7.3.1.
    pub(super) fn uplink(bits: usize, tti: Tti, frame: usize) -> Separation {
        let kinds = Separation::downlink(bits).turn;
        let first = usize::from(tti.columns()[frame]);
        Separation { each: bits / 3, turn: std::array::from_fn(|i| kinds[(first + i * tti.frames()) % 3]) }
    }

    /// Kind of bit `at` of the block.
    pub(super) fn kind(&self, at: usize) -> Option<Parity> {
        if at < 3 * self.each { self.turn[at % 3] } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tables of the standard: alpha for b = 1, 2, 3, and beta by radio frame.
    fn by_the_tables(tti: Tti, frame: usize) -> [usize; 3] {
        let (alpha, beta): ([usize; 3], &[usize]) = match tti {
            Tti::Ms10 => ([0, 1, 2], &[0]),
            Tti::Ms20 => ([0, 2, 1], &[0, 1]),
            Tti::Ms40 => ([0, 1, 2], &[0, 1, 2, 0]),
            Tti::Ms80 => ([0, 2, 1], &[0, 1, 2, 0, 1, 2, 0, 1]),
        };
        alpha.map(|alpha| (alpha + beta[frame]) % 3)
    }

    #[test]
    fn frames_are_separated_as_the_tables_of_the_standard_say() {
        for tti in Tti::ALL {
            for frame in 0..tti.frames() {
                let separation = Separation::uplink(100, tti, frame);
                let [systematic, first, second] = by_the_tables(tti, frame);
                assert_eq!(separation.kind(3 + systematic), None);
                assert_eq!(separation.kind(3 + first), Some(Parity::First), "{tti:?}, frame {frame}");
                assert_eq!(separation.kind(3 + second), Some(Parity::Second), "{tti:?}, frame {frame}");
                assert_eq!(separation.kind(99), None);
            }
        }
    }
}
