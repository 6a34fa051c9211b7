//! A transmit stream of a device.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use takt_base::{Clock, Complex32, MonoNs, Tick, TickRate, Ticks};
use takt_radio::{Burst, RadioError, TxEvent, TxEventKind, TxStream};

use crate::device::MOST_SAMPLES;
use crate::error::foreign;
use crate::grid::Grid;
use crate::{Fault, FaultKind, Status, TxPort};

/// A call of the driver waits for no longer.
const TURN: Duration = Duration::from_millis(100);
/// Reports kept for [`TxStream::event`].
const EVENTS: usize = 1024;

/// A transmit stream of a device. A tick is a sample.
pub struct SoapyTx {
    port: Box<dyn TxPort>,
    clock: Arc<dyn Clock>,
    grid: Grid,
    mtu: usize,
    channels: usize,
    /// Bursts have times; if not, each begins at once.
    has_times: bool,
    is_in_burst: bool,
    /// The driver reports what goes wrong, as far as is known.
    reports: bool,
    due: VecDeque<TxEvent>,
}

impl SoapyTx {
    pub(crate) fn new(
        port: Box<dyn TxPort>,
        clock: Arc<dyn Clock>,
        grid: Grid,
        channels: usize,
    ) -> Result<SoapyTx, Fault> {
        let mtu = port.mtu()?.clamp(1, MOST_SAMPLES);
        let due = VecDeque::with_capacity(EVENTS);
        let (has_times, is_in_burst, reports) = (true, false, true);
        Ok(SoapyTx { port, clock, grid, mtu, channels, has_times, is_in_burst, reports, due })
    }

    /// Lets each burst begin at once, whatever its time: on a device without a clock it has none.
    #[must_use]
    pub fn without_times(self) -> SoapyTx {
        SoapyTx { has_times: false, ..self }
    }

    /// Starts the stream. Fails if the driver refuses.
    pub fn start(&mut self) -> Result<(), RadioError> {
        self.port.activate().map_err(foreign)
    }

    /// Stops the stream. Fails if the driver refuses.
    pub fn stop(&mut self) -> Result<(), RadioError> {
        self.port.deactivate().map_err(foreign)
    }

    /// Samples that the driver takes at once.
    #[must_use]
    pub fn mtu(&self) -> usize {
        self.mtu
    }

    /// A call that takes nothing for so long has timed out.
    pub(crate) fn patience(&self) -> Duration {
        self.grid.patience(self.mtu)
    }

    /// The sample that leaves at a time of the device's clock, in nanoseconds.
    #[must_use]
    pub fn tick_at(&self, ns: i64) -> Tick {
        self.grid.tick_of(ns)
    }

    /// When a sample leaves, on the device's clock, in nanoseconds.
    #[must_use]
    pub fn ns_at(&self, tick: Tick) -> i64 {
        self.grid.ns_of(tick)
    }

    /// Keeps a report. Those that nobody fetches are dropped, the newest first.
    fn note(&mut self, kind: TxEventKind, channel_mask: usize, time_ns: Option<i64>) {
        if self.due.len() < EVENTS {
            let channel = if channel_mask == 0 { 0 } else { channel_mask.trailing_zeros() as u8 };
            let tick = self.grid.tick_of(time_ns.unwrap_or(0));
            self.due.push_back(TxEvent { kind, channel, tick, sequence: None });
        }
    }

    /// Takes in a report of the driver's.
    fn take(&mut self, status: &Status) {
        let kind = match &status.outcome {
            Ok(()) => status.ended_burst.then_some(TxEventKind::BurstAck),
            Err(Fault { kind: FaultKind::Timeout, .. }) => None,
            Err(Fault { kind: FaultKind::NotSupported, .. }) => {
                self.reports = false;
                None
            }
            Err(fault) => Some(named(fault.kind)),
        };
        if let Some(kind) = kind {
            self.note(kind, status.channel_mask, status.time_ns);
        }
    }
}

/// A fault by takt's name for it.
fn named(kind: FaultKind) -> TxEventKind {
    match kind {
        FaultKind::Underflow => TxEventKind::Underflow,
        FaultKind::Corruption => TxEventKind::SequenceError,
        FaultKind::Time => TxEventKind::Late,
        other => TxEventKind::Unknown(other.code()),
    }
}

impl TxStream for SoapyTx {
    fn send(&mut self, samples: &[&[Complex32]], burst: Burst, until: MonoNs) -> Result<usize, RadioError> {
        let (have, got) = (self.channels, samples.len());
        if have != got {
            return Err(RadioError::Channels { have, got });
        }
        let length = samples.iter().map(|channel| channel.len()).min().unwrap_or(0);
        if length == 0 {
            let silence = [Complex32::default()];
            let one = vec![&silence[..]; self.channels];
            let ends = burst.ends && self.is_in_burst && !one.is_empty();
            return if ends { self.send(&one, Burst::END, until).map(|_| 0) } else { Ok(0) };
        }
        let mut at_ns = burst.at.filter(|_| self.has_times && !self.is_in_burst).map(|tick| self.grid.ns_of(tick));
        let mut taken = 0;
        loop {
            let rest: Vec<&[Complex32]> =
                samples.iter().map(|channel| channel.get(taken..length).unwrap_or_default()).collect();
            let wait = until.saturating_since(self.clock.now()).min(TURN);
            match self.port.write(&rest, at_ns, burst.ends, wait) {
                Ok(0) => {}
                Ok(count) => {
                    taken += count.min(length - taken);
                    (at_ns, self.is_in_burst) = (None, true);
                }
                Err(Fault { kind: FaultKind::Timeout, .. }) => {}
                Err(fault) => match fault.kind {
                    FaultKind::Underflow | FaultKind::Time | FaultKind::Corruption => {
                        self.note(named(fault.kind), 0, None);
                    }
                    _ => return Err(foreign(fault)),
                },
            }
            if taken == length {
                self.is_in_burst = !burst.ends;
                return Ok(taken);
            }
            if self.clock.now() >= until {
                return Ok(taken);
            }
        }
    }

