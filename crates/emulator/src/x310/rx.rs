//! A receive channel: from the commands of its radio to sample packets that leave by its endpoint.
//!
//! A packet whose samples were taken waits for credit. If it waits too long it is an overrun: the stream ends with the
//! packet that waits first, the host gets a report, and the radio is idle (x310.md 9 and 10.2).

use takt_base::{Complex32, Tick, Ticks};
use takt_wire::chdr::DataHead;
use takt_wire::sample::{ByteOrder, full_scale, sc16};
use takt_wire::x310::registers::{message, radio};

use super::graph::MTU_BYTES;
use super::messages::{Around, Messenger};
use super::output::Output;
use super::registers::Registers;
use crate::front_end::RxChain;
use crate::shared::{
    Action, Command, CommandEngine, Event, History, Item, Limits, Packet, Piece, RxReport, Shape, Timekeeper,
};
use crate::source::Source;
use crate::{Outbox, Sent};

/// Most samples of a packet that blocks pass on.
const MAX_SAMPLES: usize = (MTU_BYTES - DataHead::MAX_BYTES) / sc16::BYTES;
/// 32 commands may wait (x310.md 8.3); the smallest frame is 84 bytes at 10 Gb/s.
const LIMITS: Limits = Limits { queue: 32, shortest_packet_ticks: 14 };
/// How long samples wait for credit, in ticks: 20 ms. Hardware has microseconds, but its host is no program beside it (15,
/// trap 15).
const PATIENCE: Ticks = Ticks(4_000_000);
/// Largest decimation; UHD sets 1020 at most. A larger value written by a host is no rate.
const MAX_STEP: u32 = 1 << 16;

/// Effects on samples that are taken, beside the source's tuning.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Path {
    chain: RxChain,
    /// The DDC's frequency word.
    word: u32,
}

pub(super) struct Receiver {
    engine: CommandEngine,
    source: Box<dyn Source>,
    path: History<Path>,
    leakage: Option<f32>,
    samples: Box<[Complex32]>,
    centre_hz: f64,
    oscillator_hz: f64,
    /// After an overrun, while the packet that ends the stream has not left.
    ending: bool,
    report: RxReport,
}

/// A channel's surroundings within its slot and endpoint.
pub(super) struct Channel<'a> {
    pub(super) radio: &'a Registers,
    /// Address of its first register.
    pub(super) base: u32,
    pub(super) decimation: u32,
    pub(super) output: &'a mut Output,
    /// Id of its endpoint.
    pub(super) endpoint: u16,
    pub(super) messenger: &'a mut Messenger,
}

/// How the samples of the channel fall into packets whose first register this is.
pub(super) fn shape(radio: &Registers, base: u32, decimation: u32) -> Shape {
    let samples = radio.get(base + radio::RX_SAMPLES_PER_PACKET);
    Shape { step: step_of(decimation), samples: samples.clamp(1, MAX_SAMPLES as u32) }
}

fn step_of(decimation: u32) -> u32 {
    decimation.clamp(1, MAX_STEP)
}

impl Channel<'_> {
    fn shape(&self) -> Shape {
        shape(self.radio, self.base, self.decimation)
    }

    /// A count or a time in two registers, low word first.
    fn wide(&self, registers: [u32; 2]) -> u64 {
        let [low, high] = registers.map(|at| u64::from(self.radio.get(self.base + at)));
        high << 32 | low
    }

    /// The command that a write to the command register starts; `None` for one without meaning.
    fn command(&self, word: u32) -> Option<Command> {
        let action = match word & 3 {
            0 => Action::Stop,
            // No transmitter starts a receiver here.
            _ if word & radio::RX_TRIGGERED != 0 => return None,
            // Counted before decimation.
            1 => Action::Samples((self.wide(radio::RX_COUNT) & ((1 << 48) - 1)) / u64::from(step_of(self.decimation))),
            2 => Action::Start,
            _ => return None,
        };
        let tick = (word & radio::RX_TIMED != 0).then(|| self.wide(radio::RX_TIME));
        Some(Command { action, tick })
    }
}

