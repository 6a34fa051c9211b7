//! A transmit stream, as SoapySDR's programs write it, and the reports about what was sent.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use takt_base::{Complex, Complex32, MonoNs, Tick};
use takt_radio::board::Side;
use takt_radio::{Burst, TxEvent, TxStream, TxStreamer};

use crate::code::{flags, of_tx};
use crate::receiver::{CHANNELS, FULL_SCALE, LOOK};
use crate::{Code, Device, MTU_SAMPLES, ModuleError, StreamArgs};

/// How long the end of a burst waits for room in the radio when its stream is deactivated.
const END_PATIENCE: Duration = Duration::from_millis(500);
/// How often a report is looked for while a program waits for one.
const REPORT_EVERY: Duration = Duration::from_millis(2);

/// Samples of a call, a slice a channel, all alike. Full scale is 1.0 of floats and 32767 of integers.
#[derive(Clone, Copy)]
pub enum Samples<'a> {
    /// `CF32`.
    Floats(&'a [&'a [Complex32]]),
    /// `CS16`.
    Integers(&'a [&'a [Complex<i16>]]),
}

/// A report about what was sent.
#[derive(Debug)]
#[must_use]
pub struct TxReport {
    /// Nothing wrong, or what.
    pub result: Result<(), Code>,
    /// [`flags`].
    pub flags: i32,
    /// The channels that it is about, a bit each.
    pub mask: usize,
    /// When. Holds if the flags say so.
    pub time_ns: i64,
    /// Why the stream ended.
    pub error: Option<ModuleError>,
}

/// A transmit stream of a device.
pub struct Transmitter {
    device: Arc<Device>,
    channels: Vec<u8>,
    args: StreamArgs,
    /// As of a receiver.
    waiting: AtomicUsize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Kept when it is deactivated: reports about what was sent still come.
    stream: Option<TxStreamer>,
    active: bool,
    in_burst: bool,
    /// Samples that were integers.
    floats: [Vec<Complex32>; CHANNELS],
}

impl Transmitter {
    /// Sets a stream up.
    ///
    /// # Errors
    /// `Channel` for one that the radio does not have.
    pub fn new(device: Arc<Device>, channels: Vec<u8>, args: StreamArgs) -> Result<Transmitter, ModuleError> {
        device.has_channels(Side::Tx, &channels)?;
        let (waiting, state) = (AtomicUsize::new(0), Mutex::new(State::default()));
        Ok(Transmitter { device, channels, args, waiting, state })
    }

    /// Its channels.
    #[must_use]
    pub fn channels(&self) -> usize {
        self.channels.len()
    }

    /// Has it take samples. Samples that an earlier activation left in the radio go on at the same rate, and are dropped at another.
    ///
    /// # Errors
    /// `Radio` for one that may not transmit, and what else the radio refuses.
    pub fn activate(&self) -> Result<(), ModuleError> {
        let mut state = self.enter();
        let rate_sps = self.device.rate_sps(Side::Tx, self.channels.first().copied().unwrap_or(0).into())?;
        if state.stream.as_ref().is_some_and(|stream| stream.rate_sps() != rate_sps) {
            state.stream = None;
        }
        if state.stream.is_none() {
            state.in_burst = false;
            let made = self.device.transmit_stream(&self.channels, self.args);
            state.stream = Some(made.inspect_err(|_| self.device.end(Side::Tx, &self.channels))?);
        }
        state.active = true;
        Ok(())
    }

    /// Ends a burst that runs, and takes no more samples.
    ///
    /// # Errors
    /// The radio is gone.
    pub fn deactivate(&self) -> Result<(), ModuleError> {
        let mut state = self.enter();
        state.active = false;
        self.device.end(Side::Tx, &self.channels);
        let State { stream, in_burst, .. } = &mut *state;
        let Some(stream) = stream.as_mut().filter(|_| std::mem::take(in_burst)) else { return Ok(()) };
        let nothing: [&[Complex32]; CHANNELS] = Default::default();
        stream.send(
            &nothing[..self.channels.len().min(CHANNELS)],
            Burst::END,
            self.device.net().now() + END_PATIENCE,
        )?;
        Ok(())
    }

