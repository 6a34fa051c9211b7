//! Register commands on port 49159: ordered, optionally timed, acknowledged one by one.
//!
//! A poke does not wait for its ack, a peek does; at most 63 commands are without ack. An ack names its command, and
//! commands execute in order, so an ack says that everything **that arrived** before it has executed. When an ack is
//! missing behind a later one, either the command was lost or only its ack; the two look the same from here. Then:
//!
//! - if every command from the missing one on may be repeated (it sets a value, or is a peek), all of them are sent
//!   again, in order: the registers end up as if nothing had happened. A word for the serial bus goes to whatever slave
//!   another register names, so that one is set again before it;
//! - if one of them is a **trigger** that must act once (the time latch), nothing is repeated and the caller learns
//!   [`RadioError::Unsure`]; it can look at what the trigger should have done.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use takt_base::{MonoNs, Tick};
use takt_packet::{Engine, PortIndex, Wait};
use takt_wire::n200::registers::{readback, settings};
use takt_wire::n200::{Destination, FifoAck, FifoAction, FifoCommand, ports};

use crate::ports::open_engine;
use crate::{Net, RadioError};

/// Commands without ack at most: what the device's buffer holds.
const WINDOW: usize = 63;
/// How long an ack may take when nothing timed is in the way.
const ACK_PATIENCE: Duration = Duration::from_millis(500);
/// How often a command is repeated in vain before the radio counts as gone.
const ROUNDS: u32 = 5;
const PORT: PortIndex = PortIndex(0);

struct Sent {
    command: FifoCommand,
    /// Value of the serial bus' control register when this was sent.
    spi_control: u32,
    acked: bool,
}

/// The host's end of the register FIFO.
pub(super) struct Fifo {
    engine: Box<dyn Engine>,
    net: Arc<dyn Net>,
    peer: SocketAddr,
    sequence: u16,
    /// Time that the commands to come carry.
    time: Option<Tick>,
    /// Until when a timed command may hold back acks.
    blocked_until: MonoNs,
    /// Last value of the serial bus' control register.
    spi_control: u32,
    /// Commands from the oldest without ack on.
    journal: VecDeque<Sent>,
    repeats: u64,
}

impl Fifo {
    /// Opens the port and tells the device where acks go.
    pub(super) fn open(net: &Arc<dyn Net>, addr: IpAddr) -> Result<Fifo, RadioError> {
        let peer = SocketAddr::new(addr, ports::FIFO);
        let mut fifo = Fifo {
            engine: open_engine(&**net, peer)?,
            net: Arc::clone(net),
            peer,
            sequence: 0,
            time: None,
            blocked_until: MonoNs(0),
            spi_control: 0,
            journal: VecDeque::with_capacity(WINDOW),
            repeats: 0,
        };
        fifo.send(|frame| Destination::Sender.write(frame))?;
        Ok(fifo)
    }

    /// Commands from now on execute when device time passes `tick`, and hold back all that follow. `at`: when that will
    /// be on this host's clock, about; acks are waited for until half a second later.
    pub(super) fn set_time(&mut self, time: Option<(Tick, MonoNs)>) {
        self.time = time.map(|(tick, _)| tick);
        if let Some((_, at)) = time {
            self.blocked_until = self.blocked_until.max(at);
        }
    }

    /// Whether commands from now on carry a time.
    pub(super) fn is_timed(&self) -> bool {
        self.time.is_some()
    }

    /// Writes a settings register. Returns as soon as the command is on its way.
    pub(super) fn poke(&mut self, register: u8, data: u32) -> Result<(), RadioError> {
        self.issue(FifoAction::Poke { register, data }).map(drop)
    }

    /// Reads a readback word: after all that was poked before.
    pub(super) fn peek(&mut self, word: u8) -> Result<u32, RadioError> {
        let until = self.patience();
        for _ in 0..ROUNDS {
            let sequence = self.issue(FifoAction::Peek { word })?;
            if let Some(data) = self.await_ack(sequence, until.max(self.patience()))? {
                self.settle()?;
                return Ok(data);
            }
        }
        Err(RadioError::Silent { addr: self.peer, what: "a register peek", tries: ROUNDS })
    }

    /// Returns when everything poked so far has taken effect.
    pub(super) fn flush(&mut self) -> Result<(), RadioError> {
        if self.journal.iter().any(|sent| !sent.acked) {
            self.peek(readback::SPI)?;
        }
        Ok(())
    }

    /// Commands sent again because an ack was missing.
    pub(super) fn repeats(&self) -> u64 {
        self.repeats
    }

    fn patience(&self) -> MonoNs {
        self.net.now().max(self.blocked_until) + ACK_PATIENCE
    }

