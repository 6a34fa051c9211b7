//! `takt udp serve`: consent to load.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use takt_base::parse_ip;
use takt_base::shown::count;
use takt_host::placement::Placement;
use takt_udp::screen;
use takt_udp::{DEFAULT_PORT, Notice, ServeOptions, serve};

use super::flags::Engine;
use super::problem;
use crate::{Answer, Output, stop_on_signal};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt udp serve                            for senders on this machine
  takt udp serve --addr 192.168.10.2        for senders that reach this address
  takt udp serve --addr 0.0.0.0             on all addresses of this machine
  takt udp serve --cores 1 --policy fifo:50    on a core, before every ordinary program there

takt prints `ready udp ADDR:PORT` when it listens, and runs until Ctrl-C. Any host that can reach
the port can have load sent to itself.

Exit status: 0 it ran until it was stopped, 2 the command failed.")]
pub(super) struct Args {
    /// Address to listen on: one of this machine, or 0.0.0.0 for all of them [default: 127.0.0.1].
    #[arg(long, value_name = "ADDR", value_parser = parse_ip)]
    addr: Option<IpAddr>,
    /// UDP port to listen on; 0 lets the kernel choose.
    #[arg(short, long, value_name = "PORT", default_value_t = DEFAULT_PORT)]
    port: u16,
    /// End after the first client.
    #[arg(short = '1', long)]
    once: bool,
    #[command(flatten)]
    engine: Engine,
}

pub(super) fn run(args: Args, output: &Output) -> miette::Result<Answer> {
    let stop = stop_on_signal()?;
    let Engine { engine, aggregate, busy_poll, buffer: buffer_bytes, thread } = args.engine;
    let Placement { cpus, priority } = thread.placement();
    let options = ServeOptions {
        bind: SocketAddr::new(args.addr.unwrap_or(Ipv4Addr::LOCALHOST.into()), args.port),
        engine,
        aggregate,
        busy_poll,
        buffer_bytes,
        cpus,
        priority,
        once: args.once,
    };
    let mut notice = |notice: Notice| match notice {
        Notice::Ready(at) => {
            output.line(format!("ready udp {at}"));
            if args.addr.is_none() {
                output.note("Only this machine can reach it; --addr ADDRESS listens for others.");
            }
        }
        _ if output.wants_json() => {}
        Notice::Opened(client) => output.note(format!("{client} began")),
        Notice::Round { client, received, sent } => {
            let [received, sent] = [received, sent].map(count);
            output.note(format!("{client} received {received}, sent {sent} datagrams"));
        }
        Notice::Closed(client, true) => output.note(format!("{client} ended")),
        Notice::Closed(client, false) => output.note(format!("{client} fell silent; nothing more is sent to it")),
    };
    let summary = serve(&options, &mut notice, &stop).map_err(|error| problem("no load can be served", error))?;
    output.answer(&summary, || screen::served(&summary), Answer::Yes)
}
