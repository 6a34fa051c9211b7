//! A sink that is written to disk by a thread of normal priority, behind a bounded queue.
//!
//! Samples that may still change are not written: a packet is there before its samples leave, and may be retuned while it plays.
//! The device never waits. If the disk is slower than the signal for longer than the queue is long (16 MiB: 84 ms at 25
//! MS/s), the oldest samples are dropped, counted, and the recording shows a gap. If the disk refuses, full for one, that is
//! reported once, what was written stays readable, and all that follows counts as dropped.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use takt_base::{Complex32, Ticks};
use takt_dsp::file::FileError;

use super::begin::Begin;
use super::counts::{Counts, PAUSE};
use super::memory::Memory;
use super::output::Output;
use super::ring::RingSink;
use super::{Setting, Spec};
use crate::sample_ring::{self, Run};

const CAPACITY: usize = 1 << 21;

const BLOCK: usize = 1 << 14;

/// How often metadata are brought up to date.
const CHECKPOINT: Duration = Duration::from_secs(1);

/// The thread, as its owner sees it. Dropping it finishes the recording: nobody finds half a file where a recording was.
pub(crate) struct Recording {
    pub(crate) counts: Arc<Counts>,
    /// `None` once it has ended.
    thread: Option<JoinHandle<()>>,
}

impl Recording {
    /// Waits until everything taken so far is in the file, and the file complete.
    pub(crate) fn finish(mut self) -> Arc<Counts> {
        self.end();
        self.counts.clone()
    }

    fn end(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        // Whoever sees it finds what was taken before: on processors with weaker order than x86 that takes saying so.
        self.counts.finish.store(true, Release);
        thread.thread().unpark();
        // A panic there has been reported by then; the counts hold in any case.
        let _ = thread.join();
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.end();
    }
}

/// Creates the file and starts the thread; `None` for a sink that records nothing.
pub(crate) fn start(spec: &Spec, setting: &Setting) -> Result<Option<(RingSink, io::Result<Recording>)>, FileError> {
    let Some(output) = Output::create(spec, setting)? else { return Ok(None) };
    let (writer, reader) = sample_ring::ring(CAPACITY);
    Ok(Some((RingSink::new(writer, setting.clock), spawn(Scribe::new(reader, output, Arc::default())))))
}

/// Starts a thread that keeps what was sent in memory, at most so many samples.
pub(crate) fn remember(setting: &Setting, most_samples: u64) -> io::Result<(RingSink, Recording, Memory)> {
    let (writer, reader) = sample_ring::ring(CAPACITY);
    let counts = Arc::<Counts>::default();
    let memory = Memory::new(counts.clone(), most_samples);
    let recording = spawn(Scribe::new(reader, Output::Memory(memory.clone()), counts))?;
    Ok((RingSink::marking_bursts(writer, setting.clock), recording, memory))
}

fn spawn(scribe: Scribe) -> io::Result<Recording> {
    let counts = scribe.counts.clone();
    let thread = thread::Builder::new().name("recorder".to_owned()).spawn(move || scribe.work())?;
    Ok(Recording { counts, thread: Some(thread) })
}

struct Scribe {
    reader: sample_ring::Reader,
    /// `None` after an error.
    output: Option<Output>,
    counts: Arc<Counts>,
    /// The run being written, and how many of its samples are dealt with.
    run: u64,
    done: u64,
    /// Number of the next among all samples: one that is skipped was dropped.
    position: u64,
    /// The run that the output knows, by where it goes on.
    open: Option<(u64, u64)>,
}

impl Drop for Scribe {
    /// Nothing is added any more: nobody need wait for it.
    fn drop(&mut self) {
        self.counts.answered.store(u64::MAX, Release);
    }
}

impl Scribe {
    fn new(reader: sample_ring::Reader, output: Output, counts: Arc<Counts>) -> Scribe {
        Scribe { reader, output: Some(output), counts, run: 0, done: 0, position: 0, open: None }
    }

    fn work(mut self) {
        let mut block = vec![Complex32::default(); BLOCK];
        let (mut checked, mut fresh) = (Instant::now(), false);
        loop {
            let asked = self.counts.asked.load(Acquire);
            // Read before looking: what was taken before the end is still found after it.
            let last = self.reader.is_closed() || self.counts.finish.load(Acquire);
            while self.write_some(&mut block, last) {
                fresh = true;
            }
            self.counts.answered.store(asked, Release);
            if fresh && (last || checked.elapsed() >= CHECKPOINT) {
                self.attempt(Output::checkpoint);
                (checked, fresh) = (Instant::now(), false);
            }
            if last {
                return;
            }
            thread::park_timeout(PAUSE);
        }
    }

