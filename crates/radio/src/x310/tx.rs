//! Transmit streams of an X310: endpoints and blocks set up, and what a streamer asks of them (x310.md 10.3).
//!
//! The radio tells how many bytes it has taken, which are the samples that it has played. Loss on the way would cost
//! credit forever. So after each capacity of bytes the host says how much it has sent, and the radio takes that for
//! what it has received. If all that the radio has room for is lost, that capacity is never reached. So the host also
//! says it when there is no credit and the radio is silent. It repeats these words, since they can be lost like
//! samples.

use std::sync::Arc;
use std::time::Duration;

use takt_base::{MonoNs, Tick};
use takt_packet::{Config, Engine, PortIndex, PortSpec, Way};
use takt_wire::chdr::{
    Control, ControlData, ControlStatus, DataHead, Operation, Packet, Protocol, Status, StreamCommand, StreamOperation,
    StreamStatus, counted_bytes,
};
use takt_wire::sample::{ByteOrder, Format, full_scale};
use takt_wire::x310::registers::{ONE, ddc, endpoint, message, radio};

use super::X310;
use super::graph::Channel;
use super::line::{Line, Node};
use super::rx::{only_sc16, send};
use super::silence::Silence;
use crate::claim::Claim;
use crate::ports::{Patience, any};
use crate::rx::{WireSamples, checked_size};
use crate::tx::{Place, Report, Setup, Sink};
use crate::{RadioError, Role, TxEvent, TxEventKind, TxOptions, TxStreamer};

/// An endpoint receives 16-bit words (x310.md 6.4, UHD's word).
const INPUT: u32 = 2 << 2;
/// How often the radio shall tell what it took: this part of its buffer, as UHD asks.
const INTERVALS: u64 = 8;
/// Set-up of a stream must be done by then.
const SET_UP: Patience = Patience { tries: 10, each: Duration::from_millis(50) };
/// Room that samples leave to these words, so that there is some when all samples are lost, and many words with them.
const RESERVE_BYTES: u64 = 16 * counted_bytes(StreamCommand::BYTES);
/// After an error go on with the next packet (x310.md 8.3).
const NEXT_PACKET: u32 = 1;

impl X310 {
    /// Makes a transmit stream, sc16. Samples that an earlier one left in the radio are dropped.
    ///
    /// # Errors
    /// `Rate` for a rate the radio does not take exactly; `Range` for channels, formats or datagram sizes it does not have;
    /// otherwise the radio does not answer or the ports can't be had.
    pub fn tx_streamer(&mut self, options: &TxOptions) -> Result<TxStreamer, RadioError> {
        let factor = self.clock.exact_rate(options.rate_sps)?;
        only_sc16(options.format)?;
        let channels = self.channels_of(&options.channels, "transmit channel")?;
        let most = self.frame_bytes.saturating_sub(DataHead::MAX_BYTES) / options.format.bytes();
        let samples_per_datagram = checked_size(options.samples_per_datagram, most)?;
        let config = Config {
            max_payload_bytes: self.frame_bytes,
            way: Way::Transmit,
            send_buffer_bytes: options.send_buffer_bytes,
            recv_buffer_bytes: 1 << 20,
            aggregate: options.aggregate,
            stamps: false,
            ..Config::new(vec![PortSpec { bind: any(self.addr), peer: Some(self.peer()) }; channels.len()])
        };
        let mut engine = self.net.open(Role::Stream, &config)?;
        let mut lanes = Vec::with_capacity(channels.len());
        for (n, channel) in channels.iter().enumerate() {
            let id = self.new_id();
            self.set_up_tx(*channel, factor.get(), factor.stages(), id)?;
            lanes.push(self.open_input(&mut *engine, n, channel.tx, id)?);
        }
        let datagram_bytes = counted_bytes(DataHead::MAX_BYTES + samples_per_datagram * options.format.bytes());
        let protocol = self.registers.protocol;
        Ok(TxStreamer::new(Setup {
            engine,
            net: Arc::clone(&self.net),
            channels: lanes.len(),
            sink: Box::new(Radios { claim: Arc::clone(&self.claim), protocol, datagram_bytes, lanes }),
            clock: self.clock.rate(),
            speed: self.seen_speed(),
            wire: WireSamples { format: Format::Sc16, order: ByteOrder::Little, scale: full_scale::SC16 },
            rate_sps: factor.rate_sps(self.clock.hz()),
            ticks_per_sample: factor.get().into(),
            samples_per_datagram,
        }))
    }

