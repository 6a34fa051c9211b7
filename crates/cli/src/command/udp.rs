//! `takt udp`: datagram load between two ends that agreed to it.

mod text;

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use takt_base::{QuantityError, parse_bytes, parse_duration, parse_number};
use takt_lab::workload::udp::{
    DEFAULT_PORT, Direction, Notice, Options, Progress, ServeOptions, UdpError, UdpReport, run as load, serve,
};
use takt_packet::{EngineError, EngineKind};

use crate::answer::Answer;
use crate::output::Output;
use crate::signals::stop_on_signal;
use crate::story::Story;

/// Arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example, on two machines:
  takt udp serve --addr 192.168.10.2
  takt udp send --addr 192.168.10.2 --size 64 --pps 20k --duration 10s")]
pub struct Args {
    #[command(subcommand)]
    end: End,
}

#[derive(Debug, clap::Subcommand)]
enum End {
    /// Consent to load: listen, measure, answer. One client at a time.
    Serve(Serve),
    /// Send load to a server, or have it send (--reverse), and report what became of it.
    Send(Send),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  takt udp serve --addr 127.0.0.1

Prints `ready udp ADDR:PORT` when it listens, runs until Ctrl-C. Whoever can reach the port can have load sent to itself.")]
struct Serve {
    /// Where to listen.
    #[arg(long, value_name = "A", default_value = "0.0.0.0")]
    addr: IpAddr,
    /// Which UDP port; 0 lets the kernel choose.
    #[arg(long, value_name = "P", default_value_t = DEFAULT_PORT)]
    port: u16,
    /// End after the first client.
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    engine: Engine,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt udp send --addr 192.168.10.2                        1472-byte datagrams, flat out, 10 s
  takt udp send --addr 192.168.10.2 --size 64 --pps 20k    paced, with the latency that shows
  takt udp send --addr 192.168.10.2 --rate 100M --bidir --json

Exit status 0: everything arrived; 1: datagrams were lost or could not be sent in time; 2: could not be done.")]
struct Send {
    /// The server.
    #[arg(long, value_name = "A")]
    addr: IpAddr,
    /// Its UDP port.
    #[arg(long, value_name = "P", default_value_t = DEFAULT_PORT)]
    port: u16,
    /// Payload of a datagram, 16 to 9000 bytes.
    #[arg(long, value_name = "B", default_value = "1472", value_parser = payload)]
    size: usize,
    /// Payload bits a second, such as 100M [default: flat out].
    #[arg(long, value_name = "R", value_parser = parse_number, conflicts_with = "pps")]
    rate: Option<f64>,
    /// Datagrams a second, such as 20k.
    #[arg(long, value_name = "N", value_parser = parse_number)]
    pps: Option<f64>,
    /// How long load is sent.
    #[arg(long, value_name = "T", default_value = "10s", value_parser = parse_duration)]
    duration: Duration,
    /// How long load is sent before that, and not measured.
    #[arg(long, value_name = "T", default_value = "0s", value_parser = parse_duration)]
    warm_up: Duration,
    /// Have the server send.
    #[arg(long, conflicts_with = "bidir")]
    reverse: bool,
    /// Send both ways at once.
    #[arg(long)]
    bidir: bool,
    /// Source ports the load is spread over, 1 to 16.
    #[arg(long, value_name = "N", default_value_t = 1)]
    flows: u8,
    /// Report by intervals of this length; the text shows them where this is given.
    #[arg(long, value_name = "T", value_parser = parse_duration)]
    interval: Option<Duration>,
    #[command(flatten)]
    engine: Engine,
}

#[derive(Debug, clap::Args)]
struct Engine {
    /// Packet engine of this end: socket or mmsg.
    #[arg(long, value_name = "E", default_value = "mmsg")]
    engine: EngineKind,
    /// Let the kernel split and join aggregates (UDP GSO and GRO).
    #[arg(long)]
    aggregate: bool,
    /// Kernel buffers.
    #[arg(long, value_name = "B", default_value = "4MiB", value_parser = size)]
    buffer: usize,
    /// CPUs for the load's thread.
    #[arg(long, value_name = "N,N", value_delimiter = ',')]
    cores: Vec<usize>,
}

/// Runs either end.
pub fn run(args: Args, output: &Output) -> miette::Result<Answer> {
    match args.end {
        End::Serve(args) => run_server(args, output),
        End::Send(args) => run_client(args, output),
    }
}

fn run_server(args: Serve, output: &Output) -> miette::Result<Answer> {
    let stop = stop_on_signal()?;
    let Engine { engine, aggregate, buffer: buffer_bytes, cores: cpus } = args.engine;
    let options = ServeOptions {
        bind: SocketAddr::new(args.addr, args.port),
        engine,
        aggregate,
        buffer_bytes,
        cpus,
        once: args.once,
    };
    let mut notice = |notice: Notice| match notice {
        Notice::Ready(at) => output.line(format!("ready udp {at}")),
        _ if output.wants_json() => {}
        Notice::Opened(client) => output.note(format!("{client} began")),
        Notice::Round { client, received, sent } => {
            output.note(format!("{client} received {received}, sent {sent} datagrams"));
        }
        Notice::Closed(client, true) => output.note(format!("{client} ended")),
        Notice::Closed(client, false) => output.note(format!("{client} fell silent; nothing more is sent to it")),
    };
    let summary = serve(&options, &mut notice, &stop).map_err(|error| story("no load can be served", error))?;
    output.result(&summary, || text::summary(&summary))?;
    Ok(Answer::Yes)
}

fn run_client(args: Send, output: &Output) -> miette::Result<Answer> {
    let stop = stop_on_signal()?;
    let intervals = args.interval.is_some();
    let options = args.options();
    let bar = if output.may_draw() { progress_bar() } else { ProgressBar::hidden() };
    let report = load(&options, &mut |progress| draw(&bar, &progress), &stop);
    bar.finish_and_clear();
    let report = report.map_err(|error| story(&format!("no load to {}", options.server), error))?;
    output.result(&report, || text::report(&report, intervals))?;
    Ok(Answer::of(clean(&report)))
}

/// Whether everything that was to be sent was, and arrived.
fn clean(report: &UdpReport) -> bool {
    let mut ways = std::iter::once(&report.way).chain(&report.from_server);
    ways.all(|way| way.sent.datagrams > 0 && way.lost.total == 0 && way.unsent == 0)
}

impl Send {
    fn options(self) -> Options {
        let Engine { engine, aggregate, buffer: buffer_bytes, cores: cpus } = self.engine;
        let defaults = Options::to(SocketAddr::new(self.addr, self.port));
        Options {
            direction: match (self.reverse, self.bidir) {
                (true, _) => Direction::FromServer,
                (_, true) => Direction::Both,
                _ => Direction::ToServer,
            },
            payload_bytes: self.size,
            datagrams_per_s: self.pps.or(self.rate.map(|bps| bps / (8.0 * self.size.max(1) as f64))),
            duration: self.duration,
            warm_up: self.warm_up,
            flows: self.flows,
            interval: self.interval.unwrap_or(defaults.interval),
            engine,
            aggregate,
            buffer_bytes,
            cpus,
            ..defaults
        }
    }
}

fn size(text: &str) -> Result<usize, QuantityError> {
    parse_bytes(text).map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX))
}