impl Receiver {
    pub(super) fn new(now: Tick, source: Box<dyn Source>) -> Receiver {
        Receiver {
            engine: CommandEngine::new(now, LIMITS),
            source,
            path: History::new(Path::default()),
            leakage: None,
            samples: vec![Complex32::default(); MAX_SAMPLES].into(),
            centre_hz: 0.0,
            oscillator_hz: 0.0,
            ending: false,
            report: RxReport::default(),
        }
    }

    pub(super) fn source(&mut self) -> &mut dyn Source {
        &mut *self.source
    }

    /// Drops commands, and what has not left.
    pub(super) fn clear(&mut self, now: Tick) {
        self.engine.clear(now);
        self.ending = false;
    }

    pub(super) fn running(&self) -> bool {
        self.engine.running()
    }

    pub(super) fn report(&self) -> RxReport {
        RxReport { refused_commands: self.engine.refused, ..self.report }
    }

    /// Tells the source which frequency is 0 Hz, if that has changed.
    pub(super) fn retune(&mut self, now: Tick, oscillator_hz: f64, offset_hz: f64) {
        let centre_hz = oscillator_hz + offset_hz;
        if centre_hz.to_bits() != self.centre_hz.to_bits() {
            self.centre_hz = centre_hz;
            self.source.tuned(now, centre_hz);
        }
        if oscillator_hz.to_bits() != self.oscillator_hz.to_bits() {
            self.oscillator_hz = oscillator_hz;
            self.source.oscillator(now, oscillator_hz);
        }
    }

    /// Sets the path between the antenna, or (`leakage`) the transmitter, and its samples from this tick on.
    pub(super) fn connect(&mut self, now: Tick, chain: RxChain, word: u32, leakage: Option<f32>) {
        self.path.set(now, Path { chain, word });
        if leakage != self.leakage {
            self.leakage = leakage;
            self.source.calibrating(now, leakage);
        }
    }

    /// Its samples fall into packets like this from this tick on.
    pub(super) fn reshape(&mut self, now: Tick, time: &Timekeeper, shape: Shape) {
        self.engine.reshape(now, time, shape);
    }

    /// The command register was written.
    pub(super) fn command(&mut self, now: Tick, word: u32, channel: &Channel<'_>, time: &Timekeeper) {
        self.report.commands += 1;
        match channel.command(word) {
            Some(Command { action: Action::Stop, .. }) => self.engine.stop(now, time),
            Some(command) => self.engine.push(now, command),
            None => self.engine.refused += 1,
        }
    }

    pub(super) fn next_event(&self, now: Tick, time: &Timekeeper, output: &Output) -> Option<Tick> {
        [self.engine.next_event(now, time), self.next_departure(output)].into_iter().flatten().min()
    }

    /// When the first thing that waits leaves, or is given up; `None`: only credit matters.
    fn next_departure(&self, output: &Output) -> Option<Tick> {
        let packet = match self.engine.front()? {
            Item::Message { at, .. } => return Some(*at),
            Item::Packet(packet) => packet,
        };
        // One too many behind it: it leaves with what its source knows by now.
        let due = if self.engine.crowded() { packet.last() } else { self.due(packet) };
        if !output.is_open() || output.has_credit() || self.engine.crowded() {
            Some(due)
        } else if self.ending {
            None
        } else {
            Some(due + PATIENCE)
        }
    }

    fn due(&self, packet: &Packet) -> Tick {
        packet.last() + self.source.lookahead(packet.first, packet.step)
    }

