//! Receive streams of an X310: endpoints and blocks set up, and what a streamer asks of them (x310.md 10.1, 10.2).

use std::sync::Arc;
use std::time::Duration;

use takt_base::{MonoNs, Tick};
use takt_packet::{Config, Engine, PortIndex, PortSpec, Wait, Way};
use takt_wire::chdr::{
    Control, ControlData, ControlStatus, Data, DataHead, Header, Operation, PacketType, StreamCommand, StreamOperation,
};
use takt_wire::sample::{ByteOrder, Format, full_scale};
use takt_wire::x310::registers::{ONE, ddc, endpoint, radio};

use super::credit::{ANY_PACKETS, Credit};
use super::graph::Channel;
use super::lane::Lane;
use super::line::{Line, Node, Registers};
use super::{RADIO_CONTROL, X310};
use crate::anchor::Anchor;
use crate::claim::Claim;
use crate::ports::{Patience, any};
use crate::rx::{BATCH, Reading, ReplyPatience, Run, Setup, Source, WireSamples, checked_size};
use crate::{Net, RadioError, Role, RxOptions, RxStreamer};

/// An endpoint sends 16-bit words, and what is lost stays lost (x310.md 6.4, UHD's word).
const OUTPUT: u32 = endpoint::OUTPUT_CONFIGURE | endpoint::OUTPUT_LOSSY | 2 << 2;
/// Set-up of a stream must be done by then.
const SET_UP: Patience = Patience { tries: 20, each: Duration::from_millis(10) };
/// Destination of messages of receivers (x310.md 9).
const MESSAGES: u32 = 0x1000;
impl X310 {
    /// Makes a receive stream of one or more channels, sc16. The radio does not send before it is started.
    ///
    /// # Errors
    /// `Rate` for a rate the radio does not make exactly; `Range` for channels, formats or datagram sizes it does not have;
    /// otherwise the radio does not answer or the ports can't be had.
    pub fn rx_streamer(&mut self, options: &RxOptions) -> Result<RxStreamer, RadioError> {
        let factor = self.clock.exact_rate(options.rate_sps)?;
        only_sc16(options.format)?;
        let channels = self.channels_of(&options.channels, "receive channel")?;
        let most = self.frame_bytes.saturating_sub(DataHead::MAX_BYTES) / options.format.bytes();
        let samples_per_datagram = checked_size(options.samples_per_datagram, most)?;
        let config = Config {
            max_payload_bytes: self.frame_bytes,
            way: Way::Receive,
            recv_buffer_bytes: options.recv_buffer_bytes,
            force_buffers: options.force_buffer,
            stamps: options.stamps,
            aggregate: options.aggregate,
            busy_poll: options.busy_poll,
            batch: BATCH,
            ..Config::new(vec![PortSpec { bind: any(self.addr), peer: Some(self.peer()) }; channels.len()])
        };
        let mut engine = self.net.open(Role::Stream, &config)?;
        let capacity_bytes = engine.limits().recv_buffer_bytes as u64;
        let mut credits = Vec::with_capacity(channels.len());
        for (n, channel) in channels.iter().enumerate() {
            let id = self.new_id();
            self.set_up_rx(*channel, factor.get(), factor.stages(), samples_per_datagram, id)?;
            let credit = Credit::new(id, capacity_bytes);
            credits.push(self.open_output(&mut *engine, n, channel.rx, credit)?);
        }
        let own_control = self.new_id();
        let protocol = self.registers.protocol;
        let mut registers = Registers::new(&self.net, self.peer(), protocol, own_control, RADIO_CONTROL)?;
        registers.line().advertise(self.network.entry_port)?;
        let source = Radios {
            registers,
            claim: Arc::clone(&self.claim),
            anchor: Arc::clone(&self.anchor),
            net: Arc::clone(&self.net),
            factor: factor.get().into(),
            lanes: channels
                .into_iter()
                .zip(credits)
                .map(|(channel, credit)| Lane::new(channel, credit, self.seen_speed()))
                .collect(),
        };
        Ok(RxStreamer::new(Setup {
            engine,
            net: Arc::clone(&self.net),
            channels: source.lanes.len(),
            source: Box::new(source),
            clock: self.clock.rate(),
            speed: self.seen_speed(),
            wire: WireSamples { format: Format::Sc16, order: ByteOrder::Little, scale: 1.0 / full_scale::SC16 },
            rate_sps: factor.rate_sps(self.clock.hz()),
            ticks_per_sample: factor.get().into(),
            samples_per_datagram,
            frame_bytes: self.frame_bytes,
            last_number: u16::MAX,
            coalesce: options.nap(),
        }))
    }

