//! The transmit DSP: a play head that moves through the packets, and what it tells the host.
//!
//! | situation | what happens |
//! | --- | --- |
//! | idle, packet without time | plays from now |
//! | idle, timed packet, its time ahead | plays from exactly that tick |
//! | idle, timed packet, its time past | report "time error", packet dropped |
//! | idle, wrong number | report "sequence error", packet dropped |
//! | playing, packet used up, next one there | goes on at exactly the next tick, whatever its time says |
//! | playing, wrong number | report "sequence error in burst", packet dropped, idle |
//! | playing, end of burst | report "burst ack", idle |
//! | playing, nothing there | report "underflow", idle |
//!
//! After an error the policy decides what follows: the next packet, the next burst, or nothing until a flush. A change
//! while a packet plays (frequency, scale, rate, correction, mux) changes its samples from that tick on.
//!
//! All instants are those of the play head and of arrival. When the driver gets round to calling is without influence: a
//! packet that arrived in time plays in time.

use takt_base::{Complex32, Tick, Ticks};
use takt_wire::n200::rate::Direction;
use takt_wire::n200::registers::{UPDATE_ENABLE, settings, tx_policy};
use takt_wire::n200::{TX_BUFFER_BYTES, TxData, TxEvent, TxHead, TxReport as Report, ports};
use takt_wire::sample::{ByteOrder, Format, full_scale, sc8, sc16};

use super::dsp::{DspBlock, Surroundings, format_of};
use super::front_end::FrontEnd;
use crate::front_end::TxChain;
use crate::shared::{Buffer, PlayHead, Timekeeper, TxReport};
use crate::sink::{BurstEdges, Sink};
use crate::{Outbox, Port};

type Queued = crate::shared::Queued<TxHead>;

/// Flow-control messages are never closer than this, whatever the register says: 10 us.
const SHORTEST_UPDATE_TICKS: u64 = 1000;
/// Shortest packet: sequence number, header, trailer.
const SHORTEST_BYTES: usize = 12;
/// Most samples of one packet: sc8.
const MAX_SAMPLES: usize = (1 << 16) / sc8::BYTES;
/// A burst without a start time plays from its first packet on; so long it lives from hand to mouth.
const START_PACKETS: u64 = 32;

#[derive(Clone, Copy, Debug)]
enum State {
    /// Ready for the first packet of a burst from this tick on.
    Idle(Tick),
    /// Playing what is left of a packet.
    Playing(PlayHead),
    /// After an error: dropping packets, to the end of the burst or (`None`) until a flush.
    Dropping { until_end_of_burst: bool },
}

/// Settings that act on samples that leave, beside the sink's tuning.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Emission {
    chain: TxChain,
    dsp: DspBlock,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Registers {
    flushing: bool,
    format: Format,
    stream_id: u32,
    policy: u32,
    cycles_per_update: u32,
    packets_per_update: u32,
    pub(super) dsp: DspBlock,
}

pub(super) struct TxDsp {
    pub(super) registers: Registers,
    /// 1 MiB. Hardware keeps whole packets in its memory; so a packet takes its length here.
    buffer: Buffer<TxHead>,
    state: State,
    /// The packet that plays, its format, and what acts on it.
    playing: Option<(Queued, Format)>,
    emission: Emission,
    /// Number the next packet must have.
    expected: u32,
    /// Number of the last packet taken; all ones before the first.
    taken: u32,
    /// When the last flow-control message was due, and how many packets were taken since.
    updated: Tick,
    packets_since_update: u32,
    /// Packets played since the last burst began.
    packets_of_burst: u64,
    reports_sent: u8,
    sink: Box<dyn Sink>,
    samples: Box<[Complex32]>,
    centre_hz: f64,
    oscillator_hz: f64,
    pub(super) report: TxReport,
}

impl TxDsp {
    pub(super) fn new(now: Tick, sink: Box<dyn Sink>) -> TxDsp {
        TxDsp {
            registers: Registers { policy: tx_policy::NEXT_PACKET, ..Registers::default() },
            buffer: Buffer::new(TX_BUFFER_BYTES, SHORTEST_BYTES),
            state: State::Idle(now),
            playing: None,
            emission: Emission::default(),
            expected: 0,
            taken: u32::MAX,
            updated: now,
            packets_since_update: 0,
            packets_of_burst: 0,
            reports_sent: 0,
            sink,
            samples: vec![Complex32::default(); MAX_SAMPLES].into(),
            centre_hz: 0.0,
            oscillator_hz: 0.0,
            report: TxReport::default(),
        }
    }