    fn issue(&mut self, action: FifoAction) -> Result<u16, RadioError> {
        self.collect(Wait::Poll)?;
        let until = self.patience();
        while self.journal.len() >= WINDOW {
            if self.journal.iter().any(|sent| sent.acked) {
                self.repeat_lost()?;
            } else if self.net.now() >= until {
                return Err(RadioError::Silent { addr: self.peer, what: "a register poke", tries: 1 });
            } else {
                self.collect(Wait::Until(until))?;
            }
        }
        self.dispatch(self.time.map(|tick| tick.0), action)
    }

    fn dispatch(&mut self, tick: Option<u64>, action: FifoAction) -> Result<u16, RadioError> {
        if let FifoAction::Poke { register: settings::SPI_CONTROL, data } = action {
            self.spi_control = data;
        }
        self.sequence = self.sequence.wrapping_add(1);
        let command = FifoCommand { sequence: self.sequence, tick, action };
        self.send(|frame| command.write(frame))?;
        self.journal.push_back(Sent { command, spi_control: self.spi_control, acked: false });
        Ok(self.sequence)
    }

    /// The data of the ack with this number, or `None` when it has not come by `until`.
    fn await_ack(&mut self, sequence: u16, until: MonoNs) -> Result<Option<u32>, RadioError> {
        loop {
            if let Some(data) = self.collect_for(Wait::Until(until), sequence)? {
                return Ok(Some(data));
            }
            if self.net.now() >= until {
                return Ok(None);
            }
        }
    }

    /// Called when a later command has been acknowledged: mends what is missing before it.
    fn settle(&mut self) -> Result<(), RadioError> {
        let mut in_vain = 0;
        while !self.journal.is_empty() {
            let before = self.journal.len();
            self.repeat_lost()?;
            let Some(last) = self.journal.back().map(|sent| sent.command.sequence) else { return Ok(()) };
            self.await_ack(last, self.patience())?;
            // Each round brings at least the oldest command through, or was in vain.
            in_vain = if self.journal.len() < before { 0 } else { in_vain + 1 };
            if in_vain == ROUNDS {
                return Err(RadioError::Silent { addr: self.peer, what: "a register poke", tries: ROUNDS });
            }
        }
        Ok(())
    }

    /// Sends everything from the oldest command without ack on again, in order, under new numbers.
    fn repeat_lost(&mut self) -> Result<(), RadioError> {
        let trigger = self.journal.iter().find_map(|sent| match sent.command.action {
            FifoAction::Poke { register, .. } if acts_once(register) => Some(register),
            _ => None,
        });
        if let Some(register) = trigger {
            self.journal.clear();
            return Err(RadioError::Unsure { register });
        }
        for _ in 0..self.journal.len() {
            let Some(lost) = self.journal.pop_front() else { break };
            // Reading twice changes nothing, and the caller has repeated its request.
            if matches!(lost.command.action, FifoAction::Peek { .. }) {
                continue;
            }
            self.repeats += 1;
            let tick = lost.command.tick;
            let to_bus = matches!(lost.command.action, FifoAction::Poke { register: settings::SPI_DATA, .. });
            if to_bus && self.spi_control != lost.spi_control {
                let (register, data) = (settings::SPI_CONTROL, lost.spi_control);
                self.dispatch(tick, FifoAction::Poke { register, data })?;
            }
            self.dispatch(tick, lost.command.action)?;
        }
        Ok(())
    }

    fn collect(&mut self, wait: Wait) -> Result<(), RadioError> {
        self.collect_for(wait, 0).map(drop)
    }

    /// Takes the acks that are there; returns the data of the one with this number, if it is among them.
    fn collect_for(&mut self, wait: Wait, sequence: u16) -> Result<Option<u32>, RadioError> {
        let mut data = None;
        for datagram in self.engine.recv(wait)?.iter() {
            let Ok(ack) = FifoAck::parse(datagram.bytes) else { continue };
            let sent = self.journal.iter_mut().find(|sent| sent.command.control() == ack.control);
            // Acks of an earlier session, or of commands that were repeated since, name nothing in the journal.
            let Some(sent) = sent else { continue };
            sent.acked = true;
            if ack.sequence() == sequence {
                data = Some(ack.data);
            }
        }
        while self.journal.front().is_some_and(|sent| sent.acked) {
            self.journal.pop_front();
        }
        if self.engine.refused().is_some() {
            return Err(RadioError::PortClosed { addr: self.peer });
        }
        Ok(data)
    }

    fn send(&mut self, write: impl Fn(&mut [u8]) -> Result<usize, takt_wire::WireError>) -> Result<(), RadioError> {
        let mut batch = self.engine.reserve(1);
        let mut written = Ok(0);
        batch.push(PORT, None, |frame| {
            written = write(frame);
            *written.as_ref().unwrap_or(&0)
        });
        written?;
        batch.send(Wait::Until(self.net.now() + ACK_PATIENCE))?;
        Ok(())
    }
}

/// Registers that this driver writes here and that must not be written twice for one intention. Clears and stream ids act
/// as well, but acting twice before the stream runs is acting once.
fn acts_once(register: u8) -> bool {
    register == settings::TIME_HIGH
}
