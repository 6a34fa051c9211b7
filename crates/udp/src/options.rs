//! Options of a load, and permissions of a server.

use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_host::placement::Placement;
use takt_packet::{EngineKind, MAX_GENERATED_BYTES};

use super::error::{UdpError, within};
use super::plan::Plan;
use super::protocol::data::HEADER_BYTES;

/// The port a server listens on where nobody says otherwise: one above iperf3's.
pub const DEFAULT_PORT: u16 = 5202;
pub const PAYLOAD_BYTES: std::ops::RangeInclusive<usize> = HEADER_BYTES..=9000;
pub const MAX_DURATION: Duration = Duration::from_secs(24 * 3600);
pub const MIN_INTERVAL: Duration = Duration::from_millis(10);
pub const MAX_INTERVALS: u128 = 100_000;
pub const RATES_PER_S: std::ops::RangeInclusive<f64> = 0.001..=1e9;
pub const BURSTS: std::ops::RangeInclusive<u32> = 1..=65_536;
/// Datagrams of a round that ends after so many.
pub const DATAGRAMS: std::ops::RangeInclusive<u64> = 1..=1_000_000_000_000;
pub const MAX_SIZES: usize = 64;
/// The simple IMIX, seven frames of 64 bytes, four of 594 and one of 1518, as payloads of UDP over IPv4. In the genome of
/// RFC 6985: `azazazaagaaz` with z = 594.
pub const IMIX: [usize; 12] = [18, 548, 18, 548, 18, 548, 18, 18, 1472, 18, 18, 548];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    #[default]
    ToServer,
    /// From the server to the client (`--reverse`).
    FromServer,
    /// Both at once (`--bidir`).
    Both,
}

impl Direction {
    #[must_use]
    pub fn to_server(self) -> bool {
        self != Direction::FromServer
    }

    #[must_use]
    pub fn from_server(self) -> bool {
        self != Direction::ToServer
    }
}

/// Maker of the datagrams that a client sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MadeBy {
    /// The client, which hands them to its packet engine.
    #[default]
    Engine,
    /// The kernel, by a program of XDP: see [`takt_packet::Generator`].
    Xdp,
}

impl FromStr for MadeBy {
    type Err = String;

    fn from_str(text: &str) -> Result<MadeBy, String> {
        match text {
            "engine" => Ok(MadeBy::Engine),
            "xdp" => Ok(MadeBy::Xdp),
            other => Err(format!("no generator is called `{other}` (there are engine and xdp)")),
        }
    }
}

/// The options of a client. Start from [`UdpOptions::to`] and change what matters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UdpOptions {
    pub server: SocketAddr,
    pub direction: Direction,
    /// Payload of a datagram, bytes, 16 to 9000.
    pub payload_bytes: usize,
    /// Several payloads instead, at most 64: datagram n has that of place n modulo their number. Empty = all alike.
    #[serde(default)]
    pub sizes: Vec<usize>,
    /// Datagrams a second, of all flows together and each way; `None` = flat out.
    pub datagrams_per_s: Option<f64>,
    /// Begin with so many a second, and grow or fall evenly to `datagrams_per_s`.
    #[serde(default)]
    pub ramp_from_per_s: Option<f64>,
    /// So many come due at one instant, at the same mean rate; 1 = evenly spread.
    #[serde(default = "one")]
    pub burst: u32,
    /// End after so many datagrams each way, if `duration` has not ended before.
    #[serde(default)]
    pub datagrams: Option<u64>,
    pub duration: Duration,
    /// How long load is sent before, and not measured. Zero = not at all.
    pub warm_up: Duration,
    /// Source ports, 1 to 16.
    pub flows: u8,
    /// Length of the intervals of the result.
    pub interval: Duration,
    /// The client's packet engine; the server has its own.
    pub engine: EngineKind,
    /// Maker of what the client sends.
    #[serde(default)]
    pub generator: MadeBy,
    /// Let the client's kernel split and join aggregates.
    pub aggregate: bool,
    /// The client's thread never sleeps while it waits for datagrams.
    #[serde(default)]
    pub busy_poll: bool,
    /// Kernel buffers of each port, bytes.
    pub buffer_bytes: usize,
    /// CPUs the client's thread may use; empty = those it has.
    pub cpus: Vec<usize>,
    /// FIFO priority of the client's thread; `None` = the policy it has.
    #[serde(default)]
    pub priority: Option<u8>,
}

