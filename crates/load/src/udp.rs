//! `udp`, as a workload of experiments: datagram load by `takt-udp`.

use serde_json::{Value, json};
use takt_agent::Failure;
use takt_base::{Stop, parse_number};
use takt_path::ethernet::datagram_wire_bytes;
use takt_udp::{Direction, UdpOptions};

use crate::excluded::ExcludedSpans;
use crate::lent::LentRule::{Any, Cores, List, Loopback, Sockets, Word};
use crate::lent::{Lent, LentOptions, LentRule};
use crate::quantity::Quantity;
use crate::setting::{DURATION, Domain, ENGINE, Setting, Settings, Takes, WARM_UP};
use crate::workload::{Facts, Lost, Peer, Target, Workload, read, write};

const SETTINGS: &[Setting] = &[
    ENGINE,
    DURATION,
    WARM_UP,
    Setting::required("payload_bytes", Takes::Whole(16, 8972)).about("payload of a datagram"),
    Setting::required("direction", Takes::Word(&["to-host", "from-host", "both"])).about("which way datagrams flow"),
    Setting::new("offered", Takes::Domain(&Offered), "flat-out")
        .about("load: as much as goes, datagrams a second, or as many as an Ethernet of that rate carries"),
];

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
        Facts { peer: Peer::Server, settings: SETTINGS, quantities: QUANTITIES }
    }

    fn options(&self, settings: &Settings, target: &Target<'_>) -> Result<Value, Failure> {
        let directions =
            [("to-host", Direction::FromServer), ("from-host", Direction::ToServer), ("both", Direction::Both)];
        let payload_bytes = settings.whole("payload_bytes");
        write(&UdpOptions {
            direction: settings.choice("direction", &directions)?,
            payload_bytes,
            datagrams_per_s: offered(settings, payload_bytes),
            duration: settings.span("duration"),
            warm_up: settings.span("warm_up"),
            engine: settings.parsed("engine")?,
            ..UdpOptions::to(target.server())
        })
    }

    fn lent(&self) -> Option<Lent> {
        Some(Lent::without_waveform(LENT))
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

/// Datagrams a second; `None`: flat out. The rate of an Ethernet means as many as it carries, with everything it adds.
fn offered(settings: &Settings, payload_bytes: usize) -> Option<f64> {
    let of_ethernet = |bps: f64| bps / 8.0 / datagram_wire_bytes(payload_bytes) as f64;
    settings.number("offered").or_else(|| ethernet_bps(settings.word("offered")).map(of_ethernet))
}

/// `100Mb/s` as bits a second.
fn ethernet_bps(text: &str) -> Option<f64> {
    parse_number(text.strip_suffix("b/s")?).ok().filter(|bps| (1e3..=1e12).contains(bps))
}

/// `"flat-out"`, datagrams a second (`20_000`, `"20k"`), or the rate of an Ethernet (`"100Mb/s"`).
#[derive(Debug)]
struct Offered;

impl Domain for Offered {
    fn shown(&self) -> String {
        "flat-out | datagrams a second | the rate of an Ethernet, such as 100Mb/s".into()
    }

    fn accept(&self, value: &Value) -> Result<Value, String> {
        let number = value.as_f64().or_else(|| parse_number(value.as_str()?).ok());
        match number.filter(|n| (1.0..=1e9).contains(n)) {
            Some(per_s) => Ok(json!(per_s)),
            None if value == "flat-out" || value.as_str().and_then(ethernet_bps).is_some() => Ok(value.clone()),
            None => Err("\"flat-out\", datagrams a second, or the rate of an Ethernet such as \"100Mb/s\"".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_datagrams_a_second_or_what_an_ethernet_carries() {
        assert_eq!(Offered.accept(&json!("20k")), Ok(json!(20e3)));
        assert_eq!(Offered.accept(&json!("100Mb/s")), Ok(json!("100Mb/s")));
        assert!(Offered.accept(&json!("fast")).is_err());
        assert_eq!(ethernet_bps("100Mb/s"), Some(1e8));
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