    /// Writes at most a block; whether there was anything to do. At the end nothing changes any more.
    fn write_some(&mut self, block: &mut [Complex32], last: bool) -> bool {
        // Read before the runs: what is settled is in these.
        let settled = if last { u64::MAX } else { self.reader.settled() };
        let runs = self.reader.runs();
        if self.run >= runs {
            return false;
        }
        let Some(run) = self.reader.run(self.run) else {
            // Forgotten: 4096 runs have been begun since.
            (self.run, self.done) = (self.reader.oldest_run().max(self.run + 1), 0);
            return true;
        };
        if self.done == 0 {
            // Samples between two runs: of runs that were forgotten.
            self.drop_samples(run.start.saturating_sub(self.position));
            self.position = self.position.max(run.start);
        }
        if run.len <= self.done {
            // A run is complete when there is a later one, looked for before its length was.
            let complete = self.run + 1 < runs;
            if (complete || run.ended || last) && self.open.is_some_and(|(open, _)| open == self.run) {
                self.output.iter_mut().for_each(Output::end);
            }
            (self.run, self.done) = if complete { (self.run + 1, 0) } else { (self.run, self.done) };
            return complete;
        }
        let stays = settled.saturating_sub(run.start).saturating_sub(self.done);
        let here = (run.len - self.done).min(stays).min(block.len() as u64) as usize;
        if here == 0 {
            return false;
        }
        let block = &mut block[..here];
        let lost = self.reader.read(&run, self.done, block);
        self.drop_samples(lost as u64);
        self.write(&run, self.done + lost as u64, &block[lost..]);
        self.done += here as u64;
        self.position += here as u64;
        true
    }

    fn write(&mut self, run: &Run, from: u64, samples: &[Complex32]) {
        if samples.is_empty() {
            return;
        }
        if self.open != Some((self.run, from)) {
            let tick = run.first + Ticks(from * u64::from(run.step));
            self.attempt(|output| {
                output.begin(Begin { tick, step: run.step, centre_hz: run.centre_hz, mark: run.mark })
            });
        }
        self.open = Some((self.run, from + samples.len() as u64));
        let written = self.attempt(|output| output.write(samples));
        let count = if written { &self.counts.samples } else { &self.counts.dropped };
        count.fetch_add(samples.len() as u64, Relaxed);
    }

    fn drop_samples(&self, samples: u64) {
        self.counts.dropped.fetch_add(samples, Relaxed);
    }

    /// Does something with the output, unless it is given up; gives it up if that fails.
    fn attempt(&mut self, action: impl FnOnce(&mut Output) -> Result<(), FileError>) -> bool {
        let Some(output) = &mut self.output else { return false };
        let result = action(output);
        self.counts.clipped.store(output.clipped(), Relaxed);
        self.counts.files.store(output.files(), Relaxed);
        let Err(error) = result else { return true };
        tracing::error!(%error, cause = ?std::error::Error::source(&error).map(ToString::to_string), fix = error.fix(), "recording ends");
        let _ = self.counts.error.set(error);
        self.output = None;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::{BurstEdges, Sink};
    use crate::timebase::Timebase;
    use takt_base::{Tick, TickRate};
    use takt_dsp::sigmf::Reader;

    /// A recorder whose thread is not running yet.
    fn idle(spec: &Spec, capacity: usize) -> (RingSink, Scribe, Arc<Counts>) {
        let clock = TickRate::from_hz(100_000_000).unwrap();
        let setting = Setting { clock, hw: "N200".to_owned(), utc_at_tick_0_ns: Some(0) };
        let (writer, reader) = sample_ring::ring(capacity);
        let counts = Arc::new(Counts::default());
        let output = Output::create(spec, &setting).unwrap();
        let scribe = Scribe::new(reader, output.unwrap(), counts.clone());
        (RingSink::new(writer, clock), scribe, counts)
    }

    fn burst(recorder: &mut RingSink, first: u64, step: u32, n: usize) {
        let samples: Vec<_> = (0..n).map(|k| Complex32::new((k % 1024) as f32 / 1024.0, 0.0)).collect();
        recorder.take(Tick(first), step, &samples, BurstEdges { start: true, end: true });
    }

    #[test]
    fn what_a_slow_disk_misses_is_dropped_counted_and_a_gap_in_the_recording() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let spec = Spec::Sigmf { path: path.clone(), format: takt_dsp::file::SampleFormat::Sc16 };
        let (mut recorder, scribe, counts) = idle(&spec, 1 << 14);
        burst(&mut recorder, 1000, 4, 20_000);
        drop(recorder);
        scribe.work();
        let dropped = 20_000 - (1 << 14);
        assert_eq!(counts.dropped.load(Relaxed), dropped);
        assert_eq!(counts.samples.load(Relaxed), 1 << 14);
        let recording = Reader::open(&path).unwrap();
        assert_eq!(recording.metadata().captures.len(), 1);
        assert_eq!(recording.metadata().captures[0].other.get("takt:tick"), Some((1000 + 4 * dropped).into()));
    }

