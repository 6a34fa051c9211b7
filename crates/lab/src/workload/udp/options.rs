//! What a load is to be, and what a server is to permit.

use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_packet::EngineKind;

use super::error::UdpError;
use super::protocol::data::{HEADER_BYTES, MAX_FLOWS};
use crate::workload::engine_name;

/// The port a server listens on where nobody says otherwise: one above iperf3's.
pub const DEFAULT_PORT: u16 = 5202;
/// Payloads of a datagram, bytes.
pub const PAYLOAD_BYTES: std::ops::RangeInclusive<usize> = HEADER_BYTES..=9000;
/// The longest round.
pub const MAX_DURATION: Duration = Duration::from_secs(24 * 3600);
/// The shortest interval, and as many as a round can have.
pub const MIN_INTERVAL: Duration = Duration::from_millis(10);
/// Intervals a round can have.
pub const MAX_INTERVALS: u128 = 100_000;

/// Which way load flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From the client to the server.
    #[default]
    ToServer,
    /// From the server to the client (`--reverse`).
    FromServer,
    /// Both at once (`--bidir`).
    Both,
}

impl Direction {
    /// Whether the client sends load.
    #[must_use]
    pub fn to_server(self) -> bool {
        self != Direction::FromServer
    }

    /// Whether the server sends load.
    #[must_use]
    pub fn from_server(self) -> bool {
        self != Direction::ToServer
    }
}

/// What a client asks for. Start from [`Options::to`] and change what matters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// The server.
    pub server: SocketAddr,
    /// Which way.
    pub direction: Direction,
    /// Payload of a datagram, bytes, 16 to 9000.
    pub payload_bytes: usize,
    /// Datagrams a second, of all flows together and each way; `None` = flat out.
    pub datagrams_per_s: Option<f64>,
    /// How long load is sent.
    pub duration: Duration,
    /// How long load is sent before, and not measured. Zero = not at all.
    pub warm_up: Duration,
    /// Source ports, 1 to 16.
    pub flows: u8,
    /// Length of the intervals of the result.
    pub interval: Duration,
    /// The client's packet engine; the server has its own.
    #[serde(with = "engine_name")]
    pub engine: EngineKind,
    /// Let the client's kernel split and join aggregates.
    pub aggregate: bool,
    /// Kernel buffers of each port, bytes.
    pub buffer_bytes: usize,
    /// CPUs the client's thread may use; empty = those it has.
    pub cpus: Vec<usize>,
}

impl Options {
    /// 1472-byte datagrams flat out to `server` for ten seconds, one flow, engine `mmsg`, no aggregates, 4 MiB buffers.
    #[must_use]
    pub fn to(server: SocketAddr) -> Options {
        Options {
            server,
            direction: Direction::default(),
            payload_bytes: 1472,
            datagrams_per_s: None,
            duration: Duration::from_secs(10),
            warm_up: Duration::ZERO,
            flows: 1,
            interval: Duration::from_secs(1),
            engine: EngineKind::Mmsg,
            aggregate: false,
            buffer_bytes: 4 << 20,
            cpus: Vec::new(),
        }
    }

    /// Whether such a round can be run.
    ///
    /// # Errors
    /// Names the option, its value and the range.
    pub fn check(&self) -> Result<(), UdpError> {
        let plan = Plan::of(self, 0, None);
        plan.check().and_then(|()| match self.warm_up {
            long if long > MAX_DURATION => Err(UdpError::option("warm-up", format!("{long:?}"), "at most 24 h")),
            _ => Ok(()),
        })
    }
}

/// What a server permits. Start from [`ServeOptions::at`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServeOptions {
    /// Where to listen.
    pub bind: SocketAddr,
    /// Its packet engine.
    #[serde(with = "engine_name")]
    pub engine: EngineKind,
    /// Let its kernel split and join aggregates.
    pub aggregate: bool,
    /// Kernel buffers, bytes.
    pub buffer_bytes: usize,
    /// CPUs its thread may use; empty = those it has.
    pub cpus: Vec<usize>,
    /// End after the first session.
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
            buffer_bytes: 4 << 20,
            cpus: Vec::new(),
            once: false,
        }
    }
}

