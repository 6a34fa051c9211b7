//! From the settings of a point to the options of its workload, and from its result to what was lost.

use std::net::SocketAddr;

use serde::Deserialize;
use serde_json::{Value, json};
use takt_packet::EngineKind;

use crate::agent::Failure;
use crate::check::rates;
use crate::environment::InForce;
use crate::experiment::Point;
use crate::experiment::settings::{Kind, Settings};
use crate::workload::{rate, round_trip, udp};

/// The options document of the workload.
pub(super) fn workload(point: &Point, site: &InForce) -> Value {
    match point.kind {
        Kind::Udp => json!(udp(&point.settings, site)),
        Kind::Rate => json!(rate(&point.settings, site)),
        Kind::RoundTrip => json!(round_trip(&point.settings, site)),
    }
}

/// Share of what was sent that was lost; of answers, that came late.
pub(super) fn lost_share(kind: Kind, result: &Value) -> Option<f64> {
    match kind {
        Kind::Udp => udp::UdpReport::deserialize(result).ok().map(|report| report.way.lost.share),
        Kind::Rate => rate::Outcome::deserialize(result).ok().map(|outcome| {
            let lost = rates::lost(&outcome);
            lost.rx_share.max(lost.tx_share)
        }),
        Kind::RoundTrip => round_trip::Outcome::deserialize(result)
            .ok()
            .map(|outcome| if outcome.answers == 0 { 0.0 } else { outcome.late as f64 / outcome.answers as f64 }),
    }
}

/// Whether nothing at all went wrong.
pub(super) fn clean(kind: Kind, result: &Value) -> bool {
    match kind {
        Kind::Rate => rate::Outcome::deserialize(result).is_ok_and(|outcome| outcome.clean),
        Kind::Udp | Kind::RoundTrip => lost_share(kind, result) == Some(0.0),
    }
}

fn round_trip(settings: &Settings, site: &InForce) -> round_trip::Options {
    let usual = round_trip::Options::default();
    round_trip::Options {
        addr: site.radio_addr.into(),
        rate_sps: settings.number("rate_sps").unwrap_or(usual.rate_sps),
        delays: vec![settings.span("delay")],
        duration: settings.span("duration"),
        warm_up: settings.span("warm_up"),
        engine: engine(settings),
        priority: priority(settings),
        ..usual
    }
}

fn rate(settings: &Settings, site: &InForce) -> rate::Options {
    let rate_sps = settings.number("rate_sps");
    let mode = settings.word("mode");
    rate::Options {
        addr: site.radio_addr.into(),
        rx_sps: rate_sps.filter(|_| mode != "tx"),
        tx_sps: rate_sps.filter(|_| mode != "rx"),
        duration: settings.span("duration"),
        warm_up: settings.span("warm_up"),
        format: match settings.word("format") {
            "sc8" => rate::WireFormat::Sc8,
            _ => rate::WireFormat::Sc16,
        },
        engine: engine(settings),
        priority: priority(settings),
        ..rate::Options::default()
    }
}

fn priority(settings: &Settings) -> Option<u8> {
    (settings.word("policy") == "fifo").then_some(STREAM_PRIORITY)
}

/// Priority of the streaming threads under `policy = "fifo"`: among the lower ones, below the kernel's own threads.
const STREAM_PRIORITY: u8 = 20;

fn udp(settings: &Settings, site: &InForce) -> udp::Options {
    let server = SocketAddr::new(site.radio_addr.into(), udp::DEFAULT_PORT);
    udp::Options {
        direction: match settings.word("direction") {
            "to-host" => udp::Direction::FromServer,
            _ => udp::Direction::ToServer,
        },
        payload_bytes: settings.number("payload_bytes").unwrap_or_default() as usize,
        datagrams_per_s: settings.number("offered"),
        duration: settings.span("duration"),
        warm_up: settings.span("warm_up"),
        engine: engine(settings),
        ..udp::Options::to(server)
    }
}

/// The options document of the server on the radio's side.
pub(super) fn udp_server(site: &InForce) -> Value {
    json!(udp::ServeOptions::at(SocketAddr::new(site.radio_addr.into(), udp::DEFAULT_PORT)))
}

/// A radio is no server of datagram load.
pub(super) fn no_server() -> Failure {
    let fix = "leave the udp part out with --addr, or run `takt udp serve` there and `takt udp send` by hand";
    Failure { chain: vec!["a radio takes no datagram load".into()], fix: Some(fix.into()) }
}

fn engine(settings: &Settings) -> EngineKind {
    settings.word("engine").parse().unwrap_or(EngineKind::Mmsg)
}
