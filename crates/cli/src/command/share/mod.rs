//! `takt share`: offer the front end of a radio to several programs, until stopped.

mod ask;
mod radio_keys;
mod state;
mod summary;

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use takt_base::{parse_duration, parse_ip};
use takt_emulator::policy::Cidr;
use takt_live::{Kind, board};
use takt_packet::{EngineError, EngineKind};
use takt_radio::calibration::CalibrationUse;
use takt_share::{ShareError, ShareNotice, ShareOptions, SharePlan};

use self::summary::edges;
use crate::policy::StreamingThread;
use crate::screen::recording::calibrated;
use crate::waveform::{FileDiagnostic, text_of, unreadable_file};
use crate::{Answer, LiveArgs, Output, Problem, radio_problem, stop_on_signal};

/// Shortest and longest block.
const BLOCKS: std::ops::RangeInclusive<Duration> = Duration::from_micros(20)..=Duration::from_millis(1);
/// Shortest and longest latency.
const LATENCIES: std::ops::RangeInclusive<Duration> = Duration::from_micros(300)..=Duration::from_millis(100);

#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
Examples:
  takt share --addr 192.168.10.2 --radios scenes/shared.toml
  takt share --addr 192.168.10.2 --radios scenes/shared.toml --block 500us --latency 5ms --json
  takt share status                              while it runs, in another terminal
  takt share add --radio name=third,addr=127.0.0.13,rate=1e6
  takt share remove third

takt prints `ready NAME ADDR` when a radio listens, runs until Ctrl-C, and ends with a summary.
docs/reference/share.md describes the file.

Exit status:
  0  it ran until you ended it
  2  the radio or an address could not be had, or this host can't carry the radios"
)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// File with the front end's settings and the radios that share it.
    #[arg(long, value_name = "FILE", required = true)]
    radios: Option<PathBuf>,
    #[command(flatten)]
    sharing: Sharing,
}

/// How the radio is shared.
#[derive(Debug, clap::Args)]
struct Sharing {
    /// Address of the radio to share: an N200 or an X310.
    #[arg(long, default_value = "127.0.0.1", value_parser = parse_ip)]
    addr: IpAddr,
    /// Length of a block of samples, 20us to 1ms. Shorter blocks take more CPU time.
    #[arg(long, value_name = "TIME", default_value = "200us", value_parser = block)]
    block: Duration,
    /// Delay of transmitted samples, 300us to 100ms. It is constant, and exact to the sample.
    #[arg(long, value_name = "TIME", default_value = "2ms", value_parser = latency)]
    latency: Duration,
    /// Cores that the front end and all radios may use. takt refuses a radio that would need more.
    #[arg(long, value_name = "N", default_value_t = 0.9, value_parser = cores)]
    budget: f64,
    /// Network that the radios may send to, besides loopback, such as 192.168.10.0/24. Repeat for several.
    #[arg(long, value_name = "CIDR")]
    allow: Vec<String>,
    /// Transmit even if the radio is not takt's emulator. First put an attenuator or a dummy load on the connector, unless you
    /// may use the frequency.
    #[arg(long)]
    transmit: bool,
    /// Take over the radio even if another host uses it.
    #[arg(long)]
    force: bool,
    /// Calibration files to apply when tuning (N200 only): uhd (those of `takt radio calibrate` and UHD) or off.
    #[arg(long, value_name = "FILES", default_value = "uhd")]
    calibration: CalibrationUse,
    /// Packet engine.
    #[arg(long, help = format!("Packet engine: {}", EngineKind::FORMS), value_name = "ENGINE", default_value = "mmsg")]
    engine: EngineKind,
    #[command(flatten)]
    thread: StreamingThread,
    #[command(flatten)]
    live: LiveArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show the radios of a running share, who uses them, and what each gets.
    Status(ask::Share),
    /// Add radios to a running share.
    Add(ask::Added),
    /// Remove a radio from a running share.
    Remove(ask::Removed),
}

fn block(text: &str) -> Result<Duration, String> {
    span(text, &BLOCKS, "20us to 1ms")
}

fn latency(text: &str) -> Result<Duration, String> {
    span(text, &LATENCIES, "300us to 100ms")
}

