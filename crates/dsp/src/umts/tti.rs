//! The transmission time interval.

/// How long a transport channel's blocks are spread: 1, 2, 4 or 8 radio frames of 10 ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Tti {
    /// One radio frame.
    Ms10 = 1,
    Ms20 = 2,
    Ms40 = 4,
    Ms80 = 8,
}

impl Tti {
    /// All of them.
    pub const ALL: [Tti; 4] = [Tti::Ms10, Tti::Ms20, Tti::Ms40, Tti::Ms80];

    /// The interval of `ms` milliseconds, if there is one.
    pub const fn from_ms(ms: u32) -> Option<Tti> {
        match ms {
            10 => Some(Tti::Ms10),
            20 => Some(Tti::Ms20),
            40 => Some(Tti::Ms40),
            80 => Some(Tti::Ms80),
            _ => None,
        }
    }

    /// F, its radio frames.
    pub const fn frames(self) -> usize {
        self as usize
    }

    /// P1: the columns of the first interleaver in the order in which they are read (TS 25.212, Table 4). It is its own
    /// inverse.
    pub const fn columns(self) -> &'static [u8] {
        match self {
            Tti::Ms10 => &[0],
            Tti::Ms20 => &[0, 1],
            Tti::Ms40 => &[0, 2, 1, 3],
            Tti::Ms80 => &[0, 4, 2, 6, 1, 5, 3, 7],
        }
    }

    /// How long a block of `bits` becomes by radio frame size equalisation, the next multiple of F (TS 25.212 section
    /// 4.2.4; uplink only). The sender chooses the appended bits.
    pub const fn equalised(self, bits: usize) -> usize {
        bits.next_multiple_of(self.frames())
    }
}
