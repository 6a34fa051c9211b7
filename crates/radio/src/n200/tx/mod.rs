//! Transmitting: samples in, numbered datagrams out, at most as many ahead as the radio can hold.
//!
//! ```text
//!  caller's samples ──convert──> frames of the engine ──batch──> 49157
//!        window <── flow control ┐
//!        events <── U S L, ack ──┴────────────────────────────── 49157
//! ```
//!
//! A call sends until all is sent or its deadline comes. It waits only when the window is shut, and looks at what the
//! radio reports when it must, or when it has not for 10 ms. It allocates nothing, takes no lock and makes no log.
//!
//! A call that carries a time puts it on each of its datagrams, counted on from the first. The radio heeds it where a
//! burst starts and ignores it inside one; so after an underflow, samples whose time has passed are dropped (`L`) and the
//! rest leaves at its time. Without a time, what follows an underflow leaves at once, that much too late.
//!
//! A radio that has run dry, and in two reports since has taken nothing of a whole window without a time, will take none
//! of it: it was lost on the way. It is given up and sending goes on; the radio tells the loss as `S`.

mod events;
mod window;

use std::sync::Arc;
use std::time::Duration;

use num_complex::Complex;
use takt_base::{Complex32, MonoNs, Tick, TickRate, Ticks};
use takt_packet::{Config, Counters, Engine, Limits, PortIndex, PortSpec, Wait};
use takt_wire::n200::rate::Direction;
use takt_wire::n200::registers::{TX_STREAM_ID, UPDATE_ENABLE, dsp, settings, tx_policy};
use takt_wire::n200::{MASTER_CLOCK_HZ, TX_BUFFER_BYTES, TxEvent as WireEvent, TxHead, TxReport, ports};
use takt_wire::sample::{ByteOrder, Format, sc8, sc16};

use self::events::Events;
use self::window::Window;
use super::claim::Claim;
use super::control::any;
use super::{CLOCK, N200, TxWish, exact_rate};
use crate::rx::checked_size;
use crate::{Burst, Net, RadioError, Role, TxEvent, TxEventKind, TxStream};

/// Reports a second the radio is asked for at least.
const REPORTS_PER_S: u32 = 20;
/// Reports the radio is asked for at least while its buffer is played once.
const REPORTS_PER_BUFFER: usize = 8;
/// How long reports may lie in the socket while the window is open.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Reports of a dry radio that has taken nothing after which all on its way counts as lost: 100 ms.
const DRY_REPORTS: u32 = 2;
const PORT: PortIndex = PortIndex(0);

/// What a transmit stream is asked to be. Start from [`TxOptions::new`] and change what matters.
#[derive(Clone, Debug, PartialEq)]
pub struct TxOptions {
    /// Samples per second; only what the radio takes exactly.
    pub rate_sps: f64,
    /// On the wire.
    pub format: Format,
    /// Samples in a datagram; `None` = as many as the frame holds.
    pub samples_per_datagram: Option<usize>,
    /// Hand the kernel several datagrams as one and let it split them (UDP GSO), where it can.
    pub aggregate: bool,
    /// Send buffer asked of the kernel, bytes; it may grant less.
    pub send_buffer_bytes: usize,
}

impl TxOptions {
    /// sc16, full datagrams, single ones, a send buffer for the whole window.
    #[must_use]
    pub fn new(rate_sps: f64) -> TxOptions {
        TxOptions {
            rate_sps,
            format: Format::Sc16,
            samples_per_datagram: None,
            aggregate: false,
            send_buffer_bytes: 4 << 20,
        }
    }
}

/// What a transmit stream has seen since it was made.
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

/// Samples going out to the transmit DSP of an N200.
pub struct TxStreamer {
    engine: Box<dyn Engine>,
    net: Arc<dyn Net>,
    claim: Arc<Claim>,
    window: Window,
    events: Events,
    format: Format,
    scale: f32,
    rate_sps: f64,
    ticks_per_sample: u64,
    samples_per_datagram: usize,
    /// A burst has begun and not ended.
    in_burst: bool,
    /// What was sent last carries a time, so the radio may rightly be waiting.
    timed: bool,
    /// The radio ran dry after the datagram of this number, and has since said so often that it has taken no other.
    dry: Option<(u32, u32)>,
    last_look: MonoNs,
    stats: TxStats,
}

