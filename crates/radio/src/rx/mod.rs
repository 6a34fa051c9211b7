//! Receiving: datagrams in, samples contiguous in time out.
//!
//! ```text
//! engine ──batch──> lane 0 ─┐
//!                   lane 1 ─┴─ aligned by time stamp ──> caller's buffers
//! ```
//!
//! Everything is counted by time stamps: a stream has a sample every [`RxStream::ticks_per_sample`], and what is not
//! there is missing. Between two calls `first + samples + lost` of the one is `first` of the next, to the sample. The
//! numbers in the datagrams only corroborate: an N200's have 4 bits, which cannot see sixteen missing ones.
//!
//! After an overflow the radio has stopped. The streamer starts it again at a tick on the grid of the old stream, all
//! channels at the same one, and the loss is the distance between the two.
//!
//! A call allocates nothing, takes no lock and makes no log; an overflow is the exception, for which it speaks to the
//! radio.
//!
//! All of this is the same for every radio. A [`Source`] knows the differences.

mod align;
mod lane;
mod options;
mod plan;
mod recovery;
mod shape;
mod sink;
mod source;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use num_complex::Complex;
use takt_base::{Complex32, MonoNs, Speed, Tick, TickRate, Ticks};
use takt_packet::{Choice, Counters, Engine, Limits, Wait};
use takt_wire::sample::{ByteOrder, Format, sc8, sc16};

pub use options::RxOptions;
pub(crate) use plan::Run;
pub(crate) use source::{Message, Reading, ReplyPatience, Source};

use self::lane::Lane;
use self::plan::Plan;
use self::recovery::Restart;
use self::shape::Shape;
use self::sink::Sink;
use crate::{Net, RadioError, Received, RxEvent, RxStream};

/// How far ahead a stream is started when its channels must start together.
const START_AHEAD: Duration = Duration::from_millis(10);
/// Datagrams fetched at once: 1.9 ms of an N200's full rate, and still in the second-level cache. More gains nothing.
pub(crate) const BATCH: usize = 128;

/// Samples coming in from one or more channels of a radio.
pub struct RxStreamer {
    engine: Box<dyn Engine>,
    net: Arc<dyn Net>,
    source: Box<dyn Source>,
    clock: TickRate,
    speed: Speed,
    lanes: Vec<Lane>,
    plan: Plan,
    wire: WireSamples,
    rate_sps: f64,
    ticks_per_sample: u64,
    samples_per_datagram: u64,
    nap: Duration,
    /// Time the stream has reached, when it is known.
    at: Option<u64>,
    /// Time it had reached when it was last known.
    reached: u64,
    /// Earlier samples belong to an older stream.
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

/// Counts of a receive stream since it was made. Samples are per channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct RxStats {
    /// Datagrams that came to the stream's ports.
    pub datagrams: u64,
    /// Among them: no datagrams of this stream, cut short, or with a time stamp that cannot be.
    pub bad_datagrams: u64,
    /// Not there, by the time stamps of those that are.
    pub missing_datagrams: u64,
    /// Gaps of which the numbers in the datagrams say something else than the time stamps.
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

/// Samples as they lie in a datagram.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WireSamples {
    pub(crate) format: Format,
    pub(crate) order: ByteOrder,
    /// Value of one step of the integers.
    pub(crate) scale: f32,
}

/// A stream as a radio's driver has set it up.
pub(crate) struct Setup {
    /// A port for each channel, connected to the radio.
    pub(crate) engine: Box<dyn Engine>,
    pub(crate) net: Arc<dyn Net>,
    pub(crate) source: Box<dyn Source>,
    pub(crate) clock: TickRate,
    /// How fast the radio's time passes.
    pub(crate) speed: Speed,
    pub(crate) wire: WireSamples,
    pub(crate) rate_sps: f64,
    pub(crate) ticks_per_sample: u64,
    pub(crate) samples_per_datagram: usize,
    /// Largest datagram.
    pub(crate) frame_bytes: usize,
    /// Numbers of datagrams count up to this, one less than a power of two.
    pub(crate) last_number: u16,
    pub(crate) channels: usize,
    /// See [`RxOptions::coalesce`].
    pub(crate) coalesce: Duration,
}

impl RxStreamer {
    pub(crate) fn new(setup: Setup) -> RxStreamer {
        let samples_per_datagram = setup.samples_per_datagram as u64;
        let limits = setup.engine.limits();
        let datagram_ticks = Ticks(setup.ticks_per_sample * samples_per_datagram);
        let holds = limits.recv_buffer_bytes / setup.frame_bytes;
        let quarter = setup.speed.duration_of(setup.clock, datagram_ticks).saturating_mul(holds as u32 / 4);
        let shape = Shape {
            frame_bytes: setup.frame_bytes,
            sample_bytes: setup.wire.format.bytes(),
            ticks_per_sample: setup.ticks_per_sample,
            samples_per_datagram,
            last_number: setup.last_number,
        };
        RxStreamer {
            engine: setup.engine,
            net: setup.net,
            source: setup.source,
            clock: setup.clock,
            speed: setup.speed,
            lanes: (0..setup.channels).map(|_| Lane::new(shape, limits.batch)).collect(),
            plan: Plan::new(),
            wire: setup.wire,
            rate_sps: setup.rate_sps,
            ticks_per_sample: setup.ticks_per_sample,
            samples_per_datagram,
            nap: setup.coalesce.min(quarter),
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
        }
    }
}

