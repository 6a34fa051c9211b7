//! `takt udp`: datagram load between two ends that agreed to it.

mod flags;
mod search;
mod send;
mod serve;

use takt_packet::EngineError;
use takt_udp::UdpError;

use crate::policy::placement_refused;
use crate::{Answer, Output, Problem};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples, on two machines:
  takt udp serve --addr 192.168.10.2
  takt udp send --addr 192.168.10.2 --size 64 --pps 20k --duration 10s
  takt udp search --addr 192.168.10.2 --size 64,512,1472

Coming from iperf3: -s is `serve`, and -c HOST is `send -c HOST`. The flags -b, -l, -t, -k, -P, -R,
-i, -w and -O mean the same.")]
pub struct Args {
    #[command(subcommand)]
    end: End,
}

#[derive(Debug, clap::Subcommand)]
enum End {
    /// Accept load from one client at a time, and measure it.
    Serve(serve::Args),
    /// Send load to a server, or have it send (--reverse), and report what arrived.
    Send(send::Args),
    /// Search for the highest rate without loss (RFC 2544), and for the longest burst (RFC 9004).
    Search(search::Args),
}

pub fn run(args: Args, output: &Output) -> miette::Result<Answer> {
    match args.end {
        End::Serve(args) => serve::run(args, output),
        End::Send(args) => send::run(args, output),
        End::Search(args) => search::run(args, output),
    }
}

fn problem(what: &str, error: UdpError) -> Problem {
    let error = match error {
        UdpError::Placement(refused) => return placement_refused(refused),
        error => error,
    };
    Problem::caused(what, error, |error| match error {
        UdpError::NobodyThere { server } | UdpError::NoAnswer { server } => {
            Some(format!("run takt udp serve --addr {} --port {} on that machine", server.ip(), server.port()))
        }
        UdpError::Busy { .. } => Some("wait until it has ended".to_owned()),
        UdpError::Version { .. } => Some("run the same version of takt on both machines".to_owned()),
        UdpError::Option { what, .. } => option(what),
        UdpError::Engine(EngineError::PortInUse { addr }) => Some(format!(
            "give another --port, or --port 0 for any free one\nstop the other program (ss -ulnp 'sport = :{}' names it)",
            addr.port()
        )),
        UdpError::Engine(EngineError::NotLocal { .. }) => {
            Some("give --addr 0.0.0.0, to listen on all addresses".to_owned())
        }
        UdpError::Engine(EngineError::NotPermitted { .. }) => Some("give --port a number above 1023".to_owned()),
        _ => None,
    })
}

/// The flag behind an option that is out of range.
fn option(what: &str) -> Option<String> {
    let fix = match what {
        "rate" => "give --bitrate or --pps within that range, or omit both to send as fast as possible",
        "payload" | "sizes" => "give --size 64, --size 64,512,1472 or --size imix",
        "burst" => "give --burst 1, to spread datagrams evenly",
        "interval" => "give a longer --interval, or a shorter --duration",
        "duration" => "give --duration 10s, or --trial 1s for a search",
        "flows" => "give --flows within that range",
        "resolution" => "give --resolution 1%",
        "generator" => "give --generator engine, which supports rates, sizes and both directions",
        "loss" => "give --loss 0, or a share such as 0.1%",
        _ => return None,
    };
    Some(fix.to_owned())
}
