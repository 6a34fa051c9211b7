//! A receive DSP: registers, command engine, and the packets that leave.

use takt_base::{Complex32, Tick, Ticks};
use takt_wire::n200::rate::Direction;
use takt_wire::n200::registers::{RX_VRT_HEADER, rx_control};
use takt_wire::n200::{RxEvent, RxHead, RxMessage, RxPacking, StreamAction, StreamCommand, ports};
use takt_wire::sample::{ByteOrder, Format, full_scale, sc8, sc16};

use super::dsp::{DspBlock, Surroundings, format_of};
use super::front_end::FrontEnd;
use super::options::OverflowPolicy;
use crate::device::FRAME_BYTES;
use crate::front_end::RxChain;
use crate::shared::{
    Action, Command, CommandEngine, Event, History, Item, Limits, Packet, Piece, RxReport, Shape, Timekeeper,
};
use crate::source::Source;
use crate::{Outbox, Port, Sent};

/// Most samples a packet can hold: sc8.
const MAX_SAMPLES: usize = (FRAME_BYTES - RxHead::OVERHEAD_BYTES) / sc8::BYTES;
/// 16 commands may wait; the smallest frame is 84 bytes at 1 Gb/s.
const LIMITS: Limits = Limits { queue: 16, shortest_packet_ticks: 67 };
/// How soon a message that found the output blocked is tried again: 10 us.
const RETRY: Ticks = Ticks(1000);

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Registers {
    command: u32,
    time_high: u32,
    format: Format,
    header: u32,
    stream_id: u32,
    samples_per_packet: u16,
    pub(super) dsp: DspBlock,
}

/// Settings that act on samples that are taken, beside the source's tuning.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Reception {
    chain: RxChain,
    word: u32,
    /// Floats times this are integers on the wire.
    gain: f32,
}

impl Reception {
    fn of(dsp: &DspBlock, chain: RxChain) -> Reception {
        Reception { chain, word: dsp.frequency, gain: dsp.gain(Direction::Rx) * full_scale::SC16 }
    }
}

pub(super) struct RxDsp {
    port: Port,
    pub(super) registers: Registers,
    engine: CommandEngine,
    source: Box<dyn Source>,
    reception: History<Reception>,
    samples: Box<[Complex32]>,
    centre_hz: f64,
    oscillator_hz: f64,
    leakage: Option<f32>,
    /// Number of the next data packet, modulo 16.
    count: u8,
    /// When a blocked output is tried again.
    retry: Option<Tick>,
    report: RxReport,
}

impl RxDsp {
    pub(super) fn new(now: Tick, index: usize, source: Box<dyn Source>) -> RxDsp {
        RxDsp {
            port: Port(ports::RX[index]),
            registers: Registers::default(),
            engine: CommandEngine::new(now, LIMITS),
            source,
            reception: History::new(Reception::of(&DspBlock::default(), RxChain::default())),
            samples: vec![Complex32::default(); MAX_SAMPLES].into(),
            centre_hz: 0.0,
            oscillator_hz: 0.0,
            leakage: None,
            count: 0,
            retry: None,
            report: RxReport::default(),
        }
    }

    /// As after a reset; the source stays, and so do the counts.
    pub(super) fn power_cycle(&mut self, now: Tick) {
        self.registers = Registers::default();
        self.clear(now);
    }

    pub(super) fn control(&mut self, now: Tick, offset: u8, data: u32) {
        let registers = &mut self.registers;
        match offset {
            rx_control::COMMAND => registers.command = data,
            rx_control::TIME_HIGH => registers.time_high = data,
            rx_control::TIME_LOW => {
                self.report.commands += 1;
                let words = [registers.command, registers.time_high, data];
                self.engine.push(now, command_of(StreamCommand::from_words(words)));
            }
            rx_control::FORMAT => registers.format = format_of(data),
            rx_control::VRT_HEADER => registers.header = data,
            rx_control::STREAM_ID => {
                registers.stream_id = data;
                self.count = 0;
            }
            rx_control::SAMPLES_PER_PACKET => registers.samples_per_packet = data as u16,
            rx_control::CLEAR => self.clear(now),
            _ => {}
        }
    }

