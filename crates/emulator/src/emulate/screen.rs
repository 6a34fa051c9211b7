//! The summary of `takt emulate`, as text.

use std::fmt::Write as _;

use takt_base::shown::{count, duration, time_ns};

use super::{AirDevice, AirSummary, DeviceSummary, ModelDevice, SpeedChoice, Summary};
use crate::drive::wall::{LagReport, Waiting};
use crate::n200::{self, N200Report};
use crate::x310::X310Report;

/// Snapshot of radios of one model; `wanted`: the speed that was asked for.
#[must_use]
pub fn text<R: Described>(summary: &Summary<R>, wanted: SpeedChoice) -> String {
    let mut out = String::new();
    for device in &summary.devices {
        describe(&mut out, &summary.model, device, summary.duration_s);
    }
    describe_speed(&mut out, summary.speed, wanted);
    describe_lag(&mut out, &summary.lag);
    out
}

/// Nothing of radios that were meant to run as fast as the wall's clock.
fn describe_speed(out: &mut String, speed: f64, wanted: SpeedChoice) {
    let _ = match wanted {
        SpeedChoice::Fixed(wanted) if wanted.is_wall() => Ok(()),
        SpeedChoice::Fixed(_) => writeln!(out, "speed    {speed} of real time"),
        SpeedChoice::Auto => writeln!(out, "speed    {speed} of real time at the end, found by --speed auto"),
    };
}

/// Snapshot of radios of both models in one air.
#[must_use]
pub fn air_text(summary: &AirSummary, wanted: SpeedChoice) -> String {
    let mut out = String::new();
    for AirDevice { name, device } in &summary.devices {
        match device {
            ModelDevice::N200(device) => describe(&mut out, &format!("{name}: n200"), device, summary.duration_s),
            ModelDevice::X310(device) => describe(&mut out, &format!("{name}: x310"), device, summary.duration_s),
        }
    }
    describe_speed(&mut out, summary.speed, wanted);
    describe_lag(&mut out, &summary.lag);
    out
}

fn describe_lag(out: &mut String, lag: &LagReport) {
    let _ = writeln!(
        out,
        "own lag  half within {}, 99.9 % within {}, longest {}; {} of {} datagrams over {}, {} never left",
        us(lag.p50_us),
        us(lag.p99_9_us),
        us(lag.max_us),
        count(lag.over_limit),
        count(lag.datagrams),
        us(lag.limit_us),
        count(lag.unsent)
    );
    if let Some(waiting) = &lag.waiting {
        let _ = writeln!(out, "waits    {}", waits(waiting));
    }
}

fn us(us: u64) -> String {
    time_ns(us * 1000)
}

/// How the radios' threads waited, and why they may have been late.
fn waits(waiting: &Waiting) -> String {
    let Waiting { policy, cpus, timer_slack_ns, slice_ns, beat_us, left } = waiting;
    let policy = policy.as_deref().unwrap_or("policy not known");
    let slice = slice_ns.map_or(String::new(), |ns| format!(", slice {}", time_ns(ns)));
    let cpus = cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    format!(
        "beats of {}, {policy}, CPUs {cpus}, timer slack {}{slice}; what is left is {left}",
        us(*beat_us),
        time_ns(*timer_slack_ns)
    )
}

/// Parts of a report that depend on the model.
pub trait Described {
    /// The hosts that used the radio.
    fn hosts(&self) -> &n200::HostReport;
    /// Each receiver, and what it is called.
    fn receivers(&self) -> Vec<(String, &n200::RxReport)>;
    /// Each transmitter, and what it is called.
    fn transmitters(&self) -> Vec<(String, &n200::TxReport)>;
    /// In a line: requests and commands.
    fn control(&self) -> String;
}

impl Described for N200Report {
    fn hosts(&self) -> &n200::HostReport {
        &self.hosts
    }

    fn receivers(&self) -> Vec<(String, &n200::RxReport)> {
        self.rx.iter().enumerate().map(|(n, rx)| (format!("receive {n}"), rx)).collect()
    }

