//! A device of SoapySDR that sets the beat.
//!
//! ```text
//!  device ══> takt-radio, a thread ── cells ──> radio-receive ─> .. ─> radio-transmit ── cells ──> takt-soapy-tx, a thread ══> device
//! ```
//!
//! Its driver may block, allocate and raise priorities. So no worker calls it: one thread receives and another one sends. All its
//! threads lack the right to real-time priority.

mod sending;

use std::thread;
use std::time::Duration;

use serde::Serialize;
use takt_base::{Complex32, MonoNs, Tick, Ticks};
use takt_host::capability::{CapabilitySet, without};
use takt_radio::board::Side;
use takt_radio::n200::Emission;
use takt_radio::{RadioError, RxStream};
use takt_soapy::{DeviceSpec, Fault, FaultKind, SoapyError, SoapyRadio, SoapyRx, SoapyTx, TimeStamps};

use crate::RadioRequirements;

pub(crate) use sending::DeviceBursts;

/// Questions for the device's time; the quickest answer counts.
const QUESTIONS: u32 = 8;

/// Samples of a stream that was started come by then.
const FIRST: Duration = Duration::from_secs(5);

/// A read for the first samples returns by then.
const LOOK: Duration = Duration::from_millis(20);

/// Counts that a device's driver showed of a run. `None`: it can't tell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceReport {
    /// As a user named it.
    pub name: String,
    /// Key of its driver.
    pub driver: String,
    /// The worth of its time stamps: without them nobody knows what was lost.
    pub time_stamps: TimeStamps,
    /// Overflows that it reported, gaps on the way from the device included.
    pub overflows: Option<u64>,
    /// Faults of the stream that have no name of takt's.
    pub stream_errors: u64,
    /// Times the stream was started again, since it had stopped after an overflow.
    pub restarts: u64,
    /// Times nothing came for 100 ms and the time of one transfer.
    pub timeouts: u64,
    /// Whether it reports what becomes of samples that it sends; `None`: nothing was sent.
    pub reports_faults: Option<bool>,
}

impl DeviceReport {
    /// Whether whatever goes wrong would have shown.
    #[must_use]
    pub fn shows_all(&self) -> bool {
        self.time_stamps == TimeStamps::Count && self.reports_faults != Some(false)
    }
}

/// A device that is open as a waveform wants it, before its streams begin.
pub(crate) struct DeviceRadio {
    radio: SoapyRadio,
    driver: String,
    emission: Option<Emission>,
}

/// A device's streams, receiving first.
pub(crate) type Streams = (SoapyRx, Option<SoapyTx>);

