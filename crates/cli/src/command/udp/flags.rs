//! Flags that several of the subcommands have, and how their values are read.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use takt_base::{QuantityError, parse_bytes, parse_ip, parse_number};
use takt_host::placement::Placement;
use takt_packet::EngineKind;
use takt_udp::{DEFAULT_PORT, Direction, IMIX, UdpOptions};

use crate::policy::StreamingThread;
use crate::{Bar, Output};

/// The server of a load.
#[derive(Debug, clap::Args)]
pub(super) struct Server {
    /// Address of the server.
    #[arg(short = 'c', long, value_name = "ADDR", value_parser = parse_ip)]
    addr: IpAddr,
    /// UDP port of the server.
    #[arg(short, long, value_name = "PORT", default_value_t = DEFAULT_PORT)]
    port: u16,
}

impl Server {
    fn at(&self) -> SocketAddr {
        SocketAddr::new(self.addr, self.port)
    }
}

/// Which way load flows.
#[derive(Debug, clap::Args)]
pub(super) struct Ways {
    /// Have the server send.
    #[arg(short = 'R', long, conflicts_with = "bidir")]
    reverse: bool,
    /// Send in both directions at once.
    #[arg(long)]
    bidir: bool,
    /// Number of source ports, 1 to 16, over which the load is spread.
    #[arg(short = 'P', long, value_name = "N", default_value_t = 1)]
    flows: u8,
}

impl Ways {
    fn direction(&self) -> Direction {
        match (self.reverse, self.bidir) {
            (true, _) => Direction::FromServer,
            (_, true) => Direction::Both,
            _ => Direction::ToServer,
        }
    }
}

/// How this end's datagrams enter and leave.
#[derive(Debug, clap::Args)]
pub(super) struct Engine {
    /// Packet engine of this end.
    #[arg(
        long,
        help = format!("Packet engine of this end: {}", EngineKind::FORMS),
        value_name = "ENGINE",
        default_value = "mmsg"
    )]
    pub(super) engine: EngineKind,
    /// Let the kernel split and join aggregates of datagrams (UDP GSO and GRO).
    #[arg(long)]
    pub(super) aggregate: bool,
    /// Poll for datagrams instead of sleeping. Uses a whole core; with --engine xdp, also does the driver's work.
    #[arg(long)]
    pub(super) busy_poll: bool,
    /// Size of each of the kernel's buffers, one to send and one to receive.
    #[arg(short = 'w', long, value_name = "BYTES", default_value = "4MiB", value_parser = size)]
    pub(super) buffer: usize,
    #[command(flatten)]
    pub(super) thread: StreamingThread,
}

/// A rate, or a ramp from one to another: `100M`, `10M..100M`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rate {
    pub(super) from: Option<f64>,
    pub(super) to: f64,
}

impl Rate {
    pub(super) fn over(self, divisor: f64) -> Rate {
        Rate { from: self.from.map(|from| from / divisor), to: self.to / divisor }
    }
}

impl FromStr for Rate {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Rate, QuantityError> {
        match text.split_once("..") {
            None => parse_number(text).map(|to| Rate { from: None, to }),
            Some((from, to)) => Ok(Rate { from: Some(parse_number(from)?), to: parse_number(to)? }),
        }
    }
}

/// Payloads of datagrams: `1472`, `64,512,1472`, `imix`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sizes(pub(super) Vec<usize>);

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Sizes, String> {
        if text.eq_ignore_ascii_case("imix") {
            return Ok(Sizes(IMIX.to_vec()));
        }
        text.split(',').map(payload).collect::<Result<_, _>>().map(Sizes)
    }
}

fn payload(text: &str) -> Result<usize, String> {
    let bytes = size(text).map_err(|error| error.to_string())?;
    if (16..=9000).contains(&bytes) { Ok(bytes) } else { Err(format!("`{text}`: want 16 to 9000 bytes")) }
}

pub(super) fn size(text: &str) -> Result<usize, QuantityError> {
    parse_bytes(text).map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX))
}

/// A number of datagrams: `1000`, `20k`.
pub(super) fn count(text: &str) -> Result<u64, String> {
    let number = parse_number(text).map_err(|error| error.to_string())?;
    let whole = number.fract() == 0.0 && number < 1e15;
    if whole { Ok(number as u64) } else { Err(format!("`{text}` is not a whole number")) }
}

/// A share: `0.01`, `1%`.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let (number, divisor) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    let number: Option<f64> = number.trim().parse().ok().filter(|number: &f64| number.is_finite());
    number.map(|number| number / divisor).ok_or_else(|| format!("`{text}` is not a share such as 0.1% or 0.001"))
}

/// Thousandths of the work.
pub(super) fn bar(output: &Output) -> Bar {
    Bar::like(output, 1000, "{bar:30} {msg}")
}

/// Options that both kinds of load have in common.
pub(super) fn load(server: &Server, ways: &Ways, engine: Engine) -> UdpOptions {
    let Engine { engine, aggregate, busy_poll, buffer: buffer_bytes, thread } = engine;
    let Placement { cpus, priority } = thread.placement();
    let usual = UdpOptions::to(server.at());
    let (direction, flows) = (ways.direction(), ways.flows);
    UdpOptions { direction, flows, engine, aggregate, busy_poll, buffer_bytes, cpus, priority, ..usual }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_sizes_counts_and_shares_as_people_type_them() {
        assert_eq!("100M".parse(), Ok(Rate { from: None, to: 1e8 }));
        assert_eq!("10M..100M".parse(), Ok(Rate { from: Some(1e7), to: 1e8 }));
        assert_eq!("64,9000".parse(), Ok(Sizes(vec![64, 9000])));
        assert_eq!("IMIX".parse::<Sizes>().map(|sizes| sizes.0.len()), Ok(12));
        assert_eq!((count("20k"), share("0.5%"), share("0.005")), (Ok(20_000), Ok(0.005), Ok(0.005)));
    }

    #[test]
    fn what_is_none_of_them_says_what_would_be() {
        assert!("10M..fast".parse::<Rate>().is_err_and(|error| error.got == "fast"));
        assert_eq!("64,15".parse::<Sizes>(), Err("`15`: want 16 to 9000 bytes".to_owned()));
        assert_eq!(count("1.5"), Err("`1.5` is not a whole number".to_owned()));
        assert!(share("%").is_err() && share("NaN").is_err() && share("many").is_err());
    }
}
