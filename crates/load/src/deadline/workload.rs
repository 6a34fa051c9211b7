//! `deadline`, as a workload of experiments.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use takt_agent::Failure;
use takt_base::Stop;
use takt_host::idle::Idle;
use takt_host::timer::Method;
use takt_packet::EngineKind;

use super::downlink::write_downlink;
use super::process_cpus::{Cores, process_cpus};
use super::{DeadlineOptions, Handover, Wake};
use crate::emulated::{PUNCTUAL_BEAT_US, Played, PlayedFile};
use crate::excluded::ExcludedSpans;
use crate::quantity::Quantity;
use crate::setting::{
    DURATION, ENGINE, IDLE, Level, POLICY, PolicyName, Setting, Settings, TICK_HZ, Takes, UnknownLevel, WARM_UP,
    settings, words,
};
use crate::workload::{Facts, Lost, Peer, PointNeeds, PointWorkload, Target, Workload, read, write};

settings! {
    /// A point of `deadline`.
    struct DeadlineSettings {
        engine: EngineKind = ENGINE,
        duration: Duration = DURATION,
        warm_up: Duration = WARM_UP,
        policy: PolicyName = POLICY,
        scheduled: Scheduled = Setting::new("scheduled", Takes::Word(&["all", "interface"]), "all")
            .about("which processes have that policy; the study gave it to the data interface alone"),
        timer: Wake =
            Setting::new("timer", Takes::Word(&["arrival", "nanosleep", "timerfd", "hybrid", "spin"]), "arrival")
                .about("what wakes the interface: the samples themselves, or a timer set to when they are due"),
        tick_hz: u32 = TICK_HZ,
        handover: Handover = Setting::new("handover", Takes::Word(&["subframe", "slot"]), "subframe")
            .about("when the interface hands samples over: a whole subframe, or each slot as soon as it is there"),
        idle: Idle = IDLE,
        cores: Cores = Setting::new("cores", Takes::Word(&["any", "pinned", "isolated"]), "any")
            .about("any core of the host side, one for each process, or one that the disturbance is kept off"),
        codes: usize = Setting::new("codes", Takes::Whole(1, 16), "16")
            .about("channelisation codes of the downlink: how much the physical layer has to do"),
        trace: Trace = Setting::new("trace", Takes::Word(&["no", "worst"]), "no")
            .about("who ran where around the worst subframe (the kernel's sched_switch; costs what it traces)"),
    }
}

/// The processes that have the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scheduled {
    All,
    /// The interface alone.
    Interface,
}

/// The subframes that are traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trace {
    No,
    Worst,
}

words! {
    Scheduled: "all" => Scheduled::All, "interface" => Scheduled::Interface;
    Trace: "no" => Trace::No, "worst" => Trace::Worst;
}

impl Level for Wake {
    fn read(setting: &Setting, level: &Value) -> Option<Wake> {
        if level == "arrival" { Some(Wake::Arrival) } else { Method::read(setting, level).map(Wake::Timer) }
    }
}

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
        Facts::of(Peer::Radio, DeadlineSettings::SETTINGS, QUANTITIES)
    }

    fn at(&self, settings: &Settings) -> Result<Box<dyn PointWorkload>, UnknownLevel> {
        Ok(Box::new(DeadlineSettings::read(settings)?))
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

impl PointWorkload for DeadlineSettings {
    fn options(&self, target: &Target<'_>) -> Result<Value, Failure> {
        write(&DeadlineOptions {
            addr: target.addr.into(),
            transmit: target.transmit,
            duration: self.duration,
            warm_up: self.warm_up,
            engine: self.engine,
            policy: self.policy,
            interface_alone: self.scheduled == Scheduled::Interface,
            wake: self.timer,
            tick_hz: self.tick_hz,
            idle: self.idle,
            handover: self.handover,
            process_cpus: process_cpus(self.cores, target.host_cpus)?.0,
            host_cpus: target.host_cpus.to_vec(),
            codes: self.codes,
            seed: SEED,
            trace: self.trace == Trace::Worst,
            ..DeadlineOptions::default()
        })
    }

    fn about(&self) -> Duration {
        self.duration + self.warm_up
    }

    /// The kernel admits processes under `SCHED_DEADLINE` only where they may run on all CPUs of their domain.
    fn needs(&self) -> PointNeeds {
        PointNeeds {
            engine: Some(self.engine),
            exclusive_cpus: self.policy == PolicyName::Deadline,
            ..PointNeeds::default()
        }
    }

    /// The downlink that the physical layer is to decode.
    fn played(&self) -> Played {
        let codes = self.codes;
        let write = Box::new(move |file: &Path| write_downlink(file, codes, SEED));
        Played::File(PlayedFile { name: format!("downlink-{codes}"), write })
    }

    fn beat_us(&self, _: bool) -> Option<u32> {
        Some(PUNCTUAL_BEAT_US)
    }

    fn disturbed_cpus(&self, host_cpus: &[usize]) -> Result<Vec<usize>, Failure> {
        Ok(process_cpus(self.cores, host_cpus)?.1)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn point(name: &str, value: Value) -> DeadlineSettings {
        let given = [("duration".to_owned(), json!("1s")), (name.to_owned(), value)];
        DeadlineSettings::read(&Settings::complete(given.into(), DeadlineSettings::SETTINGS.iter())).unwrap()
    }

    #[test]
    fn a_radio_plays_the_downlink_that_the_physical_layer_decodes() {
        let Played::File(played) = point("codes", json!(2)).played() else { panic!("no file") };
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
        let needs = policies.map(|policy| point("policy", json!(policy)).needs().exclusive_cpus);
        assert_eq!(needs, [false, false, false, true]);
    }

    #[test]
    fn what_disturbs_leaves_an_isolated_core_alone() {
        let disturbed = |cores: &str, host: &[usize]| point("cores", json!(cores)).disturbed_cpus(host);
        assert_eq!(disturbed("isolated", &[0, 1, 2]).unwrap(), [0, 1]);
        assert_eq!(disturbed("any", &[0, 1, 2]).unwrap(), [0, 1, 2]);
        assert!(disturbed("isolated", &[0]).is_err());
    }
}
