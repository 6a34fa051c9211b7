//! `takt link demo`.

use std::time::Duration;

use miette::Result;
use takt_base::{parse_duration, parse_number};
use takt_emulator::emulate::SpeedChoice;
use takt_live::Kind;
use takt_lte_link::BearerMode;
use takt_lte_radio::demo::{DemoError, DemoOptions, DemoReport, demonstrate};
use takt_lte_radio::traffic::{LEAST_PACKET, LoadFigures};
use takt_lte_radio::{AirError, CellStage, ThreadUse, TrafficPlan, watched_link};
use takt_packet::EngineKind;

use super::carrier::{Carrier, mode};
use crate::command::emulate;
use crate::policy::Policy;
use crate::{Answer, LiveArgs, Output, Problem, radio_problem, stop_on_signal};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  takt link demo\n  takt link demo --prb 25 --down 8M --up 3M --speed auto\n  \
    takt link demo --fading \"EPA 5\" --snr 20 --down 300k --speed 0.2\n\n\
    Times and rates are those of the radios: at --speed 0.1, a second of theirs takes ten here.\n\
    Nothing is encrypted. The command needs no privileges, since takt makes the packets itself.\n\n\
    Exit status:\n  0  the link came up and carried everything, and all samples came in time\n  \
    1  the link did not come up, packets were lost, or samples were late or lost\n  \
    2  the command failed, or the link carried everything but not in real time")]
pub struct Args {
    #[command(flatten)]
    carrier: Carrier,
    /// Identity of the cell, 0 to 503.
    #[arg(long, value_name = "ID", default_value_t = 1)]
    cell: u16,
    /// Seconds that pass for the radios in a second of this host, 0.001 to 100, or auto.
    #[arg(long, value_name = "SPEED", default_value = "1")]
    speed: SpeedChoice,
    /// Load to the terminal in bit/s of IP packets.
    #[arg(long, value_name = "RATE", default_value = "1M", value_parser = parse_number)]
    down: f64,
    /// Load to the base station in bit/s of IP packets.
    #[arg(long, value_name = "RATE", default_value = "500k", value_parser = parse_number)]
    up: f64,
    /// Size of the load's packets in bytes, 48 to 1500.
    #[arg(long, value_name = "BYTES", default_value_t = 1400, value_parser = clap::value_parser!(u16).range(LEAST_PACKET as i64..=1500))]
    packet: u16,
    /// How long the load lasts.
    #[arg(short = 't', long, alias = "time", value_name = "TIME", default_value = "5s", value_parser = parse_duration)]
    duration: Duration,
    /// Pings before the load.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pings: u16,
    /// How long to wait until the terminal attaches.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_duration)]
    patience: Duration,
    /// Bearer: am (acknowledged) or um (unacknowledged).
    #[arg(long, value_name = "MODE", default_value = "am", value_parser = mode)]
    mode: BearerMode,
    /// Signal-to-noise ratio of a full carrier at each receiver, in dB.
    #[arg(long, value_name = "DB", default_value_t = 30.0, allow_negative_numbers = true)]
    snr: f64,
    /// Fading of each path: EPA, EVA or ETU with a Doppler frequency in Hz, such as "EPA 5".
    #[arg(long, value_name = "PROFILE")]
    fading: Option<String>,
    /// Frequency error of the terminal's oscillator, in ppm.
    #[arg(long, value_name = "PPM", default_value_t = 0.5, allow_negative_numbers = true)]
    offset: f64,
    /// Packet engine of the ends.
    #[arg(long, help = format!("Packet engine of the ends: {}", EngineKind::FORMS), value_name = "ENGINE", default_value = "mmsg")]
    engine: EngineKind,
    /// Scheduling policy of the ends: other, or fifo:PRIORITY. The radios get the next higher priority. If you may not use
    /// real-time priority, takt uses other.
    #[arg(long, value_name = "POLICY", default_value = "fifo:50")]
    policy: Policy,
    /// Seed of all random numbers.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    live: LiveArgs,
}

/// A full carrier's power at a receiver, against a full-scale tone: its amplitude of 0.2, and 20 dB of the path.
const RECEIVED_DBFS: f64 = -34.0;

pub fn run(args: &Args, output: &Output) -> Result<Answer> {
    let (probe, view) = watched_link();
    let options = DemoOptions { probe: args.live.wanted().then_some(probe), ..options(args)? };
    let stop = stop_on_signal()?;
    let _publisher = args.live.publish(Kind::Link, "base station and terminal", view, output);
    let output_for_notes = *output;
    let report = demonstrate(&options, &move |line| output_for_notes.note(line), &stop).map_err(problem)?;
    let answer = match (report.holds() && report.is_clean(), report.speed == 1.0) {
        (true, false) => Answer::Unknown,
        (good, _) => Answer::of(good),
    };
    output.answer(&report, || text(&report, args), answer)
}

