//! From the settings of a point to the options of its workload, and from its result to what was lost.

use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use takt_agent::Failure;
use takt_base::parse_bytes;
use takt_host::policy::Asked;
use takt_load::{Kind, deadline, interface, rate, roles, round_trip, udp, wakeup, waveform};
use takt_testbed::Lateness;
use takt_testbed::environment::InForce;
use takt_testbed::net::ethernet::datagram_wire_bytes;

use crate::check::{is_own_clean, rates};
use crate::experiment::Point;
use crate::experiment::settings::{Settings, ethernet_bps, per_second};
use crate::run::{Lost, Spoilt};
use crate::store::Record;

/// The options document of the workload.
///
/// # Errors
/// A file that the point names can't be read.
pub(super) fn workload(point: &Point, site: &InForce) -> Result<Value, Failure> {
    Ok(match point.kind {
        Kind::Udp => json!(udp(&point.settings, site)?),
        Kind::Rate => json!(rate(&point.settings, site)?),
        Kind::RoundTrip => json!(round_trip(&point.settings, site)?),
        Kind::Waveform | Kind::LongestPacket => json!(waveform(&point.settings)?),
        Kind::Interface => json!(interface(&point.settings)?),
        Kind::Roles => json!(roles(&point.settings)),
        Kind::Wakeup => json!(wakeup(&point.settings)?),
        Kind::Deadline => json!(deadline(&point.settings, site)?),
    })
}

/// What a workload takes, as far as that can be said before.
pub(crate) fn about(point: &Point) -> Duration {
    let span = |name| point.settings.span(name);
    match point.kind {
        // Some thirty trials of a quarter, and some confirmations.
        Kind::LongestPacket => span("duration") * 20 + span("slot") * 5_000,
        Kind::Interface => interface(&point.settings).map_or(Duration::ZERO, |options| interface::about(&options)),
        Kind::Roles => span("duration") * 6,
        Kind::Waveform => {
            let slots = point.settings.number("slots").unwrap_or(0.0);
            span("duration").max(span("slot").mul_f64(slots)) + span("warm_up")
        }
        Kind::Udp | Kind::Rate | Kind::RoundTrip | Kind::Deadline | Kind::Wakeup => span("duration") + span("warm_up"),
    }
}

/// What a round lost.
pub(super) fn lost(kind: Kind, record: &Record) -> Option<Lost> {
    let result = &record.result;
    let number = |pointer: &str| result.pointer(pointer)?.as_f64();
    match kind {
        Kind::Udp => udp::UdpReport::deserialize(result).ok().map(|report| Lost::own(report.way.lost.share)),
        Kind::Rate => rate::Outcome::deserialize(result).ok().map(|outcome| {
            let lateness = Lateness::of(&record.emulator);
            let lost = rates::lost(&outcome);
            let share = lost.rx_share.max(lost.tx_share);
            Lost { share, own_share: if is_own_clean(&outcome, lateness.as_ref()) { 0.0 } else { share } }
        }),
        Kind::RoundTrip => {
            round_trip::Outcome::deserialize(result).ok().map(|outcome| Lost::own(outcome.failed_share()))
        }
        Kind::Waveform => number("/miss_share").map(Lost::own),
        Kind::Deadline => Some(Lost { share: number("/failure_ratio")?, own_share: number("/own/failure_ratio")? }),
        Kind::LongestPacket | Kind::Interface | Kind::Roles | Kind::Wakeup => None,
    }
}

/// Share of a round that is set aside, by what its radio did: of a `deadline` workload single subframes, of others spans
/// of time. `None` without an emulator.
pub(super) fn aside_share(kind: Kind, result: &Value, emulator: Option<&Lateness>) -> Option<f64> {
    let of = |pointer: &str| result.pointer(pointer)?.as_f64();
    let spoilt = || emulator.map(|lateness| Spoilt::by(Some(lateness)));
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
        latency: choice(
            settings,
            "latency",
            &[("fixed", waveform::Latency::Fixed), ("compact", waveform::Latency::Compact)],
        )?,
        clock: choice(settings, "clock", &[("wall", waveform::Clock::Wall), ("free", waveform::Clock::Free)])?,
        policy: choice(
            settings,
            "priority",
            &[
                ("highest", waveform::Policy::Highest),
                ("fifo", waveform::Policy::Fifo),
                ("normal", waveform::Policy::Normal),
            ],
        )?,
        hash: settings.word("clock") == "free" && name != "chain",
        watch_memory: settings.word("process") == "fresh",
    })
}

fn interface(settings: &Settings) -> Result<interface::Options, Failure> {
    Ok(interface::Options {
        packet_bytes: settings.number("packet_bytes").unwrap_or_default() as usize,
        count: settings.number("count").unwrap_or_default() as u64,
        reader: choice(
            settings,
            "reader",
            &[("same-core", interface::Side::SameCore), ("other-core", interface::Side::OtherCore)],
        )?,
    })
}

