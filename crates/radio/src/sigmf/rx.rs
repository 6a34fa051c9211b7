//! A recording as a receive stream: as fast as the caller reads, gaps and all.

use std::path::Path;

use takt_base::{Complex32, MonoNs, Tick, TickRate, Ticks};
use takt_dsp::file::FileError;
use takt_dsp::sigmf::Reader;

use super::{origin, recorded_grid, tick_of};
use crate::{RadioError, Received, RxEvent, RxStream};

/// The first channel of a recording as a receive stream, from its first capture on. It waits for nothing; its end is
/// [`RxEvent::EndOfBurst`], after which calls bring nothing.
#[derive(Debug)]
pub struct SigmfRx {
    reader: Reader,
    rate_sps: f64,
    clock: TickRate,
    step: Ticks,
    origin: Tick,
    /// The next sample, by its place in the file.
    read: u64,
    at: Tick,
    ended: bool,
}

impl SigmfRx {
    /// Opens a recording by either of its files, or their common name.
    ///
    /// # Errors
    /// `File` as [`Reader::open`], or if it does not say its sample rate.
    pub fn open(path: &Path) -> Result<SigmfRx, RadioError> {
        let mut reader = Reader::open(path)?;
        let begins = reader.begins();
        reader.seek(begins);
        let rate_sps = reader.metadata().global.sample_rate_sps;
        let first = reader.metadata().captures.first();
        let Some((rate_sps, (clock, step))) = rate_sps.and_then(|rate| Some((rate, recorded_grid(first, rate)?)))
        else {
            return Err(RadioError::File(FileError::Unexpected {
                path: path.to_owned(),
                place: "/global/core:sample_rate".to_owned(),
                found: rate_sps.map_or("missing".to_owned(), |rate| rate.to_string()),
                expected: "a whole number of samples a second, or a rate of the radio".to_owned(),
                fix: "write the rate into the metadata file".to_owned(),
            }));
        };
        let origin = first.map_or(Tick(0), |first| origin(first, step));
        let at = reader.capture_at(begins).map_or(origin, |capture| tick_of(capture, origin, step));
        Ok(SigmfRx { reader, rate_sps, clock, step, origin, read: begins, at, ended: false })
    }

    /// The recording's own metadata.
    #[must_use]
    pub fn metadata(&self) -> &takt_dsp::sigmf::Metadata {
        self.reader.metadata()
    }

    /// Samples until the capture ends that the next sample belongs to, and where the one after it begins.
    fn run(&self) -> (u64, Option<Tick>) {
        let global = &self.reader.metadata().global;
        let index = self.read + global.offset;
        let next = self.reader.metadata().captures.iter().find(|capture| capture.sample_start > index);
        let end = next.map_or(self.reader.samples(), |next| next.sample_start - global.offset);
        (end.saturating_sub(self.read), next.map(|next| tick_of(next, self.origin, self.step)))
    }
}

impl RxStream for SigmfRx {
    fn recv(&mut self, out: &mut [&mut [Complex32]], _until: MonoNs) -> Result<Received, RadioError> {
        let got = out.len();
        let [out] = out else { return Err(RadioError::Channels { have: 1, got }) };
        let (left, next) = self.run();
        let room = out.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let samples = self.reader.read(&mut out[..room])?;
        let first = self.at;
        self.read += samples as u64;
        self.at += Ticks(samples as u64 * self.step.0);
        if (samples as u64) < left || self.ended {
            return Ok(Received { samples, first, event: None });
        }
        let event = match next {
            Some(next) => {
                let lost = (next - self.at).0 / self.step.0;
                self.at = next;
                (lost > 0).then_some(RxEvent::Dropped { channel: 0, datagrams: 0, lost })
            }
            None => {
                self.ended = true;
                Some(RxEvent::EndOfBurst)
            }
        };
        Ok(Received { samples, first, event })
    }

    fn channels(&self) -> usize {
        1
    }

    fn rate_sps(&self) -> f64 {
        self.rate_sps
    }

    fn tick_rate(&self) -> TickRate {
        self.clock
    }

    fn ticks_per_sample(&self) -> Ticks {
        self.step
    }
}