impl UdpOptions {
    /// 1472-byte datagrams flat out to `server` for ten seconds, one flow, engine `mmsg`, no aggregates, 4 MiB buffers.
    #[must_use]
    pub fn to(server: SocketAddr) -> UdpOptions {
        UdpOptions {
            server,
            direction: Direction::default(),
            payload_bytes: 1472,
            sizes: Vec::new(),
            datagrams_per_s: None,
            ramp_from_per_s: None,
            burst: 1,
            datagrams: None,
            duration: Duration::from_secs(10),
            warm_up: Duration::ZERO,
            flows: 1,
            interval: Duration::from_secs(1),
            engine: EngineKind::Mmsg,
            generator: MadeBy::Engine,
            aggregate: false,
            busy_poll: false,
            buffer_bytes: 4 << 20,
            cpus: Vec::new(),
            priority: None,
        }
    }

    pub(super) fn placement(&self) -> Placement {
        Placement { cpus: self.cpus.clone(), priority: self.priority }
    }

    /// The mean payload of a datagram, bytes.
    #[must_use]
    pub fn mean_payload_bytes(&self) -> f64 {
        match self.sizes.len() {
            0 => self.payload_bytes as f64,
            n => self.sizes.iter().sum::<usize>() as f64 / n as f64,
        }
    }

    /// Whether such a round can be run.
    pub fn check(&self) -> Result<(), UdpError> {
        Plan::of(self, 0, None).check()?;
        if self.generator == MadeBy::Xdp {
            self.check_generated()?;
        }
        within("warm-up", self.warm_up <= MAX_DURATION, || format!("{:?}", self.warm_up), "at most 24 h")
    }

    /// A generator knows one datagram and no time.
    fn check_generated(&self) -> Result<(), UdpError> {
        let (what, got) = ("generator", |got: &str| format!("xdp, {got}"));
        within(what, self.direction == Direction::ToServer, || got("from the server"), "the client alone sends")?;
        within(what, self.datagrams_per_s.is_none(), || got("at a rate"), "flat out")?;
        within(what, self.sizes.len() < 2, || got("of several sizes"), "one size")?;
        let fits = self.payload_bytes <= MAX_GENERATED_BYTES;
        within(what, fits, || got(&format!("{} bytes", self.payload_bytes)), "at most 3000 bytes")
    }
}

pub(super) fn one() -> u32 {
    1
}

/// Permissions of a server. Start from [`ServeOptions::at`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServeOptions {
    pub bind: SocketAddr,
    pub engine: EngineKind,
    /// Let its kernel split and join aggregates.
    pub aggregate: bool,
    /// Its thread never sleeps while it waits for datagrams.
    #[serde(default)]
    pub busy_poll: bool,
    /// Kernel buffers, bytes.
    pub buffer_bytes: usize,
    /// CPUs its thread may use; empty = those it has.
    pub cpus: Vec<usize>,
    /// FIFO priority of its thread; `None` = the policy it has.
    #[serde(default)]
    pub priority: Option<u8>,
    pub once: bool,
}

impl ServeOptions {
    /// Engine `mmsg`, no aggregates, 4 MiB buffers, until stopped.
    #[must_use]
    pub fn at(bind: SocketAddr) -> ServeOptions {
        ServeOptions {
            bind,
            engine: EngineKind::Mmsg,
            aggregate: false,
            busy_poll: false,
            buffer_bytes: 4 << 20,
            cpus: Vec::new(),
            priority: None,
            once: false,
        }
    }

