//! Transmitting: samples in, numbered datagrams out, at most as many ahead as the radio can hold.
//!
//! ```text
//!  caller's samples ──convert──> frames of the engine ──batch──> the radio
//!        credit <── flow control ┐
//!        events <── U S L, ack ──┴─────────────────────────────── the radio
//! ```
//!
//! A call sends until all is sent or its deadline comes. It waits only when the radio has no room, and looks at what it
//! reports when it must, or when it has not for 10 ms. It allocates nothing, takes no lock and makes no log.
//!
//! A call that carries a time puts it on each of its datagrams, counted on from the first. The radio follows it where a
//! burst starts and ignores it inside one; so after an underflow, samples whose time has passed are dropped (`L`) and the
//! rest leaves at its time. Without a time, what follows an underflow leaves at once, that much too late.
//!
//! All of this is the same for every radio. A [`Sink`] knows the differences.

mod events;
mod sink;

use std::sync::Arc;
use std::time::Duration;

use num_complex::Complex;
use takt_base::{Complex32, MonoNs, Speed, TickRate, Ticks};
use takt_packet::{Choice, Counters, Engine, Limits, PortIndex, Wait};
use takt_wire::sample::{Format, sc8, sc16};

pub(crate) use sink::{Place, Report, Sink};

use self::events::Events;
use crate::rx::WireSamples;
use crate::{Burst, Net, RadioError, TxEvent, TxEventKind, TxStream};

/// How long reports may lie in the socket while the window is open.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Options of a transmit stream. Start from [`TxOptions::new`] and change what matters.
#[derive(Clone, Debug, PartialEq)]
pub struct TxOptions {
    /// Samples per second; only what the radio takes exactly.
    pub rate_sps: f64,
    /// Which of the radio's, in the order in which [`TxStream::send`] is given them. An N200 has one.
    pub channels: Vec<u8>,
    /// On the wire.
    pub format: Format,
    /// Samples in a datagram; `None` = as many as the frame holds.
    pub samples_per_datagram: Option<usize>,
    /// Hand the kernel several datagrams as one and let it split them (UDP GSO), where it can.
    pub aggregate: bool,
    /// Send buffer requested from the kernel, bytes; it may grant less.
    pub send_buffer_bytes: usize,
}

impl TxOptions {
    /// The first channel, sc16, full datagrams, single ones, a send buffer for the whole window.
    #[must_use]
    pub fn new(rate_sps: f64) -> TxOptions {
        TxOptions {
            rate_sps,
            channels: vec![0],
            format: Format::Sc16,
            samples_per_datagram: None,
            aggregate: false,
            send_buffer_bytes: 4 << 20,
        }
    }
}

/// Counts of a transmit stream since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct TxStats {
    /// Samples handed to the kernel.
    pub samples: u64,
    /// Datagrams handed to the kernel.
    pub datagrams: u64,
    /// Bursts that the radio reports as played to their end.
    pub burst_acks: u64,
    /// `U`.
    pub underflows: u64,
    /// `S`.
    pub sequence_errors: u64,
    /// `L`.
    pub late: u64,
    /// Reports with a code that has no name.
    pub unknown_events: u64,
    /// Flow-control reports.
    pub flow_reports: u64,
    /// Reports that cannot be of this stream, and what came that is no report.
    pub foreign_reports: u64,
    /// Events that nobody took in time; they are in the counts above.
    pub forgotten_events: u64,
    /// Datagrams given up: the radio ran dry with a whole window on its way, and went on to take none of it.
    pub given_up_datagrams: u64,
    /// Times a call had to wait for the radio to take something.
    pub waits: u64,
}

/// Samples going out to one or more channels of a radio.
pub struct TxStreamer {
    engine: Box<dyn Engine>,
    net: Arc<dyn Net>,
    sink: Box<dyn Sink>,
    clock: TickRate,
    speed: Speed,
    events: Events,
    wire: WireSamples,
    rate_sps: f64,
    ticks_per_sample: u64,
    samples_per_datagram: usize,
    lanes: Vec<Lane>,
    last_look: MonoNs,
    stats: TxStats,
}