impl N200 {
    /// Makes a transmit stream. What an earlier one left in the radio is dropped.
    ///
    /// # Errors
    /// `Transmit` for a radio that is not takt's own, unless it was opened with
    /// [`OpenOptions::transmit`](super::OpenOptions); `Rate` for a rate the radio does not take exactly; `Range` for datagram
    /// sizes it does not have; otherwise the radio does not answer or the port can't be had.
    pub fn tx_streamer(&mut self, options: &TxOptions) -> Result<TxStreamer, RadioError> {
        self.may_transmit(TxWish::default())?;
        let factor = exact_rate(options.rate_sps)?;
        let frame_bytes = self.frame_bytes.send;
        let most = (frame_bytes - TxHead::MAX_OVERHEAD_BYTES) / options.format.bytes();
        let samples_per_datagram = checked_size(options.samples_per_datagram, most)?;
        let scaling = factor.scaling(Direction::Tx, options.format);

        let config = Config {
            max_payload_bytes: frame_bytes,
            send_buffer_bytes: options.send_buffer_bytes,
            recv_buffer_bytes: 1 << 20,
            aggregate: options.aggregate,
            stamps: false,
            ..Config::new(vec![PortSpec { bind: any(self.addr), peer: Some((self.addr, ports::TX).into()) }])
        };
        let mut engine = self.net.open(Role::Stream, &config)?;
        super::announce(&mut *engine, 1, &*self.net)?;

        self.clear_tx()?;
        let window = (TX_BUFFER_BYTES / frame_bytes) as u32;
        let every = (TX_BUFFER_BYTES / REPORTS_PER_BUFFER / frame_bytes) as u32;
        self.fifo.poke(settings::TX_REPORT_STREAM_ID, TX_STREAM_ID)?;
        self.fifo.poke(settings::TX_POLICY, tx_policy::NEXT_PACKET)?;
        self.fifo.poke(settings::TX_CYCLES_PER_UPDATE, UPDATE_ENABLE | (MASTER_CLOCK_HZ / REPORTS_PER_S))?;
        self.fifo.poke(settings::TX_PACKETS_PER_UPDATE, UPDATE_ENABLE | every)?;
        self.fifo.poke(settings::TX_DSP + dsp::SCALE, scaling.word)?;
        self.fifo.poke(settings::TX_DSP + dsp::RATE, factor.rate_word(Direction::Tx).0)?;
        self.fifo.poke(settings::TX_FORMAT, u32::from(options.format == Format::Sc8))?;
        // Samples take another way than registers: they may leave only when the registers are known to be set.
        self.fifo.flush()?;
        self.tx_rate_sps = factor.rate_sps();
        Ok(TxStreamer {
            engine,
            net: Arc::clone(&self.net),
            claim: Arc::clone(&self.claim),
            window: Window::new(window),
            events: Events::new(),
            format: options.format,
            scale: scaling.host_factor as f32,
            rate_sps: factor.rate_sps(),
            ticks_per_sample: u64::from(factor.get()),
            samples_per_datagram,
            in_burst: false,
            timed: false,
            dry: None,
            last_look: self.net.now(),
            stats: TxStats::default(),
        })
    }
}

/// Samples of a call, floats or integers of the wire, and how they come into a datagram.
#[derive(Clone, Copy)]
struct Samples<'a, T, F> {
    samples: &'a [T],
    pack: F,
}

impl<T, F: Fn(&[T], &mut [u8]) -> usize> Samples<'_, T, F> {
    fn len(&self) -> usize {
        self.samples.len()
    }

    /// Converts samples `from` to `from + count` into `wire`.
    fn pack(&self, from: usize, count: usize, wire: &mut [u8]) {
        if let Some(samples) = self.samples.get(from..from + count) {
            (self.pack)(samples, wire);
        }
    }
}

impl TxStreamer {
    /// Sends integers of the wire as they are; full scale is [`TxStreamer::full_scale`].
    ///
    /// # Errors
    /// As [`TxStream::send`].
    pub fn send_integers(
        &mut self,
        samples: &[Complex<i16>],
        burst: Burst,
        until: MonoNs,
    ) -> Result<usize, RadioError> {
        let format = self.format;
        let pack = |samples: &[Complex<i16>], wire: &mut [u8]| match format {
            Format::Sc16 => sc16::pack_i16(samples, ByteOrder::Big, wire),
            Format::Sc8 => sc8::pack_i16(samples, wire),
        };
        self.transmit(&Samples { samples, pack }, burst, until)
    }

