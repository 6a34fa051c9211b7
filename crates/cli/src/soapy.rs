//! `--device soapy:...`: devices of SoapySDR behind the commands.
//!
//! Everything of SoapySDR runs on ordinary threads of the command, since a driver may block: without a core of their own, without
//! priority, and never on the path that works slot by slot.

mod session;

use std::fmt::Write as _;

use takt_base::shown::{count, duration, significant, time};
use takt_base::words::{list, plural};
use takt_live::Kind;
use takt_load::rate::RateOptions;
use takt_radio::board::Range;
use takt_radio::{StreamViews, watched_stream};
use takt_soapy::{
    ChannelReport, DeviceSpec, FoundDevice, Notice, RxCounts, SoapyError, SoapyProbe, SoapyRadio, SoapyRate,
    TimeStamps, TxCounts,
};

use crate::radio_problem::{self, mega};
use crate::{Answer, Bar, LiveArgs, Output, Problem, stop_on_signal};

pub use session::{play, record};

pub fn find(spec: &DeviceSpec, output: &Output) -> miette::Result<Answer> {
    let found = takt_soapy::find(spec).map_err(|error| problem("look for devices", error, ""))?;
    output.answer(&found, || found_text(&found, spec), Answer::of(!found.is_empty()))
}

pub fn probe(spec: &DeviceSpec, output: &Output) -> miette::Result<Answer> {
    let radio = open(spec)?;
    let description = takt_soapy::probe(&radio).map_err(|error| problem("describe the device", error, ""))?;
    output.answer(&description, || probe_text(&description), Answer::Yes)
}

pub fn rate(spec: &DeviceSpec, options: &RateOptions, live: &LiveArgs, output: &Output) -> miette::Result<Answer> {
    if let Some(flag) = takt_load::rate::without_effect(options) {
        return Err(no_effect(flag).into());
    }
    if options.calibration.is_off() {
        return Err(no_effect("--calibration").into());
    }
    let stop = stop_on_signal()?;
    let (radio, plan) = (open(spec)?, takt_load::rate::device_plan(options));
    let ((rx, rx_view), (tx, tx_view)) = (watched_stream(), watched_stream());
    let views = StreamViews::from_iter([rx_view, tx_view]);
    let _publisher = live.publish(Kind::Rate, radio.name(), views, output);
    let outcome = Bar::during(output, |bar| {
        let mut notify = |notice: Notice| match notice {
            Notice::OnAir(emission) => output.note(radio_problem::on_air(&emission)),
            Notice::At(at) => bar.show(at.elapsed, at.planned),
        };
        takt_soapy::measure_seen(&radio, &plan, &[rx, tx], &mut notify, &stop)
    });
    let outcome = outcome.map_err(|error| {
        let flag = if matches!(error, SoapyError::Rate { way: "transmit", .. }) { "--tx" } else { "--rx" };
        problem("stream", error, flag)
    })?;
    output.answer(&outcome, || rate_text(&outcome), answer(outcome.clean))
}

/// Refuses a device in a build that has no SoapySDR.
///
/// # Errors
/// It has none.
pub fn is_built() -> Result<(), Problem> {
    if takt_soapy::IS_BUILT { Ok(()) } else { Err(problem("use the device", SoapyError::NotBuilt, "")) }
}

/// Refuses a flag that is about takt's own driver.
pub fn no_effect(flag: &str) -> Problem {
    Problem::new(format!("{flag} has no effect on a device of SoapySDR")).fix(format!("omit {flag}"))
}

fn open(spec: &DeviceSpec) -> Result<SoapyRadio, Problem> {
    SoapyRadio::open(spec).map_err(|error| problem("open the device", error, ""))
}

/// An answer that nobody knows is none.
fn answer(good: Option<bool>) -> Answer {
    good.map_or(Answer::Unknown, Answer::of)
}

/// Says why a device could not be `used`; `rate` begins the fix of a wrong rate (`give --rx`).
pub fn problem(used: &str, error: SoapyError, rate: &str) -> Problem {
    match error {
        SoapyError::NotBuilt => Problem::new("this takt was built without SoapySDR")
            .why("SoapySDR is a library of its own, and off by default")
            .fix(SoapyError::NotBuilt.fix().unwrap_or_default()),
        SoapyError::NoRate => Problem::caused("there is nothing to stream", error, SoapyError::fix),
        SoapyError::Stream(error) => radio_problem::problem(used, error, rate),
        SoapyError::Rate { way, requested_sps, nearest_sps, .. } => {
            let what = format!("the device can't {way} at {} MS/s", mega(requested_sps));
            Problem::caused(what, error, |_| nearest(rate, nearest_sps))
        }
        error => Problem::caused(format!("can't {used}"), error, SoapyError::fix),
    }
}