    /// Sends samples: the first at a time, ns, if a burst begins, or at once. How many of each channel were taken within `timeout`.
    /// If that is fewer than given, the burst has not ended either: call again with the rest.
    ///
    /// # Errors
    /// `Inactive`; the radio is gone.
    pub fn write(
        &self,
        samples: Samples<'_>,
        at_ns: Option<i64>,
        ends: bool,
        timeout: Duration,
    ) -> Result<Option<usize>, ModuleError> {
        let at = at_ns.map(|ns| self.device.tick(ns)).transpose()?;
        let mut state = self.lock();
        if !state.active {
            return Err(ModuleError::Inactive);
        }
        let State { stream, in_burst, floats, .. } = &mut *state;
        let stream = stream.as_mut().ok_or(ModuleError::Inactive)?;
        let end = self.device.net().now() + timeout;
        let mut rows: [&[Complex32]; CHANNELS] = Default::default();
        let (rows, ends) = match samples {
            Samples::Floats(samples) => (samples, ends),
            Samples::Integers(samples) => {
                let given = shortest(samples);
                let length = given.min(MTU_SAMPLES);
                for ((row, floats), samples) in rows.iter_mut().zip(floats.iter_mut()).zip(samples) {
                    floats.clear();
                    floats.extend(samples.iter().take(length).map(|s| Complex32::new(float(s.re), float(s.im))));
                    *row = floats.as_slice();
                }
                (&rows[..samples.len().min(CHANNELS)], ends && length == given)
            }
        };
        let taken = self.send(stream, rows, Wish { at, ends, end });
        if let Ok(Some(taken)) = &taken {
            *in_burst = (*in_burst || *taken > 0) && !(ends && *taken == shortest(rows));
        }
        taken.inspect_err(|_| {
            *state = State::default();
            self.device.end(Side::Tx, &self.channels);
        })
    }

    /// The oldest report that no program has taken; waits for one up to `timeout`.
    pub fn report(&self, timeout: Duration) -> TxReport {
        let net = self.device.net();
        let end = net.now() + timeout;
        loop {
            match self.event() {
                Ok(Some(event)) => return self.told(event),
                Ok(None) if net.now() >= end => {
                    return TxReport { result: Err(Code::Timeout), flags: 0, mask: 0, time_ns: 0, error: None };
                }
                Ok(None) => net.sleep(REPORT_EVERY.min(end.saturating_since(net.now()))),
                Err(error) => {
                    return TxReport { result: Err(error.code()), flags: 0, mask: 0, time_ns: 0, error: Some(error) };
                }
            }
        }
    }

    /// A report that has come. None while another thread writes: that one takes reports in meanwhile.
    fn event(&self) -> Result<Option<TxEvent>, ModuleError> {
        let mut state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(broken)) => broken.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(None),
        };
        match &mut state.stream {
            Some(stream) => Ok(stream.event(self.device.net().now())?),
            None => Ok(None),
        }
    }

    fn told(&self, event: TxEvent) -> TxReport {
        let code = of_tx(event.kind);
        let burst = if code.is_none() { flags::END_BURST } else { 0 };
        TxReport {
            result: code.map_or(Ok(()), Err),
            flags: flags::HAS_TIME | burst,
            mask: 1 << event.channel.min(31),
            time_ns: self.device.ns(event.tick),
            error: None,
        }
    }

    /// Sends, and looks now and then whether another thread wants the stream. `None`: nothing was taken in time.
    fn send(&self, stream: &mut TxStreamer, rows: &[&[Complex32]], wish: Wish) -> Result<Option<usize>, ModuleError> {
        let net = self.device.net();
        let (length, step) = (shortest(rows), stream.ticks_per_sample().0);
        let mut sent = 0;
        loop {
            let until = wish.end.min(net.now() + LOOK);
            let at = wish.at.map(|at| Tick(at.0.saturating_add(sent as u64 * step)));
            let mut rest: [&[Complex32]; CHANNELS] = Default::default();
            for (rest, row) in rest.iter_mut().zip(rows) {
                *rest = &row[sent..length];
            }
            let taken = stream.send(&rest[..rows.len().min(CHANNELS)], Burst { at, ends: wish.ends }, until);
            sent += taken?;
            let now = net.now();
            // An end without samples has none to be counted by.
            let all = if length == 0 { now < until } else { sent >= length };
            if all || now >= wish.end || self.waiting.load(Ordering::Relaxed) > 0 {
                return Ok((all || sent > 0).then_some(sent));
            }
        }
    }

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

/// When the first sample is to leave, whether the last one ends a burst, and when the call has to return.
#[derive(Clone, Copy)]
struct Wish {
    at: Option<Tick>,
    ends: bool,
    end: MonoNs,
}

impl Drop for Transmitter {
    fn drop(&mut self) {
        // Nobody is left to hear of a failure.
        let _ = self.deactivate();
    }
}

fn shortest<T>(rows: &[&[T]]) -> usize {
    rows.iter().map(|row| row.len()).min().unwrap_or(0)
}

fn float(value: i16) -> f32 {
    f32::from(value) / FULL_SCALE
}