/// How far one channel has come.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    /// A burst has begun and not ended.
    in_burst: bool,
    /// The last datagram sent carries a time.
    timed: bool,
    /// Samples of the next call that have left, since another channel had no room for them in the last.
    ahead: usize,
    /// So has the end of its burst.
    ended: bool,
}

/// A stream as a radio's driver has set it up.
pub(crate) struct Setup {
    /// A port for each channel, connected to the radio.
    pub(crate) engine: Box<dyn Engine>,
    pub(crate) net: Arc<dyn Net>,
    pub(crate) sink: Box<dyn Sink>,
    pub(crate) clock: TickRate,
    /// How fast the radio's time passes.
    pub(crate) speed: Speed,
    pub(crate) wire: WireSamples,
    pub(crate) rate_sps: f64,
    pub(crate) ticks_per_sample: u64,
    pub(crate) samples_per_datagram: usize,
    pub(crate) channels: usize,
}

impl TxStreamer {
    pub(crate) fn new(setup: Setup) -> TxStreamer {
        TxStreamer {
            engine: setup.engine,
            last_look: setup.net.now(),
            net: setup.net,
            sink: setup.sink,
            clock: setup.clock,
            speed: setup.speed,
            events: Events::new(),
            wire: setup.wire,
            rate_sps: setup.rate_sps,
            ticks_per_sample: setup.ticks_per_sample,
            samples_per_datagram: setup.samples_per_datagram,
            lanes: vec![Lane::default(); setup.channels],
            stats: TxStats::default(),
        }
    }
}

/// Samples of a call, floats or integers of the wire, and how they come into a datagram.
#[derive(Clone, Copy)]
struct Samples<'a, T, F> {
    channels: &'a [&'a [T]],
    pack: F,
}

impl<T, F: Fn(&[T], &mut [u8]) -> usize> Samples<'_, T, F> {
    /// Samples of each channel.
    fn len(&self) -> usize {
        self.channels.iter().map(|channel| channel.len()).min().unwrap_or(0)
    }

    /// Converts samples `from` to `from + count` of a channel into `wire`.
    fn pack(&self, channel: usize, from: usize, count: usize, wire: &mut [u8]) {
        if let Some(samples) = self.channels.get(channel).and_then(|samples| samples.get(from..from + count)) {
            (self.pack)(samples, wire);
        }
    }
}

impl TxStreamer {
    /// Sends integers of the wire as they are, `samples[channel][sample]`; full scale is [`TxStreamer::full_scale`].
    ///
    /// # Errors
    /// As [`TxStream::send`].
    pub fn send_integers(
        &mut self,
        samples: &[&[Complex<i16>]],
        burst: Burst,
        until: MonoNs,
    ) -> Result<usize, RadioError> {
        let WireSamples { format, order, .. } = self.wire;
        let pack = |samples: &[Complex<i16>], wire: &mut [u8]| match format {
            Format::Sc16 => sc16::pack_i16(samples, order, wire),
            Format::Sc8 => sc8::pack_i16(samples, wire),
        };
        self.transmit(&Samples { channels: samples, pack }, burst, until)
    }

    /// The integer that is 1.0; depends on rate and format.
    #[must_use]
    pub fn full_scale(&self) -> f32 {
        self.wire.scale
    }

    /// Samples in a full datagram.
    #[must_use]
    pub fn samples_per_datagram(&self) -> usize {
        self.samples_per_datagram
    }

    /// Datagrams the radio's buffer holds.
    #[must_use]
    pub fn window_datagrams(&self) -> u32 {
        self.sink.window_datagrams()
    }

    /// Counts so far. Reports that wait in the socket are not in it; [`TxStream::event`] takes them in.
    #[must_use]
    pub fn stats(&self) -> TxStats {
        TxStats { forgotten_events: self.events.forgotten(), ..self.stats }
    }

    /// Counters of the packet engine underneath.
    #[must_use]
    pub fn engine_counters(&self) -> Counters {
        self.engine.counters()
    }

    /// Limits that the packet engine was granted.
    #[must_use]
    pub fn engine_limits(&self) -> Limits {
        self.engine.limits()
    }

