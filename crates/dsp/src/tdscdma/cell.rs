//! Marks of a cell: its midamble and its scrambling code.

use num_complex::Complex32;

use super::codes::SPREADING;
use super::layout::MIDAMBLE_CHIPS;

/// Chips of a basic midamble, after which it repeats.
pub(super) const PERIOD: usize = 128;

/// A cell. A receiver knows its cell's, and hears no other's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The basic midamble code of 128 chips (TS 25.221 section 5A.2.3), the first chip the highest bit; 1 is +1.
    pub midamble: u128,
    /// The scrambling code of 16 chips (TS 25.223 section 6.3), the first chip the highest bit; 1 is +1.
    pub scrambling: u16,
}

impl Default for Cell {
    /// The standard's basic midamble code 0, and a scrambling code of takt's own.
    fn default() -> Cell {
        Cell { midamble: 0xb2ac_420f_7c8d_ebfa_6950_5981_bcd0_28c3, scrambling: 0x9a37 }
    }
}

impl Cell {
    /// Chip `index`, counted from 0, of the midamble as it is sent, which repeats: m_i = j^i m_P,i for i = index + 1 (TS 25.221
    /// section 5A.2.3). All codes of a slot share it (the shift of user K, which is none).
    pub(super) fn midamble_chip(self, index: usize) -> Complex32 {
        let index = index % PERIOD;
        quarter_turns(index + 1) * sign(self.midamble >> (PERIOD - 1 - index) & 1 == 1)
    }

    /// The midamble of a burst.
    pub(super) fn midamble(self) -> [Complex32; MIDAMBLE_CHIPS] {
        std::array::from_fn(|index| self.midamble_chip(index))
    }

    /// The complex scrambling sequence, one period: j^i v_i for i = 1 .. 16 (TS 25.223 section 6.3).
    pub(super) fn scrambling(self) -> [Complex32; SPREADING] {
        std::array::from_fn(|i| quarter_turns(i + 1) * sign(self.scrambling >> (SPREADING - 1 - i) & 1 == 1))
    }
}

/// j^n.
fn quarter_turns(n: usize) -> Complex32 {
    [Complex32::new(1.0, 0.0), Complex32::new(0.0, 1.0), Complex32::new(-1.0, 0.0), Complex32::new(0.0, -1.0)][n % 4]
}

fn sign(plus: bool) -> f32 {
    if plus { 1.0 } else { -1.0 }
}