/// The fixes that name the rates next to one that the device does not have.
fn nearest(rate: &str, nearest_sps: [Option<f64>; 2]) -> Option<String> {
    let fix = |sps| format!("{rate} {}M", mega(sps));
    let mut fixes: Vec<String> = nearest_sps.into_iter().flatten().map(fix).collect();
    fixes.dedup();
    (!fixes.is_empty()).then(|| fixes.join("\n"))
}

fn found_text(found: &[FoundDevice], spec: &DeviceSpec) -> String {
    if found.is_empty() {
        return format!("SoapySDR finds no device for {spec}. `SoapySDRUtil --info` lists its modules.");
    }
    found.iter().map(|found| format!("{}  {}", found.device, found.label())).collect::<Vec<_>>().join("\n")
}

fn probe_text(probe: &SoapyProbe) -> String {
    let mut text = format!("{}  driver {}, hardware {}\n", probe.device, probe.about.driver, probe.about.hardware);
    let clock = probe.master_clock_hz.map_or_else(|| "unknown".to_owned(), |hz| format!("{} MHz", mega(hz)));
    let now = probe.time_ns.map_or_else(|| "it can't be read".to_owned(), |ns| format!("{:.9} s", ns as f64 / 1e9));
    let _ = writeln!(text, "  {:<10} {clock}; time {now}", "clock");
    for (way, channels) in [("receive", &probe.rx), ("transmit", &probe.tx)] {
        if channels.is_empty() {
            let _ = writeln!(text, "  {way:<10} no channel");
        }
        for (n, channel) in channels.iter().enumerate() {
            let _ = writeln!(text, "  {way:<10} channel {n}: {}", channel_text(channel));
        }
    }
    for (key, value) in &probe.about.info {
        let _ = writeln!(text, "  {key:<10} {value}");
    }
    text
}

fn channel_text(channel: &ChannelReport) -> String {
    let gain = channel.gains_db.map(|Range { low, high, .. }| format!("gain {low} to {high} dB"));
    let all = [
        millions(&channel.rates_sps).map(|rates| format!("{rates} MS/s")),
        millions(&channel.frequencies_hz).map(|frequencies| format!("{frequencies} MHz")),
        gain,
        (!channel.antennas.is_empty()).then(|| format!("antennas {}", channel.antennas.join(", "))),
        (!channel.formats.is_empty()).then(|| format!("samples {}", channel.formats.join(", "))),
        (channel.full_duplex == Some(false)).then(|| "half duplex".to_owned()),
    ];
    let known: Vec<String> = all.into_iter().flatten().collect();
    if known.is_empty() { "its driver says nothing".to_owned() } else { known.join("; ") }
}

/// The lowest and the highest of these, in millions, and how many there are if they are single values.
fn millions(ranges: &[Range]) -> Option<String> {
    let low = ranges.iter().map(|range| range.low).reduce(f64::min)?;
    let high = ranges.iter().map(|range| range.high).reduce(f64::max)?;
    let are_single = ranges.len() > 1 && ranges.iter().all(|range| range.low >= range.high);
    let number = if are_single { format!("{} from ", ranges.len()) } else { String::new() };
    Some(format!("{number}{} to {}", mega(low), mega(high)))
}

fn rate_text(outcome: &SoapyRate) -> String {
    let mut lines = vec![headline(outcome)];
    lines.push(format!("  device    {}, driver {}, hardware {}", outcome.device, outcome.driver, outcome.hardware));
    lines.extend(outcome.rx.as_ref().map(rx_text));
    lines.extend(outcome.tx.as_ref().map(tx_text));
    lines.join("\n")
}

fn headline(outcome: &SoapyRate) -> String {
    let took = duration(outcome.duration_s);
    match outcome.clean {
        Some(true) => format!("Yes: nothing was lost in {took}."),
        Some(false) if !outcome.complete => "No: stopped early.".to_owned(),
        Some(false) => format!("No: {} in {took}.", list(&reasons(outcome))),
        None => format!("Not known: nothing was seen to go wrong in {took}, but the driver does not show everything."),
    }
}