    /// For a packet engine that chose itself: which it is, and why no other.
    #[must_use]
    pub fn engine_choice(&self) -> Option<&Choice> {
        self.engine.choice()
    }

    fn transmit<T>(
        &mut self,
        samples: &Samples<'_, T, impl Fn(&[T], &mut [u8]) -> usize>,
        burst: Burst,
        until: MonoNs,
    ) -> Result<usize, RadioError> {
        if samples.channels.len() != self.lanes.len() {
            return Err(RadioError::Channels { have: self.lanes.len(), got: samples.channels.len() });
        }
        let total = samples.len();
        let start = self.net.now();
        self.sink.touch(start);
        if start - self.last_look >= LOOK_EVERY {
            self.look(Wait::Poll)?;
            self.last_look = start;
        }
        // An end without samples is one sample of silence, as UHD sends it; an N200 knows no empty datagram.
        while let Some(channel) = self.furthest_behind(total, burst) {
            let credit = self.sink.credit(channel);
            if credit == 0 {
                if !self.await_credit(channel, until)? {
                    break;
                }
                continue;
            }
            let left = total.saturating_sub(self.lanes[channel].ahead).div_ceil(self.samples_per_datagram).max(1);
            let sent = self.send_batch(channel, samples, burst, left.min(credit), until)?;
            if sent == 0 && self.net.now() >= until {
                self.sink.check()?;
                break;
            }
        }
        Ok(self.settle(total))
    }

    /// The channel that has sent least of the call, if any has something left to send.
    fn furthest_behind(&self, total: usize, burst: Burst) -> Option<usize> {
        let unfinished = |lane: &Lane| lane.ahead < total || (burst.ends && !lane.ended);
        let lanes = self.lanes.iter().enumerate().filter(|(_, lane)| unfinished(lane));
        lanes.min_by_key(|(_, lane)| lane.ahead).map(|(channel, _)| channel)
    }

    /// Samples of the call that all channels have sent; those that some have sent beyond are kept in mind for the next.
    fn settle(&mut self, total: usize) -> usize {
        let done = self.lanes.iter().map(|lane| lane.ahead).min().unwrap_or(total);
        let all_ended = self.lanes.iter().all(|lane| lane.ended);
        for lane in &mut self.lanes {
            lane.ahead -= done;
            lane.ended &= !all_ended;
        }
        done
    }

    /// Fills up to `datagrams` frames for one channel and hands them to the kernel; returns how many it took.
    fn send_batch<T>(
        &mut self,
        channel: usize,
        samples: &Samples<'_, T, impl Fn(&[T], &mut [u8]) -> usize>,
        burst: Burst,
        datagrams: usize,
        until: MonoNs,
    ) -> Result<usize, RadioError> {
        let (size, format) = (self.samples_per_datagram, self.wire.format);
        let Lane { ahead: from, in_burst, .. } = self.lanes[channel];
        let left = samples.len().saturating_sub(from);
        let payload_at = self.sink.payload_at(burst.at.is_some());
        let count_of = |n: usize| size.min(left.saturating_sub(n * size));
        let mut batch = self.engine.reserve(datagrams);
        let room = batch.room();
        for n in 0..room {
            let offset = from + n * size;
            let count = count_of(n);
            let place = Place {
                ahead: n as u32,
                tick: burst.at.map(|at| at.0.saturating_add(offset as u64 * self.ticks_per_sample)),
                starts_burst: n == 0 && !in_burst,
                ends_burst: burst.ends && offset + count >= samples.len(),
                odd: format == Format::Sc8 && count.max(1) % 2 == 1,
                payload_bytes: payload_bytes(count, format),
            };
            let sink = &*self.sink;
            batch.push(PortIndex(channel as u8), None, |frame| {
                let Some(payload) = frame.get_mut(payload_at..payload_at + place.payload_bytes) else { return 0 };
                // An odd sc8 sample is followed by silence, and so is a missing one.
                if let Some(last) = payload.last_chunk_mut::<4>() {
                    *last = [0; 4];
                }
                samples.pack(channel, offset, count, payload);
                sink.frame(channel, &place, frame)
            });
        }
        let sent = batch.send(Wait::Until(until))?;
        for n in 0..sent {
            self.sink.sent(channel, payload_at + payload_bytes(count_of(n), format));
        }
        let taken = left.min(sent * size);
        let ended = burst.ends && taken == left && sent > 0 && sent == room;
        self.stats.datagrams += sent as u64;
        self.stats.samples += taken as u64;
        let lane = &mut self.lanes[channel];
        lane.ahead += taken;
        lane.ended |= ended;
        if sent > 0 {
            lane.in_burst = !ended;
            lane.timed = burst.at.is_some();
        }
        Ok(sent)
    }