fn roles(settings: &Settings) -> roles::Options {
    roles::Options {
        slot: settings.span("slot"),
        duration: settings.span("duration"),
        components: settings.number("components").unwrap_or_default() as usize,
    }
}

fn deadline(settings: &Settings, site: &InForce) -> Result<deadline::Options, Failure> {
    let host = &site.placement.host;
    let wake = match settings.word("timer") {
        "arrival" => deadline::Wake::Arrival,
        _ => deadline::Wake::Timer(parsed(settings, "timer")?),
    };
    Ok(deadline::Options {
        addr: site.radio_addr.into(),
        transmit: site.transmit,
        duration: settings.span("duration"),
        warm_up: settings.span("warm_up"),
        engine: parsed(settings, "engine")?,
        scheduling: choice(
            settings,
            "scheduling",
            &[
                ("other", deadline::Scheduling::Other),
                ("fifo", deadline::Scheduling::Fifo),
                ("rr", deadline::Scheduling::Rr),
                ("deadline", deadline::Scheduling::Deadline),
            ],
        )?,
        interface_alone: choice(settings, "scheduled", &[("all", false), ("interface", true)])?,
        wake,
        tick_hz: settings.number("tick_hz").unwrap_or_default() as u32,
        idle: parsed(settings, "idle")?,
        handover: choice(
            settings,
            "handover",
            &[("subframe", deadline::Handover::Subframe), ("slot", deadline::Handover::Slot)],
        )?,
        seats: super::exchange::seats(settings, host)?.0,
        host_cpus: host.clone(),
        codes: settings.number("codes").unwrap_or(16.0) as usize,
        seed: super::exchange::SEED,
        trace: choice(settings, "trace", &[("no", false), ("worst", true)])?,
        ..deadline::Options::default()
    })
}

/// On the cores that the agent may use: inside a guest they have other numbers than outside.
fn wakeup(settings: &Settings) -> Result<wakeup::Options, Failure> {
    let interval = settings.span("interval");
    Ok(wakeup::Options {
        duration: settings.span("duration"),
        warm_up: settings.span("warm_up"),
        interval,
        policy: choice(
            settings,
            "scheduling",
            &[
                ("other", Asked::default()),
                ("fifo", Asked::Fifo(BEAT_PRIORITY)),
                ("rr", Asked::RoundRobin(BEAT_PRIORITY)),
                ("deadline", Asked::Deadline(interval / 5)),
            ],
        )?,
        timer: parsed(settings, "wait")?,
        tick_hz: settings.number("tick_hz").filter(|&hz| hz > 0.0).map(|hz| hz as u32),
        slack: Some(settings.span("timer_slack")).filter(|slack| !slack.is_zero()),
        idle: parsed(settings, "idle")?,
        ..wakeup::Options::default()
    })
}

/// Priority of threads on a beat under `fifo` and `rr`.
const BEAT_PRIORITY: u8 = 50;

fn round_trip(settings: &Settings, site: &InForce) -> Result<round_trip::Options, Failure> {
    let usual = round_trip::Options::default();
    Ok(round_trip::Options {
        addr: site.radio_addr.into(),
        transmit: site.transmit,
        rate_sps: settings.number("rate_sps").unwrap_or(usual.rate_sps),
        delays: vec![settings.span("delay")],
        duration: settings.span("duration"),
        warm_up: settings.span("warm_up"),
        engine: parsed(settings, "engine")?,
        priority: priority(settings)?,
        ..usual
    })
}

fn rate(settings: &Settings, site: &InForce) -> Result<rate::Options, Failure> {
    let rate_sps = settings.number("rate_sps");
    let [receives, transmits] =
        choice(settings, "mode", &[("rx", [true, false]), ("tx", [false, true]), ("duplex", [true, true])])?;
    Ok(rate::Options {
        addr: site.radio_addr.into(),
        transmit: site.transmit,
        rx_sps: rate_sps.filter(|_| receives),
        tx_sps: rate_sps.filter(|_| transmits),
        duration: settings.span("duration"),
        warm_up: settings.span("warm_up"),
        format: choice(settings, "format", &[("sc16", rate::WireFormat::Sc16), ("sc8", rate::WireFormat::Sc8)])?,
        engine: parsed(settings, "engine")?,
        recv_buffer_bytes: parse_bytes(settings.word("recv_buffer")).ok().map(|bytes| bytes as usize),
        counter: choice(settings, "source", &[("tone", false), ("counter", true)])?,
        priority: priority(settings)?,
        ..rate::Options::default()
    })
}

fn priority(settings: &Settings) -> Result<Option<u8>, Failure> {
    choice(settings, "policy", &[("normal", None), ("fifo", Some(STREAM_PRIORITY))])
}

