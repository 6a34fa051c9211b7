//! `takt run`: execute a waveform on the beat.

#[cfg(feature = "cluster")]
mod cluster;
#[cfg(not(feature = "cluster"))]
#[path = "cluster_missing.rs"]
mod cluster;
mod log;
mod radio;

use std::convert::Infallible;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::screen;
use miette::Result;
use serde::Serialize;
use takt_base::shown::time_ns;
use takt_base::{parse_duration, parse_ip};
use takt_graph::{Override, Plan};
use takt_live::Kind;
use takt_page::ReportAnswer;
use takt_radio::calibration::CalibrationUse;
use takt_radio_waveform::{Notice, RadioChoice, RadioReport, WaveformRadio, late_answers};
use takt_runtime::control::{LiveRun, serve};
use takt_runtime::costs::{for_elsewhere, of_report};
use takt_runtime::planning::{Placement, place};
use takt_runtime::{Isolation, Log, LogOptions, Report, Session, SessionOptions, SlotClock, Wish, soft};
use takt_soapy::DeviceSpec;

use crate::command::map;
use crate::costs;
use crate::output;
use crate::policy::{Policy, priority_is_policy};
use crate::{Answer, LiveArgs, Output, soapy, stop_on_signal, waveform};

/// Executions of a worker that may wait to be written: 20 ms of one after the other without pause.
const WAITING: usize = 1 << 17;

/// Above all that is not real time, below what the kernel itself keeps there.
const DEFAULT_PRIORITY: u8 = 50;

#[derive(Debug, clap::Args)]
#[command(after_help = format!("\
Examples:
  takt run waveforms/bpsk.toml --slots 10000
  takt run waveforms/bpsk.toml --slots 100000 --cores 0,1 --policy fifo:80
  takt run waveforms/bpsk.toml --slots 1000 --clock free --set channel.ebn0_db=4 --json
  takt run waveforms/td-scdma.toml --slots 2000 --clock radio
  takt run waveforms/td-scdma.toml --clock radio --addr 192.168.10.2 --transmit --cores 1
  takt run waveforms/lte-enb.toml --clock radio --slots 2000
  takt run waveforms/td-scdma.toml --clock radio --device soapy:driver=lime --transmit
{}
Exit status:
  0  no slot was missed, no packet was broken or dropped, and no answer to a radio was late
  1  a slot was missed, a packet was broken or dropped, or an answer was late
  2  the command failed, or the radio did not run in real time", cluster::EXAMPLES))]
pub struct Args {
    /// Waveform file.
    waveform: PathBuf,
    /// Number of slots to run [default: until Ctrl-C].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    slots: Option<u64>,
    /// Length of a slot, instead of the file's.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    slot: Option<Duration>,
    /// Cores for the workers, at most one worker each. takt maps the components by their costs. Without it, one worker
    /// runs on any core.
    #[arg(long, value_name = "CORES", value_delimiter = ',')]
    cores: Vec<usize>,
    /// Clock that begins each slot: wall (the host's), radio (a radio's) or free (none: each slot follows the last).
    #[arg(long, default_value = "wall", value_parser = ["wall", "radio", "free"])]
    clock: String,
    /// Address of the radio whose clock begins each slot, instead of the waveform's. Without either, takt emulates an N200, or
    /// an X310 where only that has the rate.
    #[arg(long, value_name = "ADDR", value_parser = parse_ip)]
    addr: Option<IpAddr>,
    /// SoapySDR device whose time stamps begin each slot, such as soapy:driver=uhd,addr=192.168.10.2. Needs a build with the
    /// feature soapy.
    #[arg(long, value_name = "DEVICE", conflicts_with = "addr")]
    device: Option<DeviceSpec>,
    /// Transmit even if the radio is not takt's emulator.
    #[arg(long)]
    transmit: bool,
    /// Calibration files to apply when tuning (N200 only): uhd (those of `takt radio calibrate` and UHD) or off.
    #[arg(long, value_name = "FILES", default_value = "uhd")]
    calibration: CalibrationUse,
    /// Costs of the components, from --save-costs. Without it, takt measures them if there are cores to choose from.
    #[arg(long, value_name = "FILE")]
    costs: Option<PathBuf>,
    /// Add the costs of the components to this file, which --costs reads.
    #[arg(long, value_name = "FILE")]
    save_costs: Option<PathBuf>,
    /// Slots that a hop takes: fixed (one, as in ALOE) or compact (one, only between workers).
    #[arg(long, default_value = "compact", value_parser = ["fixed", "compact"])]
    latency: String,
    /// Change a parameter of the waveform. Repeat for several.
    #[arg(long, value_name = "COMPONENT.PARAM=VALUE")]
    set: Vec<Override>,
    /// Scheduling policy of the workers: other, or fifo:PRIORITY [default: fifo:50 under a clock, if permitted; else other].
    #[arg(long, value_name = "POLICY")]
    policy: Option<Policy>,
    #[arg(long = "priority", hide = true, value_parser = priority_is_policy)]
    _priority: Option<Infallible>,
    /// Write the last executions of every worker as a trace for ui.perfetto.dev.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Write every execution as a row: slot, component, worker, start, execution time. The file is CSV, or Parquet if its
    /// name ends in .parquet (feature `parquet`).
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Show how late the workers were released.
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    live: LiveArgs,
    #[command(flatten)]
    cluster: cluster::OnCluster,
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    report: &'a Report,
    clock: &'a str,
    latency: &'a str,
    cores: &'a [usize],
    plan: &'a Plan,
    #[serde(skip_serializing_if = "Option::is_none")]
    radio: Option<RadioReport>,
}

