//! Receiving: datagrams in, samples contiguous in time out.
//!
//! ```text
//! engine ──batch──> lane 0 ─┐
//!                   lane 1 ─┴─ aligned by time stamp ──> caller's buffers
//! ```
//!
//! Everything is counted by time stamps: a stream has a sample every [`RxStream::ticks_per_sample`], and what is not
//! there is missing. Between two calls `first + samples + lost` of the one is `first` of the next, to the sample. The
//! 4-bit count in the datagrams only corroborates: it cannot see sixteen missing ones.
//!
//! After an overflow the radio has stopped. The streamer starts it again at a tick on the grid of the old stream, all
//! channels at the same one, and the loss is the distance between the two.
//!
//! A call allocates nothing, takes no lock and makes no log; an overflow is the exception, for which it speaks to the
//! radio.

mod align;
mod commands;
mod lane;
mod options;
mod recovery;
mod sink;

use std::sync::Arc;
use std::time::Duration;

use num_complex::Complex;
use takt_base::{Complex32, MonoNs, Tick, TickRate, Ticks};
use takt_packet::{Config, Counters, Engine, Limits, PortSpec, Wait};
use takt_wire::n200::rate::Direction;
use takt_wire::n200::registers::{RX_STREAM_IDS, RX_VRT_HEADER, dsp, rx_control, settings};
use takt_wire::n200::{RxHead, StreamAction, StreamCommand, ports};
use takt_wire::sample::{ByteOrder, Format, sc8, sc16};

pub use options::RxOptions;

use self::commands::{Commander, Plan, Planned};
use self::lane::{Lane, Shape};
use self::recovery::Restart;
use self::sink::Sink;
use super::anchor::Anchor;
use super::claim::Claim;
use super::control::{Control, Patience, any};
use super::{CLOCK, N200, exact_rate};
use crate::{Net, RadioError, Received, Role, RxEvent, RxStream};

/// How far ahead a stream is started when its channels must start together.
const START_AHEAD: Duration = Duration::from_millis(10);
/// Datagrams fetched at once: 1.9 ms of full rate, and still in the second-level cache. More gains nothing.
const BATCH: usize = 128;

/// Samples coming in from one or more receive DSPs of an N200.
pub struct RxStreamer {
    engine: Box<dyn Engine>,
    net: Arc<dyn Net>,
    claim: Arc<Claim>,
    anchor: Arc<Anchor>,
    commander: Commander,
    dsps: Vec<usize>,
    lanes: Vec<Lane>,
    plan: Plan,
    format: Format,
    scale: f32,
    rate_sps: f64,
    ticks_per_sample: u64,
    samples_per_datagram: u64,
    nap: Duration,
    /// Time the stream has reached, when it is known.
    at: Option<u64>,
    /// Time it had reached when it was last known.
    reached: u64,
    /// What is earlier belongs to an older stream.
    floor: u64,
    restart: Option<Restart>,
    /// Channels, as bits, that have told the end of the current run.
    reported: u8,
    /// The radio has been told to stop; the end of the burst has not come yet.
    stopping: bool,
    /// An event that came together with another.
    pending: Option<RxEvent>,
    last_read: Option<MonoNs>,
    last_arrival: Option<MonoNs>,
    batch_was_full: bool,
    tally: Tally,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    overflows: u64,
    late_restarts: u64,
    stops_while_idle: u64,
    longest_pause: Duration,
}

/// What a receive stream has seen since it was made. Samples are per channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct RxStats {
    /// Datagrams that came to the stream's ports.
    pub datagrams: u64,
    /// Among them: no datagrams of this stream, cut short, or with a time stamp that cannot be.
    pub bad_datagrams: u64,
    /// Not there, by the time stamps of those that are.
    pub missing_datagrams: u64,
    /// Gaps of which the 4-bit count in the datagrams says something else than the time stamps.
    pub uncorroborated_gaps: u64,
    /// Came after a later one and were put back in their place.
    pub reordered_datagrams: u64,
    /// Came twice, too late, or from before the stream was started.
    pub stale_datagrams: u64,
    /// Given up because another channel was too far behind.
    pub crowded_out_datagrams: u64,
    /// Overflows, each followed by a restart.
    pub overflows: u64,
    /// Restarts that had to be repeated because their time had passed on arrival.
    pub late_restarts: u64,
    /// Stop commands that found the radio idle.
    pub stops_while_idle: u64,
    /// Requests to the radio that had to be repeated.
    pub control_retries: u64,
    /// Longest time between two reads of the socket while samples were coming.
    pub longest_pause: Duration,
}

