//! The I2C core, and the EEPROMs behind it (x310.md 2.2 block C, 3 and 4).

use std::ops::Range;

use takt_wire::x310::registers::i2c;

use super::eeprom::EepromImages;

/// One EEPROM. The bytes behind its address begin with an offset; the pointer goes on from there with each byte, and from the end
/// to the beginning.
struct Chip {
    address: u8,
    offset_bytes: u8,
    pointer: usize,
    /// Its place in the images.
    place: Range<usize>,
}

impl Chip {
    fn new(address: u8, offset_bytes: u8, place: Range<usize>) -> Chip {
        Chip { address, offset_bytes, pointer: 0, place }
    }

    /// The next byte of an offset, the high one first.
    fn point(&mut self, byte: u8) {
        self.pointer = (self.pointer << 8 | usize::from(byte)) % self.place.len();
    }

    /// The pointer's place in the images; it goes on.
    fn advance(&mut self) -> usize {
        let at = self.place.start + self.pointer;
        self.pointer = (self.pointer + 1) % self.place.len();
        at
    }
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Idle,
    /// Addressed to write: so many bytes of the offset are to come.
    Offset { chip: usize, left: u8 },
    /// Reading, or writing what follows the offset.
    Data(usize),
}

pub(super) struct I2cCore {
    chips: Vec<Chip>,
    images: EepromImages,
    state: State,
    data: u8,
    acknowledged: bool,
    pub(super) written: u64,
    /// A host has looked for the EEPROM of a daughterboard, fitted or not.
    pub(super) boards_sought: bool,
}

impl I2cCore {
    /// `boards`: daughterboards are fitted, and their EEPROMs answer.
    pub(super) fn new(images: EepromImages, boards: bool) -> I2cCore {
        let motherboard = Chip::new(i2c::MOTHERBOARD, 2, EepromImages::MOTHERBOARD);
        let halves = i2c::BOARDS.into_iter().flatten().enumerate().filter(|_| boards);
        let halves = halves.map(|(n, address)| Chip::new(address, 1, EepromImages::half(n)));
        let chips = [motherboard].into_iter().chain(halves).collect();
        I2cCore { chips, images, state: State::Idle, data: 0, acknowledged: true, written: 0, boards_sought: false }
    }

    pub(super) fn images(&self) -> &EepromImages {
        &self.images
    }

    /// As after power-up; what the EEPROMs hold stays.
    pub(super) fn reset(&mut self) {
        self.chips.iter_mut().for_each(|chip| chip.pointer = 0);
        (self.state, self.data, self.acknowledged) = (State::Idle, 0, true);
        self.boards_sought = false;
    }

    pub(super) fn write(&mut self, register: u32, word: u32) {
        match register {
            i2c::DATA => self.data = word as u8,
            i2c::COMMAND => self.command(word),
            _ => {}
        }
    }

    pub(super) fn read(&self, register: u32) -> u32 {
        match register {
            i2c::DATA => self.data.into(),
            i2c::COMMAND if !self.acknowledged => i2c::NO_ACK,
            _ => 0,
        }
    }

    fn command(&mut self, command: u32) {
        if command & i2c::WRITE != 0 {
            if command & i2c::START != 0 { self.address() } else { self.send() }
        } else if command & i2c::READ != 0 {
            self.receive();
        }
    }

    /// A byte that names a chip, and whether it is read.
    fn address(&mut self) {
        self.boards_sought |= i2c::BOARDS.as_flattened().contains(&(self.data >> 1));
        let chip = self.chips.iter().enumerate().find(|(_, chip)| chip.address == self.data >> 1);
        self.acknowledged = chip.is_some();
        self.state = match chip {
            None => State::Idle,
            Some((n, chip)) if self.data & 1 == 0 => State::Offset { chip: n, left: chip.offset_bytes },
            Some((n, _)) => State::Data(n),
        };
    }

    fn send(&mut self) {
        match self.state {
            State::Idle => self.acknowledged = false,
            State::Offset { chip, left } => {
                if let Some(chip) = self.chips.get_mut(chip) {
                    chip.point(self.data);
                }
                self.state = if left > 1 { State::Offset { chip, left: left - 1 } } else { State::Data(chip) };
            }
            State::Data(chip) => {
                if let Some(at) = self.chips.get_mut(chip).map(Chip::advance) {
                    self.images.set(at, self.data);
                    self.written += 1;
                }
            }
        }
    }