    /// Rate, datagram size and where messages go. The down-converter works at once; the radio waits for its command.
    fn set_up_rx(&mut self, of: Channel, factor: u32, stages: u32, samples: usize, id: u16) -> Result<(), RadioError> {
        for (register, word) in [(ddc::N, factor), (ddc::M, 1), (ddc::DDC_STAGES, stages), (ddc::SCALE, ONE)] {
            self.registers.poke(of.ddc, register, word)?;
        }
        self.registers.poke(of.radio, of.at(radio::RX_COMMAND), 0)?;
        self.registers.poke(of.radio, of.at(radio::RX_SAMPLES_PER_PACKET), samples as u32)?;
        for (register, word) in radio::RX_REMOTE.into_iter().zip([of.radio.into(), id.into(), MESSAGES]) {
            self.registers.poke(of.radio, of.at(register), word)?;
        }
        Ok(())
    }

    /// Sends what leaves an endpoint to port `n` of `engine`, and answers the radio's command to begin with a credit.
    fn open_output(
        &mut self,
        engine: &mut dyn Engine,
        n: usize,
        instance: u16,
        mut credit: Credit,
    ) -> Result<Credit, RadioError> {
        let from = self.endpoint(instance)?;
        credit.radio_id = self.endpoint_id(instance)?;
        let port = PortIndex(n as u8);
        let (net, peer, protocol) = (Arc::clone(&self.net), self.peer(), self.registers.protocol);
        credit.crossbar_port = from.crossbar_port;
        let mut sequence = 0;
        let mut line = Line { engine, port, net: &*net, peer, protocol, id: credit.id, sequence: &mut sequence };
        line.advertise(self.network.entry_port)?;
        let write = |address, data| Operation::Write { address, data };
        let interval = credit.interval_bytes;
        line.manage(
            Node::Behind(from.crossbar_port),
            &[
                write(endpoint::OUTPUT_DESTINATION, credit.id.into()),
                write(endpoint::INTERVAL_BYTES[0], interval as u32),
                write(endpoint::INTERVAL_BYTES[1], (interval >> 32) as u32),
                write(endpoint::INTERVAL_PACKETS, ANY_PACKETS),
                write(endpoint::OUTPUT, OUTPUT),
            ],
        )?;
        for _ in 0..SET_UP.tries {
            let id = credit.id;
            line.await_answer(SET_UP.each, |bytes| {
                StreamCommand::parse(bytes).ok().filter(|command| command.destination == id)
            })?;
            let status = credit.status();
            line.send(|frame| status.write(frame))?;
            let answers =
                line.manage(Node::Behind(from.crossbar_port), &[Operation::Read { address: endpoint::OUTPUT }])?;
            let word = answers.iter().find_map(|operation| match operation {
                Operation::ReadResponse { data, .. } => Some(*data),
                _ => None,
            });
            if word.is_some_and(|word| word & (endpoint::OUTPUT_PENDING | endpoint::OUTPUT_FAILED) == 0) {
                credit.management_sequence = sequence;
                return Ok(credit);
            }
        }
        Err(RadioError::Silent { addr: peer, what: "the set-up of a stream", tries: SET_UP.tries })
    }