    fn transmitters(&self) -> Vec<(String, &n200::TxReport)> {
        vec![("transmit".to_owned(), &self.tx)]
    }

    fn control(&self) -> String {
        let control = &self.control;
        format!(
            "{} requests, {} commands, {} not understood, {} malformed datagrams",
            control.requests, control.commands, control.not_understood, control.malformed_datagrams
        )
    }
}

impl Described for X310Report {
    fn hosts(&self) -> &n200::HostReport {
        &self.hosts
    }

    /// The second channel of a slot only if it was used: most boards have one.
    fn receivers(&self) -> Vec<(String, &n200::RxReport)> {
        let named = self.rx.iter().zip(["receive A:0", "receive A:1", "receive B:0", "receive B:1"]).enumerate();
        named
            .filter(|(n, (rx, _))| n % 2 == 0 || rx.commands > 0)
            .map(|(_, (rx, name))| (name.to_owned(), rx))
            .collect()
    }

    fn transmitters(&self) -> Vec<(String, &n200::TxReport)> {
        self.tx.iter().zip(["transmit A", "transmit B"]).map(|(tx, name)| (name.to_owned(), tx)).collect()
    }

    fn control(&self) -> String {
        let control = &self.control;
        format!(
            "{} requests, {} commands, {} dropped, {} malformed datagrams, master clock {} MHz",
            control.requests,
            control.commands,
            control.dropped_commands,
            control.malformed_datagrams,
            self.master_clock_hz / 1e6
        )
    }
}

fn describe<R: Described>(out: &mut String, model: &str, device: &DeviceSummary<R>, duration_s: f64) {
    let DeviceSummary { addr, serial, radio, .. } = device;
    let _ = writeln!(out, "{model} {addr}, serial {serial}, {}", duration(duration_s));
    let _ = writeln!(out, "  {:<11} {:>10} {:>16}   events", "", "packets", "samples");
    for (name, rx) in radio.receivers() {
        let _ = writeln!(
            out,
            "  {name:<11} {:>10} {:>16}   O {}  L {}  broken chains {}  stops while idle {}",
            rx.packets, rx.samples, rx.overflows, rx.late, rx.broken_chains, rx.idle_stops
        );
    }
    for (name, tx) in radio.transmitters() {
        let _ = writeln!(
            out,
            "  {name:<11} {:>10} {:>16}   U {}  L {}  S {}  overruns {}  bursts {}",
            tx.packets, tx.samples, tx.underflows, tx.late, tx.sequence_errors, tx.overrun_packets, tx.bursts
        );
    }
    let hosts = radio.hosts();
    let _ = writeln!(out, "  control     {}", radio.control());
    let _ = writeln!(
        out,
        "  hosts       {} lost, {} destinations refused; datagrams lost in this host's receive buffers {}",
        hosts.lost,
        hosts.refused_destinations,
        device.datagrams.receive_buffer_drops.map_or_else(|| "not known".to_owned(), |n| n.to_string())
    );
    let (source, sink) = (&device.signals.source, &device.signals.sink);
    if sink.files > 0 {
        let _ = writeln!(
            out,
            "  sink      {} samples in {} files, {} clipped, {} dropped",
            sink.samples, sink.files, sink.clipped_samples, sink.dropped_samples
        );
    }
    if source.starved_samples + source.lost_samples > 0 {
        let _ = writeln!(
            out,
            "  source    {} samples late from disk, {} lost",
            source.starved_samples, source.lost_samples
        );
    }
    if source.clipped_samples + sink.late_samples > 0 {
        let _ = writeln!(
            out,
            "  air       {} samples received beyond full scale, {} sent too late to be received",
            source.clipped_samples, sink.late_samples
        );
    }
    for error in [&source.error, &sink.error].into_iter().flatten() {
        let _ = writeln!(out, "  signals   {error}");
    }
    for (fault, injected) in &device.faults {
        let _ = writeln!(out, "  fault     {fault}: {injected}");
    }
}
