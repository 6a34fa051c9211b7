//! `waveform`, as a workload of experiments.

use std::time::Duration;

use serde_json::{Value, json};
use takt_agent::Failure;
use takt_base::{Stop, parse_number};

use super::{Clock, Latency, Packet, Policy, Slots, WaveformOptions, library};
use crate::excluded::ExcludedSpans;
use crate::lent::LentRule::{Any, UpTo};
use crate::lent::{Lent, LentOptions};
use crate::quantity::Quantity;
use crate::setting::{
    DURATION, Domain, Level, Setting, Settings, Takes, UnknownLevel, WARM_UP, settings, word_or, word_remedy, words,
};
use crate::workload::{Facts, Lost, Peer, PointNeeds, PointWorkload, Target, Workload, read, write};

pub(crate) const WAVEFORM: Setting = Setting::new("waveform", Takes::Domain(&WaveformName), "bpsk")
    .about("what runs: a file, or one that comes with takt");
pub(crate) const COMPONENTS: Setting = Setting::new("components", Takes::Whole(2, 1024), "2")
    .about("components of a chain, and of the waveform whose loading is timed");
pub(crate) const SLOT: Setting =
    Setting::new("slot", Takes::Span, "1ms").about("length of a slot, whatever the file says");
pub(crate) const WORKERS: Setting =
    Setting::new("workers", Takes::Whole(1, 64), "1").about("workers, each on a core of its own");
pub(crate) const LATENCY: Setting = Setting::new("latency", Takes::Word(&["fixed", "compact"]), "compact")
    .about("a slot each hop, or only between workers");
pub(crate) const POLICY: Setting = Setting::new("policy", Takes::Word(&["highest", "fifo", "other"]), "highest")
    .about("scheduling policy of the workers; highest is fifo where permitted");

const AS_WRITTEN: &str = "as-written";
const BY_DURATION: &str = "by-duration";

pub(crate) const PACKET: Setting =
    Setting::new("packet", Takes::Domain(&PacketLength), AS_WRITTEN).about("what each source makes in a slot");
pub(crate) const SLOTS: Setting =
    Setting::new("slots", Takes::Domain(&SlotCount), BY_DURATION).about("how many slots are measured");

settings! {
    /// A point of `waveform`.
    struct WaveformSettings {
        duration: Duration = DURATION,
        warm_up: Duration = WARM_UP,
        waveform: String = WAVEFORM,
        components: usize = COMPONENTS,
        packet: Packet = PACKET,
        slot: Duration = SLOT,
        slots: Slots = SLOTS,
        workers: usize = WORKERS,
        latency: Latency = LATENCY,
        clock: Clock = Setting::new("clock", Takes::Word(&["wall", "free"]), "wall")
            .about("the host's clock, or as fast as can be"),
        policy: Policy = POLICY,
        process: Process = Setting::new("process", Takes::Word(&["shared", "fresh"]), "shared")
            .about("whether each round has a process of its own, as memory needs it"),
    }
}

/// The process of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Process {
    /// That of the rounds before.
    Shared,
    Fresh,
}

words! {
    Latency: "fixed" => Latency::Fixed, "compact" => Latency::Compact;
    Clock: "wall" => Clock::Wall, "free" => Clock::Free;
    Policy: "highest" => Policy::Highest, "fifo" => Policy::Fifo, "other" => Policy::Other;
    Process: "shared" => Process::Shared, "fresh" => Process::Fresh;
}

impl Level for Packet {
    fn read(_: &Setting, level: &Value) -> Option<Packet> {
        match level.as_u64() {
            Some(items) => items.try_into().ok().map(Packet::Items),
            None if level == AS_WRITTEN => Some(Packet::AsWritten),
            None => per_second(level.as_str()?).map(Packet::PerSecond),
        }
    }
}

impl Level for Slots {
    fn read(_: &Setting, level: &Value) -> Option<Slots> {
        match level.as_u64() {
            Some(count) => Some(Slots::Count(count)),
            None => (level == BY_DURATION).then_some(Slots::ByDuration),
        }
    }
}

const QUANTITIES: &[Quantity] = &[
    Quantity::amount("misses", "/misses", "slots of components missed"),
    Quantity::amount("used_share", "/used_share", "of a slot, in 99.9 % of slots"),
    Quantity::amount("lateness_p99_9_ns", "/lateness/p99_9_ns", "edge to release"),
    Quantity::amount("overhead_ns_per_slot", "/overhead_ns_per_slot", "neither waiting nor executing"),
    Quantity::amount("throughput_bps", "/throughput_bps", "source bits"),
    Quantity::amount("private_bytes", "/memory/running/private_bytes", "of the process"),
];

/// Rules for the options of a waveform, whichever workload executes it.
pub(crate) const LENT_WAVEFORM: LentOptions = &[
    ("waveform", Any),
    ("text", Any),
    ("components", UpTo { most: 1024, bytes_each: 1 << 10 }),
    // The runtime counts what links and buffers take before it makes any.
    ("packet", Any),
    ("slot", Any),
    ("duration", Any),
    ("warm_up", Any),
    ("slots", Any),
    ("workers", UpTo { most: 64, bytes_each: 1 << 20 }),
    ("latency", Any),
    ("clock", Any),
    ("policy", Any),
    ("hash", Any),
    ("watch_memory", Any),
];

pub(crate) struct OnTheBeat;

impl Workload for OnTheBeat {
    fn facts(&self) -> Facts {
        Facts {
            lent: Some(Lent { options: LENT_WAVEFORM, waveform_at: Some("") }),
            ..Facts::of(Peer::None, WaveformSettings::SETTINGS, QUANTITIES)
        }
    }

    fn at(&self, settings: &Settings) -> Result<Box<dyn PointWorkload>, UnknownLevel> {
        Ok(Box::new(WaveformSettings::read(settings)?))
    }