    /// The id of an endpoint; it is named and reset the first time.
    pub(super) fn endpoint_id(&mut self, instance: u16) -> Result<u16, RadioError> {
        if let Some(&(_, id)) = self.endpoint_ids.iter().find(|(named, _)| *named == instance) {
            return Ok(id);
        }
        let endpoint = self.endpoint(instance)?;
        let id = self.new_id();
        self.network.name(&mut self.registers.line(), endpoint, id, 3)?;
        self.endpoint_ids.push((instance, id));
        Ok(id)
    }
}

/// # Errors
/// `Name` for another format than sc16: the radio has no other on the wire (x310.md 0, fact 9).
pub(super) fn only_sc16(format: Format) -> Result<(), RadioError> {
    match format {
        Format::Sc16 => Ok(()),
        Format::Sc8 => Err(RadioError::Name { what: "sample format", got: "sc8".into(), known: vec!["sc16".into()] }),
    }
}

/// The radios behind the channels of a stream.
struct Radios {
    registers: Registers,
    claim: Arc<Claim>,
    anchor: Arc<Anchor>,
    net: Arc<dyn Net>,
    /// Ticks a sample.
    factor: u64,
    lanes: Vec<Lane>,
}

impl Source for Radios {
    fn read(&mut self, channel: usize, bytes: &[u8]) -> Option<Reading> {
        let lane = self.lanes.get_mut(channel)?;
        let (header, _) = Header::parse(bytes).ok()?;
        if header.destination != lane.credit.id {
            return None;
        }
        match header.kind {
            // A datagram is as long as its packet, and metadata would stand before the samples: there are none (x310.md 6.1). One
            // that says otherwise is damaged.
            PacketType::TimedData if (usize::from(header.length_bytes), header.metadata_words) == (bytes.len(), 0) => {
                lane.samples(&Data::parse(bytes).ok()?, bytes.len(), self.factor)
            }
            PacketType::StreamCommand => {
                let command = StreamCommand::parse(bytes).ok()?;
                lane.has_no_excuse |= command.operation == StreamOperation::Init;
                lane.credit.command(&command);
                Some(Reading::Housekeeping)
            }
            // It does what it was told.
            PacketType::Management => Some(Reading::Housekeeping),
            PacketType::Control => lane.message(Control::parse_as(self.registers.protocol, bytes).ok()?),
            _ => None,
        }
    }

    fn have_read(&mut self, engine: &mut dyn Engine, now: MonoNs) -> Result<(), RadioError> {
        let protocol = self.registers.protocol;
        for (n, lane) in self.lanes.iter_mut().enumerate() {
            let port = PortIndex(n as u8);
            if let Some(status) = lane.credit.due() {
                send(engine, port, |frame| status.write(frame).unwrap_or(0))?;
            }
            if let Some(message) = lane.unacknowledged.take() {
                let ack = message.ack_as(protocol, lane.credit.id, ControlStatus::Okay, ControlData::NONE);
                send(engine, port, |frame| ack.write_as(protocol, frame).unwrap_or(0))?;
            }
            if lane.lacks_credit(now, self.factor, &self.anchor) {
                let Credit { id, crossbar_port, management_sequence: sequence, .. } = &mut lane.credit;
                let (id, node) = (*id, Node::Behind(*crossbar_port));
                let (net, peer) = (&*self.net, self.registers.peer);
                let mut line = Line { engine: &mut *engine, port, net, peer, protocol, id, sequence };
                // It answers with the command that began the stream, and gets a status.
                line.order(node, &[Operation::Write { address: endpoint::OUTPUT, data: OUTPUT }])?;
            }
        }
        Ok(())
    }

    fn read_until(&self) -> Option<MonoNs> {
        self.lanes.iter().filter_map(|lane| lane.silence.ends()).min()
    }

