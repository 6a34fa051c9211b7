//! A receive stream, as SoapySDR's programs read it.
//!
//! A read returns samples that are contiguous in time, and the time of the first. If samples are missing behind them, the next read
//! says so. Activating makes a stream of takt's, and deactivating ends it, so that nothing of an older one is ever read.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use takt_base::{Complex, Complex32, MonoNs, Tick};
use takt_radio::board::Side;
use takt_radio::{RadioError, RxEvent, RxStream, RxStreamer};

use crate::code::{flags, of_rx};
use crate::{Code, Device, MTU_SAMPLES, ModuleError, StreamArgs};

/// How long a call that another thread wants to end may go on.
pub(crate) const LOOK: Duration = Duration::from_millis(50);
/// The most channels of a radio.
pub(crate) const CHANNELS: usize = 2;
/// The integer that is 1.0 in SoapySDR's samples of 16 bits.
pub(crate) const FULL_SCALE: f32 = 32_767.0;

/// Room for samples, a slice a channel, all alike. Full scale is 1.0 of floats and 32767 of integers.
pub enum Room<'a, 'b> {
    /// `CF32`.
    Floats(&'a mut [&'b mut [Complex32]]),
    /// `CS16`.
    Integers(&'a mut [&'b mut [Complex<i16>]]),
}

/// Outcome of a read.
#[derive(Debug)]
#[must_use]
pub struct RxReport {
    /// Samples of each channel, or why there are none.
    pub result: Result<usize, Code>,
    /// [`flags`].
    pub flags: i32,
    /// Time of the first sample; without samples, the time that the stream has reached. Holds if the flags say so.
    pub time_ns: i64,
    /// Why the stream ended.
    pub error: Option<ModuleError>,
}

/// A receive stream of a device.
pub struct Receiver {
    device: Arc<Device>,
    channels: Vec<u8>,
    args: StreamArgs,
    /// Threads that wait for the state: a read that waits for samples makes way.
    waiting: AtomicUsize,
    state: Mutex<State>,
}

struct State {
    stream: Option<RxStreamer>,
    /// It streams without an end.
    endless: bool,
    /// An event behind samples that were read.
    event: Option<RxEvent>,
    /// Samples that become integers.
    floats: [Vec<Complex32>; CHANNELS],
}

impl Receiver {
    /// Sets a stream up. The radio sends nothing before it is activated.
    ///
    /// # Errors
    /// `Channel` for one that the radio does not have.
    pub fn new(device: Arc<Device>, channels: Vec<u8>, args: StreamArgs) -> Result<Receiver, ModuleError> {
        device.has_channels(Side::Rx, &channels)?;
        let state = State { stream: None, endless: false, event: None, floats: Default::default() };
        Ok(Receiver { device, channels, args, waiting: AtomicUsize::new(0), state: Mutex::new(state) })
    }

    /// Its channels.
    #[must_use]
    pub fn channels(&self) -> usize {
        self.channels.len()
    }

    /// Starts: at a time, ns, or at once; `samples` of them, or without an end if that is 0. Unless the samples end a burst (`ends`),
    /// the next activation goes on behind them without a gap.
    ///
    /// # Errors
    /// `Runs` for a second start without an end; what the radio refuses.
    pub fn activate(&self, at_ns: Option<i64>, samples: usize, ends: bool) -> Result<(), ModuleError> {
        let at = at_ns.map(|ns| self.device.tick(ns)).transpose()?;
        let count = u32::try_from(samples).map_err(|_| RadioError::Range {
            what: "samples of a burst",
            got: samples as f64,
            low: 0.0,
            high: f64::from(u32::MAX),
        })?;
        let mut state = self.enter();
        if state.endless {
            return Err(ModuleError::Runs { what: "activate it" });
        }
        let was_active = state.stream.is_some();
        let started = self.start(&mut state, at, count, ends);
        // A burst too many leaves those before it as they are.
        if started.is_err() && !was_active {
            self.end(&mut state);
        }
        started
    }

    fn start(&self, state: &mut State, at: Option<Tick>, count: u32, ends: bool) -> Result<(), ModuleError> {
        let stream = match &mut state.stream {
            Some(stream) => stream,
            none => none.insert(self.device.receive_stream(&self.channels, self.args)?),
        };
        match (count, ends) {
            (0, _) => stream.start(at)?,
            (count, true) => stream.burst(count, at)?,
            (count, false) => stream.chain(count, at)?,
        }
        state.endless = count == 0;
        Ok(())
    }

    /// Ends it, and drops samples that are on their way.
    pub fn deactivate(&self) {
        self.end(&mut self.enter());
    }

