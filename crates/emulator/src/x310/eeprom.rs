//! The contents of the EEPROMs: that of the motherboard, and those of the daughterboards (x310.md 3 and 4).

use std::array;
use std::ops::Range;

use takt_wire::n200::eeprom::Daughterboard;
use takt_wire::x310::eeprom::Motherboard;

use super::Board;
use super::graph::SLOTS;

/// Size of the motherboard's, bytes: the smallest part whose offsets have 16 bits. Hosts know its first 108.
const MOTHERBOARD_BYTES: usize = 4096;
/// Size of a daughterboard's.
const BOARD_BYTES: usize = 256;
/// The halves of a daughterboard: receive and transmit.
const HALVES: usize = 2;

/// The contents of all EEPROMs, in the order motherboard, slot A receive and transmit, slot B receive and transmit: what is kept
/// in a file between runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EepromImages(Box<[u8]>);

impl EepromImages {
    pub const BYTES: usize = MOTHERBOARD_BYTES + SLOTS * HALVES * BOARD_BYTES;

    /// The place of the motherboard's among all.
    pub(super) const MOTHERBOARD: Range<usize> = 0..MOTHERBOARD_BYTES;

    /// The place of that of the n-th half of a daughterboard.
    pub(super) fn half(n: usize) -> Range<usize> {
        let begin = MOTHERBOARD_BYTES + n * BOARD_BYTES;
        begin..begin + BOARD_BYTES
    }

    /// Images as they leave the factory. `boards`: receive and transmit half of each slot's.
    pub(super) fn new(motherboard: &Motherboard, boards: &[Option<[Daughterboard; HALVES]>; SLOTS]) -> EepromImages {
        let mut bytes = vec![0xFF; Self::BYTES];
        bytes[..Motherboard::IMAGE_BYTES].copy_from_slice(&motherboard.image());
        for (slot, board) in boards.iter().enumerate() {
            for (half, board) in board.iter().flatten().enumerate() {
                let begin = Self::half(HALVES * slot + half).start;
                bytes[begin..begin + Daughterboard::IMAGE_BYTES].copy_from_slice(&board.image());
            }
        }
        EepromImages(bytes.into())
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote; `None` if it is not exactly [`EepromImages::BYTES`] long.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<EepromImages> {
        (bytes.len() == Self::BYTES).then(|| EepromImages(bytes.into()))
    }

    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.to_vec()
    }

    /// The ids of the daughterboards' halves, receive and transmit, slot by slot; `None`: nothing is fitted there.
    pub(crate) fn board_ids(&self) -> [[Option<u16>; HALVES]; SLOTS] {
        let id = |half: usize| Daughterboard::parse(self.0.get(Self::half(half))?).ok().map(|board| board.id);
        array::from_fn(|slot| array::from_fn(|half| id(HALVES * slot + half)))
    }

    /// Whether these are fitted in both slots.
    pub(crate) fn fits(&self, board: Board) -> bool {
        self.board_ids() == [board.ids().map_or([None; HALVES], |ids| ids.map(Some)); SLOTS]
    }

    #[must_use]
    pub fn motherboard(&self) -> Motherboard {
        // The image is longer than the fields, so it parses.
        Motherboard::parse(&self.0).unwrap_or_else(|_| unreachable!("an image holds all fields"))
    }

    /// The words that the firmware copies into shared memory, once, as it starts.
    pub(super) fn mirror(&self) -> [u32; Motherboard::WORDS] {
        let (words, _) = self.0.as_chunks::<4>();
        let mut mirror = [0; Motherboard::WORDS];
        for (word, bytes) in mirror.iter_mut().zip(words) {
            *word = u32::from_be_bytes(*bytes);
        }
        mirror
    }

    pub(super) fn get(&self, at: usize) -> u8 {
        self.0.get(at).copied().unwrap_or(0xFF)
    }

    pub(super) fn set(&mut self, at: usize, data: u8) {
        if let Some(byte) = self.0.get_mut(at) {
            *byte = data;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::x310::X310Options;

    #[test]
    fn images_survive_a_file() {
        let images = X310Options::default().images().unwrap();
        assert_eq!(images.to_bytes().len(), 5120);
        assert_eq!(EepromImages::from_bytes(&images.to_bytes()), Some(images));
        // That of an N200.
        assert_eq!(EepromImages::from_bytes(&[0; 1024]), None);
        assert_eq!(EepromImages::from_bytes(&[0; EepromImages::BYTES + 1]), None);
    }

    #[test]
    fn the_boards_of_both_slots_say_which_they_are() {
        for board in [Board::Ubx, Board::Basic, Board::Lf, Board::None] {
            let images = X310Options { board, ..X310Options::default() }.images().unwrap();
            assert!(images.fits(board) && !images.fits(if board == Board::Lf { Board::Ubx } else { Board::Lf }));
            let mut bytes = images.to_bytes();
            bytes[EepromImages::half(3).start] ^= 1;
            let spoiled = EepromImages::from_bytes(&bytes).unwrap();
            assert_eq!(spoiled.fits(board), board == Board::None, "{:?}", spoiled.board_ids());
        }
    }

    #[test]
    fn each_has_its_place() {
        let images = X310Options { serial: "F00".to_owned(), ..X310Options::default() }.images().unwrap();
        assert_eq!(images.motherboard().serial.as_str(), "F00");
        assert_eq!(images.mirror(), images.motherboard().mirror());
        let ids = [0, 1, 2, 3].map(|n| {
            let begin = EepromImages::half(n).start;
            Daughterboard::parse(&images.to_bytes()[begin..begin + 32]).unwrap().id
        });
        assert_eq!(ids, [0x7E, 0x7D, 0x7E, 0x7D]);
        assert_eq!((images.get(108), images.get(EepromImages::BYTES)), (0xFF, 0xFF), "erased, and nothing");
    }
}
