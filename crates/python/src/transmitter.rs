//! Sending from arrays of NumPy, without Python's lock.

use std::sync::Arc;
use std::time::Duration;

use numpy::{Complex32, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use takt_base::Tick;
use takt_radio::{Burst, Net, TxEventKind, TxStream, TxStreamer};

use crate::driver::json;
use crate::held::Held;
use crate::problem::{Class, Problem};
use crate::receiver::{LOOK, shape};

/// Samples going out to one or more channels of a radio.
#[pyclass(frozen)]
pub struct Transmitter {
    held: Held<TxStreamer>,
    net: Arc<dyn Net>,
    #[pyo3(get)]
    rate_sps: f64,
    #[pyo3(get)]
    channels: usize,
    #[pyo3(get)]
    clock_hz: u32,
    #[pyo3(get)]
    ticks_per_sample: u64,
    #[pyo3(get)]
    speed: f64,
}

impl Transmitter {
    pub fn of(stream: TxStreamer, net: Arc<dyn Net>) -> Transmitter {
        Transmitter {
            net,
            rate_sps: stream.rate_sps(),
            channels: stream.channels(),
            clock_hz: stream.tick_rate().hz(),
            ticks_per_sample: stream.ticks_per_sample().0,
            speed: stream.speed().seconds(),
            held: Held::new("transmitter", Class::Radio, stream),
        }
    }
}

#[pymethods]
impl Transmitter {
    /// Sends an array, a row a channel: its first sample at a tick, or at once. Returns how many samples of each row the radio took
    /// within `timeout_s`; the end of the burst is sent once it took all.
    fn send(
        &self,
        py: Python<'_>,
        samples: PyReadonlyArray2<'_, Complex32>,
        tick: Option<u64>,
        ends: bool,
        timeout_s: Option<f64>,
    ) -> PyResult<usize> {
        let &[channels, length] = samples.shape() else { return Err(shape(self.channels).into()) };
        let array = samples.as_slice().map_err(|_| shape(self.channels))?;
        if channels != self.channels {
            return Err(shape(self.channels).into());
        }
        let limit = timeout_s.and_then(|limit_s| Duration::try_from_secs_f64(limit_s).ok());
        let end = limit.map(|limit| self.net.now() + limit);
        let mut lent = self.held.lend()?;
        let stream = lent.get();
        let mut sent = 0;
        loop {
            let until = self.net.now() + LOOK;
            let until = end.map_or(until, |end| end.min(until));
            let at = tick.map(|tick| Tick(tick.saturating_add(sent as u64 * self.ticks_per_sample)));
            let taken = py.detach(|| {
                let row = |channel: usize| array.get(channel * length + sent..(channel + 1) * length);
                let rows: Vec<&[Complex32]> = (0..channels).filter_map(row).collect();
                stream.send(&rows, Burst { at, ends }, until)
            });
            sent += taken.map_err(Problem::from)?;
            let now = self.net.now();
            // The last datagram carries the end of its burst. An end without samples has none to be counted by.
            let all = if length == 0 { now < until } else { sent >= length };
            if all || end.is_some_and(|end| now >= end) {
                return Ok(sent);
            }
            py.check_signals()?;
        }
    }

    /// The oldest report of the radio that was not taken yet: its name, channel and tick. Waits `timeout_s` for one.
    fn event(&self, py: Python<'_>, timeout_s: f64) -> PyResult<Option<(&'static str, u8, u64)>> {
        let mut lent = self.held.lend()?;
        let stream = lent.get();
        let end = self.net.now() + Duration::try_from_secs_f64(timeout_s).unwrap_or_default();
        loop {
            let until = end.min(self.net.now() + LOOK);
            let event = py.detach(|| stream.event(until)).map_err(Problem::from)?;
            if let Some(event) = event {
                return Ok(Some((name(event.kind), event.channel, event.tick.0)));
            }
            if self.net.now() >= end {
                return Ok(None);
            }
            py.check_signals()?;
        }
    }

    /// Counts so far, as JSON.
    fn stats(&self, py: Python<'_>) -> PyResult<String> {
        Ok(json(&self.held.with(py, |stream| stream.stats())?)?)
    }

    /// Ends the stream for good.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        Ok(self.held.close(py)?)
    }

    fn is_closed(&self) -> bool {
        self.held.is_closed()
    }
}

fn name(kind: TxEventKind) -> &'static str {
    match kind {
        TxEventKind::BurstAck => "burst_ack",
        TxEventKind::Underflow => "underrun",
        TxEventKind::SequenceError => "sequence_error",
        TxEventKind::Late => "late",
        _ => "unknown",
    }
}
