//! A transmitter: a play head that moves through what its endpoint has received, and what it tells the host.
//!
//! | situation | what happens |
//! | --- | --- |
//! | idle, packet without time | plays from now |
//! | idle, timed packet, its time ahead | plays from exactly that tick |
//! | idle, timed packet, its time past | message "late", packet dropped |
//! | playing, packet used up, next one there | goes on at exactly the next tick, whatever its time says |
//! | playing, end of burst | message "burst ack", idle |
//! | playing, nothing there | message "underrun", idle |
//! | any, the host's counts at the front | adopts them, and answers |
//!
//! All instants are those of the play head and of arrival; when the driver gets round to calling is without influence.
//! A change while a packet plays (frequency, rate, master clock) changes its samples from that tick on. A gap in the
//! numbers of packets is the endpoint's affair, not the radio's (x310.md 9 and 10.3).

use takt_base::{Complex32, Tick};
use takt_wire::chdr::{Data, PacketType, StreamCommand, StreamOperation, StreamStatus};
use takt_wire::sample::{ByteOrder, full_scale, sc16};
use takt_wire::x310::registers::{message, radio};

use super::input::{CAPACITY_BYTES, Input, Mark};
use super::messages::{Around, Messenger};
use super::registers::Registers;
use crate::front_end::TxChain;
use crate::shared::{Buffer, PlayHead, Queued, Timekeeper, TxReport};
use crate::sink::{BurstEdges, Sink};
use crate::{Outbox, Timebase};

/// The shortest packet counts 16 bytes.
const SHORTEST_BYTES: usize = 16;
/// Most samples of a datagram.
const MAX_SAMPLES: usize = (1 << 16) / sc16::BYTES;
/// A burst without a start time plays from its first packet on; so long it lives from hand to mouth.
const START_PACKETS: u64 = 32;
/// Largest interpolation; UHD sets 1020 at most. A larger value written by a host is no rate.
const MAX_STEP: u32 = 1 << 16;
/// Error policy: go on with the next burst. The usual one is the next packet.
const NEXT_BURST: u32 = 2;

/// Front of the buffer.
#[derive(Clone, Copy, Debug)]
enum Head {
    Samples { tick: Option<u64>, end_of_burst: bool },
    Mark(Mark),
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Ready for the first packet of a burst from this tick on.
    Idle(Tick),
    /// Playing what is left of a packet.
    Playing(PlayHead),
    /// After an error: dropping packets, to the end of the burst.
    Dropping,
}

/// Effects on samples that leave, beside the sink's tuning.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Path {
    pub(super) chain: TxChain,
    /// The DUC's frequency word.
    pub(super) word: u32,
}

pub(super) struct Transmitter {
    path: Path,
    input: Input,
    buffer: Buffer<Head>,
    state: State,
    /// The packet that plays.
    playing: Option<Queued<Head>>,
    /// Packets played since the last burst began.
    packets_of_burst: u64,
    sink: Box<dyn Sink>,
    samples: Box<[Complex32]>,
    centre_hz: f64,
    oscillator_hz: f64,
    pub(super) report: TxReport,
}

/// A transmitter's surroundings within its slot and endpoint.
pub(super) struct Channel<'a> {
    pub(super) radio: &'a Registers,
    pub(super) interpolation: u32,
    /// Id of its endpoint.
    pub(super) endpoint: u16,
    pub(super) messenger: &'a mut Messenger,
}

impl Channel<'_> {
    fn tell(&mut self, code: u32, at: Tick, around: &Around<'_>, out: &mut dyn Outbox) {
        let remote = radio::TX_REMOTE.map(|at| radio::CHANNELS + at);
        self.messenger.tell(code, at, self.radio, remote, around, out);
    }

    fn step(&self) -> u32 {
        step_of(self.interpolation)
    }
}

fn step_of(interpolation: u32) -> u32 {
    interpolation.clamp(1, MAX_STEP)
}

fn send_status(at: Tick, status: Option<StreamStatus>, around: &Around<'_>, out: &mut dyn Outbox) -> bool {
    let Some(status) = status else { return false };
    around.send(at, status.destination, out, &mut |frame| status.write(frame).unwrap_or(0)).is_some()
}

impl Transmitter {
    pub(super) fn new(now: Tick, sink: Box<dyn Sink>) -> Transmitter {
        Transmitter {
            path: Path::default(),
            input: Input::default(),
            buffer: Buffer::new(CAPACITY_BYTES, SHORTEST_BYTES),
            state: State::Idle(now),
            playing: None,
            packets_of_burst: 0,
            sink,
            samples: vec![Complex32::default(); MAX_SAMPLES].into(),
            centre_hz: 0.0,
            oscillator_hz: 0.0,
            report: TxReport::default(),
        }
    }

    /// The master clock has another rate from this tick on.
    pub(super) fn clocked(&mut self, now: Tick, base: Timebase) {
        self.sink.clocked(now, base);
        if let State::Playing(head) = self.state {
            self.emit_rest(head.rest(now, head.step));
        }
    }

