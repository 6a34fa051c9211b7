//! Transactions on the control port: one request in flight, answered by the reply with the same sequence number.
//!
//! A request is tried three times, a third of a second each, with a new number each time; replies with another number
//! are late or foreign and are skipped. Each `Control` has a socket of its own: the device answers whoever asks, so the
//! keeper of the lock and every streamer can have one without sharing a lock of ours.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use takt_packet::{Engine, Wait};
use takt_wire::n200::registers::{readback_address, settings_address, version};
use takt_wire::n200::{ControlAnswer, ControlAsk, ControlReply, ControlRequest, I2cBytes, RegisterAction, ports};

use crate::ports::{ONLY, Patience, await_answer, open_engine, send_bytes};
use crate::{Net, RadioError};

/// Facts of a device about itself when it is greeted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Greeting {
    /// Protocol version of its firmware.
    pub(crate) version: u32,
    /// It is a software radio of takt's.
    pub(crate) software: bool,
}

/// The host's end of the control port.
pub(crate) struct Control {
    engine: Box<dyn Engine>,
    net: Arc<dyn Net>,
    peer: SocketAddr,
    version: u32,
    sequence: u32,
    patience: Patience,
    retries: u64,
}

impl Control {
    pub(crate) fn open(net: &Arc<dyn Net>, addr: IpAddr) -> Result<Control, RadioError> {
        let peer = SocketAddr::new(addr, ports::CONTROL);
        Ok(Control {
            engine: open_engine(&**net, peer)?,
            net: Arc::clone(net),
            peer,
            version: version::FIRMWARE,
            sequence: 0,
            patience: Patience::USUAL,
            retries: 0,
        })
    }

    /// From now on.
    pub(crate) fn set_patience(&mut self, patience: Patience) {
        self.patience = patience;
    }

    /// Requests that had to be repeated.
    pub(crate) fn retries(&self) -> u64 {
        self.retries
    }