    /// Waits until the radio has room on a channel. `false`: the deadline came first.
    fn await_credit(&mut self, channel: usize, until: MonoNs) -> Result<bool, RadioError> {
        self.stats.waits += 1;
        loop {
            self.look(Wait::Until(until))?;
            let now = self.net.now();
            self.last_look = now;
            self.sink.touch(now);
            if self.sink.credit(channel) > 0 {
                return Ok(true);
            }
            if now >= until {
                self.sink.check()?;
                return Ok(false);
            }
        }
    }

    /// Takes in what the radio reports.
    fn look(&mut self, wait: Wait) -> Result<(), RadioError> {
        let longest = self.sink.about_to_read(&mut *self.engine, self.net.now())?;
        let wait = match (wait, longest) {
            (Wait::Until(until), Some(longest)) => Wait::Until(until.min(longest)),
            (wait, _) => wait,
        };
        for datagram in self.engine.recv(wait)?.iter() {
            let report = self.sink.read(usize::from(datagram.port.0), datagram.bytes);
            self.stats.foreign_reports += u64::from(!report.ours);
            self.stats.flow_reports += u64::from(report.ours && report.event.is_none());
            if let Some(event) = report.event {
                self.stats.count(event.kind);
                self.events.push(event);
            }
        }
        let timed = self.lanes.iter().any(|lane| lane.timed);
        self.stats.given_up_datagrams += u64::from(self.sink.have_read(&mut *self.engine, timed)?);
        Ok(())
    }
}

impl TxStats {
    fn count(&mut self, kind: TxEventKind) {
        *match kind {
            TxEventKind::BurstAck => &mut self.burst_acks,
            TxEventKind::Underflow => &mut self.underflows,
            TxEventKind::SequenceError => &mut self.sequence_errors,
            TxEventKind::Late => &mut self.late,
            TxEventKind::Unknown(_) => &mut self.unknown_events,
        } += 1;
    }
}

/// Bytes of so many samples: whole words. None makes one sample of silence.
fn payload_bytes(count: usize, format: Format) -> usize {
    (count.max(1) * format.bytes()).next_multiple_of(4)
}

impl TxStream for TxStreamer {
    fn send(&mut self, samples: &[&[Complex32]], burst: Burst, until: MonoNs) -> Result<usize, RadioError> {
        let WireSamples { format, order, scale } = self.wire;
        let pack = |samples: &[Complex32], wire: &mut [u8]| match format {
            Format::Sc16 => sc16::pack_f32(samples, order, scale, wire),
            Format::Sc8 => sc8::pack_f32(samples, scale, wire),
        };
        self.transmit(&Samples { channels: samples, pack }, burst, until)
    }

    fn event(&mut self, until: MonoNs) -> Result<Option<TxEvent>, RadioError> {
        loop {
            if let Some(event) = self.events.pop() {
                return Ok(Some(event));
            }
            let now = self.net.now();
            self.sink.touch(now);
            if now >= until {
                self.look(Wait::Poll)?;
                self.sink.check()?;
                return Ok(self.events.pop());
            }
            self.look(Wait::Until(until))?;
        }
    }

    fn channels(&self) -> usize {
        self.lanes.len()
    }

    fn rate_sps(&self) -> f64 {
        self.rate_sps
    }

    fn tick_rate(&self) -> TickRate {
        self.clock
    }

    fn ticks_per_sample(&self) -> Ticks {
        Ticks(self.ticks_per_sample)
    }

    fn speed(&self) -> Speed {
        self.speed
    }
}