    pub(super) fn placement(&self) -> Placement {
        Placement { cpus: self.cpus.clone(), priority: self.priority }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_out_of_range_name_option_value_and_range() {
        let good = UdpOptions::to(([127, 0, 0, 1], DEFAULT_PORT).into());
        good.check().unwrap();
        for (options, text) in [
            (
                UdpOptions { payload_bytes: 15, ..good.clone() },
                "payload can\'t be 15 bytes; expected: 16 to 9000 bytes",
            ),
            (
                UdpOptions { payload_bytes: 9001, ..good.clone() },
                "payload can\'t be 9001 bytes; expected: 16 to 9000 bytes",
            ),
            (
                UdpOptions { datagrams_per_s: Some(f64::NAN), ..good.clone() },
                "rate can\'t be NaN datagrams/s; expected: 0.001 to 1e9 datagrams/s",
            ),
            (
                UdpOptions { duration: Duration::ZERO, ..good.clone() },
                "duration can\'t be 0ns; expected: above 0, at most 24 h",
            ),
            (UdpOptions { flows: 17, ..good.clone() }, "flows can\'t be 17; expected: 1 to 16"),
            (
                UdpOptions { sizes: vec![1472, 12], ..good.clone() },
                "payload can\'t be 12 bytes; expected: 16 to 9000 bytes",
            ),
            (UdpOptions { sizes: vec![64; 65], ..good.clone() }, "sizes can\'t be 65; expected: at most 64"),
            (UdpOptions { burst: 0, ..good.clone() }, "burst can\'t be 0; expected: 1 to 65536 datagrams"),
            (UdpOptions { burst: 2, ..good.clone() }, "rate can\'t be bursts flat out; expected: a rate"),
            (
                UdpOptions { ramp_from_per_s: Some(1.0), ..good.clone() },
                "rate can\'t be a ramp to flat out; expected: a rate",
            ),
            (
                UdpOptions { ramp_from_per_s: Some(-1.0), datagrams_per_s: Some(1.0), ..good.clone() },
                "rate can\'t be -1 datagrams/s; expected: 0.001 to 1e9 datagrams/s",
            ),
            (
                UdpOptions { generator: MadeBy::Xdp, direction: Direction::Both, ..good.clone() },
                "generator can\'t be xdp, from the server; expected: the client alone sends",
            ),
            (
                UdpOptions { generator: MadeBy::Xdp, datagrams_per_s: Some(9.0), ..good.clone() },
                "generator can\'t be xdp, at a rate; expected: flat out",
            ),
            (
                UdpOptions { generator: MadeBy::Xdp, sizes: vec![64, 512], ..good.clone() },
                "generator can\'t be xdp, of several sizes; expected: one size",
            ),
            (
                UdpOptions { generator: MadeBy::Xdp, payload_bytes: 3001, ..good.clone() },
                "generator can\'t be xdp, 3001 bytes; expected: at most 3000 bytes",
            ),
            (UdpOptions { datagrams: Some(0), ..good.clone() }, "count can\'t be 0; expected: 1 to 1e12 datagrams"),
            (
                UdpOptions { warm_up: Duration::MAX, ..good.clone() },
                "warm-up can\'t be 18446744073709551615.999999999s; expected: at most 24 h",
            ),
        ] {
            assert_eq!(options.check().unwrap_err().to_string(), text);
        }
        assert!(UdpOptions { interval: Duration::from_millis(9), ..good.clone() }.check().is_err());
        assert!(UdpOptions { datagrams_per_s: Some(0.0), ..good }.check().is_err());
    }

    #[test]
    fn options_travel_as_json() {
        let options = UdpOptions::to(([127, 0, 0, 1], DEFAULT_PORT).into());
        assert_eq!(("xdp".parse(), "engine".parse()), (Ok(MadeBy::Xdp), Ok(options.generator)));
        assert!("pktgen".parse::<MadeBy>().is_err_and(|said| said.ends_with("(there are engine and xdp)")));
        let json = serde_json::to_string(&options).unwrap();
        assert!(json.contains(r#""engine":"mmsg""#), "{json}");
        assert_eq!(serde_json::from_str::<UdpOptions>(&json).unwrap(), options);
        let other = json.replace("mmsg", "netmap");
        assert!(
            serde_json::from_str::<UdpOptions>(&other).unwrap_err().to_string().contains("`netmap` is not an engine")
        );
    }
}