    /// As after power-up; the sink stays, and so do the counts.
    pub(super) fn clear(&mut self, now: Tick, interpolation: u32) {
        self.flush(now, interpolation);
        self.input.reset();
    }

    fn flush(&mut self, now: Tick, interpolation: u32) {
        self.report.flushed_packets += self.buffer.clear();
        if self.running() {
            self.close_burst(now, step_of(interpolation));
        }
        self.state = State::Idle(now);
    }

    pub(super) fn running(&self) -> bool {
        matches!(self.state, State::Playing(_))
    }

    /// Samples leave by this path, at this frequency and rate from this tick on, which may be those that they have.
    pub(super) fn update(&mut self, now: Tick, path: Path, oscillator_hz: f64, offset_hz: f64, interpolation: u32) {
        let retuned = self.retune(now, oscillator_hz, offset_hz) || path != self.path;
        self.path = path;
        let step = step_of(interpolation);
        match self.state {
            State::Playing(head) if retuned || head.step != step => self.emit_rest(head.rest(now, step)),
            _ => {}
        }
    }

    /// Tells the sink where the signal leaves, if that has changed; whether it has.
    fn retune(&mut self, now: Tick, oscillator_hz: f64, offset_hz: f64) -> bool {
        let centre_hz = oscillator_hz + offset_hz;
        let centre_moved = centre_hz.to_bits() != self.centre_hz.to_bits();
        let oscillator_moved = oscillator_hz.to_bits() != self.oscillator_hz.to_bits();
        (self.centre_hz, self.oscillator_hz) = (centre_hz, oscillator_hz);
        if centre_moved {
            self.sink.tuned(now, centre_hz);
        }
        if oscillator_moved {
            self.sink.oscillator(now, oscillator_hz);
        }
        centre_moved || oscillator_moved
    }

    /// The host's side of the credits.
    pub(super) fn command(
        &mut self,
        now: Tick,
        command: &StreamCommand,
        channel: &Channel<'_>,
        around: &Around<'_>,
        out: &mut dyn Outbox,
    ) {
        match Mark::of(command) {
            Some(mark) => {
                let kept = self.buffer.push(now, Head::Mark(mark), &[], StreamCommand::BYTES, false);
                self.report.overrun_packets += u64::from(!kept);
            }
            None if command.operation == StreamOperation::Init => {
                self.flush(now, channel.interpolation);
                let status = self.input.init(command);
                self.report.updates += u64::from(send_status(now, Some(status), around, out));
            }
            None => {}
        }
    }

    pub(super) fn data(
        &mut self,
        now: Tick,
        data: &Data<'_>,
        channel: &Channel<'_>,
        around: &Around<'_>,
        out: &mut dyn Outbox,
    ) {
        self.report.packets += 1;
        let kind = if data.head.tick.is_some() { PacketType::TimedData } else { PacketType::Data };
        let gap = self.input.arrived(data.head.sequence, kind, channel.endpoint);
        self.report.sequence_errors += u64::from(gap.is_some());
        send_status(now, gap, around, out);
        let head = Head::Samples { tick: data.head.tick, end_of_burst: data.head.end_of_burst };
        let length = data.head.payload_at() + data.payload.len();
        if !self.buffer.push(now, head, data.payload, length.next_multiple_of(8), self.sink.wants_samples()) {
            self.report.overrun_packets += 1;
        }
    }

    pub(super) fn next_event(&self, now: Tick, time: &Timekeeper) -> Option<Tick> {
        let front = self.buffer.front();
        if let Some(Queued { head: Head::Mark(_), arrived, .. }) = front {
            return Some(*arrived);
        }
        match self.state {
            State::Playing(head) => Some(head.until()),
            State::Dropping => front.map(|packet| packet.arrived),
            State::Idle(from) => front.map(|packet| {
                let ready = packet.arrived.max(from);
                let start = packet.tick().and_then(|tick| time.when(now, tick));
                start.unwrap_or(ready).max(ready)
            }),
        }
    }

    pub(super) fn act(&mut self, now: Tick, mut channel: Channel<'_>, around: &Around<'_>, out: &mut dyn Outbox) {
        while self.next_event(now, around.time).is_some_and(|at| at <= now) {
            if let Some(Queued { head: Head::Mark(mark), .. }) = self.buffer.front() {
                let mark = *mark;
                self.pass_mark(now, mark, &channel, around, out);
                continue;
            }
            match self.state {
                State::Playing(head) => self.go_on(head.until(), head.edges.end, &mut channel, around, out),
                State::Dropping => self.drop_one(now, &mut channel, around, out),
                State::Idle(_) => self.begin(now, &mut channel, around, out),
            }
        }
    }

