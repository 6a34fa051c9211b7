//! A file too large for memory: a thread of normal priority reads it ahead into a bounded queue.
//!
//! The device takes what is there. Samples that are not there in time are silence, counted. Time goes on in the file
//! regardless, and the thread catches up by leaving out what is already over.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use takt_base::{Complex32, Tick};
use takt_dsp::file::FileError;

use super::samples::Samples;
use crate::sample_ring;

/// Samples in the queue: 32 MiB. A block of the longest kind (4500 samples at the slowest rate) takes a quarter of it.
const CAPACITY: usize = 1 << 22;

/// Samples among these that may be behind what the device reads next; the rest is ahead.
const BEHIND: u64 = CAPACITY as u64 / 2;

const BLOCK: usize = 1 << 15;

/// How often the thread looks whether there is room.
const PAUSE: Duration = Duration::from_millis(1);

#[derive(Default)]
pub(crate) struct Shared {
    /// The lowest sample the device requested last.
    wanted: AtomicU64,
    stop: AtomicBool,
    /// Samples that were not there in time.
    pub(crate) starved: AtomicU64,
    pub(crate) error: OnceLock<FileError>,
}

pub(crate) struct ReadAhead {
    reader: sample_ring::Reader,
    pub(super) samples: u64,
    pub(super) repeat: bool,
    pub(crate) shared: Arc<Shared>,
}

impl ReadAhead {
    /// Starts reading; returns when the first samples are there.
    pub(crate) fn start(file: impl Samples + 'static, repeat: bool) -> std::io::Result<ReadAhead> {
        let (ahead, filler) = ReadAhead::with_filler(Box::new(file), repeat);
        thread::Builder::new().name("read ahead".to_owned()).spawn(move || filler.run())?;
        Ok(ahead)
    }

    /// Both sides, the first samples read.
    fn with_filler(file: Box<dyn Samples>, repeat: bool) -> (ReadAhead, Filler) {
        let (writer, reader) = sample_ring::ring(CAPACITY);
        let shared = Arc::new(Shared::default());
        let samples = file.samples();
        let mut filler =
            Filler { file, writer, shared: shared.clone(), repeat, next: 0, block: vec![Complex32::default(); BLOCK] };
        filler.top_up();
        (ReadAhead { reader, shared, samples, repeat }, filler)
    }

    pub(crate) fn read(&mut self, index: u64, out: &mut [Complex32]) {
        self.shared.wanted.store(index, Relaxed);
        out.fill(Complex32::default());
        let end = if self.repeat { u64::MAX } else { self.samples };
        let due = (end.saturating_sub(index)).min(out.len() as u64);
        let mut there = 0;
        // After a jump the samples may lie in the newest run, or still in the one before.
        let runs = self.reader.runs();
        for run in (runs.saturating_sub(2)..runs).filter_map(|number| self.reader.run(number)) {
            let from = index.max(run.first.0);
            let until = (index + due).min(run.end().0);
            if from < until {
                let part = &mut out[(from - index) as usize..(until - index) as usize];
                let lost = self.reader.read(&run, from - run.first.0, part);
                there += (part.len() - lost) as u64;
            }
        }
        if there < due {
            self.shared.starved.fetch_add(due - there, Relaxed);
        }
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        self.shared.stop.store(true, Relaxed);
    }
}

struct Filler {
    file: Box<dyn Samples>,
    writer: sample_ring::Writer,
    shared: Arc<Shared>,
    repeat: bool,
    /// The sample that is read next, of the endless file if it repeats.
    next: u64,
    block: Vec<Complex32>,
}

impl Filler {
    fn run(mut self) {
        while !self.shared.stop.load(Relaxed) && self.shared.error.get().is_none() {
            self.top_up();
            thread::park_timeout(PAUSE);
        }
    }

    /// Reads until the queue is full, the file over, or something wrong.
    fn top_up(&mut self) {
        while !self.shared.stop.load(Relaxed) {
            let wanted = self.shared.wanted.load(Relaxed);
            self.next = self.next.max(wanted);
            if self.next + BLOCK as u64 > wanted + (CAPACITY as u64 - BEHIND) {
                return;
            }
            match self.step() {
                Ok(0) => return,
                Ok(_) => {}
                Err(error) => {
                    tracing::error!(%error, cause = ?std::error::Error::source(&error).map(ToString::to_string), "file source ends");
                    let _ = self.shared.error.set(error);
                    return;
                }
            }
        }
    }