    /// As after a reset; the sink stays, and so do the counts.
    pub(super) fn power_cycle(&mut self, now: Tick) {
        self.flush(now);
        self.registers = Registers { policy: tx_policy::NEXT_PACKET, ..Registers::default() };
        (self.expected, self.taken) = (0, u32::MAX);
    }

    /// A register of the control block, by its index.
    pub(super) fn control(&mut self, now: Tick, register: u8, data: u32) {
        let registers = &mut self.registers;
        match register {
            settings::TX_CLEAR => {
                registers.flushing = data & 1 != 0;
                self.flush(now);
            }
            settings::TX_FORMAT => registers.format = format_of(data),
            settings::TX_REPORT_STREAM_ID => {
                registers.stream_id = data;
                (self.expected, self.taken) = (0, u32::MAX);
            }
            settings::TX_POLICY => registers.policy = data,
            settings::TX_CYCLES_PER_UPDATE => {
                registers.cycles_per_update = data;
                self.restart_updates(now);
            }
            settings::TX_PACKETS_PER_UPDATE => {
                registers.packets_per_update = data;
                self.restart_updates(now);
            }
            _ => {}
        }
    }

    /// Registers or the front end have changed: samples leave accordingly from this tick on.
    pub(super) fn update(&mut self, now: Tick, front_end: &FrontEnd) {
        let retuned = self.retune(now, front_end);
        let State::Playing(head) = self.state else { return };
        let emission = self.emission_through(front_end);
        if !retuned && emission == self.emission {
            return;
        }
        self.emission = emission;
        let rest = head.rest(now, emission.dsp.step());
        self.state = State::Playing(rest);
        if rest.samples() > 0 {
            self.emit(rest);
        }
    }

    fn emission_through(&self, front_end: &FrontEnd) -> Emission {
        Emission { chain: front_end.tx_chain(), dsp: self.registers.dsp }
    }

    /// Tells the sink where the signal leaves, if that has changed; whether it has.
    fn retune(&mut self, now: Tick, front_end: &FrontEnd) -> bool {
        let [centre_hz, oscillator_hz] = [self.centre_hz, self.oscillator_hz];
        self.centre_hz = front_end.tx_centre_hz(self.registers.dsp.frequency);
        self.oscillator_hz = front_end.oscillators_hz()[1];
        if self.centre_hz != centre_hz {
            self.sink.tuned(now, self.centre_hz);
        }
        if self.oscillator_hz != oscillator_hz {
            self.sink.oscillator(now, self.oscillator_hz);
        }
        [self.centre_hz, self.oscillator_hz] != [centre_hz, oscillator_hz]
    }

    pub(super) fn centre_hz(&self) -> f64 {
        self.centre_hz
    }

    pub(super) fn running(&self) -> bool {
        matches!(self.state, State::Playing(_))
    }

    /// Whether flow-control messages are being sent.
    pub(super) fn updating(&self) -> bool {
        (self.registers.cycles_per_update | self.registers.packets_per_update) & UPDATE_ENABLE != 0
    }

    /// Sends no more flow-control messages: the host is gone.
    pub(super) fn stop_updates(&mut self) {
        self.registers.cycles_per_update = 0;
        self.registers.packets_per_update = 0;
    }

    pub(super) fn packet(&mut self, now: Tick, packet: &TxData<'_>) {
        self.report.packets += 1;
        let bytes = packet.head.payload_at() + packet.payload.len() + 4;
        if self.registers.flushing {
            self.report.flushed_packets += 1;
        } else if !self.buffer.push(now, packet.head, packet.payload, bytes, self.sink.wants_samples()) {
            self.report.overrun_packets += 1;
        }
    }

    pub(super) fn next_event(&self, now: Tick, time: &Timekeeper) -> Option<Tick> {
        [self.next_play(now, time), self.next_update()].into_iter().flatten().min()
    }

