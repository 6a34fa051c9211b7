//! Control ports: registers of blocks, each port strictly in order, with or without a time (x310.md 6.5).

use takt_base::Tick;
use takt_wire::chdr::{Control, ControlOperation, ControlStatus};

use super::X310;
use super::graph::{self, CONTROL_PORTS, Target};
use crate::Outbox;
use crate::shared::TimedQueue;

/// Commands a port holds: a radio's queue of 512 words holds 170 of the shortest.
const COMMANDS: usize = 256;

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
                let (status, read) = self.execute(now, port, &command);
                let ack = command.ack(self.endpoints[0].id, status, read);
                let around = self.around();
                let _ = around.send(now, ack.destination, out, &mut |frame| ack.write(frame).unwrap_or(0));
            }
        }
    }

    fn execute(&mut self, now: Tick, port: usize, command: &Control) -> (ControlStatus, u32) {
        let Some(target) = Target::of(port) else { return (ControlStatus::CommandError, 0) };
        let (address, word) = (command.address, command.data.first());
        match command.operation {
            ControlOperation::Sleep => (ControlStatus::Okay, word),
            ControlOperation::Write => {
                self.write_block(now, target, address, word);
                (ControlStatus::Okay, word)
            }
            ControlOperation::Read => (ControlStatus::Okay, self.read_block(now, target, address)),
            // UHD sends no others (x310.md 6.5), so what they do here would be a guess.
            _ => (ControlStatus::CommandError, word),
        }
    }

    fn write_block(&mut self, now: Tick, target: Target, address: u32, word: u32) {
        match target {
            Target::ClientZero => self.write_client_zero(now, address, word),
            Target::Duc(slot) => self.slots[slot].write_duc(now, address, word),
            Target::Ddc(slot) => self.slots[slot].write_ddc(now, address, word),
            Target::Radio(slot) => self.slots[slot].write_radio(now, address, word, &mut self.endpoints, &self.time),
        }
    }

    /// Flush and reset of a block: of a radio, whatever runs through it ends (x310.md 7.1).
    fn write_client_zero(&mut self, now: Tick, address: u32, word: u32) {
        const FLUSH_OR_RESET_DATA: u32 = 5;
        if let Some((Target::Radio(slot), 4)) = graph::block_of(address)
            && word & FLUSH_OR_RESET_DATA != 0
        {
            self.slots[slot].rx.iter_mut().for_each(|rx| rx.clear(now));
        }
    }

    fn read_block(&mut self, now: Tick, target: Target, address: u32) -> u32 {
        match target {
            Target::ClientZero => graph::client_zero(address, self.board.device_id()),
            Target::Duc(slot) => self.slots[slot].read_duc(address),
            Target::Ddc(slot) => self.slots[slot].read_ddc(address),
            Target::Radio(slot) => self.slots[slot].read_radio(now, address, &self.time),
        }
    }
}
