//! Which resource blocks of the uplink are taken in the subframes ahead.

use takt_lte::{Bandwidth, Tti};

use crate::SystemInformation;

/// Subframes that the calendar remembers: more than the ten ahead of which message 3 is granted.
const DAYS: u64 = 16;

/// Blocks taken, by subframe.
#[derive(Debug)]
pub(crate) struct Calendar {
    blocks: u8,
    pucch_blocks: u8,
    prach_block: u8,
    days: [u128; DAYS as usize],
    opened: u64,
}

fn mask(first: u8, blocks: u8) -> u128 {
    ((1u128 << blocks) - 1) << first
}

impl Calendar {
    pub(crate) fn new(bandwidth: Bandwidth, information: &SystemInformation) -> Calendar {
        Calendar {
            blocks: bandwidth.blocks() as u8,
            pucch_blocks: information.pucch_blocks,
            prach_block: information.prach.frequency_offset_blocks,
            days: [0; DAYS as usize],
            opened: 0,
        }
    }

    /// Opens all subframes up to `until`, with PUCCH and PRACH in them.
    pub(crate) fn open(&mut self, until: u64, information: &SystemInformation) {
        let edge = self.pucch_blocks;
        let pucch = mask(0, edge) | mask(self.blocks - edge, edge);
        for day in (self.opened + 1).max(until.saturating_sub(DAYS - 1))..=until {
            let is_opportunity = information.prach.is_opportunity(Tti::new(day));
            let prach = if is_opportunity { mask(self.prach_block, 6) } else { 0 };
            self.days[(day % DAYS) as usize] = pucch | prach;
        }
        self.opened = until.max(self.opened);
    }

    /// Takes blocks; false if one of them is taken already.
    pub(crate) fn take(&mut self, at: u64, first: u8, blocks: u8) -> bool {
        let (wanted, day) = (mask(first, blocks), &mut self.days[(at % DAYS) as usize]);
        let free = *day & wanted == 0 && first + blocks <= self.blocks;
        if free {
            *day |= wanted;
        }
        free
    }

    /// The longest run of free blocks: first and length.
    pub(crate) fn longest(&self, at: u64) -> (u8, u8) {
        let day = self.days[(at % DAYS) as usize];
        let (mut best, mut begin) = ((0, 0), 0);
        for block in 0..=self.blocks {
            if block == self.blocks || day >> block & 1 == 1 {
                if block - begin > best.1 {
                    best = (begin, block - begin);
                }
                begin = block + 1;
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pucch_and_prach_are_never_given_away() {
        for bandwidth in Bandwidth::ALL {
            let information = SystemInformation::for_bandwidth(bandwidth);
            let mut calendar = Calendar::new(bandwidth, &information);
            calendar.open(30, &information);
            // Subframe 21 has preambles, in blocks 2 to 7, or 0 to 5 of 6.
            let blocks = bandwidth.blocks() as u8;
            let expected = if blocks == 6 { (0, 0) } else { (8, blocks - 9) };
            assert_eq!(calendar.longest(21), expected);
            assert_eq!(calendar.longest(22), (1, blocks - 2));
            assert!(!calendar.take(22, 0, 2) && !calendar.take(22, blocks - 2, 2) && calendar.take(22, 1, 2));
            assert!(!calendar.take(22, 2, 1));
        }
    }
}
