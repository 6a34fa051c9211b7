//! Receiving into arrays of NumPy, without Python's lock.

use std::sync::Arc;
use std::time::Duration;

use numpy::{Complex32, PyReadwriteArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use takt_base::Tick;
use takt_radio::{Net, RxEvent, RxStream, RxStreamer};

use crate::driver::json;
use crate::held::Held;
use crate::problem::{Class, Problem};

/// How long Ctrl-C may wait.
pub const LOOK: Duration = Duration::from_millis(50);

/// Samples coming in from one or more channels of a radio.
#[pyclass(frozen)]
pub struct Receiver {
    held: Held<RxStreamer>,
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

/// Name of an event, its channel, and the samples that are missing, where that is known.
type Event = (&'static str, Option<u8>, Option<u64>);

impl Receiver {
    pub fn of(stream: RxStreamer, net: Arc<dyn Net>) -> Receiver {
        Receiver {
            net,
            rate_sps: stream.rate_sps(),
            channels: stream.channels(),
            clock_hz: stream.tick_rate().hz(),
            ticks_per_sample: stream.ticks_per_sample().0,
            speed: stream.speed().seconds(),
            held: Held::new("receiver", Class::Radio, stream),
        }
    }
}

#[pymethods]
impl Receiver {
    /// Streams from a tick, or at once, until stopped.
    fn start(&self, py: Python<'_>, tick: Option<u64>) -> PyResult<()> {
        let started = self.held.with(py, |stream| stream.start(tick.map(Tick)))?;
        Ok(started.map_err(Problem::from)?)
    }

    /// Streams a number of samples from a tick, or at once.
    fn burst(&self, py: Python<'_>, samples: u32, tick: Option<u64>) -> PyResult<()> {
        let started = self.held.with(py, |stream| stream.burst(samples, tick.map(Tick)))?;
        Ok(started.map_err(Problem::from)?)
    }

    /// Ends a stream. Samples that are on their way still come, then the end of the burst.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        let stopped = self.held.with(py, RxStreamer::stop)?;
        Ok(stopped.map_err(Problem::from)?)
    }

    /// Fills an array, a row a channel, until it is full, something happened, or `timeout_s` have passed since samples were due.
    /// Returns the samples, the tick of the first, and the event.
    fn receive(
        &self,
        py: Python<'_>,
        mut out: PyReadwriteArray2<'_, Complex32>,
        timeout_s: f64,
    ) -> PyResult<(usize, u64, Option<Event>)> {
        let &[channels, length] = out.shape() else { return Err(shape(self.channels).into()) };
        let array = out.as_slice_mut().map_err(|_| shape(self.channels))?;
        if channels != self.channels {
            return Err(shape(self.channels).into());
        }
        let mut lent = self.held.lend()?;
        let stream = lent.get();
        let due = stream.begins().unwrap_or_default().max(self.net.now());
        let end = due + Duration::try_from_secs_f64(timeout_s).unwrap_or(Duration::from_secs(1 << 32));
        let (mut filled, mut first) = (0, 0);
        loop {
            let until = end.min(self.net.now() + LOOK);
            let received = py.detach(|| {
                let rows = array.chunks_exact_mut(length.max(1));
                let mut rows: Vec<&mut [Complex32]> = rows.filter_map(|row| row.get_mut(filled..)).collect();
                stream.recv(&mut rows, until)
            });
            let received = received.map_err(Problem::from)?;
            if filled == 0 {
                first = received.first.0;
            }
            filled += received.samples;
            if received.event.is_some() || filled >= length || self.net.now() >= end {
                return Ok((filled, first, received.event.map(event)));
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

fn event(event: RxEvent) -> Event {
    match event {
        RxEvent::Overflow { channel, lost } => ("overflow", Some(channel), Some(lost)),
        RxEvent::Dropped { channel, lost, .. } => ("dropped", Some(channel), Some(lost)),
        RxEvent::Late { channel, .. } => ("late", Some(channel), None),
        RxEvent::BrokenChain { channel } => ("broken_chain", Some(channel), None),
        RxEvent::EndOfBurst => ("end_of_burst", None, None),
        RxEvent::Retimed => ("retimed", None, Some(0)),
        RxEvent::Unmeasured { channel } => ("unmeasured", Some(channel), None),
        RxEvent::Unknown { channel, .. } => ("unknown", Some(channel), None),
        _ => ("unknown", None, None),
    }
}

/// An array that no stream of so many channels takes.
pub fn shape(channels: usize) -> Problem {
    Problem {
        message: "the array does not suit the stream".to_owned(),
        reason: Some(format!("the stream has {channels} channels, a contiguous row of complex64 each").into()),
        fix: Some(format!("give numpy.empty(({channels}, length), numpy.complex64)")),
        option: Some(("samples".to_owned(), "an array".to_owned())),
        class: Class::Radio,
    }
}