    fn set_up_tx(&mut self, of: Channel, factor: u32, stages: u32, id: u16) -> Result<(), RadioError> {
        for (register, word) in [(ddc::M, factor), (ddc::N, 1), (ddc::DUC_STAGES, stages), (ddc::SCALE, ONE)] {
            self.registers.poke(of.duc, register, word)?;
        }
        self.registers.poke(of.radio, of.at(radio::TX_POLICY), NEXT_PACKET)?;
        for (register, word) in radio::TX_REMOTE.into_iter().zip([of.radio.into(), id.into(), 0]) {
            self.registers.poke(of.radio, of.at(register), word)?;
        }
        Ok(())
    }

    /// Has an endpoint receive from port `n` of `engine`: its capacity is read from the radio, then how often it reports is set.
    fn open_input(&mut self, engine: &mut dyn Engine, n: usize, instance: u16, id: u16) -> Result<Lane, RadioError> {
        let to = self.endpoint(instance)?;
        let radio_id = self.endpoint_id(instance)?;
        let port = PortIndex(n as u8);
        let (net, peer, protocol) = (Arc::clone(&self.net), self.peer(), self.registers.protocol);
        let mut sequence = 0;
        let mut line = Line { engine, port, net: &*net, peer, protocol, id, sequence: &mut sequence };
        line.advertise(self.network.entry_port)?;
        let input = Operation::Write { address: endpoint::INPUT, data: INPUT };
        line.manage(Node::Behind(to.crossbar_port), &[input])?;
        let silence = Silence::of(self.seen_speed());
        let mut lane = Lane { id, radio_id, silence, ..Lane::default() };
        // The first time nobody knows the capacity, and so no interval.
        for _ in 0..2 {
            let (packets, bytes) = (u64::from(lane.capacity_packets) / INTERVALS, lane.capacity_bytes / INTERVALS);
            let init = lane.command(StreamOperation::Init, packets, bytes);
            let status = ask(&mut line, &init)?;
            lane.take(&status);
        }
        Ok(lane)
    }
}

/// Sends a command that begins a stream until the radio answers with its status.
fn ask(line: &mut Line<'_>, init: &StreamCommand) -> Result<StreamStatus, RadioError> {
    for _ in 0..SET_UP.tries {
        line.send(|frame| init.write(frame))?;
        let id = init.source;
        let status = line.await_answer(SET_UP.each, |bytes| {
            StreamStatus::parse(bytes).ok().filter(|status| status.destination == id)
        })?;
        if let Some(status) = status {
            return Ok(status);
        }
    }
    Err(RadioError::Silent { addr: line.peer, what: "the set-up of a stream", tries: SET_UP.tries })
}

/// One channel: what was sent, what the radio has taken.
#[derive(Clone, Debug, Default)]
struct Lane {
    id: u16,
    radio_id: u16,
    capacity_bytes: u64,
    capacity_packets: u32,
    sent_bytes: u64,
    sent_packets: u64,
    taken_bytes: u64,
    taken_packets: u64,
    /// Bytes in the last resynchronisation.
    reported_bytes: u64,
    sequence: u16,
    command_sequence: u16,
    unacknowledged: Option<Control>,
    /// Silence of the radio while there is no credit.
    silence: Silence,
}

impl Lane {
    /// Room in the radio.
    fn room_bytes(&self) -> u64 {
        self.capacity_bytes.saturating_sub(self.sent_bytes - self.taken_bytes)
    }

    /// Datagrams of so many bytes that it has room for.
    fn credit(&self, datagram_bytes: u64) -> u64 {
        let packets = u64::from(self.capacity_packets).saturating_sub(self.sent_packets - self.taken_packets);
        (self.room_bytes().saturating_sub(RESERVE_BYTES) / datagram_bytes).min(packets)
    }

    /// Whether the radio has had no room for long and says nothing, and there is room to tell it what it was sent.
    fn breaks_silence(&mut self, datagram_bytes: u64, now: MonoNs) -> bool {
        if self.credit(datagram_bytes) > 0 {
            self.silence.end();
            return false;
        }
        self.silence.is_too_long(now) && self.room_bytes() >= counted_bytes(StreamCommand::BYTES)
    }

    fn command(&mut self, operation: StreamOperation, packets: u64, bytes: u64) -> StreamCommand {
        self.command_sequence = self.command_sequence.wrapping_add(1);
        StreamCommand {
            destination: self.radio_id,
            sequence: self.command_sequence,
            source: self.id,
            operation,
            operation_data: 0,
            packets,
            bytes,
        }
    }

    fn take(&mut self, status: &StreamStatus) {
        self.capacity_bytes = status.capacity_bytes;
        self.capacity_packets = status.capacity_packets;
        // The bytes on their way cannot be negative: a count beyond what was sent is of an older stream.
        self.taken_bytes = status.taken_bytes.min(self.sent_bytes);
        self.taken_packets = status.taken_packets.min(self.sent_packets);
        self.silence.is_broken();
    }