    /// Reads until the room is full, something happened, or `timeout` has passed.
    pub fn read(&self, room: &mut Room<'_, '_>, timeout: Duration) -> RxReport {
        let mut state = self.lock();
        if let Some(event) = state.event.take() {
            return self.told(event, None);
        }
        match self.fill(&mut state, room, timeout) {
            Ok((samples, first, event)) => self.report(&mut state, samples, first, event),
            Err(error) => {
                self.end(&mut state);
                RxReport { result: Err(error.code()), flags: 0, time_ns: 0, error: Some(error) }
            }
        }
    }

    fn report(&self, state: &mut State, samples: usize, first: Tick, event: Option<RxEvent>) -> RxReport {
        let (flags, time_ns) = (flags::HAS_TIME, self.device.ns(first));
        match event {
            Some(RxEvent::EndOfBurst) => {
                RxReport { result: Ok(samples), flags: flags | flags::END_BURST, time_ns, error: None }
            }
            Some(event) if samples == 0 => self.told(event, Some(time_ns)),
            event => {
                state.event = event;
                let result = if samples == 0 { Err(Code::Timeout) } else { Ok(samples) };
                RxReport { result, flags: if samples == 0 { 0 } else { flags }, time_ns, error: None }
            }
        }
    }

    /// An event alone. One of which a program is told nothing is a read without samples.
    fn told(&self, event: RxEvent, time_ns: Option<i64>) -> RxReport {
        let result = match of_rx(event) {
            Some(code) => Err(code),
            None => Ok(0),
        };
        let flags = if time_ns.is_some() { flags::HAS_TIME } else { 0 };
        RxReport { result, flags, time_ns: time_ns.unwrap_or(0), error: None }
    }

    fn fill(
        &self,
        state: &mut State,
        room: &mut Room<'_, '_>,
        timeout: Duration,
    ) -> Result<(usize, Tick, Option<RxEvent>), ModuleError> {
        let State { stream, floats, .. } = state;
        let stream = stream.as_mut().ok_or(ModuleError::Inactive)?;
        let end = self.device.net().now() + timeout;
        match room {
            Room::Floats(rows) => self.receive(stream, rows, end),
            Room::Integers(rows) => {
                let length = shortest(rows).min(MTU_SAMPLES);
                let floats = floats.iter_mut().take(rows.len());
                let mut through: [&mut [Complex32]; CHANNELS] = Default::default();
                for (slot, floats) in through.iter_mut().zip(floats) {
                    floats.resize(length, Complex32::default());
                    *slot = floats.as_mut_slice();
                }
                let rows_wanted = rows.len().min(CHANNELS);
                let received = self.receive(stream, &mut through[..rows_wanted], end)?;
                for (out, floats) in rows.iter_mut().zip(through) {
                    for (out, sample) in out.iter_mut().zip(&*floats).take(received.0) {
                        *out = Complex::new(integer(sample.re), integer(sample.im));
                    }
                }
                Ok(received)
            }
        }
    }

    /// Fills floats, and looks now and then whether another thread wants the stream.
    fn receive(
        &self,
        stream: &mut RxStreamer,
        rows: &mut [&mut [Complex32]],
        end: MonoNs,
    ) -> Result<(usize, Tick, Option<RxEvent>), ModuleError> {
        let (length, channels) = (shortest(rows), rows.len().min(CHANNELS));
        let net = self.device.net();
        let (mut filled, mut first) = (0, Tick(0));
        loop {
            let until = end.min(net.now() + LOOK);
            let mut rest: [&mut [Complex32]; CHANNELS] = Default::default();
            for (rest, row) in rest.iter_mut().zip(rows.iter_mut()) {
                *rest = &mut row[filled..length];
            }
            let received = stream.recv(&mut rest[..channels], until)?;
            if filled == 0 {
                first = received.first;
            }
            filled += received.samples;
            let is_wanted = self.waiting.load(Ordering::Relaxed) > 0;
            if received.event.is_some() || filled >= length || is_wanted || net.now() >= end {
                return Ok((filled, first, received.event));
            }
        }
    }

    fn end(&self, state: &mut State) {
        state.stream = None;
        state.endless = false;
        state.event = None;
        self.device.end(Side::Rx, &self.channels);
    }

    /// The state, for which a read that waits makes way.
    fn enter(&self) -> MutexGuard<'_, State> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let state = self.lock();
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        state
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.deactivate();
    }
}

fn shortest<T>(rows: &[&mut [T]]) -> usize {
    rows.iter().map(|row| row.len()).min().unwrap_or(0)
}

/// Saturates, and makes 0 of what is no number.
fn integer(value: f32) -> i16 {
    (value * FULL_SCALE).round() as i16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_have_takts_full_scale_and_saturate() {
        let integers = [0.0, 1.0, -1.0, 0.5, 2.0, -2.0, f32::NAN].map(integer);
        assert_eq!(integers, [0, 32_767, -32_767, 16_384, 32_767, -32_768, 0]);
    }
}