    fn next_play(&self, now: Tick, time: &Timekeeper) -> Option<Tick> {
        let front = self.buffer.front();
        match self.state {
            State::Playing(head) => Some(head.until()),
            State::Dropping { .. } => front.map(|packet| packet.arrived),
            State::Idle(from) => front.map(|packet| {
                let ready = packet.arrived.max(from);
                let wrong = self.is_out_of_order(packet);
                let start = packet.head.tick.filter(|_| !wrong).and_then(|tick| time.when(now, tick));
                start.unwrap_or(ready).max(ready)
            }),
        }
    }

    fn next_update(&self) -> Option<Tick> {
        let registers = &self.registers;
        let cycles = u64::from(registers.cycles_per_update & 0x00FF_FFFF).max(SHORTEST_UPDATE_TICKS);
        let by_time = self.updated + Ticks(cycles);
        let packets = registers.packets_per_update & 0xFFFF;
        if registers.packets_per_update & UPDATE_ENABLE != 0 && self.packets_since_update > packets {
            return Some(by_time.min(self.updated + Ticks(SHORTEST_UPDATE_TICKS)));
        }
        (registers.cycles_per_update & UPDATE_ENABLE != 0).then_some(by_time)
    }

    pub(super) fn act(&mut self, now: Tick, around: &Surroundings<'_>, out: &mut dyn Outbox) {
        while self.next_play(now, around.time).is_some_and(|at| at <= now) {
            match self.state {
                State::Playing(head) => self.go_on(head.until(), head.edges.end, around, out),
                State::Dropping { until_end_of_burst } => self.drop_one(now, until_end_of_burst),
                State::Idle(_) => self.begin(now, around, out),
            }
        }
        if self.next_update().is_some_and(|at| at <= now) {
            self.restart_updates(now);
            self.report.updates += u64::from(self.send(TxEvent::FlowControl, now, around, out));
        }
    }

    /// Idle, and a packet is to be looked at.
    fn begin(&mut self, now: Tick, around: &Surroundings<'_>, out: &mut dyn Outbox) {
        let Some(packet) = self.buffer.front() else { return };
        if self.is_out_of_order(packet) {
            self.report.sequence_errors += 1;
            self.fail(TxEvent::SequenceError, now, around, out);
        } else if packet.head.tick.is_some_and(|tick| tick < around.time.at(now)) {
            self.report.late += 1;
            self.fail(TxEvent::TimeError, now, around, out);
        } else {
            self.report.bursts += 1;
            self.packets_of_burst = 0;
            self.sink.burst(now, around.time.at(now));
            self.play(now, true, around);
        }
    }

    /// The play head has reached the end of a packet.
    fn go_on(&mut self, at: Tick, end_of_burst: bool, around: &Surroundings<'_>, out: &mut dyn Outbox) {
        self.sink.passed(at);
        if end_of_burst {
            self.state = State::Idle(at);
            self.report.burst_acks += 1;
            self.send(TxEvent::BurstAck, at, around, out);
            return;
        }
        match self.buffer.front() {
            Some(packet) if self.is_out_of_order(packet) => {
                self.close_burst(at);
                self.report.sequence_errors += 1;
                self.fail(TxEvent::SequenceErrorInBurst, at, around, out);
            }
            Some(_) => self.play(at, false, around),
            None => {
                self.close_burst(at);
                self.report.underflows += 1;
                self.report.underflows_at_start += u64::from(self.packets_of_burst <= START_PACKETS);
                self.state = self.after_error(at, false);
                self.send(TxEvent::Underflow, at, around, out);
            }
        }
    }

    /// Drops the packet at the front, says why, and goes on as the policy says.
    fn fail(&mut self, event: TxEvent, at: Tick, around: &Surroundings<'_>, out: &mut dyn Outbox) {
        let ended = self.take().is_some_and(|packet| packet.head.end_of_burst);
        self.report.dropped_packets += 1;
        self.state = self.after_error(at, ended);
        self.send(event, at, around, out);
    }