pub fn run(args: Args, output: &Output) -> Result<Answer> {
    if args.cluster.is_wanted() {
        return cluster::run(&args, output);
    }
    let mut registry = waveform::registry()?;
    let graph = waveform::open(&args.waveform, args.slot, &args.set, &registry)?;
    radio::suits(&graph, &args.clock, args.radio_flag())?;
    if args.device.is_some() {
        soapy::is_built()?;
    }
    let kept = args.costs.as_deref().map(costs::read).transpose()?;
    let placement = place(&graph, &registry, &args.cores, kept, map::latency(&args.latency)).map_err(map::unplanned)?;
    let Placement { plan, cores, process_cores, overload_ns } = placement;
    if let Some(needs_ns) = overload_ns.filter(|_| args.clock != "free") {
        let (period, slot) = (time_ns(needs_ns), time_ns(graph.slot_ns()));
        output.note(format!("note      the busiest core needs {period} of a slot of {slot}: slots will be missed"));
    }
    let stop = stop_on_signal()?;
    let mut options = args.options(&cores, process_cores);
    let mut radio = None;
    if args.clock == "radio" {
        let fifo_priority = options.fifo_priority;
        let (addr, device, transmit) = (args.addr, args.device.clone(), args.transmit);
        let choice = RadioChoice { addr, device, transmit, calibration: args.calibration, fifo_priority };
        let mut notify = |notice: Notice<'_>| radio::note(notice, output);
        let open = WaveformRadio::open(&graph, &args.waveform, &mut registry, &choice, &mut notify);
        let open = open.map_err(|error| radio::problem("use the radio", error))?;
        options.clock = open.slot_clock();
        radio = Some(open);
    }
    let priority = options.fifo_priority;
    let streaming = |error| radio::problem("stream", error);
    let session = Session::open(&graph, &plan, &registry, options).map_err(waveform::unopened)?;
    let mut log_file = args.log.as_deref().map(|path| log::LogFile::create(path, &graph)).transpose()?;
    let mut running = session.start_paused(&stop).map_err(waveform::unstarted)?;
    if let Some(radio) = &mut radio {
        radio.start(priority, &stop).map_err(|error| streaming(error.into()))?;
    }
    running.go();
    let view = running.view().map(|view| LiveRun::new(view, args.clock != "free"));
    let publisher = view.and_then(|view| args.live.publish(Kind::Run, graph.name(), view, output));
    if !output.wants_json() {
        output.line(screen::run::opening(&graph, &plan, &cores, &args.clock));
    }
    let write = log_file.as_mut().map(|file| |log: &mut Log| file.write(log));
    let report = serve(running, &graph, &registry, write, &stop)?;
    drop(publisher);
    log_file.map_or(Ok(()), log::LogFile::finish)?;
    // A radio that broke the run off is reported last: what ran until then is worth as much to a person.
    let (radio, broken) = match radio.map(|radio| radio.finish().map_err(streaming)) {
        Some(Err(why)) if !output.wants_json() => (None, Some(why)),
        finished => (finished.transpose()?, None),
    };
    if report.log_dropped > 0 {
        let dropped = report.log_dropped;
        output.note(format!("note      {dropped} executions are not in the log: the file was too slow for them"));
    }
    if let Some(path) = &args.save_costs {
        costs::keep(path, for_elsewhere(of_report(&report), &graph, &registry).map_err(costs::problem)?)?;
    }
    if let Some(path) = &args.trace {
        output::write(path, &report.to_perfetto())?;
    }
    let document =
        Document { report: &report, clock: &args.clock, latency: &args.latency, cores: &cores, plan: &plan, radio };
    let in_time = late_answers(&report) == 0;
    let answer = radio::answer(report.is_clean() && in_time, document.radio.as_ref());
    let shown = || {
        let mut screen = screen::run::screen(&report, in_time);
        if broken.is_some() {
            screen.answer = None;
        } else if answer == Answer::Unknown {
            screen.answer = Some(ReportAnswer::Unknown);
        }
        output.text(&screen, args.explain)
    };
    output.drawn(&document, || shown() + &radio::sentence(&report, document.radio.as_ref()))?;
    match broken {
        Some(why) => Err(why),
        None => Ok(answer),
    }
}

impl Args {
    /// The flag that names a radio, if one does.
    fn radio_flag(&self) -> Option<&'static str> {
        let device = self.device.as_ref().map(|_| "--device");
        self.addr.map(|_| "--addr").or(device)
    }

    /// A clock asks for all the host grants; without one nothing is late.
    fn options(&self, cores: &[usize], process_cores: Vec<usize>) -> SessionOptions {
        let free = self.clock == "free";
        let (fifo_priority, priority) = match self.policy {
            None if free => (None, Wish::No),
            None => (Some(DEFAULT_PRIORITY), Wish::Try),
            Some(Policy::Other) => (None, Wish::No),
            Some(Policy::Fifo(priority)) => (Some(priority), Wish::Require),
        };
        SessionOptions {
            slots: self.slots,
            clock: if free { SlotClock::Free } else { SlotClock::Wall },
            cores: cores.to_vec(),
            isolation: Isolation { cores: process_cores, ..Isolation::default() },
            fifo_priority,
            priority,
            lock_memory: if free { Wish::No } else { Wish::Try },
            log: self.log.is_some().then_some(LogOptions {
                waiting: WAITING,
                // Without a clock there is time to wait for the file.
                policy: if free { soft::Policy::Hold } else { soft::Policy::Drop },
            }),
            watched: self.live.wanted(),
            ..SessionOptions::default()
        }
    }
}