impl N200 {
    /// Makes a receive stream. The radio does not send before [`RxStreamer::start`] or [`RxStreamer::burst`].
    ///
    /// # Errors
    /// `Rate` for a rate the radio does not make exactly; `Range` for channels or datagram sizes it does not have;
    /// otherwise the radio does not answer or the ports can't be had.
    pub fn rx_streamer(&mut self, options: &RxOptions) -> Result<RxStreamer, RadioError> {
        let factor = exact_rate(options.rate_sps)?;
        let dsps = checked_channels(&options.channels)?;
        let most = (self.frame_bytes.receive - RxHead::OVERHEAD_BYTES) / options.format.bytes();
        let samples_per_datagram = checked_size(options.samples_per_datagram, most)?;
        let scaling = factor.scaling(Direction::Rx, options.format);
        for &d in &dsps {
            let control = settings::RX_CONTROL[d];
            let block = settings::RX_DSP[d];
            self.fifo.poke(control + rx_control::SAMPLES_PER_PACKET, samples_per_datagram as u32)?;
            self.fifo.poke(control + rx_control::CLEAR, 0)?;
            self.fifo.poke(control + rx_control::VRT_HEADER, RX_VRT_HEADER)?;
            self.fifo.poke(control + rx_control::STREAM_ID, RX_STREAM_IDS[d])?;
            self.fifo.poke(control + rx_control::VRT_TRAILER, 0)?;
            self.fifo.poke(control + rx_control::FORMAT, u32::from(options.format == Format::Sc8))?;
            self.fifo.poke(block + dsp::SCALE, scaling.word)?;
            self.fifo.poke(block + dsp::RATE, factor.rate_word(Direction::Rx).0)?;
            self.rx_rate_sps[d] = factor.rate_sps();
        }
        self.fifo.flush()?;

        let peer = |d: usize| (self.addr, ports::RX[d]).into();
        let specs = dsps.iter().map(|&d| PortSpec { bind: any(self.addr), peer: Some(peer(d)) });
        let config = Config {
            max_payload_bytes: self.frame_bytes.receive,
            recv_buffer_bytes: options.recv_buffer_bytes,
            force_buffers: options.force_buffer,
            stamps: options.stamps,
            aggregate: options.aggregate,
            batch: BATCH,
            ..Config::new(specs.collect())
        };
        let mut engine = self.net.open(Role::Stream, &config)?;
        super::announce(&mut *engine, dsps.len(), &*self.net)?;

        let ticks_per_sample = u64::from(factor.get());
        let limits = engine.limits();
        let datagram_ticks = Ticks(ticks_per_sample * samples_per_datagram as u64);
        let holds = limits.recv_buffer_bytes / self.frame_bytes.receive;
        let quarter = CLOCK.duration_of(datagram_ticks).saturating_mul(holds as u32 / 4);
        let mut control = Control::open(&self.net, self.addr)?;
        control.hello()?;
        let shape = |d: usize| Shape {
            frame_bytes: self.frame_bytes.receive,
            sample_bytes: options.format.bytes(),
            ticks_per_sample,
            samples_per_datagram: samples_per_datagram as u64,
            stream_id: RX_STREAM_IDS[d],
        };
        Ok(RxStreamer {
            net: Arc::clone(&self.net),
            claim: Arc::clone(&self.claim),
            anchor: Arc::clone(&self.anchor),
            commander: Commander { control },
            lanes: dsps.iter().map(|&d| Lane::new(shape(d), limits.batch)).collect(),
            dsps,
            plan: Plan::new(),
            format: options.format,
            scale: scaling.host_factor as f32,
            rate_sps: factor.rate_sps(),
            ticks_per_sample,
            samples_per_datagram: samples_per_datagram as u64,
            nap: options.coalesce.min(quarter),
            at: None,
            reached: 0,
            floor: 0,
            restart: None,
            reported: 0,
            stopping: false,
            pending: None,
            last_read: None,
            last_arrival: None,
            batch_was_full: false,
            tally: Tally::default(),
            engine,
        })
    }
}

