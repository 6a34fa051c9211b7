//! `rate` through a device of SoapySDR, by its own driver. A value that the driver can't tell is `null` in the result, and never 0.
//!
//! SoapySDR and what it loads run on threads without the right to real-time priority. A driver may take that right for threads
//! that spin, and keep the radio's host from its cores.

use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use takt_agent::Failure;
use takt_base::{Stop, TickRate};
use takt_host::accounting::Snapshot;
use takt_host::capability::{CapabilitySet, without};
use takt_radio::{FrontEnd, Model};
use takt_soapy::{DeviceSpec, Notice, RatePlan, RxCounts, SoapyError, SoapyRadio, SoapyRate, TimeStamps, TxCounts};
use takt_wire::sample::Format;

use super::own::Own;
use super::{Cpu, RateError, RateOptions, cpu_of};
use crate::excluded::ExcludedSpans;

/// Result of a round through a device of SoapySDR.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceOutcome {
    /// As they were given.
    pub options: RateOptions,
    /// Counts of the round, and whether it was clean.
    #[serde(flatten)]
    pub round: SoapyRate,
    /// CPU time of the measured part.
    pub cpu: Cpu,
    /// Length of the measured part, seconds of this host.
    pub wall_s: f64,
}

/// Whether the result of a round of `rate` is a [`DeviceOutcome`].
#[must_use]
pub fn is_of_a_device(result: &Value) -> bool {
    result.get("device").is_some_and(Value::is_string)
}

/// A flag that was given and is about takt's own driver, so that it has no effect on a device of SoapySDR.
#[must_use]
pub fn without_effect(options: &RateOptions) -> Option<&'static str> {
    let usual = RateOptions::default();
    let given = [
        ("--interval", options.interval.is_some()),
        ("--engine", options.engine != usual.engine),
        ("--frame", options.frame_bytes.is_some()),
        ("--spp", options.samples_per_datagram.is_some()),
        ("--aggregate", options.aggregate),
        ("--coalesce", options.coalesce != usual.coalesce),
        ("--busy-poll", options.busy_poll),
        ("--recv-buffer", options.recv_buffer_bytes.is_some()),
        ("--threads", options.threads != usual.threads),
        ("--cores", !options.cpus.is_empty()),
        ("--policy", options.priority.is_some()),
        ("--reference", options.reference != usual.reference),
        ("--force", options.force),
    ];
    given.into_iter().find(|(_, is_given)| *is_given).map(|(flag, _)| flag)
}

/// The round of a device that options ask for.
#[must_use]
pub fn plan(options: &RateOptions) -> RatePlan {
    let channels = |channels: &[u8]| -> Vec<usize> { channels.iter().copied().map(usize::from).collect() };
    let RateOptions { frequency_hz, gain_db, ref antenna, .. } = *options;
    RatePlan {
        rx_sps: options.rx_sps,
        tx_sps: options.tx_sps,
        rx_channels: channels(&options.rx_channels),
        tx_channels: channels(&options.tx_channels),
        front_end: FrontEnd { frequency_hz, gain_db, antenna: antenna.clone() },
        // Only a driver that has a choice is told.
        wire: (options.format != Format::default()).then(|| options.format.name().to_owned()),
        duration: options.duration,
        warm_up: options.warm_up,
        transmit: options.transmit,
    }
}

