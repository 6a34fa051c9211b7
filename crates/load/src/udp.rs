//! `udp`, as a workload of experiments: datagram load by `takt-udp`.

use std::time::Duration;

use serde_json::{Value, json};
use takt_agent::Failure;
use takt_base::{Stop, parse_number};
use takt_packet::EngineKind;
use takt_path::ethernet::datagram_wire_bytes;
use takt_udp::{Direction, UdpOptions};

use crate::excluded::ExcludedSpans;
use crate::lent::LentRule::{Any, Cores, List, Loopback, Sockets, Word};
use crate::lent::{Lent, LentOptions, LentRule};
use crate::quantity::Quantity;
use crate::setting::{
    DURATION, Domain, ENGINE, Level, Setting, Settings, Takes, UnknownLevel, WARM_UP, settings, words,
};
use crate::workload::{Facts, Lost, Peer, PointNeeds, PointWorkload, Target, Workload, read, write};

settings! {
    /// A point of `udp`.
    struct UdpSettings {
        engine: EngineKind = ENGINE,
        duration: Duration = DURATION,
        warm_up: Duration = WARM_UP,
        payload_bytes: usize =
            Setting::required("payload_bytes", Takes::Whole(16, 8972)).about("payload of a datagram"),
        direction: Direction = Setting::required("direction", Takes::Word(&["to-host", "from-host", "both"]))
            .about("which way datagrams flow"),
        offered: Option<Offered> = Setting::new("offered", Takes::Domain(&OfferedDomain), "flat-out")
            .about("load: as much as goes, datagrams a second, or as many as an Ethernet of that rate carries"),
    }
}

words! {
    Direction: "to-host" => Direction::FromServer, "from-host" => Direction::ToServer, "both" => Direction::Both;
}

const QUANTITIES: &[Quantity] = &[
    Quantity::amount("datagrams_per_s", "/datagrams_per_s", "datagrams received"),
    Quantity::amount("throughput_bps", "/throughput_bps", "payload bits received"),
    Quantity::share("lost_share", "/lost/share", "of the sent"),
    Quantity::amount("jitter_us", "/jitter_us", "RFC 3550"),
    Quantity::amount("latency_p50_us", "/latency_us/p50_us", "one way"),
    Quantity::amount("latency_p99_9_us", "/latency_us/p99_9_us", "one way"),
    // With both ways at once those above are to the server, which is from the host.
    Quantity::amount("from_server_datagrams_per_s", "/from_server/datagrams_per_s", "with both: the other way"),
    Quantity::amount("from_server_throughput_bps", "/from_server/throughput_bps", "with both: the other way"),
    Quantity::share("from_server_lost_share", "/from_server/lost/share", "with both: the other way"),
    Quantity::amount("from_server_jitter_us", "/from_server/jitter_us", "with both: the other way"),
    Quantity::amount("from_server_latency_p50_us", "/from_server/latency_us/p50_us", "with both: the other way"),
    Quantity::amount("from_server_latency_p99_9_us", "/from_server/latency_us/p99_9_us", "with both: the other way"),
];

const LENT: LentOptions = &[
    // The other side is the agent beside this one.
    ("server", Loopback),
    ("direction", Any),
    ("payload_bytes", Any),
    ("sizes", List(64)),
    ("datagrams_per_s", Any),
    ("ramp_from_per_s", Any),
    ("burst", Any),
    ("datagrams", Any),
    ("duration", Any),
    ("warm_up", Any),
    ("flows", Any),
    ("interval", Any),
    ("engine", Sockets),
    ("generator", Word("engine")),
    ("aggregate", Any),
    ("busy_poll", Any),
    ("buffer_bytes", LentRule::SOCKET_BUFFER),
    ("cpus", Cores),
    // At a real-time priority it could keep the agent from its core for good.
    ("priority", LentRule::Absent),
];

pub(crate) struct Udp;

impl Workload for Udp {
    fn facts(&self) -> Facts {
        Facts { lent: Some(Lent::without_waveform(LENT)), ..Facts::of(Peer::Server, UdpSettings::SETTINGS, QUANTITIES) }
    }

    fn at(&self, settings: &Settings) -> Result<Box<dyn PointWorkload>, UnknownLevel> {
        Ok(Box::new(UdpSettings::read(settings)?))
    }

    fn run(&self, options: Value, stop: &Stop) -> Result<Value, Failure> {
        let options: UdpOptions = read("udp options", options)?;
        write(&takt_udp::run(&options, &mut |_| (), stop).map_err(|error| Failure::of(&error, None))?)
    }

    fn lost(&self, result: &Value, _: &ExcludedSpans) -> Option<Lost> {
        let share = |at| result.pointer(at).and_then(Value::as_f64);
        // With both ways at once the worse counts.
        Some(Lost::own(share("/lost/share")?.max(share("/from_server/lost/share").unwrap_or(0.0))))
    }
}

