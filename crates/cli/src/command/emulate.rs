//! `takt emulate`: run software radios until stopped.

use std::convert::Infallible;
use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr};

use takt_base::shown::{count, duration, time_ns};
use takt_emulator::drive::wall::Waiting;
use takt_emulator::emulate::{self, DeviceSummary, EmulateError, Options, Summary};
use takt_packet::EngineError;

use crate::policy::priority_is_policy;
use crate::{Answer, Output, Problem, stop_on_signal};

/// Arguments.
///
/// Options that belong to a radio (serial, name, source, sink, eeprom) may be repeated: the first is that of the first
/// --addr, and so on. One source or sink alone is that of all radios.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt emulate n200
  takt emulate n200 --addr 127.0.0.1 --addr 127.0.0.2 --source tone:offset=100k
  takt emulate n200 --source loopback --sink sigmf:sent --fault lose:rx,every=1000 --json

Prints `ready MODEL ADDR` when it listens, runs until Ctrl-C, ends with a summary.")]
pub struct Args {
    /// Which radio.
    #[arg(value_parser = ["n200"])]
    model: String,
    #[command(flatten)]
    options: Options,
    #[arg(long = "priority", hide = true, value_parser = priority_is_policy)]
    _priority: Option<Infallible>,
}

pub fn run(args: Args, output: &Output) -> miette::Result<Answer> {
    let stop = stop_on_signal()?;
    let model = args.model.clone();
    let mut ready = |addr| output.line(format!("ready {model} {addr}"));
    let summary = emulate::run(&args.options, &mut ready, &stop).map_err(problem)?;
    for device in &summary.devices {
        if let Some(first) = device.radio.hosts.refused_addresses.first() {
            output.note(format!(
                "radio {} did not send to {first}: only loopback and networks named with --allow are permitted",
                device.addr
            ));
        }
    }
    output.answer(&summary, || text(&summary), Answer::Yes)
}

pub fn problem(error: EmulateError) -> Problem {
    Problem::caused("the radios can't run", error, fix)
}

fn fix(error: &EmulateError) -> Option<String> {
    Some(match error {
        EmulateError::Ports { source: EngineError::PortInUse { addr: taken }, .. } => {
            let stop = format!("stop the other program (ss -ulnp 'sport = :{}' names it)", taken.port());
            match taken.ip() {
                IpAddr::V4(addr) if addr.is_loopback() => {
                    let [a, b, c, d] = addr.octets();
                    format!("{stop}\n--addr {}", Ipv4Addr::new(a, b, c, d.wrapping_add(1).max(1)))
                }
                _ => stop,
            }
        }
        EmulateError::Ports { addr, source: EngineError::NotLocal { .. } } => {
            format!("--addr 127.0.0.1\nip addr add {addr}/24 dev INTERFACE")
        }
        EmulateError::Priority { source, .. } => {
            let without = "leave --policy away";
            source.fix().map_or_else(|| without.to_owned(), |fix| format!("{fix}\n{without}"))
        }
        EmulateError::ForeignEeprom { .. } => {
            "--eeprom with another file; one that is not there yet is made".to_owned()
        }
        EmulateError::Signal(error) => error.fix(),
        EmulateError::Signals { source, .. } => source.fix(),
        EmulateError::SharedSink { .. } => "one --sink for each --addr, each with its own file".to_owned(),
        EmulateError::TooMany { what, .. } => format!("one --addr for each {what}"),
        EmulateError::Addresses { .. } => "one --addr for each radio, all different".to_owned(),
        _ => return None,
    })
}

fn text(summary: &Summary) -> String {
    let mut out = String::new();
    for device in &summary.devices {
        describe(&mut out, device, summary.duration_s);
    }
    let lag = &summary.lag;
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
    out
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

fn describe(out: &mut String, device: &DeviceSummary, duration_s: f64) {
    let DeviceSummary { addr, serial, radio, .. } = device;
    let _ = writeln!(out, "n200 {addr}, serial {serial}, {}", duration(duration_s));
    let _ = writeln!(out, "  {:<9} {:>12} {:>16}   events", "", "packets", "samples");
    for (n, rx) in radio.rx.iter().enumerate() {
        let _ = writeln!(
            out,
            "  receive {n} {:>12} {:>16}   O {}  L {}  broken chains {}  stops while idle {}",
            rx.packets, rx.samples, rx.overflows, rx.late, rx.broken_chains, rx.idle_stops
        );
    }
    let tx = &radio.tx;
    let _ = writeln!(
        out,
        "  transmit  {:>12} {:>16}   U {}  L {}  S {}  overruns {}  bursts {}",
        tx.packets, tx.samples, tx.underflows, tx.late, tx.sequence_errors, tx.overrun_packets, tx.bursts
    );
    let (control, hosts) = (&radio.control, &radio.hosts);
    let _ = writeln!(
        out,
        "  control   {} requests, {} commands, {} not understood, {} malformed datagrams",
        control.requests, control.commands, control.not_understood, control.malformed_datagrams
    );
    let _ = writeln!(
        out,
        "  hosts     {} lost, {} destinations refused; datagrams lost in this host's receive buffers {}",
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
    for error in [&source.error, &sink.error].into_iter().flatten() {
        let _ = writeln!(out, "  signals   {error}");
    }
    for (fault, injected) in &device.faults {
        let _ = writeln!(out, "  fault     {fault}: {injected}");
    }
}
