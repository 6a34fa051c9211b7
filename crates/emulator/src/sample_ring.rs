//! A ring of samples with their ticks: one writer, any number of readers, none of whom ever waits.
//!
//! The writer never stops for a reader: what is too old is overwritten, and a reader that comes too late learns how much it
//! lost. Samples and the runs they form (first tick, step, centre frequency) live in atomics, so there is nothing unsafe
//! here; on a processor with strong ordering they cost as much as plain memory.
//!
//! ```text
//!   runs     ┌─ first 1000, step 4, 6 samples ─┐┌─ first 9000, step 10, open ...
//!   samples  a b c d e f                        g h i j ...            (ring, oldest overwritten)
//! ```
//!
//! A transmitter writes a packet when it begins to play it, which is before most of its samples leave. Until they have, they
//! may be written anew, from the sample on at which something changed. Samples that have left are **settled**: a reader that
//! can't come again, such as one that writes to a disk, takes no more than that. Receivers come when it is.
//!
//! Consistency is a sequence lock's: the writer announces what it is about to overwrite before it does, a reader looks at
//! that announcement after it has read. A run's length is stored after its samples.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64, fence};

use takt_base::{Complex32, Tick, Ticks};

use crate::timebase::Timebase;

/// Samples without a gap, one step apart, around one radio frequency.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Run {
    /// Number of its first sample among all ever written.
    pub(crate) start: u64,
    pub(crate) first: Tick,
    pub(crate) step: u32,
    /// The radio frequency at its 0 Hz.
    pub(crate) centre_hz: f64,
    pub(crate) len: u64,
    /// The clock that counts its ticks.
    pub(crate) mark: Mark,
    /// The burst has ended and no sample is added, in a ring that marks bursts.
    pub(crate) ended: bool,
}

/// Clock of the device at the start of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Time of the device minus its free-running counter, modulo 2^64, in a ring that marks bursts.
    pub(crate) offset: u64,
    pub(crate) clock: Timebase,
}

impl Default for Mark {
    /// That of a ring whose readers know the clock.
    fn default() -> Mark {
        Mark { offset: 0, clock: Timebase::new(1, 1, 0) }
    }
}

impl Run {
    /// The tick at which a further sample would stand.
    pub(crate) fn end(&self) -> Tick {
        self.first + Ticks(self.len.saturating_mul(u64::from(self.step)))
    }
}

/// Makes a tape for `capacity` samples, rounded up to a power of two, and [`RUNS`] runs.
pub(crate) fn ring(capacity: usize) -> (Writer, Reader) {
    let capacity = capacity.max(MOST_AT_ONCE * 2).next_power_of_two();
    let shared = Arc::new(Shared {
        samples: (0..capacity).map(|_| AtomicU64::new(0)).collect(),
        claimed: AtomicU64::new(0),
        settled: AtomicU64::new(0),
        runs: (0..RUNS).map(|_| Slot::default()).collect(),
        runs_claimed: AtomicU64::new(0),
        runs_written: AtomicU64::new(0),
        closed: AtomicBool::new(false),
    });
    let writer = Writer {
        shared: shared.clone(),
        current: Run::default(),
        mark: Mark::default(),
        open: false,
        runs: 0,
        next: 0,
        claimed: 0,
    };
    (writer, Reader { shared })
}

/// Runs that are remembered.
const RUNS: usize = 4096;

/// Samples written between two announcements.
const MOST_AT_ONCE: usize = 8192;

struct Shared {
    samples: Box<[AtomicU64]>,
    /// Samples below this number, less the capacity, may be gone.
    claimed: AtomicU64,
    /// Samples below this number stay as they are.
    settled: AtomicU64,
    runs: Box<[Slot]>,
    runs_claimed: AtomicU64,
    runs_written: AtomicU64,
    closed: AtomicBool,
}

#[derive(Default)]
struct Slot {
    start: AtomicU64,
    first: AtomicU64,
    step: AtomicU64,
    centre_hz: AtomicU64,
    len: AtomicU64,
    offset: AtomicU64,
    clock: [AtomicU64; 3],
    ended: AtomicBool,
}