fn options(args: &Args) -> Result<DemoOptions, Problem> {
    let subframes = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX / 4);
    Ok(DemoOptions {
        cell: args.carrier.cell(args.cell)?,
        numerology: args.carrier.numerology()?,
        speed: args.speed,
        traffic: TrafficPlan {
            down_bps: args.down,
            up_bps: args.up,
            packet_bytes: args.packet.into(),
            subframes: subframes(args.duration),
            pings: args.pings.into(),
            patience: subframes(args.patience),
        },
        mode: args.mode,
        engine: args.engine,
        iterations: args.carrier.iterations.into(),
        noise_dbfs: RECEIVED_DBFS - args.snr,
        fading: args.fading.clone(),
        clock_offset_ppm: args.offset,
        fifo_priority: match args.policy {
            Policy::Other => None,
            Policy::Fifo(priority) => Some(priority),
        },
        seed: args.seed,
        probe: None,
    })
}

fn problem(error: DemoError) -> Problem {
    match error {
        DemoError::Emulate(error) => emulate::problem(error),
        DemoError::End { end, source } => of_end(end, *source),
        DemoError::Scene(error) => {
            let fix = error.fix();
            Problem::new("can't make this air").why(error).fix(fix)
        }
        error => Problem::new("can't demonstrate a link").why(error),
    }
}

/// Why an end can't run.
pub fn of_end(end: &str, error: AirError) -> Problem {
    match error {
        AirError::Radio(error) => {
            radio_problem::problem(&format!("run the {end}"), error, "change --prb, to stream at")
        }
        error => Problem::new(format!("can't run the {end}")).why(error),
    }
}

fn text(report: &DemoReport, args: &Args) -> String {
    let DemoReport { prb, rate_sps, speed, .. } = report;
    let mut lines = vec![format!(
        "LTE link of {prb} resource blocks at {} MS/s over two software X310, speed {speed}, {} scheduling",
        rate_sps / 1e6,
        if report.fifo_priority.is_some() { "real-time" } else { "ordinary" }
    )];
    lines.push(match report.attach_s {
        Some(after_s) => format!("  attach    after {after_s:.3} s; {}", cell(&report.cell)),
        None => format!("  attach    no; {}", cell(&report.cell)),
    });
    if report.attach_s.is_some() {
        lines.push(pings(&report.pings_ms));
        lines.push(load("down", &report.down, args.down));
        lines.push(load("up", &report.up, args.up));
        lines.push(format!(
            "  blocks    down: {} sent, {} again, {} given up; up: {} sent, {} again, {} given up",
            report.station_link.blocks_sent,
            report.station_link.blocks_sent_again,
            report.station_link.blocks_given_up,
            report.terminal_link.blocks_sent,
            report.terminal_link.blocks_sent_again,
            report.terminal_link.blocks_given_up
        ));
    }
    let (a, b) = (&report.station, &report.terminal);
    lines.push(format!(
        "  samples   lost {}, unsent {}, bursts late {}, underflows {}",
        a.lost_samples + b.lost_samples,
        a.unsent_samples + b.unsent_samples,
        a.late + b.late,
        a.underflows + b.underflows
    ));
    lines.push(threads(&report.threads));
    lines.push(verdict(report));
    lines.join("\n")
}

/// The seconds of a core of this host that each thread of an end used.
pub(super) fn threads(threads: &[ThreadUse]) -> String {
    let used: Vec<String> = threads.iter().map(|one| format!("{} {:.2}", one.thread, one.cpu_s)).collect();
    format!("  CPU s     {}", used.join(", "))
}

fn cell(stage: &CellStage) -> String {
    match stage {
        CellStage::Search => "no cell was found".to_owned(),
        CellStage::Broadcast { id, snr_db, .. } => format!("cell {id} at {snr_db:.1} dB, without master information"),
        CellStage::OtherBandwidth { id, blocks } => format!("cell {id} has {blocks} resource blocks"),
        CellStage::Follow { id, snr_db, frequency_hz } => {
            format!("cell {id}, {snr_db:.1} dB, {frequency_hz:.0} Hz off")
        }
    }
}

fn pings(pings_ms: &[Option<u64>]) -> String {
    let mut answered: Vec<u64> = pings_ms.iter().flatten().copied().collect();
    answered.sort_unstable();
    let of = pings_ms.len();
    match (answered.first(), answered.get(answered.len() / 2), answered.last()) {
        (Some(least), Some(median), Some(most)) => {
            format!("  ping      {} of {of} answered, median {median} ms ({least} to {most})", answered.len())
        }
        _ => format!("  ping      0 of {of} answered"),
    }
}

fn load(way: &str, load: &LoadFigures, wanted_bps: f64) -> String {
    format!(
        "  {way:<9} {:.3} of {} Mb/s, lost {} of {} packets, jitter {:.2} ms",
        load.rate_bps / 1e6,
        wanted_bps / 1e6,
        load.sent - load.received,
        load.sent,
        load.jitter_ms
    )
}

fn verdict(report: &DemoReport) -> String {
    let (holds, clean) = (report.holds(), report.is_clean());
    match (report.attach_s, holds, clean) {
        (None, ..) => format!("No: the link did not come up: {}.", takt_lte_radio::demo::why_not(report)),
        (_, false, _) => "No: the link came up, and lost packets.".to_owned(),
        (_, true, false) => "No: the link carried everything, but samples were late or lost.".to_owned(),
        (..) if report.speed == 1.0 => "Yes: the link came up and carried everything in real time.".to_owned(),
        _ => format!("Not known in real time: the link carried everything at {} of it.", report.speed),
    }
}
