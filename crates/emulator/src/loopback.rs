//! A cable from the transmitter to the receivers of a radio.
//!
//! A sample sent for tick t is received at tick t with its amplitude, whatever the two rates. Its frequency follows
//! from the two tunings: 1 MHz in the baseband of a transmitter at 900 MHz is 0 Hz to a receiver at 901 MHz. Signals
//! outside the receiver's band are not there. Between bursts there is silence. A tuning holds from its tick on.
//!
//! | steps | grids | tuned | what is received |
//! | --- | --- | --- | --- |
//! | equal | alike | alike | the samples sent, bit for bit; nothing need be known of the future |
//! | any other case | | | the signal sent, band-limited to both sides, 0.002 dB and 80 dB as [`Resampler`] says |
//!
//! The filter reaches [`HALF_SPAN`] samples of the slower side into the future. [`Source::lookahead`] says so, and a device
//! that waits that long (its time stamps need not move) receives the exact signal. Before the first burst, or one unlike
//! the last, nobody can know that a filter will be needed: its ringing ahead of such a burst may be cut off.
//!
//! ```
//! use takt_base::{Complex32, Tick, TickRate};
//! use takt_emulator::loopback;
//! use takt_emulator::sink::{BurstEdges, Sink};
//! use takt_emulator::source::Source;
//!
//! let clock = TickRate::from_hz(100_000_000).unwrap();
//! let (mut sink, mut source) = loopback::pair(clock, loopback::CAPACITY);
//! let burst = [Complex32::new(0.5, 0.25); 3];
//! sink.take(Tick(1000), 4, &burst, BurstEdges { start: true, end: true });
//! let mut received = [Complex32::default(); 6];
//! source.fill(Tick(996), 4, &mut received);
//! assert_eq!(received[0], Complex32::default());
//! assert_eq!(received[1..4], burst);
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use takt_base::{Complex32, Tick, TickRate, Ticks};
use takt_dsp::{Grid, HALF_SPAN, MAX_STEP, Resampler};

use crate::sample_ring::{self, Run};
use crate::shared::{History, Piece};
use crate::source::Source;
use crate::timebase::Timebase;

pub use crate::sink::RingSink as LoopbackSink;

/// Samples between what was sent last and what is received next: 16 MiB, enough for the longest packet at any pair of
/// rates, and for packets handed over as they are queued.
pub const CAPACITY: usize = 1 << 21;

/// One transmitter, one receiver. `clock` is the one whose ticks both count; `capacity` in samples, rounded up to a power of
/// two.
#[must_use]
pub fn pair(clock: TickRate, capacity: usize) -> (LoopbackSink, LoopbackSource) {
    let (writer, reader) = sample_ring::ring(capacity);
    (LoopbackSink::new(writer, clock), LoopbackSource::new(clock, reader))
}

/// One transmitter, so many receivers.
#[must_use]
pub fn join(clock: TickRate, readers: usize) -> (LoopbackSink, Vec<LoopbackSource>) {
    let (sink, source) = pair(clock, CAPACITY);
    (sink, vec![source; readers])
}

/// A receiver's end. Clones receive the same, each at its own rate and tuning.
pub struct LoopbackSource {
    reader: sample_ring::Reader,
    resampler: Resampler,
    tunings: History<Tuning>,
    /// The oldest run that may still be received.
    run: u64,
    last: Tick,
    lost: Arc<AtomicU64>,
}

/// Samples as a transmitter sent them, one after the other.
#[derive(Debug, PartialEq)]
pub struct SentPiece<'a> {
    /// The tick of the first.
    pub first: Tick,
    /// Ticks from one to the next.
    pub step: u32,
    /// Frequency of their 0 Hz in the receiver's band, Hz.
    pub offset_hz: f64,
    /// Full scale 1.0; a copy, to be changed at will.
    pub samples: &'a mut [Complex32],
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Tuning {
    clock_hz: f64,
    centre_hz: f64,
}

impl Tuning {
    /// By how much the samples of a run are received higher than they were sent, in turns a tick.
    fn shift_turns(self, run: &Run) -> f64 {
        (run.centre_hz - self.centre_hz) / self.clock_hz
    }
}

impl LoopbackSource {
    fn new(clock: TickRate, reader: sample_ring::Reader) -> LoopbackSource {
        LoopbackSource {
            reader,
            resampler: Resampler::new(),
            tunings: History::new(Tuning { clock_hz: f64::from(clock.hz()), centre_hz: 0.0 }),
            run: 0,
            last: Tick(0),
            lost: Arc::default(),
        }
    }

    /// Counts samples that were overwritten before they were received, of this receiver and of its clones together.
    #[must_use]
    pub fn lost_samples(&self) -> Arc<AtomicU64> {
        self.lost.clone()
    }