/// What a client tells a server about a round (the body of `Start`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub(super) direction: Direction,
    pub(super) payload_bytes: usize,
    pub(super) datagrams_per_s: Option<f64>,
    pub(super) duration_ns: u64,
    pub(super) interval_ns: u64,
    pub(super) flows: u8,
    /// The server's clock minus the client's, ns.
    pub(super) server_ahead_ns: i64,
}

impl Plan {
    pub(super) fn of(options: &Options, server_ahead_ns: i64, warm_up: Option<Duration>) -> Plan {
        let ns = |span: Duration| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        Plan {
            direction: options.direction,
            payload_bytes: options.payload_bytes,
            datagrams_per_s: options.datagrams_per_s,
            duration_ns: ns(warm_up.unwrap_or(options.duration)),
            interval_ns: ns(options.interval),
            flows: options.flows,
            server_ahead_ns,
        }
    }

    /// How long load is sent.
    pub(super) fn duration(&self) -> Duration {
        Duration::from_nanos(self.duration_ns)
    }

    pub(super) fn check(&self) -> Result<(), UdpError> {
        let (duration, interval) = (self.duration(), Duration::from_nanos(self.interval_ns));
        if !PAYLOAD_BYTES.contains(&self.payload_bytes) {
            return Err(UdpError::option("payload", format!("{} bytes", self.payload_bytes), "16 to 9000 bytes"));
        }
        if self.datagrams_per_s.is_some_and(|rate| !(0.001..=1e9).contains(&rate)) {
            let got = format!("{} datagrams/s", self.datagrams_per_s.unwrap_or_default());
            return Err(UdpError::option("rate", got, "0.001 to 1e9 datagrams/s"));
        }
        if duration.is_zero() || duration > MAX_DURATION {
            return Err(UdpError::option("duration", format!("{duration:?}"), "above 0, at most 24 h"));
        }
        if interval < MIN_INTERVAL || duration.as_nanos() / interval.as_nanos() > MAX_INTERVALS {
            let want = "at least 10 ms and a hundred-thousandth of the duration";
            return Err(UdpError::option("interval", format!("{interval:?}"), want));
        }
        if !(1..=MAX_FLOWS).contains(&self.flows) {
            return Err(UdpError::option("flows", self.flows.to_string(), "1 to 16"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_out_of_range_name_option_value_and_range() {
        let good = Options::to(([127, 0, 0, 1], DEFAULT_PORT).into());
        good.check().unwrap();
        for (options, text) in [
            (Options { payload_bytes: 15, ..good.clone() }, "payload: 15 bytes (want 16 to 9000 bytes)"),
            (Options { payload_bytes: 9001, ..good.clone() }, "payload: 9001 bytes (want 16 to 9000 bytes)"),
            (
                Options { datagrams_per_s: Some(f64::NAN), ..good.clone() },
                "rate: NaN datagrams/s (want 0.001 to 1e9 datagrams/s)",
            ),
            (Options { duration: Duration::ZERO, ..good.clone() }, "duration: 0ns (want above 0, at most 24 h)"),
            (Options { flows: 17, ..good.clone() }, "flows: 17 (want 1 to 16)"),
            (
                Options { warm_up: Duration::MAX, ..good.clone() },
                "warm-up: 18446744073709551615.999999999s (want at most 24 h)",
            ),
        ] {
            assert_eq!(options.check().unwrap_err().to_string(), text);
        }
        assert!(Options { interval: Duration::from_millis(9), ..good.clone() }.check().is_err());
        assert!(Options { datagrams_per_s: Some(0.0), ..good }.check().is_err());
    }

    #[test]
    fn options_travel_as_json() {
        let options = Options::to(([127, 0, 0, 1], DEFAULT_PORT).into());
        let json = serde_json::to_string(&options).unwrap();
        assert!(json.contains(r#""engine":"mmsg""#), "{json}");
        assert_eq!(serde_json::from_str::<Options>(&json).unwrap(), options);
        let other = json.replace("mmsg", "dpdk");
        assert!(
            serde_json::from_str::<Options>(&other).unwrap_err().to_string().contains("no engine is called `dpdk`")
        );
    }
}