    fn run(&self, options: Value, stop: &Stop) -> Result<Value, Failure> {
        let options: WaveformOptions = read("waveform options", options)?;
        write(&super::run(&options, stop).map_err(|error| Failure::of(&error, error.fix()))?)
    }

    fn lost(&self, result: &Value, _: &ExcludedSpans) -> Option<Lost> {
        result.pointer("/miss_share")?.as_f64().map(Lost::own)
    }
}

impl PointWorkload for WaveformSettings {
    fn options(&self, _: &Target<'_>) -> Result<Value, Failure> {
        write(&WaveformOptions {
            components: self.components,
            packet: self.packet,
            slot: self.slot,
            duration: self.duration,
            warm_up: self.warm_up,
            slots: self.slots,
            workers: self.workers,
            latency: self.latency,
            clock: self.clock,
            policy: self.policy,
            hash: self.clock == Clock::Free && self.waveform != library::CHAIN,
            watch_memory: self.process == Process::Fresh,
            ..named(&self.waveform)?
        })
    }

    fn about(&self) -> Duration {
        measured(self.duration, self.slot, self.slots) + self.warm_up
    }

    fn needs(&self) -> PointNeeds {
        PointNeeds { fresh_process: self.process == Process::Fresh, ..PointNeeds::default() }
    }
}

/// Time of so many slots, at least this.
pub(crate) fn measured(least: Duration, slot: Duration, slots: Slots) -> Duration {
    match slots {
        Slots::ByDuration => least,
        Slots::Count(count) => least.max(slot.mul_f64(count as f64)),
    }
}

/// The waveform that a point names, as it is written; all else is usual.
pub(crate) fn named(name: &str) -> Result<WaveformOptions, Failure> {
    Ok(WaveformOptions { waveform: name.to_owned(), text: text(name)?, ..WaveformOptions::default() })
}

/// The text of a waveform's file; `None` for one that comes with takt.
fn text(name: &str) -> Result<Option<String>, Failure> {
    let known = library::NAMES;
    if known.contains(&name) {
        return Ok(None);
    }
    let read = std::fs::read_to_string(name);
    read.map(Some).map_err(|error| Failure {
        chain: vec![format!("waveform {name}"), error.to_string()],
        fix: Some(format!(
            "give a path from the current folder, or a waveform that comes with takt: {}",
            known.join(", ")
        )),
        lasting: false,
    })
}

#[derive(Debug)]
struct WaveformName;

impl Domain for WaveformName {
    fn shown(&self) -> String {
        format!("{} | a TOML file", library::NAMES.join(" | "))
    }

    fn accept(&self, value: &Value) -> Result<Value, String> {
        let name = value.as_str().unwrap_or_default();
        let extension = std::path::Path::new(name).extension();
        if library::NAMES.contains(&name) || extension.is_some_and(|extension| extension.eq_ignore_ascii_case("toml")) {
            return Ok(value.clone());
        }
        let known = format!("give a file that ends in .toml, or one of: {}", library::NAMES.join(", "));
        Err(word_remedy(name, library::NAMES, known))
    }
}

#[derive(Debug)]
struct PacketLength;

impl Domain for PacketLength {
    fn shown(&self) -> String {
        "as-written | items a slot | items a second, such as 5M/s".into()
    }

    fn accept(&self, value: &Value) -> Result<Value, String> {
        let read = |value: &Value| match value.as_u64() {
            Some(items) => (1..=16_777_216).contains(&items).then(|| json!(items)),
            None => per_second(value.as_str()?).map(|_| value.clone()),
        };
        let remedy = "give \"as-written\", items per slot from 1 to 16777216, or items per second such as \"5M/s\"";
        word_or(value, AS_WRITTEN, read, remedy)
    }
}

/// `5M/s` as a number.
fn per_second(text: &str) -> Option<f64> {
    parse_number(text.strip_suffix("/s")?).ok().filter(|per_s| (1.0..=1e12).contains(per_s))
}

#[derive(Debug)]
struct SlotCount;

impl Domain for SlotCount {
    fn shown(&self) -> String {
        "by-duration | a number".into()
    }

    fn accept(&self, value: &Value) -> Result<Value, String> {
        let read = |value: &Value| value.as_u64().filter(|n| (1..=1_000_000_000_000).contains(n)).map(|n| json!(n));
        word_or(value, BY_DURATION, read, "give \"by-duration\", or a number of slots")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_slots_and_waveforms_are_words_or_numbers() {
        assert_eq!(PacketLength.accept(&json!(1000)), Ok(json!(1000)));
        assert_eq!(PacketLength.accept(&json!("5M/s")), Ok(json!("5M/s")));
        let packet = |level: Value| Packet::read(&PACKET, &level);
        assert_eq!((packet(json!("5M/s")), packet(json!(7))), (Some(Packet::PerSecond(5e6)), Some(Packet::Items(7))));
        assert_eq!((packet(json!(AS_WRITTEN)), packet(json!("much"))), (Some(Packet::AsWritten), None));
        assert!(["5M", "0/s", "much"].iter().all(|text| PacketLength.accept(&json!(text)).is_err()));
        assert!(PacketLength.accept(&json!(0)).is_err());
        assert_eq!(SlotCount.accept(&json!(100)), Ok(json!(100)));
        assert!(SlotCount.accept(&json!("100")).is_err());
        assert_eq!(WaveformName.accept(&json!("mine/lte.toml")), Ok(json!("mine/lte.toml")));
        assert_eq!(WaveformName.accept(&json!("bpks")).unwrap_err(), "did you mean \"bpsk\"?");
        assert!(WaveformName.accept(&json!("lte")).unwrap_err().contains(".toml"));
    }
}