    pub(super) fn act(&mut self, now: Tick, mut channel: Channel<'_>, around: &Around<'_>, out: &mut dyn Outbox) {
        self.engine.act(now, around.time, channel.shape());
        while self.next_departure(channel.output).is_some_and(|at| at <= now) {
            let Some(item) = self.engine.front().copied() else { return };
            match item {
                Item::Message { event, at, .. } => self.tell(event, at, &mut channel, around, out),
                Item::Packet(packet) if !channel.output.is_open() => self.drop_packet(packet),
                Item::Packet(_) if !channel.output.has_credit() => self.overrun(now, &mut channel, around, out),
                Item::Packet(packet) => self.send(now, packet, &mut channel, around, out),
            }
        }
    }

    /// The stream was never set up: its packets go nowhere.
    fn drop_packet(&mut self, _: Packet) {
        self.engine.pop();
        self.report.undirected_packets += 1;
    }

    fn send(
        &mut self,
        now: Tick,
        packet: Packet,
        channel: &mut Channel<'_>,
        around: &Around<'_>,
        out: &mut dyn Outbox,
    ) {
        let head = DataHead {
            destination: channel.output.destination,
            sequence: channel.output.sequence(),
            tick: Some(packet.time),
            end_of_burst: packet.end_of_burst,
            end_of_vector: false,
        };
        let mut length = 0;
        let sent = around.send(self.due(&packet), head.destination, out, &mut |frame| {
            length = self.write(&head, packet, frame);
            length
        });
        match sent {
            None => self.drop_packet(packet),
            // The wire is blocked still: the packet that ends the stream is lost with what came before it.
            Some((_, Sent::NoRoom)) if self.ending => {
                self.engine.pop();
                self.ending = false;
            }
            Some((_, Sent::NoRoom)) => self.overrun(now, channel, around, out),
            Some((_, Sent::Taken)) => {
                self.engine.pop();
                self.ending = false;
                self.report.packets += 1;
                self.report.samples += u64::from(packet.samples);
                if let Some(resync) = channel.output.sent(length, channel.endpoint) {
                    let _ = around.send(now, resync.destination, out, &mut |frame| resync.write(frame).unwrap_or(0));
                }
            }
        }
    }

    fn write(&mut self, head: &DataHead, packet: Packet, frame: &mut [u8]) -> usize {
        let Some(samples) = self.samples.get_mut(..packet.samples as usize) else { return 0 };
        self.source.fill(packet.first, packet.step, samples);
        let mut at = 0;
        while at < samples.len() && !self.source.raw() {
            let Piece { first, end, value } = self.path.piece(packet.first, packet.step, at, samples.len());
            value.chain.receive(first, packet.step, value.word, &mut samples[at..end]);
            at = end;
        }
        let Some(room) = frame.get_mut(head.payload_at()..) else { return 0 };
        let bytes = sc16::BYTES * sc16::pack_f32(samples, ByteOrder::Little, full_scale::SC16, room);
        head.frame(bytes, frame).unwrap_or(0)
    }

    /// Waiting packets could not leave in time, or the wire is blocked, or too much waits behind the packet that ends a
    /// stream. Then a stream that was started since is over as well, and that packet waits on.
    fn overrun(&mut self, now: Tick, channel: &mut Channel<'_>, around: &Around<'_>, out: &mut dyn Outbox) {
        self.report.overflows += 1;
        self.ending = true;
        self.engine.break_off(now);
        let remote = radio::RX_REMOTE.map(|at| channel.base + at);
        channel.messenger.tell(message::RX_OVERRUN, now, channel.radio, remote, around, out);
    }

    /// Among the engine's reports, hosts get that a command was late (x310.md 9).
    fn tell(&mut self, event: Event, at: Tick, channel: &mut Channel<'_>, around: &Around<'_>, out: &mut dyn Outbox) {
        self.engine.pop();
        self.report.note(event);
        if event == Event::Late {
            let remote = radio::RX_REMOTE.map(|at| channel.base + at);
            channel.messenger.tell(message::RX_LATE, at, channel.radio, remote, around, out);
        }
    }
}