fn span(text: &str, range: &std::ops::RangeInclusive<Duration>, words: &str) -> Result<Duration, String> {
    let span = parse_duration(text).map_err(|error| error.to_string())?;
    if range.contains(&span) { Ok(span) } else { Err(format!("\"{text}\" is not {words}")) }
}

fn cores(text: &str) -> Result<f64, String> {
    let cores = text.parse::<f64>().ok().filter(|cores| (0.01..=64.0).contains(cores));
    cores.ok_or_else(|| format!("\"{text}\" is not 0.01 to 64"))
}

pub fn run(args: Args, output: &Output) -> miette::Result<Answer> {
    match (args.command, args.radios) {
        (Some(Command::Status(args)), _) => ask::status(&args, output),
        (Some(Command::Add(args)), _) => ask::add(args, output),
        (Some(Command::Remove(args)), _) => ask::remove(args, output),
        (None, Some(radios)) => share(&radios, args.sharing, output),
        (None, None) => Err(Problem::new("no file of radios").fix("give --radios FILE").into()),
    }
}

fn share(radios: &Path, args: Sharing, output: &Output) -> miette::Result<Answer> {
    let name = radios.display().to_string();
    let example = "copy scenes/shared.toml from takt's source; see docs/reference/share.md there for the format";
    let text =
        text_of(radios, SharePlan::MOST_BYTES).map_err(|error| unreadable_file("front end", &name, error, example))?;
    let plan = SharePlan::parse(&name, &text).map_err(FileDiagnostic::from)?;
    let allow = args.allow.iter().map(|text| text.parse::<Cidr>()).collect::<Result<Vec<_>, _>>();
    let allow =
        allow.map_err(|error| Problem::caused("can't send there", error, |_| "--allow 192.168.10.0/24".to_owned()))?;
    let ((board, source), title) = (board(), format!("{} radios before {}", plan.radios.len(), args.addr));
    let options = ShareOptions {
        addr: args.addr,
        engine: args.engine,
        transmit: args.transmit,
        force: args.force,
        calibration: args.calibration,
        block: args.block,
        latency: args.latency,
        allow,
        cores: args.budget,
        placement: args.thread.placement(),
        control: true,
        watched: args.live.wanted().then_some(board),
    };
    let stop = stop_on_signal()?;
    let _publisher = args.live.publish(Kind::Share, &title, source, output);
    let report = takt_share::run(&plan, &options, &mut |notice| show(notice, output), &stop).map_err(problem)?;
    output.answer(&report, || summary::text(&report), Answer::Yes)
}

fn show(notice: ShareNotice, output: &Output) {
    match notice {
        ShareNotice::Ready { name, addr } => output.line(format!("ready {name} {addr}")),
        ShareNotice::Transmits(emission) => output.note(radio_problem::on_air(&emission)),
        ShareNotice::Calibrated(tables) => calibrated(&tables).for_each(|line| output.note(line.trim())),
        ShareNotice::Cost { cores } => {
            output.note(format!("front end and radios need {:.0} % of a core at their highest rates", cores * 100.0));
        }
        ShareNotice::OutOfBand { name, band, wide } => output.note(format!(
            "radio {name} is tuned to {}, and the front end carries {}: it receives silence where that ends",
            edges(band),
            edges(wide)
        )),
        ShareNotice::Moved { by, centre_hz } => output.note(format!(
            "front end  moved to {:.6} MHz for {}",
            centre_hz / 1e6,
            by.as_deref().unwrap_or("most radios")
        )),
        ShareNotice::Removed { name } => output.note(format!("removed radio {name}")),
        ShareNotice::NoLagPorts { why } => {
            output.note(format!("takt can't ask the shared radios how fast their time passes: {why}"));
        }
        ShareNotice::NoControl { why } => {
            output.note(format!("takt share status, add and remove can't reach this share: {why}"));
        }
    }
}

fn problem(error: ShareError) -> Problem {
    match error {
        ShareError::Radio(error) => radio_problem::problem("share the radio", error, "set rate ="),
        ShareError::Ports { addr, source: EngineError::PortInUse { .. } } => {
            Problem::new(format!("the address {addr} has a radio already"))
                .fix("stop the other program\ngive the radio another `addr` in the file")
        }
        error => Problem::caused("can't share the radio", error, ShareError::fix),
    }
}