/// Runs a round through the device of this name.
pub(super) fn run(name: &str, options: &RateOptions, stop: &Stop) -> Result<DeviceOutcome, Failure> {
    let spec: DeviceSpec = name.parse().map_err(|error| Failure::of(&error, None))?;
    if let Some(flag) = without_effect(options) {
        return Err(Failure::saying(format!("{flag} has no effect on a device of SoapySDR")));
    }
    thread::scope(|scope| {
        let measuring = move || {
            without(CapabilitySet::SYS_NICE).map_err(|error| Failure::of(&error, None))?;
            measure(&spec, options, stop)
        };
        let thread = thread::Builder::new().name("takt-soapy-rx".to_owned()).spawn_scoped(scope, measuring);
        let thread = thread.map_err(|error| Failure::of(&RateError::Thread(error), None))?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn measure(spec: &DeviceSpec, options: &RateOptions, stop: &Stop) -> Result<DeviceOutcome, Failure> {
    let radio = SoapyRadio::open(spec).map_err(failure)?;
    let mut begun = None;
    let mut notify = |notice: Notice| {
        if matches!(&notice, Notice::At(at) if !at.warm_up) && begun.is_none() {
            begun = Snapshot::take().ok();
        }
    };
    let round = takt_soapy::measure(&radio, &plan(options), &mut notify, stop).map_err(failure)?;
    let end = Snapshot::take().map_err(|error| Failure::of(&RateError::Counters(error), None))?;
    let usage = end.since(&begun.unwrap_or_else(|| end.clone()));
    let mut cpu = cpu_of(&usage, &[]);
    let samples = [round.rx.as_ref().map(|rx| rx.samples), round.tx.as_ref().map(|tx| tx.samples)];
    let samples: u64 = samples.into_iter().flatten().sum();
    cpu.host_ms_per_msample = (samples > 0).then(|| cpu.host_seconds * 1e9 / samples as f64);
    Ok(DeviceOutcome { options: options.clone(), round, cpu, wall_s: usage.wall_ns as f64 / 1e9 })
}

/// Why a device could not be measured. It lacks the same in the next round.
fn failure(error: SoapyError) -> Failure {
    use SoapyError::{Antenna, Channel, Format, HalfDuplex, NoModule, NotBuilt, Range, Rate, Transmit};
    let lacks = matches!(
        error,
        Antenna { .. }
            | Channel { .. }
            | Format { .. }
            | HalfDuplex
            | NoModule { .. }
            | NotBuilt
            | Range { .. }
            | Rate { .. }
            | Transmit { .. }
    );
    let failure = Failure::of(&error, error.fix());
    Failure { lasting: failure.lasting || lacks, ..failure }
}

impl DeviceOutcome {
    /// Why a round in which nothing was seen to go wrong is not known to be clean; `None`: the driver shows all that can.
    #[must_use]
    pub fn not_shown(&self) -> Option<&'static str> {
        if self.round.clean.is_some() {
            return None;
        }
        match &self.round.rx {
            Some(RxCounts { dropped: None, time_stamps: TimeStamps::Contradict, .. }) => {
                Some("the time stamps of its driver contradict the samples, so a loss would not show")
            }
            Some(RxCounts { dropped: None, .. }) => Some("its driver gives no time stamps, so a loss would not show"),
            _ => Some("its driver reports nothing about samples that it sends"),
        }
    }

    /// Share of the received samples that were lost, 0 to 1; 0 where nothing was to be received. `None`: not known.
    #[must_use]
    pub fn rx_lost_share(&self) -> Option<f64> {
        self.round.rx.as_ref().map_or(Some(0.0), |rx| Some(share(rx.dropped?, rx.expected_samples?)))
    }

    /// Samples that the radio did without, of those it ought to have got, as [`RateOutcome::lost`](super::RateOutcome::lost)
    /// counts them. `None`: not known.
    #[must_use]
    pub fn tx_lost_samples(&self) -> Option<u64> {
        let Some(tx) = &self.round.tx else { return Some(0) };
        let (dry, gone, late) = (tx.underflows?, tx.sequence_errors?, tx.late?);
        let complained = dry + gone + late + tx.timeouts > 0;
        let refused = (gone + late).saturating_mul((tx.mtu_samples * tx.channels) as u64);
        Some(if complained { tx.expected_samples.saturating_sub(tx.samples) + refused } else { 0 })
    }

    /// Share of them, 0 to 1. `None`: not known.
    #[must_use]
    pub fn tx_lost_share(&self) -> Option<f64> {
        let due = self.round.tx.as_ref().map_or(0, |tx| tx.expected_samples);
        self.tx_lost_samples().map(|lost| share(lost, due))
    }

    /// Splits the round by when its radio was late, as [`RateOutcome::own`](super::RateOutcome::own). A round of which not all is
    /// known has nothing that is surely this host's doing.
    #[must_use]
    pub fn own(&self, excluded: &ExcludedSpans) -> Own {
        let spans = self.fault_ticks();
        let covered = spans.iter().filter(|span| excluded.covers(**span)).count();
        let is_all = covered == spans.len() && covered > 0 && !self.has_other_faults();
        Own {
            clean: self.round.clean != Some(false) || is_all,
            excluded_share: self.excluded_share(excluded),
            excluded_faults: covered as u64,
        }
    }

    /// Share of the measured part that is excluded, 0 to 1.
    #[must_use]
    pub fn excluded_share(&self, excluded: &ExcludedSpans) -> f64 {
        let SoapyRate { rx, tx, .. } = &self.round;
        let span = rx.as_ref().and_then(|rx| rx.span_ns).or_else(|| tx.as_ref()?.span_ns);
        span.map_or(0.0, |span| excluded.share_of(span.map(|ns| self.tick(ns))))
    }

    /// The faults whose times are known, on the radio's clock.
    fn fault_ticks(&self) -> Vec<[u64; 2]> {
        let SoapyRate { rx, tx, .. } = &self.round;
        let gaps = rx.iter().flat_map(|rx| {
            // Missing samples were due when their last one was on the air.
            let due_ns = (rx.mtu_samples as f64 / rx.rate_sps * 1e9) as i64;
            rx.gaps_ns.iter().map(move |[from, to]| [from.saturating_add(due_ns).min(*to), *to])
        });
        let reports = tx.iter().flat_map(|tx| tx.reports_ns.iter().map(|at| [*at, *at]));
        gaps.chain(reports).map(|span| span.map(|ns| self.tick(ns))).collect()
    }

    /// Whether something went wrong of which nobody knows when.
    fn has_other_faults(&self) -> bool {
        let SoapyRate { rx, tx, duration_s, complete, .. } = &self.round;
        !complete
            || rx.as_ref().is_some_and(|rx| has_untimed(rx, *duration_s))
            || tx.as_ref().is_some_and(|tx| tx.timeouts > 0 || reports(tx) != tx.reports_ns.len() as u64)
    }

    /// A time of the device's clock as a tick of the radio's.
    fn tick(&self, ns: i64) -> u64 {
        let clock: TickRate = self.options.model.unwrap_or(Model::N200).clock();
        clock.ticks_in(Duration::from_nanos(ns.max(0).unsigned_abs())).0
    }
}

fn has_untimed(rx: &RxCounts, duration_s: f64) -> bool {
    let timed = rx.gaps_ns.len() as u64;
    let overflows_alone = rx.overflows.unwrap_or(0) > timed;
    let more_gaps = rx.gaps != Some(timed) || rx.tail_samples != Some(0);
    rx.samples == 0
        || more_gaps
        || overflows_alone
        || rx.stream_errors + rx.restarts + rx.timeouts > 0
        || rx.fell_behind(duration_s)
}

fn reports(tx: &TxCounts) -> u64 {
    [tx.underflows, tx.sequence_errors, tx.late, tx.unknown_reports].into_iter().flatten().sum()
}

fn share(lost: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { (lost as f64 / of as f64).min(1.0) }
}

#[cfg(test)]
mod tests {
    use takt_base::Speed;

    use super::*;

    /// A round of a second from 0 on, at 1 MS/s, in which these gaps of 363 samples began, ms.
    fn round(gaps_ms: &[i64]) -> DeviceOutcome {
        let gap = |ms: &i64| [ms * 1_000_000, ms * 1_000_000 + 363_000];
        let gaps = gaps_ms.len() as u64;
        let rx = RxCounts {
            rate_sps: 1e6,
            channels: 1,
            mtu_samples: 363,
            time_stamps: TimeStamps::Count,
            samples: 1_000_000 - 363 * gaps,
            expected_samples: Some(1_000_000),
            dropped: Some(363 * gaps),
            tail_samples: Some(0),
            gaps: Some(gaps),
            gaps_ns: gaps_ms.iter().map(gap).collect(),
            span_ns: Some([0, 1_000_000_000]),
            overflows: Some(gaps),
            ..RxCounts::default()
        };
        let round = SoapyRate {
            device: "soapy:driver=uhd".to_owned(),
            rx: Some(rx),
            duration_s: 1.0,
            complete: true,
            clean: Some(gaps == 0),
            ..SoapyRate::default()
        };
        let options = RateOptions { model: Some(Model::N200), ..RateOptions::default() };
        DeviceOutcome { options, round, cpu: Cpu::default(), wall_s: 1.0 }
    }

    /// A radio that was late from 10 to 13 ms.
    fn late() -> ExcludedSpans {
        let clock = (Model::N200.clock(), Speed::WALL);
        ExcludedSpans::of([[10_000_000, 13_000_000]].into_iter(), clock, 0)
    }

    #[test]
    fn only_what_was_lost_while_the_radio_was_late_is_excluded() {
        let own = |gaps: &[i64]| {
            let Own { clean, excluded_faults, .. } = round(gaps).own(&late());
            (clean, excluded_faults)
        };
        assert_eq!([own(&[]), own(&[12]), own(&[12, 500])], [(true, 0), (true, 1), (false, 1)]);
        assert!((round(&[]).own(&late()).excluded_share - 0.008).abs() < 1e-9);
        let mut behind = round(&[12]);
        behind.round.rx.as_mut().unwrap().behind_s = Some(0.5);
        assert!(!behind.own(&late()).clean, "nobody knows since when");
    }

    #[test]
    fn what_the_driver_can_not_tell_is_null_in_the_record_and_in_the_shares() {
        let mut blind = round(&[]);
        let rx = blind.round.rx.as_mut().unwrap();
        (rx.dropped, rx.expected_samples, rx.gaps, rx.overflows) = (None, None, None, None);
        rx.time_stamps = TimeStamps::Absent;
        blind.round.tx = Some(TxCounts { samples: 5, ..TxCounts::default() });
        blind.round.clean = None;
        assert_eq!((blind.rx_lost_share(), blind.tx_lost_share(), blind.tx_lost_samples()), (None, None, None));
        assert!(blind.not_shown().is_some_and(|why| why.contains("no time stamps")) && blind.own(&late()).clean);
        let record = serde_json::to_value(&blind).unwrap();
        assert!(is_of_a_device(&record) && record["rx"]["dropped"].is_null() && record["tx"]["underflows"].is_null());
        assert_eq!(serde_json::from_value::<DeviceOutcome>(record).unwrap(), blind);
    }

    #[test]
    fn what_a_driver_reports_is_lost_as_takts_own_counts_it() {
        let tx = |late: u64, samples: u64| {
            let tx = TxCounts {
                rate_sps: 1e6,
                channels: 1,
                mtu_samples: 363,
                samples,
                expected_samples: 1000,
                underflows: Some(0),
                sequence_errors: Some(0),
                late: Some(late),
                ..TxCounts::default()
            };
            let round = SoapyRate { rx: None, tx: Some(tx), ..round(&[]).round };
            DeviceOutcome { round, ..self::round(&[]) }.tx_lost_samples()
        };
        assert_eq!([tx(0, 900), tx(1, 900), tx(1, 1000)], [Some(0), Some(463), Some(363)]);
    }

    #[test]
    fn a_flag_of_takts_own_driver_is_not_passed_over() {
        assert_eq!(without_effect(&RateOptions::default()), None);
        let options = RateOptions { busy_poll: true, ..RateOptions::default() };
        assert_eq!(without_effect(&options), Some("--busy-poll"));
        let options = RateOptions { priority: Some(50), ..RateOptions::default() };
        assert_eq!(without_effect(&options), Some("--policy"));
    }
}