    fn receive(&mut self) {
        let State::Data(chip) = self.state else { return self.data = 0xFF };
        let at = self.chips.get_mut(chip).map(Chip::advance);
        self.data = at.map_or(0xFF, |at| self.images.get(at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::x310::{Board, X310Options};

    fn core(board: Board) -> I2cCore {
        I2cCore::new(X310Options { board, ..X310Options::default() }.images().unwrap(), board != Board::None)
    }

    fn command(core: &mut I2cCore, data: u8, command: u32) -> bool {
        core.write(i2c::DATA, data.into());
        core.write(i2c::COMMAND, command);
        core.read(i2c::COMMAND) & i2c::NO_ACK == 0
    }

    /// Addresses a chip, and sends it an offset and whatever follows.
    fn send(core: &mut I2cCore, address: u8, bytes: &[u8]) -> bool {
        command(core, address << 1, i2c::WRITE | i2c::START)
            && bytes.iter().all(|&byte| command(core, byte, i2c::WRITE))
    }

    fn receive(core: &mut I2cCore, address: u8, count: usize) -> Vec<u32> {
        assert!(command(core, address << 1 | 1, i2c::WRITE | i2c::START));
        let byte = |core: &mut I2cCore| {
            core.write(i2c::COMMAND, i2c::READ);
            core.read(i2c::DATA)
        };
        (0..count).map(|_| byte(core)).collect()
    }

    #[test]
    fn an_eeprom_is_read_byte_by_byte_from_an_offset() {
        let mut core = core(Board::Ubx);
        for (address, id) in [(0x55, 0x7E), (0x54, 0x7D), (0x57, 0x7E), (0x56, 0x7D)] {
            assert!(send(&mut core, address, &[1]));
            assert_eq!(receive(&mut core, address, 2), [id, 0]);
        }
        assert!(send(&mut core, 0x50, &[0, 2]));
        assert_eq!(receive(&mut core, 0x50, 2), [0x62, 0x78], "the product code");
    }

    #[test]
    fn a_slot_without_a_board_does_not_acknowledge() {
        let mut core = core(Board::None);
        assert!(!command(&mut core, 0x57 << 1, i2c::WRITE | i2c::START));
        assert!(!command(&mut core, 0, i2c::WRITE));
        core.write(i2c::COMMAND, i2c::READ);
        assert_eq!(core.read(i2c::DATA), 0xFF);
        assert!(send(&mut core, 0x50, &[0, 0]), "the motherboard is there");
    }

    #[test]
    fn a_search_for_daughterboards_is_noticed_whether_they_are_fitted_or_not() {
        for board in [Board::Ubx, Board::None] {
            let mut core = core(board);
            assert!(send(&mut core, 0x50, &[0, 0]) && !core.boards_sought, "the motherboard's is another");
            command(&mut core, 0x55 << 1, i2c::WRITE | i2c::START);
            assert!(core.boards_sought);
            core.reset();
            assert!(!core.boards_sought);
        }
    }

    #[test]
    fn what_is_written_is_read_back_and_stays_in_its_own_chip() {
        let mut core = core(Board::Ubx);
        assert!(send(&mut core, 0x55, &[9, b'X']));
        assert!(send(&mut core, 0x50, &[0x0F, 0xFF, b'Y', b'Z']), "from the last byte on");
        send(&mut core, 0x55, &[9]);
        assert_eq!(receive(&mut core, 0x55, 1), [u32::from(b'X')]);
        send(&mut core, 0x50, &[0x0F, 0xFF]);
        assert_eq!(receive(&mut core, 0x50, 2), [u32::from(b'Y'), u32::from(b'Z')]);
        assert_eq!((core.images().get(0), core.written), (b'Z', 3));
        send(&mut core, 0x54, &[9]);
        assert_eq!(receive(&mut core, 0x54, 1), [u32::from(b'E')], "its neighbour has its own");
    }

    #[test]
    fn after_power_up_reading_begins_at_the_start() {
        let mut core = core(Board::Ubx);
        assert!(send(&mut core, 0x55, &[0, 0xAB]));
        core.reset();
        assert_eq!(receive(&mut core, 0x55, 1), [0xAB], "and what was written is there");
    }
}
