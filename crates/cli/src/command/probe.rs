//! `takt probe`: describe a radio.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::sync::Arc;

use takt_packet::EngineKind;
use takt_radio::board::{BoardKind, Range};
use takt_radio::n200::{N200, OpenOptions};
use takt_radio::{Probe, SideReport, WallNet, probe};

use crate::radio_problem::{self, mega};
use crate::{Answer, Output};

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  takt probe --addr 192.168.10.2")]
pub struct Args {
    /// The radio.
    #[arg(long, default_value = "127.0.0.1")]
    addr: IpAddr,
    /// Take the radio even from another host that uses it.
    #[arg(long)]
    force: bool,
}

pub fn run(args: Args, output: &Output) -> miette::Result<Answer> {
    let refused = |error| radio_problem::problem("open the radio", error, "");
    let net = Arc::new(WallNet::new(EngineKind::Socket));
    let options = OpenOptions { force: args.force, ..OpenOptions::default() };
    let mut radio = N200::open(net, args.addr, &options).map_err(refused)?;
    let description = probe(&mut radio).map_err(refused)?;
    output.answer(&description, || text(&description), Answer::Yes)
}

fn text(probe: &Probe) -> String {
    let id = &probe.identity;
    let name = if id.name.is_empty() { String::new() } else { format!(" name {}", id.name) };
    let own = if id.software { "  software radio of takt's" } else { "" };
    let mut text = format!("{}  {}{name}{own}\n", probe.addr, id.words());
    let clock_hz = f64::from(probe.rates.master_clock_hz);
    let seconds = |ticks: u64| ticks as f64 / clock_hz;
    let lines = [
        ("versions", format!("firmware {}, FPGA {}", id.firmware, id.fpga)),
        ("Ethernet", id.mac.clone()),
        ("datagrams", format!("up to {} bytes received, {} sent", probe.frame_bytes.receive, probe.frame_bytes.send)),
        (
            "rates",
            format!(
                "{} from {} to {} MS/s, {} MHz divided by whole numbers",
                probe.rates.count,
                mega(probe.rates.lowest_sps),
                mega(probe.rates.highest_sps),
                mega(clock_hz)
            ),
        ),
        ("boards", boards(probe)),
        ("receive", side(&probe.rx)),
        ("transmit", side(&probe.tx)),
        (
            "clock",
            format!(
                "{:.9} s, at the last PPS {:.9} s; reference {}",
                seconds(probe.time.now_ticks),
                seconds(probe.time.last_pps_ticks),
                locked(probe.reference_locked)
            ),
        ),
        ("MIMO", if probe.mimo_link { "another radio is connected" } else { "nothing is connected" }.to_owned()),
        ("GPSDO", gps(probe)),
    ];
    for (label, line) in lines {
        let _ = writeln!(text, "  {label:<10} {line}");
    }
    text
}

fn boards(probe: &Probe) -> String {
    let boards = probe.identity.boards();
    match probe.board {
        BoardKind::Unknown => {
            format!("{boards}; takt has no model of them, and docs/how-to/bring-up.md says what to send back")
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