/// The faults of a round, as far as they were seen.
fn reasons(outcome: &SoapyRate) -> Vec<String> {
    let mut found: Vec<(u64, &str)> = Vec::new();
    if let Some(rx) = &outcome.rx {
        found.extend([
            (rx.dropped.unwrap_or(0), "samples lost"),
            (rx.overflows.unwrap_or(0), "overflows"),
            (rx.stream_errors, "faults of the stream"),
            (rx.restarts, "restarts"),
            (rx.timeouts, "receive time-outs"),
        ]);
    }
    if let Some(tx) = &outcome.tx {
        found.extend([
            (tx.underflows.unwrap_or(0), "underflows"),
            (tx.sequence_errors.unwrap_or(0), "sequence errors at the device"),
            (tx.late.unwrap_or(0), "late packets or commands"),
            (tx.unknown_reports.unwrap_or(0), "unknown reports"),
            (tx.timeouts, "transmit time-outs"),
        ]);
    }
    let mut reasons: Vec<String> =
        found.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", count(n))).collect();
    let nothing_came = outcome.rx.as_ref().is_some_and(|rx| rx.samples == 0);
    reasons.extend(nothing_came.then(|| "not one sample came".to_owned()));
    let nothing_left = outcome.tx.as_ref().is_some_and(|tx| tx.samples == 0);
    reasons.extend(nothing_left.then(|| "not one sample left".to_owned()));
    let behind = outcome.rx.as_ref().filter(|rx| rx.fell_behind(outcome.duration_s)).and_then(|rx| rx.behind_s);
    reasons.extend(behind.map(|behind_s| format!("the reader fell behind by {}", time(behind_s))));
    reasons
}

fn rx_text(rx: &RxCounts) -> String {
    let stamps = match rx.time_stamps {
        TimeStamps::Count => "its time stamps count samples",
        TimeStamps::Absent => "it has no time stamps, so nobody can count what is lost",
        TimeStamps::Contradict => "its time stamps contradict the samples, so nobody can count what is lost",
    };
    format!(
        "  receive   {} on {}: {} samples, {} lost in {} gaps, O {}, restarts {}, timeouts {}; {stamps}",
        rate_of(rx.rate_sps),
        plural(rx.channels as u64, "channel"),
        count(rx.samples),
        known(rx.dropped),
        known(rx.gaps),
        known(rx.overflows),
        count(rx.restarts),
        count(rx.timeouts)
    )
}

fn tx_text(tx: &TxCounts) -> String {
    format!(
        "  transmit  {} on {}: {} samples, U {}, S {}, L {}, timeouts {}",
        rate_of(tx.rate_sps),
        plural(tx.channels as u64, "channel"),
        count(tx.samples),
        known(tx.underflows),
        known(tx.sequence_errors),
        known(tx.late),
        count(tx.timeouts)
    )
}

fn rate_of(sps: f64) -> String {
    format!("{} MS/s", significant(sps / 1e6, 7))
}

/// A count, or that nobody knows it.
fn known(value: Option<u64>) -> String {
    value.map_or_else(|| "unknown".to_owned(), count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(rx: RxCounts, clean: Option<bool>) -> SoapyRate {
        let device = "soapy:driver=hackrf".to_owned();
        SoapyRate { device, rx: Some(rx), duration_s: 2.0, complete: true, clean, ..SoapyRate::default() }
    }

    #[test]
    fn what_nobody_knows_is_never_printed_as_none() {
        let rx = RxCounts { rate_sps: 2e6, channels: 1, samples: 4_000_000, ..RxCounts::default() };
        let said = rate_text(&outcome(rx, None));
        assert!(said.starts_with("Not known: nothing was seen to go wrong in 2 s,"), "{said}");
        assert!(said.contains("4 000 000 samples, unknown lost in unknown gaps, O unknown,"), "{said}");
        assert!(said.contains("it has no time stamps"), "{said}");
        assert_eq!([Some(true), Some(false), None].map(answer), [Answer::Yes, Answer::No, Answer::Unknown]);
    }

    #[test]
    fn what_was_seen_is_in_the_answer() {
        let rx = RxCounts { samples: 1, dropped: Some(363), overflows: Some(1), ..RxCounts::default() };
        let said = rate_text(&outcome(rx, Some(false)));
        assert!(said.starts_with("No: 363 samples lost and 1 overflows in 2 s.\n"), "{said}");
        let said = rate_text(&outcome(RxCounts::default(), Some(false)));
        assert!(said.starts_with("No: not one sample came in 2 s.\n"), "{said}");
        let rx = RxCounts { samples: 1, dropped: Some(0), behind_s: Some(0.5), ..RxCounts::default() };
        assert!(rate_text(&outcome(rx, Some(false))).starts_with("No: the reader fell behind by 500 ms in 2 s.\n"));
    }

    #[test]
    fn rates_and_frequencies_are_told_in_short() {
        let single = |value: f64| Range { low: value, high: value, step: 0.0 };
        assert_eq!(millions(&[single(1e6), single(25e6)]).as_deref(), Some("2 from 1 to 25"));
        assert_eq!(millions(&[Range { low: 1e6, high: 2e9, step: 0.0 }]).as_deref(), Some("1 to 2000"));
        assert_eq!(millions(&[]), None);
        let both = [Some(20e6), Some(25e6)];
        assert_eq!(nearest("--rx", both).as_deref(), Some("--rx 20M\n--rx 25M"));
        assert_eq!(nearest("--rate", [Some(1e6); 2]).as_deref(), Some("--rate 1M"));
    }
}
