//! Talking CHDR from one port of this host: management, which finds and routes, and registers of blocks (x310.md 6.3 to 6.5).
//!
//! Whoever talks has an endpoint id. The radio learns where the id is from the advertise operation, so every port of this host
//! that is to receive anything advertises itself.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use takt_packet::{Engine, PortIndex, Wait};
use takt_wire::chdr::{
    Control, ControlData, ControlOperation, ControlStatus, Management, Operation, Operations, Protocol,
};

use crate::ports::{Patience, await_answer};
use crate::{Net, RadioError};

/// Patience for each answer of a management packet; UHD waits as long (x310.md 6.3).
const MANAGEMENT: Patience = Patience { tries: 5, each: Duration::from_millis(100) };

/// One port of an engine, and who it is.
pub(super) struct Line<'a> {
    pub(super) engine: &'a mut dyn Engine,
    pub(super) port: PortIndex,
    pub(super) net: &'a dyn Net,
    pub(super) peer: SocketAddr,
    /// As the radio speaks it.
    pub(super) protocol: Protocol,
    /// Endpoint id of this end.
    pub(super) id: u16,
    pub(super) sequence: &'a mut u16,
}

/// Which node a management packet is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Transport,
    Crossbar,
    /// The node behind this port of the crossbar.
    Behind(u16),
}

impl Line<'_> {
    /// Tells the radio where this end is, and the crossbar the way to it.
    pub(super) fn advertise(&mut self, entry_port: u16) -> Result<(), RadioError> {
        self.manage(Node::Transport, &[Operation::Advertise])?;
        self.manage(Node::Crossbar, &[Operation::Write { address: self.id, data: entry_port.into() }])?;
        Ok(())
    }

    /// Has a node do `operations`; what it answers.
    ///
    /// # Errors
    /// `Silent`: nobody there, or the answer was lost several times.
    pub(super) fn manage(&mut self, node: Node, operations: &[Operation]) -> Result<Vec<Operation>, RadioError> {
        for _ in 0..MANAGEMENT.tries {
            self.order(node, operations)?;
            let (id, sequence) = (self.id, *self.sequence);
            let answer = self.await_answer(MANAGEMENT.each, |bytes| {
                let answer = Management::parse(bytes).ok()?;
                (answer.destination == id && answer.sequence == sequence).then_some(answer)
            })?;
            if let Some(answer) = answer {
                let operations = answer.operations.hops().flatten().filter(|operation| *operation != Operation::Nop);
                return Ok(operations.collect());
            }
        }
        Err(RadioError::Silent { addr: self.peer, what: "a management packet", tries: MANAGEMENT.tries })
    }

    /// Has a node do `operations`, and does not wait for its answer.
    pub(super) fn order(&mut self, node: Node, operations: &[Operation]) -> Result<(), RadioError> {
        let mut all = Operations::NONE;
        match node {
            Node::Transport => {}
            Node::Crossbar => all.push_hop(&[Operation::Nop])?,
            Node::Behind(port) => {
                all.push_hop(&[Operation::Nop])?;
                all.push_hop(&[Operation::Select { port }])?;
            }
        }
        operations.iter().try_for_each(|operation| all.push(*operation, false))?;
        all.push(Operation::Return, true)?;
        all.push_hop(&[Operation::Nop])?;
        *self.sequence = self.sequence.wrapping_add(1);
        let request = Management {
            protocol: self.protocol,
            destination: 0,
            sequence: *self.sequence,
            source: self.id,
            operations: all,
        };
        self.send(|frame| request.write(frame))
    }

    /// Sends one packet; a full send buffer loses it, which a repetition mends.
    pub(super) fn send(
        &mut self,
        write: impl FnOnce(&mut [u8]) -> Result<usize, takt_wire::WireError>,
    ) -> Result<(), RadioError> {
        let mut written = Ok(0);
        let mut batch = self.engine.reserve(1);
        batch.push(self.port, None, |frame| {
            written = write(frame);
            *written.as_ref().unwrap_or(&0)
        });
        written?;
        batch.send(Wait::Poll)?;
        Ok(())
    }

    /// The first datagram of this port that is what is waited for.
    pub(super) fn await_answer<T>(
        &mut self,
        each: Duration,
        is_it: impl Fn(&[u8]) -> Option<T>,
    ) -> Result<Option<T>, RadioError> {
        let port = self.port;
        await_answer(self.engine, self.net, self.peer, each, |datagram| {
            (datagram.port == port).then(|| is_it(datagram.bytes)).flatten()
        })
    }
}