impl Shared {
    fn slot(&self, run: u64) -> &Slot {
        &self.runs[run as usize % RUNS]
    }
}

/// The writing end; dropping it closes the tape.
pub(crate) struct Writer {
    shared: Arc<Shared>,
    current: Run,
    /// Mark of the runs to come.
    mark: Mark,
    /// Whether the current run may go on, or be taken back.
    open: bool,
    runs: u64,
    /// The number of the next sample, and of the one behind the furthest that was ever written.
    next: u64,
    claimed: u64,
}

impl Writer {
    /// Writes samples: to the current run if they go on from it, as a new run if not. Samples that were written for
    /// their ticks and later ones are replaced; earlier ones are settled.
    pub(crate) fn push(&mut self, first: Tick, step: u32, centre_hz: f64, samples: &[Complex32]) {
        self.end_at(first);
        self.shared.settled.store(self.next, Release);
        if samples.is_empty() {
            return;
        }
        let current = &self.current;
        let goes_on = self.open
            && (current.step, current.end(), current.mark) == (step, first, self.mark)
            && current.centre_hz.to_bits() == centre_hz.to_bits();
        if !goes_on {
            self.begin(Run { start: self.next, first, step, centre_hz, len: 0, mark: self.mark, ended: false });
        }
        for samples in samples.chunks(MOST_AT_ONCE) {
            self.store(samples);
        }
    }

    /// From `tick` on there is silence: takes back what was written beyond it.
    pub(crate) fn end_at(&mut self, tick: Tick) {
        if self.open && tick < self.current.end() {
            self.current.len = self.before(tick);
            self.next = self.current.start + self.current.len;
            self.shared.slot(self.runs - 1).len.store(self.current.len, Release);
        }
    }

    /// Nothing before `tick` is written any more.
    pub(crate) fn settle(&mut self, tick: Tick) {
        self.shared.settled.store(self.current.start + self.before(tick), Release);
    }

    /// Samples of the current run before a tick.
    fn before(&self, tick: Tick) -> u64 {
        let passed = tick - self.current.first;
        passed.0.div_ceil(u64::from(self.current.step.max(1))).min(self.current.len)
    }

    /// The next samples are another run, whatever they begin with.
    pub(crate) fn break_off(&mut self) {
        self.open = false;
    }

    /// Samples that are pushed from now on have another clock.
    pub(crate) fn mark(&mut self, mark: Mark) {
        self.mark = mark;
    }

    /// The samples that follow are another burst.
    pub(crate) fn begin_burst(&mut self, mark: Mark) {
        self.mark(mark);
        self.break_off();
    }

    /// To the current run no sample is added.
    pub(crate) fn end_burst(&mut self) {
        if self.open {
            self.shared.slot(self.runs - 1).ended.store(true, Release);
        }
    }

    /// Runs begun so far.
    pub(crate) fn runs(&self) -> u64 {
        self.runs
    }

    fn begin(&mut self, run: Run) {
        let slot = self.shared.slot(self.runs);
        self.shared.runs_claimed.store(self.runs + 1, Relaxed);
        fence(Release);
        slot.start.store(run.start, Relaxed);
        slot.first.store(run.first.0, Relaxed);
        slot.step.store(u64::from(run.step), Relaxed);
        slot.centre_hz.store(run.centre_hz.to_bits(), Relaxed);
        slot.len.store(0, Relaxed);
        slot.offset.store(run.mark.offset, Relaxed);
        for (part, value) in slot.clock.iter().zip(run.mark.clock.parts()) {
            part.store(value, Relaxed);
        }
        slot.ended.store(false, Relaxed);
        self.runs += 1;
        self.shared.runs_written.store(self.runs, Release);
        (self.current, self.open) = (run, true);
    }

    fn store(&mut self, samples: &[Complex32]) {
        let ring = &self.shared.samples;
        let at = self.next as usize & (ring.len() - 1);
        self.next += samples.len() as u64;
        // Samples that were taken back overwrote something, too.
        self.claimed = self.claimed.max(self.next);
        self.shared.claimed.store(self.claimed, Relaxed);
        fence(Release);
        let (before, after) = samples.split_at(samples.len().min(ring.len() - at));
        for (slots, samples) in [(&ring[at..], before), (&ring[..], after)] {
            for (slot, sample) in slots.iter().zip(samples) {
                slot.store(to_bits(*sample), Relaxed);
            }
        }
        self.current.len += samples.len() as u64;
        self.shared.slot(self.runs - 1).len.store(self.current.len, Release);
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.shared.closed.store(true, Release);
    }
}