    /// `ended`: the offending packet was the last of its burst.
    fn after_error(&self, at: Tick, ended: bool) -> State {
        let policy = self.registers.policy;
        if policy & tx_policy::NEXT_PACKET != 0 || policy & tx_policy::NEXT_BURST != 0 && ended {
            State::Idle(at)
        } else {
            State::Dropping { until_end_of_burst: policy & tx_policy::NEXT_BURST != 0 }
        }
    }

    fn drop_one(&mut self, now: Tick, until_end_of_burst: bool) {
        let Some(packet) = self.take() else { return };
        self.report.dropped_packets += 1;
        if until_end_of_burst && packet.head.end_of_burst {
            self.state = State::Idle(now);
        }
    }

    /// Takes the packet at the front, as the DSP counts it.
    fn take(&mut self) -> Option<Queued> {
        let packet = self.buffer.pop()?;
        self.taken = packet.head.sequence;
        self.expected = packet.head.sequence.wrapping_add(1);
        self.packets_since_update = self.packets_since_update.saturating_add(1);
        Some(packet)
    }

    /// Both the 32-bit and the 4-bit number count.
    fn is_out_of_order(&self, packet: &Queued) -> bool {
        packet.head.sequence != self.expected || u32::from(packet.head.count) != self.expected & 15
    }

    /// Plays the packet at the front from `at` on.
    fn play(&mut self, at: Tick, start: bool, around: &Surroundings<'_>) {
        let Some(packet) = self.take() else { return };
        self.packets_of_burst += 1;
        let format = self.registers.format;
        let count = match format {
            Format::Sc16 => packet.payload_words,
            Format::Sc8 => (2 * packet.payload_words).saturating_sub(usize::from(packet.head.odd)),
        };
        self.report.samples += count as u64;
        let edges = BurstEdges { start, end: packet.head.end_of_burst };
        self.playing = Some((packet, format));
        self.emission = self.emission_through(around.front_end);
        let head = PlayHead::begin(at, count, self.emission.dsp.step(), edges);
        self.state = State::Playing(head);
        self.emit(head);
    }

    /// Gives the sink these samples of the packet that plays.
    fn emit(&mut self, head: PlayHead) {
        let Some((packet, format)) = self.playing.as_ref().filter(|_| self.sink.wants_samples()) else { return };
        let Some(samples) = self.samples.get_mut(..head.samples()) else { return };
        let from = |bytes: usize| self.buffer.payload(packet).get(bytes * head.from..).unwrap_or_default();
        let Emission { chain, dsp } = self.emission;
        let scale = dsp.gain(Direction::Tx) / full_scale::SC16;
        match format {
            Format::Sc16 => sc16::unpack_f32(from(sc16::BYTES), ByteOrder::Big, scale, samples),
            // The byte becomes the upper half of a 16-bit sample.
            Format::Sc8 => sc8::unpack_f32(from(sc8::BYTES), 256.0 * scale, samples),
        };
        chain.transmit(head.first, head.step, dsp.frequency, samples);
        self.sink.take(head.first, head.step, samples, head.edges);
    }

    /// Tells the sink that the burst broke off.
    fn close_burst(&mut self, at: Tick) {
        self.sink.take(at, self.registers.dsp.step(), &[], BurstEdges { start: false, end: true });
    }

    fn flush(&mut self, now: Tick) {
        self.report.flushed_packets += self.buffer.clear();
        if self.running() {
            self.close_burst(now);
        }
        self.state = State::Idle(now);
    }

    fn restart_updates(&mut self, now: Tick) {
        self.updated = now;
        self.packets_since_update = 0;
    }

    /// Reports to the host, if there is one; returns whether it did.
    fn send(&mut self, event: TxEvent, at: Tick, around: &Surroundings<'_>, out: &mut dyn Outbox) -> bool {
        let Some(to) = around.to else { return false };
        let report = Report {
            count: self.reports_sent,
            stream_id: self.registers.stream_id,
            tick: around.time.at(at),
            event,
            sequence: self.taken,
        };
        self.reports_sent = (self.reports_sent + 1) % 16;
        // A blocked output loses the message, as a lost datagram would: the next flow-control message heals it.
        out.send(at, Port(ports::TX), to, &mut |frame| report.write(frame).unwrap_or(0));
        true
    }
}
