//! `takt share`: offer the front end of a radio to several programs, until stopped.

use std::fmt::Write;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use takt_base::shown::{count, duration};
use takt_base::{parse_duration, parse_ip};
use takt_emulator::policy::Cidr;
use takt_packet::{EngineError, EngineKind};
use takt_share::{
    Band, FrontEndReport, ShareError, ShareNotice, ShareOptions, SharePlan, ShareReport, SharedRadioSummary,
};

use crate::policy::{StreamingThread, placement_refused};
use crate::waveform::{FileDiagnostic, text_of, unreadable_file};
use crate::{Answer, Output, Problem, radio_problem, stop_on_signal};

/// Shortest and longest block.
const BLOCKS: std::ops::RangeInclusive<Duration> = Duration::from_micros(20)..=Duration::from_millis(1);
/// Shortest and longest latency.
const LATENCIES: std::ops::RangeInclusive<Duration> = Duration::from_micros(300)..=Duration::from_millis(100);

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt share --addr 192.168.10.2 --radios scenes/shared.toml
  takt share --addr 192.168.10.2 --radios scenes/shared.toml --block 500us --latency 5ms --json

takt prints `ready NAME ADDR` when a radio listens, runs until Ctrl-C, and ends with a summary.
The file: docs/reference/share.md.")]
pub struct Args {
    /// Address of the radio whose front end is shared: an N200 or an X310.
    #[arg(long, default_value = "127.0.0.1", value_parser = parse_ip)]
    addr: IpAddr,
    /// File with the front end's settings and the radios that share it.
    #[arg(long, value_name = "FILE")]
    radios: PathBuf,
    /// Length of the blocks in which samples are handled: 20us to 1ms. Short ones cost CPU time.
    #[arg(long, value_name = "TIME", default_value = "200us", value_parser = block)]
    block: Duration,
    /// Delay of what is transmitted: 300us to 100ms. Constant, and exact to the sample.
    #[arg(long, value_name = "TIME", default_value = "2ms", value_parser = latency)]
    latency: Duration,
    /// Cores of this host that the radios may need.
    #[arg(long, value_name = "N", default_value_t = 0.9, value_parser = cores)]
    budget: f64,
    /// A network to which the radios may send, besides loopback.
    #[arg(long, value_name = "CIDR")]
    allow: Vec<String>,
    /// Transmit, even if the radio is not takt's own. Only with a cable or a licence.
    #[arg(long)]
    transmit: bool,
    /// Take over the radio even if another host uses it.
    #[arg(long)]
    force: bool,
    /// Packet engine.
    #[arg(long, help = format!("Packet engine: {}", EngineKind::FORMS), value_name = "ENGINE", default_value = "mmsg")]
    engine: EngineKind,
    #[command(flatten)]
    thread: StreamingThread,
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
    let name = args.radios.display().to_string();
    let example = "copy scenes/shared.toml from takt's source; docs/reference/share.md there describes the format";
    let text = text_of(&args.radios, SharePlan::MOST_BYTES)
        .map_err(|error| unreadable_file("front end", &name, error, example))?;
    let plan = SharePlan::parse(&name, &text).map_err(FileDiagnostic::from)?;
    let allow = args.allow.iter().map(|text| text.parse::<Cidr>()).collect::<Result<Vec<_>, _>>();
    let allow =
        allow.map_err(|error| Problem::caused("can't send there", error, |_| "--allow 192.168.10.0/24".to_owned()))?;
    let options = ShareOptions {
        addr: args.addr,
        engine: args.engine,
        transmit: args.transmit,
        force: args.force,
        block: args.block,
        latency: args.latency,
        allow,
        cores: args.budget,
    };
    args.thread.placement().place_self().map_err(placement_refused)?;
    let stop = stop_on_signal()?;
    let report = takt_share::run(&plan, &options, &mut |notice| show(notice, output), &stop).map_err(problem)?;
    output.answer(&report, || self::text(&report), Answer::Yes)
}