impl DeviceRadio {
    /// Opens a device, sets it as the waveform wants it, and makes its streams. `transmit`: the user allows it.
    ///
    /// # Errors
    /// There is no such device, it can't do that, or may not transmit and is to.
    pub(crate) fn open(
        spec: &DeviceSpec,
        wanted: &RadioRequirements,
        transmit: bool,
    ) -> Result<(DeviceRadio, Streams), SoapyError> {
        thread::scope(|scope| {
            // Threads that the driver starts now are this one's, and lack what it lacks.
            let opening = || {
                without(CapabilitySet::SYS_NICE).map_err(SoapyError::Thread)?;
                DeviceRadio::over(SoapyRadio::open(spec)?, wanted, transmit)
            };
            let opening = thread::Builder::new().name("takt-soapy".to_owned()).spawn_scoped(scope, opening);
            opening.map_err(SoapyError::Thread)?.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// The same of a device that is open already.
    fn over(
        radio: SoapyRadio,
        wanted: &RadioRequirements,
        transmit: bool,
    ) -> Result<(DeviceRadio, Streams), SoapyError> {
        let channels: Vec<usize> = wanted.channels.iter().copied().map(usize::from).collect();
        let mut emission = None;
        if let Some(wish) = &wanted.transmit {
            emission = Some(radio.may_transmit(transmit, 0, wish)?);
            if radio.time_ns()?.is_none() {
                return Err(SoapyError::Untimed);
            }
            radio.set(Side::Tx, 0, wish)?;
        }
        for &channel in &channels {
            radio.set(Side::Rx, channel, &wanted.receive)?;
        }
        let rx = radio.rx_stream(&channels, wanted.rate_sps, None)?;
        let block = whole_reads(wanted.samples, rx.mtu());
        let tx = wanted.transmit.is_some().then(|| radio.tx_stream(&[0], wanted.rate_sps, None)).transpose()?;
        let driver = radio.about()?.driver;
        Ok((DeviceRadio { radio, driver, emission }, (rx.with_block(block), tx)))
    }

    /// Emission of the waveform; `None` if it does not transmit.
    pub(crate) fn emission(&self) -> Option<Emission> {
        self.emission.clone()
    }

    /// Starts the stream: the sample at which slot 0 begins, which is the next to come, and when that is on this host's clock.
    ///
    /// # Errors
    /// The driver refuses, or no sample comes.
    pub(crate) fn begin(&self, rx: &mut SoapyRx) -> Result<(Tick, MonoNs), RadioError> {
        let reading = self.read_clocks();
        rx.start()?;
        let (start, came) = first_samples(rx, &|| self.radio.clock().now())?;
        let begins = match reading {
            Some((host, device_ns)) if rx.time_stamps_may_count() => {
                MonoNs(host.0.saturating_add_signed(rx.ns_at(start).saturating_sub(device_ns)))
            }
            // Without a clock in common: the samples before it have just come.
            _ => came,
        };
        Ok((start, begins))
    }

    /// This host's clock and the device's, nanoseconds, at one instant; `None`: it has no clock that can be read.
    fn read_clocks(&self) -> Option<(MonoNs, i64)> {
        let clock = self.radio.clock();
        let question = |_| {
            let before = clock.now();
            let device_ns = self.radio.time_ns().ok().flatten()?;
            let took = clock.now().saturating_since(before);
            Some((took, before + took / 2, device_ns))
        };
        let quickest = (0..QUESTIONS).filter_map(question).min_by_key(|(took, ..)| *took)?;
        Some((quickest.1, quickest.2))
    }

    /// Counts that the driver showed in the end; `reports_faults`: whether it reported on what was sent.
    pub(crate) fn report(&self, rx: &SoapyRx, reports_faults: Option<bool>) -> DeviceReport {
        let seen = rx.seen();
        let overflows = Some(seen.overflows).filter(|overflows| rx.shows_losses() || *overflows > 0);
        DeviceReport {
            name: self.radio.name().to_owned(),
            driver: self.driver.clone(),
            time_stamps: rx.time_stamps(),
            overflows,
            stream_errors: seen.stream_errors,
            restarts: seen.restarts,
            timeouts: seen.timeouts,
            reports_faults,
        }
    }
}

/// Takes the first samples: the time of the next one, and when they had come.
fn first_samples(rx: &mut SoapyRx, now: &dyn Fn() -> MonoNs) -> Result<(Tick, MonoNs), RadioError> {
    let mut buffers = vec![vec![Complex32::default(); rx.block_samples()]; rx.channels()];
    let until = now() + FIRST;
    while now() < until {
        let mut out: Vec<&mut [Complex32]> = buffers.iter_mut().map(Vec::as_mut_slice).collect();
        let received = rx.recv(&mut out, now() + LOOK)?;
        if received.samples > 0 && received.event.is_none() {
            return Ok((received.first + Ticks(received.samples as u64 * rx.ticks_per_sample().0), now()));
        }
    }
    Err(foreign(FaultKind::Timeout, "the device sends no sample"))
}

/// A fault of a device, as the streams of all radios have it.
fn foreign(kind: FaultKind, what: &str) -> RadioError {
    RadioError::Foreign { driver: "SoapySDR", source: Box::new(Fault::new(kind, what)) }
}

/// The longest read of which a slot is a whole number, up to a transfer of the driver's: a slot's last sample need not wait for
/// those behind it. A transfer, if there is none of a third of that.
fn whole_reads(samples: u64, mtu: usize) -> usize {
    (mtu.div_ceil(3)..=mtu).rev().find(|&size| size > 0 && samples.is_multiple_of(size as u64)).unwrap_or(mtu)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_ends_where_a_slot_does_if_there_is_such_a_size() {
        assert_eq!([whole_reads(6250, 363), whole_reads(5000, 2000), whole_reads(7919, 363)], [250, 1250, 363]);
        assert_eq!(whole_reads(100, 363), 363, "several slots a read");
    }

    #[test]
    fn a_driver_that_hides_something_does_not_show_all() {
        let report = DeviceReport {
            name: "soapy:driver=x".to_owned(),
            driver: "x".to_owned(),
            time_stamps: TimeStamps::Count,
            overflows: Some(0),
            stream_errors: 0,
            restarts: 0,
            timeouts: 0,
            reports_faults: None,
        };
        assert!(report.shows_all());
        assert!(!DeviceReport { time_stamps: TimeStamps::Absent, ..report.clone() }.shows_all());
        assert!(!DeviceReport { reports_faults: Some(false), ..report }.shows_all());
    }
}
