//! Port 49152: the board's processor, its shared memory, settings and readback (x310.md 2).

use takt_base::Tick;
use takt_wire::x310::registers::{board, i2c, shared, timekeeper};
use takt_wire::x310::{Firmware, FirmwareAction, ports};

use super::{Release, Uhd, X310};
use crate::shared::Timekeeper;

/// CHDR of 64 bits; the protocol stands in the lower half.
const RFNOC_INFO: u32 = 0x0040_0000;
/// 40 degrees Celsius, as the FPGA's converter counts ([`board::TEMPERATURE`]).
const WARM: u32 = 0x9F1;
/// Seconds without a renewal after which a claim lapses: its status says so then, and that is all. They are the hosts' seconds,
/// as hosts renew by their own clocks.
const CLAIM_SECONDS: u64 = 2;

/// Words that are kept as they are written, and what is latched.
pub(super) struct BoardRegisters {
    settings: [u32; board::COUNT as usize],
    shared: [u32; shared::COUNT as usize],
    /// The upper half of the time, kept while its lower half is read.
    time_high: u32,
}

impl BoardRegisters {
    pub(super) fn new(firmware: u32, mirror: &[u32]) -> BoardRegisters {
        let mut words = [0; shared::COUNT as usize];
        words[shared::COMPAT as usize] = firmware;
        words[shared::GPSDO_STATUS as usize] = shared::NO_GPSDO;
        words[shared::SOFTWARE as usize] = shared::SOFTWARE_MARK;
        for (word, value) in words.iter_mut().skip(shared::EEPROM as usize).zip(mirror) {
            *word = *value;
        }
        BoardRegisters { settings: [0; board::COUNT as usize], shared: words, time_high: 0 }
    }

    fn setting(&self, word: u32) -> u32 {
        self.settings.get(word as usize).copied().unwrap_or(0)
    }

    /// The id by which management names the device.
    pub(super) fn device_id(&self) -> u16 {
        self.setting(board::DEVICE_ID) as u16
    }
}

/// Target of an address.
enum Place {
    Shared(u32),
    Board(u32),
    I2c(u32),
}

fn place(address: u32) -> Option<Place> {
    let word = |base: u32, count: u32| {
        let offset = address.checked_sub(base).filter(|offset| offset.is_multiple_of(4))?;
        (offset / 4 < count).then_some(offset / 4)
    };
    let shared = || word(shared::BASE, shared::COUNT).map(Place::Shared);
    let board = || word(board::BASE, board::COUNT).map(Place::Board);
    shared().or_else(board).or_else(|| word(i2c::BASE, i2c::COUNT).map(Place::I2c))
}

impl X310 {
    /// The reply to a request; `None`: it makes no sense.
    pub(super) fn firmware(&mut self, bytes: &[u8]) -> Option<Firmware> {
        let request = Firmware::parse(bytes).ok()?;
        self.report.requests += 1;
        let data = match request.action {
            FirmwareAction::Hello => request.data,
            FirmwareAction::Poke => {
                self.poke(request.address, request.data);
                request.data
            }
            FirmwareAction::Peek => self.peek(request.address),
        };
        request.ack.then_some(Firmware { data, ..request })
    }

    fn poke(&mut self, address: u32, data: u32) {
        match place(address) {
            Some(Place::Shared(shared::CLAIM_TIME)) => self.claim_at(data),
            Some(Place::Shared(shared::CLAIM_SOURCE)) => self.claim.source = data,
            Some(Place::Board(word)) => self.poke_board(word, data),
            Some(Place::I2c(register)) => self.i2c.write(register, data),
            Some(Place::Shared(_)) | None => {}
        }
    }

    fn claim_at(&mut self, time: u32) {
        let was_held = self.claim.held();
        let patience = self.options.speed.host_ticks(self.clock.span(CLAIM_SECONDS));
        self.claim.renew(self.now, time, patience);
        match (was_held, self.claim.held()) {
            (false, true) => {
                self.unserved.arrived();
                self.i2c.boards_sought = false;
            }
            (true, false) => self.unserved.left(self.release),
            _ => {}
        }
    }

