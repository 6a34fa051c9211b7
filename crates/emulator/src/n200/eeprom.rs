//! The four EEPROMs, as a 24LC02 behaves on I2C.
//!
//! A write of one byte sets the address pointer, further bytes are stored from there; a read returns bytes from the
//! pointer on. The pointer wraps at 256 in both directions (a real part wraps writes at its 8-byte page; hosts write one
//! byte at a time). Bytes that nobody answers read as ones.

use takt_wire::n200::I2cBytes;
use takt_wire::n200::eeprom::{Daughterboard, Motherboard};
use takt_wire::n200::registers::i2c;

use super::board::Board;

pub(super) const BYTES: usize = 256;

/// The contents of all four EEPROMs, in the order motherboard, transmit, receive, grand-daughterboard: what is kept in a
/// file between runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EepromImages(Box<[[u8; BYTES]; 4]>);

impl EepromImages {
    pub const BYTES: usize = 4 * BYTES;

    /// Images as they leave the factory.
    pub(super) fn new(
        motherboard: &Motherboard,
        tx: Option<&Daughterboard>,
        rx: Option<&Daughterboard>,
    ) -> EepromImages {
        let mut images = Box::new([[0xFF; BYTES]; 4]);
        images[0] = motherboard.image();
        for (image, board) in images[1..3].iter_mut().zip([tx, rx]) {
            let board = board.map_or(Daughterboard::ABSENT, Daughterboard::image);
            image[..board.len()].copy_from_slice(&board);
        }
        EepromImages(images)
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote; `None` if it is not exactly [`EepromImages::BYTES`] long.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<EepromImages> {
        let (images, rest) = bytes.as_chunks::<BYTES>();
        let images: [[u8; BYTES]; 4] = images.try_into().ok()?;
        rest.is_empty().then(|| EepromImages(Box::new(images)))
    }

    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.concat()
    }

    /// The ids of the daughterboards' halves, transmit and receive; `None`: nothing is fitted there.
    pub(crate) fn board_ids(&self) -> [Option<u16>; 2] {
        let [_, transmit, receive, _] = &*self.0;
        [transmit, receive].map(|image| Daughterboard::parse(image).ok().map(|board| board.id))
    }

    /// Whether its daughterboards are these.
    pub(crate) fn fits(&self, board: Board) -> bool {
        self.board_ids() == board.ids().map_or([None; 2], |ids| ids.map(Some))
    }

    #[must_use]
    pub fn motherboard(&self) -> Motherboard {
        // The image is longer than the fields, so it parses.
        Motherboard::parse(&self.0[0]).unwrap_or_else(|_| unreachable!("an image holds all fields"))
    }
}

pub(super) struct Eeproms {
    images: EepromImages,
    pointers: [u8; 4],
    /// Bytes written since power-up.
    pub(super) written: u64,
}

impl Eeproms {
    pub(super) fn new(images: EepromImages) -> Eeproms {
        Eeproms { images, pointers: [0; 4], written: 0 }
    }

    pub(super) fn images(&self) -> &EepromImages {
        &self.images
    }

    /// An I2C write; nobody answers at an unknown address.
    pub(super) fn write(&mut self, address: u8, data: &[u8]) {
        let Some(part) = part(address) else { return };
        let Some((&pointer, bytes)) = data.split_first() else { return };
        self.pointers[part] = pointer;
        for &byte in bytes {
            self.images.0[part][usize::from(self.pointers[part])] = byte;
            self.pointers[part] = self.pointers[part].wrapping_add(1);
            self.written += 1;
        }
    }

    /// An I2C read of `count` bytes, at most [`I2cBytes::MAX`].
    pub(super) fn read(&mut self, address: u8, count: u8) -> I2cBytes {
        let mut bytes = [0xFF; I2cBytes::MAX];
        let bytes = &mut bytes[..usize::from(count).min(I2cBytes::MAX)];
        if let Some(part) = part(address) {
            for byte in &mut *bytes {
                *byte = self.images.0[part][usize::from(self.pointers[part])];
                self.pointers[part] = self.pointers[part].wrapping_add(1);
            }
        }
        I2cBytes::new(bytes).unwrap_or_default()
    }
}

fn part(address: u8) -> Option<usize> {
    let parts = [i2c::MOTHERBOARD, i2c::TX_BOARD, i2c::RX_BOARD, i2c::GRAND_DAUGHTERBOARD];
    parts.iter().position(|&part| part == address)
}

#[cfg(test)]
mod tests {
    use super::super::N200Options;
    use super::*;

    fn eeproms() -> Eeproms {
        let mut bytes = vec![0xFF; EepromImages::BYTES];
        bytes[..4].copy_from_slice(&[10, 11, 12, 13]);
        Eeproms::new(EepromImages::from_bytes(&bytes).unwrap())
    }

    #[test]
    fn one_byte_sets_the_pointer_and_reads_advance_it() {
        let mut parts = eeproms();
        parts.write(i2c::MOTHERBOARD, &[1]);
        assert_eq!(parts.read(i2c::MOTHERBOARD, 1).as_slice(), [11]);
        assert_eq!(parts.read(i2c::MOTHERBOARD, 2).as_slice(), [12, 13]);
        assert_eq!(parts.written, 0);
    }

    #[test]
    fn two_bytes_store_one_and_only_in_the_addressed_part() {
        let mut parts = eeproms();
        parts.write(i2c::RX_BOARD, &[255, 0xAA, 0xBB]);
        parts.write(i2c::RX_BOARD, &[255]);
        assert_eq!(parts.read(i2c::RX_BOARD, 2).as_slice(), [0xAA, 0xBB], "the pointer wraps");
        parts.write(i2c::TX_BOARD, &[255]);
        assert_eq!(parts.read(i2c::TX_BOARD, 1).as_slice(), [0xFF]);
        assert_eq!(parts.written, 2);
    }

    #[test]
    fn nobody_answers_elsewhere() {
        let mut parts = eeproms();
        parts.write(0x33, &[0, 1]);
        parts.write(i2c::MOTHERBOARD, &[]);
        assert_eq!(parts.read(0x33, 3).as_slice(), [0xFF; 3]);
        assert_eq!(parts.read(i2c::MOTHERBOARD, 200).as_slice().len(), I2cBytes::MAX);
    }

    #[test]
    fn the_boards_say_which_they_are() {
        for board in [Board::Sbx, Board::Wbx, Board::Basic, Board::Lf, Board::None] {
            let images = N200Options { board, ..N200Options::default() }.images().unwrap();
            assert_eq!(images.board_ids(), board.ids().map_or([None; 2], |ids| ids.map(Some)));
            assert!(images.fits(board) && !images.fits(if board == Board::Lf { Board::Sbx } else { Board::Lf }));
        }
    }

    #[test]
    fn images_survive_a_file() {
        let images = eeproms().images;
        assert_eq!(EepromImages::from_bytes(&images.to_bytes()), Some(images));
        assert_eq!(EepromImages::from_bytes(&[0; EepromImages::BYTES + 1]), None);
        assert_eq!(EepromImages::from_bytes(&[]), None);
    }
}