#[derive(Clone)]
pub(crate) struct Reader {
    shared: Arc<Shared>,
}

impl Reader {
    pub(crate) fn runs(&self) -> u64 {
        self.shared.runs_written.load(Acquire)
    }

    /// The number of the first sample that may still change.
    pub(crate) fn settled(&self) -> u64 {
        self.shared.settled.load(Acquire)
    }

    /// The number of the oldest run still known.
    pub(crate) fn oldest_run(&self) -> u64 {
        self.shared.runs_claimed.load(Acquire).saturating_sub(RUNS as u64)
    }

    pub(crate) fn newest(&self) -> Option<Run> {
        self.run(self.runs().checked_sub(1)?)
    }

    /// A run by its number; `None` if it was not begun yet, or is forgotten.
    pub(crate) fn run(&self, number: u64) -> Option<Run> {
        if number >= self.runs() {
            return None;
        }
        let slot = self.shared.slot(number);
        // Read before its length, which it makes final.
        let ended = slot.ended.load(Acquire);
        let run = Run {
            start: slot.start.load(Relaxed),
            first: Tick(slot.first.load(Relaxed)),
            step: slot.step.load(Relaxed) as u32,
            centre_hz: f64::from_bits(slot.centre_hz.load(Relaxed)),
            len: slot.len.load(Acquire),
            mark: Mark {
                offset: slot.offset.load(Relaxed),
                clock: Timebase::of_parts([0, 1, 2].map(|part: usize| slot.clock[part].load(Relaxed))),
            },
            ended,
        };
        fence(Acquire);
        (number >= self.oldest_run()).then_some(run)
    }

    /// Reads samples of a run from its sample `from` on; all must have been there when the run was looked up. Those that
    /// were overwritten read 0; answers how many.
    pub(crate) fn read(&self, run: &Run, from: u64, out: &mut [Complex32]) -> usize {
        let ring = &self.shared.samples;
        let number = run.start + from;
        let at = number as usize & (ring.len() - 1);
        let (before, after) = {
            let len = out.len();
            out.split_at_mut(len.min(ring.len() - at))
        };
        for (slots, out) in [(&ring[at..], before), (&ring[..], after)] {
            for (slot, out) in slots.iter().zip(out) {
                *out = of_bits(slot.load(Relaxed));
            }
        }
        fence(Acquire);
        let kept_from = self.shared.claimed.load(Relaxed).saturating_sub(ring.len() as u64);
        let lost = (kept_from.saturating_sub(number)).min(out.len() as u64) as usize;
        out[..lost].fill(Complex32::default());
        lost
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.shared.closed.load(Acquire)
    }
}

fn to_bits(x: Complex32) -> u64 {
    u64::from(x.re.to_bits()) | u64::from(x.im.to_bits()) << 32
}