fn payload(text: &str) -> Result<usize, String> {
    let bytes = size(text).map_err(|error| error.to_string())?;
    if (16..=9000).contains(&bytes) { Ok(bytes) } else { Err("want 16 to 9000 bytes".to_owned()) }
}

fn progress_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(1000).with_style(style)
}

fn draw(bar: &ProgressBar, progress: &Progress) {
    let share = progress.elapsed.as_secs_f64() / progress.planned.as_secs_f64().max(f64::MIN_POSITIVE);
    bar.set_position((share.min(1.0) * 1000.0) as u64);
    bar.set_message(text::progress(progress));
}

/// What went wrong, and the flag that mends it.
fn story(what: &str, error: UdpError) -> Story {
    let fix = match &error {
        UdpError::NobodyThere { server } | UdpError::NoAnswer { server } => {
            Some(format!("takt udp serve --addr {} --port {} on that machine", server.ip(), server.port()))
        }
        UdpError::Busy { .. } => Some("wait until it has ended".to_owned()),
        UdpError::Version { .. } => Some("the same version of takt on both machines".to_owned()),
        UdpError::Engine(EngineError::PortInUse { addr }) => {
            Some(format!("--port 0, or another\nstop the other program (ss -ulnp 'sport = :{}' names it)", addr.port()))
        }
        UdpError::Engine(EngineError::NotLocal { .. }) => Some("--addr 0.0.0.0 listens on all addresses".to_owned()),
        UdpError::Engine(EngineError::NotPermitted { .. }) => Some("--port above 1023".to_owned()),
        UdpError::Cpus(_) => Some("--cores with CPUs that are allowed, or leave it away".to_owned()),
        _ => None,
    };
    let story = Story::new(what).why(error);
    match fix {
        Some(fix) => story.fix(fix),
        None => story,
    }
}
