//! The I2C core, and the EEPROMs of the daughterboards behind it (x310.md 2.2 block C, and 4).

use takt_wire::n200::eeprom::Daughterboard;
use takt_wire::x310::registers::i2c;

/// Size of an EEPROM, bytes.
const EEPROM_BYTES: usize = 256;

/// One EEPROM.
struct Chip {
    address: u8,
    image: [u8; EEPROM_BYTES],
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Idle,
    /// Addressed to write: the next byte is the offset.
    Offset(usize),
    /// Reading, or writing what follows the offset.
    Data(usize),
}

pub(super) struct I2cCore {
    chips: Vec<Chip>,
    state: State,
    offset: u8,
    data: u8,
    acknowledged: bool,
    pub(super) written: u64,
}

impl I2cCore {
    /// With the boards of the slots: receive and transmit half, or none.
    pub(super) fn new(boards: [Option<[Daughterboard; 2]>; 2]) -> I2cCore {
        let halves = i2c::BOARDS.into_iter().zip(boards).filter_map(|(at, board)| board.map(|board| (at, board)));
        let chips = halves.flat_map(|(at, board)| at.into_iter().zip(board)).map(|(address, board)| {
            let mut image = [0xFF; EEPROM_BYTES];
            image[..Daughterboard::IMAGE_BYTES].copy_from_slice(&board.image());
            Chip { address, image }
        });
        let chips = chips.collect();
        I2cCore { chips, state: State::Idle, offset: 0, data: 0, acknowledged: true, written: 0 }
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
        let chip = self.chips.iter().position(|chip| chip.address == self.data >> 1);
        self.acknowledged = chip.is_some();
        self.state = match chip {
            None => State::Idle,
            Some(chip) if self.data & 1 == 0 => State::Offset(chip),
            Some(chip) => State::Data(chip),
        };
    }

    fn send(&mut self) {
        match self.state {
            State::Idle => self.acknowledged = false,
            State::Offset(chip) => {
                self.offset = self.data;
                self.state = State::Data(chip);
            }
            State::Data(chip) => {
                let (data, at) = (self.data, usize::from(self.offset));
                if let Some(byte) = self.chips.get_mut(chip).and_then(|chip| chip.image.get_mut(at)) {
                    *byte = data;
                    self.written += 1;
                }
                self.offset = self.offset.wrapping_add(1);
            }
        }
    }

    fn receive(&mut self) {
        let State::Data(chip) = self.state else { return self.data = 0xFF };
        let at = usize::from(self.offset);
        self.data = self.chips.get(chip).and_then(|chip| chip.image.get(at)).copied().unwrap_or(0xFF);
        self.offset = self.offset.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use takt_wire::n200::eeprom::Text;

    fn core() -> I2cCore {
        let half = |id| Daughterboard { id, revision: 2, serial: Text::new("F1").unwrap() };
        I2cCore::new([Some([half(0x7E), half(0x7D)]), None])
    }

    fn command(core: &mut I2cCore, data: u8, command: u32) -> bool {
        core.write(i2c::DATA, data.into());
        core.write(i2c::COMMAND, command);
        core.read(i2c::COMMAND) & i2c::NO_ACK == 0
    }

    #[test]
    fn an_eeprom_is_read_byte_by_byte_from_an_offset() {
        let mut core = core();
        for (address, id) in [(0x55, 0x7E), (0x54, 0x7D)] {
            assert!(command(&mut core, address << 1, i2c::WRITE | i2c::START));
            assert!(command(&mut core, 1, i2c::WRITE));
            assert!(command(&mut core, address << 1 | 1, i2c::WRITE | i2c::START));
            core.write(i2c::COMMAND, i2c::READ);
            assert_eq!(core.read(i2c::DATA), id);
            core.write(i2c::COMMAND, i2c::READ);
            assert_eq!(core.read(i2c::DATA), 0);
        }
    }

    #[test]
    fn a_slot_without_a_board_does_not_acknowledge() {
        let mut core = core();
        assert!(!command(&mut core, 0x57 << 1, i2c::WRITE | i2c::START));
        assert!(!command(&mut core, 0, i2c::WRITE));
        core.write(i2c::COMMAND, i2c::READ);
        assert_eq!(core.read(i2c::DATA), 0xFF);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let mut core = core();
        command(&mut core, 0x55 << 1, i2c::WRITE | i2c::START);
        command(&mut core, 9, i2c::WRITE);
        command(&mut core, b'X', i2c::WRITE);
        command(&mut core, 0x55 << 1, i2c::WRITE | i2c::START);
        command(&mut core, 9, i2c::WRITE);
        command(&mut core, 0x55 << 1 | 1, i2c::WRITE | i2c::START);
        core.write(i2c::COMMAND, i2c::READ);
        assert_eq!((core.read(i2c::DATA), core.written), (u32::from(b'X'), 1));
    }
}
