//! From the settings of a point to the options of its workload, and from its result to what was lost.

use std::net::SocketAddr;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use takt_emulator::emulate::Summary;
use takt_host::idle::Idle;
use takt_host::policy::Asked;
use takt_packet::EngineKind;

use crate::agent::Failure;
use crate::check::rates;
use crate::environment::InForce;
use crate::experiment::Point;
use crate::experiment::settings::{Kind, Settings, ethernet_bps, per_second};
use crate::net::ethernet::datagram_wire_bytes;
use crate::run::Spoilt;
use crate::workload::{deadline, interface, rate, roles, round_trip, udp, wakeup, waveform};

/// The options document of the workload.
///
/// # Errors
/// A file that the point names can't be read.
pub(super) fn workload(point: &Point, site: &InForce) -> Result<Value, Failure> {
    Ok(match point.kind {
        Kind::Udp => json!(udp(&point.settings, site)),
        Kind::Rate => json!(rate(&point.settings, site)),
        Kind::RoundTrip => json!(round_trip(&point.settings, site)),
        Kind::Waveform | Kind::LongestPacket => json!(waveform(&point.settings)?),
        Kind::Interface => json!(interface(&point.settings)),
        Kind::Roles => json!(roles(&point.settings)),
        Kind::Wakeup => json!(wakeup(&point.settings)),
        Kind::Deadline => json!(deadline(&point.settings, site)),
    })
}

/// What a workload takes, as far as that can be said before.
pub(crate) fn about(point: &Point) -> Duration {
    let span = |name| point.settings.span(name);
    match point.kind {
        // Some thirty trials of a quarter, and some confirmations.
        Kind::LongestPacket => span("duration") * 20 + span("slot") * 5_000,
        Kind::Interface => interface::about(&interface(&point.settings)),
        Kind::Roles => span("duration") * 6,
        Kind::Waveform => {
            let slots = point.settings.number("slots").unwrap_or(0.0);
            span("duration").max(span("slot").mul_f64(slots)) + span("warm_up")
        }
        Kind::Udp | Kind::Rate | Kind::RoundTrip | Kind::Deadline | Kind::Wakeup => span("duration") + span("warm_up"),
    }
}

/// Share of what was sent that was lost; of answers, that came late or never; of slots, that were missed.
pub(super) fn lost_share(kind: Kind, result: &Value) -> Option<f64> {
    match kind {
        Kind::Udp => udp::UdpReport::deserialize(result).ok().map(|report| report.way.lost.share),
        Kind::Rate => rate::Outcome::deserialize(result).ok().map(|outcome| {
            let lost = rates::lost(&outcome);
            lost.rx_share.max(lost.tx_share)
        }),
        Kind::RoundTrip => round_trip::Outcome::deserialize(result).ok().map(|outcome| outcome.failed_share()),
        Kind::Waveform => result.get("miss_share")?.as_f64(),
        Kind::Deadline => result.pointer("/own/failure_ratio")?.as_f64(),
        Kind::LongestPacket | Kind::Interface | Kind::Roles | Kind::Wakeup => None,
    }
}

/// Share of a round that is set aside, by what its radio did: of a `deadline` workload single subframes, of others spans
/// of time. `None` without an emulator.
pub(super) fn aside_share(kind: Kind, result: &Value, emulator: Option<&Summary>) -> Option<f64> {
    let of = |pointer: &str| result.pointer(pointer)?.as_f64();
    let spoilt = || emulator.map(|summary| Spoilt::by(Some(summary)));
    match kind {
        Kind::Deadline => Some(of("/aside/subframes")? / of("/subframes")?.max(1.0)),
        Kind::Rate => Some(spoilt()?.share_of(rate::Outcome::deserialize(result).ok()?.span_ticks())),
        Kind::RoundTrip => Some(spoilt()?.share_of(round_trip::Outcome::deserialize(result).ok()?.span_ticks)),
        _ => None,
    }
}

fn waveform(settings: &Settings) -> Result<waveform::Options, Failure> {
    let name = settings.word("waveform");
    let text = match waveform::library::NAMES.contains(&name) {
        true => None,
        false => Some(std::fs::read_to_string(name).map_err(|error| Failure {
            chain: vec![format!("waveform {name}"), error.to_string()],
            fix: Some(format!(
                "a path from where takt was called, or one that comes with takt: {}",
                waveform::library::NAMES.join(", ")
            )),
            lasting: false,
        })?),
    };
    let whole = |name: &str| settings.number(name).map_or(0, |number| number as usize);
    Ok(waveform::Options {
        waveform: name.to_owned(),
        text,
        components: whole("components"),
        packet: match (settings.number("packet"), per_second(settings.word("packet"))) {
            (Some(items), _) => waveform::Packet::Items(items as u32),
            (None, Some(per_s)) => waveform::Packet::PerSecond(per_s),
            (None, None) => waveform::Packet::AsWritten,
        },
        slot: settings.span("slot"),
        duration: settings.span("duration"),
        warm_up: settings.span("warm_up"),
        slots: settings.number("slots").map_or(waveform::Slots::ByDuration, |n| waveform::Slots::Count(n as u64)),
        workers: whole("workers").max(1),
        latency: match settings.word("latency") {
            "fixed" => waveform::Latency::Fixed,
            _ => waveform::Latency::Compact,
        },
        clock: match settings.word("clock") {
            "free" => waveform::Clock::Free,
            _ => waveform::Clock::Wall,
        },
        policy: match settings.word("priority") {
            "fifo" => waveform::Policy::Fifo,
            "normal" => waveform::Policy::Normal,
            _ => waveform::Policy::Highest,
        },
        hash: settings.word("clock") == "free" && name != "chain",
        watch_memory: settings.word("process") == "fresh",
    })
}