fn of_bits(bits: u64) -> Complex32 {
    Complex32::new(f32::from_bits(bits as u32), f32::from_bits((bits >> 32) as u32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ramp(from: u64, n: usize) -> Vec<Complex32> {
        (from..from + n as u64).map(|k| Complex32::new(k as f32, -(k as f32))).collect()
    }

    fn all(reader: &Reader, run: &Run) -> Vec<Complex32> {
        let mut out = vec![Complex32::default(); run.len as usize];
        assert_eq!(reader.read(run, 0, &mut out), 0);
        out
    }

    #[test]
    fn samples_that_follow_each_other_are_one_run() {
        let (mut writer, reader) = ring(100);
        writer.push(Tick(1000), 4, 1e9, &ramp(0, 3));
        writer.push(Tick(1012), 4, 1e9, &ramp(3, 2));
        writer.push(Tick(1020), 4, 2e9, &ramp(9, 1)); // tuned elsewhere
        writer.push(Tick(2000), 4, 2e9, &ramp(7, 1)); // a gap
        writer.push(Tick(2004), 5, 2e9, &ramp(8, 1)); // another rate
        assert_eq!(reader.runs(), 4);
        assert_eq!(all(&reader, &reader.run(0).unwrap()), ramp(0, 5));
        assert_eq!(all(&reader, &reader.run(2).unwrap()), ramp(7, 1));
        assert_eq!(reader.newest().unwrap().first, Tick(2004));
        assert_eq!(reader.run(4), None);
    }

    #[test]
    fn another_clock_begins_another_run_at_its_sample() {
        let (mut writer, reader) = ring(100);
        let [slow, fast] = [184_320_000, 200_000_000].map(|hz| Mark { offset: 0, clock: Timebase::new(hz, 1, -7) });
        writer.mark(slow);
        writer.push(Tick(1000), 4, 1e9, &ramp(0, 3));
        writer.mark(fast);
        writer.push(Tick(1008), 4, 1e9, &ramp(2, 2));
        let runs = [0, 1].map(|n| reader.run(n).unwrap());
        assert_eq!(runs.map(|run| (run.mark, run.len)), [(slow, 2), (fast, 2)]);
        assert_eq!(reader.runs(), 2);
    }

    #[test]
    fn what_was_not_played_in_the_end_is_taken_back() {
        let (mut writer, reader) = ring(100);
        writer.push(Tick(1000), 10, 0.0, &ramp(0, 10));
        writer.end_at(Tick(1031));
        assert_eq!(reader.newest().unwrap().len, 4);
        writer.push(Tick(1050), 10, 0.0, &ramp(50, 2));
        assert_eq!((reader.runs(), all(&reader, &reader.newest().unwrap())), (2, ramp(50, 2)));
        writer.end_at(Tick(5000));
        assert_eq!(reader.newest().unwrap().len, 2, "nothing to take back");
        writer.end_at(Tick(0));
        assert_eq!(reader.newest().unwrap().len, 0);
    }

    #[test]
    fn what_is_written_again_replaces_what_was_there_from_its_tick_on() {
        let (mut writer, reader) = ring(100);
        writer.push(Tick(1000), 10, 1e9, &ramp(0, 10));
        writer.push(Tick(1040), 10, 1e9, &ramp(70, 6)); // another gain
        assert_eq!((reader.runs(), reader.settled()), (1, 4));
        assert_eq!(all(&reader, &reader.run(0).unwrap()), [ramp(0, 4), ramp(70, 6)].concat());
        writer.push(Tick(1050), 10, 2e9, &ramp(80, 5)); // tuned elsewhere
        writer.push(Tick(1050), 10, 3e9, &ramp(90, 5)); // and again, at once
        writer.push(Tick(1070), 20, 3e9, &ramp(60, 3)); // another rate
        let runs: Vec<_> = (0..reader.runs()).map(|n| reader.run(n).unwrap()).collect();
        let shape: Vec<_> = runs.iter().map(|run| (run.start, run.first.0, run.step, run.centre_hz, run.len)).collect();
        let (first, third) = ((0, 1000, 10, 1e9, 5), (5, 1050, 10, 3e9, 2));
        assert_eq!(shape, [first, (5, 1050, 10, 2e9, 0), third, (7, 1070, 20, 3e9, 3)], "no sample has two places");
        assert_eq!(all(&reader, &runs[2]), ramp(90, 2));
        assert_eq!(all(&reader, &runs[3]), ramp(60, 3));
    }

    #[test]
    fn a_reader_knows_what_stays_as_it_is() {
        let (mut writer, reader) = ring(100);
        writer.push(Tick(1000), 10, 0.0, &ramp(0, 10));
        let mut settled = |tick| {
            writer.settle(Tick(tick));
            reader.settled()
        };
        assert_eq!([0, 1000, 1001, 1041, 1100, 9000].map(&mut settled), [0, 0, 1, 5, 10, 10]);
        writer.push(Tick(5000), 10, 0.0, &ramp(0, 3));
        assert_eq!(reader.settled(), 10);
        writer.push(Tick(5020), 10, 0.0, &[]);
        assert_eq!((reader.settled(), reader.newest().unwrap().len), (12, 2));
    }

    #[test]
    fn what_was_overwritten_stays_lost_when_the_writer_goes_back() {
        let (mut writer, reader) = ring(1 << 14);
        writer.push(Tick(0), 1, 0.0, &ramp(0, 20_000));
        writer.end_at(Tick(18_000));
        let run = reader.newest().unwrap();
        let mut out = vec![Complex32::default(); 1000];
        assert_eq!(reader.read(&run, 3000, &mut out), 20_000 - (1 << 14) - 3000);
        assert_eq!(reader.read(&run, 17_000, &mut out), 0);
        assert_eq!(out, ramp(17_000, 1000));
    }

    #[test]
    fn a_reader_that_comes_too_late_learns_what_it_lost() {
        let (mut writer, reader) = ring(1 << 14);
        writer.push(Tick(0), 1, 0.0, &ramp(0, 20_000));
        let run = reader.newest().unwrap();
        let mut out = vec![Complex32::new(9.0, 9.0); 5000];
        assert_eq!(reader.read(&run, 0, &mut out), 20_000 - (1 << 14));
        assert_eq!((out[3615], out[3616]), (Complex32::default(), ramp(3616, 1)[0]));
        assert_eq!(reader.read(&run, 15_000, &mut out), 0);
        assert_eq!(out, ramp(15_000, 5000));
    }

    #[test]
    fn forgotten_runs_are_none() {
        let (mut writer, reader) = ring(1 << 14);
        for k in 0..RUNS as u64 + 10 {
            writer.push(Tick(k * 100), 4, 0.0, &ramp(k, 1));
        }
        assert_eq!((reader.run(9), reader.oldest_run()), (None, 10));
        assert_eq!(reader.run(10).unwrap().first, Tick(1000));
    }

    #[test]
    fn dropping_the_writer_closes_the_tape() {
        let (writer, reader) = ring(1);
        assert!(!reader.is_closed());
        drop(writer);
        assert!(reader.is_closed());
    }

    #[test]
    fn a_reader_beside_a_fast_writer_sees_a_sample_or_knows_it_is_lost() {
        const CHECKS: u64 = 300;
        let (mut writer, reader) = ring(1 << 14);
        let enough = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&enough);
        let writing = std::thread::spawn(move || {
            // Written as long as it is read.
            for block in (0u64..).take_while(|_| !ended.load(Relaxed)) {
                writer.push(Tick(block * 1000), 1, 0.0, &ramp(block * 1000, 1000));
            }
        });
        let mut out = vec![Complex32::default(); 3000];
        let mut observed = 1 << 14;
        for _ in 0..CHECKS {
            // The oldest that are there, which the next block overwrites.
            let run = takt_testing::wait_for("more", || reader.newest().filter(|run| run.len > observed));
            observed = run.len;
            let from = run.len - (1 << 14);
            let lost = reader.read(&run, from, &mut out);
            assert!(out[..lost].iter().all(|x| *x == Complex32::default()));
            assert!(out[lost..] == ramp(from + lost as u64, 3000 - lost)[..], "torn at {from}");
        }
        enough.store(true, Relaxed);
        writing.join().unwrap();
    }

    proptest! {
        #[test]
        fn any_pieces_read_as_what_was_pushed(lens in prop::collection::vec(0usize..3000, 1..8), from in 0usize..1000, n in 0usize..1000) {
            let (mut writer, reader) = ring(1 << 15);
            let mut tick = 77;
            for len in &lens {
                writer.push(Tick(tick), 3, 5.0, &ramp(tick, *len));
                tick += *len as u64 * 3;
            }
            let total: usize = lens.iter().sum();
            prop_assume!(total >= from + n);
            let mut whole = vec![];
            let mut tick = 77;
            for len in &lens {
                whole.extend(ramp(tick, *len));
                tick += *len as u64 * 3;
            }
            let mut out = vec![Complex32::default(); n];
            if let Some(run) = reader.newest() {
                prop_assert_eq!(reader.read(&run, from as u64, &mut out), 0);
            }
            prop_assert_eq!(&out[..], &whole[from..from + n]);
        }
    }
}
