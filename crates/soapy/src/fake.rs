//! A device for tests: it does what a script says, on a clock that stands still unless it waits or streams.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use takt_base::{Clock, Complex32, MonoNs, Tick, VirtualClock};
use takt_radio::board::{Range, Side};

use crate::grid::Grid;
use crate::{About, Device, Fault, FaultKind, RxPort, SoapyRadio, SoapyRx, SoapyTx, Status, StreamFormat, TxPort};

/// The result of a call of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Happens {
    /// So many samples are read or written, as far as there is room.
    Samples(usize),
    /// So many are lost before the next.
    Gap(u64),
    /// The device's count goes back by so many.
    Back(u64),
    /// It claims to have read so many, and has not.
    Claims(usize),
    /// It fails. A time-out takes the time it was given.
    Fails(FaultKind),
}

/// A call that wrote samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) samples: usize,
    pub(crate) at_ns: Option<i64>,
    pub(crate) ends: bool,
}

#[derive(Debug)]
struct State {
    script: VecDeque<Happens>,
    reports: VecDeque<Result<(), FaultKind>>,
    is_stamped: bool,
    has_reports: bool,
    has_clock: bool,
    is_half_duplex: bool,
    formats: Vec<&'static str>,
    rates: Vec<Range>,
    rate_sps: f64,
    frequency_hz: f64,
    gain_db: f64,
    antenna: String,
    starts: usize,
    sent: Vec<Sent>,
}

/// The device; clones are the same one. It has two receive channels and one to transmit.
#[derive(Clone, Debug)]
pub(crate) struct Fake {
    clock: VirtualClock,
    state: Arc<Mutex<State>>,
}

impl Fake {
    /// A sample's value is its number modulo this.
    pub(crate) const COUNTED: u64 = 1 << 20;
    /// Samples of a call that no script describes.
    const MTU: usize = 1000;

    /// It does this, and then streams without end.
    pub(crate) fn new(script: &[Happens]) -> Fake {
        let state = State {
            script: script.iter().copied().collect(),
            reports: VecDeque::new(),
            is_stamped: true,
            has_reports: true,
            has_clock: true,
            is_half_duplex: false,
            formats: vec!["CS8", "CS16", "CF32"],
            rates: [1e6, 2e6, 5e6].map(|sps| Range { low: sps, high: sps, step: 0.0 }).to_vec(),
            rate_sps: 1e6,
            frequency_hz: 100e6,
            gain_db: 0.0,
            antenna: "RX".to_owned(),
            starts: 0,
            sent: Vec::new(),
        };
        Fake { clock: VirtualClock::starting_at(MonoNs(1_000_000_000)), state: Arc::new(Mutex::new(state)) }
    }

    pub(crate) fn unstamped(self) -> Fake {
        self.state().is_stamped = false;
        self
    }

    pub(crate) fn without_reports(self) -> Fake {
        self.state().has_reports = false;
        self
    }

    pub(crate) fn without_clock(self) -> Fake {
        self.state().has_clock = false;
        self
    }

    pub(crate) fn half_duplex(self) -> Fake {
        self.state().is_half_duplex = true;
        self
    }

