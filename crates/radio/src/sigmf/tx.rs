//! A recording as a transmit stream: what would have left the antenna, with the pauses between bursts as gaps.

use std::collections::VecDeque;

use takt_base::{Complex32, MonoNs, Tick, TickRate, Ticks};
use takt_dsp::file::FileError;
use takt_dsp::sigmf::{Capture, Metadata, Writer};

use super::{grid, stamp};
use crate::{Burst, RadioError, TxEvent, TxEventKind, TxStream};

/// Reports kept for [`TxStream::event`].
const EVENTS: usize = 1024;

/// A recording as a transmit stream of one channel. It takes everything at once. A burst with a time begins there, or is
/// late as it would be on a radio; one without begins where the one before ended.
#[derive(Debug)]
pub struct SigmfTx {
    writer: Writer,
    rate_sps: f64,
    clock: TickRate,
    step: Ticks,
    /// Time after the last sample written.
    at: Tick,
    in_burst: bool,
    origin: Option<Tick>,
    bursts: u32,
    events: VecDeque<TxEvent>,
}

impl SigmfTx {
    /// Writes to a recording that was created with a sample rate.
    ///
    /// # Errors
    /// `Rate` if it has none that counts whole ticks.
    pub fn new(writer: Writer) -> Result<SigmfTx, RadioError> {
        let requested_sps = writer.metadata().global.sample_rate_sps.unwrap_or(f64::NAN);
        let Some((clock, step)) = grid(requested_sps) else {
            let clock_hz = crate::n200::CLOCK.hz();
            let nearest = requested_sps.round();
            return Err(RadioError::Rate { requested_sps, clock_hz, nearest_sps: [nearest, nearest] });
        };
        Ok(SigmfTx {
            writer,
            rate_sps: requested_sps,
            clock,
            step,
            at: Tick(0),
            in_burst: false,
            origin: None,
            bursts: 0,
            events: VecDeque::with_capacity(EVENTS),
        })
    }

    /// Completes the recording.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn finish(self) -> Result<Metadata, FileError> {
        self.writer.finish()
    }

    fn report(&mut self, kind: TxEventKind) {
        if self.events.len() == EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(TxEvent { kind, channel: 0, tick: self.at, sequence: Some(self.bursts) });
    }

    /// Begins a burst; `false` if its time has passed.
    fn begin(&mut self, at: Option<Tick>) -> bool {
        let at = at.unwrap_or(self.at);
        if at < self.at {
            self.report(TxEventKind::Late);
            return false;
        }
        let origin = *self.origin.get_or_insert(at);
        if at > self.at || self.bursts == 0 {
            let index = (at - origin).0 / self.step.0;
            let other = stamp(at, self.clock, self.rate_sps);
            self.writer.begin_capture(Capture { global_index: Some(index), other, ..Capture::default() });
        }
        self.at = at;
        self.bursts += 1;
        self.in_burst = true;
        true
    }
}

impl TxStream for SigmfTx {
    fn send(&mut self, samples: &[&[Complex32]], burst: Burst, _until: MonoNs) -> Result<usize, RadioError> {
        let &[samples] = samples else { return Err(RadioError::Channels { have: 1, got: samples.len() }) };
        if !self.in_burst && !samples.is_empty() && !self.begin(burst.at) {
            return Ok(samples.len());
        }
        self.writer.write(samples)?;
        self.at += Ticks(samples.len() as u64 * self.step.0);
        if burst.ends && self.in_burst {
            self.in_burst = false;
            self.report(TxEventKind::BurstAck);
        }
        Ok(samples.len())
    }

    fn event(&mut self, _until: MonoNs) -> Result<Option<TxEvent>, RadioError> {
        Ok(self.events.pop_front())
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
