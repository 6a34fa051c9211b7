//! Registers of the board's processor on port 49152: one request in flight, answered by the reply with the same number
//! (x310.md 2).

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use takt_packet::Engine;
use takt_wire::x310::registers::{board, shared};
use takt_wire::x310::{Firmware as Packet, FirmwareAction, ports};

use crate::ports::{Patience, await_answer, open_engine, send_bytes};
use crate::{Net, RadioError};

pub(crate) struct Firmware {
    engine: Box<dyn Engine>,
    net: Arc<dyn Net>,
    peer: SocketAddr,
    sequence: u32,
    patience: Patience,
    retries: u64,
}

impl Firmware {
    pub(crate) fn open(net: &Arc<dyn Net>, addr: IpAddr) -> Result<Firmware, RadioError> {
        let peer = SocketAddr::new(addr, ports::FIRMWARE);
        let engine = open_engine(&**net, peer)?;
        Ok(Firmware { engine, net: Arc::clone(net), peer, sequence: 0, patience: Patience::USUAL, retries: 0 })
    }

    /// From now on.
    pub(crate) fn set_patience(&mut self, patience: Patience) {
        self.patience = patience;
    }

    /// Requests that had to be repeated.
    pub(crate) fn retries(&self) -> u64 {
        self.retries
    }

    pub(crate) fn addr(&self) -> IpAddr {
        self.peer.ip()
    }

    /// Whether anybody answers a hello in this form.
    pub(crate) fn hello(&mut self) -> Result<bool, RadioError> {
        match self.exchange(FirmwareAction::Hello, 0, 0, "hello") {
            Ok(_) => Ok(true),
            Err(RadioError::Silent { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Reads a word of shared memory.
    pub(crate) fn shared(&mut self, word: u32) -> Result<u32, RadioError> {
        self.exchange(FirmwareAction::Peek, shared::BASE + 4 * word, 0, "a peek")
    }

    /// Writes a word of shared memory; repeated if the reply is lost.
    pub(crate) fn set_shared(&mut self, word: u32, data: u32) -> Result<(), RadioError> {
        self.exchange(FirmwareAction::Poke, shared::BASE + 4 * word, data, "a poke").map(drop)
    }

    /// Reads a word of the board's readback.
    pub(crate) fn board(&mut self, word: u32) -> Result<u32, RadioError> {
        self.exchange(FirmwareAction::Peek, board::BASE + 4 * word, 0, "a peek")
    }

    /// Writes a setting of the board; repeated if the reply is lost.
    pub(crate) fn set_board(&mut self, word: u32, data: u32) -> Result<(), RadioError> {
        self.exchange(FirmwareAction::Poke, board::BASE + 4 * word, data, "a poke").map(drop)
    }

    fn exchange(
        &mut self,
        action: FirmwareAction,
        address: u32,
        data: u32,
        what: &'static str,
    ) -> Result<u32, RadioError> {
        for attempt in 0..self.patience.tries {
            self.retries += u64::from(attempt > 0);
            self.sequence = self.sequence.wrapping_add(1);
            let request = Packet { action, ack: true, error: false, sequence: self.sequence, address, data };
            let mut bytes = [0; Packet::BYTES];
            request.write(&mut bytes)?;
            send_bytes(&mut *self.engine, &bytes)?;
            if let Some(reply) = self.await_reply(action)? {
                return if reply.error { Err(RadioError::Answer { addr: self.peer, what }) } else { Ok(reply.data) };
            }
        }
        Err(RadioError::Silent { addr: self.peer, what, tries: self.patience.tries })
    }

    fn await_reply(&mut self, action: FirmwareAction) -> Result<Option<Packet>, RadioError> {
        let sequence = self.sequence;
        await_answer(&mut *self.engine, &*self.net, self.peer, self.patience.each, |datagram| {
            let ours = |reply: &Packet| reply.ack && reply.action == action && reply.sequence == sequence;
            Packet::parse(datagram.bytes).ok().filter(ours)
        })
    }
}
