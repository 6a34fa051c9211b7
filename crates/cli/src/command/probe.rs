//! `takt probe`: describe a radio.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::sync::Arc;

use takt_base::parse_ip;
use takt_packet::EngineKind;
use takt_radio::board::{BoardKind, Range};
use takt_radio::n200::{FrameBytes, OpenOptions};
use takt_radio::x310::MasterClock;
use takt_radio::{AnyOptions, Probe, Radio, Rates, SideReport, Time, WallNet, X310Probe, probe, probe_x310};
use takt_soapy::DeviceSpec;

use crate::radio_problem::{self, mega};
use crate::{Answer, Output, soapy};

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  takt probe --addr 192.168.10.2\n\nExit status: 0 described, 2 the command failed.")]
pub struct Args {
    /// Address of the radio.
    #[arg(long, default_value = "127.0.0.1", value_parser = parse_ip)]
    addr: IpAddr,
    /// SoapySDR device instead of a radio at --addr, such as soapy:driver=uhd,addr=192.168.10.2. Needs a build with the feature
    /// soapy.
    #[arg(long, value_name = "DEVICE", conflicts_with_all = ["addr", "force"])]
    device: Option<DeviceSpec>,
    /// Take over the radio even if another host uses it.
    #[arg(long)]
    force: bool,
}

pub fn run(args: Args, output: &Output) -> miette::Result<Answer> {
    if let Some(device) = &args.device {
        return soapy::probe(device, output);
    }
    let refused = |error| radio_problem::problem("open the radio", error, "use");
    let net = Arc::new(WallNet::new(EngineKind::Socket));
    let n200 = OpenOptions { force: args.force, ..OpenOptions::default() };
    match Radio::open(net, args.addr, &AnyOptions { n200, frame_bytes: None, clock: MasterClock::default() })
        .map_err(refused)?
    {
        Radio::N200(mut radio) => {
            let description = probe(&mut radio).map_err(refused)?;
            output.answer(&description, || text(&description), Answer::Yes)
        }
        Radio::X310(mut radio) => {
            let description = probe_x310(&mut radio).map_err(refused)?;
            output.answer(&description, || text_of_x310(&description), Answer::Yes)
        }
    }
}

fn text_of_x310(probe: &X310Probe) -> String {
    let id = &probe.identity;
    let channels = format!("{} channels each way", probe.channels);
    let lines = [
        ("versions", format!("firmware {}, FPGA {}", id.firmware, id.fpga)),
        datagrams(probe.frame_bytes),
        rates(&probe.rates),
        ("channels", channels),
        ("clock", clock(&probe.time, &probe.rates, probe.radio_speed)),
    ];
    listed(first_line(probe.addr, &id.words(), &id.name, id.software), lines)
}

fn first_line(addr: IpAddr, words: &str, name: &str, software: bool) -> String {
    let name = if name.is_empty() { String::new() } else { format!(" name {name}") };
    format!("{addr}  {words}{name}{}\n", if software { "  takt's emulator" } else { "" })
}

fn listed<const N: usize>(mut text: String, lines: [(&str, String); N]) -> String {
    for (label, line) in lines {
        let _ = writeln!(text, "  {label:<10} {line}");
    }
    text
}

fn datagrams(bytes: FrameBytes) -> (&'static str, String) {
    ("datagrams", format!("up to {} bytes received, {} sent", bytes.receive, bytes.send))
}

fn rates(rates: &Rates) -> (&'static str, String) {
    let [lowest, highest, clock] = [rates.lowest_sps, rates.highest_sps, f64::from(rates.master_clock_hz)].map(mega);
    ("rates", format!("{} from {lowest} to {highest} MS/s, {clock} MHz divided by whole numbers", rates.count))
}

fn clock(time: &Time, rates: &Rates, radio_speed: Option<f64>) -> String {
    let seconds = |ticks: u64| ticks as f64 / f64::from(rates.master_clock_hz);
    let runs = radio_speed.filter(|speed| *speed != 1.0).map(|speed| format!(", at {speed} of real time"));
    let [now, pps] = [time.now_ticks, time.last_pps_ticks].map(seconds);
    format!("{now:.9} s, at the last PPS {pps:.9} s{}", runs.unwrap_or_default())
}

fn text(probe: &Probe) -> String {
    let id = &probe.identity;
    let lines = [
        ("versions", format!("firmware {}, FPGA {}", id.firmware, id.fpga)),
        ("Ethernet", id.mac.clone()),
        datagrams(probe.frame_bytes),
        rates(&probe.rates),
        ("boards", boards(probe)),
        ("receive", side(&probe.rx)),
        ("transmit", side(&probe.tx)),
        (
            "clock",
            format!(
                "{}; reference {}",
                clock(&probe.time, &probe.rates, probe.radio_speed),
                locked(probe.reference_locked)
            ),
        ),
        ("MIMO", if probe.mimo_link { "another radio is connected" } else { "nothing is connected" }.to_owned()),
        ("GPSDO", gps(probe)),
    ];
    listed(first_line(probe.addr, &id.words(), &id.name, id.software), lines)
}

fn boards(probe: &Probe) -> String {
    let boards = probe.identity.boards();
    match probe.board {
        BoardKind::Unknown => {
            format!("{boards}; takt does not know them: see docs/how-to/bring-up.md for what to send back")
        }
        _ => boards,
    }
}

fn side(side: &SideReport) -> String {
    let channels = if side.channels == 1 { "1 channel".to_owned() } else { format!("{} channels", side.channels) };
    let frequency = side.frequency_hz.map(|Range { low, high, .. }| format!("{} to {} MHz", mega(low), mega(high)));
    let gain = side.gain_db.map(|Range { low, high, step }| format!("gain {low} to {high} dB in steps of {step} dB"));
    let antennas = (!side.antennas.is_empty()).then(|| format!("antennas {}", side.antennas.join(", ")));
    let oscillator = side.lo_locked.map(|yes| format!("oscillator {}", locked(yes)));
    [Some(channels), frequency, gain, antennas, oscillator].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn gps(probe: &Probe) -> String {
    let Some(gps) = &probe.gps else { return "none".to_owned() };
    let state = gps.locked.map_or("says nothing of satellites", locked);
    let utc = gps.utc.as_deref().unwrap_or("no time");
    format!("{}, {state}, {utc}", gps.name)
}

fn locked(yes: bool) -> &'static str {
    if yes { "locked" } else { "not locked" }
}
