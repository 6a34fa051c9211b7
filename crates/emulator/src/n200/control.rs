//! The control port: hello, EEPROMs, firmware cells, slow-path registers, echo.
//!
//! Each request is answered to whoever sent it; there is no session. The answer to what can't be understood is "huh",
//! and to a request of another protocol version a hello.

use std::net::SocketAddr;

use takt_base::Tick;
use takt_wire::n200::registers::{firmware, readback, readback_word, settings_index};
use takt_wire::n200::{ControlAnswer, ControlAsk, ControlReply, ControlRequest, RegisterAction, SpiTransfer, ports};

use super::N200;
use super::spi::SpiWrite;
use crate::{Outbox, Port};

impl N200 {
    pub(super) fn control(&mut self, now: Tick, from: SocketAddr, bytes: &[u8], out: &mut dyn Outbox) {
        self.report.requests += 1;
        let reply = match ControlRequest::parse(bytes) {
            Ok(request) => {
                let answer = self.answer(now, &request, bytes.len());
                ControlReply::new(request.sequence, answer)
            }
            Err(_) => ControlReply::huh(bytes),
        };
        let reply = ControlReply { version: self.options.firmware, ..reply };
        self.report.not_understood += u64::from(reply.answer == ControlAnswer::Huh);
        let wanted = match ControlRequest::parse(bytes).map(|request| request.ask) {
            Ok(ControlAsk::Echo { reply_bytes }) if matches!(reply.answer, ControlAnswer::Echo { .. }) => {
                reply_bytes as usize
            }
            _ => ControlReply::BYTES,
        };
        out.send(now, Port(ports::CONTROL), from, &mut |frame| {
            let wanted = wanted.min(frame.len());
            reply.write_sized(frame, wanted).unwrap_or(0)
        });
    }

    fn answer(&mut self, now: Tick, request: &ControlRequest, bytes: usize) -> ControlAnswer {
        let hello = ControlAnswer::Hello { address: self.options.address, software: self.options.marked };
        if request.version != self.options.firmware {
            return hello;
        }
        match request.ask {
            ControlAsk::Hello => hello,
            ControlAsk::Spi(transfer) => self.transfer(now, transfer),
            ControlAsk::I2cRead { address, count } => {
                ControlAnswer::I2cRead { data: self.eeproms.read(address, count) }
            }
            ControlAsk::I2cWrite { address, data } => {
                self.eeproms.write(address, data.as_slice());
                ControlAnswer::I2cWrite { count: data.as_slice().len() as u8 }
            }
            ControlAsk::Register { action, address, data } => {
                ControlAnswer::Register { data: self.register(now, action, address, data) }
            }
            ControlAsk::Echo { .. } => ControlAnswer::Echo { request_bytes: bytes as u32 },
            ControlAsk::Unknown { .. } => ControlAnswer::Huh,
        }
    }

    fn transfer(&mut self, now: Tick, transfer: SpiTransfer) -> ControlAnswer {
        let write = SpiWrite { slaves: transfer.slaves, bits: transfer.bits, word: transfer.data };
        self.spi.note(write);
        self.front_end.spi(write);
        self.update(now);
        ControlAnswer::Spi { data: readback::ABSENT }
    }

    /// Peeks give what they read, pokes what they wrote; an address where nothing is reads 0.
    fn register(&mut self, now: Tick, action: RegisterAction, address: u32, data: u32) -> u32 {
        match action {
            RegisterAction::Peek32 | RegisterAction::Peek16 => {
                readback_word(address).map_or(0, |word| self.peek_slow(now, word))
            }
            RegisterAction::Poke32 | RegisterAction::Poke16 => {
                if let Some(register) = settings_index(address) {
                    self.poke(now, register, data);
                }
                data
            }
            RegisterAction::FirmwarePeek => self.cell(address).copied().unwrap_or(0),
            RegisterAction::FirmwarePoke => {
                if let Some(cell) = self.cell(address) {
                    *cell = data;
                }
                data
            }
            RegisterAction::Other(_) => 0,
        }
    }

    fn cell(&mut self, address: u32) -> Option<&mut u32> {
        self.firmware.get_mut(address as usize)
    }

    /// Nobody holds the device any more.
    pub(super) fn unlock(&mut self) {
        self.firmware[firmware::LOCK_TIME as usize] = 0;
    }
}