/// Registers of the blocks behind the endpoint that carries control.
pub(super) struct Registers {
    pub(super) engine: Box<dyn Engine>,
    pub(super) net: Arc<dyn Net>,
    pub(super) peer: SocketAddr,
    /// As the radio speaks it.
    pub(super) protocol: Protocol,
    /// Endpoint id of this end, and of the radio's that carries control.
    pub(super) id: u16,
    pub(super) control_id: u16,
    pub(super) management_sequence: u16,
    pub(super) chdr_sequence: u16,
    pub(super) sequence: u8,
    pub(super) patience: Patience,
    pub(super) retries: u64,
}

impl Registers {
    /// The registers of the radio at `peer`, which speaks `protocol` and has the endpoint `control_id`; this end is `id`.
    pub(super) fn new(
        net: &Arc<dyn Net>,
        peer: SocketAddr,
        protocol: Protocol,
        id: u16,
        control_id: u16,
    ) -> Result<Registers, RadioError> {
        Ok(Registers {
            engine: crate::ports::open_engine(&**net, peer)?,
            net: Arc::clone(net),
            peer,
            protocol,
            id,
            control_id,
            management_sequence: 0,
            chdr_sequence: 0,
            sequence: 0,
            patience: Patience::USUAL,
            retries: 0,
        })
    }

    pub(super) fn line(&mut self) -> Line<'_> {
        Line {
            engine: &mut *self.engine,
            port: crate::ports::ONLY,
            net: &*self.net,
            peer: self.peer,
            protocol: self.protocol,
            id: self.id,
            sequence: &mut self.management_sequence,
        }
    }

    /// Reads a register of the block at a control port.
    pub(super) fn peek(&mut self, port: u16, address: u32) -> Result<u32, RadioError> {
        self.exchange(port, ControlOperation::Read, address, ControlData::request(1), "a register read")
    }

    /// Writes a register of the block at a control port; it has taken effect when this returns. Repeated if the answer is lost:
    /// use it for registers that bear that.
    pub(super) fn poke(&mut self, port: u16, address: u32, data: u32) -> Result<(), RadioError> {
        self.exchange(port, ControlOperation::Write, address, ControlData::one(data), "a register write").map(drop)
    }

    /// Writes a register once.
    ///
    /// # Errors
    /// `Silent`: it may have taken effect or not.
    pub(super) fn poke_once(&mut self, port: u16, address: u32, data: u32) -> Result<(), RadioError> {
        let usual = self.patience;
        self.patience = Patience { tries: 1, ..usual };
        let given = self.poke(port, address, data);
        self.patience = usual;
        given
    }

    fn exchange(
        &mut self,
        port: u16,
        operation: ControlOperation,
        address: u32,
        data: ControlData,
        what: &'static str,
    ) -> Result<u32, RadioError> {
        let protocol = self.protocol;
        for attempt in 0..self.patience.tries {
            self.retries += u64::from(attempt > 0);
            self.sequence = protocol.next_sequence(self.sequence);
            self.chdr_sequence = self.chdr_sequence.wrapping_add(1);
            let request = Control {
                destination: self.control_id,
                chdr_sequence: self.chdr_sequence,
                to_port: port,
                from_port: 0,
                sequence: self.sequence,
                tick: None,
                is_ack: false,
                source: self.id,
                address,
                byte_enables: 15,
                operation,
                status: ControlStatus::Okay,
                data,
            };
            let each = self.patience.each;
            let mut line = self.line();
            line.send(|frame| request.write_as(protocol, frame))?;
            let ack = line.await_answer(each, |bytes| {
                let ack = Control::parse_as(protocol, bytes).ok().filter(|ack| ack.is_ack)?;
                let same = (ack.to_port, ack.sequence, ack.address) == (port, request.sequence, request.address);
                same.then_some(ack)
            })?;
            match ack {
                Some(ack) if answers(&ack, data) => return Ok(ack.data.first()),
                Some(_) => return Err(RadioError::Answer { addr: self.peer, what }),
                None => {}
            }
        }
        Err(RadioError::Silent { addr: self.peer, what, tries: self.patience.tries })
    }

    /// Until when answers are waited for, from now on.
    pub(super) fn set_patience(&mut self, patience: Patience) {
        self.patience = patience;
    }
}

/// Whether a request with this data was done, and all that it asks for has come.
fn answers(ack: &Control, data: ControlData) -> bool {
    ack.status == ControlStatus::Okay && ack.data.as_slice().len() >= usize::from(data.requested())
}