impl PointWorkload for UdpSettings {
    fn options(&self, target: &Target<'_>) -> Result<Value, Failure> {
        write(&UdpOptions {
            direction: self.direction,
            payload_bytes: self.payload_bytes,
            datagrams_per_s: self.offered.map(|offered| offered.datagrams_per_s(self.payload_bytes)),
            duration: self.duration,
            warm_up: self.warm_up,
            engine: self.engine,
            ..UdpOptions::to(target.server())
        })
    }

    fn about(&self) -> Duration {
        self.duration + self.warm_up
    }

    fn needs(&self) -> PointNeeds {
        PointNeeds { engine: Some(self.engine), payload_bytes: Some(self.payload_bytes), ..PointNeeds::default() }
    }
}

/// A load that is not as much as goes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Offered {
    DatagramsPerS(f64),
    /// As many datagrams as an Ethernet of that rate carries, bit/s, with everything it adds.
    EthernetBps(f64),
}

impl Offered {
    fn datagrams_per_s(self, payload_bytes: usize) -> f64 {
        match self {
            Offered::DatagramsPerS(per_s) => per_s,
            Offered::EthernetBps(bps) => bps / 8.0 / datagram_wire_bytes(payload_bytes) as f64,
        }
    }
}

impl Level for Offered {
    fn read(_: &Setting, level: &Value) -> Option<Offered> {
        let of_ethernet = || ethernet_bps(level.as_str()?).map(Offered::EthernetBps);
        level.as_f64().map(Offered::DatagramsPerS).or_else(of_ethernet)
    }
}

/// `100Mb/s` as bits a second.
fn ethernet_bps(text: &str) -> Option<f64> {
    parse_number(text.strip_suffix("b/s")?).ok().filter(|bps| (1e3..=1e12).contains(bps))
}

/// `"flat-out"`, datagrams a second (`20_000`, `"20k"`), or the rate of an Ethernet (`"100Mb/s"`).
#[derive(Debug)]
struct OfferedDomain;

impl Domain for OfferedDomain {
    fn shown(&self) -> String {
        "flat-out | datagrams a second | the rate of an Ethernet, such as 100Mb/s".into()
    }

    fn accept(&self, value: &Value) -> Result<Value, String> {
        let number = value.as_f64().or_else(|| parse_number(value.as_str()?).ok());
        match number.filter(|n| (1.0..=1e9).contains(n)) {
            Some(per_s) => Ok(json!(per_s)),
            None if value == "flat-out" || value.as_str().and_then(ethernet_bps).is_some() => Ok(value.clone()),
            None => {
                Err("give \"flat-out\", datagrams per second, or the rate of an Ethernet such as \"100Mb/s\"".into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_datagrams_a_second_or_what_an_ethernet_carries() {
        assert_eq!(OfferedDomain.accept(&json!("20k")), Ok(json!(20e3)));
        assert_eq!(OfferedDomain.accept(&json!("100Mb/s")), Ok(json!("100Mb/s")));
        assert!(OfferedDomain.accept(&json!("fast")).is_err());
        assert_eq!(ethernet_bps("100Mb/s"), Some(1e8));
        let read = |level: Value| Offered::read(&DURATION, &level).map(|offered| offered.datagrams_per_s(1472).round());
        assert_eq!((read(json!(20e3)), read(json!("100Mb/s"))), (Some(20e3), Some(8_127.0)));
    }

    #[test]
    fn of_both_ways_at_once_the_worse_counts_and_each_has_its_numbers() {
        let way = |lost: f64, jitter_us: f64| json!({ "lost": { "share": lost }, "jitter_us": jitter_us });
        let with = |from_server: Value| {
            let mut result = way(0.01, 3.0);
            result["from_server"] = from_server;
            result
        };
        let lost = |result: &Value| Udp.lost(result, &ExcludedSpans::default());
        assert_eq!(lost(&with(way(0.2, 5.0))), Some(Lost::own(0.2)));
        assert_eq!(lost(&with(way(0.0, 5.0))), Some(Lost::own(0.01)));
        assert_eq!(lost(&with(Value::Null)), Some(Lost::own(0.01)), "one way");
        assert_eq!(lost(&json!({})), None);
        let read = |name: &str, result: &Value| QUANTITIES.iter().find(|one| one.name == name).unwrap().read(result);
        assert_eq!(read("from_server_lost_share", &with(way(0.2, 5.0))), Some(0.2));
        assert_eq!(read("from_server_jitter_us", &with(way(0.2, 5.0))), Some(5.0));
        assert_eq!(read("from_server_lost_share", &with(Value::Null)), None);
    }
}