    fn event(&mut self, until: MonoNs) -> Result<Option<TxEvent>, RadioError> {
        loop {
            if let Some(event) = self.due.pop_front() {
                return Ok(Some(event));
            }
            if !self.reports {
                return Ok(None);
            }
            let status = self.port.status(until.saturating_since(self.clock.now()).min(TURN));
            self.take(&status);
            if self.due.is_empty() && self.clock.now() >= until {
                return Ok(None);
            }
        }
    }

    fn channels(&self) -> usize {
        self.channels
    }

    fn rate_sps(&self) -> f64 {
        self.grid.sps()
    }

    fn tick_rate(&self) -> TickRate {
        self.grid.tick_rate()
    }

    fn ticks_per_sample(&self) -> Ticks {
        Ticks(1)
    }

    fn reports_faults(&self) -> bool {
        self.reports
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Fake, Happens, Sent};

    const RATE_SPS: f64 = 1e6;

    fn stream(fake: &Fake) -> SoapyTx {
        let mut tx = fake.tx(RATE_SPS, 1);
        tx.start().unwrap();
        tx
    }

    #[test]
    fn a_burst_has_its_time_once_and_its_end_with_the_last_sample() {
        let fake = Fake::new(&[]);
        let mut tx = stream(&fake);
        let samples = [Complex32::default(); 100];
        let at = Tick(2_000_000);
        assert_eq!(tx.send(&[&samples], Burst::at(at), MonoNs::NEVER).unwrap(), 100);
        assert_eq!(tx.send(&[&samples], Burst::at(at), MonoNs::NEVER).unwrap(), 100, "within a burst it has no effect");
        assert_eq!(tx.send(&[&[]], Burst::END, MonoNs::NEVER).unwrap(), 0);
        assert_eq!(tx.send(&[&[]], Burst::END, MonoNs::NEVER).unwrap(), 0, "there is none to end");
        let sent = [(100, Some(2_000_000_000), false), (100, None, false), (1, None, true)];
        assert_eq!(fake.sent(), sent.map(|(samples, at_ns, ends)| Sent { samples, at_ns, ends }));
    }

    #[test]
    fn a_driver_that_takes_nothing_ends_the_call_in_time() {
        let fake = Fake::new(&[Happens::Samples(30), Happens::Fails(FaultKind::Timeout)]);
        let mut tx = stream(&fake);
        let until = fake.now() + Duration::from_millis(2);
        assert_eq!(tx.send(&[&[Complex32::default(); 100]], Burst::GO_ON, until).unwrap(), 30);
        assert_eq!(fake.now(), until);
    }

    #[test]
    fn reports_have_takts_names() {
        let fake = Fake::new(&[]).reporting(&[
            Err(FaultKind::Underflow),
            Err(FaultKind::Corruption),
            Err(FaultKind::Time),
            Err(FaultKind::Stream),
            Ok(()),
        ]);
        let mut tx = stream(&fake);
        let kinds: Vec<TxEventKind> =
            (0..5).filter_map(|_| tx.event(fake.now()).unwrap()).map(|event| event.kind).collect();
        let expected = [
            TxEventKind::Underflow,
            TxEventKind::SequenceError,
            TxEventKind::Late,
            TxEventKind::Unknown(2),
            TxEventKind::BurstAck,
        ];
        assert_eq!(kinds, expected);
        assert!(tx.reports_faults());
        assert_eq!(tx.event(fake.now() + Duration::from_millis(5)).unwrap(), None);
    }

    #[test]
    fn a_driver_without_reports_says_so_at_once() {
        let fake = Fake::new(&[]).reporting(&[Err(FaultKind::NotSupported)]);
        let mut tx = stream(&fake);
        let before = fake.now();
        assert_eq!(tx.event(MonoNs::NEVER).unwrap(), None);
        assert!(!tx.reports_faults() && fake.now() == before);
    }

    #[test]
    fn a_fault_that_a_write_returns_is_a_report_or_ends_the_stream() {
        let [underflow, gone] = [FaultKind::Underflow, FaultKind::Other].map(Happens::Fails);
        let fake = Fake::new(&[underflow, Happens::Samples(10), gone]);
        let mut tx = stream(&fake);
        let samples = [Complex32::default(); 10];
        assert_eq!(tx.send(&[&samples], Burst::GO_ON, MonoNs::NEVER).unwrap(), 10);
        assert_eq!(tx.event(fake.now()).unwrap().map(|event| event.kind), Some(TxEventKind::Underflow));
        let gone = tx.send(&[&samples], Burst::GO_ON, MonoNs::NEVER);
        assert!(matches!(gone, Err(RadioError::Foreign { .. })), "{gone:?}");
    }
}