    pub(crate) fn with_formats(self, formats: &[&'static str]) -> Fake {
        self.state().formats = formats.to_vec();
        self
    }

    pub(crate) fn reporting(self, reports: &[Result<(), FaultKind>]) -> Fake {
        self.state().reports = reports.iter().copied().collect();
        self
    }

    pub(crate) fn now(&self) -> MonoNs {
        self.clock.now()
    }

    /// Times a receive stream was started.
    pub(crate) fn starts(&self) -> usize {
        self.state().starts
    }

    pub(crate) fn sent(&self) -> Vec<Sent> {
        self.state().sent.clone()
    }

    pub(crate) fn radio(&self) -> SoapyRadio {
        SoapyRadio::over(Box::new(self.clone()), Arc::new(self.clock.clone()), "soapy:driver=fake".to_owned())
    }

    pub(crate) fn rx(&self, sps: f64, channels: usize) -> SoapyRx {
        let grid = Grid::new(sps).unwrap();
        let port = FakePort { device: self.clone(), grid, at: sps as u64, time_ns: 0 };
        SoapyRx::new(Box::new(port), Arc::new(self.clock.clone()), grid, channels).unwrap()
    }

    pub(crate) fn tx(&self, sps: f64, channels: usize) -> SoapyTx {
        let grid = Grid::new(sps).unwrap();
        let port = FakePort { device: self.clone(), grid, at: 0, time_ns: 0 };
        SoapyTx::new(Box::new(port), Arc::new(self.clock.clone()), grid, channels).unwrap()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn wait(&self, wait: Duration) {
        self.clock.advance_to(self.clock.now() + wait);
    }

    fn fails<T>(&self, kind: FaultKind, wait: Duration) -> Result<T, Fault> {
        if kind == FaultKind::Timeout {
            self.wait(wait);
        }
        Err(Fault::new(kind, ""))
    }
}

impl Device for Fake {
    fn about(&self) -> Result<About, Fault> {
        Ok(About { driver: "fake".to_owned(), hardware: "script".to_owned(), info: BTreeMap::new() })
    }

    fn channels(&self, side: Side) -> Result<usize, Fault> {
        Ok(if side == Side::Rx { 2 } else { 1 })
    }

    fn full_duplex(&self, _: Side, _: usize) -> Result<bool, Fault> {
        Ok(!self.state().is_half_duplex)
    }

    fn formats(&self, _: Side, _: usize) -> Result<Vec<String>, Fault> {
        Ok(self.state().formats.iter().map(|name| (*name).to_owned()).collect())
    }

    fn rates(&self, _: Side, _: usize) -> Result<Vec<Range>, Fault> {
        Ok(self.state().rates.clone())
    }

    /// Takes the nearest, as many drivers do.
    fn set_rate(&self, _: Side, _: usize, sps: f64) -> Result<f64, Fault> {
        let mut state = self.state();
        let away = |range: &Range| (range.low - sps).abs();
        let nearest = state.rates.iter().min_by(|a, b| away(a).total_cmp(&away(b))).map(|range| range.low);
        state.rate_sps = nearest.unwrap_or(sps);
        Ok(state.rate_sps)
    }

    fn frequencies(&self, _: Side, _: usize) -> Result<Vec<Range>, Fault> {
        Ok(vec![Range { low: 50e6, high: 1e9, step: 0.0 }])
    }

    fn frequency(&self, _: Side, _: usize) -> Result<f64, Fault> {
        Ok(self.state().frequency_hz)
    }

    fn set_frequency(&self, _: Side, _: usize, hz: f64) -> Result<f64, Fault> {
        self.state().frequency_hz = hz;
        Ok(hz)
    }

    fn gains(&self, _: Side, _: usize) -> Result<Range, Fault> {
        Ok(Range { low: 0.0, high: 40.0, step: 1.0 })
    }

    fn gain(&self, _: Side, _: usize) -> Result<f64, Fault> {
        Ok(self.state().gain_db)
    }

    fn set_gain(&self, _: Side, _: usize, db: f64) -> Result<f64, Fault> {
        self.state().gain_db = db.round();
        Ok(db.round())
    }

    fn antennas(&self, _: Side, _: usize) -> Result<Vec<String>, Fault> {
        Ok(vec!["RX".to_owned(), "TX/RX".to_owned()])
    }

    fn antenna(&self, _: Side, _: usize) -> Result<String, Fault> {
        Ok(self.state().antenna.clone())
    }

    fn set_antenna(&self, _: Side, _: usize, name: &str) -> Result<(), Fault> {
        name.clone_into(&mut self.state().antenna);
        Ok(())
    }

    fn master_clock_hz(&self) -> Result<Option<f64>, Fault> {
        Ok(None)
    }

    fn time_ns(&self) -> Result<Option<i64>, Fault> {
        let has_clock = self.state().has_clock;
        Ok(has_clock.then(|| i64::try_from(self.now().0).unwrap()))
    }

    fn rx_port(&self, _: &[usize], _: StreamFormat, _: Option<&str>) -> Result<Box<dyn RxPort>, Fault> {
        let sps = self.state().rate_sps;
        let port = FakePort { device: self.clone(), grid: Grid::new(sps).unwrap(), at: sps as u64, time_ns: 0 };
        Ok(Box::new(port))
    }

    fn tx_port(&self, _: &[usize], _: StreamFormat, _: Option<&str>) -> Result<Box<dyn TxPort>, Fault> {
        let grid = Grid::new(self.state().rate_sps).unwrap();
        Ok(Box::new(FakePort { device: self.clone(), grid, at: 0, time_ns: 0 }))
    }
}

/// A stream of either direction.
#[derive(Debug)]
struct FakePort {
    device: Fake,
    grid: Grid,
    /// The number of the next sample.
    at: u64,
    time_ns: i64,
}

impl FakePort {
    /// The time of so many samples passes.
    fn pass(&mut self, samples: u64) {
        self.at += samples;
        self.device.wait(Duration::from_secs_f64(samples as f64 / self.grid.sps()));
    }

    fn next(&self) -> Happens {
        self.device.state().script.pop_front().unwrap_or(Happens::Samples(Fake::MTU))
    }
}

impl RxPort for FakePort {
    fn mtu(&self) -> Result<usize, Fault> {
        Ok(Fake::MTU)
    }

    fn activate(&mut self) -> Result<(), Fault> {
        self.device.state().starts += 1;
        Ok(())
    }

    fn deactivate(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn read(&mut self, out: &mut [&mut [Complex32]], wait: Duration) -> Result<usize, Fault> {
        let room = out.iter().map(|buffer| buffer.len()).min().unwrap_or(0);
        loop {
            match self.next() {
                Happens::Gap(lost) => self.pass(lost),
                Happens::Back(samples) => self.at -= samples,
                Happens::Claims(samples) => return Ok(samples),
                Happens::Fails(kind) => return self.device.fails(kind, wait),
                Happens::Samples(count) => {
                    let count = count.min(room);
                    for buffer in &mut *out {
                        for (sample, number) in buffer.iter_mut().zip(self.at..self.at + count as u64) {
                            *sample = Complex32::new((number % Fake::COUNTED) as f32, 0.0);
                        }
                    }
                    if self.device.state().is_stamped {
                        self.time_ns = self.grid.ns_of(Tick(self.at));
                    }
                    self.pass(count as u64);
                    return Ok(count);
                }
            }
        }
    }

    fn time_ns(&self) -> i64 {
        self.time_ns
    }
}

impl TxPort for FakePort {
    fn mtu(&self) -> Result<usize, Fault> {
        Ok(Fake::MTU)
    }

    fn activate(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn deactivate(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn write(
        &mut self,
        samples: &[&[Complex32]],
        at_ns: Option<i64>,
        ends: bool,
        wait: Duration,
    ) -> Result<usize, Fault> {
        let given = samples.iter().map(|channel| channel.len()).min().unwrap_or(0);
        match self.next() {
            Happens::Fails(kind) => self.device.fails(kind, wait),
            Happens::Samples(count) => {
                let samples = count.min(given);
                self.device.state().sent.push(Sent { samples, at_ns, ends: ends && samples == given });
                self.pass(samples as u64);
                Ok(samples)
            }
            other => panic!("a transmit stream can't do that: {other:?}"),
        }
    }

    fn status(&mut self, wait: Duration) -> Status {
        let (next, has_reports) = {
            let mut state = self.device.state();
            (state.reports.pop_front(), state.has_reports)
        };
        let outcome = match next {
            Some(Ok(())) => Ok(()),
            Some(Err(kind)) => Err(kind),
            None if has_reports => Err(FaultKind::Timeout),
            None => Err(FaultKind::NotSupported),
        };
        let ended_burst = outcome.is_ok();
        let outcome = outcome.or_else(|kind| self.device.fails(kind, wait));
        Status { outcome, channel_mask: 0, ended_burst, time_ns: None }
    }
}