    fn count(&mut self, bytes: usize) {
        self.sent_bytes += counted_bytes(bytes);
        self.sent_packets += 1;
    }
}

/// The radios behind the channels of a stream.
struct Radios {
    claim: Arc<Claim>,
    /// As they speak it.
    protocol: Protocol,
    /// Bytes that a full datagram counts as.
    datagram_bytes: u64,
    lanes: Vec<Lane>,
}

impl Sink for Radios {
    fn credit(&self, channel: usize) -> usize {
        self.lanes.get(channel).map_or(0, |lane| lane.credit(self.datagram_bytes) as usize)
    }

    fn window_datagrams(&self) -> u32 {
        let window = |lane: &Lane| lane.capacity_bytes.saturating_sub(RESERVE_BYTES) / self.datagram_bytes;
        let least = self.lanes.iter().map(window).min();
        least.and_then(|datagrams| u32::try_from(datagrams).ok()).unwrap_or(u32::MAX)
    }

    fn payload_at(&self, timed: bool) -> usize {
        if timed { DataHead::MAX_BYTES } else { DataHead::MAX_BYTES / 2 }
    }

    fn frame(&self, channel: usize, place: &Place, frame: &mut [u8]) -> usize {
        let Some(lane) = self.lanes.get(channel) else { return 0 };
        let head = DataHead {
            destination: lane.radio_id,
            sequence: lane.sequence.wrapping_add(place.ahead as u16),
            tick: place.tick,
            end_of_burst: place.ends_burst,
            end_of_vector: false,
        };
        head.frame(place.payload_bytes, frame).unwrap_or(0)
    }

    fn sent(&mut self, channel: usize, bytes: usize) {
        if let Some(lane) = self.lanes.get_mut(channel) {
            lane.sequence = lane.sequence.wrapping_add(1);
            lane.count(bytes);
        }
    }

    fn read(&mut self, channel: usize, bytes: &[u8]) -> Report {
        let Some(lane) = self.lanes.get_mut(channel) else { return Report::FOREIGN };
        let event = |kind, tick| Report {
            ours: true,
            event: Some(TxEvent { kind, channel: channel as u8, tick: Tick(tick), sequence: None }),
        };
        match Packet::parse_as(self.protocol, bytes) {
            Ok(Packet::Status(status)) if status.destination == lane.id => {
                lane.take(&status);
                match status.status {
                    Status::SequenceError => event(TxEventKind::SequenceError, 0),
                    _ => Report { ours: true, event: None },
                }
            }
            Ok(Packet::Control(control)) if control.destination == lane.id && !control.is_ack => {
                lane.unacknowledged = Some(control);
                let kind = match control.data.first() {
                    message::TX_UNDERRUN => TxEventKind::Underflow,
                    message::TX_LATE => TxEventKind::Late,
                    message::TX_BURST_ACK => TxEventKind::BurstAck,
                    code => TxEventKind::Unknown(code as u16),
                };
                event(kind, control.tick.unwrap_or(0))
            }
            _ => Report::FOREIGN,
        }
    }

    /// Loss on the way must not count forever: the radio gets the count of what was sent.
    fn about_to_read(&mut self, engine: &mut dyn Engine, now: MonoNs) -> Result<Option<MonoNs>, RadioError> {
        for (n, lane) in self.lanes.iter_mut().enumerate() {
            let breaks_silence = lane.breaks_silence(self.datagram_bytes, now);
            if lane.sent_bytes - lane.reported_bytes < lane.capacity_bytes && !breaks_silence {
                continue;
            }
            let resync = lane.command(StreamOperation::Resync, lane.sent_packets, lane.sent_bytes);
            send(engine, PortIndex(n as u8), |frame| resync.write(frame).unwrap_or(0))?;
            lane.reported_bytes = lane.sent_bytes;
            lane.count(StreamCommand::BYTES);
        }
        Ok(self.lanes.iter().filter_map(|lane| lane.silence.ends()).min())
    }

    fn have_read(&mut self, engine: &mut dyn Engine, _timed: bool) -> Result<u32, RadioError> {
        let protocol = self.protocol;
        for (n, lane) in self.lanes.iter_mut().enumerate() {
            let port = PortIndex(n as u8);
            if let Some(message) = lane.unacknowledged.take() {
                let ack = message.ack_as(protocol, lane.id, ControlStatus::Okay, ControlData::NONE);
                send(engine, port, |frame| ack.write_as(protocol, frame).unwrap_or(0))?;
            }
        }
        Ok(0)
    }

    fn touch(&self, now: MonoNs) {
        self.claim.touch(now);
    }

    fn check(&self) -> Result<(), RadioError> {
        self.claim.check()
    }
}
