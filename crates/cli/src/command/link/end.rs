//! `takt link enb` and `takt link ue`: one end on a radio.

use std::net::IpAddr;
use std::time::Duration;

use miette::Result;
use takt_base::{parse_duration, parse_ip, parse_number};
use takt_host::tun::Tun;
use takt_live::Kind;
use takt_lte_link::{BearerMode, Policy};
use takt_lte_radio::ends::{StationEnd, StationReport, TerminalEnd, TerminalReport};
use takt_lte_radio::{RadioWish, TunPort, watched_station, watched_terminal};
use takt_packet::EngineKind;
use takt_radio::FrontEnd;
use takt_radio::calibration::CalibrationUse;

use super::carrier::{Carrier, mode};
use super::demo::{of_end, threads};
use crate::policy::StreamingThread;
use crate::screen::recording::calibrated;
use crate::{Answer, LiveArgs, Output, Problem, stop_on_signal};

#[derive(Debug, clap::Args)]
struct EndArgs {
    #[command(flatten)]
    carrier: Carrier,
    /// Address of the radio.
    #[arg(long, default_value = "127.0.0.1", value_parser = parse_ip)]
    addr: IpAddr,
    /// Frequency of the downlink in Hz (N200 only).
    #[arg(long, value_name = "HZ", value_parser = parse_number)]
    downlink: Option<f64>,
    /// Frequency of the uplink in Hz (N200 only).
    #[arg(long, value_name = "HZ", value_parser = parse_number)]
    uplink: Option<f64>,
    /// Receive gain in dB (N200 only).
    #[arg(long, value_name = "DB")]
    rx_gain: Option<f64>,
    /// Transmit gain in dB (N200 only).
    #[arg(long, value_name = "DB")]
    tx_gain: Option<f64>,
    /// Calibration files to apply when tuning (N200 only): uhd (those of `takt radio calibrate` and UHD) or off.
    #[arg(long, value_name = "FILES", default_value = "uhd")]
    calibration: CalibrationUse,
    /// Transmit even if the radio is not takt's emulator. First put an attenuator or a dummy load on the connector, unless you
    /// may use the frequency.
    #[arg(long)]
    transmit: bool,
    /// Take over the radio even if another host uses it.
    #[arg(long)]
    force: bool,
    /// Packet engine.
    #[arg(long, help = format!("Packet engine: {}", EngineKind::FORMS), value_name = "ENGINE", default_value = "mmsg")]
    engine: EngineKind,
    /// Name of the interface to make, up to 15 bytes. It disappears when the command ends.
    #[arg(long, value_name = "NAME", default_value = "takt-lte")]
    tun: String,
    #[command(flatten)]
    thread: StreamingThread,
    #[command(flatten)]
    live: LiveArgs,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  sudo takt link enb --addr 127.0.0.43 --prb 25\n  sudo ip addr add 172.16.0.1/24 dev takt-lte\n\n\
    Needs CAP_NET_ADMIN, for the interface. Nothing on the air is encrypted.\n\n\
    Exit status:\n  0  you stopped it, and all samples came in time\n  1  a sample was late or lost\n  2  the command failed"
)]
pub struct StationArgs {
    #[command(flatten)]
    end: EndArgs,
    /// Identity of the cell, 0 to 503.
    #[arg(long, value_name = "ID", default_value_t = 1)]
    cell: u16,
    /// Name of the network, up to 24 bytes.
    #[arg(long, value_name = "TEXT", default_value = "takt")]
    name: String,
    /// Bearers: am (acknowledged) or um (unacknowledged).
    #[arg(long, value_name = "MODE", default_value = "am", value_parser = mode)]
    mode: BearerMode,
    /// How to choose the next terminal to serve: round-robin, best-quality or proportional-fair.
    #[arg(long, value_name = "POLICY", default_value = "round-robin", value_parser = policy)]
    scheduler: Policy,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  sudo takt link ue --addr 127.0.0.44 --prb 25\n  sudo ip addr add 172.16.0.2/24 dev takt-lte\n\n\
    Needs CAP_NET_ADMIN, for the interface. Nothing on the air is encrypted.\n\n\
    Exit status:\n  0  you stopped it, and all samples came in time\n  1  a sample was late or lost\n  2  the command failed"
)]
pub struct TerminalArgs {
    #[command(flatten)]
    end: EndArgs,
    /// Identity of this terminal, 0 to 281474976710655. No two terminals of a network may have the same.
    #[arg(long, value_name = "N", default_value_t = 1)]
    identity: u64,
    /// Send this much earlier: the `--latency` of a shared radio (takt share).
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = parse_duration)]
    early: Duration,
}

fn policy(text: &str) -> Result<Policy, String> {
    match text {
        "round-robin" => Ok(Policy::RoundRobin),
        "best-quality" => Ok(Policy::BestQuality),
        "proportional-fair" => Ok(Policy::ProportionalFair),
        _ => Err("give round-robin, best-quality or proportional-fair".to_owned()),
    }
}