    /// The integer that is 1.0; depends on rate and format.
    #[must_use]
    pub fn full_scale(&self) -> f32 {
        self.scale
    }

    /// Samples in a full datagram.
    #[must_use]
    pub fn samples_per_datagram(&self) -> usize {
        self.samples_per_datagram
    }

    /// Datagrams the radio's buffer holds.
    #[must_use]
    pub fn window_datagrams(&self) -> u32 {
        self.window.size()
    }

    /// What was seen so far. Reports that wait in the socket are not in it; [`TxStream::event`] takes them in.
    #[must_use]
    pub fn stats(&self) -> TxStats {
        TxStats { forgotten_events: self.events.forgotten(), ..self.stats }
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

    fn transmit<T>(
        &mut self,
        samples: &Samples<'_, T, impl Fn(&[T], &mut [u8]) -> usize>,
        burst: Burst,
        until: MonoNs,
    ) -> Result<usize, RadioError> {
        let total = samples.len();
        let mut done = 0;
        let mut closed = !burst.ends;
        let start = self.net.now();
        self.claim.touch(start);
        if start - self.last_look >= LOOK_EVERY {
            self.look(Wait::Poll)?;
            self.last_look = start;
        }
        // An end without samples is one sample of silence, as UHD sends it; the radio knows no empty datagram.
        while done < total || !closed {
            let credit = self.window.credit() as usize;
            if credit == 0 {
                if !self.await_credit(until)? {
                    break;
                }
                continue;
            }
            let left = (total - done).div_ceil(self.samples_per_datagram).max(1);
            let sent = self.send_batch(samples, done, burst, left.min(credit), until)?;
            if sent.datagrams == 0 && self.net.now() >= until {
                self.claim.check()?;
                break;
            }
            done += sent.samples;
            closed |= sent.ended;
        }
        Ok(done)
    }

    /// Fills up to `datagrams` frames from sample `from` on and hands them to the kernel.
    fn send_batch<T>(
        &mut self,
        samples: &Samples<'_, T, impl Fn(&[T], &mut [u8]) -> usize>,
        from: usize,
        burst: Burst,
        datagrams: usize,
        until: MonoNs,
    ) -> Result<Sent, RadioError> {
        let size = self.samples_per_datagram;
        let left = samples.len() - from;
        let first = self.window.next();
        let was_in_burst = self.in_burst;
        let format = self.format;
        let mut batch = self.engine.reserve(datagrams);
        let room = batch.room();
        for n in 0..room {
            let offset = n * size;
            let count = size.min(left - offset);
            let ends = burst.ends && offset + count == left;
            let sequence = first.wrapping_add(n as u32);
            let ticks = (from + offset) as u64 * self.ticks_per_sample;
            let head = TxHead {
                sequence,
                count: sequence as u8 & 15,
                tick: burst.at.map(|at| at.0.saturating_add(ticks)),
                start_of_burst: n == 0 && !was_in_burst,
                end_of_burst: ends,
                odd: format == Format::Sc8 && count.max(1) % 2 == 1,
            };
            let pack = |wire: &mut [u8]| samples.pack(from + offset, count, wire);
            batch.push(PORT, None, |frame| fill(frame, &head, count, format, pack));
        }
        let sent = batch.send(Wait::Until(until))?;
        let taken = left.min(sent * size);
        let ended = burst.ends && taken == left && sent > 0 && sent == room;
        self.window.sent(sent as u32);
        self.stats.datagrams += sent as u64;
        self.stats.samples += taken as u64;
        if sent > 0 {
            self.in_burst = !ended;
            self.timed = burst.at.is_some();
        }
        Ok(Sent { datagrams: sent, samples: taken, ended })
    }

    /// Waits until the radio has taken something. `false`: the deadline came first.
    fn await_credit(&mut self, until: MonoNs) -> Result<bool, RadioError> {
        self.stats.waits += 1;
        loop {
            self.look(Wait::Until(until))?;
            let now = self.net.now();
            self.last_look = now;
            self.claim.touch(now);
            if self.window.credit() > 0 {
                return Ok(true);
            }
            if now >= until {
                self.claim.check()?;
                return Ok(false);
            }
        }
    }

    /// Takes in what the radio reports.
    fn look(&mut self, wait: Wait) -> Result<(), RadioError> {
        for datagram in self.engine.recv(wait)?.iter() {
            match TxReport::parse(datagram.bytes) {
                Ok(report) if report.stream_id == TX_STREAM_ID => {
                    // Every report carries the number of the last datagram taken, whatever it is about.
                    if !self.window.report(report.sequence) {
                        self.stats.foreign_reports += 1;
                    }
                    let kind = match report.event {
                        WireEvent::FlowControl => {
                            self.stats.flow_reports += 1;
                            self.dry = self.dry.filter(|dry| dry.0 == report.sequence).map(|(at, n)| (at, n + 1));
                            continue;
                        }
                        WireEvent::BurstAck => {
                            self.stats.burst_acks += 1;
                            TxEventKind::BurstAck
                        }
                        WireEvent::Underflow | WireEvent::UnderflowInPacket => {
                            self.stats.underflows += 1;
                            self.dry = Some((report.sequence, 0));
                            TxEventKind::Underflow
                        }
                        WireEvent::SequenceError | WireEvent::SequenceErrorInBurst => {
                            self.stats.sequence_errors += 1;
                            TxEventKind::SequenceError
                        }
                        WireEvent::TimeError => {
                            self.stats.late += 1;
                            TxEventKind::Late
                        }
                        WireEvent::Other(code) => {
                            self.stats.unknown_events += 1;
                            TxEventKind::Unknown(code)
                        }
                    };
                    let (tick, sequence) = (Tick(report.tick), report.sequence);
                    self.events.push(TxEvent { kind, channel: 0, tick, sequence });
                }
                _ => self.stats.foreign_reports += 1,
            }
        }
        self.see_to_dryness();
        Ok(())
    }

    /// Gives up a whole window that a dry radio does not take.
    fn see_to_dryness(&mut self) {
        let Some((at, reports)) = self.dry else { return };
        if reports >= DRY_REPORTS && self.window.credit() == 0 && !self.timed {
            self.stats.given_up_datagrams += u64::from(self.window.give_up());
            self.dry = Some((at, 0));
        }
    }
}

struct Sent {
    datagrams: usize,
    samples: usize,
    ended: bool,
}

/// Writes one datagram, whose `count` samples `pack` writes; returns its bytes. None makes one sample of silence.
fn fill(frame: &mut [u8], head: &TxHead, count: usize, format: Format, pack: impl FnOnce(&mut [u8])) -> usize {
    let at = head.payload_at();
    // Whole words: an odd sc8 sample is followed by silence, and so is a missing one.
    let payload_bytes = (count.max(1) * format.bytes()).next_multiple_of(4);
    let Some(payload) = frame.get_mut(at..at + payload_bytes) else { return 0 };
    if let Some(last) = payload.last_chunk_mut::<4>() {
        *last = [0; 4];
    }
    pack(payload);
    head.frame(payload_bytes, frame).unwrap_or(0)
}

impl TxStream for TxStreamer {
    fn send(&mut self, samples: &[&[Complex32]], burst: Burst, until: MonoNs) -> Result<usize, RadioError> {
        let &[samples] = samples else {
            return Err(RadioError::Channels { have: 1, got: samples.len() });
        };
        let (format, scale) = (self.format, self.scale);
        let pack = |samples: &[Complex32], wire: &mut [u8]| match format {
            Format::Sc16 => sc16::pack_f32(samples, ByteOrder::Big, scale, wire),
            Format::Sc8 => sc8::pack_f32(samples, scale, wire),
        };
        self.transmit(&Samples { samples, pack }, burst, until)
    }

    fn event(&mut self, until: MonoNs) -> Result<Option<TxEvent>, RadioError> {
        loop {
            if let Some(event) = self.events.pop() {
                return Ok(Some(event));
            }
            let now = self.net.now();
            self.claim.touch(now);
            if now >= until {
                self.look(Wait::Poll)?;
                self.claim.check()?;
                return Ok(self.events.pop());
            }
            self.look(Wait::Until(until))?;
        }
    }

    fn channels(&self) -> usize {
        1
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