fn interface(settings: &Settings) -> interface::Options {
    interface::Options {
        packet_bytes: settings.number("packet_bytes").unwrap_or_default() as usize,
        count: settings.number("count").unwrap_or_default() as u64,
        reader: match settings.word("reader") {
            "other-core" => interface::Side::OtherCore,
            _ => interface::Side::SameCore,
        },
    }
}

fn roles(settings: &Settings) -> roles::Options {
    roles::Options {
        slot: settings.span("slot"),
        duration: settings.span("duration"),
        components: settings.number("components").unwrap_or_default() as usize,
    }
}

fn deadline(settings: &Settings, site: &InForce) -> deadline::Options {
    let host = &site.placement.host;
    deadline::Options {
        addr: site.radio_addr.into(),
        duration: settings.span("duration"),
        warm_up: settings.span("warm_up"),
        engine: engine(settings),
        scheduling: match settings.word("scheduling") {
            "fifo" => deadline::Scheduling::Fifo,
            "rr" => deadline::Scheduling::Rr,
            "deadline" => deadline::Scheduling::Deadline,
            _ => deadline::Scheduling::Other,
        },
        interface_alone: settings.word("scheduled") == "interface",
        // A word that is no method is `arrival`.
        wake: settings.word("timer").parse().map_or(deadline::Wake::Arrival, deadline::Wake::Timer),
        tick_hz: settings.number("tick_hz").unwrap_or_default() as u32,
        idle: idle(settings),
        handover: match settings.word("handover") {
            "slot" => deadline::Handover::Slot,
            _ => deadline::Handover::Subframe,
        },
        seats: super::exchange::seats(settings, host).0,
        host_cpus: host.clone(),
        codes: settings.number("codes").unwrap_or(16.0) as usize,
        seed: super::exchange::SEED,
        trace: settings.word("trace") == "worst",
        ..deadline::Options::default()
    }
}

/// On the cores that the agent may use: inside a guest they have other numbers than outside.
fn wakeup(settings: &Settings) -> wakeup::Options {
    let usual = wakeup::Options::default();
    let interval = settings.span("interval");
    wakeup::Options {
        duration: settings.span("duration"),
        warm_up: settings.span("warm_up"),
        interval,
        policy: match settings.word("scheduling") {
            "fifo" => Asked::Fifo(BEAT_PRIORITY),
            "rr" => Asked::RoundRobin(BEAT_PRIORITY),
            "deadline" => Asked::Deadline(interval / 5),
            _ => Asked::default(),
        },
        timer: settings.word("wait").parse().unwrap_or(usual.timer),
        tick_hz: settings.number("tick_hz").filter(|&hz| hz > 0.0).map(|hz| hz as u32),
        slack: Some(settings.span("timer_slack")).filter(|slack| !slack.is_zero()),
        idle: idle(settings),
        ..usual
    }
}

/// Where the kind of work has no such setting, they sleep.
fn idle(settings: &Settings) -> Idle {
    settings.word("idle").parse().unwrap_or_default()
}

/// Priority of threads on a beat under `fifo` and `rr`.
const BEAT_PRIORITY: u8 = 50;

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
    let payload_bytes = settings.number("payload_bytes").unwrap_or_default() as usize;
    udp::Options {
        direction: match settings.word("direction") {
            "to-host" => udp::Direction::FromServer,
            "both" => udp::Direction::Both,
            _ => udp::Direction::ToServer,
        },
        payload_bytes,
        datagrams_per_s: offered(settings, payload_bytes),
        duration: settings.span("duration"),
        warm_up: settings.span("warm_up"),
        engine: engine(settings),
        ..udp::Options::to(server)
    }
}

/// Datagrams a second; `None`: flat out. The rate of an Ethernet means as many as it carries, with everything it adds.
fn offered(settings: &Settings, payload_bytes: usize) -> Option<f64> {
    let of_ethernet = |bps: f64| bps / 8.0 / datagram_wire_bytes(payload_bytes) as f64;
    settings.number("offered").or_else(|| ethernet_bps(settings.word("offered")).map(of_ethernet))
}

/// The options document of the server on the radio's side.
pub(super) fn udp_server(site: &InForce) -> Value {
    json!(udp::ServeOptions::at(SocketAddr::new(site.radio_addr.into(), udp::DEFAULT_PORT)))
}

/// A radio is no server of datagram load.
pub(super) fn no_server() -> Failure {
    let fix = "leave the udp part out with --addr, or run `takt udp serve` there and `takt udp send` by hand";
    Failure { chain: vec!["a radio takes no datagram load".into()], fix: Some(fix.into()), lasting: false }
}

fn engine(settings: &Settings) -> EngineKind {
    settings.word("engine").parse().unwrap_or(EngineKind::Mmsg)
}
