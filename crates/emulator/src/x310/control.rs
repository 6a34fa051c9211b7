//! Control ports: registers of blocks, each port strictly in order, with or without a time (x310.md 6.5 and 18.2).

use takt_base::Tick;
use takt_wire::chdr::{Control, ControlData, ControlOperation, ControlStatus, Protocol};
use takt_wire::x310::registers::radio;

use super::X310;
use super::graph::{self, CONTROL_PORTS, Target};
use crate::Outbox;
use crate::shared::TimedQueue;

/// Commands a port holds: a radio's queue of 512 words holds 170 of the shortest.
const COMMANDS: usize = 256;

/// Bits of an address.
const ADDRESS: u32 = 0xF_FFFF;
/// A request that is not fulfilled, and its answer without data.
const REFUSED: (ControlStatus, ControlData) = (ControlStatus::CommandError, ControlData::NONE);

pub(super) type Ports = [TimedQueue<Control>; CONTROL_PORTS];

pub(super) fn ports() -> Ports {
    std::array::from_fn(|_| TimedQueue::new(COMMANDS))
}

impl X310 {
    /// A request for a port, or an acknowledgement of what a radio reported, which is ignored.
    pub(super) fn control(&mut self, now: Tick, control: Control) {
        if control.is_ack {
            return;
        }
        self.report.commands += 1;
        self.report.timed_commands += u64::from(control.tick.is_some());
        let port = self.ports.get_mut(usize::from(control.to_port));
        let taken = port.is_some_and(|port| port.push(now, control.tick, control));
        self.report.dropped_commands += u64::from(!taken);
    }

    /// When the first command of any port is due.
    pub(super) fn next_command(&self, now: Tick) -> Option<Tick> {
        self.ports.iter().filter_map(|port| port.next_event(now, &self.time)).min()
    }

    /// Executes what is due, and acknowledges it.
    pub(super) fn run_commands(&mut self, now: Tick, out: &mut dyn Outbox) {
        for port in 0..CONTROL_PORTS {
            while let Some(command) = self.ports[port].pop_due(now, &self.time) {
                let protocol = self.release.protocol();
                let (status, read) = match (Target::of(port), protocol) {
                    (None, _) => REFUSED,
                    (Some(target), Protocol::V1) => self.access(now, target, &command),
                    (Some(target), Protocol::V2) => self.transfer(now, target, &command),
                };
                let ack = command.ack_as(protocol, self.endpoints[0].id, status, read);
                let around = self.around();
                let _ = around.send(now, ack.destination, out, &mut |frame| ack.write_as(protocol, frame).unwrap_or(0));
            }
        }
    }

    /// A request of protocol 1.0: one word. The result is what was read; a write is answered with what was written.
    fn access(&mut self, now: Tick, target: Target, command: &Control) -> (ControlStatus, ControlData) {
        match command.operation {
            ControlOperation::Sleep => {}
            ControlOperation::Write => self.write_block(now, target, command.address, command.data.first()),
            ControlOperation::Read => {
                let word = self.read_block(now, target, command.address);
                return (ControlStatus::Okay, ControlData::one(word));
            }
            // UHD sends no others (x310.md 6.5), so what they do here would be a guess.
            _ => return REFUSED,
        }
        (ControlStatus::Okay, ControlData::NONE)
    }

    /// A request of protocol 2.0: as many words as it says, of one register or of a block of them. The result is what was read.
    fn transfer(&mut self, now: Tick, target: Target, command: &Control) -> (ControlStatus, ControlData) {
        let data = command.data.as_slice();
        let is_block = matches!(command.operation, ControlOperation::BlockWrite | ControlOperation::BlockRead);
        let address = |n: usize| command.address.wrapping_add(if is_block { 4 * n as u32 } else { 0 }) & ADDRESS;
        let mut read = ControlData::NONE;
        match (command.operation, data) {
            // Nobody counts the cycles of its clock: it is over at once.
            (ControlOperation::Sleep, [_]) => {}
            (ControlOperation::Write | ControlOperation::BlockWrite, [_, ..]) => {
                for (n, &word) in data.iter().enumerate() {
                    self.write_block(now, target, address(n), word);
                }
            }
            (ControlOperation::Read | ControlOperation::BlockRead, _) if command.data.requested() > 0 => {
                for n in 0..usize::from(command.data.requested()) {
                    read.push(self.read_block(now, target, address(n)));
                }
            }
            (ControlOperation::ReadWrite, &[word]) => {
                read.push(self.read_block(now, target, address(0)));
                self.write_block(now, target, address(0), word);
            }
            // One look: what is not so now counts as not so until the time is over.
            (ControlOperation::Poll, &[wanted, mask, _]) => {
                let word = self.read_block(now, target, address(0));
                read.push(word);
                if (word ^ wanted) & mask != 0 {
                    return (ControlStatus::CommandError, read);
                }
            }
            _ => return REFUSED,
        }
        (ControlStatus::Okay, read)
    }

    fn write_block(&mut self, now: Tick, target: Target, address: u32, word: u32) {
        match target {
            Target::ClientZero => self.write_client_zero(now, address, word),
            Target::Duc(slot) => self.slots[slot].write_duc(now, address, word),
            Target::Ddc(slot) => self.slots[slot].write_ddc(now, address, word, &self.time),
            Target::Radio(slot) => {
                self.unserved.used_block();
                // A write to a register that its block does not have is forgotten.
                if let Some(address) = self.release.radio().in_first(address) {
                    self.slots[slot].write_radio(now, address, word, &mut self.endpoints, &self.time);
                }
            }
        }
    }

    /// Flush and reset of a block: of a radio, whatever runs through it ends, such as what a host before left (x310.md 7.1).
    fn write_client_zero(&mut self, now: Tick, address: u32, word: u32) {
        const FLUSH_OR_RESET_DATA: u32 = 5;
        if let Some((Target::Radio(slot), 4)) = graph::block_of(address)
            && word & FLUSH_OR_RESET_DATA != 0
        {
            self.slots[slot].clear(now);
        }
    }

    fn read_block(&mut self, now: Tick, target: Target, address: u32) -> u32 {
        match target {
            Target::ClientZero => graph::client_zero(address, self.board.device_id(), self.release.protocol()),
            Target::Duc(slot) => self.slots[slot].read_duc(address),
            Target::Ddc(slot) => self.slots[slot].read_ddc(address),
            Target::Radio(slot) => self.read_radio(now, slot, address),
        }
    }

    fn read_radio(&mut self, now: Tick, slot: usize, address: u32) -> u32 {
        let layout = self.release.radio();
        if address == radio::COMPAT {
            self.unserved.told_block();
            return layout.compat();
        }
        if address == layout.address_of(0, radio::WIDTH) {
            self.unserved.told_width();
        } else {
            self.unserved.used_block();
        }
        layout.in_first(address).map_or(0, |address| self.slots[slot].read_radio(now, address, &self.time))
    }
}