    /// Registers or the front end have changed: samples are taken accordingly from this tick on.
    pub(super) fn update(&mut self, now: Tick, time: &Timekeeper, front_end: &FrontEnd) {
        self.retune(now, front_end);
        self.reception.set(now, Reception::of(&self.registers.dsp, front_end.rx_chain()));
        self.engine.reshape(now, time, self.shape());
    }

    /// Tells the source where it is tuned and connected to, if that has changed.
    fn retune(&mut self, now: Tick, front_end: &FrontEnd) {
        let centre_hz = front_end.rx_centre_hz(self.registers.dsp.frequency);
        if centre_hz != self.centre_hz {
            self.centre_hz = centre_hz;
            self.source.tuned(now, centre_hz);
        }
        let oscillator_hz = front_end.oscillators_hz()[0];
        if oscillator_hz != self.oscillator_hz {
            self.oscillator_hz = oscillator_hz;
            self.source.oscillator(now, oscillator_hz);
        }
        let leakage = front_end.leakage();
        if leakage != self.leakage {
            self.leakage = leakage;
            self.source.calibrating(now, leakage);
        }
    }

    /// Drops commands, state and partial packet; the packet counter starts again.
    pub(super) fn clear(&mut self, now: Tick) {
        self.engine.clear(now);
        self.count = 0;
        self.retry = None;
    }

    pub(super) fn running(&self) -> bool {
        self.engine.running()
    }

    /// Whether there is anything a lost host would have to be cut off from.
    pub(super) fn idle(&self) -> bool {
        self.engine.idle()
    }

    pub(super) fn report(&self) -> RxReport {
        RxReport { refused_commands: self.engine.refused, ..self.report }
    }

    pub(super) fn centre_hz(&self) -> f64 {
        self.centre_hz
    }

    pub(super) fn next_event(&self, now: Tick, time: &Timekeeper) -> Option<Tick> {
        [self.engine.next_event(now, time), self.next_departure()].into_iter().flatten().min()
    }

    fn next_departure(&self) -> Option<Tick> {
        let due = match self.engine.front()? {
            Item::Message { at, .. } => *at,
            // One too many behind it: it leaves with what its source knows by now.
            Item::Packet(packet) if self.engine.crowded() => packet.last(),
            Item::Packet(packet) => packet.last() + self.source.lookahead(packet.first, packet.step),
        };
        Some(self.retry.unwrap_or(due).max(due))
    }

    pub(super) fn act(&mut self, now: Tick, around: &Surroundings<'_>, out: &mut dyn Outbox) {
        self.engine.act(now, around.time, self.shape());
        while self.next_departure().is_some_and(|due| due <= now) {
            let Some(item) = self.engine.front().copied() else { return };
            match item {
                Item::Packet(packet) => self.send_packet(now, packet, around, out),
                Item::Message { event, time, at } => self.send_message(now, event, time, at, around, out),
            }
        }
    }

    fn shape(&self) -> Shape {
        let registers = &self.registers;
        let most = (FRAME_BYTES - RxHead::OVERHEAD_BYTES) / registers.format.bytes();
        // The host asks for two single samples before it has set a size or a rate.
        Shape { step: registers.dsp.step(), samples: u32::from(registers.samples_per_packet).clamp(1, most as u32) }
    }

    fn send_packet(&mut self, now: Tick, packet: Packet, around: &Surroundings<'_>, out: &mut dyn Outbox) {
        let Some(to) = around.to else {
            self.engine.pop();
            return self.report.undirected_packets += 1;
        };
        let head = RxHead {
            count: self.count,
            stream_id: self.registers.stream_id,
            tick: packet.time,
            end_of_burst: packet.end_of_burst,
            packing: match self.registers.format {
                Format::Sc16 => RxPacking::Sc16,
                Format::Sc8 => RxPacking::Sc8 { odd: packet.samples % 2 == 1 },
            },
        };
        let due = packet.last() + self.source.lookahead(packet.first, packet.step);
        match out.send(due, self.port, to, &mut |frame| self.write_packet(&head, packet, frame)) {
            Sent::Taken => {
                self.engine.pop();
                self.count = (self.count + 1) % 16;
                self.report.packets += 1;
                self.report.samples += u64::from(packet.samples);
            }
            Sent::NoRoom => self.overflow(now, packet, around),
        }
    }