    fn stopped(&self) -> Option<u8> {
        self.lanes.iter().position(|lane| lane.stopped).map(|channel| channel as u8)
    }

    fn now(&mut self) -> Result<Tick, RadioError> {
        let port = self.lanes[0].channel.radio;
        let low = self.registers.peek(port, radio::TIME_LOW)?;
        Ok(self.anchor.complete(low, self.net.now()))
    }

    fn host_at(&self, tick: Tick) -> MonoNs {
        self.anchor.host_at(tick)
    }

    fn begin(&mut self, channel: usize, run: Run, idle: bool) -> Result<(), RadioError> {
        let of = self.lanes[channel].channel;
        for _ in 0..Patience::USUAL.tries {
            self.write_run(of, run)?;
            let word = if run.samples.is_some() { 1 } else { 2 };
            let timed = if run.first.is_some() { radio::RX_TIMED } else { 0 };
            match self.registers.poke_once(of.radio, of.at(radio::RX_COMMAND), word | timed) {
                Ok(()) => {
                    let lane = &mut self.lanes[channel];
                    lane.stopping &= !idle;
                    if idle {
                        lane.runs.clear();
                        let now = self.net.now();
                        lane.commanded(run.first.map_or(now, |first| self.anchor.host_at(Tick(first))), now);
                    }
                    lane.runs.push_back(run);
                    return Ok(());
                }
                // A command whose answer was lost may wait or run: where nothing else does, it can be taken back.
                Err(RadioError::Silent { .. }) if idle => self.clear(channel)?,
                Err(error) => return Err(error),
            }
        }
        Err(RadioError::Silent { addr: self.registers.peer, what: "a stream command", tries: Patience::USUAL.tries })
    }

    fn stop(&mut self, channel: usize) -> Result<(), RadioError> {
        let of = self.lanes[channel].channel;
        self.lanes[channel].stopping = true;
        self.registers.poke(of.radio, of.at(radio::RX_COMMAND), 0)
    }

    fn clear(&mut self, channel: usize) -> Result<(), RadioError> {
        let lane = &mut self.lanes[channel];
        lane.runs.clear();
        lane.stopping = false;
        lane.stopped = false;
        let of = lane.channel;
        self.registers.poke(of.radio, of.at(radio::RX_COMMAND), 0)
    }

    fn set_reply_patience(&mut self, patience: ReplyPatience) {
        self.registers.set_patience(patience.patience());
    }

    fn retries(&self) -> u64 {
        self.registers.retries
    }

    fn touch(&self, now: MonoNs) {
        self.claim.touch(now);
    }

    fn check(&self) -> Result<(), RadioError> {
        self.claim.check()
    }
}

impl Radios {
    /// Count and time of a run; nothing happens yet.
    fn write_run(&mut self, of: Channel, run: Run) -> Result<(), RadioError> {
        // The radio counts before decimation (x310.md 8.3).
        let count = run.samples.unwrap_or(0).saturating_mul(self.factor);
        if count >= 1 << 48 {
            let (got, high) = (run.samples.unwrap_or(0) as f64, ((1_u64 << 48) / self.factor) as f64);
            return Err(RadioError::Range { what: "samples of a burst", got, low: 0.0, high });
        }
        for (registers, value) in [(radio::RX_COUNT, count), (radio::RX_TIME, run.first.unwrap_or(0))] {
            for (register, word) in registers.into_iter().zip([value as u32, (value >> 32) as u32]) {
                self.registers.poke(of.radio, of.at(register), word)?;
            }
        }
        Ok(())
    }
}

/// Sends one datagram by a port of a stream.
pub(super) fn send(
    engine: &mut dyn Engine,
    port: PortIndex,
    write: impl FnOnce(&mut [u8]) -> usize,
) -> Result<(), RadioError> {
    let mut batch = engine.reserve(1);
    batch.push(port, None, write);
    batch.send(Wait::Poll)?;
    Ok(())
}