    pub(crate) fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Asks who is there; speaks the version of its firmware from now on. `None`: nobody answered.
    pub(crate) fn hello(&mut self) -> Result<Option<Greeting>, RadioError> {
        match self.exchange(ControlAsk::Hello, "hello", self.patience) {
            Ok(reply) => {
                self.version = reply.version;
                let software = matches!(reply.answer, ControlAnswer::Hello { software: true, .. });
                Ok(Some(Greeting { version: reply.version, software }))
            }
            Err(RadioError::Silent { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads a readback word by the slow path.
    pub(crate) fn peek(&mut self, word: u8) -> Result<u32, RadioError> {
        self.register(RegisterAction::Peek32, readback_address(word), 0, "a peek")
    }

    /// Writes a settings register by the slow path. The write has taken effect when this returns. After a lost reply it
    /// is repeated: use it for registers that bear that.
    pub(crate) fn poke(&mut self, register: u8, data: u32) -> Result<(), RadioError> {
        self.register(RegisterAction::Poke32, settings_address(register), data, "a poke").map(drop)
    }

    /// Reads a cell of the firmware.
    pub(crate) fn firmware_peek(&mut self, cell: u32) -> Result<u32, RadioError> {
        self.register(RegisterAction::FirmwarePeek, cell, 0, "a firmware peek")
    }

    /// Writes a cell of the firmware.
    pub(crate) fn firmware_poke(&mut self, cell: u32, data: u32) -> Result<(), RadioError> {
        self.register(RegisterAction::FirmwarePoke, cell, data, "a firmware poke").map(drop)
    }

    /// Fills `out` from an EEPROM, up to 20 bytes a transaction. A read moves the EEPROM's pointer, so after a lost reply
    /// the pointer is set again: repeating the read alone, as UHD does, would return the bytes behind.
    pub(crate) fn read_eeprom(&mut self, address: u8, out: &mut [u8]) -> Result<(), RadioError> {
        for (n, chunk) in out.chunks_mut(I2cBytes::MAX).enumerate() {
            let bytes = self.read_eeprom_chunk(address, (n * I2cBytes::MAX) as u8, chunk.len() as u8)?;
            chunk.copy_from_slice(bytes.as_slice());
        }
        Ok(())
    }

    fn read_eeprom_chunk(&mut self, address: u8, offset: u8, count: u8) -> Result<I2cBytes, RadioError> {
        const WHAT: &str = "an EEPROM read";
        let once = Patience { tries: 1, ..self.patience };
        for _ in 0..self.patience.tries {
            let write = ControlAsk::I2cWrite { address, data: I2cBytes::new(&[offset])? };
            self.exchange(write, WHAT, self.patience)?;
            match self.exchange(ControlAsk::I2cRead { address, count }, WHAT, once).map(|reply| reply.answer) {
                Ok(ControlAnswer::I2cRead { data }) if data.as_slice().len() == usize::from(count) => return Ok(data),
                Ok(_) => return Err(RadioError::Answer { addr: self.peer, what: WHAT }),
                Err(RadioError::Silent { .. }) => self.retries += 1,
                Err(error) => return Err(error),
            }
        }
        Err(RadioError::Silent { addr: self.peer, what: WHAT, tries: self.patience.tries })
    }

    /// Whether a request of `request_bytes` gets through and a reply of `reply_bytes` comes back, both whole.
    /// `None`: there was an answer, but no echo; the device does not know the question.
    pub(crate) fn echo(
        &mut self,
        request_bytes: usize,
        reply_bytes: usize,
        each: Duration,
    ) -> Result<Option<bool>, RadioError> {
        if request_bytes.max(reply_bytes) > self.engine.limits().max_payload_bytes {
            return Ok(Some(false));
        }
        let ask = ControlAsk::Echo { reply_bytes: reply_bytes as u32 };
        let once = Patience { tries: 1, each };
        match self.exchange_sized(ask, request_bytes, "an echo", once) {
            Ok((ControlReply { answer: ControlAnswer::Echo { request_bytes: received }, .. }, len)) => {
                Ok(Some(received as usize == request_bytes && len == reply_bytes))
            }
            Ok(_) => Ok(None),
            Err(RadioError::Silent { .. }) => Ok(Some(false)),
            Err(error) => Err(error),
        }
    }

    /// Sends bytes that are no request of this protocol; whether an answer came that `is_it`.
    pub(crate) fn ask_raw(&mut self, bytes: &[u8], is_it: impl Fn(&[u8]) -> bool) -> Result<bool, RadioError> {
        for _ in 0..self.patience.tries {
            send_bytes(&mut *self.engine, bytes)?;
            let until = self.net.now() + self.patience.each;
            while self.net.now() < until {
                if self.engine.recv(Wait::Until(until))?.iter().any(|datagram| is_it(datagram.bytes)) {
                    return Ok(true);
                }
                if self.engine.refused().is_some() {
                    return Err(RadioError::PortClosed { addr: self.peer });
                }
            }
        }
        Ok(false)
    }

    fn register(
        &mut self,
        action: RegisterAction,
        address: u32,
        data: u32,
        what: &'static str,
    ) -> Result<u32, RadioError> {
        let ask = ControlAsk::Register { action, address, data };
        match self.exchange(ask, what, self.patience)?.answer {
            ControlAnswer::Register { data } => Ok(data),
            _ => Err(RadioError::Answer { addr: self.peer, what }),
        }
    }

    fn exchange(
        &mut self,
        ask: ControlAsk,
        what: &'static str,
        patience: Patience,
    ) -> Result<ControlReply, RadioError> {
        self.exchange_sized(ask, ControlRequest::BYTES, what, patience).map(|(reply, _)| reply)
    }

    /// The reply and the length of its datagram.
    fn exchange_sized(
        &mut self,
        ask: ControlAsk,
        request_bytes: usize,
        what: &'static str,
        patience: Patience,
    ) -> Result<(ControlReply, usize), RadioError> {
        for attempt in 0..patience.tries {
            self.retries += u64::from(attempt > 0);
            self.sequence = self.sequence.wrapping_add(1);
            let request = ControlRequest { version: self.version, sequence: self.sequence, ask };
            self.send(&request, request_bytes)?;
            if let Some(reply) = self.await_reply(patience.each)? {
                return Ok(reply);
            }
        }
        Err(RadioError::Silent { addr: self.peer, what, tries: patience.tries })
    }

    fn send(&mut self, request: &ControlRequest, bytes: usize) -> Result<(), RadioError> {
        let mut written = Ok(0);
        let mut batch = self.engine.reserve(1);
        batch.push(ONLY, None, |frame| {
            written = request.write_sized(frame, bytes);
            *written.as_ref().unwrap_or(&0)
        });
        written?;
        // A full send buffer loses the request, which the next try mends.
        batch.send(Wait::Poll)?;
        Ok(())
    }

    fn await_reply(&mut self, each: Duration) -> Result<Option<(ControlReply, usize)>, RadioError> {
        let sequence = self.sequence;
        await_answer(&mut *self.engine, &*self.net, self.peer, each, |datagram| {
            let reply = ControlReply::parse(datagram.bytes).ok()?;
            (reply.sequence == sequence).then_some((reply, datagram.bytes.len()))
        })
    }
}