/// # Errors
/// `Range` outside 1 to `most`; any size is where that is 0.
pub(crate) fn checked_size(wish: Option<usize>, most: usize) -> Result<usize, RadioError> {
    let samples = wish.unwrap_or(most);
    if (1..=most).contains(&samples) {
        return Ok(samples);
    }
    Err(RadioError::Range { what: "samples in a datagram", got: samples as f64, low: 1.0, high: most as f64 })
}

impl RxStreamer {
    /// Streams until stopped, from `at`, or at once. With several channels "at once" means 10 ms from now, so that all
    /// begin at the same tick. Fails if the radio does not answer.
    pub fn start(&mut self, at: Option<Tick>) -> Result<(), RadioError> {
        self.command(Run { first: at.map(|tick| tick.0), samples: None, more: false })
    }

    /// Streams `samples` samples and ends. Bursts given one after the other are queued, up to 16.
    ///
    /// # Errors
    /// `Wire` above the most that the radio counts (an N200: 2^28 - 1 samples); `Range` for a seventeenth; the radio does not answer.
    pub fn burst(&mut self, samples: u32, at: Option<Tick>) -> Result<(), RadioError> {
        self.command(Run { first: at.map(|tick| tick.0), samples: Some(samples.into()), more: false })
    }

    /// Streams `samples` samples, and goes on without a gap with the next command, which must come before they end: else
    /// the chain is broken.
    ///
    /// # Errors
    /// As [`RxStreamer::burst`].
    pub fn chain(&mut self, samples: u32, at: Option<Tick>) -> Result<(), RadioError> {
        self.command(Run { first: at.map(|tick| tick.0), samples: Some(samples.into()), more: true })
    }

    /// Ends a stream that was started without an end. Samples sent before still come, then [`RxEvent::EndOfBurst`].
    /// Fails if the radio does not answer.
    pub fn stop(&mut self) -> Result<(), RadioError> {
        for channel in 0..self.lanes.len() {
            self.source.stop(channel)?;
        }
        self.stopping = true;
        Ok(())
    }

    fn command(&mut self, wish: Run) -> Result<(), RadioError> {
        if self.stopping {
            self.plan.clear(); // the end of the burst may have been lost on the way
        }
        let idle = self.plan.is_idle();
        let together = self.lanes.len() > 1 && idle;
        let first = match wish.first {
            None if together => Some((self.source.now()? + self.ticks_in(START_AHEAD)).0),
            first => first,
        };
        let run = Run { first, ..wish };
        self.plan.push(run)?;
        if idle {
            self.forget()?;
            self.expect(first);
        }
        for channel in 0..self.lanes.len() {
            let given = self.source.begin(channel, run, idle);
            if given.is_err() {
                self.plan.clear();
                return given;
            }
        }
        Ok(())
    }

    /// Ticks that pass in this much of the host's time.
    fn ticks_in(&self, span: Duration) -> Ticks {
        self.speed.ticks_in(self.clock, span)
    }

    /// Empties lanes and sockets of what an earlier stream left.
    fn forget(&mut self) -> Result<(), RadioError> {
        // A radio that counts its credit by what was read must be told of this, too.
        loop {
            let batch = self.engine.recv(Wait::Poll)?;
            if batch.is_empty() {
                break;
            }
            for datagram in batch.iter() {
                let _ = self.source.read(usize::from(datagram.port.0), datagram.bytes);
            }
            self.source.have_read(&mut *self.engine, self.net.now())?;
        }
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
        let WireSamples { format, order, .. } = self.wire;
        let unpack = |wire: &[u8], out: &mut [Complex<i16>]| match format {
            Format::Sc16 => sc16::unpack_i16(wire, order, out),
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

    /// Value of one step of the integers; depends on rate and format.
    #[must_use]
    pub fn full_scale(&self) -> f32 {
        self.wire.scale
    }

    /// Samples in a full datagram.
    #[must_use]
    pub fn samples_per_datagram(&self) -> usize {
        self.samples_per_datagram as usize
    }

    /// Counts so far.
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
            control_retries: self.source.retries(),
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

    /// For a packet engine on some queues of a card: which, and what brings its datagrams there; or why it has all.
    #[must_use]
    pub fn engine_queues(&self) -> Option<&str> {
        self.engine.queues()
    }
}

impl RxStream for RxStreamer {
    fn recv(&mut self, out: &mut [&mut [Complex32]], until: MonoNs) -> Result<Received, RadioError> {
        let WireSamples { format, order, scale } = self.wire;
        let unpack = |wire: &[u8], out: &mut [Complex32]| match format {
            Format::Sc16 => sc16::unpack_f32(wire, order, scale, out),
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
        self.clock
    }

    fn ticks_per_sample(&self) -> Ticks {
        Ticks(self.ticks_per_sample)
    }

    fn speed(&self) -> Speed {
        self.speed
    }

    fn begins(&self) -> Option<MonoNs> {
        let first = self.plan.current()?.first.filter(|&first| self.at == Some(first))?;
        Some(self.source.host_at(Tick(first)))
    }
}

impl Drop for RxStreamer {
    /// Tells the radio to stop, if it streams; one try, since nobody is left to hear of a failure.
    fn drop(&mut self) {
        if self.plan.is_idle() {
            return;
        }
        self.source.set_reply_patience(ReplyPatience::OnDrop);
        for channel in 0..self.lanes.len() {
            let _ = self.source.clear(channel);
        }
    }
}