    fn step(&mut self) -> Result<usize, FileError> {
        let samples = self.file.samples();
        let place = if self.repeat && samples > 0 { self.next % samples } else { self.next };
        if self.file.position() != place {
            self.file.seek(place)?;
        }
        let read = self.file.read(&mut self.block)?;
        self.writer.push(Tick(self.next), 1, 0.0, &self.block[..read]);
        self.next += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use takt_dsp::file::{Existing, SampleFormat, SampleReader, SampleWriter};

    /// Sample k of the file: I = its lower, Q = its upper bits.
    fn sample(k: u64) -> Complex32 {
        Complex32::new((k % 1000) as f32, (k / 1000) as f32)
    }

    fn file(dir: &tempfile::TempDir, samples: u64) -> SampleReader {
        let path = dir.path().join("x.fc32");
        let mut writer = SampleWriter::create(&path, SampleFormat::Fc32, Existing::Keep).unwrap();
        for from in (0..samples).step_by(1 << 16) {
            let block: Vec<_> = (from..samples.min(from + (1 << 16))).map(sample).collect();
            writer.write(&block).unwrap();
        }
        SampleReader::open(&path, SampleFormat::Fc32).unwrap()
    }

    /// Waits, as a test may and a device may not, until a sample is in the queue.
    fn await_sample(ahead: &ReadAhead, index: u64) {
        let there = || ahead.reader.newest().is_some_and(|run| run.first.0 <= index && index < run.end().0);
        takt_testing::wait_for("a sample", || there().then_some(()));
    }

    #[test]
    fn a_file_larger_than_the_queue_is_read_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let samples = 3 * CAPACITY as u64 / 2;
        let mut ahead = ReadAhead::start(file(&dir, samples), false).unwrap();
        let mut out = vec![Complex32::default(); 100_000];
        for from in (0..samples).step_by(out.len()) {
            await_sample(&ahead, (from + out.len() as u64).min(samples) - 1);
            ahead.read(from, &mut out);
            for (k, x) in out.iter().enumerate().step_by(997) {
                let k = from + k as u64;
                assert_eq!(*x, if k < samples { sample(k) } else { Complex32::default() }, "{k}");
            }
        }
        assert_eq!(ahead.shared.starved.load(Relaxed), 0, "the end of a file is no starvation");
    }

    #[test]
    fn a_file_that_repeats_goes_on_at_its_beginning() {
        let dir = tempfile::tempdir().unwrap();
        let mut ahead = ReadAhead::start(file(&dir, 5000), true).unwrap();
        let mut out = vec![Complex32::default(); 12_000];
        await_sample(&ahead, 12_000);
        ahead.read(0, &mut out);
        assert!(out.iter().enumerate().all(|(k, x)| *x == sample(k as u64 % 5000)));
    }

    #[test]
    fn what_is_not_there_in_time_is_silence_and_counted_and_the_file_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let (mut ahead, mut filler) = ReadAhead::with_filler(Box::new(file(&dir, 2 * CAPACITY as u64)), false);
        let mut out = vec![Complex32::new(9.0, 9.0); 1000];
        let far = 3 * CAPACITY as u64 / 2;
        ahead.read(far, &mut out);
        assert_eq!(out, vec![Complex32::default(); 1000]);
        assert_eq!(ahead.shared.starved.load(Relaxed), 1000);
        filler.top_up();
        ahead.read(far + 4000, &mut out);
        assert!(out.iter().enumerate().all(|(k, x)| *x == sample(far + 4000 + k as u64)));
        assert_eq!(ahead.shared.starved.load(Relaxed), 1000);
    }

    #[test]
    fn a_file_that_shrinks_ends_the_thread_with_a_reason() {
        let dir = tempfile::tempdir().unwrap();
        let reader = file(&dir, CAPACITY as u64);
        std::fs::OpenOptions::new().write(true).open(reader.path()).unwrap().set_len(8000).unwrap();
        let mut ahead = ReadAhead::start(reader, false).unwrap();
        let mut out = vec![Complex32::default(); 2000];
        ahead.read(0, &mut out);
        assert!(ahead.shared.error.get().is_some_and(|e| e.to_string().starts_with("reading ")));
        assert!(ahead.shared.starved.load(Relaxed) > 0);
    }
}