/// Priority of the streaming threads under `policy = "fifo"`: among the lower ones, below the kernel's own threads.
const STREAM_PRIORITY: u8 = 20;

fn udp(settings: &Settings, site: &InForce) -> Result<udp::Options, Failure> {
    let server = SocketAddr::new(site.radio_addr.into(), udp::DEFAULT_PORT);
    let payload_bytes = settings.number("payload_bytes").unwrap_or_default() as usize;
    Ok(udp::Options {
        direction: choice(
            settings,
            "direction",
            &[
                ("to-host", udp::Direction::FromServer),
                ("from-host", udp::Direction::ToServer),
                ("both", udp::Direction::Both),
            ],
        )?,
        payload_bytes,
        datagrams_per_s: offered(settings, payload_bytes),
        duration: settings.span("duration"),
        warm_up: settings.span("warm_up"),
        engine: parsed(settings, "engine")?,
        ..udp::Options::to(server)
    })
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

/// What a word stands for; of a setting that this kind of work does not have, the first choice.
///
/// # Errors
/// A word that the table of settings accepts and this list does not have: nothing is measured as something else.
fn choice<T: Copy>(settings: &Settings, name: &str, choices: &[(&str, T)]) -> Result<T, Failure> {
    let word = settings.word(name);
    let found = choices.iter().find(|(known, _)| *known == word || word.is_empty());
    found.map(|(_, choice)| *choice).ok_or_else(|| unknown(settings, name))
}

/// What a word says by itself.
///
/// # Errors
/// As [`choice`].
fn parsed<T: FromStr>(settings: &Settings, name: &str) -> Result<T, Failure> {
    settings.word(name).parse().map_err(|_| unknown(settings, name))
}

fn unknown(settings: &Settings, name: &str) -> Failure {
    let what = format!("{name} = \"{}\" is accepted in files, and no workload knows it", settings.word(name));
    Failure { chain: vec![what], fix: Some("report it: it is a fault of takt".into()), lasting: true }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::settings::{self, Takes};
    use crate::experiment::{Depth, Experiment};

    fn site() -> InForce {
        let in_force = json!({
            "environment": "native", "path": "loopback", "radio_addr": "127.0.0.1", "emulated": true,
            "placement": { "host": [0], "radio": [1], "how": "" }, "emulator_priority": null, "notes": [], "accelerator": null,
        });
        InForce::deserialize(in_force).expect("a site")
    }

    /// What a setting without a default is set to.
    const NEEDED: [(&str, &str); 6] = [
        ("mode", "\"duplex\""),
        ("rate_sps", "1e6"),
        ("delay", "\"1ms\""),
        ("payload_bytes", "64"),
        ("direction", "\"both\""),
        ("packet_bytes", "64"),
    ];

    /// The options of a workload of that kind with one setting at that level.
    fn options(kind: Kind, setting: &str, level: &str) -> Value {
        let needed = NEEDED.iter().filter(|(name, _)| *name != setting);
        let needed = needed.filter(|(name, _)| settings::find(name).is_some_and(|row| row.of.contains(&kind)));
        let needed: String = needed.map(|(name, value)| format!("{name} = {value}\n")).collect();
        let lasts = settings::find("duration").is_some_and(|row| row.of.contains(&kind));
        let duration = if lasts { ", duration = \"1s\"" } else { "" };
        let text = format!(
            "question = \"?\"\n[fixed]\n{needed}{setting} = \"{level}\"\nworkload = {{ kind = \"{}\"{duration} }}\n\
             [factors]\ntwin = [1, 2]\n[rounds]\ncount = {{ full = 1, quick = 1 }}\norder = {{ seed = 1 }}\n",
            kind.name()
        );
        let experiment = Experiment::parse("test", &text).unwrap_or_else(|error| panic!("{text}{error:?}"));
        workload(&experiment.points(Depth::Full)[0], &site()).unwrap_or_else(|failure| panic!("{failure}"))
    }

    /// Settings of where and beside what a workload runs are no options of its own.
    const ELSEWHERE: [&str; 4] = ["cores", "model", "path", "process"];

    #[test]
    fn every_level_of_every_setting_reaches_the_options_of_its_workload() {
        let mut seen = 0;
        for row in settings::all().filter(|row| !ELSEWHERE.contains(&row.name)) {
            let Takes::Word(levels) = row.takes else { continue };
            // What all kinds know is of the site.
            for &kind in row.of.iter().filter(|_| row.of.len() < 6) {
                let documents: Vec<Value> = levels.iter().map(|level| options(kind, row.name, level)).collect();
                for (n, one) in documents.iter().enumerate() {
                    let alike = documents.iter().skip(n + 1).any(|other| other == one);
                    assert!(!alike, "{} of {}: `{}` is measured as another level", row.name, kind.name(), levels[n]);
                }
                seen += levels.len();
            }
        }
        assert!(seen > 40, "{seen} levels");
    }
}