    #[test]
    fn what_may_still_change_is_not_written_and_a_change_begins_at_its_sample() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let spec = Spec::Sigmf { path: path.clone(), format: takt_dsp::file::SampleFormat::Fc32 };
        let (mut recorder, mut scribe, counts) = idle(&spec, 1 << 14);
        let mut block = vec![Complex32::default(); BLOCK];
        let mut written = |scribe: &mut Scribe| {
            while scribe.write_some(&mut block, false) {}
            counts.samples.load(Relaxed)
        };
        let packet = [Complex32::new(0.5, 0.0); 100];
        recorder.tuned(Tick(1000), 900e6);
        recorder.take(Tick(1000), 10, &packet, BurstEdges { start: true, end: false });
        assert_eq!(written(&mut scribe), 0, "nothing has left");
        // While it plays it is made louder, and retuned.
        recorder.take(Tick(1200), 10, &[Complex32::new(1.0, 0.0); 80], BurstEdges::default());
        assert_eq!(written(&mut scribe), 20);
        recorder.tuned(Tick(1403), 901e6);
        recorder.take(Tick(1410), 10, &[Complex32::new(1.0, 0.0); 59], BurstEdges::default());
        recorder.passed(Tick(1900));
        assert_eq!(written(&mut scribe), 90);
        drop(recorder);
        scribe.work();
        assert_eq!((counts.samples.load(Relaxed), counts.dropped.load(Relaxed)), (100, 0));
        let mut recording = Reader::open(&path).unwrap();
        let captures = recording.metadata().captures.iter().map(|c| (c.sample_start, c.frequency_hz));
        assert_eq!(captures.collect::<Vec<_>>(), [(0, Some(900e6)), (41, Some(901e6))]);
        let mut samples = vec![Complex32::default(); 100];
        recording.read(&mut samples).unwrap();
        assert!(samples.iter().enumerate().all(|(n, x)| x.re == if n < 20 { 0.5 } else { 1.0 }));
    }

    /// Tools read the rate of a whole recording, so it must be that of each of its samples.
    #[test]
    fn another_master_clock_begins_a_recording_with_its_rate() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let spec = Spec::Sigmf { path: path.clone(), format: takt_dsp::file::SampleFormat::Sc16 };
        let (mut recorder, scribe, counts) = idle(&spec, 1 << 14);
        // Before its first sample the host chooses 184.32 MHz, and later 200 MHz: two seconds after the radio's start.
        recorder.clocked(Tick(40_000_000), Timebase::new(184_320_000, 1, 0));
        burst(&mut recorder, 184_320_000, 6, 100);
        recorder.clocked(Tick(368_640_000), Timebase::new(200_000_000, 1, -31_360_000));
        burst(&mut recorder, 368_640_000, 8, 50);
        drop(recorder);
        scribe.work();
        assert_eq!(counts.files.load(Relaxed), 2);
        let stated = [path.clone(), dir.path().join("x-2")].map(|path| {
            let metadata = Reader::open(&path).unwrap().metadata().clone();
            let when = metadata.captures[0].datetime.clone().unwrap();
            (metadata.global.sample_rate_sps, metadata.global.other.get("takt:clock_hz"), when)
        });
        let [first, second] = ["1970-01-01T00:00:01.000000000Z", "1970-01-01T00:00:02.000000000Z"].map(String::from);
        assert_eq!(stated[0], (Some(30.72e6), Some(184_320_000.into()), first));
        assert_eq!(stated[1], (Some(25e6), Some(200_000_000.into()), second));
    }

    #[test]
    fn bursts_that_were_forgotten_are_counted_to_the_sample() {
        let dir = tempfile::tempdir().unwrap();
        let spec = Spec::File { path: dir.path().join("x.sc16"), format: takt_dsp::file::SampleFormat::Sc16 };
        let (mut recorder, scribe, counts) = idle(&spec, 1 << 16);
        for k in 0..5000 {
            burst(&mut recorder, k * 1000, 4, 3);
        }
        drop(recorder);
        scribe.work();
        assert_eq!(counts.samples.load(Relaxed) + counts.dropped.load(Relaxed), 15_000);
        assert_eq!(counts.samples.load(Relaxed), 3 * 4096);
    }

    #[test]
    fn a_disk_that_refuses_is_reported_once_and_all_that_follows_is_dropped() {
        let spec = Spec::File { path: "/dev/full".into(), format: takt_dsp::file::SampleFormat::Sc16 };
        let (mut recorder, scribe, counts) = idle(&spec, 1 << 16);
        burst(&mut recorder, 0, 4, 50_000);
        burst(&mut recorder, 1_000_000, 4, 10_000);
        drop(recorder);
        scribe.work();
        let error = counts.error.get().unwrap();
        assert!(error.fix().starts_with("free space"), "{error}");
        assert_eq!((counts.samples.load(Relaxed), counts.dropped.load(Relaxed)), (0, 60_000));
    }
}