    fn poke_board(&mut self, word: u32, data: u32) {
        if let Some(setting) = self.board.settings.get_mut(word as usize) {
            *setting = data;
        }
        if word == board::SPI[1] {
            self.board_spi.set_control(data);
        } else if word == board::SPI[2] {
            let transfer = self.board_spi.shift(data);
            if transfer.slaves & 1 != 0 {
                if let Some(rate) = self.clock_chip.write(transfer.word) {
                    self.set_rate(rate);
                }
                self.set_board_clocks();
            }
        } else if word == board::TIMEKEEPER + timekeeper::CONTROL {
            self.set_time(data);
        }
    }

    fn set_time(&mut self, when: u32) {
        let half = |offset: u32| u64::from(self.board.setting(board::TIMEKEEPER + offset));
        let time = half(timekeeper::NEW_HIGH) << 32 | half(timekeeper::NEW_LOW);
        match when {
            timekeeper::SET_NOW => self.time.set_now(self.now, time),
            timekeeper::SET_AT_PPS => self.time.set_at_next_pps(self.now, time),
            _ => {}
        }
    }

    fn peek(&mut self, address: u32) -> u32 {
        match place(address) {
            Some(Place::Shared(shared::CLAIM_STATUS)) => self.claim.held().into(),
            Some(Place::Shared(shared::CLAIM_TIME)) => self.claim.time,
            Some(Place::Shared(shared::CLAIM_SOURCE)) => self.claim.source,
            Some(Place::Shared(word)) => self.board.shared.get(word as usize).copied().unwrap_or(0),
            Some(Place::Board(word)) => self.peek_board(word),
            Some(Place::I2c(register)) => self.i2c.read(register),
            None => 0,
        }
    }

    fn peek_board(&mut self, word: u32) -> u32 {
        match word {
            board::CLOCK_STATUS => self.clock_status(),
            board::FPGA_COMPAT => self.options.fpga,
            board::RFNOC_INFO => self.say_protocol(),
            board::GIT_HASH => 0x0000_7461,
            board::TEMPERATURE => WARM,
            board::TIMEKEEPERS => 1,
            board::GPIO_SOURCE_READ => self.board.setting(board::GPIO_SOURCE),
            board::DEVICE_ID_READ => self.board.setting(board::DEVICE_ID),
            word if board::SFP_TYPES.contains(&word) => board::TEN_GIGABIT,
            word => word.checked_sub(board::TIMEKEEPER).map_or(0, |offset| self.peek_time(offset)),
        }
    }

    /// The protocol. To the host that has the radio it may be the one that its habits tell: up to UHD 4.9 it has read the
    /// daughterboards' EEPROMs by now, from 4.10 on it does so later (x310.md 18.4).
    fn say_protocol(&mut self) -> u32 {
        if self.claim.held() {
            if self.options.uhd == Uhd::Auto {
                self.serve(if self.i2c.boards_sought { Release::V4_9 } else { Release::V4_11 });
            }
            self.unserved.told_protocol();
        }
        RFNOC_INFO | u32::from(self.release.protocol().code())
    }

    fn clock_status(&self) -> u32 {
        let locked = if self.clock_chip.locked() { board::LMK_LOCKED | board::RADIO_CLOCK_LOCKED } else { 0 };
        let seconds = self.clock.driver_tick(self.now).0 / u64::from(super::clock::DRIVER_HZ);
        let toggle = if seconds % 2 == 1 { board::PPS_TOGGLE } else { 0 };
        locked | toggle | board::IDELAY_READY
    }

    fn peek_time(&mut self, offset: u32) -> u32 {
        let time = |time: &Timekeeper, now: Tick| match offset {
            timekeeper::NOW_LOW => time.at(now),
            _ => time.last_pps(now),
        };
        match offset {
            timekeeper::NOW_LOW | timekeeper::PPS_LOW => {
                let time = time(&self.time, self.now);
                self.board.time_high = (time >> 32) as u32;
                time as u32
            }
            timekeeper::NOW_HIGH | timekeeper::PPS_HIGH => self.board.time_high,
            _ => 0,
        }
    }
}

/// The port all this is on.
pub(super) const PORT: crate::Port = crate::Port(ports::FIRMWARE);
