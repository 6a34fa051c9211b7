//! `takt emulate`: run software radios until stopped.

mod seen;

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

use takt_base::words::list;
use takt_emulator::air::{ModelName, Scene};
use takt_emulator::emulate::screen::{Described, air_text, text};
use takt_emulator::emulate::{
    self, AirSummary, DeviceSummary, EmulateError, EmulatorOptions, Model, ModelDevice, Notice, Summary,
};
use takt_emulator::fault::SpecError;
use takt_emulator::n200::N200;
use takt_emulator::signals::SignalError;
use takt_emulator::x310::X310;
use takt_live::Kind;
use takt_packet::EngineError;

use crate::policy::priority_is_policy;
use crate::radio_problem::of_file;
use crate::waveform::{FileDiagnostic, text_of, unreadable_file};
use crate::{Answer, LiveArgs, Output, Problem, stop_on_signal};

/// Takes the counts of radios that run.
type Snapshots<'a, S> = &'a dyn Fn() -> Result<S, EmulateError>;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt emulate n200
  takt emulate n200 --addr 127.0.0.1 --addr 127.0.0.2 --source tone:offset=100k
  takt emulate n200 --source loopback --sink sigmf:sent --fault lose:rx,every=1000 --json
  takt emulate x310 --addr 127.0.0.31 --source loopback
  takt emulate x310 --uhd 4.11
  takt emulate n200 --speed 0.1
  takt emulate --config scenes/pair.toml

takt prints `ready MODEL ADDR` for each radio once all of them listen, runs until Ctrl-C, and ends
with a summary.

For several radios, repeat --addr. The first --serial, --name, --source, --sink and --eeprom belong
to the first --addr, and so on. A single --source or --sink applies to all radios.")]
pub struct Args {
    /// Model of the radio. An N200 has an SBX and an X310 two UBX-160, unless --board names others.
    #[arg(required_unless_present = "config")]
    model: Option<Radio>,
    /// File with radios of both models that receive each other. See docs/reference/air.md.
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    config: Option<PathBuf>,
    #[command(flatten)]
    options: EmulatorOptions,
    #[command(flatten)]
    live: LiveArgs,
    #[arg(long = "priority", hide = true, value_parser = priority_is_policy)]
    _priority: Option<Infallible>,
}

/// The models, as users write them. Help on each would space out all of `takt emulate --help`.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Radio {
    N200,
    X310,
}

pub fn run(args: Args, output: &Output) -> miette::Result<Answer> {
    match (args.config, args.model) {
        (Some(config), _) => run_air(&config, &args.options, &args.live, output),
        (None, Some(Radio::X310)) => run_model::<X310>(&args.options, &args.live, output),
        (None, _) => run_model::<N200>(&args.options, &args.live, output),
    }
}

/// The radios of a file.
fn run_air(config: &Path, options: &EmulatorOptions, live: &LiveArgs, output: &Output) -> miette::Result<Answer> {
    let name = config.display().to_string();
    let example = "copy an example from takt's source, folder scenes; see docs/reference/air.md there for the format";
    let text = text_of(config, Scene::MOST_BYTES).map_err(|error| unreadable_file("air", &name, error, example))?;
    let mut scene = Scene::parse(&name, &text).map_err(FileDiagnostic::from)?;
    scene.apply(options).map_err(problem)?;
    let stop = stop_on_signal()?;
    let announced = |at: Ipv4Addr| {
        let radio = scene.radios.iter().find(|radio| radio.addr == at)?;
        (radio.model == ModelName::X310).then(|| X310::announces(&radio.options)).flatten()
    };
    let board = live.board(Kind::Emulate, &config.display().to_string(), output);
    let mut look = |now: Snapshots<'_, AirSummary>| seen::keep(board.as_ref(), now, seen::in_air);
    let mut notify = |notice| show(notice, &announced, output);
    let summary = emulate::run_air(&scene, &mut notify, &mut look, &stop).map_err(problem)?;
    drop(board);
    for device in &summary.devices {
        match &device.device {
            ModelDevice::N200(device) => note_refused(device, output),
            ModelDevice::X310(device) => note_refused(device, output),
        }
    }
    output.answer(&summary, || air_text(&summary, options.speed), Answer::Yes)
}