fn checked_channels(channels: &[u8]) -> Result<Vec<usize>, RadioError> {
    let high = settings::RX_CONTROL.len();
    if channels.is_empty() || channels.len() > high {
        let got = channels.len() as f64;
        return Err(RadioError::Range { what: "receive channels", got, low: 1.0, high: high as f64 });
    }
    let mut dsps = Vec::with_capacity(channels.len());
    for &channel in channels {
        let d = usize::from(channel);
        if d >= high || dsps.contains(&d) {
            let got = f64::from(channel);
            return Err(RadioError::Range { what: "receive DSP (each once)", got, low: 0.0, high: (high - 1) as f64 });
        }
        dsps.push(d);
    }
    Ok(dsps)
}

/// # Errors
/// `Range` outside 1 to `most`.
pub(super) fn checked_size(wish: Option<usize>, most: usize) -> Result<usize, RadioError> {
    match wish {
        None => Ok(most),
        Some(samples) if (1..=most).contains(&samples) => Ok(samples),
        Some(samples) => {
            let what = "samples in a datagram";
            Err(RadioError::Range { what, got: samples as f64, low: 1.0, high: most as f64 })
        }
    }
}

impl RxStreamer {
    /// Streams until stopped, from `at`, or at once. With several channels "at once" means 10 ms from now, so that all
    /// begin at the same tick. Fails if the radio does not answer.
    pub fn start(&mut self, at: Option<Tick>) -> Result<(), RadioError> {
        self.command(StreamAction::Start, at, None)
    }

    /// Streams `samples` samples and ends. Bursts given one after the other are queued, up to 16.
    ///
    /// # Errors
    /// `Wire` above 2^28 - 1 samples; `Range` for a seventeenth; the radio does not answer.
    pub fn burst(&mut self, samples: u32, at: Option<Tick>) -> Result<(), RadioError> {
        self.command(StreamAction::Samples(samples), at, Some(u64::from(samples)))
    }

    /// Streams `samples` samples, and goes on without a gap with the next command, which must come before they end: else
    /// the chain is broken.
    ///
    /// # Errors
    /// As [`RxStreamer::burst`].
    pub fn chain(&mut self, samples: u32, at: Option<Tick>) -> Result<(), RadioError> {
        self.command(StreamAction::SamplesAndMore(samples), at, Some(u64::from(samples)))
    }

    /// Ends a stream that was started without an end. What was sent before still comes, then [`RxEvent::EndOfBurst`].
    /// Fails if the radio does not answer.
    pub fn stop(&mut self) -> Result<(), RadioError> {
        for &d in &self.dsps {
            self.commander.issue(d, StreamCommand { action: StreamAction::Stop, tick: None }, false)?;
        }
        self.stopping = true;
        Ok(())
    }

    fn command(&mut self, action: StreamAction, at: Option<Tick>, samples: Option<u64>) -> Result<(), RadioError> {
        if self.stopping {
            self.plan.clear(); // the end of the burst may have been lost on the way
        }
        let idle = self.plan.is_idle();
        let together = self.lanes.len() > 1 && idle;
        let first = match at {
            Some(tick) => Some(tick.0),
            None if together => {
                let now = self.commander.device_time(&*self.net, &self.anchor)?;
                Some((now + CLOCK.ticks_in(START_AHEAD)).0)
            }
            None => None,
        };
        let more = matches!(action, StreamAction::SamplesAndMore(_));
        self.plan.push(Planned { first, samples, more })?;
        if idle {
            self.forget()?;
            self.expect(first);
        }
        for &d in &self.dsps {
            let given = self.commander.issue(d, StreamCommand { action, tick: first }, idle);
            if given.is_err() {
                self.plan.clear();
                return given;
            }
        }
        Ok(())
    }

    /// Empties lanes and sockets of what an earlier stream left.
    fn forget(&mut self) -> Result<(), RadioError> {
        while !self.engine.recv(Wait::Poll)?.is_empty() {}
        self.lanes.iter_mut().for_each(Lane::clear);
        self.restart = None;
        self.stopping = false;
        self.pending = None;
        self.last_read = None;
        Ok(())
    }