fn show(notice: ShareNotice, output: &Output) {
    match notice {
        ShareNotice::Ready { name, addr } => output.line(format!("ready {name} {addr}")),
        ShareNotice::Transmits(emission) => output.note(radio_problem::on_air(&emission)),
        ShareNotice::Cost { cores } => {
            output.note(format!("the radios need {:.0} % of a core at their highest rates", cores * 100.0));
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
    }
}

/// A band in MHz.
fn edges(band: Band) -> String {
    format!("{:.6} to {:.6} MHz", band.low_hz() / 1e6, band.high_hz() / 1e6)
}

fn problem(error: ShareError) -> Problem {
    match error {
        ShareError::Radio(error) => radio_problem::problem("share the radio", error, "rate = "),
        ShareError::Ports { addr, source: EngineError::PortInUse { .. } } => {
            Problem::new(format!("the address {addr} has a radio already"))
                .fix("stop the other program\ngive the radio another `addr` in the file")
        }
        error => Problem::caused("can't share the radio", error, ShareError::fix),
    }
}

fn text(report: &ShareReport) -> String {
    let mut out = String::new();
    let FrontEndReport { radio, band, policy, moves, sum, .. } = &report.front_end;
    let front_end = &report.front_end;
    let _ = writeln!(out, "front end {radio}, {}, {}", edges(*band), duration(report.duration_s));
    let _ = writeln!(
        out,
        "  receive     {:>16}   O {}  lost {}",
        count(front_end.samples),
        front_end.overflows,
        front_end.lost_samples
    );
    let _ = writeln!(
        out,
        "  transmit    {:>16}   U {}  L {}  S {}  clipped {}  no room {}",
        count(sum.samples),
        front_end.underflows,
        front_end.late,
        front_end.sequence_errors,
        sum.clipped_samples,
        front_end.unsent_samples
    );
    let _ = writeln!(
        out,
        "  policy      {}, moved {moves} times; latency {} us; {:.0} % busy",
        policy.name(),
        report.latency_us,
        report.busy * 100.0
    );
    report.radios.iter().for_each(|radio| describe(&mut out, radio));
    out
}

fn describe(out: &mut String, summary: &SharedRadioSummary) {
    let SharedRadioSummary { shared, datagrams, unsent_datagrams } = summary;
    let _ = writeln!(out, "{} {}, serial {}", shared.name, shared.addr, shared.serial);
    for (n, rx) in shared.radio.rx.iter().enumerate().filter(|(n, rx)| *n == 0 || rx.commands > 0) {
        let _ = writeln!(
            out,
            "  receive {n}   {:>16}   O {}  L {}  broken chains {}",
            count(rx.samples),
            rx.overflows,
            rx.late,
            rx.broken_chains
        );
    }
    let tx = &shared.radio.tx;
    let _ = writeln!(
        out,
        "  transmit    {:>16}   U {}  L {}  S {}  overruns {}  bursts {}",
        count(tx.samples),
        tx.underflows,
        tx.late,
        tx.sequence_errors,
        tx.overrun_packets,
        tx.bursts
    );
    if let Some(band) = shared.band {
        let _ = writeln!(
            out,
            "  band        {}; samples outside the front end's {}, partly outside {}, not allowed {}",
            edges(band),
            count(shared.outside_samples),
            count(shared.partly_samples),
            count(shared.forbidden_samples)
        );
    }
    if shared.tx_outside_samples + shared.tx_forbidden_samples + shared.tx_overlapping_samples > 0 {
        let _ = writeln!(
            out,
            "  not sent    outside the front end's band {}, not allowed {}, beside another radio {}",
            count(shared.tx_outside_samples),
            count(shared.tx_forbidden_samples),
            count(shared.tx_overlapping_samples)
        );
    }
    let _ = writeln!(out, "  way         {}", shared.receive_way);
    let _ = writeln!(
        out,
        "  hosts       {} lost; datagrams lost in this host's receive buffers {}, send buffers {unsent_datagrams}",
        shared.radio.hosts.lost,
        datagrams.receive_buffer_drops.map_or_else(|| "not known".to_owned(), |n| n.to_string())
    );
}
