//! Messages that a radio sends its host unasked: a register write with the time of the event (x310.md 9).

use std::net::SocketAddr;

use takt_base::Tick;
use takt_wire::chdr::{Control, ControlData, ControlOperation, ControlStatus, Protocol};
use takt_wire::x310::ports;

use super::registers::Registers;
use super::routes::Routes;
use crate::shared::Timekeeper;
use crate::{Outbox, Port};

pub(super) const CHDR: Port = Port(ports::CHDR);

/// The rest of the device, as the streams need it.
pub(super) struct Around<'a> {
    pub(super) time: &'a Timekeeper,
    pub(super) routes: &'a Routes,
    /// Id of the endpoint that carries control.
    pub(super) control_endpoint: u16,
    pub(super) protocol: Protocol,
}

impl Around<'_> {
    /// Sends a packet to whoever has this endpoint id; says whether anybody has.
    pub(super) fn send(
        &self,
        due: Tick,
        endpoint: u16,
        out: &mut dyn Outbox,
        fill: &mut dyn FnMut(&mut [u8]) -> usize,
    ) -> Option<(SocketAddr, crate::Sent)> {
        let to = self.routes.of(endpoint)?;
        Some((to, out.send(due, CHDR, to, fill)))
    }
}

/// Numbers the messages of a radio.
pub(super) struct Messenger {
    port: u16,
    sequence: u8,
}

impl Messenger {
    pub(super) fn new(port: u16) -> Messenger {
        Messenger { port, sequence: 0 }
    }

    /// Tells the host that the registers at `remote` name (control port, endpoint id, address).
    pub(super) fn tell(
        &mut self,
        code: u32,
        at: Tick,
        registers: &Registers,
        remote: [u32; 3],
        around: &Around<'_>,
        out: &mut dyn Outbox,
    ) {
        let [port, endpoint, address] = remote.map(|at| registers.get(at));
        let message = Control {
            destination: endpoint as u16,
            chdr_sequence: self.sequence.into(),
            to_port: port as u16,
            from_port: self.port,
            sequence: self.sequence,
            tick: Some(around.time.at(at)),
            is_ack: false,
            source: around.control_endpoint,
            address,
            byte_enables: 15,
            operation: ControlOperation::Write,
            status: ControlStatus::Okay,
            data: ControlData::one(code),
        };
        let protocol = around.protocol;
        self.sequence = protocol.next_sequence(self.sequence);
        // A message that nobody receives, or that a blocked wire loses, is lost as a datagram would be.
        let _ = around.send(at, message.destination, out, &mut |frame| message.write_as(protocol, frame).unwrap_or(0));
    }
}
