//! `deadline`, as a workload of experiments.

use std::path::Path;

use serde_json::Value;
use takt_agent::Failure;
use takt_base::Stop;

use super::downlink::write_downlink;
use super::process_cpus::process_cpus;
use super::{DeadlineOptions, Handover, PolicyName, Wake};
use crate::emulated::{PUNCTUAL_BEAT_US, Played, PlayedFile};
use crate::excluded::ExcludedSpans;
use crate::quantity::Quantity;
use crate::setting::{DURATION, ENGINE, IDLE, POLICY, Setting, Settings, TICK_HZ, Takes, WARM_UP};
use crate::workload::{Facts, Lost, Peer, Target, Workload, read, write};

const SETTINGS: &[Setting] = &[
    ENGINE,
    DURATION,
    WARM_UP,
    POLICY,
    Setting::new("scheduled", Takes::Word(&["all", "interface"]), "all")
        .about("which processes have that policy; the study gave it to the data interface alone"),
    Setting::new("timer", Takes::Word(&["arrival", "nanosleep", "timerfd", "hybrid", "spin"]), "arrival")
        .about("what wakes the interface: the samples themselves, or a timer set to when they are due"),
    TICK_HZ,
    Setting::new("handover", Takes::Word(&["subframe", "slot"]), "subframe")
        .about("when the interface hands samples over: a whole subframe, or each slot as soon as it is there"),
    IDLE,
    Setting::new("cores", Takes::Word(&["any", "pinned", "isolated"]), "any")
        .about("any core of the host side, one for each process, or one that the disturbance is kept off"),
    Setting::new("codes", Takes::Whole(1, 16), "16")
        .about("channelisation codes of the downlink: how much the physical layer has to do"),
    Setting::new("trace", Takes::Word(&["no", "worst"]), "no")
        .about("who ran where around the worst subframe (the kernel's sched_switch; costs what it traces)"),
];

const QUANTITIES: &[Quantity] = &[
    Quantity::share("failure_ratio", "/failure_ratio", "answers over 3.45 ms, and subframes without one"),
    Quantity::share(
        "own_failure_ratio",
        "/own/failure_ratio",
        "the same without subframes that a late radio or a stopped core spoilt",
    ),
    Quantity::amount("radio_late", "/radio/late", "answers the radio called late"),
    Quantity::amount("decoded", "/decoded", "blocks decoded without an error"),
];

/// Seed of the payloads of the downlink that the radio plays.
const SEED: u64 = 1;

pub(crate) struct Deadline;

impl Workload for Deadline {
    fn facts(&self) -> Facts {
        Facts { peer: Peer::Radio, settings: SETTINGS, quantities: QUANTITIES }
    }

    fn options(&self, settings: &Settings, target: &Target<'_>) -> Result<Value, Failure> {
        let wake = match settings.word("timer") {
            "arrival" => Wake::Arrival,
            _ => Wake::Timer(settings.parsed("timer")?),
        };
        let policies = [
            ("other", PolicyName::Other),
            ("fifo", PolicyName::Fifo),
            ("rr", PolicyName::Rr),
            ("deadline", PolicyName::Deadline),
        ];
        write(&DeadlineOptions {
            addr: target.addr.into(),
            transmit: target.transmit,
            duration: settings.span("duration"),
            warm_up: settings.span("warm_up"),
            engine: settings.parsed("engine")?,
            policy: settings.choice("policy", &policies)?,
            interface_alone: settings.choice("scheduled", &[("all", false), ("interface", true)])?,
            wake,
            tick_hz: settings.whole("tick_hz") as u32,
            idle: settings.parsed("idle")?,
            handover: settings.choice("handover", &[("subframe", Handover::Subframe), ("slot", Handover::Slot)])?,
            process_cpus: process_cpus(settings, target.host_cpus)?.0,
            host_cpus: target.host_cpus.to_vec(),
            codes: codes(settings),
            seed: SEED,
            trace: settings.choice("trace", &[("no", false), ("worst", true)])?,
            ..DeadlineOptions::default()
        })
    }

    /// The downlink that the physical layer is to decode.
    fn played(&self, settings: &Settings) -> Played {
        let codes = codes(settings);
        let write = Box::new(move |file: &Path| write_downlink(file, codes, SEED));
        Played::File(PlayedFile { name: format!("downlink-{codes}"), write })
    }

    fn beat_us(&self, _: &Settings, _: bool) -> Option<u32> {
        Some(PUNCTUAL_BEAT_US)
    }

    /// The kernel admits such processes only where they may run on all CPUs of their domain.
    fn needs_exclusive_cpus(&self, settings: &Settings) -> bool {
        settings.word("policy") == "deadline"
    }

    fn disturbed_cpus(&self, settings: &Settings, host_cpus: &[usize]) -> Result<Vec<usize>, Failure> {
        Ok(process_cpus(settings, host_cpus)?.1)
    }

    fn run(&self, options: Value, stop: &Stop) -> Result<Value, Failure> {
        let options: DeadlineOptions = read("deadline options", options)?;
        write(&super::run(&options, stop).map_err(|error| Failure::of(&error, error.fix()))?)
    }

    fn lost(&self, result: &Value, _: &ExcludedSpans) -> Option<Lost> {
        let number = |pointer: &str| result.pointer(pointer)?.as_f64();
        Some(Lost { share: number("/failure_ratio")?, own_share: number("/own/failure_ratio")? })
    }

    /// Single subframes, which the workload itself excludes.
    fn excluded_share(&self, result: &Value, _: Option<&ExcludedSpans>) -> Option<f64> {
        let number = |pointer: &str| result.pointer(pointer)?.as_f64();
        Some(number("/excluded/subframes")? / number("/subframes")?.max(1.0))
    }
}

fn codes(settings: &Settings) -> usize {
    settings.number("codes").unwrap_or(16.0) as usize
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn settings(name: &str, value: Value) -> Settings {
        Settings::complete([(name.to_owned(), value)].into(), SETTINGS.iter())
    }

    #[test]
    fn a_radio_plays_the_downlink_that_the_physical_layer_decodes() {
        let Played::File(played) = Deadline.played(&settings("codes", json!(2))) else { panic!("no file") };
        assert_eq!(played.name, "downlink-2");
        let folder = tempfile::tempdir().unwrap();
        let [by_the_point, by_hand] = ["point", "hand"].map(|name| folder.path().join(name));
        (played.write)(&by_the_point).unwrap();
        write_downlink(&by_hand, 2, SEED).unwrap();
        assert!(std::fs::read(by_the_point).unwrap() == std::fs::read(by_hand).unwrap());
    }

    #[test]
    fn only_processes_under_sched_deadline_need_cpus_of_their_own() {
        let policies = ["other", "fifo", "rr", "deadline"];
        let needs = policies.map(|policy| Deadline.needs_exclusive_cpus(&settings("policy", json!(policy))));
        assert_eq!(needs, [false, false, false, true]);
    }

    #[test]
    fn what_disturbs_leaves_an_isolated_core_alone() {
        let disturbed = |cores: &str, host: &[usize]| Deadline.disturbed_cpus(&settings("cores", json!(cores)), host);
        assert_eq!(disturbed("isolated", &[0, 1, 2]).unwrap(), [0, 1]);
        assert_eq!(disturbed("any", &[0, 1, 2]).unwrap(), [0, 1, 2]);
        assert!(disturbed("isolated", &[0]).is_err());
    }
}