    /// The host's counts have come to the front. The command counts, and is in what it says next time.
    fn pass_mark(&mut self, now: Tick, mark: Mark, channel: &Channel<'_>, around: &Around<'_>, out: &mut dyn Outbox) {
        self.buffer.pop();
        let status = match mark {
            Mark::Resync { bytes, packets } => self.input.resync(bytes, packets, channel.endpoint),
            Mark::Ping => self.input.ping(channel.endpoint),
        };
        self.report.updates += u64::from(send_status(now, status, around, out));
    }

    /// Idle, and a packet is to be looked at.
    fn begin(&mut self, now: Tick, channel: &mut Channel<'_>, around: &Around<'_>, out: &mut dyn Outbox) {
        let Some(packet) = self.buffer.front() else { return };
        if packet.tick().is_some_and(|tick| tick < around.time.at(now)) {
            let ended = packet.ends_burst();
            self.report.late += 1;
            self.report.dropped_packets += 1;
            self.take(now, channel, around, out);
            self.state = after_error(now, ended, channel);
            return channel.tell(message::TX_LATE, now, around, out);
        }
        self.report.bursts += 1;
        self.packets_of_burst = 0;
        self.sink.burst(now, around.time.at(now));
        self.play(now, true, channel, around, out);
    }

    /// The play head has reached the end of a packet.
    fn go_on(
        &mut self,
        at: Tick,
        end_of_burst: bool,
        channel: &mut Channel<'_>,
        around: &Around<'_>,
        out: &mut dyn Outbox,
    ) {
        self.sink.passed(at);
        if end_of_burst {
            self.state = State::Idle(at);
            self.report.burst_acks += 1;
            return channel.tell(message::TX_BURST_ACK, at, around, out);
        }
        if self.buffer.front().is_some() {
            return self.play(at, false, channel, around, out);
        }
        self.close_burst(at, channel.step());
        self.report.underflows += 1;
        self.report.underflows_at_start += u64::from(self.packets_of_burst <= START_PACKETS);
        self.state = after_error(at, false, channel);
        channel.tell(message::TX_UNDERRUN, at, around, out);
    }

    fn drop_one(&mut self, now: Tick, channel: &mut Channel<'_>, around: &Around<'_>, out: &mut dyn Outbox) {
        let Some(packet) = self.take(now, channel, around, out) else { return };
        self.report.dropped_packets += 1;
        if packet.ends_burst() {
            self.state = State::Idle(now);
        }
    }

    /// Takes the packet at the front, and tells the host if it is time.
    fn take(
        &mut self,
        at: Tick,
        channel: &Channel<'_>,
        around: &Around<'_>,
        out: &mut dyn Outbox,
    ) -> Option<Queued<Head>> {
        let packet = self.buffer.pop()?;
        let status = self.input.taken(packet.bytes, channel.endpoint);
        self.report.updates += u64::from(send_status(at, status, around, out));
        Some(packet)
    }

    /// Plays the packet at the front from `at` on.
    fn play(&mut self, at: Tick, start: bool, channel: &Channel<'_>, around: &Around<'_>, out: &mut dyn Outbox) {
        let Some(packet) = self.take(at, channel, around, out) else { return };
        self.packets_of_burst += 1;
        let edges = BurstEdges { start, end: packet.ends_burst() };
        let head = PlayHead::begin(at, packet.payload_words, channel.step(), edges);
        self.report.samples += head.samples() as u64;
        self.playing = Some(packet);
        self.state = State::Playing(head);
        self.emit(head);
    }

    /// This is left of the packet that plays.
    fn emit_rest(&mut self, rest: PlayHead) {
        self.state = State::Playing(rest);
        if rest.samples() > 0 {
            self.emit(rest);
        }
    }

    /// Gives the sink these samples of the packet that plays.
    fn emit(&mut self, head: PlayHead) {
        let Some(packet) = self.playing.as_ref().filter(|_| self.sink.wants_samples()) else { return };
        let Some(samples) = self.samples.get_mut(..head.samples()) else { return };
        let payload = self.buffer.payload(packet).get(sc16::BYTES * head.from..).unwrap_or_default();
        sc16::unpack_f32(payload, ByteOrder::Little, 1.0 / full_scale::SC16, samples);
        self.path.chain.transmit(head.first, head.step, self.path.word, samples);
        self.sink.take(head.first, head.step, samples, head.edges);
    }

    /// Tells the sink that the burst broke off.
    fn close_burst(&mut self, at: Tick, step: u32) {
        self.sink.take(at, step, &[], BurstEdges { start: false, end: true });
    }
}

impl Queued<Head> {
    fn tick(&self) -> Option<u64> {
        match self.head {
            Head::Samples { tick, .. } => tick,
            Head::Mark(_) => None,
        }
    }

    fn ends_burst(&self) -> bool {
        matches!(self.head, Head::Samples { end_of_burst: true, .. })
    }
}

/// `ended`: the offending packet was the last of its burst.
fn after_error(at: Tick, ended: bool, channel: &Channel<'_>) -> State {
    let policy = channel.radio.get(radio::CHANNELS + radio::TX_POLICY);
    if policy & NEXT_BURST != 0 && !ended { State::Dropping } else { State::Idle(at) }
}
