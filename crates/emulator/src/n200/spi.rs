//! The SPI bus as the host drives it: a control register, a data register that shifts, and a log.
//!
//! All traffic a host of these boards makes is write-only, so nothing answers: reads give ones. The traffic that
//! matters is decoded elsewhere ([`super::synthesiser`], [`super::converter`]).

const LOG: usize = 64;

/// One transaction: what was shifted out, right-aligned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct SpiWrite {
    /// Slave mask; see [`takt_wire::n200::registers::spi`].
    pub slaves: u32,
    pub bits: u8,
    pub word: u32,
}

pub(super) struct SpiBus {
    /// Register 21: slave mask in bits 23:0, number of bits in 29:24.
    pub(super) control: u32,
    /// The last [`LOG`] transactions, in a ring.
    log: [SpiWrite; LOG],
    /// Transactions since power-up.
    pub(super) count: u64,
}

impl SpiBus {
    pub(super) fn new() -> SpiBus {
        SpiBus { control: 0, log: [SpiWrite::default(); LOG], count: 0 }
    }

    /// Register 22: shifts out as many leading bits of `data` as the control register says. 0 counts as 32 (the field
    /// of older hosts had only five bits).
    pub(super) fn shift(&mut self, data: u32) -> SpiWrite {
        let bits = match (self.control >> 24) & 0x3F {
            0 => 32,
            bits => bits.min(32),
        };
        self.note(SpiWrite { slaves: self.control & 0x00FF_FFFF, bits: bits as u8, word: data >> (32 - bits) })
    }

    /// Logs a transaction, also one that came over the control port, right-aligned.
    pub(super) fn note(&mut self, write: SpiWrite) -> SpiWrite {
        self.log[(self.count % LOG as u64) as usize] = write;
        self.count += 1;
        write
    }

    /// The last transactions, the oldest first.
    pub(super) fn log(&self) -> impl Iterator<Item = SpiWrite> {
        let oldest = self.count.saturating_sub(LOG as u64);
        (oldest..self.count).map(|n| self.log[(n % LOG as u64) as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_leaves_left_aligned() {
        let mut bus = SpiBus::new();
        bus.control = 24 << 24 | 1;
        assert_eq!(bus.shift(0x0940_1234 << 8), SpiWrite { slaves: 1, bits: 24, word: 0x40_1234 });
        bus.control = 1 << 31 | 32 << 24 | 128;
        assert_eq!(bus.shift(0x6500_8A4A).word, 0x6500_8A4A);
        bus.control = 63 << 24;
        assert_eq!(bus.shift(5).word, 5);
    }

    #[test]
    fn the_log_keeps_the_last_transactions_in_order() {
        let mut bus = SpiBus::new();
        assert_eq!(bus.log().count(), 0);
        for n in 0..100 {
            bus.shift(n);
        }
        let words: Vec<u32> = bus.log().map(|w| w.word).collect();
        assert_eq!(words, (36..100).collect::<Vec<_>>());
    }
}