fn run_model<M: Model<Report: Described>>(
    options: &EmulatorOptions,
    live: &LiveArgs,
    output: &Output,
) -> miette::Result<Answer> {
    let stop = stop_on_signal()?;
    let announced = |_: Ipv4Addr| M::announces(options);
    let mut notify = |notice| show(notice, &announced, output);
    let addrs: Vec<String> = options.addrs.iter().map(ToString::to_string).collect();
    let board = live.board(Kind::Emulate, &format!("{} at {}", M::NAME, list(&addrs)), output);
    let mut look = |now: Snapshots<'_, Summary<M::Report>>| seen::keep(board.as_ref(), now, seen::of_model);
    let summary = emulate::run_model::<M>(options, &mut notify, &mut look, &stop).map_err(problem)?;
    drop(board);
    summary.devices.iter().for_each(|device| note_refused(device, output));
    output.answer(&summary, || text(&summary, options.speed), Answer::Yes)
}

/// `announced`: by which versions the radio at an address shows whom it serves.
fn show(notice: Notice, announced: &dyn Fn(Ipv4Addr) -> Option<String>, output: &Output) {
    match notice {
        Notice::Ready { model, addr } => {
            output.line(format!("ready {model} {addr}"));
            announced(addr).into_iter().for_each(|versions| output.note(format!("{model} {addr} {versions}")));
        }
        Notice::Speed(speed) => output.note(format!("speed     {speed} of real time")),
        Notice::Unserved { addr, advice } => output.note(format!("x310 {addr}: {advice}")),
    }
}

fn note_refused<R: Described>(device: &DeviceSummary<R>, output: &Output) {
    if let Some(first) = device.radio.hosts().refused_addresses.first() {
        output.note(format!(
            "radio {} did not send to {first}: it may send to loopback and networks named with --allow, there only to the address \
             that asks, unless --redirect is given",
            device.addr
        ));
    }
}

pub fn problem(error: EmulateError) -> Problem {
    match error {
        EmulateError::Fault(error) | EmulateError::Signal(error) => wrong_text(&error),
        EmulateError::Signals { source: SignalError::File { source, .. }, .. } if source.is_missing() => {
            of_file("run the radios", *source)
        }
        error => Problem::caused("the radios can't run", error, fix),
    }
}

/// The text of a fault, a source or a sink.
fn wrong_text(error: &SpecError) -> Problem {
    let problem = Problem::new(error.to_string()).fix(error.fix());
    match error.reason() {
        Some(reason) => problem.why(reason.to_owned()),
        None => problem,
    }
}

fn fix(error: &EmulateError) -> Option<String> {
    Some(match error {
        EmulateError::Ports { source: EngineError::PortInUse { addr: taken }, .. } => {
            let stop = format!("stop the other program (ss -ulnp 'sport = :{}' names it)", taken.port());
            match taken.ip() {
                IpAddr::V4(addr) if addr.is_loopback() => {
                    let [a, b, c, d] = addr.octets();
                    format!("{stop}\ngive --addr {}", Ipv4Addr::new(a, b, c, d.wrapping_add(1).max(1)))
                }
                _ => stop,
            }
        }
        EmulateError::Ports { addr, source: EngineError::NotLocal { .. } } => {
            format!("give --addr 127.0.0.1\nsudo ip addr add {addr}/24 dev INTERFACE")
        }
        EmulateError::Priority { source, .. } => {
            let without = "omit --policy";
            source.fix().map_or_else(|| without.to_owned(), |fix| format!("{fix}\n{without}"))
        }
        EmulateError::ForeignEeprom { .. } => {
            "give --eeprom another file; takt creates it if it does not exist".to_owned()
        }
        EmulateError::OtherBoard { .. } => {
            "omit --board, to use the board in the file\ngive --eeprom another file".to_owned()
        }
        EmulateError::Signals { source, .. } => source.fix(),
        EmulateError::SharedSink { .. } => "give one --sink for each --addr, each with its own file".to_owned(),
        EmulateError::TooMany { what, .. } => format!("give --addr once for each {what}"),
        EmulateError::Unfit { option, .. } => format!("omit {option}, or emulate another model"),
        EmulateError::HardwareSpeed { .. } => "omit --as-hardware or --speed".to_owned(),
        EmulateError::NotWithFile { .. } => "write it into the file, below its [[radio]]".to_owned(),
        EmulateError::Addresses { .. } => "give each radio its own --addr".to_owned(),
        _ => return None,
    })
}
