//! An SPI core: a divider, a control word, and a data word that runs the transfer (x310.md 8.4).

/// A transaction: what was shifted out, right-aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transfer {
    /// A bit a chip.
    pub(super) slaves: u32,
    pub(super) word: u32,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SpiCore {
    control: u32,
    pub(super) count: u64,
}

impl SpiCore {
    pub(super) fn set_control(&mut self, control: u32) {
        self.control = control;
    }

    /// As after power-up; the count stays.
    pub(super) fn reset(&mut self) {
        self.control = 0;
    }

    /// The data word is left-aligned.
    pub(super) fn shift(&mut self, data: u32) -> Transfer {
        self.count += 1;
        let bits = (self.control >> 24) & 63;
        let word = data.checked_shr(32u32.saturating_sub(bits)).unwrap_or(0);
        Transfer { slaves: self.control & 0xFF_FFFF, word }
    }
}