    /// The next run begins at `first`; `None`: at whatever comes.
    fn expect(&mut self, first: Option<u64>) {
        self.at = first;
        self.reached = first.unwrap_or(self.reached);
        self.floor = first.unwrap_or(0);
        self.reported = 0;
        self.lanes.iter_mut().for_each(|lane| lane.expect(first));
    }

    /// Receives without conversion: the integers of the wire, which times [`RxStreamer::full_scale`] are floats.
    ///
    /// # Errors
    /// As [`RxStream::recv`].
    pub fn recv_integers(&mut self, out: &mut [&mut [Complex<i16>]], until: MonoNs) -> Result<Received, RadioError> {
        let format = self.format;
        let unpack = |wire: &[u8], out: &mut [Complex<i16>]| match format {
            Format::Sc16 => sc16::unpack_i16(wire, ByteOrder::Big, out),
            Format::Sc8 => sc8::unpack_i16(wire, out),
        };
        self.receive(&mut Sink { out, unpack }, until)
    }

    /// When the kernel received the datagram that the last sample delivered was in; `None` without
    /// [`RxOptions::stamps`].
    #[must_use]
    pub fn last_arrival(&self) -> Option<MonoNs> {
        self.last_arrival
    }

    /// What one step of the integers is worth; depends on rate and format.
    #[must_use]
    pub fn full_scale(&self) -> f32 {
        self.scale
    }

    /// Samples in a full datagram.
    #[must_use]
    pub fn samples_per_datagram(&self) -> usize {
        self.samples_per_datagram as usize
    }

    /// What was seen so far.
    #[must_use]
    pub fn stats(&self) -> RxStats {
        let sum = |count: fn(lane::Tally) -> u64| self.lanes.iter().map(|lane| count(lane.tally())).sum();
        RxStats {
            datagrams: sum(|t| t.datagrams),
            bad_datagrams: sum(|t| t.bad),
            missing_datagrams: sum(|t| t.missing),
            uncorroborated_gaps: sum(|t| t.uncorroborated),
            reordered_datagrams: sum(|t| t.reordered),
            stale_datagrams: sum(|t| t.stale),
            crowded_out_datagrams: sum(|t| t.crowded_out),
            overflows: self.tally.overflows,
            late_restarts: self.tally.late_restarts,
            stops_while_idle: self.tally.stops_while_idle,
            control_retries: self.commander.control.retries(),
            longest_pause: self.tally.longest_pause,
        }
    }

    /// Measures [`RxStats::longest_pause`] from now on.
    pub fn reset_longest_pause(&mut self) {
        self.tally.longest_pause = Duration::ZERO;
    }

    /// Counters of the packet engine underneath.
    #[must_use]
    pub fn engine_counters(&self) -> Counters {
        self.engine.counters()
    }

    /// What the packet engine was granted.
    #[must_use]
    pub fn engine_limits(&self) -> Limits {
        self.engine.limits()
    }
}

impl RxStream for RxStreamer {
    fn recv(&mut self, out: &mut [&mut [Complex32]], until: MonoNs) -> Result<Received, RadioError> {
        let (format, scale) = (self.format, self.scale);
        let unpack = |wire: &[u8], out: &mut [Complex32]| match format {
            Format::Sc16 => sc16::unpack_f32(wire, ByteOrder::Big, scale, out),
            Format::Sc8 => sc8::unpack_f32(wire, scale, out),
        };
        self.receive(&mut Sink { out, unpack }, until)
    }

    fn channels(&self) -> usize {
        self.lanes.len()
    }

    fn rate_sps(&self) -> f64 {
        self.rate_sps
    }

    fn tick_rate(&self) -> TickRate {
        CLOCK
    }

    fn ticks_per_sample(&self) -> Ticks {
        Ticks(self.ticks_per_sample)
    }
}

impl Drop for RxStreamer {
    /// Tells the radio to stop, if it streams; one try, since nobody is left to hear of a failure.
    fn drop(&mut self) {
        if self.plan.is_idle() {
            return;
        }
        self.commander.control.set_patience(Patience { tries: 1, each: Duration::from_millis(100) });
        for &d in &self.dsps {
            let _ = self.commander.clear(d);
        }
    }
}