    /// Hands over the samples as they were sent: of each run those from the first tick of its window to just before the second. A window
    /// is a function of the run's step, and its samples must be final. `from`: nothing earlier is asked for any more. `buffer` holds a
    /// piece. Ends at the first piece that is not taken; whether all were.
    ///
    /// Whoever places these samples into a band itself, one transform for many transmitters, gets there what [`Source::fill`] gives.
    pub fn sent(
        &mut self,
        from: Tick,
        window: &dyn Fn(u32) -> [Tick; 2],
        buffer: &mut [Complex32],
        take: &mut dyn FnMut(SentPiece<'_>) -> bool,
    ) -> bool {
        self.forget(from);
        for number in self.run..self.reader.runs() {
            let Some(run) = self.reader.run(number).filter(|run| is_legal(run.step)) else { continue };
            let [mut at, end] = window(run.step).map(|tick| before(&run, tick));
            while at < end {
                let length = usize::try_from(end - at).unwrap_or(usize::MAX).min(buffer.len());
                let first = run.first + Ticks(at * u64::from(run.step));
                let Piece { end: held, value, .. } = self.tunings.piece(first, run.step, 0, length);
                let Some(samples) = buffer.get_mut(..held.min(length)).filter(|samples| !samples.is_empty()) else {
                    return false;
                };
                let lost = self.reader.read(&run, at, samples);
                // Relaxed: a count, nothing is published by it.
                self.lost.fetch_add(lost as u64, Ordering::Relaxed);
                at += samples.len() as u64;
                let offset_hz = run.centre_hz - value.centre_hz;
                if !take(SentPiece { first, step: run.step, offset_hz, samples }) {
                    return false;
                }
            }
        }
        true
    }

    /// Steps over runs that have faded away at `first`.
    fn forget(&mut self, first: Tick) {
        let oldest = self.reader.oldest_run();
        // Backwards: only when something is read again.
        self.run = if first < self.last { oldest } else { self.run.max(oldest) };
        self.last = first;
        while self.run + 1 < self.reader.runs() {
            match self.reader.run(self.run) {
                Some(run) if run.end() + LONGEST_SPAN >= first => break,
                _ => self.run += 1,
            }
        }
    }

    /// Fills `out` as long as one tuning holds.
    fn receive(&mut self, first: Tick, step: u32, tuning: Tuning, out: &mut [Complex32]) {
        let last = first + Ticks(out.len() as u64 * u64::from(step));
        for number in self.run..self.reader.runs() {
            let Some(run) = self.reader.run(number).filter(|run| is_legal(run.step)) else { continue };
            if run.first >= last + LONGEST_SPAN {
                break;
            }
            let (reader, mut lost) = (&self.reader, 0);
            self.resampler.add(grid(&run), tuning.shift_turns(&run), first, step, out, |from, block| {
                lost += reader.read(&run, from, block) as u64;
            });
            if lost > 0 {
                // Relaxed: a count, nothing is published by it.
                self.lost.fetch_add(lost, Ordering::Relaxed);
            }
        }
    }
}

impl Clone for LoopbackSource {
    fn clone(&self) -> LoopbackSource {
        LoopbackSource {
            resampler: Resampler::new(),
            reader: self.reader.clone(),
            tunings: self.tunings.clone(),
            lost: self.lost.clone(),
            ..*self
        }
    }
}

impl Source for LoopbackSource {
    fn clocked(&mut self, from: Tick, base: Timebase) {
        let clock_hz = f64::from(base.rate().hz());
        self.tunings.set(from, Tuning { clock_hz, ..self.tunings.last() });
    }

    fn tuned(&mut self, from: Tick, centre_hz: f64) {
        self.tunings.set(from, Tuning { centre_hz, ..self.tunings.last() });
    }

    /// The longest of all tunings since then.
    fn lookahead(&self, first: Tick, step: u32) -> Ticks {
        let newest = self.reader.newest().filter(|run| is_legal(step) && is_legal(run.step));
        let Some(run) = newest else { return Ticks(0) };
        let shifts = self.tunings.since(first).map(|tuning| tuning.shift_turns(&run));
        let spans = shifts.map(|shift| Resampler::half_span(grid(&run), shift, first, step));
        spans.max().unwrap_or(Ticks(0))
    }

    fn fill(&mut self, first: Tick, step: u32, out: &mut [Complex32]) {
        out.fill(Complex32::default());
        self.forget(first);
        if !is_legal(step) {
            return;
        }
        let mut at = 0;
        while at < out.len() {
            let Piece { first, end, value } = self.tunings.piece(first, step, at, out.len());
            self.receive(first, step, value, &mut out[at..end]);
            at = end;
        }
    }
}

/// The furthest that any filter reaches.
const LONGEST_SPAN: Ticks = Ticks(HALF_SPAN as u64 * MAX_STEP as u64);

/// Samples of a run before a tick.
fn before(run: &Run, tick: Tick) -> u64 {
    tick.since(run.first).map_or(0, |passed| passed.0.div_ceil(u64::from(run.step))).min(run.len)
}

fn grid(run: &Run) -> Grid {
    Grid { first: run.first, step: run.step, len: run.len }
}

/// No radio has other steps, but a host may write anything to a register: nothing is received at those.
fn is_legal(step: u32) -> bool {
    (1..=MAX_STEP).contains(&step)
}