pub fn run_station(args: StationArgs, output: &Output) -> Result<Answer> {
    let cell = args.end.carrier.cell(args.cell)?;
    let numerology = args.end.carrier.numerology()?;
    let (mut port, radio) = args.end.open(true)?;
    let (probe, view) = watched_station();
    let title = format!("base station of cell {} at {}", args.cell, args.end.addr);
    let publisher = args.end.live.publish(Kind::Link, &title, view, output);
    let end = StationEnd {
        cell,
        numerology,
        iterations: args.end.carrier.iterations.into(),
        name: args.name,
        mode: args.mode,
        policy: args.scheduler,
        radio,
        probe: publisher.is_some().then_some(probe),
    };
    let stop = stop_on_signal()?;
    let report = end.run(&mut port, &|line| output.note(line), &stop).map_err(|error| of_end("base station", error))?;
    output.answer(&report, || station_text(&report), Answer::of(report.samples.is_clean()))
}

pub fn run_terminal(args: TerminalArgs, output: &Output) -> Result<Answer> {
    let numerology = args.end.carrier.numerology()?;
    let (mut port, radio) = args.end.open(false)?;
    // An N200 has no rate of LTE: takt makes it from the next one above.
    let radio = RadioWish { early: args.early, resample: true, ..radio };
    let (probe, view) = watched_terminal();
    let title = format!("terminal {} at {}", args.identity, args.end.addr);
    let publisher = args.end.live.publish(Kind::Link, &title, view, output);
    let frequency_ratio = match (args.end.uplink, args.end.downlink) {
        (Some(up), Some(down)) if down > 0.0 => up / down,
        _ => 1.0,
    };
    let end = TerminalEnd {
        bandwidth: args.end.carrier.prb,
        numerology,
        iterations: args.end.carrier.iterations.into(),
        identity: args.identity,
        frequency_ratio,
        radio,
        probe: publisher.is_some().then_some(probe),
    };
    let stop = stop_on_signal()?;
    let report = end.run(&mut port, &|line| output.note(line), &stop).map_err(|error| of_end("terminal", error))?;
    output.answer(&report, || terminal_text(&report), Answer::of(report.samples.is_clean()))
}

impl EndArgs {
    /// The interface, and what is wanted of the radio.
    fn open(&self, is_station: bool) -> Result<(TunPort, RadioWish), Problem> {
        let tun = Tun::create(&self.tun).map_err(|error| {
            use std::io::ErrorKind::{InvalidInput, NotFound, PermissionDenied, ResourceBusy};
            let fix = match error.kind() {
                InvalidInput => "give --tun a name of 1 to 15 bytes",
                NotFound => "sudo modprobe tun",
                PermissionDenied => takt_host::call::WITH_SUDO,
                ResourceBusy => "give --tun another name, or end the program that has it",
                _ => "sudo modprobe tun",
            };
            Problem::new(format!("can't make the interface {}", self.tun)).why(error).fix(fix)
        })?;
        let (rx_hz, tx_hz) = if is_station { (self.uplink, self.downlink) } else { (self.downlink, self.uplink) };
        let front_end = |frequency_hz, gain_db| FrontEnd { frequency_hz, gain_db, antenna: None };
        let wish = RadioWish {
            early: Duration::ZERO,
            resample: false,
            addr: self.addr,
            engine: self.engine,
            transmit: self.transmit,
            force: self.force,
            calibration: self.calibration,
            rx: front_end(rx_hz, self.rx_gain),
            tx: front_end(tx_hz, self.tx_gain),
            placement: self.thread.clone().placement(),
        };
        Ok((TunPort::new(tun), wish))
    }
}

fn station_text(report: &StationReport) -> String {
    let mut lines = vec![format!("base station of cell {}: {} terminals", report.cell, report.terminals.len())];
    for terminal in &report.terminals {
        lines.push(format!(
            "  terminal  {}: CQI {}, uplink {:.1} dB, packets {} to it, {} from it",
            terminal.identity.get(),
            terminal.cqi,
            terminal.uplink_snr_db,
            terminal.counters.packets_accepted,
            terminal.counters.packets_delivered
        ));
    }
    lines.push(packets(&report.packets));
    lines.push(samples(&report.samples));
    lines.push(threads(&report.threads));
    lines.join("\n")
}

fn terminal_text(report: &TerminalReport) -> String {
    let mut lines = vec![format!("terminal: {}, links lost {}", report.state, report.counters.lost.total())];
    lines.extend(calibrated(&report.calibration));
    lines.extend([packets(&report.packets), samples(&report.samples), threads(&report.threads)]);
    lines.join("\n")
}

fn packets(counts: &takt_lte_radio::TunCounts) -> String {
    format!(
        "  packets   {} from this host ({} refused), {} to it ({} refused)",
        counts.from_host, counts.refused, counts.to_host, counts.refused_by_host
    )
}

fn samples(counts: &takt_lte_radio::EndCounts) -> String {
    format!(
        "  samples   lost {}, unsent {}, bursts late {}, underflows {}",
        counts.lost_samples, counts.unsent_samples, counts.late, counts.underflows
    )
}