    fn overflow(&mut self, now: Tick, packet: Packet, around: &Surroundings<'_>) {
        self.report.overflows += 1;
        match around.on_overflow {
            OverflowPolicy::Hardware => self.engine.overflow(now, around.time),
            OverflowPolicy::Continue => {
                self.report.overflow_lost_samples += u64::from(packet.samples);
                self.engine.interrupt(Event::Overflow, now, around.time);
            }
        }
        self.retry = Some(now + RETRY);
    }

    fn write_packet(&mut self, head: &RxHead, packet: Packet, frame: &mut [u8]) -> usize {
        let Some(samples) = self.samples.get_mut(..packet.samples as usize) else { return 0 };
        self.source.fill(packet.first, packet.step, samples);
        let raw = self.source.raw();
        let Some(room) = frame.get_mut(RxHead::BYTES..) else { return 0 };
        let (mut at, mut bytes) = (0, 0);
        while at < samples.len() {
            let Piece { first, end, value } = self.reception.piece(packet.first, packet.step, at, samples.len());
            let samples = &mut samples[at..end];
            if !raw {
                value.chain.receive(first, packet.step, value.word, samples);
            }
            let room = &mut room[bytes..];
            bytes += match head.packing {
                RxPacking::Sc16 => {
                    let scale = if raw { full_scale::SC16 } else { value.gain };
                    sc16::BYTES * sc16::pack_f32(samples, ByteOrder::Big, scale, room)
                }
                RxPacking::Sc8 { .. } => {
                    let scale = if raw { full_scale::SC8 } else { value.gain };
                    sc8::BYTES * sc8::pack_f32(samples, scale, room)
                }
            };
            at = end;
        }
        if bytes % 4 != 0 {
            room[bytes..bytes + 2].fill(0);
        }
        let length = head.frame(bytes.next_multiple_of(4), frame).unwrap_or(0);
        let header = self.registers.header;
        if header & 0xFFF0_0000 != RX_VRT_HEADER {
            // Before the host has written the template, packets leave without packet type: hosts ignore them.
            if let Some([a, b, ..]) = frame.first_chunk_mut::<4>() {
                let [high, low, ..] = header.to_be_bytes();
                *a = high;
                *b = low & 0xF0 | *b & 0x0F;
            }
        }
        length
    }

    fn send_message(
        &mut self,
        now: Tick,
        event: Event,
        time: u64,
        at: Tick,
        around: &Surroundings<'_>,
        out: &mut dyn Outbox,
    ) {
        let message =
            RxMessage { count: self.count, stream_id: self.registers.stream_id, tick: time, event: event_of(event) };
        let due = if self.retry.is_some() { now } else { at };
        let sent = match around.to {
            Some(to) => out.send(due, self.port, to, &mut |frame| message.write(frame).unwrap_or(0)),
            None => Sent::Taken,
        };
        match sent {
            Sent::Taken => {
                self.engine.pop();
                self.retry = None;
                self.report.note(event);
            }
            Sent::NoRoom => {
                self.retry = Some(now + RETRY);
                if around.on_overflow == OverflowPolicy::Continue {
                    self.report.overflow_lost_samples += self.engine.drop_packets();
                }
            }
        }
    }
}

fn command_of(command: StreamCommand) -> Command {
    let action = match command.action {
        StreamAction::Stop => Action::Stop,
        StreamAction::Start => Action::Start,
        StreamAction::Samples(count) => Action::Samples(count.into()),
        StreamAction::SamplesAndMore(count) => Action::SamplesAndMore(count.into()),
    };
    Command { action, tick: command.tick }
}

fn event_of(event: Event) -> RxEvent {
    match event {
        Event::Overflow => RxEvent::Overflow,
        Event::Late => RxEvent::LateCommand,
        Event::BrokenChain => RxEvent::BrokenChain,
        Event::StopWhileIdle => RxEvent::StopWhileIdle,
    }
}
