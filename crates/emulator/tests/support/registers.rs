//! Registers, read and written as a host does, and looks into the device.

use takt_emulator::fault::Faulty;
use takt_emulator::n200::{N200, N200Report};
use takt_wire::n200::{
    ControlAnswer, ControlAsk, ControlReply, ControlRequest, FifoAction, FifoCommand, RegisterAction, ports,
    registers::{self, settings},
};

use super::{Host, ms, tick_at, us};

impl Host {
    pub fn command(&mut self, tick: Option<u64>, action: FifoAction) -> FifoCommand {
        let command = FifoCommand { sequence: self.next_command, tick, action };
        self.next_command = self.next_command.wrapping_add(1);
        let mut bytes = [0; FifoCommand::MAX_BYTES];
        let len = command.write(&mut bytes).unwrap();
        self.send(ports::FIFO, &bytes[..len]);
        command
    }

    pub fn poke(&mut self, register: u8, data: u32) {
        self.command(None, FifoAction::Poke { register, data });
    }

    pub fn poke_at(&mut self, tick: u64, register: u8, data: u32) {
        self.command(Some(tick), FifoAction::Poke { register, data });
    }

    pub fn set_time(&mut self, time: u64, immediate: bool) {
        self.poke(settings::TIME_LOW, time as u32);
        self.poke(settings::TIME_IMMEDIATE, u32::from(immediate));
        self.poke(settings::TIME_HIGH, (time >> 32) as u32);
    }

    /// Reads a word over the FIFO: waits for its ack, at most 20 s.
    pub fn peek(&mut self, word: u8) -> u32 {
        let control = self.command(None, FifoAction::Peek { word }).control();
        for _ in 0..200_000 {
            if let Some(ack) = self.acks.iter().find(|ack| ack.control == control) {
                return ack.data;
            }
            self.run(us(100));
        }
        panic!("no ack of {control:#x} at {}", self.world.now());
    }

    /// Asks on the control port; `None` if nothing comes within 10 ms.
    pub fn ask(&mut self, ask: ControlAsk) -> Option<ControlReply> {
        let request = ControlRequest::new(self.next_request, ask);
        self.next_request += 1;
        let mut bytes = [0; ControlRequest::BYTES];
        request.write(&mut bytes).unwrap();
        self.send(ports::CONTROL, &bytes);
        self.replies.clear();
        self.run(ms(1));
        let reply = self.replies.iter().find_map(|bytes| ControlReply::parse(bytes).ok());
        reply.filter(|reply| reply.sequence == request.sequence)
    }

    pub fn register(&mut self, action: RegisterAction, address: u32, data: u32) -> u32 {
        match self.ask(ControlAsk::Register { action, address, data }).map(|reply| reply.answer) {
            Some(ControlAnswer::Register { data }) => data,
            other => panic!("{other:?}"),
        }
    }

    pub fn slow_poke(&mut self, register: u8, data: u32) {
        self.register(RegisterAction::Poke32, registers::settings_address(register), data);
    }

    /// Device time at this instant, by looking into the device.
    pub fn time(&self) -> u64 {
        let now = tick_at(self.world.now());
        self.look(|device| device.device_time(now))
    }

    pub fn look<R>(&self, look: impl FnOnce(&N200) -> R) -> R {
        self.world.device(self.device, |radio: &mut Faulty<N200>| look(radio.device()))
    }

    pub fn report(&self) -> N200Report {
        self.look(N200::report)
    }

    pub fn injected(&self, fault: &str) -> u64 {
        self.world.device(self.device, |radio: &mut Faulty<N200>| radio.injected()[fault])
    }
}
